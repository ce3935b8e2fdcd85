"""The page's words: numbers, ages, and the one sentence that says what the page means now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Protocol

from monitor.agreements import Agreements
from monitor.alarm_readings import AlarmReading
from monitor.exposition import clean
from monitor.readings import ANY, BoardSnapshot, Queue, Reading
from streams.page.cells import Cell, State, finds_nothing

DASH = "–"
"""An en dash: how a range is written, and what stands where nothing is."""

STATES: dict[State, str] = {
    "act": "below target",
    "unproven": "not proven",
    "unknown": "can't tell",
    "plain": "no target",
    "ok": "on target",
}
_REST: tuple[tuple[State, str], ...] = (
    ("ok", "on target"),
    ("unproven", "not proven yet"),
    ("plain", "without a target"),
    ("unknown", "where nothing can be told"),
)
STATUSES = {
    "no_label": "no label yet",
    "no_truth": "none seen yet",
    "no_interval": "no interval",
    "incomplete": "incomplete",
    "expired": "expired",
    "stale": "no label lately",
    "greyed": "readers disagree",
    "marked": "readers differ",
}
REASONS = {
    "no_label": "no label yet",
    "no_truth": "none among the labelled",
    "flagged_unlabelled": "no label of what the tools flagged",
    "unflagged_unlabelled": "no label of what nothing flagged",
    "no_truth_where_looked": "none where any tool looked",
}
"""Why recall has no estimate or no interval."""
ALARM = "alarm: recall fell"
MAX_TARGETS = 10
"""Targets never seen that are told; the exposition counts them all."""
FLAGGED_BY = {
    "both": "net and detector",
    "loose_only": "net only",
    "detector_only": "detector only",
    "unflagged": "nothing",
}


class Limited(Protocol):
    """Whatever has limits."""

    @property
    def lower(self) -> float | None:
        """The lower one."""

    @property
    def upper(self) -> float | None:
        """The upper one."""


def number(value: float | None, digits: int = 3) -> str:
    """Return a share or a rate in figures, never rounded to a whole that it isn't; an en dash where there's none.

    >>> number(0.6129), number(0.99996), number(None)
    ('0.613', '>0.999', '–')
    """
    if value is None:
        return DASH
    step = 10.0**-digits
    if 1 - step / 2 <= value < 1:
        return f">{1 - step:.{digits}f}"
    return f"<{step:.{digits}f}" if 0 < value < step / 2 else f"{value:,.{digits}f}"


def percent(value: float | None) -> str:
    """Return a share in percent, never rounded up to the whole: 99.96 % of the labels isn't all of them.

    >>> percent(0.9996), percent(1.0), percent(None)
    ('99.9 %', '100 %', '–')
    """
    if value is None:
        return DASH
    figures = f"{int(value * 1000 + 1e-9) / 10:.1f}".removesuffix(".0")
    return f"{figures} %"


def between(limits: Limited) -> str:
    """Return `lower–upper`, or nothing."""
    return "" if limits.lower is None else f"{number(limits.lower)}{DASH}{number(limits.upper)}"


def ratio(part: int, whole: int) -> str:
    """Return what a share rests on.

    >>> ratio(88, 1120)
    '88 / 1,120'
    """
    return f"{part:,} / {whole:,}"


def moment(at: float | None) -> str:
    """Return a time as people read it, in UTC; an en dash where there's none.

    >>> moment(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return DASH if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age(seconds: float | None) -> str:
    """Return an age in its largest fitting unit; what lies ahead (clocks differ) is now.

    >>> age(3.2), age(200), age(3 * 3600), age(9e5), age(None)
    ('3 s', '3 min', '3 h', '10 d', '–')
    """
    if seconds is None:
        return DASH
    for limit, size, unit in ((90, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{max(int(seconds / size), 0)} {unit}"
    return f"{int(seconds / 86_400)} d"


def minute(at: float) -> str:
    """Return a time to the minute, in UTC.

    >>> minute(86_399.0)
    '1970-01-01 23:59 UTC'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def day(at: float) -> str:
    """Return a day, in UTC.

    >>> day(0.0)
    '1970-01-01'
    """
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def clock(at: float, now: float) -> str:
    """Return a time to the minute, in UTC, with its date unless that is today's.

    >>> clock(43_200.0, 60.0), clock(86_400.0, 60.0)
    ('12:00 UTC', '1970-01-02 00:00 UTC')
    """
    return minute(at)[11:] if at // 86_400 == now // 86_400 else minute(at)


def long(days: float) -> str:
    """Return a length of time that is promised, never rounded up.

    >>> long(7670.2), long(547.0), long(30), long(0.25)
    ('20 years', '1.4 years', '30 days', '6 h')
    """
    years = days / 365.25
    if years >= 1:
        figures = f"{int(years)}" if years >= 10 else f"{int(years * 10 + 1e-9) / 10:g}"
        return f"{figures} year{'' if figures == '1' else 's'}"
    return age(days * 86_400) if days < 2 else f"{int(days)} days"


def name(reading: Reading) -> str:
    """Return a cell's name in a sentence."""
    entity = "any entity" if reading.entity == ANY else clean(reading.entity)
    language = "any language" if reading.language == ANY else clean(reading.language)
    return f"{entity}/{language}"


def word(cell: Cell) -> str:
    """Return the state of a row in one or two words."""
    if cell.alarmed:
        return ALARM
    if cell.fell:
        return "fell"
    if cell.state == "unknown":
        return STATUSES.get(cell.reading.status, STATES["unknown"])
    return STATES[cell.state]


def mark(cell: Cell) -> str:
    """Return what stands beside a number that isn't offered as it is; nothing where the row says it already."""
    reading = cell.reading
    if reading.matched.estimate is None or reading.status in ("ok", "no_interval"):
        return ""
    said = reason(reading)
    return "" if said == word(cell) else said


def standing(reading: Reading) -> str:
    """Return a status in words; nothing where there's nothing to say."""
    if reading.status == "marked" and Agreements.too_few(reading.agreement):
        return "too few read twice to know"
    return STATUSES.get(reading.status, "")


def reason(reading: Reading) -> str:
    """Return the words of a status, with the number that it comes from."""
    said = standing(reading)
    if reading.status in ("marked", "greyed") and reading.agreement is not None:
        return f"{said}: κ {number(reading.agreement.kappa, 2)}"
    if reading.status == "stale" and reading.age_s is not None:
        return f"no label for {age(reading.label_age_s)}"
    return said


def thinning(snapshot: BoardSnapshot) -> str:
    """Return what is said of thinning; nothing where sampling runs at its rates."""
    if snapshot.thinning >= 1:
        return ""
    capacity = "capacity" if snapshot.capacity_per_day is None else f"capacity {snapshot.capacity_per_day:,.0f} a day"
    figures = f"{min(100 * snapshot.thinning, 99.9):.3g}"
    return f"Sampling is thinned to {figures} %: the queue is over {capacity}."


def why(reading: Reading, queues: Iterable[Queue], now: float) -> str:
    """Return why a row has no interval, or nothing where it has one."""
    if reading.matched.lower is not None:
        return ""
    if finds_nothing(reading):
        return f"none of {reading.matched.true} found, and no tool looked where they were"
    if reading.certified is not None and not reading.certified.missed:
        return f"no miss seen: at least {number(reading.certified.lower)} of the documents, certified"
    return _lacking(reading, queues, now)


def _lacking(reading: Reading, queues: Iterable[Queue], now: float) -> str:
    """Return what is missing for a number."""
    if reading.status == "expired":
        return "expired: what is labelled is older than these days"
    if reading.sampled == 0:
        return "nothing sampled yet"
    if reading.status == "no_label":
        queue = next((q for q in queues if q.language == reading.language and q.open), None)
        return "no label yet" if queue is None else f"no label yet: {waiting(queue, now)}"
    if reading.status == "no_truth":
        return f"{_plural(reading.labelled, 'document')} labelled, none with this entity"
    reason = reading.matched.reason or STATUSES.get(reading.status, "no interval")
    return REASONS.get(reason, clean(reason).replace("_", " "))


def waiting(queue: Queue, now: float) -> str:
    """Return the load of a queue in a few words."""
    oldest = "" if queue.oldest_draw is None else f", oldest {age(now - queue.oldest_draw)}"
    return f"{_plural(queue.open, 'task')} open{oldest}"


def headline(found: Sequence[Cell], queues: Iterable[Queue], now: float) -> str:
    """Return the sentence that the page begins with: how many cells need somebody, and which."""
    acting = [c for c in found if c.state == "act"]
    if all(c.state == "unknown" for c in found):
        queue = next((q for q in queues if q.language == ANY and q.open), None)
        return "No number yet" + (f": {waiting(queue, now)}." if queue else ".")
    if not acting and all(c.reading.target is None for c in found):
        return "No target is set: nothing is judged."
    if not acting:
        return f"None of {_plural(len(found), 'cell')} needs you."
    first = sorted(acting, key=lambda c: (not c.alarmed, c.rolled_up))[:2]
    more = f"; and {len(acting) - 2} more" if len(acting) > 2 else ""
    verb = "needs" if len(acting) == 1 else "need"
    trouble = "; ".join(_trouble(c, now) for c in first)
    return f"{len(acting)} of {_plural(len(found), 'cell')} {verb} you: {trouble}{more}."


def rest(found: Sequence[Cell]) -> str:
    """Return how the cells stand that need nobody; nothing where the headline said it already."""
    states = Counter(c.state for c in found)
    if len(found) == states["unknown"]:
        return ""
    parts = [f"{states[s]} {text}" for s, text in _REST if states[s]]
    return f"{', '.join(parts)}." if parts else ""


def unseen(snapshot: BoardSnapshot) -> str:
    """Return which targets are of cells that nothing was flagged or labelled in: a name may be mistyped."""
    names = snapshot.unseen_targets
    if not names:
        return ""
    more = f" and {len(names) - MAX_TARGETS} more" if len(names) > MAX_TARGETS else ""
    return f"Target set, never seen: {', '.join(map(clean, names[:MAX_TARGETS]))}{more}"


def waits(alarm: AlarmReading, now: float) -> str:
    """Return from when on an alarm counts what was drawn, where it can't tell anything yet; else nothing."""
    if alarm.state is not None or alarm.counts_from is None:
        return ""
    return f"the alarm counts these from {clock(alarm.counts_from, now)} on"


def waiting_alarms(found: Iterable[Cell], now: float) -> str:
    """Return how many cells' alarms can't tell yet, and from when on they count; nothing where all of them do."""
    alarms = [c.reading.alarm for c in found if c.reading.alarm is not None]
    until = Counter(told for told in (waits(alarm, now) for alarm in alarms) if told)
    cells = [f"{_plural(count, 'cell')}: {told}" for told, count in sorted(until.items())]
    return f"Labels of {'; of '.join(cells)}." if cells else ""


def title(found: Sequence[Cell], *, stale: bool, refused: bool) -> str:
    """Return the browser's title: the state first, for that's all that a tab shows."""
    states = Counter(c.state for c in found)
    if stale:
        return "stale"
    alarms = sum(c.alarmed for c in found)
    if states["act"]:
        told = f"{_plural(alarms, 'alarm')}, " if alarms else ""
        return f"{told}{states['act']} of {len(found)} {'needs' if states['act'] == 1 else 'need'} you"
    if refused:
        return "config refused"
    return "no number yet" if len(found) == states["unknown"] else "nothing needs you"


def spoken(cell: Cell) -> str:
    """Return a row's picture in words, for those who hear the page."""
    share, target = cell.reading.matched, cell.reading.target
    if share.estimate is None:
        return "no estimate"
    interval = "" if share.lower is None else f", {number(share.lower)} to {number(share.upper)}"
    aside = "" if cell.current else f"; {STATUSES[cell.reading.status]}"
    return f"{number(share.estimate)}{interval}" + (f"; target {number(target)}" if target else "") + aside


def _trouble(cell: Cell, now: float) -> str:
    r, before = cell.reading, cell.previous
    if cell.alarmed:
        since = r.alarm.on_since if r.alarm is not None else None
        lasts = "" if since is None else f" for {age(now - since)}"
        return f"{name(r)}: recall fell below its target {number(r.target, 2)}, alarm on{lasts}"
    if cell.fell and before is not None:
        fall = f"fell from {number(before.matched.estimate, 2)} to {number(r.matched.estimate, 2)}"
        return f"{name(r)} {fall} with version {clean(r.version)}"
    return f"{name(r)} is below its target {number(r.target, 2)}: at most {number(r.matched.upper, 2)}"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
