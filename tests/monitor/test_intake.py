"""Labels as tools send them: decoded, counted, and sent on keyed by document, in their own time."""

from __future__ import annotations

import json

import msgspec
import pytest
from traffic import CONFIG, DAY_MS, FIRST_DAY

from monitor.errors import StateError
from monitor.fold import Output
from monitor.intake import Intake
from monitor.origin import LabelRecord
from monitor.plan import Plan
from monitor.records import DeadLetter, Record, Span
from monitor.tallies import read_key, read_value
from monitor.tally import CountKey

PLAN = Plan(CONFIG)
GOOD = json.dumps({"doc_id": "a", "annotator": "jo", "spans": [{"start": "0", "end": 4, "entity": "PERSON"}]}).encode()
AT_MS = FIRST_DAY * DAY_MS + 5


def fold(intake: Intake, *values: bytes | None, first: int = 0, at_ms: int = AT_MS) -> list[Output]:
    """Return what comes of values at consecutive offsets."""
    records = [Record(first + i, at_ms, value) for i, value in enumerate(values)]
    return intake.fold("labels", records, first + len(values))


def counts(intake: Intake) -> dict[tuple[int, str, str], int]:
    """Return what it publishes, by day, name and detail; a day that was dropped counts nothing."""
    found: dict[tuple[int, str, str], int] = {}
    for output in intake.tallies():
        day = read_key(output.key).day
        for key, numbers in read_value(output.value)[1].rows.items() if output.value else ():
            assert isinstance(key, CountKey)
            found[day, key.name, key.detail] = numbers[0]
    return found


def test_label_is_sent_on_by_document_in_its_own_time() -> None:
    """Salvaged on the way (a number in a string), with the place that it came from."""
    (output,) = fold(Intake("labels", 3, PLAN), GOOD, first=7)

    assert (output.channel, output.key, output.timestamp_ms) == ("labels_by_document", b"a", AT_MS)
    sent = msgspec.json.decode(output.value or b"", type=LabelRecord)
    assert LabelRecord("a", "jo", [Span(0, 4, "PERSON")], origin=(3, 7)) == sent


def test_bad_labels_are_dead_letters_between_good_ones() -> None:
    """A label with one bad span is dead as a whole: a truth with a hole isn't one. A null value is a tombstone."""
    bad_span = json.dumps({"doc_id": "a", "annotator": "jo", "spans": [{"start": 4, "end": 0, "entity": "X"}]}).encode()
    intake = Intake("labels", 0, PLAN)
    outputs = fold(intake, GOOD, b"{", bad_span, None, b'{"doc_id": "a", "spans": []}', GOOD)

    letters = [msgspec.json.decode(o.value or b"", type=DeadLetter) for o in outputs if o.channel == "dead_letters"]
    assert [(letter.topic, letter.offset, letter.reason) for letter in letters] == [
        ("labels", 1, "not_json"),
        ("labels", 2, "bad_span"),
        ("labels", 4, "annotator"),
    ]
    assert counts(intake) == {
        (FIRST_DAY, "dead_letters", "labels/not_json"): 1,
        (FIRST_DAY, "dead_letters", "labels/bad_span"): 1,
        (FIRST_DAY, "dead_letters", "labels/annotator"): 1,
        (FIRST_DAY, "tombstones", "labels"): 1,
        (FIRST_DAY, "labels_read", ""): 2,
    }


def test_records_below_the_position_are_skipped() -> None:
    """In the next chunk, in a shorter one, or twice in one."""
    intake = Intake("labels", 0, PLAN)
    fold(intake, GOOD, GOOD)

    assert fold(intake, GOOD, GOOD) + fold(intake, GOOD) == []
    assert intake.position("labels") == 2
    assert counts(intake) == {(FIRST_DAY, "labels_read", ""): 2}


def test_head_restores_position_and_counts() -> None:
    """Whoever opens the partition publishes every day again, and reads on."""
    intake = Intake("labels", 0, PLAN)
    fold(intake, GOOD)
    fold(intake, b"{", first=1, at_ms=AT_MS + DAY_MS)
    again = Intake("labels", 0, PLAN, intake.head())

    assert (2, intake.head()) == (again.position("labels"), again.head())
    assert counts(intake) == counts(again)
    again.settle()
    assert counts(again) == {}


def test_days_beyond_the_horizon_are_dropped() -> None:
    """Their counts go, and so does their row on the topic."""
    intake = Intake("labels", 0, PLAN)
    fold(intake, GOOD)
    intake.settle()
    later = FIRST_DAY + PLAN.horizon_days + 1
    fold(intake, GOOD, first=1, at_ms=later * DAY_MS)

    assert {(later, "labels_read", ""): 1} == counts(intake)
    assert [(FIRST_DAY, True), (later, False)] == [(read_key(o.key).day, o.value is None) for o in intake.tallies()]


def test_time_in_another_unit_is_the_current_day() -> None:
    """Nor is a negative time passed on, which no producer takes."""
    intake = Intake("labels", 0, PLAN)
    fold(intake, GOOD)
    outputs = fold(intake, GOOD, first=1, at_ms=-1) + fold(intake, GOOD, first=2, at_ms=AT_MS * 1000)

    assert [o.timestamp_ms for o in outputs] == [FIRST_DAY * DAY_MS] * 2
    assert counts(intake) == {(FIRST_DAY, "labels_read", ""): 3}


@pytest.mark.parametrize("head", [b"", b"\xc1", msgspec.msgpack.encode((2, 5, []))])
def test_head_of_another_format_is_a_state_error(head: bytes) -> None:
    """It names the partition."""
    with pytest.raises(StateError, match="labels/0"):
        Intake("labels", 0, PLAN, head)


def test_new_partition_has_no_position() -> None:
    """Nothing was read yet; its head says so too."""
    intake = Intake("labels", 0, PLAN)

    assert intake.position("labels") is None
    assert Intake("labels", 0, PLAN, intake.head()).position("labels") is None
