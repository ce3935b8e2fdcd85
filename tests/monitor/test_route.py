"""Every decision once: counted, put into its stratum, drawn or not, under the plan of its offset."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from traffic import CONFIG, DAY_MS, FIRST_DAY

from monitor.changes import ChangeRecord
from monitor.config import Config, Entities, LimitsConfig, Sampling
from monitor.errors import StateError
from monitor.fold import Output
from monitor.names import UNLISTED, BoundedNames
from monitor.origin import DrawnRecord
from monitor.plan import Plan
from monitor.records import DeadLetter, Record, Span
from monitor.route import Change, Route, held_in
from monitor.tallies import read_key, read_value
from monitor.tally import CensusKey, CountKey, FlaggedKey, Tally, VersionKey


def plan_of(**settings: object) -> Plan:
    """Return a plan that draws every document, unless told."""
    return Plan(msgspec.structs.replace(CONFIG, **{"sampling": Sampling(random_rate=1), **settings}))


PLAN = plan_of()


def value_of(doc_id: str = "a", **fields: object) -> bytes:
    """Return a decision's bytes."""
    document = {"doc_id": doc_id, "lang": "nl", "text": "Anna Utrecht", "detector": "d", "version": "1", "spans": []}
    return json.dumps(document | fields).encode()


def records_of(*values: bytes | None, at_ms: int = FIRST_DAY * DAY_MS) -> list[Record]:
    """Return values as records from offset 0 on."""
    return [Record(i, at_ms, value) for i, value in enumerate(values)]


def route_of(plan: Plan = PLAN) -> Route:
    """Return the fold of a new partition."""
    return Route("decisions", 0, [Change(0, plan)])


def reopened(route: Route, *plans: Change, rows: bool = True) -> Route:
    """Return the fold of what the other one would have written."""
    kept = {key: row for key, row in route.rows().items() if row is not None} if rows else {}
    return Route("decisions", 0, plans or [Change(0, PLAN)], route.head(), kept)


def tally_of(route: Route) -> Tally:
    """Return all days of the first publication, merged."""
    total = Tally()
    for output in route.tallies():
        if output.value is not None:
            total.merge(read_value(output.value)[1])
    return total


def count_of(route: Route, name: str, detail: str) -> int:
    """Return a counted outcome."""
    return tally_of(route).rows.get(CountKey(name, detail), (0,))[0]


def drawn_in(outputs: Sequence[Output]) -> list[DrawnRecord]:
    """Return the drawn documents among outputs."""
    return [msgspec.json.decode(o.value or b"", type=DrawnRecord) for o in outputs if o.channel == "sampled"]


def span(start: int, end: int, entity: str, score: float | None = None) -> dict[str, object]:
    """Return a span's JSON."""
    return {"start": start, "end": end, "entity": entity} | ({} if score is None else {"score": score})


def test_tombstone_empty_value_and_null_between_decisions() -> None:
    """POI-1: two decisions, one tombstone, two dead letters with a place; the stream goes on."""
    route = route_of()
    outputs = route.fold("decisions", records_of(value_of("g1"), None, b"", value_of("g3"), b"null"), 5)

    assert (count_of(route, "records", "decision"), count_of(route, "records", "tombstone")) == (2, 1)
    letters = [msgspec.json.decode(o.value or b"", type=DeadLetter) for o in outputs if o.channel == "dead_letters"]
    assert [(letter.offset, letter.reason) for letter in letters] == [(2, "empty"), (4, "not_object")]
    assert [drawn.doc_id for drawn in drawn_in(outputs)] == ["g1", "g3"]
    assert route.position("decisions") == 5


def test_redelivered_records_are_skipped() -> None:
    """DEL-1: what lies below the position was counted, be it a whole chunk, a part of one, or twice in one chunk."""
    route = route_of()
    a, b = records_of(value_of("a"), value_of("b"))
    route.fold("decisions", [a, b, a, b], 2)
    outputs = route.fold("decisions", [a, b], 2) + route.fold("decisions", [a], 1)

    assert (outputs, route.position("decisions")) == ([], 2)
    assert count_of(route, "records", "decision") == 2


