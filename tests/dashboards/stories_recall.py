"""Stories of the alerts on recall, as whoever is on call would tell them."""

from __future__ import annotations

from promtool import (
    PERSON,
    VERSION,
    Fires,
    Recall,
    Story,
    alarm,
    always,
    cell,
    gap,
    level,
    of,
    running,
    then,
    told,
)

from monitor import metrics as m

CELL = PERSON | VERSION
GOOD = Recall()
WORSE = Recall(estimate=0.85, lower=0.81, upper=0.89, found=340, looked=0.86, looked_lower=0.82)
ALARM = "RecallwatchRecallFell"
FELL = "RecallwatchLowerLimitFell"
BELOW = "RecallwatchBelowTarget"
REACH = "RecallwatchTargetOutOfReach"
HIDDEN = Recall(lower=0.55, looked=0.98, looked_lower=0.965)
"""Nothing was missed where any tool looked; of what none flagged too little is read."""
SMALL = Recall(estimate=0.9, lower=0.55, upper=0.99, found=18, true=20)
"""Twenty occurrences say little."""
FEW = SMALL._replace(estimate=0.6, lower=0.4, upper=0.78, found=12)
"""Of so few, fewer still."""


def _weeks(before: Recall, now: Recall, **labels: str) -> dict[str, str]:
    """Return a cell over a week of one kind and another one, half an hour a step: the windows share no document."""
    first = cell(before, then("{}x335", gap(114)), "7d", **labels)
    return first | {
        series: values.replace(" _x114", "") + " " + cell(now, "{}x113", "7d", **labels).get(series, gap(114))
        for series, values in first.items()
    }


def _on(minutes: int, restated: int = 0, **labels: str) -> dict[str, str]:
    return {
        of(m.ALARM_SINCE, **CELL | labels): always(86_400, minutes),
        of(m.ALARM_RESTATED, **CELL | labels): always(restated, minutes),
    }


def _decided(minutes: int, **ages: float) -> dict[str, str]:
    """Return when versions (`v1`, `v2`) decided last: so many seconds ago."""
    return {
        of(m.LAST_DECISION, **VERSION | {"version": version.removeprefix("v")}): f"{-age:g}+60x{minutes}"
        for version, age in ages.items()
    }


def _paged(figures: str, entity: str = "PERSON", language: str = "es") -> str:
    return (
        f"{entity} in {language} (presidio 2): recall, the share that is found, is below its target of 95%; the alarm "
        f"is on since 1970-01-02 00:00:00 +0000 UTC. {figures}"
    )


HERE = "Last 28d: recall 85%, limits 81% to 89%; 340 of 400 labelled occurrences found. Last 7d: recall isn't known."


