"""Pieces of the templates that alerts are written with: a label, the value, another series of the same cell.

A series that isn't there reads as "unknown": no data gives no number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dashboards.promql import Named, quote

Form = Literal["percent", "number", "duration", "moment", "ratio", "answer", "status", "count", "entity", "kind"]
_PIPES: dict[Form, str] = {
    "percent": "humanizePercentage",
    "number": 'printf "%.0f"',
    "duration": "humanizeDuration",
    "moment": "humanizeTimestamp",
    "ratio": 'printf "%.2f"',
}
_FORMS: dict[Form, str] = {
    **{form: f"{{{{ . | first | value | {pipe} }}}}" for form, pipe in _PIPES.items()},
    "count": '{{ . | first | value | printf "%.0f" }}',
    "answer": "{{ if eq (. | first | value) 1.0 }}yes{{ else }}no{{ end }}",
    "entity": '{{ . | first | label "entity" }} ({{ . | first | value | printf "%.2f" }})',
    "kind": (
        '{{ . | first | label "entity" }} ({{ . | first | label "kind" }}, '
        '{{ . | first | value | printf "%.0f" }} documents)'
    ),
    "status": '{{ . | first | label "status" }}',
}
_MISSING: dict[Form, str] = {"count": "0"}
"""What is said where a query gives nothing, where that isn't "unknown": there, nothing to count is none."""
CELL = ("entity", "language", "detector", "version")


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
    values = " ".join(f"$labels.{name}" for name in re.findall(r"(\w+)=%q", query))
    return f'{{{{ template "{form}" (printf `{query}` {values}) }}}}'


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
