"""The pager's alarms: each cell's e-detector, followed over the periods that have ended; `monitor.notices` tells of it.

An alarm is worked out from the documents that are kept. Those older than the horizon are gone with the rows, and with
them only wealth, so an alarm comes later for it, if at all. A label that comes late adds evidence to the period its
document was drawn in, and so may move a crossing to an earlier one; that a period went by without a crossing counts
only once the deadline of its labels is over. Only a correction takes some evidence away that was published before; the
alarm is then marked restated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil, inf, log
from typing import NamedTuple

from monitor.alarm_readings import AlarmReading
from monitor.config import Alarm as AlarmConfig
from monitor.estimators.e_detector import Alarm, Period, Target, advance, promised_periods, rest
from monitor.evidence import Cell, CellEvidence

YEAR_S = 365.25 * 86_400
_ROUNDING = 1e-9


class _Followed(NamedTuple):
    """A cell's alarm after each of its periods that hold a document."""

    target: Target
    hold: int
    periods: tuple[int, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    bars: Mapping[int, float] = {}
    """What was promised when each period was first looked at: more cells later don't undo what fired."""
    restated: bool = False


class Alarms:
    """Follows cells.

    >>> from monitor.estimators.e_detector import Entry, Floors
    >>> evidence = CellEvidence()
    >>> for day in range(9):
    ...     evidence.add(day, Entry(1.0, Floors(1.0, 1.0), 0, 1), 3)
    >>> cell, alarms = Cell("IBAN", "en", "crf", "2"), Alarms()
    >>> alarms.read(cell, evidence, 0.9, AlarmConfig(), until=5).state
    'held'
    """

    def __init__(self) -> None:
        self._followed: dict[Cell, _Followed] = {}

    def read(  # each comes from somewhere else
        self,
        cell: Cell,
        evidence: CellEvidence,
        recall: float,
        config: AlarmConfig,
        *,
        cells: int = 1,
        deadline_s: float = 0.0,
        until: int | None = None,
    ) -> AlarmReading:
        """Return a cell's alarm after the last period before `until`; None is after all that hold a document.

        Parameters: `recall`, the target in (0, 1); `cells`, how many share the promise; `deadline_s`, how long a label
        may take: a period without a crossing says nothing before that; periods are counted from the epoch.
        """
        promised = promised_periods(YEAR_S / config.period, cells, config.false_alarms_per_year)
        target = Target(recall, config.y_max)
        hold = config.hold + ceil(deadline_s / config.period)
        followed = self._follow(cell, evidence, _Followed(target, hold), promised)
        ended = [i for i, period in enumerate(followed.periods) if until is None or period < until]
        alarm = followed.alarms[ended[-1]] if ended else Alarm(promised, cell.version)
        crossed = next((followed.alarms[i] for i in reversed(ended) if followed.alarms[i].since_crossing == 0), None)
        last = followed.periods[ended[-1]] if ended else None
        running = followed.periods[-1] if len(ended) < len(followed.periods) else None
        if last is not None and until is not None:
            alarm = rest(alarm, until - 1 - last, hold)
            last = until - 1
        return AlarmReading(
            state=alarm.state,
            evidence=alarm.evidence,
            bar=log(promised),
            promised_days=promised * config.period / 86_400,
            labelled=alarm.labelled,
            y_max=config.y_max,
            fired_at=_end_of(last, alarm.since_crossing, config.period),
            fired_evidence=None if crossed is None else crossed.evidence,
            on_since=_end_of(last, alarm.since_on, config.period),
            counts_from=None if running is None else (running + 1) * config.period,
            restated=followed.restated,
        )

    def _follow(self, cell: Cell, evidence: CellEvidence, wanted: _Followed, promised: float) -> _Followed:
        held = self._followed.get(cell, wanted)
        changed, evidence.changed_from = evidence.changed_from, None
        corrected, evidence.corrected = evidence.corrected, False
        same = held[:2] == wanted[:2]
        if same and changed is None and cell in self._followed:
            return held
        keep = sum(period < changed for period in held.periods) if same and changed is not None else 0
        periods, alarms = list(held.periods[:keep]), list(held.alarms[:keep])
        bars = dict(held.bars)
        alarm = alarms[-1] if alarms else Alarm(promised, cell.version)
        for period in sorted(p for p in evidence.entries if not periods or p > held.periods[keep - 1]):
            if periods:
                alarm = rest(alarm, period - periods[-1] - 1, wanted.hold)
            alarm = alarm._replace(promised=bars.setdefault(period, promised))
            alarm = advance(alarm, Period(cell.version, evidence.of_period(period, wanted.target)), wanted.hold)
            periods.append(period)
            alarms.append(alarm)
        bars = {period: bars[period] for period in periods}
        new = wanted._replace(periods=tuple(periods), alarms=tuple(alarms), bars=bars, restated=held.restated)
        if same and corrected and _taken_back(held, new):
            new = new._replace(restated=True)
        self._followed[cell] = new
        return new

    def forget(self, cells: Iterable[Cell]) -> None:
        """Let go of the cells that no longer hold a document."""
        for cell in set(self._followed) - set(cells):
            del self._followed[cell]


def _end_of(last: int | None, since: int | None, period_s: float) -> float | None:
    """Return when the period ended that lies so many periods before the last one, s since the epoch."""
    return None if last is None or since is None else (last - since + 1) * period_s


def _known(alarm: Alarm) -> float:
    """Return the log-evidence, of none that of an M of 0."""
    return -inf if alarm.evidence is None else alarm.evidence


def _taken_back(old: _Followed, new: _Followed) -> bool:
    """Say whether evidence that was there is smaller now, for another reason than that old days are gone.

    After an alarm that comes out earlier than before evidence begins anew, so nothing can be compared from there on.
    """
    if not old.periods or not new.periods or old.periods[0] != new.periods[0]:
        return False
    later: Mapping[int, Alarm] = dict(zip(new.periods, new.alarms, strict=True))
    for period, then in zip(old.periods, old.alarms, strict=True):
        now = later.get(period)
        if now is None:  # what was detected there turned out to be nothing of the kind, which is no evidence either way
            continue
        if _known(now) < _known(then) - _ROUNDING:
            return True
        if (now.since_crossing == 0) != (then.since_crossing == 0):
            return False
    return False
