"""What topics must be, and which differences of an existing one are refused."""

from __future__ import annotations

import pytest

from monitor.fold import Channel
from streams.declare import Found, differences
from streams.topics import DAY_MS, Layout, TopicSpec, topic_specs

NAMES: dict[Channel, str] = {
    "decisions": "decisions",
    "sampled": "sampled",
    "annotation_tasks": "tasks",
    "labels": "labels",
    "labels_by_document": "by-document",
    "dead_letters": "dead",
    "tallies": "tallies",
    "history": "history",
}
LAYOUT = Layout(decisions_partitions=12, sampled_partitions=6, labels_partitions=3, retention_ms=40 * DAY_MS)
SPECS = {
    spec.name: spec
    for spec in topic_specs(NAMES, LAYOUT, group="g", tables={"route": "decisions", "ledger": "sampled"})
}


def test_what_one_worker_must_get_together_has_equal_counts() -> None:
    """`sampled`, the re-keyed labels and the ledger's changelog share a count; so do decisions and ROUTE's."""
    ledger = {SPECS[name].partitions for name in ("sampled", "by-document", "g-ledger-changelog")}
    assert ledger == {6}
    assert SPECS["g-route-changelog"].partitions == SPECS["decisions"].partitions == 12


def test_the_boards_topics_have_one_partition_and_are_compacted() -> None:
    """Whoever owns the one partition is the board."""
    for name in ("tallies", "history"):
        assert SPECS[name].partitions == 1
        assert SPECS[name].settings["cleanup.policy"] == "compact"


def test_a_changelog_is_only_compacted() -> None:
    """A changelog that deletes by age would forget positions."""
    assert SPECS["g-ledger-changelog"].settings["cleanup.policy"] == "compact"
    assert SPECS["g-ledger-changelog"].settings["segment.ms"] == "3600000"


def test_what_the_ledger_is_rebuilt_from_is_kept_for_window_and_deadline() -> None:
    """`sampled` and both label topics outlive the longest window."""
    kept = {SPECS[name].settings["retention.ms"] for name in ("sampled", "labels", "by-document")}
    assert kept == {str(40 * DAY_MS)}


def found(name: str, **changed: str) -> Found:
    """Return a topic as specified, with some settings changed."""
    spec = SPECS[name]
    return Found(spec.partitions, 1, {**spec.settings, **{k.replace("_", "."): v for k, v in changed.items()}})


def test_a_topic_as_specified_has_no_difference() -> None:
    """Every spec is met by itself."""
    assert [d for name, spec in SPECS.items() for d in differences(spec, found(name))] == []


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("sampled", "retention_ms", "1000"),
        ("sampled", "cleanup_policy", "compact"),
        ("g-ledger-changelog", "cleanup_policy", "compact,delete"),
        ("tallies", "segment_ms", str(7 * DAY_MS)),
        ("tallies", "min_cleanable_dirty_ratio", "0.5"),
        ("by-document", "max_message_bytes", "1000"),
        ("decisions", "cleanup_policy", "compact"),
    ],
)
def test_a_difference_names_topic_setting_found_and_wanted(name: str, setting: str, value: str) -> None:
    """One line says all that the operator needs."""
    (difference,) = differences(SPECS[name], found(name, **{setting: value}))
    assert (difference.topic, difference.setting, difference.found) == (name, setting.replace("_", "."), value)
    assert difference.wanted.endswith(SPECS[name].settings[difference.setting])


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("sampled", "retention_ms", "-1"),
        ("sampled", "retention_ms", str(400 * DAY_MS)),
        ("tallies", "segment_ms", "60000"),
        ("decisions", "retention_ms", "1000"),
        ("decisions", "max_message_bytes", "1000"),
        ("labels", "retention_ms", "1000"),
    ],
)
def test_stricter_settings_and_those_of_others_topics_are_no_difference(name: str, setting: str, value: str) -> None:
    """Longer retention is the operator's right; `decisions` and `labels` are the producer's and the tool's."""
    assert differences(SPECS[name], found(name, **{setting: value})) == []


def test_another_partition_count_is_refused_for_others_topics_too() -> None:
    """The changelog would no longer match."""
    (difference,) = differences(SPECS["decisions"], Found(5, 1, {}))
    assert str(difference) == "topic decisions: partitions is 5, wanted 12"


def test_fewer_replicas_than_wanted_are_refused() -> None:
    """A state with one copy is lost with its disk."""
    spec = TopicSpec(name="x", partitions=1, replication=3)
    (difference,) = differences(spec, Found(1, 1, {}))
    assert (difference.setting, difference.found, difference.wanted) == ("replication", "1", "at least 3")
