"""The invented documents: labels that say what stands there, languages and kinds as promised, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import islice, pairwise
from random import Random
from typing import get_args

import pytest

from monitor import checksums
from streams.documents import LabelledDocument, documents
from streams.documents_ids import NATIONAL_IDS
from streams.documents_templates import CHANNELS, Language, compile_exchange, read_transcripts

COUNT = 1500
COMMON = {"PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION", "ADDRESS", "DATE_OF_BIRTH"}
SCARCE = {"IBAN_CODE", "CREDIT_CARD", "NATIONAL_ID", "IP_ADDRESS"}
RARE = {"PASSPORT_NUMBER", "USERNAME", "PASSWORD", "LICENSE_PLATE"}
NATIONAL_CHECKS = (
    checksums.us_ssn,
    checksums.uk_nino,
    checksums.es_nif,
    checksums.fr_nir,
    checksums.de_steuer_id,
    checksums.nl_bsn,
)


@pytest.fixture(scope="module")
def drawn() -> list[LabelledDocument]:
    """Return documents enough for every kind to occur."""
    return list(documents(11, COUNT))


def slices(drawn: list[LabelledDocument], entity: str) -> list[str]:
    """Return the text under every label of an entity."""
    return [d.text[s.start : s.end] for d in drawn for s in d.labels if s.entity == entity]


def test_the_same_seed_gives_the_same_documents(drawn: list[LabelledDocument]) -> None:
    """Text and labels repeat, also where drawing begins in the middle; another seed gives others."""
    assert drawn[:40] == list(islice(documents(11), 40))
    assert drawn[700:720] == list(documents(11, 20, start=700))
    assert drawn[0].text != next(documents(12)).text


def test_every_label_covers_a_whole_value(drawn: list[LabelledDocument]) -> None:
    """A label begins and ends where its value does: no space inside its ends, no letter or digit right outside."""
    for document in drawn:
        for span in document.labels:
            value = document.text[span.start : span.end]
            before, after = document.text[span.start - 1], document.text[span.end : span.end + 1]
            assert value.strip() == value != ""
            assert not before.isalnum()
            assert not after.isalnum()


def test_labels_are_in_order_and_do_not_overlap(drawn: list[LabelledDocument]) -> None:
    """One stretch of text is one thing."""
    for document in drawn:
        assert all(a.end <= b.start for a, b in pairwise(document.labels))


@pytest.mark.parametrize(
    ("entity", "check"), [("IBAN_CODE", checksums.iban), ("NATIONAL_ID", lambda v: any(c(v) for c in NATIONAL_CHECKS))]
)
def test_labelled_numbers_pass_their_check_sums(
    drawn: list[LabelledDocument], entity: str, check: Callable[[str], bool]
) -> None:
    """What is labelled as a number that an authority gives could have been given."""
    values = slices(drawn, entity)
    assert len(values) > 20
    assert [v for v in values if not check(v)] == []


def test_labelled_cards_pass_luhn(drawn: list[LabelledDocument]) -> None:
    """A card number is one that a shop would take."""
    values = slices(drawn, "CREDIT_CARD")
    assert len(values) > 20
    assert [v for v in values if not checksums.payment_card(v)] == []


@pytest.mark.parametrize(("locale", "check"), list(zip(NATIONAL_IDS, NATIONAL_CHECKS, strict=True)))
def test_national_ids_are_ones_of_their_country(locale: str, check: Callable[[str], bool]) -> None:
    """Each country's rule holds for each of many draws."""
    rng = Random(5)  # noqa: S311  # seeded, not secret
    numbers = [NATIONAL_IDS[locale](rng).number for _ in range(2000)]
    assert [n for n in numbers if not check(n)] == []


def test_all_languages_and_kinds_occur(drawn: list[LabelledDocument]) -> None:
    """Five languages, and each of them holds every common kind."""
    assert {d.lang for d in drawn} == set(get_args(Language))
    assert {s.entity for d in drawn for s in d.labels} == COMMON | SCARCE | RARE
    for language in get_args(Language):
        assert {s.entity for d in drawn if d.lang == language for s in d.labels} >= COMMON


def test_rare_kinds_are_rare_and_many_documents_hold_little(drawn: list[LabelledDocument]) -> None:
    """Rare kinds in 0.3 to 2.5 % of documents; more than a third of all hold one kind or none."""
    holding = Counter(entity for d in drawn for entity in {s.entity for s in d.labels})
    assert all(0.003 <= holding[entity] / COUNT <= 0.025 for entity in RARE)
    assert sum(len({s.entity for s in d.labels}) <= 1 for d in drawn) / COUNT > 1 / 3


def test_documents_have_the_length_of_transcripts(drawn: list[LabelledDocument]) -> None:
    """Half of them are longer than 1.5 KB, none longer than 10, and some are short."""
    sizes = sorted(len(d.text.encode()) for d in drawn)
    assert 1500 <= sizes[COUNT // 2] <= 5000
    assert sizes[-1] < 10_000
    assert sizes[COUNT // 20] < 800


def test_values_are_also_written_in_ways_that_no_regex_finds(drawn: list[LabelledDocument]) -> None:
    """Some addresses are spoken, some telephone numbers are words, some names are in lower case."""
    emails = slices(drawn, "EMAIL_ADDRESS")
    assert 0.03 < sum("@" not in e for e in emails) / len(emails) < 0.15
    assert any(not any(c.isdigit() for c in phone) for phone in slices(drawn, "PHONE_NUMBER"))
    assert any(name.islower() for name in slices(drawn, "PERSON"))


@pytest.mark.parametrize("language", get_args(Language))
def test_every_language_has_every_channel_and_question(language: Language) -> None:
    """A translation that lacks something would make documents that only lack it."""
    english, here = read_transcripts("en"), read_transcripts(language)
    assert {kind: len(exchanges) for kind, exchanges in english.ask.items()} == {
        kind: len(exchanges) for kind, exchanges in here.ask.items()
    }
    for name in CHANNELS:
        assert [len(part) for part in english.channels[name]] == [len(part) for part in here.channels[name]]
    assert {len(here.words.months), len(here.words.digits)} == {12, 10}


def test_a_line_without_a_speaker_is_refused() -> None:
    """A transcript that was written wrongly fails when it's read, not in the middle of a document."""
    with pytest.raises(ValueError, match="no speaker"):
        compile_exchange("A: Hello.\nC: And who are you?")
