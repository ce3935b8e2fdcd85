"""Stories of redacted outputs."""

from __future__ import annotations

from promtool import VERSION, Series, Story, always, gap, of, running, then, told

from monitor import metrics as m

LEAK = "RecallwatchRedactionsLeak"
OUTPUTS = "RecallwatchOutputsLeak"
UNALIGNED = "RecallwatchOutputsUnaligned"
UNCHECKED = "RecallwatchOutputsUnchecked"
DISCLOSURE = "RecallwatchDisclosureHigh"
SPANISH = {"language": "es"} | VERSION
SHIFTED = SPANISH | {"window": "7d", "entity": "PERSON", "kind": "shifted_mask"}
PARTIAL = SPANISH | {"window": "7d", "entity": "IBAN", "kind": "partial_mask"}
HERE = "es (presidio 2): "


def _leaks(estimate: float, lower: float, upper: float, **labels: str) -> Series:
    place = SPANISH | {"window": "7d"} | labels
    values = {
        m.REDACTIONS_ESTIMATE: estimate,
        m.REDACTIONS_LOWER: lower,
        m.REDACTIONS_UPPER: upper,
        m.LEAKING_REDACTIONS: estimate * 20_000,
        m.REDACTIONS: 20_000,
        m.LEAKING: 310,
        m.OUTPUTS: 9_000,
    }
    return {of(metric, **place): always(value, 100) for metric, value in values.items()}


def _outputs(leaking: int, lower: float, upper: float, unaligned: int = 0, of_all: int = 300, **labels: str) -> Series:
    """Return a week in which no span was replaced, so that there is no share of redactions."""
    place = SPANISH | {"window": "7d"} | labels
    values = {
        m.LEAKING_ESTIMATE: leaking / of_all,
        m.LEAKING_LOWER: lower,
        m.LEAKING_UPPER: upper,
        m.LEAKING: leaking,
        m.UNALIGNED: unaligned,
        m.OUTPUTS: of_all,
    }
    return {of(metric, **place): always(value, 100) for metric, value in values.items()}


def _disclosed(estimate: float, lower: float, upper: float, current: float = 1, **labels: str) -> Series:
    place = SPANISH | {"window": "28d", "entity": "any"} | labels
    values = {
        m.DISCLOSURE_ESTIMATE: estimate,
        m.DISCLOSURE_LOWER: lower,
        m.DISCLOSURE_UPPER: upper,
        m.DISCLOSURE_CURRENT: current,
        m.READABLE: 31,
        m.OUTPUT_TRUE: 400,
        m.OUTPUTS_LABELLED: 2_600,
    }
    return {of(metric, **place): always(value, 100) for metric, value in values.items()}


STORIES = [
    Story(
        "The redactor counts in bytes since its release, so masks stand beside names: a ticket with the share that "
        "leaks",
        LEAK,
        "90m",
        running(100)
        | _leaks(0.02, 0.0181, 0.022)
        | {of(m.LEAK_DOCUMENTS, **SHIFTED): always(280, 100), of(m.LEAK_DOCUMENTS, **PARTIAL): always(30, 100)},
        told(
            HERE
            + "2% of the redactions of the last 7d leave part of the value readable, limits 1.81% to 2.2%, allowed "
            "is 1%; 400 of 20000 redactions, in 310 of 9000 outputs. Most of them: PERSON (shifted_mask, 280 "
            "documents).",
            **SPANISH,
            window="7d",
        ),
        every="10m",
    ),
    Story(
        "Two of the first fifty redactions leak: a share of 4 %, and hardly anything known yet",
        LEAK,
        "90m",
        running(100) | _leaks(0.04, 0.0083, 0.135),
        every="10m",
    ),
    Story(
        "The version that leaked is out of traffic, and the roll-up still remembers it: no ticket",
        LEAK,
        "90m",
        running(100) | _leaks(0.02, 0.0181, 0.022, version="1") | _leaks(0.02, 0.0181, 0.022, language="any"),
        every="10m",
    ),
    Story(
        "The redactor masks nothing since its release: no redaction is there to leak, and every output does",
        OUTPUTS,
        "90m",
        running(100) | _outputs(300, 0.9874, 1),
        told(
            HERE + "100% of the outputs of the last 7d show something that was flagged, limits 98.74% to 100%, allowed "
            "is 10%; 300 of 300 outputs. 0 outputs aren't the text with parts replaced.",
            **SPANISH,
            window="7d",
        ),
        every="10m",
    ),
    Story(
        "Eleven of a hundred outputs show something, and it may as well be one in twenty: no ticket yet",
        OUTPUTS,
        "90m",
        running(100) | _outputs(11, 0.0625, 0.1863, of_all=100),
        every="10m",
    ),
    Story(
        "Outputs are translated before they are recorded: a ticket says that nobody knows what is masked",
        UNALIGNED,
        "90m",
        running(100) | _outputs(12, 0.023, 0.0687, 240),
        told(
            HERE + "80% of the outputs of the last 7d aren't the text with parts replaced, so nobody knows what they "
            "mask; allowed is 10%; 240 of 300 outputs.",
            **SPANISH,
            window="7d",
        ),
        every="10m",
    ),
    Story(
        "Three of the first twenty outputs aren't aligned: too few to tell",
        UNALIGNED,
        "90m",
        running(100) | _outputs(0, 0, 0.16, 3, 20),
        every="10m",
    ),
    Story(
        "Sixteen occurrences in a thousand documents can still be read: a ticket says how sure that is, and what they "
        "are",
        DISCLOSURE,
        "90m",
        running(100) | _disclosed(16.1, 12.2, 21.5) | _disclosed(9.4, 6.1, 14, entity="PERSON"),
        told(
            HERE + "16.10 occurrences of personal data can be read in 1,000 documents, limits 12.20 to 21.50, allowed "
            "are 10; 31 of 400 labelled occurrences, in 2600 labelled outputs of the last 28d. Most of them: PERSON "
            "(9.40 in 1,000).",
            **SPANISH,
            entity="any",
            window="28d",
        ),
        every="10m",
    ),
    Story(
        "The check of outputs fails over one document, before the worker's first scrape: a ticket",
        UNCHECKED,
        "30m",
        running(40) | {of(m.UNCHECKED): then(gap(10), always(1, 30)), of(m.STARTED): then(gap(10), always(570, 30))},
        told(
            "The check failed over 1 outputs in 1h, 0 are expected: whether they leak nobody knows; 180000 decisions "
            "were counted."
        ),
    ),
    Story(
        "The check failed over a document two days ago: it's told no longer",
        UNCHECKED,
        "3h",
        running(200) | {of(m.UNCHECKED): always(1, 200), of(m.STARTED): always(-172_800, 200)},
        every="5m",
    ),
    Story(
        "The estimate is above what's allowed and its lower limit isn't: a handful of labels is no ticket",
        DISCLOSURE,
        "90m",
        running(100) | _disclosed(12, 7.1, 22.5),
        every="10m",
    ),
    Story(
        "The labels behind the rate are stale: it isn't that of today",
        DISCLOSURE,
        "90m",
        running(100) | _disclosed(16.1, 12.2, 21.5, 0),
        every="10m",
    ),
    Story(
        "Three in a thousand can be read, and readers set one boundary in seventy a letter too far: that's no ticket",
        DISCLOSURE,
        "90m",
        running(100) | _disclosed(11.2, 7.3, 19.8),
        every="10m",
    ),
]
