"""Logins and TLS on a real Apache Kafka: what gets in, what doesn't and why, and that no password is shown.

One broker has a listener for each way in. Its certificates come from an authority of the tests' own, in PEM, which
`openssl` writes and both Kafka and Python read.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from brokers import free_port, missing_for_kafka, running_kafka
from workers import Fleet, until

from monitor.errors import ConfigError
from streams.live import connection
from streams.settings import load_settings

pytestmark = [pytest.mark.broker, pytest.mark.kafka]

USER = "alice"
PASSWORD = "right horse; left battery"  # noqa: S105  # a test's
WRONG = "wrong horse; left battery"

LISTENERS = {"login": "SASL_SSL", "mutual": "SSL", "elsewhere": "SSL", "clear": "SASL_PLAINTEXT"}
"""`elsewhere` tells its clients an address that its certificate doesn't hold."""

_TLS = """
listeners=PLAINTEXT://127.0.0.1:{{port}},CONTROLLER://127.0.0.1:{{controller}},{listeners}
advertised.listeners=PLAINTEXT://127.0.0.1:{{port}},{advertised}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,{protocols}
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.mutual.ssl.client.auth=required
"""
_LOGIN = """
listener.name.{name}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.{name}.plain.sasl.jaas.config={module}.plain.PlainLoginModule required user_{user}="{password}";
listener.name.{name}.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;
"""


@dataclass(frozen=True)
class Guarded:
    """A broker that lets in who may, and the files of who may."""

    open_server: str
    """Where nothing is asked for: how the tests themselves get in."""
    ports: dict[str, int]
    folder: Path

    def enter(self, fleet: Fleet, way: str, password: str = "") -> None:
        """Have a fleet's commands come by one of `WAYS`, with the right or the wrong password."""
        files = {name: self.folder / name for name in ("authority", "stranger", "client")}
        fleet.settings = ("topics.partitions=1", *(text.format(**self.ports, **files) for text in WAYS[way]))
        if password:
            fleet.environment = {"RECALLWATCH_KAFKA_PASSWORD_FILE": str(self.folder / password)}


_TRUSTED = ("kafka.ca_file={authority}.pem",)
_LOG_IN = ("kafka.brokers=127.0.0.1:{login}", "kafka.security=sasl_tls", f"kafka.username={USER}")
_CLIENT = ("kafka.cert_file={client}.pem", "kafka.key_file={client}.key")
_MUTUAL = ("kafka.brokers=127.0.0.1:{mutual}", "kafka.security=tls", *_TRUSTED)
_CLEAR = ("kafka.brokers=127.0.0.1:{clear}", "kafka.security=sasl_plaintext", f"kafka.username={USER}")
WAYS = {
    "scram": (*_LOG_IN, *_TRUSTED),
    "plain": (*_LOG_IN, *_TRUSTED, "kafka.mechanism=PLAIN"),
    "mutual": (*_MUTUAL, *_CLIENT),
    "clear, allowed": (*_CLEAR, "kafka.allow_password_without_tls=true"),
    "clear": _CLEAR,
    "other mechanism": (*_LOG_IN, *_TRUSTED, "kafka.mechanism=SCRAM-SHA-256"),
    "other authority": (*_LOG_IN, "kafka.ca_file={stranger}.pem"),
    "other name": (*_LOG_IN, *_TRUSTED, "kafka.brokers=localhost:{login}"),
    "other name elsewhere": ("kafka.brokers=127.0.0.1:{elsewhere}", "kafka.security=tls", *_TRUSTED),
    "no certificate": _MUTUAL,
    "stranger's certificate": (*_MUTUAL, "kafka.cert_file={stranger}.pem", "kafka.key_file={stranger}.key"),
    "certificate not there": (*_MUTUAL, "kafka.cert_file={client}.nowhere", "kafka.key_file={client}.key"),
    "key not there": (*_MUTUAL, "kafka.cert_file={client}.pem", "kafka.key_file={client}.nowhere"),
    "key alone": (*_MUTUAL, "kafka.key_file={client}.key"),
    "certificate without TLS": ("kafka.brokers=127.0.0.1:{mutual}", *_TRUSTED),
}


