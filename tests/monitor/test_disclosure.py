"""The disclosure rate: misses and leaks in one number, and the price of recall beside it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import oracles
import planning_oracles
import pytest
from cells import CONFIDENCES, Cell, cells, extremes
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.estimators.disclosure import disclosure
from monitor.estimators.over_masking import OverMaskingLimits, over_masking
from monitor.estimators.precision import precision
from monitor.estimators.prevalence import prevalence
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import Design, Interval, Moments, StratumSample
from monitor.records import Stratum


def times(n: int, moments: Moments) -> Moments:
    """Return so many documents alike."""
    return Moments(*[n * one for one in moments])


def stratum(moments: Moments, stratum_: Stratum = "both", census: int = 6_000, labelled: int = 300) -> StratumSample:
    """Return a stratum that is labelled at one rate."""
    return StratumSample("en", stratum_, census, (Design(labelled / census, labelled, labelled, moments),))


def shown_of(cell: Cell) -> list[StratumSample]:
    """Return the same documents' readable occurrences; t of the cell is what is hidden."""
    return oracles.rows([one._replace(t=one.y - one.t, y=one.y - one.t) for one in cell[0]], cell[1])


def test_one_miss_that_nobody_flagged_weighs_as_in_the_traffic() -> None:
    """Two of 300 flagged outputs show a number, one of 200 that nobody flagged: 40 and 500 of 106,000 documents."""
    readable = [stratum(times(2, Moments.of(1, 1))), stratum(Moments.of(1, 1), "unflagged", 100_000, 200)]
    hidden = [
        stratum(times(2, Moments.of(0, 1)).plus(times(98, Moments.of(1, 1)))),
        stratum(Moments.of(0, 1), "unflagged", 100_000, 200),
    ]
    found = disclosure(readable, hidden)

    assert found.documents is not None
    assert found.per_1000 is not None
    assert found.share is not None
    assert pytest.approx(540 / 106) == found.per_1000.estimate
    assert pytest.approx(540 / 106_000) == found.documents.estimate
    assert pytest.approx(540 / 2_500) == found.share.estimate
    assert (found.showing, found.readable, found.true, found.reason) == (3, 3, 101, None)
    assert (round(found.per_1000.lower, 2), round(found.per_1000.upper, 1)) == (0.48, 26.7)


@pytest.mark.parametrize("a_document", [1, 8])
def test_none_seen_still_has_an_upper_limit(a_document: int) -> None:
    """Lower limits of 0; the upper one grows with what a document holds, as one that's not redacted shows it all."""
    found = disclosure([stratum(Moments())], [stratum(times(100, Moments.of(a_document, a_document)))])

    assert found.documents is not None
    assert found.per_1000 is not None
    assert found.share is not None
    for limits in (found.documents, found.per_1000, found.share):
        assert (limits.estimate, limits.lower) == (0.0, 0.0)
        assert limits.upper > 0
    assert pytest.approx(12.3 * a_document, abs=0.05 * a_document) == found.per_1000.upper


def test_nothing_true_is_no_share_and_still_a_rate() -> None:
    """Labelled documents without personal data: nothing to hide, and nothing readable."""
    found = disclosure([stratum(Moments())], [stratum(Moments())])

    assert found.per_1000 is not None
    assert (found.per_1000.estimate, found.share, found.reason) == (0.0, None, "no_truth")


@pytest.mark.parametrize(
    "cell", [[], [StratumSample("en", "both", 9, ())], [stratum(Moments()), StratumSample("en", "unflagged", 99, ())]]
)
def test_no_label_of_a_kind_gives_no_value(cell: list[StratumSample]) -> None:
    """Never 0: what unlabelled outputs show is unknown. The share has its reason."""
    found = disclosure(cell, cell)

    assert (found.documents, found.per_1000, found.share) == (None, None, None)
    assert found.reason is not None


@settings(max_examples=80, deadline=None)
@given(cell=cells())
def test_limits_equal_the_oracle(cell: Cell) -> None:
    """Both rates to 1e-9 of the formulas on lists of documents; the share is what recall of the hidden leaves."""
    hidden = oracles.rows(*cell)
    found, recall = disclosure(shown_of(cell), hidden), population_recall(hidden)

    assert (found.documents is None, found.per_1000 is None) == (prevalence(hidden).documents is None,) * 2
    if found.documents is not None and found.per_1000 is not None:
        documents, per_1000 = oracles.disclosure(*cell)
        assert pytest.approx(documents, rel=1e-9, abs=1e-9) == found.documents
        assert pytest.approx(per_1000, rel=1e-9, abs=1e-9) == found.per_1000
    if recall.estimate is None or recall.lower is None or recall.upper is None:
        assert (found.share, found.reason) == (None, recall.reason)
    else:
        assert Interval(1 - recall.estimate, 1 - recall.upper, 1 - recall.lower) == found.share


