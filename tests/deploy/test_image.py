"""deploy/Dockerfile: what its instructions would do, done here; and who the image runs as."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compose import DEPLOY, DOCKERFILE, ROOT, image_environment, image_healthcheck, instructions

OFFLINE = ("NewConnectionError", "Failed to establish a new connection", "name resolution", "ReadTimeoutError")
FOUND = instructions()
COPIED = [rest.split() for name, rest in FOUND if name == "COPY" and not rest.startswith("--from")]


def included(path: str) -> bool:
    """Say whether .dockerignore lets a path into the build: its last rule that fits decides."""
    rules = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = True
    for rule in (line for line in rules if line and not line.startswith("#")):
        pattern = rule.removeprefix("!").removeprefix("**/")
        parts = Path(path).parts
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        inside = above if not rule.startswith("**/") else list(parts)
        if any(fnmatch.fnmatch(part, pattern) for part in inside):
            kept = rule.startswith("!")
    return kept


def copied_files(source: str) -> list[Path]:
    """Return the files that a COPY of `source` takes, by their path in the checkout."""
    place = ROOT / source
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return [path.relative_to(ROOT) for path in files if included(str(path.relative_to(ROOT)))]


def test_what_is_copied_is_let_in_and_nothing_else() -> None:
    """No checkout's history, no .venv, no tests and no data can get into a layer."""
    sources = {source for parts in COPIED for source in parts[:-1]}
    assert all(copied_files(source) for source in sources)
    for path in (".git/config", ".venv/bin/python", "tests/run", "deploy/compose.yaml", "monitor/__pycache__/x.pyc"):
        assert not included(path), path


def test_it_runs_as_nobody_and_asks_no_shell() -> None:
    """By number, so that Kubernetes' runAsNonRoot can tell; every command in its exec form."""
    assert [rest for name, rest in FOUND if name == "USER"] == ["10001:10001"]
    commands = [rest for name, rest in FOUND if name in {"RUN", "CMD", "ENTRYPOINT"}]
    assert len(commands) == 5
    assert [command for command in commands if not isinstance(json.loads(command), list)] == []
    last = [name for name, _ in FOUND].index("USER")
    assert [name for name, _ in FOUND[last:] if name in {"RUN", "COPY", "ADD"}] == []
    assert image_healthcheck()[0] == "python"


def test_both_stages_have_the_same_python() -> None:
    """The venv points to the interpreter by its path."""
    bases = {rest.split()[0] for name, rest in FOUND if name == "FROM"}
    assert bases == {"python:3.11-slim"}


def test_a_worker_is_what_it_runs() -> None:
    """With the sample config that the image holds."""
    said = {name: json.loads(rest) for name, rest in FOUND if name in {"ENTRYPOINT", "CMD"}}
    assert said == {"ENTRYPOINT": ["recallwatch"], "CMD": ["worker", "--config", "/etc/recallwatch/recallwatch.toml"]}
    assert image_environment()["RECALLWATCH_HTTP_HOST"] == "0.0.0.0"  # noqa: S104  # not bound here


def python_for_nobody() -> str:
    """Return a Python 3.11 that another user may run too."""
    python = "/usr/bin/python3" if os.geteuid() == 0 else sys.executable
    asked = [python, "-c", "import ensurepip, sys, venv; print(sys.version_info[:2])"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False, env={}) if Path(python).exists() else None
    if said is None or said.stdout != "(3, 11)\n":
        pytest.skip(f"{python} is no Python 3.11 with its venv module, as the image has (apt-get install python3-venv)")
    return python


def build(folder: Path) -> Path:
    """Follow the Dockerfile's COPY and RUN lines in a folder; return what it makes of /opt/recallwatch."""
    source, made = folder / "src", folder / "opt"
    source.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "COV"))}
    subprocess.run([python_for_nobody(), "-m", "venv", str(folder / "base")], check=True, env=env)
    for name, rest in FOUND[: [name for name, _ in FOUND].index("LABEL")]:
        if name == "COPY":
            *sources, to = rest.split()
            for path in (path for each in sources for path in copied_files(each)):
                place = source / to / path.name if to.endswith("/") else source / path
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, place)
        elif name == "RUN":
            parts = [part.replace("/opt/recallwatch", str(made)) for part in json.loads(rest)]
            assert parts[0] == "python"
            command = [str(folder / "base" / "bin" / "python"), *parts[1:]]
            done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)
            if done.returncode and not os.environ.get("CI") and any(sign in done.stderr for sign in OFFLINE):
                pytest.skip("no package index within reach (go online)")
            assert done.returncode == 0, done.stderr
    shutil.rmtree(source)  # the second stage has nothing of it
    return made


@pytest.mark.slow
def test_its_build_makes_a_command_that_runs_as_nobody_and_writes_nothing(tmp_path: Path) -> None:
    """The Dockerfile's own lines, in a fresh venv and folder; then the command, as uid 10001 with nowhere to write."""
    made = build(tmp_path)
    assert not (made / "bin" / "pip").exists()
    held = sorted(str(path) for path in made.rglob("*"))
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o055)  # pytest's folders are their owner's alone
    config = shutil.copy(DEPLOY / "recallwatch.toml", tmp_path)
    nobody = {"user": 10001, "group": 10001, "extra_groups": []} if os.geteuid() == 0 else {}
    ran = subprocess.run(
        [str(made / "bin" / "recallwatch"), "check-config", config],
        cwd="/",
        env={**image_environment(), "PATH": "/usr/bin", "TMPDIR": "/nowhere", "HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
        **nobody,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ": good. config " in ran.stdout
    assert sorted(str(path) for path in made.rglob("*")) == held


def test_comment_says_how_to_pin_it() -> None:
    """A tag is what people read, a digest what they should deploy."""
    text = DOCKERFILE.read_text(encoding="utf-8")
    assert re.search(r"python:3\.11-slim@sha256:", text)
