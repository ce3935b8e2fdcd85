"""Readings are functions of merged rows: what has no data has no value, and nothing is said twice."""

from __future__ import annotations

import json

import msgspec
import oracles
import pytest
from traffic import CONFIG

from monitor.board import Board
from monitor.config import LimitsConfig, Readings
from monitor.estimators.sample import Moments
from monitor.fold import Output
from monitor.plan import Plan
from monitor.readings import ANY, Change, Queue, Reading
from monitor.readings_json import snapshot_document
from monitor.records import Record, Stratum
from monitor.tallies import published
from monitor.tally import CellKey, CensusKey, CountKey, DesignKey, FlaggedKey, Key, MadeKey, QueueKey, Tally, VersionKey
from monitor.versions import Decided

DAY_S = 86_400
TODAY = 20_000
NOW = TODAY * DAY_S + 500.0
PLAN = Plan(msgspec.structs.replace(CONFIG, targets={"PERSON": 0.9}))


def stratum_rows(
    stratum: Stratum, census: int, probability: float, found: int, missed: int, clean: int, version: str = "1"
) -> dict[Key, tuple[int, ...]]:
    """Return the rows of a stratum whose labelled documents hold one PERSON each, or none."""
    moments = [Moments.of(1, 1)] * found + [Moments.of(0, 1)] * missed
    summed = tuple(sum(column) for column in zip(*moments, strict=True)) if moments else ()
    n = found + missed + clean
    rows: dict[Key, tuple[int, ...]] = {CensusKey("en", "d", version, stratum): (census,)}
    if n:
        rows[DesignKey("en", "d", version, stratum, probability)] = (n, n, 0, 0, 0)
        rows[MadeKey("d", version, "c0ffee", "babe")] = (n,)
    for entity in ("PERSON", ANY) if summed else ():
        rows[CellKey("en", "d", version, stratum, probability, entity, "matched")] = summed
        rows[CellKey("en", "d", version, stratum, probability, entity, "masked")] = summed
    return rows


def board_of(*rows: dict[Key, tuple[int, ...]], plan: Plan = PLAN, day: int = TODAY) -> Board:
    """Return a board that holds these rows, everything in one window."""
    board = Board(plan, [None])
    total = Tally({}, {VersionKey("en", "d", "1"): (day * DAY_S * 1000, day * DAY_S * 1000 + 400_000)})
    for part in rows:
        total.merge_rows(Tally(part))
    take(board, published("route", 0, str(day), 1, total))
    return board


def take(board: Board, *outputs: Output) -> None:
    """Hand published rows over."""
    for output in outputs:
        board.take(output.key, output.value)


def cell(board: Board, entity: str, language: str = "en", stratum: Stratum | None = None) -> Reading:
    """Return the one reading of a cell."""
    (found,) = [
        r for r in board.snapshot(NOW).readings if (r.entity, r.language, r.stratum) == (entity, language, stratum)
    ]
    return found


def test_documents_with_detections_sampled_ten_times_as_often() -> None:
    """SAMP-1: each of the two misses nobody flagged stands for 100, so recall is .77 and not .93."""
    flagged = stratum_rows("detector_only", 1000, 0.1, 80, 4, 16)
    unflagged = stratum_rows("unflagged", 9000, 0.01, 0, 2, 88)
    reading = cell(board_of(flagged, unflagged), "PERSON")

    assert pytest.approx(0.769231, abs=1e-6) == reading.matched.estimate
    assert (reading.matched.found, reading.matched.true, reading.census, reading.labelled) == (80, 86, 10_000, 190)
    assert (reading.weight_min, reading.weight_max, reading.target) == (10.0, 100.0, 0.9)
    assert reading.matched.lower is not None
    assert reading.matched.lower < 0.55
    assert (reading.config, reading.net, reading.status) == ("c0ffee", "babe", "ok")


def test_reading_of_a_stratum_is_a_share_of_its_counts() -> None:
    """Wilson within the stratum, whatever the weights; the roll-ups say the same of one entity in one language."""
    board = board_of(
        stratum_rows("detector_only", 1000, 0.1, 80, 4, 16), stratum_rows("unflagged", 9000, 0.01, 0, 2, 88)
    )
    within = cell(board, "PERSON", stratum="detector_only").matched
    expected = oracles.wilson(80 / 84, 84, 1.959963984540054)

    assert pytest.approx(expected) == (within.estimate, within.lower, within.upper)
    for entity, language in (("PERSON", ANY), (ANY, "en"), (ANY, ANY)):
        assert cell(board, "PERSON").matched == cell(board, entity, language).matched


