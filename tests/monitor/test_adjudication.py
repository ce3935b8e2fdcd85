"""Where two blind readings differ somebody settles it, once; that is the truth then, and never enters the pair."""

from __future__ import annotations

import hashlib

import msgspec
import pytest
from drawn import WEEK_S, label, sampled
from hypothesis import given
from hypothesis import strategies as st
from ledger_table import Table, drawn, labelled
from pairs import ANNA, UTRECHT, answer_to, asked_twice, blind, read_twice, say, truth_of
from traffic import CONFIG

from monitor.config import Labels
from monitor.document import LARGEST_ROW, Document
from monitor.plan import Plan
from monitor.records import Span, Task
from monitor.tally import CellKey, CountKey

DUE = 9000.0
TWICE = Plan(msgspec.structs.replace(CONFIG, labels=Labels(copies=2)))


def settled(document: Document, doc_id: str = "a") -> list[Task]:
    """Return the tasks that go out to settle it."""
    return document.adjudicate(doc_id, DUE)


def test_adjudicator_gets_the_text_and_both_readings_without_names() -> None:
    """And never what the detector found."""
    detected = Span(5, 7, "DETECTED")
    document = read_twice((ANNA,), (ANNA, UTRECHT), spans=[detected])
    (task,) = settled(document)

    assert (task.kind, task.copy, task.text, task.due_at) == ("adjudicate", 0, "Anna at Utrecht", DUE)
    assert sorted(task.readings or [], key=len) == [[ANNA], [ANNA, UTRECHT]]
    sent = msgspec.json.encode(task)
    assert not any(word in sent for word in (b"ann", b"bo", b"DETECTED"))


def test_order_of_the_readings_says_nothing_and_is_the_same_each_time() -> None:
    """Of many texts half begin with the first copy's; a task that is sent again is the same task."""

    def task(n: int) -> Task:
        text = f"Anna at Utrecht {n}"
        document = read_twice((ANNA,), (UTRECHT,), text=text)
        return settled(document)[0]

    firsts = [(task(n).readings or [])[0] == [ANNA] for n in range(200)]
    assert firsts == [(task(n).readings or [])[0] == [ANNA] for n in range(200)]
    assert 70 <= sum(firsts) <= 130


@pytest.mark.parametrize(
    "second",
    [
        (Span(0, 4, "Person"),),
        (Span(0, 5, "PERSON"),),
        (ANNA, ANNA),
    ],
    ids=["case", "trailing blank", "twice"],
)
def test_readings_that_mark_the_same_need_no_adjudication(second: tuple[Span, ...]) -> None:
    """Case, white space at the edges, order and repeats carry no opinion (AGR-3); the words are let go of."""
    document = read_twice((ANNA,), second)

    assert settled(document) == []
    assert document.texts[0].twice is not None
    assert document.texts[0].twice.words == b""
    assert truth_of(document) == ("ann", 1)


def test_agr_3_same_spans_in_another_order_with_a_trailing_space() -> None:
    """The two agree to the last letter."""
    first = (Span(9, 18, "PERSON"), Span(21, 27, "ADDRESS"))
    document = read_twice(first, (Span(21, 27, "ADDRESS"), Span(9, 19, "PERSON")), text="Contact: Joris Tak , Laan 2")

    assert settled(document) == []


def test_words_are_kept_until_the_task_is_out_and_then_gone() -> None:
    """It goes out once, whatever comes later; only who reads twice pays for the words."""
    document = asked_twice()
    twice = document.texts[0].twice
    assert twice is not None
    kept = []
    for copy, who in ((1, "ann"), (2, "bo")):
        kept.append(bool(twice.words))
        say(document, copy, who, *[ANNA] * (copy - 1))
    assert kept == [True, True]
    assert len(settled(document)) == 1
    assert (twice.words, settled(document)) == (b"", [])


def test_no_task_as_long_as_one_reading_is_missing() -> None:
    """Open or skipped."""
    document = asked_twice()
    say(document, 1, "ann", ANNA)
    assert settled(document) == []
    say(document, 2, "bo", status="skipped")
    assert settled(document) == []


def test_adjudicated_answer_replaces_the_truth_and_leaves_the_pair() -> None:
    """Before it's in, the first copy's answer counts; one of the readers may settle it too."""
    document = read_twice((ANNA,), ())
    settled(document)
    before = truth_of(document)

    assert say(document, 0, "bo", ANNA, UTRECHT) == "joined"
    assert (before, truth_of(document)) == (("ann", 1), ("bo", 2))
    assert blind(document) == [("ann", 1), ("bo", 0)]
    assert say(document, 0, "bo", revision=1) == "revised"
    assert truth_of(document) == ("bo", 0)
    assert say(document, 0, "bo", revision=2, status="skipped") == "skipped"
    assert truth_of(document) == ("ann", 1)


