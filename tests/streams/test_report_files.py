"""`recallwatch report` as files: both or none, never in the place of others, checked by hash, and from a live board."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from boards import busy_board, quiet_board
from commands import CENSUS, MAILED, TEXT, files, replay, run
from live_board import published
from workers import Fleet

from monitor.config import Config
from monitor.errors import SourceError
from monitor.in_force import own_rules
from monitor.readings import BoardSnapshot
from monitor.report import Made
from streams.report_command import composed, verified, write

MADE = Made("1.2.3", "2026-09-21", "live")


def document(snapshot: BoardSnapshot) -> dict[str, Any]:
    """Return the sealed document of a board's week."""
    return composed(snapshot, own_rules(Config()), MADE, 7)


def reported(folder: Path, *options: object) -> tuple[Path, Path]:
    """Write a report of a replay and return where page and data are."""
    out = folder / "reports"
    result = run("report", *files(folder), *CENSUS, "--out", out, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    pages = [Path(line) for line in result.stdout.split()]
    assert [p.parent for p in pages] == [out, out]
    assert re.fullmatch(r"recallwatch-report-\d{4}-\d\d-\d\d\.html", pages[0].name)
    assert pages[1] == pages[0].with_suffix(".json")
    return pages[0], pages[1]


def test_what_has_no_time_is_given_none(tmp_path: Path) -> None:
    """Decisions without a time aren't of 1970; that nobody knows of which days they are is said."""
    drawn, data = reported(tmp_path, "--set", "targets.PERSON=0.9")
    assert [path for path in (drawn, data) if "1970" in path.read_text()] == []
    assert "They carry no dates: nothing here says of which days these documents are" in drawn.read_text()


def test_a_replay_is_reported_with_the_numbers_of_its_readings(tmp_path: Path) -> None:
    """Each population reading is a cell, number for number."""
    _, data = reported(tmp_path)
    cells = {
        (c["entity"], c["language"], c["version"]): c["matched"]
        for c in json.loads(data.read_text())["report"]["cells"]
    }
    readings = replay(*files(tmp_path), *CENSUS)["readings"]
    assert cells == {(r["entity"], r["language"], r["version"]): r["matched"] for r in readings if r["stratum"] is None}


def test_no_text_and_no_document_is_in_a_report(tmp_path: Path) -> None:
    """Neither in the page nor in the data."""
    for path in reported(tmp_path):
        text = path.read_text()
        assert not [word for word in (TEXT, MAILED, "Anna", "Gouda", "example.org", "never labelled") if word in text]


def test_a_report_is_never_replaced_by_another(tmp_path: Path) -> None:
    """Somebody may have signed it: said which file, and neither of the two is touched."""
    first, second = document(busy_board()), document(quiet_board())
    drawn, data = write(tmp_path, first)
    before = drawn.read_bytes(), data.read_bytes()
    assert write(tmp_path, first) == [drawn, data]
    drawn.unlink()
    with pytest.raises(SourceError, match=r"report-2026-09-21\.json: is there already, .*another --out, or remove it"):
        write(tmp_path, second)
    assert [p.name for p in tmp_path.iterdir()] == [data.name]
    write(tmp_path, first)
    assert (drawn.read_bytes(), data.read_bytes()) == before


def test_a_report_in_the_way_is_one_line(tmp_path: Path) -> None:
    """Exit 1, which file, and what to do."""
    drawn, _ = reported(tmp_path)
    drawn.write_text("signed")
    result = run("report", *files(tmp_path), *CENSUS, "--out", drawn.parent)
    expected = f"recallwatch: {drawn}: is there already, with other content: give another --out, or remove it\n"
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", expected)
    assert drawn.read_text() == "signed"


def test_what_is_in_the_way_leaves_no_half_report(tmp_path: Path) -> None:
    """The second file can't be created: the first is taken away again."""
    (tmp_path / "recallwatch-report-2026-09-21.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourceError, match=r"\.json: is there already"):
        write(tmp_path, document(busy_board()))
    assert [p.suffix for p in tmp_path.iterdir()] == [".json"]


def test_a_page_given_to_verify_names_the_data(tmp_path: Path) -> None:
    """The hash is over the JSON's content."""
    drawn, data = reported(tmp_path)
    result = run("report", "--verify", drawn)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"recallwatch: {drawn}: is the page to print: give the .json, {data}\n"


def test_a_report_that_nobody_changed_is_whole(tmp_path: Path) -> None:
    """Both files; nothing else was left in the folder."""
    drawn, data = reported(tmp_path)
    result = run("report", "--verify", data)
    assert result.exit_code == 0
    assert [line.partition(": ")[2].partition(",")[0] for line in result.stdout.splitlines()] == ["whole", "whole"]
    assert sorted(p.name for p in drawn.parent.iterdir()) == sorted([drawn.name, data.name])
    drawn.unlink()
    assert "not there, not compared" in run("report", "--verify", data).stdout


def test_a_changed_report_is_told(tmp_path: Path) -> None:
    """One digit in the data, or one in the page."""
    drawn, data = reported(tmp_path)
    good = data.read_text()
    data.write_text(re.sub(r'"sampled": \d+', '"sampled": 77', good, count=1))
    assert data.read_text() != good
    result = run("report", "--verify", data)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert "changed since it was written" in result.stderr
    data.write_text(good)
    drawn.write_text(re.sub(r"Of \d+ ", "Of 999 ", drawn.read_text(), count=1))
    result = run("report", "--verify", data)
    assert (result.exit_code, result.stderr) == (
        1,
        f"recallwatch: {drawn}: changed since it was written: this content is drawn otherwise\n",
    )


def test_a_page_of_another_version_is_not_compared(tmp_path: Path) -> None:
    """Another version draws otherwise: that's no change of the report's."""
    write(tmp_path, document(busy_board()))
    said_of = verified(tmp_path / "recallwatch-report-2026-09-21.json")
    assert "not compared: drawn by version 1.2.3" in said_of


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"report": 1, "sha256": ""}', b"\xff"])
def test_what_is_no_report_is_one_line(tmp_path: Path, content: bytes) -> None:
    """Exit 1."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    result = run("report", "--verify", path)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)


def test_bad_options_are_refused(tmp_path: Path) -> None:
    """No folder, a day to come, a day of a replay."""
    for options, word in (
        ((), "--out"),
        (("--out", tmp_path, "--as-of", "2999-01-01"), "hasn't come yet"),
        (("--out", tmp_path, *files(tmp_path), "--as-of", "2020-01-01"), "a replay speaks of all"),
    ):
        result = run("report", *options)
        assert result.exit_code == 2
        assert word in result.stderr


def test_a_folder_that_can_not_be_written_to_is_one_line(tmp_path: Path) -> None:
    """Where a file is in its place."""
    (tmp_path / "there").touch()
    result = run("report", *files(tmp_path), "--out", tmp_path / "there" / "below")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)


# on a broker


@pytest.mark.broker
def test_the_live_board_is_reported_and_so_is_a_day_that_is_over(fleet: Fleet, tmp_path: Path) -> None:
    """The board's own numbers; as of a day, of what was drawn until then."""
    snapshot = published(fleet)
    (expected,) = [r for r in snapshot.readings if (r.entity, r.language, r.stratum) == ("any", "any", None)]

    def first_cell(*options: str) -> dict[str, Any]:
        done = fleet.run("report", "--out", str(tmp_path / "out"), *options)
        assert (done.returncode, done.stderr) == (0, "")
        cell: dict[str, Any] = json.loads(Path(done.stdout.split()[1]).read_text())["report"]["cells"][0]
        return cell

    now = first_cell()
    assert (now["census"], now["labelled"]) == (expected.census, expected.labelled) == (40, 36)
    last = str(expected.window.first)
    before = first_cell("--as-of", last)
    assert (before["census"], before["labelled"]) == (20, 20)
    assert before["window"]["last"] == last
