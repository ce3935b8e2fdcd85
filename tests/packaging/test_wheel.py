"""The wheel, as somebody gets it: built, installed into an empty venv, run outside the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "deploy" / "constraints.txt"
PACKAGES = ("monitor", "streams", "dashboards")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
OFFLINE = ("NewConnectionError", "Failed to establish a new connection", "name resolution", "ReadTimeoutError")

TEXTS = {"a": "Ring Anna Vos, please.", "b": "Anna Vos wrote to Piet Bos.", "c": "Nobody is named here."}
PEOPLE = {"a": ["Anna Vos"], "b": ["Anna Vos", "Piet Bos"], "c": []}
FOUND = {"a": ["Anna Vos"], "b": ["Anna Vos"], "c": []}


def clean_environment() -> dict[str, str]:
    """Return an environment in which nothing points to the checkout."""
    mine = ("PYTHON", "RECALLWATCH_", "COV", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(mine)}


def run(command: Sequence[object], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and return what it printed and its exit code."""
    parts = [str(part) for part in command]
    return subprocess.run(parts, cwd=cwd, env=clean_environment(), check=False, capture_output=True, text=True)


def pip(*arguments: object, cwd: Path) -> None:
    """Run pip; skip where no package index is within reach, except in CI."""
    done = run([sys.executable, "-m", "pip", "--quiet", "--no-input", *arguments], cwd)
    if done.returncode and not os.environ.get("CI") and any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("no package index within reach: the wheel's requirements can't be installed (go online)")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as `pip install` does, in isolation."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--wheel-dir", folder, "--build-constraint", CONSTRAINTS, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    """List the files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Install the wheel and its requirements into an empty venv, and return the venv's folder of programs."""
    venv = wheel.parent / "venv"
    assert run([sys.executable, "-m", "venv", "--without-pip", venv], wheel.parent).returncode == 0
    python = venv / "bin" / "python"
    pip("--python", python, "install", wheel, "--constraint", CONSTRAINTS, cwd=wheel.parent)
    return venv / "bin"


def json_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> Path:
    """Write a file of one JSON object a line."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def spans(text: str, names: Iterable[str]) -> list[dict[str, object]]:
    """Return the spans of names in a text."""
    places = [(text.index(name), len(name)) for name in names]
    return [{"start": start, "end": start + length, "entity": "PERSON"} for start, length in places]


def test_wheel_holds_the_three_packages_and_nothing_else(names: list[str]) -> None:
    """No tests, no tools: what is installed is what is imported."""
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, f"recallwatch-{VERSION}.dist-info"}


def test_wheel_holds_every_file_of_the_packages(names: list[str]) -> None:
    """Templates, styles, transcripts and the marks of typing are data, and easily forgotten."""
    expected = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected == {name for name in names if ".dist-info/" not in name}


@pytest.mark.parametrize("ending", [".j2", ".css", ".js", ".toml", "py.typed"])
def test_wheel_holds_data_of_each_kind(names: list[str], ending: str) -> None:
    """The comparison with the tree would say nothing if the tree had lost them too."""
    assert [name for name in names if name.endswith(ending)] != []


def test_wheel_carries_the_licence(names: list[str]) -> None:
    """Apache-2.0 asks for it."""
    assert f"recallwatch-{VERSION}.dist-info/licenses/LICENSE" in names


def test_packages_are_imported_from_the_venv(installed: Path, tmp_path: Path) -> None:
    """Not from the checkout, or the test would prove nothing."""
    code = f"import {', '.join(PACKAGES)}; print(*(m.__file__ for m in ({', '.join(PACKAGES)})))"
    done = run([installed / "python", "-c", code], tmp_path)
    assert done.stderr == ""
    assert [installed.parent in Path(file).parents for file in done.stdout.split()] == [True] * len(PACKAGES)


def test_command_shows_its_help(installed: Path, tmp_path: Path) -> None:
    """The first thing that anybody tries."""
    done = run([installed / "recallwatch", "--help"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: recallwatch ")


def test_command_shows_its_version(installed: Path, tmp_path: Path) -> None:
    """The version is the distribution's."""
    done = run([installed / "recallwatch", "--version"], tmp_path)
    assert (done.returncode, done.stdout) == (0, f"recallwatch, version {VERSION}\n")


def test_command_prints_a_schema(installed: Path, tmp_path: Path) -> None:
    """A producer can be written against it."""
    done = run([installed / "recallwatch", "schema", "decision"], tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_command_replays_files(installed: Path, tmp_path: Path) -> None:
    """Two of three people found, every document read: the whole core works, away from the checkout."""
    detector: dict[str, object] = {"lang": "en", "detector": "names", "version": "1"}
    decisions = json_lines(
        tmp_path / "decisions.jsonl",
        (
            detector | {"doc_id": doc_id, "text": text, "spans": spans(text, FOUND[doc_id])}
            for doc_id, text in TEXTS.items()
        ),
    )
    labels = json_lines(
        tmp_path / "labels.jsonl",
        (
            {"doc_id": doc_id, "annotator": "ann", "spans": spans(text, PEOPLE[doc_id])}
            for doc_id, text in TEXTS.items()
        ),
    )
    files = ["--decisions", decisions.name, "--labels", labels.name]
    done = run([installed / "recallwatch", "replay", *files, "--set", "sampling.random_rate=1", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    readings = json.loads(done.stdout)["readings"]
    (person,) = [
        r for r in readings if (r["entity"], r["language"], r["version"], r["stratum"]) == ("PERSON", "en", "1", None)
    ]
    assert (person["matched"]["found"], person["matched"]["true"], person["labelled"]) == (2, 3, 3)
