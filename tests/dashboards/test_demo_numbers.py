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
from dashboards.ranges import allowed
from dashboards.settings import FILE, Knobs, read_settings
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
        (
            "[alerts.RecallwatchRecallFell]\nkeeps = '7s'\n",
            "alerts.RecallwatchRecallFell.keeps: no alert reads it; did you mean keep?",
        ),
        (
            "[alerts.RecallwatchRecalFell]\nkeep = '7s'\n",
            "alerts.RecallwatchRecalFell: no alert reads it; did you mean RecallwatchRecallFell?",
        ),
        (
            "[alerts.RecallwatchOutputsLeak]\nalowed = 0.1\n",
            "alerts.RecallwatchOutputsLeak.alowed: no alert reads it; did you mean allowed?",
        ),
        ("[scrape]\ngap = 20\n", "oncall.toml with mine.toml: scrape.gap: 20: a length of time is allowed"),
        ("[scrape]\nagp = '20s'\n", "scrape.agp: unknown key; did you mean gap?"),
        ("[alert.RecallwatchRecallFell]\nkeep = '7s'\n", "alert: unknown key; did you mean alerts?"),
        ("[readings]\nwindow = '4w'\n", "readings.window: '4w': a number of days is allowed, such as 28d"),
        ("[routes.page]\nurl = 'pager'\n", "routes.page.url: 'pager': an address is allowed"),
        ("[alerts.RecallwatchBelowTarget]\nfor = '5m1h'\n", "alerts.RecallwatchBelowTarget.for: '5m1h': a length"),
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


SHARE = "a number from 0 to 1 is allowed, a share: 0.02 is 2 %"


@pytest.mark.parametrize(
    ("alert", "key", "value", "says"),
    [
        *(("RecallwatchOutputsLeak", "allowed", value, SHARE) for value in ("15", "-0.1", "nan", "inf", "true")),
        ("RecallwatchOutputsLeak", "allowed", '"2 %"', SHARE),
        ("RecallwatchDisclosureHigh", "allowed", "-1", "a number from 0 to 1000000 is allowed, occurrences in 1,000"),
        ("RecallwatchBelowTarget", "min_true", "10.5", "a whole number from 1 to 1000000000 is allowed"),
        ("RecallwatchBelowTarget", "min_true", "0", "a whole number from 1 to 1000000000 is allowed"),
        ("RecallwatchKappaLow", "below", "60", "a number from 0.01 to 1 is allowed, a kappa"),
        ("RecallwatchBelowTarget", "for", "90", "a length of time is allowed"),
    ],
)
def test_a_number_out_of_its_range_writes_nothing(tmp_path: Path, alert: str, key: str, value: str, says: str) -> None:
    """Exit code 2, with the key, the file that may have it and what is allowed: 15 is no share, NaN bounds nothing."""
    path = tmp_path / "mine.toml"
    path.write_text(f"[alerts.{alert}]\n{key} = {value}\n", encoding="utf-8")
    folder = tmp_path / "deploy"
    folder.mkdir()
    result = run("build", folder, path)
    assert (result.exit_code, list(folder.iterdir())) == (2, [])
    assert f"alerts.{alert}.{key}: " in result.output
    assert says in result.output
    assert "mine.toml" in result.output


def test_every_number_has_a_range() -> None:
    """Those shipped and the demo's; and each of them is refused beyond either end."""
    settings, found = read_settings(FILE, [DEMO]), []
    for name, table in settings.alerts.items():
        for key, value in table.items():
            if isinstance(value, int | float):
                within = allowed(name, key)
                assert within is not None, f"{name}.{key}"
                found.append(key)
                for beyond in (within.low - 1, within.high * 1.01 + 1):
                    with pytest.raises(ConfigError, match=re.escape(f"alerts.{name}.{key}: ")):
                        Knobs(name, table | {key: beyond}).number(key)
    assert len(found) > 15


def test_a_number_without_a_range_can_not_be_read() -> None:
    """Whoever adds one says what it may be."""
    knobs = Knobs("RecallwatchKappaLow", {"severity": "page", "for": "1m", "keep": "1m", "weight": 0.5})
    with pytest.raises(ConfigError, match=r"RecallwatchKappaLow\.weight: has no range"):
        knobs.number("weight")
