"""What is alive and what is ready, sign by sign: a clock of the test's own, and no worker."""

from __future__ import annotations

import pytest

from streams.health import BEYOND_SEND_S, LOOP_LIMIT_S, RECOVERY_S, Answer, Health, Limits, Signs
from streams.options import Timings

NOW = 10_000.0
LIMITS = Limits(loop_s=60.0, chunks_s=360.0, away_s=90.0)
READS = Signs(
    turned_at=NOW,
    client_turned_at=NOW,
    tasks={"nothing was published": NOW},
    recovered_at=None,
    rounds_at=NOW,
    fetched_at=NOW,
    folded_at=NOW,
    reading=True,
    since=NOW - 5000,
    read_before=True,
    leased=True,
    partitions=9,
    waits_for="partitions",
    stopping=False,
)
STARTS = READS._replace(
    reading=False,
    read_before=False,
    leased=False,
    partitions=0,
    waits_for="the broker",
    client_turned_at=None,
    tasks={},
)
RECOVERS = READS._replace(reading=False, waits_for="the state of its partitions", recovered_at=NOW, since=NOW - 86_400)
GONE = READS._replace(reading=False, leased=False, partitions=0)


def health(signs: Signs) -> Health:
    """Return the judge of signs that stay as they are."""
    return Health(lambda: signs, LIMITS, lambda: NOW)


def test_limits_follow_from_the_timings() -> None:
    """Whoever allows records to wait longer, or rebalances to last, isn't told that the worker hangs."""
    timings = Timings(send_s=300.0, rebalance_s=60.0)
    assert Limits.of(timings) == Limits(LOOP_LIMIT_S, 300 + BEYOND_SEND_S, 60 + RECOVERY_S)


@pytest.mark.parametrize(
    "signs",
    [
        READS,
        STARTS._replace(since=NOW - 86_400),
        GONE._replace(since=NOW - 86_400, rounds_at=NOW - 86_400, fetched_at=NOW - 86_400),
        READS._replace(leased=False),
        READS._replace(turned_at=NOW - 60),
        READS._replace(rounds_at=NOW - 360),
        READS._replace(fetched_at=NOW - 360),
        READS._replace(folded_at=NOW - 360),
        READS._replace(client_turned_at=NOW - 60),
        READS._replace(tasks={"nothing was published": NOW - 360}),
        RECOVERS._replace(recovered_at=NOW - 360),
        READS._replace(rounds_at=NOW - 5000, fetched_at=NOW - 5000, folded_at=NOW - 5000, since=NOW - 1),
        READS._replace(partitions=0, fetched_at=NOW - 5000),
        READS._replace(stopping=True, rounds_at=NOW - 5000, fetched_at=NOW - 5000, folded_at=NOW - 5000),
        RECOVERS._replace(stopping=True, recovered_at=NOW - 5000, client_turned_at=NOW - 5000, tasks={"x": 0.0}),
    ],
    ids=[
        "reads",
        "waits for a broker since yesterday",
        "waits for partitions since yesterday",
        "the broker is away",
        "a long fold",
        "checkpoints wait for a broker",
        "fetching waits for a broker",
        "folding waits for a broker",
        "much is fetched",
        "publishing waits for a broker",
        "recovery waits for a broker",
        "has just been given partitions",
        "a spare",
        "stops",
        "stops in the midst of recovery",
    ],
)
def test_alive_is_what_a_restart_would_not_help(signs: Signs) -> None:
    """A worker that waits for others isn't restarted: it would wait again, and take longer."""
    assert health(signs).alive() == Answer(good=True, text="alive")


@pytest.mark.parametrize(
    ("signs", "text"),
    [
        (READS._replace(turned_at=NOW - 61), "stuck: the event loop has stood still for 61 s"),
        (STARTS._replace(turned_at=NOW - 61), "stuck: the event loop has stood still for 61 s"),
        (READS._replace(stopping=True, turned_at=NOW - 61), "stuck: the event loop has stood still for 61 s"),
        (READS._replace(rounds_at=NOW - 361), "stuck: no checkpoint ended for 361 s"),
        (READS._replace(fetched_at=NOW - 361), "stuck: no records were asked for for 361 s"),
        (READS._replace(fetched_at=0.0, since=NOW - 400), "stuck: no records were asked for for 400 s"),
        (READS._replace(folded_at=NOW - 361), "stuck: no chunk was folded for 361 s"),
        (READS._replace(client_turned_at=NOW - 61), "stuck: the Kafka client's thread has stood still for 61 s"),
        (GONE._replace(client_turned_at=NOW - 61), "stuck: the Kafka client's thread has stood still for 61 s"),
        (READS._replace(tasks={"a": NOW, "nothing was told": NOW - 361}), "stuck: nothing was told for 361 s"),
        (GONE._replace(tasks={"nothing was told": NOW - 361}), "stuck: nothing was told for 361 s"),
        (
            READS._replace(folded_at=NOW - 361, rounds_at=NOW - 362),
            "stuck: no chunk was folded for 361 s; no checkpoint ended for 362 s",
        ),
        (
            RECOVERS._replace(recovered_at=NOW - 361),
            "stuck: recovery has stood still, though the group answers, for 361 s",
        ),
    ],
)
def test_a_loop_that_stands_still_is_told(signs: Signs, text: str) -> None:
    """Each of them, with its time; the chunk loop's counts from when there was something to read."""
    silent_s = float(text.split()[-2])
    assert health(signs).alive() == Answer(good=False, text=text, silent_s=silent_s)


@pytest.mark.parametrize(
    ("signs", "answer"),
    [
        (STARTS, Answer(good=False, text="not ready: waits for the broker")),
        (STARTS._replace(since=NOW), Answer(good=False, text="not ready: waits for the broker")),
        (READS, Answer(good=True, text="ready: reads 9 partitions")),
        (READS._replace(partitions=0), Answer(good=True, text="ready: a spare, other workers have all partitions")),
        (READS._replace(leased=False), Answer(good=False, text="not ready: the group hasn't answered for a session")),
        (READS._replace(stopping=True), Answer(good=False, text="not ready: it stops")),
        (GONE._replace(stopping=True, since=NOW), Answer(good=False, text="not ready: it stops")),
        (
            GONE._replace(since=NOW - 90),
            Answer(good=True, text="ready: the group has been sharing its partitions anew for 90 s"),
        ),
        (
            GONE._replace(since=NOW - 91),
            Answer(good=False, text="not ready: has read nothing for 91 s, waits for partitions"),
        ),
    ],
)
def test_ready_is_who_has_a_part_in_the_work(signs: Signs, answer: Answer) -> None:
    """Never before state was recovered; a rebalance that ends in time takes nobody out; a spare holds up no rollout."""
    assert health(signs).ready() == answer
