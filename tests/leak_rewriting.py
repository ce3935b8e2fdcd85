"""Outputs that aren't the text with parts replaced: escaped, wrapped anew, or with their lines in another order."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from random import Random

Place = tuple[int, int]


def rewrite(rng: Random, output: str, places: Sequence[Place]) -> tuple[str, list[Place]]:
    """Return an output rewritten, and where places of it stand then; none may reach over a line's end."""
    way = rng.choice(("html", "json", "wrapped", "shuffled"))
    if way == "shuffled":
        return _shuffle(rng, output, places)
    if way == "html":
        return _write(output, places, html.escape)
    if way == "json":
        return _write(output, places, lambda letter: json.dumps(letter, ensure_ascii=False)[1:-1])
    return _write(output, places, lambda letter: rng.choice("  \n") if letter in " \n" else letter)


def _write(output: str, places: Sequence[Place], write: Callable[[str], str]) -> tuple[str, list[Place]]:
    written = list(map(write, output))
    starts = list(accumulate(map(len, written), initial=0))
    return "".join(written), [(starts[start], starts[end]) for start, end in places]


def _shuffle(rng: Random, output: str, places: Sequence[Place]) -> tuple[str, list[Place]]:
    lines = output.split("\n")
    order = list(range(len(lines)))
    rng.shuffle(order)
    before = dict(zip(range(len(lines)), accumulate((len(line) + 1 for line in lines), initial=0), strict=False))
    after = dict(zip(order, accumulate((len(lines[at]) + 1 for at in order), initial=0), strict=False))
    moved = []
    for start, end in places:
        by = after[line := output.count("\n", 0, start)] - before[line]
        moved.append((start + by, end + by))
    return "\n".join(lines[at] for at in order), moved
