"""The page as HTML: what it says, in which order, and that nothing in it can be smuggled."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import boards
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.alarm_readings import AlarmEvent
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot, Certified, Change, DriftSignal, Pending, Reading, Share, Status, Tally
from streams.page import POLICY, Selection, render
from streams.page.cells import ORDER, cells
from streams.page.drawing import FULL_ROWS

EVERYTHING = Selection()


def text_of(page: str) -> str:
    """Return what a reader sees."""
    return " ".join(html.unescape(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)).split())


def headline(page: str) -> str:
    """Return the first sentence."""
    found = re.search(r"<h1.*?</h1>", page, re.DOTALL)
    return text_of(found.group()) if found else ""


def board(*readings: Reading, **changes: object) -> BoardSnapshot:
    """Return a board of these readings alone."""
    return msgspec.structs.replace(boards.quiet_board(), readings=readings, **changes)


def draw(snapshot: BoardSnapshot | None, pipeline: Pipeline | None = None, selection: Selection = EVERYTHING) -> str:
    """Return the page a moment after the board was computed."""
    return render(snapshot, pipeline or boards.worker(), boards.NOW, selection)


def states(snapshot: BoardSnapshot, selection: Selection = EVERYTHING) -> dict[str, str]:
    """Return the state of each row, in the order of the page."""
    return {f"{c.reading.entity}/{c.reading.language}": c.state for c in cells(snapshot, selection)[0]}


def test_the_first_sentence_says_what_the_page_means_now() -> None:
    """How many need somebody, which, and why."""
    assert headline(draw(boards.busy_board())) == (
        "5 of 21 cells need you: PERSON/en: recall fell below its target 0.90, alarm on for 3 d; "
        "NATIONAL_ID/nl is below its target 0.90: at most 0.88; and 3 more."
    )


def test_title_and_icon_carry_the_state() -> None:
    """A tab among others says whether to look."""
    acting, quiet = draw(boards.busy_board()), draw(boards.quiet_board())
    assert "<title>1 alarm, 5 of 21 need you – recallwatch</title>" in acting
    assert "<title>no number yet – recallwatch</title>" in quiet
    icons = [re.findall(r'<link rel=icon href="([^"]*)">', page) for page in (acting, quiet)]
    assert icons[0] != icons[1]


def test_rows_come_in_the_order_of_need_below_the_roll_up_of_all() -> None:
    """Who reads only the top of the page has read what matters."""
    first, *others = cells(boards.busy_board(), Selection())[0]
    assert first.whole
    ranks = [len(ORDER) if cell.idle else ORDER.index(cell.state) for cell in others]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) > 3


ONE = "PERSON/en"


@pytest.mark.parametrize(
    ("reading", "state"),
    [
        (boards.reading("PERSON", "en", 50, 100, target=0.9), "act"),
        (boards.reading("PERSON", "en", 45, 50, target=0.9), "unproven"),
        (boards.reading("PERSON", "en", 990, 1000, target=0.9), "ok"),
        (boards.reading("PERSON", "en", 990, 1000), "plain"),
        (boards.reading("PERSON", "en", 0, 0, status="no_label", matched=Share(0, 0)), "unknown"),
        (boards.reading("PERSON", "en", 990, 1000, target=0.9, status="incomplete"), "unknown"),
        (boards.reading("PERSON", "en", 50, 100, target=0.9, status="incomplete"), "act"),
        (boards.reading("PERSON", "en", 50, 100, target=0.9, status="expired"), "unknown"),
        (boards.reading("PERSON", "en", 50, 100, target=0.9, status="stale"), "unknown"),
        (boards.reading("PERSON", "en", 50, 100, target=0.9, status="greyed"), "unknown"),
        (boards.reading("PERSON", "en", 990, 1000, target=0.9, status="marked"), "ok"),
        (boards.reading("PERSON", "en", 50, 100, target=0.9, status="marked"), "act"),
    ],
)
def test_what_a_reading_says_about_its_cell(reading: Reading, state: str) -> None:
    """An incomplete reading reads high, so it can prove a fall and never a success."""
    assert states(board(reading)) == {ONE: state}


def test_a_fall_after_a_change_of_version_is_seen_without_a_target() -> None:
    """The whole interval lies below that of the version before, which is drawn above it."""
    before = boards.reading("PERSON", "en", 940, 1000, version="1", age_s=9e4)
    snapshot = board(boards.reading("PERSON", "en", 600, 1000), before)
    assert states(snapshot) == {ONE: "act"}
    assert "fell from 0.92 to 0.59 with version 2" in headline(draw(snapshot))
    assert "<rect class=g " in draw(snapshot)


def test_an_incomplete_version_before_proves_no_fall() -> None:
    """Hits are labelled sooner than misses: it may just have read high."""
    before = boards.reading("PERSON", "en", 940, 1000, version="1", age_s=9e4, status="incomplete")
    assert states(board(boards.reading("PERSON", "en", 600, 1000), before)) == {ONE: "plain"}


@pytest.mark.parametrize("status", ["greyed", "expired"])
def test_readers_who_disagree_prove_no_fall(status: Status) -> None:
    """Nor does a number of another day, on either side of the change."""
    good = boards.reading("PERSON", "en", 940, 1000, version="1", age_s=9e4)
    bad = boards.reading("PERSON", "en", 600, 1000)
    assert states(board(msgspec.structs.replace(bad, status=status), good)) == {ONE: "unknown"}
    assert states(board(bad, msgspec.structs.replace(good, status=status))) == {ONE: "plain"}


@pytest.mark.parametrize(("all_missed", "state"), [(0.9, "act"), (0.3, "plain")])
def test_a_version_that_gets_no_more_labels_proves_a_fall_if_its_missing_ones_change_nothing(
    all_missed: float, state: str
) -> None:
    """It is stale soon after it was replaced; what never came is taken for missed."""
    before = boards.reading("PERSON", "en", 940, 1000, version="1", age_s=9e5, status="stale")
    before = msgspec.structs.replace(before, pending=Pending(12, all_missed, 1.0))
    assert states(board(boards.reading("PERSON", "en", 600, 1000), before)) == {ONE: state}


def test_a_cell_without_a_reading_of_the_current_version_is_among_the_earlier_ones() -> None:
    """It isn't mistaken for a number of today."""
    page = draw(boards.busy_board())
    assert "FAX_NUMBER/en" not in states(boards.busy_board())
    assert "FAX_NUMBER" in page[page.index("<details id=past>") :]


