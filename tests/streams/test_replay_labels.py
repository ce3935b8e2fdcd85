"""The people of a replay: whose answer a task gets, when it comes, and how many come in a day."""

from __future__ import annotations

import msgspec
import pytest
from replays import ANNA, BO, TEXT, corpus_line, label, spans_of

from monitor.document import DAY_S, task_id, text_digest
from monitor.entities import Aliases
from monitor.records import Label, Span
from monitor.sizes import Limits
from streams.replay_labels import AnswerQueue, Truth, has_miss

TASKS = [f"task {i}" for i in range(400)]


def answer(task: str) -> Label:
    """Return an empty answer to a task."""
    return Label("a", "jo", [], task)


def truth(*lines: bytes, annotators: tuple[str, ...] = ()) -> Truth:
    """Return what these lines say."""
    found = Truth(Limits(), annotators)
    found.read(lines)
    return found


# -- truth -------------------------------------------------------------------------------------------------------------


def test_a_text_has_its_own_readers_labels() -> None:
    """In the order of the lines; another text's under the same id aren't among them."""
    known = truth(corpus_line(annotator="kim"), corpus_line(text="other", annotator="lu"), label(annotator="jo"))
    assert [found.annotator for found in known.of("a", TEXT)] == ["kim", "jo"]
    assert (known.of("a", "third"), known.of("b", TEXT)) == (known.of("a", "fourth"), [])


def test_an_answer_to_another_texts_task_is_left_out() -> None:
    """A label record that names a task is about that task's text."""
    mine = label(annotator="jo", task_id=task_id("a", text_digest(TEXT), "label", 1))
    copy = label(annotator="kim", task_id=task_id("a", text_digest(TEXT), "label", 2))
    other = label(annotator="lu", task_id=task_id("a", text_digest("other"), "label", 1))
    assert [found.annotator for found in truth(mine, copy, other).of("a", TEXT)] == ["jo", "kim"]


def test_the_highest_revision_stays() -> None:
    """Whichever comes first; of equal ones the first."""
    lines = [label(spans=[ANNA], revision=1), label(spans=[BO]), label(spans=[BO], revision=1)]
    (found,) = truth(*lines).of("a", TEXT)
    assert msgspec.to_builtins(found.spans) == spans_of([ANNA])


def test_what_does_not_count_is_counted() -> None:
    """Lines and labels that can't be read, by reason, and annotators who weren't chosen."""
    known = Truth(Limits(), ["jo"])
    lines = [b"{", corpus_line(spans=[(3, 2, "X")]), corpus_line(annotator="kim"), corpus_line("b")]
    assert known.read(lines) == 1
    assert (known.refused, known.not_chosen) == ({"not_json": 1, "bad_span": 1}, 1)


# -- when --------------------------------------------------------------------------------------------------------------


def delays(least: float, most: float, *, missed: bool, key: str = "k") -> list[float]:
    """Return after how many days each task is answered, where people have all the time in the world."""
    queue = AnswerQueue((least, most), None, key)
    for task in TASKS:
        queue.ask(answer(task), 10 * DAY_S, missed=missed)
    given = {found.task_id: at_s / DAY_S - 10 for found, at_s in queue.answers(0, 1e9)}
    return [given[task] for task in TASKS]


def test_answers_come_between_the_least_and_the_most_days() -> None:
    """Spread over all of it, the same each time, and otherwise with another key."""
    found = delays(1, 5, missed=False)
    quarters = [sum(1 + i <= days < 2 + i for days in found) for i in range(4)]
    assert sum(quarters) == len(found)
    assert min(quarters) > 60
    assert found == delays(1, 5, missed=False)
    assert found != delays(1, 5, missed=False, key="other")


def test_answers_to_what_was_missed_are_slower() -> None:
    """From the upper half alone, and each no sooner than it would have been."""
    sooner, later = delays(1, 5, missed=False), delays(1, 5, missed=True)
    assert min(later) >= 3
    assert max(later) < 5
    assert [days / 2 + 2.5 for days in sooner] == pytest.approx(later)


def test_without_a_delay_an_answer_comes_at_once() -> None:
    """At the moment of the draw."""
    assert set(delays(0, 0, missed=True)) == {0.0}


def test_annotators_get_through_so_many_a_day() -> None:
    """The oldest task first, however late its answer was due; what's left is for the days after."""
    queue = AnswerQueue((0, 0), 2, "k")
    for task, drawn_s in (("new", 30), ("oldest", 10), ("old", 20), ("tomorrow's", DAY_S + 5)):
        queue.ask(answer(task), drawn_s, missed=False)
    days = [queue.answers(day * DAY_S, (day + 1) * DAY_S) for day in range(3)]
    assert [[(found.task_id, at_s) for found, at_s in day] for day in days] == [
        [("oldest", 10), ("old", 20)],
        [("new", DAY_S), ("tomorrow's", DAY_S + 5)],
        [],
    ]


def test_an_answer_is_not_given_before_it_is_due() -> None:
    """Until then the task is open."""
    queue = AnswerQueue((2, 2), None, "k")
    queue.ask(answer("t"), 0, missed=False)
    assert [(len(queue.answers(day * DAY_S, (day + 1) * DAY_S)), queue.open) for day in range(3)] == [
        (0, 1),
        (0, 1),
        (1, 0),
    ]


# -- what was missed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        ([ANNA, BO], False),
        ([ANNA, BO, (12, 14, "X")], False),
        ([(0, 4, "per"), BO], False),
        ([ANNA], True),
        ([ANNA, (9, 11, "EMAIL")], True),
        ([(0, 20, "PERSON")], True),
    ],
)
def test_a_miss_is_a_labelled_span_that_nothing_matches(found: list[tuple[int, int, str]], missed: bool) -> None:  # noqa: FBT001  # what is expected
    """As the ledger will count it: same entity under any of its names, one to one, enough overlap."""
    true, detected = ([Span(*extent) for extent in extents] for extents in ([ANNA, BO], found))
    assert has_miss(true, detected, Aliases(), 0.45) is missed
