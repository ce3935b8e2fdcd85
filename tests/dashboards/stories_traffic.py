"""Stories of the traffic: drift, versions, silence, the random slice, unreadable records."""

from __future__ import annotations

from promtool import PERSON, SECOND, VERSION, Story, always, gap, level, of, running, then, told, worker

from monitor import metrics as m

DRIFT = "RecallwatchDriftDetected"
VERSIONS = "RecallwatchDetectorChanged"
SILENCE = "RecallwatchNoDecisions"
STARVED = "RecallwatchRandomSliceStarved"
LETTERS = "RecallwatchDeadLetters"
SIGNAL = PERSON | {"signal": "entity"}
LOOSE = {"signal": "loose_only", "entity": "any", "language": "any"}
CHANGE = of(m.DRIFT_CHANGE, **SIGNAL, direction="down")
SHARE = of(m.DRIFT_SHARE, **SIGNAL)
DOCUMENTS = of(m.DRIFT_DOCUMENTS, **SIGNAL)
BEFORE = of(m.DRIFT_BEFORE, **SIGNAL)
AFTER = of(m.DRIFT_AFTER, **SIGNAL)
DECISIONS = of(m.DECISIONS, **VERSION)
RANDOM = of(m.SAMPLED, slice="random")
NEW = VERSION | {"version": "3"}
NOT_JSON = {"channel": "decisions", "reason": "not_json"}
BAD_SPAN = {"channel": "labels", "reason": "bad_span"}
DETECTOR = of(m.DETECTOR, **VERSION)
NEW_DETECTOR = of(m.DETECTOR, **NEW)


def _came(version: dict[str, str], counted: str, before: str = "") -> str:
    return (
        f"presidio {version['version']} came in the last 1h, with {counted} decisions.{before} What is known of "
        "another version says nothing about this one: its recall rests on documents of its own alone."
    )


