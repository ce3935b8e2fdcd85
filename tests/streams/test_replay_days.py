"""Replay by days: who is labelled when, what is drawn anew, which windows are read, and that nothing looks ahead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from replays import ANNA, BO, cell, config, corpus_line, counts, decision, found_of_true, replay_days, spans_of

from monitor.config import Config
from monitor.readings import ANY, BoardSnapshot, Reading
from streams.replay_days import FIRST_DAY, DayReplay, DayShift, Schedule
from streams.replay_traffic import Traffic

NAMES = [f"d{i}" for i in range(40)]
CORPUS = [corpus_line(name, [ANNA]) for name in NAMES]


def version(number: str, spans: Sequence[object], names: Iterable[str] = NAMES) -> list[bytes]:
    """Return a version's decisions on documents that all hold one name."""
    return [decision(name, spans, version=number) for name in names]


GOOD, BLIND = version("1", spans_of([ANNA])), version("2", ())


def main_window(snapshot: BoardSnapshot, version: str | None = None, days: int = 7) -> Reading:
    """Return the roll-up's reading in the window of so many days."""
    (found,) = (
        r
        for r in snapshot.readings
        if (r.entity, r.language, r.stratum, r.window.days) == (ANY, ANY, None, days) and version in (None, r.version)
    )
    return found


def by_day(run: DayReplay) -> dict[int, set[str]]:
    """Return the ids of the documents drawn on each day, from 0."""
    days: dict[int, set[str]] = {}
    for doc_id, document in run.documents():
        days.setdefault(document.day - FIRST_DAY, set()).add(doc_id)
    return days


# -- labels ------------------------------------------------------------------------------------------------------------


def test_labels_come_so_many_days_after_the_draw() -> None:
    """With a delay of one day, each evening the day before is labelled and today isn't."""
    run = DayReplay(config(), Schedule((1, 1)))
    run.label(CORPUS)
    seen = [main_window(run.snapshot()) for _ in run.run(Traffic((GOOD, []), 3))]
    assert [(r.sampled, r.labelled) for r in seen] == [(40, 0), (80, 40), (120, 80)]


def test_answers_to_what_the_detector_missed_come_later() -> None:
    """Of two days at the most, none of the misses' comes on the first; many of the others' do."""
    first_evening = []
    for lines in (GOOD, BLIND):
        run = DayReplay(config(), Schedule((0, 2)))
        run.label(CORPUS)
        first_evening += [main_window(run.snapshot()).labelled for _ in run.run(Traffic((lines, [])))]
    found, missed = first_evening
    assert found > 5
    assert missed == 0


def test_no_more_labels_come_than_annotators_get_through() -> None:
    """The others wait."""
    run = DayReplay(config(), Schedule(labels_per_day=15))
    run.label(CORPUS)
    assert [main_window(run.snapshot()).labelled for _ in run.run(Traffic((GOOD, []), 3))] == [15, 30, 45]


def test_a_label_is_about_its_document_and_text_in_every_reading() -> None:
    """Its id in the corpus is the document's own; another text's label is no answer, and the task stays open."""
    corpus = [corpus_line("d0", [ANNA]), corpus_line("d1", [ANNA, BO]), corpus_line("d2", text="other")]
    run = replay_days((version("1", spans_of([ANNA]), ["d0", "d1", "d2"]), []), corpus, passes=2)
    reading = main_window(run.snapshot())
    assert (reading.sampled, reading.labelled, reading.matched.found, reading.matched.true) == (6, 4, 4, 6)
    assert counts(run.snapshot().outcomes) == {"joined": 4}


def test_one_annotators_labels_count_where_one_is_named() -> None:
    """Else those of the first who read the document."""
    spans = [{**span, "annotator": who} for span, who in zip(spans_of([ANNA, BO]), ("jo", "kim"), strict=True)]
    line = corpus_line("d0", labels=spans, annotators=["jo", "kim"])
    found = {
        name: main_window(replay_days((GOOD[:1], []), [line], annotators=[name] if name else []).snapshot()).matched
        for name in ("", "jo", "kim", "lu")
    }
    assert {name: (m.found, m.true) for name, m in found.items()} == {
        "": (1, 1),
        "jo": (1, 1),
        "kim": (0, 1),
        "lu": (0, 0),
    }


def test_labels_that_can_not_be_read_are_dead_letters() -> None:
    """Counted once, whatever becomes of the documents."""
    snapshot = replay_days((GOOD, []), [b"{", *CORPUS], passes=2).snapshot()
    assert counts(snapshot.dead_letters) == {"labels/not_json": 1}


# -- days --------------------------------------------------------------------------------------------------------------


