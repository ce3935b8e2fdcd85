"""Logs: one line of JSON an event, the fields that are listed and no others, and nothing that a document says."""

from __future__ import annotations

import ast
import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from aiokafka.errors import KafkaConnectionError

from monitor.errors import ConfigError
from streams.logs import FIELDS, configure_logs

WORD = "Zwaardvis"
STREAMS = Path(__file__).parents[2] / "streams"


class Log:
    """What was logged, and somebody who logs."""

    def __init__(self) -> None:
        self.written = io.StringIO()
        self.logger = structlog.get_logger("streams.test")

    def lines(self) -> list[dict[str, object]]:
        """Return each line, read as JSON."""
        return [json.loads(line) for line in self.written.getvalue().splitlines()]

    def line(self) -> dict[str, object]:
        """Return the only line."""
        (line,) = self.lines()
        return line


@pytest.fixture
def log() -> Iterator[Log]:
    """Give logs that are read again, and leave logging as it was."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    found = Log()
    configure_logs(stream=found.written)
    yield found
    root.handlers[:], root.level = before
    structlog.reset_defaults()


def test_a_line_is_json_with_time_level_and_name(log: Log) -> None:
    """Ids and numbers stay what they are."""
    log.logger.info("hole", topic="decisions", partition=3, offset=17, positions=["decisions/3@17"])
    line = log.line()
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {
        "event": "hole",
        "level": "info",
        "logger": "streams.test",
        "topic": "decisions",
        "partition": 3,
        "offset": 17,
        "positions": ["decisions/3@17"],
    }


@pytest.mark.parametrize("name", ["text", "spans", "_text", "record", "doc_id", "left"])
def test_a_field_that_is_not_listed_is_left_out_and_named(log: Log, name: str) -> None:
    """A careless call can't leak."""
    log.logger.info("joined", offset=1, **{name: f"{WORD} was here"})
    line = log.line()
    assert (line["left_out"], line["offset"]) == (name, 1)
    assert WORD not in log.written.getvalue()


def test_bytes_are_left_out_under_any_name(log: Log) -> None:
    """They're a record's."""
    log.logger.info("joined", place=WORD.encode())
    assert log.line()["left_out"] == "place"
    assert WORD not in log.written.getvalue()


@pytest.mark.parametrize("value", ["x" * 10_000, ["x" * 10_000], {"x": "x" * 10_000}])
def test_a_long_value_is_cut(log: Log, value: object) -> None:
    """A value is an id, a number or a short word."""
    log.logger.info("joined", problem=value)
    assert len(log.written.getvalue()) < 600
    assert str(log.line()["problem"]).endswith("…")


def test_a_value_can_not_end_its_line(log: Log) -> None:
    """Whatever stands in a value, an event is one line."""
    log.logger.info("joined", problem="a\nb\u2028c\x00", topic="é\ud83d")
    assert (log.line()["problem"], log.line()["topic"]) == ("a\nb\u2028c\x00", "é\ud83d")


def raise_chain() -> None:
    """Raise an error whose cause and message hold a word."""
    try:
        int(WORD)
    except ValueError as error:
        raise KeyError(WORD) from error


def test_an_exception_is_told_by_type_and_place_and_not_by_its_message(log: Log) -> None:
    """Python puts the value into it: `invalid literal for int(): …`."""
    try:
        raise_chain()
    except KeyError:
        log.logger.exception("went_wrong", partition=1)
    line = log.line()
    trace = line["trace"]
    assert isinstance(trace, list)
    assert (line["event"], line["level"], line["exception"], line["partition"]) == (
        "went_wrong",
        "error",
        "KeyError",
        1,
    )
    assert "ValueError" in trace
    assert any("streams/test_logs.py:" in frame and "raise_chain" in frame for frame in trace)
    assert WORD not in log.written.getvalue()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ConfigError("sampling.key", "too short"), "ConfigError: config: sampling.key: too short"),
        (OSError(98, "Address already in use", WORD), "OSError: Address already in use"),
        (KafkaConnectionError("no route"), "KafkaConnectionError: KafkaConnectionError: no route"),
        (ValueError(WORD), "ValueError"),
    ],
)
def test_a_message_is_told_where_it_can_not_quote_a_document(log: Log, error: Exception, told: str) -> None:
    """Ours, the system's, the broker's."""
    log.logger.error("went_wrong", exc_info=error)
    assert log.line()["exception"] == told
    assert WORD not in log.written.getvalue()


