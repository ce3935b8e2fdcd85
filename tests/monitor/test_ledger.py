"""Rows, checksum and tallies stay in step through crashes, zombies, expiry and changes of plan."""

from __future__ import annotations

import msgspec
import pytest
from ledger_table import PLAN, Table, drawn, labelled, sums
from traffic import CONFIG, FIRST_DAY

from monitor.config import Entities, LimitsConfig, Matching
from monitor.fold import Channel
from monitor.plan import Plan
from monitor.records import DeadLetter, Span, Task
from monitor.tallies import read_key
from monitor.tally import CellKey, CountKey, DesignKey

DESIGN = DesignKey("nl", "d", "1", "both", 1.0)


def test_document_is_asked_about_once_and_joined_to_its_label() -> None:
    """The task goes out keyed by document; drawn again, it's counted and not asked about again."""
    table = Table()
    (task,) = table.take("sampled", drawn(origin=(0, 1)), drawn(origin=(0, 2)))
    table.take("labels_by_document", labelled(), day=1)
    total = sums(table.ledger)

    assert (task.channel, task.key) == ("annotation_tasks", b"a")
    assert msgspec.json.decode(task.value or b"", type=Task).doc_id == "a"
    assert total.rows[DESIGN] == (1, 1, 0, 0, 0)
    assert total.rows[CountKey("documents", "repeat")] == (1,)


def test_late_label_reaches_the_day_and_version_of_its_decision() -> None:
    """DEL-3: attributed to when it was drawn, not to when it was labelled."""
    table = Table()
    table.take("sampled", drawn(day=0))
    table.take("labels_by_document", labelled(), day=20)

    assert [read_key(o.key).day for o in table.ledger.tallies()] == [FIRST_DAY]
    assert sums(table.ledger).rows[CountKey("labels", "late")] == (1,)


@pytest.mark.parametrize("value", [b"", b"{}", b"nope", b"[" * 10_000, drawn(probability=2.0)])
def test_unreadable_drawn_document_is_a_dead_letter(value: bytes) -> None:
    """Somebody else wrote to our topic; its neighbours go on."""
    table = Table()
    outputs = table.take("sampled", drawn("a"), value, drawn("b"))
    (letter,) = [msgspec.json.decode(o.value or b"", type=DeadLetter) for o in outputs if o.channel == "dead_letters"]

    assert (letter.topic, letter.offset) == ("sampled", 1)
    table.checkpoint()
    total = table.everything()
    assert total.rows[DESIGN] == (2, 0, 0, 2, 0)
    assert total.rows[CountKey("dead_letters", "sampled/not_json")] == (1,)


def test_label_that_the_text_can_not_have_is_a_dead_letter_and_counted_once() -> None:
    """Beyond the text: a dead letter with the span's place; read again after a crash it's not counted again."""
    table = Table()
    table.take("sampled", drawn())
    (letter,) = table.take("labels_by_document", labelled(spans=[Span(0, 99, "X")]))
    table.checkpoint(head=False)
    total = table.everything()

    assert msgspec.json.decode(letter.value or b"", type=DeadLetter).where == "$.spans[0].end"
    assert total.rows[CountKey("dead_letters", "labels_by_document/bad_span")] == (1,)
    assert total.rows[CountKey("labels", "rejected")] == (1,)


# crashes


