"""From sums to samples: each cell's own rows, by stratum and inclusion probability, and names kept bounded."""

from __future__ import annotations

from monitor.cells import Frame, Version, by_version, languages, of_language
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.tally import CellKey, CensusKey, CountKey, DesignKey, DesignRow, FlaggedKey, Key, MadeKey, QueueKey, Tally

ROWS: dict[Key, tuple[int, ...]] = {
    CensusKey("en", "d", "1", "unflagged"): (900,),
    CensusKey("en", "d", "1", "both"): (100,),
    CensusKey("nl", "d", "1", "both"): (7,),
    CensusKey("en", "d", "2", "both"): (5,),
    DesignKey("en", "d", "1", "both", 0.5): (50, 40, 3, 7, 0),
    DesignKey("en", "d", "1", "both", 0.1): (10, 10, 0, 0, 0),
    CellKey("en", "d", "1", "both", 0.5, "PERSON", "matched"): Moments.of(1, 2),
    CellKey("en", "d", "1", "both", 0.5, "PERSON", "masked"): Moments.of(2, 2),
    FlaggedKey("en", "d", "1", "URL"): (3, 4),
    MadeKey("d", "1", "c0ffee", "babe"): (60,),
    QueueKey("en"): (60, 50, 3),
    CountKey("labels", "joined"): (50,),
}
FIRST = Version("d", "1")


def test_versions_are_kept_apart() -> None:
    """Counts and queues belong to none."""
    versions = by_version(Tally(ROWS))

    assert {FIRST, Version("d", "2")} == set(versions)
    assert [Frame("en", "both", 5, ())] == versions[Version("d", "2")].frames()


def test_sample_holds_every_design_of_its_stratum() -> None:
    """Rates that changed in between are two designs; one without an occurrence of the entity is there with zeros."""
    sums = by_version(Tally(ROWS))[FIRST]
    frame = sums.frames()[0]
    designs = (Design(0.1, 10, 10, Moments()), Design(0.5, 50, 40, Moments.of(1, 2)))

    assert StratumSample("en", "both", 100, designs) == sums.sample(frame, "PERSON", "matched")
    assert Moments.of(2, 2) == sums.sample(frame, "PERSON", "masked").designs[1].moments
    assert [Moments(), Moments()] == [d.moments for d in sums.sample(frame, "URL", "matched").designs]


def test_frames_come_by_language_in_the_order_of_strata() -> None:
    """The roll-up comes last and holds them all."""
    frames = by_version(Tally(ROWS))[FIRST].frames()

    assert [(f.language, f.stratum) for f in frames] == [("en", "both"), ("en", "unflagged"), ("nl", "both")]
    assert languages(frames) == ["en", "nl", "any"]
    assert tuple(len(of_language(frames, language)) for language in languages(frames)) == (2, 1, 3)
    assert DesignRow(50, 40, 3, 7, 0) == dict(frames[0].designs)[0.5]


def test_unknown_entities_are_listed_by_frequency_up_to_the_limit() -> None:
    """Annotators choose names too; known ones don't count against the limit, and the roll-up is always there."""
    tally = Tally(ROWS)
    for name, n in (("A", 1), ("B", 5), ("C", 3)):
        tally.add(CellKey("en", "d", "1", "both", 0.5, name, "matched"), Moments.of(0, 1)._replace(y=n))
    sums = by_version(tally)[FIRST]
    known = {"PERSON", "URL"}.__contains__

    assert sums.listed(known, 2) == ["B", "C", "PERSON", "URL", "any"]
    assert sums.listed(known, 0) == ["PERSON", "URL", "any"]
    assert sums.listed(known, 200) == ["A", "B", "C", "PERSON", "URL", "any"]


def test_census_of_an_entity_counts_documents_by_language_and_of_all() -> None:
    """Documents, not spans; none named is 0."""
    tally = Tally(ROWS)
    tally.add(FlaggedKey("nl", "d", "1", "URL"), (2, 9))
    sums = by_version(tally)[FIRST]

    assert [sums.census_of(*p) for p in (("en", "URL"), ("nl", "URL"), ("any", "URL"), ("en", "IP"))] == [3, 2, 5, 0]


def test_census_of_an_entity_is_none_where_the_config_changed() -> None:
    """Names may have been counted under other ones before."""
    tally = Tally(ROWS)
    tally.add(MadeKey("d", "1", "decaf", "babe"), (1,))

    assert by_version(tally)[FIRST].census_of("en", "URL") is None
