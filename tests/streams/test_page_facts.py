"""What the page says beside and above the rates: alarms and their causes, marks, limits, counts, drift, thinning."""

from __future__ import annotations

import html
import re

import boards
import msgspec
import pytest

from monitor.alarm_readings import AlarmEvent, AlarmReading, Cause
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot, DriftSignal, Optimistic, Pending, Reading, Share, Status
from streams.page import render
from streams.page.causes import MAX_LINES
from streams.page.drift import MAX_SIGNALS


def board(*readings: Reading, **changes: object) -> BoardSnapshot:
    """Return a board of these readings alone."""
    return msgspec.structs.replace(boards.quiet_board(), readings=readings, **changes)


def draw(snapshot: BoardSnapshot, pipeline: Pipeline | None = None) -> str:
    """Return the page a moment after the board was computed."""
    return render(snapshot, pipeline or boards.worker(), boards.NOW)


def text_of(page: str) -> str:
    """Return what a reader sees."""
    return " ".join(html.unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)).split())


def part(page: str, begin: str, end: str) -> str:
    """Return what is seen between two tags."""
    found = re.search(f"{begin}(.*?){end}", page, re.DOTALL)
    return text_of(found.group(1)) if found else ""


def told(page: str) -> list[str]:
    """Return the lines below the first sentence."""
    found = re.search(r"<ul class=told>(.*?)</ul>", page, re.DOTALL)
    return [text_of(line) for line in found.group(1).split("<li")[1:]] if found else []


def word(page: str) -> str:
    """Return the state of the only row."""
    return part(page, "<td class=st>", "<th>")


def number_of(page: str) -> str:
    """Return the markup of the only row's number."""
    return page[page.index("<td class=re>") :].partition("<td>")[0]


def facts(page: str) -> dict[str, str]:
    """Return the details of the only row."""
    inside = page[page.index("<tbody id=") : page.index("<p class=key>")]
    return {text_of(k): text_of(v) for k, v in re.findall(r"<dt>(.*?)<dd>(.*?)(?=<dt>|</dl>)", inside, re.DOTALL)}


def watched(alarm: AlarmReading, found: int = 990, true: int = 1000, status: Status = "ok") -> Reading:
    """Return PERSON/en with an alarm; recall is above the target if nothing else is said."""
    return msgspec.structs.replace(boards.reading("PERSON", "en", found, true, target=0.9, status=status), alarm=alarm)


def event(cause: Cause, at: float = boards.NOW - 90_000) -> AlarmEvent:
    """Return what was told of PERSON/en."""
    return AlarmEvent("PERSON", "en", boards.DETECTOR, "2", cause, at, 0.3)


@pytest.mark.parametrize("status", ["ok", "stale", "greyed", "incomplete"])
def test_an_alarm_that_is_on_calls_somebody_whatever_the_number_says(status: Status) -> None:
    """It was proved, and it stays so while nobody knows."""
    page = draw(board(watched(boards.alarm("firing", 9.4), status=status)))
    assert word(page) == "alarm: recall fell"
    assert 'class="act' in page
    assert "<title>1 alarm, 1 of 1 needs you – recallwatch</title>" in page
    assert "PERSON/en: recall fell below its target 0.90, alarm on for 3 d" in text_of(page)


def test_a_quiet_alarm_calls_nobody() -> None:
    """The number speaks."""
    page = draw(board(watched(boards.alarm("quiet", 1.2))))
    assert word(page) == "on target"
    assert told(page) == []


def test_an_alarm_says_since_when_its_evidence_and_its_promise() -> None:
    """The first thing that somebody who was woken wants to know."""
    (line,) = told(draw(board(watched(boards.alarm("firing", 9.4)))))
    assert line == (
        "class=act> Recall fell: PERSON/en since 2026-09-18 00:00 UTC (3 d): evidence 9.4, over the bar of 8.5; "
        "promised: one false alarm in 14 years of this cell."
    )


def test_an_alarm_that_is_held_says_when_it_crossed_last() -> None:
    """Evidence began anew there, so it's low again while the alarm is on."""
    (line,) = told(draw(board(watched(boards.alarm("held", 2.0)))))
    assert "evidence 9.4 when it last crossed the bar of 8.5 (2026-09-19 00:00 UTC)" in line