@pytest.mark.parametrize(
    ("spans", "text", "second", "stratum"),
    [
        ([span(0, 4, "PERSON")], "Anna @", None, "both"),
        ([span(0, 4, "PERSON")], "Anna", [span(0, 4, "NAME")], "both"),
        ([span(0, 4, "PERSON")], "Anna", [], "detector_only"),
        ([], "Anna @", None, "loose_only"),
        ([], "Anna", [span(0, 4, "NAME")], "loose_only"),
        ([], "Anna", None, "unflagged"),
        ([span(0, 4, "PERSON", 0.3)], "Anna", None, "unflagged"),
        ([span(0, 9, "PERSON")], "Anna", None, "unflagged"),
    ],
)
def test_stratum_names_who_flagged_the_document(
    spans: list[object], text: str, second: list[object] | None, stratum: str
) -> None:
    """Loose is the net or the second detector; spans under the threshold or out of the text aren't decisions."""
    value = value_of(spans=spans, text=text, second=second, threshold=0.5)
    (drawn,) = drawn_in(route_of().fold("decisions", records_of(value), 1))

    assert stratum == drawn.stratum


def test_census_counts_documents_and_spans_under_folded_names() -> None:
    """NAM-1 and MAT-2: aliases are one name, identical spans one fact with the highest score."""
    spans = [span(0, 4, "PERSON", 0.4), span(0, 4, "per", 0.75), span(5, 12, "person"), span(0, 4, "MY_ID")]
    route = route_of()
    (drawn,) = drawn_in(route.fold("decisions", records_of(value_of(spans=spans, lang="NL")), 1))
    rows = tally_of(route).rows

    assert [Span(0, 4, "per", 0.75), Span(5, 12, "person"), Span(0, 4, "MY_ID")] == drawn.spans
    assert rows[FlaggedKey("nl", "d", "1", "PERSON")] == (1, 2)
    assert rows[FlaggedKey("nl", "d", "1", "MY_ID")] == (1, 1)
    assert rows[CensusKey("nl", "d", "1", "detector_only")] == (1,)


def test_quarantined_span_leaves_its_document_in_the_frame() -> None:
    """The bad span is counted by reason; the document is counted, and drawn without it."""
    route = route_of()
    (drawn,) = drawn_in(route.fold("decisions", records_of(value_of(spans=[span(4, 0, "PERSON")])), 1))

    assert (drawn.spans, drawn.stratum) == ([], "unflagged")
    assert count_of(route, "quarantined", "reversed") == 1


def test_drawn_document_carries_its_design() -> None:
    """Rates, π, thinning, config, net, place and day travel with the document."""
    config = msgspec.structs.replace(CONFIG, sampling=Sampling(random_rate=0.9, loose_rate=0.8))
    plan = Plan(config, thinning=0.9999)
    outputs = route_of(plan).fold("decisions", records_of(*[value_of(str(i), text="@") for i in range(9)]), 9)
    drawn = drawn_in(outputs)[0]

    assert (drawn.slices.random, drawn.slices.loose, drawn.thinning) == (0.9, 0.8, 0.9999)
    assert pytest.approx(0.9999 * 0.98) == drawn.probability
    assert (plan.id, plan.net.version, FIRST_DAY) == (drawn.config, drawn.net, drawn.day)
    assert drawn.origin is not None
    assert drawn.doc_id == str(drawn.origin[1])


def test_day_never_goes_back_and_an_earlier_one_is_sealed() -> None:
    """The third record says it's from yesterday, and counts today; its own time is kept beside it."""
    route = route_of()
    times = [FIRST_DAY * DAY_MS, (FIRST_DAY + 1) * DAY_MS, FIRST_DAY * DAY_MS + 7]
    drawn = drawn_in(route.fold("decisions", [Record(i, t, value_of(str(i))) for i, t in enumerate(times)], 3))

    assert [d.day - FIRST_DAY for d in drawn] == [0, 1, 1]
    assert times == [round(d.sampled_at * 1000) for d in drawn]
    assert [str(FIRST_DAY)] == list(route.rows())
    assert {FIRST_DAY, FIRST_DAY + 1} == {read_key(o.key).day for o in route.tallies()}


