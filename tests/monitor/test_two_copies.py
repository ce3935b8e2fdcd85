"""Two people are asked about a known share of the texts, and an answer counts for the copy whose task it names."""

from __future__ import annotations

import msgspec
import pytest
from drawn import WEEK_S, label, opened, sampled
from hypothesis import given
from hypothesis import strategies as st
from pairs import ANNA, UTRECHT, answer_to, asked_twice, blind, read_twice, say, truth_of

from monitor.contribution import Rule, contribution
from monitor.document import Document, task_id
from monitor.entities import Aliases
from monitor.errors import BadSpan
from monitor.records import Span
from monitor.tally import EntryKey


def test_two_blind_tasks_go_out_and_neither_shows_a_span() -> None:
    """Different ids, one text, the same deadline; no word of what the detector found."""
    tasks = Document(0).draw(sampled(spans=[ANNA]), WEEK_S, 2)

    assert [(task.copy, task.copies, task.kind) for task in tasks] == [(1, 2, "label"), (2, 2, "label")]
    assert len({task.task_id for task in tasks}) == 2
    assert {(task.text, task.due_at) for task in tasks} == {("Anna at Utrecht", 1000.0 + WEEK_S)}
    assert all({"spans", "readings"}.isdisjoint(msgspec.to_builtins(task)) for task in tasks)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_share_of_the_texts_is_read_twice_whatever_is_in_them(share: float) -> None:
    """By the task's id: as many of texts that hold something as of others, and the row remembers the share."""
    for text in ("Anna at Utrecht", "nothing in here"):
        documents = [Document(0) for _ in range(2000)]
        sent = [d.draw(sampled(f"{n}", text=text), WEEK_S, 2, share) for n, d in enumerate(documents)]
        twice = [d.texts[0].twice for d in documents]

        assert [len(tasks) for tasks in sent] == [1 if one is None else 2 for one in twice]
        assert {one.share for one in twice if one is not None} == {share}
        assert abs(sum(one is not None for one in twice) / 2000 - share) < 0.045  # four standard deviations


def test_one_copy_asks_one_person_and_keeps_no_word() -> None:
    """As ever; a share then means nothing."""
    document = Document(0)
    tasks = document.draw(sampled(), WEEK_S, 1, 0.5)

    assert [(task.copy, task.copies) for task in tasks] == [(1, 1)]
    assert document.texts[0].twice is None
    assert b"Anna" not in msgspec.msgpack.encode(document)


def test_answers_are_tied_to_the_copy_they_name() -> None:
    """The first copy's is the first reading and the truth, whichever came first."""
    document = asked_twice()

    assert say(document, 2, "bo", ANNA, UTRECHT) == "joined"
    assert (truth_of(document), blind(document)) == (("bo", 2), None)
    assert say(document, 1, "ann", ANNA) == "joined"
    assert (truth_of(document), blind(document)) == (("ann", 1), [("ann", 1), ("bo", 2)])


def test_same_annotator_is_no_second_reader() -> None:
    """Counted and kept beside; another one still may read that copy."""
    document = asked_twice()
    outcomes = [say(document, 1, "ann", ANNA), say(document, 2, "ann", UTRECHT)]

    assert outcomes == ["joined", "same_annotator"]
    assert (truth_of(document), blind(document)) == (("ann", 1), None)
    assert [a.annotator for a in document.texts[0].answers] == ["ann", "ann"]
    assert say(document, 2, "ann", UTRECHT) == "duplicate"
    assert say(document, 2, "bo") == "joined"
    assert blind(document) == [("ann", 1), ("bo", 0)]


def test_same_annotator_counts_for_the_other_copy_once_the_first_is_withdrawn() -> None:
    """Then it's sent once more; until then it's the only answer there is, and the truth."""
    document = asked_twice()
    for copy in (1, 2):
        say(document, copy, "ann", *[ANNA] * copy)
    say(document, 1, "ann", revision=1, status="skipped")

    assert truth_of(document) == ("ann", 2)
    assert say(document, 2, "ann", ANNA, revision=1) == "joined"
    assert say(document, 1, "bo") == "joined"
    assert blind(document) == [("bo", 0), ("ann", 1)]


def test_third_annotator_is_extra_and_takes_over_when_a_reader_withdraws() -> None:
    """For that copy alone."""
    document = asked_twice()
    outcomes = [say(document, copy, who) for copy, who in ((1, "ann"), (2, "bo"), (2, "cem"))]
    before = blind(document)
    say(document, 2, "bo", revision=1, status="skipped")

    assert outcomes == ["joined", "joined", "extra"]
    assert before == [("ann", 0), ("bo", 0)]
    assert blind(document) == [("ann", 0), ("cem", 0)]


def test_reader_of_one_copy_who_takes_over_the_other_makes_no_pair() -> None:
    """Two answers of one person, whatever the order they came to count in."""
    document = asked_twice()
    outcomes = [say(document, copy, who) for copy, who in ((1, "ann"), (1, "bo"), (2, "bo"))]
    before = blind(document)
    say(document, 1, "ann", revision=1, status="skipped")

    assert outcomes == ["joined", "extra", "joined"]
    assert (before, blind(document)) == ([("ann", 0), ("bo", 0)], None)


def test_skipped_copy_is_no_second_reading() -> None:
    """No pair, and the document keeps the number that one reading gives."""
    document = asked_twice()
    outcomes = [say(document, 1, "ann", ANNA), say(document, 2, "bo", status="skipped")]

    assert outcomes == ["joined", "skipped"]
    assert (truth_of(document), blind(document)) == (("ann", 1), None)
    assert say(document, 2, "cem") == "joined"
    assert blind(document) == [("ann", 1), ("cem", 0)]


