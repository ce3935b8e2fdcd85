"""What doesn't fit together is built again from its topics: rows of others, older formats, rot."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from ledger_table import PLAN, TOPICS, Table, drawn, labelled, sums
from traffic import FIRST_DAY

from monitor.errors import StateError
from monitor.ledger import Ledger
from monitor.ledger_rows import FORMAT, document_of, new_row
from monitor.tallies import read_key, read_value
from monitor.tally import DesignKey

DESIGN = DesignKey("nl", "d", "1", "both", 1.0)


def test_old_row_over_a_newer_one_rebuilds_the_partition() -> None:
    """A zombie's write is found by the checksum, and both topics are read again from their start."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b"))
    table.checkpoint()
    stale = table.rows["a"]
    table.take("labels_by_document", labelled("a"))
    table.checkpoint()
    expected = table.everything()
    table.rows["a"] = stale
    table.open()

    assert table.ledger.rebuilt
    assert (table.ledger.position("sampled"), table.ledger.position("labels_by_document")) == (0, 0)
    assert expected == table.everything()
    table.checkpoint()
    assert expected == table.everything()
    assert not table.ledger.rebuilt


@pytest.mark.parametrize("tamper", ["lost", "strange"])
def test_row_that_was_lost_or_is_nobodys_rebuilds_the_partition(tamper: str) -> None:
    """Count and sum cover every row."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b"))
    table.checkpoint()
    if tamper == "lost":
        del table.rows["a"]
    else:
        table.rows["c"] = table.rows["a"]

    assert table.everything().rows[DESIGN] == (2, 0, 0, 2, 0)
    assert table.ledger.rebuilt
    assert {"a", "b"} | ({"c"} & set(table.rows)) == set(table.ledger.rows())


def test_days_are_published_again_until_a_rebuild_has_caught_up() -> None:
    """The board holds on to a higher position; at that position every day comes once more, also after a crash."""
    table = Table()
    table.take("sampled", drawn("a", day=0), drawn("b", day=1), drawn("c", day=1))
    table.checkpoint()
    table.rows.pop("a")
    for until in (1, 2):
        table.open()
        table.read("sampled", until)
        table.ledger.tallies()
        table.checkpoint()
    table.read("sampled")
    last = table.ledger.tallies()

    assert {FIRST_DAY, FIRST_DAY + 1} == {read_key(o.key).day for o in last}
    assert {3} == {read_value(o.value or b"")[0] for o in last}
    table.checkpoint()
    assert table.ledger.tallies() == []


# expiry


@pytest.mark.parametrize(
    "head", [b"", b"\xc1", msgspec.msgpack.encode((FORMAT + 1, None, None, 0, 0, 0, 0, [])), b"\x91\xa1\xff"]
)
def test_head_of_a_later_format_is_a_state_error(head: bytes) -> None:
    """It names the partition, and a way out that loses nothing."""
    with pytest.raises(StateError, match=r"ledger/0.*upgrade.*kafka\.group"):
        Ledger(0, PLAN, TOPICS, head)


def test_table_of_an_older_format_is_built_again() -> None:
    """Both topics are read from their start, the old rows are deleted, and the sums are those of a fresh ledger."""
    table = Table()
    table.append("sampled", drawn("a"), drawn("b"))
    table.append("labels_by_document", labelled("a"))
    expected = table.everything()
    table.head = msgspec.msgpack.encode((1, 2, 1, FIRST_DAY, 0, 3, 77, [(FIRST_DAY, "expired", 5)], 0))
    table.rows = {name: msgspec.msgpack.encode((FIRST_DAY, name)) for name in ("a", "b", "gone")}
    table.open()

    assert table.ledger.rebuilt
    assert (table.ledger.position("sampled"), table.ledger.position("labels_by_document")) == (0, 0)
    assert dict.fromkeys(table.rows) == table.ledger.rows()
    assert expected == table.everything()
    table.checkpoint(head=False)
    assert expected == table.everything()
    assert table.ledger.rebuilt
    table.checkpoint()
    assert {"a", "b"} == set(table.rows)
    assert expected == table.everything()
    assert not table.ledger.rebuilt


def test_days_come_again_until_a_table_of_an_older_format_has_caught_up() -> None:
    """What the older version had published stands at a position that the rebuild has yet to reach."""
    table = Table()
    table.append("sampled", drawn("a", day=0), drawn("b", day=1))
    table.head = msgspec.msgpack.encode((1, 2, None, FIRST_DAY, 0, 0, 0, []))
    table.open()
    table.read("sampled", 1)
    table.ledger.tallies()
    table.checkpoint()
    table.open()
    table.read("sampled")

    assert {FIRST_DAY, FIRST_DAY + 1} == {read_key(o.key).day for o in table.ledger.tallies()}


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("row", [b"", b"\0" * 8 + b"\xc1", msgspec.msgpack.encode((FIRST_DAY, "a"))])
def test_row_that_can_not_be_read_rebuilds_the_partition(row: bytes, head: bool) -> None:  # noqa: FBT001  # a parameter
    """Rot, or an older version's first checkpoint that was cut short before its head."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b"))
    expected = sums(table.ledger)
    table.checkpoint(head=head)
    table.rows["b"] = row
    flow: Counter[tuple[str, ...]] = Counter()
    Ledger(0, PLAN, TOPICS, table.head, table.rows, flow)

    assert flow["rebuilds", "ledger"] == 1
    assert expected == table.everything()
    assert table.ledger.rebuilt
    table.checkpoint()
    assert expected == table.everything()
    assert not table.ledger.rebuilt


def test_damaged_row_that_still_decodes_rebuilds_the_partition() -> None:
    """A text that nobody has drawn stands in no row that a ledger wrote."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b"))
    expected = sums(table.ledger)
    table.checkpoint()
    document = document_of(table.rows["b"])
    document.texts[0].drawn.clear()
    table.rows["b"] = new_row(document)
    table.open()

    assert table.ledger.rebuilt
    assert expected == table.everything()
