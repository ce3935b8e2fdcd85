"""What the dashboards have in common: variables, annotations, the way from one to another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, NamedTuple

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from dashboards.grafana.panels import BLUE, ORANGE, SOURCE
from dashboards.grafana.queries import Queries
from dashboards.promql import select
from dashboards.settings import Settings
from monitor import metrics as m

TAG = "recallwatch"
Label = Literal["entity", "language", "version", "window"]
ALL = ".+"


class Board(NamedTuple):
    """One dashboard: its file's name, title and first sentence, the variables that its queries use, its panels."""

    name: str
    title: str
    description: str
    labels: Sequence[Label]
    panels: Sequence[Builder[models.Panel]]
    since: str
    """How long back it opens, such as `14d`."""
    more: Sequence[Builder[models.VariableModel]] = ()
    """Variables of its own."""


class Annotation(models.AnnotationQuery):
    """A query of moments: each value is a time in milliseconds, whose event it is the labels say."""

    def __init__(self, name: str, expr: str, colour: str) -> None:
        super().__init__(name, SOURCE, expr=expr, icon_color=colour)

    def to_json(self) -> dict[str, object]:
        """Return it with what Grafana knows of a Prometheus query and the model doesn't."""
        more = {"useValueForTime": "on", "titleFormat": "{{kind}} {{what}}", "textFormat": "", "tagKeys": "kind"}
        return super().to_json() | more


def rendered(board: Board, settings: Settings, queries: Queries) -> str:
    """Return a dashboard's file."""
    built = (
        dashboard.Dashboard(board.title)
        .uid(f"recallwatch-{board.name}")
        .description(board.description)
        .tags([TAG])
        .timezone("browser")
        .readonly()
        .time(f"now-{board.since}", "now")
        .refresh("1m")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(_others())
        .variables([*_variables(board, settings)])
        .annotations([*_annotations(queries)])
    )
    for number, panel in enumerate(board.panels, 1):
        built.with_panel(_Numbered(panel, number))
    return json.dumps(built.build(), cls=JSONEncoder, indent=2, ensure_ascii=False) + "\n"


class _Numbered(Builder[models.Panel]):
    """A panel with an id, so that a link to it stays."""

    def __init__(self, panel: Builder[models.Panel], number: int) -> None:
        self._panel, self._number = panel, number

    def build(self) -> models.Panel:
        panel = self._panel.build()
        panel.id_val = self._number
        return panel


def _others() -> dashboard.DashboardLink:
    return (
        dashboard.DashboardLink("Dashboards")
        .type(models.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(as_dropdown=False)
        .include_vars(include_vars=True)
        .keep_time(keep_time=True)
    )


def _variables(board: Board, settings: Settings) -> Sequence[Builder[models.VariableModel]]:
    source = dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus")
    job = _asked("job", m.COMPUTED.name).label("Job")
    return [source, job, *(_label(label, settings) for label in board.labels), *board.more]


def _asked(name: str, series: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .datasource(SOURCE)
        .query(f"label_values({series}, {name})")
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
    )


def _label(label: Label, settings: Settings) -> dashboard.QueryVariable:
    """Return a variable over a label's values: of a window one, of all others any number, all of them at first."""
    variable = _asked(label, f'{select(m.CENSUS)}{{job="$job"}}').label(label.capitalize())
    if label == "window":
        return variable.current(models.VariableOption(text=settings.readings.window, value=settings.readings.window))
    return (
        variable.multi(multi=True)
        .include_all(include_all=True)
        .all_value(ALL)
        .current(models.VariableOption(selected=True, text=["All"], value=["$__all"]))
    )


def _annotations(queries: Queries) -> Sequence[Builder[models.AnnotationQuery]]:
    kinds = (("Detector version", "version", ORANGE), ("Config", "config", BLUE))
    return [
        _Annotations(Annotation(name, f"{queries.latest(m.CHANGED, m.CHANGED.labels, kind=kind)}\n* 1000", colour))
        for name, kind, colour in kinds
    ]


class _Annotations(Builder[models.AnnotationQuery]):
    """Gives what is built already."""

    def __init__(self, annotation: Annotation) -> None:
        self._annotation = annotation

    def build(self) -> models.AnnotationQuery:
        return self._annotation
