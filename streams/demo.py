"""The demo: a broker, a worker, the page, a real detector and simulated annotators, all on this machine.

The detector is `datafog`; its second version is worse by a setting that seemed harmless (`streams.detector`), and after
a while it's rolled back. With `--data DIR` recorded decisions of real detectors are the traffic, and people's labels
the annotators' answers. `--once` goes through the fall unattended and exits 0 only if it shows in the product's own
readings.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.errors import RecallwatchError, SourceError
from monitor.readings import ANY, BoardSnapshot, Reading
from monitor.records import Decision, Span
from streams.annotators import EXACT, Annotators
from streams.broker import Connection
from streams.corpora import find_story, read_decisions, read_truth
from streams.declare import ensure
from streams.demo_alarms import Alarms, told
from streams.demo_traffic import Known, Traffic, generated, recorded
from streams.demo_turns import Turns
from streams.demo_worker import DemoWorker
from streams.embedded import EmbeddedBroker
from streams.live import declared_topics
from streams.logs import configure_logs
from streams.settings import load_settings

SEED = 7
DOCUMENTS = 2_500
FIRST = 800
"""Documents sent as fast as they go, so that the page has something to show."""
PER_S = 40.0
SWAP_AFTER_S = 75.0
RECORDED_SWAP_AFTER_S = 20.0
ROLLED_BACK_AFTER_S = 300.0
"""Long enough for the alarm, and to look around while it's on."""
SETTLED_WITHIN_S = 60.0
_CLOCK = ("alarm.period=5", "alarm.hold=60", f"labels.deadline_days={60 / 86_400}")
"""A demo's day is five seconds long, and a label late after a minute; an alarm stays on for minutes, until the version
changes or the evidence stays away."""
console = Console(highlight=False)


class Story(NamedTuple):
    """What is told: the traffic of two versions, in which cell the second is worse, and who knows the truth."""

    entity: str
    language: str
    settings: tuple[str, ...]
    annotators: Annotators
    truth: dict[str, list[Span]]
    before: Iterator[Known]
    after: Iterator[Known]
    again: Iterator[Known]
    """Of the first version, once the second is rolled back."""
    documents: int | None
    """How many of each are sent at once; None is all there are."""


def generated_story() -> Story:
    """Return the story of the project's own documents and datafog."""
    truth: dict[str, list[Span]] = {}
    # what the first version reaches, and a margin: of German telephone numbers datafog finds one in six
    targets = _targets({"EMAIL_ADDRESS": 0.8, "PHONE_NUMBER": 0.3, "PHONE_NUMBER.de": 0.05})
    rates = ("sampling.random_rate=0.1", "sampling.loose_rate=0.25", *targets)
    before = generated(1, seed=SEED, start=0)
    after = generated(2, seed=SEED, start=1_000_000)
    return Story("EMAIL_ADDRESS", "any", rates, Annotators(SEED, truth), truth, before, after, before, DOCUMENTS)


def recorded_story(directory: Path) -> Story:
    """Return the story of recorded decisions: a swap of models, the labels being people's own.

    Raises
    ------
    SourceError
        A file that isn't there.
    """
    files = find_story(directory)
    labels = read_truth(files.labels)
    truth: dict[str, list[Span]] = {}
    before, after, again = (
        recorded((d for d in read_decisions(path) if isinstance(d, Decision)), labels, suffix)
        for path, suffix in ((files.first, ""), (files.second, ""), (files.first, "#2"))
    )
    people = Annotators(SEED, truth, EXACT, names=("people",), median_s=0.5)
    # the corpus is small: with every document read, what the page says is what the corpus says
    rates = ("sampling.random_rate=1.0", *_targets({"PERSON": 0.6, "LOCATION": 0.6, "ORGANIZATION": 0.5}))
    return Story("PERSON", "en", rates, people, truth, before, after, again, None)


def _targets(recalls: Mapping[str, float]) -> tuple[str, ...]:
    """Return settings that ask for a recall by entity, so that the page can say which cells need somebody."""
    return tuple(f"targets.{name}={recall}" for name, recall in recalls.items())


