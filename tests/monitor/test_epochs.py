"""Where any-time limits begin: on days fixed beforehand, none of which is let go while a look goes back to it."""

from __future__ import annotations

import json
from collections import Counter

import msgspec
import pytest
from traffic import CONFIG, FIRST_DAY, NET

from monitor.config import Alarm, Config, Labels, Readings, Sampling
from monitor.estimators.confidence_sequence import NO_SEQUENCE, confidence_sequence, sequence_evidence_of
from monitor.estimators.e_detector import Entry, Floors
from monitor.estimators.epochs import EVERYTHING, epoch_of
from monitor.plan import Plan
from monitor.readings import AnyTimeLimits, BoardSnapshot
from streams.replay_stages import Stages, Timed

YEAR = 366
DAY_S = 86_400
TEXT = "Anna at Utrecht"
NAME = {"start": 0, "end": 4, "entity": "PERSON"}
SMALL = Config(
    sampling=Sampling(random_rate=1.0), net=NET, readings=Readings(windows_days=(9,)), labels=Labels(deadline_days=1.0)
)
"""Ten days are kept, so every second one is a beginning."""


@pytest.mark.parametrize("kept", [*range(2, 40), 72, 365, 366, 800])
def test_a_year_of_looks_reads_no_more_sequences_than_share_its_alpha(kept: int) -> None:
    """However the year lies, and one year lies so that it's as many."""
    most = 0
    for first in range(FIRST_DAY, FIRST_DAY + kept):
        epochs = {epoch_of(day, kept) for day in range(first, first + YEAR)}
        ((shared, begun),) = Counter(epoch.sequences for epoch in epochs).items()
        assert begun <= shared
        most = max(most, begun)

    assert shared == most


