"""Where settings come from: a TOML file, `--set KEY=VALUE`, and the environment for brokers and secrets.

Later ones win: file, environment, command line. Secrets never stand in the tree that is published or shown: the
broker's password is kept apart and hidden from `repr`, the sampling key is published as a fingerprint.
"""

from __future__ import annotations

import contextlib
import re
import ssl
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from monitor.config import Config, config_id, read_config
from monitor.errors import ConfigError

_ENVIRONMENT = {
    "RECALLWATCH_KAFKA_BROKERS": ("kafka", "brokers"),
    "RECALLWATCH_KAFKA_USERNAME": ("kafka", "username"),
    "RECALLWATCH_KAFKA_GROUP": ("kafka", "group"),
    "RECALLWATCH_SAMPLING_KEY": ("sampling", "key"),
    "RECALLWATCH_HTTP_HOST": ("http", "host"),
    "RECALLWATCH_HTTP_PORT": ("http", "port"),
}
_TLS = frozenset({"tls", "sasl_tls"})
_CERTIFICATES = ("ca_file", "cert_file", "key_file")
_BARE_FRACTION = re.compile(r"\A(?P<sign>[+-]?)(?P<fraction>\.[0-9]+(?:[eE][+-]?[0-9]+)?)\Z")
"""A number as people write it; TOML asks for a digit before the point."""
_PASSWORD = "RECALLWATCH_KAFKA_PASSWORD"  # noqa: S105  # a variable's name


class Secret:
    """A secret that doesn't show itself."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "Secret(…)"

    def reveal(self) -> str:
        """Return the secret, for the one place that needs it."""
        return self._value


class Settings(msgspec.Struct, frozen=True):
    """The tree, where it came from, and the password that isn't in it."""

    config: Config
    path: Path | None
    overrides: tuple[str, ...]
    password: Secret | None

    def __repr__(self) -> str:
        # the tree holds the sampling key, and so may an override
        return f"Settings(config {config_id(self.config)}, path={self.path}, {len(self.overrides)} overrides)"


def load_settings(
    path: Path | None,
    overrides: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    *,
    broker: bool = True,
) -> Settings:
    """Return the settings of a file, the environment and `KEY=VALUE` overrides.

    Parameters
    ----------
    broker
        Whether a broker will be asked: without one the password is neither read nor missed.

    Raises
    ------
    ConfigError
        A file that isn't there or is no TOML, an unknown key, a value out of range, a password without TLS. The error
        says which of the three sources the value came from.
    """
    env = env or {}
    source = str(path) if path else "config"
    document: dict[str, object] = _read_toml(path) if path else {}
    layers = [*_environment(env), *(("--set", _parse_override(override)) for override in overrides)]
    for _, layer in layers:
        _merge(document, layer)
    try:
        config = read_config(document, source=source)
    except ConfigError as error:
        named = [name for name, layer in layers if _names(layer, error.key)]
        blamed = named[-1] if named else _first_refused(path, layers) or source
        raise ConfigError(error.key, error.problem, source=blamed) from None
    if broker:
        _refuse_unused_tls(config, source)
        _refuse_unreachable(config.kafka.brokers, source)
    password = _password(config, env, source) if broker else None
    return Settings(config, path, tuple(overrides), password)


def _first_refused(path: Path | None, layers: Iterable[tuple[str, Mapping[str, object]]]) -> str | None:
    """Return the layer that made of settings which agree some that don't; None where the file's own don't already."""
    document = _read_toml(path) if path else {}
    blamed: str | None = None
    agreed = _agrees(document)
    for name, layer in layers:
        _merge(document, layer)
        before, agreed = agreed, _agrees(document)
        if before and not agreed:
            blamed = name
    return blamed


