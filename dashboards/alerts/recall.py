"""Recall: it fell, for sure or for all one can see; it's below its target; the target can't be shown at these rates."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import block, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, cell, chosen, either, found, looked_up, value, where_found
from monitor import metrics as m

_CELL = cell()
_PLACES = ("entity", "language")
_RATE_IN_FORCE = " or ".join(
    f'max({m.RATE.name}{{job=%q,slice="random",language={language}}})' for language in ("%q", '"any"')
)
"""The language's own random rate where it has one."""


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on recall."""
    return [
        _fell(settings, recording),
        _lower_limit_fell(settings, recording),
        _below_target(settings, recording),
        _out_of_reach(settings, recording),
    ]


def _figures(recording: Recording, window: str, memory: str = "", beginning: str = "Last") -> str:
    """Say recall between its limits in a window, and what it rests on; that it isn't known, where it isn't."""
    estimate, lower, upper = (
        looked_up(recording.cell(metric), "percent", memory=memory, window=window)
        for metric in (m.RECALL_ESTIMATE, m.RECALL_LOWER, m.RECALL_UPPER)
    )
    found_ones, true = (
        looked_up(recording.cell(metric), "number", memory=memory, window=window) for metric in (m.FOUND, m.TRUE)
    )
    known = f"recall {estimate}, limits {lower} to {upper}; {found_ones} of {true} labelled occurrences found."
    said = either(estimate, known, "recall isn't known.")
    return f"{beginning} {window}: {said}"


def _version_before(recording: Recording) -> str:
    """Say what recall the version before had, where that is known; nothing where it isn't."""
    query = (
        f"topk(1, {recording.known_versions.name}"
        "{job=%q,entity=%q,language=%q,detector=%q,version!=%q})"  # the one that decided last, besides the alert's
    )
    estimate, lower = (
        found(recording.every_version(metric), "percent") for metric in (m.RECALL_ESTIMATE, m.RECALL_LOWER)
    )
    found_ones, true = (found(recording.every_version(metric), "number") for metric in (m.FOUND, m.TRUE))
    return where_found(
        query,
        f" Version {{{{ .Labels.version }}}} before it: recall {estimate}, lower limit {lower}; {found_ones} of {true} "
        "found.",
    )


def _by_language(recording: Recording, window: str, memory: str) -> str:
    """Say which languages a fall in all of them is of; nothing of a single one's."""
    of_one = '{job=%q,entity=%q,detector=%q,version=%q,language!="any"'
    recall = f'last_over_time({recording.cell(m.RECALL_ESTIMATE).name}{of_one},window="{window}"}}[{memory}])'
    worst = " It's lowest in {{ .Labels.language }}, {{ .Value | humanizePercentage }}."
    on = asked(f"{recording.board(m.ALARM_ON).name}{of_one}}} == 1", "listed")
    said = f"{where_found(f'bottomk(1, {recall})', worst)} Languages whose own alarm is on: {on}."
    return chosen("$labels.language", {"any": said}, "")


