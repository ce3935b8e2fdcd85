"""Slow, obvious formulas on lists of documents, against which the estimators are tested.

Nothing here is shared with the product but its records: each sum runs over documents, each quantile comes from
`scipy.stats`, each binomial bound is found by trying one number after the other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import comb, exp, log, sqrt
from typing import NamedTuple

from scipy import stats

from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import Stratum

Place = tuple[str, Stratum]
Limits = tuple[float, float, float]


class Document(NamedTuple):
    """One drawn document of one cell; `t` of its `y` occurrences were found, which only a label tells."""

    language: str
    stratum: Stratum
    probability: float
    t: int
    y: int
    labelled: bool = True
    detected: int = 0
    """Spans of the entity that the detector saw in it, right or wrong."""

    @property
    def place(self) -> Place:
        """Language and stratum."""
        return self.language, self.stratum

    @property
    def flagged(self) -> bool:
        """Whether any tool flagged it."""
        return self.stratum != "unflagged"


class Weighed(NamedTuple):
    """A labelled document, its weight, and the largest weight that its stratum's design allows."""

    document: Document
    weight: float
    largest: float
    completeness: float


def rows(documents: Iterable[Document], census: Mapping[Place, int]) -> list[StratumSample]:
    """Return the sample as the estimators read it, one document at a time."""
    designs: dict[tuple[Place, float], Design] = {}
    for one in documents:
        seen = designs.get((one.place, one.probability), Design(one.probability, 0, 0, Moments()))
        moments = Moments.of(one.t, one.y) if one.labelled else Moments()
        designs[one.place, one.probability] = Design(
            one.probability, seen.sampled + 1, seen.labelled + one.labelled, seen.moments.plus(moments)
        )
    return [
        StratumSample(*place, size, tuple(d for (where, _), d in designs.items() if where == place))
        for place, size in census.items()
    ]


def unlabelled(documents: Sequence[Document], census: Mapping[Place, int], *, flagged: bool) -> bool:
    """Return whether languages without a label of this kind hold more than a hundredth of its documents."""
    nobody_looked = everything = 0
    for (language, stratum), size in census.items():
        if (stratum != "unflagged") != flagged:
            continue
        everything += size
        if not any(one.labelled for one in documents if one.language == language and one.flagged == flagged):
            nobody_looked += size
    return everything > 0 and nobody_looked / everything > 0.01


def represented(documents: Sequence[Document], census: Mapping[Place, int]) -> dict[Place, float]:
    """Return how many documents each labelled (language, stratum) stands for, homeless ones shared out."""
    labelled = {one.place for one in documents if one.labelled}
    sizes = {place: float(census[place]) for place in labelled}
    for place, size in census.items():
        if place in labelled or not size:
            continue
        flagged = place[1] != "unflagged"
        homes = [home for home in labelled if flagged and home[0] == place[0] and home[1] != "unflagged"]
        if not homes and not unlabelled(documents, census, flagged=flagged):
            homes = [home for home in labelled if (home[1] != "unflagged") == flagged]
        for home in homes:
            sizes[home] += size * census[home] / sum(census[other] for other in homes)
    return sizes


def weigh(documents: Sequence[Document], census: Mapping[Place, int]) -> list[Weighed]:
    """Return every labelled document with a weight, so that the weights of a stratum add up to what it stands for."""
    weighed = []
    for place, size in represented(documents, census).items():
        drawn = [one for one in documents if one.place == place]
        labelled = [one for one in drawn if one.labelled]
        raw = sum(1 / one.probability for one in labelled)
        completeness = len(labelled) / len(drawn)
        largest = max(1 / (one.probability * completeness) for one in drawn) * size / census[place]
        weighed += [Weighed(one, size / raw / one.probability, largest, completeness) for one in labelled]
    return weighed


def wilson(share: float, n: float, quantile: float) -> Limits:
    """Return Wilson's limits as the two roots of (p̂ - p)² = z² p(1-p)/n."""
    a = 1 + quantile**2 / n
    b = -(2 * share + quantile**2 / n)
    c = share**2
    root = sqrt(max(b * b - 4 * a * c, 0.0))
    return share, max((-b - root) / (2 * a), 0.0), min((-b + root) / (2 * a), 1.0)


