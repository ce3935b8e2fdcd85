"""The sign-off's content: all that must stand beside a rate, nothing that isn't a number, and a hash over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from boards import WEEK, alarm, busy_board, quiet_board, reading, strata
from clusters import Cluster
from traffic import CONFIG, FIRST_DAY, Said

from monitor.board import Board
from monitor.config import config_id
from monitor.in_force import own_rules
from monitor.plan import Plan
from monitor.readings import BoardSnapshot, Change, Window
from monitor.report import (
    Made,
    ReportCell,
    Statement,
    canonical,
    changes_of,
    end_of_day,
    later_rows,
    report_cells,
    report_content,
    seal,
    sealed,
)

RULES = own_rules(CONFIG)
MADE = Made("1.2.3", "2026-09-21", "live")
DAY_S = 86_400
RATES = ("matched", "masked", "precision")


def content(snapshot: BoardSnapshot, days: int | None = 7) -> dict[str, Any]:
    """Return the report of a snapshot, as its JSON is read."""
    cells = report_cells(snapshot, days)
    made = report_content(snapshot, cells, [Statement(signable=True, text="yes")] * len(cells), RULES, MADE)
    read: dict[str, Any] = json.loads(json.dumps(made, allow_nan=False))
    return read


def cells_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a report."""
    cells: list[dict[str, Any]] = document["cells"]
    return cells