@contextlib.asynccontextmanager
async def stage(story: Story) -> AsyncIterator[tuple[DemoWorker, Traffic]]:
    """Start broker, topics, worker and traffic, and leave nothing running."""
    settings = load_settings(None, [*story.settings, *_CLOCK, "sampling.key=demo", "http.port=0"], {})
    async with contextlib.AsyncExitStack() as stack:
        with console.status("starting the embedded broker …"):
            broker = stack.enter_context(EmbeddedBroker())
        connection = Connection(servers=(broker.server,))
        with console.status("creating topics …"):
            await ensure(connection, declared_topics(settings.config), create=True)
        with console.status("starting a worker …"):
            worker = await stack.enter_async_context(DemoWorker(broker.server, settings.overrides))
        traffic = Traffic(connection, settings.config.topics, story.annotators, story.truth)
        await traffic.start()
        stack.push_async_callback(traffic.stop)
        console.print(f"broker {broker.server}, page [bold]{worker.url}[/]")
        console.print(
            f"in another terminal: {Path(sys.prefix, 'bin', 'recallwatch')} status, plan, misses or report --out DIR, "
            f"with --set kafka.brokers={broker.server}",
            soft_wrap=True,
        )
        yield worker, traffic


async def tell_once(story: Story) -> bool:
    """Go through the story; return whether the fall was seen in the product's own readings."""
    async with stage(story) as (worker, traffic):
        readings: list[Reading] = []
        for name, known in (("version 1", story.before), ("version 2", story.after)):
            await _send_all(traffic, name, known, story.documents)
            readings.append(await _settled(worker, traffic, story, len(readings)))
            _print_readings(story, readings)
    before, after = (r.matched for r in readings)
    seen = before.lower is not None and after.upper is not None and after.upper < before.lower
    if seen:
        now, then = f"at most {after.upper:.3f} now", f"at least {before.lower:.3f} before"
        console.print(f"[bold]The fall was seen:[/] {story.entity} recall is {now}, {then}.")
        console.print(Text(told(readings[1], readings[0])))
    else:
        console.print(f"[bold]The fall was not seen:[/] the intervals of {story.entity} overlap, or one has no limits.")
    return seen


async def _send_all(traffic: Traffic, name: str, known: Iterator[Known], count: int | None) -> None:
    with console.status(f"{name}: sending decisions …") as status:
        start = traffic.sent
        limited = known if count is None else _first(known, count)
        await traffic.send(limited, on_sent=lambda: status.update(f"{name}: {traffic.sent - start} decisions sent …"))
    console.print(f"{name}: {traffic.sent - start} decisions sent")


def _first(known: Iterator[Known], count: int) -> Iterator[Known]:
    for _ in range(count):
        yield next(known)


