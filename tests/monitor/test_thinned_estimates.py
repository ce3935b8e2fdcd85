"""Estimates under thinning: q follows the queue, which follows the draws, and the estimates stay unbiased."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np
import pytest

from monitor.config import Labels, Sampling
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import Stratum
from monitor.sampling import Sampler
from monitor.thinning import Load, factor, next_step

STREAMS = 200
HOURS = 40
FLOOD = range(8, 16)
BOUNDS = Labels(max_backlog=60)
ANSWERED_AN_HOUR = 25
Kind = tuple[Stratum, int, int]


class Hour(NamedTuple):
    """Documents of an hour: stratum, true occurrences, found ones."""

    documents: list[Kind]


class Outcome(NamedTuple):
    """What one stream came to: totals and recall by the recorded probability, and as if q had been 1 all along."""

    true: float
    recall: float
    true_without_q: float
    recall_without_q: float
    covered: bool
    lowest_q: float
    last_q: float


def traffic() -> list[Hour]:
    """Return a stream whose recall is bad in the hours in which it is a flood."""
    rng = np.random.default_rng(5)
    hours = []
    for hour in range(HOURS):
        flood = hour in FLOOD
        documents: list[Kind] = []
        for _ in range(300 if flood else 40):
            y = int(rng.poisson(0.6))
            t = int(rng.binomial(y, 0.5 if flood else 0.9))
            documents.append(("both" if t or rng.random() < 0.5 else "unflagged", y, t))
        hours.append(Hour(documents))
    return hours


TRAFFIC = traffic()
TRUE = sum(y for hour in TRAFFIC for _, y, _ in hour.documents)
FOUND = sum(t for hour in TRAFFIC for _, _, t in hour.documents)
CENSUS = Counter(stratum for hour in TRAFFIC for stratum, _, _ in hour.documents)


def stream(key: str) -> Outcome:
    """Draw the traffic once, each hour under the factor that the queue asked for at its end of the hour before."""
    sampling = Sampling(random_rate=0.3, loose_rate=0.3, key=key)
    step, waiting, steps = 0, 0, [0]
    drawn: Counter[tuple[Stratum, float, float, int, int]] = Counter()
    for number, hour in enumerate(TRAFFIC):
        sampler = Sampler(sampling, factor(step))
        for place, (stratum, y, t) in enumerate(hour.documents):
            found = sampler.draw(f"{number}/{place}", "en", stratum)
            if found is not None:
                drawn[stratum, found.rates.probability, sampler.thinning, y, t] += 1
                waiting += 1
        waiting = max(waiting - ANSWERED_AN_HOUR, 0)
        step = next_step(step, Load(0.0, waiting), BOUNDS)
        steps.append(step)
    recorded = population_recall(strata(drawn, thinned=True))
    ignored = population_recall(strata(drawn, thinned=False))
    assert recorded.estimate is not None
    assert recorded.lower is not None
    assert recorded.upper is not None
    assert ignored.estimate is not None
    return Outcome(
        true=sum(n * y / probability for (_, probability, _, y, _), n in drawn.items()),
        recall=recorded.estimate,
        true_without_q=sum(n * y * q / probability for (_, probability, q, y, _), n in drawn.items()),
        recall_without_q=ignored.estimate,
        covered=recorded.lower <= FOUND / TRUE <= recorded.upper,
        lowest_q=factor(max(steps)),
        last_q=factor(steps[-1]),
    )


def strata(drawn: Counter[tuple[Stratum, float, float, int, int]], *, thinned: bool) -> list[StratumSample]:
    """Return the labelled sample as the estimators read it; not thinned: as if each q had been 1."""
    designs: dict[tuple[Stratum, float], Design] = {}
    for (stratum, probability, q, y, t), n in drawn.items():
        given = probability if thinned else probability / q
        held = designs.get((stratum, given), Design(given, 0, 0, Moments()))
        added = Moments(*(n * m for m in Moments.of(t, y)))
        designs[stratum, given] = Design(given, held.sampled + n, held.labelled + n, held.moments.plus(added))
    return [
        StratumSample("en", stratum, census, tuple(d for (of, _), d in designs.items() if of == stratum))
        for stratum, census in CENSUS.items()
    ]


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    """Give the same traffic under many keys."""
    return [stream(f"key {number}") for number in range(STREAMS)]


def errors_away(values: list[float], truth: float) -> float:
    """Return how many Monte Carlo standard errors the mean lies from the truth."""
    return abs(mean(values) - truth) / (stdev(values) / sqrt(len(values)))


def test_the_queue_turned_the_factor_down_and_up_again(outcomes: list[Outcome]) -> None:
    """In every stream: from 1 to a quarter or less, and back."""
    assert max(outcome.lowest_q for outcome in outcomes) <= 0.25
    assert {outcome.last_q for outcome in outcomes} == {1.0}
    assert len({outcome.lowest_q for outcome in outcomes}) > 1


def test_weighted_totals_are_unbiased(outcomes: list[Outcome]) -> None:
    """By the recorded probability; without q two thirds of the flood would be lost."""
    assert errors_away([outcome.true for outcome in outcomes], TRUE) < 3
    without = [outcome.true_without_q for outcome in outcomes]
    assert errors_away(without, TRUE) > 30
    assert mean(without) < 0.75 * TRUE


def test_recall_is_unbiased(outcomes: list[Outcome]) -> None:
    """Recall was bad in the flood, which was thinned: without q it would read far too high."""
    truth = FOUND / TRUE
    assert errors_away([outcome.recall for outcome in outcomes], truth) < 3
    without = [outcome.recall_without_q for outcome in outcomes]
    assert errors_away(without, truth) > 30
    assert mean(without) > truth + 0.05


def test_the_interval_covers_what_it_promises(outcomes: list[Outcome]) -> None:
    """95 %, within three Monte Carlo standard errors."""
    covered = mean(outcome.covered for outcome in outcomes)
    assert covered >= 0.95 - 3 * sqrt(0.95 * 0.05 / STREAMS)
