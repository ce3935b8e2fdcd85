"""deploy/compose.yaml: valid, complete, closed to the outside, and in step with what it mounts."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from compose import COMPOSE, DEPLOY, DOCKERFILE, WORKERS, Document, compose, image_environment

from dashboards.settings import read_settings
from streams.worker import STOP_WITHIN_S

SERVICES = compose()["services"]
MOUNTS = [
    (name, mount) for name, service in SERVICES.items() for mount in service.get("volumes", ()) if mount[0] in "./"
]
PORTS = [port for service in SERVICES.values() for port in service.get("ports", ())]
TELLING = re.compile("PASSWORD|SECRET|TOKEN|KEY")


def seconds(duration: str) -> int:
    """Return a duration such as 60s or 1m."""
    return int(duration[:-1]) * {"s": 1, "m": 60}[duration[-1]]


def test_compose_knows_every_word_of_it() -> None:
    """By the schema of the compose specification itself."""
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is missing (pip install '.[dev]')")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("service", "mount"), MOUNTS)
def test_what_is_mounted_is_there_and_cannot_be_written(service: str, mount: str) -> None:
    """Docker makes an empty folder of a path that isn't there, and says nothing."""
    host, _, mode = mount.split(":")
    assert (DEPLOY / host).exists(), f"{service}: {host}"
    assert mode == "ro"


@pytest.mark.parametrize("port", PORTS)
def test_ports_are_published_on_loopback_alone(port: str) -> None:
    """Nobody is asked for a password here."""
    assert port.startswith("127.0.0.1:")


def test_no_secret_stands_in_it() -> None:
    """What tells of a secret names a file, or says that there is none; the secrets come from who starts it."""
    clear = {
        f"{name}: {variable}"
        for name, service in SERVICES.items()
        for variable, value in service.get("environment", {}).items()
        if TELLING.search(variable) and not variable.endswith("_FILE")
    }
    assert clear == set()
    assert [list(secret) for secret in compose()["secrets"].values()] == [["environment"]]
    given = {f"/run/secrets/{name}" for name in compose()["secrets"]}
    assert {SERVICES[name]["environment"]["RECALLWATCH_SAMPLING_KEY_FILE"] for name in WORKERS} == given


def test_images_of_others_are_of_one_version() -> None:
    """A tag that moves is another installation each week."""
    images = {service["image"] for service in SERVICES.values()} - {"recallwatch"}
    assert len(images) == 4
    assert [image for image in images if not re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", image)] == []


def test_workers_are_two_and_alike() -> None:
    """They differ by name and by the port on this machine, and share one group and one config."""
    first, second = ({**SERVICES[name], "hostname": "", "ports": []} for name in WORKERS)
    assert first == second
    assert [SERVICES[name]["hostname"] for name in WORKERS] == list(WORKERS)


@pytest.mark.parametrize("name", [*WORKERS, "topics"])
def test_containers_of_ours_may_do_nothing_but_run(name: str) -> None:
    """No writing, no capability, no way to get one."""
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "tmpfs" not in service


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_has_time_to_end(name: str) -> None:
    """Killed before its last checkpoint it would lose nothing, and repeat some."""
    assert seconds(SERVICES[name]["stop_grace_period"]) > STOP_WITHIN_S


def test_topics_are_there_before_a_worker_starts() -> None:
    """By the product's own command, once the broker answers."""
    assert SERVICES["topics"]["command"][0] == "topics"
    assert SERVICES["topics"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}
    wanted = {"topics": {"condition": "service_completed_successfully"}}
    assert [SERVICES[name]["depends_on"] for name in WORKERS] == [wanted] * 2


def test_a_config_is_read_that_is_mounted() -> None:
    """The same path in the command, in the mount and in the image."""
    path = SERVICES["worker-1"]["command"][-1]
    assert SERVICES["worker-1"]["volumes"] == [f".:{path.rpartition('/')[0]}:ro"]
    assert f"COPY deploy/recallwatch.toml {path}\n" in DOCKERFILE.read_text(encoding="utf-8")


def prometheus() -> Document:
    """Return Prometheus's own settings."""
    found: Document = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yaml").read_text(encoding="utf-8"))
    return found


def test_prometheus_can_read_its_settings_and_all_rules() -> None:
    """Its own tool says so; the rules are found from where they're mounted."""
    if shutil.which("promtool") is None:
        pytest.skip("no promtool on PATH (Debian, Ubuntu: apt-get install prometheus)")
    command = ["promtool", "check", "config", str(DEPLOY / "prometheus" / "prometheus.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    checked = [Path(line.split()[1]).name for line in done.stdout.splitlines() if line.startswith("Checking ")]
    assert checked == ["prometheus.yaml", "recording.yaml", "alerts.yaml"]
    mounted = SERVICES["prometheus"]["volumes"][0].split(":")
    assert (DEPLOY / mounted[0] / "alerts.yaml").is_file()
    assert f"--config.file={mounted[1]}/prometheus.yaml" in SERVICES["prometheus"]["command"]


def test_prometheus_scrapes_all_workers_and_tells_alertmanager() -> None:
    """By the names that services have for each other, and under the job that the alerts know."""
    (job,) = prometheus()["scrape_configs"]
    port = image_environment()["RECALLWATCH_HTTP_PORT"]
    assert [config["targets"] for config in job["static_configs"]] == [[f"{name}:{port}" for name in WORKERS]]
    assert [port.split(":")[-1] for name in WORKERS for port in SERVICES[name]["ports"]] == [port] * 2
    (alertmanager,) = prometheus()["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"]
    assert alertmanager.split(":")[0] in SERVICES
    assert seconds(prometheus()["global"]["scrape_interval"]) <= 60
    assert seconds(prometheus()["global"]["evaluation_interval"]) <= 60
    assert job["job_name"] == read_settings().scrape.job


def test_grafana_finds_its_dashboards_and_prometheus() -> None:
    """Where the provisioning that is mounted says they are."""
    mounts = dict(reversed(mount.split(":")[:2]) for mount in SERVICES["grafana"]["volumes"])
    provisioning = DEPLOY / mounts["/etc/grafana/provisioning"]
    told = {
        kind: [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (provisioning / kind).glob("*.yaml")]
        for kind in ("dashboards", "datasources")
    }
    (provider,) = (each for document in told["dashboards"] for each in document["providers"])
    assert list((DEPLOY / mounts[provider["options"]["path"]]).glob("*.json"))
    (source,) = (each for document in told["datasources"] for each in document["datasources"])
    host = source["url"].removeprefix("http://").partition(":")[0]
    assert host in SERVICES
    assert [port.split(":")[-1] for port in SERVICES[host]["ports"]] == [source["url"].rpartition(":")[2]]
