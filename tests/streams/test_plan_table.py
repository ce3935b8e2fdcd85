"""In which order a plan's cells stand."""

from __future__ import annotations

import json
from pathlib import Path

from commands import CENSUS, files, run


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
