"""The dashboards' files, by name.

They're built with grafana-foundation-sdk, which whoever runs the product doesn't need: it's asked for when a file is
built.
"""

from __future__ import annotations

from dashboards.recording import Recording
from dashboards.settings import Settings

NAMES = ("recall-board", "review-queue", "leaks-and-drift", "pipeline")


def dashboard(name: str, settings: Settings) -> str:
    """Return the JSON of one dashboard; KeyError for a name that isn't in `NAMES`."""
    from dashboards.grafana import frame, leaks_and_drift, pipeline, recall_board, review_queue  # noqa: PLC0415
    from dashboards.grafana.queries import Queries  # noqa: PLC0415  # the same

    queries = Queries(Recording(settings))
    build = {
        "recall-board": recall_board.recall_board,
        "review-queue": review_queue.review_queue,
        "leaks-and-drift": leaks_and_drift.leaks_and_drift,
        "pipeline": pipeline.pipeline,
    }[name]
    return frame.rendered(build(settings, queries), settings, queries)
