"""A real Prometheus with the product's rules, a real Alertmanager with its routes, and a webhook's receiver.

All of it on loopback and on free ports, in a folder of the test. Nothing here waits for a length of time: it asks until
something is so, and fails with what it saw when the time is over.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic, sleep, time
from typing import Literal

import msgspec
from brokers import free_port

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "dashboards/demo.toml"
READY_S = 30.0
WITHIN_S, STEP_S = 10.0, 0.2
RECEIVERS = {"pager": "page", "tickets": "ticket", "notices": "notice"}
"""Receivers of the product's routes, and the severity that each is of."""
Status = Literal["firing", "resolved"]
Condition = Callable[[], bool]


def missing() -> str | None:
    """Return what isn't there and how to get it; None where nothing is missing."""
    if shutil.which("prometheus") is None:
        return "no Prometheus on PATH (Debian, Ubuntu: apt-get install prometheus)"
    if _alertmanager() is None:
        return "no Alertmanager on PATH (Debian, Ubuntu: apt-get install prometheus-alertmanager)"
    return None


def _alertmanager() -> str | None:
    return shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")


class Told(msgspec.Struct, frozen=True, rename="camel"):
    """One alert of a notification, as Alertmanager sends it."""

    status: Status
    labels: dict[str, str]
    annotations: dict[str, str]
    starts_at: datetime
    ends_at: datetime


class Notification(msgspec.Struct, frozen=True):
    """What a receiver was sent at once."""

    receiver: str
    status: Status
    alerts: list[Told]


class Value(msgspec.Struct, frozen=True):
    """One sample of an answer: when, and its value as text."""

    metric: dict[str, str]
    value: tuple[float, str]


class _Data(msgspec.Struct, frozen=True):
    result: list[Value]


class _Answer(msgspec.Struct, frozen=True):
    data: _Data


_ANSWER = msgspec.json.Decoder(_Answer)
_NOTIFICATION = msgspec.json.Decoder(Notification)


@dataclass
class Watch:
    """What Prometheus sees, and what somebody was told of it."""

    url: str
    """Prometheus's."""
    notifications: list[Notification] = field(default_factory=list)
    """In the order of their coming."""

    def ask(self, expr: str) -> list[Value]:
        """Return what an expression gives now."""
        query = urllib.parse.urlencode({"query": expr, "time": f"{time():.3f}"})
        with _opened(f"{self.url}/api/v1/query?{query}") as answer:
            return _ANSWER.decode(answer.read()).data.result

    def number(self, expr: str) -> float | None:
        """Return the one value that an expression gives, None where it gives none."""
        found = self.ask(expr)
        assert len(found) <= 1, found
        return float(found[0].value[1]) if found else None

    def alerts(self, state: Literal["firing", "pending"], window: str = "1h") -> dict[str, int]:
        """Return the alerts that were in a state some time in a window, by name and severity, and in how many cells."""
        seen = f'count by (alertname, severity) (count_over_time(ALERTS{{alertstate="{state}"}}[{window}]))'
        return {f"{v.metric['alertname']} {v.metric['severity']}": int(v.value[1]) for v in self.ask(seen)}

    def told(self, receiver: str, status: Status = "firing") -> list[Told]:
        """Return the alerts that a receiver was told of in a state, each as it was told last."""
        newest = {
            tuple(sorted(alert.labels.items())): alert
            for notification in list(self.notifications)
            if notification.receiver == receiver
            for alert in notification.alerts
        }
        return [alert for alert in newest.values() if alert.status == status]

    def names(self, receiver: str) -> set[str]:
        """Return the names of all alerts that a receiver was ever told of."""
        return {a.labels["alertname"] for n in list(self.notifications) if n.receiver == receiver for a in n.alerts}

    def until(self, condition: Condition, within_s: float, what: str) -> None:
        """Ask until it's so; fail with what was seen when the time is over."""
        end = monotonic() + within_s
        while not condition():
            assert monotonic() < end, f"not within {within_s:.0f} s: {what}; {self.state()}"
            sleep(STEP_S)

    def state(self) -> str:
        """Return what fires, what waits, and who was told, for whoever reads that a test failed."""
        told = {receiver: sorted(self.names(receiver)) for receiver in RECEIVERS}
        return f"firing {self.alerts('firing')}, pending {self.alerts('pending')}, told {told}"


