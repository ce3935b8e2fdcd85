"""What was in force when: records in any order, plans made again from them, and no key among them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import msgspec
import pytest

from monitor.changes import change_record
from monitor.config import Config, config_id, document_id, read_config, recorded_document
from monitor.errors import StateError
from monitor.fold import Output
from monitor.history import (
    ConfigRecord,
    History,
    Recorded,
    ThinningRecord,
    board_record,
    config_record,
    thinning_output,
)
from monitor.plan import Plan

KEY = "a-key-of-our-own"


def plan(rate: float, key: str = KEY, thinning: float = 1.0) -> Plan:
    """Return a plan by its random rate."""
    net = {"patterns": {"badge": {"regex": "EMP-[0-9]+"}}, "triggers": ["badge"]}
    return Plan(read_config({"sampling": {"random_rate": rate, "key": key}, "net": net}), thinning)


OLD, NEW = plan(0.5), plan(0.25)


def history(*records: Output) -> History:
    """Return what these records say."""
    found = History()
    for record in records:
        found.take(record.key, record.value)
    return found


def test_a_config_comes_back_as_the_plan_that_it_was() -> None:
    """Everything that decides, the net too; the key is the current config's, whose fingerprint is the recorded one."""
    found = history(config_record(OLD, 1.0)).plan(OLD.id, 0.5, NEW)
    assert (found.id, found.thinning, found.net.version) == (OLD.id, 0.5, OLD.net.version)
    assert found.config.sampling == OLD.config.sampling


def test_the_plan_in_force_needs_no_record() -> None:
    """It is itself; under another thinning factor it's made again."""
    empty = History()
    assert empty.plan(NEW.id, 1.0, NEW) is NEW
    thinned = empty.plan(NEW.id, 0.5, NEW)
    assert (thinned.config, thinned.thinning) == (NEW.config, 0.5)


def test_what_is_not_recorded_is_refused() -> None:
    """Nobody guesses a plan."""
    with pytest.raises(StateError, match=f"config {OLD.id} isn't recorded"):
        History().plan(OLD.id, 1.0, NEW)


def test_a_config_of_another_key_is_refused() -> None:
    """Its draws can't be made again without the key, which is never recorded; the message says what to do."""
    with pytest.raises(StateError, match=f"config {OLD.id} was made with another sampling.key: set it back"):
        history(config_record(OLD, 1.0)).plan(OLD.id, 1.0, plan(0.25, "another"))


def recorded(document: Mapping[str, object]) -> tuple[str, Output]:
    """Return the record of a config as a version wrote it that has these settings, and the id that it gave it."""
    identity = document_id(document)
    record = ConfigRecord(1.0, dict(document), OLD.net.version)
    return identity, Output("history", f"config/{identity}".encode(), msgspec.json.encode(record))


def of_old() -> dict[str, dict[str, object]]:
    """Return the document that is recorded of the old config, as JSON has it."""
    document: dict[str, dict[str, object]] = msgspec.json.decode(msgspec.json.encode(recorded_document(OLD.config)))
    return document


def test_a_config_of_an_older_version_comes_back_under_its_own_id() -> None:
    """That version had fewer sections and fewer settings; what it had decides as it did."""
    document = of_old()
    del document["alarm"], document["labels"]["copied_share"]
    document["matching"]["iou"] = 0.75
    identity, record = recorded(document)
    found = history(record).plan(identity, 0.5, NEW)

    assert identity != config_id(found.config)
    assert (found.id, found.thinning, found.iou, found.config.sampling) == (identity, 0.5, 0.75, OLD.config.sampling)
    assert found.config.alarm == Config().alarm


def test_a_setting_that_came_later_changes_no_id() -> None:
    """What an older version recorded is what this one records of the same config."""
    assert "redaction" not in of_old()
    assert recorded(of_old()) == (OLD.id, config_record(OLD, 1.0))


@pytest.mark.parametrize(
    ("section", "setting", "problem"),
    [
        ("labels", {"gone": 1}, "labels.gone: unknown key"),
        ("matching", {"iou": 1.5}, "matching.iou: 1.5: expected a number above 0, at most 1"),
        ("net", {"patterns": {"badge": "("}}, "net.patterns.badge"),
    ],
)
def test_a_config_that_this_version_can_not_read_is_refused(
    section: str, setting: dict[str, object], problem: str
) -> None:
    """A setting that's gone, a value that isn't allowed any more: left out, it would decide otherwise than it did."""
    document = of_old()
    document[section] |= setting
    identity, record = recorded(document)
    said = f"config {identity} was recorded by another version of the product ({problem}"

    with pytest.raises(StateError) as caught:
        history(record).plan(identity, 1.0, NEW)
    assert str(caught.value).startswith(said)


def test_a_record_under_the_id_of_another_is_refused() -> None:
    """The id is over the document: whoever wrote it, that isn't what was decided by."""
    _, record = recorded(of_old() | {"matching": {"iou": 0.9}})

    with pytest.raises(StateError, match=f"config {OLD.id} isn't what is recorded under that id"):
        history(record._replace(key=f"config/{OLD.id}".encode())).plan(OLD.id, 1.0, NEW)


def test_no_record_holds_the_key() -> None:
    """Whoever knows it can tell which documents will be read."""
    assert KEY.encode() not in (config_record(OLD, 1.0).value or b"")


def test_changes_are_told_by_offset_whatever_order_they_came_in() -> None:
    """A compacted topic keeps the last record of each key, anywhere."""
    records = [change_record("d", 1, offset, made, 9.0) for offset, made in ((0, OLD), (20, NEW), (100, OLD))]
    expected = [Recorded(0, OLD.id, 1.0, 9.0), Recorded(20, NEW.id, 1.0, 9.0), Recorded(100, OLD.id, 1.0, 9.0)]
    for order in permutations(records):
        found = history(*order, *order)
        assert found.of("d", 1) == expected
        assert (found.of("d", 2), found.of("e", 1)) == ([], [])


