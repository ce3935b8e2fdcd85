"""The life of a drawn document: put in once a version, asked about once a text, and what came of the answers."""

from __future__ import annotations

import msgspec
import pytest
from drawn import WEEK_S, label, opened, sampled

from monitor.document import Document, Text, task_id
from monitor.errors import BadSpan
from monitor.records import Span


def test_drawn_document_asks_for_one_label_and_shows_no_span() -> None:
    """The task holds text, language and deadline; its id says nothing and is the same when it's sent again."""
    (task,) = Document(0).draw(sampled(spans=[Span(0, 4, "PERSON")]), WEEK_S, 1)

    assert [task] == Document(0).draw(sampled(), WEEK_S, 1)
    assert (
        task.doc_id,
        task.kind,
        task.lang,
        task.text,
        task.due_at,
    ) == ("a", "label", "nl", "Anna at Utrecht", 1000.0 + WEEK_S)
    assert "spans" not in msgspec.to_builtins(task)


def test_task_ids_differ_by_document_and_text() -> None:
    """Two documents of one text are two tasks, and so are two texts of one document."""
    ids = {task_id(doc, digest, "label", 1) for doc in ("a", "b") for digest in ("x", "y")}

    assert len(ids) == 4


def test_next_version_shares_the_task_of_its_text() -> None:
    """One person reads the text once, whoever detected in it."""
    document = opened()

    assert document.draw(sampled(version="2"), WEEK_S, 1) == []
    assert (len(document.texts), len(document.texts[0].drawn)) == (1, 2)


def test_changed_text_is_asked_about_anew() -> None:
    """Offsets of one text mean nothing in another."""
    document = opened()

    assert document.draw(sampled(version="2", text="another"), WEEK_S, 1) != []
    assert len(document.texts) == 2


@pytest.mark.parametrize(
    ("first", "second", "repeats"), [((0, 5), (0, 5), 0), ((0, 5), (0, 6), 1), ((0, 5), (3, 1), 1), (None, None, 1)]
)
def test_repeat_is_counted_where_a_producer_wrote_twice(
    first: tuple[int, int] | None, second: tuple[int, int] | None, repeats: int
) -> None:
    """What ROUTE sent again after a crash has the place of before, and is nothing new."""
    document = opened(origin=first)

    assert document.draw(sampled(origin=second), WEEK_S, 1) == []
    assert repeats == document.outcomes.get("repeat", 0)


def test_first_annotator_whose_answer_was_submitted_counts() -> None:
    """A second one's is extra; it takes over when the first one withdraws."""
    document = opened()
    outcomes = [
        document.answer(label(status="skipped", annotator="ann"), 0),
        document.answer(label(), 0),
        document.answer(label(annotator="bo", spans=[]), 0),
        document.answer(label(revision=1, status="skipped"), 0),
    ]

    assert outcomes == ["skipped", "joined", "extra", "skipped"]
    assert truth_of(document) == "bo"


def truth_of(document: Document) -> str | None:
    """Return whose answer counts."""
    truth = document.texts[0].truth
    return None if truth is None else truth.annotator


def test_answer_knows_when_it_came() -> None:
    """That of a label that waited is when it came and not when it was joined."""
    document = Document(0)
    document.answer(label(), 5.0)
    document.draw(sampled(), WEEK_S, 1)
    document.answer(label(annotator="bo"), 7.0)

    assert [answer.at for answer in document.texts[0].answers] == [5.0, 7.0]


def test_row_of_before_there_were_copies_is_read() -> None:
    """What was added since stands at the end and has a default: one copy, and a time of nothing known."""
    document = opened()
    document.answer(label(), 5.0)
    older = msgspec.msgpack.decode(msgspec.msgpack.encode(document))
    text = older[3][0] = older[3][0][:8]
    text[7] = [answer[:4] for answer in text[7]]
    found = msgspec.msgpack.decode(msgspec.msgpack.encode(older), type=Document).texts[0]

    assert (found.twice, [(a.annotator, a.copy, a.at) for a in found.answers]) == (None, [("jo", 1, 0.0)])


def test_label_that_names_a_text_and_no_copy_is_its_answer() -> None:
    """A corpus says which text it's about; so does a task of two copies where one is asked by now."""
    for kind, copy in (("label", 0), ("label", 2), ("adjudicate", 0)):
        document = opened()
        document.draw(sampled(version="2", text="another text"), WEEK_S, 1)
        given = task_id("a", document.texts[0].digest, kind, copy)

        assert document.answer(label(task_id=given), 0) == "joined"
        assert [text.truth is None for text in document.texts] == [False, True]


def test_higher_revision_replaces_and_others_are_duplicates() -> None:
    """The newest revision counts, in whatever order they come."""
    document = opened()
    outcomes = [document.answer(label(revision=r, spans=[Span(0, r + 1, "X")]), 0) for r in (1, 0, 1, 2)]

    assert outcomes == ["joined", "duplicate", "duplicate", "revised"]
    assert document.texts[0].answers[0].spans == [(0, 3, "X")]


def test_skipped_task_that_is_answered_later_is_joined() -> None:
    """A skip is no answer."""
    document = opened()
    outcomes = [document.answer(label(status=s, revision=r), 0) for r, s in enumerate(("skipped", "submitted"))]

    assert outcomes == ["skipped", "joined"]
    assert truth_of(document) == "jo"


