"""How each fault is done. An act returns where it was done and what was seen of it, once the fault itself is over."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from random import Random

from faults.broker_settings import alter, removed
from faults.drawing import TOO_SMALL, Fault, Kind
from faults.scene import CONFIG, SESSION_S, TURN_S, Scene
from faults.worker import EXIT_CODE, Trap
from workers import until

from streams.topics import changelog

Seen = tuple[str, str]
"""Where, and what."""
Act = Callable[[Scene, Fault], Awaitable[Seen]]
ENOUGH = 60
"""Records that are sent again."""


# -- workers ---------------------------------------------------------------------------------------------------------


async def kill(scene: Scene, fault: Fault) -> Seen:
    """End a worker with SIGKILL; its supervisor starts it at once."""
    number = scene.pick(fault.worker)
    await scene.end(number, signal.SIGKILL, -signal.SIGKILL)
    scene.start(number)
    return f"worker {number}", "started again"


async def term(scene: Scene, fault: Fault) -> Seen:
    """End a worker in order, and start it again."""
    number = scene.pick(fault.worker)
    await scene.end(number, signal.SIGTERM, 0)
    scene.start(number)
    return f"worker {number}", "ended with 0"


async def exit_between_steps(scene: Scene, fault: Fault) -> Seen:
    """Have the first worker that passes a step end there and then."""
    Trap("exit", fault.stage, fault.step).set_up(scene.trap)
    where = f"after {fault.stage}: {fault.step}"

    async def sprung() -> bool:
        return bool(scene.ended())

    await until(sprung, 30, f"a worker that passes {where}")
    for number, code in scene.ended().items():
        if code != EXIT_CODE:
            scene.surprise(number, f"ended with {code} instead of {EXIT_CODE}")
        where = f"worker {number} {where}"
        scene.start(number)
    return where, "started again"


async def zombie(scene: Scene, fault: Fault) -> Seen:
    """Freeze a worker, half of the times between two steps, until others have its partitions; then let it go on."""
    number, where = await freeze(scene, fault)
    others = await taken_over(scene, number)
    thaw(scene, number)
    return where, others


async def configured_behind_a_zombie(scene: Scene, fault: Fault) -> Seen:
    """Freeze a worker, and change the config before it goes on."""
    number, where = await freeze(scene, fault)
    others = await taken_over(scene, number)
    scene.configure(other_config(fault))
    if len(scene.wanted) > 1:
        await until(scene.configured, 60, "the change recorded for every partition", every_s=TURN_S)
        await asyncio.sleep(1.0)  # decisions made under it
    thaw(scene, number)
    return where, f"{others}, config {scene.configs[-1]}"


async def freeze(scene: Scene, fault: Fault) -> tuple[int, str]:
    """Stop a worker's process where it is, or behind a step."""
    if fault.share < 0.5:
        number = scene.pick(fault.worker)
        scene.fleet.workers[number].process.send_signal(signal.SIGSTOP)
        return number, f"worker {number}"
    Trap("freeze", fault.stage, fault.step).set_up(scene.trap)

    async def sprung() -> bool:
        return bool(frozen(scene))

    await until(sprung, 30, f"a worker that freezes after {fault.stage}: {fault.step}")
    number = frozen(scene)[0]
    return number, f"worker {number} after {fault.stage}: {fault.step}"


def frozen(scene: Scene) -> list[int]:
    """Return the workers that are stopped."""
    states = {n: Path(f"/proc/{scene.fleet.workers[n].process.pid}/status").read_text() for n in scene.wanted}
    return [number for number, status in states.items() if "\nState:\tT" in status]


async def taken_over(scene: Scene, number: int) -> str:
    """Wait until the others have everything and count on; alone, until the session is over."""
    others = scene.wanted - {number}
    if not others:
        await asyncio.sleep(SESSION_S + 2.0)
        return "alone"

    async def shared() -> bool:
        return await scene.shared_out(others)

    await until(shared, 60, f"workers {others} have all partitions", every_s=TURN_S)
    await asyncio.sleep(1.0)  # they write, so that there is something to write over
    return "taken over"


def thaw(scene: Scene, number: int) -> None:
    """Let a frozen worker go on."""
    scene.fleet.workers[number].process.send_signal(signal.SIGCONT)


async def add_worker(scene: Scene, fault: Fault) -> Seen:
    """Start one more, or where there are too many already, end one."""
    if len(scene.wanted) > 3:
        return await remove_worker(scene, fault)
    number = next(n for n in range(99) if n not in scene.wanted)
    scene.start(number)
    return f"worker {number}", f"{len(scene.wanted)} workers"


