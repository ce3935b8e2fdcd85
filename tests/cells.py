"""Hypothesis strategies for one cell's sample: any strata, designs, missing labels and languages.

`cells` has few documents, so that they can be listed; `extremes` has only sums, of up to a thousand million documents.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import oracles
from hypothesis import strategies as st
from oracles import Document, Place

from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.records import STRATA, Stratum

RATES = ((1.0,), (1.0, 0.6), (0.6, 0.1), (0.1,), (0.004, 0.0005), (0.0005,))
FOUND_OF_TRUE = ((0, 0), (1, 1), (1, 1), (0, 1), (2, 2), (1, 2), (7, 7), (3, 7), (0, 7))
LABELLED = (True, True, True, False)
STRATA_OF_A_LANGUAGE: tuple[tuple[Stratum, ...], ...] = (STRATA, ("both", "unflagged"), ("detector_only",))

EXTREME_RATES = (1.0, 1 - 2**-53, 0.999, 0.5, 0.05, 1e-3, 1e-6, 1e-9)
EXTREME_SIZES = (0, 1, 2, 50, 10_000, 900_000, 10**9)
EXTREME_SPANS = (1, 1, 2, 20, 1_000, 10**6, 10**9)
"""True occurrences in one document."""
CONFIDENCES = (0.95, 0.95, 0.5, 0.999, 1e-9, 1e-17, 1 - 2**-53)
"""From one that rounds to none to the last float below 1; the usual one more often."""

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
    for language in draw(st.sampled_from((("en",), ("en", "es")))):
        for stratum in draw(st.sampled_from(STRATA_OF_A_LANGUAGE)):
            drawn = draw(_documents((language, stratum)))
            sample += drawn
            census[language, stratum] = len(drawn) + draw(
                st.sampled_from((0, 1, 40, 90_000)).flatmap(lambda most: st.integers(0, most))
            )
    return sample, census


@st.composite
def _extreme_design(draw: st.DrawFn, rate: float, stratum: Stratum) -> Design:
    sampled = draw(st.sampled_from(EXTREME_SIZES))
    labelled = draw(st.sampled_from((sampled, sampled, min(sampled, 1), sampled // 3, 0)))
    moments, left = Moments(), labelled
    for y in draw(st.lists(st.sampled_from(EXTREME_SPANS), max_size=3)):
        documents = min(left, draw(st.sampled_from((1, 1, 2, 30, 10**9))))
        left -= documents
        t = 0 if stratum == "unflagged" else draw(st.sampled_from((0, 1, y // 2, y - 1, y)))
        moments = moments.plus(Moments(*(documents * one for one in Moments.of(t, y))))
    return Design(rate, sampled, labelled, moments)


@st.composite
def extremes(draw: st.DrawFn) -> list[StratumSample]:
    """Draw a sample that can be, at the ends of every range: census, rates, labels, occurrences, languages."""
    rows = []
    for language in draw(st.sampled_from((("en",), ("en", "es"), ("en", "es", "fy")))):
        for stratum in draw(st.sampled_from(STRATA_OF_A_LANGUAGE)):
            rates = draw(st.lists(st.sampled_from(EXTREME_RATES), max_size=3, unique=True))
            designs = tuple(draw(_extreme_design(rate, stratum)) for rate in rates)
            # a census below its sample is one that lags
            rows.append(StratumSample(language, stratum, draw(st.sampled_from(EXTREME_SIZES)), designs))
    return rows


def split(cell: Cell, seed: int) -> list[StratumSample]:
    """Return the cell with a row for each document and one for each census, in an order of that seed."""
    sample, census = cell
    parts = [row for one in sample for row in oracles.rows([one], {one.place: 0})]
    parts += [StratumSample(*place, size, ()) for place, size in census.items()]
    return [parts[i] for i in np.random.default_rng(seed).permutation(len(parts))]
