"""The demo's parts: when versions change, and recorded decisions that are read once more."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from monitor.errors import SourceError
from monitor.records import Decision, Span
from streams.demo import main
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