@pytest.mark.parametrize("kept", [*range(2, 40), 800])
def test_an_epoch_is_kept_as_long_as_it_is_read(kept: int) -> None:
    """All of what's kept at most, and less by under a fifth at least."""
    held = [day - (epoch_of(day, kept).first_day or 0) + 1 for day in range(FIRST_DAY, FIRST_DAY + 3 * kept)]

    assert (kept - max(kept // 5, 1) + 1, kept) == (min(held), max(held))


@pytest.mark.parametrize("kept", [-1, 0, 1])
def test_an_epoch_needs_two_days(kept: int) -> None:
    """A single one would be over as it begins."""
    with pytest.raises(ValueError, match="at least 2"):
        epoch_of(FIRST_DAY, kept)


def test_nothing_let_go_is_one_sequence() -> None:
    """It counts everything, at the level asked for."""
    assert (EVERYTHING.first_period(60.0), EVERYTHING.level(0.875)) == (None, 0.875)


class _Days:
    """Days of traffic through the stages; every document is drawn, holds a name, and is labelled at once."""

    def __init__(self, config: Config) -> None:
        self._stages = Stages(Plan(config))
        self._drawn: list[tuple[int, bool]] = []
        """When, s since the epoch, and whether the name was found."""

    def live(self, day: int) -> None:
        """Take a day's documents, in order but for one that is nearly a day ahead; their number tells days apart."""
        hours = [*range(2, 4 + 5 * (day % 4)), 20]
        times = [day * DAY_S + 3600 * hour for hour in hours]
        times.insert(1, (day + 1) * DAY_S + 3600)
        drawn = [(at_s, n % 3 > 0) for n, at_s in enumerate(times)]
        names = [f"{day}-{n}" for n in range(len(drawn))]
        self._stages.decide([_decision(name, *one) for name, one in zip(names, drawn, strict=True)])
        self._stages.label([_label(name, (day + 1) * DAY_S - 2) for name in names])
        self._stages.publish()
        self._drawn += drawn

    def adopt(self, config: Config, at_s: float) -> None:
        """Take up another config."""
        self._stages.adopt(Plan(config), at_s)
        self._stages.publish()

    def look(self, now: float | None) -> AnyTimeLimits | None:
        """Return what the board says of the cell."""
        return _limits(self._stages.board.snapshot(now))

    def expected(self, first_s: float, period_s: float, confidence: float, sequences: int) -> AnyTimeLimits | None:
        """Return the limits of all documents ever drawn in a period that starts at `first_s` or later."""
        counted = [(at, found) for at, found in self._drawn if at // period_s * period_s >= first_s]
        evidence = NO_SEQUENCE
        for found, n in Counter(found for _, found in counted).items():
            one = Entry(1.0, Floors(1.0, 1.0), int(found), 1)
            evidence = evidence.plus(sequence_evidence_of(one, CONFIG.alarm.y_max).times(n))
        limits = confidence_sequence(evidence, confidence)
        if limits is None:
            return None
        since = min(at for at, _ in counted) // period_s * period_s
        return AnyTimeLimits(*limits, len(counted), since, CONFIG.alarm.y_max, sequences)


def _decision(name: str, at_s: int, found: bool) -> Timed:  # noqa: FBT001  # a drawn document's two facts
    spans = [NAME] if found else []
    decision = {"doc_id": name, "lang": "en", "text": TEXT, "spans": spans, "detector": "d", "version": "1"}
    return json.dumps(decision).encode(), at_s * 1000


def _label(name: str, at_s: int) -> Timed:
    label = {"doc_id": name, "annotator": "ann", "revision": 1, "status": "submitted", "spans": [NAME]}
    return json.dumps(label).encode(), at_s * 1000


def _limits(snapshot: BoardSnapshot) -> AnyTimeLimits | None:
    (found,) = [r for r in snapshot.readings if (r.entity, r.language, r.stratum) == ("PERSON", "en", None)]
    return found.any_time


@pytest.mark.parametrize("period_s", [DAY_S / 2, DAY_S, 2 * DAY_S, 12 * DAY_S])
def test_every_look_reads_all_that_was_drawn_since_its_epoch_began(period_s: float) -> None:
    """Days go, a document a day ahead of the clock takes one more along, and none is of the epoch.

    Where a period is longer than the epoch it may be that none starts in it: no limits.
    """
    days = _Days(msgspec.structs.replace(SMALL, alarm=Alarm(period=period_s)))
    read = set()
    for day in range(FIRST_DAY, FIRST_DAY + 25):
        days.live(day)
        now = (day + 1) * DAY_S - 1.0
        epoch = epoch_of(day, SMALL.horizon_days)
        first_s = (epoch.first_day or 0) * DAY_S
        level = 1 - 0.05 / epoch.sequences
        found = days.look(now)
        assert days.expected(first_s, period_s, level, epoch.sequences) == found
        read.add(None if found is None or found.since is None else found.since)

    assert len(read - {None}) > (1 if period_s == 12 * DAY_S else 3)
    assert (None in read) == (period_s == 12 * DAY_S)


def test_a_look_without_a_clock_reads_everything_at_the_level_asked_for() -> None:
    """A replay lets nothing go: no α is to be shared."""
    days = _Days(SMALL)
    days.live(FIRST_DAY)

    assert days.expected(0.0, DAY_S, 0.95, 1) == days.look(None)


def test_another_number_of_kept_days_has_epochs_of_its_own() -> None:
    """The next look after a change of plan goes back as far as the new one says, here less far."""
    days = _Days(msgspec.structs.replace(SMALL, readings=Readings(windows_days=(21,))))
    for day in range(FIRST_DAY, FIRST_DAY + 30):
        days.live(day)
    now = (FIRST_DAY + 30) * DAY_S - 1.0
    for kept in (22, 10):
        epoch = epoch_of(FIRST_DAY + 29, kept)
        level = 1 - 0.05 / epoch.sequences
        assert days.expected((epoch.first_day or 0) * DAY_S, DAY_S, level, epoch.sequences) == days.look(now)
        days.adopt(SMALL, now)
