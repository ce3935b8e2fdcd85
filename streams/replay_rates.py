"""Rates of a replay for so many labels a day: first the config's, scaled; then, from labels of before, as advised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from monitor.advised_rates import Place, advised_sampling
from monitor.cells import CellSample
from monitor.config import Labels, LanguageRates, Sampling
from monitor.plan import Plan
from monitor.records import Record
from monitor.route import Change, Route
from monitor.sampling import Sampler
from monitor.tallies import read_value
from monitor.tally import CensusKey

_NOTEWORTHY = 1.1
"""Rates are changed where one would be this many times as high or as low: each change is a new config on record."""
_HALVINGS = 60
_MORE = 1 + 1e-9
"""So that a rate times its inverse is 1 after all: only a rate of 1 exactly is a census."""


class AdvisedRates:
    """Which rates to put in force in the morning.

    Parameters
    ----------
    labels_per_day
        What annotators get through, above 0. A document that two people read takes two.
    labels
        How many read a document.
    """

    def __init__(self, labels_per_day: float, labels: Labels) -> None:
        readers = 1 + (labels.copied_share if labels.copies > 1 else 0)
        self._documents_per_day = labels_per_day / readers
        self._advised = False

    def first(self, plan: Plan, lines: Sequence[bytes], documents: int) -> Sampling:
        """Return the plan's rates, scaled for a day of so many documents of which `lines` are some."""
        census = _census(plan, lines)
        counted = max(census.total(), 1)
        return scaled(plan.config.sampling, census, self._documents_per_day * counted / max(documents, 1))

    def next(self, plan: Plan, samples: Sequence[CellSample]) -> Sampling | None:
        """Return the rates that labels of before today advise, or None where those in force may stay."""
        sampling = plan.config.sampling
        advised = advised_sampling(sampling, samples, self._documents_per_day, target=plan.target)
        if advised is None:
            return None
        ratios = [row.rate / row.rate_before for row in advised.strata]
        return advised.sampling if max(ratios) > _NOTEWORTHY or min(ratios) * _NOTEWORTHY < 1 else None


def scaled(sampling: Sampling, census: Mapping[Place, int], documents: float) -> Sampling:
    """Return rates in the same proportions, 1 at most, that draw so many of the counted documents in the mean.

    All rates but those of 0 are 1 where that is too few; without a document the rates are left.

    >>> rates = scaled(Sampling(random_rate=0.01, loose_rate=0.04), {("en", "unflagged"): 1_000}, 50)
    >>> round(rates.random_rate, 6), round(rates.loose_rate, 6)
    (0.05, 0.2)
    """
    if not sum(census.values()):
        return sampling
    low, high = 0.0, _MORE / min(rate for rate in _rates(sampling) if rate)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _drawn(_times(sampling, middle), census) < documents:
            low = middle
        else:
            high = middle
    return _times(sampling, high)


def _census(plan: Plan, lines: Iterable[bytes]) -> Counter[Place]:
    """Count documents by language and stratum, as ROUTE would."""
    route = Route(plan.config.topics.decisions, 0, [Change(0, plan)])
    records = [Record(offset, 0, line) for offset, line in enumerate(lines)]
    route.fold("decisions", records, len(records))
    census: Counter[Place] = Counter()
    for output in route.tallies():
        for key, row in read_value(output.value or b"")[1].rows.items():
            if isinstance(key, CensusKey):
                census[key.language, key.stratum] += row[0]
    return census


def _drawn(sampling: Sampling, census: Mapping[Place, int]) -> float:
    sampler = Sampler(sampling)
    return sum(n * sampler.rates(*place).probability for place, n in census.items())


def _rates(sampling: Sampling) -> list[float]:
    rates = [sampling.random_rate, sampling.loose_rate, *sampling.loose_rate_by_stratum.values()]
    for own in sampling.by_language.values():
        rates += [own.random_rate or 0.0, own.loose_rate or 0.0, *own.loose_rate_by_stratum.values()]
    return rates


def _times(sampling: Sampling, factor: float) -> Sampling:
    def of(rate: float) -> float:
        return min(rate * factor, 1.0)

    def of_each(rates: Mapping[str, float]) -> dict[str, float]:
        return {stratum: of(rate) for stratum, rate in rates.items()}

    own = {
        language: LanguageRates(
            None if rates.random_rate is None else of(rates.random_rate),
            None if rates.loose_rate is None else of(rates.loose_rate),
            of_each(rates.loose_rate_by_stratum),
        )
        for language, rates in sampling.by_language.items()
    }
    return msgspec.structs.replace(
        sampling,
        random_rate=of(sampling.random_rate),
        loose_rate=of(sampling.loose_rate),
        loose_rate_by_stratum=of_each(sampling.loose_rate_by_stratum),
        by_language=own,
    )