def test_label_revised_after_adjudication_is_counted_and_kept_beside() -> None:
    """Neither truth nor pair changes: they may have seen what was settled."""
    document = read_twice((ANNA,), ())
    settled(document)
    say(document, 0, "cem", UTRECHT, ANNA)
    outcomes = [say(document, 1, "ann", *[ANNA] * n, revision=n) for n in (2, 1, 3)]

    assert outcomes == ["after_adjudication", "duplicate", "after_adjudication"]
    assert (truth_of(document), blind(document)) == (("cem", 2), [("ann", 1), ("bo", 0)])
    assert [(a.annotator, a.revision) for a in document.texts[0].answers if a.copy < 0] == [("ann", 3)]


def test_label_without_a_task_never_is_an_adjudication() -> None:
    """A reader who settled it too revises their reading with it, which is too late."""
    document = read_twice((ANNA,), ())
    say(document, 0, "bo", UTRECHT, ANNA)

    assert document.answer(label(annotator="bo", revision=1), 0) == "after_adjudication"
    assert (truth_of(document), blind(document)) == (("bo", 2), [("ann", 1), ("bo", 0)])


def test_withdrawal_after_adjudication_takes_nothing_back() -> None:
    """The reading was blind then, and stands; an adjudication that is withdrawn lets it go through after all."""
    document = read_twice((ANNA,), ())
    settled(document)
    say(document, 0, "cem", UTRECHT)

    assert say(document, 1, "ann", revision=1, status="skipped") == "after_adjudication"
    assert (truth_of(document), blind(document)) == (("cem", 1), [("ann", 1), ("bo", 0)])
    say(document, 0, "cem", revision=1, status="skipped")
    assert say(document, 1, "ann", revision=2) == "revised"
    assert blind(document) == [("ann", 0), ("bo", 0)]
    assert len(document.texts[0].answers) == 3


def test_revision_before_adjudication_is_blind_still() -> None:
    """It replaces the reading, and what it says then is what the adjudicator sees."""
    document = read_twice((ANNA,), ())

    assert say(document, 2, "bo", UTRECHT, revision=1) == "revised"
    assert sorted((settled(document)[0].readings or []), key=str) == [[ANNA], [UTRECHT]]


def test_readings_that_waited_are_settled_with_their_document() -> None:
    """Both came before it: no copy goes out any more, the adjudication does; where it waited too, nothing."""
    other = asked_twice()
    early = [answer_to(other, 1, "ann", ANNA), answer_to(other, 2, "bo"), answer_to(other, 0, "cem", UTRECHT)]
    for waiting, kinds in ((early[:2], ["adjudicate"]), (early, [])):
        document = Document(0)
        for one in waiting:
            document.answer(one, 0)
        assert kinds == [task.kind for task in document.draw(sampled(), WEEK_S, 2)]


def test_adjudication_is_late_by_its_own_deadline() -> None:
    """It's asked about after the readings are in, so theirs would always have passed."""
    for at, late in ((DUE, 0), (DUE + 1, 1)):
        document = read_twice((ANNA,), (), sampled_at=-WEEK_S * 2)
        readings_late = document.outcomes["late"]
        settled(document)
        document.answer(answer_to(document, 0, "cem"), at)
        assert (readings_late, document.outcomes["late"] - 2) == (2, late)


def test_row_that_grows_too_large_lets_go_of_the_words_first() -> None:
    """No label is refused for them, and none that waits is dropped; it costs the adjudication."""
    wide = [Span(n, n + 1, "\N{GRINNING FACE}" * 64) for n in range(10_000)]
    document = asked_twice(text=hashlib.shake_128().hexdigest(500_000), spans=wide)
    twice = document.texts[0].twice
    document.answer(label(task_id="other"), 0)
    large = [Span(n, n + 1, "X" * 200) for n in range(2400)]
    outcomes = [say(document, 1, "ann", *large)]
    assert twice is not None
    assert twice.words
    outcomes.append(say(document, 2, "bo", *large[1:]))

    assert (outcomes, twice.words, len(document.early)) == (["joined", "joined"], b"", 1)
    assert len(msgspec.msgpack.encode(document)) <= LARGEST_ROW
    assert settled(document) == []
    assert blind(document) == [("ann", 2400), ("bo", 2399)]


def test_row_that_grows_too_large_keeps_both_readings() -> None:
    """What stands beside them goes, for no estimate reads it; kappa reads both."""
    wide = [Span(n, n + 1, "\N{GRINNING FACE}" * 64) for n in range(10_000)]
    document = asked_twice(text="a" * 30_000, spans=wide)
    large = [Span(n, n + 1, "X" * 200) for n in range(2400)]
    outcomes = [say(document, copy, who, *large) for copy, who in ((1, "ann"), (2, "bo"), (1, "cem"), (1, "dora"))]

    assert outcomes == ["joined", "joined", "extra", "extra"]
    assert blind(document) == [("ann", 2400), ("bo", 2400)]
    assert len(document.texts[0].answers) == 3


