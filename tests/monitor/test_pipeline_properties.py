"""Whole streams: however they are split, delivered, repeated or cut short by crashes, the numbers are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from batch_oracle import batch
from clusters import INPUTS, STEPS, Cluster, Host
from hypothesis import given, settings
from hypothesis import strategies as st
from traffic import CONFIG, DAY_MS, FIRST_DAY, Answered, Bad, Said, Traffic, traffic

from monitor.config import Sampling
from monitor.fold import Channel
from monitor.plan import Plan
from monitor.readings_json import snapshot_document
from monitor.route import Change
from monitor.tally import CountKey, EntryKey, Key, Tally

WATCHED = msgspec.structs.replace(CONFIG, targets={"PERSON": 0.9})
PLAN = Plan(WATCHED)
PLANS = (
    PLAN,
    Plan(msgspec.structs.replace(WATCHED, sampling=Sampling(random_rate=0.2, loose_rate=0.9))),
    Plan(msgspec.structs.replace(WATCHED, sampling=Sampling(random_rate=0.9, loose_rate=0.0)), thinning=0.6),
)
COUNTED = ("census", "flagged", "design", "cell", "queue", "made", "entry", "output_design")
Action = tuple[str, str, int, int, str]

ACTIONS: st.SearchStrategy[Action] = st.tuples(
    st.sampled_from(("produce", "read", "read", "read", "checkpoint", "checkpoint", "crash")),
    st.sampled_from(tuple(INPUTS)),
    st.integers(0, 2),
    st.integers(0, 4),
    st.sampled_from(STEPS),
)
WITH_PLANS: st.SearchStrategy[Action] = st.tuples(
    st.sampled_from(("produce", "produce", "read", "read", "read", "checkpoint", "adopt")),
    st.sampled_from(("route", "route", "ledger")),
    st.integers(0, 2),
    st.integers(0, 4),
    st.sampled_from(STEPS),
)
WITH_ZOMBIES: st.SearchStrategy[Action] = st.tuples(
    st.sampled_from(("produce", "read", "read", "checkpoint", "presume_dead", "wake_zombie")),
    st.sampled_from(tuple(INPUTS)),
    st.integers(0, 2),
    st.integers(0, 4),
    st.sampled_from(STEPS),
)


def feed(cluster: Cluster, given_traffic: Traffic) -> list[Callable[[], None]]:
    """Return what produces the records, one by one, decisions and labels by turns."""
    said, labels = given_traffic
    steps: list[Callable[[], None]] = []
    for i in range(max(len(said), len(labels))):
        if i < len(said):
            steps.append(partial(produce, cluster, "decisions", said[i]))
        if i < len(labels):
            steps.append(partial(produce, cluster, "labels", labels[i]))
    return steps


def produce(cluster: Cluster, channel: Channel, record: Said | Answered | Bad) -> None:
    """Append a record to its topic."""
    cluster.produce(channel, record.doc.encode(), record.value, record.at)


def run(cluster: Cluster, given_traffic: Traffic, actions: list[Action]) -> Cluster:
    """Return the cluster after the actions, with everything read and every checkpoint made, once more after a crash."""
    steps = feed(cluster, given_traffic)
    for action in actions:
        if action[0] == "produce":
            for step in steps[: 3 * action[3]]:
                step()
            del steps[: 3 * action[3]]
        elif action[0] == "adopt":
            cluster.adopt(PLANS[action[3] % len(PLANS)])
        else:
            act(cluster.host(action[1], action[2]), action)
    for step in steps:
        step()
    cluster.settle()
    for host in cluster.hosts:
        host.crash()
    cluster.settle()
    return cluster


def act(host: Host, action: Action) -> None:
    """Do one thing to a partition of a stage."""
    what, stage, _, count, until = action
    if what == "read":
        host.read(INPUTS[stage][count % len(INPUTS[stage])], count + 1, again=count)
    elif what == "checkpoint":
        host.checkpoint(until)
    elif what == "crash":
        host.crash()
    elif what == "presume_dead":
        host.presume_dead()
    else:
        host.wake_zombie(until)


def undisturbed(given_traffic: Traffic) -> Cluster:
    """Return a cluster of one partition through which the traffic went without any accident."""
    return run(Cluster(PLAN), given_traffic, [])


def counted(rows: dict[Key, tuple[int, ...]]) -> dict[Key, tuple[int, ...]]:
    """Return the rows that estimates rest on, entries of all periods together."""
    found = Tally()
    for key, numbers in rows.items():
        if key.kind in COUNTED:
            found.add(key._replace(period=0) if isinstance(key, EntryKey) else key, numbers)
    return found.rows


def readings(cluster: Cluster) -> bytes:
    """Return the readings of a snapshot as comparable bytes."""
    return msgspec.json.encode(snapshot_document(cluster.snapshot()))


@settings(max_examples=60, deadline=None)
@given(given_traffic=traffic())
def test_stream_equals_the_batch_formula(given_traffic: Traffic) -> None:
    """Census, designs, cells and queue are what dictionaries over the whole input give."""
    assert batch(given_traffic, PLAN) == counted(undisturbed(given_traffic).sums().rows)


@settings(max_examples=40, deadline=None)
@given(given_traffic=traffic(), partitions=st.integers(2, 4))
def test_number_of_partitions_changes_no_number(given_traffic: Traffic, partitions: int) -> None:
    """Split over any number of partitions, tallies and readings are the same."""
    split, whole = run(Cluster(PLAN, partitions), given_traffic, []), undisturbed(given_traffic)

    assert whole.sums() == split.sums()
    assert readings(whole) == readings(split)


@settings(max_examples=100, deadline=None)
@given(given_traffic=traffic(), partitions=st.integers(1, 3), actions=st.lists(ACTIONS, min_size=8, max_size=40))
def test_crashes_change_no_number(given_traffic: Traffic, partitions: int, actions: list[Action]) -> None:
    """Read in any interleaving, cut short between any two steps, again and again, everything is counted once."""
    shaken, calm = run(Cluster(PLAN, partitions), given_traffic, actions), undisturbed(given_traffic)

    assert calm.sums() == shaken.sums()
    assert readings(calm) == readings(shaken)
    assert sum(host.rebuilds for host in shaken.hosts) == 0


@settings(max_examples=100, deadline=None)
@given(given_traffic=traffic(), actions=st.lists(WITH_ZOMBIES, min_size=8, max_size=40))
def test_zombies_change_no_number(given_traffic: Traffic, actions: list[Action]) -> None:
    """A worker that was presumed dead and writes over its successor's rows costs a rebuild at most."""
    shaken, calm = run(Cluster(PLAN, 2), given_traffic, actions), undisturbed(given_traffic)

    assert calm.sums() == shaken.sums()
    assert readings(calm) == readings(shaken)


