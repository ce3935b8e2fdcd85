"""Who is told, and what: each story of the alerts, by promtool."""

from __future__ import annotations

import shutil
from pathlib import Path

import promtool
import pytest
from promtool import Story

STORIES = promtool.stories()


@pytest.fixture(autouse=True)
def _needs_promtool() -> None:
    if shutil.which("promtool") is None:
        pytest.skip(promtool.MISSING)


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_story_is_told_as_it_says(story: Story, tmp_path: Path) -> None:
    """The alert fires with these labels and words, or it doesn't fire; no other one does."""
    result = promtool.run(promtool.document(story), tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
