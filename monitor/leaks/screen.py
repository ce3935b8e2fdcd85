"""What every decision gets: all that the check would say, without the check where the output is plain.

It asks what must hold for there to be a leak, in the order of what it costs, and leaves to the check what isn't plain:
the places that aren't where most are, all of it otherwise. Both say the same of every output, which the tests hold
them to.

* What lies between the flagged stretches stands in the output, in order and unchanged. Of presidio's own placeholders
  one comparison tells that, of others a walk. So the check's look at a replacement, and beside it, depends on that one
  replacement and what it replaced, and only those are looked at that may say something.
* What stands there instead is a placeholder or mask of a common shape, or shows nothing of its value.
* Beside no mask stands what could be a rest of its value: a look at two characters, and a closer one where they may.
* Of no value do the words stand anywhere in the output (`monitor.leaks.standing`). Where words do stand there, those
  values alone are looked at closely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from monitor.leaks.alignment import Replaced, walk
from monitor.leaks.check import check, check_places
from monitor.leaks.edges import glued_after, glued_before, may_follow, may_precede, rest_after, rest_before
from monitor.leaks.findings import Checked
from monitor.leaks.layout import Layout
from monitor.leaks.masks import PLAIN
from monitor.leaks.mentions import Searched
from monitor.leaks.needles import may_stand, needles_of
from monitor.leaks.policy import Policy
from monitor.leaks.remainders import find_remainder
from monitor.leaks.standing import Standing, find
from monitor.leaks.values import Nature, nature_of, nature_of_value
from monitor.net import Net
from monitor.records import Span

_MANY = 64
"""Spans from which on the check's own tables take less time than a search for each value."""


def examine(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None = None) -> Checked:
    """Return what the full check says, without it where the output is plain.

    The arguments are those of `check`.

    >>> examine("I am Bo Smid.", [Span(5, 12, "PERSON")], "I am <PERSON>.", Policy())
    Checked(aligned=True, leaks=(), masked=((5, 12),), replaced_spans=1)
    """
    if not spans and text == redacted:
        return _NOTHING
    places = _look(text, spans, policy, net) if 0 < len(spans) <= _MANY else None
    written = None if places is None else _written(text, places, redacted)
    if places is None or written is None:
        return check(text, spans, redacted, policy, net)
    unsure = places.unplain if written is places.expected else range(len(spans))
    shown = places.odd + [n for n in unsure if not _shows_nothing(text, spans[n], written[n], policy)]
    standing = Standing(redacted)
    named = _named(places.sought, standing)
    if not shown and not named:
        replaced = len(spans) - places.ignored
        return Checked(aligned=True, leaks=(), masked=tuple(places.regions), replaced_spans=replaced)
    layout = Layout(aligned=True, readable=True, replaced=_placed(spans, written), stray=[], exact=True)
    output = Searched(redacted, standing)
    return check_places(text, spans, output, policy, net, layout, sorted(set(shown)), named)


def suspicious(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None = None) -> bool:
    """Return whether the full check has something to say: a leak, or an output that isn't the text with parts replaced.

    The arguments are those of `check`.
    """
    found = examine(text, spans, redacted, policy, net)
    return bool(found.leaks) or not found.aligned


_start = attrgetter("start")
_NOTHING = Checked(aligned=True, leaks=(), masked=(), replaced_spans=0)


class _Kind(NamedTuple):
    """What an entity's name alone tells."""

    nature: Nature
    told: bool
    """Whether that's so of every value."""
    placeholder: str
    plain: bool
    """Whether the placeholder is one of the common shapes."""
    ending: frozenset[str]
    """What follows a value that is all there."""


@lru_cache(maxsize=4096)
def _kind_of(entity: str) -> _Kind:
    nature, placeholder = nature_of(entity), f"<{entity}>"
    plain = PLAIN.fullmatch(placeholder) is not None
    return _Kind(nature, nature not in _UNTOLD, placeholder, plain, _endings(nature))


class _Places(NamedTuple):
    """What the spans of a text tell by themselves."""

    parts: Sequence[str]
    """The output as presidio makes it: what lies between the spans, and their placeholders, by turns."""
    expected: Sequence[str]
    """The placeholders."""
    regions: Sequence[tuple[int, int]]
    odd: list[int]
    """Numbers of the spans beside which something is that a mask leaves."""
    unplain: Sequence[int]
    """Numbers of those whose placeholder isn't of a common shape."""
    sought: Mapping[tuple[str, Nature], Sequence[Span]]
    """Those that aren't ignored, by their values."""
    ignored: int