def fay_feuer(total: float, variance: float, jump: float, alpha: float = 0.05) -> Limits:
    """Return Fay and Feuer's limits by chi-square quantiles."""
    if jump == 0:
        return total, total, total
    lower = total
    if total and variance:
        lower = variance / (2 * total) * stats.chi2.ppf(alpha / 2, 2 * total**2 / variance)
    moved, spread = total + jump, variance + jump**2
    return total, lower, spread / (2 * moved) * stats.chi2.isf(alpha / 2, 2 * moved**2 / spread)


def residual_variance(weighed: Iterable[Weighed], *, leverage: bool) -> float:
    """Return Σ (w e/Ŷ)², corrected for leverage or not."""
    weighed = list(weighed)
    total = sum(w * d.y for d, w, *_ in weighed)
    share = sum(w * d.t for d, w, *_ in weighed) / total
    variance = 0.0
    for d, w, *_ in weighed:
        h = w * d.y / total
        variance += (w * (d.t - share * d.y) / total) ** 2 * (1 + 2 * h + 3 * h**2 if leverage else 1)
    return variance


def where_looked(flagged: Sequence[Weighed]) -> tuple[Limits, float]:
    """Return R_F with its limits, and the effective number of occurrences."""
    total = sum(w * d.y for d, w, *_ in flagged)
    share = min(sum(w * d.t for d, w, *_ in flagged) / total, 1.0)
    variance = residual_variance(flagged, leverage=True)
    clusters = total**2 / sum((w * d.y) ** 2 for d, w, *_ in flagged)
    occurrences = sum(one.document.y for one in flagged)
    misses = sum(one.document.t < one.document.y for one in flagged)
    n_eff = min(share * (1 - share) / variance, occurrences) if variance > 1e-12 else occurrences
    if misses < 5 or variance <= 1e-12:
        n_eff = min(n_eff, clusters)
    return wilson(share, n_eff, stats.t.ppf(0.975, max(clusters - 1, 1))), n_eff


def population_recall(documents: Sequence[Document], census: Mapping[Place, int]) -> tuple[Limits, Limits, float]:
    """Return R, R_F and n_eff of a cell with true occurrences in flagged documents and a label among the unflagged."""
    weighed = weigh(documents, census)
    flagged = [one for one in weighed if one.document.flagged]
    blind = [one for one in weighed if not one.document.flagged]
    looked, n_eff = where_looked(flagged)
    reached = _reached(weighed, flagged, blind, census)
    return _multiplied(looked, reached), looked, n_eff


def _reached(
    weighed: Sequence[Weighed], flagged: Sequence[Weighed], blind: Sequence[Weighed], census: Mapping[Place, int]
) -> Limits:
    size_biased = sum(one.document.y**2 for one in weighed) / sum(one.document.y for one in weighed)
    found = fay_feuer(
        sum(w * d.y for d, w, *_ in flagged),
        sum((1 - d.probability * c) * (w * d.y) ** 2 for d, w, _, c in flagged),
        0 if _is_census(flagged, census, flagged=True) else max(o.largest for o in flagged) * size_biased,
    )
    missed = fay_feuer(
        sum(w * d.y for d, w, *_ in blind),
        sum((w * d.y) ** 2 for d, w, *_ in blind),
        0 if _is_census(blind, census, flagged=False) else max(o.largest for o in blind) * size_biased,
    )
    (x1, l1, u1), (x2, l2, u2) = missed, found
    low = 0.0
    if x1:
        radicand = max(x1**2 * x2**2 - l1 * u2 * (2 * x1 - l1) * (2 * x2 - u2), 0)
        low = l1 * (2 * x1 - l1) / (x1 * x2 + sqrt(radicand))
    high = (x1 * x2 + sqrt(max(x1**2 * x2**2 - u1 * l2 * (2 * x1 - u1) * (2 * x2 - l2), 0))) / (l2 * (2 * x2 - l2))
    return 1 / (1 + x1 / x2), 1 / (1 + high), 1 / (1 + low)


def _is_census(weighed: Sequence[Weighed], census: Mapping[Place, int], *, flagged: bool) -> bool:
    documents = sum(size for (_, stratum), size in census.items() if (stratum != "unflagged") == flagged)
    return len(weighed) == documents and all(one.document.probability == 1 for one in weighed)


def _multiplied(looked: Limits, reached: Limits) -> Limits:
    (f, a, b), (g, c, d) = looked, reached
    if f == 0:
        return 0.0, 0.0, b * d
    below = sqrt((log(f) - log(a)) ** 2 + (log(g) - log(c)) ** 2)
    above = sqrt((log(b) - log(f)) ** 2 + (log(d) - log(g)) ** 2)
    return f * g, f * g * exp(-below), min(f * g * exp(above), 1.0)


