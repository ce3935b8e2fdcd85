"""Which cause is told of a cell or a version, that it's told once, and what a restart changes: nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from boards import agreement, reading

from monitor.alarm_readings import AlarmEvent, AlarmReading
from monitor.config import read_config
from monitor.notices import ROW, Notices
from monitor.plan import Plan
from monitor.readings import ANY, Reading, Status, Window
from monitor.tally import VersionKey

DAY_MS = 86_400_000
PLAN = Plan(read_config({"targets": {"IBAN": 0.9}, "labels": {"deadline_days": 3}}))
SEEN = {VersionKey("en", "presidio", "2"): (0, DAY_MS)}
"""The version of the readings below."""


def read(
    state: str = "quiet", status: Status = "ok", lower: float = 0.92, weight: float = 200.0, days: int | None = 28
) -> Reading:
    """Return a reading of IBAN/en with a target and an alarm."""
    base = reading("IBAN", "en", target=0.9, status=status, window=Window(days, None, None))
    alarm = msgspec.convert(
        {"state": state, "evidence": 1.0, "bar": 6.0, "promised_days": 365, "labelled": 9, "on_since": 5.0},
        AlarmReading,
    )
    matched = msgspec.structs.replace(base.matched, lower=lower)
    return msgspec.structs.replace(base, alarm=alarm, weight_max=weight, matched=matched)


def both(short: Status, long: Status, state: str = "quiet") -> list[Reading]:
    """Return the readings of a week and of four."""
    return [read(state, short, days=7), read(state, long, days=28)]


def look(
    notices: Notices, *readings: Reading, seen: Mapping[VersionKey, tuple[int, int]] = SEEN, at: float = 10.0
) -> list[AlarmEvent]:
    """Return what one more look tells."""
    before = len(notices.told)
    notices.tell(PLAN, readings, seen, at)
    return list(notices.told[before:])


def restarted(notices: Notices) -> Notices:
    """Return what the next worker opens from the row of this one."""
    return Notices(notices.encode())


def lapses(*statuses: tuple[Status, Status]) -> list[tuple[int | None, ...]]:
    """Return the windows that are told of, look by look, each of them by another worker."""
    notices, found = Notices(), []
    for short, long in statuses:
        events = look(notices, *both(short, long))
        assert {event.cause for event in events} <= {"stopped_knowing"}
        found += [event.windows_days for event in events]
        notices = restarted(notices)
    return found


# -- causes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "causes"),
    [
        ({}, {"state": "firing"}, ["recall_fell"]),
        ({"state": "firing"}, {"state": "held"}, []),
        ({}, {"status": "stale"}, ["stopped_knowing"]),
        ({}, {"status": "expired"}, ["stopped_knowing"]),
        ({}, {"status": "greyed"}, ["stopped_knowing"]),
        ({"status": "incomplete"}, {"status": "expired"}, []),
        ({}, {"lower": 0.85, "weight": 400.0}, ["design_changed"]),
        ({}, {"lower": 0.85}, []),
        ({"lower": 0.85}, {"lower": 0.84, "weight": 400.0}, []),
        ({}, {"state": "firing", "status": "stale"}, ["recall_fell"]),
        ({}, {"status": "no_truth"}, ["stopped_knowing"]),
        ({"status": "no_label"}, {"status": "expired"}, []),
    ],
)
def test_causes_are_told_apart(before: dict[str, object], after: dict[str, object], causes: list[str]) -> None:
    """Recall fell, we stopped knowing, the design changed; what merely goes on is told once."""
    notices = Notices()
    look(notices, read(**before))  # type: ignore[arg-type]  # by name
    told = look(notices, read(**after))  # type: ignore[arg-type]  # by name
    assert look(notices, read(**after)) == []  # type: ignore[arg-type]  # by name

    assert causes == [event.cause for event in told]


def test_rate_that_fell_days_before_the_limit_did_is_what_changed() -> None:
    """The largest weight jumps with the first document at the lower rate; the lower limit sinks for days after."""
    notices = Notices()
    for weight, lower in ((200.0, 0.92), (400.0, 0.92), (400.0, 0.91), (400.0, 0.89), (400.0, 0.88)):
        look(notices, read(lower=lower, weight=weight))

    assert [(event.cause, event.changed) for event in notices.told] == [("design_changed", "rates")]


def test_few_that_two_read_lapse_nothing() -> None:
    """Their kappa rests on a handful of documents; once it rests on more, it counts."""
    notices = Notices()
    few, more = (msgspec.structs.replace(agreement(0.3), named=n) for n in (4, 5))
    look(notices, read())
    assert look(notices, msgspec.structs.replace(read(status="greyed"), agreement=few)) == []

    assert len(look(notices, msgspec.structs.replace(read(status="greyed"), agreement=more))) == 1


# -- lapses ------------------------------------------------------------------------------------------------------------


def test_what_lapses_by_steps_is_told_once() -> None:
    """Its labels leave the window before it has expired."""
    notices = Notices()
    for status in ("ok", "no_interval", "no_truth", "expired", "ok", "greyed"):
        look(notices, read(status=status))  # type: ignore[arg-type]  # of the statuses

    assert [event.cause for event in notices.told] == ["stopped_knowing", "stopped_knowing"]


def test_windows_that_lapse_together_are_one_notice() -> None:
    """Labels that stop coming are one cause, however many numbers they take away."""
    assert lapses(("ok", "ok"), ("stale", "stale"), ("expired", "stale"), ("expired", "expired")) == [(7, 28)]


def test_short_window_that_lapses_alone_is_told_once() -> None:
    """While the long one still reads well; it's told of no more for as long as it's so."""
    assert lapses(("ok", "ok"), ("expired", "ok"), ("expired", "ok"), ("no_truth", "marked")) == [(7,)]


def test_last_number_that_lapses_is_told_after_the_first() -> None:
    """One that could be relied on was left when the first notice came, and now there's none."""
    assert lapses(("ok", "ok"), ("expired", "ok"), ("expired", "expired"), ("stale", "stale")) == [(7,), (28,)]


