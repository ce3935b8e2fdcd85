"""Numbers that share digits: each is found by its own, wherever it stands elsewhere in the output."""

from __future__ import annotations

import time
from random import Random

import pytest

from monitor.leaks.check import check
from monitor.leaks.mentions import Mention, Searched
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.leaks.values import Key
from monitor.records import Span

PHONE = "PHONE_NUMBER"


def found_in(output: str, *numbers: str) -> list[tuple[str, str, int, int]]:
    """Return which digits of which number stand in an output: the place as it reads, the number, first and last."""
    mentions: list[Mention] = Searched(output).mentions([Key(number, "number") for number in numbers])
    return [(output[m.start : m.end], m.key.letters, m.first, m.last) for m in mentions]


def leaks_of(text: str, values: tuple[str, ...], redacted: str) -> list[tuple[str, str]]:
    """Return the place in the text and in the output of each leak, as check and screen say alike."""
    spans = [Span(text.index(value), text.index(value) + len(value), PHONE) for value in values]
    found = check(text, spans, redacted, Policy())
    assert found == examine(text, spans, redacted, Policy())
    assert {leak.kind for leak in found.leaks} <= {"survives_elsewhere"}
    return [(text[leak.start : leak.end], redacted[leak.output_start : leak.output_end]) for leak in found.leaks]


@pytest.mark.parametrize("order", [1, -1])
def test_two_numbers_with_the_same_last_digits_are_both_found(order: int) -> None:
    """An office's line in two towns: each one's whole number is told as its own, whichever was flagged first."""
    values = ("020-7654321", "070-7654321")[::order]
    text = f"Bel {values[0]} of {values[1]}. Dus 0207654321, en ook 0707654321."
    redacted = "Bel <PHONE_NUMBER> of <PHONE_NUMBER>. Dus 0207654321, en ook 0707654321."
    expected = [("020-7654321", "0207654321"), ("070-7654321", "0707654321")]
    assert sorted(leaks_of(text, values, redacted)) == expected


@pytest.mark.parametrize("order", [1, -1])
def test_two_numbers_with_the_same_first_digits_are_both_found(order: int) -> None:
    """Of cards of one bank each is cut after twelve digits: the first eight are the bank's."""
    numbers = ("4539148803436467", "4539148899887766")[::order]
    assert found_in("kaart 453914880343, kaart 453914889988.", *numbers) == [
        ("453914880343", "4539148803436467", 0, 12),
        ("453914889988", "4539148899887766", 0, 12),
    ]


def test_the_number_that_stands_there_whole_is_told_before_one_that_ends_alike() -> None:
    """A short number and a long one that ends with it."""
    assert found_in("ref 7654321 now", "0207654321", "7654321") == [("7654321", "7654321", 0, 7)]
    assert found_in("ref 0207654321 now", "7654321", "0207654321") == [("0207654321", "0207654321", 0, 10)]
    assert found_in("ref 7654321 now", "0207654321", "0707654321")[0][0] == "7654321"


def test_a_number_that_ends_there_is_found_where_a_longer_one_goes_on_otherwise() -> None:
    """The digits of another number follow at once; eight of the longer one's stand there by chance."""
    assert found_in("0612345, 6712", "0612345678", "0612345") == [("0612345", "0612345", 0, 7)]


@pytest.mark.parametrize("seed", range(40))
def test_every_number_left_is_found_by_itself_among_many_that_look_like_it(seed: int) -> None:
    """Numbers of few digits, in few combinations; each stands alone in the output once."""
    rng = Random(seed)  # noqa: S311
    made = {"".join(rng.choices("01", k=rng.choice((8, 9, 10, 12)))) for _ in range(30)}
    numbers = [number for number in sorted(made) if not any(number in other and number != other for other in made)]
    rng.shuffle(numbers)
    left = rng.sample(numbers, k=min(6, len(numbers)))
    output = "; ".join(f"no {number}" for number in left)
    assert [key for _, key, first, last in found_in(output, *numbers) if last - first == len(key)] == left


def test_many_numbers_with_the_same_last_digits_take_no_more_time_than_others() -> None:
    """Four thousand numbers, all in the output too: alike at their ends, or not."""

    def seconds(numbers: list[str]) -> float:
        output = " x ".join(numbers)
        begun = time.process_time()
        assert len(found_in(output, *numbers)) == len(numbers)
        return time.process_time() - begun

    alike = [f"{number:04d}7654321" for number in range(4000)]
    apart = [f"{number * 7919 % 10_000_019:07d}{number:04d}" for number in range(4000)]
    assert seconds(alike) < 10 * seconds(apart) + 0.5


def test_numbers_of_hundreds_of_digits_are_found() -> None:
    """Whole, and by what stands of them at an end, to a thirtieth."""
    number = "".join(Random(3).choices("0123456789", k=900))  # noqa: S311
    other = number[:-300] + "".join(Random(4).choices("0123456789", k=300))  # noqa: S311
    assert [m[1:] for m in found_in(f"a {number} b", other, number)] == [(number, 0, 900)]
    (cut,) = found_in(f"a {number[:-100]} b", number)
    assert (cut[1], cut[2]) == (number, 0)
    assert 780 <= cut[3] <= 800


def test_numbers_of_one_office_begin_alike_and_are_not_each_other() -> None:
    """Seven digits of ten where the number goes on are none of it; where it ends there they are."""
    assert found_in("bel 0612345999 nu", "0612345678") == []
    assert found_in("bel 06123456 nu", "0612345678") == [("06123456", "0612345678", 0, 8)]
