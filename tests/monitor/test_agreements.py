"""A window's agreement of two readers, by entity and language: the estimators' numbers on the right documents."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from drawn import WEEK_S, label, sampled
from pairs import ANNA, UTRECHT, read_twice

from monitor.agreements import Agreements
from monitor.document import Document, task_id, text_digest
from monitor.entities import Aliases
from monitor.estimators.agreement import FEWEST_N_EFF, GREYED_BELOW, ReadTwice, Table, kappa
from monitor.estimators.capture_recapture import Captures, SearchedTwice, recapture
from monitor.formats.corpus import read_label_line
from monitor.read_twice import parts_of
from monitor.readings import Agreement
from monitor.records import Label, Span
from monitor.sizes import Limits
from monitor.tally import ANY_ENTITY, CountKey, Tally, TwiceKey

FOLD = Aliases().fold
DATA = os.environ.get("RECALLWATCH_TEST_DATA", "")
ECHR = Path(DATA) / "corpora" / "echr_fr_es.jsonl"


def tally_of(*documents: Document) -> Tally:
    """Return the sums over documents."""
    total = Tally()
    for document in documents:
        for _, key, numbers in parts_of(document, FOLD, 0.45):
            total.add(key, numbers)
    return total


def read(tally: Tally, entity: str, language: str = "any") -> Agreement:
    """Return the agreement, which there must be."""
    found = Agreements(tally).read(entity, language, 0.95)
    assert found is not None
    return found


def many(count: int, first: tuple[Span, ...], second: tuple[Span, ...], **fields: object) -> list[Document]:
    """Return so many documents with these readings."""
    return [read_twice(first, second, 1.0, **fields) for _ in range(count)]


MIXED = [
    *many(6, (ANNA,), (ANNA,)),
    *many(2, (ANNA, UTRECHT), (UTRECHT,)),
    *many(1, (), (ANNA,)),
    *many(9, (), ()),
]


def test_nobody_who_reads_twice_gives_no_agreement() -> None:
    """None, and nothing is greyed or marked for it; of a language where nobody does neither."""
    tally = Tally({CountKey("labels", "joined"): (3,)})

    assert Agreements(tally).read("PERSON", "any", 0.95) is None
    assert Agreements(tally).status(None) == "ok"
    assert Agreements(tally_of(*MIXED)).read("PERSON", "fr", 0.95) is None


def test_agreement_is_what_the_estimators_say_of_the_window() -> None:
    """Kappa by document, F1 by span, and what both missed, between their limits."""
    found = read(tally_of(*MIXED), "PERSON", "nl")
    by_document = kappa([ReadTwice(1.0, Table(6, 2, 1, 9))])
    missed = recapture([SearchedTwice(1.0, Captures(8, 7, 6, 1, 2, 6, 6, 6, 8, 7))]).missed_by_both
    assert by_document is not None
    assert missed is not None

    assert (found.documents, found.named) == (18, 9)
    assert (found.kappa, found.lower, found.upper, found.n_eff) == (*by_document[:3], by_document.n_eff)
    assert (found.span_f1, found.mean_iou) == (12 / 15, 1.0)
    assert (found.missed_by_both, found.missed_by_both_upper) == (missed.estimate, missed.upper)


def test_documents_are_weighted_by_design() -> None:
    """Those that are drawn a tenth as often weigh ten times: kappa of the traffic and not of the sample."""
    heavy = many(2, (ANNA,), (), probability=0.1)
    found = read(tally_of(*MIXED, *heavy), "PERSON")
    expected = kappa([ReadTwice(1.0, Table(6, 2, 1, 9)), ReadTwice(0.1, Table(0, 2, 0, 0))])
    assert expected is not None

    assert (found.kappa, found.documents) == (expected.estimate, 20)
    assert found.span_f1 == pytest.approx(12 / 35)


def test_any_language_adds_languages_and_any_entity_asks_for_any_at_all() -> None:
    """One that named another entity than the other names something too; spans pair within their entity."""
    tally = tally_of(*MIXED, *many(3, (ANNA,), (UTRECHT,), lang="fr"))
    found, everything = read(tally, "PERSON"), read(tally, ANY_ENTITY)

    assert (found.documents, found.named, read(tally, "PERSON", "fr").documents) == (21, 12, 3)
    assert (everything.documents, everything.named) == (21, 12)
    assert everything.span_f1 == 2 * 8 / (13 + 12)


def test_entity_that_nobody_named_has_documents_and_no_number() -> None:
    """Chance would agree as well: not nought, and no reason to grey anything."""
    found = read(tally_of(*MIXED), "IBAN_CODE")

    assert Agreement(18, 0) == found
    assert Agreements.status(found) == "ok"


def test_entity_in_all_documents_of_both_has_no_kappa_and_stays_in_force() -> None:
    """F1 by span stands beside it."""
    found = read(tally_of(*many(4, (ANNA,), (ANNA, Span(8, 15, "PERSON")))), "PERSON")

    assert (found.kappa, found.documents, found.named) == (None, 4, 4)
    assert found.span_f1 == 8 / 12
    assert Agreements.status(found) == "ok"


@pytest.mark.parametrize(("value", "status"), [(0.8, "ok"), (0.79, "marked"), (0.6, "marked"), (0.59, "greyed")])
def test_kappa_gates(value: float, status: str) -> None:
    """At .8 and .6."""
    enough = Agreement(90, 40, value, n_eff=FEWEST_N_EFF)
    assert Agreements.status(enough) == status
    assert not Agreements.too_few(enough)


@pytest.mark.parametrize(
    ("value", "upper", "expected"),
    [
        (0.59, 0.9, ("marked", True)),
        (0.2, 0.59, ("greyed", False)),
        (0.7, 0.9, ("marked", False)),
        (0.9, 1.0, ("ok", False)),
    ],
)
def test_handful_read_twice_says_so_and_greys_nothing(value: float, upper: float, expected: tuple[str, bool]) -> None:
    """An entity that is in four documents of sixty: only where kappa's upper limit is too low is that known."""
    few = Agreement(60, 4, value, upper=upper, n_eff=9.0)
    assert (Agreements.status(few), Agreements.too_few(few)) == expected


