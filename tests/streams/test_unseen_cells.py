"""A cell with a target has a reading from the version's first document on, whatever the version still names."""

from __future__ import annotations

from replays import BO, Extent, config, corpus_line, decision, spans_of

from monitor.config import Config
from monitor.readings import ANY, BoardSnapshot, Reading
from streams.replay_days import DayReplay, Schedule
from streams.replay_traffic import Traffic

MAIL: Extent = (0, 4, "EMAIL_ADDRESS")
NAMES = [f"d{i}" for i in range(20)]
CORPUS = [corpus_line(name, [MAIL, BO]) for name in NAMES]
FIRST = [decision(name, spans_of([MAIL, BO])) for name in NAMES]
NEXT = [decision(name, spans_of([BO]), version="2") for name in NAMES]
TARGETS = {"EMAIL_ADDRESS": 0.9, "PERSON.en": 0.9}


def evenings(tree: Config) -> list[BoardSnapshot]:
    """Return the board on three evenings before the swap and three after, labels a day late, misses' later."""
    run = DayReplay(tree, Schedule((1, 2)))
    run.label(CORPUS)
    return [run.snapshot() for _ in run.run(Traffic((FIRST, NEXT), 3))]


def of(snapshot: BoardSnapshot, entity: str, language: str, version: str) -> list[Reading]:
    """Return the population readings of a cell, one a window."""
    key = (entity, language, version, None)
    return [r for r in snapshot.readings if (r.entity, r.language, r.version, r.stratum) == key]


def test_what_a_version_no_longer_names_keeps_its_row() -> None:
    """Without a number until a label holds it; its alarm can't tell, and counts no less than one that was met."""
    evening = evenings(config(targets=TARGETS))[3]
    assert len(of(evening, "EMAIL_ADDRESS", "en", "2")) == 2
    for language in ("en", ANY):
        for reading in of(evening, "EMAIL_ADDRESS", language, "2"):
            assert (reading.status, reading.target, reading.census) == ("no_label", 0.9, 20)
            assert (reading.matched.estimate, reading.matched.lower, reading.certified) == (None, None, None)
            assert (reading.matched.found, reading.matched.true, reading.any_time) == (0, 0, None)
            assert reading.alarm is not None
            assert (reading.alarm.state, reading.alarm.labelled) == (None, 0)
    last = of(evenings(config(targets=TARGETS))[5], "EMAIL_ADDRESS", "en", "2")
    assert {r.matched.true > 0 for r in last} == {True}


def test_every_target_has_a_row_in_the_languages_it_is_of() -> None:
    """Also one that nothing was ever flagged or labelled in; and none in a language without traffic."""
    tree = config(targets={"IBAN_CODE": 0.9, "ID.en": 0.9, "ID.fr": 0.9, "any.fr": 0.9})
    evening = evenings(tree)[0]
    rows = {(r.entity, r.language) for r in evening.readings if r.target is not None}
    assert rows == {("IBAN_CODE", "en"), ("IBAN_CODE", ANY), ("ID", "en")}
    assert {r.status for r in evening.readings if r.entity in ("IBAN_CODE", "ID")} == {"no_label"}
    assert evening.unseen_targets == ("IBAN_CODE", "ID.en", "ID.fr", "any.fr")


def test_a_version_of_the_past_has_no_row_for_what_nobody_met() -> None:
    """Nobody is asked about it any more."""
    evening = evenings(config(targets={"IBAN_CODE": 0.9}))[5]
    assert of(evening, "IBAN_CODE", "en", "1") == []
    assert len(of(evening, "IBAN_CODE", "en", "2")) == 2


def test_what_an_earlier_version_met_was_seen() -> None:
    """Its name isn't mistyped."""
    assert [evening.unseen_targets for evening in evenings(config(targets=TARGETS))] == [()] * 6


def test_a_cell_that_nothing_was_met_in_has_no_share_in_the_promise() -> None:
    """A mistyped target makes no alarm later."""
    promised = {
        r.alarm.promised_days
        for targets in ({"PERSON.en": 0.9}, {"PERSON.en": 0.9, "IBAN_CODE": 0.9})
        for r in evenings(config(targets=targets))[2].readings
        if r.alarm is not None
    }
    assert len(promised) == 1
