"""Kappa of two readings: Cohen's, weighted by design, its limits honest where little was named or nobody differed."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf, nan, prod

import agreement_oracles as oracle
import pytest
from agreement_oracles import Read
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from monitor.estimators.agreement import FEWEST_N_EFF, GREYED_BELOW, Kappa, ReadTwice, Table, kappa, status_of

WEIGHTS = (1, 2, 20, 1900)
READINGS = st.lists(st.tuples(st.sampled_from(WEIGHTS), st.booleans(), st.booleans()), min_size=1, max_size=12)
COUNTS = st.lists(st.integers(0, 500), min_size=4, max_size=4).map(lambda counts: Table(*counts))
PARTS = st.lists(st.builds(ReadTwice, st.floats(1e-9, 1), COUNTS), max_size=6)


def _parts(readings: list[tuple[int, bool, bool]]) -> list[ReadTwice]:
    return [ReadTwice(1 / weight, Table.of(first=one, second=other)) for weight, one, other in readings]


def _documents(readings: list[tuple[int, bool, bool]]) -> list[Read]:
    return [Read(Fraction(weight), one, other) for weight, one, other in readings]


def _defined(parts: list[ReadTwice]) -> Kappa:
    found = kappa(parts)
    assert found is not None
    return found


@given(readings=READINGS)
def test_kappa_and_variance_equal_the_oracle(readings: list[tuple[int, bool, bool]]) -> None:
    """Cohen's own formula in fractions, and derivatives by moving one document's weight, to 1e-9."""
    documents = _documents(readings)
    expected = oracle.kappa(documents)
    found = kappa(_parts(readings))

    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        assert pytest.approx(float(expected), rel=1e-9, abs=1e-12) == found.estimate
        assert pytest.approx(oracle.kappa_variance(documents), rel=1e-9, abs=1e-18) == found.variance
        assert pytest.approx(oracle.kappa_limits(documents), rel=1e-9, abs=1e-7) == found[1:3]


@given(table=COUNTS)
def test_unweighted_variance_is_that_of_fleiss_cohen_and_everitt(table: Table) -> None:
    """One probability, whatever it is: the textbook's formula."""
    found = kappa([ReadTwice(0.03, table)])
    assume(found is not None)

    assert found is not None
    assert pytest.approx(oracle.fleiss_cohen_everitt(*table), rel=1e-6, abs=1e-12) == found.variance


def test_variance_agrees_with_the_jackknife() -> None:
    """On 320 documents of three weights, to a few per cent: the jackknife holds terms of higher order."""
    shapes = {(1, True, True): 60, (1, False, False): 50, (1, True, False): 12, (1, False, True): 9}
    shapes |= {(2, True, True): 30, (2, False, False): 90, (2, True, False): 8, (2, False, True): 11}
    shapes |= {(4, True, True): 5, (4, False, False): 40, (4, True, False): 2, (4, False, True): 3}
    readings = [shape for shape, times in shapes.items() for _ in range(times)]

    assert pytest.approx(oracle.kappa_jackknife(_documents(readings)), rel=0.05) == _defined(_parts(readings)).variance


def test_enriched_sample_is_not_the_traffic() -> None:
    """The same counts: .90 pooled, and .36 where a disagreement over an unflagged document weighs 93 others."""
    flagged, unflagged = Table(110, 6, 4, 80), Table(1, 4, 3, 192)

    assert pytest.approx(0.8986, abs=5e-5) == _defined([ReadTwice(1.0, flagged.plus(unflagged))]).estimate
    assert pytest.approx(0.3626, abs=5e-5) == _defined([ReadTwice(1.0, flagged), ReadTwice(1 / 93, unflagged)]).estimate


def test_textbook_table() -> None:
    """20, 5, 10, 15 of 50: observed .7, expected .5, κ = .4."""
    found = _defined([ReadTwice(1.0, Table(20, 5, 10, 15))])

    assert pytest.approx((0.4, 0.016128), abs=1e-12) == (found.estimate, found.variance)
    assert Table(20, 5, 10, 15) == found.table


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [ReadTwice(0.5, Table())],
        [ReadTwice(0.5, Table(neither=9)), ReadTwice(0.1, Table(neither=1))],
        [ReadTwice(0.5, Table(both=9))],
    ],
)
def test_no_data_and_no_chance_to_differ_give_no_value(parts: list[ReadTwice]) -> None:
    """Nothing read twice, an entity that nobody ever named, one that is in every document: κ is 0/0."""
    assert kappa(parts) is None


