"""Planted leaks are found, right outputs are not flagged, and the screen misses nothing that the check finds."""

from __future__ import annotations

import pytest
from leak_injector import FAULTS, Injected, injected
from leak_scores import REPORTS, Table, Verdict, judge, lines, score, total, write
from leak_sentences import LANGUAGES

_SEED = 6
_IN_PLACE = ("offset_unit", "output_positions", "digits_left", "address_tail", "mail_local", "name_beside", "untouched")
_AS_WRITTEN = (*_IN_PLACE, "first_of_list", "mask_beside", "repeat_left", "international")


@pytest.fixture(scope="module")
def cases() -> list[Injected]:
    """Return two thousand documents, half of them with a fault."""
    return list(injected(_SEED, 2000))


@pytest.fixture(scope="module")
def verdicts(cases: list[Injected]) -> list[Verdict]:
    """Return what check and screen say of each."""
    return [judge(case) for case in cases]


def test_every_fault_is_planted_in_every_language(cases: list[Injected]) -> None:
    """Among two thousand documents each of the four languages has each kind of fault."""
    assert {(fault, lang) for fault in FAULTS for lang in LANGUAGES} == {(c.fault, c.lang) for c in cases if c.fault}


def test_planted_places_stand_in_the_output_as_in_the_text(cases: list[Injected]) -> None:
    """Where the output shows a stretch of the text, the planted offsets on both sides hold the same letters."""
    planted = [(case, place) for case in cases if case.fault in _AS_WRITTEN for place in case.planted]
    shown = [case.redacted[place.output_start : place.output_end] for case, place in planted]
    assert [case.text[place.start : place.end] for case, place in planted] == shown
    assert all(any(map(str.isalnum, letters)) for letters in shown)


def test_same_seed_gives_the_same_documents() -> None:
    """Two runs write the same outputs; another seed others."""
    runs = [[case.redacted for case in injected(seed, 40)] for seed in (_SEED, _SEED, _SEED + 1)]
    assert runs[0] == runs[1] != runs[2]


def test_right_documents_have_nothing_planted(cases: list[Injected]) -> None:
    """A place is planted where and only where there is a fault."""
    assert [bool(case.fault) for case in cases] == [bool(case.planted) for case in cases]


def test_check_finds_what_was_planted(verdicts: list[Verdict]) -> None:
    """Of a thousand faulty documents at most five are read without every planted place; an entity must be right."""
    missed = [(v.case.doc_id, v.case.fault, v.missed) for v in verdicts if v.missed]
    assert missed[5:] == []


def test_right_redactions_are_not_flagged(verdicts: list[Verdict]) -> None:
    """Of a thousand right outputs at most two are flagged: ordinary words, numbers and cities of a value stay quiet."""
    flagged = [
        (v.case.doc_id, v.case.harmless, v.checked.leaks) for v in verdicts if not v.case.fault and v.checked.leaks
    ]
    assert flagged[2:] == []


def test_screen_says_what_the_check_says(verdicts: list[Verdict]) -> None:
    """Of every document, faulty or right: the same leaks at the same places, the same stretches masked."""
    assert [v.case.doc_id for v in verdicts if v.screened != v.checked] == []


@pytest.mark.slow
def test_hundred_thousand_documents() -> None:
    """99.5 % of the faulty documents are found, 0.1 % of the right ones flagged at most; the table is written."""
    table: Table = score(_SEED, 100_000)
    write(table, _SEED, REPORTS)
    faulty, right = total(table, right=False), total(table, right=True)
    shown = "\n".join(lines(table))
    assert faulty.found >= 0.995 * faulty.documents, shown
    assert right.found <= 0.001 * right.documents, shown
    assert faulty.unscreened + right.unscreened == 0, shown
