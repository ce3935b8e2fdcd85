"""`recallwatch misses`: the numbers of the readings, no text, and a plain word where a name isn't known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import CENSUS, MAILED, TEXT, files, read_json, replay, run
from ledger_table import PLAN, Table, drawn, labelled
from live_board import logs_kept, published
from workers import Fleet

from monitor.errors import StateError
from streams import lookup
from streams.ledger_reader import documents
from streams.table_reader import TableRows


def listed(*arguments: object) -> dict[str, Any]:
    """Return what the command says as JSON."""
    result = run("misses", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return read_json(result.stdout)


def test_what_was_not_read_is_told_beside_the_misses(tmp_path: Path) -> None:
    """Nothing read isn't nothing missed; a label of no document that was drawn is told where there is no other."""
    decisions, labels, broken = (tmp_path / name for name in ("d.jsonl", "l.jsonl", "b.jsonl"))
    row = {"doc_id": "a", "lang": "nl", "text": "Bo", "detector": "d", "version": "1", "spans": []}
    decisions.write_text(json.dumps(row))
    labels.write_text(json.dumps({"doc_id": "a", "annotator": "jo", "spans": [{"start": 0, "end": 2, "entity": "P"}]}))
    broken.write_bytes(b"\xff\xfe\n{\n")

    def told(*files: Path) -> tuple[str, str]:
        names = ("--decisions", files[0], "--labels", files[1])
        result = run("misses", *names, *(part for more in files[2:] for part in ("--labels", more)), *CENSUS)
        return result.stdout.splitlines()[-1], result.stderr

    nothing = "No labelled occurrence yet: nothing can be missed."
    found = "Missed 1 of 1 labelled occurrences: P 1 of 1"
    unread = "dead letters labels/not_json 1, dead letters labels/not_utf8 1"
    assert told(decisions, labels) == (found, "")
    assert told(decisions, broken) == (nothing, f"not counted: {unread}\n")
    assert told(decisions, labels, broken) == (found, f"not counted: {unread}\n")
    refused = unread.replace("labels/", "decisions/")
    assert told(broken, labels) == (nothing, f"not counted: {refused}, labels orphan 1\n")


@pytest.mark.parametrize("reading", ["matched", "masked"])
def test_a_replay_lists_as_many_misses_as_its_readings_count(tmp_path: Path, reading: str) -> None:
    """Cell by cell, version by version: true less found."""
    options = (*files(tmp_path), *CENSUS)
    misses = listed(*options, "--reading", reading)["misses"]
    seen = 0
    for r in replay(*options)["readings"]:
        if r["stratum"] is None:
            share = r[reading]
            assert isinstance(share, dict)
            mine = [
                m
                for m in misses
                if m["version"] == r["version"]
                and r["entity"] in ("any", m["entity"])
                and r["language"] in ("any", m["language"])
            ]
            assert len(mine) == share["true"] - share["found"]
            seen += len(mine)
    assert seen > 4


def test_no_text_is_shown_in_any_form(tmp_path: Path) -> None:
    """What was missed is named by its place alone."""
    options = (*files(tmp_path), *CENSUS)
    said = run("misses", *options).stdout + run("misses", *options, "--json").stdout
    assert "PERSON" in said
    assert not [word for word in (TEXT, MAILED, "Anna", "Gouda", "example.org") if word in said]


def test_the_table_fits_and_ends_with_the_counts(tmp_path: Path) -> None:
    """Eighty columns; the last line counts by entity, whatever the limit."""
    result = run("misses", *files(tmp_path), *CENSUS, "--limit", "1")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "Missed 3 of 5 labelled occurrences: PERSON 2 of 3, EMAIL_ADDRESS 1 of 2"
    assert lines[-2] == "2 more: --limit 3"


def test_a_limit_cuts_the_list_and_no_count(tmp_path: Path) -> None:
    """Totals are of all that is asked for."""
    document = listed(*files(tmp_path), *CENSUS, "--limit", "1")
    assert (len(document["misses"]), document["total"]) == (1, 3)
    assert document["by_entity"] == [
        {"entity": "PERSON", "missed": 2, "true": 3},
        {"entity": "EMAIL_ADDRESS", "missed": 1, "true": 2},
    ]


