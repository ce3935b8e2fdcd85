"""What a command says where it was given other settings than those the board is made by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from live_board import published
from workers import Fleet

from monitor.config import Config, config_id
from monitor.history import History
from monitor.in_force import own_rules, read_in_force
from streams.in_force_reader import difference
from streams.settings import load_settings

BOARD = load_settings(None, ["targets.EMAIL_ADDRESS=0.8", "sampling.random_rate=0.1"], broker=False).config
BOARDS_OWN = ("sampling.random_rate=1.0", "targets.PERSON=0.9", "alarm.period=5", "readings.windows_days=[14, 28]")


def said(folder: Path, text: str = "", *overrides: str) -> str:
    """Return what a command says that was given a file, if there's text for one, and overrides."""
    path = folder / "settings.toml"
    path.write_text(text)
    settings = load_settings(path if text else None, overrides, broker=False)
    return difference(settings, own_rules(BOARD)).replace(str(path), "FILE")


@pytest.mark.parametrize(
    ("text", "overrides", "expected"),
    [
        ("[targets]\nIBAN = 0.5\n", (), "FILE has other settings, unused here: targets"),
        (
            "[alarm]\nperiod = 60\n",
            ("labels.copies=2",),
            "FILE and --set has other settings, unused here: labels, alarm",
        ),
        ("[alarm]\nperiod = 60\n", ("kafka.group=x",), "FILE has other settings, unused here: alarm"),
        ("", ("sampling.random_rate=0.2",), "the command's own settings has other settings, unused here: sampling"),
        ("[sampling]\nrandom_rate = 0.005\n", (), "FILE has other settings, unused here: sampling"),
    ],
)
def test_other_settings_are_named_with_where_they_are_from(
    tmp_path: Path, text: str, overrides: tuple[str, ...], expected: str
) -> None:
    """One line; a default that is written down asks for something too."""
    assert said(tmp_path, text, *overrides) == f"config {config_id(BOARD)} is in force and counts; {expected}"


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("", ()),
        ("", ("kafka.brokers=127.0.0.1:1", "sampling.key=mine")),
        ("[kafka]\ngroup = 'x'\n[sampling]\nkey = 'mine'\n", ()),
        ("[targets]\nEMAIL_ADDRESS = 0.8\n", ()),
    ],
)
def test_who_asks_for_nothing_else_is_told_nothing(tmp_path: Path, text: str, overrides: tuple[str, ...]) -> None:
    """A command without a file is no slip."""
    assert said(tmp_path, text, *overrides) == ""


def test_a_history_without_a_config_is_said() -> None:
    """The numbers are then read by the command's own settings."""
    settings = load_settings(None, (), broker=False)
    line = difference(settings, read_in_force(History(), Config()))
    assert line == "history holds no config: targets, windows and periods are those of the command's own settings"


# on a broker


def cells(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], object]:
    """Return cells by name, with all that hangs on what is in force."""
    kept = ("window", "target", "matched", "completeness", "labelled")
    found: dict[tuple[str, str, str], object] = {}
    for row in rows:
        alarm, limits = row["alarm"], row["any_time"]
        since = None if limits is None else limits["lower"]
        hung = {**{name: row[name] for name in kept}, "bar": alarm and alarm["bar"], "any time": since}
        found[row["entity"], row["language"], row["version"]] = hung
    return found


@pytest.mark.broker
def test_who_reads_without_the_workers_settings_gets_the_same_numbers(fleet: Fleet, tmp_path: Path) -> None:
    """Report, status and misses, by the recorded targets, windows and periods; no word on standard error."""
    fleet.settings = BOARDS_OWN
    board_id = fleet.plan_id
    published(fleet)

    def read(out: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        status, misses = fleet.run("status", "--json"), fleet.run("misses", "--json")
        report = fleet.run("report", "--out", str(tmp_path / out))
        assert [(d.returncode, d.stderr) for d in (status, misses, report)] == [(0, "")] * 3
        written = json.loads(Path(report.stdout.split()[1]).read_text())["report"]
        return json.loads(status.stdout), json.loads(misses.stdout), written

    with_them = read("a")
    fleet.settings = ()
    without = read("b")
    for theirs, ours in zip(with_them, without, strict=True):
        if "cells" in ours:
            assert cells(ours["cells"]) == cells(theirs["cells"])
    assert without[1] == with_them[1]
    assert [c["state"] for c in without[0]["cells"]] == [c["state"] for c in with_them[0]["cells"]]
    report = without[2]
    assert (report["config"], report["alarm"]) == (with_them[2]["config"], with_them[2]["alarm"])
    assert (report["config"]["id"], report["alarm"]["period_s"], report["window"]["days"]) == (board_id, 5.0, 14)
    assert {row["what"] for row in report["history"] if row["kind"] == "config"} == {board_id}
    assert [c["target"] for c in report["cells"] if c["entity"] == "PERSON"] == [0.9, 0.9]
    years = {c["any_time"]["since"][:2] for c in report["cells"] if c["any_time"]}
    assert years == {"20"}


@pytest.mark.broker
def test_other_settings_are_said_and_not_used(fleet: Fleet, tmp_path: Path) -> None:
    """A report signs the design in force; a window that only the reader's file has is refused."""
    fleet.settings = BOARDS_OWN
    board_id = fleet.plan_id
    published(fleet)
    fleet.settings = ()
    fleet.config = tmp_path / "reader.toml"
    fleet.config.write_text("[targets]\nLOCATION = 0.7\n[alarm]\nperiod = 60\n[readings]\nwindows_days = [9]\n")
    line = (
        f"config {board_id} is in force and counts; {fleet.config} has other settings, unused here: "
        "targets, readings, alarm\n"
    )
    for name, *options in (("status",), ("misses",), ("report", "--out", str(tmp_path / "out"))):
        done = fleet.run(name, *options)
        assert (done.returncode, done.stderr) == (0, line)
    data = json.loads(Path(done.stdout.split()[1]).read_text())["report"]
    assert (data["config"]["id"], data["config"]["settings"]["targets"]) == (board_id, {"PERSON": 0.9})
    refused = fleet.run("report", "--out", str(tmp_path / "out"), "--days", "9")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "allowed are the windows in force: 14, 28" in refused.stderr


@pytest.mark.broker
def test_numbers_made_by_nobody_knows_what_can_not_be_signed(fleet: Fleet, tmp_path: Path) -> None:
    """The history was lost: status shows them and says so, a report is refused and nothing is written."""
    published(fleet, recorded=False)
    done = fleet.run("status")
    assert done.returncode == 0
    assert done.stderr.startswith(
        f"{fleet.topic('history')} holds no config: targets, windows and periods are those of"
    )
    refused = fleet.run("report", "--out", str(tmp_path / "out"))
    assert (refused.returncode, refused.stdout, (tmp_path / "out").exists()) == (1, "", False)
    assert "holds no config, so nobody knows" in refused.stderr