def test_timestamp_in_another_unit_does_not_end_the_windows() -> None:
    """A record in microseconds, or without a time, counts on the day of its partition."""
    route = route_of()
    times = [FIRST_DAY * DAY_MS, FIRST_DAY * DAY_MS * 1000, -1]
    drawn = drawn_in(route.fold("decisions", [Record(i, t, value_of(str(i))) for i, t in enumerate(times)], 3))

    assert [d.day for d in drawn] == [FIRST_DAY] * 3
    assert (times[0], times[0]) == tally_of(route).seen[VersionKey("nl", "d", "1")]


def test_days_beyond_the_horizon_are_dropped() -> None:
    """A sealed day that no window can reach is deleted from the table and from the topic."""
    route = route_of()
    days = (FIRST_DAY, FIRST_DAY + 1, FIRST_DAY + PLAN.horizon_days + 1)
    route.fold("decisions", [Record(i, day * DAY_MS, value_of()) for i, day in enumerate(days)], 3)
    gone = str(FIRST_DAY)

    assert route.rows()[gone] is None
    assert route.rows()[str(FIRST_DAY + 1)] is not None
    assert count_of(route, "records", "decision") == 2


def test_day_that_is_dropped_before_the_first_publication_is_taken_off_the_topic() -> None:
    """A worker before had published it; whoever goes on from its row closes it and drops it at once."""
    route = route_of()
    route.fold("decisions", records_of(value_of()), 1)
    again = reopened(route)
    again.fold("decisions", [Record(1, (FIRST_DAY + PLAN.horizon_days + 1) * DAY_MS, value_of())], 2)

    assert [read_key(o.key).day for o in again.tallies() if o.value is None] == [FIRST_DAY]