def prevalence(documents: Sequence[Document], census: Mapping[Place, int]) -> tuple[Limits, Limits]:
    """Return the share of documents with the entity, and occurrences per 1,000 documents."""
    weighed = weigh(documents, census)
    size_biased = _size_biased(weighed)
    holding = []
    by_place: defaultdict[Place, list[Weighed]] = defaultdict(list)
    for one in weighed:
        by_place[one.document.place].append(one)
    for stratum in by_place.values():
        w_max = stratum[0].largest
        holding.append(
            fay_feuer(
                sum(w * d.y for d, w, *_ in stratum),
                sum((w * d.y) ** 2 for d, w, *_ in stratum),
                w_max * size_biased,
            )
        )
    having = smaller_side(weighed, [one.document.y > 0 for one in weighed])
    return _rates([having], holding, sum(represented(documents, census).values()))


def smaller_side(weighed: Sequence[Weighed], counted: Sequence[bool]) -> Limits:
    """Return how many documents count, by the limits of those that do or of those that don't."""
    jump = max(one.largest for one in weighed)
    totals = {
        kind: [one.weight for one, n in zip(weighed, counted, strict=True) if n == kind] for kind in (True, False)
    }
    size = sum(one.weight for one in weighed)
    total, lower, upper = fay_feuer(sum(totals[True]), sum(w * w for w in totals[True]), jump)
    if total < size / 2 * (1 - 1e-9):
        return total, lower, upper
    _, fewest, most = fay_feuer(sum(totals[False]), sum(w * w for w in totals[False]), jump)
    return total, size - most, size - fewest


def controlled_prevalence(
    documents: Sequence[Document], census: Mapping[Place, int], named: int
) -> tuple[Limits, Limits]:
    """Return the same two, where the detector named the entity in so many documents of all."""
    weighed = weigh(documents, census)
    looked = [one for one in weighed if one.document.detected]
    sizes = represented(documents, census)
    flagged = sum(size for (_, stratum), size in sizes.items() if stratum in ("both", "detector_only"))
    if not looked or not len(looked) <= named <= flagged:
        return prevalence(documents, census)
    drawn = sum(w for _, w, *_ in looked)
    share = min(sum(w for d, w, *_ in looked if d.y) / drawn, 1.0)
    variance = sum((w / drawn * ((d.y > 0) - share)) ** 2 for d, w, *_ in looked)
    n_eff = min(len(looked), drawn**2 / sum(w**2 for _, w, *_ in looked))
    if variance > 1e-30:
        n_eff = min(n_eff, share * (1 - share) / variance)
    low = stats.beta.ppf(0.025, n_eff * share, n_eff * (1 - share) + 1) if share > 1e-15 else 0.0
    high = stats.beta.ppf(0.975, n_eff * share + 1, n_eff * (1 - share)) if share < 1 - 1e-15 else 1.0
    _, fewest, most = fay_feuer(named, named, 1)
    having = [(named * share, named * low, named * high), (0.0, share * (fewest - named), share * (most - named))]
    size = sum(sizes.values())
    others = smaller_side(weighed, [one.document.y > 0 and not one.document.detected for one in weighed])
    half = size / 2 * (1 - 1e-9)
    if named * share + others[0] >= half > others[0]:
        having = [_without(weighed, (share, low, high), (named, fewest, most), others[0], size)]
    else:
        having.append(others)
    holding = []
    size_biased = _size_biased(weighed)
    for place in {one.document.place for one in weighed}:
        stratum = [one for one in weighed if one.document.place == place]
        w_max = stratum[0].largest
        held = [w * d.y * (named / drawn if d.detected else 1) for d, w, *_ in stratum]
        jump = w_max * size_biased * max(named / drawn, 1)
        holding.append(fay_feuer(sum(held), sum(x * x for x in held), jump))
    return _rates(having, holding, size)