def test_what_stands_again_can_lapse_again() -> None:
    """All of it, or the long window alone."""
    whole = lapses(("ok", "ok"), ("stale", "stale"), ("ok", "ok"), ("stale", "stale"))
    assert whole == [(7, 28), (7, 28)]

    assert lapses(("ok", "ok"), ("expired", "expired"), ("expired", "ok"), ("expired", "expired")) == [(7, 28), (28,)]


def test_window_that_never_had_a_number_lapses_not() -> None:
    """Of a rare entity a week may never hold enough; the four weeks are all there is to lose."""
    assert lapses(("no_interval", "ok"), ("no_truth", "ok"), ("expired", "stale")) == [(28,)]


def test_third_window_adds_no_notice() -> None:
    """Some number lapsed, none stands any more: two notices at most, whatever the number of windows."""
    notices = Notices()
    told = []
    for lapsed in (0, 7, 14, 28):
        readings = [read(status="expired" if days <= lapsed else "ok", days=days) for days in (7, 14, 28)]
        told += [event.windows_days for event in look(notices, *readings)]

    assert told == [(7,), (28,)]


def test_lapse_waits_while_the_alarm_is_on_and_is_not_lost() -> None:
    """Somebody was called already; an alarm that is over without a number is no all-clear."""
    notices = Notices()
    look(notices, *both("ok", "ok"))
    on = look(notices, *both("stale", "stale", "firing"))
    held = look(notices, *both("stale", "stale", "held"))
    off = look(notices, *both("stale", "stale"))

    assert [[event.cause for event in told] for told in (on, held, off)] == [["recall_fell"], [], ["stopped_knowing"]]