def test_an_older_version_can_be_asked_for() -> None:
    """Its own predecessor, not its successor, would stand behind it."""
    chosen = Selection(version="presidio 1")
    found, _ = cells(boards.busy_board(), chosen)
    assert {c.reading.version for c in found} == {"1"}
    assert {c.previous for c in found} == {None}
    assert '<option value="presidio 1" selected>' in draw(boards.busy_board(), selection=chosen)


def test_a_language_can_be_asked_for() -> None:
    """The sentence at the top then speaks of those rows."""
    assert {name.split("/")[1] for name in states(boards.busy_board(), Selection(language="es"))} == {"es"}
    assert headline(draw(boards.busy_board(), selection=Selection(language="es"))).startswith("1 of 5 cells needs you")


@pytest.mark.parametrize("selection", [Selection("<b>", "zz", "no such"), Selection(entity="NOTHING")])
def test_a_selection_that_fits_nothing_says_so(selection: Selection) -> None:
    """The page stays whole."""
    assert "No cell fits the selection." in draw(boards.busy_board(), selection=selection)


def test_no_data_is_an_empty_axis_with_a_reason() -> None:
    """Never a 0."""
    page = draw(boards.quiet_board())
    assert headline(page) == "No number yet: 12 tasks open, oldest 3 h."
    assert "<p class=why>no label yet: 12 tasks open, oldest 3 h</p>" in page
    assert "class=e x=" not in page[page.index("<tbody id=") : page.index("<p class=key>")]


def test_a_certified_limit_stands_in_where_there_is_no_interval() -> None:
    """No miss was seen: the row says what that's worth."""
    assert states(boards.busy_board())["MEDICAL_RECORD/nl"] == "ok"
    assert "no miss seen: at least 0.871 of the documents, certified" in draw(boards.busy_board())


def test_strata_masked_reading_queue_and_changes_are_there() -> None:
    """All that must stand beside a rate."""
    seen = text_of(draw(boards.busy_board()))
    wanted = ("net and detector", "wholly covered", "where any tool looked", "688 of 702", "sampling.loose_rate 0.05")
    assert [words for words in wanted if words not in seen] == []


