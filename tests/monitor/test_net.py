"""The net: early answers, checks within bounds, versions, config errors, and text of every kind.

Time is the bench's subject; here hostile text is held to a count of checks.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import FrameType, FunctionType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.checksums import payment_card
from monitor.errors import ConfigError
from monitor.net import Net, build_net
from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, Pattern

DEFAULT = build_net(defaults=True, patterns={}, triggers=())
ASKED = Net([pattern._replace(name=f"own_{pattern.name}") for pattern in DEFAULT_PATTERNS], DEFAULT_TRIGGERS)
"""The same patterns, none of them known to be told by what follows a candidate's beginning."""
BADGE = Pattern("badge", r"\bK-\d{4}\b")
CARD = Pattern("card", r"\b\d{16}\b", "payment_card")
NINE = Pattern("nine", r"\b\d{9}\b", "nl_bsn")

soups = st.lists(
    st.sampled_from(
        ["4111111111111111", "4111111111111112", "111222333", "111222334", "K-1234", " ", "é", "😀", "\0", "passport"],
    ),
).map(" ".join)

numbers = st.one_of(
    st.sampled_from(
        ["4111 1111 1111 1112 ", "4111111111111111 ", "ES9121000418450200051333 ", "GB123456C ", "x-1234567-l "]
    ),
    st.from_regex(r"[0-9]{1,12}[ .\-/]?", fullmatch=True),
    st.sampled_from(["a", " ", "é", "+", "(", ") ", "\u202f", "\n"]),
)


def error_of(build: Callable[[], object]) -> tuple[str, str]:
    """Return the key and the problem of the config error that `build` raises."""
    with pytest.raises(ConfigError) as raised:
        build()
    return raised.value.key, raised.value.problem


def test_patterns_and_triggers_fire_together() -> None:
    """Names come in the order of the config, patterns first."""
    net = Net([BADGE, CARD], ["sort code", "PIN"])
    text = "sort code, PIN, card 4111111111111111 and badge K-1234"
    assert net.names(text) == ["badge", "card", "trigger:sort code", "trigger:PIN"]
    assert net.catches(text)


def test_an_empty_net_and_an_empty_text_catch_nothing() -> None:
    """No pattern, no trigger, no text: nothing fires, nothing fails."""
    empty = build_net(defaults=False, patterns={}, triggers=[])
    assert not empty.catches("4111 1111 1111 1111")
    assert empty.names("passport") == []
    assert not DEFAULT.catches("")


def test_a_candidate_that_fails_its_check_fires_nothing() -> None:
    """The shape alone isn't enough where a pattern has a check."""
    net = Net([CARD], [])
    assert net.catches("a 4111111111111111 b")
    assert not net.catches("a 4111111111111112 b")
    assert net.catches("a 4111111111111112 b 4111111111111111 c")


def test_a_candidate_inside_a_wrong_one_is_found() -> None:
    """A wrong candidate doesn't hide a right one that begins before its end."""
    net = Net([Pattern("card", r"\b\d{4}(?: \d{4}){3}\b", "payment_card")], [])
    assert net.catches("2020 4111 1111 1111 1111")


def test_two_checked_patterns_are_told_apart() -> None:
    """Where several patterns with checks match, each answers for itself."""
    net = Net([CARD, NINE], [])
    assert net.names("4111111111111112 111222333") == ["nine"]
    assert net.names("4111111111111111 111222334") == ["card"]
    assert net.names("4111111111111112 111222334") == []


def test_checked_pattern_of_an_operator_is_asked_where_no_default_one_begins() -> None:
    """Nor does what a default one finds elsewhere in the text, or wrongly, keep it from being asked."""
    net = build_net(defaults=True, patterns={"loyalty": Pattern("loyalty", r"-\d{5}\b", "luhn")}, triggers=())
    texts = ("no. -79921", "no. -79922", "4111 1111 1111 1112, -79921", "4111 1111 1111 1112, -79922")

    assert [net.names(text) for text in texts] == [["loyalty"], [], ["loyalty"], []]
    assert [net.catches(text) for text in texts] == [True, False, True, False]


@given(soups)
def test_catches_is_true_exactly_where_a_name_fires(text: str) -> None:
    """The hot path and the diagnosis agree."""
    net = Net([BADGE, CARD, NINE], ["passport"])
    assert bool(net.names(text)) == net.catches(text)


