"""People: the queue is longer than they can read, waits too long, or nobody reads."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import block, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, label, looked_up, value
from monitor import metrics as m

_LANGUAGE = ("language",)


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on the review queue."""
    return [
        _over_capacity(settings, recording),
        _thinned(settings, recording),
        _too_old(settings, recording),
        _idle(settings, recording),
    ]


def _over_capacity(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchQueueOverCapacity")
    waiting, capacity = recording.board(m.QUEUE_OPEN), recording.board(m.QUEUE_CAPACITY)
    return Alert(
        knobs,
        "people",
        "In days of work, so that it means the same for two annotators and for twenty. Without a capacity in the "
        "config there's no series and nothing to be over.",
        block(
            """
            sum without (language) (<waiting>) / (<capacity> > 0)
            > <days>
            """,
            waiting=select(waiting),
            capacity=select(capacity),
            days=knobs.number("days"),
        ),
        "More tasks wait than annotators can answer soon",
        f"{asked(f'sum({waiting.name}{{job=%q}})', 'number')} open tasks are {value('ratio')} days of work, more than "
        f"{knobs.number('days')}, at the configured capacity of {looked_up(capacity, 'number', ())} a day.",
        Section(
            "Open tasks would take people days at the capacity that the config gives. Labels come late, and "
            "completeness falls.",
            ("The page's queue, by language; how many tasks were sent and done.",),
            (
                (
                    "Set `labels.capacity_per_day` and `labels.max_backlog` to what people really do: sampling is then "
                    "thinned, without biasing a number."
                ),
                "Or lower the rates (`recallwatch plan`), or find readers.",
            ),
            "Until the day by which the backlog is to be read.",
        ),
    )


def _thinned(settings: Settings, recording: Recording) -> Alert:
    factor = select(m.THINNING)
    return Alert(
        settings.of("RecallwatchSamplingThinned"),
        "people",
        "Each worker samples by the factor that the board recorded last; the smallest is the one that counts.",
        f"min without ({recording.workers}) ({factor}) < 1",
        "Sampling is thinned because people can't keep up",
        f"{value('percent')} of the sample that the rates ask for is drawn, of 100 %; "
        f"{looked_up(recording.random_share, 'percent', ())} of all documents are drawn at random.",
        Section(
            "The queue is over its capacity or its backlog, so fewer documents are drawn than the rates ask for. "
            "Estimates stay unbiased, intervals get wider.",
            ("`recallwatch history`: since when, and which of the two bounds asks for it.",),
            ("Nothing today. Where it stays, make rates and capacity meet: `recallwatch plan`.",),
            "As long as you like.",
        ),
    )


def _too_old(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchOldestTaskTooOld")
    waiting, done = (recording.board(metric) for metric in (m.QUEUE_OPEN, m.QUEUE_DONE))
    return Alert(
        knobs,
        "people",
        "A moment and no age, so that it goes on growing while nothing is computed.",
        f"time() - {select(recording.board(m.QUEUE_OLDEST))} > {knobs.seconds('oldest')}",
        "A task waits longer than a label may take",
        f"The oldest open task in {label('language')} is of a document of {value('duration')} ago, more than "
        f"{knobs.window('oldest')}; {looked_up(waiting, 'number', _LANGUAGE)} tasks are open, "
        f"{looked_up(done, 'number', _LANGUAGE)} were answered. The deadline in force is "
        f"{asked(f'max({m.DEADLINE.name}{{job=%q}})', 'duration')}.",
        Section(
            "A task is past its deadline. Its document counts as a missing label from now on, and misses take longer "
            "to label than hits: what is left reads too well.",
            ("The queue of that language in the annotation tool: is the task there at all, and whose is it?",),
            ("Have the oldest ones answered first. A task that the tool lost: send the label, or skip it.",),
            "For the language, until its readers are back.",
        ),
        _LANGUAGE,
    )


def _idle(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchAnnotatorsIdle")
    window, waiting = knobs.window("window"), select(recording.board(m.QUEUE_OPEN))
    answered = asked(f"sum({recording.board(m.QUEUE_DONE).name}{{job=%q}})", "count")
    return Alert(
        knobs,
        "people",
        "A task has waited for the whole window, and no label of any outcome came in it: the queue was never empty, so "
        "somebody could have read.",
        block(
            """
            sum without (language) (<waiting>)
            and
              time() - min without (language) (<oldest>) > <seconds>
            unless
              <came>
            """,
            waiting=waiting,
            oldest=select(recording.board(m.QUEUE_OLDEST)),
            seconds=knobs.seconds("window"),
            came=recording.happened(m.LABELS, window),
        ),
        "Tasks wait, and no label comes",
        f"{value('number')} tasks are open and 0 labels came in {window}; {answered} were answered before.",
        Section(
            "Nobody answers, or what is answered doesn't arrive. In a few days every number will be stale.",
            (
                "The annotation tool: do people work in it, and does its export run?",
                "The topic `labels`: do records arrive there? Dead letters of the channel `labels`?",
                "`recallwatch_consumer_lag_records` of `labels`: does the monitor read them?",
            ),
            ("Start the export again, or find out who reads. Labels that come late still count for their day.",),
            "Over holidays, up to the day when people are back.",
        ),
    )