def test_a_target_that_nothing_was_seen_of_stands_below_the_first_sentence() -> None:
    """A mistyped name would be silent else; whatever else is said, and no more of them than fit."""
    seen = boards.reading("PERSON", "en", 990, 1000, target=0.9)
    page = draw(board(seen, unseen_targets=("PERSN", "PERSON.es")))
    assert headline(page) == "None of 1 cell needs you."
    top = text_of(page[page.index("</h1>") : page.index("</header>")])
    assert "Target set, never seen: PERSN, PERSON.es " in top
    many = text_of(draw(board(seen, unseen_targets=tuple(f"N{i}" for i in range(12)))))
    assert f"never seen: {', '.join(f'N{i}' for i in range(10))} and 2 more " in many
    assert "never seen" not in text_of(draw(board(seen)))


def test_numbers_that_the_board_no_longer_renews_are_called_stale() -> None:
    """The icon is grey then, whatever they say."""
    page = draw(boards.busy_board(boards.NOW - 400))
    assert "Stale: the board has published nothing for 6 min." in text_of(page)
    assert "<title>stale – recallwatch</title>" in page


def test_a_worker_that_is_not_the_board_points_to_it() -> None:
    """And shows no number, even if it still holds one."""
    page = draw(boards.busy_board(), boards.worker(is_board=False))
    assert headline(page) == "This worker isn't the board: another one holds the readings."
    assert '<a href="http://127.0.0.1:9465/">' in page
    assert "<tbody id=" not in page


def test_an_address_that_is_no_web_address_is_no_link() -> None:
    """The board's address comes from another process."""
    pipeline = msgspec.structs.replace(boards.worker(is_board=False), board_url="javascript:alert(1)")
    assert "javascript:" not in draw(None, pipeline)


def test_a_worker_that_starts_says_what_it_waits_for() -> None:
    """A blank page would be mistaken for a broken one."""
    expected = "No reading has been published yet: recovering 2 of 4 partitions."
    assert headline(draw(None, boards.worker(ready=False))) == expected


def test_a_refused_config_and_a_default_key_are_said() -> None:
    """Both wait for the operator, the first one urgently."""
    pipeline = msgspec.structs.replace(boards.worker(), config_problem="sampling.x: unknown key", key_is_default=True)
    page = draw(boards.quiet_board(), pipeline)
    assert "The config file was refused, the old one stays: sampling.x: unknown key" in text_of(page)
    assert "Set sampling.key." in text_of(page)
    assert "<title>config refused – recallwatch</title>" in page


def test_unknown_names_are_listed_the_commonest_first_and_bounded() -> None:
    """Ten at most, with what to look for; the rest is counted."""
    found = tuple(Tally((f"NAME_{i}",), i) for i in range(1, 14))
    seen = text_of(draw(msgspec.structs.replace(boards.quiet_board(), unknown_entities=found)))
    listed = ", ".join(f"NAME_{i} {i}" for i in range(13, 3, -1))
    assert f"Entities that the alias table doesn't know, with their spans: {listed} and 3 more." in seen
    assert "alias table" not in text_of(draw(boards.quiet_board()))


