"""H2: limits cover the truth as often as they promise, within three Monte Carlo standard errors; seeded simulation."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import peer_intervals
import pytest
from coverage_report import REPORTS, write
from limit_coverage import CERTIFIED, LOWER, TWO_SIDED, Judged, floor, judge
from simulation import GRID, NO_MISSES, Node, cells, measure, run

from monitor.estimators.linearisation import ratio_of
from monitor.estimators.post_stratification import weigh
from monitor.estimators.sample import Moments

QUICK = (
    Node(recall=0.5, prevalence=1e-3, random_rate=2e-2, mean_size=1),
    Node(recall=0.9, prevalence=2e-2, random_rate=5e-4, mean_size=3),
    Node(recall=0.97, prevalence=5e-2, random_rate=2e-3, mean_size=1, completeness=0.6),
    Node(recall=0.995, prevalence=1e-3, random_rate=5e-4, mean_size=3),
    Node(recall=0.8, prevalence=1e-4, random_rate=2e-2, mean_size=2, loose_rate=1.0),
    Node(recall=0.8, prevalence=2e-2, random_rate=5e-3, mean_size=8),
    Node(recall=0.97, prevalence=2e-3, random_rate=5e-3, mean_size=8),
    Node(recall=0.5, prevalence=5e-2, random_rate=5e-4, mean_size=1),
)
OFFERED_AT_LEAST = 1_000
"""Of 2,000 streams. A node that has no interval in most of them would be judged by next to nothing."""


def _holds(judged: Judged) -> None:
    ours, certified = judged.ours, judged.certified
    assert judged.broken == 0
    assert ours.two_sided is not None
    assert ours.two_sided >= floor(TWO_SIDED, ours.offered)
    assert ours.lower is not None
    assert ours.lower >= floor(LOWER, ours.offered)
    assert certified.lower is not None
    assert certified.lower >= floor(CERTIFIED, certified.offered)


@pytest.mark.parametrize("node", QUICK, ids=str)
def test_limits_cover_the_truth(node: Node) -> None:
    """A handful of nodes, few streams: enough to see a formula that is wrong."""
    judged = judge(node, streams=400, seed=20_260)

    assert judged.ours.offered > 200
    _holds(judged)


@pytest.mark.parametrize("node", NO_MISSES[::6], ids=str)
def test_limits_have_width_where_nothing_is_missed(node: Node) -> None:
    """A detector that misses nothing: the interval reaches 1, and isn't a point."""
    judged = judge(node, streams=50, seed=20_261)

    assert judged.ours.offered > 25
    _holds(judged)
    assert judged.silent == judged.ours


@pytest.fixture(scope="module")
def report() -> Iterator[list[Judged]]:
    """Return a list that takes what the grid's nodes gave; with all of them in it the report is written."""
    judged: list[Judged] = []
    yield judged
    if len(judged) == len(GRID):
        write(judged, REPORTS)


@pytest.mark.slow
@pytest.mark.parametrize("node", GRID, ids=str)
def test_limits_cover_the_truth_over_the_whole_grid(node: Node, report: list[Judged]) -> None:
    """Recall × prevalence × random rate × sizes and completeness, 2,000 streams a node; every node is judged."""
    judged = judge(node, streams=2_000, seed=GRID.index(node))
    report.append(judged)

    assert judged.ours.offered >= OFFERED_AT_LEAST
    _holds(judged)


@pytest.mark.slow
@pytest.mark.parametrize("node", NO_MISSES, ids=str)
def test_limits_have_width_wherever_nothing_is_missed(node: Node) -> None:
    """The same over the whole grid."""
    judged = judge(node, streams=500, seed=NO_MISSES.index(node))

    assert judged.ours.offered >= 250
    _holds(judged)


def test_grid_has_every_combination() -> None:
    """Five recalls, five prevalences, four rates, four shapes: a lost axis would show."""
    assert len(set(GRID)) == 5 * 5 * 4 * 4
    assert len(set(NO_MISSES)) == 5 * 4 * 2


def test_simulation_sees_an_interval_that_is_too_narrow() -> None:
    """The same streams, limits a tenth of the way from the estimate: coverage falls through the floor."""
    coverage = judge(QUICK[2], streams=200, seed=20_260, shrink=0.1).ours

    assert coverage.two_sided is not None
    assert coverage.two_sided < floor(TWO_SIDED, coverage.offered)


