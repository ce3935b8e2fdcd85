"""The answers to one text: which one counts for a copy, which two are its blind readings, and what came of a label.

A text has one copy of its task or two, and an adjudication's where two readings of it differ. Each of them takes
answers the same way: one an annotator, the newest revision of it, and the first annotator's whose answer was submitted
is its *reading*. Further ones stay beside it and take over when it's withdrawn. The list is in the order in which
answers make the truth: the adjudication's, the first copy's, the second's, and what counts for no copy; so the truth is
the first that was submitted.

Two answers count for no copy though they are about one, and keep its number with a minus: that of somebody who is the
other copy's reader (nobody reads twice for two), and a revision that comes after the adjudication (whoever writes it
may have seen what was settled). The reading that was revised stays as it was read blind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Joined = Literal["joined", "revised", "duplicate", "skipped", "extra", "same_annotator", "after_adjudication"]
"""What became of an answer to a text. `extra`: beside another annotator's. `same_annotator`: beside the annotator's own
to the other copy. `after_adjudication`: revised when what it differed in was settled."""

ADJUDICATION = 3
"""The adjudication among the copies."""
_TRUTH_ORDER = {ADJUDICATION: 0, 1: 1, 2: 2}
_ANSWERS_KEPT = 16


class Answer(msgspec.Struct, array_like=True, frozen=True):
    """One annotator's latest answer."""

    annotator: str
    revision: int
    submitted: bool
    spans: list[tuple[int, int, str]]
    at: float = 0.0
    """When it came, s since the epoch."""
    copy: int = 1
    """Which one it answers: 1, 2 or `ADJUDICATION`; negative where it counts for none."""


def reading(answers: Sequence[Answer], copy: int) -> Answer | None:
    """Return the answer that counts for a copy.

    >>> skipped, answered = Answer("ann", 0, False, []), Answer("bo", 0, True, [])
    >>> reading([skipped, answered], 1) is answered, reading([skipped, answered], 2)
    (True, None)
    """
    return next((a for a in answers if a.copy == copy and a.submitted), None)


def blind_pair(answers: Sequence[Answer]) -> tuple[Answer, Answer] | None:
    """Return the readings of both copies, by two people; None as long as there aren't two."""
    first, second = reading(answers, 1), reading(answers, 2)
    if first is None or second is None or first.annotator == second.annotator:
        return None
    return first, second


def open_copy(answers: Sequence[Answer], annotator: str) -> int:
    """Return the copy that a label answers which names no task: the annotator's own, else the first that nobody read.

    >>> open_copy([Answer("ann", 0, True, [])], "bo"), open_copy([Answer("ann", 0, True, [])], "ann")
    (2, 1)
    """
    own = next((abs(a.copy) for a in answers if a.annotator == annotator and a.copy != ADJUDICATION), 0)
    return own or (2 if reading(answers, 1) and not reading(answers, 2) else 1)


def join(answers: list[Answer], answer: Answer) -> Joined:
    """Put an answer beside or in place of the annotator's last one to that copy, if there's room for one more."""
    own = [i for i, a in enumerate(answers) if a.annotator == answer.annotator and abs(a.copy) == answer.copy]
    if own and answer.revision <= max(answers[i].revision for i in own):
        return "duplicate"
    outcome = _outcome(answers, answer, [answers[i] for i in own])
    if outcome in {"same_annotator", "after_adjudication"}:
        answer = msgspec.structs.replace(answer, copy=-answer.copy)
    replaced = [i for i in own if outcome != "after_adjudication" or answers[i].copy < 0]
    if replaced:
        answers[replaced[0]] = answer
        for i in reversed(replaced[1:]):
            del answers[i]
    else:
        if len(answers) >= _ANSWERS_KEPT:
            if outcome != "joined":
                return "extra" if outcome == "skipped" else outcome
            del answers[_least_needed(answers)]
        answers.append(answer)
    answers.sort(key=lambda a: _TRUTH_ORDER.get(a.copy, len(_TRUTH_ORDER)))
    return outcome


def _outcome(answers: Sequence[Answer], answer: Answer, own: Sequence[Answer]) -> Joined:
    """Return what becomes of an answer that is new; `own` are the annotator's to the same copy."""
    if answer.copy != ADJUDICATION:
        if own and reading(answers, ADJUDICATION):
            return "after_adjudication"
        other = reading(answers, 3 - answer.copy)
        if answer.submitted and other is not None and other.annotator == answer.annotator:
            return "same_annotator"
    if not answer.submitted:
        return "skipped"
    if own:
        return "revised" if any(a.submitted and a.copy > 0 for a in own) else "joined"
    return "joined" if reading(answers, answer.copy) is None else "extra"


def _least_needed(answers: Sequence[Answer]) -> int:
    """Return the place of an answer that can go: somebody's who skipped, else one that is no reading."""
    readings = [reading(answers, copy) for copy in _TRUTH_ORDER]
    return min(range(len(answers)), key=lambda i: (answers[i].submitted, any(answers[i] is r for r in readings)))
