"""Lines over time: limits filled between, targets dashed, markers where something changed, last values below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from matplotlib.dates import AutoDateLocator, DateFormatter

from dashboards.pictures.asking import Series, Span
from dashboards.pictures.files import Panel, Target
from dashboards.pictures.sheet import HAIR, INK, MID, Answers, Card
from dashboards.pictures.units import shown, write_axis

_LEFT_IN, _RIGHT_IN, _TOP_IN, _AXIS_IN, _LINE_IN = 0.62, 0.26, 0.16, 0.24, 0.18
_LETTER_IN = 0.068
_NARROW_IN = 4.6
_DAY_S = 86_400.0


class Marker(NamedTuple):
    """Something that changed: when (s since the epoch), what, and its colour."""

    at: float
    what: str
    colour: str


class _Entry(NamedTuple):
    text: str
    colour: str
    dashed: bool
    listed: bool


def draw_lines(card: Card, panel: Panel, answers: Answers, span: Span, markers: Sequence[Marker]) -> None:
    """Draw each query's series."""
    axes, defaults = card.axes, panel.field_config.defaults
    entries = [entry for target, series in answers for one in series[:1] for entry in [_entry(panel, target, one)]]
    lines = _wrapped(entries, card.width - 0.3)
    below = _AXIS_IN + 0.06 + _LINE_IN * len(lines)
    box = axes.get_position()
    scale_x, scale_y = box.width / card.width, box.height / card.height
    axes.set_position(
        (
            box.x0 + _LEFT_IN * scale_x,
            box.y0 + below * scale_y,
            box.width - (_LEFT_IN + _RIGHT_IN) * scale_x,
            box.height - (below + _TOP_IN) * scale_y,
        )
    )
    limits = {}
    for target, series in answers:
        own = panel.settings(target.ref_id)
        if "custom.hideFrom" in own or not series:
            continue
        samples = series[0].samples()
        limits[target.legend_format] = samples
        _line(card, own, samples)
    for target, _ in answers:
        other = panel.settings(target.ref_id).get("custom.fillBelowTo")
        if isinstance(other, str) and target.legend_format in limits and other in limits:
            _fill(card, limits[target.legend_format], limits[other], _colour(panel, target))
    for marker in markers:
        axes.axvline(_time(marker.at), color=marker.colour, linewidth=1.1, linestyle=(0, (1, 2)))
        axes.annotate(
            marker.what,
            (_time(marker.at), 1),
            (2, 1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=6.5 if card.width > _NARROW_IN else 5.4,
            color=MID,
        )
    _dress(card, span, defaults.unit, (defaults.min, defaults.max))
    _legend(card, lines)


def _time(at: float) -> float:
    """Return a moment as matplotlib has it: days, in UTC."""
    return at / _DAY_S


def _colour(panel: Panel, target: Target) -> str:
    colour = panel.settings(target.ref_id).get("color", {})
    return msgspec.convert(colour, dict[str, str]).get("fixedColor", INK)


def _line(card: Card, own: dict[str, object], samples: list[tuple[float, float]]) -> None:
    colour = msgspec.convert(own.get("color", {}), dict[str, str]).get("fixedColor", INK)
    dashes = (0, (5, 3)) if "custom.lineStyle" in own else "-"
    width = 0.8 * msgspec.convert(own.get("custom.lineWidth", 1), float)
    times = [_time(at) for at, _ in samples]
    card.axes.plot(times, [value for _, value in samples], color=colour, linewidth=width, linestyle=dashes)


def _fill(card: Card, upper: list[tuple[float, float]], lower: list[tuple[float, float]], colour: str) -> None:
    lows = dict(lower)
    both = [(at, lows[at], high) for at, high in upper if at in lows]
    times = [_time(at) for at, _, _ in both]
    card.axes.fill_between(times, [low for _, low, _ in both], [high for *_, high in both], color=colour, alpha=0.15)


def _dress(card: Card, span: Span, unit: str, ends: tuple[float | None, float | None]) -> None:
    axes = card.axes
    axes.set_xlim(_time(span.start), _time(span.end))
    low, high = axes.get_ylim()
    axes.set_ylim(low if ends[0] is None else ends[0], high if ends[1] is None else ends[1])
    axes.xaxis_date("UTC")
    locator = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]  # the library has no types for it
    axes.xaxis.set_major_locator(locator)
    form = "%b %d" if span.end - span.start > 2 * _DAY_S else "%H:%M"
    axes.xaxis.set_major_formatter(DateFormatter(form))  # type: ignore[no-untyped-call]  # nor for it
    axes.locator_params(axis="y", nbins=5)
    write_axis(axes, unit)
    axes.grid(color=HAIR, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=7.5, labelcolor=MID)
    axes.spines[:].set_visible(False)


def _entry(panel: Panel, target: Target, series: Series) -> _Entry:
    own = panel.settings(target.ref_id)
    unit = str(own.get("unit", panel.field_config.defaults.unit))
    name = re.sub(r"\{\{(\w+)\}\}", lambda found: series.metric.get(found[1], ""), target.legend_format)
    last = shown(series.samples()[-1][1], unit)
    return _Entry(f"{name}  {last}", _colour(panel, target), "custom.lineStyle" in own, "custom.hideFrom" in own)


def _wrapped(entries: list[_Entry], width: float) -> list[list[_Entry]]:
    """Return the legend's lines."""
    lines: list[list[_Entry]] = []
    used = width
    for entry in entries:
        needs = 0.42 + _LETTER_IN * len(entry.text)
        if not lines or used + needs > width:
            lines.append([])
            used = 0.0
        lines[-1].append(entry)
        used += needs
    return lines


def _legend(card: Card, lines: list[list[_Entry]]) -> None:
    figure = card.axes.figure
    box, (width, height) = card.axes.get_position(), figure.get_size_inches()  # type: ignore[union-attr]  # never a subfigure
    left = box.x0 - (_LEFT_IN - 0.12) / width
    for number, line in enumerate(lines):
        x, y = left, box.y0 - (_AXIS_IN + 0.1 + _LINE_IN * number + 0.04) / height
        for entry in line:
            mark = "" if entry.listed else ("╌" if entry.dashed else "━")
            figure.text(x, y, mark, fontsize=9, color=entry.colour, va="center", family="DejaVu Sans")
            figure.text(
                x + (0.0 if entry.listed else 0.18) / width, y, entry.text, fontsize=7.5, color=INK, va="center"
            )
            x += (0.42 + _LETTER_IN * len(entry.text)) / width
