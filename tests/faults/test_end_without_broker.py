"""A worker that is asked to end while its broker is away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from brokers import missing_for_kafka
from faults.acts import end_without_broker
from faults.drawing import draw_faults
from faults.scene import stage_scene

pytestmark = [pytest.mark.broker, pytest.mark.kafka]


@pytest.mark.parametrize("how", ["refuses", "silent"])
def test_a_worker_without_its_broker_ends_in_order_and_soon(tmp_path: Path, how: str) -> None:
    """It says that its last checkpoint found no broker, and ends with 0 well before anybody would kill it."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    fault = draw_faults(1, 1)[0]._replace(share={"refuses": 0.0, "silent": 0.9}[how])

    async def run() -> None:
        async with stage_scene(tmp_path, "ends", 1, 1.0, 0) as scene:
            _, seen = await end_without_broker(scene, fault)
            await scene.reads_again()
            assert seen.startswith("exit 0 after ")
            assert float(seen.split()[3]) < 25
            first = scene.fleet.started[0]
            assert [line["event"] for line in first.lines()][-1] == "ended_without_broker"
            assert first.said("last_checkpoint_timed_out")
            assert scene.surprises == []
        assert scene.fleet.noise() == []

    asyncio.run(run())
