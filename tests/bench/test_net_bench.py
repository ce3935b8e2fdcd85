"""The net's section of the bench runs, at sizes that measure nothing."""

from __future__ import annotations

from pathlib import Path

import bench.net
import pytest
from bench.hostile_texts import HOSTILE, hostile_texts, ordinary_texts
from bench.lab import Lab
from bench.rows import Row


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_of_one_length_and_the_same_each_time(name: str) -> None:
    """Runs are comparable."""
    texts = hostile_texts(name, 3, 700)
    assert [len(text) for text in texts] == [700] * 3
    assert texts == hostile_texts(name, 3, 700)


def test_ordinary_texts_are_of_one_length() -> None:
    """In ASCII where asked."""
    texts = ordinary_texts(3, 5_000, ascii_only=True)
    assert [len(text.encode()) for text in texts] == [5_000] * 3


def test_twenty_patterns_are_twenty() -> None:
    """The row's name says so."""
    assert len(bench.net.TWENTY) == 20


def test_net_rows_have_figures_and_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row has a value, a reference and a name that no other has."""
    kept = ("fake cards", "one letter")
    monkeypatch.setattr(bench.net, "LENGTH", 1_000)
    monkeypatch.setattr(bench.net, "FRESH", 10_000)
    monkeypatch.setattr(bench.net, "REALISTIC", {"badge": r"\bK-\d{4}\b"})
    monkeypatch.setattr(bench.net, "COUNTING", ("a.{40}c",))
    monkeypatch.setattr(bench.net, "HOSTILE", {name: HOSTILE[name] for name in kept})
    rows: list[Row] = list(bench.net.net_rows(Lab(tmp_path, times=1, quick=True, say=lambda _: None)))
    assert len({(row.name, row.compared_with) for row in rows}) == len(rows)
    assert all(row.value > 0 and row.reference for row in rows)