def test_no_data_gives_no_value() -> None:
    """H5: never 0, never NaN; the status says what is missing."""
    flagged: dict[Key, tuple[int, ...]] = {FlaggedKey("en", "d", "1", "URL"): (1, 1)}
    unlabelled = cell(board_of(stratum_rows("both", 10, 0.5, 0, 0, 0), flagged), "URL")
    untrue = cell(board_of(stratum_rows("both", 10, 0.5, 0, 0, 5), flagged), "URL")

    assert (unlabelled.status, untrue.status) == ("no_label", "no_truth")
    for reading in (unlabelled, untrue):
        share = reading.matched
        assert (share.estimate, share.lower, share.upper, share.n_eff) == (None, None, None, None)
    assert (unlabelled.completeness, unlabelled.weight_min) == (None, None)
    assert unlabelled.prevalence.documents.estimate is None


def test_board_without_rows_says_nothing() -> None:
    """No reading, an empty queue, and JSON without a NaN."""
    snapshot = Board(PLAN).snapshot(NOW)

    assert ((), (Queue(ANY, 0, 0, 0, 0, None),), ()) == (snapshot.readings, snapshot.queues, snapshot.changes)
    json.dumps(snapshot_document(snapshot), allow_nan=False)


def test_half_labelled_reading_is_incomplete() -> None:
    """Completeness under the configured share takes the status, and stands beside the number."""
    rows = stratum_rows("both", 100, 0.5, 9, 1, 5)
    rows[DesignKey("en", "d", "1", "both", 0.5)] = (50, 15, 5, 30, 0)
    reading = cell(board_of(rows), "PERSON")

    assert (reading.completeness, reading.status) == (0.3, "incomplete")


def test_windows_forget_what_readings_of_all_days_keep() -> None:
    """A day that leaves the window leaves its readings; age counts from the newest labelled document."""
    board = Board(Plan(msgspec.structs.replace(CONFIG, readings=Readings(windows_days=(2, 5)))))
    for day in (TODAY - 3, TODAY):
        seen = {VersionKey("en", "d", "1"): (day * DAY_S * 1000, day * DAY_S * 1000)}
        take(board, published("route", 0, str(day), 1, Tally(stratum_rows("both", 10, 1.0, 3, 1, 6))))
        take(board, published("ledger", 0, str(day), 1, Tally(None, seen)))

    def census(now: float) -> dict[int | None, int]:
        return {r.window.days: r.census for r in board.snapshot(now).readings if (r.entity, r.stratum) == (ANY, None)}

    assert census(NOW) == {2: 10, 5: 20}
    assert census(NOW + 3 * DAY_S) == {5: 10}
    assert census(NOW + 9 * DAY_S) == {}
    assert {500.0} == {r.age_s for r in board.snapshot(NOW).readings}
    assert {None} == {r.age_s for r in board.snapshot(None).readings}


def test_changed_windows_are_adopted_and_rows_stay() -> None:
    """A config that is applied live needs no topic to be read again."""
    board = Board(PLAN)
    take(board, published("route", 0, str(TODAY - 9), 1, Tally(stratum_rows("both", 10, 1.0, 3, 1, 6))))
    board.snapshot(NOW)
    board.adopt(Plan(msgspec.structs.replace(CONFIG, readings=Readings(windows_days=(30,)))))

    assert {30} == {r.window.days for r in board.snapshot(NOW).readings}


