"""Where settings come from, which one wins, what is refused in whose name, and that no secret shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from monitor.config import DEFAULT_KEY, read_config
from monitor.errors import ConfigError
from streams.settings import Secret, load_settings, tls_context

SECRET = "hunter2-hunter2"  # noqa: S105  # nobody's


def write(path: Path, text: str) -> Path:
    """Write a file and return where."""
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path | None = None, overrides: tuple[str, ...] = (), **env: str) -> ConfigError:
    """Return the error that these settings give."""
    with pytest.raises(ConfigError) as caught:
        load_settings(path, overrides, env)
    return caught.value


def test_without_anything_all_is_at_its_default() -> None:
    """No file, no environment: the tree's own defaults, and no password."""
    settings = load_settings(None)
    assert (settings.config, settings.path, settings.overrides, settings.password) == (read_config({}), None, (), None)


def test_later_sources_win(tmp_path: Path) -> None:
    """File, then environment, then command line; what one leaves out another one's value stays."""
    path = write(tmp_path / "c.toml", '[kafka]\nbrokers = "file:1"\ngroup = "file"\nusername = "file"\n')
    env = {"RECALLWATCH_KAFKA_BROKERS": "env:1", "RECALLWATCH_KAFKA_GROUP": "env"}
    kafka = load_settings(path, ["kafka.brokers=set:1"], env).config.kafka
    assert (kafka.brokers, kafka.group, kafka.username) == ("set:1", "env", "file")


def test_the_last_override_wins() -> None:
    """As on any command line."""
    assert load_settings(None, ["matching.iou=0.5", "matching.iou=0.7"]).config.matching.iou == 0.7


@pytest.mark.parametrize(
    ("override", "at", "value"),
    [
        ("sampling.random_rate=1", ("sampling", "random_rate"), 1.0),
        ("sampling.loose_rate = 1e-2", ("sampling", "loose_rate"), 0.01),
        ("kafka.group=a b", ("kafka", "group"), "a b"),
        ('kafka.group="quoted"', ("kafka", "group"), "quoted"),
        ("kafka.brokers=a:1,b:2", ("kafka", "brokers"), "a:1,b:2"),
        ("kafka.username=x=y", ("kafka", "username"), "x=y"),
        ("kafka.check_crcs=true", ("kafka", "check_crcs"), True),
        ("readings.windows_days=[9, 30]", ("readings", "windows_days"), (9, 30)),
        ("sampling.loose_rate_by_stratum.both=0.5", ("sampling", "loose_rate_by_stratum"), {"both": 0.5}),
        ('targets."PERSON.es"=0.9', ("targets",), {"PERSON.es": 0.9}),
        ("targets.'PERSON.es'=0.9", ("targets",), {"PERSON.es": 0.9}),
        ("targets.PERSON.es=0.9", ("targets",), {"PERSON.es": 0.9}),
        ("targets.PERSON = .9", ("targets",), {"PERSON": 0.9}),
        ("sampling.loose_rate=.1", ("sampling", "loose_rate"), 0.1),
        ("sampling.loose_rate=+.1e-1", ("sampling", "loose_rate"), 0.01),
        ("kafka.group=.1.", ("kafka", "group"), ".1."),
        ("sampling.key=ключ \"'\\", ("sampling", "key"), "ключ \"'\\"),
    ],
)
def test_an_override_is_toml_or_else_a_string(override: str, at: tuple[str, ...], value: object) -> None:
    """Numbers, lists and quoted keys are TOML's; what TOML can't read is text as it stands."""
    found: object = load_settings(None, [override]).config
    for name in at:
        found = getattr(found, name)
    assert found == value


