"""Documents by days: which day each one falls on, under which id, and where the next version begins."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from replays import decision

from monitor.errors import SourceError
from streams import replay as replay_module
from streams.replay_traffic import Lines, Traffic, renamed

A, B = [b"1", b"2", b"3"], [b"4", b"5"]


def days(traffic: Traffic) -> list[list[bytes]]:
    """Return the lines of each day, each with what stands behind its document's id."""
    found: list[list[bytes]] = []
    for batch in traffic.batches():
        while len(found) <= batch.day:
            found.append([])
        assert batch.place == len(found[batch.day])
        found[batch.day] += [line + batch.suffix.encode() for line in batch.lines]
        assert len(found[batch.day]) <= batch.of
    assert len(found) == traffic.days
    return found


def test_each_reading_of_a_side_is_a_day() -> None:
    """Where nobody says how many documents a day has; each reading but the first has ids of its own."""
    assert days(Traffic((A, B), 2)) == [
        [b"1", b"2", b"3"],
        [b"1#2", b"2#2", b"3#2"],
        [b"4#3", b"5#3"],
        [b"4#4", b"5#4"],
    ]


def test_a_day_has_so_many_documents() -> None:
    """Readings and sides go on in the middle of a day; the last day may have fewer."""
    assert days(Traffic((A, B), 2, 4)) == [
        [b"1", b"2", b"3", b"1#2"],
        [b"2#2", b"3#2", b"4#3", b"5#3"],
        [b"4#4", b"5#4"],
    ]


def test_no_day_mixes_the_sides_where_the_first_ends_with_a_day() -> None:
    """Two readings of three are two days of three, and the next version's come after."""
    swapped = [(batch.day, batch.swapped) for batch in Traffic((A, B), 2, 3).batches()]
    assert swapped == [(0, False), (1, False), (2, True), (2, True), (3, True)]


@pytest.mark.parametrize("sides", [([], []), (A, []), ([], B)])
def test_a_side_without_a_line_has_no_day(sides: tuple[list[bytes], list[bytes]]) -> None:
    """And nothing is swapped where there's no next version."""
    traffic = Traffic(sides)
    assert len(days(traffic)) == sum(map(bool, sides))
    assert any(batch.swapped for batch in traffic.batches()) == bool(sides[1])


def test_chunks_end_where_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many lines are read at once decides nothing."""
    expected = days(Traffic((A, B), 3, 4))
    monkeypatch.setattr(replay_module, "CHUNK", 2)
    assert days(Traffic((A, B), 3, 4)) == expected


def test_a_decision_is_renamed_and_otherwise_left() -> None:
    """Every other field is there as it was, whatever it is."""
    line = decision("a", text="é\ud83d\ude00", extra={"doc_id": "b"}, ts=1.5)
    assert json.loads(renamed(line, "#2")) == json.loads(line) | {"doc_id": "a#2"}
    assert json.loads(renamed(b"\xef\xbb\xbf" + line, "#2"))["doc_id"] == "a#2"
    assert renamed(line, "") == line


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"lang": "en"}', b'{"doc_id": 7}', b'{"doc_id": "  "}', b"\xff", b"[" * 10_000]
)
def test_what_names_no_document_is_left_as_it_is(line: bytes) -> None:
    """It stays a dead letter for the reason that it is one."""
    assert renamed(line, "#2") == line


def test_files_are_read_as_often_as_asked(tmp_path: Path) -> None:
    """One after the other, blank lines left out."""
    for name, text in (("a", "1\n\n2\n"), ("b", "3")):
        (tmp_path / name).write_text(text)
    lines = Lines([tmp_path / "a", tmp_path / "b"])
    assert [list(lines), list(lines)] == [[b"1", b"2", b"3"]] * 2


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """It would be empty the second time."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match="must be a file"):
        Lines([tmp_path / "pipe"])