def test_few_documents_on_which_readers_differ_mark_the_number() -> None:
    """Counted: two people who differ on four names in twelve documents may well agree, for all that is known."""
    found = read(tally_of(*many(1, (ANNA,), (ANNA,)), *many(3, (), (ANNA,)), *many(8, (), ())), "PERSON")

    assert found.kappa is not None
    assert found.upper is not None
    assert found.kappa < GREYED_BELOW < found.upper
    assert (Agreements.status(found), Agreements.too_few(found)) == ("marked", True)


def test_same_numbers_are_worked_out_once() -> None:
    """A window that didn't change costs a look-up, however its rows came to be."""
    light = many(2, (ANNA,), (), probability=0.5)
    forwards, backwards = tally_of(*MIXED, *light), tally_of(*light, *MIXED[::-1])
    backwards.add(TwiceKey("fr", 0.5), (1,))

    assert read(forwards, "PERSON") is read(tally_of(*MIXED, *light), "PERSON")
    assert read(forwards, "PERSON", "nl") is read(backwards, "PERSON", "nl")
    assert read(forwards, "PERSON") is not read(backwards, "PERSON")


@pytest.mark.data
@pytest.mark.skipif(not (DATA and ECHR.is_file()), reason="no corpora: set RECALLWATCH_TEST_DATA to their folder")
def test_two_layers_of_the_court_cases_agree_on_persons_and_not_on_organizations() -> None:
    """Kappa of ORGANIZATION is .397, which greys it; every case names a PERSON in both layers, spans at F1 .934."""
    tally = tally_of(*(_case(line) for line in ECHR.read_bytes().splitlines()))
    person, organization = read(tally, "PERSON"), read(tally, "ORGANIZATION")

    assert (person.documents, person.named, person.kappa) == (77, 77, None)
    assert person.span_f1 == pytest.approx(0.934, abs=5e-4)
    assert organization.kappa == pytest.approx(0.397, abs=5e-4)
    assert [Agreements.status(one) for one in (person, organization)] == ["ok", "greyed"]
    assert {read(tally, "PERSON", language).documents for language in ("fr", "es")} == {33, 44}


def _case(line: bytes) -> Document:
    """Return a court case with its two layers as the two readings."""
    given = json.loads(line)
    document = Document(0)
    document.draw(sampled(given["doc_id"], text=given["text"], lang=given["lang"]), WEEK_S, 2)
    about = task_id(given["doc_id"], text_digest(given["text"]), "label", 0)
    for one in read_label_line(line, Limits()).labels:
        assert isinstance(one, Label)
        answer = label(doc_id=one.doc_id, annotator=one.annotator, spans=one.spans, task_id=about)
        assert document.answer(answer, 0) == "joined"
    return document