def test_rows_ahead_of_the_head_are_taken_as_they_are() -> None:
    """Crash between rows and head: what is read again changes nothing, and no rebuild is needed, ever again."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b"))
    table.checkpoint()
    table.take("labels_by_document", labelled("a"))
    table.take("sampled", drawn("c"))
    expected = sums(table.ledger)
    table.checkpoint(head=False)
    total = table.everything()
    table.checkpoint()

    assert expected == total
    assert expected == table.everything()
    assert not table.ledger.rebuilt


def test_row_stays_ahead_until_a_head_has_read_past_it() -> None:
    """A second checkpoint half way through what is read again, and a third crash right after it."""
    table = Table()
    table.take("sampled", *[drawn(name) for name in "abcd"])
    table.take("labels_by_document", labelled("d"))
    expected = sums(table.ledger)
    table.checkpoint(head=False)
    for until in (1, 2, 3):
        table.open()
        table.read("sampled", until)
        table.checkpoint()
        assert not table.ledger.rebuilt

    assert expected == table.everything()
    assert not table.ledger.rebuilt


def test_row_ahead_that_changes_again_keeps_its_cover() -> None:
    """Ahead in one topic and changed by the other, written, and crashed upon with and without a head."""
    for head in (True, False):
        table = Table()
        table.append("sampled", drawn("a"), drawn("b"))
        table.append("labels_by_document", labelled("b"))
        table.read("sampled")
        table.checkpoint(head=False)
        table.open()
        table.read("labels_by_document")
        table.checkpoint(head=head)
        total = table.everything()

        assert not table.ledger.rebuilt
        assert total.rows[DESIGN] == (2, 1, 0, 1, 0)


def test_first_checkpoint_that_was_cut_short_needs_no_rebuild() -> None:
    """Rows without any head are ahead of nothing at all."""
    table = Table()
    table.take("sampled", drawn("a"))
    expected = sums(table.ledger)
    table.checkpoint(head=False)

    assert expected == table.everything()
    assert not table.ledger.rebuilt


def test_row_expires_with_the_window_and_is_deleted_after_the_head() -> None:
    """It leaves the checksum with the head that names the new limit; a crash at any of the steps costs nothing."""
    table = Table()
    table.take("sampled", drawn("old", day=0))
    table.checkpoint()
    table.take("sampled", drawn("new", day=PLAN.horizon_days + 1))
    table.checkpoint()
    kept = set(table.rows)
    total = table.everything()
    table.checkpoint()

    assert ({"old", "new"}, {"new"}) == (kept, set(table.rows))
    assert total.rows[DESIGN] == (1, 0, 0, 1, 0)
    table.open()
    assert not table.ledger.rebuilt


@pytest.mark.parametrize("head", [True, False])
def test_expired_document_that_is_drawn_again_is_a_new_one(head: bool) -> None:  # noqa: FBT001  # a parameter
    """It expired and came back between two checkpoints, and the worker died with or without a head."""
    table = Table()
    table.take("sampled", drawn("a", day=0))
    table.take("labels_by_document", labelled("a"))
    table.checkpoint()
    later = PLAN.horizon_days + 1
    tasks = table.take("sampled", drawn("b", day=later), drawn("a", day=later))
    table.checkpoint(head=head)
    total = table.everything()

    assert len(tasks) == 2
    assert total.rows[DESIGN] == (2, 0, 0, 2, 0)
    assert not table.ledger.rebuilt


def test_document_of_a_partition_far_behind_is_let_go() -> None:
    """Drawn so long ago that no window reaches it: no task, no row, and the checksum still comes out."""
    table = Table()
    outputs = table.take("sampled", drawn("new", day=PLAN.horizon_days + 1), drawn("old", day=0))
    table.checkpoint()
    total = table.everything()

    assert len(outputs) == 1
    assert total.rows[DESIGN] == (1, 0, 0, 1, 0)
    assert not table.ledger.rebuilt


def test_dropped_day_is_taken_off_the_topic_and_stays_off() -> None:
    """A document of an old and a newer day keeps its row, and its old day isn't published again after a restart."""
    table = Table()
    table.take("sampled", drawn("a", day=0), drawn("a", day=30, version="2"))
    table.checkpoint()
    table.take("sampled", drawn("b", day=PLAN.horizon_days + 1))
    assert (FIRST_DAY, None) in [(read_key(o.key).day, o.value) for o in table.ledger.tallies()]
    table.checkpoint()
    table.open()

    assert [30, PLAN.horizon_days + 1] == [read_key(o.key).day - FIRST_DAY for o in table.ledger.tallies()]
    assert not table.ledger.rebuilt


# plans and formats


def test_changed_aliases_and_overlap_change_what_rows_add_up_to() -> None:
    """Nothing is read again; days whose sums moved are published."""
    table = Table()
    table.take("sampled", drawn(spans=[Span(0, 4, "PERSON")]))
    table.take("labels_by_document", labelled(spans=[Span(0, 6, "WHO")]))
    cell = CellKey("nl", "d", "1", "both", 1.0, "PERSON", "matched")
    before = sums(table.ledger)
    table.ledger.settle()
    table.ledger.adopt(Plan(msgspec.structs.replace(CONFIG, entities=Entities({"who": "PERSON"}))))
    folded = sums(table.ledger)
    table.ledger.adopt(
        Plan(msgspec.structs.replace(CONFIG, entities=Entities({"who": "PERSON"}), matching=Matching(0.9)))
    )

    assert (
        before.rows.get(cell),
        folded.rows[cell][3],
        sums(table.ledger).rows[cell][3],
    ) == (None, 1, 0)


def test_oldest_open_task_is_published_by_language() -> None:
    """It moves on when the task is answered, and is gone with the last one."""
    table = Table()
    table.take("sampled", drawn("b", sampled_at=FIRST_DAY * 86_400.0 + 60), drawn("a"))
    assert sums(table.ledger).oldest == {"nl": FIRST_DAY * 86_400.0}
    table.take("labels_by_document", labelled("a"))
    assert sums(table.ledger).oldest == {"nl": FIRST_DAY * 86_400.0 + 60}
    table.take("labels_by_document", labelled("b", status="skipped"))

    assert sums(table.ledger).oldest == {}