@pytest.mark.parametrize(("at", "late"), [(1000.0 + WEEK_S, 0), (1000.5 + WEEK_S, 1)])
def test_late_label_is_joined_and_counted_late(at: float, late: int) -> None:
    """The deadline itself is in time; a revision of an answer in time is never late."""
    document = opened()
    outcomes = [document.answer(label(), at), document.answer(label(revision=1), at + WEEK_S)]

    assert outcomes == ["joined", "revised"]
    assert late == document.outcomes.get("late", 0)


@pytest.mark.parametrize("spans", [[Span(0, 16, "X")], [Span(4, 5, "X")], [Span(0, 4, "X"), Span(14, 99, "X")]])
def test_rejected_label_leaves_the_document_as_it_was(spans: list[Span]) -> None:
    """Beyond the text or on white space alone: nothing has changed but the count of it."""
    document, untouched = opened(), opened()
    with pytest.raises(BadSpan, match="spans"):
        document.answer(label(spans=spans), 0)

    untouched.count("rejected")
    assert untouched == document


def test_label_before_its_document_waits_for_it() -> None:
    """Then it's joined at once, no task is sent, and it's as late as it was when it came."""
    document = Document(0)
    outcome = document.answer(label(), 2000.0 + WEEK_S)

    assert (outcome, document.waiting) == ("orphan", "orphan")
    assert document.draw(sampled(), WEEK_S, 1) == []
    assert (truth_of(document), document.early, document.outcomes) == ("jo", [], {"joined": 1, "late": 1})


def test_drawn_document_expires_with_its_draw_and_not_with_its_label() -> None:
    """A label that waited doesn't keep the row longer than the window needs it."""
    document = Document(9)
    document.answer(label(), 0)
    document.draw(sampled(day=3), WEEK_S, 1)
    first = document.day
    document.draw(sampled(day=5, version="2"), WEEK_S, 1)

    assert (first, document.day) == (3, 5)


def test_label_of_a_text_that_is_not_there_yet_waits_for_that_text() -> None:
    """After a crash the label may be read before the changed text that it's about."""
    document, other = opened(), opened(text="another text")
    about_other = label(task_id=other.texts[0].task_id)

    assert document.answer(about_other, 0) == "other_task"
    assert document.texts[0].truth is None
    assert document.draw(sampled(version="1.5", text="a third"), WEEK_S, 1) != []
    assert document.draw(sampled(version="2", text="another text"), WEEK_S, 1) == []
    assert ([t.truth and t.truth.annotator for t in document.texts], document.early) == ([None, None, "jo"], [])


def test_label_without_a_task_is_about_the_newest_text() -> None:
    """A tool that passes no task id on."""
    document = opened()
    document.draw(sampled(version="2", text="another text"), WEEK_S, 1)
    document.answer(label(), 0)

    assert [text.truth is None for text in document.texts] == [True, False]


def test_no_word_of_the_text_is_kept_and_a_blank_label_is_refused_whenever_it_comes() -> None:
    """The row tells where the text is white space, before the answer and after it."""
    document = opened()
    assert b"Anna" not in msgspec.msgpack.encode(document)
    for revision in (0, 1):
        with pytest.raises(BadSpan):
            document.answer(label(revision=revision, spans=[Span(4, 5, "PERSON")]), 0)
        document.answer(label(revision=revision), 0)


def test_label_that_intake_sent_again_changes_nothing() -> None:
    """Joined, rejected, waiting or replaced: at the same place it was taken before."""
    document = Document(0)
    for _ in range(2):
        document.answer(label(annotator="early"), 0, (0, 1))
    document.draw(sampled(), WEEK_S, 1)
    document.answer(label(), 0, (0, 2))
    document.answer(label(revision=1), 0, (0, 3))
    with pytest.raises(BadSpan):
        document.answer(label(spans=[Span(0, 99, "X")]), 0, (0, 4))
    before = msgspec.msgpack.encode(document)
    again = [document.answer(label(revision=r), 0, (0, o)) for r, o in ((0, 2), (1, 3))]
    with pytest.raises(BadSpan):
        document.answer(label(spans=[Span(0, 99, "X")]), 0, (0, 4))

    assert again == [None, None]
    assert before == msgspec.msgpack.encode(document)


def test_tool_that_sends_a_label_twice_is_counted() -> None:
    """It comes from another place, so somebody said the same thing twice."""
    document = opened()

    assert [document.answer(label(), 0, (0, offset)) for offset in (2, 3)] == ["joined", "duplicate"]


def test_waiting_labels_are_bounded_and_the_oldest_is_counted_out() -> None:
    """A tool that goes on labelling what nobody asked for can't make a row grow for ever."""
    document = Document(0)
    for revision in range(70):
        document.answer(label(revision=revision), 0)

    assert (len(document.early), document.outcomes["orphan"]) == (64, 6)
    assert document.early[-1].label.revision == 69


def test_row_goes_there_and_back() -> None:
    """What the table keeps is the document."""
    document = opened(spans=[Span(0, 4, "PERSON")])
    document.answer(label(), 5)
    document.answer(label(task_id="another"), 6)

    assert document == msgspec.msgpack.decode(msgspec.msgpack.encode(document), type=Document)
    assert isinstance(document.texts[0], Text)
