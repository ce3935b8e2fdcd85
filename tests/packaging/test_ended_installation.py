"""An installation that is ended in its midst: nothing of it goes on, and the next run begins anew."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("pyproject.toml", "deploy/constraints.txt", "deploy/venv.sh", "deploy/demo", "tests/run")
WITHIN_S = 60.0

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc, to see what still runs")


@pytest.fixture
def silent_index() -> Iterator[socket.socket]:
    """Give a package index that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(WITHIN_S)
        yield server


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give as much of a checkout as an installation reads."""
    for part in PARTS:
        place = tmp_path / part
        place.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / part, place)
    return tmp_path


def start(checkout: Path, command: str, index: socket.socket) -> subprocess.Popen[str]:
    """Start a command in a session of its own, with an index that it can't do without."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    place = f"http://127.0.0.1:{index.getsockname()[1]}/"
    return subprocess.Popen(
        [str(checkout / command)],
        env=kept | {"PIP_INDEX_URL": place, "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # one call, no locks
    )


def left_running(session: int) -> list[str]:
    """Return the command lines of what runs in a session, but what has ended and waits to be taken note of."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, own = (place / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                found.append((place / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
    return found


def end(process: subprocess.Popen[str], sent: signal.Signals) -> str:
    """Send the command alone a signal; return what it printed."""
    try:
        process.send_signal(sent)
        return process.communicate(timeout=WITHIN_S)[0]
    finally:
        process.kill()


@pytest.mark.parametrize(
    ("command", "sent", "code"), [("deploy/demo", signal.SIGTERM, 143), ("tests/run", signal.SIGINT, 130)]
)
def test_pip_ends_too_and_the_next_run_begins_anew(
    checkout: Path, silent_index: socket.socket, command: str, sent: signal.Signals, code: int
) -> None:
    """Whoever is told to end takes pip along; what is half installed isn't believed in."""
    for _ in range(2):
        process = start(checkout, command, silent_index)
        connection, _ = silent_index.accept()  # pip waits for an answer now
        assert any("pip install" in line for line in left_running(process.pid))
        said = end(process, sent)
        connection.close()
        assert process.returncode == code
        assert left_running(process.pid) == []
        assert f"{command}: making .venv with python" in said
        assert said.endswith(f"{command}: ended while it was installing; the next run makes .venv anew\n")


def test_a_venv_that_is_whole_stays_where_pip_reaches_no_index(checkout: Path, silent_index: socket.socket) -> None:
    """What somebody has put into it is theirs."""
    first = start(checkout, "deploy/demo", silent_index)
    silent_index.settimeout(0.1)
    begun = time.monotonic()
    while first.poll() is None and time.monotonic() - begun < WITHIN_S:
        try:
            silent_index.accept()[0].close()  # pip gives up after a few of these
        except TimeoutError:
            continue
    assert (first.wait(WITHIN_S), left_running(first.pid)) == (1, [])
    assert "Is a package index within reach?" in first.communicate()[0]
    own = checkout / ".venv" / "own"
    own.touch()
    silent_index.settimeout(WITHIN_S)
    second = start(checkout, "deploy/demo", silent_index)
    connection, _ = silent_index.accept()
    said = end(second, signal.SIGTERM)
    connection.close()
    assert "making .venv" not in said
    assert own.exists()
