"""deploy/k8s/: valid by Kubernetes' own schemas, and in step with the product, its rules and its image."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose import DEPLOY, ROOT, Document, image_environment

from dashboards.settings import read_settings
from monitor.config import Config, read_config
from streams.settings import load_settings
from streams.worker import STOP_WITHIN_S

K8S = DEPLOY / "k8s"
SETTINGS = K8S / "base" / "recallwatch.toml"
VERSION = "1.31"
"""Of Kubernetes; what it knows is refused where it's misspelt."""


def resources(folder: Path = K8S) -> Iterator[Document]:
    """Yield every resource that a kustomization names, folder by folder."""
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text(encoding="utf-8"))
    for name in kustomization["resources"]:
        if (folder / name).is_dir():
            yield from resources(folder / name)
        else:
            yield from yaml.safe_load_all((folder / name).read_text(encoding="utf-8"))


FOUND = {document["kind"]: document for document in resources()}
POD: Document = FOUND["Deployment"]["spec"]["template"]["spec"]
WORKER: Document = POD["containers"][0]
TREE: Config = read_config(tomllib.loads(SETTINGS.read_text(encoding="utf-8")))
TRIGGER: Document = FOUND["ScaledObject"]["spec"]["triggers"][0]["metadata"]


def test_every_file_is_named_by_a_kustomization() -> None:
    """A file that nobody names is never applied."""
    named = set(K8S.rglob("kustomization.yaml")) | {SETTINGS}
    for kustomization in K8S.rglob("kustomization.yaml"):
        listed = yaml.safe_load(kustomization.read_text(encoding="utf-8"))["resources"]
        named |= {kustomization.parent / name for name in listed if name.endswith(".yaml")}
    assert {path for path in K8S.rglob("*") if path.is_file()} == named


