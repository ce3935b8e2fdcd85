"""The template engine as page and report use it: all is escaped, and nothing is left undefined or can't be seen."""

from __future__ import annotations

from collections.abc import Callable

import jinja2
from markupsafe import Markup

from monitor.exposition import clean
from monitor.readings import ANY
from streams.page import words


def environment(read: Callable[[str], str]) -> jinja2.Environment:
    """Return an engine that knows the words both use.

    Parameters: `read` gives the text of a template by its name.
    """
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    made.filters["clean"] = clean
    made.globals.update(number=words.number, percent=words.percent, age=words.age, flagged_by=words.FLAGGED_BY, ANY=ANY)
    return made


def _printable(value: object) -> object:
    """Escape what can't be shown in any value that a template prints, markup of its own excepted."""
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)
