"""ROUTE counts what redacted outputs still show, once each, whoever reads the partitions and how often."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outputs import (
    FLAGGED,
    LEFT,
    MAIL,
    OUTPUTS,
    PERSON,
    PHONE,
    RIGHT,
    SLID,
    TAIL,
    TEXT,
    TOLD_ANEW,
    Redacted,
    counted,
    leak_rows,
)
from traffic import DAY_MS, FIRST_DAY

from monitor.config import Config, Entities, LimitsConfig, Sampling
from monitor.leaks.coverage import coverage_of
from monitor.leaks.policy import EntityPolicy, RedactionConfig
from monitor.leaks.screen import examine
from monitor.names import UNLISTED
from monitor.origin import DrawnRecord
from monitor.output_keys import LeakKey, OutputKey, OutputRow, RedactedKey, RedactionsKey, RedactionsRow
from monitor.plan import Plan
from monitor.records import Record, Span
from monitor.route import LARGEST_BYTES, Change, Route
from monitor.tallies import read_value
from monitor.tally import FlaggedKey, Key, Tally

GROUP = ("nl", "d", "1")
DRAWS_ALL = Sampling(random_rate=1)
IGNORES_PHONES = RedactionConfig(entities={"phone": EntityPolicy(ignore=True)})
KEEPS_LAST = RedactionConfig(entities={"phone": EntityPolicy(keep_last=2, keep_first=2)})


def plan_of(redaction: RedactionConfig | None = None, **settings_: object) -> Plan:
    """Return a plan that draws every document."""
    config = Config(sampling=DRAWS_ALL, redaction=redaction or RedactionConfig())
    return Plan(msgspec.structs.replace(config, **settings_))


PLAN = plan_of()


def records_of(documents: Sequence[Redacted]) -> list[Record]:
    """Return decisions as a partition's records."""
    return [Record(i, FIRST_DAY * DAY_MS + one.at_ms, one.value) for i, one in enumerate(documents)]


def tally_of(route: Route) -> Tally:
    """Return all days of the first publication, merged."""
    total = Tally()
    for output in route.tallies():
        if output.value is not None:
            total.merge(read_value(output.value)[1])
    return total


def rows_of(plan: Plan, *documents: Redacted) -> dict[Key, tuple[int, ...]]:
    """Return what ROUTE counts of outputs."""
    route = Route("decisions", 0, [Change(0, plan)])
    route.fold("decisions", records_of(documents), len(documents))
    return leak_rows(tally_of(route))


def drawn_of(plan: Plan, document: Redacted) -> DrawnRecord:
    """Return the drawn record of a document."""
    route = Route("decisions", 0, [Change(0, plan)])
    (output,) = route.fold("decisions", records_of([document]), 1)
    return msgspec.json.decode(output.value or b"", type=DrawnRecord)


def test_right_output_counts_as_one_without_a_leak() -> None:
    """Outputs, masked and all code points; three redactions, none leaking; each entity once."""
    assert rows_of(PLAN, Redacted("a", RIGHT)) == {
        OutputKey(*GROUP, "both"): OutputRow(outputs=1, masked=15 + 22 + 14, length=len(TEXT)),
        RedactionsKey(*GROUP): RedactionsRow(y=3, yy=9),
        RedactedKey(*GROUP, "PERSON"): (1, 1, 0, 0),
        RedactedKey(*GROUP, "EMAIL_ADDRESS"): (1, 1, 0, 0),
        RedactedKey(*GROUP, "PHONE_NUMBER"): (1, 1, 0, 0),
    }


def test_two_rests_of_one_value_are_two_leaks_of_one_redaction() -> None:
    """Its digits before and behind the mask: documents 1, leaks 2, leaking spans 1."""
    rows = rows_of(PLAN, Redacted("a", TAIL))

    assert OutputRow(*rows[OutputKey(*GROUP, "both")]).leaking == 1
    assert rows[RedactionsKey(*GROUP)] == RedactionsRow(t=1, y=3, tt=1, ty=3, yy=9)
    assert rows[RedactedKey(*GROUP, "PHONE_NUMBER")] == (1, 1, 1, 1)
    assert rows[LeakKey(*GROUP, "PHONE_NUMBER", "partial_mask")] == (1, 2)
    assert [key.entity for key in rows if isinstance(key, LeakKey)] == ["PHONE_NUMBER"]