STORIES = [
    Story(
        "PERSON vanished from the detector's Spanish output ten minutes ago: a ticket says from what to what",
        DRIFT,
        "30m",
        running(40)
        | {CHANGE: then(gap(20), always(1_200, 20)), SHARE: then(level(0.42, 20), always(0.015, 20))}
        | {DOCUMENTS: then(level(90_000, 20), always(1_200, 20))}
        | {BEFORE: then(gap(20), always(0.42, 20)), AFTER: then(gap(20), always(0.02, 20))},
        told(
            "es: the share of documents in which the detector flags PERSON fell from 42% to 2%, as was found 10m 0s "
            "ago (told for 12h). Since then it's 1.5%, 18 of the 1200 documents looked at. Signal entity, entity "
            "PERSON.",
            **SIGNAL,
            direction="down",
        ),
    ),
    Story(
        "The change was found this minute, by a worker that tells no share before: the ticket leaves no holes",
        DRIFT,
        "30m",
        running(40) | {CHANGE: then(gap(20), always(1_200, 20)), DOCUMENTS: always(0, 40)},
        told(
            "es: the share of documents in which the detector flags PERSON fell, as was found 10m 0s ago (told for "
            "12h). Signal entity, entity PERSON.",
            **SIGNAL,
            direction="down",
        ),
    ),
    Story(
        "The net sees what the detector no longer does: in plain words, not by a signal's name alone",
        DRIFT,
        "30m",
        running(40)
        | {
            of(m.DRIFT_CHANGE, **LOOSE, direction="up"): then(gap(20), always(1_200, 20)),
            of(m.DRIFT_SHARE, **LOOSE): always(0.078, 40),
            of(m.DRIFT_DOCUMENTS, **LOOSE): always(9_000, 40),
            of(m.DRIFT_BEFORE, **LOOSE): always(0.03, 40),
            of(m.DRIFT_AFTER, **LOOSE): always(0.08, 40),
        },
        told(
            "all languages: the share of documents that the loose net flags and the detector doesn't rose from 3% to "
            "8%, as was found 10m 0s ago (told for 12h). Since then it's 7.8%, 702 of the 9000 documents looked at. "
            "Signal loose_only, entity any.",
            **LOOSE,
            direction="up",
        ),
    ),
    Story(
        "The change was yesterday, and everybody knows: it's told no longer",
        DRIFT,
        "30m",
        running(40) | {CHANGE: always(-86_400, 40), SHARE: always(0.02, 40)},
    ),
    Story(
        "A signal is watched and never changed: no ticket",
        DRIFT,
        "30m",
        running(40) | {SHARE: always(0.42, 40)},
    ),
    Story(
        "Version 3 came at noon: a notice, and no page",
        VERSIONS,
        "3h",
        running(200)
        | {DETECTOR: "1x150 stale", NEW_DETECTOR: then(gap(151), always(1, 49))}
        | {DECISIONS: then("0+6000x150", always(900_000, 50)), of(m.DECISIONS, **NEW): then(gap(151), "0+6000x49")},
        told(_came(NEW, "174000 of 354000"), **NEW),
        every="5m",
    ),
    Story(
        "The same version as ever: nothing to tell",
        VERSIONS,
        "3h",
        running(200),
        every="5m",
    ),
    Story(
        "A second detector starts: it changed nothing of the first one's",
        VERSIONS,
        "3h",
        running(200) | {of(m.DETECTOR, detector="gliner", version="1"): then(gap(150), always(1, 50))},
        every="5m",
    ),
    Story(
        "The old version came back after an hour: Prometheus knew it, but the board tells it",
        VERSIONS,
        "3h",
        running(200)
        | {
            DETECTOR: then("1x90", "stale", gap(49), always(1, 60)),
            NEW_DETECTOR: then(gap(91), level(1, 49), "stale"),
            of(m.TOLD, **VERSION, entity="any", language="any", cause="version_changed"): then(
                gap(141), always(8_400, 60)
            ),
            of(m.LAST_DECISION, **VERSION): "0+60x200",
            of(m.LAST_DECISION, **NEW): always(8_400, 200),
            of(m.LAST_DECISION, **VERSION | {"version": "1"}): always(0, 200),
            of(m.LAST_DECISION, detector="gliner", version="1"): "0+60x200",
        },
        told(_came(VERSION, "360000 of 360000", " Version 3 before it decided last 40m 0s ago."), **VERSION),
        every="5m",
    ),
    Story(
        "The producers went quiet after lunch: a ticket says that nothing waits either",
        SILENCE,
        "3h",
        running(200) | {DECISIONS: then("0+6000x60", always(360_000, 140))},
        told("1 workers are up and counted 0 decisions in 1h; 3 wait in the topic."),
        every="5m",
    ),
    Story(
        "A worker that started at night never counted a decision, so the series isn't even there",
        SILENCE,
        "3h",
        {series: values for series, values in running(200).items() if series != DECISIONS},
        told("1 workers are up and counted 0 decisions in 1h; 3 wait in the topic."),
        every="5m",
    ),
    Story(
        "Traffic rests for forty minutes at night: no ticket",
        SILENCE,
        "3h",
        running(200) | {DECISIONS: then("0+6000x120", always(720_000, 40), "720000+6000x40")},
        every="5m",
    ),
    Story(
        "One worker counts nothing because the other has all partitions with traffic: decisions come in",
        SILENCE,
        "3h",
        running(200) | worker(200, SECOND) | {of(m.DECISIONS, SECOND, **VERSION): always(0, 200)},
        every="5m",
    ),
    Story(
        "Nobody noticed that the random rate was turned down to next to nothing: a day's traffic, three documents",
        STARVED,
        "26h",
        running(60, 30) | {RANDOM: then("0x20", "1x10", always(3, 30))},
        told(
            "3 documents were drawn at random in 1d, fewer than 10, of 8640000 decisions.",
        ),
        step="30m",
        every="1h",
    ),
    Story(
        "A small shop has three thousand documents a day, and three of them are drawn at random: that's its rate",
        STARVED,
        "26h",
        running(60, 30) | {RANDOM: then("0x20", "1x10", always(3, 30)), DECISIONS: "0+62x60"},
        step="30m",
        every="1h",
    ),
    Story(
        "What both slices draw counts as random too: the slice isn't starved",
        STARVED,
        "26h",
        running(60, 30) | {RANDOM: always(3, 60), of(m.SAMPLED, slice="both"): "0+30x60"},
        step="30m",
        every="1h",
    ),
    Story(
        "A producer's release writes broken JSON: a ticket has the reason and how much came at all",
        LETTERS,
        "40m",
        running(50) | {of(m.DEAD_LETTERS, **NOT_JSON): then(level(0, 20), "0+2x40")},
        told(
            "40 records of decisions in 1h were unreadable (not_json), allowed are fewer than 10 decisions or 1 label; "
            "240000 decisions were counted.",
            **NOT_JSON,
        ),
    ),
    Story(
        "Nine broken decisions came before the new worker was first scraped, and one after it: ten are told, not one",
        LETTERS,
        "40m",
        running(50)
        | {of(m.STARTED): always(0, 50), of(m.DEAD_LETTERS, **NOT_JSON): then(gap(2), level(9, 4), always(10, 44))},
        told(
            "10 records of decisions in 1h were unreadable (not_json), allowed are fewer than 10 decisions or 1 label; "
            "240000 decisions were counted.",
            **NOT_JSON,
        ),
    ),
    Story(
        "One label can't be read: that's somebody's work, so one is enough",
        LETTERS,
        "40m",
        running(50) | {of(m.DEAD_LETTERS, **BAD_SPAN): then(level(0, 20), always(1, 30))},
        told(
            "1 records of labels in 1h were unreadable (bad_span), allowed are fewer than 10 decisions or 1 label; "
            "240000 decisions were counted.",
            **BAD_SPAN,
        ),
    ),
    Story(
        "Three broken decisions in an hour of 360,000: no ticket",
        LETTERS,
        "40m",
        running(50) | {of(m.DEAD_LETTERS, **NOT_JSON): then(level(0, 20), "0+1x3", always(3, 27))},
    ),
    Story(
        "The bad release was mended in the morning: in the afternoon it's told no longer",
        LETTERS,
        "5h",
        running(310) | {of(m.DEAD_LETTERS, **NOT_JSON): then("0+2x60", always(120, 250))},
        every="5m",
    ),
]
