"""A multiset that knows its smallest, whatever comes and goes."""

from __future__ import annotations

import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.smallest import Smallest


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.booleans()), max_size=400))
def test_smallest_is_that_of_a_list(steps: list[tuple[bool, int, bool]]) -> None:
    """Numbers are put in twice, taken away in any order, and asked for now and then."""
    numbers, expected = Smallest(), list[float]()
    for puts_in, number, asks in steps:
        if puts_in:
            numbers.add(number)
            expected.append(number)
        elif number in expected:
            numbers.take(number)
            expected.remove(number)
        if asks:
            assert min(expected, default=None) == numbers.smallest

    assert min(expected, default=None) == numbers.smallest


def test_numbers_that_went_make_room_behind_one_that_stays() -> None:
    """An old open task holds no other one's room."""
    numbers = Smallest()
    for number in range(10_000):
        numbers.add(number)
    for number in range(1, 10_000):
        numbers.take(number)

    assert numbers.smallest == 0
    assert numbers.held < 500


def test_number_that_goes_and_comes_back_takes_no_more_room() -> None:
    """A document that changes over and over is there once."""
    numbers = Smallest()
    numbers.add(1.0)
    for _ in range(1000):
        numbers.take(1.0)
        numbers.add(1.0)

    assert (numbers.smallest, numbers.held) == (1.0, 1)


@pytest.mark.parametrize("order", ["rising", "falling", "any"])
def test_many_numbers_are_those_of_a_list(order: str) -> None:
    """More than a heap is left with, whole and broken ones; they come and go, from the top and from anywhere."""
    rng = Random(order)  # noqa: S311  # seeded, no secret
    numbers, expected = Smallest(), list[float]()
    for step in range(6_000):
        number = {"rising": step / 2, "falling": -step, "any": rng.randrange(500)}[order]
        numbers.add(number)
        expected.append(number)
        if step % 3 == 2:
            gone = rng.choice((min(expected), rng.choice(expected)))
            numbers.take(gone)
            expected.remove(gone)
        if step % 50 == 0:
            assert numbers.smallest == min(expected)
    for number in sorted(expected):
        assert numbers.smallest == number
        numbers.take(number)

    assert (numbers.smallest, numbers.held) == (None, 0)


def test_times_in_milliseconds_come_back_as_they_were() -> None:
    """Packed numbers are floats, which hold whole ones up to 2⁵³."""
    numbers = Smallest()
    times = range(-4_102_444_800_000, -4_102_444_799_000)
    for at in reversed(times):
        numbers.add(at)
    for at in times:
        assert numbers.smallest == at
        numbers.take(at)


def test_most_numbers_take_little_room() -> None:
    """A hundred thousand floats of their own would take 24 bytes each, and eight for each place in a list."""
    numbers = Smallest()
    for number in range(100_000):
        numbers.add(-1e12 - number)

    held = sum(map(sys.getsizeof, (numbers._heap, numbers._packed)))  # noqa: SLF001  # what is measured
    assert held + 24 * len(numbers._heap) < 16 * 100_000  # noqa: SLF001