def test_the_last_change_at_an_offset_counts() -> None:
    """Two changes without a record between them are one."""
    found = history(change_record("d", 0, 5, OLD, 1.0), change_record("d", 0, 5, NEW, 2.0))
    assert found.of("d", 0) == [Recorded(5, NEW.id, 1.0, 2.0)]


def test_where_the_board_is() -> None:
    """The last one to say so is it."""
    assert History().board_url == ""
    assert history(board_record("http://a/", 1.0), board_record("http://b/", 2.0)).board_url == "http://b/"


def test_the_last_thinning_factor_counts() -> None:
    """None was ever recorded: it's 1."""
    assert History().thinning is None
    lower = ThinningRecord(0.25, 1.0, "over_capacity", 400.0, 12, 100, 0)
    higher = ThinningRecord(1.0, 2.0, "no_bound", 400.0, 12, 0, 0)
    assert history(thinning_output(higher), thinning_output(lower)).thinning == lower
    assert history(thinning_output(lower), thinning_output(higher)).thinning == higher


@pytest.mark.parametrize("q", [0, -0.5, 1.5, '"half"', "null"])
def test_an_impossible_factor_is_left_out(q: object) -> None:
    """Every worker would end of it: nothing can be kept with chance 0 and stand for anything."""
    held = ThinningRecord(0.5, 1.0, "room", 0.0, 0, 100, 0)
    found = history(thinning_output(held))
    value = (thinning_output(held).value or b"").replace(b"0.5", str(q).encode(), 1)
    found.take(b"thinning", value)
    assert (found.thinning, found.unreadable) == (held, 1)


def test_plans_of_one_config_are_told_apart_by_their_factor() -> None:
    """A change of the factor alone is a change on record, and the plan of then comes back with it."""
    thinned = plan(0.5, thinning=0.25)
    found = history(config_record(OLD, 1.0), change_record("d", 0, 0, OLD, 1.0), change_record("d", 0, 9, thinned, 2.0))
    assert [(c.offset, c.thinning) for c in found.of("d", 0)] == [(0, 1.0), (9, 0.25)]
    again = found.plan(OLD.id, 0.25, NEW)
    assert again.sampler.rates("en", "unflagged") == thinned.sampler.rates("en", "unflagged")
    assert found.plan(OLD.id, 0.25, NEW) is again
    with pytest.raises(StateError, match=r"another sampling\.key"):
        found.plan(OLD.id, 0.25, plan(0.25, "another"))
    assert [c.what for c in found.latest_changes()] == [OLD.id]


def test_what_changed_lately_tells_of_a_config_that_came_back() -> None:
    """Newest first; all partitions' taking up of one is one change, at the first one's time."""
    records = [config_record(OLD, 1.0), config_record(NEW, 10.0)]
    for partition in (0, 1):
        for offset, made, at in ((0, OLD, 1.0), (5, NEW, 10.0), (9, OLD, 20.0)):
            records.append(change_record("d", partition, offset, made, at + partition / 10))
    found = history(*records).latest_changes()
    assert [(c.at, c.kind, c.what) for c in found] == [
        (20.0, "config", OLD.id),
        (10.0, "config", NEW.id),
        (1.0, "config", OLD.id),
    ]
    assert {c.note for c in found} == {f"net {OLD.net.version}"}


def test_only_so_many_changes_are_told() -> None:
    """The newest ones; one whose config isn't recorded has no note."""
    records = [change_record("d", 0, i, (OLD, NEW)[i % 2], float(i)) for i in range(50)]
    assert [(c.at, c.note) for c in history(*records).latest_changes(2)] == [(49.0, ""), (48.0, "")]
    assert History().latest_changes() == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"config/x", b"{"),
        (b"config/x", b"\xff"),
        (b"config/x", b'{"config":' + b"[" * 10_000),
        (b"config/x", b'{"at":1,"config":3,"net":""}'),
        (b"change/d/0/5", b"[]"),
        (b"board", b"{}"),
        (b"\xff", b"{}"),
        (b"other/x", b"{}"),
        (b"", b"{}"),
    ],
)
def test_a_record_of_somebody_elses_is_counted_and_left_out(key: bytes, value: bytes) -> None:
    """The topic may hold what a later version writes."""
    found = history(config_record(OLD, 1.0))
    found.take(key, value)
    assert (found.unreadable, found.board_url, found.changes, list(found.configs)) == (1, "", {}, [OLD.id])


def test_a_null_is_nothing() -> None:
    """Neither a key nor a value alone says anything."""
    found = History()
    found.take(b"board", None)
    found.take(None, b"{}")
    assert (found.unreadable, found.board_url) == (0, "")


def test_equal_trees_are_one_config() -> None:
    """However they were written."""
    assert config_id(read_config({"sampling": {"random_rate": 0.5, "key": KEY}})) == config_id(
        msgspec.structs.replace(Config(), sampling=msgspec.structs.replace(Config().sampling, random_rate=0.5, key=KEY))
    )


def test_two_changes_at_one_offset_are_both_kept_and_the_later_decides() -> None:
    """Where no record came between them nothing was decided under the first; it was in force all the same."""
    found = history(change_record("d", 0, 5, OLD, 1.0), change_record("d", 0, 5, NEW, 2.0))
    assert [c.config for c in found.of("d", 0)] == [NEW.id]
    assert [c.config for c in found.recorded.values()] == [OLD.id, NEW.id]
    assert [c.what for c in found.latest_changes()] == [NEW.id, OLD.id]
