"""H1, H5, H6 and H7 on what is published: from whole streams to readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite

import msgspec
import numpy as np
import oracles
import pytest
from batch_oracle import fold, truths
from clusters import Cluster
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from oracles import Document, Place
from traffic import CONFIG, DAY_MS, FIRST_DAY, TEXTS, Answered, Bad, Said, Traffic, traffic

from monitor.board import Board
from monitor.plan import Plan
from monitor.readings import ANY, CURRENT, BoardSnapshot, Reading
from monitor.readings_json import reading_document
from monitor.records import Stratum

PLAN = Plan(CONFIG)
DAY_S = DAY_MS // 1000
NAMES = ("PERSON", "LOCATION", ANY)


def stream(seed: int, documents: int = 200) -> Traffic:
    """Return decisions of two versions in two languages, some said twice, and labels for most, some revised."""
    rng = np.random.default_rng(seed)
    said: list[Said | Bad] = []
    labels: list[Answered | Bad] = []
    for i in range(documents):
        name, text, at = f"doc-{i}", int(rng.integers(2)), FIRST_DAY * DAY_MS + i
        true = ((0, 4, "PERSON"), (8, 15, "LOCATION") if text == 0 else (13, 17, "LOCATION"))[: int(rng.integers(3))]
        found = tuple(span for span in true if rng.random() < 0.7)
        one = Said(name, str(rng.integers(1, 3)), str(rng.choice(["en", "nl"])), text, found, at)
        said += [one] * int(rng.integers(1, 3))
        if rng.random() < 0.8:
            first = Answered(name, "a", 0, submitted=True, spans=((0, 4, "PERSON"),), task=None, at=at + 1)
            last = first._replace(revision=1, spans=true)
            labels += [first, last, last] if rng.random() < 0.5 else [last, first]
    return said, labels


def delivered(given_traffic: Traffic, partitions: int, seed: int) -> Cluster:
    """Return a cluster that read the traffic in parts of any size, parts of it again."""
    rng = np.random.default_rng(seed)
    cluster = Cluster(PLAN, partitions)
    for channel, records in (("decisions", given_traffic[0]), ("labels", given_traffic[1])):
        for record in records:
            cluster.produce(channel, record.doc.encode(), record.value, record.at)
    for _ in range(30):
        host = cluster.hosts[int(rng.integers(len(cluster.hosts)))]
        for channel in (
            ("decisions",)
            if host.stage == "route"
            else ("labels",)
            if host.stage == "intake"
            else (
                "sampled",
                "labels_by_document",
            )
        ):
            host.read(channel, int(rng.integers(1, 20)), again=int(rng.integers(5)))
        if rng.random() < 0.3:
            host.checkpoint()
    cluster.settle()
    return cluster


def listed(
    given_traffic: Traffic, version: str
) -> tuple[dict[str, list[Document]], dict[Place, int], Counter[tuple[str, str]]]:
    """Return a version's drawn documents by entity, its census, and that of documents by language and entity named."""
    said = [one for one in given_traffic[0] if isinstance(one, Said) and one.version == version]
    labels = [label for label in given_traffic[1] if isinstance(label, Answered)]
    census: dict[Place, int] = {}
    documents: dict[str, list[Document]] = {name: [] for name in NAMES}
    seen: set[str] = set()
    named: Counter[tuple[str, str]] = Counter()
    for one in said:
        found = fold(one.spans)
        loose = "@" in TEXTS[one.text]
        stratum: Stratum = ("both" if loose else "detector_only") if found else "loose_only" if loose else "unflagged"
        census[one.language, stratum] = census.get((one.language, stratum), 0) + 1
        named.update({(one.language, extent.entity) for extent in found})
        fate = PLAN.sampler.draw(one.doc, one.language, stratum)
        if fate is None or one.doc in seen:
            continue
        seen.add(one.doc)
        truth, _ = truths(labels, one.doc, one.text)
        for name in NAMES:
            mine = [extent for extent in truth or [] if name in (extent.entity, ANY)]
            # boundaries are exact here, so what is found is what both name
            hits = sum(extent in found for extent in mine)
            detected = sum(name in (extent.entity, ANY) for extent in found)
            place = one.language, stratum, fate.rates.probability
            documents[name].append(Document(*place, hits, len(mine), truth is not None, detected))
    return documents, census, named


def populations(snapshot: BoardSnapshot) -> Iterator[Reading]:
    """Yield the readings of the population."""
    return (reading for reading in snapshot.readings if reading.stratum is None)


@pytest.mark.parametrize(("seed", "partitions"), [(1, 1), (2, 3), (3, 4)])
def test_readings_of_a_stream_are_the_formulas_on_its_documents(seed: int, partitions: int) -> None:
    """H1: repeated, revised, in parts, over partitions: recall and prevalence of every cell to 1e-9."""
    given_traffic = stream(seed)
    compared = 0
    for reading in populations(delivered(given_traffic, partitions, seed).snapshot()):
        everything, whole, named = listed(given_traffic, reading.version)
        documents = [d for d in everything[reading.entity] if reading.language in (d.language, ANY)]
        census = {place: n for place, n in whole.items() if reading.language in (place[0], ANY)}
        recall, looked, n_eff = oracles.population_recall(documents, census)
        share, per_1000 = oracles.prevalence(documents, census)
        if reading.entity != ANY:
            of_entity = [n for (language, entity), n in named.items() if entity == reading.entity]
            if reading.language != ANY:
                of_entity = [named[reading.language, reading.entity]]
            share, per_1000 = oracles.controlled_prevalence(documents, census, sum(of_entity))
        matched, prevalence = reading.matched, reading.prevalence

        assert sum(census.values()) == reading.census
        assert pytest.approx(recall, rel=1e-9) == (matched.estimate, matched.lower, matched.upper)
        assert matched.where_looked is not None
        assert pytest.approx(looked, rel=1e-9) == msgspec.structs.astuple(matched.where_looked)
        assert pytest.approx(n_eff, rel=1e-9) == matched.n_eff
        for expected, count in ((share, prevalence.documents), (per_1000, prevalence.per_1000)):
            assert pytest.approx(expected, rel=1e-9) == (count.estimate, count.lower, count.upper)
        compared += 1
    assert compared == 2 * 3 * 3


