"""Real brokers for tests: Apache Kafka from Maven Central, on loopback, and how to talk to one."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

VERSION = "4.1.1"
CACHE = Path(__file__).parents[1] / ".cache" / "kafka"
READY_S = 60.0

_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>local</groupId><artifactId>kafka</artifactId>
<version>1</version><dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
"""

_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
"""


def missing_for_kafka() -> str | None:
    """Return what a Kafka lacks to be started here and how to get it; None where nothing is missing."""
    java = shutil.which("java")
    if java is None or _java_version(java) < 17:
        return "Apache Kafka needs Java 17 or later (apt-get install openjdk-17-jre-headless)"
    if not _libs().is_dir() and shutil.which("mvn") is None:
        return "Apache Kafka's jars are fetched with Maven (apt-get install maven)"
    return None


def _java_version(java: str) -> int:
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', said)
    return int(found.group(1)) if found else 0


def free_port() -> int:
    """Return a port on loopback that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Kafka:
    """One Kafka node in KRaft mode; it can be killed and started again with what it had stored."""

    folder: Path
    port: int = field(default_factory=free_port)
    controller: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    properties: str = ""
    """More settings, which overrule the usual ones; `{port}` and `{controller}` are put in."""
    format_options: Sequence[str] = ()

    @property
    def server(self) -> str:
        """Its address."""
        return f"127.0.0.1:{self.port}"

    def format(self) -> None:
        """Write its settings and make its storage ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        data = self.folder / "data"
        text = _PROPERTIES + self.properties  # of a name that stands there twice, the last counts
        self._properties.write_text(text.format(port=self.port, controller=self.controller, data=data))
        # an id that begins with a dash is taken for an option
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
        options = ["-t", cluster, "-c", str(self._properties), *self.format_options]
        _java("kafka.tools.StorageTool", "format", *options)

    @property
    def _properties(self) -> Path:
        return self.folder / "server.properties"

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self.folder / "kafka.log").open("ab") as out:
            self.process = subprocess.Popen(
                [*_command("-Xmx512m"), "kafka.Kafka", str(self._properties)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        _wait_for_port(self.port, self.process, self.folder / "kafka.log")

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> None:
        """Stop it and wait for its end."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(sig)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def running_kafka(folder: Path, properties: str = "", format_options: Sequence[str] = ()) -> Iterator[Kafka]:
    """Run a Kafka in `folder` while the block runs."""
    _fetch()
    kafka = Kafka(folder, properties=properties, format_options=format_options)
    kafka.format()
    try:
        kafka.start()
        yield kafka
    finally:
        kafka.stop(signal.SIGKILL)  # nothing of it is kept, and an orderly end takes seconds


def _libs() -> Path:
    return CACHE / VERSION / "libs"


def _fetch() -> None:
    """Fetch the jars once; into a folder of its own first, so that a run that is cut short leaves none half full."""
    if _libs().is_dir():
        return
    work = CACHE / f"{VERSION}.{os.getpid()}"
    work.mkdir(parents=True)
    (work / "pom.xml").write_text(_POM.format(version=VERSION))
    subprocess.run(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=libs"], cwd=work, check=True)
    try:
        work.rename(CACHE / VERSION)
    except OSError:  # another run was faster
        shutil.rmtree(work)


def _command(*options: str) -> list[str]:
    return ["java", *options, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{_libs()}/*"]


def _java(*arguments: str) -> str:
    return subprocess.run([*_command(), *arguments], capture_output=True, text=True, check=True).stdout


def _wait_for_port(port: int, process: subprocess.Popen[bytes], logged: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            probe.settimeout(1.0)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the broker didn't come up: {logged.read_text()[-2000:]}")
