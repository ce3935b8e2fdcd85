"""Certified recall: a lower bound that needs no miss to have been seen, nor an assumption on how misses are spread.

It speaks of documents: *caught* is one in which every occurrence was found, *missed* one with at least one miss. Each
missed document was drawn and labelled with a chance of at least π·completeness, whatever is in it. So from m missed
documents seen in a stratum, M is at most M_U = max{M : P(Bin(M, π) <= m) > α}, and from t caught ones there are at
least T_L = min{T : P(Bin(T, π) >= t) > α}; recall is at least T_L/(T_L + Σ M_U). By a union bound the αs add up.

Which π: for M_U the smallest that a document of the stratum was drawn with, times completeness, and never more than
the census; for T_L the largest, without completeness. Each errs to the safe side. π is the designed rate: one that is
fitted to the census would make the bound depend on what it bounds.

How α is split. A tenth to T_L, a tenth to the flagged strata, the rest to the unflagged: .005, .005 and .04 of .05.
The unflagged are drawn at the lowest rate by far, so a little more α there saves the most missed documents. Where each
unflagged document is labelled (or there is none) their part goes to the flagged strata, and the other way round.
Within a kind, strata and languages whose rates are within a factor 2 of each other are counted as one, at the worst of
their rates, and the remaining ones share α equally: five languages at one random rate would else pay five times for
the same silence. Rates and labelling decide this, never the misses seen: a split that looks at them voids the bound.

A stratum without a label could be all misses: M_U is its census. One drawn at π = 1 and labelled throughout is known,
and costs no α. What was caught in unflagged documents is nothing, by definition of the stratum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.estimators.post_stratification import is_flagged
from monitor.estimators.sample import StratumSample
from monitor.estimators.thinning import at_least, at_most
from monitor.estimators.union import unite

_ALIKE = 2.0
"""Rates within this factor are one group: at the worst of them the bound grows by less than a second bound costs."""


class CertifiedRecall(NamedTuple):
    """A lower bound on the share of documents with the entity in which every occurrence was found."""

    lower: float
    caught: int
    """Labelled documents in which every occurrence was found."""
    missed: int
    """Labelled documents with a miss."""
    caught_at_least: int
    missed_at_most: int


class _Thinned(NamedTuple):
    """Documents of one or more strata: the rate that bounds their number, how many were seen, how many there can be."""

    rate: float
    seen: int
    ceiling: int


def certified_recall(strata: Sequence[StratumSample], confidence: float = 0.95) -> CertifiedRecall | None:
    """Return a lower bound on recall in documents, at one-sided `confidence` in (0, 1).

    Parameters: `strata`, disjoint rows of one cell in any order; a roll-up is just more rows.

    Returns a bound in [0, 1], below the observed share unless all is a census. None where no label holds the entity: no
    data gives no value. 0 where no document was caught.

    >>> from monitor.estimators.sample import Design, Moments
    >>> flagged = Design(0.5, 500, 500, Moments(100, 0, *[100] * 12))
    >>> blind = Design(0.0005, 50, 50, Moments())
    >>> cell = StratumSample("en", "both", 1_000, (flagged,)), StratumSample("en", "unflagged", 100_000, (blind,))
    >>> certified_recall(cell)
    CertifiedRecall(lower=0.02..., caught=100, missed=0, caught_at_least=166, missed_at_most=6443)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence}")
    rows = unite(strata)
    caught = sum([d.moments.all_found for row in rows for d in row.designs])
    missed = sum([d.moments.with_miss for row in rows for d in row.designs])
    if not caught + missed:
        return None
    alpha = 1 - confidence
    least = _caught_at_least(rows, alpha / 10)
    most = _missed_at_most(rows, alpha * 9 / 10)
    return CertifiedRecall(least / (least + most) if least else 0.0, caught, missed, least, most)


def _caught_at_least(rows: Sequence[StratumSample], alpha: float) -> int:
    drawn = [
        _Thinned(
            max([d.probability for d in row.designs if d.sampled]),
            sum([d.moments.all_found for d in row.designs]),
            row.census,
        )
        for row in rows
        if row.sampled and is_flagged(row)
    ]
    alike = [_sum(group[-1].rate, group) for group in _grouped(drawn)]
    share = alpha / max(sum(one.rate < 1 for one in alike), 1)
    return sum([at_least(one.seen, one.rate, share, one.ceiling) for one in alike])


def _missed_at_most(rows: Sequence[StratumSample], alpha: float) -> int:
    total = 0
    unsure: dict[bool, list[_Thinned]] = {True: [], False: []}
    for row in rows:
        labelled = row.labelled
        if not labelled:
            total += row.census
            continue
        seen = sum([d.moments.with_miss for d in row.designs])
        rate = min([d.probability for d in row.designs if d.sampled]) * labelled / row.sampled
        if rate == 1 and labelled == row.census:
            total += seen
        else:
            unsure[is_flagged(row)].append(_Thinned(rate, seen, row.census))
    looked, blind = ([_sum(group[0].rate, group) for group in _grouped(unsure[kind])] for kind in (True, False))
    to_looked = alpha / 9 if blind else alpha
    to_blind = alpha - to_looked if looked else alpha
    for alike, part in ((looked, to_looked), (blind, to_blind)):
        total += sum([at_most(one.seen, one.rate, part / len(alike), one.ceiling) for one in alike])
    return total


def _grouped(strata: list[_Thinned]) -> list[list[_Thinned]]:
    """Return the strata by ascending rate, in groups that span at most the factor within which rates are alike."""
    groups: list[list[_Thinned]] = []
    for one in sorted(strata):
        if groups and one.rate <= _ALIKE * groups[-1][0].rate:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _sum(rate: float, group: list[_Thinned]) -> _Thinned:
    return _Thinned(rate, sum([one.seen for one in group]), sum([one.ceiling for one in group]))
