"""Readings in a terminal: eighty columns, the numbers of the snapshot and no others, plain where nobody looks."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import msgspec
import pytest
from boards import agreement, alarm, busy_board, quiet_board, reading
from replays import ANNA, BO, config, corpus_line, decision, replay, spans_of
from rich.console import Console

from monitor.config import read_config
from monitor.readings import ANY, BoardSnapshot, Reading, Share, Status, Tally
from streams.replay import Replay
from streams.terminal import print_snapshot


def printed(snapshot: BoardSnapshot, *, terminal: bool = False, width: int = 80) -> str:
    """Return what is printed."""
    stream = io.StringIO()
    print_snapshot(Console(file=stream, width=width, force_terminal=terminal), snapshot)
    return stream.getvalue()


def rows(text: str, title: str, first: str = "entity") -> list[list[str]]:
    """Return the cells of each row of the tables under a title."""
    found: list[list[str]] = []
    inside = headed = False
    for line in text.splitlines():
        cells = line.split()
        if line.startswith(title):
            inside, headed = True, False
        elif inside and cells[:1] == [first]:
            headed = True
        elif inside and headed:
            if not re.search(r"[0-9]/[0-9]", line):
                inside = False
            else:
                found.append(cells)
    return found


def snapshot_of(entities: Sequence[str] = ("PERSON",), **fields: object) -> BoardSnapshot:
    """Return the readings of two documents in which half of everything is found."""
    found = spans_of([(0, 4, entity) for entity in entities])
    truth = [(start, end, entity) for entity in entities for start, end in ((0, 4), (9, 11))]
    return replay([decision("a", found, **fields), decision("b")], [corpus_line("a", truth), corpus_line("b")])


def number(value: float | None) -> str:
    """Return a share as the tables write it."""
    return "–" if value is None else f"{value:.3f}"


def population(snapshot: BoardSnapshot) -> list[Reading]:
    """Return the readings that the population table is made of."""
    return [r for r in snapshot.readings if r.stratum is None and r.matched.true]


def test_the_population_table_has_the_snapshots_numbers() -> None:
    """A row for each cell with a truth, and every number in it."""
    snapshot = snapshot_of(("PERSON", "LOCATION"))
    expected = []
    for r in population(snapshot):
        m, looked = r.matched, r.matched.where_looked
        numbers = (m.estimate, m.lower, m.upper, None if looked is None else looked.estimate)
        evidence = (f"{m.found}/{m.true}", f"{r.labelled}/{r.sampled}", str(r.prevalence.documents.count))
        expected.append([r.entity, r.language, *map(number, numbers), *evidence])
    assert sorted(rows(printed(snapshot), "Recall over all traffic")) == sorted(expected)
    assert len(expected) == 6


def test_the_strata_table_has_the_snapshots_numbers() -> None:
    """A row for each stratum of a language with a truth; the roll-up of languages isn't repeated."""
    snapshot = snapshot_of(("PERSON", "LOCATION"))
    expected = [
        [r.entity, r.language, r.stratum, f"{r.matched.found}/{r.matched.true}"]
        + [number(v) for v in (r.matched.estimate, r.matched.lower, r.matched.upper)]
        + [str(r.labelled), str(r.census)]
        for r in snapshot.readings
        if r.stratum is not None and r.language != ANY and r.matched.true
    ]
    assert sorted(rows(printed(snapshot), "Within each stratum")) == sorted(expected)
    assert len(expected) == 3


def test_what_needs_somebody_comes_first() -> None:
    """The roll-up, then the lowest lower limit."""
    snapshot = busy_board()
    newest = [r for r in population(snapshot) if r.version == "2" and r.window.days == 7]
    text = printed(msgspec.structs.replace(snapshot, readings=tuple(newest)))
    found = rows(text, "Recall over all traffic")
    assert [row[0] for row in found[:2]] == [ANY, ANY]
    lower = [2.0 if row[3] == "–" else float(row[3]) for row in found[2:]]
    assert lower == sorted(lower)
    assert len(found) == len(newest)