def test_the_page_is_small_and_names_no_other_host() -> None:
    """Twenty cells with all their strata and as many unknown names as are listed, all included, in less than 50 KB."""
    names = tuple(Tally((f"{i:X<64}",), 1000) for i in range(200))
    page = draw(
        msgspec.structs.replace(boards.busy_board(), unknown_entities=names, thinning=0.25, unseen_targets=("PERSN",))
    )
    assert len(page.encode()) < 50_000
    assert set(re.findall(r"https?://[^\s\"'&<>)]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "http" not in POLICY


def test_all_details_of_a_row_far_down_are_a_selection_away() -> None:
    """What needs somebody first has all of them in the page."""
    page = draw(boards.busy_board())
    far = states(boards.busy_board())
    entity, language = list(far)[-2].split("/")
    assert f'<a href="?entity={entity}&amp;language={language}">' in page
    assert page.count("<th>flagged by") < len(far)
    alone = draw(boards.busy_board(), selection=Selection(entity, language))
    assert '<a href="?entity' not in alone
    assert "<dt>sample" in alone


def test_a_link_to_a_row_is_no_way_to_smuggle() -> None:
    """Names are quoted in it, and the version that was asked for stays."""
    name = '"&<b>#%'
    readings = [boards.reading(f"{name}{i}", "en", version=v) for i in range(14) for v in ("1", "2")]
    page = draw(board(*readings), selection=Selection(version=f"{boards.DETECTOR} 1"))
    links = re.findall(r'<a href="\?entity=([^"]*)">', page)
    assert len(links) == 14 - FULL_ROWS
    quoted = "%22%26%3Cb%3E%23%25"
    assert all(re.fullmatch(rf"{quoted}\d+&amp;language=en&amp;version=presidio%201", link) for link in links)


def test_rows_beyond_the_bound_are_counted() -> None:
    """A board of a thousand cells is still a page."""
    page = draw(board(*(boards.reading(f"E{i}", "en") for i in range(130))))
    assert page.count("<tbody id=") == 100
    assert "30 more cells" in text_of(page)


class Tags(HTMLParser):
    """Collects tags and attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the tag and the names of its attributes."""
        self.seen.append((tag, tuple(name for name, _ in attrs)))


def tags(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return a page's tags in order, options apart: equal names make fewer of those."""
    parser = Tags()
    parser.feed(page)
    return [tag for tag in parser.seen if tag[0] != "option"]


def named(value: str) -> str:
    """Return a page with the value wherever a producer or an operator can put one."""
    reading = boards.reading(value, value, 0, 0, detector=value, version=value, matched=Share(0, 0, reason=value))
    snapshot = board(
        msgspec.structs.replace(reading, status="no_interval", net=value),
        current_versions=((value, value),),
        changes=(Change(boards.NOW, "config", value, value),),
        unknown_entities=(Tally((value,), 3),),
        alarms=(AlarmEvent(value, value, value, value, "stopped_knowing", boards.NOW, None),),
        drift=(DriftSignal("entity", value, value or "x", 0.1, 9, 1, boards.NOW, "up", 0.1, 0.2),),
        drift_notes=(value,),
        unseen_targets=(value,),
    )
    return draw(snapshot, msgspec.structs.replace(boards.worker(), config=value, config_problem=value or "x"))


SMUGGLED = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onload='", "{{ 7 * 7 }}", "&lt;b&gt;"]


@pytest.mark.parametrize("value", [*SMUGGLED, "\ud83d", "\x00", "</style>", "a" * 10_240, "", "\u202e"])
def test_nothing_can_be_smuggled_into_the_page(value: str) -> None:
    """Whatever things are called, the page has the same tags with the same attributes."""
    page = named(value)
    assert tags(page) == tags(named("PLAIN"))
    assert page.encode()
    assert len(page) < 40_000


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_no_text_at_all_changes_the_page_beyond_its_words(value: str) -> None:
    """Any code points, half pairs and control characters among them."""
    page = named(value)
    assert tags(page) == tags(named("PLAIN"))
    assert page.encode()


BLIND = boards.reading(
    "PERSON",
    "en",
    target=0.9,
    status="no_interval",
    matched=Share(0, 2000, estimate=0.0, reason="no_truth_where_looked"),
    certified=Certified(0.0, 0, 990, 0, 5_000),
)


def test_a_detector_that_finds_nothing_calls_somebody() -> None:
    """All that was there lay where no tool looked: there is no interval, and no reason to be calm."""
    board = msgspec.structs.replace(boards.quiet_board(), readings=(BLIND,))
    assert states(board) == {ONE: "act"}
    page = render(board, boards.worker(), boards.NOW)
    assert "none of 2000 found, and no tool looked where they were" in page
    assert "no miss seen" not in page


def test_without_a_target_nothing_is_judged() -> None:
    """A page of intervals that nobody asks anything of isn't good news."""
    board = msgspec.structs.replace(boards.quiet_board(), readings=(boards.reading("PERSON", "en"),))
    page = render(board, boards.worker(), boards.NOW)
    assert "No target is set: nothing is judged." in page
    assert 'data-state="unknown"' in page


def test_the_page_names_the_version_that_it_shows() -> None:
    """Under the filter of an earlier version its own name stands above its numbers."""
    board = boards.busy_board()
    page = render(board, boards.worker(), boards.NOW, Selection(version=f"{boards.DETECTOR} 1"))
    line = re.search(r"<p class=when>(.*?)</p>", page, re.DOTALL)
    assert line is not None
    assert f"{boards.DETECTOR} 1 " in line.group(1)
    assert f"{boards.DETECTOR} 2 " not in line.group(1)
