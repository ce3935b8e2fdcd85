"""The second reference: Faust as it comes, an agent that decodes and does nothing else.

`python -m bench.readers.stock_faust SERVER TOPIC N FOLDER`. Raw values and msgspec, as whoever wants speed writes it:
Faust's own JSON and `faust.Record` are slower. `cython_optimizations` and a larger stream buffer changed nothing that
could be told from noise.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import faust
import msgspec
from bench.readers.stopwatch import Stopwatch
from faust.types import StreamT

from monitor.records import Decision


def build(server: str, topic: str, total: int, folder: Path) -> faust.App:
    """Return an app that ends its process when it has decoded so many decisions."""
    app = faust.App(
        f"stock-faust-{os.getpid()}",
        env={},
        broker=f"kafka://{server}",
        store="memory://",
        datadir=str(folder),
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        worker_redirect_stdouts=False,
        consumer_auto_offset_reset="earliest",
        consumer_max_fetch_size=1 << 20,
        broker_check_crcs=False,
    )
    decisions = app.topic(topic, key_serializer="raw", value_serializer="raw")
    watch, decode = Stopwatch(total), msgspec.json.Decoder(Decision).decode

    @app.agent(decisions)
    async def read(stream: StreamT[Any]) -> None:
        async for value in stream:
            decode(value)
            if watch.count(1):
                os._exit(0)  # it has said what it measured; an orderly end takes seconds

    return app


if __name__ == "__main__":
    server, topic, total, folder = sys.argv[1:]
    faust.Worker(
        build(server, topic, int(total), Path(folder)), loglevel="error", quiet=True
    ).execute_from_commandline()
