"""Hypothesis strategies for one cell's sample: any strata, designs, missing labels and languages, few documents."""

from __future__ import annotations

from hypothesis import strategies as st
from oracles import Document, Place

from monitor.records import STRATA

RATES = (1.0, 0.6, 0.1, 0.004, 0.0005)


@st.composite
def documents(draw: st.DrawFn, place: Place, *, all_labelled: bool = False) -> list[Document]:
    """Draw the sampled documents of one language and stratum, under one or two inclusion probabilities."""
    rates = draw(st.lists(st.sampled_from(RATES), min_size=1, max_size=2, unique=True))
    sample = []
    for _ in range(draw(st.integers(0, 9))):
        y = draw(st.sampled_from((0, 1, 1, 2, 7)))
        t = 0 if place[1] == "unflagged" else draw(st.sampled_from((y, y, 0, y // 2)))
        labelled = all_labelled or draw(st.sampled_from((True, True, True, False)))
        sample.append(Document(*place, draw(st.sampled_from(rates)), t, y, labelled))
    return sample


@st.composite
def cells(draw: st.DrawFn, *, all_labelled: bool = False) -> tuple[list[Document], dict[Place, int]]:
    """Draw a cell: its sampled documents, and the census of each language and stratum."""
    sample: list[Document] = []
    census: dict[Place, int] = {}
    languages = draw(st.sampled_from((("en",), ("en", "es"), ("en", "es", "nl"))))
    for language in languages:
        for stratum in draw(st.lists(st.sampled_from(STRATA), unique=True, min_size=1)):
            place = language, stratum
            drawn = draw(documents(place, all_labelled=all_labelled))
            sample += drawn
            census[place] = len(drawn) + draw(st.sampled_from((0, 0, 1, 40, 90_000)))
    return sample, census
