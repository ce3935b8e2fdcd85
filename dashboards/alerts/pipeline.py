"""The pipeline: it lags, lost records, built its ledger again, or refuses its config."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import block, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, label, value
from monitor import metrics as m


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on the pipeline."""
    return [
        _lag(settings, recording),
        _lost(settings, recording),
        _rebuilt(settings, recording),
        _config_refused(settings, recording),
    ]


def _lag(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchConsumerLag")
    window = knobs.window("window")
    waiting = asked(f"sum({m.LAG.name}{{job=%q}})", "number")
    return Alert(
        knobs,
        "traffic",
        "In time and not in records, so that it means the same for a thousand a second and for ten a day. A partition "
        "that isn't read at all is divided by next to nothing. The offset goes with the partition when it moves to "
        "another worker, so workers are left out before anything is compared.",
        block(
            """
            max without (<workers>, partition) (
              clamp_max(
                  max without (<workers>) (<lag> > <min_records>)
                /
                  max without (<workers>) (rate(<position>[<window>])),
                <longest>
              )
            ) > <behind>
            """,
            workers=recording.workers,
            lag=select(m.LAG),
            min_records=knobs.number("min_records"),
            position=select(m.POSITION),
            window=window,
            behind=knobs.seconds("behind"),
            longest=knobs.seconds("longest"),
        ),
        "Reading is far behind",
        f"The worst partition of {label('channel')} is {value('duration')} behind at its present speed, more than "
        f"{knobs.window('behind')} ({knobs.window('longest')} is said of anything longer, such as of one that stands "
        f"still); {waiting} records wait in all partitions and channels.",
        Section(
            "Records come faster than they're read, or a partition isn't read at all. Numbers are late; nothing is "
            "lost until the topic's retention ends (`topics.decisions_retention_hours`).",
            (
                "`recallwatch_consumer_lag_records` by partition: all of them, or one that stands still?",
                "CPU of the workers, and whether a rebalance goes on (`recallwatch_assigned_partitions`).",
            ),
            (
                "All grow: more workers, up to the number of partitions.",
                "One stands still: restart the worker that has it; its log names the partition.",
                "Retention comes near: lengthen it on the topic first.",
            ),
            "While a known backlog is being read.",
        ),
    )


def _lost(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchRecordsLost")
    window = knobs.window("window")
    read = asked(f"sum(increase({m.DECISIONS.name}{{job=%q}}[{window}]))", "number")
    return Alert(
        knobs,
        "traffic",
        "A worker mostly meets the gap right after its start, before its first scrape: what stands on a young counter "
        "counts in full.",
        f"{recording.happened(m.LOST, window, ('channel',))} > 0",
        "Records were removed by retention before they were read",
        f"{value('number')} records of {label('channel')} in {window} are gone unread, 0 are allowed; {read} decisions "
        "were counted.",
        Section(
            "The topic's retention removed records that the monitor had still to read. They're in no number and can't "
            "come back. Recall isn't biased by it, as what was lost was lost whatever it held; the census is too "
            "small.",
            ("For how long the monitor was down or behind, and the retention of that topic.",),
            (
                "Make the retention longer than the longest outage you expect.",
                "Lost labels: export them again from the annotation tool; ones that are known already count once.",
                "Write the gap down for the next sign-off.",
            ),
            "Once it's written down; it ends by itself.",
        ),
    )


def _rebuilt(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchLedgerRebuilt")
    window = knobs.window("window")
    return Alert(
        knobs,
        "worker",
        "It happens at a start or at a move, so mostly before the counter's first scrape.",
        f"{recording.happened(m.REBUILDS, window)} > 0",
        "Partitions of the ledger were built again from their topics",
        f"{value('number')} partitions of the ledger were built again in {window}, 0 are expected; "
        f"{asked(f'sum({m.ASSIGNED.name}{{job=%q}})', 'number')} are assigned to all workers. The numbers are right.",
        Section(
            "The ledger's rows didn't add up with what was recorded of them (a worker that was thought dead wrote "
            "after its successor), so they were read again. The numbers are right; the way there is worth a look.",
            ("Which worker was frozen or cut off at that time: its log, its node.",),
            ("Nothing, once. Where it repeats: longer `kafka.session_timeout_s`, fewer pauses of the node.",),
            "It ends by itself.",
        ),
    )


def _config_refused(settings: Settings, recording: Recording) -> Alert:
    refused, workers = select(m.CONFIG_REFUSED), recording.workers
    every = asked(f"count({m.CONFIG_REFUSED.name}{{job=%q}})", "number")
    return Alert(
        settings.of("RecallwatchConfigRefused"),
        "worker",
        "A state and no count of refusals: it's over once the file on disk is the config in force.",
        f"sum without ({workers}) ({refused}) > 0",
        "The config file on disk is refused, an older one is in force",
        f"{value('number')} of {every} workers refuse the file, 0 may; they go on with the config before it.",
        Section(
            "Somebody changed the config and it can't be used. The monitor goes on with the one before it.",
            ("`recallwatch check-config FILE` names the key and what is allowed; so does the log, `config_refused`.",),
            ("Correct the file, or put the old one back. It's taken up within seconds.",),
            "Never for long: the next restart reads that file, and ends with exit code 2.",
        ),
    )
