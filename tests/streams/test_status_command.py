"""`recallwatch status`: the page's first lines, in eighty columns, in the page's words and with its numbers."""

from __future__ import annotations

import io
import json

import msgspec
import pytest
from boards import NOW, alarm, busy_board, quiet_board, reading
from commands import run
from live_board import logs_kept, published
from rich.console import Console
from workers import Fleet

from monitor.alarm_readings import AlarmReading
from monitor.readings import ANY, BoardSnapshot
from streams import lookup
from streams.page import words
from streams.page.cells import Selection, cells
from streams.status_command import print_status, status_document


def printed(snapshot: BoardSnapshot, *, everything: bool = False) -> str:
    """Return what is printed."""
    stream = io.StringIO()
    print_status(Console(file=stream, width=80), snapshot, NOW, everything=everything)
    return stream.getvalue()


def line_of(text: str, cell: str) -> str:
    """Return a cell's line."""
    (found,) = [line for line in text.partition("\nstate ")[2].splitlines() if f" {cell} " in line]
    return found


def test_it_begins_with_the_pages_sentence() -> None:
    """The same words as the page's headline."""
    found, _ = cells(busy_board(), Selection())
    text = " ".join(printed(busy_board()).split())
    assert text.startswith(" ".join(words.headline(found, busy_board().queues, NOW).split()))


@pytest.mark.parametrize("everything", [False, True])
def test_it_fits_eighty_columns(everything: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Long numbers too."""
    wide = reading("A_VERY_LONG_NAME_OF_AN_ENTITY", "en", 999_999, 1_000_000, target=0.9, age_s=9e8)
    board = busy_board()
    text = printed(msgspec.structs.replace(board, readings=(wide, *board.readings)), everything=everything)
    assert max(map(len, text.splitlines())) <= 80
    assert "999999/1000000" in text


def test_a_line_has_the_cells_numbers() -> None:
    """State, recall between its limits, found of true, completeness, age, alarm."""
    alarm = AlarmReading("firing", 9.1, 8.9, 365.0, 40, fired_at=NOW, on_since=NOW)
    cell = msgspec.structs.replace(reading("PERSON", "es", 88, 112, target=0.9), alarm=alarm)
    (shown,), _ = cells(msgspec.structs.replace(busy_board(), readings=(cell,)), Selection())
    assert words.word(shown) == "alarm: recall fell"
    text = printed(msgspec.structs.replace(busy_board(), readings=(cell,)))
    line = line_of(text, "PERSON/es").split()
    share = cell.matched
    limits = f"{words.number(share.lower)}–{words.number(share.upper)}"
    assert line == [
        "recall",
        "fell",
        "PERSON/es",
        words.number(share.estimate),
        limits,
        "88/112",
        "94%",
        "42",
        "s",
        "firing",
    ]


def test_cells_with_a_target_are_shown_and_the_others_on_request() -> None:
    """Otherwise a board of hundreds of cells would scroll the worst one away."""
    few, all_of_them = printed(busy_board()), printed(busy_board(), everything=True)
    assert "LOCATION/en" not in few
    assert "more: --all" in few
    line_of(all_of_them, "LOCATION/en")
    assert "more: --all" not in all_of_them


def test_an_alarm_that_can_not_tell_yet_says_from_when_on() -> None:
    """In the page's words; one that has nothing to count says no more."""
    soon = alarm(None, None, counts_from=NOW + 60)
    waiting = msgspec.structs.replace(reading("PERSON", "es", target=0.9), alarm=soon)
    text = printed(msgspec.structs.replace(busy_board(), readings=(waiting,)))
    assert line_of(text, "PERSON/es").endswith(" can't tell")
    assert "Labels of 1 cell: the alarm counts these from 14:14 UTC on.\n" in text
    bare = msgspec.structs.replace(waiting, alarm=alarm(None, None))
    text = printed(msgspec.structs.replace(busy_board(), readings=(bare,)))
    assert line_of(text, "PERSON/es").endswith(" can't tell")
    assert "the alarm counts" not in text


def test_a_target_that_nothing_was_seen_of_is_told() -> None:
    """A mistyped name would be silent else; as JSON too."""
    board = msgspec.structs.replace(busy_board(), unseen_targets=("PERSN", "PERSON.es"))
    assert "Target set, never seen: PERSN, PERSON.es\n" in printed(board).partition("\nstate ")[0]
    assert "never seen" not in printed(busy_board())
    assert status_document(board, NOW)["unseen_targets"] == ["PERSN", "PERSON.es"]


def test_queue_thinning_and_drift_are_told() -> None:
    """What is open and how old, the factor, what changed without labels."""
    text = printed(msgspec.structs.replace(busy_board(), thinning=0.5, capacity_per_day=60.0))
    flat = " ".join(text.split())
    assert "Queue: 91 tasks open, oldest 3 h; 1,201 of 1,306 answered, 14 skipped." in flat
    assert "Sampling is thinned to 50 %: the queue is over capacity 60 a day." in flat
    assert "Drift: entity EMAIL_ADDRESS/es down 88 min ago" in flat
    assert "thinned" not in printed(busy_board())


def test_what_is_not_known_is_a_dash() -> None:
    """No data gives no number."""
    line = line_of(printed(quiet_board()), "any/any")
    assert "–" in line
    assert "0.000" not in line
    empty = msgspec.structs.replace(quiet_board(), readings=())
    assert printed(empty) == "No decision has been counted yet.\n"


def test_json_has_every_cell_in_the_pages_order() -> None:
    """And the words that the table has."""
    document = json.loads(msgspec.json.encode(status_document(busy_board(), NOW)))
    found, _ = cells(busy_board(), Selection())
    assert [(c["entity"], c["language"], c["state"]) for c in document["cells"]] == [
        (c.reading.entity, c.reading.language, c.state) for c in found
    ]
    assert document["headline"] == words.headline(found, busy_board().queues, NOW)
    assert document["thinning"] == 1.0


def test_no_broker_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1."""
    monkeypatch.setattr(lookup, "PATIENCE_S", 0.5)
    with logs_kept():
        result = run("status", "--set", "kafka.brokers=127.0.0.1:9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "recallwatch: 127.0.0.1:9: no broker within 0 s\n"


@pytest.mark.broker
def test_the_live_board_is_shown(fleet: Fleet) -> None:
    """The numbers that a board of the same tallies has; exit 0 though a cell needs somebody."""
    fleet.settings += ("targets.PERSON=0.9",)
    snapshot = published(fleet)
    done = fleet.run("status", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    mine = {(c["entity"], c["language"]): c["matched"] for c in json.loads(done.stdout)["cells"]}
    expected = {(r.entity, r.language): r.matched for r in snapshot.readings if r.stratum is None}
    assert {cell: (share["found"], share["true"]) for cell, share in mine.items()} == {
        cell: (share.found, share.true) for cell, share in expected.items()
    }
    assert (ANY, ANY) in mine
    shown = fleet.run("status")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "PERSON/en" in shown.stdout
