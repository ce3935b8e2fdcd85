"""The command line: exit codes, one line for a mistake, and the commands that need no broker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner
from commands import ANNA, TEXT, decision, files, replay, run, start, write

from monitor.config import Config, config_id, public_document
from monitor.records import Task
from streams.cli import main

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
    assert (
        unusable.stderr.decode()
        == "recallwatch: --set: sampling.random_rate: 2: expected a number above 0, at most 1\n"
    )
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
    assert f"config {config_id(Config())}" in told
    assert json.loads(told[told.index("{") :]) == json.loads(msgspec.json.encode(public_document(Config())))


def test_check_config_says_no(tmp_path: Path) -> None:
    """File, key and value, in one line; two files are one too many."""
    path = tmp_path / "c.toml"
    path.write_text("[matching]\niou = 2\n")
    result = run("check-config", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"recallwatch: {path}: matching.iou: 2: expected a number above 0, at most 1\n"
    assert run("check-config", path, "--config", path).exit_code == 2


COMMANDS = (
    "check-config",
    "history",
    "leaks",
    "misses",
    "plan",
    "replay",
    "report",
    "schema",
    "status",
    "topics",
    "up",
    "worker",
)


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("command", ["schema decision", "check-config", "plan --recall .9"])
def test_an_output_that_has_no_room_is_told_in_a_line(command: str) -> None:
    """A disk that is full is no fault of ours to be traced."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "streams.cli", *command.split()],
            check=False, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == "recallwatch: the output can't be written: No space left on device\n"


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
    assert result.stdout.split() == ["plain,replay", "plain,report"]


@pytest.mark.parametrize("key", ["targets.{}=0.9", "redaction.entities.{}.keep_last=4"])
def test_a_setting_of_an_unknown_entity_is_a_warning(key: str) -> None:
    """It may be a name of the detector's own; a slip would never be noticed."""
    named = key.format("PERSN").partition("=")[0].removesuffix(".keep_last")
    lines = run("check-config", "--set", key.format("PERSN"), "--set", key.format("EMAIL")).stdout.splitlines()

    assert [line for line in lines if "entity" in line and line.startswith("warning")] == [
        f"warning: {named}: no entity that is known is called so; did you mean PERSON?"
    ]


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("kafka.brokers=kafka:9092", "kafka.brokers"),
        ("kafka.brokers=127.0.0.1:9092", "kafka.brokers"),
        ('kafka={brokers="kafka:9092"}', "kafka.brokers"),
        ("kafka.security=tls", "kafka.security"),
    ],
)
def test_up_refuses_another_broker(override: str, key: str) -> None:
    """Its own would win without a word; what reads from another one is named."""
    result = run("up", "--port", "0", "--set", override)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        f"recallwatch: --set: {key}: `up` brings its own broker; `recallwatch worker` reads"
    )
    assert len(result.stderr.splitlines()) == 1
