"""RE2's syntax as a tree, and written out again."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st
from operator_patterns import COUNTING, REALISTIC

from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, union_regex
from monitor.regex_syntax import Assertion, Atom, Repeat, Sequence, Union, loosen_regex, parse_regex

ALL = [*REALISTIC.values(), *COUNTING, *(pattern.regex for pattern in DEFAULT_PATTERNS), *union_regex(DEFAULT_TRIGGERS)]


@pytest.mark.parametrize(
    ("regex", "tree"),
    [
        ("ab", Sequence((Atom("a"), Atom("b")))),
        ("", Sequence(())),
        ("a|", Union((Atom("a"), Sequence(())))),
        (r"(?P<year>\d{2,4}?)", Repeat(Atom(r"\d"), 2, 4)),
        ("(?i:a)b", Sequence((Atom("(?i:a)"), Atom("b")))),
        ("(?:(?i)a)b", Sequence((Atom("(?i:a)"), Atom("b")))),
        ("(?m)^(?-m)$", Sequence((Assertion("line"), Assertion("text end")))),
        (r"\bx\B\z", Sequence((Assertion("edge"), Atom("x"), Assertion("no edge"), Assertion("text end")))),
        (r"[]a[:alpha:]\]]+", Repeat(Atom(r"[]a[:alpha:]\]]"), 1, None)),
        (r"[^]]\x{2019}\pL\p{^Greek}", Sequence((Atom("[^]]"), Atom(r"\x{2019}"), Atom(r"\pL"), Atom(r"\p{^Greek}")))),
        (r"\Q(a\E{2}", Sequence((Atom(r"\("), Repeat(Atom("a"), 2, 2)))),
        ("a{,3}", Sequence(tuple(map(Atom, "a{,3}")))),
        ("a{3,}", Repeat(Atom("a"), 3, None)),
    ],
)
def test_regex_is_read_as_re2_reads_it(regex: str, tree: object) -> None:
    """Flags, groups, classes, quotes and braces that are no repetition."""
    re2.compile(regex)
    assert parse_regex(regex) == tree


@pytest.mark.parametrize("regex", ALL)
def test_what_is_written_again_compiles(regex: str) -> None:
    """No pattern of the product or of an operator's is read wrongly enough to break."""
    re2.compile(loosen_regex(regex))


@given(
    st.sampled_from(["(?i)a{2}|b?c", r"\ba(?:b|c){1,3}$", "(?m)^a|b$", r"(?s)a.b", r"\Qa.b\E|[^a]c"]),
    st.text("abcAB.\n "),
)
def test_what_is_written_again_means_the_same(regex: str, text: str) -> None:
    """Without a long repetition nothing is loosened."""
    assert bool(re2.search(regex, text)) == bool(re2.search(loosen_regex(regex), text))
