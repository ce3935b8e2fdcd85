"""The HTTP server: what each path answers, to whom, and when the stream is in trouble."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import boards
import msgspec
import pytest
from probes import WELL, Said
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse

from monitor.errors import SourceError
from monitor.pipeline import Pipeline
from monitor.readings import BoardSnapshot
from monitor.readings_json import reading_document
from streams.health import Answer as Verdict
from streams.health import Probes
from streams.http import HttpServer
from streams.scraping import Published


class Stream:
    """Stands for the stream: one record, swapped in whole."""

    def __init__(self, snapshot: BoardSnapshot | None, pipeline: Pipeline) -> None:
        self.published: Published = (snapshot, pipeline)

    def __call__(self) -> Published:
        """Return what was published last."""
        return self.published


class Answer:
    """A response, read."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = response.status, response.headers, response.read()
        self.text = self.body.decode()


def ask(server: HttpServer, path: str, *, method: str = "GET", **headers: str) -> Answer:
    """Return the answer to one request; `Host` and others as keywords."""
    place = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port or 0, timeout=10)
    try:
        connection.request(method, path, headers=headers)
        return Answer(connection.getresponse())
    finally:
        connection.close()


@contextmanager
def serving(stream: Stream, now: float = boards.NOW, probes: Probes = WELL) -> Iterator[HttpServer]:
    """Serve a stream on a free port."""
    server = HttpServer("127.0.0.1", 0, stream, probes, now=lambda: now)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    """Serve a busy board."""
    with serving(Stream(boards.busy_board(), boards.worker())) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/", 200, "text/html; charset=utf-8"),
        ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8"),
        ("/healthz", 200, "text/plain; charset=utf-8"),
        ("/readyz", 200, "text/plain; charset=utf-8"),
        ("/api/board", 200, "application/json"),
        ("/nothing", 404, "text/plain; charset=utf-8"),
    ],
)
def test_each_path_answers_with_its_type_and_is_safe_to_open(
    server: HttpServer, path: str, status: int, kind: str
) -> None:
    """Every answer, errors too: no other host, no guessing of types, no frame, no cache, no sharing."""
    answer = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"]) == (status, kind)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "http" not in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Access-Control-Allow-Origin"] is None
    assert "aiohttp" not in answer.headers["Server"]


def test_nothing_can_be_written(server: HttpServer) -> None:
    """A scrape and a reader change nothing, and neither can anybody else."""
    assert [ask(server, "/", method=method).status for method in ("POST", "PUT", "DELETE")] == [405] * 3


def test_metrics_parse_and_hold_the_readings(server: HttpServer) -> None:
    """The plain format by default."""
    names = {family.name for family in parse(ask(server, "/metrics").text)}
    assert {"recallwatch_recall_lower_ratio", "recallwatch_decisions"} <= names


def test_openmetrics_is_given_to_who_asks_for_it(server: HttpServer) -> None:
    """As Prometheus asks, with weights."""
    accept = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    answer = ask(server, "/metrics", Accept=accept)
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("# EOF\n")
    assert list(parse_openmetrics(answer.text))


@pytest.mark.parametrize("accept", ["application/openmetrics-text;version=x", "text/plain;version=;;,", "\xff", ","])
def test_a_senseless_accept_header_gets_the_plain_format(server: HttpServer, accept: str) -> None:
    """It's no reason to lose a scrape."""
    assert ask(server, "/metrics", Accept=accept).status == 200


def test_answers_are_compressed_for_who_can_read_that(server: HttpServer) -> None:
    """The page goes over the wire at a fifth of its size."""
    plain, small = ask(server, "/"), http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    small.request("GET", "/", headers={"Accept-Encoding": "gzip"})
    response = small.getresponse()
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(response.read()) * 4 < len(plain.body)
    small.close()


def test_the_board_as_json_is_the_snapshot(server: HttpServer) -> None:
    """What the page shows can be read by a program."""
    assert msgspec.json.decode(ask(server, "/api/board").body, type=BoardSnapshot) == boards.busy_board()


def test_one_reading_has_one_shape_everywhere(server: HttpServer) -> None:
    """Recall where any tool looked has the names that a replay's JSON gives it, and is null where it has no value."""
    shares = [r["matched"] for r in json.loads(ask(server, "/api/board").body)["readings"]]
    expected = [reading_document(r)["matched"] for r in boards.busy_board().readings]
    nothing = {"estimate": None, "lower": None, "upper": None}
    assert expected == [share | {"where_looked": share["where_looked"] or nothing} for share in shares]
    assert any(share["where_looked"] for share in shares)


def test_a_name_that_is_no_text_does_not_break_the_json() -> None:
    """Half a surrogate pair comes out as its escape."""
    board = msgspec.structs.replace(boards.quiet_board(), readings=(boards.reading("\ud83d", "en"),))
    with serving(Stream(board, boards.worker())) as server:
        assert json.loads(ask(server, "/api/board").body)["readings"][0]["entity"] == "\\ud83d"