@given(st.lists(numbers, max_size=12).map("".join))
def test_numbers_are_caught_exactly_where_a_name_fires(text: str) -> None:
    """What asks only the patterns that may begin at a candidate agrees with what asks each."""
    assert DEFAULT.catches(text) == bool(DEFAULT.names(text)) == ASKED.catches(text)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_unicode_text_is_read(text: str) -> None:
    """NUL, astral characters, combining marks: all are text, and what stands behind them is found."""
    assert DEFAULT.catches(f"{text} ana@example.org")
    assert bool(DEFAULT.names(text)) == DEFAULT.catches(text)


@pytest.mark.parametrize("noise", ["\0", "😀", "\u202e", "\ufeff", "é", "\r\n", "漢"])
def test_a_value_amid_odd_characters_is_found(noise: str) -> None:
    """Boundaries hold beside NUL, astral and other letters."""
    assert "payment_card" in DEFAULT.names(f"{noise}4111 1111 1111 1111{noise}")


def test_as_many_wrong_candidates_as_tries_count_as_caught() -> None:
    """A text with more wrong candidates than the net will try is caught; the bound grows with its length."""
    net = Net([CARD], [])
    wrong = "4111111111111112 "
    assert not net.catches(wrong * 3)
    assert net.catches(wrong * 4)
    assert not net.catches("x" * 4096 + " " + wrong * 5)
    assert net.catches("x" * 4096 + " " + wrong * 6)


def calls_of(function: Callable[[str], bool], work: Callable[[], object]) -> int:
    """Return how often `work` calls a Python function."""
    assert isinstance(function, FunctionType)
    code = function.__code__
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is code

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("text", ["4111111111111112 " * 10_000, "1" * 100_000, "1 " * 50_000])
def test_hostile_digits_cost_a_bounded_number_of_checks(text: str) -> None:
    """However many candidates stand in a text, checks are at most three and one for each 2 KiB."""
    net = Net([CARD], [])
    assert calls_of(payment_card, lambda: net.catches("4111111111111112")) == 1
    assert calls_of(payment_card, lambda: net.catches(text)) <= 3 + len(text) // 2048


