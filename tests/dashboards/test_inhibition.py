"""What silences what, by a real Alertmanager with the config of the tree."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from promtool import ALERTS, ROOT

CONFIG = ROOT / "deploy/alertmanager/alertmanager.yaml"
PERSON = {"entity": "PERSON", "language": "es", "detector": "presidio", "version": "2"}
IBAN = PERSON | {"entity": "IBAN"}
FELL = "RecallwatchRecallFell"
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
    return sorted(f"{labels['alertname']} {labels['entity']}" for labels in active(url))


def active(url: str) -> list[dict[str, str]]:
    """Return the labels of the alerts that nothing silences."""
    listed = json.loads(amtool(url, "alert", "query", "--active", "--output=json"))
    return [alert["labels"] for alert in listed]


def cells(url: str) -> list[str]:
    """Return where recall fell and somebody is told so: entity, language and version."""
    fell = (labels for labels in active(url) if labels["alertname"] == FELL)
    return sorted(f"{labels['entity']} {labels['language']} {labels['version']}" for labels in fell)


def messages(url: str, receiver: str) -> list[list[str]]:
    """Return what a receiver gets at once: each message's cells, entity and language."""
    query = urlencode({"receiver": receiver, "active": "true", "inhibited": "false", "silenced": "false"})
    with urlopen(f"{url}/api/v2/alerts/groups?{query}", timeout=WITHIN_S) as answer:  # noqa: S310  # loopback
        groups = json.load(answer)
    labels = [[alert["labels"] for alert in group["alerts"]] for group in groups]
    return sorted(sorted(f"{one['entity']} {one['language']}" for one in group) for group in labels)


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


def test_page_on_all_languages_silences_those_on_single_ones(manager: str) -> None:
    """A bad version fell in four languages: on call gets one page, of one alert."""
    for language in ("any", "es", "en", "nl"):
        send(manager, FELL, **PERSON | {"language": language})
    assert cells(manager) == ["PERSON any 2"]
    assert messages(manager, "pager") == [["PERSON any"]]


def test_language_that_alone_got_worse_pages(manager: str) -> None:
    """All languages together are well, so no alarm of theirs is on."""
    send(manager, FELL, **PERSON)
    assert cells(manager) == ["PERSON es 2"]


def test_page_on_all_languages_silences_no_other_entity_version_detector_or_installation(manager: str) -> None:
    """Equal must be all that isn't the language."""
    send(manager, FELL, **PERSON | {"language": "any"})
    others: list[dict[str, str]] = [{"entity": "IBAN"}, {"version": "1"}, {"detector": "crf", "version": "3"}]
    for other in others:
        send(manager, FELL, **PERSON | other)
    send(manager, FELL, "recallwatch-staging", **PERSON)
    assert cells(manager) == ["IBAN es 2", "PERSON any 2", "PERSON es 1", "PERSON es 2", "PERSON es 3"]


def test_page_on_a_single_language_silences_none(manager: str) -> None:
    """Spanish fell first, all together later, Dutch not at all: what is wider is told."""
    send(manager, FELL, **PERSON)
    send(manager, "RecallwatchBelowTarget", **PERSON | {"language": "any"})
    assert told(manager) == ["RecallwatchBelowTarget PERSON", "RecallwatchRecallFell PERSON"]


def test_silenced_page_still_silences_the_tickets_on_its_cell(manager: str) -> None:
    """Whoever was woken for all languages needs no ticket for Spanish."""
    for language in ("any", "es"):
        send(manager, FELL, **PERSON | {"language": language})
    send(manager, "RecallwatchBelowTarget", **PERSON)
    assert told(manager) == ["RecallwatchRecallFell PERSON"]


def test_bad_version_is_one_message_whatever_it_lost(manager: str) -> None:
    """Two entities and a language of a third come as one; another version's is another message."""
    for cell in (PERSON | {"language": "any"}, IBAN | {"language": "any"}, PERSON, IBAN | {"entity": "URL"}):
        send(manager, FELL, **cell)
    send(manager, FELL, **IBAN | {"version": "1"})
    assert messages(manager, "pager") == [["IBAN any", "PERSON any", "URL es"], ["IBAN es"]]