def missing_for_certificates() -> str | None:
    """Return what there must be to make certificates; None where nothing is missing."""
    said = shutil.which("openssl") and subprocess.run(
        ["openssl", "version"], capture_output=True, text=True, check=True
    )
    if said and said.stdout.startswith("OpenSSL 3"):
        return None
    return "certificates are made with OpenSSL 3 (apt-get install openssl)"


def certify(folder: Path, name: str, extension: str, issuer: str = "") -> None:
    """Make a key and a certificate, signed by `issuer` or by itself."""
    new = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    named = ["-subj", f"/CN={name}", "-addext", extension, "-keyout", f"{name}.key", "-out", f"{name}.pem"]
    signed = ["-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key"] if issuer else []
    subprocess.run(["openssl", *new, *named, *signed], cwd=folder, capture_output=True, check=True)


def properties(folder: Path, ports: dict[str, int]) -> str:
    """Return the broker's settings, with its certificate and key in one file as it wants them."""
    keystore = folder / "broker.all.pem"
    keystore.write_text((folder / "broker.key").read_text() + (folder / "broker.pem").read_text())
    hosts = {name: "localhost" if name == "elsewhere" else "127.0.0.1" for name in ports}
    text = _TLS.format(
        listeners=",".join(f"{name.upper()}://127.0.0.1:{port}" for name, port in ports.items()),
        advertised=",".join(f"{name.upper()}://{hosts[name]}:{port}" for name, port in ports.items()),
        protocols=",".join(f"{name.upper()}:{protocol}" for name, protocol in LISTENERS.items()),
        keystore=keystore,
        authority=folder / "authority.pem",
    )
    module = "org.apache.kafka.common.security"
    logins = [n for n, protocol in LISTENERS.items() if protocol.startswith("SASL")]
    return text + "".join(_LOGIN.format(name=n, module=module, user=USER, password=PASSWORD) for n in logins)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """Give a Kafka that asks who comes; skip, and say what to install, where it can't be started."""
    missing = missing_for_kafka() or missing_for_certificates()
    if missing is not None:
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("guarded")
    for name in ("authority", "stranger"):
        certify(folder, name, "keyUsage=critical,keyCertSign,cRLSign")
    certify(folder, "broker", "subjectAltName=IP:127.0.0.1", "authority")
    certify(folder, "client", "subjectAltName=DNS:client", "authority")
    for name, password in (("right", PASSWORD), ("wrong", WRONG)):
        (folder / name).write_text(f"{password}\n")
    ports = {name: free_port() for name in LISTENERS}
    user = ("--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]")
    with running_kafka(folder / "kafka", properties(folder, ports), user) as broker:
        yield Guarded(broker.server, ports, folder)


