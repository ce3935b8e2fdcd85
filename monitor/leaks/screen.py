"""What every decision gets: all that the check would say, without the check where the output is plain.

It asks what must hold for there to be a leak, in the order of what it costs, and leaves whatever isn't plain to the
check itself. Both say the same of every output, which the tests hold them to.

* What lies between the flagged stretches stands in the output, in order and unchanged. Of presidio's own placeholders
  one comparison tells that, of others a walk.
* What stands there instead is a placeholder or mask of a common shape, or shows nothing of its value.
* Beside no mask stands what could be a rest of its value: a look at two characters, and a closer one where they may.
* Of no value do the letters stand anywhere in the output. That takes a search for each name and each other value, and
  before it all letters in one spelling: together half of what the screen of 5 KB costs. Where letters do stand there,
  those values alone are looked at closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from monitor.leaks.alignment import Replaced, walk
from monitor.leaks.check import check, find_elsewhere, in_order, key_sources
from monitor.leaks.edges import is_glued, may_follow, may_precede, rest_after, rest_before
from monitor.leaks.findings import Checked, Leak
from monitor.leaks.layout import Layout
from monitor.leaks.masks import PLAIN
from monitor.leaks.mentions import Searched
from monitor.leaks.policy import Policy
from monitor.leaks.remainders import find_remainder
from monitor.leaks.squeezed import squeeze
from monitor.leaks.values import Nature, nature_of, nature_of_value, needles_of
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
    screened = _screen(text, spans, redacted, policy, net) if spans else None
    if screened is None:
        return check(text, spans, redacted, policy, net)
    leaks = _elsewhere(text, spans, redacted, policy, screened) if screened.named else ()
    masked = tuple([(span.start, span.end) for span in spans])
    return Checked(aligned=True, leaks=leaks, masked=masked, replaced_spans=len(spans) - screened.ignored)


def suspicious(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None = None) -> bool:
    """Return whether the full check has something to say: a leak, or an output that isn't the text with parts replaced.

    The arguments are those of `check`.
    """
    found = examine(text, spans, redacted, policy, net)
    return bool(found.leaks) or not found.aligned


_NOTHING = Checked(aligned=True, leaks=(), masked=(), replaced_spans=0)


class _Screened(NamedTuple):
    """A plain output: known replacements, no rest beside any."""

    written: Sequence[str]
    squeezed: str
    named: Sequence[Span]
    """Those of which some letters stand in the output, in their order."""
    ignored: int


class _Kind(NamedTuple):
    """What an entity's name alone tells."""

    nature: Nature
    told: bool
    """Whether that's so of every value."""
    placeholder: str
    plain: bool
    """Whether the placeholder is one of the common shapes."""


@lru_cache(maxsize=4096)
def _kind_of(entity: str) -> _Kind:
    nature, placeholder = nature_of(entity), f"<{entity}>"
    return _Kind(nature, nature not in _UNTOLD, placeholder, PLAIN.fullmatch(placeholder) is not None)


def _screen(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None) -> _Screened | None:
    """Return what was seen of an output that shows nothing in place or at an edge; None where that takes the check."""
    written = _replacements(text, spans, redacted) if len(spans) <= _MANY else None
    if written is None:
        return None
    owners: dict[str, list[int]] = {}
    ignored = 0
    ruled = bool(policy.entities)
    for number, (span, instead) in enumerate(zip(spans, written, strict=True)):
        start, end, entity = span.start, span.end, span.entity
        nature, told, placeholder, plain = _kind_of(entity)
        value = text[start:end]
        if ruled and policy.of(entity).ignore:
            if instead == value:
                return None  # it wasn't replaced
            ignored += 1
            continue
        if not told:
            nature = nature_of_value(entity, value)
        shown = not (plain and instead == placeholder) and not _shows_nothing(value, instead, nature)
        if shown or not (_stands_alone(text, start, end, nature, value) or _is_all(text, spans, number, net)):
            return None
        for needle in needles_of(entity, nature, value):
            if needle in owners:
                owners[needle].append(number)
            else:
                owners[needle] = [number]
    if not owners:
        return _Screened(written, "", (), ignored)
    squeezed = squeeze(redacted)
    found = [needle for needle in owners if needle in squeezed]
    return _Screened(written, squeezed, _in_their_order(spans, [owners[n] for n in found]) if found else (), ignored)