LONG = "X" * 64


@pytest.mark.parametrize(
    "snapshot",
    [
        busy_board(),
        quiet_board(),
        snapshot_of((LONG,), lang="x" * 64),
        snapshot_of(("PERSON",), detector=LONG, version=LONG),
        snapshot_of(tuple(f"ENTITY_{i}_{'Y' * 20}" for i in range(30))),
        BoardSnapshot(0.0, (reading("US_DRIVER_LICENSE", "en-GB", 123_456, 234_567),), (), (), (), (), (), (), ()),
    ],
    ids=["busy", "quiet", "long names", "long version", "many", "large numbers"],
)
def test_eighty_columns_are_enough(snapshot: BoardSnapshot) -> None:
    """No line is longer, and no number is cut: where there's no room names are folded."""
    text = printed(snapshot)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "…" not in text
    for r in population(snapshot):
        m = r.matched
        limits = " +".join(map(number, (m.estimate, m.lower, m.upper)))
        assert re.search(rf"{limits}.* {m.found}/{m.true} +{r.labelled}/{r.sampled} ", text)


def test_versions_stand_in_their_own_order() -> None:
    """1.9 before 1.10, each with its config and net."""
    run = Replay(config())
    run.decide([decision(v, version=v) for v in ("1.10", "1.9")])
    snapshot = run.snapshot()
    heads = [line for line in printed(snapshot).splitlines() if line.startswith("x ")]
    assert [head.split()[:2] for head in heads] == [["x", "1.9"], ["x", "1.10"]]
    assert all(f"config {snapshot.readings[0].config}" in head for head in heads)


@pytest.mark.parametrize("name", ["PERSON[/]", "[RED]X[/RED]", "[BOLD", ":SMILE:", "A\\[B]"])
def test_a_name_is_never_markup(name: str) -> None:
    """Producers choose names; none can end a run, colour a table or hide itself."""
    text = printed(snapshot_of((name,), detector=name, lang=name), width=100)
    assert {row[0] for row in rows(text, "Recall over all traffic")} == {name, ANY}
    assert {row[1] for row in rows(text, "Recall over all traffic")} == {name.lower(), ANY}
    assert text.count(f"{name} 1 ") == 1


def test_a_version_without_a_truth_has_no_table() -> None:
    """A head without rows would look like a result; its entities are named below, with the reason."""
    text = printed(replay([decision("a", spans_of([ANNA]))]))
    assert "Recall over" not in text
    assert "Within each" not in text
    assert "No number: PERSON/en: no label yet" in text


def test_it_is_plain_when_piped_and_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    """Escape codes only where a terminal is, and colours only where it wants some."""
    snapshot = snapshot_of()
    assert "\x1b" not in printed(snapshot)
    assert "\x1b[" in printed(snapshot, terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    codes = re.findall(r"\x1b\[([0-9;]*)m", printed(snapshot, terminal=True))
    assert [code for code in codes if re.search(r"(^|;)(3|4|9|10)[0-7]", code)] == []


def test_what_has_no_number_is_named_with_the_reason() -> None:
    """An entity without a truth, a language without a label: never 0."""
    spans = spans_of([(0, 4, "PERSON"), (9, 11, "IBAN_CODE")])
    snapshot = replay([decision("a", spans), decision("b", spans, lang="nl")], [corpus_line("a", [ANNA])])
    text = " ".join(printed(snapshot).split())
    assert "IBAN_CODE/en: none among the labelled" in text
    assert "IBAN_CODE/nl: no label yet" in text
    assert "PERSON/nl: no label yet" in text
    assert "PERSON/en:" not in text


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("flagged_unlabelled", "no label of what the tools flagged"),
        ("unflagged_unlabelled", "no label of what nothing flagged"),
        ("another", "no interval"),
    ],
)
def test_every_cell_with_a_dash_for_recall_is_named_with_the_reason(reason: str, told: str) -> None:
    """Some were found and some missed, but of some documents nothing is known; sums of cells are named too."""
    bare = [
        reading(*c, status="no_interval", matched=Share(4, 6, reason=reason)) for c in (("LOCATION", "en"), (ANY, ANY))
    ]
    known = reading("PERSON", "en", status="no_interval", matched=Share(6, 6, estimate=1.0, reason="no_truth"))
    text = " ".join(printed(msgspec.structs.replace(quiet_board(), readings=(*bare, known))).split())
    assert f"No number: LOCATION/en: {told}; any/any: {told}" in text
    assert "PERSON/en:" not in text


