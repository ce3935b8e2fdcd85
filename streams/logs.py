"""Logs: one line an event, ids and numbers as fields, an allow-list of fields. No document text, ever.

A field that isn't listed here is left out and its name noted, so a careless call can't leak what a document says.
Lines of the libraries underneath go through the same renderer; their own debug lines, which may quote records, are
off.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Literal, TextIO

import structlog

FIELDS = frozenset(
    """
    attempt base brokers bytes code config count detector earliest ended_after_s entity epoch event following
    found group host interval_s key lag language level logger lost net offset outcome partition partitions path
    pid place port position positions problem reason records rows seconds servers setting signal stage thinning
    timestamp topic topics url value version wanted where within_s
    """.split()  # noqa: SIM905  # a list of words reads better so
)
_LIBRARIES = ("faust", "mode", "aiokafka", "asyncio", "aiohttp", "kafka")
_LONGEST = 300


def _allow(_: object, __: str, fields: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """Leave out fields that aren't listed, and cut long values: a value is an id, a number or a short word."""
    unlisted = sorted(name for name in fields if name not in FIELDS and not name.startswith("_"))
    for name in unlisted:
        del fields[name]
    if unlisted:
        fields["left_out"] = ",".join(unlisted)
    for name, value in fields.items():
        if isinstance(value, str) and len(value) > _LONGEST:
            fields[name] = value[:_LONGEST] + "…"
    return fields


def _says_something(record: logging.LogRecord) -> bool:
    """Leave out mode's own "[^Service]: Starting..." of each of its services."""
    return record.levelno >= logging.WARNING or not record.getMessage().startswith("[^")


def configure_logs(*, level: Literal["debug", "info", "warning"] = "info", stream: TextIO | None = None) -> None:
    """Send all logs to `stream` (stderr), as columns on a terminal and as JSON elsewhere."""
    lowest = logging.getLevelNamesMapping()[level.upper()]
    target = sys.stderr if stream is None else stream
    renderer: structlog.typing.Processor = structlog.processors.JSONRenderer(sort_keys=True)
    if target.isatty():
        renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    before: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*before, _allow, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(lowest),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*before],
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