@pytest.mark.parametrize("kind", ["Namespace", "Deployment", "PodDisruptionBudget", "NetworkPolicy"])
def test_kubernetes_knows_every_word_of_it(kind: str) -> None:
    """By Kubernetes' own schema; an unknown key is refused."""
    if importlib.util.find_spec("kubernetes_validate") is None:
        pytest.skip("kubernetes-validate is missing (pip install '.[dev]')")
    import kubernetes_validate  # noqa: PLC0415  # there may be none

    kubernetes_validate.validate(FOUND[kind], VERSION, strict=True)
    broken = {**FOUND[kind], "spec": {**FOUND[kind].get("spec", {}), "replicaz": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSION, strict=True)


def test_kustomize_makes_one_namespace_of_all_of_it() -> None:
    """As `kubectl apply -k` would see it: every resource, the config with it, and no image without a registry."""
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl on PATH, whose kustomize is 5 or newer (see kubernetes.io/docs/tasks/tools)")
    done = subprocess.run(["kubectl", "kustomize", str(K8S)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    built = {document["kind"]: document for document in yaml.safe_load_all(done.stdout)}
    assert built.keys() == {*FOUND, "ConfigMap"}
    names = [built.pop("Namespace")["metadata"]["name"], *(d["metadata"]["namespace"] for d in built.values())]
    assert set(names) == {"recallwatch"}
    assert {document["metadata"]["name"] for document in built.values()} == {"recallwatch"}
    assert built["ConfigMap"]["data"] == {"recallwatch.toml": SETTINGS.read_text(encoding="utf-8")}
    pod = built["Deployment"]["spec"]["template"]["spec"]
    images = [container["image"] for container in (*pod["initContainers"], *pod["containers"])]
    assert images == ["registry.example/recallwatch:0.1.0"] * 2


def keys(kind: str, value: object, path: str = "") -> Iterator[str]:
    """Yield the path of every key of a resource's spec."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from keys(kind, inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(kind, inner, f"{path}[]")


# No schema of these is on a package index that Python's tools know. The words were checked by hand against the
# definitions of the Prometheus Operator and of KEDA; here a new or misspelt one is refused until somebody has looked.
KNOWN = {
    "PodMonitor": {
        ".jobLabel",
        ".selector",
        ".selector.matchLabels",
        ".podMetricsEndpoints",
        *(f".podMetricsEndpoints[].{name}" for name in ("port", "path", "interval", "scrapeTimeout")),
    },
    "PrometheusRule": {
        ".groups",
        *(f".groups[].{name}" for name in ("name", "rules")),
        *(f".groups[].rules[].{name}" for name in ("record", "alert", "expr", "for", "keep_firing_for")),
        *(f".groups[].rules[].{name}" for name in ("labels", "annotations")),
    },
    "ScaledObject": {
        *(f".{name}" for name in ("scaleTargetRef", "minReplicaCount", "maxReplicaCount", "pollingInterval")),
        ".scaleTargetRef.name",
        ".triggers",
        *(f".triggers[].{name}" for name in ("type", "metadata", "authenticationRef", "authenticationRef.name")),
        *(f".triggers[].metadata.{name}" for name in ("bootstrapServers", "consumerGroup", "topic", "lagThreshold")),
        *(f".triggers[].metadata.{name}" for name in ("offsetResetPolicy", "sasl", "tls")),
        ".advanced",
        ".advanced.horizontalPodAutoscalerConfig",
        ".advanced.horizontalPodAutoscalerConfig.behavior",
        *(
            f".advanced.horizontalPodAutoscalerConfig.behavior.{way}{name}"
            for way in ("scaleUp", "scaleDown")
            for name in (
                "",
                ".stabilizationWindowSeconds",
                ".policies",
                ".policies[].type",
                ".policies[].value",
                ".policies[].periodSeconds",
            )
        ),
    },
    "TriggerAuthentication": {
        ".secretTargetRef",
        *(f".secretTargetRef[].{name}" for name in ("parameter", "name", "key")),
    },
}


@pytest.mark.parametrize("kind", KNOWN)
def test_other_resources_hold_known_words_alone(kind: str) -> None:
    """Names under labels and annotations are free."""
    free = (".labels.", ".annotations.", ".matchLabels.")
    found = {key for key in keys(kind, FOUND[kind]["spec"]) if not any(part in key for part in free)}
    assert found - KNOWN[kind] == set()


def test_rules_are_those_of_prometheus() -> None:
    """The same groups in the same order, whichever way they're loaded."""
    files = [DEPLOY / "prometheus" / name for name in ("recording.yaml", "alerts.yaml")]
    groups = [group for path in files for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]]
    assert FOUND["PrometheusRule"]["spec"] == {"groups": groups}
    assert sum(len(group["rules"]) for group in groups) > 50


def test_scraped_pods_are_the_workers_under_the_job_of_the_alerts() -> None:
    """The job is a label of the pod; the port is one of its own."""
    monitor = FOUND["PodMonitor"]["spec"]
    labels = FOUND["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert labels[monitor["jobLabel"]] == read_settings().scrape.job
    for selector in (monitor["selector"], FOUND["PodDisruptionBudget"]["spec"]["selector"]):
        assert selector["matchLabels"].items() <= labels.items()
    assert FOUND["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    (port,) = WORKER["ports"]
    assert [endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]] == [port["name"]]
    assert FOUND["NetworkPolicy"]["spec"]["ingress"][0]["ports"] == [{"port": port["name"]}]
    assert str(port["containerPort"]) == image_environment()["RECALLWATCH_HTTP_PORT"]


def test_lag_is_that_of_the_settings_topic_and_group() -> None:
    """At most a worker a partition; the broker, the user and the way to log in are the workers' own."""
    assert FOUND["ScaledObject"]["spec"]["maxReplicaCount"] == TREE.topics.partitions
    assert (TRIGGER["topic"], TRIGGER["consumerGroup"]) == (TREE.topics.decisions, TREE.kafka.group)
    assert FOUND["ScaledObject"]["spec"]["scaleTargetRef"]["name"] == FOUND["Deployment"]["metadata"]["name"]
    assert TREE.kafka.security == "sasl_tls"
    assert (TRIGGER["tls"], TRIGGER["sasl"], TREE.kafka.mechanism) == ("enable", "scram_sha512", "SCRAM-SHA-512")
    (brokers,) = (e["value"] for e in WORKER["env"] if e["name"] == "RECALLWATCH_KAFKA_BROKERS")
    assert TRIGGER["bootstrapServers"] == brokers
    allowed = {port["port"] for rule in FOUND["NetworkPolicy"]["spec"]["egress"] for port in rule["ports"]}
    assert {int(broker.rpartition(":")[2]) for broker in brokers.split(",")} | {53} == allowed


def mounted(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a worker whose Secret lies in a folder, with each variable's path there."""
    env = {entry["name"]: entry["value"] for entry in WORKER["env"]}
    folder = next(mount["mountPath"] for mount in WORKER["volumeMounts"] if mount["name"] == "secrets")
    return {name: value.replace(folder, str(tmp_path)) for name, value in env.items()}


def test_settings_and_secret_make_a_worker_that_may_start(tmp_path: Path) -> None:
    """The files that the environment names are those of the Secret that the Deployment tells of."""
    told = (K8S / "base" / "deployment.yaml").read_text(encoding="utf-8").partition("Its keys: ")[2].partition(".\n")[0]
    names = [name.split()[0] for name in told.replace("\n# ", " ").split(", ")]
    for name in names:
        (tmp_path / name).write_text(f"the {name}\n")
    settings = load_settings(SETTINGS, (), mounted(tmp_path))
    assert settings.config.kafka.username == "the kafka-username"
    assert settings.password is not None
    assert settings.password.reveal() == "the kafka-password"
    assert settings.config.sampling.key == "the sampling-key"
    assert Path(settings.config.kafka.ca_file).name in names
    referred = {entry["key"] for entry in FOUND["TriggerAuthentication"]["spec"]["secretTargetRef"]}
    assert referred <= set(names)
    assert settings.config.http.port == 9464
    # the image's own address stands, all of them: `kubectl port-forward` comes in over the pod's loopback
    assert "RECALLWATCH_HTTP_HOST" not in {entry["name"] for entry in WORKER["env"]}


def test_every_key_of_its_settings_stands_in_the_reference() -> None:
    """With what it means."""
    reference = tomllib.loads((DEPLOY / "recallwatch.toml").read_text(encoding="utf-8"))
    own = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    assert {(section, key) for section, keys_ in own.items() for key in keys_} <= {
        (section, key) for section, keys_ in reference.items() for key in keys_
    }


@pytest.mark.parametrize("container", [WORKER, POD["initContainers"][0]], ids=["worker", "topics"])
def test_a_container_may_do_nothing_but_run(container: Mapping[str, Any]) -> None:
    """What Kubernetes' restricted profile asks for, and a file system that can't be written."""
    confined = container["securityContext"]
    assert confined["readOnlyRootFilesystem"] is True
    assert confined["allowPrivilegeEscalation"] is False
    assert confined["capabilities"] == {"drop": ["ALL"]}
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert POD["automountServiceAccountToken"] is False
    assert {mount["readOnly"] for mount in container["volumeMounts"]} == {True}
    assert not any("subPath" in mount for mount in container["volumeMounts"])


def test_probes_ask_what_they_mean_and_a_worker_has_time_to_end() -> None:
    """No recovery is killed, however long; a scrape beside a probe doesn't make it late."""
    paths = {kind: WORKER[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    assert paths == {"startup": "/healthz", "liveness": "/healthz", "readiness": "/readyz"}
    assert {WORKER[f"{kind}Probe"]["timeoutSeconds"] for kind in paths} == {5}
    assert POD["terminationGracePeriodSeconds"] > STOP_WITHIN_S
    assert "replicas" not in FOUND["Deployment"]["spec"]


def test_image_is_the_version_of_the_product() -> None:
    """The tag that the kustomization puts in."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    (image,) = yaml.safe_load((K8S / "base" / "kustomization.yaml").read_text(encoding="utf-8"))["images"]
    assert (image["name"], image["newTag"]) == ("recallwatch", version)
