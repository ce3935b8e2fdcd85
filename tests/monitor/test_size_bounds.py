"""Nothing that is kept or sent on is unbounded: each bound on both sides, and the largest record and row."""

from __future__ import annotations

import json

import msgspec
import pytest
from drawn import WEEK_S, label, opened, sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config, Sampling
from monitor.decoding import decode_decision, decode_label
from monitor.document import LARGEST_ROW, Document
from monitor.errors import BadField, BadSpan, RecordError, TooLarge
from monitor.fold import Output
from monitor.intake import Intake
from monitor.leaks.coverage import Coverage
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.records import Record, Span
from monitor.route import Change, Route
from monitor.salvage import Quarantine, salvage_decision, salvage_label
from monitor.sizes import LARGEST_LABEL, Limits

TAKEN = 8 << 20
"""Bytes of a record that topics and producer take."""
COUNTERS = 512
"""Bytes that a row's counters may grow by after it was measured."""
LIMITS = Limits(max_text_bytes=1000)
DECISION: dict[str, object] = {
    "doc_id": "a",
    "lang": "nl",
    "text": "Anna",
    "detector": "d",
    "version": "1",
    "spans": [{"start": 0, "end": 4, "entity": "PERSON"}],
}
LABEL: dict[str, object] = {"doc_id": "a", "annotator": "jo", "spans": [{"start": 0, "end": 4, "entity": "PERSON"}]}
WIDE = "\N{GRINNING FACE}"


def written(record: dict[str, object], **changes: object) -> bytes:
    """Return a record as bytes with some fields changed, characters as they are."""
    return json.dumps({**record, **changes}, ensure_ascii=False).encode()


@pytest.mark.parametrize("field", ["doc_id", "lang", "detector", "version"])
def test_a_name_of_a_decision_has_512_characters_at_most(field: str) -> None:
    """One more, and the record is refused for that field."""
    decoded = decode_decision(written(DECISION, **{field: WIDE * 512}), LIMITS)
    assert getattr(decoded.record, field) == WIDE * 512
    with pytest.raises(BadField) as caught:
        decode_decision(written(DECISION, **{field: "x" * 513}), LIMITS)
    assert (caught.value.reason, caught.value.where) == (field, f"$.{field}")


@pytest.mark.parametrize("field", ["doc_id", "annotator", "task_id"])
def test_a_name_of_a_label_has_512_characters_at_most(field: str) -> None:
    """The same of whom and what a label names."""
    assert getattr(decode_label(written(LABEL, **{field: "x" * 512}), LIMITS), field) == "x" * 512
    with pytest.raises(BadField) as caught:
        decode_label(written(LABEL, **{field: "x" * 513}), LIMITS)
    assert caught.value.reason == field


def test_an_entity_has_256_characters_at_most() -> None:
    """A longer one is set aside in a decision, and makes a label a dead letter."""
    spans = [{"start": 0, "end": 4, "entity": "P" * length} for length in (256, 257)]
    decoded = decode_decision(written(DECISION, spans=spans, second=spans), LIMITS)
    assert decoded.record.spans == decoded.record.second == [Span(0, 4, "P" * 256)]
    expected = (Quarantine("entity", "$.spans[1].entity"), Quarantine("entity", "$.second[1].entity"))
    assert expected == decoded.quarantined
    assert decode_label(written(LABEL, spans=spans[:1]), LIMITS).spans == [Span(0, 4, "P" * 256)]
    with pytest.raises(BadSpan) as caught:
        decode_label(written(LABEL, spans=spans), LIMITS)
    assert (caught.value.where, caught.value.problem) == ("$.spans[1].entity", "entity")


