"""What the loose net costs a byte: beside `re` and RE2 alone, on hostile text, with hostile patterns.

Interleaved as all of the bench, and in CPU time of the one thread: what else the machine does stretches it less.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from random import Random

import re2
from bench.hostile_texts import HOSTILE, hostile_texts, ordinary_texts
from bench.lab import Lab
from bench.rows import Pair, Row, by_turns
from operator_patterns import COUNTING, COUNTING_SELDOM, REALISTIC

from monitor.errors import ConfigError
from monitor.net import Net, build_net
from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, Pattern, union_regex
from monitor.prose import PROSE

LENGTH = 5_000
FRESH = 1_000_000
TWENTY = tuple(
    Pattern(name, REALISTIC[name])
    for name in (
        *("passport_nl", "passport_uk", "account_word", "sort_code", "uk_postcode", "us_ssn", "us_phone", "email"),
        *("date_iso", "date_eu", "date_long", "street_en", "name_title", "card_any", "ipv4", "ipv6", "dni", "nir"),
        *("nino", "patient"),
    )
)
"""Twenty patterns as operators write them, none with a check: what all three engines can be asked alike."""
MADE_FOR: Mapping[str, tuple[Sequence[str], str]] = {
    r"(.a|b.){30}c": (("b", "bb", "bbbbbb", "a", "aa", "aaaaa"), "bac"),
    r"\d[\d ]{25}x": (("1", " ", " ", " ", " "), "1 x"),
    r"[01][0-9]{24}z": (tuple("0123456789"), "01z"),
    r"(?:a|b)[ab]{30}c": (("a", "b"), "abc"),
}
"""Of each of `COUNTING_SELDOM`: what its dearest texts are made of at random, and what they end in, which looks like a
match to whoever leaves the count aside."""
_WHY_COUNTING = (
    "What counts n characters from every start has up to 2^n sets of places, and such a text brings a new one with "
    "nearly each byte: 512 MiB for them cost as much as 32, and RE2 without an automaton takes 300 to 500 ns on any "
    "text. Refusing what can count would refuse usual patterns (an e-mail address or a card within bounds); taking the "
    "text for caught after a few candidates would flag any text with a few numbers, for such a card"
)


def net_rows(lab: Lab) -> Iterator[Row]:
    """Measure the net, all on one core and without a broker."""
    lab.say("the net: beside re and RE2")
    yield from _engine_rows(lab)
    lab.say("the net: hostile texts")
    yield from _hostile_text_rows(lab)
    lab.say("the net: hostile patterns")
    yield from _hostile_pattern_rows(lab)


def _engine_rows(lab: Lab) -> Iterator[Row]:
    texts = ordinary_texts(50 if lab.quick else 100, LENGTH, ascii_only=True)
    net, alone = Net(TWENTY, ()), _set_alone([pattern.regex for pattern in TWENTY])
    pair = by_turns(_timed(net.catches, texts), _timed(_one_by_one(), texts), lab.times)
    yield Row(
        name="net, 20 patterns, 5 KB",
        unit="MB/s",
        value=1000 / pair.value,
        reference=1000 / pair.reference,
        compared_with="`re`, one pattern at a time",
        ratio=1 / pair.ratio,
        bar=60,
        note=f"{pair.value * LENGTH / 1000:.3g} µs a text; our part of re's time, by round: {pair.spread}",
    )
    encoded = [text.encode() for text in texts]
    beside = by_turns(_timed(net.catches, texts), _timed(alone.Match, encoded), lab.times)
    yield _cost_row("net, 20 patterns, 5 KB", beside, "RE2's Set.Match alone, bytes ready", 2)
    default = _default_net()
    everything = _set_alone([*(pattern.regex for pattern in DEFAULT_PATTERNS), *union_regex(DEFAULT_TRIGGERS)])
    beside = by_turns(_timed(default.catches, texts), _timed(everything.Match, encoded), lab.times)
    note = f"{len(DEFAULT_PATTERNS)} patterns and {len(DEFAULT_TRIGGERS)} triggers; RE2: the same in one set"
    yield _cost_row("net, defaults, 5 KB", beside, "RE2's Set.Match alone, bytes ready", 2, note)
    others = ordinary_texts(len(texts), LENGTH, ascii_only=False)
    beside = by_turns(_timed(default.catches, others), _timed(default.catches, texts), lab.times)
    yield _cost_row("net, defaults, 5 KB in five languages", beside, "the same in ASCII", None)


def _default_net() -> Net:
    return build_net(defaults=True, patterns={}, triggers=())


def _prose() -> str:
    """Return English in which nothing is found, so that it is read to its end; in transcripts the net stops early."""
    text = (PROSE * (LENGTH // len(PROSE) + 1))[:LENGTH]
    assert not _default_net().catches(text), "prose in which something is found"
    return text


def _hostile_text_rows(lab: Lab) -> Iterator[Row]:
    """Warm: the text was seen before. Fresh: the mean of the first megabyte of its kind."""
    number = 20 if lab.quick else 60
    prose = _prose()
    usual = [prose] * number
    kinds = {name: hostile_texts(name, number, LENGTH) for name in HOSTILE}
    kinds["fake cards, one text of 1 MB"] = hostile_texts("fake cards", 1, 1_000_000)
    net = _default_net()
    for name, texts in kinds.items():
        pair = by_turns(_timed(net.catches, texts, repeat=2), _timed(net.catches, usual, repeat=2), lab.times)
        yield _cost_row(f"net, {name}, seen before", pair, "prose that holds nothing", 3)
    # A net for each kind, and no second round: a text is new only once.
    number = FRESH // LENGTH
    for name in HOSTILE:
        net = _default_net()
        ordinary = _timed(net.catches, usual)()
        fresh = _timed(net.catches, hostile_texts(name, number, LENGTH, seed=1), repeat=1, warm=False)()
        once = Pair(fresh, ordinary, fresh / ordinary, "")
        yield _cost_row(f"net, {name}, first megabyte", once, "prose that holds nothing", None, "states are made once")


def _hostile_pattern_rows(lab: Lab) -> Iterator[Row]:
    refused = sum(_is_refused(regex) for regex in COUNTING)
    yield Row(
        name="net, patterns that count, refused",
        unit="patterns",
        value=refused,
        reference=len(COUNTING),
        compared_with="tried",
        ratio=refused / len(COUNTING),
        bar=1,
    )
    texts = ordinary_texts(20 if lab.quick else 40, LENGTH, ascii_only=True)
    taken = list(REALISTIC.values())[:: 6 if lab.quick else 1]
    worst = max((_with_pattern(regex, texts) for regex in (*taken, *COUNTING_SELDOM)), key=lambda pair: pair.ratio)
    note = f"the dearest of {len(taken)} usual patterns and {len(COUNTING_SELDOM)} that count on texts made for them, "
    note += "all on ordinary texts"
    yield _cost_row("net, defaults and one more pattern", worst, "defaults", 3, note)
    number = 5 if lab.quick else 20
    made_for = {regex: _on_texts_made_for(regex, number, lab.times) for regex in COUNTING_SELDOM}
    regex, worst = max(made_for.items(), key=lambda one: one[1].ratio)
    note = f"the dearest of {len(made_for)}, `{regex}`; no text was seen before. {_WHY_COUNTING}"
    yield _cost_row("net, one pattern that counts, texts made for it", worst, "prose that holds nothing", 3, note)


def _on_texts_made_for(regex: str, number: int, times: int) -> Pair:
    """Compare texts made for a pattern with prose, by the same net; other texts of the kind have warmed it."""
    net = build_net(defaults=True, patterns={"own": Pattern("own", regex)}, triggers=())
    made = _made_for(regex)

    def new() -> float:
        texts = [*islice(made, number)]
        return _timed(net.catches, texts, repeat=1, warm=False)()

    new()
    return by_turns(new, _timed(net.catches, [_prose()] * number), times)


def _made_for(regex: str) -> Iterator[str]:
    """Yield texts, no two alike, in which the default net finds nothing: else none would be read to its end."""
    pieces, lure = MADE_FOR[regex]
    rng, default = Random(regex), _default_net()  # noqa: S311  # seeded, not secret
    while True:
        text = "".join(rng.choices(pieces, k=LENGTH))[: LENGTH - len(lure) - 1] + "\n" + lure
        if not default.catches(text):
            yield text


def _with_pattern(regex: str, texts: Sequence[str]) -> Pair:
    net = build_net(defaults=True, patterns={"own": Pattern("own", regex)}, triggers=())
    return by_turns(_timed(net.catches, texts), _timed(_default_net().catches, texts), 3)


def _is_refused(regex: str) -> bool:
    try:
        Net([Pattern("own", regex)], ())
    except ConfigError:
        return True
    return False


def _cost_row(name: str, pair: Pair, compared_with: str, bar: float | None, note: str = "") -> Row:
    return Row(
        name=name,
        unit="ns/byte",
        value=pair.value,
        reference=pair.reference,
        compared_with=compared_with,
        ratio=pair.ratio,
        bar=bar,
        sense="<=",
        note="; ".join(part for part in (note, pair.spread and f"rounds {pair.spread}") if part),
    )


def _timed(
    look: Callable[[str], object] | Callable[[bytes], object],
    texts: Sequence[str] | Sequence[bytes],
    *,
    repeat: int = 3,
    warm: bool = True,
) -> Callable[[], float]:
    """Return what measures nanoseconds of CPU a byte, the best of `repeat`; `warm` looks at all texts once before."""
    size = sum(len(text.encode() if isinstance(text, str) else text) for text in texts)

    def once() -> float:
        started = time.thread_time_ns()
        for text in texts:
            look(text)  # type: ignore[arg-type]  # the callers pair them
        return (time.thread_time_ns() - started) / size

    if warm:
        once()
    return lambda: min(once() for _ in range(repeat))


def _one_by_one() -> Callable[[str], bool]:
    """Return Python's `re` asked one pattern after the other until one is found, in str: bytes are no faster."""
    compiled = [re.compile(pattern.regex.replace(r"\z", r"\Z"), re.ASCII) for pattern in TWENTY]
    return lambda text: any(one.search(text) for one in compiled)


def _set_alone(regexes: Sequence[str]) -> re2.Set:
    options = re2.Options()
    options.never_capture = True
    options.max_mem = 32 << 20
    alone = re2.Set.SearchSet(options)
    for regex in regexes:
        alone.Add(regex)
    alone.Compile()
    return alone
