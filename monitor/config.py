"""Settings as one frozen tree, with the ranges in the types; `deploy/recallwatch.toml` is the commented reference.

`read_config` turns a decoded TOML document into the tree and refuses unknown keys, naming the nearest known one.
Secrets and the broker's address usually come from the environment (`streams.settings`). Two ids are made from the tree:
`config_id` over everything that can change a decision or a number, and the net's own version (`monitor.net`).
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, get_args, get_origin

import msgspec

from monitor.added_settings import left_out
from monitor.errors import ConfigError
from monitor.leaks.policy import RedactionConfig
from monitor.ranges import allowed
from monitor.records import FLAGGED

DEFAULT_KEY = "recallwatch-default-key"
"""Good for a replay. Whoever knows the key can tell which documents will be looked at, so a worker warns about it."""

Rate = Annotated[float, msgspec.Meta(ge=0, le=1)]
PositiveRate = Annotated[float, msgspec.Meta(gt=0, le=1)]
OpenShare = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
Days = Annotated[int, msgspec.Meta(ge=1, le=3660)]
"""Ten years: longer windows would begin before there are dates."""
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class _Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file; unknown keys are refused."""


class LanguageRates(_Section, frozen=True):
    """Rates of one language; what is left out falls back to the general rate."""

    random_rate: PositiveRate | None = None
    loose_rate: Rate | None = None
    loose_rate_by_stratum: dict[str, Rate] = {}


class Sampling(_Section, frozen=True):
    """Which share of the traffic people are asked to read."""

    random_rate: PositiveRate = 0.005
    """Share of all documents, whatever flagged them; it can be low, it can't be zero."""
    loose_rate: Rate = 0.05
    """Share of the documents that anything flagged, drawn independently of the random slice."""
    loose_rate_by_stratum: dict[str, Rate] = {}
    by_language: dict[str, LanguageRates] = {}
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=512)] = DEFAULT_KEY


class PatternConfig(_Section, frozen=True):
    """A pattern of the loose net (RE2 syntax), with the checksum that a match must pass, if any."""

    regex: Annotated[str, msgspec.Meta(min_length=1)]
    check: str | None = None


class NetConfig(_Section, frozen=True):
    """The loose net. A pattern of a default's name replaces it; an empty string removes it."""

    defaults: bool = True
    patterns: dict[str, str | PatternConfig] = {}
    triggers: list[str] = []


class Entities(_Section, frozen=True):
    """Names: what other tools call the same thing."""

    aliases: dict[str, str] = {}


class LimitsConfig(_Section, frozen=True):
    """How much of anything is taken before it's refused or folded together."""

    max_text_bytes: Positive = 1 << 20
    max_spans: Positive = 10_000
    max_entities: Positive = 200
    """Unknown entity names kept apart, per partition; further ones count as `UNLISTED`."""
    max_languages: Positive = 50
    max_versions: Positive = 100


class Labels(_Section, frozen=True):
    """What annotators are asked."""

    deadline_days: Annotated[float, msgspec.Meta(gt=0, le=365)] = 7.0
    copies: Annotated[int, msgspec.Meta(ge=1, le=2)] = 1
    """People who read a document, none knowing of the other."""
    copied_share: PositiveRate = 1.0
    """Of the drawn documents, those that two read where `copies` is 2."""
    capacity_per_day: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Tasks that annotators get through in a day; sampling is thinned to it. 0 is no bound."""
    max_backlog: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Open tasks above which sampling is thinned. 0 is no bound."""


class Matching(_Section, frozen=True):
    """When a detected span counts as the labelled one."""

    iou: PositiveRate = 0.45


class Readings(_Section, frozen=True):
    """What is published."""

    windows_days: Annotated[tuple[Days, ...], msgspec.Meta(min_length=1, max_length=4)] = (7, 28)
    """The first is the one on the page."""
    confidence: Annotated[float, msgspec.Meta(ge=0.5, le=0.9999)] = 0.95
    min_completeness: Rate = 0.5
    stale_after_days: Annotated[float, msgspec.Meta(gt=0)] = 3.0
    """Days without a label after which a reading is no longer offered as current."""


class Alarm(_Section, frozen=True):
    """When somebody is paged."""

    period: Seconds = 86_400.0
    """Seconds; the unit that the promise about false alarms is made in."""
    false_alarms_per_year: Annotated[float, msgspec.Meta(ge=0.001)] = 1.0
    """Of the whole board, in the mean, at most."""
    hold: Positive = 7
    """Periods without a crossing, the deadline of their labels over, after which the alarm goes off."""
    y_max: Positive = 5
    """Occurrences that a document counts for, at most."""


class DriftConfig(_Section, frozen=True):
    """How sure a change of the detector's output must be."""

    delta: OpenShare = 0.002
    """For all signals together; each one's is this divided by their number."""