def incomplete(*looks: tuple[float, Status, Status]) -> list[tuple[float, tuple[int | None, ...]]]:
    """Return the days and windows that are told of, by looks at a day; labels may take three."""
    notices, found = Notices(), []
    for day, short, long in looks:
        events = look(notices, *both(short, long), at=(100 + day) * 86_400.0)
        found += [(day, event.windows_days) for event in events]
        notices = restarted(notices)
    return found


def test_window_whose_labels_are_under_way_is_told_once_they_are_late() -> None:
    """The deadline of a label begins when the number was lost, and again where it came back in between."""
    late = incomplete((0, "ok", "ok"), (1, "incomplete", "ok"), (3.9, "incomplete", "ok"), (4, "incomplete", "ok"))
    assert late == [(4, (7,))]

    again = [(1, "incomplete"), (3, "ok"), (5, "incomplete"), (7, "incomplete")]
    assert incomplete((0, "ok", "ok"), *((day, short, "ok") for day, short in again)) == []  # type: ignore[misc]  # statuses


def test_incomplete_window_waits_for_nothing_where_no_number_stands() -> None:
    """Nor for longer where it turns into a number that has no labels under way."""
    assert incomplete((0, "ok", "ok"), (1, "incomplete", "incomplete")) == [(1, (7, 28))]
    assert incomplete((0, "ok", "ok"), (1, "incomplete", "ok"), (2, "incomplete", "greyed")) == [(2, (7, 28))]
    assert incomplete((0, "ok", "ok"), (1, "incomplete", "ok"), (2, "no_truth", "ok")) == [(2, (7,))]


# -- versions ----------------------------------------------------------------------------------------------------------


def seen(**first_days: float) -> dict[VersionKey, tuple[int, int]]:
    """Return when each version of a detector was first seen, in two languages."""
    return {
        VersionKey(language, "presidio", name.removeprefix("v")): (int(day * DAY_MS) + later, 99 * DAY_MS)
        for name, day in first_days.items()
        for language, later in (("en", 5_000), ("nl", 0))
    }


def test_new_version_is_told_once_with_its_day() -> None:
    """Of the detector, in all cells together; by when its first document came and not by when it was noticed."""
    notices = Notices()
    assert look(notices, seen=seen(v2=1)) == []
    told = look(notices, seen=seen(v2=1, v3=2.5))
    assert look(notices, seen=seen(v2=1, v3=2.5)) == []

    assert told == [
        AlarmEvent(ANY, ANY, "presidio", "3", "design_changed", 2.5 * 86_400, None, changed="version"),
    ]


def test_version_is_told_of_no_more_by_the_next_worker() -> None:
    """Nor after the version before is gone from all that is kept."""
    notices = Notices()
    look(notices, seen=seen(v2=1))
    look(notices, seen=seen(v2=1, v3=2))
    notices = restarted(notices)
    assert look(notices, seen=seen(v2=1, v3=2)) == []
    assert look(notices, seen=seen(v3=2)) == []

    assert [event.version for event in look(notices, seen=seen(v3=2, v4=60))] == ["4"]


def test_versions_that_came_while_nobody_looked_are_told_in_their_order() -> None:
    """As long as somebody looked before: what the first look of all finds was so already."""
    notices = Notices()
    assert look(notices, seen=seen(v8=0, v9=1)) == []

    assert [e.version for e in look(restarted(notices), seen=seen(v8=0, v9=1, v11=2, v10=3))] == ["11", "10"]


def test_another_detectors_first_version_is_none_that_changed() -> None:
    """It has nothing that it could differ from; of two that come at once the older one is the first."""
    notices = Notices()
    look(notices, seen=SEEN)
    one, two = ({VersionKey("en", "crf", n): (at, DAY_MS)} for n, at in (("1", 5), ("2", 6)))

    assert look(notices, seen=SEEN | one) == []
    notices = restarted(Notices())
    assert [event.version for event in look(notices, seen=one | two)] == ["2"]


