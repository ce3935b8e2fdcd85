"""The command line: `recallwatch`, one command a job.

Exit codes: 0 done, bad records and all; 1 the answer is no, or input or broker can't be read; 2 usage or config.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from rich.console import Console

from monitor import records
from monitor.config import DEFAULT_KEY, config_id, public_document
from monitor.errors import ConfigError, RecallwatchError
from monitor.plan import Plan
from monitor.readings_json import snapshot_document
from streams.cli_options import config_options, read_settings
from streams.replay import Replay, read_lines
from streams.terminal import print_snapshot

_LIVE = ("worker", "up", "topics", "history")


class _Commands(click.Group):
    """Turns our own errors into one line and an exit code; loads what needs Kafka only where it's asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_LIVE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _LIVE:
            found: click.Command = getattr(importlib.import_module("streams.live_commands"), cmd_name)
            return found
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except RecallwatchError as error:
            click.echo(f"recallwatch: {error}", err=True)
            ctx.exit(2 if isinstance(error, ConfigError) else 1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="recallwatch")
def main() -> None:
    """Measure recall in production: of the personal data that was there, what share did the detector find.

    recallwatch reads detector decisions from Kafka, has people read a small sample, and keeps recall and prevalence,
    with bounds, on /metrics and a page. Start with `recallwatch up`, or with `recallwatch replay` on files.

    Shell completion: eval "$(_RECALLWATCH_COMPLETE=bash_source recallwatch)" (or zsh_source, fish_source).
    """


@main.command()
@click.option("--decisions", required=True, multiple=True, type=click.Path(path_type=Path), help="JSON lines. Repeats.")
@click.option(
    "--labels", required=True, multiple=True, type=click.Path(path_type=Path), help="Corpus or label records."
)
@click.option("--annotator", "annotators", multiple=True, metavar="NAME", help="Whose labels count. Repeats.")
@config_options
@click.option("--key", metavar="SEED", help="Sampling key of this run.")
@click.option("--json", "as_json", is_flag=True, help="Readings as JSON.")
def replay(
    decisions: Sequence[Path],
    labels: Sequence[Path],
    annotators: Sequence[str],
    config_path: Path | None,
    overrides: Sequence[str],
    key: str | None,
    as_json: bool,  # noqa: FBT001  # a flag of the command line
) -> None:
    """Estimate recall from files: the same core as a worker's, no broker."""
    chosen = [*overrides, *([f"sampling.key={msgspec.json.encode(key).decode()}"] if key is not None else [])]
    run = Replay(read_settings(config_path, chosen).config, annotators)
    console = Console(stderr=True)
    with console.status("reading decisions …") as status:
        counts = [run.decide(read_lines(path)) for path in decisions]
        status.update(f"{sum(counts)} decisions read; reading labels …")
        for path in labels:
            run.label(read_lines(path))
    snapshot = run.snapshot()
    if as_json:
        document = snapshot_document(snapshot) | run.counts()
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n")
    else:
        print_snapshot(Console(), snapshot)


@main.command(name="check-config")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@config_options
def check_config(path: Path | None, config_path: Path | None, overrides: Sequence[str]) -> None:
    """Check a settings file, and show what it comes to."""
    settings = read_settings(path or config_path, overrides)
    plan = Plan(settings.config)
    click.echo(f"{settings.path or 'defaults'}: good. config {config_id(settings.config)}, net {plan.net.version}")
    if settings.config.sampling.key == DEFAULT_KEY:
        click.echo("warning: sampling.key is the published default: anybody can tell which documents will be read")
    click.echo(msgspec.json.format(msgspec.json.encode(public_document(settings.config)), indent=2).decode())


@main.command()
@click.argument("record", type=click.Choice(["decision", "label", "task", "sampled"]))
def schema(record: str) -> None:
    """Print the JSON Schema of a record on the wire."""
    kinds: dict[str, type[msgspec.Struct]] = {
        "decision": records.Decision,
        "label": records.Label,
        "task": records.Task,
        "sampled": records.Sampled,
    }
    document = msgspec.json.schema(kinds[record])
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


if __name__ == "__main__":
    main(prog_name="recallwatch")
