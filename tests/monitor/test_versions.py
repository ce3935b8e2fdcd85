"""Versions sort as people count, whatever scheme their names follow."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.versions import newest, version_key

PIECES = st.sampled_from(
    ["1", "10", "9", "02", "rc", "v", ".", "-", "+", "_", " ", "post", "dev", "é", "²", "٣", "\ud83d"]
)
VERSIONS = st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=6)


def test_the_newest_of_a_release_its_candidate_and_its_v() -> None:
    """Case NAM-3: 1.10 comes after 1.9 and its own candidate, and a v changes nothing."""
    arrived = ["1.9.0", "1.10.0", "1.10.0-rc1", "v1.10.0"]
    by_key = {version_key(version): version for version in reversed(arrived)}
    assert [by_key[key] for key in sorted(by_key)] == ["1.9.0", "1.10.0-rc1", "1.10.0"]
    for order in itertools.permutations(arrived):
        assert newest(order) == "1.10.0"


@pytest.mark.parametrize(
    "ordered",
    [
        ["1.0.dev1", "1.0a1", "1.0b1", "1.0rc1", "1.0rc2", "1.0rc10", "1.0", "1.0.post1", "1.0.1", "1.1"],
        ["2.2.365+en_core_web_sm-3.8.0", "2.2.366", "2.2.366+en_core_web_sm-3.8.0", "2.2.366+en_core_web_sm-3.10.0"],
        ["v2-500docs", "v3-100docs-noemail", "4.9.0", "V10"],
        ["2024-12-31", "2025-01-02", "2025-01-10"],
        ["model-a", "model-b", "", "1"],
        ["1", "9" * 100, "1" + "0" * 100],
    ],
)
def test_versions_of_one_scheme_are_in_order(ordered: list[str]) -> None:
    """Each list is written oldest first."""
    assert sorted(set(ordered), key=version_key) == ordered


def test_nothing_has_no_newest() -> None:
    """No version, no answer."""
    assert newest([]) is None


@settings(deadline=None)
@given(VERSIONS, VERSIONS, VERSIONS)
def test_any_three_versions_are_in_one_order(first: str, second: str, third: str) -> None:
    """Every pair compares, one way or equal, and the order is transitive."""
    low, middle, high = sorted(map(version_key, (first, second, third)))
    assert low <= middle <= high
    assert low <= high
    assert (low < high) is not (low == high)


@settings(deadline=None)
@given(st.lists(VERSIONS, max_size=4))
def test_the_newest_does_not_depend_on_the_order_of_arrival(versions: list[str]) -> None:
    """Two workers that saw the same versions name the same one."""
    assert {newest(order) for order in itertools.permutations(versions)} == {newest(versions)}