def test_without_a_target_no_version_is_told() -> None:
    """There is no alarm then; nor is it told once there are targets, as it's old by then."""
    notices = Notices()
    look(notices, seen=seen(v2=1))
    notices.tell(Plan(read_config({})), [], seen(v2=1, v3=2), 10.0)
    assert notices.told == ()

    assert look(notices, seen=seen(v2=1, v3=2)) == []
    assert [event.version for event in look(notices, seen=seen(v2=1, v3=2, v4=3))] == ["4"]


# -- what is remembered ------------------------------------------------------------------------------------------------


def test_next_worker_tells_what_became_true_in_between_and_nothing_that_was_told() -> None:
    """An alarm and a lapse that were told, and one of each that nobody was there to see."""
    names = ("IBAN", "PERSON", "PHONE", "URL")
    before = zip(names, ("firing", "quiet", "quiet", "quiet"), ("ok", "ok", "stale", "ok"), strict=True)
    after = zip(names, ("held", "firing", "quiet", "quiet"), ("ok", "ok", "stale", "expired"), strict=True)
    notices = Notices()
    look(notices, *(msgspec.structs.replace(read(), entity=name) for name in names))
    here = look(notices, *(msgspec.structs.replace(read(state, status), entity=n) for n, state, status in before))
    there = look(
        restarted(notices), *(msgspec.structs.replace(read(state, status), entity=n) for n, state, status in after)
    )

    assert {(event.entity, event.cause) for event in here} == {("IBAN", "recall_fell"), ("PHONE", "stopped_knowing")}
    assert {(event.entity, event.cause, event.at) for event in there} == {
        ("PERSON", "recall_fell", 10.0),
        ("URL", "stopped_knowing", 10.0),
    }


def test_what_was_told_is_remembered() -> None:
    """The events themselves, for who asks later; equal states are equal bytes."""
    notices = Notices()
    look(notices, *both("ok", "ok"))
    look(notices, *both("stale", "ok"), seen=seen(v2=0, v3=2))
    again = restarted(notices)

    assert again.told == notices.told
    assert len(again.told) == 2
    assert again.encode() == notices.encode()


def test_first_look_of_all_dates_an_alarm_by_when_it_went_on() -> None:
    """It was on before anybody looked."""
    (event,) = look(Notices(), read("firing"))

    assert (event.cause, event.at) == ("recall_fell", 5.0)


def test_version_that_pauses_is_told_of_no_more_when_it_goes_on() -> None:
    """It has no reading meanwhile, and its alarm is the same one."""
    notices = Notices()
    look(notices, read("firing"))
    look(notices)

    assert look(notices, read("held")) == []


def test_cells_of_versions_that_are_gone_are_forgotten() -> None:
    """What is remembered has a bound."""
    notices = Notices()
    look(notices, read())
    with_cell = len(notices.encode())
    look(notices, seen={})

    assert len(notices.encode()) < with_cell - 10


def test_row_is_written_only_where_it_changed() -> None:
    """Not before anything is known, and not again once it's durable."""
    notices = Notices()
    notices.tell(PLAN, [], {}, 10.0)
    assert notices.rows() == {}
    look(notices, read())
    assert list(notices.rows()) == [ROW]
    notices.settle()
    look(notices, read())
    assert notices.rows() == {}
    look(notices, read(status="stale"))

    assert notices.rows() == {ROW: notices.encode()}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (b"", "not a state"),
        (b"\xc1", "not a state"),
        (msgspec.msgpack.encode(()), "not a state"),
        (msgspec.msgpack.encode((2, {"of": "another form"})), "format 2; this version reads 1"),
        (msgspec.msgpack.encode((1, [], [], [{"cause": "no such"}])), "not a state"),
    ],
)
def test_state_that_cannot_be_read_begins_anew_and_says_so(state: bytes, why: str) -> None:
    """Nothing of it is kept."""
    notices = Notices(state)

    assert why in notices.begun_anew
    assert "begins anew" in notices.begun_anew
    assert [event.cause for event in look(notices, read("firing"))] == ["recall_fell"]
