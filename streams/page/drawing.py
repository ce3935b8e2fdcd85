"""From what was published to HTML: escaped by the template engine, with nothing from another host.

Style and script stand in the page itself, allowed by their digests in the Content-Security-Policy: whatever a value
might smuggle in isn't among them.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import urlsplit

import jinja2
from markupsafe import Markup

from monitor.exposition import clean
from monitor.pipeline import Pipeline
from monitor.readings import ANY, BoardSnapshot, Reading, largest
from streams.page import axis, causes, drift, facts, outputs, words
from streams.page.cells import Cell, Selection, cells, versions
from streams.page.templates import environment

STALE_S = 30.0
"""Age (s) from which readings are called stale; the board publishes at most once a second and at least every few."""
MAX_ROWS = 100
"""Rows drawn at once: what needs somebody comes first, and the filter finds the rest."""
FULL_ROWS = 8
"""Rows whose details are all there, so that the page stays small; the others' are a selection away."""
MAX_NAMES = 10
"""Unknown entity names that are told; the exposition counts them all."""


def _text(name: str) -> str:
    """Read package data, from a checkout, an installed wheel or a zip file alike."""
    return files("streams.page").joinpath(name).read_text("utf-8")


def _bare(script: str) -> str:
    """Return a script without indentation and without the lines that only comment."""
    return "\n".join(line for line in map(str.strip, script.splitlines()) if line and not line.startswith("//"))


STYLE = _text("style.css")
SCRIPT = _bare(_text("live.js"))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src 'sha256-{_digest(STYLE)}'",
        f"script-src 'sha256-{_digest(SCRIPT)}'",
        "img-src data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The page's Content-Security-Policy."""