def test_named_by_one_reader_always_and_by_the_other_never_is_no_better_than_chance() -> None:
    """Margins of 1 and 0: chance disagrees always, as they do."""
    assert _defined([ReadTwice(0.1, Table(first_only=12))]).estimate == 0.0


def test_perfect_agreement_has_a_width_that_what_was_named_decides() -> None:
    """A thousand empty documents add next to nothing to five that both named; 500 named and 500 not say much."""
    few = _defined([ReadTwice(0.3, Table(both=5, neither=1000))])
    many = _defined([ReadTwice(0.3, Table(both=500, neither=500))])

    assert (few.estimate, few.upper) == (1.0, 1.0)
    assert few.variance == 0
    assert 0.6 < few.lower < 0.7
    assert pytest.approx(1000) == many.n_eff
    assert many.lower > 0.99


def test_one_light_disagreement_is_not_better_than_none() -> None:
    """The lower limit doesn't rise with a disagreement over a document that weighs little."""
    heavy = ReadTwice(0.01, Table(20, 0, 0, 60))
    none = _defined([heavy, ReadTwice(1.0, Table(30, 0, 0, 30))])
    one = _defined([heavy, ReadTwice(1.0, Table(30, 1, 0, 29))])

    assert one.lower <= none.lower < one.estimate


@given(parts=PARTS, confidence=st.sampled_from([0.5, 0.95, 0.999]))
def test_limits_enclose_kappa_within_its_range(parts: list[ReadTwice], confidence: float) -> None:
    """For weights over nine powers of ten: -1 <= lower <= estimate <= upper <= 1, some width, no NaN."""
    found = kappa(parts, confidence)
    if found is not None:
        assert -1 <= found.lower <= found.estimate <= found.upper <= 1
        assert found.lower < found.upper
        assert 0 <= found.variance < inf
        assert 0 < found.n_eff <= sum(found.table) * (1 + 1e-9)


