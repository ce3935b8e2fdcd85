"""Panels: figures, lines, tables and bars, each with its unit, its legend, and what is nominal and what isn't.

Colours are those of Okabe and Ito, told apart by everybody; none says anything that a word, a figure or a line's shape
doesn't say as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, Self, TypeVar

from grafana_foundation_sdk.builders import bargauge, common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

BLUE, SKY, ORANGE, RED, GREEN, PINK, GREY = "#0072B2", "#56B4E9", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#8a8a86"
PALETTE = (BLUE, ORANGE, GREEN, PINK, SKY)
SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
HEADROOM = 25
"""Rows of a table at most, by the query: what is further down nobody reads."""

Style = Literal["line", "dashed", "thin", "upper", "lower", "listed"]
"""`upper`, `lower`: limits, with what is between them filled. `listed`: in the legend, as a figure, and not drawn."""


class Health(NamedTuple):
    """What a panel shows, and when that is nominal, degraded or unhealthy."""

    shows: str
    nominal: str
    degraded: str
    unhealthy: str

    def text(self) -> str:
        """Return the panel's description."""
        states = (("Nominal", self.nominal), ("Degraded", self.degraded), ("Unhealthy", self.unhealthy))
        return "\n\n".join([self.shows, *(f"**{word}:** {text}" for word, text in states)])


class Bounds(NamedTuple):
    """From where on a figure is degraded or unhealthy; None where it never is, or not by itself.

    `falling`: less is worse, and both are where it begins to be better.
    """

    degraded: float | None
    unhealthy: float | None
    falling: bool = False

    def build(self) -> Builder[models.ThresholdsConfig]:
        """Return Grafana's thresholds."""
        worse = [
            (bound, colour) for bound, colour in ((self.degraded, ORANGE), (self.unhealthy, RED)) if bound is not None
        ]
        bounds, colours = [bound for bound, _ in worse], ["text", *(colour for _, colour in worse)]
        if self.falling:
            bounds, colours = bounds[::-1], colours[::-1]
        found = [models.Threshold(bound, colour) for bound, colour in zip([None, *bounds], colours, strict=True)]
        return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(found)


class Query(NamedTuple):
    """One query of a panel: what it's called, and how it's drawn."""

    expr: str
    legend: str
    colour: str = GREY
    style: Style = "line"
    unit: str = ""
    """Where it isn't the panel's."""
    decimals: int | None = None


class Column(NamedTuple):
    """A column of a table that a query gives."""

    title: str
    expr: str
    unit: str = "short"
    decimals: int | None = 0
    bounds: Bounds | None = None
    words: Mapping[str, str] = {}
    """What is shown in place of a value."""
    shown: bool = True


Panel = Builder[models.Panel]


class _Panel(Protocol):
    """What all builders of panels have."""

    def title(self, title: str) -> Self: ...
    def description(self, description: str) -> Self: ...
    def datasource(self, datasource: models.DataSourceRef) -> Self: ...
    def span(self, w: int) -> Self: ...
    def height(self, h: int) -> Self: ...
    def with_target(self, target: Builder[Dataquery]) -> Self: ...
    def override_by_query(self, query_ref_id: str, properties: list[models.DynamicConfigValue]) -> Self: ...


_P = TypeVar("_P", bound=_Panel)


class Frame(NamedTuple):
    """What every panel has: its title, what its numbers mean, its place on a grid of 24 columns."""

    title: str
    health: Health
    width: int
    height: int


def figures(frame: Frame, queries: Sequence[Query], bounds: Bounds | None = None) -> stat.Panel:
    """Return figures beside each other; the bounds are of the first, and the others what it rests on."""
    panel = (
        stat.Panel()
        .unit(queries[0].unit or "short")
        .graph_mode(kinds.BigValueGraphMode.NONE)
        .color_mode(kinds.BigValueColorMode.VALUE if bounds else kinds.BigValueColorMode.NONE)
        .text_mode(kinds.BigValueTextMode.VALUE_AND_NAME)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .no_value("no data")
    )
    if bounds:
        panel.thresholds(bounds.build()).color_scheme(dashboard.FieldColor().mode(models.FieldColorModeId.THRESHOLDS))
    for place, query in enumerate(queries):
        own = _own_unit(query)
        if place:
            own.append(_set("color", {"mode": "fixed", "fixedColor": "text"}))
        _put(panel, place, query, own, instant=True)
    return _framed(panel, frame)


def lines(
    frame: Frame, queries: Sequence[Query], unit: str, *, low: float | None = None, high: float | None = None
) -> timeseries.Panel:
    """Return lines over time; `low` and `high` are where the axis begins and ends, where that is fixed."""
    panel = (
        timeseries.Panel()
        .unit(unit)
        .legend(
            common.VizLegendOptions()
            .display_mode(kinds.LegendDisplayMode.LIST)
            .placement(kinds.LegendPlacement.BOTTOM)
            .show_legend(show_legend=True)
            .calcs(["lastNotNull"])
        )
        .tooltip(common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI))
        .show_points(kinds.VisibilityMode.NEVER)
        .no_value("no data")
    )
    if low is not None:
        panel.min(low)
    if high is not None:
        panel.max(high)
    lower = next((query.legend for query in queries if query.style == "lower"), "")
    for place, query in enumerate(queries):
        _put(panel, place, query, [*_drawn(query, lower), *_own_unit(query)])
    return _framed(panel, frame)


