"""`recallwatch replay` by days: its options, what its JSON adds, and what it prints."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from commands import ANNA, CENSUS, corpus_line, decision, files, read_json, replay, run, write

TARGET = ("--set", "targets.PERSON=0.9")
ALARM = {
    "type": "object",
    "properties": {
        "entity": {"type": "string"},
        "language": {"type": "string"},
        "day": {"type": "integer", "minimum": 0},
        "cause": {"enum": ["recall_fell", "stopped_knowing", "design_changed"]},
        "evidence": {"type": ["number", "null"]},
        "detector": {"type": "string"},
        "version": {"type": "string"},
        "changed": {"enum": ["rates", "version", None]},
        "windows_days": {"type": "array", "items": {"type": ["integer", "null"]}},
    },
    "required": ["entity", "language", "day", "cause", "evidence", "detector", "version", "changed", "windows_days"],
    "additionalProperties": False,
}


SHIFT = {
    "type": "object",
    "properties": {
        "signal": {"type": "string"},
        "entity": {"type": "string", "minLength": 1},
        "language": {"type": "string", "minLength": 1},
        "direction": {"enum": ["up", "down"]},
        "day": {"type": "integer", "minimum": 0},
    },
    "required": ["signal", "direction", "day"],
    "additionalProperties": False,
}


def sides(folder: Path) -> tuple[object, ...]:
    """Write a version that finds what there is, one that finds nothing, and labels; return the options for them."""
    names = [f"d{i}" for i in range(30)]
    one = write(folder / "one", *(decision(name, spans=(ANNA,)) for name in names))
    two = write(folder / "two", *(decision(name, version="2") for name in names))
    labels = write(folder / "labels", *(corpus_line(name, spans=(ANNA,)) for name in names))
    return ("--decisions", one, "--then", two, "--labels", labels, *CENSUS)


def test_json_adds_the_swap_and_the_alarms(tmp_path: Path) -> None:
    """Days count from 0 over both sides; the alarm of what fell is told on a day after the swap."""
    document = replay(*sides(tmp_path), *TARGET, "--passes", 3, "--per-day", 30, "--label-delay-days", "0-1")
    assert document["swap_day"] == 3
    jsonschema.validate(document["alarms"], {"type": "array", "items": ALARM})
    fell = [alarm for alarm in document["alarms"] if alarm["cause"] == "recall_fell"]
    assert {alarm["entity"] for alarm in fell} == {"PERSON"}
    assert {alarm["day"] in (3, 4, 5) for alarm in fell} == {True}
    assert "daily" not in document


def test_json_adds_what_changed_in_the_detectors_output(tmp_path: Path) -> None:
    """Without labels or targets; a share of all has no entity."""
    document = replay(*sides(tmp_path), "--passes", 6, "--per-day", 60)
    jsonschema.validate(document["drift"], {"type": "array", "items": SHIFT, "minItems": 1})
    lost = {"language": "en", "direction": "down", "day": 3}
    assert lost | {"signal": "flagged"} in document["drift"]
    assert lost | {"signal": "entity", "entity": "PERSON"} in document["drift"]
    assert document["swap_day"] == 3


def test_daily_readings_are_the_evenings(tmp_path: Path) -> None:
    """The population's alone; the last evening's are the final ones."""
    document = replay(*sides(tmp_path), "--passes", 2, "--daily")
    assert [day["day"] for day in document["daily"]] == [0, 1, 2, 3]
    assert document["daily"][-1]["readings"] == [r for r in document["readings"] if r["stratum"] is None]
    labelled = [
        [
            r["labelled"]
            for r in day["readings"]
            if (r["entity"], r["language"], r["window"]["days"]) == ("any", "any", 7)
        ]  # type: ignore[attr-defined,index]  # JSON
        for day in document["daily"]
    ]
    assert labelled == [[30], [60], [30, 60], [60, 60]]


def test_without_an_option_of_days_nothing_is_added(tmp_path: Path) -> None:
    """One window over everything, and the keys that there always were."""
    document = replay(*files(tmp_path), *CENSUS)
    assert not {"swap_day", "alarms", "drift", "daily"} & set(document)
    assert {r["window"]["days"] for r in document["readings"]} == {None}  # type: ignore[index]  # JSON


@pytest.mark.parametrize(
    "option", [("--passes", 1), ("--per-day", 5), ("--label-delay-days", "0-0"), ("--labels-per-day", 9), ("--daily",)]
)
def test_any_option_of_days_simulates_them(tmp_path: Path, option: tuple[object, ...]) -> None:
    """Also with a value that could be the default's; without a next version there's no swap."""
    document = replay(*files(tmp_path), *CENSUS, *option)
    assert (document["swap_day"], document["alarms"]) == (None, [])
    assert {r["window"]["days"] for r in document["readings"]} == {7, 28}  # type: ignore[index]  # JSON


def test_the_key_decides(tmp_path: Path) -> None:
    """The same one gives the same JSON, byte for byte; advised rates and slow people included."""
    base = (*sides(tmp_path)[:6], "--json", "--passes", 4, "--per-day", 15, "--label-delay-days", "0.5-3")
    more = (*base, "--labels-per-day", 6, "--rates", "advised")
    one, same, other = (run("replay", *more, "--key", key) for key in ("a", "a", "b"))
    assert (one.exit_code, one.stdout) == (0, same.stdout)
    assert read_json(one.stdout)["swap_day"] == 8
    assert other.stdout != one.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--label-delay-days", "5"), ("--label-delay-days", "A-B")),
        (("--label-delay-days", "5-1"), ("--label-delay-days", "A <= B")),
        (("--label-delay-days", "-1-2"), ("--label-delay-days", "0 <= A")),
        (("--label-delay-days", "a-b"), ("--label-delay-days", "A-B")),
        (("--passes", "0"), ("--passes", ">=1")),
        (("--per-day", "0"), ("--per-day", ">=1")),
        (("--per-day", "1.5"), ("--per-day", "integer")),
        (("--labels-per-day", "-3"), ("--labels-per-day", ">=1")),
        (("--rates", "advised"), ("--rates", "--labels-per-day")),
        (("--rates", "best", "--labels-per-day", "3"), ("--rates", "advised")),
        (("--daily",), ("--daily", "--json")),
    ],
)
def test_an_option_that_can_not_be_ends_with_2(tmp_path: Path, options: tuple[str, ...], told: tuple[str, ...]) -> None:
    """Standard error names it and says what is allowed; nothing is printed."""
    result = run("replay", *sides(tmp_path), *options)
    assert (result.exit_code, result.stdout) == (2, "")
    for words in told:
        assert words in result.stderr


def test_a_next_version_needs_a_first_one(tmp_path: Path) -> None:
    """There's nothing that it would come after."""
    _, _, *others = sides(tmp_path)
    result = run("replay", *others)
    assert result.exit_code == 2
    assert "--decisions" in result.stderr


