"""What `recallwatch replay` prints: the JSON that other programs read, progress, and never a document's text."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from commands import CENSUS, corpus_line, decision, files, read_json, replay, run, start, write

from monitor.config import DEFAULT_KEY, Config, config_id
from monitor.plan import Plan

NUMBER: dict[str, object] = {"type": ["number", "null"]}
COUNT: dict[str, object] = {"type": "integer", "minimum": 0}
STRING: dict[str, object] = {"type": "string", "minLength": 1}


def table(**fields: Mapping[str, object]) -> dict[str, object]:
    """Return the schema of an object that has all of these fields."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def counted(name: str) -> dict[str, object]:
    """Return the schema of counts by a name."""
    row = table(**{name: STRING, "count": {"type": "integer", "minimum": 1}})
    return {"type": "array", "items": row | {"additionalProperties": False}}


LIMITS = {"estimate": NUMBER, "lower": NUMBER, "upper": NUMBER}
SHARE = table(found=COUNT, true=COUNT, **LIMITS, n_eff=NUMBER, where_looked=table(**LIMITS))
READING = table(
    entity=STRING,
    language=STRING,
    detector=STRING,
    version=STRING,
    stratum={"enum": ["both", "loose_only", "detector_only", "unflagged", None]},
    window=table(days={"type": "null"}, first={"type": ["string", "null"]}, last={"type": ["string", "null"]}),
    sampled=COUNT,
    labelled=COUNT,
    completeness=NUMBER,
    matched=SHARE,
    masked=SHARE,
    certified={"anyOf": [{"type": "null"}, table(lower={"type": "number"})]},
    prevalence=table(documents=table(count=COUNT, **LIMITS), per_1000=table(count=COUNT, **LIMITS)),
    config={"type": ["string", "null"], "pattern": "^[0-9a-f]{8}$"},
    net={"type": ["string", "null"], "pattern": "^[0-9a-f]{12}$"},
    status={"enum": ["ok", "no_label", "no_truth", "no_interval", "incomplete", "expired"]},
)
CONTRACT = table(
    readings={"type": "array", "items": READING},
    dead_letters=counted("reason"),
    quarantined_spans=counted("reason"),
    labels=counted("outcome"),
)


def cell(document: Mapping[str, list[dict[str, object]]], *key: str | None) -> dict[str, object]:
    """Return the one reading of entity, language, version and stratum."""
    names = ("entity", "language", "version", "stratum")
    (found,) = (r for r in document["readings"] if tuple(r[n] for n in names) == key)
    return found