def rates(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield every published rate with the cell, or the stratum, that it stands in."""
    for cell in cells_of(document):
        for each in (cell, *cell["strata"]):
            for name in RATES:
                share = each[name]
                if share is not None and share["estimate"] is not None:
                    yield each, share


def test_everything_that_must_stands_beside_every_rate() -> None:
    """H6: counts, weights, n_eff, completeness, κ, window, detector, net and config version."""
    beside = {"weight_min", "weight_max", "completeness", "agreement", "window", "detector", "version", "net", "config"}
    seen = 0
    for each, share in rates(content(busy_board())):
        assert beside <= each.keys()
        assert all(each[name] not in (None, "") for name in beside - {"agreement"})
        assert share.keys() >= {"n_eff", "lower", "upper"}
        assert len(share.keys() & {"found", "true", "right", "detected"}) == 2
        seen += 1
    assert seen > 100


def test_a_window_is_reported_alone() -> None:
    """What is signed is one window's; the other one's readings are another report's."""
    week, month = content(busy_board(), 7), content(busy_board(), 28)
    assert {json.dumps(cell["window"]) for cell in cells_of(week)} == {json.dumps(msgspec.to_builtins(WEEK))}
    assert week["window"] != month["window"]
    assert len(cells_of(month)) == 17


def test_current_versions_come_first_and_roll_ups_before_what_they_roll_up() -> None:
    """The first statement is that of everything."""
    cells = report_cells(busy_board(), 7)
    first = cells[0].reading
    assert (first.entity, first.language, first.version) == ("any", "any", "2")
    assert [cell.current for cell in cells] == sorted((cell.current for cell in cells), reverse=True)
    assert len(cells[0].strata) == 4


def test_what_nobody_looked_at_has_its_share_and_its_price() -> None:
    """The unflagged stratum of all traffic, by version."""
    now, before = content(busy_board())["nobody_looked"]
    assert (now["current"], before["current"]) == (True, False)
    assert (now["unflagged"], now["sampled"], now["share"]) == (48_210, 438, 1.0)
    assert now["probability_min"] == pytest.approx(1 / 200)
    assert (now["unflagged_width_share"], now["halving_random_rate"], now["certified"]) == (0.62, 0.021, None)


def test_who_was_drawn_is_told_by_language_and_stratum() -> None:
    """Roll-ups over languages are left out: they'd count twice."""
    rows = content(busy_board())["design"]
    assert [(row["language"], row["stratum"]) for row in rows] == [
        ("en", name) for name in ("both", "loose_only", "detector_only", "unflagged")
    ]
    assert {(row["census"], row["sampled"], row["labelled"]) for row in rows} == {(48_210, 438, 103)}


def test_a_board_without_a_number_reports_none() -> None:
    """No 0, no NaN: JSON that a strict reader takes, and None where nothing is known."""
    (cell,) = cells_of(content(quiet_board(), 7))
    share = cell["matched"]
    assert (share["estimate"], share["lower"], cell["certified"]) == (None, None, None)
    empty = msgspec.structs.replace(quiet_board(), readings=())
    assert content(empty)["cells"] == []
    assert content(empty)["window"] == {"days": None, "first": None, "last": None}


def test_the_sampling_key_is_not_in_it() -> None:
    """The report is shown around; whoever knows the key can tell which documents will be read."""
    document = content(busy_board())
    assert CONFIG.sampling.key not in json.dumps(document)
    assert document["config"]["id"] == config_id(CONFIG)


def test_equal_reports_have_one_hash_and_it_is_that_of_plain_json() -> None:
    """Anybody's Python can work it out from the file."""
    document = sealed(content(busy_board()))
    text = json.dumps(document["report"], sort_keys=True, separators=(",", ":"))
    assert document["sha256"] == hashlib.sha256(text.encode()).hexdigest() == seal(content(busy_board()))


def test_any_change_changes_the_hash() -> None:
    """One more found, of all that was counted."""
    changed = content(busy_board())
    cells_of(changed)[3]["labelled"] = 413
    assert seal(changed) != seal(content(busy_board()))


def test_a_number_that_is_none_can_not_be_sealed() -> None:
    """A NaN would be no JSON, and no number."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical({"a": float("nan")})


def test_the_history_is_that_of_the_window_and_what_was_in_force_when_it_began() -> None:
    """An earlier config counts: it decided the window's first record."""
    begin = end_of_day("2026-09-14")
    at = {name: begin + days * DAY_S for name, days in (("a", -9), ("b", -1), ("c", 3), ("d", 8))}
    changes = [Change(moment, "config", name) for name, moment in at.items()]
    changes += [Change(at["a"], "version", "old"), Change(at["c"], "version", "new"), Change(None, "net", "n")]
    assert [c.what for c in changes_of(changes, WEEK)] == ["n", "b", "c", "new"]
    assert len(changes_of(changes, Window(None, None, None))) == 7


def test_alarms_and_drift_are_told_with_their_times() -> None:
    """Only what changed is listed; how much is watched is said."""
    document = content(busy_board())
    (signal,) = document["drift"]["signals"]
    assert (signal["entity"], signal["direction"]) == ("EMAIL_ADDRESS", "down")
    assert signal["at"].endswith("Z")
    assert document["drift"]["watched"] == len(busy_board().drift)


def test_a_live_board_s_times_are_told_though_its_window_is_empty() -> None:
    """Only a replay's decisions may have no time."""
    empty = msgspec.structs.replace(busy_board(), readings=())
    assert {change["at"] for change in content(empty)["history"]} == {"2026-09-20T13:13:20Z", "2026-09-21T12:43:20Z"}
    cells: list[ReportCell] = []
    undated = report_content(empty, cells, [], RULES, MADE._replace(source="replay"))["history"]
    assert isinstance(undated, list)
    assert {change["at"] for change in undated} == {None}


def test_an_alarm_s_times_are_those_that_people_read() -> None:
    """When it fired, since when it is on, from when on documents of the running period count."""
    waiting = msgspec.structs.replace(alarm("firing", 9.4), counts_from=1_790_035_200.0)
    cell = msgspec.structs.replace(reading("PERSON", "en", target=0.9), alarm=waiting)
    (only,) = cells_of(content(msgspec.structs.replace(busy_board(), readings=(cell,))))
    times = [only["alarm"][name] for name in ("fired_at", "on_since", "counts_from")]
    assert times == ["2026-09-21T00:00:00Z", "2026-09-18T00:00:00Z", "2026-09-22T00:00:00Z"]


def test_a_time_in_no_calendar_is_not_told() -> None:
    """A period's number of before, read as one of days, lies in a year that nobody can write."""
    cell = reading("PERSON", "en", target=0.9)
    assert cell.any_time is not None
    for since in (3.1e13, -1.0, float("inf")):
        far = msgspec.structs.replace(cell, any_time=msgspec.structs.replace(cell.any_time, since=since))
        (only,) = cells_of(content(msgspec.structs.replace(busy_board(), readings=(far,))))
        assert only["any_time"]["since"] is None


def test_targets_that_nothing_was_seen_of_are_told() -> None:
    """Whether there is a cell or none."""
    for board in (busy_board(), msgspec.structs.replace(busy_board(), readings=())):
        told = content(msgspec.structs.replace(board, unseen_targets=("PERSN", "any.en")))
        assert told["unseen_targets"] == ["PERSN", "any.en"]


def test_strata_follow_their_cell() -> None:
    """In the order of the strata, whatever the snapshot's."""
    cell = reading("PERSON", "en", target=0.9)
    board = msgspec.structs.replace(busy_board(), readings=(*reversed(strata("PERSON", "en", 45, 50)), cell))
    (only,) = cells_of(content(board))
    assert [s["stratum"] for s in only["strata"]] == ["both", "loose_only", "detector_only", "unflagged"]


def test_a_board_that_forgets_later_days_is_the_one_of_that_day() -> None:
    """As of a day: what was drawn after it is left out, the labels of what was drawn before it are not."""
    plan = Plan(CONFIG)
    both, first = Cluster(plan, 2), Cluster(plan, 2)
    for number in range(40):
        day = FIRST_DAY + number // 20
        said = Said(f"doc-{number}", "1", "en", 0, ((0, 4, "PERSON"),), 0)
        for cluster in (both,) if number >= 20 else (both, first):
            cluster.produce("decisions", said.doc.encode(), said.value, day * DAY_S * 1000)
    for cluster in (both, first):
        cluster.settle()
    forgetful, expected = Board(plan), Board(plan)
    for cluster, board in ((both, forgetful), (first, expected)):
        for output in cluster.published:
            board.take(output.key, output.value)
    for key in later_rows("2024-10-04", "2024-10-05", 2):
        forgetful.take(key, None)
    now = end_of_day("2024-10-04")
    assert forgetful.snapshot(now).readings == expected.snapshot(now).readings
    assert forgetful.snapshot(now).readings[0].census == 20
