"""`recallwatch leaks`: every document is checked, every leak has its place, no text shows unless it's asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import decision, run, start, write

from monitor.leaks.findings import Checked
from monitor.leaks.screen import examine
from streams.leaks_table import visible

CALL = "Ok 😀👍 bel mij: 06-31 77 20 95 graag"
PHONE = {"start": 15, "end": 29, "entity": "phone", "score": 0.95}
TAIL = "Ok 😀👍 bel mij: <PHONE_NUMBER>95 graag"
CLEAN = "Ok 😀👍 bel mij: <PHONE_NUMBER> graag"
CARD = "kaart 4539 0000 1234 5676"
NUMBER = {"start": 6, "end": 25, "entity": "CREDIT_CARD"}
LAST_FOUR = "kaart **** **** **** 5676"


def call(
    doc_id: str = "a", redacted: object = TAIL, spans: tuple[dict[str, object], ...] = (PHONE,), **more: object
) -> object:
    """Return a decision about the call, with an output."""
    return decision(doc_id, CALL, spans, redacted=redacted, **more)


def listed(*arguments: object, code: int) -> list[dict[str, Any]]:
    """Return what the command says as JSON, a document a line."""
    result = run("leaks", *arguments, "--json")
    assert result.exit_code == code
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_leak_is_told_by_its_place(tmp_path: Path) -> None:
    """Kind, folded entity, and code points on both sides, whatever stands before them."""
    (document,) = listed(write(tmp_path / "f", call()), code=1)
    assert list(document) == ["doc_id", "aligned", "leaks"]
    assert (document["doc_id"], document["aligned"]) == ("a", True)
    leak = document["leaks"][0]
    assert list(leak) == ["kind", "entity", "start", "end", "output_start", "output_end"]
    assert (leak["kind"], leak["entity"]) == ("partial_mask", "PHONE_NUMBER")
    assert CALL[leak["start"] : leak["end"]] == TAIL[leak["output_start"] : leak["output_end"]] == "95"


def test_no_leak_ends_with_0(tmp_path: Path) -> None:
    """And every document has its line."""
    path = write(tmp_path / "f", call(redacted=CLEAN), decision("b", CALL, redacted=CALL))
    assert listed(path, code=0) == [{"doc_id": doc_id, "aligned": True, "leaks": []} for doc_id in "ab"]
    result = run("leaks", path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 documents checked: no leak.\n", "")


def test_an_output_that_the_check_fails_over_is_told_and_the_others_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By line and class of exception, without the exception's words, which may quote the document."""

    def failing(text: str, *arguments: Any) -> Checked:  # noqa: ANN401  # as the check's
        if "bel mij" in text:
            raise ValueError(text)
        return examine(text, *arguments)

    monkeypatch.setattr("streams.leaks_command.examine", failing)
    path = write(tmp_path / "f", call(), decision("b", CARD, (NUMBER,), redacted=LAST_FOUR))
    result = run("leaks", path)
    assert result.exit_code == 1
    assert result.stderr == "f:1: check failed (ValueError) at $.redacted\n"
    assert "Not checked: 1 output that the check failed over." in result.stdout
    assert "1 document checked: 1 leak in 1 of them." in result.stdout
    assert [document["doc_id"] for document in listed(path, code=1)] == ["b"]


def test_a_bad_line_is_told_by_its_number_and_nothing_else_is_lost(tmp_path: Path) -> None:
    """Blank lines count as lines; a span that can't be used is set aside, its document checked."""
    beyond = {"start": 0, "end": 99, "entity": "PERSON"}
    path = write(
        tmp_path / "f", call("a"), b"", b"{nope", call("b", spans=(beyond, PHONE)), b'{"doc_id": 1}', call("c")
    )
    result = run("leaks", path, "--json")
    assert (result.exit_code, [json.loads(line)["doc_id"] for line in result.stdout.splitlines()]) == (
        1,
        ["a", "b", "c"],
    )
    assert result.stderr.splitlines() == [
        "f:3: not_json at $",
        "f:4: beyond_text at $.spans[0].end, set aside",
        "f:5: doc_id at $.doc_id",
        "Not checked: 2 lines that can't be read, 1 span or field that can't be used.",
    ]
    table = run("leaks", path)
    assert table.stderr.splitlines() == result.stderr.splitlines()[:3]
    assert table.stdout.splitlines()[-2:] == [
        result.stderr.splitlines()[3],
        "3 documents checked: 3 leaks in 3 of them.",
    ]


def test_bad_lines_are_told_up_to_twenty(tmp_path: Path) -> None:
    """A file of another kind isn't repeated on the terminal; all of it is counted."""
    result = run("leaks", write(tmp_path / "f", *[b"{"] * 25))
    assert len(result.stderr.splitlines()) == 21
    assert result.stderr.splitlines()[-1] == "… and 5 more that can't be used"
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        ["Not checked: 25 lines that can't be read.", "No document with a redacted text: nothing was checked."],
    )


