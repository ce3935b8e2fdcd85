"""One letter that a label takes beside a mask: forgiven where it says nothing of anybody, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.leaks.alignment import merge_stretches
from monitor.leaks.coverage import coverage_of
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.leaks.single_letters import forgive_letters
from monitor.output_cells import readable
from monitor.records import Span

PERSON, PHONE, PLACE = "PERSON", "PHONE_NUMBER", "LOCATION"


def reads(text: str, masked: str, label: str, entity: str = PERSON) -> bool:
    """Return whether a label is readable in an output that masks one stretch of a text; both by their words."""
    start = text.index(masked)
    span = Span(start, start + len(masked), entity)
    redacted = text[:start] + f"<{entity}>" + text[span.end :]
    coverage = coverage_of(text, [span], redacted, examine(text, [span], redacted, Policy()), Policy())
    at = text.index(label)
    return bool(readable({(at, at + len(label), entity)}, coverage.hidden))


@pytest.mark.parametrize(
    ("text", "masked", "label", "entity"),
    [
        ("Ask Bo Smid said so", "Bo Smid", "Bo Smid s", PERSON),
        ("mit Wolfram, gern", "Wolfram", "t Wolfram", PERSON),
        ("au 04 72 09 52 30 depuis", "04 72 09 52 30", "04 72 09 52 30 d", PHONE),
        ("The Smiths live here", "Smith", "Smiths", PERSON),
        ("Dit is Smid's fiets", "Smid", "Smid's", PERSON),
        ("at Kenneally 's at noon", "Kenneally", "Kenneally 's", PLACE),
        ("like Applebee s , or not", "Applebee", "Applebee s", PLACE),
        ("DE VRIES\u2019S FIETS", "DE VRIES", "DE VRIES\u2019S", PERSON),
        ("Hendriks\u00e9 \u00e9tait l\u00e0", "Hendriks\u00e9", "Hendriks\u00e9 \u00e9", PERSON),
        (
            "\u0418\u0432\u0430\u043d \u0441\u043a\u0430\u0437\u0430\u043b",
            "\u0418\u0432\u0430\u043d",
            "\u0418\u0432\u0430\u043d \u0441",
            PERSON,
        ),
    ],
)
def test_one_letter_that_says_nothing_is_not_readable(text: str, masked: str, label: str, entity: str) -> None:
    """Cut from the next word or the one before, or a name's ending, whatever stands between."""
    assert not reads(text, masked, label, entity)


@pytest.mark.parametrize(
    ("text", "masked", "label", "entity"),
    [
        ("Ask Bo Smid said so", "Bo Smid", "Bo Smid sa", PERSON),
        ("Ask Smid B. about it", "Smid", "Smid B", PERSON),
        ("Ask J. Smid about it", "Smid", "J. Smid", PERSON),
        ("Joke called", "oke", "Joke", PERSON),
        ("Bo Kley, m, 46 years", "Bo Kley", "m", PERSON),
        ("Bo Smid m 46 years", "Bo Smid", "Bo Smid m", PERSON),
        ("Super 8 at night", "Super", "Super 8", PLACE),
        ("call 06-24 11 87 03 4 times", "06-24 11 87 03", "06-24 11 87 03 4", PHONE),
        ("id 12345678Z here", "12345678", "12345678Z", "ID"),
        ("id 12345678z here", "12345678", "12345678z", "ID"),
        ("user bo17s wrote", "bo17", "bo17s", PERSON),
        ("\u738b\u5c0f\u660e\u8bf4", "\u738b\u5c0f", "\u738b\u5c0f\u660e", PERSON),
        ("The Smithson live here", "Smith", "Smithso", PERSON),
        ("OSCAR S went", "OSCAR", "OSCAR S", PERSON),
        ("SmithB went", "Smith", "SmithB", PERSON),
    ],
)
def test_what_may_say_something_stays_readable(text: str, masked: str, label: str, entity: str) -> None:
    """Two letters, a digit, an initial before or behind, a sex, the end of an id, a character of a Chinese name."""
    assert reads(text, masked, label, entity)


def test_letter_that_the_check_calls_a_leak_stays_readable() -> None:
    """The redactor left the last letter of what was flagged: the leak says so, and so does the label."""
    text, span = "Ask Hendriksma now", Span(4, 14, PERSON)
    redacted = "Ask <PERSON>a now"
    found = examine(text, [span], redacted, Policy())
    assert [leak.kind for leak in found.leaks] == ["partial_mask"]
    coverage = coverage_of(text, [span], redacted, found, Policy())
    assert readable({(4, 14, PERSON)}, coverage.hidden) == [(4, 14, PERSON)]


def test_no_letter_of_a_leak_is_forgiven() -> None:
    """On neither side of what is hidden."""
    assert forgive_letters("Bo Smid", [Span(0, 2, PERSON)], [(0, 3)], [(3, 7)]) == [(0, 3)]
    assert forgive_letters("Smid Bo", [Span(5, 7, PERSON)], [(4, 7)], [(0, 4)]) == [(4, 7)]
    assert forgive_letters("Smids", [Span(0, 4, PERSON)], [(0, 4)], [(4, 5)]) == [(0, 4)]


def test_word_of_two_letters_between_masks_stays_readable() -> None:
    """`de` would be taken a letter from either side; of one letter, the genitive's, nothing is left."""
    text = "Jan de Vries"
    assert forgive_letters(text, [Span(0, 3, PERSON), Span(7, 12, PERSON)], [(0, 4), (6, 12)], []) == [(0, 5), (6, 12)]
    text = "Jan's Vries"
    assert forgive_letters(text, [Span(0, 3, PERSON), Span(6, 11, PERSON)], [(0, 4), (5, 11)], []) == [(0, 11)]


TEXTS = st.text(st.sampled_from("abSs1 '.\u00e9\u738b"), max_size=24)
PAIRS = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 4)), max_size=4)


@settings(max_examples=600, deadline=None)
@given(TEXTS, PAIRS, PAIRS)
def test_no_label_loses_a_digit_or_two_letters_on_a_side(
    text: str, masked: list[tuple[int, int]], leaks: list[tuple[int, int]]
) -> None:
    """Of every stretch of a text that came to be hidden, the part that wasn't is single letters apart, none a digit."""
    spans = [Span(start, min(start + size, len(text)), PERSON) for start, size in masked if start < len(text)]
    leaking = merge_stretches([(a, min(a + size, len(text))) for a, size in leaks if a < len(text)])
    inside = [any(s.start <= at < s.end for s in spans) for at in range(len(text))]
    shown = [any(a <= at < b for a, b in leaking) for at in range(len(text))]
    before = _hidden(text, [a and not b for a, b in zip(inside, shown, strict=True)])
    after = forgive_letters(text, spans, before, leaking)

    assert after == merge_stretches(after)
    was = {at for start, end in before for at in range(start, end)}
    new = sorted(at for start, end in after for at in range(start, end) if at not in was and text[at].isalnum())
    assert [at for at in new if not text[at].isalpha() or shown[at] or at + 1 in new] == []
    assert was <= {at for start, end in after for at in range(start, end)}


def _hidden(text: str, masked: list[bool]) -> list[tuple[int, int]]:
    """Return masked stretches, each reaching over all beside it that is no letter or digit."""
    wide = list(masked)
    for places in (range(1, len(text)), range(len(text) - 2, -1, -1)):
        step = 1 if places.step > 0 else -1
        for at in places:
            wide[at] |= not text[at].isalnum() and wide[at - step]
    return merge_stretches([(at, at + 1) for at in range(len(text)) if wide[at]])
