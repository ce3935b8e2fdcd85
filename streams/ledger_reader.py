"""The documents of the live ledger, for whoever asks about single ones.

A row whose day lies before its head's limit has expired and waits to be deleted; it counts for nothing any more, and
isn't read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from monitor.document import Document
from monitor.errors import StateError
from monitor.ledger_rows import FORMAT, read_head, read_row
from streams.settings import Settings
from streams.table_reader import TableRows, read_table


def read_ledger(settings: Settings) -> Iterator[tuple[str, Document]]:
    """Yield every document that the ledger keeps now, with its id; see `read_table` for what is raised."""
    return documents(asyncio.run(read_table(settings, "ledger")))


def documents(table: TableRows) -> Iterator[tuple[str, Document]]:
    """Yield every document of the ledger's table, with its id.

    Raises
    ------
    StateError
        A head or a row that another version wrote.
    """
    for partition, rows in sorted(table.rows.items()):
        otherwise = f"{table.topic}/{partition}: rows of another version: a worker of this one builds them again"
        head = table.heads.get(partition)
        first_day = 0
        if head is not None:
            read = read_head(head, partition)
            if read.format != FORMAT:
                raise StateError(otherwise)
            first_day = read.limit_day
        for doc_id, row in rows.items():
            document = read_row(row)
            if document is None:
                raise StateError(otherwise)
            if document.day >= first_day:
                yield doc_id, document
