"""The alarm of a cell over the board's days: when it goes on, and that corrections show."""

from __future__ import annotations

import alarm_oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.alarm_readings import AlarmReading
from monitor.alarms import YEAR_S, Alarms
from monitor.config import Alarm as AlarmConfig
from monitor.estimators.e_detector import FRACTIONS, Entry, Floors
from monitor.evidence import Cell, CellEvidence, EvidenceSums
from monitor.tally import EntryKey

CELL = Cell("IBAN", "en", "crf", "2")
CENSUS = Floors(1.0, 1.0)
HIT, MISS = (Entry(1.0, CENSUS, t, 1) for t in (1, 0))
SMALL = AlarmConfig(y_max=1)
DAY_S = 86_400.0


def evidence_of(days: list[list[Entry]]) -> CellEvidence:
    """Return the evidence of documents by day."""
    evidence = CellEvidence()
    for day, entries in enumerate(days):
        for entry in entries:
            evidence.add(day, entry, 1)
    return evidence


def look(alarms: Alarms, evidence: CellEvidence, until: int, config: AlarmConfig = SMALL) -> AlarmReading:
    """Return the alarm as it's read at the begin of a day."""
    return alarms.read(CELL, evidence, 0.9, config, until=until)


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from((HIT, MISS, HIT._replace(labelled=False))), max_size=4), max_size=12))
def test_alarm_fires_on_the_days_of_the_formula(days: list[list[Entry]]) -> None:
    """Days without documents, and whatever was looked at before, change nothing."""
    promised = YEAR_S / DAY_S
    expected = alarm_oracles.crossings(days, 0.9, 1, FRACTIONS, promised)
    evidence, alarms = evidence_of(days), Alarms()
    fired = []
    for until in range(1, len(days) + 1):
        found = look(alarms, evidence, until)
        if found.state == "firing":
            fired.append(until - 1)

    assert expected == fired


def test_period_that_has_not_ended_is_not_looked_at() -> None:
    """What is drawn today counts tomorrow: half a day could go on and off again."""
    evidence = evidence_of([[HIT], [MISS] * 20])

    assert look(Alarms(), evidence, 1).state == "quiet"
    found = look(Alarms(), evidence, 2)
    assert (found.state, found.fired_at, found.on_since) == ("firing", 2 * DAY_S, 2 * DAY_S)


def test_alarm_stays_on_for_as_long_as_it_is_held() -> None:
    """It goes off after `hold` periods without a crossing, also where nothing is drawn any more."""
    evidence, config = evidence_of([[MISS] * 20]), AlarmConfig(y_max=1, hold=3)
    states = [look(Alarms(), evidence, until, config).state for until in range(1, 6)]

    assert states == ["firing", "held", "held", "quiet", "quiet"]


def test_period_counts_as_one_without_a_crossing_once_its_labels_are_due() -> None:
    """Before that a label may still come that makes it cross; an alarm that is seen late would be over at once."""
    evidence, config = evidence_of([[MISS] * 20]), AlarmConfig(y_max=1, hold=3)
    states = [Alarms().read(CELL, evidence, 0.9, config, deadline_s=1.5 * DAY_S, until=n).state for n in range(1, 8)]

    assert states == ["firing", *["held"] * 4, "quiet", "quiet"]


def test_cell_without_a_label_is_not_quiet() -> None:
    """Not knowing is no state of rest."""
    found = look(Alarms(), evidence_of([[HIT._replace(labelled=False)]]), 1)

    assert (found.state, found.evidence, found.labelled) == (None, None, 0)


def test_label_that_comes_late_adds_to_its_own_day() -> None:
    """The alarm then is as if the label had been there at once."""
    evidence, alarms = evidence_of([[HIT._replace(labelled=False)] * 20, [HIT], [HIT]]), Alarms()
    before = look(alarms, evidence, 3)
    evidence.add(0, HIT._replace(labelled=False), -20)
    evidence.add(0, MISS, 20)
    after = look(alarms, evidence, 3)

    assert (before.state, after.state) == ("quiet", "held")
    assert look(Alarms(), evidence_of([[MISS] * 20, [HIT], [HIT]]), 3) == after
    assert not after.restated


def test_corrected_label_marks_the_alarm_restated() -> None:
    """Evidence that was published is taken back: whoever acted on it must be told."""
    sums, alarms = EvidenceSums(), Alarms()
    key = EntryKey("en", "crf", "2", "IBAN", 0, 1.0, 1.0, 1.0, 0, 1, 1)
    later = key._replace(period=1, t=1)
    sums.replace({}, {key: 20, later: 1})
    before = look(alarms, sums.cells[CELL], 2)
    sums.replace({key: 20, later: 1}, {key._replace(t=1): 20, later: 1})
    after = look(alarms, sums.cells[CELL], 2)

    assert (before.state, before.restated) == ("held", False)
    assert (after.state, after.restated) == ("quiet", True)


def test_labels_that_come_restate_nothing() -> None:
    """First labels of a day, one that finds nothing there, one that makes an earlier day cross."""
    waits = HIT._replace(labelled=False)
    evidence, alarms = evidence_of([[waits] * 20, [waits], [MISS] * 20, [HIT]]), Alarms()
    look(alarms, evidence, 4)
    for day, entry, times in ((1, waits, -1), (0, waits, -20), (0, HIT, 5), (0, MISS, 15)):
        evidence.add(day, entry, times)
        assert not look(alarms, evidence, 4).restated


def test_days_that_expire_restate_nothing() -> None:
    """They take evidence with them, one partition's before another's, and nobody corrected a label."""
    sums, alarms = EvidenceSums(), Alarms()
    key = EntryKey("en", "crf", "2", "IBAN", 0, 1.0, 1.0, 1.0, 0, 1, 1)
    days = {key: 2, key._replace(period=1): 2}
    for _ in range(2):
        sums.replace({}, days)
    look(alarms, sums.cells[CELL], 3)
    sums.replace(days, {})

    assert not look(alarms, sums.cells[CELL], 3).restated


def test_what_fired_stays_when_more_cells_share_the_promise() -> None:
    """The bar of a period is the one that it was looked at with; a cell that fell silent begins anew."""
    evidence, alarms = evidence_of([[MISS] * 4]), Alarms()
    before = alarms.read(CELL, evidence, 0.9, SMALL, cells=1, until=1)
    after = alarms.read(CELL, evidence, 0.9, SMALL, cells=1000, until=1)
    assert [a.state for a in (before, after)] == ["firing", "firing"]
    assert Alarms().read(CELL, evidence, 0.9, SMALL, cells=1000, until=1).state == "quiet"

    evidence.add(0, MISS, -4)
    assert alarms.read(CELL, evidence, 0.9, SMALL, until=2).state is None
    evidence.add(1, HIT, 1)
    assert alarms.read(CELL, evidence, 0.9, SMALL, until=2).labelled == 1


def test_promise_is_shared_by_all_cells() -> None:
    """Twice as many cells, twice as long up to a false alarm of one of them."""
    one, two = (Alarms().read(CELL, CellEvidence(), 0.9, SMALL, cells=n) for n in (1, 2))

    assert pytest.approx(365.25) == one.promised_days
    assert pytest.approx(730.5) == two.promised_days