@settings(max_examples=80, deadline=None)
@given(readable=extremes(), hidden=extremes(), confidence=st.sampled_from(CONFIDENCES))
def test_no_sample_ends_the_board(
    readable: list[StratumSample], hidden: list[StratumSample], confidence: float
) -> None:
    """Whatever can be sampled gives finite limits in order, or none: never an exception, NaN or infinity."""
    found = disclosure(readable, hidden, confidence)
    for limits, most in ((found.documents, 1), (found.per_1000, inf), (found.share, 1)):
        if limits is not None:
            assert 0 <= limits.lower <= limits.estimate <= limits.upper <= most
            assert limits.upper < inf


def test_needless_sentence_widens_only_what_it_should() -> None:
    """Of 12,000 masked graphemes 300 were needless, in thirty documents, or in one that was needless half."""
    spread = over_masking([stratum(times(30, Moments.of(10, 40)).plus(times(270, Moments.of(0, 40))))])
    lump = over_masking([stratum(Moments.of(300, 600).plus(times(285, Moments.of(0, 40))))])

    assert spread.limits is not None
    assert lump.limits is not None
    assert (spread.needless, spread.masked, spread.documents, spread.reason) == (300, 12_000, 300, None)
    assert (spread.limits.estimate, lump.limits.estimate) == (0.025, 0.025)
    assert spread.limits.upper < 0.06 < lump.limits.upper


def test_half_a_document_more_is_reckoned_with() -> None:
    """Ten needless words in 300 documents: p(1 - p) over the variance of what was seen, and of half a document."""
    cell = [stratum(times(10, Moments.of(10, 40)).plus(times(290, Moments.of(0, 40))))]
    share = 100 / 12_000
    seen = oracles.residual_variance([oracles.Weighed(one, 1, 1, 1) for one in _documents()], leverage=True)

    assert pytest.approx(share * (1 - share) / (seen + ((1 - share) / 300) ** 2 / 2)) == over_masking(cell).n_eff


def _documents() -> list[oracles.Document]:
    return [oracles.Document("en", "both", 1.0, t, 40) for t in [10] * 10 + [0] * 290]


def test_nothing_needless_still_has_an_upper_limit() -> None:
    """As many documents say so, not as many graphemes."""
    found = over_masking([stratum(times(300, Moments.of(0, 40)))])

    assert found.limits is not None
    assert (found.limits.estimate, found.limits.lower, found.n_eff) == (0.0, 0.0, 300)
    assert found.limits.upper > 0.01


@settings(max_examples=80)
@given(cell=cells())
def test_over_masking_equals_the_oracle(cell: Cell) -> None:
    """Limits and n_eff to 1e-9 of the formulas on lists of documents; never more certain than precision's."""
    found, others = over_masking(oracles.rows(*cell)), precision(oracles.rows(*cell))

    assert (found.limits is None) == (others.limits is None) == (found.reason is not None)
    if found.limits is not None and found.n_eff is not None and others.n_eff is not None:
        limits, n_eff = oracles.over_masking(*planning_oracles.detected_part(cell))
        assert pytest.approx(limits, rel=1e-9, abs=1e-9) == found.limits
        assert pytest.approx(n_eff, rel=1e-9) == found.n_eff
        assert found.n_eff <= others.n_eff


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ([], "no_label"),
        ([stratum(Moments.of(1, 5), "unflagged")], "no_label"),
        ([stratum(Moments())], "nothing_masked"),
        ([stratum(Moments.of(1, 5)), StratumSample("nl", "both", 900, ())], "detected_unlabelled"),
    ],
)
def test_no_data_has_no_over_masking(cell: Sequence[StratumSample], reason: str) -> None:
    """Never 0, never NaN: None, and why."""
    found: OverMaskingLimits = over_masking(cell)

    assert (None, None, reason) == (found.limits, found.n_eff, found.reason)


@settings(max_examples=100)
@given(cell=extremes(), confidence=st.sampled_from(CONFIDENCES))
def test_no_sample_ends_over_masking(cell: list[StratumSample], confidence: float) -> None:
    """Whatever can be sampled gives limits in order, or none with a reason."""
    found = over_masking(cell, confidence)

    assert (found.limits is None) == (found.reason is not None)
    if found.limits is not None:
        assert 0 <= found.limits.lower <= found.limits.estimate <= found.limits.upper <= 1
