"""What the demo's terminal says of alarms: which cell's is on, what its recall is, and what it was."""

from __future__ import annotations

from monitor.exposition import clean
from monitor.readings import ANY, BoardSnapshot, Reading, Share
from streams.page.cells import Selection, cells, is_on
from streams.page.words import number


def told(reading: Reading, before: Reading | None = None) -> str:
    """Return whether somebody would have been woken, and over what.

    Parameters
    ----------
    before
        What the version before had in the same cell; None where nothing is known of one.
    """
    alarm = reading.alarm
    if alarm is None or (alarm.evidence is None and alarm.fired_evidence is None):
        return f"The alarm of {_cell(reading)} knows nothing yet of this version."
    if not is_on(reading):
        return f"The alarm of {_cell(reading)} is quiet: evidence {alarm.evidence or 0.0:.1f} of {alarm.bar:.1f}."
    was = "" if before is None else f", and was {_limits(before.matched)} with {clean(before.version)} before"
    evidence = (
        "" if alarm.fired_evidence is None else f" Evidence {alarm.fired_evidence:.1f}: {alarm.bar:.1f} is enough."
    )
    below = "" if reading.target is None else f" below its target {number(reading.target, 2)}"
    return f"The alarm is on: {_cell(reading)} fell{below}. Recall is {_limits(reading.matched)}{was}.{evidence}"


def _cell(reading: Reading) -> str:
    language = "all languages" if reading.language == ANY else clean(reading.language)
    return f"{clean(reading.entity)} ({language}, {clean(reading.detector)} {clean(reading.version)})"


def _limits(share: Share) -> str:
    if share.lower is None:
        return "not known"
    return f"{number(share.estimate)} [{number(share.lower)}, {number(share.upper)}]"


class Alarms:
    """Tells each alarm once, when it goes on."""

    def __init__(self) -> None:
        self._on: set[tuple[str, str, str, str]] = set()

    def new(self, board: BoardSnapshot) -> list[str]:
        """Return a line for each alarm that wasn't on when the board was looked at last; what needs somebody first."""
        on = {_key(cell.reading): cell for cell in cells(board, Selection())[0] if cell.alarmed}
        fresh = [cell for key, cell in on.items() if key not in self._on]
        self._on = set(on)
        return [told(cell.reading, cell.previous) for cell in fresh]


def _key(reading: Reading) -> tuple[str, str, str, str]:
    return reading.entity, reading.language, reading.detector, reading.version