def test_a_restated_alarm_says_so() -> None:
    """Above and in the row."""
    page = draw(board(watched(boards.alarm("firing", 9.4, restated=True))))
    assert told(page)[0].endswith("Restated: a corrected label took back evidence.")
    assert facts(page)["alarm"].endswith("; restated")
    assert "estated" not in text_of(draw(board(watched(boards.alarm("firing", 9.4)))))


def test_a_cell_with_an_alarm_comes_before_larger_shortfalls() -> None:
    """And the first sentence begins with it."""
    worse = boards.reading("NATIONAL_ID", "en", 100, 1000, target=0.9)
    page = draw(board(worse, watched(boards.alarm("firing", 9.4), 800)))
    assert part(page, "<h1", "</h1>").startswith("aria-live=polite> 2 of 2 cells need you: PERSON/en: recall fell")
    assert page.index("<b>PERSON</b>") < page.index("<b>NATIONAL_ID</b>")


def test_that_we_stopped_knowing_is_told_while_it_is_so() -> None:
    """With what we lack; once labels come again it is no news."""
    late = msgspec.structs.replace(watched(boards.alarm(), status="stale"), label_age_s=4.2 * 86_400)
    (line,) = told(draw(board(late, alarms=(event("stopped_knowing"),))))
    expected = "We stopped knowing: PERSON/en since 2026-09-20 13:13 UTC (25 h): no label for 4 d."
    assert line == f"class=unknown> {expected}"
    for known in ("ok", "marked"):
        again = watched(boards.alarm(), status=known)
        assert told(draw(board(again, alarms=(event("stopped_knowing"),)))) == []


def test_that_the_design_changed_is_told_while_the_target_is_not_proven() -> None:
    """And that it isn't a fall."""
    unsure = watched(boards.alarm(), 45, 50)
    (line,) = told(draw(board(unsure, alarms=(event("design_changed"),))))
    assert line.startswith("class=unproven> The design changed: PERSON/en since ")
    assert line.endswith("holds the target 0.90; nothing says that recall fell.")
    assert told(draw(board(watched(boards.alarm()), alarms=(event("design_changed"),)))) == []


def test_another_version_is_told_while_it_is_not_known_to_meet_a_target() -> None:
    """Once, whatever the number of cells, and never as fewer that are drawn."""
    came = AlarmEvent("any", "any", boards.DETECTOR, "2", "design_changed", boards.NOW - 90_000, None, (), "version")
    unsure, met = watched(boards.alarm(), 45, 50), watched(boards.alarm())
    whole = msgspec.structs.replace(unsure, entity="any", language="any")
    (line,) = told(draw(board(whole, unsure, msgspec.structs.replace(met, entity="IBAN"), alarms=(came,))))
    assert line.startswith(f"class=unproven> The design changed: {boards.DETECTOR} 2 since 2026-09-")
    assert line.endswith("alone; of 3 cells with a target 2 aren't known to meet or to miss it yet.")
    assert told(draw(board(met, alarms=(came,)))) == []
    assert told(draw(board(unsure, alarms=(msgspec.structs.replace(came, version="1"),)))) == []


def test_only_the_last_thing_told_of_a_cell_counts() -> None:
    """And nothing of another version."""
    unsure = watched(boards.alarm(), 45, 50)
    then_stopped = (event("design_changed"), event("stopped_knowing"))
    assert told(draw(board(unsure, alarms=then_stopped))) == []
    old = msgspec.structs.replace(event("design_changed"), version="1")
    assert told(draw(board(unsure, alarms=(old,)))) == []


def test_causes_stand_in_the_order_of_their_weight_and_are_bounded() -> None:
    """A recall that fell first; a board that is all alarms still has its rows in sight."""
    busy = told(draw(boards.busy_board()))
    assert [line.split("> ")[1].split(":")[0] for line in busy] == [
        "Recall fell",
        "We stopped knowing",
        "The design changed",
    ]
    many = [msgspec.structs.replace(watched(boards.alarm("firing", 9.4)), entity=f"E{i}") for i in range(MAX_LINES + 4)]
    lines = told(draw(board(*many)))
    assert len(lines) == MAX_LINES + 1
    assert lines[-1].endswith("4 more in the rows below.")