@pytest.mark.parametrize(
    ("field", "longest", "longer"),
    [
        ("redacted", "x" * 2000, "x" * 2001),
        ("redacted", WIDE * 500, WIDE * 500 + "x"),
        ("channel", WIDE * 512, "x" * 513),
        ("ts", "1" * 512, "1" * 513),
    ],
)
def test_a_longer_optional_field_is_dropped_and_its_document_stays(field: str, longest: str, longer: str) -> None:
    """A redacted text may take twice the bytes of a text."""
    kept = decode_decision(written(DECISION, **{field: longest}), LIMITS)
    dropped = decode_decision(written(DECISION, **{field: longer}), LIMITS)
    assert (getattr(kept.record, field), kept.quarantined) == (longest, ())
    assert (getattr(dropped.record, field), dropped.quarantined) == (None, (Quarantine("field", f"$.{field}"),))


def test_a_label_without_its_overlong_time_is_read() -> None:
    """No estimate reads it."""
    assert decode_label(written(LABEL, labelled_at="1" * 512), LIMITS).labelled_at == "1" * 512
    assert decode_label(written(LABEL, labelled_at="1" * 513), LIMITS).labelled_at is None


def label_of(size: int, **fields: object) -> bytes:
    """Return a label that takes so many bytes as it's sent on."""
    last, long = Span(0, 1, "P"), Span(0, 1, "P" * 200)
    one, two = (len(msgspec.json.encode(label(spans=[last, *[long] * n], **fields))) for n in (1, 2))
    many, rest = divmod(size - one, two - one)
    spans = [Span(0, 1, "P" * (1 + rest)), *[long] * (1 + many)]
    value = msgspec.json.encode(label(spans=spans, **fields))
    assert size == len(value)
    return value


def test_a_label_takes_a_mebibyte_at_most_as_it_is_sent_on() -> None:
    """Both readers decide alike: what INTAKE takes in can't grow too large for LEDGER."""
    largest = label_of(LARGEST_LABEL)
    assert decode_label(largest + b" " * 100, Limits()) == decode_label(largest, Limits())
    for read in (decode_label, salvage_label):
        with pytest.raises(TooLarge) as caught:
            read(label_of(LARGEST_LABEL + 1), Limits())
        assert (caught.value.reason, caught.value.where) == ("too_large", "$")


def test_a_label_in_another_dress_is_as_large_as_it_becomes() -> None:
    """`type` is shorter than `entity`: the slow path measures what it makes of it."""
    with pytest.raises(TooLarge):
        decode_label(label_of(LARGEST_LABEL + 1).replace(b'"entity"', b'"type"'), Limits())


def lengths(bound: int) -> st.SearchStrategy[str]:
    """Draw strings about as long as a bound, of characters of one to six bytes."""
    characters = st.sampled_from(["x", "é", WIDE, "\x01", "\ud83d"])
    return st.builds(lambda c, n: c * n, characters, st.sampled_from([1, bound // 4, bound - 1, bound, bound + 1]))


@settings(deadline=None, max_examples=200)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            **{name: lengths(512) for name in ("doc_id", "lang", "detector", "version", "channel", "ts")},
            "redacted": lengths(2000),
            "spans": st.lists(lengths(256).map(lambda e: {"start": 0, "end": 4, "entity": e}), max_size=2),
        },
    )
)
def test_both_paths_bound_a_decision_alike(fields: dict[str, object]) -> None:
    """What the fast path bounds, the slow path bounds, with the same reasons and places."""
    value = json.dumps({**DECISION, **fields}).encode()
    try:
        expected: object = salvage_decision(value, LIMITS)
    except RecordError as error:
        expected = type(error), error.reason, error.where
    try:
        actual: object = decode_decision(value, LIMITS)
    except RecordError as error:
        actual = type(error), error.reason, error.where
    assert expected == actual


@settings(deadline=None, max_examples=200)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            **{name: lengths(512) for name in ("doc_id", "annotator", "task_id", "labelled_at")},
            "spans": st.lists(lengths(256).map(lambda e: {"start": 0, "end": 4, "entity": e}), max_size=2),
        },
    )
)
def test_both_paths_bound_a_label_alike(fields: dict[str, object]) -> None:
    """The same for labels."""
    value = json.dumps({**LABEL, **fields}).encode()
    try:
        expected: object = salvage_label(value, LIMITS)
    except RecordError as error:
        expected = type(error), error.reason, error.where
    try:
        actual: object = decode_label(value, LIMITS)
    except RecordError as error:
        actual = type(error), error.reason, error.where
    assert expected == actual