def test_value_that_was_never_replaced_leaks_and_is_no_redaction() -> None:
    """Of three spans two were replaced, and neither of these leaks."""
    rows = rows_of(PLAN, Redacted("a", LEFT))

    assert rows[RedactionsKey(*GROUP)] == RedactionsRow(t=0, y=2, yy=4)
    assert rows[RedactedKey(*GROUP, "EMAIL_ADDRESS")] == (1, 1, 1, 1)
    assert rows[LeakKey(*GROUP, "EMAIL_ADDRESS", "untouched")] == (1, 1)


def test_masks_that_slid_leak_what_they_left() -> None:
    """Two values are half replaced, the third not at all."""
    rows = rows_of(PLAN, Redacted("a", SLID))

    assert rows[RedactionsKey(*GROUP)] == RedactionsRow(t=2, y=2, tt=4, ty=4, yy=4)
    leaks = {key.entity: row for key, row in rows.items() if isinstance(key, LeakKey) and key.leak == "shifted_mask"}
    assert leaks == {"PERSON": (1, 1), "EMAIL_ADDRESS": (1, 1), "PHONE_NUMBER": (1, 1)}


def test_output_that_is_not_the_text_is_unaligned_and_still_searched() -> None:
    """It says nothing of what share is masked, and nothing of redactions; its leak is told."""
    rows = rows_of(PLAN, Redacted("a", TOLD_ANEW))

    assert rows[OutputKey(*GROUP, "both")] == OutputRow(outputs=1, unaligned=1, leaking=1)
    assert RedactionsKey(*GROUP) not in rows
    assert rows[RedactedKey(*GROUP, "PHONE_NUMBER")] == (1, 1, 1, 1)
    assert rows[LeakKey(*GROUP, "PHONE_NUMBER", "survives_elsewhere")] == (1, 1)


def test_output_that_is_the_text_leaves_every_span_untouched() -> None:
    """A redactor that did nothing: nothing is masked, all leaks."""
    rows = rows_of(PLAN, Redacted("a", TEXT))

    assert rows[OutputKey(*GROUP, "both")] == OutputRow(outputs=1, leaking=1, length=len(TEXT))
    assert {key.leak for key in rows if isinstance(key, LeakKey)} == {"untouched"}
    assert RedactionsKey(*GROUP) not in rows


def test_empty_output_is_one() -> None:
    """All of the text was left out: nothing leaks, all is masked."""
    row = OutputRow(*rows_of(PLAN, Redacted("a", ""))[OutputKey(*GROUP, "both")])

    assert row == OutputRow(outputs=1, masked=len(TEXT), length=len(TEXT))


def test_output_of_a_document_without_spans_is_counted() -> None:
    """It has its stratum, and masks nothing."""
    rows = rows_of(PLAN, Redacted("a", TEXT, spans=[]))

    assert rows == {OutputKey(*GROUP, "loose_only"): OutputRow(outputs=1, length=len(TEXT))}


def test_decision_without_an_output_counts_nothing() -> None:
    """No data is no row, and nothing that a label could be compared with."""
    assert rows_of(PLAN, Redacted("a", None)) == {}
    assert drawn_of(PLAN, Redacted("a", None)).coverage is None


def test_check_that_is_switched_off_counts_nothing() -> None:
    """Nobody looked: no row, no coverage; the output itself travels on."""
    off = plan_of(RedactionConfig(check=False))

    assert rows_of(off, Redacted("a", TAIL)) == {}
    assert drawn_of(off, Redacted("a", TAIL)).coverage is None
    assert drawn_of(off, Redacted("a", TAIL)).redacted == TAIL