def test_fold_reopened_between_rows_and_head_counts_once() -> None:
    """The sealed day is durable, the head isn't: the day is open again, and is read again to the same numbers."""
    records = [Record(i, (FIRST_DAY + i // 2) * DAY_MS, value_of(str(i))) for i in range(4)]
    once = route_of()
    once.fold("decisions", records[:1], 1)
    head = once.head()
    once.fold("decisions", records[1:], 4)
    sealed = {key: row for key, row in once.rows().items() if row is not None}
    again = Route("decisions", 0, [Change(0, PLAN)], head, sealed)
    again.fold("decisions", records[1:], 4)

    assert tally_of(once) == tally_of(again)
    assert once.head() == again.head()


def test_first_publication_holds_all_days_and_later_ones_what_changed() -> None:
    """Whoever opens a partition publishes it whole; after that sealed days stay as they are."""
    route = route_of()
    route.fold("decisions", [Record(i, (FIRST_DAY + i) * DAY_MS, value_of(str(i))) for i in range(3)], 3)
    route.settle()
    again = reopened(route, rows=False)

    assert [read_key(o.key).day for o in route.tallies()] == [FIRST_DAY + 2]
    assert [read_key(o.key).day for o in again.tallies()] == [FIRST_DAY + 2]
    whole = Route("decisions", 0, [Change(0, PLAN)], route.head(), {str(FIRST_DAY): Tally().encode()})
    assert [read_key(o.key).day for o in whole.tallies()] == [FIRST_DAY, FIRST_DAY + 2]


def test_new_partition_has_no_position_and_keeps_having_none() -> None:
    """A head that was written before anything was read doesn't turn "nothing yet" into offset 0."""
    route = route_of()

    assert route.position("decisions") is None
    assert reopened(route).position("decisions") is None


@pytest.mark.parametrize("head", [b"", b"\xc1", msgspec.msgpack.encode((1, 2)), Tally().encode()])
def test_head_of_another_format_is_a_state_error(head: bytes) -> None:
    """It names the partition, and what to do."""
    with pytest.raises(StateError, match=r"decisions/0: .*replay"):
        Route("decisions", 0, [Change(0, PLAN)], head)


def test_later_format_is_a_state_error() -> None:
    """A head with more in it, but another number in front, isn't read half."""
    route = route_of()
    head = msgspec.msgpack.encode((2, *msgspec.msgpack.decode(route.head())[1:]))

    with pytest.raises(StateError):
        Route("decisions", 0, [Change(0, PLAN)], head)


# names


def test_names_beyond_the_limit_are_counted_together_and_survive_a_restart() -> None:
    """Languages, versions and unknown entities are bounded; known entities aren't counted against the limit."""
    plan = plan_of(limits=LimitsConfig(max_entities=1, max_languages=1, max_versions=1))
    values = [
        value_of("a", spans=[span(0, 4, "ODD"), span(0, 4, "PERSON")]),
        value_of("b", lang="de", version="2", spans=[span(0, 4, "ODDER"), span(0, 4, "ODDEST"), span(0, 4, "URL")]),
    ]
    route = route_of(plan)
    route.fold("decisions", records_of(values[0]), 1)
    again = reopened(route, Change(0, plan))
    (drawn,) = drawn_in(again.fold("decisions", [Record(1, FIRST_DAY * DAY_MS, values[1])], 2))
    rows = tally_of(again).rows

    assert (drawn.lang, drawn.detector, drawn.version) == (UNLISTED, UNLISTED, UNLISTED)
    assert rows[FlaggedKey(UNLISTED, UNLISTED, UNLISTED, UNLISTED)] == (1, 2)
    assert rows[FlaggedKey(UNLISTED, UNLISTED, UNLISTED, "URL")] == (1, 1)
    assert {"ODDER", "ODDEST", "URL"} == {s.entity for s in drawn.spans}, "a label must find the span it names"


def test_name_that_no_window_reaches_makes_room() -> None:
    """However many versions there were, a new one is seen once the oldest is out of every window."""
    plan = plan_of(limits=LimitsConfig(max_versions=1))
    days = (0, 1, 2, 2 + plan.horizon_days)
    route = route_of(plan)
    records = [Record(i, (FIRST_DAY + d) * DAY_MS, value_of(str(i), version="12"[i > 0])) for i, d in enumerate(days)]
    drawn = drawn_in(route.fold("decisions", records, 4))

    assert [d.version for d in drawn] == ["1", UNLISTED, UNLISTED, "2"]


def test_language_that_is_called_like_the_roll_up_is_not_one() -> None:
    """`any` would make two readings of one name."""
    (drawn,) = drawn_in(route_of().fold("decisions", records_of(value_of(lang="Any")), 1))

    assert drawn.lang == UNLISTED


def test_bounded_names_keep_those_in_use() -> None:
    """A name that was renewed stays when others are forgotten."""
    names = BoundedNames(2)
    first = [names.admit(name, 1) for name in ("a", "b", "c")]
    names.renew(["a", "c"], 5)
    names.forget(5)

    assert first == ["a", "b", UNLISTED]
    assert names.held == {"a": 5}
    assert names.admit("c", 5) == "c"


# plans

OTHER = plan_of(entities=Entities({"PERSON": "WHO"}))


def test_new_plan_is_in_force_from_a_recorded_offset_on() -> None:
    """What lies below the offset is decided under the plan of then, also when it's read again."""
    values = records_of(*[value_of(str(i), spans=[span(0, 4, "PERSON")]) for i in range(4)])
    route = route_of()
    route.fold("decisions", values[:2], 2)
    before = route.head()
    (record,) = route.adopt(OTHER, 12.0)
    route.fold("decisions", values[2:], 4)

    assert ChangeRecord("decisions", 0, 2, OTHER.id, 1.0, 12.0) == msgspec.json.decode(
        record.value or b"", type=ChangeRecord
    )
    assert (PLAN.id, OTHER.id) == (held_in(before).plan, held_in(route.head()).plan)  # type: ignore[union-attr]  # both are heads
    changes = [Change(0, PLAN), Change(2, OTHER)]
    again = Route("decisions", 0, changes)
    plans = [d.config for d in drawn_in(again.fold("decisions", values, 4))]
    assert plans == [PLAN.id, PLAN.id, OTHER.id, OTHER.id]
    assert tally_of(route) == tally_of(again)


def test_plan_in_force_is_not_adopted_again() -> None:
    """The same config and thinning, also of another object, is no change; another thinning is one."""
    route = route_of()

    assert route.adopt(plan_of(), 0.0) == []
    assert len(route.adopt(Plan(PLAN.config, 0.5), 0.0)) == 1
    assert route.adopt(Plan(PLAN.config, 0.5), 0.0) == []


def test_change_after_a_crash_waits_for_the_end_that_was_found() -> None:
    """A worker that crashed may have drawn anything below it under the old plan."""
    values = records_of(*[value_of(str(i), spans=[span(0, 4, "PERSON")]) for i in range(4)])
    route = route_of()
    (record,) = route.adopt(OTHER, 0.0, not_before=3)
    plans = [d.config for d in drawn_in(route.fold("decisions", values, 4))]

    assert msgspec.json.decode(record.value or b"", type=ChangeRecord).offset == 3
    assert plans == [PLAN.id, PLAN.id, PLAN.id, OTHER.id]


def test_time_from_the_future_ends_no_window() -> None:
    """More than a day ahead of the clock can't be meant: the record counts on the day that is open."""
    now_s = (FIRST_DAY + 1) * 86_400.0
    route = Route("decisions", 0, [Change(0, PLAN)], clock=lambda: now_s)
    today, future = FIRST_DAY * DAY_MS, (FIRST_DAY + 200) * DAY_MS
    records = [Record(i, at, value_of(str(i))) for i, at in enumerate((today, future, today))]
    days = [d.day for d in drawn_in(route.fold("decisions", records, 3))]

    assert days == [FIRST_DAY] * 3


def test_document_too_large_for_a_topic_goes_out_without_what_no_estimate_needs() -> None:
    """Its text and spans are enough; where they are too large themselves it's a dead letter, and the worker lives."""
    plan = plan_of(limits=LimitsConfig(max_text_bytes=2 << 20))
    route = Route("decisions", 0, [Change(0, plan)])
    large, larger = "\x01" * (1 << 19), "\x01" * (2 << 20)
    values = [value_of("a", text=large, redacted=large * 2), value_of("b", text=larger)]
    outputs = route.fold("decisions", records_of(*values), 2)

    (drawn,) = drawn_in([o for o in outputs if o.channel == "sampled"])
    assert (drawn.doc_id, drawn.text, drawn.redacted) == ("a", large, None)
    assert [msgspec.json.decode(o.value or b"")["reason"] for o in outputs if o.channel != "sampled"] == ["too_large"]


def test_raised_limit_is_in_force_at_once_and_from_its_offset_on() -> None:
    """A name that had no room is kept apart from the change on, whether or not the worker started again since."""
    narrow, wide = plan_of(limits=LimitsConfig(max_versions=1)), plan_of(limits=LimitsConfig(max_versions=2))
    values = records_of(*[value_of(str(i), version=v) for i, v in enumerate("1222")])
    route = route_of(narrow)
    first = drawn_in(route.fold("decisions", values[:2], 2))
    route.adopt(wide, 0.0)
    then = drawn_in(route.fold("decisions", values[2:], 4))
    again = drawn_in(Route("decisions", 0, [Change(0, narrow), Change(2, wide)]).fold("decisions", values, 4))

    assert ["1", UNLISTED, "2", "2"] == [d.version for d in first + then] == [d.version for d in again]


def test_default_config_makes_a_plan() -> None:
    """The default net compiles, and catches what it's for."""
    plan = Plan(Config())

    assert (plan.net.catches("mail anna@example.org"), plan.net.catches("good morning")) == (True, False)
