"""Bring the topics on a broker in line with their specs: create what is missing, refuse what is otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import structlog
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from monitor.errors import ConfigError, SourceError
from streams.broker import Connection, admin
from streams.topics import BOUNDS, TopicSpec

log = structlog.get_logger(__name__)


class Found(NamedTuple):
    """A topic as the broker describes it; `settings` lacks what it doesn't answer."""

    partitions: int
    replication: int
    settings: Mapping[str, str]


class Difference(NamedTuple):
    """A setting of an existing topic that doesn't meet its spec."""

    topic: str
    setting: str
    found: str
    wanted: str

    def __str__(self) -> str:
        return f"topic {self.topic}: {self.setting} is {self.found}, wanted {self.wanted}"


def differences(spec: TopicSpec, found: Found) -> list[Difference]:
    """Return where an existing topic doesn't meet its spec; what the broker didn't answer is passed over.

    >>> differences(TopicSpec(name="sampled", partitions=4), Found(3, 1, {}))[0].setting
    'partitions'
    """
    unmet = []
    if found.partitions != spec.partitions:
        unmet.append(Difference(spec.name, "partitions", str(found.partitions), str(spec.partitions)))
    if spec.owned and found.replication < spec.replication:
        unmet.append(Difference(spec.name, "replication", str(found.replication), f"at least {spec.replication}"))
    for setting, wanted in spec.compared().items():
        value = found.settings.get(setting)
        if value is not None and not _meets(setting, value, wanted):
            bound = BOUNDS[setting]
            unmet.append(Difference(spec.name, setting, value, wanted if bound == "exactly" else f"{bound} {wanted}"))
    return unmet


def _meets(setting: str, found: str, wanted: str) -> bool:
    match BOUNDS[setting]:
        case "exactly":
            return sorted(found.split(",")) == sorted(wanted.split(","))
        case "at least":
            return float(found) < 0 or float(found) >= float(wanted)  # a negative retention is without end
        case "at most":
            return float(found) <= float(wanted)


async def ensure(connection: Connection, specs: Sequence[TopicSpec], *, create: bool = True) -> tuple[str, ...]:
    """Create the topics that are missing and return their names.

    Raises
    ------
    ConfigError
        Where a topic exists with other settings, or is missing and `create` is false; one line names all of them.
    SourceError
        Where the broker refuses to describe or to create.

    """
    try:
        async with admin(connection) as client:
            found = await _describe(client, [spec.name for spec in specs])
            missing = [spec for spec in specs if spec.name not in found]
            unmet = [str(one) for spec in specs if spec.name in found for one in differences(spec, found[spec.name])]
            if missing and not create:
                unmet += [f"topic {spec.name}: missing, create it with `recallwatch topics`" for spec in missing]
            if unmet:
                raise ConfigError("", "; ".join(unmet), source="broker")
            await _create(client, missing)
            await _wait_for(client, [spec.name for spec in missing])
    except KafkaError as error:
        raise SourceError(f"broker {','.join(connection.servers)}: {error}") from error
    return tuple(spec.name for spec in missing)


async def _describe(client: AIOKafkaAdminClient, names: list[str]) -> dict[str, Found]:
    existing = set(await client.list_topics()) & set(names)
    if not existing:
        return {}
    settings = await _describe_settings(client, existing)
    found = {}
    # unasked-for topics aren't described: asking by name makes a broker with automatic creation create them
    for topic in await client.describe_topics(sorted(existing)):
        parts = topic["partitions"]
        replication = min((len(part["replicas"]) for part in parts), default=0)
        found[topic["topic"]] = Found(len(parts), replication, settings.get(topic["topic"], {}))
    return found


async def _describe_settings(client: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, dict[str, str]]:
    asked = [ConfigResource(ConfigResourceType.TOPIC, name) for name in sorted(names)]
    settings: dict[str, dict[str, str]] = {}
    for response in await client.describe_configs(asked):
        for code, message, _kind, name, entries in response.resources:
            if code:
                log.warning("topic_settings_unanswered", topic=name, problem=message or for_code(code).__name__)
            settings[name] = {entry[0]: entry[1] for entry in entries if entry[1] is not None}
    return settings


async def _create(client: AIOKafkaAdminClient, specs: Iterable[TopicSpec]) -> None:
    new = [NewTopic(s.name, s.partitions, s.replication, topic_configs=dict(s.settings)) for s in specs]
    if not new:
        return
    response = await client.create_topics(new)
    for name, code, *rest in response.topic_errors:
        error = for_code(code)
        # another worker was faster: its topics come of the same specs
        if code and error is not TopicAlreadyExistsError:
            detail = rest[0] if rest and rest[0] else error.__name__
            raise SourceError(f"topic {name} can't be created: {detail}")
        log.info("topic_created", topic=name)


async def _wait_for(client: AIOKafkaAdminClient, names: list[str], *, tries: int = 100) -> None:
    """Return when every partition has a leader; a broker answers the creation before that."""
    for _ in range(tries):
        topics = await client.describe_topics(names) if names else []
        if all(t["partitions"] and all(p["leader"] >= 0 for p in t["partitions"]) for t in topics):
            return
        await asyncio.sleep(0.1)
    raise SourceError(f"topics without a leader: {', '.join(names)}")