def test_environment_gives_brokers_key_and_page() -> None:
    """Every variable that the sample names is read; the port is a number."""
    env = {
        "RECALLWATCH_KAFKA_BROKERS": "b:1",
        "RECALLWATCH_KAFKA_USERNAME": "u",
        "RECALLWATCH_KAFKA_GROUP": "g",
        "RECALLWATCH_SAMPLING_KEY": SECRET,
        "RECALLWATCH_HTTP_HOST": "0.0.0.0",  # noqa: S104  # read, never listened on
        "RECALLWATCH_HTTP_PORT": "81",
    }
    config = load_settings(None, (), env).config
    assert (config.kafka.brokers, config.kafka.username, config.kafka.group) == ("b:1", "u", "g")
    assert (config.sampling.key, config.http.host, config.http.port) == (SECRET, "0.0.0.0", 81)  # noqa: S104  # as above


def test_an_empty_variable_is_none() -> None:
    """An unset variable of a container's is often an empty one."""
    assert load_settings(None, (), {"RECALLWATCH_SAMPLING_KEY": ""}).config.sampling.key == DEFAULT_KEY


def test_a_secret_is_read_from_the_file_that_a_variable_names(tmp_path: Path) -> None:
    """The end of the line isn't part of it, blanks are, nor is a mark that an editor put before it."""
    path = write(tmp_path / "key", f"\ufeff {SECRET} \r\n")
    env = {"RECALLWATCH_SAMPLING_KEY_FILE": str(path), "RECALLWATCH_SAMPLING_KEY": "other"}
    assert load_settings(None, (), env).config.sampling.key == f" {SECRET} "


@pytest.mark.parametrize(("content", "problem"), [(None, "No such file"), (b"\xff", "not UTF-8"), (b"\n", "empty")])
def test_a_secret_file_that_gives_none_is_refused_by_its_variable(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    """A typing error must not leave the published default in force."""
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    error = refusal(RECALLWATCH_SAMPLING_KEY_FILE=str(path))
    assert (error.source, error.key) == ("environment", "RECALLWATCH_SAMPLING_KEY_FILE")
    assert str(path) in error.problem
    assert problem in error.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sampling = ", "no TOML: Invalid value (at end of document)"),
        ("[sampling]\nkey = 1\nkey = 2", "no TOML: Cannot overwrite a value"),
        ("a = " + "9" * 5000, "no TOML"),
        ("a = " + "[" * 5000, "no TOML"),
    ],
    ids=["cut short", "twice", "5,000 digits", "5,000 brackets"],
)
def test_a_file_that_is_no_toml_is_refused_with_its_name(tmp_path: Path, text: str, problem: str) -> None:
    """One line: the file, and where in it."""
    path = write(tmp_path / "c.toml", text)
    error = refusal(path)
    assert str(error).startswith(f"{path}: {problem}")
    assert "\n" not in str(error)


def test_a_file_that_can_not_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    """Not there, a directory, other bytes than text."""
    (tmp_path / "latin").write_bytes("[targets]\n# höchstens\n".encode("latin-1"))
    told = [str(refusal(tmp_path / name)) for name in ("nowhere", ".", "latin")]
    assert [message.rpartition(": ")[2] for message in told] == [
        "No such file or directory",
        "Is a directory",
        "not UTF-8 text",
    ]


def test_a_byte_order_mark_is_nothing(tmp_path: Path) -> None:
    """Some editors write one before the first table."""
    path = write(tmp_path / "c.toml", "\ufeff[matching]\niou = 0.5\n")
    assert load_settings(path).config.matching.iou == 0.5


def test_an_unknown_key_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    """The message names file, key and what was probably meant."""
    path = write(tmp_path / "c.toml", "[sampling]\nrandom_rates = 0.1\n")
    assert str(refusal(path)) == (f"{path}: sampling.random_rates: unknown key; did you mean sampling.random_rate?")