@pytest.fixture
def fleet(guarded: Guarded, tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give topics of their own, and end whatever worker a test leaves behind."""
    fleet = Fleet(guarded.open_server, tag, tmp_path)
    try:
        yield fleet
    finally:
        fleet.kill()


def shows_password(*texts: str) -> bool:
    """Tell whether the right or the wrong password is to be read anywhere."""
    return any(password in text for password in (PASSWORD, WRONG) for text in texts)


def problems(fleet: Fleet, command: str) -> tuple[int, list[str]]:
    """Return a command's exit code and what it wrote, but for the lines of a good course."""
    ended = fleet.run(command)
    assert not shows_password(ended.stdout, ended.stderr)
    return ended.returncode, [line for line in (ended.stdout + ended.stderr).splitlines() if '"info"' not in line]


async def count_decisions(fleet: Fleet, count: int) -> str:
    """Have worker 0 count decisions and end; return all that it serves."""
    await fleet.ready(0)
    record = {"lang": "en", "text": "Anna met Bo", "detector": "x", "version": "1", "spans": []}
    names = [f"d{number}" for number in range(count)]
    await fleet.send("decisions", [(name, json.dumps({"doc_id": name, **record}).encode()) for name in names])

    async def counted() -> bool:
        return await fleet.decided(0) == count

    await until(counted, 30.0, f"{count} decisions counted")
    pages = [await fleet.get(0, page) for page in ("", "metrics", "api/board")]
    assert [status for status, _ in pages] == [200, 200, 200]
    assert await fleet.end(0) == 0
    return "".join(body for _, body in pages)


@pytest.mark.parametrize(("way", "password"), [("scram", "right"), ("plain", "right"), ("mutual", "")])
def test_a_worker_gets_in_and_counts(guarded: Guarded, fleet: Fleet, way: str, password: str) -> None:
    """Topics are created, decisions counted and the history read; nothing written or served shows the password."""
    guarded.enter(fleet, way, password)
    created = fleet.run("topics")
    assert (created.returncode, created.stderr) == (0, "")
    worker = fleet.start(0, "worker", "--verbose")
    served = asyncio.run(count_decisions(fleet, 20))
    told = fleet.run("history", "--json")
    assert (told.returncode, told.stderr) == (0, "")
    assert {change["topic"] for change in json.loads(told.stdout)["changes"]} >= {fleet.topic("decisions")}
    assert not shows_password(created.stdout, served, told.stdout, worker.log.read_text())
    assert fleet.noise() == []


def named(value: str) -> str:
    """Return the name of a case, without the punctuation of its line."""
    return value.partition(" (")[0].partition(":")[0] or "none"


REFUSALS = [
    ("worker", "scram", "wrong", "the login is refused ("),
    ("topics", "scram", "wrong", "the login is refused ("),
    ("history", "plain", "wrong", "the login is refused ("),
    ("topics", "other mechanism", "right", "doesn't know this way to log in: see kafka.mechanism"),
    ("worker", "other authority", "right", "certificate isn't trusted (unable to get local issuer certificate)"),
    ("history", "other name", "right", "Hostname mismatch, certificate is not valid for 'localhost'"),
    ("worker", "other name elsewhere", "", "Hostname mismatch, certificate is not valid for 'localhost'"),
    ("worker", "no certificate", "", "the client's certificate is missing or refused ("),
    ("topics", "stranger's certificate", "", "the client's certificate is missing or refused ("),
]


@pytest.mark.parametrize(("command", "way", "password", "reason"), REFUSALS, ids=named)
def test_a_broker_that_refuses_ends_the_command_with_one_line(
    guarded: Guarded, fleet: Fleet, command: str, way: str, password: str, reason: str
) -> None:
    """It's no broker that isn't there yet: nothing is tried again, and the exit code is 1."""
    guarded.enter(fleet, way, password)
    code, lines = problems(fleet, command)
    assert (code, len(lines)) == (1, 1), lines
    assert lines[0].startswith("recallwatch: broker ")
    assert reason in lines[0]


@pytest.mark.parametrize(
    ("command", "way", "password", "reason"),
    [
        ("worker", "clear", "right", "kafka.security: 'sasl_plaintext' would send the password unencrypted"),
        ("history", "certificate not there", "", "kafka.cert_file: "),
    ],
    ids=named,
)
def test_a_mistake_in_the_settings_ends_the_command_with_one_line(
    guarded: Guarded, fleet: Fleet, command: str, way: str, password: str, reason: str
) -> None:
    """It names the key, no broker is asked, and the exit code is 2."""
    guarded.enter(fleet, way, password)
    code, lines = problems(fleet, command)
    assert (code, len(lines)) == (2, 1), lines
    assert lines[0].startswith(f"recallwatch: config: {reason}")


@pytest.mark.parametrize(
    ("way", "key"),
    [
        ("key not there", "kafka.key_file"),
        ("key alone", "kafka.key_file"),
        ("certificate without TLS", "kafka.security"),
    ],
)
def test_files_that_would_not_be_used_are_refused_by_their_key(
    guarded: Guarded, fleet: Fleet, way: str, key: str
) -> None:
    """A key that isn't there isn't taken for its certificate, and no certificate is silently left out."""
    guarded.enter(fleet, way)
    with pytest.raises(ConfigError) as refused:
        connection(load_settings(None, fleet.overrides, {}))
    assert refused.value.key == key


def test_a_password_goes_without_tls_where_that_is_allowed(guarded: Guarded, fleet: Fleet) -> None:
    """The same settings without the permission are refused above."""
    guarded.enter(fleet, "clear, allowed", "right")
    created = fleet.run("topics")
    assert created.returncode == 0
    assert not shows_password(created.stdout, created.stderr)
