"""What a worker shows: the board's readings and its own figures, records that are swapped in whole, never changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.metadata import version

from monitor.config import DEFAULT_KEY
from monitor.fold import Channel
from monitor.pipeline import Pipeline, Place
from streams.live_config import LiveConfig
from streams.stages import Progress

BUILD = version("recallwatch")


def pipeline(  # noqa: PLR0913  # all of it by name: one record gathers what the worker knows
    *,
    started_at: float,
    flow: Mapping[tuple[str, ...], int],
    progress: Iterable[Progress],
    assigned: int,
    channels: Mapping[str, Channel],
    live: LiveConfig,
    ready: bool,
    is_board: bool,
    board_url: str,
    checkpoints: int,
    checkpoint_s: float,
    checkpoint_at: float | None,
    rebalances: int = 0,
    folded: Mapping[str, tuple[int, float]] | None = None,
) -> Pipeline:
    """Return one worker's figures at one moment.

    Parameters
    ----------
    flow
        Process-local counts: a name, then its label values.
    channels
        The channel of each topic that is read.
    folded
        Chunks of each stage, and the seconds that folding them took.
    """
    places: dict[Place, Progress] = {(channels[p.topic], p.partition): p for p in progress}
    return Pipeline(
        started_at=started_at,
        build=BUILD,
        ready=ready,
        unready_reason="" if ready else "waiting for partitions, or recovering their state",
        is_board=is_board,
        board_url=board_url,
        decisions={k[1:3]: n for k, n in flow.items() if k[0] == "decisions" and len(k) == 3},
        sampled=_by_one(flow, "sampled"),
        tasks=_by_one(flow, "tasks"),
        labels=_by_one(flow, "labels"),
        dead_letters={k[1:3]: n for k, n in flow.items() if k[0] == "dead_letters" and len(k) == 3},
        quarantined=_by_one(flow, "quarantined"),
        unchecked=flow.get(("unchecked", "outputs"), 0),
        tombstones=_by_one(flow, "tombstones"),
        positions={place: p.position for place, p in places.items()},
        lag={place: p.lag for place, p in places.items() if p.lag is not None},
        holes={place: p.holes for place, p in places.items()},
        rewinds={place: p.rewinds for place, p in places.items()},
        lost={place: p.lost for place, p in places.items()},
        rebuilds=flow.get(("rebuilds", "ledger"), 0),
        rebalances=rebalances,
        chunks={(stage,): chunks for stage, (chunks, _) in (folded or {}).items()},
        chunk_s={(stage,): seconds for stage, (_, seconds) in (folded or {}).items()},
        partitions_assigned=assigned,
        checkpoints=checkpoints,
        checkpoint_s=checkpoint_s,
        checkpoint_at=checkpoint_at,
        config=live.plan.id,
        net=live.plan.net.version,
        config_refused=live.refused,
        config_problem=live.problem,
        thinning=live.plan.thinning,
        rates=live.plan.sampler.in_force(),
        deadline_s=live.plan.config.labels.deadline_days * 86_400,
        key_is_default=live.plan.config.sampling.key == DEFAULT_KEY,
    )


def _by_one(flow: Mapping[tuple[str, ...], int], name: str) -> dict[tuple[str], int]:
    counts: Counter[tuple[str]] = Counter()
    for key, n in flow.items():
        if key[0] == name and len(key) == 2:
            counts[(key[1],)] += n
    return dict(counts)
