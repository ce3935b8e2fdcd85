"""The README's examples are the product's: what it shows can be sent, and is read as it says."""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from monitor.config import Config, read_config
from monitor.decoding import Limits, decode_decision, decode_label
from monitor.metrics import METRICS
from streams.cli import main
from streams.settings import load_settings

README = Path(__file__).parents[2] / "README.md"


def block(language: str) -> str:
    """Return the README's first block of a language."""
    found = re.search(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_decision_shown_is_a_flawless_one() -> None:
    """Its span is what it says, and nothing has to be salvaged."""
    tree = ast.parse(block("python"))
    shown = next(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "decision"
    )
    decoded = decode_decision(json.dumps(ast.literal_eval(shown)).encode(), Limits())
    assert decoded.quarantined == ()
    span = decoded.record.spans[0]
    assert decoded.record.text[span.start : span.end] == "Anna"


def test_the_label_shown_is_a_flawless_one() -> None:
    """It answers the decision shown above it."""
    label = decode_label(block("json").encode(), Limits())
    text = "Call Anna on 06-24 11 87 03"
    assert [text[s.start : s.end] for s in label.spans] == ["Anna", "06-24 11 87 03"]


def commands() -> list[list[str]]:
    """Return the words of each command line of the product that a console block or a line of prose shows, once."""
    text = README.read_text(encoding="utf-8").replace("\\\n", " ")
    shown = re.findall(r"^\$ (recallwatch .*)$", text, re.MULTILINE) + re.findall(r"`(recallwatch [a-z][^`\n]*)`", text)
    return [shlex.split(line, comments=True)[1:] for line in dict.fromkeys(shown)]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_shown_are_taken(words: list[str]) -> None:
    """Each names a command with options that it has and values that they take; the file of settings stands anywhere."""
    command = main.get_command(click.Context(main), words[0])
    assert command is not None
    with command.make_context(words[0], words[1:]) as context:
        settings = load_settings(None, overrides=context.params.get("overrides", ()), env={}, broker=False)
    assert settings.config.kafka == Config().kafka


def test_settings_named_are_there() -> None:
    """`section.key` in prose is a setting of that section."""
    prose = re.sub(r"```.*?```", "", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    sections = {name: getattr(Config(), name) for name in Config.__struct_fields__}
    named = {
        (section, key)
        for section, key in re.findall(r"`([a-z]+)\.([a-z_]+)(?: = [^`]*)?`", prose)
        if section in sections and key != "py"
    }
    assert len(named) >= 10
    assert sorted(pair for pair in named if not hasattr(sections[pair[0]], pair[1])) == []


def test_targets_shown_are_taken() -> None:
    """Both ways of asking a recall, as they are written."""
    text = README.read_text(encoding="utf-8")
    asked = {"PERSON": 0.95, "PERSON.es": 0.9}
    assert "`PERSON = 0.95`" in text
    assert '`"PERSON.es" = 0.9`' in text
    assert read_config({"targets": asked}).targets == asked


def test_series_named_are_exported() -> None:
    """Each is described in the reference of metrics."""
    named = set(re.findall(r"`(recallwatch_[a-z0-9_]+)`", README.read_text(encoding="utf-8")))
    assert len(named) >= 5
    assert set() == named - {metric.name for metric in METRICS}


def test_plan_without_data_comes_to_what_is_said() -> None:
    """The first command of "How much to label" gives the figures below it."""
    words = next(words for words in commands() if words[:2] == ["plan", "--recall"])
    found = json.loads(CliRunner().invoke(main, [*words, "--json"], catch_exceptions=False).stdout)
    text = README.read_text(encoding="utf-8")
    assert f"{found['occurrences']} true occurrences" in text
    assert f"{found['documents']:,} documents drawn at random" in text