@given(parts=PARTS, data=st.data())
def test_any_split_in_any_order_gives_the_same_bits(parts: list[ReadTwice], data: st.DataObject) -> None:
    """Documents one by one or summed, shuffled: whole numbers are added before anything is weighted."""
    split = [ReadTwice(p, Table(*(n // 2 for n in table))) for p, table in parts]
    rest = [ReadTwice(p, Table(*(n - n // 2 for n in table))) for p, table in parts]

    assert kappa(parts) == kappa(data.draw(st.permutations([*split, *rest])))


@given(parts=PARTS)
def test_who_reads_first_does_not_matter(parts: list[ReadTwice]) -> None:
    """Copies exchanged: the same kappa and the same limits."""
    exchanged = [ReadTwice(p, Table(t.both, t.second_only, t.first_only, t.neither)) for p, t in parts]
    one, other = kappa(parts), kappa(exchanged)

    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert pytest.approx(one[:5], rel=1e-9, abs=1e-9) == other[:5]


@given(parts=PARTS)
def test_naming_is_as_informative_as_not_naming(parts: list[ReadTwice]) -> None:
    """Yes and no exchanged: kappa is the same."""
    exchanged = [ReadTwice(p, Table(t.neither, t.second_only, t.first_only, t.both)) for p, t in parts]
    one, other = kappa(parts), kappa(exchanged)

    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert pytest.approx(one[:5], rel=1e-9, abs=1e-9) == other[:5]


@settings(max_examples=200)
@given(parts=st.lists(st.builds(ReadTwice, st.floats(0, 1, exclude_min=True), COUNTS), max_size=4))
def test_smallest_probabilities_give_no_nan(parts: list[ReadTwice]) -> None:
    """Down to 5e-324, whose weight is infinite: kappa has no scale."""
    found = kappa(parts)
    if found is not None:
        assert -1 <= found.lower <= found.estimate <= found.upper <= 1


def test_confidence_widens_the_interval() -> None:
    """90 % is inside 99 %."""
    part = [ReadTwice(1.0, Table(20, 5, 10, 15))]
    narrow, wide = kappa(part, 0.9), kappa(part, 0.99)

    assert narrow is not None
    assert wide is not None
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


@pytest.mark.parametrize(
    ("estimate", "status"),
    [
        (1.0, "ok"),
        (0.8, "ok"),
        (0.7999, "marked"),
        (0.6, "marked"),
        (0.5999, "greyed"),
        (-1.0, "greyed"),
        (None, None),
    ],
)
def test_kappa_gates_the_number(estimate: float | None, status: str | None) -> None:
    """Under .6 greys it, under .8 marks it; without a kappa there's no verdict."""
    assert status == status_of(estimate, 1.0, FEWEST_N_EFF)


@pytest.mark.parametrize(
    ("n_eff", "estimate", "upper", "status"),
    [
        (FEWEST_N_EFF, 0.3, 0.7, "greyed"),
        (FEWEST_N_EFF - 0.1, 0.3, 0.7, "marked"),
        (FEWEST_N_EFF - 0.1, 0.3, 0.6, "marked"),
        (FEWEST_N_EFF - 0.1, 0.3, 0.5999, "greyed"),
        (1.5, 0.7, 0.9, "marked"),
        (1.5, 1.0, 1.0, "ok"),
        (None, 0.3, None, "marked"),
    ],
)
def test_handful_of_documents_greys_nothing(
    n_eff: float | None, estimate: float, upper: float | None, status: str
) -> None:
    """Unless all that kappa may be is too low; how high it is counts as ever."""
    assert status == status_of(estimate, upper, n_eff)


@pytest.mark.parametrize(
    ("documents", "prevalence", "alone"),
    [(20, 0.5, 0.11), (33, 0.9, 0.14), (77, 0.9, 0.08), (60, 0.2, 0.04), (100, 0.1, 0.06), (60, 0.5, 0.01)],
)
def test_readers_who_agree_are_hardly_ever_greyed(documents: int, prevalence: float, alone: float) -> None:
    """At a kappa of .8 once in 60 times at most; by the estimate alone up to once in 7, where few say anything."""
    differ = 2 * prevalence * (1 - prevalence) * 0.2
    chances = differ, prevalence - differ / 2, 1 - prevalence - differ / 2
    greyed = low = 0.0
    for differing in range(documents + 1):
        for both in range(documents - differing + 1):
            counts = differing, both, documents - differing - both
            chance = comb(documents, differing) * comb(documents - differing, both) * prod(map(pow, chances, counts))
            if chance < 1e-6:
                continue
            table = Table(both, differing // 2, (differing + 1) // 2, counts[2])
            found = kappa([ReadTwice(1.0, table)])
            if found is not None and found.estimate < GREYED_BELOW:
                low += chance
                greyed += chance * (status_of(found.estimate, found.upper, found.n_eff) == "greyed")
    assert low > alone
    assert greyed < 1 / 60


@pytest.mark.parametrize("estimate", [nan, 1.1, -2.0])
def test_what_is_no_kappa_is_refused(estimate: float) -> None:
    """A NaN would otherwise pass as ok."""
    with pytest.raises(ValueError, match="kappa"):
        status_of(estimate, 1.0, FEWEST_N_EFF)


def test_tokens_are_no_documents() -> None:
    """AGR-1: with 970 empty units κ is .795, without them negative, which is why the units are said and all counted."""
    assert pytest.approx(0.794872, abs=1e-6) == _defined([ReadTwice(1.0, Table(20, 5, 5, 970))]).estimate
    assert pytest.approx(-0.2) == _defined([ReadTwice(1.0, Table(20, 5, 5, 0))]).estimate


@pytest.mark.parametrize("probability", [0.0, -0.1, 1.1, nan])
def test_probability_outside_its_range_is_refused(probability: float) -> None:
    """No document is drawn with it."""
    with pytest.raises(ValueError, match="probability"):
        kappa([ReadTwice(probability, Table(1, 0, 0, 1))])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, nan])
def test_confidence_is_a_probability(confidence: float) -> None:
    """95 is not .95."""
    with pytest.raises(ValueError, match="confidence"):
        kappa([ReadTwice(1.0, Table(1, 0, 0, 1))], confidence)


def test_negative_counts_are_refused() -> None:
    """More documents named than read, or a tally that was subtracted once too often."""
    with pytest.raises(ValueError, match="documents"):
        Table.within(4, 3, 1, 1)
    with pytest.raises(ValueError, match="documents"):
        kappa([ReadTwice(1.0, Table(5, -1, 0, 3))])


@given(readings=READINGS)
def test_empty_documents_need_no_row_of_the_entity(readings: list[tuple[int, bool, bool]]) -> None:
    """`neither` is what is left of the documents read twice."""
    table = Table()
    for _, one, other in readings:
        table = table.plus(Table.of(first=one, second=other))

    assert table == Table.within(len(readings), *table[:3])
