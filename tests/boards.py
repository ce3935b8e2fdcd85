"""Boards to look at: readings as a board would publish them, for tests of what is exported and drawn."""

from __future__ import annotations

from math import log, log10, sqrt

import msgspec
from output_boards import busy_outputs

from monitor.alarm_readings import AlarmEvent, AlarmReading, AlarmState
from monitor.pipeline import Pipeline
from monitor.readings import (
    ANY,
    Agreement,
    AnyTimeLimits,
    BoardSnapshot,
    Certified,
    Change,
    Count,
    DriftSignal,
    Limits,
    Optimistic,
    Pending,
    Precision,
    Prevalence,
    Queue,
    Reading,
    Share,
    Status,
    Tally,
    Window,
)
from monitor.records import STRATA, Stratum
from monitor.versions import Decided

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


DAY_S = 86_400.0
PROMISED_DAYS = 14 * 365.25
"""A false alarm a year over 14 cells."""


def alarm(
    state: AlarmState | None = "quiet",
    evidence: float | None = 1.2,
    *,
    restated: bool = False,
    counts_from: float | None = None,
    now: float = NOW,
) -> AlarmReading:
    """Return an alarm; one that's on went on three days ago, and crossed last in the last period, or two before."""
    on, ended = state in ("firing", "held"), now // DAY_S * DAY_S
    return AlarmReading(
        state,
        evidence,
        log(PROMISED_DAYS),
        PROMISED_DAYS,
        0 if state is None else 40,
        y_max=5,
        fired_at=(ended if state == "firing" else ended - 2 * DAY_S) if on else None,
        fired_evidence=9.4 if on else None,
        on_since=ended - 3 * DAY_S if on else None,
        counts_from=counts_from,
        restated=restated,
    )


def agreement(kappa: float | None, documents: int = 61) -> Agreement:
    """Return how two readers of the same documents agree."""
    if kappa is None:
        return Agreement(documents, 0)
    lower, upper = max(kappa - 0.12, -1.0), min(kappa + 0.09, 1.0)
    return Agreement(documents, 12, kappa, lower, upper, 48.0, 0.88, 0.93, 0.021, 0.06)


def precision(right: int) -> Precision:
    """Return the precision of a detector that is wrong now and then."""
    detected = right + right // 9 + 1
    estimate, lower, upper = wilson(right, detected)
    return Precision(right, detected, estimate, lower, upper, n_eff=right / 1.4)


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
    population = stratum is None and matched.lower is not None and matched.upper is not None
    limits = (matched.lower or 0.0, matched.upper or 1.0)
    sampled = 438 if labelled else 12
    share_labelled = labelled / sampled
    return Reading(
        entity,
        language,
        detector,
        version,
        stratum,
        window,
        census=48_210,
        sampled=sampled,
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
        label_age_s=age_s,
        any_time=AnyTimeLimits(
            0.9 * limits[0], 1 - 0.7 * (1 - limits[1]), labelled, NOW // DAY_S * DAY_S - 20 * DAY_S, 5, 23
        )
        if population
        else None,
        pending=Pending(
            sampled - labelled,
            (matched.estimate or 0.0) * share_labelled,
            (matched.estimate or 0.0) * share_labelled + 1 - share_labelled,
        )
        if population
        else None,
        precision=precision(found) if population else None,
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


KAPPAS = {"LOCATION": 0.41, "DATE_OF_BIRTH": 0.72}
STATUSES: dict[tuple[str, str], Status] = {
    ("LOCATION", "en"): "greyed",
    ("DATE_OF_BIRTH", "en"): "marked",
    ("PHONE_NUMBER", "es"): "stale",
}


def _known(r: Reading, now: float) -> Reading:
    """Return a reading of a board with two readers, a second detector, and an alarm of each cell with a target."""
    if r.matched.estimate is None or r.stratum is not None:
        return r
    m, p = r.matched, r.matched.estimate
    fell = r.entity == "PERSON" and r.language == "en"
    on = alarm("firing", 9.4, now=now, restated=True) if fell else alarm("quiet", 3.1 - 3 * p, now=now)
    return msgspec.structs.replace(
        r,
        agreement=agreement(KAPPAS.get(r.entity, 0.91)),
        alarm=on if r.target is not None and r.version == "2" else None,
        optimistic=Optimistic(m.found, m.true - 1, p, 0.96 * p, 1 - 0.8 * (1 - p)),
    )


def busy_board(now: float = NOW) -> BoardSnapshot:
    """Return a board of 21 cells in every state, with all strata, a second window and an earlier version."""
    found: list[Reading] = []
    for entity, language, hit, true, target in CELLS:
        status = STATUSES.get((entity, language), "ok")
        age_s = 4.2 * DAY_S if status == "stale" else 42.0
        found.append(reading(entity, language, hit, true, target=target, status=status, age_s=age_s))
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
    found = [_known(r, now) for r in found]
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
        unchecked=(Tally(("RecursionError",), 2),),
        changes=(
            Change(now - 5_400, "version", "presidio 2", "first seen; before it: 1"),
            Change(now - 90_000, "config", "5f1c09aa", "sampling.loose_rate 0.05 → 0.1"),
        ),
        current_versions=((DETECTOR, "2"),),
        decided=(Decided(DETECTOR, "1", now - 40 * DAY_S, now - 5_300), Decided(DETECTOR, "2", now - 5_400, now - 3)),
        drift=(
            DriftSignal("entity", "es", "EMAIL_ADDRESS", 0.0, 1_208, 1, now - 5_300, "down", 0.42, 0.01),
            DriftSignal("flagged", "es", "", 0.81, 52_400, 0),
        ),
        alarms=(
            AlarmEvent("EMAIL_ADDRESS", "nl", DETECTOR, "2", "design_changed", now - 5 * DAY_S, 0.3),
            AlarmEvent("PERSON", "en", DETECTOR, "2", "recall_fell", now // DAY_S * DAY_S - 3 * DAY_S, 9.4),
            AlarmEvent("PHONE_NUMBER", "es", DETECTOR, "2", "stopped_knowing", now - 1.2 * DAY_S, 0.2),
        ),
        capacity_per_day=240.0,
        outputs=busy_outputs(),
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
        unchecked=2,
        tombstones={("decisions",): 1},
        positions={("decisions", 0): 34_552, ("decisions", 1): 34_500},
        lag={("decisions", 0): 12, ("decisions", 1): 0},
        holes={("decisions", 0): 1},
        rewinds={("decisions", 0): 2},
        lost={("decisions", 0): 0},
        partitions_assigned=4,
        rebalances=3,
        chunks={("route",): 41_000, ("ledger",): 2_100, ("board",): 9_800},
        chunk_s={("route",): 912.0, ("ledger",): 31.5, ("board",): 64.2},
        checkpoints=7200,
        checkpoint_s=88.5,
        checkpoint_at=now - 0.4,
        config="5f1c09aa",
        net="b7e2",
        rates={
            ("random", "any", "any"): 0.005,
            ("random", "nl", "any"): 0.02,
            ("loose", "any", "both"): 0.05,
            ("loose", "any", "detector_only"): 0.05,
            ("loose", "any", "loose_only"): 0.1,
        },
        deadline_s=7 * DAY_S,
    )
