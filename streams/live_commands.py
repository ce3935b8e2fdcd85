"""The commands that talk to a broker: worker, up, topics, history."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
import structlog
from rich.table import Table

from monitor.config import DEFAULT_KEY
from monitor.errors import ConfigError, SourceError
from streams.board_reader import read_history
from streams.cli_options import config_options, read_settings
from streams.console import table_console
from streams.declare import ensure
from streams.embedded import USUAL_PORT, EmbeddedBroker
from streams.live import LiveApp, connection, declared_topics
from streams.logs import configure_logs
from streams.lookup import find_broker
from streams.settings import Settings, overrides_name
from streams.worker import run_worker

log = structlog.get_logger(__name__)


@click.command()
@config_options
@click.option("-v", "--verbose", is_flag=True, help="Debug lines too.")
def worker(config_path: Path | None, overrides: Sequence[str], verbose: bool) -> None:  # noqa: FBT001  # a flag
    """Run a worker against any Kafka.

    It runs all stages and serves /metrics and the page. Start as many as there are partitions at most. SIGTERM ends it
    after a last checkpoint, with 0.
    """
    configure_logs(level="debug" if verbose else "info")
    sys.exit(_run(read_settings(config_path, overrides), embedded=False))


@click.command()
@config_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=USUAL_PORT,
    show_default=True,
    help="The broker's; another one where it is taken.",
)
@click.option("-v", "--verbose", is_flag=True, help="Debug lines too.")
def up(
    config_path: Path | None,
    overrides: Sequence[str],
    port: int,
    verbose: bool,  # noqa: FBT001  # a flag of the command line
) -> None:
    """Run an embedded broker, a worker and the page.

    Nothing is kept when it ends. The broker is its own: kafka.brokers and kafka.security of a file or the environment
    don't count here.
    """
    _refuse_other_broker(overrides)
    configure_logs(level="debug" if verbose else "info")
    with EmbeddedBroker(port) as broker:
        ours = (f"kafka.brokers={broker.server}", "kafka.security=plaintext")
        settings = read_settings(config_path, [*overrides, *ours], broker=False)
        click.echo(f"broker {broker.server}: send decisions to topic {settings.config.topics.decisions!r}", err=True)
        code = _run(settings, embedded=True)
    sys.exit(code)


def _refuse_other_broker(overrides: Sequence[str]) -> None:
    """Refuse settings that were asked for here and now, and would do nothing."""
    for key in ("kafka.brokers", "kafka.security"):
        if overrides_name(overrides, key):
            problem = "`up` brings its own broker; `recallwatch worker` reads from yours (--port sets this one's port)"
            raise ConfigError(key, problem, source="--set")


def _run(settings: Settings, *, embedded: bool) -> int:
    if settings.config.sampling.key == DEFAULT_KEY:
        log.warning("sampling_key_is_default", reason="anybody can tell which documents will be read: set sampling.key")
    return run_worker(LiveApp(settings, os.environ, embedded=embedded))


@click.command()
@config_options
@click.option("--check", is_flag=True, help="Create nothing; exit 1 where a topic is missing or otherwise.")
def topics(config_path: Path | None, overrides: Sequence[str], check: bool) -> None:  # noqa: FBT001  # a flag
    """Create the topics that are missing.

    Those that exist with other settings are refused.
    """
    configure_logs(level="warning")
    settings = read_settings(config_path, overrides)
    specs = declared_topics(settings.config)
    try:
        asyncio.run(_ensure(settings, create=not check))
    except ConfigError as error:
        if not check:
            raise
        raise SourceError(str(error)) from None  # the answer is no, and that is no mistake of whoever asked
    table = Table(box=None)
    for name in ("topic", "partitions", "settings"):
        table.add_column(name, no_wrap=name != "settings")
    for spec in specs:
        table.add_row(spec.name, str(spec.partitions), ", ".join(f"{k}={v}" for k, v in spec.settings.items()))
    table_console().print(table)


async def _ensure(settings: Settings, *, create: bool) -> None:
    await find_broker(settings)
    await ensure(connection(settings), declared_topics(settings.config), create=create)


@click.command()
@config_options
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def history(config_path: Path | None, overrides: Sequence[str], as_json: bool) -> None:  # noqa: FBT001  # a flag
    """Show every change of config.

    When it was, and from which offset of which partition on records were decided under it.
    """
    configure_logs(level="warning")
    found = asyncio.run(read_history(read_settings(config_path, overrides)))
    changes = sorted((c.at, c.topic, c.partition, c.offset, c.config, c.thinning) for c in found.recorded.values())
    if as_json:
        names = ("at", "topic", "partition", "offset", "config", "thinning")
        document = {"changes": [dict(zip(names, c, strict=True)) for c in changes], "configs": found.configs}
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n")
        return
    table = Table(box=None)
    for name in ("at (UTC)", "partition", "from offset", "config", "thinning"):
        table.add_column(name, no_wrap=True)
    for at, topic, partition, offset, config, thinning in changes:
        moment = datetime.fromtimestamp(at, UTC).isoformat(" ", "seconds")[:19]
        table.add_row(moment, f"{topic}/{partition}", str(offset), config, f"{thinning:g}")
    table_console().print(table)
