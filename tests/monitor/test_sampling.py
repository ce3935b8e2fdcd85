"""Which documents are drawn: by key, id and rates alone, and as often as the inclusion probability says."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config import LanguageRates, Sampling
from monitor.records import FLAGGED, STRATA, Slices
from monitor.sampling import Draw, Sampler

DOCUMENTS = [f"doc-{i}" for i in range(20_000)]
RATES = st.floats(1e-6, 1)


def drawn(sampler: Sampler, stratum: str = "both", language: str = "en") -> dict[str, Draw]:
    """Return which documents are drawn, and how."""
    draws = ((doc, sampler.draw(doc, language, stratum)) for doc in DOCUMENTS)  # type: ignore[arg-type]  # a literal
    return {doc: draw for doc, draw in draws if draw is not None}


def assert_share(expected: float, actual: int, of: int) -> None:
    """Assert that a count lies within four standard errors of its share."""
    assert abs(actual / of - expected) <= 4 * sqrt(expected * (1 - expected) / of)


@pytest.mark.parametrize(
    ("random", "loose", "thinning"), [(0.1, 0.3, 1.0), (0.02, 0.0, 1.0), (0.3, 0.5, 0.25), (0.005, 1.0, 0.5), (1, 0, 1)]
)
def test_drawn_share_is_the_inclusion_probability(random: float, loose: float, thinning: float) -> None:
    """Over many documents, and over many keys for one document."""
    sampler = Sampler(Sampling(random_rate=random, loose_rate=loose), thinning)
    expected = thinning * (1 - (1 - random) * (1 - loose))

    assert pytest.approx(expected, rel=1e-12) == sampler.rates("en", "both").probability
    assert_share(expected, len(drawn(sampler)), len(DOCUMENTS))
    keys = [Sampler(Sampling(random_rate=random, loose_rate=loose, key=f"k{i}"), thinning) for i in range(2000)]
    assert_share(expected, sum(s.draw("one", "en", "both") is not None for s in keys), len(keys))


def test_slices_are_independent() -> None:
    """Both pick a document as often as the product of their rates."""
    draws = drawn(Sampler(Sampling(random_rate=0.3, loose_rate=0.4)))

    assert_share(0.3, sum(d.random for d in draws.values()), len(DOCUMENTS))
    assert_share(0.4, sum(d.loose for d in draws.values()), len(DOCUMENTS))
    assert_share(0.12, sum(d.random and d.loose for d in draws.values()), len(DOCUMENTS))


def test_thinning_is_independent_of_the_slices() -> None:
    """Of what the random slice alone would draw at a low rate, the share kept is still q."""
    whole, thin = (
        Sampler(Sampling(random_rate=0.2, loose_rate=0)),
        Sampler(Sampling(random_rate=0.2, loose_rate=0), 0.5),
    )

    kept = drawn(thin)
    assert kept.keys() <= drawn(whole).keys()
    assert_share(0.5, len(kept), len(drawn(whole)))


def test_higher_rate_draws_a_superset() -> None:
    """Turning a rate up never takes a document away."""
    low, high = Sampler(Sampling(random_rate=0.05, loose_rate=0.1)), Sampler(Sampling(random_rate=0.06, loose_rate=0.3))

    assert drawn(low).keys() < drawn(high).keys()


def test_another_key_draws_other_documents() -> None:
    """Two keys agree as often as chance has it."""
    one = drawn(Sampler(Sampling(random_rate=0.1, key="one"))).keys()
    other = drawn(Sampler(Sampling(random_rate=0.1, key="other"))).keys()

    rate = 1 - 0.9 * 0.95
    assert_share(rate * rate, len(one & other), len(DOCUMENTS))


def test_draw_is_the_same_whenever_it_is_asked() -> None:
    """No state: another sampler of the same settings, asked in another order, says the same."""
    once, again = Sampler(Sampling(random_rate=0.2)), Sampler(Sampling(random_rate=0.2))

    expected = [once.draw(doc, "en", "both") for doc in DOCUMENTS[:500]]
    assert expected == [again.draw(doc, "en", "both") for doc in DOCUMENTS[:500][::-1]][::-1]


def test_unflagged_document_is_seen_by_the_random_slice_alone() -> None:
    """No tool saw anything there, so the loose slice has no claim to it."""
    rates = Sampler(Sampling(random_rate=0.01, loose_rate=1)).rates("en", "unflagged")

    assert (Slices(0.01, 0.0), 0.01) == (rates.slices, rates.probability)


def test_rates_by_language_and_stratum() -> None:
    """The most particular setting counts: language and stratum, language, stratum, the general one."""
    sampler = Sampler(
        Sampling(
            random_rate=0.01,
            loose_rate=0.1,
            loose_rate_by_stratum={"both": 0.2},
            by_language={
                "nl": LanguageRates(random_rate=0.02, loose_rate=0.3, loose_rate_by_stratum={"loose_only": 0.4}),
                "fr": LanguageRates(),
            },
        )
    )

    def slices(language: str) -> list[tuple[float, float]]:
        found = [sampler.rates(language, stratum).slices for stratum in STRATA]
        return [(s.random, s.loose) for s in found]

    assert [(0.01, 0.2), (0.01, 0.1), (0.01, 0.1), (0.01, 0.0)] == slices("en") == slices("fr")
    assert slices("nl") == [(0.02, 0.3), (0.02, 0.4), (0.02, 0.3), (0.02, 0.0)]


@given(random=RATES, loose=st.floats(0, 1), thinning=RATES)
def test_probability_is_a_probability(random: float, loose: float, thinning: float) -> None:
    """In (0, 1] whatever the rates."""
    sampler = Sampler(Sampling(random_rate=random, loose_rate=loose), thinning)

    for stratum in STRATA:
        assert 0 < sampler.rates("en", stratum).probability <= 1


@given(other=st.floats(0, 1))
def test_census_has_probability_one_exactly(other: float) -> None:
    """1 + s − s isn't 1 for every s; an estimator that asks whether π is 1 must not be told a little less."""
    for stratum in FLAGGED:
        assert Sampler(Sampling(random_rate=1, loose_rate=other)).rates("en", stratum).probability == 1.0
        assert Sampler(Sampling(random_rate=max(other, 0.1), loose_rate=1)).rates("en", stratum).probability == 1.0


@pytest.mark.parametrize("thinning", [0.0, -1.0, 1.5, float("nan")])
def test_impossible_thinning_is_refused(thinning: float) -> None:
    """Nothing can be kept with chance 0 and stand for anything."""
    with pytest.raises(ValueError, match="not in"):
        Sampler(Sampling(), thinning)
