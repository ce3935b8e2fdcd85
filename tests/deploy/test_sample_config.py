"""deploy/recallwatch.toml is the reference: complete, true to the defaults, and good as it stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from monitor.config import Config, LanguageRates, PatternConfig, read_config
from monitor.leaks.policy import EntityPolicy
from monitor.plan import Plan
from streams.settings import load_settings

SAMPLE = Path(__file__).parents[2] / "deploy" / "recallwatch.toml"
TEXT = SAMPLE.read_text(encoding="utf-8")
# A "#" before anything but a space switches a setting off.
SWITCHED_ON = re.sub(r"(?m)^#(?=\S)", "", TEXT)


def leaves(section: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield each key of a section with its type, those of the sections inside it too."""
    for name, kind in get_type_hints(section, include_extras=True).items():
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield from leaves(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", kind


LEAVES = dict(leaves(Config))


def value_at(document: Mapping[str, object], key: str) -> object:
    """Return what stands at a dotted key; KeyError where nothing does."""
    value: object = document
    for part in key.split("."):
        if not isinstance(value, Mapping):
            raise KeyError(key)
        value = value[part]
    return value


def metas(kind: object) -> Iterator[msgspec.Meta]:
    """Yield the constraints of a number inside a type, however deep it stands."""
    if get_origin(kind) is Annotated:
        yield from (part for part in get_args(kind)[1:] if isinstance(part, msgspec.Meta))
    if get_origin(kind) in {Annotated, Union, UnionType, tuple, dict}:
        for part in get_args(kind):
            yield from metas(part)


def written_range(meta: msgspec.Meta) -> str:
    """Return a range as the sample writes it; empty where the type has none."""
    lower, upper = (meta.ge if meta.gt is None else meta.gt), (meta.le if meta.lt is None else meta.lt)
    if lower is None:
        return ""
    if upper is None:
        return f">= {lower}" if meta.gt is None else f"> {lower}"
    return f"{'[' if meta.gt is None else '('}{lower}, {upper}{']' if meta.lt is None else ')'}"


def allowed(kind: object) -> list[str]:
    """Return what the comment above a key of this type must say about its values."""
    if get_origin(kind) is Literal:
        return [f'"{choice}"' for choice in get_args(kind)]
    if kind is bool:
        return ["true or false"]
    return [text for meta in metas(kind) if (text := written_range(meta))]


def comment_above(key: str) -> str:
    """Return the comment that stands above a setting or, where it is a table, above its header."""
    name = key.rpartition(".")[2]
    section = key.rpartition(".")[0]
    body = TEXT.partition(f"[{section}]\n")[2]
    found = re.search(rf"((?:^# .*\n)+)(?:^\w+ = .*\n)*?^{name} = ", body, re.MULTILINE)
    if isinstance(value_at(tomllib.loads(TEXT), key), Mapping):
        found = re.search(rf"((?:^# .*\n)+)\[{re.escape(key)}\]", TEXT, re.MULTILINE)
    assert found is not None, f"no comment above {key}"
    return re.sub(r"\n# ", " ", found.group(1))


def test_sample_as_it_stands_equals_the_defaults() -> None:
    """Whoever starts from the sample starts from the defaults."""
    assert read_config(tomllib.loads(TEXT)) == Config()


def test_sample_is_loaded_as_an_operators_file_is() -> None:
    """The file goes through the same door as anybody's."""
    assert load_settings(SAMPLE).config == Config()


@pytest.mark.parametrize("key", LEAVES)
def test_every_key_stands_in_the_sample(key: str) -> None:
    """A setting that isn't in the reference can't be found."""
    value_at(tomllib.loads(TEXT), key)


def test_sample_holds_each_key_once_and_no_other() -> None:
    """The sample's own keys are the tree's, tables of free names left out."""

    def keys(document: Mapping[str, object], prefix: str = "") -> Iterator[str]:
        for name, value in document.items():
            if isinstance(value, Mapping) and f"{prefix}{name}" not in LEAVES:
                yield from keys(value, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}"

    assert sorted(LEAVES) == sorted(keys(tomllib.loads(TEXT)))


@pytest.mark.parametrize("key", [key for key, kind in LEAVES.items() if allowed(kind)])
def test_comment_above_a_key_names_what_is_allowed(key: str) -> None:
    """A range in the reference is the range in the type."""
    comment = comment_above(key)
    assert [text for text in allowed(LEAVES[key]) if text not in comment] == []


def test_settings_that_are_switched_off_are_good_ones() -> None:
    """Taking away a "#" gives a config that a worker starts with."""
    config = read_config(tomllib.loads(SWITCHED_ON))
    plan = Plan(config)
    assert config != Config()
    assert plan.net.names("EMP-123456") == ["employee_number"]


def test_examples_show_every_key_of_a_table_of_free_names() -> None:
    """Rates of a language, patterns with a check and what may stay of an entity have keys of their own."""
    document = tomllib.loads(SWITCHED_ON)
    rates = value_at(document, "sampling.by_language.es")
    pattern = value_at(document, "net.patterns.loyalty_card")
    assert isinstance(rates, Mapping)
    assert isinstance(pattern, Mapping)
    assert set(get_type_hints(LanguageRates)) == set(rates)
    assert set(get_type_hints(PatternConfig)) == set(pattern)
    policies = value_at(document, "redaction.entities")
    assert isinstance(policies, Mapping)
    assert set(get_type_hints(EntityPolicy)) == {key for policy in policies.values() for key in policy}


def test_comment_above_the_entities_names_what_is_allowed() -> None:
    """Their keys stand in tables of free names, and have ranges all the same."""
    comment = comment_above("redaction.entities")
    kinds = get_type_hints(EntityPolicy, include_extras=True)
    said = [text for kind in kinds.values() for part in (kind, *get_args(kind)) for text in allowed(part)]
    assert {"[0, 64]", '"year"', "true or false"} <= set(said)
    assert [text for text in said if text not in comment] == []
    assert [key for key in kinds if f"{key}: " not in comment and f"{key}, " not in comment] == []
