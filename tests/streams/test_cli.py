"""The command line: exit codes, the JSON that other programs read, one line for a mistake, and no text anywhere."""

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
import msgspec
import pytest
from click.testing import CliRunner, Result

from monitor.config import DEFAULT_KEY, Config, config_id, public_document
from monitor.plan import Plan
from monitor.records import Task
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


# -- exit codes --------------------------------------------------------------------------------------------------------


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    """0 done, 1 no input, 2 usage or config; what is wrong is one line on standard error."""
    options = files(tmp_path)
    done = start("replay", *options, "--json")
    absent = start("replay", "--decisions", tmp_path / "nowhere", *options)
    unusable = start("replay", *options, "--set", "sampling.random_rate=2")
    unknown = start("replay", *options, "--jsno")
    assert [p.returncode for p in (done, absent, unusable, unknown)] == [0, 1, 2, 2]
    assert done.stderr == b""
    assert absent.stderr.decode() == f"recallwatch: {tmp_path / 'nowhere'}: No such file or directory\n"
    assert unusable.stderr.decode() == "recallwatch: --set: sampling.random_rate: 2: expected `float` <= 1.0\n"
    assert b"--jsno" in unknown.stderr
    assert [p.stdout for p in (absent, unusable, unknown)] == [b"", b"", b""]


