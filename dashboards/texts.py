"""Pieces of the templates that alerts are written with: a label, the value, another series of the same cell.

A series that isn't there reads as "unknown": no data gives no number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from dashboards.promql import Named, quote

Form = Literal["percent", "number", "duration", "moment", "ratio"]
_FORMS: dict[Form, str] = {
    "percent": "humanizePercentage",
    "number": 'printf "%.0f"',
    "duration": "humanizeDuration",
    "moment": "humanizeTimestamp",
    "ratio": 'printf "%.2f"',
}
CELL = ("entity", "language", "detector", "version")


def value(form: Form) -> str:
    """Return the alert's own value.

    >>> value("percent")
    '{{ $value | humanizePercentage }}'
    """
    return f"{{{{ $value | {_FORMS[form]} }}}}"


def label(name: str) -> str:
    """Return one of the alert's labels.

    >>> label("entity")
    '{{ $labels.entity }}'
    """
    return f"{{{{ $labels.{name} }}}}"


def looked_up(series: Named, form: Form, shared: Sequence[str] = CELL, **fixed: str) -> str:
    """Return the value of another series that has the alert's own labels, or the word unknown.

    Parameters: `shared`, labels that the alert carries, beside the job; `fixed`, what others must be. A label's value
    may hold anything: it's quoted.

    >>> from monitor.metrics import KAPPA_LOWER
    >>> print(looked_up(KAPPA_LOWER, "ratio", ["entity"], window="28d"))
    {{ with printf `recallwatch_kappa_lower_ratio{window="28d",job=%q,entity=%q}` $labels.job $labels.entity | query \
}}{{ . | first | value | printf "%.2f" }}{{ else }}unknown{{ end }}
    """
    for name in (*shared, *fixed):
        if name not in series.labels:
            raise ValueError(f"{series.name}: no label {name}; it has {', '.join(series.labels)}")
    fixed_ones = [f"{name}={quote(one)}" for name, one in fixed.items()]
    return asked(f"{series.name}{{{','.join([*fixed_ones, *(f'{name}=%q' for name in ('job', *shared))])}}}", form)


def asked(query: str, form: Form, missing: str = "unknown") -> str:
    """Return what a query gives; each `LABEL=%q` in it becomes the alert's own label, quoted.

    Parameters: `missing`, what is said where it gives nothing.

    >>> print(asked("sum(up{job=%q})", "number", "0"))
    {{ with printf `sum(up{job=%q})` $labels.job | query \
}}{{ . | first | value | printf "%.0f" }}{{ else }}0{{ end }}
    """
    values = " ".join(f"$labels.{name}" for name in re.findall(r"(\w+)=%q", query))
    first = f"{{{{ with printf `{query}` {values} | query }}}}{{{{ . | first | value | {_FORMS[form]} }}}}"
    return f"{first}{{{{ else }}}}{missing}{{{{ end }}}}"