def test_a_file_that_can_not_be_read_ends_with_1(tmp_path: Path) -> None:
    """Whichever side's it is."""
    result = run("replay", *sides(tmp_path), "--then", tmp_path / "nowhere")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"recallwatch: {tmp_path / 'nowhere'}: No such file or directory\n"


def test_the_text_tells_days_swap_and_alarms(tmp_path: Path) -> None:
    """In one table each; the readings are those of the main window alone."""
    result = run("replay", *sides(tmp_path), *TARGET, "--passes", 3)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "6 days, counted from 0; readings are of the last 7, as of day 5." in result.stdout
    assert "The next version begins on day 3." in result.stdout
    table = result.stdout.partition("\nTold ")[2].partition("recall fell: the alarm went on")[0]
    assert [line.split()[0] for line in table.splitlines() if "recall fell" in line] == ["PERSON", "PERSON"]
    came = [line.split() for line in table.splitlines() if "came" in line]
    assert came == [["any", "any", "3", "version", "x", "2", "came", "–"]]
    changes = result.stdout.partition("\nChanges of the detector's output")[2]
    assert [line.split() for line in changes.splitlines() if "PERSON" in line] == [
        ["entity", "PERSON", "en", "4", "down"]
    ]
    population = result.stdout.partition("Recall over all traffic")[2].partition("Within each stratum")[0]
    assert [line.split()[:2] for line in population.splitlines() if "PERSON" in line] == [
        ["PERSON", "any"],
        ["PERSON", "en"],
    ]


