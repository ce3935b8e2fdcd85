"""The rules in force: those that workers recorded last, whatever the reader's own settings say."""

from __future__ import annotations

import msgspec
import pytest

from monitor.changes import change_record
from monitor.config import Alarm, Config, Kafka, Readings, Sampling, config_id, deciding_document, key_fingerprint
from monitor.errors import StateError
from monitor.history import History, config_record
from monitor.in_force import own_rules, read_in_force
from monitor.plan import Plan

BOARD = Config(
    sampling=Sampling(random_rate=0.1, key="the board's"),
    targets={"EMAIL_ADDRESS": 0.8},
    readings=Readings(windows_days=(14,)),
    alarm=Alarm(period=5.0),
)
READER = Config(kafka=Kafka(brokers="elsewhere:1"), targets={"IBAN": 0.5})


def history_of(*configs: Config) -> History:
    """Return a history in which configs were taken into use one after the other, each again by a second partition."""
    history = History()
    for at, config in enumerate(configs):
        plan = Plan(config)
        changes = [change_record("decisions", partition, at, plan, at + partition / 4) for partition in (1, 0)]
        for output in (config_record(plan, at), *changes):
            history.take(output.key, output.value)
    return history


def test_all_that_decides_is_the_recorded_config_s() -> None:
    """Targets, windows, periods, rates; the broker is the reader's."""
    rules = read_in_force(history_of(READER, BOARD), READER)
    assert (rules.plan.id, rules.recorded) == (config_id(BOARD), True)
    assert rules.plan.target("EMAIL_ADDRESS", "en") == 0.8
    assert rules.plan.target("IBAN", "en") is None
    assert (rules.config.alarm.period, rules.config.readings.windows_days) == (5.0, (14,))
    assert (rules.config.sampling.random_rate, rules.config.kafka.brokers) == (0.1, "elsewhere:1")


def test_it_is_told_as_it_was_recorded() -> None:
    """The same document as the board's own, the fingerprint of its key among it."""
    rules = read_in_force(history_of(BOARD), READER)
    assert dict(rules.settings) == deciding_document(BOARD)
    assert rules.settings["sampling"] == {**msgspec.to_builtins(BOARD.sampling), "key": key_fingerprint(BOARD)}


def test_the_last_one_taken_into_use_counts() -> None:
    """One that came back too, though it was recorded before the other."""
    assert read_in_force(history_of(BOARD, READER, BOARD), READER).plan.id == config_id(BOARD)
    assert read_in_force(history_of(BOARD, READER), BOARD).plan.id == config_id(READER)


def test_without_a_record_it_is_the_reader_s_own_and_says_so() -> None:
    """Nobody can know what the board was made by."""
    rules = read_in_force(History(), READER)
    assert (rules.plan.id, rules.recorded) == (config_id(READER), False)


def test_a_config_that_can_not_be_read_is_refused() -> None:
    """Not there, another one under its id, or with a setting of another version."""
    history = history_of(BOARD)
    kept = history.configs.pop(config_id(BOARD))
    with pytest.raises(StateError, match=f"config {config_id(BOARD)} is in force, and isn't recorded"):
        read_in_force(history, READER)
    history.configs[config_id(BOARD)] = msgspec.structs.replace(kept, config={**kept.config, "targets": {}})
    with pytest.raises(StateError, match="isn't recorded under that id"):
        read_in_force(history, READER)


def test_what_is_otherwise_is_named_by_section() -> None:
    """A key alone is no other way to read: the reader needs none."""
    rules = read_in_force(history_of(BOARD), READER)
    assert rules.differing(READER) == ["sampling", "targets", "readings", "alarm"]
    keyless = msgspec.structs.replace(BOARD, sampling=Sampling(random_rate=0.1))
    assert rules.differing(keyless) == []
    assert own_rules(READER).differing(READER) == []
