"""Boards to look at: readings as a board would publish them, for tests of what is exported and drawn."""

from __future__ import annotations

from math import log10, sqrt

from monitor.pipeline import Pipeline
from monitor.readings import (
    ANY,
    BoardSnapshot,
    Certified,
    Change,
    Count,
    Limits,
    Prevalence,
    Queue,
    Reading,
    Share,
    Status,
    Tally,
    Window,
)
from monitor.records import STRATA, Stratum

NOW = 1_790_000_000.0
DETECTOR = "presidio"
WEEK = Window(7, "2026-09-15", "2026-09-21")


def wilson(found: int, true: int, z: float = 1.96) -> tuple[float, float, float] | tuple[None, None, None]:
    """Return estimate and limits of a share, for pictures that look like real ones."""
    if true == 0:
        return None, None, None
    p, n = found / true, true
    middle, half = (
        (p + z * z / 2 / n) / (1 + z * z / n),
        z * sqrt(p * (1 - p) / n + z * z / 4 / n / n) / (1 + z * z / n),
    )
    return p, max(middle - half, 0.0), min(middle + half, 1.0)


def share(found: int, true: int, *, looked: bool = True, widen: float = 2.0) -> Share:
    """Return a share whose population interval is wider than that of where any tool looked."""
    p, lower, upper = wilson(found, true)
    if p is None or lower is None or upper is None:
        return Share(found, true, reason="no_truth")
    low = max(p - widen * (p - lower), 0.0)
    return Share(
        found,
        true,
        estimate=p * 0.98,
        lower=low * 0.95,
        upper=upper,
        n_eff=true / 1.6,
        where_looked=Limits(p, lower, upper) if looked else None,
        unflagged_width_share=0.62,
        halving_random_rate=0.021,
    )


def reading(
    entity: str,
    language: str,
    found: int = 45,
    true: int = 50,
    *,
    detector: str = DETECTOR,
    version: str = "2",
    stratum: Stratum | None = None,
    target: float | None = None,
    status: Status = "ok",
    labelled: int = 412,
    completeness: float | None = 0.94,
    window: Window = WEEK,
    age_s: float | None = 42.0,
    certified: Certified | None = None,
    matched: Share | None = None,
) -> Reading:
    """Return a reading with something in every field that a board fills."""
    matched = share(found, true) if matched is None else matched
    some = wilson(min(max(found, 1), 400), 412)
    return Reading(
        entity,
        language,
        detector,
        version,
        stratum,
        window,
        census=48_210,
        sampled=438 if labelled else 12,
        labelled=labelled,
        completeness=completeness,
        matched=matched,
        masked=share(min(found + 2, true), true),
        certified=certified,
        prevalence=Prevalence(Count(true, *some), Count(true, 31.2, 24.0, 40.1)),
        weight_min=4.0,
        weight_max=200.0,
        target=target,
        config="5f1c09aa",
        net="b7e2",
        status=status,
        age_s=age_s,
    )


def strata(entity: str, language: str, found: int, true: int, version: str = "2") -> list[Reading]:
    """Return a cell's four strata: most of what is there in documents that something flagged."""
    parts = ((0.7, 0.62), (0.14, 0.22), (0.16, 0.12), (0.0, 0.04))
    rows = []
    for stratum, (of_found, of_true) in zip(STRATA, parts, strict=True):
        t = round(true * of_true)
        f = min(round(found * of_found), t)
        p, lower, upper = wilson(f, t)
        matched = Share(f, t, p, lower, upper, reason=None if t else "no_truth")
        rows.append(reading(entity, language, f, t, version=version, stratum=stratum, matched=matched, labelled=103))
    return rows


CELLS: tuple[tuple[str, str, int, int, float | None], ...] = (
    (ANY, ANY, 1480, 1702, 0.9),
    (ANY, "en", 702, 760, None),
    ("PERSON", ANY, 402, 560, 0.9),
    ("PERSON", "en", 118, 204, 0.9),
    ("PERSON", "es", 88, 112, 0.9),
    ("PERSON", "nl", 57, 61, 0.9),
    ("EMAIL_ADDRESS", "en", 208, 209, 0.95),
    ("EMAIL_ADDRESS", "es", 96, 97, 0.95),
    ("EMAIL_ADDRESS", "nl", 21, 22, 0.95),
    ("PHONE_NUMBER", "en", 70, 81, 0.85),
    ("PHONE_NUMBER", "es", 34, 41, 0.85),
    ("CREDIT_CARD", "en", 29, 29, 0.95),
    ("IBAN_CODE", "nl", 40, 42, None),
    ("IBAN_CODE", "es", 12, 16, None),
    ("NATIONAL_ID", "nl", 3, 5, 0.9),
    ("DATE_OF_BIRTH", "en", 66, 72, None),
    ("LOCATION", "en", 214, 330, None),
)