async def _settled(worker: DemoWorker, traffic: Traffic, story: Story, known: int) -> Reading:
    """Wait until the annotators are through with what was sampled; return the newest version's reading."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    with console.status("annotators at work …") as status:
        while True:
            board = await worker.board()
            found = [] if board is None else _readings(board, story)
            status.update(f"annotators at work … {traffic.answered} tasks answered")
            if board is not None and len(found) > known and _is_done(board, traffic) and found[-1].labelled:
                return found[-1]
            if time.monotonic() > deadline:
                raise SourceError(f"no settled reading within {SETTLED_WITHIN_S:.0f} s; the worker's log: {worker.log}")
            await asyncio.sleep(0.5)


def _is_done(board: BoardSnapshot, traffic: Traffic) -> bool:
    """Say whether every decision was counted, every drawn document is in the ledger, and hardly a task is open."""
    counted = sum(tally.value for tally in board.strata)
    drawn = sum(tally.value for tally in board.drawn)
    taken = sum(r.sampled for r in board.readings if _is_everything(r) and r.window == board.readings[0].window)
    queue = next(q for q in board.queues if q.language == ANY)
    return counted >= traffic.sent and taken >= drawn and queue.open <= 0.01 * queue.tasks


def _is_everything(r: Reading) -> bool:
    return (r.entity, r.language, r.stratum) == (ANY, ANY, None)


def _readings(board: BoardSnapshot, story: Story) -> list[Reading]:
    """Return the population readings of the story's cell, in the order of their versions' first decisions."""
    order = [change.what.split(" ", 1)[1] for change in board.changes if change.kind == "version"]
    days = min((r.window.days or 0 for r in board.readings), default=0)
    cell = (story.entity, story.language, None, days)
    found = [r for r in board.readings if (r.entity, r.language, r.stratum, r.window.days or 0) == cell]
    return sorted((r for r in found if r.version in order), key=lambda r: order.index(r.version))


def _print_readings(story: Story, readings: list[Reading]) -> None:
    table = Table(title=f"{story.entity} ({story.language}): recall over all traffic", title_justify="left", box=None)
    table.add_column("version", overflow="fold")
    for name in ("recall", "lower", "upper", "found/true", "labelled/sampled"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    for r in readings:
        share = r.matched
        limits = ["–" if v is None else f"{v:.3f}" for v in (share.estimate, share.lower, share.upper)]
        table.add_row(r.version, *limits, f"{share.found}/{share.true}", f"{r.labelled}/{r.sampled}")
    console.print(table)


async def tell_live(story: Story, turns: Turns) -> bool:
    """Stream decisions until interrupted; in turn the worse version takes over and is rolled back."""
    async with stage(story) as (worker, traffic):
        console.print("version 1 is running; Ctrl-C ends the demo and leaves nothing running")
        parts = {asyncio.create_task(_tell(story, traffic, turns)), asyncio.create_task(_watch(worker))}
        try:
            ended, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            for part in ended:
                part.result()
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
    return False


async def _tell(story: Story, traffic: Traffic, turns: Turns) -> None:
    """Send version 1, then version 2, then version 1 again, and of recorded ones nothing more."""
    swap_after_s = RECORDED_SWAP_AFTER_S
    if story.documents is not None:
        await traffic.send(_first(story.before, FIRST))
        swap_after_s = SWAP_AFTER_S
    await _send_until(traffic, story, story.before, turns.next(swap_after_s))
    console.print("version 2 takes over: watch the page")
    await _send_until(traffic, story, story.after, turns.next(ROLLED_BACK_AFTER_S))
    console.print("version 2 is rolled back, version 1 is running again")
    await _send_until(traffic, story, story.again, asyncio.Event())


async def _send_until(traffic: Traffic, story: Story, known: Iterator[Known], turn: asyncio.Event) -> None:
    """Send decisions until it's the next one's turn; recorded ones at once, as far as they go."""
    per_s = None if story.documents is None else PER_S
    await traffic.send(takewhile(lambda _: not turn.is_set(), known), per_s)
    await turn.wait()


async def _watch(worker: DemoWorker) -> None:
    """Ask the worker now and then, and say which alarms go on; raises where it has ended."""
    alarms = Alarms()
    while True:
        board = await worker.board()
        for line in [] if board is None else alarms.new(board):
            console.print(Text(line))
        await asyncio.sleep(2)


async def _run(story: Story, *, once: bool, by_hand: bool) -> int:
    """Run until done, SIGINT or SIGTERM; return the exit code."""
    loop = asyncio.get_running_loop()
    turns = Turns(sys.stdin.fileno() if by_hand else None)
    work = loop.create_task(tell_once(story) if once else tell_live(story, turns))
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(ending, _end_once, work)
    try:
        result = await work
    except asyncio.CancelledError:
        console.print("stopped; nothing is left running")
        return 1 if once else 0
    return 0 if result else 1


def _end_once(work: asyncio.Task[bool | None]) -> None:
    """End the demo; a second signal changes nothing: what was started is being ended."""
    if not work.cancelling():
        work.cancel()


@click.command()
@click.option("--once", is_flag=True, help="Go through the fall unattended; exit 0 only if it was seen.")
@click.option("--by-hand", is_flag=True, help="Versions change when Enter is pressed, not by the clock.")
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="Labelled corpora with recorded decisions."
)
def main(once: bool, by_hand: bool, data: Path | None) -> None:  # noqa: FBT001  # flags of the command line
    """See recall being estimated live, and a worse detector version being caught."""
    if once and by_hand:
        raise click.UsageError("--once asks nobody: without --by-hand")
    configure_logs(level="warning")
    try:
        story = generated_story() if data is None else recorded_story(data)
        sys.exit(asyncio.run(_run(story, once=once, by_hand=by_hand)))
    except RecallwatchError as error:
        click.echo(f"demo: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main(prog_name="deploy/demo")