def test_ignored_entity_is_no_redaction_and_has_no_leak() -> None:
    """Of two redactions none leaks; the ignored entity isn't said to be without leaks either."""
    rows = rows_of(plan_of(IGNORES_PHONES), Redacted("a", TAIL))

    assert OutputRow(*rows[OutputKey(*GROUP, "both")]).leaking == 0
    assert rows[RedactionsKey(*GROUP)] == RedactionsRow(y=2, yy=4)
    assert {key.entity for key in rows if isinstance(key, RedactedKey)} == {"PERSON", "EMAIL_ADDRESS"}


def test_what_the_policy_lets_stay_is_no_leak() -> None:
    """Two digits at either end may stay of a telephone number."""
    rows = rows_of(plan_of(KEEPS_LAST), Redacted("a", TAIL))

    assert OutputRow(*rows[OutputKey(*GROUP, "both")]).leaking == 0
    assert rows[RedactedKey(*GROUP, "PHONE_NUMBER")] == (1, 1, 0, 0)


def test_span_under_the_threshold_is_no_decision_and_leaks_nothing() -> None:
    """The detector didn't flag it, so nobody promised to replace it."""
    unsure = Span(MAIL.start, MAIL.end, MAIL.entity, 0.3)
    rows = rows_of(PLAN, Redacted("a", LEFT, spans=[PERSON, unsure, PHONE]))

    assert OutputRow(*rows[OutputKey(*GROUP, "both")]).leaking == 0
    assert RedactedKey(*GROUP, "EMAIL_ADDRESS") not in rows


def test_leaks_stand_under_the_names_that_the_census_counts() -> None:
    """Aliases are folded; unknown names beyond the limit are counted together, documents and leaks once each."""
    plan = plan_of(entities=Entities({"MAILBOX": "EMAIL_ADDRESS"}), limits=LimitsConfig(max_entities=1))
    spans = [Span(7, 11, "ODD"), Span(12, 22, "ODDER"), Span(29, 51, "mailbox"), Span(57, 71, "ODDEST")]
    rows = rows_of(plan, Redacted("a", TEXT, spans=spans))

    assert {(key.entity, row) for key, row in rows.items() if isinstance(key, RedactedKey)} == {
        ("ODD", (1, 1, 1, 1)),
        ("EMAIL_ADDRESS", (1, 1, 1, 1)),
        (UNLISTED, (1, 2, 1, 2)),
    }
    assert rows[LeakKey(*GROUP, UNLISTED, "untouched")] == (1, 2)


def test_a_producers_own_name_of_an_entity_changes_nothing() -> None:
    """What a value is, is told from the folded name: a person's surname is looked for by itself."""
    own = [Span(7, 22, "FullName"), MAIL, PHONE]
    output = f"{RIGHT} Groeten, Hendriksma"
    text_rows = [rows_of(PLAN, Redacted("a", output, spans=spans)) for spans in (FLAGGED, own)]

    assert text_rows[0] == text_rows[1]
    assert LeakKey(*GROUP, "PERSON", "survives_elsewhere") in text_rows[0]


def test_drawn_document_carries_what_its_output_hides() -> None:
    """What LEDGER needs to compare with people's labels, worked out under the policy in force."""
    found = examine(TEXT, FLAGGED, TAIL, PLAN.policy, PLAN.net)

    expected = coverage_of(TEXT, FLAGGED, TAIL, found, PLAN.policy)
    assert expected == drawn_of(PLAN, Redacted("a", TAIL)).coverage
    kept = drawn_of(plan_of(KEEPS_LAST), Redacted("a", TAIL)).coverage
    assert kept is not None
    assert kept.hidden != expected.hidden


