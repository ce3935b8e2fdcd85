"""The demo's parts: when versions change, and recorded decisions that are read once more."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import boards
import msgspec
import pytest
from click.testing import CliRunner

from monitor.errors import SourceError
from monitor.records import Decision, Span
from streams.demo import main
from streams.demo_alarms import Alarms, told
from streams.demo_traffic import recorded
from streams.demo_turns import Turns


def test_enter_is_the_next_turn_and_so_is_the_next_enter() -> None:
    """What was pressed before a version began is no word on that version."""

    async def run() -> list[bool]:
        reads, writes = os.pipe()
        turns = Turns(reads)
        found = []
        for _ in range(2):
            turn = turns.next(0)
            found.append(turn.is_set())
            os.write(writes, b"\n")
            await asyncio.wait_for(turn.wait(), 10)
        os.close(writes)
        return found

    assert asyncio.run(run()) == [False, False]


def test_the_end_of_what_is_typed_changes_nothing() -> None:
    """Whoever closes the terminal's input lets the version run."""

    async def run() -> bool:
        reads, writes = os.pipe()
        turn = Turns(reads).next(0)
        os.close(writes)
        # a second pipe is read after the first one: once it was, so was the end of that one
        others, told = os.pipe()
        other = Turns(others).next(0)
        os.write(told, b"\n")
        await asyncio.wait_for(other.wait(), 10)
        os.close(told)
        return turn.is_set()

    assert asyncio.run(run()) is False


def test_without_a_hand_the_clock_turns() -> None:
    """So many seconds after it was asked for."""

    async def run() -> tuple[bool, bool]:
        turns = Turns()
        soon, later = turns.next(0.01), turns.next(3_600)
        await asyncio.wait_for(soon.wait(), 10)
        return soon.is_set(), later.is_set()

    assert asyncio.run(run()) == (True, False)


def test_a_file_is_no_hand(tmp_path: Path) -> None:
    """Nobody can press Enter in it."""
    path = tmp_path / "typed"
    path.write_text("\n")

    async def run() -> None:
        with path.open() as file, pytest.raises(SourceError, match="--by-hand needs a terminal"):
            Turns(file.fileno())

    asyncio.run(run())


def test_once_asks_nobody() -> None:
    """Two options that contradict each other are refused before anything starts."""
    result = CliRunner().invoke(main, ["--once", "--by-hand"])
    assert result.exit_code == 2
    assert "--once asks nobody" in result.stderr


def test_recorded_decisions_once_more_are_other_documents_with_the_same_truth() -> None:
    """The suffix stands behind the id alone."""
    decision, span = Decision("a", "en", "Anna", "x", "1", []), Span(0, 4, "PERSON")
    (known,) = recorded([decision], {"a": [span]}, "#2")
    assert (known.decision.doc_id, known.decision.text, known.truth) == ("a#2", "Anna", [span])


def test_an_alarm_says_what_fell_and_from_where() -> None:
    """Entity, language, version, recall with its limits, and the same of the version before."""
    alarm = boards.alarm("firing", 7.3)
    fell = msgspec.structs.replace(boards.reading("EMAIL_ADDRESS", "de", 50, 100, version="2"), alarm=alarm)
    before = boards.reading("EMAIL_ADDRESS", "de", 95, 100, version="1")
    now, then = (f"{m.estimate:.3f} [{m.lower:.3f}, {m.upper:.3f}]" for m in (fell.matched, before.matched))
    assert told(fell, before).startswith(
        f"The alarm is on: EMAIL_ADDRESS (de, presidio 2) fell. Recall is {now}, and was {then} with 1 before."
    )
    aimed = msgspec.structs.replace(fell, target=0.8)
    assert " fell below its target 0.80. Recall is " in told(aimed)
    assert told(fell).startswith(f"The alarm is on: EMAIL_ADDRESS (de, presidio 2) fell. Recall is {now}.")
    quiet = msgspec.structs.replace(fell, alarm=boards.alarm("quiet", 1.24))
    assert told(quiet, before).startswith("The alarm of EMAIL_ADDRESS (de, presidio 2) is quiet: evidence 1.2 of ")


def test_an_alarm_is_told_once_each_time_it_goes_on() -> None:
    """The demo looks every other second; nobody wants to read the same line for minutes."""
    alarms, busy = Alarms(), boards.busy_board()
    first = alarms.new(busy)
    assert [line[:29] for line in first] == ["The alarm is on: PERSON (en, "]
    assert " before. Evidence " in first[0]
    assert alarms.new(busy) == []
    assert alarms.new(boards.quiet_board()) == []
    assert alarms.new(busy) == first
