"""How much to label: before there are data, by formula; once there are, by asking the published bounds themselves.

**Fixed.** A share p of n independent occurrences has a normal half-width w = z √(p(1-p)/n), so n = z² p(1-p)/w², times
the design effect; documents that hold so many are n / prevalence. It is a start: it knows no strata and no misses that
nobody saw.

**From a sample.** What would the reading be, had we gone on? As likely as anything: the same sample `k` times over,
longer at the same rates, each sum k times what it is. The bound itself is computed on that, at k = 1, 2, 4, … until it
is where it's wanted, and in between. So each estimator's own behaviour is in the answer: 1/√k where misses were seen,
1/k where none was, "never" where the observed share is too low. It's advice: the sample's own error is in it too.

Labels are counted over all strata, shared among them as now. Labels expire with the window, so a wait says also how
long a window must be to hold them: in a shorter one the width isn't reached however long one waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, inf, log
from typing import NamedTuple

from monitor.estimators.certified import certified_recall
from monitor.estimators.post_stratification import is_flagged, weigh
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.estimators.union import unite
from monitor.estimators.wilson import normal_quantile

_FAR = float(1 << 30)
"""Times as many labels at which a bound counts as out of reach: a billion."""


class FixedPlan(NamedTuple):
    """What has to be labelled for a half-width, drawn at random."""

    occurrences: int
    """True occurrences."""
    documents: int | None
    """Documents that hold so many; None where the prevalence isn't given."""

    def days(self, labels_per_day: float) -> float | None:
        """Return the days it takes at so many labelled documents a day; None where `documents` is.

        >>> fixed_plan(0.7, 0.05, 4.1).days(60)
        1313.0...
        """
        _check_pace(labels_per_day)
        return None if self.documents is None else self.documents / labels_per_day


class Wait(NamedTuple):
    """What it takes until a bound is where it's wanted; all None where no number of labels takes it there."""

    labels: int | None
    """Labelled documents in all, those of the sample included."""
    days: float | None
    """From now on; 0 where it's reached."""
    window_days: float | None
    """The window that holds so many labels at this pace."""


class Price(NamedTuple):
    """What a step of certified recall costs; None where reading every unflagged document doesn't buy it."""

    recall: float
    """The bound that the step leads to."""
    labels: int | None
    """Further labels of unflagged documents, in the time that the sample spans."""
    rate: float | None
    """The rate at which the unflagged documents would be drawn: the smallest in force, times what is needed."""


def fixed_plan(
    recall: float, half_width: float, per_1000: float | None = None, *, deff: float = 1.0, confidence: float = 0.95
) -> FixedPlan:
    """Return how many occurrences, and documents at random, give an interval of `recall` ± `half_width`.

    Parameters: `recall` expected, in (0, 1); `half_width` in (0, 1); `per_1000` occurrences per 1,000 documents, > 0;
    `deff` > 0, the design effect (2 to 4 where few documents hold most occurrences); `confidence` in (0, 1).

    Both numbers are rounded up. Raises ValueError for what is out of range.

    >>> fixed_plan(0.7, 0.05), fixed_plan(0.7, 0.05, 4.1)
    (FixedPlan(occurrences=323, documents=None), FixedPlan(occurrences=323, documents=78781))

    Source: W. G. Cochran, Sampling Techniques, 3rd ed. (1977), 4.4; deff: L. Kish, Survey Sampling (1965), 8.2.
    """
    if not (0 < recall < 1 and 0 < half_width < 1 and 0 < deff < inf):
        raise ValueError(f"recall {recall} and half-width {half_width} in (0, 1), design effect {deff} above 0")
    if per_1000 is not None and not 0 < per_1000 < inf:
        raise ValueError(f"{per_1000} occurrences per 1,000 documents: above 0 and finite")
    z = normal_quantile(confidence)
    occurrences = ceil(z * z * recall * (1 - recall) / half_width**2 * deff)
    return FixedPlan(occurrences, None if per_1000 is None else ceil(occurrences * 1000 / per_1000))


