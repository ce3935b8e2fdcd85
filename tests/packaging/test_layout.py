"""The shape of the tree: what stands at its top, how long files are, what is documented, what no stage may call."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("monitor", "streams", "dashboards")
REQUIRED = {"pyproject.toml", "README.md", "LICENSE", *PACKAGES, "tests", "deploy"}
LONGEST = 400
WRITTEN_BY_HAND = {"", ".py", ".js", ".css", ".j2", ".sh"}

# Why not is in each stage's own words: batches of Faust's lose records on an exception, its timers stop before the last
# checkpoint, and re-keyed streams go round the positions that the state keeps.
LOSES_RECORDS = {"noack_take", "take_events", "group_by", "through"}

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def tracked() -> list[Path]:
    """Return the files that belong to the checkout, new ones too, ignored ones not."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: what belongs to the tree can't be told (git clone the project, install git)")
    # CI may run as another user than the one who cloned.
    command = [git, "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]


def sources() -> list[Path]:
    """Return the product's Python files."""
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def public(node: Documented, name: str) -> Iterator[tuple[str, Documented]]:
    """Yield what is public in a module or class with its full name, the node itself first."""
    yield name, node
    if isinstance(node, ast.Module | ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and inner.name[0] != "_":
                yield from public(inner, f"{name}.{inner.name}")


def forbidden_calls(source: str) -> list[str]:
    """Return what a module uses of Faust that can lose records, as `line: name`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute):
            continue
        receiver = ast.unparse(node.value)
        loses = node.attr in LOSES_RECORDS or (node.attr == "take" and "stream" in receiver.lower())
        if loses or (node.attr == "timer" and receiver.rpartition(".")[2] == "app"):
            found.append(f"{node.lineno}: {receiver}.{node.attr}")
    return found


def test_top_level_is_what_the_user_asked_for() -> None:
    """Nothing else at the top but dot-files and the changelog."""
    top = {path.parts[0] for path in tracked() if not path.parts[0].startswith(".")}
    assert top - {"CHANGELOG.md"} == REQUIRED


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    """One concept a file; a long one holds two."""
    lengths = {
        str(path): len((ROOT / path).read_bytes().splitlines())
        for path in tracked()
        if path.suffix in WRITTEN_BY_HAND and path.name != "LICENSE"
    }
    assert {path: length for path, length in lengths.items() if length > LONGEST} == {}


def test_everything_public_has_a_docstring() -> None:
    """A reader learns what a thing is for where it stands."""
    missing = [
        name
        for path in sources()
        for name, node in public(ast.parse(path.read_bytes()), str(path.relative_to(ROOT)))
        if not ast.get_docstring(node)
    ]
    assert missing == []


def test_no_empty_test_package_shadows_the_product() -> None:
    """A package tests/monitor would be imported in the place of monitor."""
    assert [path for path in tracked() if path.parts[0] == "tests" and path.name == "__init__.py"] == []


def test_test_files_have_names_of_their_own() -> None:
    """Two test files of one name can't be told apart in a report."""
    names = sorted(path.name for path in tracked() if path.parts[0] == "tests" and path.match("test_*.py"))
    assert names == sorted(set(names))


def test_streams_use_nothing_of_faust_that_loses_records() -> None:
    """No batches, no re-keyed streams, no timers of Faust's: measured, each loses or repeats records."""
    found = {
        str(path.relative_to(ROOT)): calls
        for path in sources()
        if path.relative_to(ROOT).parts[0] == "streams" and (calls := forbidden_calls(path.read_text(encoding="utf-8")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "async for batch in stream.take(100, within=1): pass",
        "x = self.stream.noack_take(10)",
        "x = stream.group_by(key)",
        "x = topic.stream().through('other')",
        "app.timer(1.0)(flush)",
        "self.app.timer(1.0)(flush)",
    ],
)
def test_forbidden_call_is_found(line: str) -> None:
    """The check sees what it forbids."""
    indented = "\n".join(f"    {part}" for part in line.splitlines())
    assert len(forbidden_calls(f"async def agent():\n{indented}\n")) == 1


@pytest.mark.parametrize("line", ["self.board.take(key, value)", "clock.timer()"])
def test_words_of_our_own_are_not_taken_for_fausts(line: str) -> None:
    """A stage may take a record."""
    assert forbidden_calls(line) == []