def rows(
    frame: Frame, labels: Mapping[str, str], columns: Sequence[Column], by: str, *, descending: bool = False
) -> table.Panel:
    """Return a table with a row for each value of `labels` (their titles; empty: not shown), sorted by a column."""
    panel = table.Panel().filterable(filterable=False).no_value("–").cell_height(kinds.TableCellHeight.SM)
    refs = [_ref(place) for place in range(len(columns))]
    titles = {
        **{name: title for name, title in labels.items() if title},
        **{f"Value #{ref}": column.title for ref, column in zip(refs, columns, strict=True)},
    }
    hidden = {name: True for name, title in labels.items() if not title}
    hidden |= {f"Value #{ref}": True for ref, column in zip(refs, columns, strict=True) if not column.shown}
    for ref, column in zip(refs, columns, strict=True):
        target = _target(ref, column.expr, "", instant=True).format(PromQueryFormat.TABLE)
        panel.with_target(target).override_by_name(column.title, _column(column))
    order = {name: place for place, name in enumerate(titles)}
    options = {"excludeByName": {"Time": True, **hidden}, "indexByName": order, "renameByName": titles}
    panel.with_transformation(models.DataTransformerConfig("merge", options={}))
    panel.with_transformation(models.DataTransformerConfig("organize", options=options))
    panel.sort_by([common.TableSortByFieldState().display_name(by).desc(descending)])
    return _framed(panel, frame)


def bars(frame: Frame, queries: Sequence[Query], unit: str, bounds: Bounds, high: float) -> bargauge.Panel:
    """Return horizontal bars from 0 to `high`, one a query."""
    panel = (
        bargauge.Panel()
        .unit(unit)
        .min(0)
        .max(high)
        .orientation(kinds.VizOrientation.HORIZONTAL)
        .display_mode(kinds.BarGaugeDisplayMode.BASIC)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .thresholds(bounds.build())
        .color_scheme(dashboard.FieldColor().mode(models.FieldColorModeId.THRESHOLDS))
        .no_value("no data")
    )
    for place, query in enumerate(queries):
        _put(panel, place, query, _own_unit(query), instant=True)
    return _framed(panel, frame)


def _framed(panel: _P, frame: Frame) -> _P:
    return (
        panel.title(frame.title)
        .description(frame.health.text())
        .datasource(SOURCE)
        .span(frame.width)
        .height(frame.height)
    )


def _put(
    panel: _Panel,
    place: int,
    query: Query,
    properties: list[models.DynamicConfigValue],
    *,
    instant: bool = False,
) -> None:
    ref = _ref(place)
    panel.with_target(_target(ref, query.expr, query.legend, instant=instant))
    if properties:
        panel.override_by_query(ref, properties)


def _target(ref: str, expr: str, legend: str, *, instant: bool) -> prometheus.Dataquery:
    query = prometheus.Dataquery().ref_id(ref).datasource(SOURCE).expr(expr).legend_format(legend)
    return query.instant() if instant else query.range()


def _ref(place: int) -> str:
    return chr(ord("A") + place)


def _set(name: str, value: object) -> models.DynamicConfigValue:
    return models.DynamicConfigValue(name, value)


def _own_unit(query: Query) -> list[models.DynamicConfigValue]:
    unit = [_set("unit", query.unit)] if query.unit else []
    return unit if query.decimals is None else [*unit, _set("decimals", query.decimals)]


def _drawn(query: Query, lower: str) -> list[models.DynamicConfigValue]:
    found = [_set("color", {"mode": "fixed", "fixedColor": query.colour})]
    if query.style == "listed":
        return [*found, _set("custom.hideFrom", {"viz": True, "legend": False, "tooltip": False})]
    width = {"line": 2, "dashed": 2, "thin": 1, "upper": 1, "lower": 1}[query.style]
    found += [_set("custom.lineWidth", width)]
    if query.style == "dashed":
        found += [_set("custom.lineStyle", {"fill": "dash", "dash": [10, 6]})]
    if query.style == "upper":
        found += [_set("custom.fillBelowTo", lower), _set("custom.fillOpacity", 18)]
    return found


def _column(column: Column) -> list[models.DynamicConfigValue]:
    found = [_set("unit", column.unit)]
    if column.decimals is not None:
        found += [_set("decimals", column.decimals)]
    if column.bounds is not None:
        found += [_set("thresholds", column.bounds.build().build()), _set("custom.cellOptions", {"type": "color-text"})]
    if column.words:
        results = {value: models.ValueMappingResult(text=word) for value, word in column.words.items()}
        found += [_set("mappings", [models.ValueMap(options=results)])]
    return found
