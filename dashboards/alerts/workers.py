"""The monitor itself: it's down, has no board or two, hangs, or has workers with nothing to do."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import block, select
from dashboards.recording import Recording
from dashboards.settings import Settings, seconds
from dashboards.texts import asked, label, value
from monitor import metrics as m

_RESTART = "Restart it: its state is in the topics, and nothing is lost or counted twice."


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on the monitor itself."""
    return [
        _down(settings, recording),
        _worker_down(settings, recording),
        _no_board(settings, recording),
        _two_boards(settings, recording),
        _stalled(settings),
        _not_ready(settings),
        _without_partitions(settings),
    ]


def _reachable(settings: Settings) -> str:
    job = settings.scrape.job
    answering, known = (asked(query, "count") for query in ("sum(up{job=%q})", "count(up{job=%q})"))
    return f"{answering} of {known} workers of {job} answer"


def _down(settings: Settings, recording: Recording) -> Alert:
    return Alert(
        settings.of("RecallwatchMonitorDown"),
        "monitor",
        "No worker answers, or none is known to Prometheus any more: both are the same to whoever relies on it.",
        f"max by (job) ({recording.up}) == 0\nor absent({recording.up})",
        "The monitor is down",
        f"{_reachable(settings)}, 1 is the least. Nobody sees what the detector lets through.",
        Section(
            "Prometheus reaches no worker. There are no readings and no alarms; all other alerts of this job are "
            "inhibited, as they'd speak of nothing. What the detectors decide meanwhile waits in the topic.",
            (
                "Is it the monitor, or Prometheus's way to it? Open `/healthz` of a worker.",
                "The workers' logs: exit code 2 is a config, 1 something that can't be read (often the broker).",
            ),
            (
                "Broker away, or it refuses the login: that comes first; workers wait for it, or end with one line.",
                _RESTART,
                (
                    "Longer than `topics.decisions_retention_hours`: lengthen the retention before it takes unread "
                    "records."
                ),
            ),
            "During maintenance of the whole monitor.",
        ),
    )


def _worker_down(settings: Settings, recording: Recording) -> Alert:
    return Alert(
        settings.of("RecallwatchWorkerDown"),
        "worker",
        "As long as one worker answers it's no emergency: the others take its partitions.",
        f"{recording.up} == 0",
        "A worker doesn't answer",
        f"{label('instance')} can't be scraped (up is {value('number')}, must be 1). {_reachable(settings)}.",
        Section(
            "One worker is gone; the others have taken its partitions, or will, once its session has ended.",
            ("Its log and its node.", "Whether the rest keep up: `RecallwatchConsumerLag`."),
            (_RESTART, "A worker that was taken away for good: take it out of Prometheus's targets."),
            "For the instance, during its maintenance.",
        ),
    )


def _no_board(settings: Settings, recording: Recording) -> Alert:
    gap, owners = settings.scrape.gap, asked(f"sum({m.BOARD_OWNER.name}{{job=%q}})", "count")
    return Alert(
        settings.of("RecallwatchBoardMissing"),
        "monitor",
        "The newest board's last word has a time of its own, so that a board that hangs is as missing as one that "
        "isn't there. A move is shorter than the gap and the wait together.",
        block(
            """
            <up>
            unless
              time() - max without (<workers>) (<newest>) < <gap>
            """,
            up=recording.workers_up(),
            workers=recording.workers,
            newest=recording.newest.name,
            gap=str(seconds(gap)),
        ),
        "Workers run, but none of them publishes readings",
        f"{value('number')} workers answer and 0 have published readings in {gap}, 1 has to; {owners} take "
        "themselves for the board. The pager's alarm of recall is silent.",
        Section(
            "The worker that owns the topic `tallies` is the board. Now none is, or it doesn't come to an end of "
            "reading. Counting goes on; nobody sees recall, and no alarm on it can fire. Alerts that read the board "
            "are inhibited.",
            (
                "`recallwatch_board_owner` of each worker, and their logs since the last rebalance.",
                "`recallwatch_ready`: a board that reads its tallies again after a crash takes seconds, not minutes.",
            ),
            ("Restart the worker that has the partition of `tallies`.", _RESTART),
            "Never longer than a restart takes.",
        ),
    )


def _two_boards(settings: Settings, recording: Recording) -> Alert:
    return Alert(
        settings.of("RecallwatchTwoBoards"),
        "worker",
        "Two for the length of a move are normal.",
        f"sum without ({recording.workers}) ({select(m.BOARD_OWNER)}) > 1",
        "Two workers take themselves for the board",
        f"{value('number')} workers export readings, 1 may. Alerts go by the one that computed last. "
        f"{_reachable(settings)}.",
        Section(
            "A worker that the group thinks dead hasn't noticed. What it shows is old; what it writes is put right by "
            "the other one.",
            (
                (
                    "Which one's `recallwatch_board_computed_timestamp_seconds` stands still, or whose log speaks of a "
                    "rebalance."
                ),
            ),
            ("Restart that one.",),
            "Not at all.",
        ),
    )


def _stalled(settings: Settings) -> Alert:
    knobs = settings.of("RecallwatchWorkerStalled")
    return Alert(
        knobs,
        "worker",
        "Metrics come from a thread of their own, so a worker that hangs still answers; its heartbeat doesn't move.",
        f"time() - {select(m.HEARTBEAT)} > {knobs.seconds('silent')}",
        "A worker hangs",
        f"{label('instance')} gave no sign of life for {value('duration')}, more than {knobs.window('silent')}. "
        f"{_reachable(settings)}.",
        Section(
            "The stream loop of one worker stands still. `/healthz` says so too, so an orchestrator should have "
            "restarted it.",
            ("Its log's last lines; CPU of its node; is a liveness probe set on `/healthz`?",),
            (_RESTART,),
            "Not at all.",
        ),
    )


def _not_ready(settings: Settings) -> Alert:
    return Alert(
        settings.of("RecallwatchWorkerNotReady"),
        "worker",
        "Recovery takes seconds to a minute; a worker that has nothing to recover is ready at once.",
        f"{select(m.READY)} == 0",
        "A worker doesn't get ready",
        f"{label('instance')} waits for its partitions or recovers their state (ready is {value('number')}, must be "
        f"1). {_reachable(settings)}.",
        Section(
            "A worker is up but reads nothing: the group doesn't settle, or its tables don't come to an end of "
            "recovery.",
            ("`/readyz` of the worker gives the reason.", "The broker: is it there, and do rebalances end?"),
            ("Broker first. Then restart this worker alone, and wait for it.",),
            "During a planned recovery of large tables.",
        ),
    )


def _without_partitions(settings: Settings) -> Alert:
    assigned = asked(f"sum({m.ASSIGNED.name}{{job=%q}})", "number")
    return Alert(
        settings.of("RecallwatchWorkerIdle"),
        "worker",
        "Only of a worker that is ready; one that isn't has an alert of its own.",
        f"{select(m.ASSIGNED)} == 0\nand on (job, instance) {select(m.READY)} == 1",
        "A worker has no partitions",
        f"{label('instance')} has {value('number')} partitions, 1 is the least that is of use; {assigned} are assigned "
        f"to all together. {_reachable(settings)}.",
        Section(
            "There are more workers than partitions, so one does nothing. It's a spare, if you meant it to be.",
            ("`topics.partitions` against the number of workers.",),
            ("Take workers away. Partitions can't be added to a topic whose state counts by partition.",),
            "For good, where a spare is wanted.",
        ),
    )