@pytest.mark.parametrize("named", [False, True])
def test_labels_of_no_copy_count_in_order_of_arrival(named: bool) -> None:  # noqa: FBT001  # a case
    """Of a corpus: without an id, or with the text's; the same annotator revises what they said."""
    document = asked_twice()
    given = task_id("a", document.texts[0].digest, "label", 0) if named else ""
    said = (("ann", 0, 1), ("ann", 0, 1), ("ann", 1, 2), ("bo", 0, 0), ("cem", 0, 0))
    outcomes = [
        document.answer(label(annotator=who, revision=revision, spans=[ANNA] * spans, task_id=given), 0)
        for who, revision, spans in said
    ]

    assert outcomes == ["joined", "duplicate", "revised", "joined", "extra"]
    assert blind(document) == [("ann", 2), ("bo", 0)]


def test_labels_before_their_document_are_joined_to_their_copies() -> None:
    """A task goes out for the copy that nobody has read."""
    other = asked_twice()
    document = Document(0)
    document.answer(answer_to(other, 2, "bo", ANNA), 0)
    tasks = document.draw(sampled(), WEEK_S, 2)

    assert [(task.copy, task.kind) for task in tasks] == [(1, "label")]
    assert (truth_of(document), document.outcomes) == (("bo", 1), {"joined": 1})


def test_sixteen_answers_leave_room_for_a_second_reading() -> None:
    """One that no estimate reads makes room; a seventeenth that would be extra isn't kept."""
    document = asked_twice()
    for n in range(17):
        say(document, 1, f"{n}", ANNA)

    assert len(document.texts[0].answers) == 16
    assert say(document, 2, "bo") == "joined"
    assert (len(document.texts[0].answers), blind(document)) == (16, [("0", 1), ("bo", 0)])


def test_row_of_a_text_read_twice_goes_there_and_back() -> None:
    """Copies, share, words and all."""
    document = asked_twice(0.9999999)
    say(document, 1, "ann", ANNA)

    assert document == msgspec.msgpack.decode(msgspec.msgpack.encode(document), type=Document)


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from("abc"), st.integers(0, 2), st.booleans()), max_size=12
    )
)
def test_records_that_are_sent_again_change_nothing(said: list[tuple[int, str, int, bool]]) -> None:
    """Whatever was answered, by whom and in what order: the second time round it leaves the row as it is."""
    document = asked_twice()
    labels = [
        answer_to(document, copy, who, ANNA, revision=revision, status="submitted" if submitted else "skipped")
        for copy, who, revision, submitted in said
    ]
    for n, one in enumerate(labels):
        document.answer(one, float(n), (0, n))
    before = msgspec.msgpack.encode(document)
    again = [document.answer(one, float(n), (0, n)) for n, one in enumerate(labels)]

    assert (again, before) == ([None] * len(labels), msgspec.msgpack.encode(document))
    pair = document.texts[0].pair
    assert pair is None or pair[0].annotator != pair[1].annotator


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.booleans()), max_size=12),
)
def test_every_label_is_counted_once_and_truth_is_never_lost(said: list[tuple[str, int, bool]]) -> None:
    """With two copies as with one: a text has a truth as long as anybody's answer stands, and outcomes add up."""
    once, twice = opened(), asked_twice()
    for who, revision, submitted in said:
        one = label(annotator=who, revision=revision, spans=[], status="submitted" if submitted else "skipped")
        once.answer(one, 0)
        twice.answer(one, 0)

    assert sum(once.outcomes.values()) == sum(twice.outcomes.values()) == len(said)
    assert (once.texts[0].truth is None) == (twice.texts[0].truth is None)


def test_span_that_the_text_can_not_have_leaves_both_copies_as_they_were() -> None:
    """Refused whichever copy it answers."""
    document = asked_twice()
    before = msgspec.msgpack.encode(document.texts)
    for copy in (1, 2, 0):
        with pytest.raises(BadSpan):
            say(document, copy, "ann", Span(0, 99, "X"))

    assert before == msgspec.msgpack.encode(document.texts)


def test_text_that_two_read_wakes_nobody_before_both_have_read_it() -> None:
    """What the second reader or the adjudicator strikes out is no miss; until then all that's detected is right."""

    def entered(document: Document) -> set[tuple[int, int, int]]:
        rule = Rule(Aliases().fold, 0.45)
        keys = [key for _, key, _ in contribution(document, rule) if isinstance(key, EntryKey) and key.entity == "any"]
        return {(key.t, key.y, key.labelled) for key in keys}

    document = asked_twice(spans=[ANNA], floors=(0.5, 0.1))
    assert entered(document) == {(1, 1, 0)}
    say(document, 1, "ann", ANNA, UTRECHT)
    assert entered(document) == {(1, 1, 0)}
    say(document, 2, "bo", ANNA)
    document.adjudicate("a", 9e9)
    assert entered(document) == {(1, 1, 0)}
    say(document, 0, "cleo", ANNA)
    assert entered(document) == {(1, 1, 1)}

    agreed = read_twice((ANNA, UTRECHT), (ANNA, UTRECHT), spans=[ANNA], floors=(0.5, 0.1))
    agreed.adjudicate("a", 9e9)
    assert entered(agreed) == {(1, 2, 1)}
