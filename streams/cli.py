"""The command line: `recallwatch`, one command a job.

Exit codes: 0 done, bad records and all; 1 the answer is no, or input or broker can't be read; 2 usage or config.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from monitor import records
from monitor.config import DEFAULT_KEY, config_id, public_document
from monitor.errors import ConfigError, RecallwatchError
from monitor.plan import Plan
from monitor.tally import ANY_ENTITY
from streams.cli_options import config_options, read_settings
from streams.settings import overrides_name

_LIVE = "streams.live_commands"
_ELSEWHERE = {
    "history": (_LIVE, "Show every change of config."),
    "leaks": ("streams.leaks_command", "Find personal data that a redacted output still shows."),
    "misses": ("streams.misses_command", "List what the detector missed."),
    "plan": ("streams.plan_command", "Say how much to label, and where."),
    "replay": ("streams.replay_command", "Estimate recall from files, without a broker."),
    "report": ("streams.report_command", "Write the sign-off of today's numbers."),
    "status": ("streams.status_command", "Show how things stand."),
    "topics": (_LIVE, "Create the topics that are missing."),
    "up": (_LIVE, "Run an embedded broker, a worker and the page."),
    "worker": (_LIVE, "Run a worker against any Kafka."),
}
"""Commands by the module that has them, with the first line of their help: to list them must not cost seconds."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of a place that takes no more output."""


class _Commands(click.Group):
    """Turns our own errors into one line and an exit code; loads what needs Kafka only where it's asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's
        own = {name: command.get_short_help_str(60) for name, command in self.commands.items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted((own | {name: text for name, (_, text) in _ELSEWHERE.items()}).items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _ELSEWHERE:
            found: click.Command = getattr(importlib.import_module(_ELSEWHERE[cmd_name][0]), cmd_name)
            return found
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> object:
        try:
            done = super().invoke(ctx)
            sys.stdout.flush()
        except RecallwatchError as error:
            click.echo(" ".join(f"recallwatch: {error}".splitlines()), err=True)
            ctx.exit(2 if isinstance(error, ConfigError) else 1)
        except OSError as error:
            if error.errno not in _FULL:  # click ends quietly where nobody reads on
                raise
            click.echo(f"recallwatch: the output can't be written: {error.strerror}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else what's left would raise at the end
            ctx.exit(1)
        return done


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="recallwatch")
def main() -> None:
    """Measure recall in production: of the personal data that was there, what share did the detector find.

    recallwatch reads detector decisions from Kafka, has people read a small sample, and keeps recall and prevalence,
    with bounds, on /metrics and a page. Start with `recallwatch up`, or with `recallwatch replay` on files.

    Shell completion: eval "$(_RECALLWATCH_COMPLETE=bash_source recallwatch)" (or zsh_source, fish_source).
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of entities are in any alphabet, a terminal perhaps in one
        sys.stdout.reconfigure(errors="backslashreplace")


@main.command(name="check-config")
@click.argument("path", type=click.Path(path_type=Path), required=False)
@config_options
def check_config(path: Path | None, config_path: Path | None, overrides: Sequence[str]) -> None:
    """Check a settings file, and show what it comes to.

    The file is PATH or --config's; the environment and --set count as for a worker.
    """
    if path and config_path:
        raise click.UsageError("give one file: PATH or --config")
    settings = read_settings(path or config_path, overrides)
    try:
        plan = Plan(settings.config)
    except ConfigError as error:
        source = "--set" if overrides_name(overrides, error.key) else str(settings.path or error.source)
        raise ConfigError(error.key, error.problem, source=source) from None
    click.echo(f"{settings.path or 'defaults'}: good. config {config_id(settings.config)}, net {plan.net.version}")
    if settings.config.sampling.key == DEFAULT_KEY:
        click.echo("warning: sampling.key is the published default: anybody can tell which documents will be read")
    targets = {f"targets.{name}": name.partition(".")[0] for name in settings.config.targets}
    policies = {f"redaction.entities.{name}": name for name in settings.config.redaction.entities}
    for key, entity in (targets | policies).items():
        if not plan.aliases.known(entity) and (entity.lower() != ANY_ENTITY or key in policies):
            near = plan.aliases.nearest(entity)
            hint = f"; did you mean {near}?" if near else ""
            click.echo(f"warning: {key}: no entity that is known is called so{hint}")
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
