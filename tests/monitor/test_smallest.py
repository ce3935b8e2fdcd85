"""A multiset that knows its smallest, whatever comes and goes."""

from __future__ import annotations

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