@pytest.mark.parametrize("regex", [r"(a+)+$", r"(a|aa)+$", r"(.*a){12}$", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_would_hang_a_backtracking_engine_answers(regex: str) -> None:
    """Nested repetition is linear in RE2; a backtracking engine wouldn't end before the sun does."""
    net = build_net(defaults=True, patterns={"hostile": Pattern("hostile", regex)}, triggers=[])
    assert not net.catches("a" * 50_000 + "!")


def test_a_pattern_of_the_same_name_replaces_a_default_and_none_removes_it() -> None:
    """Names decide; the other defaults stay, and triggers are added."""
    text = "ana@example.org"
    assert DEFAULT.names(text) == ["email"]
    assert build_net(defaults=True, patterns={"email": None}, triggers=[]).names(text) == []
    replaced = build_net(defaults=True, patterns={"email": Pattern("email", "K-9")}, triggers=["dog tag"])
    assert replaced.names(text) == []
    assert replaced.names("K-9, dog tag, passport") == ["email", "trigger:passport", "trigger:dog tag"]


@pytest.mark.parametrize("check", [None, "payment_card"])
def test_named_groups_and_open_quotations_are_taken(check: str | None) -> None:
    """Two patterns may name a group alike, and a quotation may go to the end of its regex."""
    patterns = [
        Pattern("one", r"(?P<it>4111)1{12}", check),
        Pattern("two", r"(?P<it>K)-\d\Q."),
        Pattern("three", r"\Q(x)"),
    ]
    net = Net(patterns, ["dog tag"])
    assert net.names("4111111111111111 K-1. dog tag") == ["one", "two", "trigger:dog tag"]
    assert [net.catches(text) for text in ("4111111111111111", "K-1.", "K-1", "(x)", "(y)")] == [
        True,
        True,
        False,
        True,
        False,
    ]


def test_groups_nested_too_deep_are_a_config_error() -> None:
    """RE2 compiles what Python's own recursion can't follow."""
    deep = "(a" * 900 + "b{1,9}" + ")" * 900
    key, problem = error_of(lambda: Net([Pattern("deep", deep)], []))
    assert (key, problem[-25:]) == ("net.patterns.deep", "nests its groups too deep")


def test_candidates_without_their_bounds_cost_a_bounded_number_of_looks() -> None:
    """A checked pattern that is looked for without its bounds, on a text made for that: caught after so many misses."""
    net = Net([Pattern("made", r"\d[0-9a-f]{40}c", "payment_card")], [])
    assert net.catches("1234567890abdef" * 20_000 + "c")


def test_without_defaults_only_the_config_counts() -> None:
    """`net.defaults = false` leaves no default pattern and no default trigger."""
    net = build_net(defaults=False, patterns={"badge": BADGE}, triggers=["dog tag"])
    assert net.names("ana@example.org passport K-1234 dog tag") == ["badge", "trigger:dog tag"]


def test_version_is_the_same_in_every_process_and_order() -> None:
    """Equal configs have equal versions: across interpreters, and in whatever order they list their parts."""
    command = "from monitor.net import build_net; print(build_net(defaults=True, patterns={}, triggers=()).version)"
    other = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == DEFAULT.version
    assert Net(DEFAULT_PATTERNS[::-1], DEFAULT_TRIGGERS[::-1]).version == DEFAULT.version
    assert len(DEFAULT.version) == 12
    assert int(DEFAULT.version, 16) >= 0


def test_version_changes_with_every_part() -> None:
    """A regex, a name, a check and a trigger each make another net."""
    nets = [
        Net([BADGE], ["a b"]),
        Net([BADGE._replace(regex=r"\bK-\d{5}\b")], ["a b"]),
        Net([BADGE._replace(name="token")], ["a b"]),
        Net([BADGE._replace(check="luhn")], ["a b"]),
        Net([BADGE], ["a c"]),
        Net([BADGE], []),
        DEFAULT,
    ]
    assert len({net.version for net in nets}) == len(nets)


@pytest.mark.parametrize("regex", ["", "a*", r"\b", "^", "(?:x|)", "a?$"])
def test_a_pattern_that_matches_nothing_at_all_is_refused(regex: str) -> None:
    """It would fire on every document."""
    key, problem = error_of(lambda: Net([Pattern("broad", regex)], []))
    assert key == "net.patterns.broad"
    assert "empty" in problem


@pytest.mark.parametrize("regex", ["(", "[z-a]", r"(?<=a)b", r"(a)\1", "a{5000}", "\ud800"])
def test_a_pattern_that_does_not_compile_is_named(regex: str) -> None:
    """The key names the pattern, the problem says what RE2 says."""
    key, problem = error_of(lambda: Net([BADGE, Pattern("odd", regex)], []))
    assert key == "net.patterns.odd"
    assert problem.startswith("RE2 can't compile")


def test_an_unknown_check_is_refused_with_those_there_are() -> None:
    """A mistyped check can't pass for none."""
    key, problem = error_of(lambda: Net([BADGE._replace(check="lhun")], []))
    assert key == "net.patterns.badge"
    assert "'lhun'" in problem
    assert "luhn" in problem


def test_a_name_that_stands_twice_is_refused() -> None:
    """Readings of one name would be two patterns'."""
    assert error_of(lambda: Net([BADGE, BADGE], []))[0] == "net.patterns.badge"


def test_an_empty_pattern_that_removes_nothing_is_refused() -> None:
    """A mistyped name would leave a default in force without a word."""
    key, problem = error_of(lambda: build_net(defaults=True, patterns={"emial": None}, triggers=[]))
    assert key == "net.patterns.emial"
    assert "email" in problem


@pytest.mark.parametrize("trigger", ["", "  ", "-", "'’"])
def test_a_trigger_without_a_letter_is_refused(trigger: str) -> None:
    """It would fire on every document."""
    assert error_of(lambda: Net([], [trigger]))[0] == "net.triggers"


def test_patterns_too_large_together_are_refused() -> None:
    """RE2 that has no room for its automaton says so when the net is built, not on the stream."""
    key, problem = error_of(lambda: Net(DEFAULT_PATTERNS, DEFAULT_TRIGGERS, max_mem=100_000))
    assert key.startswith("net.")
    assert problem


def test_a_net_with_hardly_room_catches_what_a_roomy_one_does() -> None:
    """An automaton that keeps starting afresh is slow, never wrong."""
    texts = [f"{'né 0612 ' * 40}{value}{' +1 4111-' * 40}" for value in ("x", "ana@example.org", "passport")]
    tight = Net(DEFAULT_PATTERNS, DEFAULT_TRIGGERS, max_mem=1 << 20)
    assert [tight.names(text) for text in texts] == [DEFAULT.names(text) for text in texts]
