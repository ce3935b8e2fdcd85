"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", settings.default, deadline=None)  # a busy machine is no fault of the product
settings.load_profile("untimed")
