"""Outputs of real detectors' decisions: what a replay reads is what `recallwatch leaks` finds, counted by hand."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from commands import run

DATA = Path(os.environ.get("RECALLWATCH_TEST_DATA", "")) if os.environ.get("RECALLWATCH_TEST_DATA") else None
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        DATA is None or not DATA.is_dir(),
        reason="no labelled corpora: set RECALLWATCH_TEST_DATA to the folder that holds ground_truth.json",
    ),
]


@pytest.mark.parametrize(
    ("detector", "corpus"),
    [
        ("crf_v2", "meddocan_es_test"),
        ("presidio_sm", "uner_ewt_en"),
        ("presidio_piifast", "uner_ewt_en"),
        ("datafog", "presidio_synth_en"),
    ],
)
def test_a_replay_counts_what_the_check_of_the_file_finds(detector: str, corpus: str) -> None:
    """Outputs, those not aligned, those with a leak, and leaks and documents by entity and kind."""
    assert DATA is not None
    decisions = DATA / "decisions" / f"{detector}__{corpus}.jsonl"
    labels = DATA / "corpora" / f"{corpus}.jsonl"
    told = [json.loads(line) for line in run("leaks", str(decisions), "--json").stdout.splitlines()]
    leaks = Counter((leak["entity"], leak["kind"]) for document in told for leak in document["leaks"])
    documents = Counter(key for d in told for key in {(leak["entity"], leak["kind"]) for leak in d["leaks"]})
    leaking = Counter(entity for d in told for entity in {leak["entity"] for leak in d["leaks"]})

    words = ("replay", "--decisions", str(decisions), "--labels", str(labels), "--set", "sampling.random_rate=1")
    read = [r for r in json.loads(run(*words, "--json").stdout)["outputs"] if r["language"] != "any"]
    (found,) = read

    assert (found["documents"]["of"], found["unaligned"]) == (len(told), sum(not d["aligned"] for d in told))
    assert found["documents"]["count"] == sum(bool(d["leaks"]) for d in told)
    kinds = {(e["entity"], k["kind"]): (k["documents"], k["leaks"]) for e in found["entities"] for k in e["kinds"]}
    assert kinds == {key: (documents[key], leaks[key]) for key in leaks}
    counts = {e["entity"]: e["documents"]["count"] for e in found["entities"] if e["documents"]["count"]}
    assert counts == dict(leaking)
    assert found["labelled"] == found["sampled"] == len(told)
    assert found["disclosure"]["per_1000"]["estimate"] == pytest.approx(
        1000 * found["disclosure"]["readable"] / len(told)
    )