@pytest.mark.parametrize(
    ("overrides", "env", "source"),
    [
        (("http.port=70000",), {}, "--set"),
        ((), {"RECALLWATCH_HTTP_PORT": "70000"}, "RECALLWATCH_HTTP_PORT"),
        (("http.port=70000",), {"RECALLWATCH_HTTP_PORT": "80"}, "--set"),
        (("http.host=x",), {}, "the file"),
    ],
)
def test_a_bad_value_is_refused_in_the_name_of_where_it_came_from(
    tmp_path: Path, overrides: tuple[str, ...], env: Mapping[str, str], source: str
) -> None:
    """Whoever reads the message looks for the value in the right place."""
    path = write(tmp_path / "c.toml", "[http]\nport = 70001\n")
    error = refusal(path, overrides, **env)
    assert (error.key, error.source) == ("http.port", str(path) if source == "the file" else source)


@pytest.mark.parametrize(
    ("overrides", "source"),
    [
        (("labels.deadline_days=30",), "--set"),
        (("http.port=80", "labels.deadline_days=30", "http.host=x"), "--set"),
        (("http.port=80",), "the file"),
    ],
)
def test_two_settings_that_do_not_agree_are_laid_to_what_came_last(
    tmp_path: Path, overrides: tuple[str, ...], source: str
) -> None:
    """The file agrees with itself until another source changes one of the two; else it's the file's own doing."""
    days = 31 if source == "the file" else 7
    path = write(tmp_path / "c.toml", f"[labels]\ndeadline_days = {days}\n[readings]\nwindows_days = [7, 28]\n")
    error = refusal(path, overrides, RECALLWATCH_HTTP_HOST="::")
    assert (error.key, error.source) == ("readings.windows_days", str(path) if source == "the file" else source)
    assert "labels.deadline_days" in error.problem


def test_a_variable_is_not_blamed_for_what_an_override_put_beside_it() -> None:
    """Both name the same table; it's the override's value that doesn't agree."""
    error = refusal(None, ("kafka.group=g", "labels.deadline_days=30"), RECALLWATCH_KAFKA_GROUP="h")
    assert error.source == "--set"


def test_a_negative_fraction_is_a_number_out_of_range() -> None:
    """And not a string, of which the message would speak otherwise."""
    assert "-0.5: expected a number from 0 to 1" in str(refusal(None, ("sampling.loose_rate=-.5",)))


@pytest.mark.parametrize("language", ["", "by_language.es."])
def test_a_rate_of_a_stratum_is_refused_with_the_key_it_belongs_under(language: str) -> None:
    """`loose_rate.both` is how most people would write it."""
    prefix = f"sampling.{language}loose_rate"
    error = refusal(None, (f"{prefix}.both=0.3",))
    assert str(error) == f"--set: {prefix}.both: unknown key; did you mean {prefix}_by_stratum.both?"


@pytest.mark.parametrize("override", ["sampling.random_rate", "=1", "", "a b c=1", "[x]=1", "targets.=1"])
def test_an_override_without_a_key_is_refused(override: str) -> None:
    """It says how to write one."""
    error = refusal(None, (override,))
    assert error.source == "--set"
    assert "such as sampling.random_rate" in error.problem


@pytest.mark.parametrize(
    ("overrides", "env"),
    [(("kafka.group=a\udcff",), {}), ((), {"RECALLWATCH_KAFKA_GROUP": "a\udcff"}), (("a\udcff=1",), {})],
)
def test_other_bytes_than_text_are_refused(overrides: tuple[str, ...], env: Mapping[str, str]) -> None:
    """Python hands bytes of another encoding on as lone surrogates, which no id could be made of."""
    error = refusal(None, overrides, **env)
    assert "not UTF-8 text" in error.problem
    str(error).encode()


SASL = ("kafka.security=sasl_tls", "kafka.username=u")


def test_a_password_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    """The environment comes before the config's own file."""
    path = write(tmp_path / "password", "from the file\n")
    settings = load_settings(None, [*SASL, f"kafka.password_file={path}"])
    assert settings.password is not None
    assert settings.password.reveal() == "from the file"
    env = {"RECALLWATCH_KAFKA_PASSWORD": SECRET}
    settings = load_settings(None, [*SASL, f"kafka.password_file={tmp_path / 'nowhere'}"], env)
    assert settings.password is not None
    assert settings.password.reveal() == SECRET