def test_current_version_is_the_one_that_was_seen_last() -> None:
    """NAM-3: of two that were seen at once the higher one by number, 1.10.0 over 1.9.0."""
    board = Board(PLAN, [None])
    seen = {VersionKey("en", "d", v): (n, 90) for n, v in enumerate(("1.9.0", "1.10.0", "1.10.0-rc1"))}
    seen[VersionKey("nl", "d", "1.10.0")] = (50, 60)
    seen[VersionKey("en", "e", "2")] = (5, 6)
    seen[VersionKey("nl", "e", "1")] = (7, 8)
    rows: dict[Key, tuple[int, ...]] = {
        CensusKey("en", "d", v, "both"): (1,) for v in ("1.9.0", "1.10.0", "1.10.0-rc1")
    }
    take(board, published("route", 0, "0", 1, Tally(rows, seen)))
    snapshot = board.snapshot(None, [Change(1.0, "config", "x")])

    assert snapshot.current_versions == (("d", "1.10.0"), ("e", "1"))
    assert snapshot.decided[0] == Decided("d", "1.10.0", 0.001, 0.09)
    assert [(one.version, one.last) for one in snapshot.decided if one.detector == "e"] == [("1", 0.008), ("2", 0.006)]
    assert [c.what for c in snapshot.changes] == ["d 1.9.0", "d 1.10.0", "d 1.10.0-rc1", "e 2", "e 1", "x"]
    assert list(dict.fromkeys(r.version for r in snapshot.readings)) == ["1.10.0", "1.10.0-rc1", "1.9.0"]


def test_queue_and_outcomes_are_told_by_language_and_reason() -> None:
    """Open is what was neither done nor skipped; oldest is the oldest of all partitions."""
    board = Board(PLAN, [None])
    for partition, oldest in ((0, 70.0), (1, 50.0)):
        rows: dict[Key, tuple[int, ...]] = {
            QueueKey("en"): (5, 2, 1),
            CountKey("labels", "joined"): (2,),
            CountKey("dead_letters", "labels/not_json"): (1,),
            CountKey("quarantined", "reversed"): (4,),
        }
        take(board, published("ledger", partition, "0", 1, Tally(rows, None, {"en": oldest})))
    snapshot = board.snapshot(None)

    assert (Queue("en", 10, 4, 4, 2, 50.0), Queue(ANY, 10, 4, 4, 2, 50.0)) == snapshot.queues
    document = snapshot_document(snapshot)
    assert document["labels"] == [{"outcome": "joined", "count": 4}]
    assert document["dead_letters"] == [{"reason": "not_json", "count": 2}]
    assert document["quarantined_spans"] == [{"reason": "reversed", "count": 8}]


def test_names_that_annotators_choose_are_bounded() -> None:
    """Of unknown entities the most frequent are read; known ones and the roll-up always."""
    plan = Plan(msgspec.structs.replace(CONFIG, limits=LimitsConfig(max_entities=1)))
    rows = stratum_rows("both", 10, 1.0, 3, 1, 6)
    for n, name in enumerate(("RARE", "ODD")):
        rows[CellKey("en", "d", "1", "both", 1.0, name, "matched")] = Moments.of(0, n + 1)

    assert {"ODD", "PERSON", ANY} == {r.entity for r in board_of(rows, plan=plan).snapshot(NOW).readings}


def test_no_two_readings_are_of_the_same_cell() -> None:
    """Each would be a series of its own under one name."""
    board = board_of(stratum_rows("both", 10, 1.0, 3, 1, 6), stratum_rows("both", 10, 0.5, 3, 1, 0, version="2"))
    cells = [(r.entity, r.language, r.version, r.stratum, r.window.days) for r in board.snapshot(NOW).readings]

    assert len(cells) == len(set(cells)) == 16


def test_fold_takes_each_row_once_and_leaves_out_what_is_nobodys() -> None:
    """Below the position, without a key, or of another form; the others count."""
    board = Board(PLAN, [None])
    good = published("route", 0, "0", 9, Tally({CountKey("labels", "joined"): (2,)}))
    old = published("route", 0, "0", 3, Tally({CountKey("labels", "joined"): (1,)}))
    records = [
        Record(0, 0, good.value, good.key),
        Record(1, 0, b"x", None),
        Record(2, 0, b"x", b"route/0/0"),
        Record(3, 0, old.value, old.key),
    ]
    assert board.position("tallies") is None
    assert board.fold("tallies", records, 4) == []

    assert ([good], 1, 4) == (board.tallies(), board.unreadable, board.position("tallies"))
    board.settle()
    assert board.fold("tallies", records, 4) + board.fold("tallies", records[:1], 1) == []
    assert (board.position("tallies"), board.rows(), board.tallies()) == (4, {}, [])


def row_at(position: int) -> Output:
    """Return a row of one key as of a position."""
    return published("route", 0, "0", position, Tally({CountKey("labels", "joined"): (position,)}))


def read(board: Board, *rows: Output) -> None:
    """Have the board read rows that came together."""
    first = board.position("tallies") or 0
    board.fold("tallies", [Record(first + n, 0, r.value, r.key) for n, r in enumerate(rows)], first + len(rows))