@pytest.mark.parametrize(
    ("status", "kappa", "expected", "state"),
    [
        ("greyed", 0.4, ["readers disagree: κ 0.40"], "readers disagree"),
        ("marked", 0.72, ["readers differ: κ 0.72"], "on target"),
        ("marked", 0.53, ["too few read twice to know: κ 0.53"], "on target"),
        ("stale", 0.9, ["no label for 4 d"], "no label lately"),
        ("incomplete", 0.9, [], "incomplete"),
        ("ok", 0.9, [], "on target"),
    ],
)
def test_a_number_carries_its_mark(status: Status, kappa: float, expected: list[str], state: str) -> None:
    """In words, beside the number and in the state; nothing is said twice."""
    r = boards.reading("PERSON", "en", 990, 1000, target=0.9, status=status, age_s=4.2 * 86_400)
    page = draw(board(msgspec.structs.replace(r, agreement=boards.agreement(kappa))))
    assert word(page) == state
    assert [text_of(small) for small in re.findall(r"<small>(.*?)</small>", number_of(page))[1:]] == expected


@pytest.mark.parametrize("status", ["stale", "greyed", "expired", "incomplete"])
def test_a_number_that_is_not_current_is_grey(status: Status) -> None:
    """It isn't offered as the state of today; a marked one is."""
    assert re.search(r'<tbody id="\w+" class="\w+ old">', draw(board(boards.reading("PERSON", "en", status=status))))
    for current in ("ok", "marked"):
        assert ' old">' not in draw(board(boards.reading("PERSON", "en", status=current)))


def test_an_incomplete_number_that_proves_a_fall_says_that_it_is_incomplete() -> None:
    """The state says something else there."""
    page = draw(board(boards.reading("PERSON", "en", 50, 100, target=0.9, status="incomplete")))
    assert word(page) == "below target"
    assert part(page, "<td class=re>", "<td>").endswith("incomplete")


def test_an_expired_cell_has_no_number_and_says_why() -> None:
    """There were labels, of days that are over."""
    page = draw(board(boards.reading("PERSON", "en", 0, 0, status="expired", labelled=0, matched=Share(0, 0))))
    assert word(page) == "expired"
    assert "expired: what is labelled is older than these days" in text_of(page)


def test_limits_read_once_and_any_time_stand_beside_each_other() -> None:
    """Each by its name, and what the names mean once a page."""
    r = boards.reading("PERSON", "en", 45, 50)
    page = draw(board(r))
    assert r.any_time is not None
    assert facts(page)["read once"].endswith("45 / 50 found")
    limits = f"{r.any_time.lower:.3f}–{r.any_time.upper:.3f}"
    assert facts(page)["read any time"] == f"{limits}, of documents since 2026-09-01"
    undated = msgspec.structs.replace(r, any_time=msgspec.structs.replace(r.any_time, since=0.0))
    assert facts(draw(board(undated)))["read any time"] == limits
    explained = "Read any time: mostly wider limits that hold at every look"
    assert explained in text_of(page)
    assert text_of(page).count("a document counts for at most 5 occurrences") == 1
    uncapped = msgspec.structs.replace(r, any_time=msgspec.structs.replace(r.any_time, y_max=0))
    assert explained in text_of(draw(board(uncapped)))
    assert "a document counts for" not in text_of(draw(board(uncapped)))
    assert "read any time" not in facts(draw(board(msgspec.structs.replace(r, any_time=None))))


def test_details_carry_numerator_and_denominator() -> None:
    """Pending, precision, two readers, the second detector."""
    r = msgspec.structs.replace(
        boards.reading("PERSON", "en", 45, 50),
        pending=Pending(26, 0.61, 0.93),
        agreement=boards.agreement(0.81),
        optimistic=Optimistic(88, 95, 0.931, 0.9, 0.95),
    )
    found = facts(draw(board(r)))
    assert found["pending"] == "between 0.610 if all 26 pending are missed and 0.930 if all found"
    assert found["precision"].endswith(", 45 / 51 detected are right")
    assert found["two readers"] == (
        "κ 0.810 (0.690–0.900), 12 / 61 documents read twice hold it, spans F1 0.88, missed by both 0.021, OPTIMISTIC"
    )
    assert found["second detector"] == "OPTIMISTIC: 0.931 (0.900–0.950), 88 / 95 of its spans found"


def test_what_has_no_value_is_not_there() -> None:
    """No name without a number, and no 0 for what nobody knows."""
    bare = boards.reading("PERSON", "en", 0, 0, status="no_label", labelled=0, matched=Share(0, 0))
    found = facts(draw(board(bare)))
    assert found.keys().isdisjoint(
        {"read once", "read any time", "pending", "precision", "two readers", "second detector", "alarm"}
    )
    unread = msgspec.structs.replace(boards.reading("PERSON", "en"), agreement=boards.agreement(None))
    assert facts(draw(board(unread)))["two readers"] == "κ –, 0 / 61 documents read twice hold it"