def test_an_empty_file_says_that_nothing_was_checked(tmp_path: Path) -> None:
    """Which isn't the same as no leak."""
    path = write(tmp_path / "f")
    assert listed(path, code=0) == []
    assert run("leaks", path).stdout == "No document with a redacted text: nothing was checked.\n"


def test_decisions_without_an_output_are_counted(tmp_path: Path) -> None:
    """They have no line; an empty output is one."""
    path = write(tmp_path / "f", decision("a"), call("b", redacted=None), call("c", redacted=""))
    result = run("leaks", path, "--json")
    assert [json.loads(line)["doc_id"] for line in result.stdout.splitlines()] == ["c"]
    assert (result.exit_code, result.stderr) == (0, "Not checked: 2 documents without redacted text.\n")


def test_an_output_that_is_not_the_text_is_told(tmp_path: Path) -> None:
    """It's no leak and changes no exit code, and it's never among the clean ones without a word."""
    path = write(tmp_path / "f", call("turned", redacted="please call them about their order, thank you very much"))
    assert listed(path, code=0) == [{"doc_id": "turned", "aligned": False, "leaks": []}]
    result = run("leaks", path)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "turned  (not aligned)",
        "  nothing found",
        "",
        "1 document checked: 0 leaks in 0 of them, 1 not aligned with the text.",
    ]


def test_an_output_that_is_not_aligned_is_searched(tmp_path: Path) -> None:
    """A value in it is a leak as anywhere."""
    (document,) = listed(write(tmp_path / "f", call(redacted="wanted: a call to 0631772095, urgently")), code=1)
    assert (document["aligned"], {leak["entity"] for leak in document["leaks"]}) == (False, {"PHONE_NUMBER"})


@pytest.mark.parametrize("option", ["--json", "--limit=9"])
def test_no_text_is_shown_in_any_form(tmp_path: Path, option: str) -> None:
    """Neither of what leaks nor of what stands around it, nor of a line that can't be read."""
    path = write(tmp_path / "f", call(), b'{"doc_id": "x", "text": "graag"', call("c", redacted="bel 06-31 77 20 95"))
    result = run("leaks", path, option)
    said = result.stdout + result.stderr
    assert ("PHONE_NUMBER" in said, result.exit_code) == (True, 1)
    assert [word for word in ("graag", "mij", "95", "06-31", "😀") if word in said] == []


def test_text_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    """What survives between marks, and the output around it."""
    path = write(tmp_path / "f", call())
    assert "      Ok 😀👍 bel mij: <PHONE_NUMBER>▸95◂ graag" in run("leaks", path, "--show-text").stdout.splitlines()
    leak = listed(path, "--show-text", code=1)[0]["leaks"][0]
    assert (leak["text"], leak["output_text"]) == ("95", "95")
    assert leak["output_before"] + leak["output_text"] + leak["output_after"] == TAIL


def test_a_value_that_is_spelled_otherwise_is_shown_both_ways(tmp_path: Path) -> None:
    """As the output has it, and what of the source it is."""
    path = write(tmp_path / "f", call(redacted=f"{CLEAN}, of ０６３１７７２０９５"))
    lines = run("leaks", path, "--show-text").stdout.splitlines()
    assert [line for line in lines if "▸０６３１７７２０９５◂" in line] != []
    assert "      of: 06-31 77 20 95" in lines


