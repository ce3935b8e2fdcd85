"""Cases of delivery through all stages: redelivered, early, late, and rates that are turned while it runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import sqrt

import msgspec
import pytest
from clusters import Cluster
from traffic import CONFIG, DAY_MS

from monitor.board import Board
from monitor.config import Sampling
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.readings import Reading
from monitor.records import Record
from monitor.route import Change, Route
from monitor.tallies import published, read_key, read_value
from monitor.tally import CellKey, CensusKey, CountKey, DesignKey, Key, Tally, moments

EVERYTHING = Plan(msgspec.structs.replace(CONFIG, sampling=Sampling(random_rate=1)))
TEXT = "abcdefghijklmnopqrst"


def decision(doc_id: str, *spans: tuple[int, int], text: str = TEXT) -> bytes:
    """Return a decision's bytes, all spans persons."""
    found = [{"start": start, "end": end, "entity": "PERSON"} for start, end in spans]
    document = {"doc_id": doc_id, "lang": "en", "text": text, "detector": "d", "version": "1", "spans": found}
    return json.dumps(document).encode()


def answer(doc_id: str, *spans: tuple[int, int]) -> bytes:
    """Return a label's bytes."""
    seen = [{"start": start, "end": end, "entity": "PERSON"} for start, end in spans]
    return json.dumps({"doc_id": doc_id, "annotator": "jo", "spans": seen}).encode()


def person(cluster: Cluster) -> tuple[int, int]:
    """Return found and true persons of the population's reading."""
    shares = [r.matched for r in cluster.snapshot().readings if is_person(r)]
    return (shares[0].found, shares[0].true) if shares else (0, 0)


def is_person(reading: Reading) -> bool:
    """Say whether it's the population's reading of persons."""
    return (reading.entity, reading.language, reading.stratum) == ("PERSON", "any", None)


def test_redelivery_after_a_rebalance() -> None:
    """DEL-1: offsets that come twice are skipped; a document written twice is two records and one task."""
    cluster = Cluster(EVERYTHING, 4)
    a, b = decision("a", (0, 2), (3, 5)), decision("b", (0, 2))
    first = [Record(5, 1000, a), Record(6, 1001, b)]
    cluster.send(cluster.host("route", 0).running.fold("decisions", first, 7))
    cluster.send(cluster.host("route", 0).running.fold("decisions", first, 7))
    cluster.send(cluster.host("route", 3).running.fold("decisions", [Record(1, 1002, a)], 2))
    for doc, spans in (("a", [(0, 2), (3, 5)]), ("b", [(0, 2)])):
        cluster.produce("labels", doc.encode(), answer(doc, *spans), 2000)
    cluster.settle()
    rows = cluster.sums().rows

    assert rows[CountKey("records", "decision")] == (3,)
    assert sum(n[0] for key, n in rows.items() if isinstance(key, CensusKey)) == 3
    assert rows[CountKey("documents", "repeat")] == (1,)
    assert list(cluster.tasks.values()) == [1, 1]
    assert person(cluster) == (3, 3)


def test_labels_before_the_decision_and_after_the_window() -> None:
    """DEL-3: pending and not a miss, then found; a label of the next day reaches the decision's own day."""
    cluster = Cluster(EVERYTHING)

    def orphans() -> int:
        return cluster.sums().rows.get(CountKey("labels", "orphan"), (0,))[0]

    cluster.produce("labels", b"x", answer("x", (0, 5)), 1_000_000)
    cluster.settle()
    assert (person(cluster), orphans()) == ((0, 0), 1)
    cluster.produce("decisions", b"x", decision("x", (0, 5)), 990_000)
    cluster.settle()
    assert (person(cluster), orphans()) == ((1, 1), 0)
    cluster.produce("decisions", b"y", decision("y"), 995_000)
    cluster.produce("labels", b"y", answer("y", (3, 8)), 90_000_000)
    cluster.settle()
    assert person(cluster) == (1, 2)

    newest = {o.key: o for o in cluster.published if o.key.startswith(b"ledger") and o.value}
    of_days = {read_key(o.key).day: read_value(o.value or b"")[1].rows for o in newest.values()}
    assert {0} == {day for day, rows in of_days.items() if any(isinstance(key, DesignKey) for key in rows)}
    assert DAY_MS < 90_000_000


# rates that are turned while it runs

SIZE = 480
PHASES = ((0.30, 0.20, 1.0), (0.60, 0.70, 0.5), (0.15, 0.90, 1.0), (0.50, 0.0, 0.8))
"""Random rate, loose rate, thinning."""


def population() -> list[tuple[bytes, bytes, int, int]]:
    """Return decision, label, found and true of each document; the detector gets worse from phase to phase."""
    found = []
    for i in range(SIZE):
        phase, kind = i * len(PHASES) // SIZE, i % 7
        truth = [(), ((0, 4),), ((0, 4), (6, 9)), ((0, 4),), (), ((0, 4),), ((0, 4), (6, 9), (10, 14))][kind]
        spans = () if kind == 5 else truth[: len(truth) - (kind % 2 + i % 3 + phase > 3)]
        text = TEXT + "@" if kind in (1, 2, 5, 6) and i % 2 else TEXT
        said = decision(f"doc-{i}", *spans, text=text)
        found.append((said, answer(f"doc-{i}", *truth), len(spans), len(truth)))
    return found


