"""`python -m dashboards build` writes the generated files of `deploy/`; `check` exits 1 where one is out of step.

`render` draws the dashboards among them with what a Prometheus answers.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from dashboards import metric_reference
from dashboards.alertmanager import alertmanager
from dashboards.artefact import Artefact, differences, write
from dashboards.grafana.files import NAMES, dashboard
from dashboards.grafana.provisioning import datasources, providers
from dashboards.kubernetes_rule import kubernetes_rule
from dashboards.prometheus_rules import alerting_rules, recording_rules
from dashboards.runbook import runbook
from dashboards.settings import FILE, Settings, read_settings
from monitor.errors import ConfigError, SourceError


def artefacts(settings: Settings) -> tuple[Artefact, ...]:
    """Return all that is generated, with the numbers of on-call as `settings` has them."""
    return (
        Artefact("metrics.md", metric_reference.render),
        Artefact("prometheus/recording.yaml", partial(recording_rules, settings)),
        Artefact("prometheus/alerts.yaml", partial(alerting_rules, settings)),
        Artefact("k8s/monitoring/prometheusrule.yaml", partial(kubernetes_rule, settings)),
        Artefact("alertmanager/alertmanager.yaml", partial(alertmanager, settings)),
        Artefact("runbook.md", partial(runbook, settings)),
        Artefact("grafana/provisioning/datasources/prometheus.yaml", partial(datasources, settings)),
        Artefact("grafana/provisioning/dashboards/recallwatch.yaml", providers),
        *(Artefact(f"grafana/dashboards/{name}.json", partial(dashboard, name, settings)) for name in NAMES),
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
_over = click.option(
    "--over",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Numbers that differ from those, and nothing else, such as dashboards/demo.toml. Repeats.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Generate what follows from the metrics: their reference, rules, alerts and their routes, the runbook."""


@main.command()
@_folder
@_numbers
@_over
def build(folder: Path, oncall: Path, over: tuple[Path, ...]) -> None:
    """Write the generated files."""
    for path in write(_artefacts(oncall, over), folder):
        click.echo(f"written: {path}")


@main.command()
@_folder
@_numbers
@_over
def check(folder: Path, oncall: Path, over: tuple[Path, ...]) -> None:
    """Exit 1 where a generated file differs from what would be written."""
    lines = list(differences(_artefacts(oncall, over), folder))
    for line in lines:
        click.echo(line)
    if lines:
        raise click.ClickException("out of step; write them anew: python -m dashboards build")


@main.command()
@_folder
@_numbers
@_over
@click.option("--prometheus", "url", required=True, help="Address of a Prometheus that has the recording rules loaded.")
@click.option(
    "--out",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    required=True,
    help="Where the pictures go: dashboard-NAME.png.",
)
@click.option("--at", type=float, help="The last moment that is shown, s since the epoch; by default it's now.")
@click.option("--since", type=click.FloatRange(0, min_open=True), help="Seconds before it, in place of each file's.")
@click.option("--step", type=click.FloatRange(0, min_open=True), help="Seconds between samples; by default of 400.")
def render(
    folder: Path,
    oncall: Path,
    over: tuple[Path, ...],
    url: str,
    out: Path,
    at: float | None,
    since: float | None,
    step: float | None,
) -> None:
    """Draw the dashboards of the folder as PNG, with what a Prometheus answers to their queries."""
    from dashboards.pictures.pages import draw_all  # noqa: PLC0415  # needs matplotlib, which is an extra

    try:
        for path in draw_all(folder, _settings(oncall, over).scrape, url, out, (at, since, step)):
            click.echo(f"written: {path}")
    except SourceError as error:
        raise click.ClickException(str(error)) from None
    except FileNotFoundError as error:
        raise click.ClickException(f"{error.filename} isn't there: build the dashboards into --folder first") from None


def _settings(oncall: Path, over: tuple[Path, ...]) -> Settings:
    try:
        return read_settings(oncall, over)
    except ConfigError as error:
        raise _usage(error, over) from None


def _usage(error: ConfigError, over: tuple[Path, ...]) -> click.UsageError:
    """Return the error, and which files besides it may be in: an alert finds its numbers in all of them at once."""
    laid = f" (with {', '.join(path.name for path in over)} laid over it)" if over else ""
    return click.UsageError(f"{error}{laid}")


def _artefacts(oncall: Path, over: tuple[Path, ...]) -> tuple[Artefact, ...]:
    try:
        found = artefacts(_settings(oncall, over))
        for artefact in found:
            artefact.render()  # all or nothing: a number that is missing shows when the alert that reads it is written
    except ConfigError as error:
        raise _usage(error, over) from None
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"{error}: dashboards are built with the dev extra: pip install -e '.[dev]'"
        ) from None
    return found


if __name__ == "__main__":
    main(prog_name="python -m dashboards")
