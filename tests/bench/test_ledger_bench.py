"""What is measured about the ledger is measured at all: small sizes, and no figure is judged."""

from __future__ import annotations

from pathlib import Path

from bench.drawn_documents import pairs
from bench.filled_ledger import LABELS, Filled, Kept
from bench.lab import Lab
from bench.ledger import cost_rows, memory_row

from monitor.ledger import Ledger
from monitor.tallies import read_value
from monitor.tally import QueueKey, Tally


def queue(ledger: Ledger) -> tuple[int, int]:
    """Return how many tasks were sent and how many answered, of all days."""
    total = Tally()
    for output in ledger.tallies():
        total.merge(read_value(output.value or b"")[1])
    rows = [row for key, row in total.rows.items() if isinstance(key, QueueKey)]
    return sum(row[0] for row in rows), sum(row[1] for row in rows)


def test_every_label_answers_its_document() -> None:
    """A label that is no answer would cost less than what is measured."""
    kept = Kept()
    made = list(pairs(30))
    kept.take("sampled", [pair.drawn for pair in made])
    kept.take("labels_by_document", [pair.label for pair in made[:20]])

    assert queue(kept.ledger) == (30, 20)


def test_measured_labels_meet_open_documents() -> None:
    """Half of the documents are answered before, and each measured label answers one more."""
    filled = Filled(600)
    filled.recomputation()
    before = queue(filled.kept.ledger)
    filled.kept.ledger.settle()
    cost = filled.cost()
    filled.recomputation()

    assert before == (600, 300)
    assert queue(filled.kept.ledger) == (600, 300 + LABELS)
    assert cost > 0


def test_costs_have_a_row_a_size_and_one_that_compares(tmp_path: Path) -> None:
    """The sizes are measured by turns, each in a process of its own."""
    rows = list(cost_rows(Lab(tmp_path, times=2), (400, 800)))

    assert [row.bar for row in rows] == [None, None, 1.2]
    assert all(row.value > 0 for row in rows)


def test_entry_takes_more_than_its_row(tmp_path: Path) -> None:
    """What the kernel and Python count is per entry, not per process."""
    row = memory_row(Lab(tmp_path), 400)

    assert 200 < row.value < 20_000
    assert row.bar == 1024
