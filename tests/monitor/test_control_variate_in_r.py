"""Prevalence by a census against R's `survey`, which knows nothing of this code."""

from __future__ import annotations

import subprocess

import numpy as np
import oracles
import pytest
from oracles import Document, Place

from monitor.estimators.control_variate import Named, controlled_totals, share_of, split_named
from monitor.estimators.post_stratification import weigh
from monitor.estimators.union import unite

PROGRAM = """
suppressMessages(library(survey))
d <- read.csv(file("stdin"))
X <- d$census[1]
design <- svydesign(ids = ~1, weights = ~w, data = d)
g <- calibrate(design, ~ named - 1, population = c(named = X), calfun = "linear")
r <- svyratio(~hit, ~named, design)
cat(sprintf("%.17g\\n", c(coef(svytotal(~has + y, g)), coef(r), vcov(r))))
"""


def _documents(seed: int) -> tuple[list[Document], dict[Place, int]]:
    rng = np.random.default_rng(seed)
    sample = []
    for _ in range(200):
        flagged = bool(rng.random() < 0.6)
        y = int(rng.poisson(0.7))
        t = int(rng.binomial(y, 0.8)) if flagged else 0
        detected = t + int(rng.random() < 0.2) if flagged else 0
        rate = float(rng.choice([0.5, 0.2] if flagged else [0.02, 0.01]))
        sample.append(Document("en", "both" if flagged else "unflagged", rate, t, y, detected=detected))
    return sample, {("en", "both"): 700, ("en", "unflagged"): 9_000}


@pytest.mark.parametrize("seed", [1, 2])
def test_totals_are_calibrate_s_and_the_variance_svyratio_s(rscript: str, seed: int) -> None:
    """Weights calibrated to one total give both estimates; V of the share is the same but for n/(n-1)."""
    documents, census = _documents(seed)
    right = tuple(oracles.rows([d._replace(y=d.detected) for d in documents], census))
    unnamed = tuple(oracles.rows([d._replace(t=0, y=0 if d.detected else d.y) for d in documents], census))
    named = Named(333, right, unnamed)
    rows = weigh(unite(oracles.rows(documents, census)))
    totals = controlled_totals(rows, named)
    share = share_of([part for row in split_named(rows, named) for part in row.named])
    weighed = oracles.weigh(documents, census)
    lines = ["w,y,has,named,hit,census"]
    for d, w, *_ in weighed:
        lines.append(f"{w!r},{d.y},{d.y > 0:d},{d.detected > 0:d},{d.y > 0 < d.detected:d},{named.census}")
    answer = subprocess.run(
        [rscript, "-e", PROGRAM], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True
    )
    having, holding, ratio, variance = map(float, answer.stdout.split())
    n = len(weighed)

    assert totals is not None
    assert share is not None
    assert pytest.approx((having, holding), rel=1e-9) == (totals.documents.estimate, totals.occurrences.estimate)
    assert pytest.approx((ratio, variance), rel=1e-9) == (share.share, share.variance * n / (n - 1))