def test_windows_are_the_configs_own() -> None:
    """After 10 days a week is the last 7 of them; without a clock everything would be one window."""
    tree = config(readings={"windows_days": [7, 9]}, labels={"deadline_days": 2})
    snapshot = replay_days((GOOD, []), CORPUS, tree=tree, passes=10).snapshot()
    windows = {days: main_window(snapshot, days=days) for days in (7, 9)}
    assert {days: reading.census for days, reading in windows.items()} == {7: 280, 9: 360}
    assert (windows[7].window.first, windows[7].window.last) == ("2024-10-07", "2024-10-13")


def test_a_days_documents_come_evenly() -> None:
    """Each at its own time between the day's beginning and its end."""
    run = replay_days((GOOD, BLIND), CORPUS)
    at_s = sorted(text.drawn[0].at for _, document in run.documents() for text in document.texts)
    assert at_s == [FIRST_DAY * 86_400 + i * 2_160 for i in range(80)]


def test_the_next_version_begins_on_the_swaps_day() -> None:
    """Its documents are counted as its own, and none of them the day before."""
    run = DayReplay(config(), Schedule())
    run.label(CORPUS)
    seen = [
        (day, run.swap_day, main_window(run.snapshot()).version)
        for day in run.run(Traffic((GOOD, BLIND), 2, 40))
        if day < 2
    ]
    assert seen == [(0, None, "1"), (1, None, "1")]
    assert run.swap_day == 2
    found = [main_window(run.snapshot(), number) for number in ("1", "2")]
    assert [(r.census, r.labelled, r.matched.found) for r in found] == [(80, 80, 80), (80, 80, 0)]


def test_nothing_is_swapped_without_a_next_version() -> None:
    """No day is the swap's."""
    assert replay_days((GOOD, []), CORPUS).swap_day is None


def test_no_day_at_all() -> None:
    """Empty files are no error, and have no reading."""
    run = replay_days(([], []), CORPUS)
    assert (run.swap_day, run.alarms, run.snapshot().readings) == (None, [], ())


# -- draws -------------------------------------------------------------------------------------------------------------

HALF = {"random_rate": 0.5, "loose_rate": 0.0}


def test_each_reading_draws_anew() -> None:
    """Its documents are others to the hash, so that days differ, in the next version too."""
    run = replay_days((GOOD, BLIND), CORPUS, tree=config(sampling=HALF), passes=2)
    drawn = [frozenset(doc_id.partition("#")[0] for doc_id in ids) for _, ids in sorted(by_day(run).items())]
    assert len(set(drawn)) == 4
    assert all(8 < len(ids) < 32 for ids in drawn)


def test_the_key_decides_and_nothing_else() -> None:
    """The same key gives the same draws and the same labels on the same days, another one others."""

    def outcome(key: str) -> tuple[dict[int, set[str]], int]:
        schedule = Schedule((0, 3), 10)
        run = replay_days((GOOD, BLIND), CORPUS, schedule, config(sampling={**HALF, "key": key}), passes=2)
        return by_day(run), main_window(run.snapshot(), "1").labelled

    assert outcome("a") == outcome("a")
    assert outcome("a")[0] != outcome("b")[0]


# -- rates -------------------------------------------------------------------------------------------------------------

MANY = [f"m{i}" for i in range(200)]
MIXED = [decision(name, spans_of([ANNA]) if i % 4 else ()) for i, name in enumerate(MANY)]
MIXED_CORPUS = [corpus_line(name, [ANNA]) for name in MANY]
ADVISED = Schedule((1, 3), 30, advised=True)


def test_advised_rates_draw_what_annotators_get_through() -> None:
    """From the first day on, so that nothing piles up: of 20 days' tasks no more than five days' are open."""
    run = replay_days((MIXED, []), MIXED_CORPUS, ADVISED, Config(), passes=20)
    drawn = {day: len(ids) for day, ids in by_day(run).items()}
    assert sorted(drawn) == list(range(20))
    assert 0.85 * 600 < sum(drawn.values()) < 1.15 * 600
    assert 12 < min(drawn.values()) <= max(drawn.values()) < 55
    reading = main_window(run.snapshot(), days=28)
    assert reading.sampled - reading.labelled < 5 * 30


def test_rates_follow_labels_of_before() -> None:
    """Those of the first days are the config's, scaled; then unflagged documents, all the misses, are drawn more."""
    run = replay_days((MIXED, []), MIXED_CORPUS, ADVISED, Config(), passes=20)
    shares: Counter[tuple[bool, str]] = Counter()
    for _, document in run.documents():
        (drawn,) = document.texts[0].drawn
        shares[document.day - FIRST_DAY > 1, drawn.stratum] += 1
    early, late = (
        shares[when, "unflagged"] / (shares[when, "unflagged"] + shares[when, "detector_only"])
        for when in (False, True)
    )
    assert early < 0.1
    assert late > 0.25


