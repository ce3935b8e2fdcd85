"""Settings that came later: out of a config's document at their first value, back in a document that lacks them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.added_settings import ADDED, filled_in, left_out
from monitor.config import Config, config_id, deciding_document, read_config, recorded_document

LATER: dict[str, object] = {"redaction": {"style": "mask"}, "redaction.depth": 1, "entities.*.checks": (2, 3)}


@pytest.mark.parametrize(
    ("whole", "left"),
    [
        ({"redaction": {"style": "mask", "depth": 1}}, {}),
        ({"redaction": {"style": "mask", "depth": 2}}, {"redaction": {"style": "mask", "depth": 2}}),
        ({"redaction": {"style": "hash", "depth": 1}}, {"redaction": {"style": "hash"}}),
        ({"redaction": {"style": "mask", "depth": True}}, {}),
        (
            {"entities": {"A": {"checks": (2, 3)}, "B": {"checks": (2,), "n": 0}}},
            {"entities": {"A": {}, "B": {"checks": (2,), "n": 0}}},
        ),
        ({"entities": {}, "other": 1}, {"entities": {}, "other": 1}),
    ],
)
def test_what_has_its_first_value_is_left_out(whole: dict[str, object], left: dict[str, object]) -> None:
    """In a section that came later itself, and in every table of a table."""
    assert left == left_out(whole, LATER)


@given(
    style=st.sampled_from(["mask", "hash"]),
    depth=st.integers(0, 2),
    checks=st.dictionaries(st.text(), st.sampled_from([(2, 3), (4,)])),
)
def test_what_was_left_out_comes_back(style: str, depth: int, checks: dict[str, tuple[int, ...]]) -> None:
    """As it was, to the last setting; and what is given stays as it is."""
    entities = {name: {"checks": value} for name, value in checks.items()}
    whole = {"redaction": {"style": style, "depth": depth}, "entities": entities}
    again = filled_in(left_out(whole, LATER), LATER)

    assert again == whole
    assert whole == {"redaction": {"style": style, "depth": depth}, "entities": entities}


def test_first_values_are_nobodys_to_change() -> None:
    """A document that was filled in shares nothing with the table."""
    first: dict[str, object] = {"redaction": {"names": []}}
    found = filled_in({}, first)["redaction"]
    assert isinstance(found, dict)
    found["names"].append("x")

    assert filled_in({}, first) == {"redaction": {"names": []}}


def test_default_config_is_recorded_without_what_came_later() -> None:
    """So that every version knows it by this id. A setting more goes into `ADDED`, and the id stays as it is."""
    default = Config()

    assert config_id(default) == "4d93fd27"
    assert recorded_document(default) == left_out(deciding_document(default), {path: ADDED[path] for path in ADDED})
    assert filled_in(recorded_document(default)) == deciding_document(default)
    assert all(path not in recorded_document(default) for path in ADDED)


def test_added_setting_that_is_used_makes_another_id() -> None:
    """It decides otherwise."""
    used = read_config({"redaction": {"entities": {"PHONE": {"keep_last": 2}}}})

    assert config_id(used) != config_id(Config())
    assert "redaction" in recorded_document(used)
