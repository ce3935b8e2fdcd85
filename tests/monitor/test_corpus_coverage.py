"""H4: on real corpora, whose documents hold very unequal numbers of spans, limits hold the census of all documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import sqrt

import numpy as np
import pytest
from corpus_cells import DATA, Cell, Floats, cells, censuses, draw

from monitor.estimators.advisor import StratumTraffic, advise
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import StratumSample
from monitor.records import STRATA

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not DATA.is_dir(),
        reason="no labelled corpora: set RECALLWATCH_TEST_DATA to the folder that holds ground_truth.json",
    ),
]

FILES = (
    "crf_v2__meddocan_es_test.jsonl",
    "crf_v3__meddocan_es_test.jsonl",
    "datafog__presidio_synth_en.jsonl",
    "presidio_md__echr_fr.jsonl",
    "presidio_piifast__uner_ewt_en.jsonl",
    "presidio_sm__echr_es.jsonl",
    "presidio_sm__echr_fr.jsonl",
    "presidio_sm__meddocan_es_test.jsonl",
    "presidio_sm__presidio_synth_en.jsonl",
    "presidio_sm__uner_ewt_en.jsonl",
)
DESIGNS = ("fifth", "enriched", "advised")
AT_LEAST = 50
"""Spans in a cell that is judged."""
FIFTH = 0.2
NEVER_FLAGGED = ("datafog__presidio_synth_en.jsonl", "AGE")
"""No tool flags a document that holds one: all are missed, and there never is an interval."""


def _judged(file: str) -> list[Cell]:
    return [cell for cell in cells(file) if cell.found_of_true[1] >= AT_LEAST]


def _cell(file: str, entity: str) -> Cell:
    return next(cell for cell in cells(file) if cell.entity == entity)


def _samples(cell: Cell, design: str, keys: int, rng: np.random.Generator) -> Iterator[tuple[StratumSample, ...]]:
    rates = np.full((keys, len(STRATA)), FIFTH)
    if design == "enriched":
        # the random slice and the loose one at a fifth each
        rates[:, : STRATA.index("unflagged")] = 1 - (1 - FIFTH) ** 2
    elif design == "advised":
        rates = np.array([_advised(cell, pilot) for pilot in draw(cell, rates, rng)])
    return draw(cell, rates, rng)


def _advised(cell: Cell, pilot: tuple[StratumSample, ...]) -> list[float]:
    """Return the rates by stratum that a sample of before asks for, at the same number of labels."""
    traffic = [StratumTraffic.of(row, 1.0, FIFTH) for row in pilot]
    estimate = population_recall(pilot).estimate
    advice = advise(traffic, 0.5 if estimate is None else estimate, FIFTH * len(cell.stratum))
    by_stratum = {} if advice is None else {row.stratum: row.rate for row in advice.strata}
    return [by_stratum.get(stratum, FIFTH) for stratum in STRATA]


def _hold(cell: Cell, design: str, keys: int, seed: int) -> Counter[str]:
    """Count the draws, those with an interval, and those whose limits hold the census."""
    counts: Counter[str] = Counter(draws=keys)
    for sample in _samples(cell, design, keys, np.random.default_rng(seed)):
        reading = population_recall(sample)
        if reading.lower is None or reading.upper is None:
            continue
        counts["offered"] += 1
        above = reading.lower <= cell.recall + 1e-12
        counts["lower held"] += above
        counts["held"] += above and cell.recall - 1e-12 <= reading.upper
        counts["broken"] += not 0 <= reading.lower < reading.upper <= 1
    return counts


def _of_all(keys: int) -> dict[tuple[str, str, str], Counter[str]]:
    return {
        (file, cell.entity, design): _hold(cell, design, keys, seed)
        for file, design in product(FILES, DESIGNS)
        for seed, cell in enumerate(_judged(file))
    }


def _floor(level: float, draws: int) -> float:
    return level - 3 * sqrt(level * (1 - level) / draws)


@pytest.mark.parametrize("file", FILES)
def test_cells_are_those_of_the_census(file: str) -> None:
    """Found and true of every entity are what ground_truth.json counts over all documents."""
    assert censuses()[file].found_of_true == {cell.entity: cell.found_of_true for cell in cells(file)}


def test_limits_hold_the_census_of_real_corpora() -> None:
    """30 keys a cell: .94 over all cells, within Monte Carlo error, and no lower limit far below .96 in one."""
    counts = _of_all(30)
    total = sum(counts.values(), Counter[str]())

    assert total["broken"] == 0
    assert total["held"] >= 0.94 * total["offered"]
    for cell, one in counts.items():
        assert one["offered"] == 0 or one["lower held"] >= _floor(0.96, one["offered"]) * one["offered"], cell


@pytest.mark.slow
def test_limits_hold_the_census_in_every_cell_of_real_corpora() -> None:
    """1,000 keys a cell: intervals .94 over all cells of at least 50 spans, lower limits .96 in each of them.

    A thousand keys tell .96 from .963 by chance alone: a cell that falls short is judged by 20,000 other ones.
    """
    counts = _of_all(1_000)
    total = sum(counts.values(), Counter[str]())
    without = {cell[:2] for cell, one in counts.items() if not one["offered"]}
    short = [cell for cell, one in counts.items() if one["lower held"] < 0.96 * one["offered"]]
    again = {cell: _hold(_cell(*cell[:2]), cell[2], 20_000, 77) for cell in short}

    assert without == {NEVER_FLAGGED}
    assert total["broken"] == 0
    assert total["offered"] >= 0.98 * total["draws"]
    assert total["held"] >= 0.94 * total["offered"]
    assert {cell: one for cell, one in again.items() if one["lower held"] < 0.96 * one["offered"]} == {}


def test_narrower_limits_would_be_seen() -> None:
    """A confidence of .5 holds the census far less often than .94."""
    cell = _cell(FILES[0], "ORGANIZATION")
    rates: Floats = np.full((300, len(STRATA)), FIFTH)
    readings = [population_recall(sample, 0.5) for sample in draw(cell, rates, np.random.default_rng(3))]
    held = [r.lower <= cell.recall <= r.upper for r in readings if r.lower is not None and r.upper is not None]

    assert len(held) > 250
    assert sum(held) < 0.85 * len(held)
