"""deploy/metrics.md says what /metrics has, and the generator notices when it doesn't."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dashboards.__main__ import ARTEFACTS, main
from dashboards.artefact import Artefact, differences, write
from dashboards.metric_reference import render
from dashboards.settings import FILE
from monitor.metrics import METRICS, Metric

DEPLOY = Path(__file__).parents[2] / "deploy"


def run(command: str, folder: Path) -> Result:
    """Run one command of the generator on a folder."""
    return CliRunner().invoke(main, [command, "--folder", str(folder)])


def rows(text: str) -> Sequence[list[str]]:
    """Return the cells of the table's rows, its two head lines left out."""
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def test_generated_files_in_the_tree_are_in_step() -> None:
    """Whoever changes a metric writes the reference anew: `python -m dashboards build`."""
    assert list(differences(ARTEFACTS, DEPLOY)) == []


def test_every_metric_has_a_row_with_all_that_is_known_of_it() -> None:
    """Names, kinds, units, labels and meanings come out as they stand in the product, in its order."""
    expected = [[f"`{m.name}`", m.kind, m.unit, ", ".join(f"`{label}`" for label in m.labels), m.help] for m in METRICS]
    assert expected == rows(render())


def test_a_bar_or_a_new_line_in_a_meaning_stays_in_its_cell() -> None:
    """Markdown would end the cell, or the table."""
    text = render([Metric("recallwatch_a_ratio", "gauge", "Either | or,\nin two lines.", (), "ratio")])
    assert text.endswith(r"| `recallwatch_a_ratio` | gauge | ratio |  | Either \| or, in two lines. |" + "\n")


def test_check_passes_on_what_build_wrote(tmp_path: Path) -> None:
    """Build and check agree."""
    assert run("build", tmp_path).exit_code == 0
    assert run("check", tmp_path).exit_code == 0


def test_numbers_of_ones_own_are_built_with(tmp_path: Path) -> None:
    """An operator keeps a file of numbers beside, and changes none in the package."""
    numbers = tmp_path / "oncall.toml"
    held = FILE.read_text(encoding="utf-8")
    numbers.write_text(held.replace('job = "recallwatch"', 'job = "pii/recall"'), encoding="utf-8")
    result = CliRunner().invoke(main, ["build", "--folder", str(tmp_path), "--oncall", str(numbers)])
    assert result.exit_code == 0
    assert 'up{job="pii/recall"}' in (tmp_path / "prometheus/alerts.yaml").read_text(encoding="utf-8")


def test_number_that_can_not_be_used_is_a_usage_error(tmp_path: Path) -> None:
    """Exit code 2, as for every config; nothing is written."""
    numbers = tmp_path / "oncall.toml"
    numbers.write_text(FILE.read_text(encoding="utf-8").replace("below = 0.6", "below = true"), encoding="utf-8")
    result = CliRunner().invoke(main, ["build", "--folder", str(tmp_path), "--oncall", str(numbers)])
    assert (result.exit_code, "alerts.RecallwatchKappaLow.below" in result.output) == (2, True)
    assert list(tmp_path.iterdir()) == [numbers]


def test_second_build_writes_nothing(tmp_path: Path) -> None:
    """A file in step keeps its time, so that nothing that depends on it is made again."""
    run("build", tmp_path)
    assert run("build", tmp_path).output == ""


def test_check_fails_where_a_file_is_missing(tmp_path: Path) -> None:
    """A file that nobody wrote is a difference, and the message says what to do."""
    result = run("check", tmp_path)
    assert result.exit_code == 1
    assert "metrics.md: not there" in result.output
    assert "python -m dashboards build" in result.output


@pytest.mark.parametrize(
    ("old", "new"),
    [("gauge", "counter"), ("\n", "\r\n"), ("| name |", "| Name |")],
    ids=["another kind", "other line ends", "another head"],
)
def test_check_fails_on_any_difference(tmp_path: Path, old: str, new: str) -> None:
    """One changed character is enough."""
    run("build", tmp_path)
    path = tmp_path / "metrics.md"
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))
    assert run("check", tmp_path).exit_code == 1


def test_difference_names_the_line(tmp_path: Path) -> None:
    """The reader sees which line fell out of step, and nothing else."""
    page = Artefact("page.md", lambda: "one\ntwo\n")
    write([page], tmp_path)
    (tmp_path / "page.md").write_text("one\n2\n", encoding="utf-8")
    changed = [line for line in differences([page], tmp_path) if not line.startswith(("---", "+++", "@@"))]
    assert changed == ["-2", "+two"]


def test_missing_final_line_end_is_a_difference(tmp_path: Path) -> None:
    """Equal lines aren't equal files."""
    page = Artefact("page.md", lambda: "one\n")
    (tmp_path / "page.md").write_text("one", encoding="utf-8")
    assert list(differences([page], tmp_path)) != []


def test_artefact_in_a_folder_of_its_own_is_written(tmp_path: Path) -> None:
    """What is generated may stand in sub-folders that aren't there yet."""
    written = write([Artefact("rules/recall.yaml", lambda: "groups: []\n")], tmp_path)
    assert written == [tmp_path / "rules" / "recall.yaml"]
    assert written[0].read_text(encoding="utf-8") == "groups: []\n"


def test_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    """Outside a checkout, nothing is written anywhere."""
    assert run("build", tmp_path / "nowhere").exit_code == 2