@contextmanager
def watching(
    folder: Path, targets: Sequence[str], over: Sequence[Path] = (DEMO,), scrape: str = "1s"
) -> Iterator[Watch]:
    """Run Prometheus and Alertmanager while the block runs, with the rules and routes that `dashboards build` writes.

    Parameters: `targets`, workers, `host:port`; `over`, numbers that differ from the package's; `scrape`, how far
    scrapes and evaluations are apart.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        watch = Watch("")
        receiver = stack.enter_context(_receiver(watch.notifications))
        routes = folder / "receiver.toml"
        routes.write_text("".join(f'[routes.{severity}]\nurl = "{receiver}"\n' for severity in RECEIVERS.values()))
        _build(folder, [*over, routes])
        manager = stack.enter_context(_running_alertmanager(folder))
        watch.url = stack.enter_context(_running_prometheus(folder, targets, manager, scrape))
        yield watch


def _build(folder: Path, over: Sequence[Path]) -> None:
    options = [part for path in over for part in ("--over", str(path))]
    command = [sys.executable, "-P", "-m", "dashboards", "build", "--folder", str(folder), *options]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@contextmanager
def _receiver(notifications: list[Notification]) -> Iterator[str]:
    """Listen for notifications and keep them; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library's name
            body = self.rfile.read(int(self.headers["Content-Length"]))
            notifications.append(_NOTIFICATION.decode(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            """Say nothing: what came is kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def _running_alertmanager(folder: Path) -> Iterator[str]:
    address = f"127.0.0.1:{free_port()}"
    files = [
        f"--config.file={folder / 'alertmanager/alertmanager.yaml'}",
        f"--storage.path={folder / 'alertmanager-data'}",
    ]
    listens = [f"--web.listen-address={address}", "--cluster.listen-address="]
    with _running([_alertmanager() or "", *files, *listens], folder / "alertmanager.log", f"http://{address}"):
        yield address


@contextmanager
def _running_prometheus(folder: Path, targets: Sequence[str], manager: str, scrape: str) -> Iterator[str]:
    config = {
        "global": {"scrape_interval": scrape, "scrape_timeout": scrape, "evaluation_interval": scrape},
        "rule_files": [str(folder / "prometheus/recording.yaml"), str(folder / "prometheus/alerts.yaml")],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [manager]}]}]},
        "scrape_configs": [{"job_name": "recallwatch", "static_configs": [{"targets": list(targets)}]}],
    }
    path = folder / "prometheus.yaml"
    path.write_text(json.dumps(config, indent=1))  # JSON is YAML
    with running_prometheus(folder, path, folder / "prometheus-data") as url:
        yield url


@contextmanager
def running_prometheus(folder: Path, config: Path, data: Path) -> Iterator[str]:
    """Run Prometheus over a folder of data while the block runs, however old they are; give its address."""
    address = f"127.0.0.1:{free_port()}"
    files = [f"--config.file={config}", f"--storage.tsdb.path={data}", "--storage.tsdb.retention.time=100y"]
    command = ["prometheus", *files, f"--web.listen-address={address}"]
    with _running(command, folder / "prometheus.log", f"http://{address}"):
        yield f"http://{address}"


@contextmanager
def _running(command: Sequence[str], log: Path, url: str) -> Iterator[None]:
    """Run a program of Prometheus while the block runs, and wait until it's ready."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        end = monotonic() + READY_S
        while not _is_ready(url):
            assert process.poll() is None, log.read_text()[-2000:]
            assert monotonic() < end, f"not ready within {READY_S:.0f} s: {log.read_text()[-2000:]}"
            sleep(STEP_S)
        yield
    finally:
        process.terminate()
        try:
            process.wait(READY_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_ready(url: str) -> bool:
    try:
        with _opened(f"{url}/-/ready"):
            return True
    except OSError:  # an HTTP error is one too
        return False


def _opened(url: str) -> AbstractContextManager[HTTPResponse]:
    found: HTTPResponse = urllib.request.urlopen(url, timeout=WITHIN_S)  # noqa: S310  # our own, on loopback
    return found
