"""What an output shows nothing of: masked, kept by policy, at no letter's cost and at no mark's."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.kept_coverage import KeptCoverage
from monitor.leaks import coverage as under_test
from monitor.leaks.check import check
from monitor.leaks.coverage import Coverage, coverage_of, cut_out
from monitor.leaks.policy import EntityPolicy, Policy
from monitor.leaks.squeezed import squeeze
from monitor.records import Span

PHONE = "call 06-24 11 87 03 now"
NUMBER = Span(5, 19, "PHONE_NUMBER")


def covered(text: str, spans: Sequence[Span], redacted: str, policy: Policy | None = None) -> Coverage:
    """Return the coverage of what the full check finds."""
    policy = policy or Policy()
    return coverage_of(text, spans, redacted, check(text, spans, redacted, policy), policy)


def words(text: str, coverage: Coverage) -> list[str]:
    """Return the hidden stretches as they read."""
    return [text[start:end] for start, end in coverage.hidden]


@pytest.mark.parametrize(
    ("output", "hidden", "masked"),
    [
        ("call <PHONE_NUMBER> now", ["l 06-24 11 87 03 n"], [(5, 19)]),
        ("call  now", ["l 06-24 11 87 03 n"], [(5, 19)]),
        ("call 06-24 11 87 ** now", [" 03 n"], [(16, 19)]),
        ("call 06-24 11 87 03 now", [], []),
        ("<PHONE_NUMBER>", ["call 06-24 11 87 03 now"], [(0, 23)]),
    ],
)
def test_what_was_masked_and_leaks_nothing_is_hidden(
    output: str, hidden: list[str], masked: list[tuple[int, int]]
) -> None:
    """Over the blanks beside it and one letter of the next word; what of a number stays in place is no part of it."""
    found = covered(PHONE, [NUMBER], output)

    assert (hidden, masked) == (words(PHONE, found), found.masked)


def test_what_policy_lets_stay_is_hidden() -> None:
    """Of a card its last digits, of a pin all of it; the same number without a policy isn't."""
    keeps = Policy({"PHONE_NUMBER": EntityPolicy(keep_last=4)})
    output = "call **-** ** 87 03 now"

    assert words(PHONE, covered(PHONE, [NUMBER], output, keeps)) == ["l 06-24 11 87 03 n"]
    assert words(PHONE, covered(PHONE, [NUMBER], output)) == ["l 06-24 11 "]
    assert words(PHONE, covered(PHONE, [NUMBER], "call 06-** ** 87 03 now", keeps)) == ["-24 11 "]  # it leaks besides
    assert words("pin 8703", covered("pin 8703", [Span(4, 8, "PHONE_NUMBER")], "pin 8703", keeps)) == ["n 8703"]


def test_ignored_entity_is_hidden_only_where_it_was_masked() -> None:
    """A city that may stay isn't made a secret by being flagged."""
    ignores, text = Policy({"LOCATION": EntityPolicy(ignore=True)}), "Bo Smid in Utrecht"
    spans = [Span(0, 7, "PERSON"), Span(11, 18, "LOCATION")]

    assert words(text, covered(text, spans, "<PERSON> in Utrecht", ignores)) == ["Bo Smid i"]
    assert words(text, covered(text, spans, "<PERSON> in <LOCATION>", ignores)) == ["Bo Smid i", " Utrecht"]


def test_what_stands_elsewhere_is_readable_where_it_was_masked() -> None:
    """The surname comes again in the same output, where nobody flagged it."""
    text = "I am Bo Hendriksma. Dear Hendriksma, hello"
    found = covered(text, [Span(5, 18, "PERSON")], "I am <PERSON>. Dear Hendriksma, hello")

    assert (words(text, found), found.masked) == (["m Bo "], [(5, 18)])


def test_stretches_that_meet_are_one() -> None:
    """First and last name were flagged apart: a label of both is in one stretch."""
    text = "I am Bo Hendriksma."
    found = covered(text, [Span(5, 7, "PERSON"), Span(8, 18, "PERSON")], "I am <PERSON> <PERSON>.")

    assert (found.hidden, found.masked) == ([(3, 19)], [(5, 7), (8, 18)])


