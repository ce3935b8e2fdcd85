"""What an operator gets wrong is refused with the key's name, what stands there and what is allowed."""

from __future__ import annotations

import re

import msgspec
import pytest

from monitor.config import Config, Sampling, config_id, public_document, read_config
from monitor.errors import ConfigError
from monitor.plan import Plan
from monitor.sampling import Sampler

KEY = "a-key-that-nobody-may-see"

REFUSED: list[tuple[dict[str, object], str, str]] = [
    ({"sampling": {"random_rates": 0.1}}, "sampling.random_rates", "did you mean sampling.random_rate?"),
    ({"smapling": {}}, "smapling", "did you mean sampling?"),
    ({"zzz": 1}, "zzz", "known here: alarm, checkpoint"),
    (
        {"sampling": {"by_language": {"nl": {"losse_rate": 0.1}}}},
        "sampling.by_language.nl.losse_rate",
        "did you mean sampling.by_language.nl.loose_rate?",
    ),
    (
        {"net": {"patterns": {"badge": {"regexp": "x"}}}},
        "net.patterns.badge.regexp",
        "did you mean net.patterns.badge.regex?",
    ),
    (
        {"sampling": {"loose_rate": {"both": 0.3}}},
        "sampling.loose_rate.both",
        "did you mean sampling.loose_rate_by_stratum.both?",
    ),
    ({"sampling": {"loose_rate": {}}}, "sampling.loose_rate", "expected `float`, got `object`"),
    ({"sampling": {"random_rate": 0}}, "sampling.random_rate", "0: expected a number above 0, at most 1"),
    ({"sampling": {"random_rate": 1.5}}, "sampling.random_rate", "1.5: expected a number above 0, at most 1"),
    ({"sampling": {"random_rate": float("nan")}}, "sampling.random_rate", "nan"),
    ({"sampling": {"random_rate": "often"}}, "sampling.random_rate", "'often': expected `float`, got `str`"),
    ({"sampling": {"loose_rate": -0.1}}, "sampling.loose_rate", "-0.1: expected a number from 0 to 1"),
    ({"sampling": {"loose_rate_by_stratum": {"bth": 0.1}}}, "sampling.loose_rate_by_stratum.bth", "allowed: both"),
    (
        {"sampling": {"loose_rate_by_stratum": {"unflagged": 0.1}}},
        "sampling.loose_rate_by_stratum.unflagged",
        "random_rate",
    ),
    ({"sampling": {"loose_rate_by_stratum": {"both": 2}}}, "sampling.loose_rate_by_stratum.both", "from 0 to 1"),
    (
        {"sampling": {"by_language": {"nl": {"loose_rate_by_stratum": {"none": 0.1}}}}},
        "sampling.by_language.nl.loose_rate_by_stratum.none",
        "no such stratum",
    ),
    ({"sampling": {"by_language": {"nl": {}, "NL": {}}}}, "sampling.by_language.NL", "the same language as nl"),
    ({"sampling": {"key": ""}}, "sampling.key", "length >= 1"),
    ({"sampling": 3}, "sampling", "expected `object`, got `int`"),
    ({"targets": {"PERSON.nl": 1.0}}, "targets.PERSON.nl", "1.0: expected a number between 0 and 1, both exclusive"),
    ({"labels": {"copies": 3}}, "labels.copies", "3: expected 1 or 2"),
    ({"labels": {"copied_share": 0}}, "labels.copied_share", "0: expected a number above 0, at most 1"),
    ({"labels": {"capacity_per_day": -1}}, "labels.capacity_per_day", "of at least 0"),
    ({"readings": {"windows_days": [5, 28]}}, "readings.windows_days", "fewer than labels.deadline_days, 7"),
    ({"alarm": {"false_alarms_per_year": 400}}, "alarm.false_alarms_per_year", "fewer false alarms than that"),
    ({"alarm": {"hold": 0}}, "alarm.hold", "0: expected a whole number of at least 1"),
    ({"targets": {"PERSON": 1}}, "targets.PERSON", "between 0 and 1, both exclusive"),
    ({"drift": {"delta": 1}}, "drift.delta", "between 0 and 1, both exclusive"),
    ({"redaction": {"entity": {}}}, "redaction.entity", "did you mean redaction.entities?"),
    ({"redaction": {"entities": {"CARD": {"keep_last": 65}}}}, "redaction.entities.CARD.keep_last", "65: expected"),
    (
        {"redaction": {"entities": {"CARD": {"keep_first": -1}}}},
        "redaction.entities.CARD.keep_first",
        "a whole number from 0 to 64",
    ),
    ({"redaction": {"entities": {"CARD": {"keep_lst": 4}}}}, "redaction.entities.CARD.keep_lst", "CARD.keep_last?"),
    (
        {"redaction": {"entities": {"D": {"keep": ["month"]}}}},
        "redaction.entities.D.keep",
        "allowed: email_domain, year",
    ),
    ({"redaction": {"entities": {"A": {}, "B": {"ignore": 1}}}}, "redaction.entities.B.ignore", "expected `bool`"),
    ({"redaction": {"placeholders": "X"}}, "redaction.placeholders", "'X': expected `array`"),
    ({"labels": {"deadline_days": float("nan")}}, "labels.deadline_days", "nan"),
    ({"limits": {"max_spans": 0}}, "limits.max_spans", "0: expected a whole number of at least 1"),
    ({"limits": {"max_spans": True}}, "limits.max_spans", "got `bool`"),
    ({"matching": {"iou": 0}}, "matching.iou", "above 0, at most 1"),
    ({"readings": {"windows_days": []}}, "readings.windows_days", "length >= 1"),
    ({"readings": {"windows_days": [7, 7]}}, "readings.windows_days", "names a window twice"),
    ({"readings": {"windows_days": [7, 0]}}, "readings.windows_days", "expected a whole number from 1 to 3660"),
    ({"readings": {"windows_days": [10**11]}}, "readings.windows_days", "expected a whole number from 1 to 3660"),
    ({"readings": {"confidence": 1 - 1e-16}}, "readings.confidence", "expected a number from 0.5 to 0.9999"),
    ({"alarm": {"false_alarms_per_year": 1e-320}}, "alarm.false_alarms_per_year", "a number of at least 0.001"),
    ({"alarm": {"period": float("inf")}}, "alarm.period", "inf: expected a number above 0, at most 31536000"),
    ({"checkpoint": {"interval_s": float("inf")}}, "checkpoint.interval_s", "expected a number above 0, at most"),
    ({"topics": {"labels": "decisions"}}, "topics", "'decisions': a topic name is used once"),
    ({"topics": {"labels": "a b"}}, "topics", "'a b'"),
    ({"topics": {"labels": "."}}, "topics", "'.'"),
    ({"topics": {"labels": ".."}}, "topics", "'..'"),
    ({"kafka": {"security": "ssl"}}, "kafka.security", "allowed: plaintext, tls, "),
    ({"http": {"port": 70_000}}, "http.port", "70000: expected a whole number from 0 to 65535"),
]


