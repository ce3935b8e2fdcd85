"""`deploy/compose.yaml` and the image that it builds, as tests read them: what Docker would run, without Docker."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
DOCKERFILE = DEPLOY / "Dockerfile"
WORKERS = ("worker-1", "worker-2")

Document = dict[str, Any]


def compose() -> Document:
    """Return the file, its anchors put in."""
    found: Document = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return found


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions in order, each on one line."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"))
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


def image_environment() -> dict[str, str]:
    """Return what the image sets."""
    return {
        name: value.strip('"')
        for instruction, rest in instructions()
        if instruction == "ENV"
        for name, value in re.findall(r'(\w+)=("[^"]*"|\S+)', rest)
    }


def image_healthcheck() -> list[str]:
    """Return the command of the image's health check."""
    (rest,) = (rest for name, rest in instructions() if name == "HEALTHCHECK")
    command: list[str] = json.loads(rest.partition("CMD ")[2])
    return command


def kafka_properties(environment: Mapping[str, str], ports: Mapping[str, str]) -> str:
    """Return what the broker's image makes of its environment, with other addresses: KAFKA_NODE_ID is node.id."""
    lines = []
    for name, value in environment.items():
        said = value
        for address, other in ports.items():
            said = said.replace(address, other)
        lines.append(f"{name.removeprefix('KAFKA_').replace('_', '.').lower()}={said}\n")
    return "".join(lines)