POPULATION = population()


def run(key: str, phases: Sequence[tuple[float, float, float]]) -> Tally:
    """Return the tallies of the population, its rates turned at equally many offsets, every label in."""
    plans = [
        Plan(msgspec.structs.replace(CONFIG, sampling=Sampling(random_rate=r, loose_rate=s, key=key)), q)
        for r, s, q in phases
    ]
    route = Route("decisions", 0, [Change(0, plans[0])])
    ledger = Ledger(0, plans[0], {"sampled": "sampled", "labels_by_document": "labels-by-document"})
    drawn: list[Record] = []
    step = SIZE // len(phases)
    for i, plan in enumerate(plans):
        route.adopt(plan, 0.0)
        chunk = [Record(o, 1000, POPULATION[o][0]) for o in range(i * step, (i + 1) * step)]
        outputs = route.fold("decisions", chunk, (i + 1) * step)
        drawn += [Record(len(drawn) + n, 1000, o.value, o.key) for n, o in enumerate(outputs)]
    ledger.fold("sampled", drawn, len(drawn))
    names = [int((record.key or b"").removeprefix(b"doc-")) for record in drawn]
    labels = [Record(n, 2000, POPULATION[i][1]) for n, i in enumerate(names)]
    ledger.fold("labels_by_document", labels, len(labels))
    total = Tally()
    for output in (*route.tallies(), *ledger.tallies()):
        total.merge(read_value(output.value or b"")[1])
    return total


def read(tally: Tally) -> Reading:
    """Return the population's reading of persons."""
    board = Board(EVERYTHING, [None])
    output = published("route", 0, "0", 1, tally)
    board.take(output.key, output.value)
    return next(r for r in board.snapshot(None).readings if is_person(r))


def weighted(tally: Tally, place: str) -> float:
    """Return a Horvitz-Thompson total of persons, Σ n/π: unbiased whatever the design, if π is right."""
    return sum(
        float(getattr(moments(row), place)) / key.probability
        for key, row in tally.rows.items()
        if isinstance(key, CellKey) and (key.entity, key.reading) == ("PERSON", "matched")
    )


def test_rates_turned_mid_stream_leave_estimates_unbiased() -> None:
    """Over many keys totals, recall and prevalence average to the truth; the unweighted share doesn't."""
    true = sum(y for *_, y in POPULATION)
    found = sum(t for *_, t, _ in POPULATION)
    runs = [run(f"key-{i}", PHASES) for i in range(40)]
    readings = [read(tally) for tally in runs]

    assert_average(true, [weighted(tally, "y") for tally in runs])
    assert_average(found, [weighted(tally, "t") for tally in runs])
    assert_average(
        SIZE, [sum(n[0] / k.probability for k, n in r.rows.items() if isinstance(k, DesignKey)) for r in runs]
    )
    # a ratio of two unbiased totals is biased by the order of 1/n
    assert_average(found / true, [r.matched.estimate or 0.0 for r in readings], allowed=0.005)
    having = sum(y > 0 for *_, y in POPULATION) / SIZE
    assert_average(having, [r.prevalence.documents.estimate or 0.0 for r in readings], allowed=0.005)
    naive = [r.matched.found / r.matched.true for r in readings]
    with pytest.raises(AssertionError):
        assert_average(found / true, naive, allowed=0.005)


def assert_average(expected: float, actual: Sequence[float], allowed: float = 0.0) -> None:
    """Assert that an average lies within four Monte Carlo standard errors of the truth, and a bias that is allowed."""
    mean = sum(actual) / len(actual)
    error = sqrt(sum((x - mean) ** 2 for x in actual) / (len(actual) - 1) / len(actual))
    assert abs(mean - expected) <= 4 * error + allowed


def test_turned_rates_do_not_touch_the_census() -> None:
    """Every document is counted, however many people read it."""

    def census(tally: Tally) -> dict[Key, tuple[int, ...]]:
        return {key: n for key, n in tally.rows.items() if key.kind in ("census", "flagged")}

    assert census(run("key", [(1.0, 1.0, 1.0)])) == census(run("key", PHASES)) == census(run("other", PHASES[::-1]))
    assert sum(n[0] for key, n in run("key", PHASES).rows.items() if isinstance(key, CensusKey)) == SIZE


def test_census_of_everything_is_the_truth() -> None:
    """Every document sampled and labelled: estimate and limits of the flagged part say exactly what is there."""
    reading = read(run("key", [(1.0, 0.3, 1.0)]))

    assert sum(t for *_, t, _ in POPULATION) == reading.matched.found
    assert sum(y for *_, y in POPULATION) == reading.matched.true
    assert reading.matched.estimate == pytest.approx(reading.matched.found / reading.matched.true)
