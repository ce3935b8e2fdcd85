"""`python -m dashboards build` writes the generated files of `deploy/`; `check` exits 1 where one is out of step."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from dashboards import metric_reference
from dashboards.alertmanager import alertmanager
from dashboards.artefact import Artefact, differences, write
from dashboards.prometheus_rules import alerting_rules, recording_rules
from dashboards.runbook import runbook
from dashboards.settings import FILE, Settings, read_settings
from monitor.errors import ConfigError


def artefacts(settings: Settings) -> tuple[Artefact, ...]:
    """Return all that is generated, with the numbers of on-call as `settings` has them."""
    return (
        Artefact("metrics.md", metric_reference.render),
        Artefact("prometheus/recording.yaml", partial(recording_rules, settings)),
        Artefact("prometheus/alerts.yaml", partial(alerting_rules, settings)),
        Artefact("alertmanager/alertmanager.yaml", partial(alertmanager, settings)),
        Artefact("runbook.md", partial(runbook, settings)),
    )


ARTEFACTS = artefacts(read_settings())
"""All that stands in the tree."""

_folder = click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("deploy"),
    show_default=True,
    help="Where the generated files stand.",
)
_numbers = click.option(
    "--oncall",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=FILE,
    help="Numbers of the rules, alerts and routes; by default those of the package.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Generate what follows from the metrics: their reference, rules, alerts and their routes, the runbook."""


@main.command()
@_folder
@_numbers
def build(folder: Path, oncall: Path) -> None:
    """Write the generated files."""
    for path in write(_artefacts(oncall), folder):
        click.echo(f"written: {path}")


@main.command()
@_folder
@_numbers
def check(folder: Path, oncall: Path) -> None:
    """Exit 1 where a generated file differs from what would be written."""
    lines = list(differences(_artefacts(oncall), folder))
    for line in lines:
        click.echo(line)
    if lines:
        raise click.ClickException("out of step; write them anew: python -m dashboards build")


def _artefacts(oncall: Path) -> tuple[Artefact, ...]:
    try:
        found = artefacts(read_settings(oncall))
        for artefact in found:
            artefact.render()  # all or nothing: a number that is missing shows when the alert that reads it is written
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    return found


if __name__ == "__main__":
    main(prog_name="python -m dashboards")