def row_of(document: Document) -> int:
    """Return how many bytes a row takes."""
    return len(msgspec.msgpack.encode(document))


def widest(count: int, length: int) -> list[Span]:
    """Return so many spans of different names, each of so many characters of four bytes."""
    return [Span(n, n + 1, f"{n:05d}" + WIDE * (length - 5)) for n in range(count)]


def test_sixteen_annotators_answers_are_kept_and_further_ones_are_extra() -> None:
    """One of the sixteen may still revise; sent again, a further one is nothing new."""
    document = opened()
    outcomes = [document.answer(label(annotator=f"{n}"), 0, (0, n)) for n in range(17)]
    assert (outcomes[0], set(outcomes[1:]), len(document.texts[0].answers)) == ("joined", {"extra"}, 16)
    assert document.answer(label(annotator="16"), 0, (0, 16)) is None
    assert document.answer(label(annotator="15", revision=1), 0, (0, 17)) == "revised"


def test_the_first_answer_finds_room_among_those_who_skipped() -> None:
    """Sixteen who skipped can't keep a document from being answered."""
    document = opened()
    for n in range(17):
        document.answer(label(annotator=f"{n}", status="skipped"), 0)
    assert document.outcomes == {"skipped": 16, "extra": 1}
    assert document.answer(label(), 0) == "joined"
    assert ([a.submitted for a in document.texts[0].answers]) == [False] * 15 + [True]


def test_waiting_labels_hold_twenty_thousand_spans_at_most() -> None:
    """The oldest are counted out; one alone waits, whatever its size."""
    document = Document(0)
    for revision in range(3):
        document.answer(label(revision=revision, spans=[Span(0, 5, "X")] * 10_000), 0)
    assert ([e.label.revision for e in document.early], document.outcomes) == ([1, 2], {"orphan": 1})
    document.answer(label(spans=[Span(0, 5, "X")] * 20_001), 0)
    assert (len(document.early), document.outcomes) == (1, {"orphan": 3})


def test_the_largest_first_reading_leaves_room_for_the_largest_answer() -> None:
    """Of a megabyte of text, with ten thousand of the longest names, and as many masks as a row keeps."""
    text = "a " * (1 << 19)
    apart = [(at, at + 1) for at in range(0, 1 << 20, 52)][:20_000]
    coverage = Coverage(apart, apart, [at for at, _ in apart])
    document = opened(text=text, spans=widest(10_000, 64), coverage=coverage)
    large = decode_label(label_of(LARGEST_LABEL), Limits())
    assert document.answer(large, 0) == "joined"
    assert row_of(document) <= LARGEST_ROW + COUNTERS


def test_a_row_lets_go_of_what_no_estimate_reads() -> None:
    """Labels that wait go first, then answers beside the truth; what counts stays."""
    document = opened(text="a" * 30_000, spans=widest(10_000, 64))
    large = decode_label(label_of(LARGEST_LABEL), Limits())
    document.answer(msgspec.structs.replace(large, task_id="other"), 0)
    assert len(document.early) == 1
    outcomes = [document.answer(msgspec.structs.replace(large, annotator=who), 0) for who in ("jo", "kim", "lee")]
    assert outcomes == ["joined", "extra", "extra"]
    assert ([a.annotator for a in document.texts[0].answers], document.early) == (["jo"], [])
    assert document.outcomes == {"joined": 1, "extra": 2, "other_task": 1}