def test_an_alarm_without_a_label_is_not_called_quiet() -> None:
    """Not knowing isn't calm."""
    page = draw(board(watched(boards.alarm(None, None))))
    assert facts(page)["alarm"] == "can't tell: no label of this version holds it"


NEXT_DAY = (boards.NOW // boards.DAY_S + 1) * boards.DAY_S


@pytest.mark.parametrize(
    ("counts_from", "told"), [(boards.NOW + 3600, "15:13 UTC"), (NEXT_DAY, "2026-09-22 00:00 UTC")]
)
def test_an_alarm_that_waits_for_its_period_to_end_says_when_it_counts(counts_from: float, told: str) -> None:
    """In the row and above; with the date where that isn't today."""
    page = draw(board(watched(boards.alarm(None, None, counts_from=counts_from))))
    assert facts(page)["alarm"] == f"can't tell yet: the alarm counts these from {told} on"
    assert f"Labels of 1 cell: the alarm counts these from {told} on." in part(page, "</h1>", "</header>")
    for other in (boards.alarm("quiet", 1.2, counts_from=counts_from), boards.alarm(None, None)):
        assert "the alarm counts" not in text_of(draw(board(watched(other))))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("flagged_unlabelled", "no label of what the tools flagged"),
        ("unflagged_unlabelled", "no label of what nothing flagged"),
    ],
)
def test_a_row_without_an_estimate_says_which_labels_it_lacks(reason: str, told: str) -> None:
    """In the words that the terminal has."""
    bare = boards.reading("PERSON", "en", status="no_interval", matched=Share(4, 6, reason=reason))
    assert part(draw(board(bare)), "<p class=why>", "</p>") == told


def test_the_config_stands_in_a_row_where_it_is_another_than_the_workers() -> None:
    """Equal ones are said once, below."""
    r = boards.reading("PERSON", "en")
    assert "config, net" not in facts(draw(board(r)))
    assert facts(draw(board(msgspec.structs.replace(r, config="0000aaaa"))))["config, net"] == "0000aaaa, b7e2"


def test_thinning_is_said_while_it_lasts() -> None:
    """With the bound that asks for it."""
    thinned = msgspec.structs.replace(boards.busy_board(), thinning=0.25, capacity_per_day=60.0)
    assert "Sampling is thinned to 25 %: the queue is over capacity 60 a day." in text_of(draw(thinned))
    unbounded = msgspec.structs.replace(thinned, capacity_per_day=None)
    assert "Sampling is thinned to 25 %: the queue is over capacity." in text_of(draw(unbounded))
    assert "thinned" not in text_of(draw(boards.busy_board()))


def signal(i: int) -> DriftSignal:
    """Return a signal that changed so many minutes ago."""
    return DriftSignal("flagged", f"l{i:02}", "", 0.1, 900, 1, boards.NOW - 60.0 * i, "down", 0.42, 0.0104)


def test_drift_lists_what_changed_newest_first_and_bounded() -> None:
    """What, where, direction, before and after, when."""
    still = DriftSignal("language", "es", "", 0.3, 52_400, 0)
    page = draw(board(boards.reading("PERSON", "en"), drift=(still, *(signal(i) for i in reversed(range(2, 14))))))
    seen = part(page, "<h2>Drift", "</section>")
    assert "2 min ago l02: flagged by the detector: down, 0.420 → 0.010 , 2026-09-21 14:11 UTC" in seen
    assert re.findall(r"l\d\d", seen) == [f"l{i:02}" for i in range(2, 2 + MAX_SIGNALS)]
    assert seen.endswith("4 more")


def test_signals_that_did_not_change_are_counted_and_notes_are_told() -> None:
    """A detector of drift that began anew says so; a board that watches nothing says nothing."""
    quiet = DriftSignal("entity", "es", "PERSON", 0.3, 52_400, 0)
    page = draw(board(boards.reading("PERSON", "en"), drift=(quiet,), drift_notes=("drift: it began anew",)))
    assert part(page, "<h2>Drift", "</section>").endswith("None of 1 shares watched has changed. drift: it began anew")
    assert "Drift" not in text_of(draw(board(boards.reading("PERSON", "en"))))