def test_a_name_is_asked_for_in_any_spelling_of_it(tmp_path: Path) -> None:
    """Entities are folded, languages in lower case."""
    options = (*files(tmp_path), *CENSUS)
    assert listed(*options, "--entity", "e-mail", "--language", "EN")["total"] == 1
    assert listed(*options, "--version", "2", "--stratum", "unflagged")["total"] == 1
    assert listed(*options, "--entity", "any", "--language", "any")["total"] == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--entity", "PERSN"), "--entity: no labelled occurrence is of PERSN; known: EMAIL_ADDRESS, PERSON"),
        (("--language", "fr"), "--language: no labelled occurrence is of fr; known: en"),
        (("--detector", "y"), "--detector: no labelled occurrence is of y; known: x"),
        (("--version", "3"), "--version: no labelled occurrence is of 3; known: 1, 2"),
        (("--since", "2026-01-02", "--until", "2026-01-01"), "--until: 2026-01-01 is before --since, 2026-01-02"),
    ],
)
def test_a_name_that_no_label_has_is_told_what_is_known(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """An empty list would read as "nothing was missed"."""
    result = run("misses", *files(tmp_path), *CENSUS, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"recallwatch: {said}\n")


def test_half_a_replay_is_refused(tmp_path: Path) -> None:
    """Decisions without labels would ask the live board for the rest."""
    options = files(tmp_path)
    assert run("misses", *options[:2]).exit_code == 2
    assert run("misses", "--annotator", "jo").exit_code == 2


def test_without_a_label_nothing_can_be_missed(tmp_path: Path) -> None:
    """That is said, and isn't zero of zero."""
    empty = tmp_path / "empty"
    empty.touch()
    options = ("--decisions", files(tmp_path)[1], "--labels", empty)
    assert run("misses", *options).stdout == "No labelled occurrence yet: nothing can be missed.\n"
    assert listed(*options, "--entity", "PERSON")["total"] == 0


def test_no_broker_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 1, and no half of a table."""
    monkeypatch.setattr(lookup, "PATIENCE_S", 0.5)
    with logs_kept():
        result = run("misses", "--set", "kafka.brokers=127.0.0.1:9")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "recallwatch: 127.0.0.1:9: no broker within 0 s\n"


# the changelog


def written(table: Table, *more: tuple[str, bytes | None]) -> TableRows:
    """Return what a reader makes of a table's changelog and more records after it."""
    table.checkpoint()
    rows = TableRows("changelog")
    records = [*table.rows.items(), ("", table.head), *more]
    for offset, (row, value) in enumerate(records):
        rows.take(0, offset, f"0/{row}".encode(errors="surrogateescape"), value)
    return rows


def test_the_changelog_is_read_as_the_ledger_wrote_it() -> None:
    """Heads and rows told apart, tombstones respected, of a key the last value."""
    table = Table()
    table.take("sampled", drawn("a"), drawn("b/c"), drawn("gone"))
    early = written(table)
    table.take("labels_by_document", labelled("a"))
    rows = written(table, ("gone", None), ("never there", None))
    kept = dict(table.ledger.documents())
    del kept["gone"]
    assert dict(documents(rows)) == kept
    assert dict(documents(early))["a"] != kept["a"]


def test_rows_that_have_expired_are_left_out() -> None:
    """They wait in the table until the next checkpoint deletes them, and count no more."""
    table = Table()
    table.take("sampled", drawn("old"))
    table.checkpoint()
    table.take("sampled", drawn("new", day=PLAN.horizon_days + 1))
    rows = written(table)
    assert "old" in table.rows
    assert [doc_id for doc_id, _ in documents(rows)] == ["new"]


@pytest.mark.parametrize("key", [None, b"1/a", b"a", b"00/a"])
def test_a_foreign_record_is_told_by_its_place(key: bytes | None) -> None:
    """Somebody else wrote to the changelog."""
    with pytest.raises(StateError, match="changelog/0@7"):
        TableRows("changelog").take(0, 7, key, b"")


@pytest.mark.parametrize(("row", "value"), [("a", b"no row"), ("", b"no head")])
def test_rows_of_another_version_are_refused(row: str, value: bytes) -> None:
    """A list that left them out would be short."""
    table = Table()
    table.take("sampled", drawn("a"))
    with pytest.raises(StateError):
        list(documents(written(table, (row, value))))


# on a broker


@pytest.mark.broker
def test_the_live_ledger_lists_as_many_misses_as_the_board_counts(fleet: Fleet) -> None:
    """Read off the changelog while nobody writes it; the group's positions stay where they are."""
    snapshot = published(fleet)
    done = fleet.run("misses", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    (cell,) = [r for r in snapshot.readings if (r.entity, r.language, r.stratum) == ("any", "any", None)]
    assert document["total"] == cell.matched.true - cell.matched.found > 30
    partly = [m for m in document["misses"] if m["entity"] == "LOCATION" and m["covered"]]
    assert {(m["covered"], m["length"], m["covered_share"]) for m in partly} == {(2, 5, 0.4)}


@pytest.mark.broker
def test_a_topic_that_is_missing_is_one_line(fleet: Fleet) -> None:
    """And isn't made by asking for it."""
    done = fleet.run("misses")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"topic {fleet.topic('history')}: missing" in done.stderr
