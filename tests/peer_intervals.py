"""What other tools would print for the same labelled documents: their formulas, on arrays with a stream an element.

* `wilson`: Wilson's interval on the pooled counts, found of true, whatever the documents' weights.
* `logit`: R's `svyciprop(method = "logit")`, occurrences in documents as clusters: a Wald interval of the log-odds.
* `normal`: R's `confint(svyratio(…))`, the ratio and 1.96 linearised standard errors on either side.

The last two get the weights that ours get. Where a formula gives no number, or an interval of no width, its limits are
NaN: they hold nothing.

Sources: E. B. Wilson, JASA 22 (1927) 209-212; T. Lumley, Complex Surveys (2010), and his package `survey`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit

from monitor.estimators.sample import Moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Z = float(stats.norm.ppf(0.975))
_AT = {name: i for i, name in enumerate(Moments._fields)}


class Limits(NamedTuple):
    """Both limits of each stream; NaN where the formula gives none."""

    lower: Floats
    upper: Floats


class Ratio(NamedTuple):
    """Weighted recall, its linearised variance with n/(n-1), and n: documents with the entity."""

    share: Floats
    variance: Floats
    documents: Ints


def all_of(census: Ints, labelled: Ints, moments: Ints) -> dict[str, Limits]:
    """Return each formula's limits.

    Parameters: counts by stream and stratum; `moments` has one more axis, in the order of `Moments`.
    """
    counts = moments.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = weighted_ratio(census / labelled, moments)
        return {
            "wilson": pooled_wilson(counts[:, _AT["t"]], counts[:, _AT["y"]]),
            "logit": log_odds(ratio),
            "normal": normal(ratio),
        }


def weighted_ratio(weights: Floats, moments: Ints) -> Ratio:
    """Return Σ w t / Σ w y, documents as clusters, weighted by stream and stratum."""

    def total(name: str, power: int) -> Floats:
        return (weights**power * moments[:, :, _AT[name]]).sum(axis=1)

    whole = total("y", 1)
    share = total("t", 1) / whole
    squares = total("tt", 2) - 2 * share * total("ty", 2) + share**2 * total("yy", 2)
    n = moments[:, :, _AT["with_entity"]].sum(axis=1)
    return Ratio(share, np.where(n > 1, squares / whole**2 * n / (n - 1), np.nan), n)


def pooled_wilson(found: Ints, true: Ints) -> Limits:
    """Return Wilson's limits on counts."""
    share = found / true
    middle = share + Z**2 / (2 * true)
    reach = Z * np.sqrt(share * (1 - share) / true + Z**2 / (4 * true**2))
    return Limits((middle - reach) / (1 + Z**2 / true), (middle + reach) / (1 + Z**2 / true))


def log_odds(ratio: Ratio) -> Limits:
    """Return limits that are symmetric in the log-odds, by Student's t at n - 1."""
    error = np.sqrt(ratio.variance) / (ratio.share * (1 - ratio.share))
    reach = stats.t.ppf(0.975, ratio.documents - 1) * error
    return _with_width(Limits(expit(logit(ratio.share) - reach), expit(logit(ratio.share) + reach)))


def normal(ratio: Ratio) -> Limits:
    """Return limits that are symmetric in the share; they may leave [0, 1]."""
    reach = Z * np.sqrt(ratio.variance)
    return _with_width(Limits(ratio.share - reach, ratio.share + reach))


def _with_width(limits: Limits) -> Limits:
    some = limits.upper > limits.lower
    return Limits(np.where(some, limits.lower, np.nan), np.where(some, limits.upper, np.nan))