def test_an_answer_without_room_is_rejected_and_a_reading_without_room_is_a_repeat() -> None:
    """Neither changes the row but for the count of it."""
    document = opened(text="a" * 30_000, spans=widest(10_000, 64))
    document.draw(sampled(version="2", text="a" * 30_000, spans=widest(4000, 64)), WEEK_S, 1)
    before = msgspec.structs.replace(document, outcomes={}, drawn_from={}, labelled_from={})
    assert document.draw(sampled(version="3", text="a" * 30_000, spans=widest(4000, 64)), WEEK_S, 1) == []
    assert document.draw(sampled(version="4", text="b" * 30_000, spans=widest(4000, 64)), WEEK_S, 1) == []
    with pytest.raises(TooLarge):
        document.answer(decode_label(label_of(LARGEST_LABEL), Limits()), 0)
    assert document.outcomes == {"repeat": 2, "rejected": 1}
    assert before == msgspec.structs.replace(document, outcomes={}, drawn_from={}, labelled_from={})
    assert document.answer(label(), 0) == "joined"


@settings(deadline=None, max_examples=15)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2), st.sampled_from([1, 3000, 10_000])),
        min_size=4,
        max_size=14,
    )
)
def test_no_row_grows_too_large(steps: list[tuple[bool, int, int, int]]) -> None:
    """Readings of several versions and texts, answers to each and to none, in any order and size."""
    document, texts = Document(0), [c * 20_000 for c in "abcd"]
    tasks = [opened(text=text).texts[0].task_id for text in texts]
    for n, (draws, which, who, count) in enumerate(steps):
        if draws:
            document.draw(sampled(version=f"{n}", text=texts[which], spans=widest(count, 64)), WEEK_S, 1)
        else:
            spans = widest(min(count, 900), 256)
            given_now = label(annotator=f"{who}", revision=n, task_id=tasks[which], spans=spans)
            try:
                document.answer(given_now, 0)
            except TooLarge:
                assert document.outcomes["rejected"] > 0
        assert row_of(document) <= LARGEST_ROW + COUNTERS


PLAN = Plan(Config(sampling=Sampling(random_rate=1.0)))


def sent(outputs: list[Output], channel: str) -> list[int]:
    """Return the sizes of what goes out on a channel."""
    return [len(output.value or b"") for output in outputs if output.channel == channel]


def test_the_largest_drawn_document_goes_out_as_a_record_that_topics_take() -> None:
    """Every character of text and redacted text a control character, which takes six bytes; the longest names."""
    control = "\x01" * (1 << 20)
    fields: dict[str, object] = dict.fromkeys(("doc_id", "lang", "detector", "version"), "\x01" * 511 + "a")
    spans = [{"start": 0, "end": 1, "entity": "P" * 256}] * 10_000
    value = written(DECISION, text=control, spans=spans, second=spans, redacted=control * 2, **fields)
    outputs = Route("decisions", 0, [Change(0, PLAN)]).fold("decisions", [Record(0, 0, value)], 1)
    assert len(outputs) == 1
    assert max(len(output.value or b"") for output in outputs) < TAKEN


def test_the_largest_labels_make_records_and_rows_that_topics_take() -> None:
    """Twenty annotators with all that a label may hold, before their document and after it."""
    intake, ledger = Intake("labels", 0, PLAN), Ledger(0, PLAN, {"sampled": "s", "labels_by_document": "l"})
    labels = [Record(n, 0, label_of(LARGEST_LABEL - 100, annotator=f"j{n:02d}")) for n in range(20)]
    outputs = intake.fold("labels", labels, 20)
    assert max(sent(outputs, "labels_by_document")) < LARGEST_LABEL + COUNTERS
    moved = [Record(n, 0, output.value) for n, output in enumerate(outputs)]
    assert ledger.fold("labels_by_document", moved[:8], 8) == []
    before = max(len(row or b"") for row in ledger.rows().values())
    drawn = msgspec.json.encode(sampled(text="a" * 20_000, spans=[Span(n, n + 1, WIDE * 64) for n in range(10_000)]))
    ledger.fold("sampled", [Record(0, 0, drawn)], 1)
    assert ledger.fold("labels_by_document", moved[8:], 20) == []
    after = max(len(row or b"") for row in ledger.rows().values())
    assert max(before, after) <= LARGEST_ROW + COUNTERS