def _agrees(document: Mapping[str, object]) -> bool:
    try:
        read_config(document)
    except ConfigError:
        return False
    return True


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError("", error.strerror or "can't be read", source=str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("", "not UTF-8 text", source=str(path)) from None
    except (ValueError, RecursionError) as error:  # also of a number of 5,000 digits, or of brackets nested as deep
        raise ConfigError("", f"no TOML: {error}", source=str(path)) from None


def _environment(env: Mapping[str, str]) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield each variable that is set, with the document it stands for."""
    for name, (section, key) in _ENVIRONMENT.items():
        value = _from_environment(name, env)
        if value is not None:
            number = key == "port" and value.isascii() and value.isdecimal()
            yield name, {section: {key: int(value) if number else value}}


def _from_environment(name: str, env: Mapping[str, str]) -> str | None:
    """Return a variable, or what stands in the file that `NAME_FILE` names."""
    file = env.get(f"{name}_FILE")
    if file:
        return _read_secret(Path(file), f"{name}_FILE", "environment")
    value = env.get(name) or None
    if value is not None:
        _refuse_other_bytes(value, name, "environment")
    return value


def _read_secret(path: Path, key: str, source: str) -> str:
    """Return what stands in a file, without the end of its line; an empty file is a slip, not an empty secret."""
    try:
        value = path.read_text(encoding="utf-8-sig").strip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ConfigError(key, f"{path}: can't be read ({reason})", source=source) from None
    if not value:
        raise ConfigError(key, f"{path}: empty", source=source)
    return value


def _refuse_other_bytes(value: str, key: str, source: str) -> None:
    """Refuse an argument or a variable of bytes that are no text; Python hands them on as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigError(key, "not UTF-8 text", source=source) from None


def _parse_override(override: str) -> dict[str, object]:
    """Return `KEY=VALUE` as a document; a value that is no TOML is a string.

    A shell takes TOML's quotes away, so `targets.PERSON.es=0.9` is the target `PERSON.es`, and `.1` is 0.1.
    """
    key, equals, value = override.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ConfigError(key, "write KEY=VALUE, such as sampling.random_rate=0.01", source="--set")
    _refuse_other_bytes(override, key.encode(errors="replace").decode(), "--set")
    number = _BARE_FRACTION.sub(r"\g<sign>0\g<fraction>", value.strip())
    for text in (number, msgspec.json.encode(value).decode()):
        with contextlib.suppress(ValueError, RecursionError):
            return tomllib.loads(f"{_quote_target(key)} = {text}")
    raise ConfigError(key, "no key: write section.name, such as sampling.random_rate", source="--set")


def _quote_target(key: str) -> str:
    """Return a dotted key with the name under `targets` as one part: it's `ENTITY.language`, no table of languages."""
    name = key.removeprefix("targets.")
    if name in (key, "") or '"' in name or "'" in name:
        return key
    return f"targets.{msgspec.json.encode(name).decode()}"


def overrides_name(overrides: Iterable[str], key: str) -> bool:
    """Say whether one of the `KEY=VALUE` overrides sets what a dotted key names."""
    return any(_names(_parse_override(override), key) for override in overrides)


def _names(layer: Mapping[str, object], key: str) -> bool:
    """Say whether a layer sets what a dotted key names, or a part of it."""
    at: object = layer
    while isinstance(at, Mapping):
        name = next((n for n in at if key == n or key.startswith(f"{n}.")), None)
        if name is None:
            return False
        if key == name:
            return True
        at, key = at[name], key.removeprefix(f"{name}.")
    return False


def _merge(document: dict[str, object], other: Mapping[str, object]) -> None:
    """Put another document's values over this one's, table by table."""
    for key, value in other.items():
        if not isinstance(value, Mapping):
            document[key] = value
            continue
        held = document.get(key)
        # never the other document's own table, which the next layer would be written into
        mine: dict[str, object] = held if isinstance(held, dict) else {}
        document[key] = mine
        _merge(mine, value)


def _password(config: Config, env: Mapping[str, str], source: str) -> Secret | None:
    """Return the broker's password; a password over a connection that anybody can read is refused."""
    kafka = config.kafka
    given = _from_environment(_PASSWORD, env)
    if given is None and kafka.password_file:
        given = _read_secret(Path(kafka.password_file), "kafka.password_file", source)
    if given and kafka.security == "plaintext":
        problem = "'plaintext' sends no password, and one is given: use sasl_tls"
        raise ConfigError("kafka.security", problem, source=source)
    sasl = kafka.security.startswith("sasl")
    if sasl and not (given and kafka.username):
        problem = (
            f"{kafka.security!r} needs kafka.username and a password ({_PASSWORD}, {_PASSWORD}_FILE or password_file)"
        )
        raise ConfigError("kafka.security", problem, source=source)
    if kafka.security == "sasl_plaintext" and not kafka.allow_password_without_tls:
        problem = (
            "'sasl_plaintext' would send the password unencrypted: use sasl_tls, or allow_password_without_tls = true"
        )
        raise ConfigError("kafka.security", problem, source=source)
    return Secret(given) if sasl and given else None


def _refuse_unreachable(brokers: str, source: str) -> None:
    """Refuse what is no list of addresses: the client would end with a traceback."""
    for server in brokers.split(","):
        try:
            where = urlsplit(f"kafka://{server.strip()}")
            good = bool(where.hostname) and where.port != 0 and not (where.path or where.username)
        except ValueError:  # a port that is none, a bracket that isn't closed
            good = False
        if not good:
            raise ConfigError(
                "kafka.brokers", f"{server.strip()!r} is no HOST:PORT, several with commas", source=source
            )


def _refuse_unused_tls(config: Config, source: str) -> None:
    """Refuse certificates beside a connection without TLS: whoever named them believes that nobody reads along."""
    kafka = config.kafka
    if kafka.security in _TLS:
        return
    for name in _CERTIFICATES:
        if getattr(kafka, name):
            problem = f"{kafka.security!r} uses no TLS, and kafka.{name} is set: use tls or sasl_tls"
            raise ConfigError("kafka.security", problem, source=source)


def tls_context(config: Config) -> ssl.SSLContext | None:
    """Return the TLS context of the broker's connection, or None where there is none.

    Raises
    ------
    ConfigError
        A certificate or key that can't be read, or a key without its certificate.
    """
    kafka = config.kafka
    if kafka.security not in _TLS:
        return None
    for name in _CERTIFICATES:
        _refuse_unreadable(getattr(kafka, name), f"kafka.{name}")
    if kafka.key_file and not kafka.cert_file:
        raise ConfigError("kafka.key_file", "a key without its certificate: kafka.cert_file isn't set")
    key = "ca_file"
    try:
        context = ssl.create_default_context(cafile=kafka.ca_file or None)
        if kafka.cert_file:
            key = "cert_file"
            # a key under a passphrase would be asked for on the terminal, and a worker has none
            context.load_cert_chain(kafka.cert_file, kafka.key_file or None, password=lambda: "")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ConfigError(f"kafka.{key}", f"certificate or key can't be read ({reason})") from None
    return context


def _refuse_unreadable(path: str, key: str) -> None:
    """Refuse a file that can't be opened; `ssl` doesn't say which of two it couldn't."""
    if not path:
        return
    try:
        Path(path).open("rb").close()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no name of a file"
        raise ConfigError(key, f"{path!r} can't be read ({reason})") from None
