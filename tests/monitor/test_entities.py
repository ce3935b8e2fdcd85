"""One thing has one name, whatever its tool calls it, and no name can break a metric."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus_cells import ALIASES
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.entities import Aliases, clean_name, usable_name
from monitor.errors import ConfigError

INVISIBLE = ("\u00ad", "\u200b", "\u2060", "\ufeff")
ANY_TEXT = st.text(st.characters(codec=None), max_size=100)
# the names of the labelled corpora and of the detectors' decisions on them
IN_THE_DATA = [
    *("AGE", "CREDIT_CARD", "DATE_TIME", "DEMOGRAPHIC", "EMAIL_ADDRESS", "IBAN_CODE", "ID", "IP_ADDRESS", "LOCATION"),
    *("NRP", "ORGANIZATION", "OTHER", "PERSON", "PHONE_NUMBER", "QUANTITY", "TITLE", "UK_NHS", "URL"),
    *("US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_PASSPORT", "US_SSN"),
]


def test_the_names_of_five_tools_are_folded() -> None:
    """Case NAM-1: five cells, and the one unknown name is kept and told."""
    names = [
        *("PERSON", "NAME", "PER", "PERSON_NAME", "person", "Person ", "phone number", "PHONE", "PHONE_NUMBER"),
        *("EMAIL", "EMAIL_ADDRESS", "CREDIT_DEBIT_NUMBER", "CREDIT_CARD_NUMBER", "MY_CUSTOM_ID"),
    ]
    aliases = Aliases()
    expected = {"PERSON": 6, "PHONE_NUMBER": 3, "EMAIL_ADDRESS": 2, "CREDIT_CARD": 2, "MY_CUSTOM_ID": 1}
    assert expected == Counter(map(aliases.fold, names))
    assert [name for name in names if not aliases.known(name)] == ["MY_CUSTOM_ID"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PhoneNumber", "PHONE_NUMBER"),
        ("IPAddress", "IP_ADDRESS"),
        ("InternationalBankingAccountNumber", "IBAN_CODE"),
        ("USSocialSecurityNumber", "US_SSN"),
        ("e-mail", "EMAIL_ADDRESS"),
        ("e.mail  address", "EMAIL_ADDRESS"),
        ("-GPE-", "LOCATION"),
        ("NORP", "NRP"),
        ("date", "DATE_TIME"),
        ("my.custom-id", "MY_CUSTOM_ID"),
        ("\ufeffperson", "PERSON"),
        ("per\u00adson\u200b", "PERSON"),
        ("\u2060 person_\u200b", "PERSON"),
        ("\uff30\uff45\uff52\uff53\uff4f\uff4e", "PERSON"),
        ("te\u0301le\u0301phone", "T\u00c9L\u00c9PHONE"),
        ("t\u00e9l\u00e9phone", "T\u00c9L\u00c9PHONE"),
        ("stra\u00dfe", "STRASSE"),
        ("\u0438\u0306", "\u0419"),
    ],
)
def test_spelling_makes_no_difference(name: str, expected: str) -> None:
    """Case, separators and words run together are a matter of taste."""
    assert expected == Aliases().fold(name)


@pytest.mark.parametrize(
    "name", [*IN_THE_DATA, *ALIASES.keys() - {"SSN"}, "ADDRESS", "STREET_ADDRESS", "FIRST_NAME", "DATE_OF_BIRTH"]
)
def test_names_that_mean_different_things_stay_apart(name: str) -> None:
    """The default table merges nothing that the labelled corpora tell apart."""
    assert name == Aliases().fold(name)


def test_an_operators_aliases_are_applied_as_they_are_written() -> None:
    """With a study's own table, every name ends where that table says."""
    aliases = Aliases(ALIASES)
    names = [*IN_THE_DATA, *ALIASES]
    assert {name: ALIASES.get(name, name) for name in names} == {name: aliases.fold(name) for name in names}


@pytest.mark.parametrize(
    ("extra", "name", "expected"),
    [
        ({"PERSON": "NAME_X"}, "PER", "NAME_X"),
        ({"PER": "OFFICER"}, "per", "OFFICER"),
        ({"PER": "OFFICER"}, "NAME", "PERSON"),
        ({"EMPLOYEE": "PER"}, "employee", "PERSON"),
        ({"A": "B", "B": "C", "C": "phone"}, "a", "PHONE_NUMBER"),
        ({"PERSON": "PER"}, "NAME", "PER"),
        ({"PERSON": "PER"}, "PER", "PER"),
        ({"GPE": "GPE"}, "gpe", "GPE"),
        ({"person": "Human Being"}, "PER", "HUMAN_BEING"),
        ({"my id": "ID"}, "MY-ID", "ID"),
    ],
)
def test_an_operators_alias_wins_and_is_followed_to_its_end(extra: dict[str, str], name: str, expected: str) -> None:
    """Chains lead through both tables, and the operator's word is the last."""
    aliases = Aliases(extra)
    assert expected == aliases.fold(name)
    assert aliases.known(name)


