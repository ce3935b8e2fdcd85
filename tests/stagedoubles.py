"""What stands in for Faust and the broker in tests of a stage."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping

from monitor.records import Record
from streams.tables import Held


def stored_documents(count: int, first: int = 0) -> list[Record]:
    """Return decisions of `count` documents at consecutive offsets."""
    documents = [json.dumps({"doc_id": f"doc{number}"}).encode() for number in range(first, first + count)]
    return [Record(first + place, 0, value) for place, value in enumerate(documents)]


class Sent:
    """An acknowledgement: awaiting it notes that somebody did, and raises where the send failed."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.waited_for = False

    def __await__(self) -> Generator[None, None, None]:
        """Be done at once."""
        self.waited_for = True
        if self.failure is not None:
            raise self.failure
        return
        yield


class FakeTable:
    """Keeps heads and rows, and a journal of what was done."""

    changelog_topic_name = "t"

    def __init__(self, journal: list[str] | None = None) -> None:
        self.heads: dict[int, bytes] = {}
        self.rows: dict[int, dict[str, bytes]] = {}
        self.journal = journal if journal is not None else []

    def held(self, partition: int) -> Held:
        """Return what is held."""
        return Held(self.heads.get(partition), self.rows.setdefault(partition, {}))

    async def write(self, partition: int, row: str, value: bytes | None) -> None:
        """Write at once."""
        self.journal.append(f"write {row or 'head'}")
        rows: Mapping[str, bytes] = self.rows.setdefault(partition, {})
        assert isinstance(rows, dict)
        if value is None:
            rows.pop(row, None)
        elif row:
            rows[row] = value
        else:
            self.heads[partition] = value

    async def settled(self) -> None:
        """Note the wait."""
        self.journal.append("settled")

    def forget(self) -> None:
        """Do nothing: writes are done at once."""