async def remove_worker(scene: Scene, fault: Fault) -> Seen:
    """End one for good, or where there's only one, start another."""
    if len(scene.wanted) < 2:
        return await add_worker(scene, fault)
    number = scene.pick(fault.worker)
    scene.wanted.discard(number)
    await scene.end(number, signal.SIGTERM, 0)
    del scene.fleet.workers[number]
    return f"worker {number}", f"{len(scene.wanted)} workers"


# -- broker ----------------------------------------------------------------------------------------------------------


async def restart_broker(scene: Scene, sig: signal.Signals, away_s: float = 0.0) -> None:
    """End the broker and start it again."""
    await asyncio.to_thread(scene.kafka.stop, sig)
    await asyncio.sleep(away_s)
    await asyncio.to_thread(scene.kafka.start)


async def end_broker(scene: Scene, _fault: Fault) -> Seen:
    """End the broker in order and start it."""
    await restart_broker(scene, signal.SIGTERM)
    return "broker", "started again"


async def kill_broker(scene: Scene, _fault: Fault) -> Seen:
    """End the broker with SIGKILL and start it."""
    await restart_broker(scene, signal.SIGKILL)
    return "broker", "started again"


async def take_broker_away(scene: Scene, fault: Fault) -> Seen:
    """Have no broker for a while: it's down, it refuses the workers, or it doesn't answer them."""
    how = fault.choose("down", "refuses", "silent")
    await away(scene, how, scene.away_s)
    return f"broker {how}", f"{scene.away_s:.0f} s"


async def away(scene: Scene, how: str, seconds: float) -> None:
    """Take the broker away from the workers."""
    if how == "down":
        await restart_broker(scene, signal.SIGKILL, seconds)
        return
    scene.proxy.turn("closed" if how == "refuses" else "silent")
    await asyncio.sleep(seconds)
    scene.proxy.turn("open")


async def end_without_broker(scene: Scene, fault: Fault) -> Seen:
    """End a worker in order while its broker is away; its supervisor starts it before the broker is back."""
    how = fault.choose("refuses", "silent")
    number = scene.pick(fault.worker)
    scene.proxy.turn("closed" if how == "refuses" else "silent")
    await asyncio.sleep(1.0)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    code = await scene.fleet.end(number, signal.SIGTERM, 60.0)
    took = loop.time() - begun
    if code:
        scene.surprise(number, f"ended with {code} instead of 0")
    scene.start(number)
    await asyncio.sleep(2.0)
    scene.proxy.turn("open")
    return f"worker {number}, broker {how}", f"exit {code} after {took:.0f} s"


async def slow_broker(scene: Scene, fault: Fault) -> Seen:
    """Delay all that goes to and from the broker, or have it stand still again and again."""
    if fault.choose("delays", "stalls") == "delays":
        delay_s = 0.2 + 0.6 * (fault.share % 0.25)
        scene.proxy.turn("slow", delay_s)
        await asyncio.sleep(8.0)
        scene.proxy.turn("open")
        return "broker", f"{delay_s * 1000:.0f} ms late for 8 s"
    process = scene.kafka.process
    assert process is not None
    for _ in range(6):
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(1.0)
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.3)
    return "broker", "stood still 6 times for 1 s"


# -- records ---------------------------------------------------------------------------------------------------------


async def repeat_decisions(scene: Scene, fault: Fault) -> Seen:
    """Send decisions again, in another order."""
    number = await scene.traffic.repeat("decisions", ENOUGH, Random(fault.share))  # noqa: S311  # no secret
    return "decisions", f"{number} again, shuffled"


async def repeat_labels(scene: Scene, fault: Fault) -> Seen:
    """Send labels again, in another order."""
    number = await scene.traffic.repeat("labels", ENOUGH, Random(fault.share))  # noqa: S311  # no secret
    return "labels", f"{number} again, shuffled"


async def poison(scene: Scene, fault: Fault) -> Seen:
    """Send what can't be read."""
    number = await scene.traffic.spoil(Random(fault.share))  # noqa: S311  # no secret
    return "decisions, labels", f"{number} bad records"


# -- settings --------------------------------------------------------------------------------------------------------


def other_config(fault: Fault) -> str:
    """Return a settings file with other rates, another net and other targets than any before."""
    rate = round(0.05 + 0.2 * fault.share, 3)  # enough is drawn, and a run of fifty still recovers in seconds
    trigger = fault.choose('"hello"', '"account", "please"', "")
    rates = {"random_rate": rate, "loose_rate": round(0.3 - rate, 3)}
    return CONFIG.format(**rates, triggers=trigger, target=0.8 + fault.number / 1000)


