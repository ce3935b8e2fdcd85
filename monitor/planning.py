"""A plan for the board: for each cell what more labels would buy, and the rates that would buy it with fewest.

It puts the planner (`monitor.estimators.planner`) and the advised rates (`monitor.advised_rates`) to every cell of the
current versions, each language's own (`planned_samples`). A cell of which nothing is known gets a reason and no number.

At the advised rates the sample is what it was *expected* to be: each sum of each design times advised over old rate.
Expected sums aren't whole numbers, and rounding them would make a single miss go away wherever a rate is halved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import NamedTuple

from monitor.advised_rates import AdvisedCell, AdvisedSampling, Place, Target, advised_sampling, cell_gain
from monitor.cells import CellSample, Version
from monitor.config import Sampling
from monitor.estimators.certified import certified_recall
from monitor.estimators.planner import (
    Price,
    Wait,
    caught_share,
    price_of_certified,
    wait_for_certified,
    wait_for_half_width,
)
from monitor.estimators.recall import PopulationRecall, population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.readings import ANY
from monitor.tally import ANY_ENTITY
from monitor.versions import version_key

USUAL_CERTIFIED = 0.9
"""Certified recall that is asked for where neither the operator nor a target says."""
_FAR = 2.0**30
_FINE = 1.002
"""How close a number of labels is found, as a ratio."""


class Question(NamedTuple):
    """What is asked of every cell."""

    half_width: float = 0.05
    """Of population recall's interval, in (0, 1)."""
    certified: float | None = None
    """Certified recall to be reached, in (0, 1); None is the cell's target, or `USUAL_CERTIFIED`."""
    labels_per_day: float | None = None
    """Labelled documents a day, of all languages, > 0; None is what it has been in the samples' days."""
    confidence: float = 0.95


class CellPlan(NamedTuple):
    """One cell, and what it takes."""

    sample: CellSample
    read: PopulationRecall
    """With the reason, where there is no interval."""
    labels_per_day: float
    """Of all labels the part that the cell's languages and detector have at the rates now."""
    to_half_width: Wait | None
    """At the rates now; None where there is no interval yet."""
    advised: Wait | None
    """The same at the advised rates, in a window of their own: what is labelled now isn't counted."""
    gain: AdvisedCell | None
    caught_share: float | None
    """Recall by document, weighted: below `certified_wanted`, no number of labels certifies that."""
    certified: float | None
    """Certified recall now."""
    certified_wanted: float
    to_certified: Wait | None
    price: Price | None
    """Of another .01 of certified recall."""
    target: float | None = None
    """Recall that the operator asks for in the cell."""

    @property
    def labelled(self) -> int:
        """Labelled documents in the cell's languages."""
        return sum([row.labelled for row in self.sample.strata])

    @property
    def with_entity(self) -> int:
        """Of these, the documents that hold the entity."""
        return sum([design.moments.with_entity for row in self.sample.strata for design in row.designs])

    @property
    def half_width(self) -> float | None:
        """Half of upper - lower, now."""
        return _half_width(self.read)


class BoardPlan(NamedTuple):
    """All cells that `planned_samples` returns and that were chosen, and one advice for them all."""

    question: Question
    labels_per_day: float | None
    """What was asked with, or what it has been; None where nothing is labelled."""
    cells: tuple[CellPlan, ...]
    advised: AdvisedSampling | None
    """None where no label holds any entity."""


def plan_board(
    samples: Sequence[CellSample],
    sampling: Sampling,
    question: Question,
    target: Target,
    chosen: Callable[[CellSample], bool] = lambda _: True,
) -> BoardPlan:
    """Return what labels would buy in every chosen cell of each language's current version.

    Parameters: `samples` of one window, all versions and roll-ups; `sampling` in force; `target` as `Plan.target`;
    `chosen` says which cells are planned (the advice serves all of them, whatever is chosen).

    Raises ValueError for a question out of range.
    """
    _check(question)
    pace = question.labels_per_day or labels_a_day(samples)
    advised = None if pace is None else advised_sampling(sampling, samples, pace, target=target)
    shared = _labelled(samples)
    plans = []
    for sample in planned_samples(samples):
        if chosen(sample):
            own_pace = None if pace is None else pace * _part(sample, shared)
            asked = target(sample.entity, sample.language)
            wanted = question.certified or asked or USUAL_CERTIFIED
            plans.append(_plan_cell(sample, own_pace, question, wanted, advised)._replace(target=asked))
    return BoardPlan(question, pace, tuple(plans), advised)


def planned_samples(samples: Sequence[CellSample]) -> list[CellSample]:
    """Return the cells of current versions, and in a language without one those of the last version there.

    A detector with one model a language has a version for each, and only one of them was seen last. The last version of
    a language is taken to be the highest (`monitor.versions`), as samples don't say when. An earlier version's roll-up
    over languages is planned where it's the last in all that it carries.

    Parameters: `samples` of one window, all versions and roll-ups.
    """
    languages: dict[tuple[str, str], set[Version]] = {}
    for sample in samples:
        if sample.language != ANY:
            languages.setdefault((sample.version.detector, sample.language), set()).add(sample.version)
    current = {sample.version for sample in samples if sample.current}
    carried: set[tuple[Version, str]] = set()
    for (_, language), versions in languages.items():
        last = max(versions, key=lambda version: version_key(version.version))
        carried |= {(version, language) for version in versions & current or {last}}

    def planned(sample: CellSample) -> bool:
        own = {row.language for row in sample.strata} if sample.language == ANY else {sample.language}
        return sample.current or (bool(own) and all((sample.version, language) in carried for language in own))

    return [sample for sample in samples if planned(sample)]


