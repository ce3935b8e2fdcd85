"""The fault suite: `tests/faults/run --faults N --seed S [--workers W] [--json FILE] [--keep]`.

Workers run on a real Kafka under traffic that never stops; one fault after the other is done to them, each when the
one before is over and every worker reads again. Then the traffic stops, and what the product says and wrote is compared
with a replay of the topics' own records under the recorded history of the config.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from aiokafka.errors import KafkaError
from brokers import missing_for_kafka
from faults.acts import ACTS
from faults.drawing import Fault, Kind, draw_faults
from faults.scene import Scene, stage_scene
from faults.table import Outcome, Result, Say, closing, header, line
from faults.verdict import Verdict, judge_topics
from workers import until
from workloads import comparable, differences, replayed_by_history

DAYS = 8
"""The traffic's clock begins so many days ago, and goes on by one now and then: days end while faults happen."""
LONG = 20
"""From so many faults on the broker is away for a whole minute."""
EQUAL_WITHIN_S = 60.0
_CAUGHT = (AssertionError, OSError, TimeoutError, KafkaError)


def run_faults(folder: Path, seed: int, faults: Sequence[Fault], workers: int, say: Say) -> Result:
    """Do these faults, which were drawn from a seed, and return what came of them."""
    return asyncio.run(_run(folder, seed, faults, workers, say))


async def _run(folder: Path, seed: int, faults: Sequence[Fault], workers: int, say: Say) -> Result:
    begun, number = time.monotonic(), len(faults)
    say(f"starting Apache Kafka and {workers} workers")
    async with stage_scene(folder, f"faults{seed}", workers, 60.0 if number >= LONG else 9.0, DAYS) as scene:
        say(header())
        outcomes = []
        for fault in faults:
            try:
                outcomes.append(await _do(scene, fault, say))
            except _CAUGHT as error:
                found = [*scene.surprises, f"given up after fault {fault.number}, {fault.kind}: {error}"]
                return Result(seed, outcomes, scene.traffic.decisions, 0, 0, None, time.monotonic() - begun, found)
            say(line(outcomes[-1]))
            if fault.number * DAYS // number > (fault.number - 1) * DAYS // number:
                scene.traffic.pass_day()
        say("the traffic stops; comparing with a replay")
        try:
            equal_after_s, verdict = await compare(scene)
        except _CAUGHT as error:
            equal_after_s, verdict = None, Verdict(scene.traffic.decisions, 0, 0, [f"no comparison: {error}"])
        await leave(scene)
        found = [*scene.surprises, *verdict.differences, *scene.fleet.noise()]
        counts = (verdict.decisions, verdict.labels, verdict.sampled)
        return Result(seed, outcomes, *counts, equal_after_s, time.monotonic() - begun, found)


async def _do(scene: Scene, fault: Fault, say: Say) -> Outcome:
    """Do one fault and wait until every worker reads again; what fails is noted, and put right for the next."""
    await asyncio.sleep(fault.after_s)
    position, begun = scene.traffic.decisions, time.monotonic()
    where = ""
    try:
        where, outcome = await ACTS[fault.kind](scene, fault)
        await scene.reads_again()
        scene.failing.clear()
    except _CAUGHT as error:
        outcome = f"FAILED: {type(error).__name__}: {error}"
        scene.surprises.append(f"fault {fault.number}, {fault.kind}: {outcome}")
        say(f"     {outcome[:300]}; starting everything anew")
        await start_anew(scene)
    return Outcome(fault.number, fault.kind, where, position, time.monotonic() - begun, outcome)


async def start_anew(scene: Scene) -> None:
    """Put right whatever a fault left, and start all workers again."""
    scene.wake()
    scene.proxy.turn("open")
    scene.trap.unlink(missing_ok=True)
    if scene.kafka.process is None or scene.kafka.process.poll() is not None:
        await asyncio.to_thread(scene.kafka.start)
    for number in scene.wanted:
        if scene.fleet.workers[number].runs:
            await scene.fleet.end(number, signal.SIGKILL)
        scene.start(number)
    await scene.reads_again()


async def compare(scene: Scene) -> tuple[float | None, Verdict]:
    """Wait until the board says what a replay says; return when that was, and all that is wrong."""
    await scene.traffic.stop()
    begun = time.monotonic()
    said: list[tuple[float, dict[str, object]]] = []
    watch = asyncio.create_task(_watch(scene, said))
    try:
        await until(lambda: _settled(scene), 3 * EQUAL_WITHIN_S, "all was read and answered", every_s=1.0)
        expected = comparable(await asyncio.to_thread(asyncio.run, replayed_by_history(scene.fleet)))
        while not (equal := next((at for at, one in said if one == expected), None)):
            if time.monotonic() > begun + 1.5 * EQUAL_WITHIN_S:
                break
            await asyncio.sleep(0.5)
    finally:
        watch.cancel()
    after_s = equal - begun if equal else None
    board = await scene.fleet.board()
    assert board is not None
    verdict = await judge_topics(scene.fleet, board, scene.traffic.readable())
    verdict.differences.extend(differences(expected, comparable(board), "readings"))
    if after_s is None or after_s > EQUAL_WITHIN_S:
        verdict.differences.append(f"readings weren't equal within {EQUAL_WITHIN_S:.0f} s: {after_s} s")
    return after_s, verdict


async def _watch(scene: Scene, said: list[tuple[float, dict[str, object]]]) -> None:
    """Note what the board says, and when it began to."""
    while True:
        board = await scene.fleet.board()
        if board is not None and (one := comparable(board)) != (said[-1][1] if said else None):
            said.append((time.monotonic(), one))
        await asyncio.sleep(0.5)


async def _settled(scene: Scene) -> bool:
    """Tell whether every task was answered, every answer read, and nothing came meanwhile."""
    before = await scene.ends()
    await scene.reads_again()
    tasks = await scene.fleet.read("annotation_tasks", scene.fleet.tree.topics.partitions)
    if any(json.loads(task.value)["task_id"] not in scene.traffic.people.tasks for task in tasks):
        return False
    await asyncio.sleep(0.5)
    return before == await scene.ends()


async def leave(scene: Scene) -> None:
    """End all workers in order."""
    for number, code in zip(scene.fleet.workers, await scene.fleet.end_all(), strict=True):
        if code:
            scene.surprise(number, f"ended with {code} instead of 0")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite; return 1 where anything differs, 2 where it can't run here."""
    options = _options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else broker and workers would stay
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # of the suite's own clients, while the broker is away
    missing = missing_for_kafka()
    if missing is not None:
        _say(missing)
        return 2
    faults = draw_faults(options.seed, options.faults, options.kind)
    folder = Path(tempfile.mkdtemp(prefix="recallwatch-faults-"))
    result = None
    try:
        result = run_faults(folder, options.seed, faults, options.workers, _say)
    finally:
        if options.keep or result is None or result.differences:
            _say(f"logs and topics: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    for text in closing(result):
        _say(text)
    if options.json:
        result.write(options.json)
    return 1 if result.differences else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/faults/run", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--faults", type=int, default=8, metavar="N", help="how many (8)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="what they are drawn from (1)")
    parser.add_argument("--workers", type=int, default=2, metavar="W", help="at the start (2)")
    parser.add_argument("--kind", action="append", choices=get_args(Kind), default=[], help="only these; repeats")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result")
    parser.add_argument("--keep", action="store_true", help="keep logs and topics; always done where anything differs")
    return parser.parse_args(arguments)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
