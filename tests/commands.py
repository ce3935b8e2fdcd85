"""Commands run by tests, in this process or one of their own, and files for them to read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli import main

TEXT = "Anna met Bo in Gouda"
MAILED = "write to anna@example.org please"
ANNA = {"start": 0, "end": 4, "entity": "PERSON", "score": 0.9}
MAIL = {"start": 9, "end": 25, "entity": "EMAIL_ADDRESS"}
CENSUS = ("--set", "sampling.random_rate=1")


def decision(doc_id: str, text: str = TEXT, spans: tuple[dict[str, object], ...] = (), **fields: object) -> object:
    """Return a decision as a producer sends it."""
    made = {"doc_id": doc_id, "lang": "en", "text": text, "detector": "x", "version": "1", "spans": spans}
    return made | fields


def corpus_line(doc_id: str, text: str = TEXT, spans: tuple[dict[str, object], ...] = (), **fields: object) -> object:
    """Return a document of a corpus, read by jo alone."""
    return {"doc_id": doc_id, "lang": "en", "text": text, "labels": spans, "annotators": ["jo"]} | fields


def write(path: Path, *lines: object) -> Path:
    """Write lines, each as JSON unless it's bytes already, and return where."""
    encoded = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(encoded) + b"\n")
    return path


def files(folder: Path) -> tuple[str, ...]:
    """Write decisions of two versions in two languages and every stratum, and labels; return the options for them."""
    one = write(
        folder / "v1.jsonl",
        decision("a", spans=(ANNA,)),
        decision("b"),
        decision("c", MAILED),
        decision("d", MAILED, (MAIL,)),
        decision("e", lang="nl", spans=(ANNA,)),
    )
    two = write(folder / "v2.jsonl", decision("a", version="2"), decision("never labelled", version="2"))
    corpus = write(
        folder / "corpus.jsonl",
        corpus_line("a", spans=(ANNA,)),
        corpus_line("b", spans=({"start": 9, "end": 11, "entity": "PERSON"},)),
        corpus_line("c", MAILED, (MAIL,)),
        corpus_line("d", MAILED, (MAIL,)),
        corpus_line("not sampled"),
    )
    own = write(folder / "own.jsonl", {"doc_id": "e", "annotator": "jo", "spans": []})
    paths = (("--decisions", one), ("--decisions", two), ("--labels", corpus), ("--labels", own))
    return tuple(str(part) for pair in paths for part in pair)


def run(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="recallwatch")


def start(*arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own, as a shell does."""
    command = [sys.executable, "-m", "streams.cli", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, env=os.environ | environment, timeout=60)


def read_json(text: str) -> dict[str, list[dict[str, object]]]:
    """Return JSON, as a strict reader takes it: NaN and Infinity are none."""
    document: dict[str, list[dict[str, object]]] = json.loads(text, parse_constant=pytest.fail)
    return document


def replay(*arguments: object) -> dict[str, list[dict[str, object]]]:
    """Return what replay says as JSON."""
    result = run("replay", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return read_json(result.stdout)