def wait_for_half_width(
    strata: Sequence[StratumSample], half_width: float, labels_per_day: float, confidence: float = 0.95
) -> Wait | None:
    """Return what it takes until population recall's interval is at most two half-widths wide.

    Parameters: `strata`, disjoint rows of one cell; `half_width` in (0, 1), half of upper - lower, as the interval
    isn't symmetric; `labels_per_day` > 0 over all strata.

    Returns None where there is no interval yet. Raises ValueError for what is out of range.

    >>> hits, misses = Moments(112, 0, *[112] * 12), Moments(6, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6, 0, 0, 6)
    >>> flagged = Design(200 / 4_100, 200, 200, hits.plus(misses))
    >>> blind = Design(200 / 380_000, 200, 200, Moments(4, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4, 0, 0, 4))
    >>> cell = StratumSample("en", "both", 4_100, (flagged,)), StratumSample("en", "unflagged", 380_000, (blind,))
    >>> wait_for_half_width(cell, 0.05, 60)
    Wait(labels=5185, days=79.75, window_days=86.4...)
    """
    if not 0 < half_width < 1:
        raise ValueError(f"half-width {half_width}: in (0, 1)")

    def width(times: float) -> float:
        recall = population_recall(_longer(strata, int(times)), confidence)
        return inf if recall.lower is None or recall.upper is None else (recall.upper - recall.lower) / 2

    if population_recall(strata, confidence).lower is None:
        return None
    return _wait(strata, _crossing(width, half_width, _FAR), labels_per_day)


def wait_for_certified(
    strata: Sequence[StratumSample], recall: float, labels_per_day: float, confidence: float = 0.95
) -> Wait | None:
    """Return what it takes until certified recall reaches `recall`, in (0, 1), at `labels_per_day` > 0.

    Misses go on to be seen as often as they were; so a `recall` above the observed share is never reached, and with no
    miss seen every one is. Returns None where no label holds the entity. Raises ValueError for what is out of range.

    >>> flagged = Design(0.5, 500, 500, Moments(100, 0, *[100] * 12))
    >>> blind = Design(0.0005, 50, 50, Moments())
    >>> cell = StratumSample("en", "both", 1_000, (flagged,)), StratumSample("en", "unflagged", 100_000, (blind,))
    >>> certified_recall(cell).lower, wait_for_certified(cell, 0.5, 60)
    (0.0251..., Wait(labels=18289, days=295.65, window_days=304.8...))
    """
    if not 0 < recall < 1:
        raise ValueError(f"certified recall {recall}: in (0, 1)")
    if certified_recall(strata, confidence) is None:
        return None
    times = _crossing(lambda k: _odds(_longer(strata, int(k)), confidence), (1 - recall) / recall, _FAR)
    return _wait(strata, times, labels_per_day)


def caught_share(strata: Sequence[StratumSample]) -> float | None:
    """Return the share of documents with the entity in which every occurrence was found, weighted to the traffic.

    More labels bring certified recall nearer to it, and not above. (With labels missing, or drawn at several rates, not
    even there: what isn't labelled counts as missed, and each design at its worst rate.) None where no label holds the
    entity.

    >>> flagged = Design(0.5, 500, 500, Moments.of(1, 1).plus(Moments.of(1, 2)))
    >>> caught_share([StratumSample("en", "both", 1_000, (flagged,))])
    0.5
    """
    parts = [part for row in weigh(unite(strata)) for part in row.parts]
    documents = sum([w * m.with_entity for w, _, m in parts])
    return sum([w * m.all_found for w, _, m in parts]) / documents if documents else None


