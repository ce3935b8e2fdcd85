"""`recallwatch plan`: by formula, from files, from the live board; as a table, as JSON, as a picture, into a file."""

from __future__ import annotations

import importlib.util
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from commands import ANNA, CENSUS, TEXT, corpus_line, decision, files, run, write
from rich.console import Console

from monitor.cells import CellSample, Version
from monitor.config import Sampling
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.planning import Question, plan_board
from monitor.readings import ANY
from streams.plan_plot import save_picture
from streams.plan_table import print_plan
from streams.settings import load_settings

FIXED = ("plan", "--recall", ".7", "--half-width", ".05")


def read_plan(*arguments: object) -> dict[str, object]:
    """Return a plan as JSON."""
    result = run("plan", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    document: dict[str, object] = json.loads(result.stdout, parse_constant=pytest.fail)
    return document


def unseen(folder: Path) -> tuple[str, ...]:
    """Write documents of two languages, one of which has no occurrence; return the options."""
    one = write(folder / "one.jsonl", decision("a", spans=(ANNA,)), decision("e", lang="nl", spans=(ANNA,)))
    two = write(folder / "two.jsonl", corpus_line("a", spans=(ANNA,)), corpus_line("e", lang="nl"))
    return "--decisions", str(one), "--labels", str(two)


def many(folder: Path, documents: int = 400) -> tuple[str, ...]:
    """Write many documents of one kind and some that the detector doesn't see, with labels; return the options."""
    seen = [decision(f"s{i}", spans=(ANNA,)) for i in range(documents // 4)]
    unseen = [decision(f"u{i}", "nothing that any net would take for a name") for i in range(documents)]
    missed = {"start": 0, "end": 7, "entity": "PERSON"}
    labels = [corpus_line(f"s{i}", TEXT, (ANNA,) if i % 3 else ()) for i in range(documents // 4)]
    labels += [
        corpus_line(f"u{i}", "nothing that any net would take for a name", (missed,) if i % 40 == 0 else ())
        for i in range(documents)
    ]
    one, two = write(folder / "many.jsonl", *seen, *unseen), write(folder / "many-labels.jsonl", *labels)
    return (
        "--decisions",
        str(one),
        "--labels",
        str(two),
        "--set",
        "sampling.random_rate=0.5",
        "--set",
        "sampling.loose_rate=0.5",
    )


# by formula


def test_the_documented_figures_come_out() -> None:
    """323 occurrences, and about 79,000 documents at 4.1 in 1,000; exactly these two keys."""
    result = run(*FIXED, "--per-1000", "4.1", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"occurrences": 323, "documents": 78_781})


def test_days_are_told_at_a_pace() -> None:
    """One key more, where labels a day are given."""
    result = run(*FIXED, "--per-1000", "4.1", "--labels-per-day", "60", "--json")
    found = json.loads(result.stdout)
    assert (list(found), round(found["days"])) == (["occurrences", "documents", "days"], 1_313)
    words = run(*FIXED, "--per-1000", "4.1", "--labels-per-day", "60").stdout.splitlines()
    assert words == ["323 true occurrences", "78,781 documents, drawn at random", "1,314 days at 60 labels a day"]


def test_without_a_prevalence_no_documents_are_told() -> None:
    """No data gives no number."""
    result = run(*FIXED, "--labels-per-day", "60", "--json")
    assert json.loads(result.stdout) == {"occurrences": 323, "documents": None, "days": None}
    assert run(*FIXED).stdout == "323 true occurrences\n"


def test_one_is_one() -> None:
    """No plural of a single occurrence, document, day or label."""
    words = run("plan", "--recall", ".9", "--half-width", ".9", "--per-1000", "1000", "--labels-per-day", "1").stdout
    assert words.splitlines() == ["1 true occurrence", "1 document, drawn at random", "1 day at 1 label a day"]


def test_a_design_effect_counts() -> None:
    """Twice the variance, twice the occurrences."""
    assert json.loads(run(*FIXED, "--deff", "2", "--json").stdout)["occurrences"] == 646


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--recall", "1"), "0<x<1"),
        (("--recall", "0"), "0<x<1"),
        (("--recall", "nan"), "no finite number"),
        (("--recall", "abc"), "abc is no finite number: 0<x<1"),
        (("--recall", ".7", "--half-width", "1.5"), "0<x<1"),
        (("--recall", ".7", "--per-1000", "0"), "x>0"),
        (("--recall", ".7", "--per-1000", "inf"), "no finite number"),
        (("--recall", ".7", "--deff", "-1"), "x>0"),
        (("--recall", ".7", "--labels-per-day", "0"), "x>0"),
        (("--certified", "1"), "0<x<1"),
        (("--recall", ".7", "--live"), "one of: --recall"),
        (("--recall", ".7", "--plot", "a.png"), "--plot needs data"),
        (("--recall", ".7", "--write", "a.toml"), "--write needs data"),
        (("--live", "--per-1000", "4"), "--per-1000 goes with --recall"),
        (("--live", "--key", "k"), "--key goes with --decisions and --labels"),
        (("--live", "--decisions", "a", "--labels", "b"), "one of: --recall"),
        (("--decisions", "a"), "--labels"),
        (("--live", "--plot", "a.pdf"), "ends with .png or .svg"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    """Before anything is read, with exit code 2 and what is allowed."""
    result = run("plan", *arguments)
    assert result.exit_code == 2
    assert problem in " ".join(result.stderr.split())


# from files


def test_every_cell_has_its_numbers_from_a_replay(tmp_path: Path) -> None:
    """Of the same run as `replay`'s; whatever isn't known is null."""
    given = many(tmp_path)
    readings = json.loads(run("replay", *given, "--json").stdout)["readings"]
    (reading,) = [r for r in readings if (r["entity"], r["language"], r["stratum"]) == ("PERSON", "en", None)]
    found = read_plan(*given)
    cells = {(c["entity"], c["language"]): c for c in found["cells"]}  # type: ignore[attr-defined]  # a list
    cell = cells["PERSON", "en"]
    assert (cell["recall"], cell["lower"], cell["upper"]) == tuple(
        reading["matched"][k] for k in ("estimate", "lower", "upper")
    )
    assert cell["half_width"] == pytest.approx((cell["upper"] - cell["lower"]) / 2)
    assert (cell["labelled"], cell["certified"]) == (reading["labelled"], reading["certified"]["lower"])
    assert cell["to_half_width"]["labels"] > cell["labelled"]
    assert cell["reason"] is None
    assert sum(share["before"] for share in cell["variance_shares"]) == pytest.approx(1)
    assert set(cells) == {(entity, language) for entity in ("PERSON", ANY) for language in ("en", ANY)}


def test_a_budget_is_what_the_advised_rates_draw(tmp_path: Path) -> None:
    """By stratum, and with the rates as a settings file would have them; the key isn't told."""
    advised = read_plan(*many(tmp_path), "--labels-per-day", "40", "--per-day", "100")["advised"]
    assert isinstance(advised, dict)
    assert advised["labels_per_day"] == pytest.approx(40, rel=0.005)
    assert sum(row["documents_per_day"] for row in advised["strata"]) == pytest.approx(100)
    assert "key" not in advised["sampling"]
    assert 0 < advised["sampling"]["random_rate"] < 1


def test_cells_are_chosen_by_any_name_of_theirs(tmp_path: Path) -> None:
    """As the alias table has it, in any case; the roll-up too."""
    for name, entity in (("person", "PERSON"), ("PER", "PERSON"), ("ANY", ANY)):
        found = read_plan(*many(tmp_path), "--entity", name, "--language", "EN")["cells"]
        assert [(c["entity"], c["language"]) for c in found] == [(entity, "en")]  # type: ignore[attr-defined]  # a list


def test_a_name_that_no_cell_has_is_a_slip(tmp_path: Path) -> None:
    """Said with the names there are."""
    result = run("plan", *many(tmp_path), "--entity", "PERSN")
    assert (result.exit_code, result.stderr) == (2, "recallwatch: --entity: no cell is of PERSN; known: PERSON, any\n")


def test_cells_without_a_label_say_why(tmp_path: Path) -> None:
    """In the table as in JSON: a reason, and no number."""
    given = unseen(tmp_path)
    (cell,) = read_plan(*given, *CENSUS, "--entity", "PERSON", "--language", "nl")["cells"]  # type: ignore[misc]  # a list
    assert (cell["reason"], cell["documents_with"]) == ("no_truth", 0)
    assert {cell[name] for name in ("half_width", "to_half_width", "certified", "to_certified", "times_fewer")} == {
        None
    }
    assert "No interval, none among the labelled: PERSON/nl" in run(
        "plan", *given, *CENSUS, "--entity", "PERSON"
    ).stdout.replace("\n", " ")


def test_without_any_decision_nothing_is_planned(tmp_path: Path) -> None:
    """An empty file is no error, and gives no number."""
    empty = write(tmp_path / "empty.jsonl")
    given = ("--decisions", empty, "--labels", empty)
    found = read_plan(*given)
    assert (found["cells"], found["advised"], found["labels_per_day"]) == ([], None, None)
    assert run("plan", *given).stdout == "Nothing to plan: no decision was counted.\n"


def test_tables_fit_eighty_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that was asked for is in them, and nothing was changed."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    result = run("plan", *many(tmp_path), "--labels-per-day", "40")
    assert result.exit_code == 0
    said = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    assert [line for line in said.splitlines() if len(line) > 80] == []
    for title in (
        "Labels for ± 0.05",
        "Labels for certified recall, by document",
        "Share of the variance",
        "Advised rates",
    ):
        assert title in said
    assert "Nothing was changed" in said


def two_languages(folder: Path) -> tuple[str, ...]:
    """Write a language with nine in ten documents and another, each read by a model of its own; return the options.

    All of them are drawn, which gives the smaller language a tenth of the labels.
    """
    missed = {"start": 0, "end": 6, "entity": "PERSON"}
    documents = [(f"{lang}{i}", lang, i) for lang, n in (("en", 360), ("fr", 40)) for i in range(n)]
    one = write(folder / "l.jsonl", *[decision(d, version=f"2+{v}", lang=v, spans=(ANNA,)) for d, v, _ in documents])
    two = write(
        folder / "ll.jsonl",
        *[corpus_line(d, TEXT, (ANNA, missed) if i % 3 == 0 else (ANNA,), lang=v) for d, v, i in documents],
    )
    return "--decisions", str(one), "--labels", str(two), *CENSUS, "--per-day", "4000", "--labels-per-day", "60"


def test_each_languages_model_is_planned_with_its_part_of_the_labels(tmp_path: Path) -> None:
    """A version a language, of which one is the newest: all are planned, and the labels a day add up."""
    cells = read_plan(*two_languages(tmp_path))["cells"]
    paces = {
        (c["language"], c["version"]): c["labels_per_day"]
        for c in cells  # type: ignore[attr-defined]  # a list
        if c["entity"] == "PERSON" and c["language"] != ANY
    }
    assert paces == {("en", "2+en"): pytest.approx(54), ("fr", "2+fr"): pytest.approx(6)}


def test_a_gain_in_days_is_no_little_gain(tmp_path: Path) -> None:
    """The smaller language's labels stay as many and come sooner: "fewer" says so, and so do the days and the words."""
    given = two_languages(tmp_path)
    (cell,) = read_plan(*given, "--entity", "PERSON", "--language", "fr")["cells"]  # type: ignore[misc]  # a list
    now, advised = cell["to_half_width"], cell["to_half_width_advised"]
    assert advised["labels"] == pytest.approx(now["labels"], rel=0.05)
    assert cell["times_fewer"] > 2
    assert now["window_days"] / advised["window_days"] == pytest.approx(cell["times_fewer"], rel=0.1)
    assert "There is little to gain" not in run("plan", *given, "--language", "fr").stdout


def test_never_certified_says_why(tmp_path: Path) -> None:
    """Recall by document is below what is wanted, and more labels won't change that."""
    given = (*two_languages(tmp_path), "--entity", "PERSON", "--language", "fr")
    (cell,) = read_plan(*given)["cells"]  # type: ignore[misc]  # a list
    assert (cell["recall_by_document"], cell["to_certified"]["labels"]) == (0.65, None)
    words = " ".join(run("plan", *given).stdout.split())
    assert "Never certified, as recall by document is below what's wanted: PERSON/fr 0.650" in words
    assert "Never certified" not in run("plan", *given, "--certified", "0.3").stdout


def test_never_certified_for_want_of_labels_says_so() -> None:
    """Half of the drawn documents have no label, and count as missed: recall by document isn't to blame."""
    found, missed = (Moments(*[n * one for one in Moments.of(t, 1)]) for n, t in ((475, 1), (25, 0)))
    strata = (StratumSample("en", "both", 1_000, (Design(1.0, 1_000, 500, found.plus(missed)),)),)
    cell = CellSample("PERSON", "en", Version("x", "1"), current=True, days=10, strata=strata)
    plan = plan_board([cell], Sampling(), Question(certified=0.92, labels_per_day=60), lambda _entity, _language: None)
    console = Console(file=StringIO(), record=True, width=200)
    print_plan(console, plan)
    (said,) = [line for line in console.export_text().splitlines() if line.startswith("Never certified")]
    assert said.startswith("Never certified, as what isn't labelled counts as missed, and several rates as the worst")
    assert said.endswith("PERSON/en 0.950")


def test_a_target_of_occurrences_is_not_taken_for_one_of_documents(tmp_path: Path) -> None:
    """Certified recall counts documents: where both stand in one row, that's said."""
    words = " ".join(run("plan", *many(tmp_path), "--set", "targets.PERSON=0.9").stdout.split())
    assert "of documents too, though the figure may be a target's, which is of occurrences" in words


def test_only_the_newest_version_is_planned(tmp_path: Path) -> None:
    """Of each language: the earlier one stays where the newest wasn't seen, and its table says so."""
    given = (*files(tmp_path), *CENSUS)
    found = read_plan(*given)["cells"]
    planned = {(c["language"], c["version"], c["current"]) for c in found}  # type: ignore[attr-defined]  # a list
    assert planned == {("en", "2", True), (ANY, "2", True), ("nl", "1", False)}
    assert "x 1, the last in nl" in run("plan", *given, "--language", "nl").stdout.splitlines()
    result = run("plan", *given, "--language", "fr")
    assert (result.exit_code, result.stderr) == (2, "recallwatch: --language: no cell is of fr; known: any, en, nl\n")


def test_two_names_that_never_come_together_are_said(tmp_path: Path) -> None:
    """Each is known, and no cell of any detector has both."""
    mail = decision(
        "m",
        "write to anna@example.org please",
        ({"start": 9, "end": 25, "entity": "EMAIL_ADDRESS"},),
        lang="nl",
        detector="y",
    )
    one = write(tmp_path / "one.jsonl", decision("a", spans=(ANNA,)), mail)
    given = ("--decisions", one, "--labels", write(tmp_path / "two.jsonl"))
    result = run("plan", *given, "--entity", "EMAIL_ADDRESS", "--language", "en")
    assert (result.exit_code, result.stderr) == (2, "recallwatch: --entity: no cell is of EMAIL_ADDRESS in en\n")


# into a file


def test_write_puts_the_advised_rates_into_a_file(tmp_path: Path) -> None:
    """Those of the JSON, comments kept; what changed is told, old and new."""
    path = tmp_path / "own.toml"
    path.write_text("# ours\n[sampling]\nrandom_rate = 0.5 # one in two\nloose_rate = 0.5\n\n[targets]\nPERSON = 0.9\n")
    given = (*many(tmp_path), "--labels-per-day", "40")
    expected = read_plan(*given)["advised"]
    assert isinstance(expected, dict)
    result = run("plan", *given, "--write", path)
    assert result.exit_code == 0
    sampling = load_settings(path).config.sampling
    assert sampling.random_rate == expected["sampling"]["random_rate"]
    assert sampling.loose_rate_by_stratum == expected["sampling"]["loose_rate_by_stratum"]
    text = path.read_text()
    assert text.startswith(f"# ours\n[sampling]\nrandom_rate = {sampling.random_rate} # one in two\nloose_rate = 0.5\n")
    assert text.endswith("\n[targets]\nPERSON = 0.9\n")
    assert f"sampling.random_rate: 0.5 → {sampling.random_rate:g}" in result.stdout
    assert "Nothing was changed" not in result.stdout
    assert f"{path}: has these rates already" in run("plan", *given, "--write", path).stdout.replace("\n", " ")


def test_write_into_no_settings_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    """Exit code 2, with the file and what is wrong in it."""
    missing, bad = tmp_path / "none.toml", tmp_path / "bad.toml"
    bad.write_text("[sampling]\nrandom_rate = 2\n")
    for path, problem in ((missing, "No such file"), (bad, "sampling.random_rate")):
        result = run("plan", "--decisions", "no such file", "--labels", "none", "--write", path)
        assert result.exit_code == 2
        assert str(path) in result.stderr
        assert problem in result.stderr
    assert run("plan", *many(tmp_path), "--write").exit_code == 2


def test_nothing_is_written_where_nothing_is_advised(tmp_path: Path) -> None:
    """No label holds an entity: exit code 1, and the file as it was."""
    path, empty = write(tmp_path / "own.toml", b"# ours"), write(tmp_path / "empty.jsonl")
    result = run("plan", "--decisions", empty, "--labels", empty, "--write", path)
    assert (result.exit_code, path.read_text()) == (1, "# ours\n")
    assert "no label holds an entity yet" in result.stderr


# as a picture


@pytest.mark.parametrize(("name", "begins"), [("plan.png", b"\x89PNG"), ("plan.svg", b"<?xml")])
def test_a_picture_is_written(name: str, begins: bytes, tmp_path: Path) -> None:
    """In the form that its name asks for."""
    pytest.importorskip("matplotlib", reason="pip install 'recallwatch[plots]'")
    result = run("plan", *many(tmp_path), "--plot", tmp_path / name)
    assert (result.exit_code, result.stderr) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_picture_needs_a_library_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is read: not after minutes of it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    result = run("plan", "--decisions", "no such file", "--labels", "none", "--plot", tmp_path / "plan.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "recallwatch: --plot needs matplotlib: pip install 'recallwatch[plots]' "
        "(in a checkout: pip install '.[plots]')\n"
    )


def test_a_picture_of_nothing_is_refused(tmp_path: Path) -> None:
    """No empty axes that would pass for an answer; why is said."""
    pytest.importorskip("matplotlib", reason="pip install 'recallwatch[plots]'")
    result = run(
        "plan", *unseen(tmp_path), *CENSUS, "--entity", "PERSON", "--language", "nl", "--plot", tmp_path / "p.png"
    )
    assert (result.exit_code, (tmp_path / "p.png").exists()) == (1, False)
    assert "no cell has an interval: none among the labelled" in result.stderr


def test_a_picture_tells_cells_labels_source_and_date(tmp_path: Path) -> None:
    """What a picture must carry is in its text, six cells at most."""
    pytest.importorskip("matplotlib", reason="pip install 'recallwatch[plots]'")
    hits, missed = (Moments(*[60 * one for one in Moments.of(t, 1)]) for t in (1, 0))
    strata = (
        StratumSample("en", "both", 4_000, (Design(0.1, 400, 400, hits),)),
        StratumSample("en", "unflagged", 40_000, (Design(0.02, 800, 800, missed),)),
    )
    cells = [CellSample(f"E{i}", "en", Version("x", "1"), current=True, days=10, strata=strata) for i in range(8)]
    plan = plan_board(cells, Sampling(), Question(labels_per_day=120), lambda _entity, _language: None)
    path = tmp_path / "plan.svg"
    save_picture(plan, path, "replay")
    text = path.read_text()
    drawn = re.findall(r"<!-- (.*?) -->", text)
    assert len([words for words in drawn if words.startswith("E")]) == 6
    for words in ("6 of 8 cells, the lowest first", "labelled documents", "today: 1,200", "recallwatch plan, replay"):
        assert any(words in one for one in drawn), words