def _fell(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchRecallFell")
    on, restated, since = (recording.board(metric) for metric in (m.ALARM_ON, m.ALARM_RESTATED, m.ALARM_SINCE))
    # the alarm outlasts its version by a period, and whoever rolled that back still reads what it was called for
    memory = settings.scrape.memory
    target = looked_up(recording.cell(m.TARGET), "percent", memory=memory, window=settings.readings.window)
    figures = [
        _figures(recording, window, memory) for window in (settings.readings.window, settings.readings.fall_window)
    ]
    return Alert(
        knobs,
        "board",
        "The alarm weighs all labels and keeps its promise of false alarms at every look: no bound is put on it here.",
        f"{select(on)} == 1",
        "Recall fell below its target",
        f"{_CELL}: recall, the share that is found, is below its target of {target}; the alarm is on since "
        f"{looked_up(since, 'moment')}. "
        f"{' '.join(figures)}{_version_before(recording)}{_by_language(recording, settings.readings.window, memory)}"
        f"{looked_up(restated, 'corrected')}",
        Section(
            "The alarm of a cell with a target went on: labels say that the detector finds less than it has to. The "
            "board promises a number of false alarms a year (`alarm.false_alarms_per_year`, 1), whatever was done to "
            "the rates. So it's most likely real, as long as the labels are right. A version that got worse in several "
            "languages pages once, for all of them together (`language` is `any`, the text names the worst): that page "
            "silences those of the entity's single languages, and all entities of the version come in one message. A "
            "language that alone got worse pages by itself, as long as all together are above the target. Where all "
            "together are so again before a single one is, that one pages then.",
            (
                (
                    "The page's row of that entity and language: since when, and whether the version changed with it "
                    "(`RecallwatchDetectorChanged`)."
                ),
                (
                    "`recallwatch misses --config recallwatch.toml --entity ENTITY --language LANGUAGE "
                    "--version VERSION`, wherever the broker can be reached (in a worker's container, say): the "
                    "documents in which it was missed. `any` asks for all."
                ),
                (
                    "Recall of the version before, in the description: where it was clearly higher, a roll-back helps; "
                    "where it's about the same, it isn't the version. Where none stands there, none is known."
                ),
                "κ of the entity: people who don't agree on what it is make a detector look bad.",
            ),
            (
                "A new version: roll the detector back, or take what it lets through out of the stream.",
                (
                    "The same version: its input changed (`RecallwatchDriftDetected`), or its labels did. Read ten of "
                    "the misses before anything else."
                ),
                (
                    "Tell whoever answers for disclosure: from the moment in the description on, if not before, the "
                    "rest of the entity got through."
                ),
            ),
            "Once the detector is being repaired, for that entity and language alone, until the repair is out; with "
            "`language` `any` its single languages stay silent too. It goes off by itself `alarm.hold` days after the "
            "evidence ends, or a day after another version took over.",
        ),
        _PLACES,
    )


def _lower_limit_fell(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchLowerLimitFell"), settings.readings.fall_window
    cell, before, comparing = recording.cell, recording.before, recording.comparing
    expr = block(
        """
        <lower> < <lower_before> - <min_drop>
        and <fall> > <surely> * <by_chance>
        and abs(<share> / <share_before> - 1) < <same_design>
        and <true> >= <min_true>
        and <current> == 1
        and <current_before> == 1
        """,
        lower=select(cell(m.RECALL_LOWER), window=window),
        lower_before=before(m.RECALL_LOWER).name,
        fall=comparing.fall.name,
        by_chance=comparing.fall_by_chance.name,
        share=comparing.share.name,
        share_before=comparing.share_before.name,
        true=cell(m.TRUE).name,
        current=cell(m.CURRENT).name,
        current_before=before(m.CURRENT).name,
        **{key: knobs.number(key) for key in ("min_drop", "surely", "same_design", "min_true")},
    )
    was, was_estimate = (
        looked_up(before(one), "percent", window=window) for one in (m.RECALL_LOWER, m.RECALL_ESTIMATE)
    )
    was_found, was_true = (looked_up(before(one), "number", window=window) for one in (m.FOUND, m.TRUE))
    return Alert(
        knobs,
        "board",
        "A lower limit falls when recall does, and when fewer documents are read. So the estimate must have fallen "
        "too, by more than both intervals allow (MOVER's limit of a difference), and the share of documents that is "
        "sampled must be the same. It compares a version with itself.",
        expr,
        "Recall's lower limit fell against the window before, at the same design",
        f"{_CELL}: the lower limit of recall is {value('percent')}, it was {was} in the {window} before, at as large a "
        f"share of documents sampled. {_figures(recording, window)} The {window} before: recall {was_estimate}, "
        f"{was_found} of {was_true} found.",
        Section(
            "In the last window the same version found less than in the one before, by more than chance explains, and "
            "as many documents were read. The pager's alarm may follow or not: it has a promise to keep and takes "
            "longer.",
            (
                "The page's row, and `recallwatch misses` for the days of the window.",
                "Drift of the same language: did the texts change, or what the detector makes of them?",
                "Whether annotators or their guidelines changed: new readers find what others passed over.",
            ),
            (
                "Read the misses of the window; those of one kind name the cause.",
                "Where the input changed, tell the detector's owner; where labels did, have old ones read again.",
            ),
            "For that cell, for one window, once the cause is known.",
        ),
        _PLACES,
    )


def _below_target(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchBelowTarget"), settings.readings.window
    looked, target, true, current = (
        select(recording.cell(metric), window=window) for metric in (m.LOOKED_LOWER, m.TARGET, m.TRUE, m.CURRENT)
    )
    return Alert(
        knobs,
        "board",
        "Where any tool looked, the interval's width doesn't hang on what nobody flagged: a lower limit under the "
        "target is the detector's or the labels', and labels there are enough of.",
        f"{looked} < {target}\nand {true} >= {knobs.number('min_true')}\nand {current} == 1",
        "Recall where any tool looked isn't shown to reach its target",
        f"{_CELL}: in documents that any tool flagged, recall is "
        f"{looked_up(recording.cell(m.LOOKED_ESTIMATE), 'percent', window=window)}, and its lower limit "
        f"{value('percent')} is under the target of "
        f"{looked_up(recording.cell(m.TARGET), 'percent', window=window)}. "
        f"{_figures(recording, window, beginning='All documents of the last')}",
        Section(
            "Among documents that the detector, the net or the second detector flagged, the lower limit of recall is "
            "under the target, with enough labels behind it. Over all documents recall is at most what it is here, or "
            "hardly more.",
            (
                (
                    "The estimate beside the limit: below the target, the detector misses too much; above it, more "
                    "labels would show the target."
                ),
                "`recallwatch misses --entity ENTITY`: what the net found and the detector didn't.",
            ),
            (
                "Estimate below the target: a better threshold or model, or a target that can be met.",
                "Estimate above it: `recallwatch plan` says how many labels it takes, and at which rates.",
            ),
            "For the cell, until the next version of the detector.",
        ),
        _PLACES,
    )


def _out_of_reach(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchTargetOutOfReach"), settings.readings.window
    share, width = recording.random_share, recording.comparing
    lower, target, current = (
        select(recording.cell(metric), window=window) for metric in (m.RECALL_LOWER, m.TARGET, m.CURRENT)
    )
    unflagged, halving = (
        looked_up(recording.cell(metric), "percent", window=window) for metric in (m.UNFLAGGED_WIDTH, m.HALVING_RATE)
    )
    expr = block(
        """
        (
            (exp(sqrt(<whole> ^ 2 - <looked> ^ 2)) - 1)
          /
            (exp(sqrt(<allowed> ^ 2 - <looked> ^ 2)) - 1)
          * on (job) group_left ()
            <share>
        ) > 0
        and <lower> < <target>
        and <current> == 1
        """,
        whole=width.whole_width.name,
        allowed=width.allowed_width.name,
        looked=width.looked_width.name,
        share=share.name,
        lower=lower,
        target=target,
        current=current,
    )
    return Alert(
        knobs,
        "board",
        "On the log scale the squared widths of what was looked at and of what nobody looked at add up to the "
        "interval's. The second is about the inverse of the random rate; the part of the first can't be changed by it. "
        "So the rate that would do is today's, times what that width is by what it may be. It's NaN, and says nothing, "
        "where the width isn't what hides the target. Where misses were seen among unflagged documents it takes more.",
        expr,
        "At today's rates no number of quiet days can show that the target is met",
        f"{_CELL}: nothing fell. To show its target of "
        f"{looked_up(recording.cell(m.TARGET), 'percent', window=window)} takes a random rate (sampling.random_rate) "
        f"of about {value('percent')} (over 100 % none does); in force is {asked(_RATE_IN_FORCE, 'percent')}, and "
        f"{looked_up(share, 'percent', ())} of the documents were drawn by it. {unflagged} of the interval's width "
        f"comes from documents that no tool flagged; a rate of {halving} would halve that part. "
        f"{_figures(recording, window)}",
        Section(
            "Recall may well be above its target, but the interval reaches below it because of documents that no tool "
            "flagged and too few of which are read. Nothing fell. This is arithmetic, and it goes on for as long as "
            "the rates stay: that's why it's a notice.",
            (
                (
                    "The rate that would do, beside today's; `recallwatch plan` has the exact figures, with their cost "
                    "in labels."
                ),
            ),
            (
                "Raise `sampling.random_rate`, or read longer windows, or lower the target to what can be shown.",
                "Or leave it, knowing that the target is asked for but not shown.",
            ),
            "For the cell, for good, where it was decided to leave it.",
        ),
        _PLACES,
    )
