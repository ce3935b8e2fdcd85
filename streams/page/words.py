"""The page's words: numbers, ages, and the one sentence that says what the page means now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from monitor.exposition import clean
from monitor.readings import ANY, Queue, Reading, Share
from streams.page.cells import Cell, State, finds_nothing

DASH = "–"
"""An en dash: how a range is written, and what stands where nothing is."""

STATES: dict[State, str] = {
    "act": "below target",
    "unproven": "not proven",
    "unknown": "can't tell",
    "plain": "no target",
    "ok": "on target",
}
_REST: tuple[tuple[State, str], ...] = (
    ("ok", "on target"),
    ("unproven", "not proven yet"),
    ("plain", "without a target"),
    ("unknown", "where nothing can be told"),
)
STATUSES = {
    "no_label": "no label yet",
    "no_truth": "none seen yet",
    "no_interval": "no interval",
    "incomplete": "incomplete",
    "expired": "expired",
}
FLAGGED_BY = {
    "both": "net and detector",
    "loose_only": "net only",
    "detector_only": "detector only",
    "unflagged": "nothing",
}


def number(value: float | None, digits: int = 3) -> str:
    """Return a share or a rate in figures, never rounded to a whole that it isn't; an en dash where there's none.

    >>> number(0.6129), number(0.99996), number(None)
    ('0.613', '>0.999', '–')
    """
    if value is None:
        return DASH
    step = 10.0**-digits
    if 1 - step / 2 <= value < 1:
        return f">{1 - step:.{digits}f}"
    return f"<{step:.{digits}f}" if 0 < value < step / 2 else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """Return a share in percent, never rounded up to the whole: 99.96 % of the labels isn't all of them.

    >>> percent(0.9996), percent(1.0), percent(None)
    ('99.9 %', '100 %', '–')
    """
    if value is None:
        return DASH
    figures = f"{int(value * 1000 + 1e-9) / 10:.1f}".removesuffix(".0")
    return f"{figures} %"


def between(share: Share) -> str:
    """Return `lower–upper`, or nothing."""
    return "" if share.lower is None else f"{number(share.lower)}{DASH}{number(share.upper)}"


def age(seconds: float | None) -> str:
    """Return an age in its largest fitting unit; what lies ahead (clocks differ) is now.

    >>> age(3.2), age(200), age(3 * 3600), age(9e5), age(None)
    ('3 s', '3 min', '3 h', '10 d', '–')
    """
    if seconds is None:
        return DASH
    for limit, size, unit in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{max(int(seconds / size), 0)} {unit}"
    return f"{int(seconds / 86_400)} d"


def name(reading: Reading) -> str:
    """Return a cell's name in a sentence."""
    entity = "any entity" if reading.entity == ANY else clean(reading.entity)
    language = "any language" if reading.language == ANY else clean(reading.language)
    return f"{entity}/{language}"


def word(cell: Cell) -> str:
    """Return the state of a row in one or two words."""
    if cell.fell:
        return "fell"
    if cell.state == "unknown":
        return STATUSES.get(cell.reading.status, STATES["unknown"])
    return STATES[cell.state]


def why(reading: Reading, queues: Iterable[Queue], now: float) -> str:
    """Return why a row has no interval, or nothing where it has one."""
    if reading.matched.lower is not None:
        return ""
    if finds_nothing(reading):
        return f"none of {reading.matched.true} found, and no tool looked where they were"
    if reading.certified is not None and not reading.certified.missed:
        return f"no miss seen: at least {number(reading.certified.lower)} of the documents, certified"
    return _lacking(reading, queues, now)


def _lacking(reading: Reading, queues: Iterable[Queue], now: float) -> str:
    """Return what is missing for a number."""
    if reading.sampled == 0:
        return "nothing sampled yet"
    if reading.status == "no_label":
        queue = next((q for q in queues if q.language == reading.language and q.open), None)
        return "no label yet" if queue is None else f"no label yet: {waiting(queue, now)}"
    if reading.status == "no_truth":
        return f"{_plural(reading.labelled, 'document')} labelled, none with this entity"
    reason = reading.matched.reason or STATUSES.get(reading.status, "no interval")
    return clean(reason).replace("_", " ")


def waiting(queue: Queue, now: float) -> str:
    """Return the load of a queue in a few words."""
    oldest = "" if queue.oldest_draw is None else f", oldest {age(now - queue.oldest_draw)}"
    return f"{_plural(queue.open, 'task')} open{oldest}"


def headline(found: Sequence[Cell], queues: Iterable[Queue], now: float) -> str:
    """Return the sentence that the page begins with: how many cells need somebody, and which."""
    acting = [c for c in found if c.state == "act"]
    if all(c.state == "unknown" for c in found):
        queue = next((q for q in queues if q.language == ANY and q.open), None)
        return "No number yet" + (f": {waiting(queue, now)}." if queue else ".")
    if not acting and all(c.reading.target is None for c in found):
        return "No target is set: nothing is judged."
    if not acting:
        return f"None of {_plural(len(found), 'cell')} needs you."
    first = sorted(acting, key=lambda c: c.rolled_up)[:2]
    more = f"; and {len(acting) - 2} more" if len(acting) > 2 else ""
    verb = "needs" if len(acting) == 1 else "need"
    return f"{len(acting)} of {_plural(len(found), 'cell')} {verb} you: {'; '.join(map(_trouble, first))}{more}."


def rest(found: Sequence[Cell]) -> str:
    """Return how the cells stand that need nobody; nothing where the headline said it already."""
    states = Counter(c.state for c in found)
    if len(found) == states["unknown"]:
        return ""
    parts = [f"{states[s]} {text}" for s, text in _REST if states[s]]
    return f"{', '.join(parts)}." if parts else ""


def title(found: Sequence[Cell], *, stale: bool, refused: bool) -> str:
    """Return the browser's title: the state first, for that's all that a tab shows."""
    states = Counter(c.state for c in found)
    if stale:
        return "stale"
    if states["act"]:
        return f"{states['act']} of {len(found)} {'needs' if states['act'] == 1 else 'need'} you"
    if refused:
        return "config refused"
    return "no number yet" if len(found) == states["unknown"] else "nothing needs you"


def spoken(cell: Cell) -> str:
    """Return a row's picture in words, for those who hear the page."""
    share, target = cell.reading.matched, cell.reading.target
    if share.estimate is None:
        return "no estimate"
    interval = "" if share.lower is None else f", {number(share.lower)} to {number(share.upper)}"
    return f"{number(share.estimate)}{interval}" + (f"; target {number(target)}" if target else "")


def _trouble(cell: Cell) -> str:
    r, before = cell.reading, cell.previous
    if cell.fell and before is not None:
        fall = f"fell from {number(before.matched.estimate, 2)} to {number(r.matched.estimate, 2)}"
        return f"{name(r)} {fall} with version {clean(r.version)}"
    return f"{name(r)} is below its target {number(r.target, 2)}: at most {number(r.matched.upper, 2)}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
