"""Figures beside each other, and horizontal bars."""

from __future__ import annotations

from dashboards.pictures.files import Panel
from dashboards.pictures.sheet import HAIR, INK, MID, SOFT, Answers, Card, coloured
from dashboards.pictures.units import shown, ticked

_LARGE_IN = 0.2
"""Width of a letter of the first value."""


def draw_figures(card: Card, panel: Panel, answers: Answers) -> None:
    """Draw the values of a panel of figures: the first large, and what it rests on beside it."""
    card.blank()
    after = 0.34
    defaults = panel.field_config.defaults
    for place, (target, series) in enumerate(answers):
        own = panel.settings(target.ref_id)
        unit, decimals = str(own.get("unit", defaults.unit)), own.get("decimals")
        value = series[0].samples()[-1][1] if series else float("nan")
        text = shown(value, unit, decimals if isinstance(decimals, int) else None)
        x = 0.035 if place == 0 else after + (0.985 - after) / (len(answers) - 1) * (place - 1)
        after = max(after, 0.06 + _LARGE_IN * len(text) / card.width) if place == 0 else after
        colour = coloured(value, defaults.thresholds) if place == 0 else INK
        size, weight = (21, "bold") if place == 0 else (13, "normal")
        card.axes.text(x, 0.46, text, fontsize=size, color=colour, weight=weight, va="baseline")
        card.axes.text(x, 0.2, target.legend_format, fontsize=8, color=MID, va="baseline")


def draw_bars(card: Card, panel: Panel, answers: Answers) -> None:
    """Draw one bar a query, from 0 to the panel's end, with a line at each bound."""
    axes, defaults = card.axes, panel.field_config.defaults
    end = defaults.max or 1.0
    box = axes.get_position()
    axes.set_position((box.x0 + 0.16 * box.width, box.y0 + 0.12 * box.height, 0.76 * box.width, 0.84 * box.height))
    for place, (_, series) in enumerate(answers):
        value = series[0].samples()[-1][1] if series else float("nan")
        colour = coloured(value, defaults.thresholds)
        axes.barh(place, min(value, end), height=0.62, color=SOFT if colour == INK else colour)
        more = " →" if value > end else ""
        axes.text(end * 1.01, place, shown(value, defaults.unit, 0) + more, va="center", fontsize=8, color=INK)
    for step in defaults.thresholds.steps:
        if step.value is not None:
            axes.axvline(step.value, color=step.color, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(answers)), [target.legend_format for target, _ in answers], fontsize=8, color=INK)
    axes.set_xlim(0, end)
    ticks = [end * part / 4 for part in range(5)]
    axes.set_xticks(ticks, [ticked(tick, defaults.unit) for tick in ticks], fontsize=7.5, color=MID)
    axes.invert_yaxis()
    axes.tick_params(length=0)
    axes.grid(axis="x", color=HAIR)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