def test_a_password_file_that_is_not_there_is_refused_by_its_setting(tmp_path: Path) -> None:
    """And not by a variable that nobody set."""
    assert refusal(None, (*SASL, f"kafka.password_file={tmp_path / 'nowhere'}")).key == "kafka.password_file"
    assert refusal(None, (*SASL, 'kafka.password_file="a\\u0000b"')).key == "kafka.password_file"


@pytest.mark.parametrize("security", ["sasl_plaintext", "plaintext"])
def test_a_password_without_tls_is_refused(security: str) -> None:
    """Anybody on the way could read it."""
    overrides = (f"kafka.security={security}", "kafka.username=u")
    error = refusal(None, overrides, RECALLWATCH_KAFKA_PASSWORD=SECRET)
    assert error.key == "kafka.security"
    assert "sasl_tls" in error.problem


def test_a_password_without_tls_is_sent_where_that_is_allowed() -> None:
    """Explicitly, by a setting of its own."""
    overrides = ["kafka.security=sasl_plaintext", "kafka.username=u", "kafka.allow_password_without_tls=true"]
    password = load_settings(None, overrides, {"RECALLWATCH_KAFKA_PASSWORD": SECRET}).password
    assert password is not None
    assert password.reveal() == SECRET


@pytest.mark.parametrize(
    ("overrides", "env"),
    [(("kafka.username=u",), {}), ((), {"RECALLWATCH_KAFKA_PASSWORD": SECRET})],
    ids=["no password", "no user"],
)
def test_half_of_user_and_password_is_refused(overrides: tuple[str, ...], env: Mapping[str, str]) -> None:
    """It names both, and where the password may stand."""
    error = refusal(None, ("kafka.security=sasl_tls", *overrides), **env)
    assert "kafka.username and a password (RECALLWATCH_KAFKA_PASSWORD" in error.problem


def test_without_a_broker_no_password_is_asked_for(tmp_path: Path) -> None:
    """A replay under the config of production needs none of its secrets."""
    overrides = ["kafka.security=sasl_tls", f"kafka.password_file={tmp_path / 'nowhere'}"]
    assert load_settings(None, overrides, {}, broker=False).password is None


def test_no_secret_shows_itself(tmp_path: Path) -> None:
    """Neither in what is printed of settings, nor in an error about them."""
    env = {"RECALLWATCH_KAFKA_PASSWORD": SECRET, "RECALLWATCH_SAMPLING_KEY": SECRET}
    settings = load_settings(None, [*SASL, f"sampling.key={SECRET}"], env)
    assert SECRET not in f"{settings!r} {settings} {settings.password!r} {settings.password} {Secret(SECRET)}"
    long = SECRET * 50
    path = write(tmp_path / "c.toml", f'[sampling]\nkey = ["{SECRET}"]\n')
    errors = [
        refusal(None, SASL[:1], **env),
        refusal(None, (f"sampling.key={long}",)),
        refusal(None, (), RECALLWATCH_SAMPLING_KEY=long),
        refusal(None, (f"kafka.password={SECRET}",)),
        refusal(path),
    ]
    assert [SECRET in str(error) for error in errors] == [False] * len(errors)


CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUeaLfFtauvY3mkRyp9T8zm+C8BPcwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMzAwNTQ5NTlaGA8yMTI2MTEwNjA1NDk1
OVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDdu
QpTQ79iTKkgYgNKgRW2KG1h4M8SPj8DUFjzCqPEqa3LIblZnv2C0snTWTVT/Lzmh
QfpEH2RxR4MicPIfCdqjUzBRMB0GA1UdDgQWBBQnvGoE9LNqLHcV3nQpQ/uXBGP+
9zAfBgNVHSMEGDAWgBQnvGoE9LNqLHcV3nQpQ/uXBGP+9zAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCICL8RSks1zQGoec466+rHBrlEM4MVhb1PySs
okX2C487AiEA/QD5etSN6AFeTx7DwDJ1dZ/L5WVtkfFFWB+LhsAsrLM=
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHcp4PuzDkY9SbV6E
Xx4EBzEy/oqPn24g80/YAVFPmsqhRANCAAQ3bkKU0O/YkypIGIDSoEVtihtYeDPE
j4/A1BY8wqjxKmtyyG5WZ79gtLJ01k1U/y85oUH6RB9kcUeDInDyHwna
-----END PRIVATE KEY-----
"""
CLOSED_KEY = """\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgguBBlbJZDiwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEO06A2zVaW9N4WPoaHi5abgEgZBj
ec/kEmetVO+vdhIfUuKMt/T3vMj/fvZvhz1ef5dXW7wtGviHNv8BtYvSl513wXl2
aXqKYRWh9r2zlDQaOW+/0marJI/vIKI3boKku89BuV4bpHOTIH99sYUy+dN8jSha
FzeDLGt6GFIVTGY/KYttzSmnN8TxiujRrIE3mORJeT9fE0wXqKi7+GAPY5ZQgyE=
-----END ENCRYPTED PRIVATE KEY-----
"""
"""Of nobody: made for these tests, trusted nowhere. The second one is under a passphrase."""


def certificate(folder: Path, key: str = KEY) -> tuple[Path, Path]:
    """Write a certificate and its key, and return where."""
    return write(folder / "cert.pem", CERTIFICATE), write(folder / "key.pem", key)


def test_there_is_a_tls_context_with_tls_alone(tmp_path: Path) -> None:
    """With the client's certificate where one is given."""
    cert, key = certificate(tmp_path)
    files = {"ca_file": str(cert), "cert_file": str(cert), "key_file": str(key)}
    assert tls_context(read_config({"kafka": {"security": "plaintext"}})) is None
    assert tls_context(read_config({"kafka": {"security": "tls"}})) is not None
    context = tls_context(read_config({"kafka": {"security": "tls", **files}}))
    assert context is not None
    assert context.cert_store_stats()["x509"] == 1


@pytest.mark.parametrize("key", ["ca_file", "cert_file"])
@pytest.mark.parametrize("content", [None, "no certificate", "nul"])
def test_a_certificate_that_can_not_be_read_is_refused_by_its_setting(
    tmp_path: Path, key: str, content: str | None
) -> None:
    """Not there, something else, or no name of a file."""
    path = tmp_path / "x.pem"
    if content:
        path.write_text(content)
    name = "a\0b" if content == "nul" else str(path)
    with pytest.raises(ConfigError) as caught:
        tls_context(read_config({"kafka": {"security": "tls", key: name}}))
    assert caught.value.key == f"kafka.{key}"


def test_a_key_under_a_passphrase_is_refused_and_not_asked_for(tmp_path: Path) -> None:
    """A worker has no terminal to type it at."""
    cert, key = certificate(tmp_path, CLOSED_KEY)
    tree = read_config({"kafka": {"security": "tls", "cert_file": str(cert), "key_file": str(key)}})
    with pytest.raises(ConfigError) as caught:
        tls_context(tree)
    assert caught.value.key == "kafka.cert_file"


@pytest.mark.parametrize(
    "brokers", ["127.0.0.1:37575:", "localhost:abc", "", "a:9092,", "kafka://a:9092", "a:70000", "[::1"]
)
def test_brokers_that_are_no_addresses_are_refused(brokers: str) -> None:
    """The client would end with a traceback, of a worker in the midst of its start."""
    error = refusal(None, (f"kafka.brokers={brokers}",))
    assert (error.key, "HOST:PORT" in error.problem) == ("kafka.brokers", True)


@pytest.mark.parametrize("brokers", ["a:9092, b.c:9093", "[::1]:9092", "broker"])
def test_brokers_may_be_several_and_the_port_is_known(brokers: str) -> None:
    """9092 is Kafka's own."""
    assert load_settings(None, [f"kafka.brokers={brokers}"], {}).config.kafka.brokers == brokers