def test_before_is_what_was_read_the_evening_before_the_swap(tmp_path: Path) -> None:
    """The window of the last day holds no more than the end of the version before, or nothing of it."""
    document = replay(*sides(tmp_path), *TARGET, "--passes", 8, "--daily", "--set", "readings.windows_days=[7]")
    swap = document["swap_day"]
    assert swap == 8
    assert document["before_swap"] == document["daily"][swap - 1]["readings"]  # type: ignore[operator]  # JSON
    options = (*sides(tmp_path), *TARGET, "--passes", 8, "--set", "readings.windows_days=[7]")
    table = run("replay", *options).stdout.partition("Before and after, 7 days each, as of day 7 and day 15")[2]
    found = [line.split() for line in table.splitlines() if line.startswith("PERSON") and " en " in line][:2]
    assert [(row[2], row[5], row[6], row[7], row[8]) for row in found] == [
        ("before", "210/210", "210/210", "ok", "0.900"),
        ("after", "0/210", "210/210", "no_interval", "0.900"),
    ]


def test_without_an_evening_before_the_swap_nothing_stands_beside_it(tmp_path: Path) -> None:
    """Of a replay without a next version, too."""
    document = replay(*files(tmp_path), *CENSUS, "--passes", 2)
    assert (document["swap_day"], document["before_swap"]) == (None, None)


def test_a_version_that_comes_is_told_and_is_no_alarm(tmp_path: Path) -> None:
    """What is told stands under its own title, and that no alarm came is said."""
    two = write(tmp_path / "same", *(decision(f"d{i}", spans=(ANNA,), version="2") for i in range(30)))
    options = list(sides(tmp_path))
    options[options.index("--then") + 1] = two
    told = run("replay", *options, *TARGET, "--passes", 2).stdout
    assert "version x 2 came" in told
    assert "\nNo alarm." in told


def test_help_says_what_days_and_states_of_an_alarm_are() -> None:
    """Whoever reads the JSON finds there that it's told later than the day that it rests on."""
    text = " ".join(run("replay", "--help").stdout.split())
    for words in ("by the day it was told on", "on_since and fired_at", "held (on since an earlier", "before_swap"):
        assert words in text


def test_counts_say_of_how_many_days_they_are(tmp_path: Path) -> None:
    """Labels are those of the longest window, but for what was left out as the file was read."""
    others = write(tmp_path / "others", corpus_line("d0", annotators=["kim"]), b"{")
    options = (*sides(tmp_path), "--labels", others, "--annotator", "jo", "--passes", 2, "--set")
    text = run("replay", *options, "readings.windows_days=[7]").stdout
    assert "Labels, last 7 days: joined 120\n" in text
    assert "Labels: not_chosen 1\n" in text
    assert "Dead letters: labels/not_json 1\n" in text


def test_the_text_says_why_there_is_no_alarm(tmp_path: Path) -> None:
    """None came, or none could come."""
    sides(tmp_path)
    quiet = ("--decisions", tmp_path / "one", "--labels", tmp_path / "labels", "--passes", 2, *CENSUS)
    assert "No alarm." in run("replay", *quiet, *TARGET).stdout
    assert "No share of the detector's output changed." in run("replay", *quiet).stdout
    assert "No alarm can come: the config has no targets." in run("replay", *quiet).stdout


@pytest.mark.parametrize("days", [(), ("--passes", 2)])
def test_an_annotator_who_gave_no_label_is_a_slip(days: tuple[object, ...], tmp_path: Path) -> None:
    """Without a word it would read as "nothing is labelled"; who there is, is named."""
    done = run("replay", *sides(tmp_path)[:2], "--labels", tmp_path / "labels", "--annotator", "nobody", *days)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--annotator: no label is of nobody; known: jo" in done.stderr
