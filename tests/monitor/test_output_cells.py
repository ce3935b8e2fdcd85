"""What can be read in the outputs of labelled documents, and what was masked for nothing: from decision to tally."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import pytest
from drawn import label, opened, sampled
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_table import CONFIG, Table, drawn, labelled, sums
from pairs import say

from monitor.contribution import Rule, contribution
from monitor.day_tallies import DayTallies
from monitor.document import Document
from monitor.entities import Aliases
from monitor.estimators.sample import Moments
from monitor.leaks.coverage import Coverage, coverage_of
from monitor.leaks.policy import EntityPolicy, Policy, RedactionConfig
from monitor.leaks.screen import examine
from monitor.output_keys import OutputDesignKey
from monitor.plan import Plan
from monitor.records import Span
from monitor.tally import CellKey, Key, Reading, Tally

FOLD = Aliases().fold
PERSON, PHONE, PLACE = "PERSON", "PHONE_NUMBER", "LOCATION"
OF_OUTPUTS = ("hidden", "readable", "needless")


class Case(NamedTuple):
    """A document, what was flagged and made of it, and what is really there; stretches are given by their words."""

    text: str
    flagged: Sequence[tuple[str, str]]
    redacted: str
    true: Sequence[tuple[str, str]]
    readable: Sequence[str]
    """Of the true ones."""
    needless: tuple[int, int] | None
    """Masked graphemes that were no personal data, and all; None where nothing is known to be masked."""
    policy: Policy = Policy()


LETTER = "I am Joke Hendriksma."
CASES = {
    "masked": Case(LETTER, [("Joke Hendriksma", PERSON)], "I am <PERSON>.", [("Joke Hendriksma", PERSON)], [], (0, 14)),
    "missed": Case(
        "Ask Bo Smid or Joke Hendriksma.",
        [("Bo Smid", PERSON)],
        "Ask <PERSON> or Joke Hendriksma.",
        [("Bo Smid", PERSON), ("Joke Hendriksma", PERSON)],
        ["Joke Hendriksma"],
        (0, 6),
    ),
    "nothing flagged": Case(LETTER, [], LETTER, [("Joke Hendriksma", PERSON)], ["Joke Hendriksma"], None),
    "partly masked": Case(
        "call 06-24 11 87 03 now",
        [("06-24 11 87 03", PHONE)],
        "call 06-24 11 87 ** now",
        [("06-24 11 87 03", PHONE)],
        ["06-24 11 87 03"],
        (0, 2),
    ),
    "survives elsewhere": Case(
        "I am Bo Hendriksma. Dear Hendriksma, hello",
        [("Bo Hendriksma", PERSON)],
        "I am <PERSON>. Dear Hendriksma, hello",
        [("Bo Hendriksma", PERSON)],
        ["Bo Hendriksma"],
        (0, 12),
    ),
    "under another name": Case(
        LETTER, [("Joke Hendriksma", PLACE)], "I am <LOCATION>.", [("Joke Hendriksma", PERSON)], [], (0, 14)
    ),
    "label takes a full stop": Case(
        LETTER, [("Joke Hendriksma", PERSON)], "I am <PERSON>.", [(" Joke Hendriksma.", PERSON)], [], (0, 14)
    ),
    "label takes a letter of the next word": Case(
        "Dear Hendriksma writes",
        [("Hendriksma", PERSON)],
        "Dear <PERSON> writes",
        [("Hendriksma w", PERSON), ("r Hendriksma", PERSON)],
        [],
        (0, 10),
    ),
    "label takes two letters of the next word": Case(
        "Dear Hendriksma writes",
        [("Hendriksma", PERSON)],
        "Dear <PERSON> writes",
        [("Hendriksma wr", PERSON)],
        ["Hendriksma wr"],
        (0, 10),
    ),
    "label takes a digit": Case(
        "call 06-24 11 87 03 7 times",
        [("06-24 11 87 03", PHONE)],
        "call <PHONE_NUMBER> 7 times",
        [("06-24 11 87 03 7", PHONE)],
        ["06-24 11 87 03 7"],
        (0, 11),
    ),
    "label takes a word more": Case(
        "Dear Mrs Hendriksma,",
        [("Hendriksma", PERSON)],
        "Dear Mrs <PERSON>,",
        [("Mrs Hendriksma", PERSON)],
        ["Mrs Hendriksma"],
        (0, 10),
    ),
    "last digits may stay": Case(
        "card 4539 1488 0343 6467 ok",
        [("4539 1488 0343 6467", "CREDIT_CARD")],
        "card **** **** **** 6467 ok",
        [("4539 1488 0343 6467", "CREDIT_CARD")],
        [],
        (0, 12),
        Policy({"CREDIT_CARD": EntityPolicy(keep_last=4)}),
    ),
    "ignored": Case(
        "Bo Smid of Utrecht",
        [("Bo Smid", PERSON), ("Utrecht", PLACE)],
        "<PERSON> of Utrecht",
        [("Bo Smid", PERSON), ("Utrecht", PLACE)],
        [],
        (0, 6),
        Policy({PLACE: EntityPolicy(ignore=True)}, fold=FOLD),
    ),
    "not aligned": Case(
        "Bo Hendriksma lives at his parents' house in Wassenaar.",
        [("Bo Hendriksma", PERSON)],
        "The man said that he shares a home with mother and father, in Wassenaar or near it.",
        [("Hendriksma", PERSON), ("Wassenaar", PLACE)],
        ["Wassenaar"],
        None,
    ),
    "a sentence too much": Case(
        "My name is Bo Smid. It rains again today. Bye",
        [("Bo Smid", PERSON)],
        "My name is ****. Bye",
        [("Bo Smid", PERSON)],
        [],
        (18, 24),
    ),
    "marks": Case(
        unicodedata.normalize("NFD", "I am Zoë Müller, né."),
        [(unicodedata.normalize("NFD", "Zoë Müller, né"), PERSON)],
        "I am <PERSON>.",
        [(unicodedata.normalize("NFD", "Zoë Müller"), PERSON)],
        [],
        (3, 12),
    ),
}


def spans_of(text: str, named: Sequence[tuple[str, str]]) -> list[Span]:
    """Return spans of words by where these stand first."""
    return [Span(text.index(words), text.index(words) + len(words), entity) for words, entity in named]


def coverage(case: Case) -> Coverage:
    """Return what ROUTE would send with the document."""
    flagged = spans_of(case.text, case.flagged)
    found = examine(case.text, flagged, case.redacted, case.policy)
    return coverage_of(case.text, flagged, case.redacted, found, case.policy)


def answered(case: Case) -> Document:
    """Return the document, drawn and labelled."""
    document = opened(text=case.text, spans=spans_of(case.text, case.flagged), coverage=coverage(case))
    document.answer(label(spans=spans_of(case.text, case.true)), 0)
    return document


def rows(document: Document, policy: Policy | None = None) -> dict[Key, tuple[int, ...]]:
    """Return what a document adds, whatever the day."""
    policy = policy or Policy()
    total = Tally()
    for _, key, numbers in contribution(document, Rule(FOLD, 0.45, ignores=lambda name: policy.of(name).ignore)):
        total.add(key, numbers)
    return total.rows


def cells(found: dict[Key, tuple[int, ...]], entity: str) -> dict[Reading, tuple[int, ...]]:
    """Return the readings of outputs of one entity."""
    return {
        k.reading: n
        for k, n in found.items()
        if isinstance(k, CellKey) and k.entity == entity and k.reading in OF_OUTPUTS
    }


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_what_can_be_read_is_counted_against_what_is_true(case: Case) -> None:
    """Occurrences, by entity and over all; needless graphemes over all alone."""
    found = rows(answered(case), case.policy)
    counted = [(words, entity) for words, entity in case.true if not case.policy.of(entity).ignore]
    for entity in {*(entity for _, entity in counted), "any"}:
        true = [words for words, its in counted if entity in (its, "any")]
        shown = sum(words in case.readable for words in true)
        expected: dict[Reading, tuple[int, ...]] = {"hidden": Moments.of(len(true) - shown, len(true))}
        if shown:
            expected["readable"] = Moments.of(shown, shown)
        if entity == "any" and case.needless:
            expected["needless"] = Moments.of(*case.needless)
        assert expected == cells(found, entity)
    assert found[OutputDesignKey("nl", "d", "1", "both", 1.0)] == (1, 1)


def test_unlabelled_document_is_drawn_and_says_nothing() -> None:
    """A skipped one neither."""
    case = CASES["partly masked"]
    document = opened(text=case.text, coverage=coverage(case))
    for _ in range(2):
        found = rows(document)
        assert found[OutputDesignKey("nl", "d", "1", "both", 1.0)] == (1, 0)
        assert cells(found, "any") == {}
        document.answer(label(status="skipped"), 0)


def test_empty_answer_makes_all_that_is_masked_needless() -> None:
    """A person looked and saw nothing."""
    case = CASES["masked"]
    assert cells(rows(answered(case._replace(true=()))), "any") == {"needless": Moments.of(14, 14)}


def test_document_without_an_output_adds_nothing_of_outputs() -> None:
    """No row says that it hides nothing."""
    document = opened(text=LETTER)
    document.answer(label(spans=[Span(5, 20, PERSON)]), 0)
    found = rows(document)

    assert not [
        k for k in found if isinstance(k, OutputDesignKey) or (isinstance(k, CellKey) and k.reading in OF_OUTPUTS)
    ]


def test_each_version_s_own_output_counts() -> None:
    """One text, one label, two redactors: the one leaks what the other masks."""
    bad, good = CASES["partly masked"], CASES["partly masked"]._replace(redacted="call <PHONE_NUMBER> now")
    document = answered(bad)
    document.draw(sampled(version="2", text=bad.text, coverage=coverage(good)), 1e6, 1)
    found = rows(document)

    assert {(k.version, k.entity) for k in found if isinstance(k, CellKey) and k.reading == "readable"} == {
        ("1", PHONE),
        ("1", "any"),
    }
    assert {k.version for k in found if isinstance(k, OutputDesignKey)} == {"1", "2"}


SPAN = st.builds(Span, st.integers(0, 7), st.integers(10, 18), st.sampled_from([PERSON, PLACE, "per"]))
SPANS = st.lists(SPAN, max_size=3)


@settings(max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), SPANS), max_size=6), st.sampled_from(sorted(CASES)))
def test_corrections_and_adjudication_leave_nothing_behind(said: list[tuple[int, bool, list[Span]]], name: str) -> None:
    """Answers to either copy, revised, settled: the sums are those of the row as it is, and of nothing before it."""
    case = CASES[name]
    document = Document(0)
    document.draw(sampled(text=case.text, coverage=coverage(case)), 1e6, 2)
    days, rule = DayTallies("ledger", 0), Rule(FOLD, 0.45)
    days.add_document(document, rule)
    for revision, (copy, submitted, spans) in enumerate(said):
        days.take_document(document, rule)
        who, status = "abc"[copy], "submitted" if submitted else "skipped"
        say(document, copy, who, *spans, revision=revision, status=status)
        document.adjudicate("a", 9e9)
        days.add_document(document, rule)
    alone = DayTallies("ledger", 0)
    alone.add_documents([msgspec.msgpack.decode(msgspec.msgpack.encode(document), type=Document)], rule)

    assert [o.value for o in alone.publish(0)] == [o.value for o in days.publish(0)]
    days.take_document(document, rule)
    emptied = days.publish(0)
    assert all(o.value is not None and b"hidden" not in o.value and b"output_design" not in o.value for o in emptied)


def test_ledger_counts_outputs_alike_when_it_opens_and_by_the_policy_in_force() -> None:
    """Read from the table they add up to the same; a policy that ignores people takes them out, and back in."""
    case = CASES["missed"]
    table = Table()
    flagged = spans_of(case.text, case.flagged)
    table.take("sampled", *[drawn(n, text=case.text, spans=flagged, coverage=coverage(case)) for n in "abc"])
    table.take("labels_by_document", *[labelled(n, spans=spans_of(case.text, case.true)) for n in "abc"])
    before = sums(table.ledger)
    table.checkpoint()
    key = CellKey("nl", "d", "1", "both", 1.0, PERSON, "readable")

    assert before == table.everything()
    assert before.rows[key] == tuple(3 * n for n in Moments.of(1, 1))
    ignoring = RedactionConfig(entities={"per": EntityPolicy(ignore=True)})
    table.ledger.adopt(Plan(msgspec.structs.replace(CONFIG, redaction=ignoring)))
    assert key not in sums(table.ledger).rows
    table.ledger.adopt(Plan(CONFIG))
    table.take("labels_by_document", *[labelled(n, revision=1, spans=[]) for n in "abc"])
    assert [k for k in sums(table.ledger).rows if isinstance(k, CellKey) and k.reading in ("hidden", "readable")] == []
