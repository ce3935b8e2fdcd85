"""One sample from many rows: the same strata and designs, whatever way they came split.

Every estimator starts here. Whole numbers are added before anything is weighted, and the rows are put in one order, so
that partitions, workers and the order of arrival can't change a reading in its last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.estimators.sample import Design, StratumSample
from monitor.records import Stratum


def unite(rows: Sequence[StratumSample]) -> tuple[StratumSample, ...]:
    """Return one row a (language, stratum) and one design a π, sorted.

    Parameters: `rows` of one cell, disjoint in documents; rows of the same language and stratum add, census too.

    A census below the number of drawn documents is one that lags behind its sample (they're counted by two stages): it
    is raised to it, as every drawn document was routed.

    Raises ValueError for a design that can't be: π outside (0, 1], more labelled than sampled, more with the entity
    than labelled.

    >>> from monitor.estimators.sample import Moments
    >>> one = StratumSample("nl", "unflagged", 50, (Design(0.1, 5, 5, Moments()),))
    >>> unite([one, one])[0].designs
    (Design(probability=0.1, sampled=10, labelled=10, moments=Moments(with_entity=0, ...)),)
    """
    found: dict[tuple[str, Stratum], tuple[int, tuple[Design, ...]]] = {}
    for row in rows:
        key = row.language, row.stratum
        census, designs = found.get(key, (0, ()))
        found[key] = census + row.census, designs + row.designs
    united = []
    for (language, stratum), (census, designs) in sorted(found.items()):
        merged = _one_a_probability(designs)
        united.append(StratumSample(language, stratum, max(census, sum(d.sampled for d in merged)), merged))
    return tuple(united)


def _one_a_probability(designs: Iterable[Design]) -> tuple[Design, ...]:
    found: dict[float, Design] = {}
    for design in designs:
        _check(design)
        seen = found.get(design.probability)
        found[design.probability] = design if seen is None else _plus(seen, design)
    return tuple(found[p] for p in sorted(found))


def _plus(first: Design, second: Design) -> Design:
    return Design(
        first.probability,
        first.sampled + second.sampled,
        first.labelled + second.labelled,
        first.moments.plus(second.moments),
    )


def _check(design: Design) -> None:
    if not 0 < design.probability <= 1:
        raise ValueError(f"inclusion probability {design.probability}")
    if not 0 <= design.moments.with_entity <= design.labelled <= design.sampled:
        raise ValueError(
            f"{design.sampled} sampled, {design.labelled} labelled, {design.moments.with_entity} with the entity"
        )
