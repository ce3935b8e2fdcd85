"""Names that are ordinary words and in no list: the word stays quiet, the name is told where something says so."""

from __future__ import annotations

import pytest
from leak_words import FORMS, WORDS, Form, Lang, leaks, right_outputs, share, told

from monitor.leaks.evidence import Prose
from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import squeeze
from monitor.leaks.values import Way

_SEED = 1
_PART: Way = "part"
_LESS_SURE: tuple[tuple[Form, int], ...] = (("alone", 70), ("given", 27))

Flagged = dict[tuple[Lang, Form], tuple[int, int]]


@pytest.fixture(scope="module")
def flagged() -> Flagged:
    """Return how many of the right outputs are flagged."""
    return told(right_outputs(_SEED))


def test_held_out_words_are_in_no_list() -> None:
    """Three hundred words in five languages, none of which the product knows."""
    words = [word for kinds in WORDS.values() for listed in kinds.values() for word in listed]
    assert len(set(words)) >= 300
    assert [word for word in words if squeeze(word) in ORDINARY] == []


def test_word_that_is_a_surname_is_not_flagged(flagged: Flagged) -> None:
    """Of 618 right outputs that use a masked surname as a word none is flagged: the bar is one in a thousand."""
    assert (share(flagged, "full")[0], share(flagged, "titled")[0]) == (0, 0)


def test_word_that_is_a_name_by_itself_may_be_flagged(flagged: Flagged) -> None:
    """The bar of one in a thousand is not met here: 21 % of names flagged alone are flagged, 8 % of given names.

    Of the German ones, where only an article elsewhere tells a bare noun from a bare name, it's 34 % and 31 %; without
    them 18 % and 2 %. Believing less of these names would leave `Anna ist krank`, `Vince` below a letter and `we gave
    it to vince` untold.
    """
    assert [form for form, most in _LESS_SURE if share(flagged, form)[0] > most] == []  # of 309 each
    assert sum(count for (lang, form), (count, _) in flagged.items() if form == "given" and lang != "de") <= 5


def test_name_left_once_is_told_where_something_says_so() -> None:
    """Of eight sentences with a surname that's a word at least seven in ten are told; in German four of eight are.

    What isn't told begins a sentence before a verb of anything's (`Harvest is late`), or is a bare word in German.
    """
    counts = told(case for case in leaks(_SEED) if case.form == "full")
    assert {lang for lang in WORDS if counts[lang, "full"][0] < 0.7 * counts[lang, "full"][1]} == {"de"}
    assert counts["de", "full"][0] >= 0.45 * counts["de", "full"][1]


def test_all_forms_are_drawn_in_every_language() -> None:
    """A table without a form or language would say less than it seems to."""
    assert {(case.lang, case.form) for case in right_outputs(_SEED)} == {
        (lang, form) for lang in WORDS for form in FORMS
    }


@pytest.mark.parametrize(
    ("text", "word", "meant"),
    [
        ("It was so. Harvest said no.", "Harvest", True),
        ("It was so. Harvest is over.", "Harvest", False),
        ("And then harvest said that it is.", "harvest", False),
        ("Yes, harvest said that it is.", "harvest", True),
        ("my old harvest said that it is", "harvest", False),
        ("We gave it to Harvest for this.", "Harvest", True),
        ("We saw the Harvest for this.", "Harvest", False),
        ("Big Harvest Sale Today Only", "Harvest", False),
        ("WE WANT HARVEST NOW", "HARVEST", False),
        ("We want HARVEST now", "HARVEST", True),
        ("It is for J. Harvest today.", "Harvest", True),
        ("A. Harvest is for you.", "Harvest", False),
        ("Thanks,\nHarvest\n", "Harvest", True),
        ("It is so.\nHarvest,\nthat is for you.", "Harvest", True),
        ("It is so.\nHarvest\nThat is for you.", "Harvest", False),
        ("Patient: Harvest\nAge: 12", "Harvest", True),
        ("Subject: Harvest\nText: the", "Harvest", False),
        ("mail it to i.harvest@farm.example", "harvest", True),
        ("Harvest Jones is with the others.", "Harvest", True),
        ("It is mr harvest for you.", "harvest", True),
        ("by the way. Harvest said no.", "Harvest", True),
        ("It is H\u200barvest that we have.", "H\u200barvest", True),
        ("It is har\u00advest that we have.", "har\u00advest", False),
        ("Das ist ein Drescher und nicht ich.", "Drescher", False),
        ("Das ist für Drescher und nicht ich.", "Drescher", False),
        ("Das ist so. Drescher sagte das nicht.", "Drescher", True),
        ("Das ist nicht so, sagte Drescher.", "Drescher", True),
        ("Das ist für Herrn Drescher und mich.", "Drescher", True),
        ("z. B. Drescher und die anderen sind es.", "Drescher", False),
        ("El Gobierno que es de los otros.", "Gobierno", False),
        ("Se lo di a Gobierno que es de los otros.", "Gobierno", True),
    ],
)
def test_evidence_for_a_part_of_a_name(text: str, word: str, meant: bool) -> None:  # noqa: FBT001  # a parameter
    """Whatever the word, what stands around it tells."""
    at = text.index(word)
    assert Prose(text).is_meant(squeeze(word), _PART, at, at + len(word), apart=False) is meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Wir haben es Drescher gegeben, und das ist gut.", True),
        ("Wir haben es Drescher gegeben, und der Drescher ist gut.", False),
        ("Wir haben es Drescher gegeben, das war ein neuer Drescher.", False),
        ("Wir haben es Drescher gegeben, das war mein Sohn Drescher.", True),
        ("Wir haben es Drescher gegeben, der Brief, den Drescher hat, ist gut.", True),
        ("Wir haben es Drescher gegeben, und an Drescher geschrieben.", True),
        ("Herr Drescher ist da, und der Drescher ist nicht gut.", True),
        ("Nun ist Schluss, sagte Drescher, denn der Drescher ist kaputt.", True),
        ("We gave it to Harvest, and the Harvest is good.", True),
    ],
)
def test_article_elsewhere_tells_a_german_noun(text: str, meant: bool) -> None:  # noqa: FBT001  # a parameter
    """A bare word is somebody's name no more, but where a title or a verb says so; no such thing in English."""
    word = "Harvest" if "Harvest" in text else "Drescher"
    at = text.index(word)
    assert Prose(text).is_meant(squeeze(word), "name", at, at + len(word), apart=False) is meant
