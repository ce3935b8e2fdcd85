"""Pieces of the templates that alerts are written with: a label, the value, another series of the same cell.

A series that isn't there reads as "unknown": no data gives no number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from dashboards.promql import Named, quote

Form = Literal[
    "percent",
    "number",
    "duration",
    "moment",
    "ratio",
    "corrected",
    "status",
    "count",
    "entity",
    "kind",
    "listed",
]
_PIPES: dict[Form, str] = {
    "percent": "humanizePercentage",
    "number": 'printf "%.0f"',
    "duration": "humanizeDuration",
    "moment": "humanizeTimestamp",
    "ratio": 'printf "%.2f"',
}


def chosen(subject: str, words: Mapping[str, str], otherwise: str) -> str:
    """Return the words for what a piece of a template is.

    >>> chosen("$labels.language", {"any": "all"}, "one")
    '{{ if eq $labels.language "any" }}all{{ else }}one{{ end }}'
    """
    cases = [f"if eq {subject} {quote(name)} }}}}{said}" for name, said in words.items()]
    return f"{{{{ {'{{ else '.join(cases)}{{{{ else }}}}{otherwise}{{{{ end }}}}"


_STATUS = (
    '{{ $status := . | first | label "status" }}'
    + chosen(
        "$status",
        {
            "expired": "its newest labelled document is older than the window",
            "stale": "no label came for days",
            "incomplete": "too few of the sampled documents are labelled",
            "greyed": "two readers agree too little on what it is",
            "no_label": "no document is labelled yet",
            "no_truth": "no labelled document holds it",
            "no_interval": "too little is labelled for limits",
        },
        "its status changed meanwhile",
    )
    + " ({{ $status }})"
)
_FORMS: dict[Form, str] = {
    **{form: f"{{{{ . | first | value | {pipe} }}}}" for form, pipe in _PIPES.items()},
    "count": '{{ . | first | value | printf "%.0f" }}',
    "corrected": "{{ if eq (. | first | value) 1.0 }} A label was corrected since, which took evidence back.{{ end }}",
    "entity": '{{ . | first | label "entity" }} ({{ . | first | value | printf "%.2f" }} in 1,000)',
    "kind": (
        '{{ . | first | label "entity" }} ({{ . | first | label "kind" }}, '
        '{{ . | first | value | printf "%.0f" }} documents)'
    ),
    "status": _STATUS,
    "listed": (
        '{{ range $place, $one := . | sortByLabel "language" }}{{ if $place }}, {{ end }}{{ $one.Labels.language }}'
        "{{ end }}"
    ),
}
_MISSING: dict[Form, str] = {"count": "0", "corrected": "", "listed": "none", "status": "it isn't exported now"}
"""What is said where a query gives nothing, where that isn't "unknown": there, nothing to count is none."""
CELL = ("entity", "language", "detector", "version")


def named(place: Literal["entity", "language"]) -> str:
    """Return what an alert is of, in words where it's of all."""
    return chosen(f"$labels.{place}", {"any": "all languages" if place == "language" else "all entities"}, label(place))


def cell() -> str:
    """Return the cell that an alert is of: entity, language, detector and version."""
    return f"{named('entity')} in {named('language')} ({label('detector')} {label('version')})"


def value(form: Form) -> str:
    """Return the alert's own value.

    >>> value("percent")
    '{{ $value | humanizePercentage }}'
    """
    return f"{{{{ $value | {_PIPES[form]} }}}}"


def label(name: str) -> str:
    """Return one of the alert's labels.

    >>> label("entity")
    '{{ $labels.entity }}'
    """
    return f"{{{{ $labels.{name} }}}}"


