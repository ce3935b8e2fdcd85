"""Where settings come from: a TOML file, `--set KEY=VALUE`, and the environment for brokers and secrets.

Later ones win: file, environment, command line. Secrets never stand in the tree that is published or shown: the
broker's password is kept apart and hidden from `repr`, the sampling key is published as a fingerprint.
"""

from __future__ import annotations

import ssl
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from monitor.config import Config, read_config
from monitor.errors import ConfigError

_ENVIRONMENT = {
    "RECALLWATCH_KAFKA_BROKERS": ("kafka", "brokers"),
    "RECALLWATCH_KAFKA_USERNAME": ("kafka", "username"),
    "RECALLWATCH_KAFKA_GROUP": ("kafka", "group"),
    "RECALLWATCH_SAMPLING_KEY": ("sampling", "key"),
    "RECALLWATCH_HTTP_HOST": ("http", "host"),
    "RECALLWATCH_HTTP_PORT": ("http", "port"),
}
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


def load_settings(path: Path | None, overrides: Sequence[str] = (), env: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a file, the environment and `KEY=VALUE` overrides.

    Raises
    ------
    ConfigError
        A file that isn't there or is no TOML, an unknown key, a value out of range, a password without TLS.
    """
    env = env or {}
    source = str(path) if path else "config"
    document: dict[str, object] = _read_toml(path) if path else {}
    for name, (section, key) in _ENVIRONMENT.items():
        value = _from_environment(name, env)
        if value is not None:
            _merge(document, {section: {key: int(value) if key == "port" and value.isdecimal() else value}})
    for override in overrides:
        _merge(document, _parse_override(override))
    config = read_config(document, source=source)
    password = _password(config, env, source)
    return Settings(config, path, tuple(overrides), password)


def _read_toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError("", error.strerror or "can't be read", source=str(path)) from None
    except UnicodeDecodeError:
        raise ConfigError("", "not UTF-8 text", source=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("", f"no TOML: {error}", source=str(path)) from None


def _from_environment(name: str, env: Mapping[str, str]) -> str | None:
    """Return a variable, or what stands in the file that `NAME_FILE` names."""
    file = env.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{name}_FILE", f"{file}: can't be read ({type(error).__name__})", source="env") from None
    return env.get(name) or None


def _parse_override(override: str) -> dict[str, object]:
    """Return `KEY=VALUE` as a document; a value that is no TOML is a string."""
    key, equals, value = override.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ConfigError(override, "write KEY=VALUE, such as sampling.random_rate=0.01", source="--set")
    for text in (value.strip(), msgspec.json.encode(value).decode()):
        try:
            return tomllib.loads(f"{key} = {text}")
        except tomllib.TOMLDecodeError:
            continue
    raise ConfigError(key, "no key: write section.name, such as sampling.random_rate", source="--set")


def _merge(document: dict[str, object], other: Mapping[str, object]) -> None:
    """Put another document's values over this one's, table by table."""
    for key, value in other.items():
        held = document.get(key)
        if isinstance(held, dict) and isinstance(value, Mapping):
            _merge(held, value)
        else:
            document[key] = value


def _password(config: Config, env: Mapping[str, str], source: str) -> Secret | None:
    """Return the broker's password; a password over a connection that anybody can read is refused."""
    kafka = config.kafka
    given = _from_environment(_PASSWORD, env)
    if given is None and kafka.password_file:
        given = _from_environment(_PASSWORD, {f"{_PASSWORD}_FILE": kafka.password_file})
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


def tls_context(config: Config) -> ssl.SSLContext | None:
    """Return the TLS context of the broker's connection, or None where there is none.

    Raises
    ------
    ConfigError
        A certificate or key that can't be read.
    """
    kafka = config.kafka
    if kafka.security not in {"tls", "sasl_tls"}:
        return None
    try:
        context = ssl.create_default_context(cafile=kafka.ca_file or None)
        if kafka.cert_file:
            context.load_cert_chain(kafka.cert_file, kafka.key_file or None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError("kafka.ca_file", f"certificates can't be read ({error.strerror or error})") from None
    return context
