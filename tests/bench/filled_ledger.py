"""A ledger of many documents in a process of its own, measured from outside; it talks in lines of JSON.

`python -m bench.filled_ledger labels N` fills one and says what adding it up anew costs (µs); then it answers each line
of its input with what a label costs (µs). `python -m bench.filled_ledger memory N` says what an entry takes (bytes).
"""

from __future__ import annotations

import gc
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
from bench.drawn_documents import FIRST_DAY, Pair, pairs

from monitor.config import Config, Matching
from monitor.fold import Channel
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.records import Label, Record
from monitor.tallies import DAY_MS

TOPICS: Mapping[Channel, str] = {"sampled": "sampled", "labels_by_document": "labels-by-document"}
LABELS = 80
"""In one measurement: small enough for all six to meet the 500 open documents of a ledger of 1,000."""
TOGETHER = 5
"""Labels that one checkpoint makes durable: some human volume, ten a second."""
_MADE = 400
"""Documents that are written out; the others are those under other ids."""
_WARM = 2_000


class Taken(NamedTuple):
    """What an entry of the ledger takes, in bytes."""

    resident: float
    """Of the process, allocator and all."""
    traced: float
    """Of Python's objects."""
    row: float
    """The row alone, as it stands in the changelog."""


class Kept:
    """A ledger and its table, whose rows are the same bytes as the ledger's own, as in a worker."""

    def __init__(self, rows: dict[str, bytes] | None = None, plan: Plan | None = None) -> None:
        self.rows = {} if rows is None else rows
        self.ledger = Ledger(0, plan or Plan(Config()), TOPICS, None, self.rows)
        self._next: dict[Channel, int] = {"sampled": 0, "labels_by_document": 0}

    def take(self, channel: Channel, values: Iterable[bytes]) -> None:
        """Fold records."""
        at_ms = (FIRST_DAY + 10) * DAY_MS
        records = [Record(offset, at_ms, value) for offset, value in enumerate(values, start=self._next[channel])]
        self._next[channel] += len(records)
        self.ledger.fold(channel, records, self._next[channel])

    def pass_over(self, channel: Channel, following: int) -> None:
        """Read on at an offset."""
        self._next[channel] = following
        self.ledger.fold(channel, [], following)

    def checkpoint(self) -> None:
        """Do what a checkpoint does, but for the sending."""
        for key, row in self.ledger.rows().items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row
        self.ledger.head()
        self.ledger.tallies()
        self.ledger.settle()


# -- what a label costs ----------------------------------------------------------------------------------------------


class Filled:
    """A ledger of so many documents, half of them answered, and labels for the others."""

    def __init__(self, size: int) -> None:
        made = list(pairs(_MADE))
        pool = Kept()
        pool.take("sampled", (pair.drawn for pair in made))
        answered = set(range(0, _MADE, 2))
        pool.take("labels_by_document", (made[number].label for number in answered))
        pool.checkpoint()
        rng = Random(size)  # noqa: S311  # names, no secret
        names = [f"{rng.getrandbits(128):032x}" for _ in range(size)]
        rows = [pool.rows[pair.doc_id] for pair in made]
        self.kept = Kept({name: bytes(bytearray(rows[number % _MADE])) for number, name in enumerate(names)})
        for channel in ("sampled", "labels_by_document"):
            self.kept.pass_over(channel, _MADE)
        self.kept.checkpoint()
        chosen = [number for number in range(size) if number % _MADE not in answered]
        rng.shuffle(chosen)
        self._labels = (_label_for(names[number], made[number % _MADE]) for number in chosen)

    def cost(self) -> float:
        """Return what a label costs, with its share of a checkpoint; CPU time, as a neighbour disturbs that less."""
        labels = list(islice(self._labels, LABELS))
        begun = time.process_time()
        for first in range(0, LABELS, TOGETHER):
            self.kept.take("labels_by_document", labels[first : first + TOGETHER])
            self.kept.checkpoint()
        return (time.process_time() - begun) / LABELS * 1e6

    def recomputation(self) -> float:
        """Return what it costs in µs to add up all documents anew."""
        ledger, config = self.kept.ledger, self.kept.ledger.plan.config
        begun = time.process_time()
        ledger.adopt(Plan(msgspec.structs.replace(config, matching=Matching(config.matching.iou / 2))))
        return (time.process_time() - begun) * 1e6


def _label_for(doc_id: str, pair: Pair) -> bytes:
    label = msgspec.json.decode(pair.label, type=Label)  # without its origin: the pool's offsets aren't these
    return msgspec.json.encode(msgspec.structs.replace(label, doc_id=doc_id))


def _answer_labels(size: int) -> None:
    filled = Filled(size)
    _say(filled.recomputation())
    filled.kept.checkpoint()  # all days are published once more
    filled.cost()
    for _ in sys.stdin:
        _say(filled.cost())


# -- what an entry takes ---------------------------------------------------------------------------------------------


def _answer_memory(size: int) -> None:
    """Fill a ledger, measured by the kernel; then a smaller one, measured by Python, which takes room itself."""
    gives = pairs(size + size // 4 + 2 * _WARM)
    resident, _ = _fill(gives, size, _resident)
    tracemalloc.start()
    traced, row = _fill(gives, size // 4, lambda: tracemalloc.get_traced_memory()[0])
    _say(Taken(resident, traced, row))


def _fill(gives: Iterator[Pair], size: int, measure: Callable[[], int]) -> tuple[float, float]:
    """Return by how much a measure grows an entry beyond the first ones, and how long a row is on average."""
    kept = Kept()
    _answer(kept, islice(gives, _WARM))
    gc.collect()
    before = measure()
    _answer(kept, islice(gives, size))
    gc.collect()
    return (measure() - before) / size, sum(map(len, kept.rows.values())) / len(kept.rows)


def _answer(kept: Kept, given: Iterator[Pair]) -> None:
    """Draw documents and answer them, some at a time: none of their texts outlives the checkpoint."""
    while together := list(islice(given, 200)):
        kept.take("sampled", [pair.drawn for pair in together])
        kept.take("labels_by_document", [pair.label for pair in together])
        kept.checkpoint()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _say(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {"labels": _answer_labels, "memory": _answer_memory}[sys.argv[1]](int(sys.argv[2]))
