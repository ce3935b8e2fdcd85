"""What a replay by days prints beside its readings: eighty columns, both versions, and what was told."""

from __future__ import annotations

import io

import msgspec
from boards import quiet_board, reading
from rich.console import Console
from rich.table import Table

from monitor.readings import BoardSnapshot, Reading, Share, Window
from streams.page import words
from streams.replay_days import DayAlarm
from streams.replay_tables import swap_table, told_table

MONTH = Window(28, "2026-08-25", "2026-09-21")
LONG = "X" * 64


def board(version: str, *readings: Reading) -> BoardSnapshot:
    """Return a board whose traffic carries this version."""
    detectors = tuple((detector, version) for detector in sorted({r.detector for r in readings}))
    return msgspec.structs.replace(quiet_board(), readings=readings, current_versions=detectors)


def unlabelled(entity: str, version: str) -> Reading:
    """Return the reading of a cell with a target and no label."""
    return reading(entity, "es", version=version, target=0.9, labelled=0, status="no_label", matched=Share(0, 0))


def printed(table: Table, width: int = 80) -> list[str]:
    """Return the lines of a table."""
    stream = io.StringIO()
    Console(file=stream, width=width).print(table)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def row(when: str, r: Reading) -> list[str]:
    """Return the row of a reading."""
    m = r.matched
    numbers = [words.number(m.estimate), words.between(m) or "–", f"{m.found}/{m.true}", f"{r.labelled}/{r.sampled}"]
    return [r.entity, r.language, when, *numbers, r.status, words.number(r.target)]


def rows(before: BoardSnapshot, after: BoardSnapshot) -> list[list[str]]:
    """Return the rows of the table of a swap."""
    found = (line.split() for line in printed(swap_table(before, after, (19, 39))))
    return [cells for cells in found if cells[2:3] in (["before"], ["after"])]


def test_each_version_is_read_while_it_is_current() -> None:
    """Before is of the board before, whatever is left of that version later; over the longest window."""
    then = reading("PERSON", "es", 90, 100, version="1", window=MONTH, target=0.9)
    now = reading("PERSON", "es", 80, 160, window=MONTH, target=0.9, status="incomplete")
    week = reading("PERSON", "es", 1, 2, version="1", target=0.9)
    left = reading("PERSON", "es", 7, 7, version="1", window=MONTH, target=0.9, status="stale")
    old, new = board("1", week, then), board("2", left, now)
    assert rows(old, new) == [row("before", then), row("after", now)]
    assert printed(swap_table(old, new, (19, 39)))[0] == "Before and after, 28 days each, as of day 19 and day 39"


def test_cells_with_a_target_stand_alone_where_there_are_any() -> None:
    """Of one that has no label yet the first version's number stands beside a dash."""
    then = reading("PERSON", "es", version="1", target=0.9)
    now = unlabelled("PERSON", "2")
    others = [reading("IBAN", "es", version=v) for v in ("1", "2")]
    never = [unlabelled("ID", v) for v in ("1", "2")]
    old, new = board("1", then, others[0], never[0]), board("2", now, others[1], never[1])
    assert rows(old, new) == [row("before", then), row("after", now)]


def test_without_a_target_every_cell_stands_there() -> None:
    """Also one that the next version has no reading of."""
    then = [reading(entity, "es", version="1") for entity in ("A", "B")]
    now = reading("A", "es")
    assert rows(board("1", *then), board("2", now)) == [
        row("before", then[0]),
        row("after", now),
        row("before", then[1]),
    ]


def test_a_detector_that_has_the_same_version_in_both_has_no_rows() -> None:
    """Nothing was swapped."""
    same = board("1", reading("A", "es", version="1"))
    assert rows(same, same) == []


def test_eighty_columns_are_enough() -> None:
    """Names are folded, numbers and statuses stay whole."""
    old, new = (
        board(v, reading(LONG, LONG, 1_000, 1_200, version=v, target=0.9, status="no_interval")) for v in ("1", "2")
    )
    lines = printed(swap_table(old, new, (19, 39)))
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert sum("1000/1200" in line and "no_interval" in line for line in lines) == 2


def test_what_is_told_names_its_version_where_that_is_what_changed() -> None:
    """And what else was told in the words for it."""
    told = [
        DayAlarm("any", "any", 20, "design_changed", None, "crf", "3", "version"),
        DayAlarm("ID", "es", 21, "design_changed", None, "crf", "3", "rates"),
        DayAlarm("ID", "es", 22, "stopped_knowing", None, "crf", "3", None),
        DayAlarm("ID", "es", 23, "recall_fell", 12.94, "crf", "3", None),
    ]
    lines = printed(told_table(told))
    assert lines[0] == "Told"
    assert [line.split()[2:] for line in lines[2:6]] == [
        ["20", "version", "crf", "3", "came", "–"],
        ["21", "drawn", "more", "rarely", "–"],
        ["22", "stopped", "knowing", "–"],
        ["23", "recall", "fell", "12.9"],
    ]


def test_numbers_that_lapse_together_are_told_together() -> None:
    """A week whose labels are late is one thing to know, and not one a cell; its window stands beside it."""

    def lapsed(entity: str, day: int) -> DayAlarm:
        return DayAlarm(entity, "es", day, "stopped_knowing", None, "crf", "3", None, (7,))

    told = [*(lapsed(entity, 14) for entity in "ABCD"), *(lapsed(entity, 15) for entity in "AB")]
    assert [line.split() for line in printed(told_table(told))[2:5]] == [
        ["4", "cells", "14", "stopped", "knowing", "(7", "days)", "–"],
        ["A", "es", "15", "stopped", "knowing", "(7", "days)", "–"],
        ["B", "es", "15", "stopped", "knowing", "(7", "days)", "–"],
    ]
