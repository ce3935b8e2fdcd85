"""The labelled corpora as cells: what each document holds, what of it was found, and in which stratum it falls.

A document is drawn with its stratum's rate, many times over at once; the estimators read each sample. No replay is run:
`tests/streams/test_real_input.py` shows that one gives the same sums.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.config import read_config
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.matching import Extent, matched, unique
from monitor.plan import Plan
from monitor.records import STRATA, Decision, Span, Stratum
from streams.corpora import read_decisions, read_truth

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA") or "/nowhere")

ALIASES = {
    **dict.fromkeys(("US_SSN", "SSN", "ES_NIF", "ES_NIE", "US_BANK_NUMBER", "US_ITIN", "US_PASSPORT"), "ID"),
    **dict.fromkeys(("US_DRIVER_LICENSE", "UK_NHS", "MEDICAL_LICENSE", "UUID"), "ID"),
    "MAC_ADDRESS": "IP_ADDRESS",
}
"""What ground_truth.json folds; the corpora know none of these names."""


class Cell(NamedTuple):
    """One entity of a decisions file, whose documents are all of one language."""

    file: str
    entity: str
    stratum: Ints
    """Of each document, its place in `STRATA`."""
    moments: Ints
    """Of each document; a row a document."""

    @property
    def found_of_true(self) -> tuple[int, int]:
        """The census."""
        total = Moments(*self.moments.sum(axis=0).tolist())
        return total.t, total.y

    @property
    def recall(self) -> float:
        """The truth."""
        found, true = self.found_of_true
        return found / true


class Census(NamedTuple):
    """What ground_truth.json says of a decisions file."""

    corpus: str
    annotator: str | None
    found_of_true: dict[str, tuple[int, int]]


@cache
def censuses() -> dict[str, Census]:
    """Return the census of each decisions file, by the first reader where there are two."""
    found: dict[str, Census] = {}
    for entry in json.loads((DATA / "ground_truth.json").read_text(encoding="utf-8")):
        cells = {cell["entity"]: (cell["found_iou"], cell["n_true"]) for cell in entry["cells"]}
        found.setdefault(entry["decisions"], Census(entry["corpus"], entry["annotator"], cells))
    return found


@cache
def cells(file: str) -> tuple[Cell, ...]:
    """Return the cells of a decisions file, read as the product reads it."""
    plan = Plan(read_config({"entities": {"aliases": ALIASES}}))
    census = censuses()[file]
    truth = read_truth(DATA / "corpora" / census.corpus, census.annotator)
    strata: list[int] = []
    rows: dict[str, list[Moments]] = {entity: [] for entity in census.found_of_true}
    for decision in read_decisions(DATA / "decisions" / file):
        if not isinstance(decision, Decision):
            raise ValueError(str(decision))  # noqa: TRY004  # the file is at fault
        least = decision.threshold or 0.0
        flagged = [span for span in decision.spans if span.score is None or span.score >= least]
        true, found = _extents(plan, truth[decision.doc_id]), _extents(plan, flagged)
        loose = plan.net.catches(decision.text)
        stratum: Stratum = ("both" if loose else "detector_only") if found else "loose_only" if loose else "unflagged"
        strata.append(STRATA.index(stratum))
        hits = matched(true, found, plan.iou)
        for entity, moments in rows.items():
            mine = {i for i, extent in enumerate(true) if extent.entity == entity}
            moments.append(Moments.of(len(mine & hits), len(mine)))
    return tuple(Cell(file, entity, np.array(strata), np.array(moments)) for entity, moments in rows.items())


def _extents(plan: Plan, spans: list[Span]) -> list[Extent]:
    return unique(Extent(span.start, span.end, plan.aliases.fold(span.entity)) for span in spans)


def draw(cell: Cell, rates: Floats, rng: np.random.Generator) -> Iterator[tuple[StratumSample, ...]]:
    """Yield a sample a row of `rates`, which are by stratum; every drawn document is labelled."""
    drawn = rng.random((len(rates), len(cell.stratum))) < rates[:, cell.stratum]
    places = sorted(set(cell.stratum.tolist()))
    parts = [
        (
            h,
            int((cell.stratum == h).sum()),
            rates[:, h].tolist(),
            drawn[:, cell.stratum == h].sum(axis=1).tolist(),
            (drawn[:, cell.stratum == h].astype(np.int64) @ cell.moments[cell.stratum == h]).tolist(),
        )
        for h in places
    ]
    for key in range(len(rates)):
        yield tuple(
            StratumSample("en", STRATA[h], census, (Design(rate[key], n[key], n[key], Moments(*moments[key])),))
            for h, census, rate, n, moments in parts
        )