@pytest.mark.parametrize(("document", "key", "allowed"), REFUSED, ids=[f"{key}" for _, key, _ in REFUSED])
def test_bad_setting_is_refused_by_name(document: dict[str, object], key: str, allowed: str) -> None:
    """The error carries the key; its message names file, key, and value or nearest known key or what is allowed."""
    with pytest.raises(ConfigError, match=re.escape(allowed)) as caught:
        read_config(document, source="my.toml")

    assert key == caught.value.key
    assert str(caught.value).startswith(f"my.toml: {key}: ")


def test_refused_key_is_never_shown() -> None:
    """Whoever reads the message can't tell which documents will be looked at."""
    with pytest.raises(ConfigError) as caught:
        read_config({"sampling": {"key": KEY * 100}})

    assert KEY not in str(caught.value)


def test_empty_document_is_the_default_config() -> None:
    """Nothing has to be set."""
    assert Config() == read_config({})


def test_settings_reach_the_tree() -> None:
    """Tables, tables of tables, and a pattern in either of its spellings."""
    config = read_config(
        {
            "sampling": {"random_rate": 1, "by_language": {"nl": {"loose_rate": 0.5}}},
            "net": {"patterns": {"badge": "K-[0-9]+", "card": {"regex": "[0-9]{16}", "check": "luhn"}}},
            "targets": {"PERSON": 0.9},
        }
    )

    assert (config.sampling.random_rate, config.sampling.by_language["nl"].loose_rate) == (1.0, 0.5)
    assert sorted(config.net.patterns) == ["badge", "card"]


