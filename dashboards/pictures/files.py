"""A dashboard's file, read as far as a picture needs it, its variables filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_LABEL_VALUES = re.compile(r"label_values\((.*), (\w+)\)")


class _Camel(msgspec.Struct, frozen=True, rename="camel"):
    """Grafana writes names this way."""


class Place(_Camel, frozen=True):
    """Where a panel is, in columns of 24 and rows."""

    x: int
    y: int
    w: int
    h: int


class Target(_Camel, frozen=True):
    """A query."""

    ref_id: str
    expr: str
    legend_format: str = ""
    instant: bool = False


class Property(_Camel, frozen=True):
    """Something that is set for some series or column."""

    id: str
    value: object = None


class Matcher(_Camel, frozen=True):
    """Which series or column."""

    id: str
    options: object = None


class Override(_Camel, frozen=True):
    """What is set for which."""

    matcher: Matcher
    properties: list[Property]


class Step(_Camel, frozen=True):
    """A colour from a value on."""

    value: float | None
    color: str


class Thresholds(_Camel, frozen=True):
    """All steps."""

    steps: list[Step] = []


class Defaults(_Camel, frozen=True):
    """What is set for all."""

    unit: str = "short"
    decimals: int | None = None
    min: float | None = None
    max: float | None = None
    thresholds: Thresholds = Thresholds()


class FieldConfig(_Camel, frozen=True):
    """How values are shown."""

    defaults: Defaults = Defaults()
    overrides: list[Override] = []


class Transformation(_Camel, frozen=True):
    """What is made of a table's columns."""

    id: str
    options: dict[str, dict[str, object]] = {}


class SortBy(_Camel, frozen=True):
    """A column that a table is sorted by."""

    display_name: str
    desc: bool = False


class Options(_Camel, frozen=True):
    """What a kind of panel has beside."""

    sort_by: list[SortBy] = []


class Panel(_Camel, frozen=True):
    """One panel."""

    id: int
    type: str
    title: str
    description: str
    grid_pos: Place
    targets: list[Target]
    field_config: FieldConfig = FieldConfig()
    transformations: list[Transformation] = []
    options: Options = Options()

    def settings(self, ref: str, column: str = "") -> dict[str, object]:
        """Return what is set for a query's series, or for a column, by its id."""
        matched = {("byFrameRefID", ref), ("byName", column)}
        return {
            one.id: one.value
            for override in self.field_config.overrides
            if (override.matcher.id, override.matcher.options) in matched
            for one in override.properties
        }


class Option(_Camel, frozen=True):
    """A chosen value."""

    value: str | list[str] = ""


class Variable(_Camel, frozen=True):
    """A variable, and what is chosen at first."""

    name: str
    type: str
    query: str = ""
    current: Option = Option()
    all_value: str = ""


class Annotation(_Camel, frozen=True):
    """A query of moments."""

    name: str
    expr: str
    icon_color: str
    use_value_for_time: str = ""


class _Templating(msgspec.Struct, frozen=True, rename={"found": "list"}):
    found: list[Variable] = []


class _Annotations(msgspec.Struct, frozen=True, rename={"found": "list"}):
    found: list[Annotation] = []


class _Time(msgspec.Struct, frozen=True, rename={"start": "from"}):
    start: str


class DashboardFile(_Camel, frozen=True):
    """One dashboard."""

    uid: str
    title: str
    panels: list[Panel]
    templating: _Templating
    annotations: _Annotations
    time: _Time

    @property
    def variables(self) -> list[Variable]:
        """Its variables."""
        return self.templating.found

    @property
    def moments(self) -> list[Annotation]:
        """Its annotations."""
        return self.annotations.found

    def chosen(self, job: str, rate_interval: str) -> dict[str, str]:
        """Return what each variable stands for when the dashboard opens, and that job is chosen."""
        found = {"__rate_interval": rate_interval, "job": job}
        for variable in self.variables:
            value = variable.current.value
            if variable.name not in found:
                found[variable.name] = variable.all_value or (value if isinstance(value, str) else "")
        return found


def read_dashboard(path: Path) -> DashboardFile:
    """Return what a file says; OSError where it can't be read, msgspec.ValidationError where it's something else."""
    return msgspec.json.decode(path.read_bytes(), type=DashboardFile)


def filled(text: str, chosen: Mapping[str, str]) -> str:
    """Return a text with its variables filled in; KeyError for one that nothing stands for.

    >>> filled('m{entity=~"$entity"}[$__rate_interval] ${n}', {"entity": ".+", "__rate_interval": "1m", "n": "2"})
    'm{entity=~".+"}[1m] 2'
    """
    return _VARIABLE.sub(lambda found: chosen[found[1] or found[2]], text)


def values_asked(query: str) -> tuple[str, str]:
    """Return the selector and the label that a variable's query asks for; ValueError for another kind of query.

    >>> values_asked('label_values(up{job="a"}, instance)')
    ('up{job="a"}', 'instance')
    """
    found = _LABEL_VALUES.fullmatch(query)
    if found is None:
        raise ValueError(f"{query}: not label_values(SELECTOR, LABEL)")
    return found[1], found[2]
