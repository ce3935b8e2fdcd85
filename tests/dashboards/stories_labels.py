"""Stories of what is known: labels, readers, targets."""

from __future__ import annotations

from promtool import PERSON, VERSION, Recall, Series, Story, always, cell, level, of, running, then, told

from monitor import metrics as m

CELL = PERSON | VERSION
UNKNOWN = "RecallwatchRecallUnknown"
NEVER = "RecallwatchNeverKnown"
UNSEEN = "RecallwatchTargetUnseen"
WITHHELD = "RecallwatchCellsWithheld"
KAPPA = "RecallwatchKappaLow"
LATE = Recall(status="incomplete", labelled=1_500)
RARE = Recall(status="no_truth", true=0, found=0)
PAIR = PERSON | {"window": "28d"}


def _kappa(value: str, steps: int, documents: int = 60, **labels: str) -> dict[str, str]:
    place = PAIR | labels
    return {
        of(m.KAPPA_ESTIMATE, **place): value,
        of(m.KAPPA_LOWER, **place): always(0.38, steps),
        of(m.KAPPA_UPPER, **place): always(0.58, steps),
        of(m.TWICE, **place): always(documents, steps),
    }


def _without_target(known: Recall, steps: int) -> Series:
    """Return a cell that nobody asked a recall of."""
    series = cell(known, f"{{}}x{steps}", entity="IBAN")
    return {name: values for name, values in series.items() if not name.startswith(m.TARGET.name)}


