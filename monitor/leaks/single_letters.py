"""The one letter beside what an output hides that says nothing, so that a label that reaches over it isn't readable.

People set a label's edge a letter too far, or take a name's ending into it that the mask leaves. One letter is no
personal data where it's cut from the next word (`Bo Smid s|aid`) or ends a masked name (`Smid's`, `Smids`). A digit
is, and so is an initial, a letter that stands alone (a sex, a grade), one that the check calls a leak, and whatever
comes to two letters on one side. All that is told where the text is at hand, as the ledger keeps no word of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from monitor.leaks.alignment import Stretch
from monitor.leaks.values import Nature, nature_of
from monitor.records import Span

_NAMES: frozenset[Nature] = frozenset(("person", "place", "organization", "group"))
_APOSTROPHES = " '\u2019\u2018\u00b4`"
_GENITIVE = 3
"""Characters between a name and its genitive's letter, at most."""


def forgive_letters(text: str, spans: Iterable[Span], hidden: list[Stretch], leaking: list[Stretch]) -> list[Stretch]:
    """Return hidden stretches, each with the one letter on either side that says nothing, joined where they meet.

    Two letters between two of them stay: they may be a word. Linear in the stretches and the spans.

    Parameters
    ----------
    spans
        What was flagged.
    hidden
        In order, each reaching over all beside it that is no letter or digit.
    leaking
        What leaks, in order, no two overlapping: nothing of it is forgiven.

    Examples
    --------
    >>> forgive_letters("Bo Smid said", [Span(0, 7, "PERSON")], [(0, 8)], [])
    [(0, 9)]
    """
    names = _name_ends(text, spans)
    found: list[Stretch] = []
    for low, high in hidden:
        start, end = low, high
        reached = found[-1][1] if found else -1
        if start <= reached:
            start = found.pop()[0]
        elif start - 1 > reached and _is_cut(text, start - 1, -1) and not _holds(leaking, start - 1):
            start -= 1
        if not _holds(leaking, end):
            if _is_cut(text, end, 1):
                end += 1
            elif _is_ending(text, end, names):
                end += 1
                while end < len(text) and not text[end].isalnum():
                    end += 1
        found.append((start, end))
    return found


def _is_cut(text: str, at: int, step: int) -> bool:
    """Return whether a letter is the nearest one of a word beside a stretch, which goes on; `step` leads away from it.

    In a script without case one letter may well be a name.
    """
    if not (0 <= at < len(text) and 0 <= at + step < len(text)) or text[at - step].isalnum():
        return False
    return text[at].lower() != text[at].upper() and text[at + step].isalpha()


def _is_ending(text: str, at: int, names: set[int]) -> bool:
    """Return whether a letter is all that follows a name in its word (`Smids`), or its genitive (`Smid's`)."""
    letter = text[at : at + 1]
    if not letter.isalpha() or text[at + 1 : at + 2].isalnum():
        return False
    end = next((before for before in range(at, max(0, at - _GENITIVE) - 1, -1) if before in names), None)
    if end is None:
        return False
    between = text[end:at]
    if not between:
        return letter.islower()
    return not between.strip(_APOSTROPHES) and (letter == "s" or (letter == "S" and between != " "))


def _name_ends(text: str, spans: Iterable[Span]) -> set[int]:
    """Return where the last words of flagged names end; one with a digit is no name."""
    ends: set[int] = set()
    for span in spans:
        value = text[span.start : span.end]
        if nature_of(span.entity) in _NAMES and not any(map(str.isdigit, value)):
            end = span.end
            while end > span.start and not text[end - 1].isalnum():
                end -= 1
            ends.add(end)
    return ends


def _holds(stretches: list[Stretch], place: int) -> bool:
    at = bisect_left(stretches, (place + 1, 0))
    return at > 0 and stretches[at - 1][1] > place
