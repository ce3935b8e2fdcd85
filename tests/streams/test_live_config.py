"""A settings file that changes under a worker: good changes are taken up, bad ones refused and said, once each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import structlog

from monitor.config import config_id, read_config
from streams.live_config import LiveConfig
from streams.settings import load_settings


class File:
    """A settings file, written with a time of its own each time."""

    def __init__(self, path: Path, text: str = "") -> None:
        self.path = path
        self._at = 1_790_000_000
        self.write(text)

    def write(self, text: str) -> None:
        """Put other text in its place."""
        self.path.write_text(text, encoding="utf-8")
        self._at += 1
        os.utime(self.path, (self._at, self._at))


def rate(value: object) -> str:
    """Return a file that sets the random rate."""
    return f"[sampling]\nrandom_rate = {value}\n"


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Give a file under which half of the documents are drawn."""
    return File(tmp_path / "c.toml", rate(0.5))


def watch(file: File, overrides: tuple[str, ...] = (), env: Mapping[str, str] | None = None) -> LiveConfig:
    """Return the config that follows a file."""
    return LiveConfig(load_settings(file.path, overrides, env), env or {})


def settle(live: LiveConfig) -> list[bool]:
    """Look twice: a file is read once it's still."""
    return [live.poll(), live.poll()]


def test_a_change_is_taken_up_once(file: File) -> None:
    """At the second look that finds it; then nothing more happens."""
    live = watch(file)
    before = live.plan
    assert settle(live) == [False, False]
    file.write(rate(0.25))
    assert settle(live) == [False, True]
    assert settle(live) == [False, False]
    assert (live.plan.config.sampling.random_rate, live.refused, live.problem) == (0.25, 0, "")
    assert live.plan.id == config_id(read_config({"sampling": {"random_rate": 0.25}})) != before.id


def test_a_file_that_is_being_written_is_left_alone(file: File) -> None:
    """Between an editor's two steps it's empty, which would be the defaults."""
    live = watch(file)
    file.write("")
    assert live.poll() is False
    file.write(rate(0.25))
    assert settle(live) == [False, True]
    assert live.plan.config.sampling.random_rate == 0.25


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (rate(7), "sampling.random_rate: 7"),
        ("[sampling\n", "no TOML"),
        ("[smapling]\n", "did you mean sampling"),
        ("[net.patterns]\nx = '('\n", "net.patterns.x"),
        ("a = " + "9" * 5000, "no TOML"),
    ],
    ids=["out of range", "no TOML", "unknown", "no pattern", "5,000 digits"],
)
def test_a_bad_change_is_refused_and_the_old_one_stays(file: File, text: str, told: str) -> None:
    """It's counted and said, once, and the worker goes on; the next good one clears it."""
    live = watch(file)
    before = live.plan
    file.write(text)
    with structlog.testing.capture_logs() as lines:
        assert settle(live) + settle(live) == [False] * 4
    assert (live.plan, live.refused) == (before, 1)
    assert told in live.problem
    assert [(line["event"], line["log_level"]) for line in lines] == [("config_refused", "error")]
    file.write(rate(0.25))
    assert settle(live) == [False, True]
    assert (live.refused, live.problem) == (1, "")


def test_going_back_clears_the_problem_without_another_plan(file: File) -> None:
    """The same settings are the same plan."""
    live = watch(file)
    before = live.plan
    file.write(rate(7))
    settle(live)
    file.write("# as before\n" + rate(0.5))
    assert settle(live) == [False, False]
    assert (live.plan, live.problem) == (before, "")


def test_a_file_that_goes_away_is_a_problem_until_it_is_back(file: File) -> None:
    """What was in force stays in force."""
    live = watch(file)
    file.path.rename(file.path.with_suffix(".away"))
    settle(live)
    assert (live.refused, "No such file" in live.problem) == (1, True)
    file.path.with_suffix(".away").rename(file.path)
    assert settle(live) == [False, False]
    assert (live.refused, live.problem) == (1, "")


def test_another_file_under_the_same_name_is_a_change(file: File) -> None:
    """A volume's update swaps what a link points to; time and size may well be the same."""
    live = watch(file)
    other = File(file.path.with_suffix(".new"), rate(0.4))
    os.utime(other.path, ns=(file.path.stat().st_atime_ns, file.path.stat().st_mtime_ns))
    other.path.rename(file.path)
    assert settle(live) == [False, True]


def test_environment_and_command_line_still_win(file: File) -> None:
    """What they set can't be changed by the file."""
    env = {"RECALLWATCH_SAMPLING_KEY": "k"}
    live = watch(file, ("matching.iou=0.6",), env)
    file.write('[sampling]\nkey = "z"\nrandom_rate = 0.25\n[matching]\niou = 0.5\n')
    assert settle(live) == [False, True]
    found = live.plan.config
    assert (found.sampling.key, found.sampling.random_rate, found.matching.iou) == ("k", 0.25, 0.6)


def test_a_change_needs_no_password(file: File, tmp_path: Path) -> None:
    """The connection stays as it was made, so its secret may have gone by now."""
    secret = tmp_path / "password"
    secret.write_text("p")
    live = watch(file, ("kafka.security=sasl_tls", "kafka.username=u", f"kafka.password_file={secret}"))
    secret.unlink()
    file.write(rate(0.25))
    assert (settle(live), live.problem) == ([False, True], "")


def test_what_is_read_at_start_alone_makes_no_plan(file: File) -> None:
    """Another port decides nothing about a record."""
    live = watch(file)
    file.write(rate(0.5) + "[http]\nport = 1\n")
    assert settle(live) == [False, False]


def test_without_a_file_nothing_changes() -> None:
    """Settings of the environment alone stay."""
    live = LiveConfig(load_settings(None), {})
    assert settle(live) == [False, False]


def test_an_emptied_file_is_refused(file: File) -> None:
    """All defaults at once, the published key too, is nobody's wish."""
    live = watch(file)
    settle(live)
    file.write("")
    assert settle(live) == [False, False]
    assert (live.refused, "empty" in live.problem) == (1, True)


def test_the_factor_goes_into_the_plan_and_stays_through_a_change_of_the_file(file: File) -> None:
    """It's the board's, not the file's; the config and its id stay as they are."""
    live = watch(file)
    before = live.plan
    live.thin(1.0)
    assert live.plan is before
    live.thin(0.25)
    assert (live.plan.id, live.plan.thinning) == (before.id, 0.25)
    assert live.plan.sampler.rates("en", "unflagged").probability == 0.125
    file.write(rate(0.25))
    assert settle(live) == [False, True]
    assert live.plan.sampler.rates("en", "unflagged").probability == 0.0625
    live.thin(1.0)
    assert live.plan.sampler.rates("en", "unflagged").probability == 0.25
