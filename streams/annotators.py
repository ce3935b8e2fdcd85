"""Simulated annotators of the demo: they know what is in each document, and answer as people do.

Now and then they overlook a span, set a boundary off by a letter or two, or skip a document. Whoever adjudicates takes
the time to get it right. What they do is a function of the seed and the task alone, so a task that is sent twice is
answered twice with the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from monitor.records import Label, Span, Task

_SLOWEST = 10.0
"""No one takes longer than this many times the median."""


class Habits(NamedTuple):
    """How often an annotator errs: shares in [0, 1], of spans for the first two, of tasks for the last."""

    overlooked: float = 0.015
    slipped: float = 0.015
    skipped: float = 0.02


EXACT = Habits(0, 0, 0)
"""Every answer is the truth as it's known; for labels that people made."""


class Annotators:
    """Some people who answer annotation tasks out of what is known.

    Parameters
    ----------
    seed
        Makes another run of the same people.
    truth
        What each document holds, by `doc_id`. Read at each answer, so it may grow; a document that isn't in it is
        skipped.
    habits
        How often they err.
    names
        At least one; each task goes to one of them, and the two copies of a text to two. An adjudication goes to a
        third where there is one.
    median_s
        Half of the answers come sooner than this, in seconds of the demo; the slowest take ten times as long.

    Examples
    --------
    >>> task = Task("t1", "d1", 1, 1, "label", "en", "Anna called", 0.0)
    >>> people = Annotators(1, {"d1": [Span(0, 4, "PERSON")]}, EXACT, names=("jo",))
    >>> people.answer(task).spans == [Span(0, 4, "PERSON")]
    True
    """

    def __init__(
        self,
        seed: int,
        truth: Mapping[str, Sequence[Span]],
        habits: Habits = Habits(),  # noqa: B008  # a NamedTuple never changes
        *,
        names: Sequence[str] = ("amara", "bram", "celia"),
        median_s: float = 1.5,
    ) -> None:
        self._seed = seed
        self._truth = truth
        self._habits = habits
        self._names = names
        self._median_s = median_s

    def answer(self, task: Task, labelled_at: float | None = None) -> Label:
        """Return the answer to a task: submitted with what was seen, or skipped; `labelled_at` is passed on."""
        draws = self._draws(task, "answer")
        annotator = self._names[self._place(task, int(draws.integers(len(self._names))))]
        habits = EXACT if task.kind == "adjudicate" else self._habits
        known = self._truth.get(task.doc_id)
        if known is None or draws.random() < habits.skipped:
            return Label(task.doc_id, annotator, [], task.task_id, "skipped", labelled_at=labelled_at)
        seen = [
            self._mark(span, draws, len(task.text), habits) for span in known if draws.random() >= habits.overlooked
        ]
        return Label(task.doc_id, annotator, seen, task.task_id, labelled_at=labelled_at)

    def delay_s(self, task: Task) -> float:
        """Return how long the answer to a task takes: log-normal, so that a few take much longer than most."""
        factor = self._draws(task, "delay").lognormal(0, 0.8)
        return self._median_s * min(float(factor), _SLOWEST)

    def _place(self, task: Task, drawn: int) -> int:
        """Return the place of whoever answers: `drawn`, or where a text has several tasks, each time another's."""
        if task.copies == 1:
            return drawn
        first = int(self._generator(f"copies\n{task.doc_id}\n{task.text}").integers(len(self._names)))
        return (first + task.copy - 1) % len(self._names)

    @staticmethod
    def _mark(span: Span, draws: np.random.Generator, length: int, habits: Habits) -> Span:
        """Return the span as it was marked: mostly as it is, else with one boundary a letter or two off."""
        if draws.random() >= habits.slipped:
            return span
        by = int(draws.choice((-2, -1, 1, 2)))
        if draws.random() < 0.5:
            return Span(min(max(span.start + by, 0), span.end - 1), span.end, span.entity)
        return Span(span.start, max(min(span.end + by, length), span.start + 1), span.entity)

    def _draws(self, task: Task, purpose: str) -> np.random.Generator:
        return self._generator(f"{purpose}\n{task.task_id}")

    def _generator(self, purpose: str) -> np.random.Generator:
        digest = hashlib.blake2b(f"{self._seed}\n{purpose}".encode(), digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest))
