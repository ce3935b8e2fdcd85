"""The linearised variance against R's `survey`, which knows nothing of this code."""

from __future__ import annotations

import subprocess

import numpy as np
import oracles
import pytest
from cells import Cell
from oracles import Document

from monitor.estimators.linearisation import ratio_of
from monitor.estimators.post_stratification import weigh
from monitor.estimators.union import unite

PROGRAM = """
suppressMessages(library(survey))
d <- read.csv(file("stdin"))
r <- svyratio(~t, ~y, svydesign(ids = ~1, probs = ~p, data = d))
j <- svyratio(~t, ~y, as.svrepdesign(svydesign(ids = ~1, probs = ~p, data = d), type = "JK1", mse = TRUE))
cat(sprintf("%.17g\\n", c(coef(r), vcov(r), vcov(j))))
"""


def _cell(seed: int, documents: int) -> Cell:
    rng = np.random.default_rng(seed)
    sample = []
    for _ in range(documents):
        flagged = bool(rng.random() < 0.6)
        y = int(rng.poisson(2))
        t = int(rng.binomial(y, 0.8)) if flagged else 0
        rate = float(rng.choice([0.5, 0.2] if flagged else [0.02, 0.01]))
        sample.append(Document("en", "both" if flagged else "unflagged", rate, t, y))
    return sample, {("en", "both"): 400, ("en", "unflagged"): 9_000}


def _in_r(rscript: str, weighed: list[oracles.Weighed]) -> list[float]:
    lines = ["t,y,p", *(f"{d.t},{d.y},{1 / w!r}" for d, w, *_ in weighed)]
    answer = subprocess.run(
        [rscript, "-e", PROGRAM], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    return [float(line) for line in answer.stdout.split()]


@pytest.mark.parametrize("seed", [1, 2])
def test_variance_without_leverage_is_svyratio_s(rscript: str, seed: int) -> None:
    """The same to 1e-10, but for n/(n-1), which R has; documents without the entity count in n."""
    cell = _cell(seed, 120)
    weighed = oracles.weigh(*cell)
    ratio = ratio_of(weigh(unite(oracles.rows(*cell))), leverage=False)
    share, variance, _ = _in_r(rscript, weighed)
    n = len(weighed)

    assert ratio is not None
    assert pytest.approx((share, variance), rel=1e-10) == (ratio.share, ratio.variance * n / (n - 1))


def test_variance_with_leverage_is_the_jackknife_s(rscript: str) -> None:
    """JK1 replicates times n/(n-1) give the leverage-corrected variance, to the order of h³."""
    cell = _cell(3, 400)
    weighed = oracles.weigh(*cell)
    ratio = ratio_of(weigh(unite(oracles.rows(*cell))))
    plain = ratio_of(weigh(unite(oracles.rows(*cell))), leverage=False)
    *_, jackknife = _in_r(rscript, weighed)
    n = len(weighed)

    assert ratio is not None
    assert plain is not None
    assert pytest.approx(jackknife * n / (n - 1), rel=1e-3) == ratio.variance
    assert ratio.variance > plain.variance * 1.005


@pytest.mark.parametrize(("found", "of"), [(1, 1), (0, 1), (1, 2)])
def test_equal_documents_have_no_variance(found: int, of: int) -> None:
    """Every document found to the same degree: no residual, whatever the rounding."""
    sample = [Document("en", "both", 0.3, found, of)] * 7
    ratio = ratio_of(weigh(unite(oracles.rows(sample, {("en", "both"): 23}))))

    assert ratio is not None
    assert pytest.approx((found / of, 0.0, 7.0), abs=1e-12) == (ratio.share, ratio.variance, ratio.clusters)


def test_few_misses_among_very_many_keep_their_digits() -> None:
    """Ten thousand occurrences found to one missed: the sums in misses lose nothing to cancellation."""
    sample = [Document("en", "both", 0.5, 1_000, 1_000)] * 9 + [Document("en", "both", 0.5, 999, 1_000)]
    cell: Cell = sample, {("en", "both"): 20}
    ratio = ratio_of(weigh(unite(oracles.rows(*cell))))

    assert ratio is not None
    assert pytest.approx(oracles.residual_variance(oracles.weigh(*cell), leverage=True), rel=1e-9) == ratio.variance