def test_a_worker_that_is_not_the_board_points_to_it() -> None:
    """It has no readings to give, and says who has."""
    with serving(Stream(boards.busy_board(), boards.worker(is_board=False))) as server:
        answer = ask(server, "/api/board")
        assert answer.status == 404
        assert json.loads(answer.body)["board_url"] == "http://127.0.0.1:9465/"
        assert "http://127.0.0.1:9465/" in ask(server, "/").text
        assert "recallwatch_recall" not in ask(server, "/metrics").text


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize(("good", "status"), [(True, 200), (False, 503)])
def test_a_probe_gets_the_verdict_and_its_reason(path: str, good: bool, status: int) -> None:  # noqa: FBT001  # pytest's
    """A supervisor reads the status, a person the line; each path asks its own question."""
    said, other = Verdict(good=good, text="so and so"), Verdict(good=not good, text="the other one")
    probes = Said(*((said, other) if path == "/healthz" else (other, said)))
    with serving(Stream(None, boards.worker(ready=False)), probes=probes) as server:
        answer = ask(server, path)
        assert (answer.status, answer.text) == (status, "so and so\n")


@pytest.mark.parametrize("silent_s", [0.0, 361.0])
def test_page_metrics_and_health_say_the_same_of_life(silent_s: float) -> None:
    """One definition: whatever the worker published of itself, it can't be dead here and alive there."""
    stuck = silent_s > 0
    life = Verdict(good=not stuck, text="stuck: <so> and so" if stuck else "alive", silent_s=silent_s)
    published = msgspec.structs.replace(boards.worker(), heartbeat_at=1.0)
    with serving(Stream(boards.busy_board(), published), probes=Said(life, WELL.of_readiness)) as server:
        assert ask(server, "/healthz").status == (503 if stuck else 200)
        assert ("This worker is stuck: &lt;so&gt; and so." in ask(server, "/").text) is stuck
        assert ("Only a restart mends it" in ask(server, "/").text) is stuck
        text = ask(server, "/metrics").text
        found = {sample.name: sample.value for family in parse(text) for sample in family.samples}
        assert found["recallwatch_heartbeat_timestamp_seconds"] == boards.NOW - silent_s


def test_a_new_record_is_served_at_once() -> None:
    """Nothing is kept between requests."""
    stream = Stream(None, boards.worker())
    with serving(stream) as server:
        before = ask(server, "/api/board").status
        stream.published = (boards.busy_board(), boards.worker())
        assert (before, ask(server, "/api/board").status) == (404, 200)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9464", "169.254.1.1", "[::2]:80"])
def test_on_loopback_a_name_from_the_web_gets_nothing(server: HttpServer, host: str) -> None:
    """A page on the web can point its own name here; the browser would hand it the answer."""
    answer = ask(server, "/api/board", Host=host)
    assert (answer.status, answer.text) == (421, "this address answers to localhost only\n")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9464", "[::1]:9464"])
def test_names_of_loopback_are_answered(server: HttpServer, host: str) -> None:
    """Through a tunnel the port may be another."""
    assert ask(server, "/healthz", Host=host).status == 200


def test_a_taken_port_is_one_clear_error() -> None:
    """It names the port and the setting."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        stream = Stream(None, boards.worker())
        with pytest.raises(SourceError, match=f"port {port} on 127.0.0.1 is taken .* http.port"):
            HttpServer("127.0.0.1", port, stream, WELL).start()


def test_a_host_that_is_not_here_is_one_clear_error() -> None:
    """192.0.2.1 is kept for documentation (RFC 5737), so no machine has it."""
    stream = Stream(None, boards.worker())
    with pytest.raises(SourceError, match=r"can't listen on 192\.0\.2\.1:0"):
        HttpServer("192.0.2.1", 0, stream, WELL).start()


def test_stopping_frees_the_port_and_can_be_repeated() -> None:
    """The same port serves again at once."""
    stream = Stream(None, boards.worker())
    with serving(stream) as first:
        port = urlsplit(first.url).port or 0
    first.stop()
    again = HttpServer("127.0.0.1", port, stream, WELL, now=lambda: boards.NOW)
    again.start()
    try:
        assert ask(again, "/healthz").status == 200
    finally:
        again.stop()


def test_a_wildcard_host_is_shown_by_a_name_that_others_can_use() -> None:
    """The board's address goes to other machines."""
    stream = Stream(None, boards.worker())
    assert HttpServer("0.0.0.0", 9464, stream, WELL).url == f"http://{socket.gethostname()}:9464/"  # noqa: S104  # not bound
    assert HttpServer("::1", 9464, stream, WELL).url == "http://[::1]:9464/"