class Topics(_Section, frozen=True):
    """Topic names and their partition counts."""

    decisions: str = "decisions"
    sampled: str = "sampled"
    annotation_tasks: str = "annotation-tasks"
    labels: str = "labels"
    labels_by_document: str = "labels-by-document"
    dead_letters: str = "dead-letters"
    tallies: str = "tallies"
    history: str = "history"
    partitions: Positive = 4
    """Of `decisions`, `sampled`, `annotation-tasks` and `labels-by-document`."""
    labels_partitions: Positive = 1
    """Of `labels`, which belongs to the annotation tool."""
    replication: Positive = 1
    decisions_retention_hours: Positive = 72


class Kafka(_Section, frozen=True):
    """How to reach the broker. Passwords come from the environment or from a file."""

    brokers: str = "127.0.0.1:9092"
    group: Annotated[str, msgspec.Meta(min_length=1)] = "recallwatch"
    security: Literal["plaintext", "tls", "sasl_plaintext", "sasl_tls"] = "plaintext"
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    username: str = ""
    password_file: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    allow_password_without_tls: bool = False
    session_timeout_s: Seconds = 60
    rebalance_timeout_s: Seconds = 60
    fetch_bytes: Positive = 4 << 20
    """Per partition and fetch; less costs more CPU, more takes more memory."""
    check_crcs: bool = False
    """librdkafka's default too; TCP and the broker check already."""
    chunk_records: Positive = 2000


class Http(_Section, frozen=True):
    """Where /metrics and the page are served; loopback unless told."""

    host: str = "127.0.0.1"
    port: Port = 9464


class Checkpoint(_Section, frozen=True):
    """How often state is made durable."""

    interval_s: Seconds = 0.5


