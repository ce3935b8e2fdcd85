"""Tables: answers merged by their labels, columns in the file's order and under its titles."""

from __future__ import annotations

from math import inf, isnan
from typing import NamedTuple

import msgspec

from dashboards.pictures.files import Panel, Thresholds
from dashboards.pictures.sheet import HAIR, INK, MID, Answers, Card, coloured
from dashboards.pictures.units import shown

_ROW_IN, _HEAD_IN = 0.2, 0.24
_LETTER_IN = 0.066
Row = dict[str, str | float]


class _Column(NamedTuple):
    title: str
    texts: list[str]
    colours: list[str]
    is_text: bool


def merged(panel: Panel, answers: Answers) -> list[Row]:
    """Return rows by Grafana's names of columns; labels that all answers have tell rows apart."""
    columns = [set(one.metric) for _, series in answers for one in series]
    shared = sorted(set.intersection(*columns)) if columns else []
    found: dict[tuple[str, ...], Row] = {}
    for target, series in answers:
        for one in series:
            row = found.setdefault(tuple(one.metric[name] for name in shared), {})
            row.update(one.metric)
            row[f"Value #{target.ref_id}"] = one.samples()[-1][1]
    return _sorted(panel, list(found.values()))


def draw_table(card: Card, panel: Panel, answers: Answers) -> None:
    """Draw as many rows as there's room for, and say how many more there are."""
    card.blank()
    rows = merged(panel, answers)
    room = int((card.height - _HEAD_IN - 0.1) / _ROW_IN)
    kept = rows if len(rows) <= room else rows[: room - 1]
    columns = _columns(panel, kept)
    widths = [max(len(text) for text in (*column.texts, column.title)) + 2.6 for column in columns]
    x = 0.1 / card.width
    for column, width in zip(columns, widths, strict=True):
        step = width / sum(widths) * (1 - 0.2 / card.width)
        edge, side = (x, "left") if column.is_text else (x + step * 0.86, "right")
        size = 8.0 if sum(widths) * _LETTER_IN < card.width else 8.0 * card.width / (sum(widths) * _LETTER_IN)
        y = 1 - 0.5 * _HEAD_IN / card.height
        card.axes.text(edge, y, column.title, fontsize=size, color=MID, ha=side, va="center")
        for number, (text, colour) in enumerate(zip(column.texts, column.colours, strict=True), 1):
            y = 1 - (_HEAD_IN + (number - 0.5) * _ROW_IN) / card.height
            weight = "normal" if colour == INK else "bold"
            card.axes.text(edge, y, text, fontsize=size, color=colour, weight=weight, ha=side, va="center")
        x += step
    for number in range(len(kept)):
        y = 1 - (_HEAD_IN + number * _ROW_IN) / card.height
        card.axes.plot([0.1 / card.width, 1 - 0.1 / card.width], [y, y], color=HAIR, linewidth=0.8)
    if len(kept) < len(rows):
        card.axes.text(
            0.1 / card.width, 0.08 / card.height, f"{len(rows) - len(kept)} more rows", fontsize=7.5, color=MID
        )


def _columns(panel: Panel, rows: list[Row]) -> list[_Column]:
    (organized,) = (one.options for one in panel.transformations if one.id == "organize")
    titles = organized["renameByName"]
    order = sorted(organized["indexByName"].items(), key=lambda item: msgspec.convert(item[1], int))
    names = [name for name, _ in order if name in titles and name not in organized["excludeByName"]]
    return [_column(panel, name, str(titles[name]), rows) for name in names]


def _column(panel: Panel, name: str, title: str, rows: list[Row]) -> _Column:
    own = panel.settings("", title)
    decimals, unit = own.get("decimals"), str(own.get("unit", "short"))
    thresholds = msgspec.convert(own.get("thresholds", {}), Thresholds)
    words: dict[str, str] = {}
    for mapping in msgspec.convert(own.get("mappings", []), list[dict[str, object]]):
        options = msgspec.convert(mapping["options"], dict[str, dict[str, object]])
        words |= {value: str(result["text"]) for value, result in options.items()}
    texts, colours = [], []
    for row in rows:
        value = row.get(name, "–")
        if isinstance(value, str):
            texts.append(value)
            colours.append(INK)
        else:
            texts.append(words.get(f"{value:g}", shown(value, unit, decimals if isinstance(decimals, int) else None)))
            colours.append(coloured(value, thresholds))
    return _Column(title, texts, colours, not name.startswith("Value #"))


def _sorted(panel: Panel, rows: list[Row]) -> list[Row]:
    (order,) = panel.options.sort_by
    (organized,) = (one.options for one in panel.transformations if one.id == "organize")
    name = next(name for name, title in organized["renameByName"].items() if title == order.display_name)

    def place(row: Row) -> tuple[bool, float, str]:
        value = row.get(name, inf)
        if isinstance(value, str):
            return False, 0.0, value
        missing = value == inf or isnan(value)
        return missing, -value if order.desc else value, ""

    return sorted(rows, key=place)