def test_rates_change_seldom() -> None:
    """An advice that's nearly in force isn't taken up: 20 days are made under a handful of configs."""
    run = replay_days((MIXED, []), MIXED_CORPUS, ADVISED, Config(), passes=20)
    made = main_window(run.snapshot(), days=28).config.split(",")
    assert 2 <= len(made) <= 8


def test_what_comes_later_changes_no_draw() -> None:
    """With another next version all draws up to the evening before it are the same: no morning knows its day."""
    draws = [
        by_day(replay_days((MIXED, then), MIXED_CORPUS, ADVISED, Config(), passes=5))
        for then in (version("2", spans_of([ANNA]), MANY), version("2", (), MANY))
    ]
    assert [draws[0][day] for day in range(5)] == [draws[1][day] for day in range(5)]
    assert draws[0] != draws[1]


def test_advised_rates_need_a_number_of_labels() -> None:
    """Nobody can say how much to draw without."""
    with pytest.raises(ValueError, match="labels_per_day"):
        DayReplay(config(), Schedule(advised=True))


# -- alarms ------------------------------------------------------------------------------------------------------------


def test_the_alarm_comes_after_the_swap() -> None:
    """Told once, of the entity that fell, with evidence; the one that didn't fall has none, and no day before has."""
    spans, kept = [ANNA, (9, 11, "EMAIL_ADDRESS")], [(9, 11, "EMAIL_ADDRESS")]
    corpus = [corpus_line(name, spans) for name in NAMES]  # type: ignore[arg-type]  # extents
    first, then = version("1", spans_of(spans)), version("2", spans_of(kept))  # type: ignore[arg-type]  # the same
    tree = config(targets={"PERSON.en": 0.9, "EMAIL_ADDRESS.en": 0.9})
    run = replay_days((first, then), corpus, Schedule((0, 1)), tree, passes=5)
    fell = [alarm for alarm in run.alarms if alarm.cause == "recall_fell"]
    assert [(alarm.entity, alarm.language) for alarm in fell] == [("PERSON", "en")]
    assert run.swap_day == 5
    assert 5 <= fell[0].day <= 7
    assert (fell[0].evidence or 0) > 0
    assert [alarm for alarm in run.alarms if alarm.day < 5] == []


def test_every_alarm_is_told_once() -> None:
    """However often the board is looked at after it."""
    run = replay_days((BLIND, []), CORPUS, tree=config(targets={"PERSON": 0.9}), passes=4)
    fell = Counter((alarm.entity, alarm.language) for alarm in run.alarms if alarm.cause == "recall_fell")
    assert fell
    assert set(fell.values()) == {1}


def test_another_version_is_told_on_its_day_where_a_recall_is_asked_for() -> None:
    """Of all cells together, once; without a target there is nobody to tell."""
    kept = version("2", spans_of([ANNA]))
    asked, unasked = (
        replay_days((GOOD, kept), CORPUS, tree=config(targets=targets), passes=3) for targets in ({"PERSON": 0.5}, {})
    )
    assert [(a.entity, a.language, a.day, a.cause) for a in asked.alarms] == [(ANY, ANY, 3, "design_changed")]
    assert unasked.alarms == []


def test_what_changes_in_the_detectors_output_shows_in_the_evening() -> None:
    """No day before the swap's; without a change on none."""
    run = replay_days((GOOD, BLIND), CORPUS, passes=5)
    flagged, person = (DayShift(*name, "en", "down", 5) for name in (("flagged", ""), ("entity", "PERSON")))
    assert {flagged, person} <= set(run.shifts)
    assert {shift.day for shift in run.shifts} == {5}
    assert replay_days((GOOD, version("2", spans_of([ANNA]))), CORPUS, passes=5).shifts == []


def test_each_change_is_told_as_it_comes() -> None:
    """What came back is another one; what stayed as it was is told once."""
    run = DayReplay(config(), Schedule())
    run.label(CORPUS)
    traffic = Traffic((GOOD * 5 + BLIND * 5 + GOOD * 5, []), 1, 40)
    told = [[(s.day, s.direction) for s in run.shifts if s.signal == "flagged"] for _ in run.run(traffic)]
    assert [len(evening) for evening in told] == [0] * 5 + [1] * 5 + [2] * 5
    assert told[-1] == [(5, "down"), (10, "up")]


def test_readings_are_of_the_last_evening() -> None:
    """Found and true of every entity are those of the documents labelled by then."""
    run = replay_days((GOOD, []), CORPUS, tree=config(readings={"windows_days": [7]}))
    assert found_of_true(run.snapshot(), "PERSON") == (40, 40)
    assert cell(run.snapshot(), "PERSON", "en").age_s is not None
    assert [s.strata[0].labelled for s in run.samples() if (s.entity, s.language) == ("PERSON", "en")] == [40]
