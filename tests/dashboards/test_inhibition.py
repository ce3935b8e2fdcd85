"""What silences what, by a real Alertmanager with the config of the tree."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from promtool import ALERTS, ROOT

CONFIG = ROOT / "deploy/alertmanager/alertmanager.yaml"
PERSON = {"entity": "PERSON", "language": "es", "detector": "presidio", "version": "2"}
IBAN = PERSON | {"entity": "IBAN"}
WITHIN_S = 30.0


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[str]:
    """Run an Alertmanager on a free port, alone and on loopback; give its address."""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if program is None or shutil.which("amtool") is None:
        pytest.skip("no Alertmanager on PATH (Debian, Ubuntu: apt-get install prometheus-alertmanager)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    files = [f"--config.file={CONFIG}", f"--storage.path={tmp_path}"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [program, *files, f"--web.listen-address={address}", "--cluster.listen-address="], stderr=log
        )
        try:
            yield f"http://{address}"
        finally:
            process.terminate()
            process.wait(WITHIN_S)


def amtool(url: str, *arguments: str) -> str:
    """Return what amtool says, asking again until the Alertmanager answers."""
    begun = monotonic()
    while True:
        command = ["amtool", f"--alertmanager.url={url}", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode == 0 or monotonic() - begun > WITHIN_S:
            assert result.returncode == 0, result.stderr
            return result.stdout


def send(url: str, name: str, job: str = "recallwatch", **labels: str) -> None:
    """Say that an alert fires, as Prometheus would."""
    fires = {**ALERTS[name].fixed_labels(), "alertname": name, "job": job, **labels}
    amtool(url, "alert", "add", *(f"{label}={value}" for label, value in fires.items()))


def told(url: str) -> list[str]:
    """Return the alerts that somebody is told of, by name and entity."""
    listed = json.loads(amtool(url, "alert", "query", "--active", "--output=json"))
    return sorted(f"{alert['labels']['alertname']} {alert['labels']['entity']}" for alert in listed)


def test_dead_monitor_silences_all_that_it_would_say(manager: str) -> None:
    """One page; neither what a worker lacks nor what the board last said is of use now."""
    for name in ALERTS:
        send(manager, name)
    assert told(manager) == ["RecallwatchMonitorDown any"]


def test_dead_monitor_silences_no_other_one(manager: str) -> None:
    """Two installations stand beside each other."""
    send(manager, "RecallwatchMonitorDown")
    send(manager, "RecallwatchRecallFell", job="recallwatch-staging", **PERSON)
    assert told(manager) == ["RecallwatchMonitorDown any", "RecallwatchRecallFell PERSON"]


def test_missing_board_silences_what_was_read_off_it_and_nothing_else(manager: str) -> None:
    """Lag comes from the workers, and they're there."""
    for name in ("RecallwatchBoardMissing", "RecallwatchConsumerLag", "RecallwatchDriftDetected"):
        send(manager, name)
    send(manager, "RecallwatchBelowTarget", **PERSON)
    assert told(manager) == ["RecallwatchBoardMissing any", "RecallwatchConsumerLag any"]


def test_page_silences_tickets_on_the_same_cell_alone(manager: str) -> None:
    """The other entity's ticket goes out."""
    send(manager, "RecallwatchRecallFell", **PERSON)
    send(manager, "RecallwatchBelowTarget", **PERSON)
    send(manager, "RecallwatchBelowTarget", **IBAN)
    assert told(manager) == ["RecallwatchBelowTarget IBAN", "RecallwatchRecallFell PERSON"]


def test_ticket_silences_no_page(manager: str) -> None:
    """Idle annotators are no reason to sleep through a fall."""
    for name in ("RecallwatchAnnotatorsIdle", "RecallwatchNoDecisions", "RecallwatchWorkerDown"):
        send(manager, name)
    send(manager, "RecallwatchRecallFell", **PERSON)
    assert "RecallwatchRecallFell PERSON" in told(manager)
