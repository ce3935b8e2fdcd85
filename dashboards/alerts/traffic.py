"""Traffic: nothing comes, what comes can't be read, it's another detector's, its shape changed, too little is drawn."""

from __future__ import annotations

from collections.abc import Mapping

from dashboards.alert import Alert, Section
from dashboards.promql import OneOf, block, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, chosen, label, looked_up, named, value, where_found
from monitor import metrics as m

_PLACES = ("entity", "language")
SIGNALS: Mapping[str, str] = {
    "flagged": "documents in which the detector flags anything",
    "entity": f"documents in which the detector flags {label('entity')}",
    "loose_only": "documents that the loose net flags and the detector doesn't",
    "detector_only": "documents that the detector flags and the loose net doesn't",
    "language": "documents in this language, of those in all",
    "longer": "documents that are longer than usual",
    "many_spans": "documents in which more is flagged than usual",
    "low_score": "documents whose first span has a lower score than usual",
    "leaking": "redacted outputs that show something that was flagged",
}
"""What each share is of, in plain words."""
_DIRECTIONS = {"up": "rose", "down": "fell"}


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on the traffic."""
    return [
        _drift(settings, recording),
        _detector_changed(settings, recording),
        _no_decisions(settings, recording),
        _starved(settings, recording),
        _dead_letters(settings, recording),
    ]


def _decisions(recording: Recording, window: str) -> str:
    return f"sum without ({recording.workers}, detector, version) (increase({select(m.DECISIONS)}[{window}]))"


def _drift(settings: Settings, recording: Recording) -> Alert:
    knobs, signal = settings.of("RecallwatchDriftDetected"), ("signal", *_PLACES)
    change, share, documents, before = (
        recording.board(one) for one in (m.DRIFT_CHANGE, m.DRIFT_SHARE, m.DRIFT_DOCUMENTS, m.DRIFT_BEFORE)
    )
    own, shown = "{job=%q,signal=%q,entity=%q,language=%q}", "{{ .Value | humanizePercentage }}"
    to = looked_up(recording.board(m.DRIFT_AFTER), "percent", signal)
    having = asked(f"{documents.name}{own} * {share.name}", "number")
    since = f" Since then it's {shown}, {having} of the {asked(documents.name + own, 'number')} documents looked at."
    return Alert(
        knobs,
        "board",
        "The board keeps when it found a change, so a gap loses none; it's told for a while, as it's never taken back.",
        f"time() - {select(change)} < {knobs.seconds('lasts')}",
        "What the detector puts out changed",
        f"{named('language')}: the share of {chosen('$labels.signal', SIGNALS, label('signal'))} "
        f"{chosen('$labels.direction', _DIRECTIONS, label('direction'))}"
        f"{where_found(before.name + own, f' from {shown} to {to}')}, as was found {value('duration')} ago "
        f"(told for {knobs.window('lasts')}).{where_found(share.name + own, since)} Signal {label('signal')}, entity "
        f"{label('entity')}.",
        Section(
            "A share of the census changed: documents flagged, with an entity, flagged by the net alone or the "
            "detector alone, longer ones, lower scores; of outputs those with a leak. No label is needed to see it, "
            "and it isn't yet a loss: the traffic may have changed and the detector be right.",
            (
                "Did a detector version come at that time (`RecallwatchDetectorChanged`)?",
                (
                    "`loose_only` up or an entity down: the net sees what the detector no longer does. The best sign "
                    "of lost recall that there is without labels."
                ),
                "`language`, `longer`, `many_spans` or `low_score`: other texts come.",
                "`leaking` up: the redactor changed, or what it's given. See `RecallwatchOutputsLeak`.",
            ),
            (
                (
                    "With a new version or `loose_only` up: read a dozen of the newest documents of that language at "
                    "once; don't wait for the sample."
                ),
                "Else tell whoever sends the traffic.",
            ),
            "It ends by itself.",
        ),
        _PLACES,
    )


def _detector_changed(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchDetectorChanged")
    window, memory = knobs.window("window"), settings.scrape.memory
    version = recording.version.name
    counted, decisions = (
        asked(f"sum(increase({m.DECISIONS.name}{{{matchers}}}[{window}]))", "number")
        for matchers in ("job=%q,detector=%q,version=%q", "job=%q,detector=%q")
    )
    told = select(recording.board(m.TOLD), cause="version_changed", entity="any", language="any")
    last = f"time() - topk(1, {recording.board(m.LAST_DECISION).name}{{job=%q,detector=%q,version!=%q}})"
    ago = "{{ .Value | humanizeDuration }}"
    before = where_found(last, f" Version {{{{ .Labels.version }}}} before it decided last {ago} ago.")
    return Alert(
        knobs,
        "detector",
        "A version that wasn't in traffic before, of a detector that was; the look back is long, so that a gap makes "
        "no version new. One that comes back within it is new to nobody here, but the board tells it.",
        block(
            """
            (
                <version> unless last_over_time(<version>[<memory>] offset <window>)
              and on (job, detector)
                last_over_time(<version>[<memory>] offset <window>)
            )
            or
              max without (entity, language, cause) (time() - <told> < <seconds>)
            """,
            version=version,
            memory=memory,
            window=window,
            told=told,
            seconds=knobs.seconds("window"),
        ),
        "Another version of a detector is in traffic",
        f"{label('detector')} {label('version')} came in the last {window}, with {counted} of {decisions} decisions."
        f"{before} What is known of another version says nothing about this one: its recall rests on documents of its "
        "own alone.",
        Section(
            "The newest traffic carries a version that wasn't there, or one that was rolled back to. Readings, alarms "
            "and windows are by version, so a new one starts without a number. One that decided last seconds ago is in "
            "traffic beside it.",
            ("Was it planned? Drift at the same time, above all `loose_only` up, is a reason to roll back at once.",),
            (
                "Nothing, where it was planned: it has a number once its first labels are in.",
                "Else ask the detector's owner.",
            ),
            "While versions are rolled out on purpose.",
        ),
    )


def _no_decisions(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchNoDecisions")
    window = knobs.window("window")
    waiting = asked(f'sum({m.LAG.name}{{job=%q,channel="decisions"}})', "number")
    return Alert(
        knobs,
        "traffic",
        "The series isn't there at all before a worker's first decision, so its absence counts as none.",
        block(
            """
            <up>
            unless
              <came>
            """,
            up=recording.workers_up(),
            came=recording.happened(m.DECISIONS, window),
        ),
        "No decisions come in",
        f"{value('number')} workers are up and counted 0 decisions in {window}; {waiting} wait in the topic.",
        Section(
            "No worker counted a decision: the detectors send nothing, send it elsewhere, or it isn't read. What they "
            "let through meanwhile nobody sees.",
            (
                "Records wait in the topic: reading is stuck (`RecallwatchConsumerLag`, `RecallwatchWorkerNotReady`).",
                "None wait: nothing is written. Is the masking itself still running?",
                "Dead letters: everything may be unreadable (a producer's new format).",
            ),
            (
                "Ask the producer's on-call first: where the detector is down, text may go out unmasked.",
                "Stuck reading: restart one worker and watch its log.",
            ),
            "While traffic rests on purpose.",
        ),
    )


def _starved(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchRandomSliceStarved")
    window = knobs.window("window")
    drawn = select(m.SAMPLED, slice=OneOf(("random", "both")))
    counted = asked(f"sum(increase({m.DECISIONS.name}{{job=%q}}[{window}]))", "number")
    return Alert(
        knobs,
        "traffic",
        "The random slice alone sees what no tool flags. Its rate can't be 0, but with little traffic, or thinned, it "
        "may draw nothing.",
        block(
            """
              sum without (<workers>, slice) (increase(<drawn>[<window>])) < <fewer>
            and
              <decisions> >= <min_decisions>
            """,
            workers=recording.workers,
            drawn=drawn,
            window=window,
            fewer=knobs.number("fewer"),
            decisions=_decisions(recording, window),
            min_decisions=knobs.number("min_decisions"),
        ),
        "The random slice draws hardly any document",
        f"{value('number')} documents were drawn at random in {window}, fewer than {knobs.number('fewer')}, "
        f"of {counted} decisions.",
        Section(
            "Of a day's traffic nearly nothing was drawn whatever flagged it. Upper limits of what nobody flagged go "
            "to nothing sensible, and population recall with them.",
            (
                "`sampling.random_rate` and that of each language; `recallwatch history` for a change of it.",
                "`RecallwatchSamplingThinned`: a small factor starves it too.",
            ),
            ("Raise `sampling.random_rate`, and lower `sampling.loose_rate` for it where people can't read more.",),
            "Where it was decided to watch only what tools flag.",
        ),
    )


def _dead_letters(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchDeadLetters")
    window, kept = knobs.window("window"), ("channel", "reason")
    by_channel = [
        f"{recording.happened(m.DEAD_LETTERS, window, kept, channel=channel)} >= {knobs.number(channel)}"
        for channel in ("decisions", "labels")
    ]
    counted = asked(f"sum(increase({m.DECISIONS.name}{{job=%q}}[{window}]))", "number")
    return Alert(
        knobs,
        "traffic",
        "By reason, as each has another cause. A counter that begins with what it counted at start counts in full.",
        "\nor\n".join(by_channel),
        "Records can't be read",
        f"{value('number')} records of {label('channel')} in {window} were unreadable ({label('reason')}), allowed are "
        f"fewer than {knobs.number('decisions')} decisions or {knobs.number('labels')} label; "
        f"{counted} decisions were counted.",
        Section(
            "Records were set aside because they can't be read. Unreadable decisions are documents outside every "
            "number; an unreadable label is somebody's work lost.",
            (
                "The topic `dead-letters`: source, place (`$.spans[2].end`) and reason; never the payload.",
                "Whether it began with a release of a producer or of the annotation tool.",
            ),
            (
                "Have the producer mended. What it wrote meanwhile it must send again: a dead letter isn't retried.",
                "A length limit hit by good records: raise `limits.max_text_bytes`.",
            ),
            "For the channel and reason, while the producer is being mended.",
        ),
    )