@pytest.mark.parametrize("option", ["--decisions", "--labels"])
@pytest.mark.parametrize(("name", "reason"), [("nowhere", "No such file or directory"), (".", "Is a directory")])
def test_input_that_can_not_be_read_ends_with_1(tmp_path: Path, option: str, name: str, reason: str) -> None:
    """One line names the file and says why; no half of a result is printed."""
    result = run("replay", *files(tmp_path), option, tmp_path / name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"recallwatch: {tmp_path / name}: {reason}\n"


@pytest.mark.parametrize("missing", ["--decisions", "--labels"])
def test_an_input_that_was_not_named_ends_with_2(tmp_path: Path, missing: str) -> None:
    """Usage, with the option's name."""
    other = "--labels" if missing == "--decisions" else "--decisions"
    result = run("replay", other, write(tmp_path / "x"))
    assert result.exit_code == 2
    assert missing in result.stderr


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (("--set", "sampling.random_rat=1"), "sampling.random_rat"),
        (("--set", "sampling.random_rate"), "sampling.random_rate"),
        (("--set", "net.patterns.x='('"), "net.patterns.x"),
        (("--set", "entities.aliases={A='B', B='A'}"), "entities.aliases"),
        (("--key", ""), "sampling.key"),
        (("--key", "x" * 513), "sampling.key"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_a_bad_setting_ends_with_2_and_its_name(tmp_path: Path, options: tuple[str, ...], key: str) -> None:
    """One line, which names the key."""
    result = run("replay", *files(tmp_path), *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert key in result.stderr


def test_a_line_stays_one_line_whatever_the_key_holds(tmp_path: Path) -> None:
    """A key of a settings file may hold the end of a line."""
    path = tmp_path / "c.toml"
    path.write_text('"a\\nb" = 1\n')
    result = run("check-config", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_bad_records_and_all_is_done(tmp_path: Path) -> None:
    """Nothing but bad lines, or no line at all, is a result too."""
    bad = write(tmp_path / "bad", b"{", b"\xff", b"[]", b'{"doc_id": 1}')
    document = replay("--decisions", bad, "--labels", bad)
    assert document["readings"] == []
    reasons = {str(row["reason"]): row["count"] for row in document["dead_letters"]}
    assert reasons == {"not_json": 2, "not_utf8": 2, "not_object": 2, "doc_id": 2}
    empty = write(tmp_path / "empty")
    assert replay("--decisions", empty, "--labels", empty)["readings"] == []
    assert "No decision could be read." in run("replay", "--decisions", empty, "--labels", empty).stdout


def test_production_settings_need_no_password_here(tmp_path: Path) -> None:
    """Replay asks no broker, so it doesn't miss what only a broker wants."""
    assert run("replay", *files(tmp_path), "--set", "kafka.security=sasl_tls").exit_code == 0


# -- JSON --------------------------------------------------------------------------------------------------------------

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
    chosen = replay(*options, *CENSUS, "--annotator", "kim", "--annotator", "lu")
    assert chosen["labels"] == [{"outcome": "not_chosen", "count": 6}]
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


# -- other commands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "good", "bad"),
    [
        ("decision", decision("a", spans=(ANNA,), threshold=0.5, ts=1.5), decision("a", text=3)),  # type: ignore[arg-type]  # a bad one
        ("decision", decision("a", unknown=[1]), {"doc_id": "a"}),
        ("decision", decision("a", ts="2026-01-01T00:00:00Z"), decision("")),
        ("label", {"doc_id": "a", "annotator": "jo", "spans": []}, {"doc_id": "a", "annotator": "jo"}),
        (
            "label",
            {"doc_id": "a", "annotator": "jo", "spans": [ANNA], "status": "skipped", "revision": 2},
            {"doc_id": "a", "annotator": "jo", "spans": [], "status": "done"},
        ),
        (
            "task",
            msgspec.to_builtins(Task("t", "a", 1, 1, "label", "en", TEXT, 1.0)),
            {"task_id": "t"},
        ),
    ],
)
def test_schema_takes_good_records_and_refuses_bad_ones(record: str, good: object, bad: object) -> None:
    """It's JSON Schema that any validator reads."""
    schema = json.loads(run("schema", record).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    plain = json.loads(json.dumps(good)), json.loads(json.dumps(bad))
    assert [validator.is_valid(each) for each in plain] == [True, False]


def test_schema_of_another_record_is_usage() -> None:
    """It names those that there are."""
    result = run("schema", "letter")
    assert result.exit_code == 2
    assert "decision" in result.stderr


def test_check_config_shows_what_it_comes_to(tmp_path: Path) -> None:
    """The ids, a warning about the published key, the tree; the key itself never."""
    path = tmp_path / "c.toml"
    path.write_text("[matching]\niou = 0.5\n")
    for arguments in ((path,), ("--config", path)):
        result = run("check-config", *arguments)
        first, second, *rest = result.stdout.splitlines()
        assert (result.exit_code, first.partition(":")[0]) == (0, str(path))
        assert "published default" in second
        assert json.loads("\n".join(rest))["matching"] == {"iou": 0.5}
    own = run("check-config", "--set", "sampling.key=not-for-your-eyes")
    assert "warning" not in own.stdout
    assert "not-for-your-eyes" not in own.output


def test_check_config_takes_the_sample() -> None:
    """And what the sample comes to are the defaults."""
    sample = Path(__file__).parents[2] / "deploy" / "recallwatch.toml"
    told = run("check-config", sample).stdout
    assert json.loads(told[told.index("{") :]) == json.loads(msgspec.json.encode(public_document(Config())))


def test_check_config_says_no(tmp_path: Path) -> None:
    """File, key and value, in one line; two files are one too many."""
    path = tmp_path / "c.toml"
    path.write_text("[matching]\niou = 2\n")
    result = run("check-config", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"recallwatch: {path}: matching.iou: 2: expected `float` <= 1.0\n"
    assert run("check-config", path, "--config", path).exit_code == 2


COMMANDS = ("check-config", "history", "replay", "schema", "topics", "up", "worker")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_reads_well(command: tuple[str, ...]) -> None:
    """A sentence first, then options, in 80 columns, and nothing cut off."""
    result = run(*command, "--help")
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (0, "")
    assert max(map(len, lines)) <= 80
    assert lines[2].strip()[0].isupper()
    assert [line for line in lines[1:] if line.endswith("...")] == []


def test_help_lists_every_command_without_loading_kafka() -> None:
    """What needs a broker's libraries is named without them: a second's wait for a list is too long."""
    code = "import sys; from streams.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    listed = result.stdout.split("Commands:\n")[1].splitlines()[: len(COMMANDS)]
    assert tuple(line.split()[0] for line in listed) == COMMANDS
    assert not {"faust", "aiokafka"} & set(result.stdout.split())


def test_the_list_says_what_each_command_says_itself() -> None:
    """The lines of commands that are listed unloaded are those of their own help."""
    listed = run("--help").stdout
    for command in COMMANDS:
        first = run(command, "--help").stdout.splitlines()[2].strip()
        assert f"{first}\n" in listed, command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_prints_a_script(shell: str) -> None:
    """As the help says; it completes the program's own name."""
    result = CliRunner().invoke(main, [], prog_name="recallwatch", env={"_RECALLWATCH_COMPLETE": f"{shell}_source"})
    assert result.exit_code == 0
    assert "_recallwatch_completion" in result.stdout


def test_completion_names_commands() -> None:
    """What the script asks for is answered."""
    asked = {"_RECALLWATCH_COMPLETE": "bash_complete", "COMP_WORDS": "recallwatch re", "COMP_CWORD": "1"}
    result = CliRunner().invoke(main, [], prog_name="recallwatch", env=asked)
    assert result.stdout.split() == ["plain,replay"]


# -- privacy -----------------------------------------------------------------------------------------------------------

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
    result = start("replay", *whispered(tmp_path), *more)
    assert result.returncode == 0
    assert WORD.lower() not in (result.stdout + result.stderr).decode().lower()
    assert result.stderr == b""
