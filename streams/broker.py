"""How a broker is reached, waiting for one that isn't there yet, and giving up on one that never lets us in."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Literal, NamedTuple

import structlog
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from faust import SASLCredentials
from faust.types.auth import CredentialsT

from monitor.errors import SourceError
from streams.refusals import refusal

log = structlog.get_logger(__name__)

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@dataclass(frozen=True, kw_only=True)
class Sasl:
    """A user and a password, and how they are shown to the broker."""

    mechanism: Mechanism
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Where the brokers are and who asks. Without `ssl_context` everything, a password too, travels in the clear."""

    servers: tuple[str, ...]
    """`host:port` each; any one of them tells of the others."""
    ssl_context: SSLContext | None = None
    sasl: Sasl | None = None
    client_id: str = "recallwatch"

    def client_options(self) -> dict[str, object]:
        """Return the keyword arguments of aiokafka's clients."""
        options: dict[str, object] = {
            "bootstrap_servers": list(self.servers),
            "client_id": self.client_id,
            "security_protocol": ("SASL_" if self.sasl else "") + ("SSL" if self.ssl_context else "PLAINTEXT"),
            "ssl_context": self.ssl_context,
        }
        if self.sasl is not None:
            options |= {
                "sasl_mechanism": self.sasl.mechanism,
                "sasl_plain_username": self.sasl.username,
                "sasl_plain_password": self.sasl.password,
            }
        return options

    def credentials(self) -> CredentialsT | None:
        """Return Faust's form of the same; None leaves it to `ssl_context` alone."""
        if self.sasl is None:
            return None
        return SASLCredentials(
            username=self.sasl.username,
            password=self.sasl.password,
            mechanism=self.sasl.mechanism,
            ssl_context=self.ssl_context,
        )


@asynccontextmanager
async def admin(connection: Connection) -> AsyncIterator[AIOKafkaAdminClient]:
    """Connect as an administrator; raises `KafkaError` where no server answers."""
    client = AIOKafkaAdminClient(**connection.client_options())
    try:
        await client.start()
        yield client
    finally:
        await client.close()


async def wait_for_broker(
    connection: Connection,
    *,
    first_s: float = 0.5,
    longest_s: float = 15.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Return once a broker answers: one line in the log when it doesn't, one when it does, retries between.

    Parameters
    ----------
    connection
        Whom to ask.
    first_s, longest_s
        The pause after the first refusal; it doubles up to the longest.
    sleep
        Pauses; replaced in tests.

    Raises
    ------
    SourceError
        Where a broker is there and refuses the login or TLS: waiting would change nothing.

    """
    pause = first_s
    while True:
        problem = await _problem(connection)
        if problem is None:
            break
        if pause == first_s:
            log.warning("broker_absent", servers=list(connection.servers), problem=problem, retrying=True)
        await sleep(pause)
        pause = min(2 * pause, longest_s)
    if pause != first_s:
        log.info("broker_found", servers=list(connection.servers))


class _Heard(NamedTuple):
    """A line of the client library's, and the error in it."""

    line: str
    error: BaseException


async def _problem(connection: Connection) -> str | None:
    """Return why no broker answers; None where one does."""
    with _overheard() as heard:
        try:
            async with admin(connection) as client:
                # an address that was given has answered; this asks one of those that the brokers tell of each other
                await client.list_topics()
                return None
        except (KafkaError, OSError) as error:
            problems = heard or [_Heard(f"{type(error).__name__}: {error}", error)]
    for one in problems:
        refused = refusal(one.error)
        if refused is not None:
            raise SourceError(f"broker {','.join(connection.servers)}: {refused}")
    return problems[-1].line


@contextmanager
def _overheard() -> Iterator[list[_Heard]]:
    """Keep the client library's lines out of the log, and collect those with an error: it raises none that says why."""
    heard: list[_Heard] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = record.args[-1] if isinstance(record.args, tuple) and record.args else None
            if isinstance(error, BaseException):
                heard.append(_Heard(record.getMessage() + ("" if str(error) else type(error).__name__), error))

    library, listener = logging.getLogger("aiokafka"), Listener(logging.WARNING)
    propagate, library.propagate = library.propagate, False
    filters, library.filters = library.filters, []  # they leave out what repeats itself, and the last line decides
    library.addHandler(listener)
    try:
        yield heard
    finally:
        library.removeHandler(listener)
        library.propagate, library.filters = propagate, filters