def test_records_below_the_position_are_skipped() -> None:
    """Twice in a chunk, or in a chunk that was delivered again."""
    table = Table()
    table.append("sampled", drawn("a"), drawn("b"))
    a, b = table.logs["sampled"]
    outputs = table.ledger.fold("sampled", [a, b, a, b], 2)

    assert len(outputs) == 2
    assert table.ledger.fold("sampled", [a], 1) == []
    assert table.ledger.position("sampled") == 2


def test_limits_of_the_plan_hold_for_labels() -> None:
    """A label with more spans than allowed is a dead letter, counted once through a crash."""
    table = Table(Plan(msgspec.structs.replace(CONFIG, limits=LimitsConfig(max_spans=1))))
    outputs = table.take("labels_by_document", labelled(spans=[Span(0, 1, "X"), Span(1, 2, "X")]))
    table.checkpoint(head=False)

    assert [o.channel for o in outputs] == ["dead_letters"]
    assert table.everything().rows[CountKey("dead_letters", "labels_by_document/too_many_spans")] == (1,)


def test_changed_aliases_mean_detected_and_labelled_names_alike() -> None:
    """Added, taken away or pointed elsewhere while the worker runs: a hit stays a hit."""
    table = Table()
    table.take("sampled", drawn(spans=[Span(0, 4, "US_SSN")]))
    table.take("labels_by_document", labelled(spans=[Span(0, 4, "US_SSN")]))
    for aliases in ({"US_SSN": "ID"}, {"US_SSN": "NUMBER"}, {}):
        table.ledger.adopt(Plan(msgspec.structs.replace(CONFIG, entities=Entities(aliases))))
        rows = sums(table.ledger).rows
        found = {key.entity: row[3:5] for key, row in rows.items() if isinstance(key, CellKey)}
        assert found == {aliases.get("US_SSN", "US_SSN"): (1, 1), "any": (1, 1)}


def test_names_that_annotators_make_up_are_capped() -> None:
    """Beyond the limit unknown names count as one, and taking them away again leaves nothing behind."""
    table = Table(Plan(msgspec.structs.replace(CONFIG, limits=LimitsConfig(max_entities=2))))
    table.take("sampled", *[drawn(str(i)) for i in range(4)])
    table.take("labels_by_document", *[labelled(str(i), spans=[Span(0, 4, f"MADE_UP_{i}")]) for i in range(4)])
    named = {key.entity for key in sums(table.ledger).rows if isinstance(key, CellKey)}
    table.take("labels_by_document", *[labelled(str(i), revision=1, spans=[]) for i in range(4)])

    assert named == {"MADE_UP_0", "MADE_UP_1", "UNLISTED", "any"}
    assert not [key for key in sums(table.ledger).rows if isinstance(key, CellKey)]


def test_checksum_comes_out_however_rows_change_between_heads() -> None:
    """New, changed twice, changed back, expired and drawn again, with and without a checkpoint in between."""
    for pauses in range(16):
        table = Table()
        steps: list[tuple[Channel, bytes, int]] = [
            ("sampled", drawn("a"), 0),
            ("labels_by_document", labelled("a"), 0),
            ("labels_by_document", labelled("a", revision=1, spans=[]), 0),
            ("sampled", drawn("b", day=PLAN.horizon_days + 1), PLAN.horizon_days + 1),
            ("sampled", drawn("a", day=PLAN.horizon_days + 1), PLAN.horizon_days + 1),
        ]
        for number, (channel, value, day) in enumerate(steps):
            table.take(channel, value, day=day)
            if pauses >> number & 1:
                table.checkpoint()
        table.checkpoint()
        total = table.everything()

        assert not table.ledger.rebuilt
        assert total.rows[DESIGN] == (2, 0, 0, 2, 0)


def test_rows_of_ledger_and_table_are_the_same_bytes() -> None:
    """A worker holds each once, after a checkpoint and after a restart."""
    table = Table()
    table.take("sampled", drawn("a"))
    written = table.ledger.rows()["a"]
    table.checkpoint()

    assert table.rows["a"] == written
    assert table.ledger.rows() == {}


def test_opening_adds_up_alike_in_any_order_of_rows() -> None:
    """A detector's unknown name is kept apart where a later row's label names it, also beside a label of the rest."""
    table = Table()
    table.take("sampled", drawn("a", spans=[Span(0, 4, "WIDGET")]), drawn("b"))
    table.take(
        "labels_by_document",
        labelled("a", spans=[Span(0, 4, "UNLISTED")]),
        labelled("b", spans=[Span(0, 4, "WIDGET")]),
    )
    table.checkpoint()
    forwards = sums(table.open())
    table.rows = dict(reversed(table.rows.items()))

    assert forwards == sums(table.open())