def _labelled(samples: Sequence[CellSample]) -> Counter[tuple[str, str]]:
    """Return the labelled documents of each detector, all its versions together, and language."""
    found: Counter[tuple[str, str]] = Counter()
    for sample in samples:
        if (sample.entity, sample.language) == (ANY_ENTITY, ANY):
            for row in sample.strata:
                found[sample.version.detector, row.language] += row.labelled
    return found


def _part(sample: CellSample, shared: Counter[tuple[str, str]]) -> float:
    """Return the part of all labels that a cell's languages have; 1 where no roll-up says."""
    own = sum([shared[sample.version.detector, language] for language in {row.language for row in sample.strata}])
    return own / shared.total() if own else 1.0


def labels_a_day(samples: Sequence[CellSample]) -> float | None:
    """Return how many documents were labelled a day, all versions together; None where none was."""
    rows = [s for s in samples if (s.entity, s.language) == (ANY_ENTITY, ANY)]
    return sum([row.labelled / s.days for s in rows for row in s.strata]) or None


def half_widths(
    strata: Sequence[StratumSample],
    labels: Sequence[float],
    rates: Mapping[Place, float] | None = None,
    confidence: float = 0.95,
) -> list[float | None]:
    """Return the half-width that so many labelled documents are expected to give.

    Parameters: `strata`, disjoint rows of one cell; `labels` > 0 each; `rates` by language and stratum, in (0, 1], of
    all strata that have a design; None takes those of the sample.

    None where there would be no interval.

    >>> flagged = StratumSample("en", "both", 800, (Design(0.5, 400, 400, Moments.of(1, 1)),))
    >>> half_widths([flagged], [400, 1_600])
    [0.496..., 0.358...]
    """
    at_one = sum([row.labelled for row in _redrawn(strata, rates, 1.0)])
    if not at_one:
        return [None for _ in labels]
    return [_half_width(population_recall(_redrawn(strata, rates, n / at_one), confidence)) for n in labels]


def _plan_cell(
    sample: CellSample,
    pace: float | None,
    question: Question,
    wanted: float,
    advised: AdvisedSampling | None,
) -> CellPlan:
    strata, confidence = sample.strata, question.confidence
    read = population_recall(strata, confidence)
    if pace is None or not any(row.labelled for row in strata):
        return CellPlan(sample, read, 0.0, None, None, None, None, None, wanted, None, None)
    certified = certified_recall(strata, confidence)
    return CellPlan(
        sample=sample,
        read=read,
        labels_per_day=pace,
        to_half_width=wait_for_half_width(strata, question.half_width, pace, confidence),
        advised=None if advised is None else _wait_advised(strata, advised, question),
        gain=None if advised is None else cell_gain(sample.entity, sample.language, strata, advised.strata),
        caught_share=caught_share(strata),
        certified=None if certified is None else certified.lower,
        certified_wanted=wanted,
        to_certified=wait_for_certified(strata, wanted, pace, confidence),
        price=price_of_certified(strata, confidence=confidence),
    )


def _wait_advised(strata: Sequence[StratumSample], advised: AdvisedSampling, question: Question) -> Wait | None:
    """Return what the half-width takes at the advised rates; None where there's no interval now."""
    rates = rates_of(advised)
    places = {(row.language, row.stratum) for row in strata}
    pace = sum([row.labels_per_day for row in advised.strata if (row.language, row.stratum) in places])
    if _half_width(population_recall(strata, question.confidence)) is None or not pace:
        return None

    def width(labels: float) -> float:
        found = half_widths(strata, [labels], rates, question.confidence)[0]
        return inf if found is None else found

    low, high = 1.0, 2.0
    while width(high) > question.half_width:
        if high >= _FAR:
            return Wait(None, None, None)
        low, high = high, 2 * high
    while high > low * _FINE:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if width(middle) <= question.half_width else (middle, high)
    labels = -int(-high // 1)
    return Wait(labels, labels / pace, labels / pace)


def rates_of(advised: AdvisedSampling) -> dict[Place, float]:
    """Return the advised inclusion probabilities by language and stratum."""
    return {(row.language, row.stratum): row.rate for row in advised.strata}


def _half_width(read: PopulationRecall) -> float | None:
    return None if read.lower is None or read.upper is None else (read.upper - read.lower) / 2


def _redrawn(strata: Sequence[StratumSample], rates: Mapping[Place, float] | None, times: float) -> list[StratumSample]:
    """Return the expected sample of a period so many times as long, drawn at other rates."""
    return [
        row._replace(
            census=round(row.census * times),
            designs=tuple(
                [
                    _expected(d, d.probability if rates is None else rates[row.language, row.stratum], times)
                    for d in row.designs
                ]
            ),
        )
        for row in strata
    ]


def _expected(design: Design, probability: float, times: float) -> Design:
    factor = times * probability / design.probability
    sums = Moments(*[m * factor for m in design.moments])  # type: ignore[arg-type]  # expected ones, see above
    return Design(probability, design.sampled * factor, design.labelled * factor, sums)  # type: ignore[arg-type]  # same


def _check(question: Question) -> None:
    pace, certified = question.labels_per_day, question.certified
    if not 0 < question.half_width < 1:
        raise ValueError(f"half-width {question.half_width}: in (0, 1)")
    if certified is not None and not 0 < certified < 1:
        raise ValueError(f"certified recall {certified}: in (0, 1)")
    if pace is not None and not 0 < pace < inf:
        raise ValueError(f"{pace} labels a day: above 0 and finite")