STORIES = [
    Story(
        "Labels lag behind for hours: a ticket says how many are in, and that the reading is incomplete",
        UNKNOWN,
        "7h",
        running(100, 5) | cell(LATE, "{}x100"),
        told(
            "PERSON in es (presidio 2): recall can't be relied on any more, as too few of the sampled documents "
            "are labelled (incomplete); nothing says that it fell. 1500 of 5000 sampled documents of the last 28d"
            " are labelled (30%); the last label of the version came 0s ago; two readers' kappa is unknown.",
            **CELL,
            window="28d",
        ),
        step="5m",
        every="30m",
    ),
    Story(
        "The newest label is older than the window, so nothing is labelled in it: a ticket says that it expired",
        UNKNOWN,
        "7h",
        running(100, 5) | cell(Recall(status="expired", labelled=0), "{}x100"),
        told(
            "PERSON in es (presidio 2): recall can't be relied on any more, as its newest labelled document is "
            "older than the window (expired); nothing says that it fell. 0 of 5000 sampled documents of the last "
            "28d are labelled (0%); the last label of the version came 0s ago; two readers' kappa is unknown.",
            **CELL,
            window="28d",
        ),
        step="5m",
        every="30m",
    ),
    Story(
        "Two readers stopped agreeing: the recall that rests on them is greyed, and the ticket has kappa",
        UNKNOWN,
        "7h",
        running(100, 5) | cell(Recall(status="greyed"), "{}x100") | _kappa(always(0.48, 100), 100),
        told(
            "PERSON in es (presidio 2): recall can't be relied on any more, as two readers agree too little on "
            "what it is (greyed); nothing says that it fell. 4500 of 5000 sampled documents of the last 28d are "
            "labelled (90%); the last label of the version came 0s ago; two readers' kappa is 0.48.",
            **CELL,
            window="28d",
        ),
        others=(KAPPA,),
        step="5m",
        every="30m",
    ),
    Story(
        "The word for why it isn't known changes after four hours: it has been unknown for seven, so I'm told",
        UNKNOWN,
        "7h",
        running(100, 5)
        | cell(LATE, "{}x47")
        | cell(LATE._replace(status="stale"), then("_x48", "{}x50"))
        | {of(metric, **CELL, window="28d"): always(value, 100) for metric, value in ((m.CURRENT, 0), (m.TARGET, 0.95))}
        | {of(m.LABELLED, **CELL, window="28d"): always(1_500, 100)}
        | {of(m.CELL_SAMPLED, **CELL, window="28d"): always(5_000, 100)}
        | {of(m.COMPLETENESS, **CELL, window="28d"): always(0.3, 100)},
        told(
            "PERSON in es (presidio 2): recall can't be relied on any more, as no label came for days (stale); "
            "nothing says that it fell. 1500 of 5000 sampled documents of the last 28d are labelled (30%); the "
            "last label of the version came 0s ago; two readers' kappa is unknown.",
            **CELL,
            window="28d",
        ),
        step="5m",
        every="30m",
    ),
    Story(
        "Marked is still a number, and nobody asked for a target of the other cell: no ticket",
        UNKNOWN,
        "7h",
        running(100, 5) | cell(Recall(status="marked"), "{}x100") | _without_target(LATE, 100),
        step="5m",
        every="30m",
    ),
    Story(
        "A new version has had no label for two days: that's how every version begins",
        NEVER,
        "2d",
        running(100, 30) | cell(Recall(status="no_label", labelled=0, true=0, found=0), "{}x100"),
        step="30m",
        every="2h",
    ),
    Story(
        "A target still has no number after a week: a notice, not a ticket",
        NEVER,
        "8d",
        running(400, 30) | cell(RARE, "{}x400") | _without_target(RARE, 400),
        told(
            "PERSON in es (presidio 2) has a target and no recall yet, as no labelled document holds it "
            "(no_truth). 4500 of 5000 sampled documents of the last 28d are labelled (90%); 0 occurrences were in"
            " them.",
            **CELL,
            window="28d",
        ),
        step="30m",
        every="4h",
    ),
    Story(
        "Somebody set a target for PRESON: a day later a notice says that nothing has that name",
        UNSEEN,
        "26h",
        running(60, 30) | {of(m.UNSEEN_TARGETS): always(1, 60)},
        told(
            "1 targets are for an entity and language in which nothing was ever flagged or labelled, 0 are "
            "allowed: mostly a misspelt name. 0 targets have a reading. The page names those that have none.",
        ),
        step="30m",
        every="2h",
    ),
    Story(
        "A target is set in the morning and its first document comes at night: nobody hears of it",
        UNSEEN,
        "26h",
        running(60, 30) | {of(m.UNSEEN_TARGETS): then(level(1, 30), always(0, 30))},
        step="30m",
        every="2h",
    ),
    Story(
        "Somebody's free-text entity names fill the board: a notice that some cells can't be alerted on",
        WITHHELD,
        "7h",
        running(100, 5) | cell(Recall(), "{}x100") | {of(m.CELLS_WITHHELD): always(212, 100)},
        told(
            "212 combinations of entity, language, version and window aren't exported, 0 are allowed; 1 are, of "
            "the versions in traffic over 28d. Of those that aren't, a fall of recall still pages; no other alert"
            " sees them.",
        ),
        step="5m",
        every="30m",
    ),
    Story(
        "All cells are exported, after an hour in which they weren't: nobody needs to know",
        WITHHELD,
        "7h",
        running(100, 5) | {of(m.CELLS_WITHHELD): then(level(212, 13), always(0, 87))},
        step="5m",
        every="30m",
    ),
    Story(
        "Kappa of names is .48 over 60 documents for a working day: a ticket for whoever writes the guideline",
        KAPPA,
        "7h",
        running(100, 5) | _kappa(always(0.48, 100), 100),
        told(
            "PERSON in es: two readers of the same documents agree with a kappa of 0.48 (1 is always, 0 as by "
            "chance), limits 0.38 to 0.58, under 0.6; 60 documents were read twice.",
            **PAIR,
        ),
        step="5m",
        every="30m",
    ),
    Story(
        "Kappa is low over twelve documents, or of all entities together: that says nothing yet",
        KAPPA,
        "7h",
        running(100, 5) | _kappa(always(0.2, 100), 100, 12) | _kappa(always(0.48, 100), 100, entity="any"),
        step="5m",
        every="30m",
    ),
    Story(
        "One scrape has a kappa of 0: no ticket",
        KAPPA,
        "8h",
        running(100, 5) | _kappa(then(level(0.85, 20), "0", always(0.85, 80)), 100),
        step="5m",
    ),
]