def price_of_certified(strata: Sequence[StratumSample], step: float = 0.01, confidence: float = 0.95) -> Price | None:
    """Return what raising certified recall by `step` costs in labels, had the random rate been higher.

    The unflagged documents are where a label buys most: no miss among n of them leaves 3/rate missed ones. Their rate
    is raised, all else stays (the few more labels that a random rate draws of flagged documents aren't counted).

    Parameters: `strata`, disjoint rows of one cell; `step` in (0, 1). Returns None where no label holds the entity.

    >>> flagged = Design(0.5, 5_000, 5_000, Moments(1_000, 0, *[1_000] * 12))
    >>> blind = Design(0.01, 1_000, 1_000, Moments())
    >>> cell = StratumSample("en", "both", 10_000, (flagged,)), StratumSample("en", "unflagged", 100_000, (blind,))
    >>> certified_recall(cell).lower, price_of_certified(cell)
    (0.8523..., Price(recall=0.8623..., labels=88, rate=0.01087...))
    """
    if not 0 < step < 1:
        raise ValueError(f"step {step} of certified recall: in (0, 1)")
    now = certified_recall(strata, confidence)
    if now is None:
        return None
    wanted = now.lower + step
    designs = [d for row in strata if not is_flagged(row) for d in row.designs if d.sampled]
    if wanted >= 1 or not designs:
        return Price(wanted, None, None)
    smallest = min([d.probability for d in designs])
    target = (1 - wanted) / wanted
    times = _crossing(lambda k: _odds(_denser(strata, k), confidence), target, 1 / smallest)
    if times is None:
        return Price(wanted, None, None)
    labels = sum([d.labelled * (_drawn(d, times) / d.probability - 1) for d in designs])
    return Price(wanted, ceil(labels), min(smallest * times, 1.0))


def _odds(strata: Sequence[StratumSample], confidence: float) -> float:
    """Return (1-R)/R of certified recall: missed over caught, which goes as 1/k exactly where no miss was seen."""
    certified = certified_recall(strata, confidence)
    return (1 - certified.lower) / certified.lower if certified is not None and certified.lower else inf


def _longer(strata: Sequence[StratumSample], times: int) -> list[StratumSample]:
    """Return the sample of a period so many times as long, with as many documents of each kind a day."""
    return [
        row._replace(census=row.census * times, designs=tuple([_scaled(d, d.probability, times) for d in row.designs]))
        for row in strata
    ]


def _denser(strata: Sequence[StratumSample], times: float) -> list[StratumSample]:
    """Return the sample had unflagged documents been drawn at a rate so many times as high, at most 1."""
    return [
        row
        if is_flagged(row)
        else row._replace(
            designs=tuple([_scaled(d, _drawn(d, times), _drawn(d, times) / d.probability) for d in row.designs])
        )
        for row in strata
    ]


def _drawn(design: Design, times: float) -> float:
    return min(design.probability * times, 1.0)


def _scaled(design: Design, probability: float, times: float) -> Design:
    sampled, labelled = round(design.sampled * times), round(design.labelled * times)
    return Design(probability, sampled, labelled, Moments(*[round(m * times) for m in design.moments]))


def _wait(strata: Sequence[StratumSample], times: float | None, labels_per_day: float) -> Wait:
    _check_pace(labels_per_day)
    if times is None:
        return Wait(None, None, None)
    now = sum([row.labelled for row in strata])
    labels = ceil(now * times)
    return Wait(labels, (labels - now) / labels_per_day, labels / labels_per_day)


def _crossing(curve: Callable[[float], float], target: float, most: float) -> float | None:
    """Return the factor, from 1 to `most`, at which a falling curve reaches `target`; None where it doesn't.

    Doubling, then halving what is between down to neighbours, or to a sixteenth: with a handful of documents the curve
    has steps (Student's quantile, fewer than five misses). Then a straight line in logs; from infinity or down to
    nothing there is none, and it's the upper end.
    """
    low, high, above, below = 1.0, 1.0, inf, curve(1.0)
    while below > target:
        if high >= most:
            return None
        low, above, high = high, below, min(2 * high, most)
        below = curve(high)
    while high - low > max(1.0, low / 16):
        middle = float((low + high) // 2)
        if middle <= low:  # the last step to an upper end that is no whole number
            break
        value = curve(middle)
        if value > target:
            low, above = middle, value
        else:
            high, below = middle, value
    if not 0 < below <= above < inf:
        return high
    return float(low * (high / low) ** (log(above / target) / log(above / below)))


def _check_pace(labels_per_day: float) -> None:
    if not 0 < labels_per_day < inf:
        raise ValueError(f"{labels_per_day} labels a day: above 0 and finite")
