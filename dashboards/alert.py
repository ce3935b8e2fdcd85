"""An alert: when it fires, what it says, and what the one who is told does."""

from __future__ import annotations

from typing import Literal, NamedTuple

from dashboards.settings import Knobs

Part = Literal["monitor", "worker", "traffic", "people", "detector", "board"]
"""What an alert speaks of, and so what makes it worthless: see `dashboards.alertmanager`."""


class Section(NamedTuple):
    """A section of the runbook: what it means, where to look, what to do, and when it may be silenced."""

    means: str
    look: tuple[str, ...]
    do: tuple[str, ...]
    silence: str


class Alert(NamedTuple):
    """One alert. All its numbers come from `knobs`, all names in it from the product's metrics.

    `summary` is a fixed sentence. `description` is a template and carries the value, its bound, and what both rest on.
    """

    knobs: Knobs
    part: Part
    why: str
    """Why the expression is what it is; it stands as a comment above it."""
    expr: str
    summary: str
    description: str
    section: Section
    labels: tuple[str, ...] = ()
    """`entity`, `language` or both, where the expression gives them; else they're `any`."""

    @property
    def name(self) -> str:
        """What it's called: in the rules, the config and the runbook."""
        return self.knobs.name

    def fixed_labels(self) -> dict[str, str]:
        """Return the labels that don't depend on the expression."""
        places = {label: "any" for label in ("entity", "language") if label not in self.labels}
        return {"severity": self.knobs.severity, "part": self.part, **places}
