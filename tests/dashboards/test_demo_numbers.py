"""The demo's numbers: laid over those that are shipped, nothing but what differs, and rules can be made of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from prometheus import DEMO

from dashboards.__main__ import main
from dashboards.alerts import every_alert
from dashboards.settings import FILE, read_settings
from monitor.errors import ConfigError


def run(command: str, folder: Path, *over: Path) -> Result:
    """Run one command of the generator on a folder, with files laid over its numbers."""
    options = [part for path in over for part in ("--over", str(path))]
    return CliRunner().invoke(main, [command, "--folder", str(folder), *options])


def leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield every value of a document by its key."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def test_the_demos_numbers_are_all_others_than_those_shipped() -> None:
    """A number that is the same, or that none of those shipped is, stands there for nothing."""
    shipped, demo = (dict(leaves(tomllib.loads(path.read_text(encoding="utf-8")))) for path in (FILE, DEMO))
    assert demo.keys() - shipped.keys() == set()
    assert [key for key, value in demo.items() if shipped[key] == value] == []


def test_rules_are_built_with_what_is_laid_over_and_the_rest_as_shipped(tmp_path: Path) -> None:
    """The last file has the last word; check agrees, and without the files it doesn't."""
    mine = tmp_path / "mine.toml"
    mine.write_text('[alerts.RecallwatchRecallFell]\nkeep = "7s"\n', encoding="utf-8")
    assert run("build", tmp_path, DEMO, mine).exit_code == 0
    rules = (tmp_path / "prometheus/alerts.yaml").read_text(encoding="utf-8")
    fell = rules.partition("alert: RecallwatchRecallFell")[2]
    assert re.findall(r"(?:for|keep_firing_for): (\S+)", fell)[:2] == ["5s", "7s"]
    assert "for: 7d" in rules.partition("alert: RecallwatchNeverKnown")[2]
    assert run("check", tmp_path, DEMO, mine).exit_code == 0
    assert run("check", tmp_path, DEMO).exit_code == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[alerts.RecallwatchRecallFell]\nkeeps = '7s'\n", "alerts.RecallwatchRecallFell.keeps: no alert reads it"),
        ("[scrape]\ngap = 20\n", "oncall.toml with mine.toml"),
        ("[scrape]\nagp = '20s'\n", "agp"),
        ("[scrape\n", "mine.toml"),
        ("scrape = 1\n", "scrape"),
    ],
)
def test_a_number_laid_over_that_can_not_be_used_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """It names the file it's in, or the key."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(says)):
        every_alert(read_settings(FILE, [path]))
