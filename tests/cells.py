"""Hypothesis strategies for one cell's sample: any strata, designs, missing labels and languages, few documents."""

from __future__ import annotations

from itertools import product

import numpy as np
import oracles
from hypothesis import strategies as st
from oracles import Document, Place

from monitor.estimators.sample import StratumSample
from monitor.records import STRATA, Stratum

RATES = ((1.0,), (1.0, 0.6), (0.6, 0.1), (0.1,), (0.004, 0.0005), (0.0005,))
FOUND_OF_TRUE = ((0, 0), (1, 1), (1, 1), (0, 1), (2, 2), (1, 2), (7, 7), (3, 7), (0, 7))
LABELLED = (True, True, True, False)
STRATA_OF_A_LANGUAGE: tuple[tuple[Stratum, ...], ...] = (STRATA, ("both", "unflagged"), ("detector_only",))

Cell = tuple[list[Document], dict[Place, int]]


def _documents(place: Place) -> st.SearchStrategy[list[Document]]:
    def sample(rates: tuple[float, ...]) -> st.SearchStrategy[list[Document]]:
        blind = place[1] == "unflagged"
        kinds = [
            Document(*place, rate, 0 if blind else t, y, labelled)
            for rate, (t, y), labelled in product(rates, FOUND_OF_TRUE, LABELLED)
        ]
        return st.lists(st.sampled_from(kinds), max_size=8)

    return st.sampled_from(RATES).flatmap(sample)


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    """Draw a cell: its sampled documents, and the census of each language and stratum."""
    sample: list[Document] = []
    census: dict[Place, int] = {}
    most = draw(st.sampled_from((0, 1, 40, 90_000)))
    for language in draw(st.sampled_from((("en",), ("en", "es")))):
        for stratum in draw(st.sampled_from(STRATA_OF_A_LANGUAGE)):
            drawn = draw(_documents((language, stratum)))
            sample += drawn
            census[language, stratum] = len(drawn) + draw(st.integers(0, most))
    return sample, census


def split(cell: Cell, seed: int) -> list[StratumSample]:
    """Return the cell with a row for each document and one for each census, in an order of that seed."""
    sample, census = cell
    parts = [row for one in sample for row in oracles.rows([one], {one.place: 0})]
    parts += [StratumSample(*place, size, ()) for place, size in census.items()]
    return [parts[i] for i in np.random.default_rng(seed).permutation(len(parts))]
