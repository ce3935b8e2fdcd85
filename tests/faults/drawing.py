"""Which faults a run has, in which order: drawn from the seed alone, so that a run can be had again."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from typing import Literal, NamedTuple, get_args

Kind = Literal[
    "kill",
    "term",
    "exit",
    "zombie",
    "zombie, config changed",
    "broker ended",
    "broker killed",
    "broker away",
    "ended, broker away",
    "slow broker",
    "worker added",
    "worker removed",
    "decisions again",
    "labels again",
    "config changed",
    "all killed, config changed",
    "poison",
    "changelogs compacted",
    "record too large",
]
WEIGHTS: Mapping[Kind, float] = {"exit": 12, "zombie": 4, "kill": 2, "broker away": 0.5}
"""How often a kind comes beside the others, which weigh 1; each comes once before any comes again."""
AT_MOST: Mapping[Kind, int] = {"broker away": 2, "changelogs compacted": 3, "record too large": 4}
STAGE_STEPS = tuple(
    (stage, step)
    for stage in ("route", "intake", "ledger", "board")
    for step in ("taken", "sent", "rows", "head", "tallies", "reported")
    if stage != "board" or step not in {"rows", "head"}  # its table holds drift alone, which no replay has
)
TOO_SMALL = ("sampled", "labels_by_document", "annotation_tasks", "tallies", "route", "intake", "ledger")
"""Topics that are made too small for a record: channels and tables."""


class Fault(NamedTuple):
    """One fault. What a kind doesn't need of the rest is drawn all the same."""

    number: int
    kind: Kind
    worker: int
    """Which of those that run: the n-th, counted round."""
    stage: str
    step: str
    after_s: float
    """How long the pipeline is left alone before."""
    share: float
    """In [0, 1): whatever else is to be chosen."""

    def choose(self, *among: str) -> str:
        """Return one of several."""
        return among[int(self.share * len(among))]


def draw_faults(seed: int, number: int, only: Collection[Kind] = ()) -> list[Fault]:
    """Return the faults of a run, counted from 1; `only` these kinds where any is named."""
    chance = random.Random(seed)  # noqa: S311  # draws what is broken next, no secret
    kinds, steps = _kinds(chance, [kind for kind in get_args(Kind) if kind in only or not only]), _deck(chance)
    return [_draw(chance, n, next(kinds), steps) for n in range(1, number + 1)]


def _draw(chance: random.Random, number: int, kind: Kind, steps: Iterator[tuple[str, str]]) -> Fault:
    stage, step = next(steps) if kind == "exit" else chance.choice(STAGE_STEPS)
    return Fault(number, kind, chance.randrange(12), stage, step, round(chance.uniform(0.2, 1.5), 2), chance.random())


def _kinds(chance: random.Random, every: list[Kind]) -> Iterator[Kind]:
    chance.shuffle(every)
    yield from every
    left = {kind: AT_MOST.get(kind, 10**9) - 1 if len(every) > 1 else -1 for kind in every}
    while True:
        kind = chance.choices(every, [WEIGHTS.get(kind, 1.0) for kind in every])[0]
        if left[kind]:
            left[kind] -= 1
            yield kind


def _deck(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield every stage and step once before any comes again."""
    while True:
        deck = list(STAGE_STEPS)
        chance.shuffle(deck)
        yield from deck