# through the ledger


def adjudications(table: Table, *values: bytes) -> list[Task]:
    """Return the tasks of a chunk of labels."""
    outputs = table.take("labels_by_document", *values)
    return [msgspec.json.decode(o.value or b"", type=Task) for o in outputs if o.channel == "annotation_tasks"]


def copies_of(table: Table) -> list[str]:
    """Draw a document and return the ids of its tasks."""
    outputs = table.take("sampled", drawn())
    return [msgspec.json.decode(o.value or b"", type=Task).task_id for o in outputs]


def test_ledger_asks_two_people_about_the_configured_share() -> None:
    """Of a hundred documents about half."""
    table = Table(Plan(msgspec.structs.replace(CONFIG, labels=Labels(copies=2, copied_share=0.5))))
    sent = table.take("sampled", *[drawn(f"{n}") for n in range(100)])

    assert 130 <= len(sent) <= 170


def test_ledger_sends_both_copies_then_the_adjudication_and_counts_them_by_kind() -> None:
    """By the config's copies and share; one that agrees needs none."""
    table = Table(TWICE)
    first, second = copies_of(table)
    sent = adjudications(table, labelled(task_id=first), labelled(task_id=second, annotator="bo", spans=[]))

    assert [(task.kind, task.text) for task in sent] == [("adjudicate", "Anna at Utrecht")]
    assert table.ledger._flow == {  # noqa: SLF001  # what a worker shows of it
        ("tasks", "label"): 2,
        ("tasks", "adjudicate"): 1,
        ("labels", "joined"): 2,
    }


@pytest.mark.parametrize("head", [False, True])
def test_crash_sends_no_adjudication_anew_once_the_row_is_durable(head: bool) -> None:  # noqa: FBT001  # a case
    """And the sums are those of a ledger that never crashed."""
    table = Table(TWICE)
    first, second = copies_of(table)
    adjudications(table, labelled(task_id=first), labelled(task_id=second, annotator="bo", spans=[]))
    table.checkpoint(head=head)
    table.open()
    table.read("sampled")
    again = table.read("labels_by_document")

    assert again == []
    assert not table.ledger.rebuilt


def test_rebuilt_ledger_sends_the_same_adjudication_again() -> None:
    """The topics hold all that it takes: the same id, text and readings, for a tool to know again."""
    table = Table(TWICE)
    first, second = copies_of(table)
    sent = adjudications(table, labelled(task_id=first), labelled(task_id=second, annotator="bo", spans=[]))
    rebuilt = Table(TWICE)
    rebuilt.logs = table.logs
    rebuilt.read("labels_by_document")
    outputs = rebuilt.read("sampled")
    (again,) = [msgspec.json.decode(o.value or b"", type=Task) for o in outputs]

    assert [msgspec.structs.replace(again, due_at=sent[0].due_at)] == sent


def test_adjudicated_truth_reaches_the_tallies_and_its_outcome_too() -> None:
    """What the revised label would have said doesn't."""
    table = Table(TWICE)
    first, second = copies_of(table)
    (task,) = adjudications(table, labelled(task_id=first), labelled(task_id=second, annotator="bo", spans=[]))
    adjudications(
        table,
        labelled(task_id=task.task_id, annotator="cem", spans=[UTRECHT]),
        labelled(task_id=first, revision=1, spans=[]),
        labelled(task_id=second, spans=[]),
    )
    total = table.everything()

    assert {key.detail: row[0] for key, row in total.rows.items() if isinstance(key, CountKey)} == {
        "joined": 3,
        "after_adjudication": 1,
        "same_annotator": 1,
    }
    assert {key.entity for key in total.rows if isinstance(key, CellKey)} == {"LOCATION", "any"}


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 2)), max_size=9
    ),
    st.sets(st.integers(0, 8)),
    st.sets(st.integers(0, 8)),
)
def test_crashes_change_neither_sums_nor_tasks(
    said: list[tuple[int, str, int, int]], kept: set[int], crashed: set[int]
) -> None:
    """Whatever the checkpoints and crashes between labels: one task to settle it, or the very same one again."""
    steady, shaky = Table(TWICE), Table(TWICE)
    document = asked_twice()
    sent: list[set[bytes]] = []
    for table, acts in ((steady, False), (shaky, True)):
        outputs = table.take("sampled", drawn())
        for n, (copy, who, revision, spans) in enumerate(said):
            one = answer_to(document, copy, who, *(ANNA, UTRECHT)[:spans], revision=revision)
            outputs += table.take("labels_by_document", msgspec.json.encode(one))
            if acts and n in kept:
                table.checkpoint(head=n % 2 == 0)
            if acts and n in crashed:
                table.open()
                outputs += [*table.read("sampled"), *table.read("labels_by_document")]
        sent.append({output.value or b"" for output in outputs if output.channel == "annotation_tasks"})

    assert sent[0] == sent[1]
    assert steady.everything() == shaky.everything()