def _in_their_order(spans: Sequence[Span], found: Sequence[Sequence[int]]) -> list[Span]:
    return [spans[number] for number in sorted({number for numbers in found for number in numbers})]


def _shows_nothing(value: str, instead: str, nature: Nature) -> bool:
    """Return whether a replacement shows nothing of its value."""
    if PLAIN.fullmatch(instead):
        return True
    return instead != value and not find_remainder(value, instead, person=nature == "person").pieces


def _elsewhere(
    text: str, spans: Sequence[Span], redacted: str, policy: Policy, screened: _Screened
) -> tuple[Leak, ...]:
    """Return where values stand elsewhere in a plain output, as the check would."""
    replaced: list[Replaced] = []
    by = 0
    for span, written in zip(spans, screened.written, strict=True):
        replaced.append(Replaced(span.start, span.end, span.start + by, span.start + by + len(written)))
        by += len(written) - (span.end - span.start)
    layout = Layout(aligned=True, readable=True, replaced=replaced, stray=[], exact=True)
    sources = key_sources(text, screened.named)
    return in_order(find_elsewhere(text, sources, Searched(redacted, screened.squeezed), policy, layout, ()))


def _replacements(text: str, spans: Sequence[Span], redacted: str) -> Sequence[str] | None:
    """Return what stands in place of each span, as `walk` does; None too where spans touch or are in no order."""
    parts: list[str] = []
    end = -1
    for span in spans:
        start = span.start
        if start <= end:
            return None
        parts += text[max(0, end) : start], _kind_of(span.entity).placeholder
        end = span.end
    parts.append(text[end:])
    if "".join(parts) == redacted:  # what presidio makes of it
        return parts[1::2]
    replaced = walk(text, [(span.start, span.end) for span in spans], redacted)
    return None if replaced is None else [redacted[one.output_start : one.output_end] for one in replaced]


def _stands_alone(text: str, start: int, end: int, nature: Nature, value: str) -> bool:
    """Return whether the two characters on either side of a mask tell that no rest of its value is there."""
    after = text[end : end + 2]
    ended = after in _ENDING if nature == "person" else nature not in _GOING_ON and after in _ENDING_OR_WORD
    if not ended and may_follow(text, end, nature):
        return False
    before = text[start - 1] if start else "\n"
    if before == "\n":
        return True
    if before != " " or nature == "mail":
        return not may_precede(text, start, nature)
    if nature == "person":
        return " " in value or not value[0].isupper() or not may_precede(text, start, nature)
    return nature != "other" or not text[max(0, start - 2)].isdigit()


def _is_all(text: str, spans: Sequence[Span], number: int, net: Net | None) -> bool:
    """Return whether no rest of a span's value stands beside its mask, nor anything that the net may know."""
    start, end, entity = spans[number].start, spans[number].end, spans[number].entity
    if net is not None and is_glued(text, start, end):
        return False
    low = spans[number - 1].end if number else 0
    high = spans[number + 1].start if number + 1 < len(spans) else len(text)
    source = Searched(text)
    return rest_after(source, start, end, entity, high) == end and rest_before(source, start, end, entity, low) == start


_ENDING = frozenset(a + b for a in '.,;:?!)"\n' for b in (" ", "\n", ""))
_ENDING_OR_WORD = _ENDING | {f" {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"}
"""What follows a value that is all there. A date goes on after it (`12 March, 1980`), and an address."""
_UNTOLD: frozenset[Nature] = frozenset(("place", "organization", "other"))
"""What an entity's name leaves open: these may be streets, or mail addresses."""
_GOING_ON = frozenset(("date", "address"))