@settings(max_examples=60, deadline=None)
@given(given_traffic=traffic(), partitions=st.integers(1, 2), actions=st.lists(WITH_PLANS, min_size=8, max_size=40))
def test_recorded_changes_of_plan_give_the_same_again(
    given_traffic: Traffic, partitions: int, actions: list[Action]
) -> None:
    """Rates and thinning turned between crashes: a clean run over the recorded history draws the same documents."""
    shaken = run(Cluster(PLAN, partitions), given_traffic, actions)
    recorded = [(p, Change(offset, plan)) for (p, offset), plan in shaken.history.items()]
    calm = run(Cluster(PLAN, partitions, recorded), given_traffic, [])

    assert calm.sums() == shaken.sums()


def asked_then_answered(given_traffic: Traffic) -> Traffic:
    """Return the traffic with labels later than all decisions, and no document that comes back after it expired.

    A label that is a window older than its document may expire before it, and of two drawings a window apart the label
    of one may, after a crash, be read next to the other.
    """
    names = {record.doc: f"{record.doc}/{record.at // DAY_MS}" for record in given_traffic[0][::-1]}
    said = [record._replace(doc=f"{record.doc}/{record.at // DAY_MS}") for record in given_traffic[0]]
    labels = [
        label._replace(doc=names.get(label.doc, label.doc), at=label.at + 80 * DAY_MS) for label in given_traffic[1]
    ]
    return said, labels


@settings(max_examples=60, deadline=None)
@given(given_traffic=traffic(days=80, most=10), actions=st.lists(ACTIONS, max_size=30))
def test_expiry_survives_crashes(given_traffic: Traffic, actions: list[Action]) -> None:
    """With days far apart, the days that are left hold the same designs and cells, whatever happened in between."""
    given_traffic = asked_then_answered(given_traffic)
    shaken, calm = run(Cluster(PLAN), given_traffic, actions), undisturbed(given_traffic)

    # a row that was dropped, but whose worker died before it said so, stays on the topic, out of every window's reach
    first = max(record.at for record in given_traffic[0]) // DAY_MS - PLAN.horizon_days
    assert counted(calm.sums(first).rows) == counted(shaken.sums(first).rows)


def test_plan_adopted_after_a_crash_leaves_alone_what_was_sent_before_it() -> None:
    """Drawn and sent under the old plan, not yet checkpointed: read again, it's decided under the old plan."""
    said: list[Said | Bad] = [Said(f"doc-{i}", "1", "en", 1, (), FIRST_DAY * DAY_MS) for i in range(40)]
    shaken = Cluster(PLAN)
    for record in said:
        produce(shaken, "decisions", record)
    shaken.host("route").read("decisions", 30)
    shaken.host("route").crash()
    shaken.adopt(PLANS[1])
    shaken.settle()
    recorded = [(p, Change(offset, plan)) for (p, offset), plan in shaken.history.items()]

    assert [offset for _, (offset, _) in recorded] == [40]
    assert run(Cluster(PLAN, 1, recorded), (said, []), []).sums() == shaken.sums()


def test_sums_notice_a_label_that_is_lost() -> None:
    """The comparisons above can fail: one label less is another tally."""
    config = msgspec.structs.replace(CONFIG, sampling=msgspec.structs.replace(CONFIG.sampling, random_rate=1))
    at, person = FIRST_DAY * DAY_MS, ((0, 4, "PERSON"),)
    said: list[Said | Bad] = [Said("doc-0", "1", "en", 0, person, at)]
    labels: list[Answered | Bad] = [Answered("doc-0", "a", 0, submitted=True, spans=person, task=None, at=at)]
    one = run(Cluster(Plan(config)), (said, labels), []).sums()
    other = run(Cluster(Plan(config)), (said, []), []).sums()

    assert one != other
    assert one.rows[CountKey("labels", "joined")] == (1,)
