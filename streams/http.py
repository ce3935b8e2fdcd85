"""`/metrics`, health and the page, on an event loop of their own thread.

A stalled stream can't stall a scrape and a scrape can't stall the stream: all that the two share is one immutable
record that the stream swaps in whole. Nothing here changes anything.

On loopback only names of loopback are answered: a page on the web may point a name of its own at 127.0.0.1, and the
browser would then read the answers as that page's own. No CORS header is ever sent, for the same reason.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler as Answer

from monitor.errors import SourceError
from monitor.exposition import samples
from streams.health import Answer as Verdict
from streams.health import Probes
from streams.page import POLICY, Selection, render
from streams.scraping import Source, format_of, write

Clock: TypeAlias = Callable[[], float]
Response: TypeAlias = Awaitable[web.StreamResponse]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104  # compared with, not bound
_STOP_S = 5.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Server": "recallwatch",
}


class HttpServer:
    """Serves what `source` gives until it's stopped.

    Parameters
    ----------
    host, port
        Where to listen; port 0 is any free one. A host beyond loopback is the operator's explicit choice (`http.host`).
    source
        Gives the last published snapshot and the worker's figures; called from the server's thread at each request.
    probes
        Answers whether the worker is alive and ready; called from there too.
    now
        Clock, seconds since the epoch.
    """

    def __init__(self, host: str, port: int, source: Source, probes: Probes, *, now: Clock = time.time) -> None:
        self._host, self._port = host, port
        self._routes = _Routes(source, probes, now)
        self._listener: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where the page is; a wildcard host is replaced by the machine's name, for others must be able to use it."""
        if self._listener is not None:
            self._port = int(self._listener.getsockname()[1])
        host = socket.gethostname() if self._host in _WILDCARDS else self._host
        return f"http://[{host}]:{self._port}/" if ":" in host else f"http://{host}:{self._port}/"

    def start(self) -> None:
        """Listen, then answer from a thread of its own.

        Raises
        ------
        SourceError
            The port is taken, or the host can't be listened on.
        """
        self._listener = _listen(self._host, self._port)
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), name="http", daemon=True)
        self._thread.start()
        started.wait()

    def stop(self) -> None:
        """Stop answering and free the port; once is enough, twice does nothing."""
        if self._thread is None or self._loop is None:
            return
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._thread = self._loop = self._listener = None

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        runner = web.AppRunner(_application(self._routes, self._host), access_log=None, shutdown_timeout=_STOP_S)
        try:
            await runner.setup()
            assert self._listener is not None  # noqa: S101  # `start` set it before this thread was made
            await web.SockSite(runner, self._listener).start()
            started.set()
            await self._stop.wait()
        finally:
            started.set()
            await runner.cleanup()


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; made by the caller's thread, so that the error is the caller's too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"port {port} on {host} is taken by another process; set http.port (0 takes a free one)"
        else:
            problem = f"can't listen on {host}:{port}: {error.strerror or error}; set http.host and http.port"
        raise SourceError(f"http: {problem}") from error


def _application(routes: _Routes, host: str) -> web.Application:
    """Return the application; an answer that fails is a 500 without a word of what was in it."""

    @web.middleware
    async def guard(request: web.Request, handler: Answer) -> web.StreamResponse:
        if host in _LOOPBACK and _hostname(request.host) not in _LOOPBACK:
            response: web.StreamResponse = web.Response(status=421, text="this address answers to localhost only\n")
        else:
            try:
                response = await handler(request)
            except web.HTTPException as error:
                response = web.Response(status=error.status, text=f"{error.reason}\n")
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    application = web.Application(middlewares=[guard])
    for path in ("/", "/metrics", "/healthz", "/readyz", "/api/board"):
        application.router.add_get(path, routes.answers[path])
    return application


def _hostname(host: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    return host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0].lower()


class _Routes:
    """One method a path; each reads the source once."""

    def __init__(self, source: Source, probes: Probes, now: Clock) -> None:
        self._source, self._probes, self._now = source, probes, now
        self.answers: dict[str, Callable[[web.Request], Response]] = {
            "/": self.page,
            "/metrics": self.metrics,
            "/healthz": self.health,
            "/readyz": self.readiness,
            "/api/board": self.board,
        }

    async def page(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page, as the query selects it."""
        snapshot, pipeline = self._source()
        query = request.query
        selection = Selection(query.get("entity", ""), query.get("language", ""), query.get("version", ""))
        life = self._probes.alive()
        text = render(snapshot, pipeline, self._now(), selection, "" if life.good else life.text)
        response = web.Response(body=text.encode("utf-8", "replace"), content_type="text/html", charset="utf-8")
        response.headers["Content-Security-Policy"] = POLICY
        response.enable_compression()
        return response

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """Answer with the exposition, in the format that the scraper asks for."""
        wanted = format_of(request.headers.get("Accept", ""))
        snapshot, pipeline = self._source()
        heartbeat_at = self._now() - self._probes.alive().silent_s
        body = write(
            samples(snapshot, msgspec.structs.replace(pipeline, heartbeat_at=heartbeat_at)),
            openmetrics=wanted.openmetrics,
        )
        response = web.Response(body=body, headers={"Content-Type": wanted.content_type})
        response.enable_compression()
        return response

    async def health(self, _request: web.Request) -> web.StreamResponse:
        """Answer whether the process is worth keeping: 503 tells the supervisor to start it again."""
        return _said(self._probes.alive())

    async def readiness(self, _request: web.Request) -> web.StreamResponse:
        """Answer whether the worker has its partitions and its state; why not, where it hasn't."""
        return _said(self._probes.ready())

    async def board(self, _request: web.Request) -> web.StreamResponse:
        """Answer with the snapshot as JSON; 404 and the board's address where this worker isn't the board."""
        snapshot, pipeline = self._source()
        if snapshot is None or not pipeline.is_board:
            absent = {"error": "no_readings_here", "board_url": pipeline.board_url}
            return web.Response(status=404, body=msgspec.json.encode(absent), content_type="application/json")
        return web.Response(body=_json(snapshot), content_type="application/json")


def _said(verdict: Verdict) -> web.Response:
    return web.Response(status=200 if verdict.good else 503, text=f"{verdict.text}\n")


def _json(snapshot: object) -> bytes:
    """Encode a snapshot; names that are no Unicode text are cleaned, and only then, for it costs a copy."""
    try:
        return msgspec.json.encode(snapshot)
    except UnicodeEncodeError:
        return msgspec.json.encode(_readable(msgspec.to_builtins(snapshot)))


def _readable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_readable(k): _readable(v) for k, v in value.items()}
    return [_readable(v) for v in value] if isinstance(value, list | tuple) else value
