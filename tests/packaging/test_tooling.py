"""The tooling: what is pinned, what is ignored and why, and what is said where no Python will do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PINNED = [
    line
    for line in (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
COMMANDS = ("tests/run", ".ci/run", "deploy/demo")

TOO_OLD = """#!/bin/sh
case "$2" in *platform*) echo 3.9.2 ;; *version_info*) exit 1 ;; esac
"""
WITHOUT_VENV = """#!/bin/sh
case "$2" in *ensurepip*) exit 1 ;; *-venv*) echo python3.11-venv ;; esac
"""


def requirements() -> list[Requirement]:
    """Return all that pyproject.toml asks for, the build's own requirements too."""
    document = tomllib.loads(PYPROJECT)
    project = document["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    asked = [Requirement(line) for line in [*project["dependencies"], *extras, *document["build-system"]["requires"]]]
    return [requirement for requirement in asked if requirement.name != "recallwatch"]


def make_venv(tmp_path: Path, name: str, script: str) -> subprocess.CompletedProcess[str]:
    """Make .venv where the only Python is a script; what else the shell code runs is there."""
    programs, checkout = tmp_path / "bin", tmp_path / "checkout"
    programs.mkdir()
    (checkout / "deploy").mkdir(parents=True)
    for part in ("pyproject.toml", "deploy/constraints.txt"):
        shutil.copy(ROOT / part, checkout / part)
    for program in ("bash", "cat", "cksum", "rm"):
        (programs / program).symlink_to(shutil.which(program) or program)
    if script:
        (programs / name).write_text(script, encoding="utf-8")
        (programs / name).chmod(0o755)
    code = f'set -uo pipefail; root="$1"; me=demo; source "{ROOT}/deploy/venv.sh"; ensure_venv dev; echo went on'
    command = [str(programs / "bash"), "-c", code, "bash", str(checkout)]
    return subprocess.run(command, env={"PATH": str(programs)}, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("line", PINNED)
def test_version_is_exact(line: str) -> None:
    """One name, one version: no range, no address."""
    assert re.fullmatch(r"[A-Za-z0-9._-]+==(\d+!)?[0-9][A-Za-z0-9.]*", line) is not None


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    """What is installed for the tests is what the wheel asks for."""
    pins = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in PINNED)}
    outside = [r for r in requirements() if not r.specifier.contains(pins.get(canonicalize_name(r.name), "0"))]
    assert outside == []


def test_each_ignored_rule_has_its_reason() -> None:
    """A rule is ignored for a reason that the next reader can weigh."""
    lint = PYPROJECT.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.pylint]")[0]
    lines = [line for line in lint.splitlines() if re.search(r'"[A-Z]+\d+"', line)]
    assert len(lines) > 20
    assert [line for line in lines if "#" not in line] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_command_can_be_run(command: str) -> None:
    """A fresh clone is enough: nobody has to know which shell it wants."""
    assert os.access(ROOT / command, os.X_OK)
    assert (ROOT / command).read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        ("python3", TOO_OLD, "python3 is 3.9.2"),
        ("python3.11", WITHOUT_VENV, "python3.11 can't make a venv (on Debian: apt-get install python3.11-venv)"),
        ("", "", "there is no python3"),
    ],
    ids=["too old", "without venv", "none"],
)
def test_missing_python_is_named_in_one_line(tmp_path: Path, name: str, script: str, said: str) -> None:
    """Whoever starts it learns what to install, and nothing is half made."""
    done = make_venv(tmp_path, name, script)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"demo: Python 3.11 or newer with its venv module is missing: {said}\n"
    assert not (tmp_path / "checkout" / ".venv").exists()
