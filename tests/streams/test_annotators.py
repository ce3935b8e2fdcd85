"""Simulated annotators err as seldom as people do, and the same way each time."""

from __future__ import annotations

import pytest

from monitor.records import Label, Span, Task
from streams.annotators import EXACT, Annotators, Habits

TEXT = "Anna Lee called from 030 1234567 about 12 May."
SPANS = [Span(0, 8, "PERSON"), Span(21, 32, "PHONE_NUMBER"), Span(39, 45, "DATE_OF_BIRTH")]
COUNT = 3000
TRUTH = {f"d{i}": SPANS for i in range(COUNT)}


def task(i: int) -> Task:
    """Return the task about document i."""
    return Task(f"t{i}", f"d{i}", 1, 1, "label", "en", TEXT, 0.0)


@pytest.fixture(scope="module")
def answers() -> list[Label]:
    """Return the answers to many tasks about the same text."""
    people = Annotators(1, TRUTH)
    return [people.answer(task(i)) for i in range(COUNT)]


def test_an_answer_repeats_for_the_same_seed_and_task(answers: list[Label]) -> None:
    """Order and company don't matter; another seed is another run."""
    again = Annotators(1, TRUTH)
    assert [again.answer(task(i)) for i in reversed(range(COUNT))] == answers[::-1]
    assert [Annotators(2, TRUTH).answer(task(i)) for i in range(COUNT)] != answers
    assert again.delay_s(task(7)) == Annotators(1, TRUTH).delay_s(task(7))


def test_a_few_spans_are_overlooked_and_a_few_tasks_skipped(answers: list[Label]) -> None:
    """1 to 2 % of spans are missing, 1 to 3 % of tasks come back without an answer."""
    submitted = [a for a in answers if a.status == "submitted"]
    missing = 1 - sum(len(a.spans) for a in submitted) / (3 * len(submitted))
    assert 0.01 <= missing <= 0.02
    assert 0.01 <= 1 - len(submitted) / COUNT <= 0.03
    assert all(a.spans == [] for a in answers if a.status == "skipped")


def test_a_slip_is_small_and_stays_inside_the_text(answers: list[Label]) -> None:
    """A boundary is off by a letter or two, never beyond the text, and most are exact."""
    marked = [span for a in answers for span in a.spans]
    off = [span for span in marked if span not in SPANS]
    assert 0.01 <= len(off) / len(marked) <= 0.02
    true = {span.entity: span for span in SPANS}
    for span in off:
        assert 0 <= span.start < span.end <= len(TEXT)
        assert abs(span.start - true[span.entity].start) + abs(span.end - true[span.entity].end) <= 2


def test_everybody_gets_tasks(answers: list[Label]) -> None:
    """No annotator is idle, and a label names its task and document."""
    assert {a.annotator for a in answers} == {"amara", "bram", "celia"}
    assert [(a.task_id, a.doc_id) for a in answers] == [(f"t{i}", f"d{i}") for i in range(COUNT)]


def test_exact_annotators_return_the_truth() -> None:
    """Labels that people made are passed on as they are."""
    people = Annotators(1, TRUTH, EXACT, names=("gold",))
    assert people.answer(task(1), 12.0) == Label("d1", "gold", SPANS, "t1", labelled_at=12.0)


def test_a_document_without_a_known_truth_is_skipped() -> None:
    """Nothing known is no answer; nothing there is one."""
    people = Annotators(1, {"d1": []}, EXACT)
    assert people.answer(task(1)).status == "submitted"
    assert people.answer(task(2)).status == "skipped"


def test_delays_have_the_median_asked_for_and_a_bounded_tail() -> None:
    """Half of the answers come sooner than the median, none later than ten times it."""
    people = Annotators(1, TRUTH, median_s=2.0)
    delays = sorted(people.delay_s(task(i)) for i in range(1001))
    assert 1.8 < delays[500] < 2.2
    assert 0 < delays[0] < 0.5
    assert 8 < delays[-1] <= 20


@pytest.mark.parametrize("span", [Span(0, 1, "X"), Span(len(TEXT) - 1, len(TEXT), "X")])
def test_a_slip_never_empties_a_span(span: Span) -> None:
    """A span of one letter at either end of the text stays a span of the text."""
    people = Annotators(1, {doc_id: [span] for doc_id in TRUTH})
    marked = [s for i in range(COUNT) for s in people.answer(task(i)).spans]
    assert all(0 <= s.start < s.end <= len(TEXT) for s in marked)


def copies_of(i: int) -> list[Task]:
    """Return the tasks of a text that two people read, its adjudication last."""
    asked = [Task(f"t{i}-{copy}", f"d{i}", copy, 2, "label", "en", TEXT, 0.0) for copy in (1, 2)]
    return [*asked, Task(f"t{i}-0", f"d{i}", 0, 2, "adjudicate", "en", TEXT, 0.0, [SPANS, []])]


@pytest.mark.parametrize("names", [("jo", "kim"), ("amara", "bram", "celia"), ("a", "b", "c", "d")])
def test_two_copies_go_to_two_people_and_an_adjudication_to_a_third(names: tuple[str, ...]) -> None:
    """Nobody reads a text twice as long as there are enough; everybody reads first copies and second ones."""
    people = Annotators(1, TRUTH, names=names)
    who = [[people.answer(one).annotator for one in copies_of(i)] for i in range(300)]

    assert {len(set(three)) for three in who} == {min(len(names), 3)}
    assert all(first != second for first, second, _ in who)
    assert [set(names)] * 3 == [set(each) for each in zip(*who, strict=True)]


def test_an_adjudication_is_answered_with_the_truth() -> None:
    """However careless the readers are; what nobody knows is skipped."""
    people = Annotators(1, {"d1": SPANS}, Habits(0.9, 0.9, 0.9))
    adjudications = [copies_of(i)[-1] for i in (1, 2)]

    assert [people.answer(one).spans for one in adjudications] == [SPANS, []]
    assert [people.answer(one).status for one in adjudications] == ["submitted", "skipped"]