@pytest.mark.parametrize("options", [("--show-text",), ("--show-text", "--json"), ("--json",), ()])
def test_what_a_terminal_would_obey_is_written_out(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Escapes, control characters of both sets, direction marks: in the text, in an id and in an entity."""
    nasty = "\x1b[2J\x9b1m\u202e\x07"
    span = {"start": 0, "end": 4, "entity": f"E{nasty[2:4]}\u202e"}
    text = f"Anna{nasty} was here"
    path = write(tmp_path / "f", decision(f"a{nasty}", text, (span,), redacted=text))
    result = run("leaks", path, *options)
    assert result.exit_code == 1
    assert [c for c in result.stdout if not c.isprintable() and c != "\n"] == []
    assert not result.stdout.count("\x1b")
    if "--json" in options:
        assert json.loads(result.stdout)["doc_id"] == f"a{nasty}"


def test_visible_text_keeps_what_can_be_seen() -> None:
    """Letters of any alphabet and emoji stay; what can't be seen is written out."""
    assert visible("Åsa 日本 👍") == "Åsa 日本 👍"
    assert visible("a\u200bb\u00a0c\r\n\ud83d") == "a\\u200bb\\xa0c\\r\\n\\ud83d"


def test_spans_under_the_threshold_are_no_decisions(tmp_path: Path) -> None:
    """As in ROUTE: equal is over it, no score is over it."""
    outputs = [
        listed(write(tmp_path / "f", call(redacted=CALL, threshold=t)), code=c) for t, c in ((0.95, 1), (0.96, 0))
    ]
    assert [len(document["leaks"]) > 0 for (document,) in outputs] == [True, False]
    unscored = {key: PHONE[key] for key in ("start", "end", "entity")}
    listed(write(tmp_path / "f", call(redacted=CALL, spans=(unscored,), threshold=1)), code=1)


def test_a_span_that_is_there_twice_leaks_once(tmp_path: Path) -> None:
    """Two names of one entity are one."""
    once = listed(write(tmp_path / "f", call()), code=1)
    twice = listed(write(tmp_path / "f", call(spans=(PHONE, PHONE | {"entity": "PHONE_NUMBER"}))), code=1)
    assert once == twice


def test_what_the_settings_let_stay_is_no_leak(tmp_path: Path) -> None:
    """The last four of a card, named in any spelling; a fifth is one digit too many."""
    path = write(tmp_path / "f", decision("a", CARD, (NUMBER,), redacted=LAST_FOUR))
    settings = tmp_path / "c.toml"
    settings.write_text(
        '[redaction.entities."card number"]\nkeep_last = 4\n[entities.aliases]\n"card number" = "CREDIT_CARD"\n'
    )
    listed(path, code=1)
    listed(path, "--config", settings, code=0)
    listed(path, "--set", "redaction.entities.CREDIT_CARD.keep_last=3", code=1)
    listed(path, "--set", "redaction.entities.CREDIT_CARD.ignore=true", code=0)


def test_a_placeholder_of_a_shape_of_its_own_is_none_of_the_value(tmp_path: Path) -> None:
    """Where the settings say so."""
    path = write(tmp_path / "f", call(redacted="Ok 😀👍 bel mij: (weg 95) graag"))
    listed(path, "--set", r'redaction.placeholders=["\\(weg \\d+\\)"]', code=0)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "redaction.entities.CARD.keep_last=65",
            "--set: redaction.entities.CARD.keep_last: 65: expected a whole number from 0 to 64",
        ),
        ("redaction.placeholders=['(']", "config: redaction.placeholders: RE2 can't compile '(': missing ): ("),
    ],
)
def test_a_bad_policy_ends_with_2_and_its_key(tmp_path: Path, setting: str, said: str) -> None:
    """One line, before a line is read."""
    result = run("leaks", write(tmp_path / "f", call()), "--set", setting)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"recallwatch: {said}\n")


@pytest.mark.parametrize(("name", "reason"), [("nowhere", "No such file or directory"), (".", "Is a directory")])
def test_a_file_that_can_not_be_read_ends_with_1(tmp_path: Path, name: str, reason: str) -> None:
    """One line says which."""
    result = run("leaks", tmp_path / name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"recallwatch: {tmp_path / name}: {reason}\n"


def test_a_file_is_named_once() -> None:
    """None or two are usage."""
    assert [run("leaks", *files).exit_code for files in ((), ("a", "b"))] == [2, 2]


def test_the_table_counts_all_and_lists_as_many_as_asked(tmp_path: Path) -> None:
    """By kind and entity; long ids aren't folded into a column, and eighty columns are enough."""
    path = write(
        tmp_path / "f", *(call(f"{n}-{'x' * 60}") for n in range(3)), decision("d", CARD, (NUMBER,), redacted=CARD)
    )
    lines = run("leaks", path, "--limit", "2").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == f"0-{'x' * 60}"
    assert lines[1] == "  partial_mask        PHONE_NUMBER  27–29      output 29–31"
    assert [line for line in lines if "more: --limit" in line] == ["2 more: --limit 4"]
    assert len([line for line in lines if " output " in line]) == 2
    rows = [line.split() for line in lines]
    assert ["PHONE_NUMBER", "3", "0", "3"] in rows
    assert ["CREDIT_CARD", "0", "1", "1"] in rows
    assert lines[-1] == "4 documents checked: 4 leaks in 4 of them."
    assert len(listed(path, "--limit", "2", code=1)) == 4


def test_standard_input_is_a_dash(tmp_path: Path) -> None:
    """A pipe is read as a file is, and JSON is UTF-8 whatever the terminal speaks."""
    data = write(tmp_path / "f", b"{", call("é")).read_bytes()
    command = [sys.executable, "-m", "streams.cli", "leaks", "-", "--json"]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, input=data, capture_output=True, check=False, env=environment, timeout=60)
    assert (done.returncode, json.loads(done.stdout.decode())["doc_id"]) == (1, "é")
    assert done.stderr.startswith(b"stdin:1: not_json at $")


@pytest.mark.parametrize("options", [("--json",), ("--limit", "100000")])
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path, options: tuple[str, ...]) -> None:
    """`| head` gets its lines, and no trace after them."""
    path = write(tmp_path / "f", *(call(f"{n}-{'x' * 400}") for n in range(2000)))
    command = [sys.executable, "-m", "streams.cli", "leaks", path, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() != b""
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    """0 none, 1 a leak, 2 usage."""
    clean, leaking = write(tmp_path / "c", call(redacted=CLEAN)), write(tmp_path / "l", call())
    codes = [start("leaks", *options).returncode for options in ((clean,), (leaking,), (clean, "--jsno"))]
    assert codes == [0, 1, 2]


def test_the_command_loads_no_kafka() -> None:
    """A file is checked anywhere."""
    code = "import sys; from streams import leaks_command; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout
    assert not {"faust", "aiokafka", "scipy"} & set(loaded.split())