@pytest.mark.parametrize("options", [CENSUS, (), ("--set", "readings.confidence=0.5")], ids=["all", "few", "half"])
def test_json_is_what_was_agreed(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Every field is there in every reading, a number or null; with every document drawn, and with hardly one."""
    jsonschema.validate(replay(*files(tmp_path), *options), CONTRACT)


def test_json_has_a_reading_for_everything(tmp_path: Path) -> None:
    """One for each entity, language, detector version and stratum that holds a document, and for their roll-ups."""
    document = replay(*files(tmp_path), *CENSUS)
    names = ("version", "language", "entity", "stratum")
    keys = Counter(tuple(r[n] for n in names) for r in document["readings"])
    english, dutch = ("both", "detector_only", "loose_only", "unflagged", None), ("detector_only", None)
    strata = {("1", "en"): english, ("1", "nl"): dutch, ("1", "any"): english}
    strata |= {("2", "en"): ("unflagged", None), ("2", "any"): ("unflagged", None)}
    entities = {"1": ("PERSON", "EMAIL_ADDRESS", "any"), "2": ("PERSON", "any")}
    expected = [
        (version, language, entity, stratum)
        for (version, language), of in strata.items()
        for entity in entities[version]
        for stratum in of
    ]
    assert keys == Counter(expected)
    assert {r["detector"] for r in document["readings"]} == {"x"}


def test_json_has_the_numbers(tmp_path: Path) -> None:
    """Found, true, sampled and labelled of one cell and its roll-up, with what rests on nothing being null."""
    document = replay(*files(tmp_path), *CENSUS)
    person = cell(document, "PERSON", "any", "1", None)
    matched = person["matched"]
    assert isinstance(matched, dict)
    assert (matched["found"], matched["true"], matched["estimate"]) == (1, 2, 0.5)
    assert (person["sampled"], person["labelled"], person["completeness"]) == (5, 5, 1.0)
    other = cell(document, "any", "en", "2", None)
    assert (other["sampled"], other["labelled"], other["completeness"]) == (2, 1, 0.5)
    none = cell(document, "EMAIL_ADDRESS", "nl", "1", None)
    assert none["matched"] == none["masked"]
    assert none["matched"] == {
        "found": 0,
        "true": 0,
        "estimate": None,
        "lower": None,
        "upper": None,
        "n_eff": None,
        "where_looked": {"estimate": None, "lower": None, "upper": None},
        "unflagged_width_share": None,
        "halving_random_rate": None,
        "reason": "no_truth",
    }
    assert (none["certified"], none["status"]) == (None, "no_truth")


def test_json_counts_what_became_of_labels(tmp_path: Path) -> None:
    """Labels of documents that weren't sampled too; and those of annotators who weren't chosen."""
    options = files(tmp_path)
    assert replay(*options, *CENSUS)["labels"] == [
        {"outcome": "joined", "count": 5},
        {"outcome": "orphan", "count": 1},
    ]
    other = write(tmp_path / "other", corpus_line("elsewhere", annotators=["kim"]))
    chosen = replay(*options, "--labels", other, *CENSUS, "--annotator", "kim")
    assert chosen["labels"] == [{"outcome": "not_chosen", "count": 6}, {"outcome": "orphan", "count": 1}]
    assert {r["labelled"] for r in chosen["readings"]} == {0}


def test_json_says_which_config_and_net(tmp_path: Path) -> None:
    """The ids are those of check-config; where nothing was drawn there's none."""
    document = replay(*files(tmp_path))
    ids = {(r["config"], r["net"]) for r in document["readings"] if r["sampled"]}
    assert ids <= {(config_id(Config()), Plan(Config()).net.version)}
    assert {r["config"] for r in document["readings"]} <= {config_id(Config()), None}
    every = replay(*files(tmp_path), *CENSUS)
    told = run("check-config", *CENSUS).stdout
    assert {f"config {r['config']}, net {r['net']}" in told for r in every["readings"]} == {True}


def test_options_repeat_and_the_key_decides(tmp_path: Path) -> None:
    """Both --set count; another --key draws other documents; --set and --config's key give way to --key."""
    many = write(tmp_path / "many", *(decision(f"d{i}") for i in range(200)))
    none = write(tmp_path / "none")
    config = tmp_path / "c.toml"
    config.write_text('[sampling]\nkey = "k"\n')
    base = ("--decisions", many, "--labels", none, "--set", "sampling.random_rate=0.5", "--set", "matching.iou=0.5")
    documents = [
        replay(*base, *more)
        for more in (
            (),
            ("--key", DEFAULT_KEY),
            ("--key", "k"),
            ("--config", config),
            ("--key", "k", "--set", "sampling.key=z"),
        )
    ]
    assert documents[0] == documents[1]
    assert documents[2] == documents[3] == documents[4]
    sampled = [cell(d, "any", "any", "1", None)["sampled"] for d in (documents[0], documents[2])]
    assert sampled[0] != sampled[1]


def test_json_is_utf8_and_tables_are_readable_on_any_terminal(tmp_path: Path) -> None:
    """An entity in an alphabet that the terminal doesn't have can't end a run."""
    path = write(tmp_path / "d", decision("a", spans=({"start": 0, "end": 4, "entity": "ИМЯ"},)))
    label = write(tmp_path / "l", corpus_line("a", spans=({"start": 0, "end": 4, "entity": "ИМЯ"},)))
    options = ("replay", "--decisions", path, "--labels", label, *CENSUS)
    as_json, as_table = (start(*options, *more, PYTHONIOENCODING="ascii") for more in (("--json",), ()))
    assert (as_json.returncode, as_table.returncode) == (0, 0)
    assert "ИМЯ" in {r["entity"] for r in read_json(as_json.stdout.decode())["readings"]}
    assert b"\\u0418" in as_table.stdout


def test_progress_is_shown_on_a_terminal_alone(tmp_path: Path) -> None:
    """Standard error of a pipe stays empty; on a terminal it says how far it is, and standard output is the same."""
    options = files(tmp_path)
    piped = start("replay", *options, "--json")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "streams.cli", "replay", *options, "--json"]
    environment = os.environ | {"TERM": "xterm"}
    shown = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=theirs, env=environment, timeout=60)
    os.close(theirs)
    told = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert piped.stderr == b""
    assert "reading" in told
    assert shown.stdout == piped.stdout


WORD = "Zwaardvis"


def whispered(folder: Path) -> tuple[str, ...]:
    """Write good and bad records that hold a word wherever a document's text may get to; return the options."""
    text = f"{WORD} was here, {WORD.lower()}@example.org too"
    span = {"start": 0, "end": 9, "entity": "PERSON"}
    good = decision(f"{WORD}-1", text, (span,), redacted=f"{WORD} [MAIL]", channel=WORD, ts=WORD, extra=WORD)
    wrong: list[dict[str, object]] = [
        {"text": [text]},
        {"lang": {WORD: text}},
        {"version": [WORD]},
        {"spans": text},
        {"doc_id": [text]},
        {"text": f"{text} \ud800"},
    ]
    bad: list[object] = [
        json.dumps(good).encode()[:-9],
        f'"{text}"'.encode(),
        text.encode(),
        f"{WORD}\xff".encode("latin-1"),
    ]
    bad += [{**decision("a", text), **field} for field in wrong]  # type: ignore[dict-item]  # an object, as JSON knows it
    aside = [{**span, "end": 9999, "note": text}, {**span, "start": text}, {**span, "entity": {"x": text}}, text]
    decisions = write(folder / "d", good, *bad, decision("b", text, tuple(aside)), decision("c", text * 40_000))  # type: ignore[arg-type]  # bad spans
    labels = write(
        folder / "l",
        corpus_line(f"{WORD}-1", text, (span,)),
        corpus_line("b", text, ({**span, "end": 9999, "note": text},)),
        corpus_line("c", f"another {text}", (span,)),
        corpus_line("d", text, (text,)),  # type: ignore[arg-type]  # a bad span
        {"doc_id": "b", "annotator": "jo", "spans": [], "status": text},
        {"doc_id": "b", "annotator": [text], "spans": []},
        {"doc_id": "b", "annotator": "jo", "spans": [], "task_id": text},
        *bad,
    )
    return ("--decisions", str(decisions), "--labels", str(labels), *CENSUS)


@pytest.mark.parametrize("more", [("--json",), (), ("--set", "limits.max_text_bytes=10")])
def test_no_text_is_in_any_output(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Neither of good records nor of bad ones, neither printed nor complained about; the ids of documents neither."""
    result = run("replay", *whispered(tmp_path), *more)
    assert (result.exit_code, result.stderr) == (0, "")
    assert WORD.lower() not in result.output.lower()
