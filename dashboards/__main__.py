"""`python -m dashboards build` writes the generated files of `deploy/`; `check` exits 1 where one is out of step."""

from __future__ import annotations

from pathlib import Path

import click

from dashboards import metric_reference
from dashboards.alertmanager import alertmanager
from dashboards.artefact import Artefact, differences, write
from dashboards.prometheus_rules import alerting_rules, recording_rules
from dashboards.runbook import runbook

ARTEFACTS = (
    Artefact("metrics.md", metric_reference.render),
    Artefact("prometheus/recording.yaml", recording_rules),
    Artefact("prometheus/alerts.yaml", alerting_rules),
    Artefact("alertmanager/alertmanager.yaml", alertmanager),
    Artefact("runbook.md", runbook),
)
"""All that is generated."""

_folder = click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("deploy"),
    show_default=True,
    help="Where the generated files stand.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Generate what follows from the metrics: their reference, rules, alerts and their routes, the runbook."""


@main.command()
@_folder
def build(folder: Path) -> None:
    """Write the generated files."""
    for path in write(ARTEFACTS, folder):
        click.echo(f"written: {path}")


@main.command()
@_folder
def check(folder: Path) -> None:
    """Exit 1 where a generated file differs from what would be written."""
    lines = list(differences(ARTEFACTS, folder))
    for line in lines:
        click.echo(line)
    if lines:
        raise click.ClickException("out of step; write them anew: python -m dashboards build")


if __name__ == "__main__":
    main(prog_name="python -m dashboards")