STORIES = [
    Story(
        "A new model lets names through: the alarm goes on, and I'm paged with the figures of both windows",
        ALARM,
        "10m",
        running(30)
        | cell(WORSE, "{}x30")
        | cell(WORSE._replace(found=80, true=100, estimate=0.8, lower=0.71, upper=0.87), "{}x30", "7d")
        | alarm(always(1, 30))
        | _on(30),
        told(
            "PERSON in es (presidio 2): recall, the share that is found, is below its target of 95%; the alarm is"
            " on since 1970-01-02 00:00:00 +0000 UTC. Last 28d: recall 85%, limits 81% to 89%; 340 of 400 "
            "labelled occurrences found. Last 7d: recall 80%, limits 71% to 87%; 80 of 100 labelled occurrences "
            "found.",
            **CELL,
        ),
    ),
    Story(
        "The version before found nearly all: the page says so, and I know that a roll-back helps",
        ALARM,
        "10m",
        running(30)
        | cell(WORSE, "{}x30")
        | cell(GOOD, "{}x30", version="1")
        | cell(GOOD._replace(estimate=0.5, lower=0.4, found=200), "{}x30", version="0")
        | cell(GOOD, "{}x30", version="1", entity="IBAN")
        | alarm(always(1, 30))
        | _on(30)
        | _decided(30, v2=5, v1=90_000, v0=900_000),
        told(_paged(f"{HERE} Version 1 before it: recall 97%, lower limit 95.5%; 388 of 400 found."), **CELL),
    ),
    Story(
        "Version 3 was rolled back to this one an hour ago: the one before goes by its last decision, not by its name",
        ALARM,
        "10m",
        running(30)
        | cell(WORSE, "{}x30")
        | cell(GOOD, "{}x30", version="1")
        | cell(GOOD._replace(estimate=0.5, lower=0.4, found=200), "{}x30", version="3")
        | alarm(always(1, 30))
        | _on(30)
        | _decided(30, v2=5, v1=90_000, v3=3_600),
        told(_paged(f"{HERE} Version 3 before it: recall 50%, lower limit 40%; 200 of 400 found."), **CELL),
    ),
    Story(
        "The version before has no recall in this cell, so the page leaves no hole for it",
        ALARM,
        "10m",
        running(30) | cell(WORSE, "{}x30") | alarm(always(1, 30)) | _on(30) | _decided(30, v2=5, v1=90_000),
        told(_paged(HERE), **CELL),
    ),
    Story(
        "A bad version fell in all languages: the page for all of them names the worst, and those whose alarm is on",
        ALARM,
        "10m",
        running(30)
        | cell(WORSE, "{}x30", language="any")
        | cell(WORSE._replace(estimate=0.7, found=70, true=100), "{}x30", language="nl")
        | cell(WORSE, "{}x30", language="es")
        | cell(GOOD, "{}x30", language="en")
        | alarm(always(1, 30), language="any")
        | alarm(always(1, 30), language="nl", entity="IBAN")
        | alarm(always(0, 30), language="en")
        | _on(30, language="any"),
        (
            Fires(
                _paged(
                    f"{HERE} It's lowest in nl, 70%. Languages whose own alarm is on: none.", language="all languages"
                ),
                CELL | {"language": "any"},
            ),
            Fires(
                "IBAN in nl (presidio 2): recall, the share that is found, is below its target of unknown; the alarm "
                "is on since unknown. Last 28d: recall isn't known. Last 7d: recall isn't known.",
                CELL | {"language": "nl", "entity": "IBAN"},
            ),
        ),
    ),
    Story(
        "Two languages' own alarms are on beside that of all: the page for all names both, and a correction of a label",
        ALARM,
        "10m",
        running(30)
        | cell(WORSE, "{}x30", language="any")
        | alarm(always(1, 30), language="any")
        | alarm(always(1, 30), language="nl")
        | alarm(always(1, 30), language="es")
        | _on(30, 1, language="any"),
        (
            Fires(
                _paged(
                    f"{HERE} Languages whose own alarm is on: es, nl. A label was corrected since, "
                    "which took evidence back.",
                    language="all languages",
                ),
                CELL | {"language": "any"},
            ),
            *(
                Fires(
                    f"PERSON in {language} (presidio 2): recall, the share that is found, is below its target of "
                    "unknown; the alarm is on since unknown. Last 28d: recall isn't known. Last 7d: recall isn't "
                    "known.",
                    CELL | {"language": language},
                )
                for language in ("nl", "es")
            ),
        ),
    ),
    Story(
        "The alarm is off, however low the numbers of a young version are: nobody is woken",
        ALARM,
        "20m",
        running(30) | cell(WORSE._replace(true=40, found=34), "{}x30") | alarm(always(0, 30)),
    ),
    Story(
        "One scrape says that the alarm is on, the next ones that it's off: nobody is woken",
        ALARM,
        "8m",
        running(30) | alarm(then(level(0, 3), level(1, 1), always(0, 30))),
    ),
    Story(
        "The alarm went off after the repair: half an hour later it's resolved",
        ALARM,
        "90m",
        running(120) | alarm(then(level(1, 30), always(0, 90))),
        every="10m",
    ),
    Story(
        "The version was rolled back, and its alarm is on for the rest of the day: the page still says what it was for",
        ALARM,
        "50m",
        running(60)
        | {of(m.DETECTOR, **VERSION): "1x19 stale", of(m.DETECTOR, **VERSION | {"version": "1"}): "_x20 1x40"}
        | cell(WORSE, "{}x60")
        | cell(WORSE._replace(found=80, true=100, estimate=0.8, lower=0.71, upper=0.87), "{}x60", "7d")
        | alarm(always(1, 60))
        | _on(60),
        told(
            "PERSON in es (presidio 2): recall, the share that is found, is below its target of 95%; the alarm is"
            " on since 1970-01-02 00:00:00 +0000 UTC. Last 28d: recall 85%, limits 81% to 89%; 340 of 400 "
            "labelled occurrences found. Last 7d: recall 80%, limits 71% to 87%; 80 of 100 labelled occurrences "
            "found.",
            **CELL,
        ),
    ),
    Story(
        "Only the cell that fell is told: its neighbours' alarms are off",
        ALARM,
        "10m",
        running(30) | alarm(always(0, 30), entity="IBAN") | alarm(always(1, 30), entity="PHONE_NUMBER"),
        told(
            "PHONE_NUMBER in es (presidio 2): recall, the share that is found, is below its target of unknown; "
            "the alarm is on since unknown. Last 28d: recall isn't known. Last 7d: recall isn't known.",
            **CELL | {"entity": "PHONE_NUMBER"},
        ),
    ),
    Story(
        "The same version finds less than the week before, and as much is read: I get a ticket with both weeks",
        FELL,
        "9d",
        running(450, 30) | _weeks(GOOD, WORSE),
        told(
            "PERSON in es (presidio 2): the lower limit of recall is 81%, it was 95.5% in the 7d before, at as "
            "large a share of documents sampled. Last 7d: recall 85%, limits 81% to 89%; 340 of 400 labelled "
            "occurrences found. The 7d before: recall 97%, 388 of 400 found.",
            **CELL,
            window="7d",
        ),
        step="30m",
        every="4h",
    ),
    Story(
        "Limits fell because fewer documents are read, because few occurrences came, of a number that doesn't stand, "
        "by chance, or of a version that is gone: no ticket",
        FELL,
        "9d",
        running(450, 30)
        | _weeks(GOOD, WORSE._replace(sampled=2_000, labelled=1_800), entity="IBAN")
        | _weeks(GOOD, FEW, entity="PASSPORT")
        | _weeks(GOOD, WORSE._replace(status="stale"), entity="URL")
        | _weeks(GOOD._replace(status="stale"), WORSE, entity="NIE")
        | _weeks(GOOD, GOOD._replace(estimate=0.955, lower=0.93, upper=0.975), entity="PHONE_NUMBER")
        | _weeks(GOOD, WORSE, version="1"),
        step="30m",
        every="4h",
    ),
    Story(
        "Where tools looked the lower limit is under the target, with 400 occurrences behind it: I get a ticket",
        BELOW,
        "90m",
        running(120) | cell(WORSE, "{}x120"),
        told(
            "PERSON in es (presidio 2): in documents that any tool flagged, recall is 86%, and its lower limit "
            "82% is under the target of 95%. All documents of the last 28d: recall 85%, limits 81% to 89%; 340 of"
            " 400 labelled occurrences found.",
            **CELL,
            window="28d",
        ),
        every="10m",
    ),
    Story(
        "Twenty occurrences leave a wide interval that reaches under the target: that's no ticket yet",
        BELOW,
        "90m",
        running(120) | cell(SMALL._replace(looked_lower=0.6), "{}x120"),
        every="10m",
    ),
    Story(
        "The version that is under its target is no longer in traffic, so there is nothing to mend: no ticket",
        BELOW,
        "90m",
        running(120) | cell(WORSE, "{}x120", version="1"),
        every="10m",
    ),
    Story(
        "A stale reading under its target says nothing of today: no ticket for recall",
        BELOW,
        "90m",
        running(120) | cell(WORSE._replace(status="stale"), "{}x120"),
        every="10m",
    ),
    Story(
        "The limit dips under the target for one scrape: no ticket",
        BELOW,
        "90m",
        running(120)
        | cell(GOOD, "{}x120")
        | {
            of(m.LOOKED_LOWER, **CELL, window="28d", reading="matched"): then(
                level(0.962, 30), "0.9", always(0.962, 90)
            )
        },
    ),
    Story(
        "Nothing was missed where tools looked, but too little else is read: after a day, a notice with the rate it "
        "takes",
        REACH,
        "26h",
        running(60, 30) | cell(HIDDEN, "{}x60"),
        told(
            "PERSON in es (presidio 2): nothing fell. To show its target of 95% takes a random rate "
            "(sampling.random_rate) of about 27.06% (over 100 % none does); in force is 0.5%, and 0.5% of the "
            "documents were drawn by it. 62% of the interval's width comes from documents that no tool flagged; a"
            " rate of 2.1% would halve that part. Last 28d: recall 97%, limits 55% to 98.5%; 388 of 400 labelled "
            "occurrences found.",
            **CELL,
            window="28d",
        ),
        step="30m",
        every="1h",
    ),
    Story(
        "The interval is wide where tools looked: no random rate helps, and none is advised",
        REACH,
        "26h",
        running(60, 30) | cell(GOOD._replace(lower=0.93, looked_lower=0.935, true=60), "{}x60"),
        step="30m",
        every="1h",
    ),
    Story(
        "The target is shown, limits and all, and the number of the other cell is stale: no notice",
        REACH,
        "26h",
        running(60, 30) | cell(GOOD, "{}x60") | cell(HIDDEN._replace(status="stale"), "{}x60", entity="IBAN"),
        others=("RecallwatchRecallUnknown",),
        step="30m",
        every="1h",
    ),
]
