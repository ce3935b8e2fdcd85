"""Readings of redacted outputs, as a board would publish them, for tests of what is exported and drawn."""

from __future__ import annotations

from monitor.estimators.wilson import wilson
from monitor.leaks.findings import KINDS
from monitor.readings import (
    ANY,
    Agreement,
    Count,
    CountedRate,
    Disclosure,
    LeakCount,
    Limits,
    OutputEntity,
    OutputReading,
    OverMasking,
    Status,
    Window,
)

DETECTOR = "presidio"
WEEK = Window(7, "2026-09-15", "2026-09-21")
MONTH = Window(28, "2026-08-25", "2026-09-21")


def rate(count: int, of: int, n_eff: float | None = None) -> CountedRate:
    """Return a counted share with limits."""
    found = wilson(count, of)
    return CountedRate(count, of) if found is None else CountedRate(count, of, *found, n_eff=n_eff or float(of))


def disclosure(readable: int, true: int, per_1000: float | None = 41.0, status: Status = "ok") -> Disclosure:
    """Return a rate of so many in 1,000 documents; None where labels say nothing."""
    if per_1000 is None:
        return Disclosure(readable, true, Count(readable), Count(readable), None, status)
    share = per_1000 / 1500
    return Disclosure(
        readable,
        true,
        Count(readable, share, 0.7 * share, 1.4 * share),
        Count(readable, per_1000, 0.6 * per_1000, 1.5 * per_1000),
        Limits(0.041, 0.028, 0.06),
        status,
    )


def entity(name: str, leaking: int, documents: int, kinds: int, readable: int = 3) -> OutputEntity:
    """Return an entity with leaks of the first so many kinds."""
    counts = tuple(LeakCount(kind, leaking // (i + 1), leaking // (i + 1) + 1) for i, kind in enumerate(KINDS[:kinds]))
    of_labels = disclosure(readable, 10 * readable, float(readable))
    return OutputEntity(name, rate(leaking, documents), 2 * documents, leaking, counts if leaking else (), of_labels)


def output(
    language: str,
    leaking: int = 61,
    outputs: int = 4_820,
    *,
    version: str = "2",
    window: Window = WEEK,
    labelled: int = 391,
    status: Status = "ok",
    entities: tuple[OutputEntity, ...] | None = None,
) -> OutputReading:
    """Return a reading with something in every field that a board fills."""
    if entities is None:
        entities = (
            entity("PERSON", leaking, outputs // 2, 6, 14),
            entity("PHONE_NUMBER", leaking // 3, outputs // 4, 3),
            entity("EMAIL_ADDRESS", 0, outputs // 5, 0, 0),
        )
    over = OverMasking(412, 5_120, 0.081, 0.064, 0.102, 210.0) if labelled else OverMasking(0, 0, reason="no_label")
    told = disclosure(29, 702, 71.4, status) if labelled else disclosure(0, 0, None, "no_label")
    return OutputReading(
        language,
        DETECTOR,
        version,
        window,
        unaligned=outputs // 1_000,
        documents=rate(leaking, outputs),
        redactions=rate(leaking + 8, 3 * outputs, 2.1 * outputs),
        masked=41 * outputs,
        length=900 * outputs,
        masked_share=41 / 900,
        over_masking=over,
        disclosure=told,
        entities=entities,
        sampled=412,
        labelled=labelled,
        completeness=labelled / 412,
        weight_min=4.0,
        weight_max=200.0,
        agreement=Agreement(61, 12, 0.91, 0.79, 1.0, 48.0, 0.88, 0.93, 0.021, 0.06),
        config="5f1c09aa",
        net="b7e2",
        counted_age_s=12.0,
        age_s=42.0,
    )


def busy_outputs() -> tuple[OutputReading, ...]:
    """Return the outputs of three languages, of a month, and of the version before."""
    return (
        output("en"),
        output("es", 12, 1_640),
        output("nl", 0, 810, labelled=0),
        output(ANY, 73, 7_270),
        output(ANY, 90, 7_100, version="1"),
        output(ANY, 240, 29_100, window=MONTH),
    )