def test_lines_of_libraries_are_json_too(log: Log) -> None:
    """Through the same renderer, warnings and worse."""
    logging.getLogger("aiokafka.conn").warning("broker %s is away", "b:1")
    logging.getLogger("aiokafka.conn").info("quiet")
    logging.getLogger("faust").debug("quiet")
    logging.getLogger("mode").warning("[^Worker]: says something")
    assert [(line["event"], line["logger"]) for line in log.lines()] == [
        ("broker b:1 is away", "aiokafka.conn"),
        ("[^Worker]: says something", "mode"),
    ]


def test_exceptions_of_libraries_lines_keep_quiet_too(log: Log) -> None:
    """`mode` writes `Crashed reason=%r`; a second line, of whatever, is cut off."""
    try:
        raise_chain()
    except KeyError as error:
        logging.getLogger("mode.services").exception("[^App]: Crashed reason=%r", error)  # noqa: TRY401  # as mode does
    logging.getLogger("faust").error("first\n%s", WORD)
    first, second = log.lines()
    assert (first["event"], first["exception"]) == ("[^App]: Crashed reason='KeyError'", "KeyError")
    assert second["event"] == "first"
    assert WORD not in log.written.getvalue()


def test_a_tasks_lost_exception_keeps_quiet_too(log: Log) -> None:
    """Asyncio prints the task, and the task its exception."""

    async def fail() -> None:
        raise ValueError(WORD)

    async def forget() -> None:
        asyncio.create_task(fail())  # noqa: RUF006  # that it's forgotten is the point
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(forget())
    assert (log.line()["event"], log.line()["exception"]) == ("Task exception was never retrieved", "ValueError")
    assert WORD not in log.written.getvalue()


def test_modes_own_starting_and_stopping_is_left_out(log: Log) -> None:
    """A line for each of fifty services says nothing."""
    logging.getLogger("another").info("[^Service]: Starting...")
    assert log.lines() == []


@pytest.mark.parametrize(("level", "expected"), [("debug", 3), ("info", 2), ("warning", 1)])
def test_the_level_decides_what_is_said(log: Log, level: str, expected: int) -> None:
    """Of ours; libraries warn at most."""
    configure_logs(level=level, stream=log.written)  # type: ignore[arg-type]  # one of the three
    for name in ("debug", "info", "warning"):
        getattr(log.logger, name)("event")
    assert len(log.lines()) == expected


class Terminal(io.StringIO):
    """A stream that says it's a terminal."""

    def isatty(self) -> bool:
        """Return true."""
        return True


@pytest.mark.parametrize(("no_colour", "coloured"), [("1", False), ("", True)])
def test_a_terminal_gets_columns_and_colours_unless_it_asks_for_none(
    log: Log,
    monkeypatch: pytest.MonkeyPatch,
    no_colour: str,
    coloured: bool,  # noqa: FBT001  # what's expected
) -> None:
    """`NO_COLOR` is honoured; an exception is told as elsewhere."""
    monkeypatch.setenv("NO_COLOR", no_colour)
    screen = Terminal()
    configure_logs(stream=screen)
    log.logger.error("went_wrong", offset=3, exc_info=ValueError(WORD))
    assert ("\x1b[" in screen.getvalue()) == coloured
    assert "went_wrong" in screen.getvalue()
    assert WORD not in screen.getvalue()


def test_the_fields_that_are_logged_are_those_listed() -> None:
    """Else a line would lack what its author meant to say, or a careless one could say what nobody looked at."""
    used: dict[str, str] = {}
    for path in sorted(STREAMS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log."):
                used |= {keyword.arg: path.name for keyword in node.keywords if keyword.arg}
    assert {name: where for name, where in used.items() if name not in FIELDS | {"exc_info"}} == {}
    assert sorted(FIELDS - set(used)) == ["event", "exception", "level", "logger", "timestamp", "trace"]