def test_readings_notice_a_label_that_is_lost() -> None:
    """The comparison above can fail: one label less is another reading."""
    said, labels = stream(1)
    whole, fewer = (delivered((said, some), 1, 1).snapshot() for some in (labels, labels[:-9]))

    assert list(populations(whole)) != list(populations(fewer))


def numbers(value: object) -> Iterator[float]:
    """Yield every float in JSON data."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from numbers(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from numbers(part)


@settings(max_examples=40, deadline=None)
@given(given_traffic=traffic())
def test_no_data_gives_no_value_anywhere(given_traffic: Traffic) -> None:
    """H5: on any stream nothing is NaN or infinite, and what rests on no label or no truth is None, never 0."""
    for reading in delivered(given_traffic, 2, 1).snapshot((FIRST_DAY + 3) * DAY_S).readings:
        document = reading_document(reading)
        assert all(isfinite(number) for number in numbers(document))
        if not reading.labelled:
            counts = [reading.prevalence.documents, reading.prevalence.per_1000]
            assert {limit for c in counts for limit in (c.estimate, c.lower, c.upper)} == {None}
        if not reading.matched.true:
            for share in (reading.matched, reading.masked):
                assert {share.estimate, share.lower, share.upper, share.n_eff} == {None}
            assert reading.certified is None
            assert reading.status not in CURRENT
        if reading.precision is not None and not reading.precision.detected:
            assert reading.precision.estimate is None


SOME, NAME = {"type": "number"}, {"type": "string", "minLength": 1}
NUMBERS = ("census", "sampled", "labelled", "completeness", "weight_min", "weight_max")
WORDS = ("detector", "version", "net", "config")
PUBLISHED = {
    "required": [*NUMBERS, *WORDS, "window", "agreement", "status", "matched"],
    "properties": {
        **dict.fromkeys(NUMBERS, SOME),
        **dict.fromkeys(WORDS, NAME),
        "agreement": {"anyOf": [{"type": "null"}, {"required": ["documents", "named", "kappa", "lower", "upper"]}]},
        "window": {
            "type": "object",
            "required": ["days", "first", "last"],
            "properties": {"first": NAME, "last": NAME},
        },
        "status": NAME,
        "matched": {
            "type": "object",
            "required": ["found", "true", "n_eff", "where_looked"],
            "properties": {"found": SOME, "true": {"type": "number", "minimum": 1}, "n_eff": SOME},
        },
    },
}
"""Of a reading with an interval: what must stand beside it."""
SCHEMA = Draft202012Validator(
    {
        "if": {"properties": {"matched": {"properties": {"lower": SOME}, "required": ["lower"]}}},
        "then": PUBLISHED,
    }
)


@settings(max_examples=40, deadline=None)
@given(given_traffic=traffic())
def test_everything_that_must_stands_beside_a_published_rate(given_traffic: Traffic) -> None:
    """H6: one schema, and all readings pass it."""
    for reading in delivered(given_traffic, 2, 1).snapshot((FIRST_DAY + 3) * DAY_S).readings:
        problems = [error.message for error in SCHEMA.iter_errors(reading_document(reading))]
        assert problems == []


@pytest.mark.parametrize("name", PUBLISHED["required"])
def test_schema_sees_what_is_missing(name: str) -> None:
    """Each of the things that must stand beside a rate is asked for, and is to be more than null; but for kappa."""
    reading = next(r for r in populations(delivered(stream(1), 1, 1).snapshot()) if r.matched.lower is not None)
    document = reading_document(reading)
    without = {key: value for key, value in document.items() if key != name}

    assert SCHEMA.is_valid(document)
    assert not SCHEMA.is_valid(without)
    assert SCHEMA.is_valid(document | {name: None}) == (name == "agreement")


def test_reading_expires_with_its_window_and_somebody_is_told() -> None:
    """H7: the clock moves past the window: the reading says so, has no number, and "we stopped knowing" is raised."""
    said, labels = stream(1)
    plan = Plan(msgspec.structs.replace(CONFIG, targets={"PERSON": 0.3}))
    board = Board(plan)
    for output in delivered((said, labels), 1, 1).published:
        board.take(output.key, output.value)

    def read(days: float) -> tuple[Reading, list[str]]:
        snapshot = board.snapshot((FIRST_DAY + days) * DAY_S)
        longest = max(r.window.days or 0 for r in snapshot.readings)
        (reading,) = (
            r
            for r in populations(snapshot)
            if (r.entity, r.language, r.version, r.window.days) == ("PERSON", ANY, "2", longest)
        )
        return reading, [a.cause for a in snapshot.alarms if (a.entity, a.language, a.version) == ("PERSON", ANY, "2")]

    (fresh, before), (late, after) = read(1), read(60)

    assert (fresh.status in CURRENT, before) == (True, [])
    assert (late.status, after) == ("expired", ["stopped_knowing"])
    assert (late.matched.estimate, late.matched.lower, late.certified) == (None, None, None)
    assert fresh.age_s is not None
    assert fresh.age_s < DAY_S