def _look(text: str, spans: Sequence[Span], policy: Policy, net: Net | None) -> _Places | None:
    """Return what the spans tell; None where they touch or are in no order."""
    ruled = bool(policy.entities)
    parts: list[str] = []
    regions: list[tuple[int, int]] = []
    odd: list[int] = []
    unplain: list[int] = []
    sought: dict[tuple[str, Nature], list[Span]] = {}
    reached, ignored = -1, 0
    for number, span in enumerate(spans):
        start, end, entity = span.start, span.end, span.entity
        if not reached < start < end:
            return None
        nature, told, placeholder, plain, ending = _kind_of(entity)
        value = text[start:end]
        parts += text[reached if number else 0 : start], placeholder
        regions.append((start, end))
        reached = end
        if not plain:
            unplain.append(number)
        if ruled and policy.of(entity).ignore:
            ignored += 1
            continue
        if not told:
            nature, ending = _told(entity, nature, value)
        ended = text[end : end + 2] in ending or _ends(text, end, nature)
        # what's asked first is so of most names
        whole = nature == "person" and " " in value and value[0] != "@" and len(value.split()) > 1
        begun = (whole and text[start - 1 : start] == " ") or _begins(text, start, nature, value)
        if not (ended and begun) and _has_rest(text, spans, number, net, ended=ended):
            odd.append(number)
        same = sought.get((value, nature))
        if same is None:
            sought[value, nature] = [span]
        else:
            same.append(span)
    parts.append(text[reached:])
    return _Places(parts, parts[1::2], regions, odd, unplain, sought, ignored)


def _written(text: str, places: _Places, redacted: str) -> Sequence[str] | None:
    """Return what stands in place of each span, as `walk` does; None where the output isn't the text with these."""
    if "".join(places.parts) == redacted:  # what presidio makes of it
        return places.expected
    replaced = walk(text, places.regions, redacted)
    return None if replaced is None else [redacted[one.output_start : one.output_end] for one in replaced]


def _named(sought: Mapping[tuple[str, Nature], Sequence[Span]], standing: Standing) -> list[Span]:
    """Return the spans of which a key may stand in the output, in their order."""
    squeezed = standing.squeezed
    named: list[Span] = []
    for (value, nature), spans in sought.items():
        needles = needles_of(spans[0].entity, nature, value)
        for needle in needles[0]:
            if find(squeezed, needle) >= 0:
                if may_stand(standing, needles):
                    named += spans
                break
    return sorted(named, key=_start) if named else named


def _told(entity: str, nature: Nature, value: str) -> tuple[Nature, frozenset[str]]:
    """Return what a value is, where its entity's name leaves that open, and what follows one that is all there."""
    if nature == "other" and "@" not in value:
        return nature, _ENDING_OR_WORD
    nature = nature_of_value(entity, value)
    return nature, _endings(nature)


def _shows_nothing(text: str, span: Span, instead: str, policy: Policy) -> bool:
    """Return whether a replacement shows nothing of its value."""
    if PLAIN.fullmatch(instead) or policy.is_placeholder(instead):
        return True
    value = text[span.start : span.end]
    return instead != value and not find_remainder(value, instead, person=nature_of(span.entity) == "person").pieces


def _placed(spans: Sequence[Span], written: Sequence[str]) -> list[Replaced]:
    """Return where each replacement stands, all between them being as it was."""
    grown = accumulate(len(one) - (s.end - s.start) for s, one in zip(spans, written, strict=True))
    by = [0, *grown]
    return [Replaced(s.start, s.end, s.start + by[n], s.end + by[n + 1]) for n, s in enumerate(spans)]


def _ends(text: str, end: int, nature: Nature) -> bool:
    """Return whether what follows a mask tells that no rest of its value is there."""
    if may_follow(text, end, nature):
        return False
    return nature != "address" or glued_after(text, end, len(text)) is None


def _begins(text: str, start: int, nature: Nature, value: str) -> bool:
    """Return whether the characters before a mask tell that no rest of its value is there."""
    before = text[start - 1] if start else "\n"
    if before == "\n":
        return True
    if before != " " or nature == "mail" or value[0] == "@":
        return not may_precede(text, start, nature)
    if nature == "person":
        return len(value.split()) > 1 or not value[0].isupper() or not may_precede(text, start, nature)
    return nature != "other" or not text[max(0, start - 2)].isdigit()


def _has_rest(text: str, spans: Sequence[Span], number: int, net: Net | None, *, ended: bool) -> bool:
    """Return whether a rest of a span's value stands beside its mask, or what is joined to it and the net knows.

    `ended`: none follows it, that's known.
    """
    start, end, entity = spans[number].start, spans[number].end, spans[number].entity
    source = Searched(text)
    if not ended:
        limit = spans[number + 1].start if number + 1 < len(spans) else len(text)
        joined = glued_after(text, end, limit)
        if rest_after(source, start, end, entity, limit) != end or _catches(net, text, joined):
            return True
    limit = spans[number - 1].end if number else 0
    joined = glued_before(text, start, limit)
    return rest_before(source, start, end, entity, limit) != start or _catches(net, text, joined)


def _catches(net: Net | None, text: str, run: tuple[int, int] | None) -> bool:
    return net is not None and run is not None and net.catches(text[run[0] : run[1]])


_ENDING = frozenset(a + b for a in '.,;:?!)"\n' for b in (" ", "\n", ""))
_ENDING_OR_WORD = _ENDING | {f" {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"}
_NOTHING_ENDS: frozenset[str] = frozenset()
_UNTOLD: frozenset[Nature] = frozenset(("place", "organization", "other"))
"""What an entity's name leaves open: these may be streets, or mail addresses."""


def _endings(nature: Nature) -> frozenset[str]:
    """Return what follows a value that is all there. A date goes on after it (`12 March, 1980`), and an address."""
    if nature in {"date", "address"}:
        return _NOTHING_ENDS
    return _ENDING if nature == "person" else _ENDING_OR_WORD