def test_config_id_follows_what_decides_and_nothing_else() -> None:
    """A rate, a target, a policy or the key make another id; a port or the order of a table don't."""
    asked: dict[str, object] = {"targets": {"A": 0.5, "B": 0.6}}
    identity = config_id(read_config(asked))

    assert identity == config_id(read_config({"targets": {"B": 0.6, "A": 0.5}, "http": {"port": 1}}))
    for other in (
        {"targets": {"A": 0.5}},
        {"sampling": {"key": "other"}},
        {"sampling": {"random_rate": 0.5}},
        {"redaction": {"entities": {"A": {"keep_last": 4}}}},
    ):
        assert identity != config_id(read_config(asked | other))


def test_public_document_hides_the_key_and_nothing_else() -> None:
    """What is shown can be read again as a config; the key is a fingerprint that tells two keys apart."""
    config, other = Config(sampling=Sampling(key=KEY)), Config(sampling=Sampling(key=KEY + "!"))

    assert KEY not in msgspec.json.encode(public_document(config)).decode()
    assert public_document(config) != public_document(other)
    shown = read_config(public_document(config))
    assert config == msgspec.structs.replace(shown, sampling=config.sampling)


@pytest.mark.parametrize(("deadline", "days"), [(7, 35), (6.5, 35), (0.25, 29)])
def test_horizon_holds_the_longest_window_and_a_whole_deadline(deadline: float, days: int) -> None:
    """A part of a day counts as one."""
    assert days == read_config({"labels": {"deadline_days": deadline}}).horizon_days


def test_target_is_found_under_any_spelling() -> None:
    """The language's own target wins; entity names are folded, languages have no case."""
    plan = Plan(read_config({"targets": {"person": 0.9, "PER.NL": 0.8}, "net": {"defaults": False}}))

    assert (plan.target("PERSON", "en"), plan.target("PERSON", "nl"), plan.target("URL", "nl")) == (0.9, 0.8, None)


def test_policy_is_found_under_any_spelling() -> None:
    """An entity's name is folded as in targets, by the operator's aliases too; one without a policy keeps nothing."""
    redaction = {"entities": {"card number": {"keep_last": 4}, "Card": {"keep_last": 2}}}
    aliases = {"card number": "CREDIT_CARD", "card": "BADGE"}
    policy = Plan(read_config({"redaction": redaction, "entities": {"aliases": aliases}})).policy

    assert [policy.of(name).keep_last for name in ("CREDIT_CARD", "BADGE", "PERSON")] == [4, 2, 0]


@pytest.mark.parametrize(
    ("redaction", "key"),
    [
        ({"placeholders": ["<X>", "("]}, "redaction.placeholders"),
        ({"placeholders": ["x*"]}, "redaction.placeholders"),
        ({"entities": {"EMAIL": {}, "e-mail": {}}}, "redaction.entities.e-mail"),
    ],
)
def test_policy_that_can_not_be_used_is_refused_by_its_key(redaction: dict[str, object], key: str) -> None:
    """A regex that RE2 doesn't take or that matches nothing at all; two names of one entity."""
    with pytest.raises(ConfigError) as caught:
        Plan(read_config({"redaction": redaction}))

    assert key == caught.value.key


def test_rates_of_a_language_have_no_case() -> None:
    """ROUTE writes languages in lower case; a config may not."""
    sampling = read_config({"sampling": {"by_language": {"NL": {"random_rate": 0.25}}}}).sampling

    assert Sampler(sampling).rates("nl", "unflagged").probability == 0.25


def test_targets_of_one_cell_are_refused_and_the_roll_up_may_have_one() -> None:
    """Names are folded, so two spellings would be two answers to one question."""
    with pytest.raises(ConfigError, match=r"targets\.email_address"):
        Plan(read_config({"targets": {"EMAIL": 0.9, "email_address": 0.8}}))
    assert Plan(read_config({"targets": {"any": 0.5}})).target("any", "any") == 0.5


@pytest.mark.parametrize("name", ["", ".nl", "PERSON.", " .nl", "PERSON. ", "\ufeff"])
def test_a_target_of_nothing_is_refused(name: str) -> None:
    """It would hold nobody to anything, and nobody would see why."""
    with pytest.raises(ConfigError, match=r"write ENTITY or ENTITY\.language") as caught:
        Plan(read_config({"targets": {name: 0.9}}))

    assert f"targets.{name}" == caught.value.key