class Config(_Section, frozen=True):
    """The whole tree."""

    sampling: Sampling = Sampling()
    net: NetConfig = NetConfig()
    entities: Entities = Entities()
    targets: dict[str, OpenShare] = {}
    """Recall asked for, by `ENTITY` or `ENTITY.language`."""
    limits: LimitsConfig = LimitsConfig()
    labels: Labels = Labels()
    matching: Matching = Matching()
    readings: Readings = Readings()
    alarm: Alarm = Alarm()
    drift: DriftConfig = DriftConfig()
    redaction: RedactionConfig = RedactionConfig()
    topics: Topics = Topics()
    kafka: Kafka = Kafka()
    http: Http = Http()
    checkpoint: Checkpoint = Checkpoint()

    @property
    def horizon_days(self) -> int:
        """Days that the ledger keeps a document: the longest window and the deadline of the last day in it."""
        return max(self.readings.windows_days) + -int(-self.labels.deadline_days // 1)


def read_config(document: Mapping[str, object], *, source: str = "config") -> Config:
    """Return the tree of a decoded TOML document.

    Raises
    ------
    ConfigError
        An unknown key (with the nearest known one), a value of another type or out of its range.
    """
    _refuse_unknown(document, Config, "", source)
    try:
        config = msgspec.convert(dict(document), Config)
    except msgspec.ValidationError as error:
        raise _explain(error, document, source) from None
    _check_names(config, source)
    return config


def _refuse_unknown(table: Mapping[str, object], section: type[msgspec.Struct], prefix: str, source: str) -> None:
    """Walk the sections that hold sections, so that the message can name the nearest known key."""
    known = {field.name: field.type for field in msgspec.structs.fields(section)}
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"known here: {', '.join(sorted(known))}"
            raise ConfigError(f"{prefix}{key}", f"unknown key; {hint}", source=source)
        if isinstance(value, Mapping):
            if value and f"{key}_by_stratum" in known:
                inner = f"{key}.{next(iter(value))}"
                near_inner = inner.replace(key, f"{key}_by_stratum", 1)
                raise ConfigError(f"{prefix}{inner}", f"unknown key; did you mean {prefix}{near_inner}?", source=source)
            _refuse_unknown_inside(value, known[key], f"{prefix}{key}.", source)


def _refuse_unknown_inside(value: Mapping[str, object], kind: object, prefix: str, source: str) -> None:
    """Look into a section, and into each section of a table of sections (by language, by name)."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        _refuse_unknown(value, kind, prefix, source)
        return
    of_values = get_args(kind)[1] if get_origin(kind) is dict else None
    for section in get_args(of_values) or (of_values,):
        if isinstance(section, type) and issubclass(section, msgspec.Struct):
            for name, inner in value.items():
                if isinstance(inner, Mapping):
                    _refuse_unknown(inner, section, f"{prefix}{name}.", source)


_TOPIC = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,249}")  # Kafka takes neither "." nor ".."
_BOUND = re.compile(r"expected `(int|float)` [<>]")


def _explain(error: msgspec.ValidationError, document: Mapping[str, object], source: str) -> ConfigError:
    """Turn the decoder's `Expected … - at `$.a.b`` into key, value and what is allowed."""
    message, _, place = str(error).partition(" - at `$")
    message = message[0].lower() + message[1:]
    path, value = _locate(place.rstrip("`").lstrip("."), document)
    key = ".".join(path)
    if _BOUND.match(message) and (said := allowed(path, Config)):
        message = f"expected {said}"
    if choices := _choices(path, Config):
        message += f"; allowed: {', '.join(choices)}"
    if isinstance(value, Mapping | list) or value is None or key == "sampling.key":
        return ConfigError(key, message, source=source)
    return ConfigError(key, f"{value!r}: {message}", source=source)


def _locate(place: str, document: Mapping[str, object]) -> tuple[list[str], object]:
    """Return the path and the value that the decoder means; it writes `[...]` for "some entry of this table"."""
    path: list[str] = []
    value: object = document
    for part in re.findall(r"\[\.\.\.\]|[^.\[\]]+", place):
        if not isinstance(value, Mapping):
            break
        name = next((n for n in value if not _converts([*path, n], value[n])), "") if part == "[...]" else part
        path.append(name)
        value = value.get(name)
    return path, value


def _choices(path: Sequence[str], kind: object) -> tuple[str, ...]:
    """Return the words that the type at a path lists; none where it isn't one of some words."""
    if path and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        known = {field.name: field.type for field in msgspec.structs.fields(kind)}
        return _choices(path[1:], known.get(path[0]))
    if get_origin(kind) is Literal:
        return get_args(kind)
    rest = path[1:] if get_origin(kind) is dict else path
    return next((found for part in get_args(kind) if (found := _choices(rest, part))), ())


def _converts(path: list[str], value: object) -> bool:
    """Say whether the tree takes this one entry, everything else left at its default."""
    document = value
    for name in reversed(path):
        document = {name: document}
    try:
        msgspec.convert(document, Config)
    except msgspec.ValidationError:
        return False
    return True


def _check_names(config: Config, source: str) -> None:
    """Check the keys that are names: strata, targets; and what holds between two settings."""
    rates = {"sampling.loose_rate_by_stratum": config.sampling.loose_rate_by_stratum}
    languages: dict[str, str] = {}
    for language, own in config.sampling.by_language.items():
        if (other := languages.setdefault(language.lower(), language)) != language:
            raise ConfigError(f"sampling.by_language.{language}", f"the same language as {other}", source=source)
        rates[f"sampling.by_language.{language}.loose_rate_by_stratum"] = own.loose_rate_by_stratum
    for key, table in rates.items():
        for stratum in table:
            if stratum not in FLAGGED:
                problem = f"no such stratum; allowed: {', '.join(FLAGGED)} (unflagged documents: random_rate)"
                raise ConfigError(f"{key}.{stratum}", problem, source=source)
    periods = 365.25 * 86_400 / config.alarm.period
    if config.alarm.false_alarms_per_year >= periods:
        problem = f"a year has {periods:g} of alarm.period: fewer false alarms than that are allowed"
        raise ConfigError("alarm.false_alarms_per_year", problem, source=source)
    shortest, deadline = min(config.readings.windows_days), config.labels.deadline_days
    if shortest < deadline:
        problem = f"{shortest} days are fewer than labels.deadline_days, {deadline:g}: allowed are that many or more"
        raise ConfigError("readings.windows_days", problem, source=source)
    if len(set(config.readings.windows_days)) < len(config.readings.windows_days):
        raise ConfigError("readings.windows_days", "names a window twice", source=source)
    names = [n for n in msgspec.structs.astuple(config.topics) if isinstance(n, str)]
    twice = next((n for n in names if names.count(n) > 1 or not _TOPIC.fullmatch(n)), None)
    if twice is not None:
        problem = f"{twice!r}: a topic name is used once, and holds letters, digits, '.', '_' and '-' alone"
        raise ConfigError("topics", problem, source=source)


_DECIDING = ("sampling", "net", "entities", "targets", "limits", "labels", "matching", "readings", "alarm", "redaction")
"""Sections that can change a decision or a number."""


def config_id(config: Config) -> str:
    """Return 8 hex digits over everything that can change a decision or a number; equal trees give equal ids.

    The sampling key goes in as its fingerprint, so the id is safe to publish. A version of the product that has more
    settings gives the same id; see `monitor.added_settings`.
    """
    return document_id(recorded_document(config))


def document_id(document: Mapping[str, object]) -> str:
    """Return the id of a config by its recorded document, whichever version recorded it."""
    return hashlib.blake2b(msgspec.json.encode(document, order="sorted"), digest_size=4).hexdigest()


def key_fingerprint(config: Config) -> str:
    """Return what is shown in place of the sampling key."""
    return "fingerprint:" + hashlib.blake2b(config.sampling.key.encode(), digest_size=8).hexdigest()


def deciding_document(config: Config) -> dict[str, object]:
    """Return the sections that can change a decision or a number as plain data, the sampling key as a fingerprint."""
    document = public_document(config)
    return {name: document[name] for name in _DECIDING}


def recorded_document(config: Config) -> dict[str, object]:
    """Return what the history records of a config, and its id is over: `deciding_document`, less what came later."""
    return left_out(deciding_document(config))


def public_document(config: Config) -> dict[str, object]:
    """Return the tree as plain data that may be shown: the sampling key as a fingerprint."""
    document: dict[str, object] = msgspec.to_builtins(config)
    sampling: dict[str, object] = msgspec.to_builtins(config.sampling)
    document["sampling"] = {**sampling, "key": key_fingerprint(config)}
    return document