def busy_board(now: float = NOW) -> BoardSnapshot:
    """Return a board of 20 cells in every state, with all strata, a second window and an earlier version."""
    found: list[Reading] = []
    for entity, language, hit, true, target in CELLS:
        found.append(reading(entity, language, hit, true, target=target))
        found += strata(entity, language, hit, true)
        before = min(round(hit * 1.02), true)
        if entity == "PERSON":
            before = round(true * 0.95)
        found.append(reading(entity, language, before, true, version="1", target=target, age_s=90_000.0))
        month = Window(28, "2026-08-25", "2026-09-21")
        found.append(reading(entity, language, hit * 3, true * 3, target=target, window=month))
    found.append(reading("NATIONAL_ID", "es", 0, 0, target=0.9, status="no_label", labelled=0, completeness=0.0))
    found.append(reading("PASSPORT", "fr", 0, 0, status="no_truth", matched=Share(0, 0, reason="no_truth")))
    found.append(reading("IP_ADDRESS", "en", 44, 47, target=0.9, status="incomplete", labelled=171, completeness=0.39))
    sure = Certified(0.871, 38, 0, 702, 104)
    lone = Share(38, 38, estimate=1.0, reason="nothing_flagged_yet")
    found.append(
        reading("MEDICAL_RECORD", "nl", 38, 38, target=0.85, status="no_interval", matched=lone, certified=sure)
    )
    found.append(reading("FAX_NUMBER", "en", 8, 11, version="1", age_s=90_000.0))
    return BoardSnapshot(
        computed_at=now - 2,
        readings=tuple(found),
        queues=(
            Queue(ANY, 1306, 1201, 91, 14, now - 11_000),
            Queue("en", 702, 688, 10, 4, now - 9_000),
            Queue("es", 402, 361, 36, 5, now - 11_000),
            Queue("nl", 202, 152, 45, 5, now - 4_000),
        ),
        strata=tuple(
            Tally((language, DETECTOR, "2", stratum), 48_210 / 10 ** int(log10(i + 1) * 3))
            for language in ("en", "es", "nl")
            for i, stratum in enumerate(STRATA)
        ),
        documents=(Tally(("repeat",), 4),),
        outcomes=(Tally(("joined",), 1187), Tally(("late",), 9), Tally(("orphan",), 3), Tally(("duplicate",), 2)),
        dead_letters=(Tally(("decisions", "not_json"), 4), Tally(("labels", "bad_span"), 1)),
        quarantined=(Tally(("reversed",), 7),),
        changes=(
            Change(now - 5_400, "version", "presidio 2", "first seen; before it: 1"),
            Change(now - 90_000, "config", "5f1c09aa", "sampling.loose_rate 0.05 → 0.1"),
        ),
        current_versions=((DETECTOR, "2"),),
    )


def quiet_board(now: float = NOW) -> BoardSnapshot:
    """Return a board that has published, and has nothing to say yet."""
    empty = Share(0, 0)
    cell = reading(ANY, ANY, 0, 0, status="no_label", labelled=0, completeness=0.0, matched=empty)
    queue = Queue(ANY, 12, 0, 12, 0, now - 10_900)
    return BoardSnapshot(now - 1, (cell,), (queue,), (), (), (), (), (), ((DETECTOR, "2"),))


def worker(now: float = NOW, *, is_board: bool = True, ready: bool = True) -> Pipeline:
    """Return the figures of a worker that has been at it for an hour."""
    return Pipeline(
        started_at=now - 3600,
        heartbeat_at=now - 1,
        build="0.1.0",
        ready=ready,
        unready_reason="" if ready else "recovering 2 of 4 partitions",
        is_board=is_board,
        board_url="" if is_board else "http://127.0.0.1:9465/",
        decisions={(DETECTOR, "1"): 90_000, (DETECTOR, "2"): 48_210},
        sampled={("random",): 241, ("loose",): 1011, ("both",): 54},
        tasks={("label",): 1306},
        labels={("joined",): 1187, ("late",): 9},
        dead_letters={("decisions", "not_json"): 4},
        quarantined={("reversed",): 7},
        tombstones={("decisions",): 1},
        positions={("decisions", 0): 34_552, ("decisions", 1): 34_500},
        lag={("decisions", 0): 12, ("decisions", 1): 0},
        holes={("decisions", 0): 1},
        rewinds={("decisions", 0): 2},
        lost={("decisions", 0): 0},
        partitions_assigned=4,
        checkpoints=7200,
        checkpoint_s=88.5,
        checkpoint_at=now - 0.4,
        config="5f1c09aa",
        net="b7e2",
    )