def _without(weighed: Sequence[Weighed], share: Limits, named: Limits, others: float, size: float) -> Limits:
    """Return the documents with the entity by those without: named ones, others, and what drawing does to these."""
    p, low, high = share
    n, fewest, most = named
    rest = size - n - others
    _, least, largest = fay_feuer(max(rest, 0.0), max(rest, 0.0), 1)
    drawn = [one for one in weighed if max(one.largest, one.weight) > 1 + 1e-12]  # else all of the stratum was read
    seen = [one.weight for one in drawn if one.document.y > 0 and not one.document.detected]
    jump = max((one.largest for one in drawn), default=0.0)
    _, few, many = fay_feuer(sum(seen), sum(max(w * (w - 1), 0) for w in seen), jump)
    below = [n * (high - p), (1 - p) * (n - fewest), max(rest, 0.0) - least, many - sum(seen)]
    above = [n * (p - low), (1 - p) * (most - n), largest - max(rest, 0.0), sum(seen) - few]
    estimate = n * p + others
    return estimate, min(estimate, size) - sqrt(sum(x * x for x in above)), estimate + sqrt(sum(x * x for x in below))


def _size_biased(weighed: Sequence[Weighed]) -> float:
    occurrences = sum(one.document.y for one in weighed)
    return sum(one.document.y**2 for one in weighed) / occurrences if occurrences else 1.0


def _rates(having: Sequence[Limits], holding: Sequence[Limits], size: float) -> tuple[Limits, Limits]:
    share, lower, upper = (limit / size for limit in _summed(having))
    rate, low, high = (1000 * limit / size for limit in _summed(holding))
    return (min(share, 1.0), max(lower, 0.0), min(upper, 1.0)), (rate, max(low, 0.0), high)


def _summed(parts: Sequence[Limits]) -> Limits:
    total = sum(x for x, _, _ in parts)
    return (
        total,
        total - sqrt(sum((x - low) ** 2 for x, low, _ in parts)),
        total + sqrt(sum((high - x) ** 2 for x, _, high in parts)),
    )


def disclosure(documents: Sequence[Document], census: Mapping[Place, int]) -> tuple[Limits, Limits]:
    """Return the share of documents that show anything, and what can be read in 1,000; t of y is hidden.

    The jump of a total is one of the readable occurrences' documents, or half of one that shows all it has.
    """
    shown = [one._replace(t=one.y - one.t, y=one.y - one.t) for one in documents]
    weighed = weigh(shown, census)
    typical = _size_biased(weigh(documents, census))
    sizes = [one.document.y for one in weighed if one.document.y]
    jump = (sum(r * r for r in sizes) + 0.5 * typical**2) / (sum(sizes) + 0.5 * typical)
    holding = []
    for place in {one.document.place for one in weighed}:
        stratum = [one for one in weighed if one.document.place == place]
        readable = [w * d.y for d, w, *_ in stratum]
        holding.append(fay_feuer(sum(readable), sum(x * x for x in readable), stratum[0].largest * jump))
    having = smaller_side(weighed, [one.document.y > 0 for one in weighed])
    return _rates([having], holding, sum(represented(documents, census).values()))


def over_masking(detected: Sequence[Document], census: Mapping[Place, int]) -> tuple[Limits, float]:
    """Return the needless share between its limits, and n_eff, of documents that the detector flagged; t is needless.

    n_eff is that of where looked, unless half a document more, needless whole, says less; not below the clusters then.
    """
    weighed = weigh(detected, census)
    (share, *_), n_eff = where_looked(weighed)
    sizes = [w * d.y for d, w, *_ in weighed]
    clusters = sum(sizes) ** 2 / sum(x * x for x in sizes)
    with_half = residual_variance(weighed, leverage=True) + ((1 - share) / clusters) ** 2 / 2
    if with_half > 1e-30:
        n_eff = min(n_eff, max(clusters, share * (1 - share) / with_half))
    return wilson(share, n_eff, stats.t.ppf(0.975, max(clusters - 1, 1))), n_eff


def binomial_at_most(size: int, seen: int, rate: float) -> float:
    """Return P(Bin(size, rate) <= seen) term by term."""
    return sum(comb(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(min(seen, size) + 1))


def missed_at_most(seen: int, rate: float, alpha: float, ceiling: int) -> int:
    """Return the largest number of documents of which so few were seen, by trying them all."""
    return max(m for m in range(seen, ceiling + 1) if m == seen or binomial_at_most(m, seen, rate) > alpha)


def caught_at_least(seen: int, rate: float, alpha: float, ceiling: int) -> int:
    """Return the smallest number of documents of which so many were seen, by trying them all."""
    likely = (m for m in range(seen, ceiling) if 1 - binomial_at_most(m, seen - 1, rate) > alpha)
    return next(likely, ceiling)