@pytest.mark.parametrize(
    ("extra", "key"),
    [
        ({"A": "B", "B": "A"}, "entities.aliases.A"),
        ({"A": "B", "B": "C", "C": "B"}, "entities.aliases.B"),
        ({"X": " "}, "entities.aliases.X"),
        ({" ": "X"}, "entities.aliases.unknown"),
        ({"X": "\ud83d"}, "entities.aliases.X"),
        ({"MY_ID": "A", "my id": "B"}, "entities.aliases.my id"),
    ],
)
def test_aliases_that_lead_nowhere_are_refused(extra: dict[str, str], key: str) -> None:
    """A circle, a blank name and a contradiction are the operator's to mend."""
    with pytest.raises(ConfigError) as caught:
        Aliases(extra)
    assert key == caught.value.key


def test_hostile_names_do_not_grow_the_memory() -> None:
    """What is remembered is bounded, and the answers stay right."""
    aliases = Aliases()
    for number in range(10_000):
        aliases.fold(f"NAME {number}")
    aliases.fold("x" * 1_000_000)
    assert len(aliases._cache) <= 4096  # noqa: SLF001  # the bound is the behaviour
    assert max(map(len, aliases._cache)) <= 256  # noqa: SLF001  # the same
    assert aliases.fold("per") == "PERSON"


@settings(deadline=None)
@given(
    ANY_TEXT | st.sampled_from(["Per", "GPE", "x" * 300]),
    st.dictionaries(st.sampled_from("ABC"), st.sampled_from(["D", "PER"])),
)
def test_folding_twice_changes_nothing(name: str, extra: dict[str, str]) -> None:
    """A folded name is its own name."""
    aliases = Aliases(extra)
    folded = aliases.fold(name)
    assert folded == aliases.fold(folded)
    assert folded == folded.upper()
    assert 1 <= len(folded) <= 64 * 3


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('PER"SON', 'PER"SON'),
        ("C:\\", "C:\\"),
        ("LINE\nBREAK", "LINE\N{REPLACEMENT CHARACTER}BREAK"),
        (None, "unknown"),
        ("\ud83d", "\N{REPLACEMENT CHARACTER}"),
        ("", "unknown"),
        (" \n", "unknown"),
        ("é", "é"),
        (" Person ", "Person"),
        ("x" * 64, "x" * 64),
    ],
)
def test_a_name_is_made_fit_for_a_label(raw: str | None, expected: str) -> None:
    """Case MET-1: what can't be written is replaced, and what can be escaped is left."""
    assert expected == clean_name(raw)


def test_two_long_names_stay_two() -> None:
    """A cut name ends in digits of its hash."""
    first, second = clean_name("x" * 10_000), clean_name("x" * 9_999 + "y")
    assert first != second
    assert (len(first), len(second)) == (64, 64)


@settings(deadline=None)
@given(ANY_TEXT, st.integers(1, 30))
def test_a_clean_name_survives_an_exposition(raw: str, times: int) -> None:
    """Any text, cleaned, is a label value that a scrape writes and a parser reads back; cleaning again is idle."""
    name = clean_name(raw * times)
    assert name == clean_name(name)
    registry = CollectorRegistry()
    Gauge("probe", "A probe.", ["entity"], registry=registry).labels(name).set(1)
    (family,) = text_string_to_metric_families(generate_latest(registry).decode())
    assert [sample.labels for sample in family.samples] == [{"entity": name}]
    assert 1 <= len(name) <= 64


@pytest.mark.parametrize(
    ("name", "usable"), [("Person ", True), ("a b", True), ("", False), ("\t", False), ("a\x00", False)]
)
def test_a_usable_name_says_something(name: str, usable: bool) -> None:  # noqa: FBT001  # an expectation, not a switch
    """Blank names and names with control characters can't be used."""
    assert usable_name(name) is usable


@pytest.mark.parametrize("mark", INVISIBLE)
def test_what_cannot_be_seen_makes_no_other_name(mark: str) -> None:
    """Two series that look the same are one; a name of nothing else is none; what joins letters in Persian stays."""
    assert (clean_name(f"{mark}n{mark}l {mark}"), clean_name(mark), usable_name(mark)) == ("nl", "unknown", False)
    assert clean_name("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"