def test_with_default_rates_no_dash_is_unexplained() -> None:
    """Whatever cell's recall is a dash in the table stands below it."""
    names = [f"d{i}" for i in range(40)]
    decisions = [decision(n, spans_of([ANNA]) if i % 2 else ()) for i, n in enumerate(names)]
    labels = [corpus_line(n, [ANNA]) for n in names]
    text = printed(replay(decisions, labels, tree=read_config({"sampling": {"random_rate": 0.001, "loose_rate": 1.0}})))
    dashes = {(row[0], row[1]) for row in rows(text, "Recall over all traffic") if row[2] == "–"}
    assert dashes == {(ANY, ANY), (ANY, "en"), ("PERSON", ANY), ("PERSON", "en")}
    told = " ".join(text.split()).partition("No number: ")[2]
    assert [cell for cell in dashes if f"{'/'.join(cell)}: no label of what nothing flagged" not in told] == []


def test_what_could_not_be_used_is_counted() -> None:
    """Labels by what became of them, dead letters by channel and reason, spans set aside."""
    bad = {"start": 3, "end": 3, "entity": "PERSON"}
    labels = [corpus_line("a", [ANNA]), corpus_line("other"), b"{", corpus_line("a", [BO], "kim")]
    text = printed(replay([decision("a", [bad]), b"[]"], labels, ["jo"]))
    assert "Labels: joined 1, orphan 1, not_chosen 1" in text
    assert "Dead letters: decisions/not_object 1, labels/not_json 1" in text
    assert "Spans set aside: empty 1" in text


def test_unknown_names_and_repeats_are_counted() -> None:
    """Case NAM-1: a name that the alias table doesn't know is told, with its spans; so is a document drawn again."""
    spans = spans_of([(0, 4, "per"), (9, 11, "SHOE_SIZE")])
    text = " ".join(printed(replay([decision("a", spans), decision("a", spans), decision("b", spans)])).split())
    assert "Documents: repeat 1" in text
    assert "Spans of entities that the alias table doesn't know: SHOE_SIZE 3" in text


def test_of_many_names_the_commonest_are_printed() -> None:
    """A producer can choose as many as it likes."""
    many = tuple(Tally((f"NAME_{i}",), i) for i in range(1, 201))
    text = " ".join(printed(msgspec.structs.replace(quiet_board(), unknown_entities=many)).split())
    listed = ", ".join(f"NAME_{i} {i}" for i in range(200, 190, -1))
    assert f"know: {listed} and 190 more" in text
    assert "NAME_190 " not in text


def test_nothing_at_all_is_said() -> None:
    """An empty table would look like a result."""
    text = printed(Replay(read_config({})).snapshot())
    assert text.strip() == "No decision could be read."


def test_what_else_is_known_has_a_table() -> None:
    """Limits that hold at every look, precision with its counts, the alarm; a dash where there's none."""
    known = msgspec.structs.replace(reading("PERSON", "es", 45, 50, target=0.9), alarm=alarm("firing", 9.4))
    bare = msgspec.structs.replace(reading("PERSON", "nl", 45, 50), any_time=None)
    text = printed(msgspec.structs.replace(quiet_board(), readings=(known, bare)))
    found = {row[1]: row for row in rows(text, "Read any time, and precision")}
    assert known.any_time is not None
    assert known.precision is not None
    limits = f"{known.any_time.lower:.3f}–{known.any_time.upper:.3f}"
    share = number(known.precision.estimate)
    assert found["es"] == ["PERSON", "es", limits, share, "45/51", "firing"]
    assert found["nl"] == ["PERSON", "nl", "–", share, "45/51", "–"]


