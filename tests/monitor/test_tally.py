"""Tallies add: in any order, in any grouping, exactly, and there and back through bytes."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import StateError
from monitor.estimators.sample import Moments
from monitor.tallies import RowKey, published, read_key, read_value, usable_ms
from monitor.tally import (
    CellKey,
    CensusKey,
    CountKey,
    DesignKey,
    FlaggedKey,
    Key,
    MadeKey,
    QueueKey,
    Tally,
    VersionKey,
)

WIDTHS: dict[Key, int] = {
    CensusKey("en", "d", "1", "both"): 1,
    FlaggedKey("en", "d", "1", "PERSON"): 2,
    DesignKey("en", "d", "1", "both", 0.1): 5,
    DesignKey("en", "d", "1", "both", 0.1 + 0.2): 5,
    CellKey("en", "d", "1", "both", 0.1, "any", "matched"): 14,
    CellKey("en", "d", "1", "both", 0.1, "any", "masked"): 14,
    CountKey("labels", "joined"): 1,
    MadeKey("d", "1", "c0ffee", "babe"): 1,
    QueueKey("en"): 3,
}
NUMBERS = st.integers(-(10**25), 10**25) | st.integers(-3, 3)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    """Draw a tally with rows of every kind."""
    tally = Tally()
    for key in draw(st.lists(st.sampled_from(list(WIDTHS)), max_size=3)):
        tally.add(key, draw(st.tuples(*[NUMBERS] * WIDTHS[key])))
    for language in draw(st.lists(st.sampled_from(("en", "nl")), unique=True)):
        first = draw(st.integers(0, 99))
        tally.note_seen(VersionKey(language, "d", "1"), first, first + draw(st.integers(0, 9)))
        tally.oldest[language] = draw(st.floats(0, 1e10))
    return tally


def merged(*parts: Tally) -> Tally:
    """Return the sum of tallies, none of them changed."""
    total = Tally()
    for part in parts:
        total.merge(part)
    return total


@settings(max_examples=50)
@given(a=tallies(), b=tallies(), c=tallies())
def test_merging_is_a_commutative_monoid(a: Tally, b: Tally, c: Tally) -> None:
    """Empty is zero; order and grouping don't matter."""
    assert a == merged(a) == merged(Tally(), a)
    assert merged(a, b) == merged(b, a)
    assert merged(merged(a, b), c) == merged(a, merged(b, c))


@settings(max_examples=50)
@given(a=tallies(), b=tallies())
def test_taking_away_leaves_no_residue(a: Tally, b: Tally) -> None:
    """What was added and taken away again is as if it had never been there."""
    total = Tally(a.rows)
    total.merge_rows(b)
    total.merge_rows(b, -1)

    assert a.rows == total.rows


@settings(max_examples=50)
@given(a=tallies(), b=tallies())
def test_encoding_goes_there_and_back(a: Tally, b: Tally) -> None:
    """Also for numbers beyond 64 bits; equal tallies give equal bytes, however they came about."""
    assert a == Tally.decode(a.encode())
    assert merged(a, b).encode() == merged(b, a).encode()


def test_row_of_zeros_is_no_row() -> None:
    """What adds up to nothing isn't kept."""
    tally = Tally()
    tally.add(QueueKey("en"), (1, 1, 0))
    tally.add(QueueKey("en"), (1, 1, 0), -1)

    assert tally.rows == {}


def test_fourth_powers_beyond_64_bits_are_kept_exactly() -> None:
    """A document of 100,000 occurrences has Σy⁴ = 1e20, and must not take the checkpoint down."""
    key = CellKey("en", "d", "1", "both", 1.0, "PERSON", "matched")
    tally = Tally({key: Moments.of(99_999, 100_000)})

    assert Moments(*Tally.decode(tally.encode()).rows[key]).yyyy == 10**20


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"{}",
        msgspec.msgpack.encode((2, [], [], [])),
        msgspec.msgpack.encode((1, [], [])),
        msgspec.msgpack.encode((1, [(["other", "x"], (1,))], [], [])),
        msgspec.msgpack.encode((1, [([], (1,))], [], [])),
        msgspec.msgpack.encode((1, [(["census", "en"], (1,))], [], [])),
        msgspec.msgpack.encode((1, [(["queue", "en"], ("x",))], [], [])),
    ],
)
def test_bytes_of_somebody_else_are_a_state_error(data: bytes) -> None:
    """A row that this version can't read says so, and what to do."""
    with pytest.raises(StateError, match="rebuild"):
        Tally.decode(data)


def test_published_row_is_read_back() -> None:
    """Key and value of the topic between the stages and the board."""
    tally = Tally({CountKey("labels", "joined"): (2,)})
    output = published("ledger", 3, "20000", 77, tally)

    assert RowKey("ledger", 3, 20_000) == read_key(output.key)
    assert (77, tally) == read_value(output.value or b"")
    assert published("ledger", 3, "20000", 78, None).value is None


@pytest.mark.parametrize(
    "key", [b"", b"route/0", b"route/0/x", b"other/0/1", b"route/-1/1", b"\xff/0/1", b"route/0/1/2"]
)
def test_key_of_another_form_is_a_state_error(key: bytes) -> None:
    """A topic that somebody else writes to doesn't pass for ours."""
    with pytest.raises(StateError, match="key"):
        read_key(key)


@pytest.mark.parametrize("value", [b"", b"x", msgspec.msgpack.encode((1, b"x")), msgspec.msgpack.encode((1, 2))])
def test_value_of_another_form_is_a_state_error(value: bytes) -> None:
    """The same for values."""
    with pytest.raises(StateError):
        read_value(value)


@pytest.mark.parametrize("timestamp_ms", [-1, 1_790_000_000_000_000, 2**62])
def test_time_in_another_unit_is_the_current_day(timestamp_ms: int) -> None:
    """A record in microseconds would otherwise end every window, for good."""
    assert usable_ms(timestamp_ms, 20_000) == 86_400_000 * 20_000
