"""What pytest leaves out when it looks for doctests."""

from __future__ import annotations

collect_ignore = ["quix.py"]  # it can be imported in the venv of the peers alone