def test_a_newer_row_is_written_back_once_however_many_older_ones_came_after_it() -> None:
    """In one chunk or over several; whatever is held is written, not what was newest in the chunk."""
    board = Board(PLAN, [None])
    read(board, row_at(9), row_at(3), row_at(2))
    assert board.tallies() == [row_at(9)]
    read(board, row_at(5), row_at(4))
    assert board.tallies() == [row_at(9)]


def test_nothing_is_written_back_where_the_owner_has_written_since() -> None:
    """The last row is the newest again; a row that was written back on time isn't one to write back over."""
    board = Board(PLAN, [None])
    read(board, row_at(9), row_at(3))
    read(board, row_at(10))
    assert board.tallies() == []
    read(board, row_at(9), row_at(9))
    board.settle()
    read(board, row_at(10))
    assert board.tallies() == []


def test_what_is_written_back_does_not_feed_on_itself() -> None:
    """Where the owner's next row always comes before the board's own, one row a checkpoint goes out and no more."""
    board = Board(PLAN, [None])
    read(board, row_at(100), *[row_at(n) for n in range(20)])
    lengths = []
    for position in range(101, 121):
        back = board.tallies()
        board.settle()
        lengths.append(len(back))
        read(board, row_at(position), *back)
    assert set(lengths) == {1}
    read(board, *board.tallies())
    board.settle()
    read(board, row_at(121))
    assert board.tallies() == []


def test_clean_sample_is_no_prevalence_of_zero_and_no_recall() -> None:
    """DEG-3: five hundred documents without an IBAN bound its prevalence; its recall is neither met nor missed."""
    plan = Plan(msgspec.structs.replace(CONFIG, targets={"IBAN_CODE": 0.9}))
    flagged: dict[Key, tuple[int, ...]] = {FlaggedKey("en", "d", "1", "IBAN_CODE"): (1, 1)}
    board = board_of(stratum_rows("both", 50_000, 0.01, 0, 0, 500), flagged, plan=plan)
    reading = cell(board, "IBAN_CODE")
    prevalence = reading.prevalence.documents

    assert (prevalence.estimate, prevalence.lower) == (0, 0)
    assert prevalence.upper is not None
    assert 0.0070 < prevalence.upper < 0.0078
    assert (reading.matched.estimate, reading.matched.lower, reading.status) == (None, None, "no_truth")
    assert reading.alarm is not None
    assert (reading.alarm.state, reading.alarm.evidence) == (None, None)
    assert board.snapshot(NOW).alarms == ()


def test_current_version_without_a_label_in_the_window_has_expired() -> None:
    """H7: its number isn't offered as today's; one that was never labelled is just that."""
    board = Board(PLAN, [7, 28])
    labelled = Tally(stratum_rows("both", 100, 0.5, 40, 2, 8), {VersionKey("en", "d", "1"): (0, 10 * DAY_S * 1000)})
    take(board, published("route", 0, "10", 1, labelled))
    later = {r.window.days: r for r in board.snapshot(20 * DAY_S).readings if (r.entity, r.stratum) == ("PERSON", None)}
    much_later = [r.status for r in board.snapshot(60 * DAY_S).readings if (r.entity, r.stratum) == ("PERSON", None)]

    assert (later[7].status, later[7].matched.estimate, later[28].status) == ("expired", None, "ok")
    assert much_later == ["expired"] * 4


def test_reading_without_a_label_for_days_is_stale() -> None:
    """The last label came more than `stale_after_days` ago, whenever its document was drawn."""

    def status(came_s: float, now_s: float) -> str:
        board = Board(PLAN, [7])
        sums = Tally(stratum_rows("both", 100, 0.5, 40, 2, 8), {VersionKey("en", "d", "1"): (0, 10 * DAY_S * 1000)})
        take(board, published("route", 0, "10", 1, sums))
        came = Tally({}, {VersionKey("en", "d", "1"): (-int(came_s * 1000), 10 * DAY_S * 1000)})
        take(board, published("ledger", 0, "10", 1, came))
        (found,) = [
            r for r in board.snapshot(now_s).readings if (r.entity, r.language, r.stratum) == ("PERSON", "en", None)
        ]
        return found.status

    assert status(11 * DAY_S, 13.9 * DAY_S) == "ok"
    assert status(11 * DAY_S, 14.1 * DAY_S) == "stale"
