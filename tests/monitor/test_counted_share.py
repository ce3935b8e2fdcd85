"""The share of things in documents that were all looked at: exact counts, limits for the rate behind them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from monitor.estimators.counted_share import CountedShare, counted_share
from monitor.estimators.wilson import wilson


def share_of(documents: Sequence[tuple[int, int]], confidence: float = 0.95) -> CountedShare | None:
    """Return the share over documents of (t, y)."""
    sums = (
        sum(t for t, _ in documents),
        sum(y for _, y in documents),
        sum(t * t for t, _ in documents),
        sum(t * y for t, y in documents),
        sum(y * y for _, y in documents),
    )
    return counted_share(*sums, confidence)


def test_no_thing_gives_no_share() -> None:
    """Never 0."""
    assert share_of([]) is None
    assert share_of([(0, 0)] * 40) is None


def test_documents_of_one_thing_are_trials() -> None:
    """Wilson's interval, but for Student's t."""
    found, plain = share_of([(1, 1)] * 60 + [(0, 1)] * 4_940), wilson(60, 5_000)
    assert found is not None
    assert plain is not None
    assert found.limits == pytest.approx(plain, rel=2e-3)
    assert found.n_eff == pytest.approx(5_000)


def test_things_that_leak_together_are_worth_less() -> None:
    """Ten leaks in one document aren't ten documents with one."""
    apart = share_of([(1, 10)] * 100 + [(0, 10)] * 900)
    together = share_of([(10, 10)] * 10 + [(0, 10)] * 990)
    assert apart is not None
    assert together is not None
    assert apart.limits.estimate == together.limits.estimate == 0.01
    assert together.n_eff == pytest.approx(1_000)
    assert together.n_eff < apart.n_eff / 5
    assert together.limits.upper > apart.limits.upper


@pytest.mark.parametrize("y", [1, 3, 10])
def test_no_leak_still_has_an_upper_limit_and_one_leak_a_higher_one(y: int) -> None:
    """With few leaks documents alone count: else one leak would say more than none."""
    limits = [share_of([(1, y)] * k + [(0, y)] * (1_000 - k)) for k in range(8)]
    uppers = [found.limits.upper for found in limits if found is not None]
    assert uppers[0] == pytest.approx(3.84 / 1_004, rel=0.01)
    assert all(a < b for a, b in pairwise(uppers[:5]))
    assert limits[0] is not None
    assert limits[0].limits.lower == 0


@pytest.mark.parametrize("few", [1, 30])
def test_leaking_and_clean_are_mirror_images(few: int) -> None:
    """Where nearly all leak it's the clean ones that are few."""
    documents = [(0, 3)] * 2_000 + [(1, 3)] * few
    found, mirrored = share_of(documents), share_of([(y - t, y) for t, y in documents])
    assert found is not None
    assert mirrored is not None
    assert mirrored.n_eff == pytest.approx(found.n_eff)
    assert mirrored.limits.lower == pytest.approx(1 - found.limits.upper)


def test_limits_hold_as_often_as_they_say() -> None:
    """2,000 windows of 400 documents whose redactions leak together: the rate behind them is held in 94 % and more."""
    rng = random.Random(6)  # noqa: S311  # a simulation
    held = 0
    for _ in range(2_000):
        documents = []
        for _ in range(400):
            y = rng.choice((1, 2, 4, 8))
            leaking = rng.random() < 0.08
            documents.append((sum(rng.random() < 0.6 for _ in range(y)) if leaking else 0, y))
        found = share_of(documents)
        assert found is not None
        held += found.limits.lower <= 0.048 <= found.limits.upper
    assert held >= 1_880
