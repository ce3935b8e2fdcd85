"""In which order a plan's cells stand, and how they are printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import CENSUS, corpus_line, decision, files, run, start, write


def test_cells_with_a_target_come_first(tmp_path: Path) -> None:
    """Among many cells they are what somebody answers for; in the picture too, which holds six."""
    found = json.loads(run("plan", *files(tmp_path), *CENSUS, "--set", "targets.PERSON=0.1", "--json").stdout)
    targets = [cell["target"] for cell in found["cells"]]
    assert targets == sorted(targets, key=lambda target: target is None)
    assert {cell["entity"] for cell in found["cells"] if cell["target"] == 0.1} == {"PERSON"}
    assert found["cells"][0]["entity"] == "PERSON"


def test_a_target_of_nothing_is_said(tmp_path: Path) -> None:
    """It has no row: a name may be mistyped."""
    done = run("plan", *files(tmp_path), *CENSUS, "--set", "targets.PERSON=0.1", "--set", "targets.IBAN_CODE=0.9")
    assert done.exit_code == 0
    assert done.stderr == "targets of which nothing was flagged or labelled yet: IBAN_CODE\n"
    assert run("plan", *files(tmp_path), *CENSUS, "--set", "targets.PERSON=0.1").stderr == ""


@pytest.mark.parametrize("columns", ["1", "40", "80", "400"])
def test_a_row_is_a_line_where_it_is_piped(tmp_path: Path, columns: str) -> None:
    """Whoever greps for a cell finds the whole of it, however long its name and narrow the terminal before the pipe."""
    name, language = "LONG_NAME_" * 6 + "END", "zxx-" + "private-" * 6 + "use"
    span = {"start": 0, "end": 4, "entity": name}
    decisions = write(tmp_path / "d.jsonl", *(decision(str(i), spans=(span,), lang=language) for i in range(9)))
    labels = write(tmp_path / "l.jsonl", *(corpus_line(str(i), spans=(span,), lang=language) for i in range(9)))
    done = start("plan", "--decisions", decisions, "--labels", labels, *CENSUS, COLUMNS=columns)
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.decode().splitlines() if name in line]
    assert [row[:2] for row in rows[:3]] == [[name, language]] * 3
    assert [len(row) for row in rows[:3]] == [11, 9, 8]
    assert "\x1b" not in done.stdout.decode()