def looked_up(series: Named, form: Form, shared: Sequence[str] = CELL, *, memory: str = "", **fixed: str) -> str:
    """Return the value of another series that has the alert's own labels, or the word unknown.

    Parameters: `shared`, labels that the alert carries, beside the job; `memory`, a length of time in which its last
    value counts, for an alert that outlasts the series; `fixed`, what others must be. A label's value may hold
    anything: it's quoted.

    >>> from monitor.metrics import KAPPA_LOWER
    >>> print(looked_up(KAPPA_LOWER, "ratio", ["entity"], window="28d"))
    {{ template "ratio" (printf `recallwatch_kappa_lower_ratio{window="28d",job=%q,entity=%q}` $labels.job \
$labels.entity) }}
    """
    for name in (*shared, *fixed):
        if name not in series.labels:
            raise ValueError(f"{series.name}: no label {name}; it has {', '.join(series.labels)}")
    fixed_ones = [f"{name}={quote(one)}" for name, one in fixed.items()]
    whole = tuple(shared) == CELL
    own = ["%s"] if whole else [f"{name}=%q" for name in ("job", *shared)]
    query = f"{series.name}{{{','.join([*fixed_ones, *own])}}}"
    if memory:
        query = f"last_over_time({query}[{memory}])"
    return f'{{{{ template "{form}" (printf `{query}` $cell) }}}}' if whole else asked(query, form)


def asked(query: str, form: Form) -> str:
    """Return what a query gives; each `LABEL=%q` in it becomes the alert's own label, quoted.

    >>> print(asked("sum(up{job=%q})", "number"))
    {{ template "number" (printf `sum(up{job=%q})` $labels.job) }}
    """
    return f'{{{{ template "{form}" ({_printed(query, "$labels")}) }}}}'


def either(looked: str, known: str, unknown: str) -> str:
    """Return what is said where a series that is looked up is there, and where it isn't.

    >>> either('{{ template "percent" (printf `up{%s}` $cell) }}', "Up.", "Nobody knows.")
    '{{ if query (printf `up{%s}` $cell) }}Up.{{ else }}Nobody knows.{{ end }}'
    """
    query = re.sub(r"^\{\{ template \S+ (.*) \}\}$", r"\1", looked)
    return f"{{{{ if query {query} }}}}{known}{{{{ else }}}}{unknown}{{{{ end }}}}"


def where_found(query: str, said: str) -> str:
    """Return what is said of the series that a query gives, `found` in it; nothing where it gives none.

    >>> print(where_found("topk(1, up{job=%q})", " Up is {{ .Value }}."))
    {{ range query (printf `topk(1, up{job=%q})` $labels.job) }} Up is {{ .Value }}.{{ end }}
    """
    return f"{{{{ range query ({_printed(query, '$labels')}) }}}}{said}{{{{ end }}}}"


def found(series: Named, form: Form, **fixed: str) -> str:
    """Return the value of a series of the cell that `where_found` is at."""
    matchers = [*(f"{name}={quote(one)}" for name, one in fixed.items()), *(f"{name}=%q" for name in ("job", *CELL))]
    query = f"{series.name}{{{','.join(matchers)}}}"
    return f'{{{{ template "{form}" ({_printed(query, ".Labels")}) }}}}'


def _printed(query: str, labels: str) -> str:
    values = " ".join(f"{labels}.{name}" for name in re.findall(r"(\w+)!?=%q", query))
    return f"printf `{query}` {values}"


def described(text: str) -> str:
    """Return a description with what it uses put before it: one definition a form, and the matchers of its cell.

    >>> print(described(asked("sum(up{job=%q})", "number")))
    {{ define "number" }}{{ with query . }}{{ . | first | value | printf "%.0f" }}{{ else }}unknown{{ end }}{{ end -}} \
{{ template "number" (printf `sum(up{job=%q})` $labels.job) }}
    """
    defined = [
        f'{{{{ define "{form}" }}}}{{{{ with query . }}}}{shown}'
        f"{{{{ else }}}}{_MISSING.get(form, 'unknown')}{{{{ end }}}}{{{{ end -}}}}"
        for form, shown in _FORMS.items()
        if f'template "{form}"' in text
    ]
    own = ("job", *CELL)
    if "$cell" in text:
        matchers = ",".join(f"{name}=%q" for name in own)
        defined.append(f"{{{{ $cell := printf `{matchers}` {' '.join(f'$labels.{name}' for name in own)} -}}}}")
    return " ".join([*defined, text])
