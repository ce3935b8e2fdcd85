"""Logs: one line an event, ids and numbers as fields, an allow-list of fields. No document text, ever.

A field that isn't listed here is left out and its name noted, so a careless call can't leak what a document says. Of
an exception its type and its frames are told; its message only where it's ours or the system's, for `int("Anna")` puts
the name into it. Lines of the libraries underneath go through the same renderer, in one line each; their own debug
lines, which may quote records, are off.
"""

from __future__ import annotations

import copy
import logging
import os
import sys
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Literal, TextIO

import structlog

from monitor.errors import RecallwatchError

FIELDS = frozenset(
    """
    base config earliest ended_after_s event exception level logger net offset partition place position positions
    problem reason retrying server servers stage timestamp topic trace url within_s
    """.split()  # noqa: SIM905  # a list of words reads better so
)
_LIBRARIES = ("faust", "mode", "aiokafka", "asyncio", "aiohttp", "kafka")
_LONGEST = 300
_FRAMES = 20

Fields = MutableMapping[str, object]


def _allow(_: object, __: str, fields: Fields) -> Fields:
    """Leave out fields that aren't listed, and cut long values: a value is an id, a number or a short word."""
    unlisted = sorted(name for name, value in fields.items() if name not in FIELDS or isinstance(value, bytes))
    for name in unlisted:
        del fields[name]
    if unlisted:
        fields["left_out"] = _short(",".join(unlisted))
    for name, value in fields.items():
        if isinstance(value, str) or (name != "trace" and len(repr(value)) > _LONGEST):
            fields[name] = _short(str(value))
    return fields


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _tell_exception(_: object, __: str, fields: Fields) -> Fields:
    """Put in place of an exception what may be said of it, and where it came from."""
    given = fields.pop("exc_info", None)
    error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else None
    if given is True:
        error = sys.exc_info()[1]
    if isinstance(error, BaseException):
        fields["exception"] = _describe(error)
        fields["trace"] = _frames(error.__traceback__)
        cause = error.__cause__ or error.__context__
        if cause is not None and not (error.__cause__ is None and error.__suppress_context__):
            fields["trace"] = [*_frames(cause.__traceback__), _describe(cause), *_frames(error.__traceback__)]
    return fields


def _describe(error: BaseException) -> str:
    """Return an exception's type, with its message where that can't quote a document."""
    name = type(error).__name__
    if isinstance(error, RecallwatchError) or type(error).__module__.partition(".")[0] == "aiokafka":
        return _short(f"{name}: {error}")
    return f"{name}: {error.strerror}" if isinstance(error, OSError) and error.strerror else name


def _frames(trace: TracebackType | None) -> list[str]:
    found = traceback.StackSummary.extract(traceback.walk_tb(trace), lookup_lines=False)
    return ["/".join(Path(f.filename).parts[-2:]) + f":{f.lineno} {f.name}" for f in found[-_FRAMES:]]


def _one_line(_: object, __: str, fields: Fields) -> Fields:
    """Keep the first line of a library's message: asyncio's further ones print the exceptions of its tasks."""
    fields.pop("stack_info", None)
    fields["event"] = _short(str(fields["event"]).partition("\n")[0])
    return fields


class _Lines(structlog.stdlib.ProcessorFormatter):
    """Formats a record; an exception among a library's arguments is told as any other."""

    def format(self, record: logging.LogRecord) -> str:
        if isinstance(record.args, tuple) and any(isinstance(a, BaseException) for a in record.args):
            record = copy.copy(record)
            record.args = tuple(_describe(a) if isinstance(a, BaseException) else a for a in record.args or ())
        return super().format(record)


def _says_something(record: logging.LogRecord) -> bool:
    """Leave out mode's "[^Service]: Starting..." of each of its services, and "a crash!": the worker says which."""
    text = record.getMessage()
    return not text.startswith("[^") or (record.levelno >= logging.WARNING and "We experienced a crash" not in text)


def configure_logs(*, level: Literal["debug", "info", "warning"] = "info", stream: TextIO | None = None) -> None:
    """Send all logs to `stream` (stderr), as columns on a terminal and as JSON elsewhere."""
    lowest = logging.getLevelNamesMapping()[level.upper()]
    target = sys.stderr if stream is None else stream
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(sort_keys=True)
    if target.isatty():
        renderer = structlog.dev.ConsoleRenderer(colors=not os.environ.get("NO_COLOR"))
    before: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*before, _tell_exception, _allow, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    formatter = _Lines(
        foreign_pre_chain=[*before, _tell_exception, _one_line],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    lines = logging.StreamHandler(target)
    lines.setFormatter(formatter)
    lines.addFilter(_says_something)
    root = logging.getLogger()
    root.handlers[:] = [lines]
    root.setLevel(lowest)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
