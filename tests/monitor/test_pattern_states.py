"""Operators' patterns: those that would stall a stream are refused, all others pass and catch what they say."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from operator_patterns import COUNTING, COUNTING_SELDOM, REALISTIC

from monitor.errors import ConfigError
from monitor.net import MOST_ON_PROSE, Net
from monitor.pattern_states import LIMIT, count_states, count_states_on
from monitor.patterns import DEFAULT_PATTERNS, Pattern
from monitor.prose import PROSE
from monitor.regex_syntax import loosen_regex

SELDOM = (REALISTIC["email_i"], REALISTIC["dob"], REALISTIC["card"], *COUNTING_SELDOM)
TEXTS = st.text("aAbcx.@-/ 0123456789\n:é", max_size=80)
LONG_LOCAL_PART = "a" * 65 + "@example.org"


@pytest.mark.parametrize("name", REALISTIC)
def test_realistic_pattern_is_not_refused(name: str) -> None:
    """What operators write is taken as it is, and makes hardly a state on prose."""
    Net([Pattern(name, REALISTIC[name])], [])
    assert count_states_on(REALISTIC[name], PROSE) < MOST_ON_PROSE / 4


@pytest.mark.parametrize("regex", COUNTING)
def test_pattern_that_counts_from_every_start_is_refused(regex: str) -> None:
    """The error names the pattern and says what to write instead."""
    with pytest.raises(ConfigError) as raised:
        Net([Pattern("slow", regex)], [])
    assert raised.value.key == "net.patterns.slow"
    assert "write * or +" in raised.value.problem


@pytest.mark.parametrize("regex", [*COUNTING_SELDOM, *(pattern.regex for pattern in DEFAULT_PATTERNS)])
def test_pattern_that_counts_on_no_prose_is_taken(regex: str) -> None:
    """What only a text made for it would slow down is no reason to refuse."""
    Net([Pattern("seldom", regex)], [])
    assert count_states_on(regex, PROSE) < MOST_ON_PROSE / 4


@pytest.mark.parametrize("regex", SELDOM)
def test_loosened_pattern_has_few_states(regex: str) -> None:
    """Without the bounds of its repetitions it can't blow up on any text."""
    assert count_states(regex) == LIMIT + 1 or regex == COUNTING_SELDOM[-1]
    assert count_states(loosen_regex(regex)) <= LIMIT


@given(st.sampled_from([*SELDOM, *COUNTING, *REALISTIC.values()]), TEXTS)
def test_loosened_pattern_matches_wherever_the_exact_one_does(regex: str, text: str) -> None:
    """Or the net would miss what its config says."""
    if re2.search(regex, text):
        assert re2.search(loosen_regex(regex), text)


@given(st.sampled_from(SELDOM), TEXTS)
def test_net_catches_exactly_what_a_loosened_pattern_says(regex: str, text: str) -> None:
    """Loosening is a way to look, and changes no answer."""
    assert Net([Pattern("seldom", regex)], []).catches(text) == bool(re2.search(regex, text))


def test_bound_that_is_loosened_still_counts() -> None:
    """A local part of 65 characters isn't a mail address of 64 at most."""
    net = Net([Pattern("mail", r"(?i)(?:^| )[a-z0-9._%+\-]{1,64}@[a-z0-9.\-]{1,255}\.[a-z]{2,24}\b")], [])
    assert net.catches(LONG_LOCAL_PART[1:])
    assert not net.catches(LONG_LOCAL_PART)


@pytest.mark.parametrize(
    ("regex", "states"),
    [
        ("ab", 3),
        (r"\Aab", 3),
        ("a*", 2),
        ("(?i)k", 2),
        (r"[[:digit:]]", 2),
        (r"\pL\pN", 4),
        (r"\Qa.b\E", 4),
        ("x{3}", 5),
    ],
)
def test_states_are_counted(regex: str, states: int) -> None:
    """Small automata, counted by hand but for what only the edges of words and lines tell apart."""
    assert count_states(regex, 50) >= states
    assert count_states(regex, 50) <= 4 * states


def test_states_on_a_text_are_those_it_leads_through() -> None:
    """A text without a start makes none but those of words and lines."""
    assert count_states_on("q.{40}c", "banana split") < count_states_on("a.{40}c", "banana split")