def test_streams_have_the_recall_that_they_are_said_to_have() -> None:
    """Truth, census and samples of a node are those of its parameters."""
    node = Node(recall=0.9, prevalence=2e-2, random_rate=5e-3, mean_size=3, completeness=0.6)
    streams = run(node, 50, 7)

    assert pytest.approx(0.9, abs=0.01) == streams.truth.mean()
    assert {node.documents} == set(streams.census.sum(axis=1).tolist())
    assert pytest.approx(0.6, rel=0.05) == streams.labelled.sum() / streams.sampled.sum()
    assert pytest.approx(node.rates, rel=0.05) == (streams.sampled / streams.census).mean(axis=0)
    assert pytest.approx(node.misses_seen, rel=0.1) == streams.moments[:, 1, 0].mean()


def test_no_miss_seen_leaves_peers_without_an_interval() -> None:
    """Where no miss was seen the log-odds and the normal interval have no width: they hold in no such stream."""
    measured = measure(QUICK[3], 200, 20_260)
    silent = measured.silent
    limits = peer_intervals.all_of(*(array[silent] for array in measured.streams[:1] + measured.streams[2:4]))

    assert silent.sum() > 5
    for name in ("logit", "normal"):
        assert np.isnan(limits[name].lower).all()
    assert not np.isnan(measured.lower[silent]).any()


def test_peers_ratio_is_the_linearised_one() -> None:
    """The formula on arrays gives each stream what the estimators' own linearisation does, but for n/(n-1)."""
    node = QUICK[5]
    streams = run(node, 20, 3)
    ratio = peer_intervals.weighted_ratio(streams.census / streams.labelled, streams.moments)

    for i, cell in enumerate(cells(node, streams)):
        expected = ratio_of(weigh(cell), leverage=False)
        n = int(ratio.documents[i])
        assert expected is not None
        assert pytest.approx(expected.share, rel=1e-9) == ratio.share[i]
        assert pytest.approx(expected.variance * n / (n - 1), rel=1e-9) == ratio.variance[i]


PROGRAM = """
suppressMessages(library(survey))
d <- read.csv(file("stdin"))
r <- svyciprop(~hit, svydesign(ids = ~doc, weights = ~w, data = d), method = "logit")
cat(sprintf("%.17g\\n", attr(r, "ci")))
"""


def test_log_odds_are_svyciprop_s() -> None:
    """R's own limits, occurrences in documents, to the tolerance of its iterations."""
    rscript = shutil.which("Rscript")
    if (
        rscript is None
        or subprocess.run([rscript, "-e", "library(survey)"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs R with its package survey (Debian: r-base-core, r-cran-survey)")
    documents = [(1.5, 1, 1)] * 30 + [(1.5, 1, 3)] * 8 + [(40.0, 0, 2)] * 3
    lines = ["doc,w,hit"]
    for doc, (w, t, y) in enumerate(documents):
        lines += [f"{doc},{w},{int(k < t)}" for k in range(y)]
    answer = subprocess.run(
        [rscript, "-e", PROGRAM], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    moments = [
        [sum(column) for column in zip(*(Moments.of(t, y) for w, t, y in documents if w == weight), strict=True)]
        for weight in (1.5, 40.0)
    ]
    ratio = peer_intervals.weighted_ratio(np.array([[1.5, 40.0]]), np.array([moments]))

    expected = [float(line) for line in answer.stdout.split()]
    assert pytest.approx(expected, rel=1e-6) == [limit[0] for limit in peer_intervals.log_odds(ratio)]


def test_report_says_what_was_measured(tmp_path: Path) -> None:
    """One row a node, no NaN in it, and a picture."""
    judged = [judge(node, streams=20, seed=1) for node in (*QUICK[:2], NO_MISSES[0])]
    write(judged, tmp_path)
    rows = json.loads((tmp_path / "coverage.json").read_text(encoding="utf-8"))["nodes"]

    assert [one.node._asdict() for one in judged] == [row["node"] for row in rows]
    assert {20} == {row["recallwatch"]["offered"] + row["no_interval"] for row in rows}
    assert (tmp_path / "coverage.png").read_bytes().startswith(b"\x89PNG")
