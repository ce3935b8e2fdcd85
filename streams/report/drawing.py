"""From the sealed document to HTML: one file, no script, nothing from another host.

The same document gives the same bytes, so the page can be checked too: draw it again, and compare.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import TypeAlias, cast

import jinja2
from markupsafe import Markup

from monitor.readings import ANY
from streams.page import words
from streams.page.templates import environment
from streams.report.sentences import FEWEST_TRUE, NOTHING, WIDEST, because, certified

Json: TypeAlias = Mapping[str, object]
STATUSES = {
    "ok": "can be signed",
    "marked": "can be signed, with a mark",
}
"""Words for a reading's status, beside the page's own."""
_SHOWN_SETTINGS = ("sampling", "labels", "matching", "redaction", "readings", "alarm")


def render(document: Json) -> str:
    """Return the page of a sealed document, `monitor.report.sealed`, as read from its JSON or just made.

    Raises
    ------
    jinja2.UndefinedError
        A document that no report of this version is.
    """
    template = _environment().get_template("report.html.j2")
    report = cast("Mapping[str, list[Json]]", document["report"])
    style = _text("print.css") + _foot(str(document["sha256"]))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    cells = _distinct(report["cells"])
    return template.render(
        r=report,
        cells=cells,
        first=_first(cells),
        sha256=document["sha256"],
        style=Markup(style),  # noqa: S704  # our own package data, and a hash
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
    )


def _first(cells: list[Json]) -> list[Json]:
    """Return the cells that are told in full: those with a target; where none has one, those of any language.

    A version that has one language alone has no other cell to tell first.
    """
    now = [c for c in cells if c["current"]]
    asked = [c for c in now if c["target"] is not None]
    spoken: dict[tuple[object, object], set[object]] = {}
    for c in now:
        spoken.setdefault(_version(c), set()).add(c["language"])
    return asked or [c for c in now if c["language"] == ANY or len(spoken[_version(c)] - {ANY}) < 2]


def _distinct(cells: list[Json]) -> list[Json]:
    """Return the cells without those roll-ups over languages that say what the version's one language says."""
    languages: dict[tuple[object, object], set[object]] = {}
    single: dict[tuple[object, ...], Json] = {}
    for c in cells:
        if c["language"] != ANY:
            languages.setdefault(_version(c), set()).add(c["language"])
            single[c["entity"], *_version(c)] = c
    return [
        c
        for c in cells
        if c["language"] != ANY
        or len(languages.get(_version(c), ())) != 1
        or not _says_the_same(c, single.get((c["entity"], *_version(c))))
    ]


def _distinct_outputs(outputs: list[Json]) -> list[Json]:
    """Return the outputs without the roll-up of a version that has one language: it says the same again."""
    spoken = Counter(_version(r) for r in outputs)
    return [r for r in outputs if r["language"] != ANY or spoken[_version(r)] != 2]


def _version(cell: Json) -> tuple[object, object]:
    return cell["detector"], cell["version"]


def _says_the_same(cell: Json, other: Json | None) -> bool:
    return other is not None and all(cell[name] == other[name] for name in ("statement", "target", "matched", "masked"))


def _foot(sha256: str) -> str:
    """Return the rule that puts the hash at the foot of every page: a page alone still says where it belongs."""
    known = sha256 if sha256.isalnum() else ""
    return f'@page{{@bottom-left{{content:"recallwatch sign-off · SHA-256 {known[:16]}…"}}}}\n'


def _text(name: str) -> str:
    return files("streams.report").joinpath(name).read_text("utf-8")


def _flat(settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the settings that a number hangs on, each under its dotted key."""
    for section in (name for name in _SHOWN_SETTINGS if name in settings):
        yield from _leaves(section, settings.get(section))


def _leaves(key: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", inner)
    else:
        yield key, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _figure(value: float | None, digits: int) -> str:
    """Return a number that is no share; one that rounds to nothing is told as less than the last digit."""
    if value is None:
        return words.DASH
    step = 10.0**-digits
    return f"<{step:.{digits}f}" if 0 < value < step / 2 else f"{value:,.{digits}f}"


@cache
def _environment() -> jinja2.Environment:
    made = environment(_text)
    made.filters["whole"] = _whole
    made.globals.update(
        figure=_figure,
        statuses=words.STATUSES | STATUSES,
        because=because,
        certified=certified,
        distinct_outputs=_distinct_outputs,
        flat=_flat,
        NOTHING=NOTHING,
        FEWEST_TRUE=FEWEST_TRUE,
        WIDEST=WIDEST,
    )
    return made