_ICONS = {
    "act": "<path fill='#d9480f' d='M1 3h14L8 15z'/>",
    "ok": "<circle class='k' cx='8' cy='8' r='6'/>",
    "unknown": "<circle fill='none' stroke='#8a8a86' stroke-width='2' stroke-dasharray='3 2' cx='8' cy='8' r='6'/>",
}
_ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><style>.k{{fill:#222}}"
    "@media(prefers-color-scheme:dark){{.k{{fill:#eee}}}}</style>{}</svg>"
)


_LEGEND = (
    ("interval", "estimate in its interval"),
    ("looked", "where any tool looked"),
    ("target", "target"),
    ("ghost", "the version before"),
)


class Row(NamedTuple):
    """A row as it's drawn: the cell, its picture and its words."""

    cell: Cell
    key: str
    marks: axis.Marks
    word: str
    why: str
    mark: str
    """Why the number isn't offered as it is."""
    spoken: str
    facts: tuple[facts.Fact, ...]
    full: bool
    """Whether all of its details are there."""


def render(
    snapshot: BoardSnapshot | None,
    pipeline: Pipeline,
    now: float,
    selection: Selection | None = None,
    stuck: str = "",
) -> str:
    """Return the page as it is at `now` (s since the epoch).

    Without a snapshot, or on a worker that isn't the board, it says so and points to the board.

    Parameters
    ----------
    stuck
        What `/healthz` says of a worker that only a restart mends; empty of any other.
    """
    context: dict[str, object] = {
        "p": pipeline,
        "s": None,
        "rest": "",
        "now": now,
        "icon": _icon("unknown"),
        "state": "unknown",
        "stuck": stuck,
    }
    if snapshot is not None and pipeline.is_board:
        context.update(_board(snapshot, pipeline, now, selection or Selection()))
    else:
        context["title"], context["headline"] = _absent(pipeline)
        context["board_url"] = pipeline.board_url if urlsplit(pipeline.board_url).scheme in ("http", "https") else ""
    return _environment().get_template("page.html.j2").render(context)


def _absent(pipeline: Pipeline) -> tuple[str, str]:
    """Return title and headline of a page without readings."""
    if pipeline.is_board or not pipeline.ready:
        reason = f": {pipeline.unready_reason}" if pipeline.unready_reason else ""
        return "starting", f"No reading has been published yet{reason}."
    return "not the board", "This worker isn't the board: another one holds the readings."


def _board(snapshot: BoardSnapshot, pipeline: Pipeline, now: float, selection: Selection) -> dict[str, object]:
    found, past = cells(snapshot, selection)
    stale = now - snapshot.computed_at > STALE_S
    states = {c.state for c in found}
    unknown, more_unknown = largest(snapshot.unknown_entities, MAX_NAMES)
    refused = bool(pipeline.config_problem)
    told = "act" if "act" in states or refused else "ok" if states & {"ok", "unproven"} else "unknown"
    state = "unknown" if stale else told
    lines, more_lines = causes.lines(found, snapshot, now)
    drifted, more_drifted = drift.changed(snapshot.drift)
    usual = facts.Made(pipeline.config, pipeline.net)
    rows = [_row(c, snapshot, now, usual, full=i < FULL_ROWS) for i, c in enumerate(found[:MAX_ROWS])]
    promises = {words.long(c.reading.alarm.promised_days) for c in found if c.reading.alarm is not None}
    versions_shown = sorted({(c.reading.detector, c.reading.version) for c in found})
    caps = {c.reading.any_time.y_max for c in found if c.reading.any_time is not None} - {0}
    return {
        "s": snapshot,
        "rows": rows,
        "version": selection.version
        if any(clean(" ".join(v)) == selection.version for v in versions(snapshot))
        else "",
        "hidden": max(len(found) - MAX_ROWS, 0),
        "past": past[:MAX_ROWS],
        "stale": stale,
        "state": state,
        "icon": _icon(state),
        "title": words.title(found, stale=stale, refused=refused),
        "headline": words.headline(found, snapshot.queues, now),
        "rest": words.rest(found),
        "lines": lines,
        "more_lines": more_lines,
        "unseen": words.unseen(snapshot),
        "waiting": words.waiting_alarms(found, now),
        "thinning": words.thinning(snapshot),
        "promise": promises.pop() if len(promises) == 1 else "",
        "cap": caps.pop() if len(caps) == 1 else 0,
        "drifted": drifted,
        "more_drifted": more_drifted,
        "choices": [
            (*field, values) for field, values in zip(selection._asdict().items(), _choices(snapshot), strict=True)
        ],
        "shown": versions_shown,
        "redacted": outputs.section(snapshot, versions_shown, selection),
        "several": len({c.reading.detector for c in found}) > 1,
        "window": found[0].reading.window if found else None,
        "changes": sorted(snapshot.changes, key=lambda c: -(c.at or 0))[:8],
        "unknown": unknown,
        "more_unknown": more_unknown,
    }


def _row(cell: Cell, snapshot: BoardSnapshot, now: float, usual: facts.Made, *, full: bool) -> Row:
    reading = cell.reading
    rest = tuple(facts.others(reading, usual)) if full else ()
    return Row(
        cell,
        key(reading),
        axis.marks(cell),
        words.word(cell),
        words.why(reading, snapshot.queues, now),
        words.mark(cell),
        words.spoken(cell),
        (*facts.recall(reading, now), *rest),
        full,
    )


def _choices(snapshot: BoardSnapshot) -> tuple[list[tuple[str, str]], ...]:
    """Return the values of the filter's fields, each with the words that stand for it."""
    entities = sorted({clean(r.entity) for r in snapshot.readings} - {ANY})
    languages = sorted({clean(r.language) for r in snapshot.readings} - {ANY})
    known = [clean(" ".join(v)) for v in versions(snapshot)]
    return (
        [("", "every entity"), (ANY, "all together"), *zip(entities, entities, strict=True)],
        [("", "every language"), (ANY, "all together"), *zip(languages, languages, strict=True)],
        [("", "current"), *zip(known, known, strict=True)],
    )


def key(reading: Reading) -> str:
    """Return an id for a row that stays its own from refresh to refresh."""
    parts = f"{reading.entity}\0{reading.language}\0{reading.detector}".encode("utf-8", "backslashreplace")
    return hashlib.blake2b(parts, digest_size=4).hexdigest()


def _icon(state: str) -> Markup:
    """Return the address of an icon, all of it text of ours; only `#` would end it early."""
    return Markup(_ICON.format(_ICONS[state]).replace("#", "%23"))  # noqa: S704  # nothing in it comes from outside


@cache
def _environment() -> jinja2.Environment:
    made = environment(_text)
    made.globals.update(
        style=Markup(STYLE),  # noqa: S704  # our own package data, not a value
        script=Markup(SCRIPT),  # noqa: S704  # the same
        build=_digest(STYLE + SCRIPT)[:8],
        between=words.between,
        ratio=words.ratio,
        stratum_marks=axis.stratum_marks,
        minute=words.minute,
        moment=words.moment,
        moved=drift.moved,
        what=drift.what,
        outputs=outputs,
        legend=_LEGEND,
        unknown_icon=_icon("unknown"),
    )
    return made