def test_document_too_large_with_its_coverage_goes_out_without() -> None:
    """Recall needs it all the same; its output is counted."""
    words = 10_000
    text = "\x01" * ((LARGEST_BYTES - 56 * words) // 6) + "x " * words
    spans = [{"start": at, "end": at + 1, "entity": "P"} for at in range(len(text) - 2 * words, len(text), 2)]
    value = {"doc_id": "a", "lang": "nl", "text": text, "detector": "d", "version": "1", "spans": spans}
    plan = plan_of(limits=LimitsConfig(max_text_bytes=2 << 20))
    route = Route("decisions", 0, [Change(0, plan)])
    redacted = text.replace("x", "*")
    made = json.dumps({**value, "redacted": redacted}).encode()
    (output,) = route.fold("decisions", [Record(0, FIRST_DAY * DAY_MS, made)], 1)

    drawn = msgspec.json.decode(output.value or b"", type=DrawnRecord)
    assert (output.channel, len(drawn.spans), drawn.redacted, drawn.coverage) == ("sampled", words, None, None)
    assert tally_of(route).rows[RedactedKey(*GROUP, "P")] == (1, words, 0, 0)


def test_new_policy_is_in_force_from_its_offset_on() -> None:
    """The same output leaks before the change and doesn't after it, also where it's read again."""
    changes = [Change(0, PLAN), Change(1, plan_of(KEEPS_LAST)), Change(2, plan_of(RedactionConfig(check=False)))]
    route = Route("decisions", 0, changes)
    route.fold("decisions", records_of([Redacted(str(i), TAIL) for i in range(3)]), 3)

    row = OutputRow(*tally_of(route).rows[OutputKey(*GROUP, "both")])
    assert (row.outputs, row.leaking) == (2, 1)


SPANS = (FLAGGED, (PHONE, PERSON), (), (Span(7, 22, "per", 0.9), Span(7, 11, "per", 0.9), MAIL), (PERSON, MAIL, MAIL))
DOCUMENTS = st.lists(
    st.builds(
        Redacted,
        doc=st.sampled_from("abcdef"),
        output=st.sampled_from(OUTPUTS),
        spans=st.sampled_from(SPANS[:3]),
        version=st.sampled_from("12"),
        at_ms=st.sampled_from([0, 5, DAY_MS]),
    ),
    max_size=20,
).map(lambda documents: sorted(documents, key=lambda one: one.at_ms))
PLANS = (PLAN, plan_of(IGNORES_PHONES), plan_of(KEEPS_LAST))


@settings(max_examples=60, deadline=None)
@given(documents=DOCUMENTS, plan=st.sampled_from(PLANS))
def test_counts_are_what_is_found_one_by_one(documents: list[Redacted], plan: Plan) -> None:
    """Over days and versions, for every policy."""
    assert counted(documents, plan) == rows_of(plan, *documents)


@settings(max_examples=60, deadline=None)
@given(
    documents=DOCUMENTS,
    partitions=st.integers(1, 3),
    cuts=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 6), st.booleans()), max_size=12),
)
def test_partitions_chunks_and_reading_again_change_no_number(
    documents: list[Redacted], partitions: int, cuts: list[tuple[int, int, bool]]
) -> None:
    """Split anyhow, some read twice, opened again from their rows between any two chunks."""
    total = Tally()
    for partition in range(partitions):
        records = records_of(documents[partition::partitions])
        route = Route("decisions", partition, [Change(0, PLAN)])
        table: dict[str, bytes] = {}
        at = 0
        for count, again, crashes in [*cuts, (len(records), 0, False)]:
            route.fold("decisions", records[max(at - again, 0) : at + count], min(at + count, len(records)))
            at = min(at + count, len(records))
            if crashes:
                table |= {key: row for key, row in route.rows().items() if row is not None}
                head = route.head()
                route = Route("decisions", partition, [Change(0, PLAN)], head, table)
                assert head == route.head()
        total.merge(tally_of(route))

    assert rows_of(PLAN, *documents) == leak_rows(total)


@pytest.mark.parametrize("spans", SPANS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_census_of_outputs_does_not_disturb_the_others(output: str | None, spans: Sequence[Span]) -> None:
    """Documents, spans and drawn records are what they are without the check."""
    off = plan_of(RedactionConfig(check=False))
    tallies = []
    for plan in (PLAN, off):
        route = Route("decisions", 0, [Change(0, plan)])
        route.fold("decisions", records_of([Redacted("a", output, spans)]), 1)
        rows = tally_of(route).rows
        tallies.append({key: row for key, row in rows.items() if key not in leak_rows(tally_of(route))})

    assert tallies[0] == tallies[1]
    assert bool(spans) == any(isinstance(key, FlaggedKey) for key in tallies[0])
