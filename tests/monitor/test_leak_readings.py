"""Readings of redacted outputs, from hand-made tallies: exact counts, limits of the rate behind, labels' estimates."""

from __future__ import annotations

import json

import msgspec
import pytest
from traffic import CONFIG

from monitor import leak_readings
from monitor.board import Board
from monitor.config import LimitsConfig, Readings
from monitor.estimators.sample import Moments
from monitor.estimators.wilson import wilson
from monitor.output_keys import LeakKey, OutputDesignKey, OutputKey, RedactedKey, RedactionsKey
from monitor.plan import Plan
from monitor.readings import ANY, LeakCount, OutputEntity, OutputReading
from monitor.readings_json import snapshot_document
from monitor.records import Stratum
from monitor.tallies import Stage, published
from monitor.tally import CellKey, CensusKey, Key, MadeKey, Tally, VersionKey

DAY_S = 86_400
TODAY = 20_000
NOW = TODAY * DAY_S + 500.0
Rows = dict[Key, tuple[int, ...]]


def summed(*documents: tuple[int, int]) -> tuple[int, ...]:
    """Return the moments of documents (t, y)."""
    return tuple(sum(column) for column in zip(*(Moments.of(*document) for document in documents), strict=True))


def counted(language: str = "en", version: str = "1", leaking: int = 6, outputs: int = 1_000) -> Rows:
    """Return what ROUTE counts: all in one stratum, leaks of PERSON in two kinds, none of URL."""
    of = (language, "d", version)
    return {
        CensusKey(*of, "both"): (2 * outputs,),
        OutputKey(*of, "both"): (outputs, 3, leaking, 40 * outputs, 800 * outputs),
        RedactionsKey(*of): (leaking, 3 * outputs, leaking, 3 * leaking, 9 * outputs),
        RedactedKey(*of, "PERSON"): (outputs // 2, outputs, leaking, leaking + 1),
        RedactedKey(*of, "URL"): (outputs // 4, outputs // 4, 0, 0),
        LeakKey(*of, "PERSON", "partial_mask"): (leaking, leaking + 2),
        LeakKey(*of, "PERSON", "untouched"): (1, 1),
    }


def labelled(language: str = "en", version: str = "1", sampled: int = 100, stratum: Stratum = "both") -> Rows:
    """Return what labels say of 100 documents: 50 with a PERSON, of which 5 can be read; a fifth masked needlessly."""
    of = (language, "d", version, stratum, 0.1)
    hidden, readable = summed(*[(1, 1)] * 45, *[(0, 1)] * 5), summed(*[(1, 1)] * 5)
    rows: Rows = {OutputDesignKey(*of): (sampled, 100), MadeKey("d", version, "c0ffee", "babe"): (sampled,)}
    for entity in ("PERSON", ANY):
        rows[CellKey(*of, entity, "hidden")] = hidden
        rows[CellKey(*of, entity, "readable")] = readable
    rows[CellKey(*of, ANY, "needless")] = summed(*[(2, 10)] * 50)
    return rows


def board_of(*rows: Rows, plan: Plan | None = None, version: str = "1") -> Board:
    """Return a board that holds these rows of today, everything in one window."""
    board = Board(plan or Plan(CONFIG), [None])
    seen = VersionKey("en", "d", version)
    total = Tally(None, {seen: (TODAY * DAY_S * 1000, TODAY * DAY_S * 1000 + 440_000)})
    for part in rows:
        total.merge_rows(Tally(part))
    take(board, "route", TODAY, total)
    return board


def take(board: Board, stage: Stage, day: int, tally: Tally) -> None:
    """Hand a day's row of a stage over."""
    output = published(stage, 0, str(day), 1, tally)
    board.take(output.key, output.value)


def one(board: Board, language: str = "en", now: float | None = NOW) -> OutputReading:
    """Return the only reading of a language."""
    (found,) = [r for r in board.snapshot(now).outputs if r.language == language]
    return found


def entity(reading: OutputReading, name: str) -> OutputEntity:
    """Return what a reading says of an entity."""
    (found,) = [e for e in reading.entities if e.entity == name]
    return found


def test_no_output_gives_no_reading() -> None:
    """Not a 0 either."""
    rows: Rows = {CensusKey("en", "d", "1", "both"): (10,)}
    assert board_of(rows).snapshot(NOW).outputs == ()
    assert Board(Plan(CONFIG)).snapshot(NOW).outputs == ()


def test_outputs_are_counted_and_their_limits_are_wilsons() -> None:
    """Documents are the trials, of all that were looked at; no finite population makes them narrower."""
    found = one(board_of(counted()))
    limits = wilson(6, 1_000)
    assert limits is not None
    assert (found.documents.count, found.documents.of, found.unaligned) == (6, 1_000, 3)
    assert (found.documents.estimate, found.documents.lower, found.documents.upper) == limits
    assert (found.masked, found.length, found.masked_share) == (40_000, 800_000, 0.05)


def test_redactions_have_limits_of_their_documents() -> None:
    """3,000 of them in 1,000 documents; six leaks in as many."""
    found = one(board_of(counted())).redactions
    assert (found.count, found.of, found.estimate) == (6, 3_000, 0.002)
    assert found.lower is not None
    assert found.upper is not None
    assert found.n_eff is not None
    assert 0 < found.lower < 0.002 < found.upper < 0.006
    assert 2_000 < found.n_eff <= 3_000


def test_leaks_are_told_by_entity_and_kind() -> None:
    """An entity without a leak is there with its documents, and with no kind."""
    found = one(board_of(counted()))
    person, url = entity(found, "PERSON"), entity(found, "URL")
    assert person.kinds == (LeakCount("partial_mask", 6, 8), LeakCount("untouched", 1, 1))
    assert (person.documents.count, person.documents.of, person.spans, person.leaking_spans) == (6, 500, 1_000, 7)
    assert (url.documents.count, url.documents.of, url.kinds) == (0, 250, ())
    assert url.documents.upper is not None


def test_languages_add_up_in_their_roll_up() -> None:
    """Counts, kinds and what labels say."""
    board = board_of(counted(), counted("nl", leaking=4, outputs=500), labelled(), labelled("nl"))
    whole = one(board, ANY)
    assert (whole.documents.count, whole.documents.of, whole.redactions.of) == (10, 1_500, 4_500)
    assert entity(whole, "PERSON").kinds == (LeakCount("partial_mask", 10, 14), LeakCount("untouched", 2, 2))
    assert (whole.labelled, whole.sampled, whole.disclosure.readable, whole.disclosure.true) == (200, 200, 10, 100)


def test_the_disclosure_rate_counts_what_labels_can_read_in_the_output() -> None:
    """Five in a hundred documents is 50 in 1,000, of all and of the entity; none of an entity that no label holds."""
    found = one(board_of(counted(), labelled()))
    for told in (found.disclosure, entity(found, "PERSON").disclosure):
        assert (told.readable, told.true, told.status) == (5, 50, "ok")
        assert told.per_1000.estimate == pytest.approx(50)
        assert told.per_1000.lower is not None
        assert told.per_1000.upper is not None
        assert 10 < told.per_1000.lower < 50 < told.per_1000.upper < 150
    url = entity(found, "URL").disclosure
    assert (url.readable, url.true, url.per_1000.estimate) == (0, 0, 0.0)
    assert url.per_1000.upper is not None
    assert url.per_1000.upper > 0


def test_strata_weigh_as_many_as_they_hold() -> None:
    """What nobody flagged and can be read counts for the documents that it stands for."""
    of: tuple[str, str, str, Stratum] = ("en", "d", "1", "unflagged")
    blind: Rows = {
        OutputKey(*of): (9_000, 0, 0, 0, 90_000),
        OutputDesignKey(*of, 0.01): (90, 90),
        CellKey(*of, 0.01, ANY, "hidden"): summed((0, 1), (0, 1)),
        CellKey(*of, 0.01, ANY, "readable"): summed((1, 1), (1, 1)),
    }
    found = one(board_of(counted(), labelled(), blind))
    assert found.disclosure.per_1000.estimate == pytest.approx(1000 * (0.05 * 1_000 + 2 / 90 * 9_000) / 10_000)
    assert (found.weight_min, found.weight_max) == (10.0, 100.0)


def test_over_masking_is_a_share_of_masked_graphemes() -> None:
    """Two of ten in each document; its documents are the clusters."""
    found = one(board_of(counted(), labelled())).over_masking
    assert (found.needless, found.masked, found.estimate) == (100, 500, 0.2)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < 0.2 < found.upper


def test_without_a_label_nothing_is_said_of_labels() -> None:
    """The counts stand; rates are None and the status says why."""
    found = one(board_of(counted()))
    assert (found.disclosure.status, found.completeness, found.weight_min) == ("no_label", None, None)
    assert (found.disclosure.per_1000.estimate, found.disclosure.documents.estimate) == (None, None)
    assert (found.over_masking.estimate, found.over_masking.reason) == (None, "no_label")
    json.dumps(snapshot_document(board_of(counted()).snapshot(NOW)), allow_nan=False)


def test_half_labelled_is_incomplete() -> None:
    """Of the drawn documents with an output, whatever the others'."""
    found = one(board_of(counted(), labelled(sampled=300)))
    assert found.completeness == pytest.approx(1 / 3)
    assert found.disclosure.status == "incomplete"


def test_labels_that_the_window_let_go_are_expired() -> None:
    """There was a number once."""
    board = Board(Plan(msgspec.structs.replace(CONFIG, readings=Readings(windows_days=(2, 30)))))
    take(board, "route", TODAY - 5, Tally(counted() | labelled()))
    take(board, "route", TODAY, Tally(counted()))
    statuses = {r.window.days: r.disclosure.status for r in board.snapshot(NOW).outputs if r.language == "en"}
    assert statuses == {2: "expired", 30: "ok"}


def test_ages_stand_beside_the_rates() -> None:
    """Of the newest decision, and of the newest label; a replay has no clock."""
    board = board_of(counted(), labelled())
    at = TODAY * DAY_S * 1000
    take(board, "ledger", TODAY, Tally(None, {VersionKey("en", "d", "1"): (-at - 480_000, at + 100_000)}))
    found, replayed = one(board), one(board, now=None)
    assert (found.counted_age_s, found.age_s) == (60.0, 400.0)
    assert (replayed.counted_age_s, replayed.age_s) == (None, None)
    later = one(board, now=NOW + 9 * DAY_S)
    assert (later.counted_age_s, later.disclosure.status) == (60.0 + 9 * DAY_S, "stale")


def test_a_look_at_an_unchanged_board_works_nothing_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does another plan's look reuse what this one's confidence made."""
    board = board_of(counted(), labelled())
    first = one(board)
    monkeypatch.setattr(leak_readings, "wilson", lambda *_: pytest.fail("worked out again"))
    assert one(board) == first
    monkeypatch.undo()
    board.adopt(Plan(msgspec.structs.replace(CONFIG, readings=Readings(confidence=0.8))))
    upper = one(board).documents.upper
    assert upper is not None
    assert first.documents.upper is not None
    assert upper < first.documents.upper


def test_a_label_changes_the_reading() -> None:
    """What was kept goes with the sums that it came from."""
    board = board_of(counted())
    assert one(board).labelled == 0
    take(board, "ledger", TODAY, Tally(labelled()))
    assert one(board).labelled == 100


def test_unknown_entities_are_bounded() -> None:
    """The most frequent are read; known ones always are."""
    limits = LimitsConfig(max_entities=2)
    rows: Rows = counted()
    for i in range(6):
        rows[RedactedKey("en", "d", "1", f"X{i}")] = (10 + i, 10 + i, 0, 0)
    names = [e.entity for e in one(board_of(rows, plan=Plan(msgspec.structs.replace(CONFIG, limits=limits)))).entities]
    assert {"PERSON", "URL", "X4", "X5"} == set(names)


def test_rows_of_outputs_leave_recall_as_it_is() -> None:
    """They are other cells: no entity is listed for them, and no sample is changed."""
    plain = board_of({CensusKey("en", "d", "1", "both"): (2_000,)})
    both = board_of(counted(), labelled())
    of = {r.entity for r in both.snapshot(NOW).readings} - {"any"}
    assert of == {r.entity for r in plain.snapshot(NOW).readings} - {"any"}
    assert all(r.matched.true == 0 for r in both.snapshot(NOW).readings)


def test_json_has_every_number() -> None:
    """Counts and denominators beside each rate, in names."""
    snapshot = board_of(counted(), labelled()).snapshot(NOW)
    document = json.loads(msgspec.json.encode(snapshot_document(snapshot)))["outputs"][0]
    assert [count["kind"] for count in document["entities"][0]["kinds"]] == ["partial_mask", "untouched"]
    assert document["documents"].keys() >= {"count", "of", "estimate", "lower", "upper", "n_eff"}
    assert document["over_masking"].keys() >= {"needless", "masked", "estimate", "lower", "upper", "n_eff", "reason"}
    assert document["disclosure"].keys() >= {"readable", "true", "per_1000", "status"}
    assert (document["config"], document["net"]) == ("c0ffee", "babe")
