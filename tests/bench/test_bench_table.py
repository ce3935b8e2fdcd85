"""What a bench makes of its rows: table, JSON, picture; and what becomes of a section that fails."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from bench.command import QUICK, SECTIONS, as_json, chosen, measure, name_of, read_options
from bench.lab import Lab
from bench.plot import plot
from bench.rows import Row, by_rounds, paired
from bench.table import WIDTH, show, verdict
from rich.console import Console

FACTS = {"recallwatch": "0.1.0", "cores": 2}
MET = Row(
    name="ROUTE, 5 KB with lz4, Kafka",
    unit="decisions/CPU s",
    value=24187.0,
    reference=65000.0,
    compared_with="bare aiokafka + msgspec",
    ratio=0.372,
    bar=0.35,
    note="Of a hundred thousand records. [brackets] stay.",
)
MISSED = Row(name="restart", unit="s", value=12.0, reference=None, ratio=12.0, bar=10.0, sense="<=")
INFORMS = Row(name="net", unit="ns/byte", value=2.5, reference=5.0, ratio=0.5, bar=None)


def printed(*rows: Row) -> list[str]:
    """Return what is shown of rows where the output is no terminal."""
    out = io.StringIO()
    show(rows, FACTS, Console(file=out, width=WIDTH, no_color=True))
    return out.getvalue().splitlines()


def test_table_has_a_line_a_row_and_notes_below() -> None:
    """Figures, ratio, bar and verdict; the note's number stands with its row, its text below, brackets and all."""
    lines = printed(MET, MISSED, INFORMS)
    (met,) = [line for line in lines if "lz4" in line]
    assert met.split()[-7:] == ["[1]", "24,187", "65,000", "0.372", "≥", "0.35", "met"]
    (missed,) = [line for line in lines if "restart" in line]
    assert missed.split() == ["restart,", "s", "12", "≤", "10", "missed", "by", "20", "%"]
    (informs,) = [line for line in lines if "net," in line]
    assert informs.split()[-2:] == ["0.5", "–"]
    assert "[1] Of a hundred thousand records. [brackets] stay." in lines
    assert lines[-1] == "1 of 2 bars met; recallwatch 0.1.0, cores 2"


def test_table_is_plain_and_fits_where_it_is_piped() -> None:
    """No escape sequence, no line over the width."""
    lines = printed(MET, MISSED, INFORMS)
    assert [line for line in lines if "\x1b" in line or len(line) > WIDTH] == []


def test_verdict_without_a_bar_is_none() -> None:
    """A row that only informs is neither met nor missed."""
    assert [verdict(row) for row in (MET, MISSED, INFORMS)] == ["met", "missed by 20 %", "–"]


def test_json_holds_what_was_promised() -> None:
    """Each row has name, value, reference, ratio, bar and ok, which is null where there is no bar."""
    told = msgspec.json.decode(as_json([MET, MISSED, INFORMS], ["bench.net:net_rows"], FACTS))
    promised = ("name", "value", "reference", "ratio", "bar", "ok")
    assert [[row[name] for name in promised] for row in told["rows"]] == [
        ["ROUTE, 5 KB with lz4, Kafka", 24187.0, 65000.0, 0.372, 0.35, True],
        ["restart", 12.0, None, 12.0, 10.0, False],
        ["net", 2.5, 5.0, 0.5, None, None],
    ]
    assert told["machine"] == FACTS
    assert told["failed"] == ["net_rows"]


def test_picture_is_drawn(tmp_path: Path) -> None:
    """A PNG comes out, whatever rows there are."""
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is missing: pip install 'recallwatch[plots]'")
    path = tmp_path / "bench.png"
    plot([MET, MISSED, INFORMS], FACTS, path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_section_that_fails_keeps_the_rows_it_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What it measured before stands, the failure is said with its cause, and nothing is raised."""

    def fails(_lab: Lab) -> Iterator[Row]:
        yield MET
        raise RuntimeError("no broker")

    module = ModuleType("bench_that_fails")
    module.__dict__["fails"] = fails
    monkeypatch.setitem(sys.modules, module.__name__, module)
    said: list[str] = []
    monkeypatch.setattr("bench.command.say", said.append)
    rows: list[Row] = []
    assert not measure("bench_that_fails:fails", Lab(tmp_path), rows)
    assert not measure("bench_that_is_missing:fails", Lab(tmp_path), rows)
    assert rows == [MET]
    assert [line.splitlines()[-1] for line in said if "FAILED" in line] == [
        "RuntimeError: no broker",
        "ModuleNotFoundError: No module named 'bench_that_is_missing'",
    ]


def test_only_names_sections_and_quick_takes_a_few() -> None:
    """`--only` takes several names and comes before `--quick`; the order is the table's."""
    options = read_options(["--only", "net_rows", "route_kafka", "--only", "memory", "--quick"])
    names = [name_of(section) for section in chosen(options.only, quick=options.quick)]
    assert names == ["route_kafka", "net_rows", "memory"]
    assert {name_of(section) for section in chosen([], quick=True)} == QUICK
    assert chosen([], quick=False) == list(SECTIONS)


def test_an_unknown_section_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with 2 and names those that there are."""
    with pytest.raises(SystemExit, match="2"):
        read_options(["--only", "rout"])
    assert "route_kafka" in capsys.readouterr().err


def test_rounds_are_by_turns_and_ratios_are_of_a_round() -> None:
    """Each goes first in its turn; a round that was slow for both doesn't change the ratio."""
    order: list[str] = []

    def noted(name: str) -> str:
        order.append(name)
        return name

    rounds = by_rounds({name: partial(noted, name) for name in "abc"}, 3)
    assert "".join(order) == "abcbcacab"
    assert rounds == [{"a": "a", "b": "b", "c": "c"}] * 3
    assert paired([(2.0, 4.0), (1.0, 2.0), (30.0, 60.0)]).ratio == 0.5
