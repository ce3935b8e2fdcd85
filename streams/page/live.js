(() => {
  "use strict";
  const EVERY = 5000, root = document.documentElement;
  let heard = performance.now();

  // Change only what differs, so that open details, focus, selection and scroll stay where they are.
  const morph = (old, now) => {
    if (old.isEqualNode(now)) return;
    if (old.nodeType !== 1) { old.data = now.data; return; }
    for (const { name } of [...old.attributes])
      if (!now.hasAttribute(name) && !(name === "open" && old.localName === "details")) old.removeAttribute(name);
    for (const { name, value } of now.attributes)
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const rows = new Map([...old.children].filter((e) => e.id).map((e) => [e.id, e]));
    let at = old.firstChild;
    for (const next of now.childNodes) {
      const mine = next.id ? rows.get(next.id) : null;
      if (mine) {
        if (mine !== at) old.insertBefore(mine, at); else at = at.nextSibling;
        morph(mine, next);
      } else if (at && !at.id && !next.id && at.nodeName === next.nodeName) {
        const kept = at;
        at = at.nextSibling;
        morph(kept, next);
      } else old.insertBefore(document.importNode(next, true), at);
    }
    while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
  };

  const refresh = async () => {
    const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(4000) });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html"), fresh = page.documentElement;
    if (!fresh.dataset.build) throw new Error("another page");
    if (fresh.dataset.build !== root.dataset.build) return location.reload();
    const focus = document.activeElement, y = scrollY, seen = focus.getBoundingClientRect().top;
    const reading = focus !== document.body && seen >= 0 && seen < innerHeight;
    for (const id of ["top", "main", "below"]) {
      const mine = document.getElementById(id), theirs = page.getElementById(id);
      if (mine && theirs) morph(mine, theirs);
    }
    if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
    // A row that moves takes its reader along; otherwise the page stays where it is.
    if (reading && focus.isConnected) scrollBy(0, focus.getBoundingClientRect().top - seen);
    else scrollTo(scrollX, y);
    document.title = page.title;
    document.querySelector("link[rel=icon]").href = page.querySelector("link[rel=icon]").href;
    root.dataset.state = fresh.dataset.state;
    heard = performance.now();
    const note = document.getElementById("gone");
    note.hidden = true;
    note.textContent = "";
  };

  const silent = () => {
    const since = Math.round((performance.now() - heard) / 1000), note = document.getElementById("gone");
    note.textContent = `The worker hasn't answered for ${since} s. These are the last numbers it gave.`;
    note.hidden = false;
    root.dataset.state = "gone";
    document.title = "no answer – recallwatch";
    document.querySelector("link[rel=icon]").href = root.dataset.unknown;
  };

  const turn = () => refresh().catch(silent).finally(() => setTimeout(turn, EVERY));
  setTimeout(turn, EVERY);
})();
