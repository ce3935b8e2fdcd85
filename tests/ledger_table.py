"""A ledger over a table and two topics held in memory, for tests that crash it."""

from __future__ import annotations

import msgspec
from drawn import label, sampled
from traffic import CONFIG, DAY_MS, FIRST_DAY

from monitor.fold import Channel, Output
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.records import Record
from monitor.tallies import read_value
from monitor.tally import Tally

PLAN = Plan(CONFIG)
TOPICS: dict[Channel, str] = {"sampled": "sampled", "labels_by_document": "labels-by-document"}


class Table:
    """A ledger, what is durable of it, and the two topics that it reads."""

    def __init__(self, plan: Plan = PLAN) -> None:
        self.plan = plan
        self.head: bytes | None = None
        self.rows: dict[str, bytes] = {}
        self.logs: dict[Channel, list[Record]] = {"sampled": [], "labels_by_document": []}
        self.ledger = self.open()

    def open(self) -> Ledger:
        """Open a ledger from the table, and go on with it."""
        self.ledger = Ledger(0, self.plan, TOPICS, self.head, dict(self.rows))
        return self.ledger

    def append(self, channel: Channel, *values: bytes, day: int = 0) -> None:
        """Append records to a topic."""
        log = self.logs[channel]
        log += [Record(len(log) + i, (FIRST_DAY + day) * DAY_MS, value) for i, value in enumerate(values)]

    def read(self, channel: Channel, until: int | None = None) -> list[Output]:
        """Read on, by default to the end."""
        log = self.logs[channel][:until]
        position = self.ledger.position(channel) or 0
        return self.ledger.fold(channel, log[position:], len(log)) if len(log) > position else []

    def take(self, channel: Channel, *values: bytes, day: int = 0) -> list[Output]:
        """Append records and read them."""
        self.append(channel, *values, day=day)
        return self.read(channel)

    def checkpoint(self, *, head: bool = True) -> None:
        """Make rows durable, and the head unless the worker dies before."""
        for key, row in dict(self.ledger.rows()).items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row
        new = self.ledger.head()
        if head:
            self.head = new
            self.ledger.settle()

    def everything(self) -> Tally:
        """Return the sums of a ledger that is opened from the table and reads to the end."""
        self.open()
        self.read("sampled")
        self.read("labels_by_document")
        return sums(self.ledger)


def sums(ledger: Ledger) -> Tally:
    """Return what a ledger would publish, merged."""
    total = Tally()
    for output in ledger.tallies():
        if output.value is not None:
            total.merge(read_value(output.value)[1])
    return total


def drawn(doc_id: str = "a", day: int = 0, **fields: object) -> bytes:
    """Return a drawn document's bytes; days count from the first."""
    placed: dict[str, object] = {"day": FIRST_DAY + day, "sampled_at": (FIRST_DAY + day) * 86_400.0}
    return msgspec.json.encode(sampled(doc_id, **(placed | fields)))


def labelled(doc_id: str = "a", **fields: object) -> bytes:
    """Return a label's bytes."""
    return msgspec.json.encode(label(doc_id=doc_id, **fields))