def test_two_readers_have_a_table() -> None:
    """Kappa with its limits and what it rests on, of the cells that either of them named; without two readers none."""
    a = agreement(0.72)
    read = msgspec.structs.replace(reading("PERSON", "es", 45, 50), agreement=a)
    unnamed = msgspec.structs.replace(reading("IBAN", "es", 45, 50), agreement=msgspec.structs.replace(a, named=0))
    text = printed(msgspec.structs.replace(quiet_board(), readings=(read, unnamed)))
    counts = [f"{a.documents}", f"{a.named}"]
    numbers = [number(n) for n in (a.kappa, a.lower, a.upper)]
    spans = [number(n) for n in (a.span_f1, a.mean_iou, a.missed_by_both)]
    table = text[text.index("Two readers") :].splitlines()
    assert table[2].split() == ["PERSON", "es", *numbers, *counts, *spans]
    assert "IBAN" not in table[3]
    assert "Two readers" not in printed(msgspec.structs.replace(quiet_board(), readings=(reading("A", "es", 45, 50),)))


def test_a_board_that_knows_nothing_else_has_no_such_table() -> None:
    """A head without rows would look like a result."""
    bare = msgspec.structs.replace(reading("PERSON", "nl", 45, 50), any_time=None, precision=None)
    assert "Read any time" not in printed(msgspec.structs.replace(quiet_board(), readings=(bare,)))


STATUS_WORDS: list[tuple[Status, str]] = [
    ("stale", "no label lately"),
    ("greyed", "readers disagree"),
    ("marked", "readers differ"),
    ("incomplete", "labels missing"),
    ("expired", "expired"),
]


@pytest.mark.parametrize(("status", "words"), STATUS_WORDS)
def test_a_number_that_is_not_offered_as_it_is_has_its_mark(status: Status, words: str) -> None:
    """Below the tables, by cell; one that may be offered has none."""
    text = printed(msgspec.structs.replace(quiet_board(), readings=(reading("PERSON", "nl", 45, 50, status=status),)))
    assert f"With a mark: {words}: PERSON/nl\n" in text
    good = printed(msgspec.structs.replace(quiet_board(), readings=(reading("PERSON", "nl", 45, 50),)))
    assert "With a mark" not in good


def test_marks_are_told_by_their_reason() -> None:
    """Each once, with the cells it holds for; all of them are said to be all."""
    late = [reading(entity, "nl", 45, 50, status="incomplete") for entity in ("A", "B", "C")]
    stale = reading("D", "nl", 45, 50, status="stale")
    text = printed(msgspec.structs.replace(quiet_board(), readings=tuple(late)))
    assert "With a mark: labels missing: all 3 cells\n" in text
    text = printed(msgspec.structs.replace(quiet_board(), readings=(*late, stale)))
    assert "With a mark: labels missing: 3 of 4 cells (A/nl, B/nl, C/nl); no label lately: \nD/nl\n" in text


def test_the_words_for_an_alarm_stand_below_them() -> None:
    """Where there is one."""
    firing = msgspec.structs.replace(reading("A", "nl", 45, 50, target=0.9), alarm=alarm())
    board = quiet_board()
    text = " ".join(printed(msgspec.structs.replace(board, readings=(firing,))).split())
    assert "held, on since it crossed on an earlier day" in text
    assert "held" not in printed(msgspec.structs.replace(board, readings=(reading("A", "nl", 45, 50),)))


@pytest.mark.parametrize(("status", "words"), STATUS_WORDS)
def test_what_has_no_number_is_named_with_any_status(status: Status, words: str) -> None:
    """An expired cell has none, for instance."""
    empty = reading("PERSON", "nl", 0, 0, status=status, labelled=0, matched=Share(0, 0))
    text = printed(msgspec.structs.replace(quiet_board(), readings=(empty,)))
    assert f"No number: PERSON/nl: {words}" in text