def test_code_points_that_begin_no_grapheme_are_told() -> None:
    """Marks on letters, vowel signs, the parts of a Korean syllable, what joins emoji."""
    text = unicodedata.normalize("NFD", "Zoë, 한, कि, 👩\u200d👧 hello")
    end = text.index(" hello")
    found = covered(text, [Span(0, end, "PERSON")], "<PERSON> hello")

    assert [text[at] for at in found.joined] == ["\u0308", "\u1161", "\u11ab", "\u093f", "\u200d", "👧"]


def test_output_that_is_not_aligned_hides_the_words_that_stand_nowhere_in_it() -> None:
    """In any spelling, and inside other words: `Bo` stands in `somebody`. Nobody knows what was masked."""
    text = "Bo Hendriksma lives in Zoë's house, Utrecht."
    found = covered(
        text, [Span(0, 13, "PERSON")], "It was said by somebody that ZOE&#235; is at home and has the keys."
    )

    assert (words(text, found), found.masked) == ([" Hendriksma lives in ", " house, Utrecht."], None)


def test_piece_of_a_number_that_is_told_as_a_leak_is_readable_in_an_output_that_is_not_aligned() -> None:
    """The whole number stands nowhere in it, and its first eight digits do."""
    text = "Please call 0624118703 as soon as you can, or send him a letter."
    output = "He asks whether somebody might ring his mobile 06241187 today, and writes that mail is fine too."
    found = covered(text, [Span(12, 22, "PHONE_NUMBER")], output)

    assert found.masked is None
    assert [each for each in words(text, found) if "03" in each] == ["03 "]


@settings(max_examples=300)
@given(
    st.lists(st.text("abcë1 -&;", max_size=12).map(str.strip).filter(bool), max_size=8),
    st.text("abcABCéë1٣ .", max_size=30),
)
def test_words_stand_where_a_search_finds_them(given_words: list[str], output: str) -> None:
    """Hashes of all pieces say what a search for each word says, of words up to the length that is looked at."""
    asked, letters = {squeeze(word) for word in given_words} - {""}, squeeze(output)

    assert {word for word in asked if word in letters} == under_test._standing(asked, letters)  # noqa: SLF001  # the fast path of one rule


POINTS = st.sets(st.integers(0, 40))


def stretches(points: set[int]) -> list[tuple[int, int]]:
    """Return points as stretches, none touching another."""
    starts = sorted(at for at in points if at - 1 not in points)
    ends = sorted(at + 1 for at in points if at + 1 not in points)
    return list(zip(starts, ends, strict=True))


@given(POINTS, POINTS)
def test_holes_are_cut_out(whole: set[int], holes: set[int]) -> None:
    """Point by point."""
    assert stretches(whole - holes) == cut_out(stretches(whole), stretches(holes))


@given(POINTS, POINTS | st.none(), POINTS)
def test_row_keeps_a_coverage_as_it_is(hidden: set[int], masked: set[int] | None, joined: set[int]) -> None:
    """Whatever lies beside what, and however far from the text's beginning."""
    coverage = Coverage(stretches(hidden), None if masked is None else stretches(masked), sorted(joined))

    assert coverage == KeptCoverage.of(coverage).coverage()


def test_row_has_room_for_any_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more stretches than that the later ones are readable, and masks unknown; joined marks count by themselves."""
    monkeypatch.setattr(under_test, "_MOST", 2)
    text = "aé bé cé dé"  # letters with marks of their own
    text = unicodedata.normalize("NFD", text)
    spans = [Span(at, at + 1, "X") for at, c in enumerate(text) if c in "abcd"]
    found = covered(text, spans, text.translate(dict.fromkeys(map(ord, "abcd"), "*")))
    whole = covered(text, [Span(0, len(text), "X")], "*")

    assert (found.hidden, found.masked) == ([(0, 1), (2, 5)], None)
    assert (whole.masked, whole.joined) == ([(0, len(text))], [])