async def change_config(scene: Scene, fault: Fault) -> Seen:
    """Change the settings file, and wait until the change is on record for every partition."""
    scene.configure(other_config(fault))
    await until(scene.configured, 60, "the change recorded for every partition", every_s=TURN_S)
    return "settings file", f"config {scene.configs[-1]}"


async def change_config_of_killed(scene: Scene, fault: Fault) -> Seen:
    """Kill all workers and change the file before they come back."""
    numbers = sorted(scene.wanted)
    await asyncio.gather(*(scene.end(number, signal.SIGKILL, -signal.SIGKILL) for number in numbers))
    scene.configure(other_config(fault))
    for number in numbers:
        scene.start(number)
    await until(scene.configured, 60, "the change recorded for every partition", every_s=TURN_S)
    return "all workers", f"config {scene.configs[-1]}"


QUICKLY = {
    "segment.ms": "300",
    "min.cleanable.dirty.ratio": "0.001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "500",
    "delete.retention.ms": "100",
}


async def compact(scene: Scene, _fault: Fault) -> Seen:
    """Have the cleaner run over every compacted topic until records are gone from it, and recover from what is left."""
    server, group = scene.fleet.server_for_tests, scene.fleet.tree.kafka.group
    compacted = [spec for spec in scene.specs().values() if spec.settings.get("cleanup.policy") == "compact"]
    watched = [spec for spec in compacted if spec.name != scene.fleet.tree.topics.history]
    before = {spec.name: await removed(server, spec.name, spec.partitions) for spec in watched}
    await alter(server, compacted, QUICKLY)
    gone: dict[str, int] = {}

    async def cleaned() -> bool:
        for spec in watched:
            gone[spec.name] = await removed(server, spec.name, spec.partitions) - before[spec.name]
        return all(number > 0 for number in gone.values())

    await until(cleaned, 60, "records removed from each compacted topic", every_s=1.0)
    numbers = sorted(scene.wanted)
    await asyncio.gather(*(scene.end(number, signal.SIGKILL, -signal.SIGKILL) for number in numbers))
    for number in numbers:
        scene.start(number)
    await scene.reads_again()
    await alter(server, compacted, {})
    named = {name.removeprefix(f"{group}-").removesuffix("-changelog"): number for name, number in gone.items()}
    return ", ".join(named), f"{sum(named.values()):,} records gone, all killed"


async def shrink_topic(scene: Scene, fault: Fault) -> Seen:
    """Let a topic take no record, until workers end over it; they won't start until it's put right."""
    which = fault.choose(*TOO_SMALL)
    topics, server = scene.fleet.tree.topics, scene.fleet.server_for_tests
    is_table = which in {"route", "intake", "ledger"}
    name = changelog(scene.fleet.tree.kafka.group, which) if is_table else getattr(topics, which)
    spec = scene.specs()[name]
    await alter(server, [spec], {"max.message.bytes": "60"})

    async def ended() -> bool:
        return bool(scene.ended())

    await until(ended, 45, f"a worker that ends over {name}")
    number, code = next(iter(scene.ended().items()))
    if code != 1:
        scene.surprise(number, f"ended with {code} instead of 1 over a record that {which} doesn't take")
    again = await asyncio.to_thread(scene.fleet.run, "worker", within_s=60.0)
    if again.returncode != 2 or f"topic {name}: max.message.bytes" not in again.stderr:
        scene.surprises.append(f"a start with {name} too small: exit {again.returncode}: {again.stderr[-400:]}")
    await alter(server, [spec], {})
    await asyncio.sleep(1.0)  # what the others had sent before that is answered by now
    gone = scene.ended()
    scene.failing = scene.wanted - gone.keys()
    for ended_too in gone:
        scene.fleet.start(ended_too)
    return f"{which} takes 60 bytes", f"exit {code}, then {again.returncode}"


ACTS: Mapping[Kind, Act] = {
    "kill": kill,
    "term": term,
    "exit": exit_between_steps,
    "zombie": zombie,
    "zombie, config changed": configured_behind_a_zombie,
    "broker ended": end_broker,
    "broker killed": kill_broker,
    "broker away": take_broker_away,
    "ended, broker away": end_without_broker,
    "slow broker": slow_broker,
    "worker added": add_worker,
    "worker removed": remove_worker,
    "decisions again": repeat_decisions,
    "labels again": repeat_labels,
    "config changed": change_config,
    "all killed, config changed": change_config_of_killed,
    "poison": poison,
    "changelogs compacted": compact,
    "record too large": shrink_topic,
}
