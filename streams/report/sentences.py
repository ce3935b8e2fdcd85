"""What somebody signs of a cell, in one sentence; and where there's nothing to sign, why."""

from __future__ import annotations

from monitor.agreements import Agreements
from monitor.config import Readings
from monitor.exposition import clean
from monitor.readings import ANY, CURRENT, Reading, Status
from monitor.report import Statement
from streams.page.words import age, number, percent

REASONS = {
    "no_label": "nothing is labelled",
    "no_truth": "no label holds it",
    "flagged_unlabelled": "no document that a tool flagged is labelled",
    "unflagged_unlabelled": "no document that nobody flagged is labelled, so what they hold is unknown",
    "no_truth_where_looked": "whatever was labelled lay in documents that no tool flagged",
    "nothing_detected": "the detector named none in a labelled document",
    "detected_unlabelled": "no document in which the detector named it is labelled",
}
"""Why there's no estimate or no interval."""
NOTHING = 0.0005
"""A share below this is written as less than the last digit: as a lower limit it says nothing."""
FEWEST_TRUE = 10
"""True occurrences below which an interval says little, however it comes out."""
WIDEST = 0.5
"""Width above which an interval says little."""


def state(reading: Reading, asked: Readings) -> Statement:
    """Return a cell's statement; `asked` is what a reading must keep to."""
    confidence = percent(asked.confidence)
    if reading.status in CURRENT and reading.matched.lower is not None:
        little, text = _little(reading), _signed(reading, confidence)
        return Statement(signable=little is None, text=text, says_little=little, notes=_notes(reading))
    why = _why_not(reading, asked)
    return Statement(signable=False, text=_so_far(reading, confidence), why_not=why, notes=_notes(reading))


def cell_name(reading: Reading) -> str:
    """Return a cell's name as a sentence has it."""
    entity = "personal data of any kind" if reading.entity == ANY else clean(reading.entity)
    return f"{entity}, {'any language' if reading.language == ANY else clean(reading.language)}"


def _version(r: Reading) -> str:
    return f"{clean(r.detector)} {clean(r.version)}"


def _counted(r: Reading) -> str:
    """Return the counts that the sentence begins with; the reader must never take them for the traffic's."""
    occurrences = "occurrence" if r.matched.true == 1 else "occurrences"
    documents = "document" if r.labelled == 1 else "documents"
    return (
        f"Of {r.matched.true:,} {occurrences} that people found in {r.labelled:,} {documents} they read, "
        f"{_version(r)} found {r.matched.found:,}"
    )


def _signed(r: Reading, confidence: str) -> str:
    m = r.matched
    return (
        f"{_counted(r)}; with {confidence} confidence, recall {_traffic(r)} is between {number(m.lower)} and "
        f"{number(m.upper)} (estimate {number(m.estimate)}).{_target(r)}"
    )


def _little(r: Reading) -> str | None:
    """Return why an interval says little; None where it says something."""
    m = r.matched
    if m.true < FEWEST_TRUE:
        return f"{m.true} true {'occurrence' if m.true == 1 else 'occurrences'}, fewer than {FEWEST_TRUE}"
    if m.lower is not None and m.upper is not None and m.upper - m.lower > WIDEST:
        return f"the limits are {number(m.upper - m.lower, 2)} apart, more than {WIDEST:g}"
    return None


def _traffic(r: Reading) -> str:
    """Return what an interval speaks of: over the documents themselves a census has no doubt left, and no width."""
    return f"of traffic like these {r.census:,} documents" if r.census != 1 else "of traffic like this one document"


def _target(r: Reading) -> str:
    """Return how the interval stands to the target; without one, nothing."""
    lower, upper = r.matched.lower, r.matched.upper
    if r.target is None or lower is None or upper is None:
        return ""
    asked = f" The target of {number(r.target)}"
    if upper < r.target:
        return f"{asked} was missed."
    return f"{asked} was met." if lower >= r.target else f"{asked} is shown neither to be met nor to be missed."


def _so_far(r: Reading, confidence: str) -> str:
    """Return what there is all the same."""
    parts = [f"{_counted(r)}." if r.matched.true else ""]
    if r.matched.lower is not None:
        between = f"{number(r.matched.lower)} and {number(r.matched.upper)}"
        so_far = f"As far as it goes, recall {_traffic(r)} is between {between}"
        parts.append(f"{so_far} (estimate {number(r.matched.estimate)}).")
    elif r.certified is not None:
        certain = certified(r.certified.lower, "it")
        parts.append(f"What holds without an interval, with {confidence} confidence: {certain}.")
    return " ".join(part for part in parts if part)


def certified(lower: float, what: str) -> str:
    """Return what a certified limit, a share of documents in [0, 1], says of the documents with `what`.

    >>> certified(0.871, "it"), certified(0.0, "it")  # doctest: +NORMALIZE_WHITESPACE
    ('in at least 0.871 of the documents with it, every occurrence was found',
     "it can't be told in how many of the documents with it every occurrence was found (certified limit 0)")
    """
    if lower < NOTHING:
        limit = number(lower) if lower else "0"
        untold = f"it can't be told in how many of the documents with {what} every occurrence was found"
        return f"{untold} (certified limit {limit})"
    return f"in at least {number(lower)} of the documents with {what}, every occurrence was found"


def _why_not(r: Reading, asked: Readings) -> str:
    """Return why nobody can sign."""
    newest = "" if r.age_s is None else f"; the newest labelled document is {age(r.age_s)} old"
    complete, wanted = percent(r.completeness), percent(asked.min_completeness)
    reasons: dict[Status, str] = {
        "no_label": _unlabelled(r),
        "no_truth": f"{r.labelled:,} documents were read, and none holds it: there was nothing to find",
        "expired": f"what is labelled is older than the window of {r.window.days or 'all'} days",
        "stale": f"no label came for more than {asked.stale_after_days:g} days{newest}",
        "incomplete": f"only {complete} of the drawn documents are labelled, {wanted} are asked for; labels of misses "
        "come later than those of hits, so what is in reads high",
        "greyed": f"two people who read the same documents agree too little on what it is{_kappa(r)}",
    }
    lacking = because(r.matched.reason)
    return reasons.get(r.status, f"there is no interval: {lacking}")


def because(reason: str | None) -> str:
    """Return a reason in words.

    >>> because("no_truth"), because(None)
    ('no label holds it', 'too little is labelled')
    """
    return REASONS.get(reason or "", clean(reason or "too little is labelled").replace("_", " "))


def _unlabelled(r: Reading) -> str:
    if not r.sampled:
        return f"none of {r.census:,} documents has been drawn yet"
    return f"none of the {r.sampled:,} drawn documents is labelled"


def _kappa(r: Reading) -> str:
    return "" if r.agreement is None or r.agreement.kappa is None else f" (κ {number(r.agreement.kappa, 2)})"


def _notes(r: Reading) -> tuple[str, ...]:
    """Return what whoever signs should know beside it."""
    notes: list[str] = []
    if r.status == "marked" and Agreements.too_few(r.agreement):
        notes.append(f"Too few documents were read by two people to know whether they agree on what it is{_kappa(r)}.")
    elif r.status == "marked":
        notes.append(f"Two people who read the same documents agree only in part on what it is{_kappa(r)}.")
    if r.alarm is not None and r.alarm.on_since is not None:
        notes.append("The alarm is on: recall has fallen below its target.")
    if r.pending is not None and r.pending.documents and r.matched.estimate is not None:
        low, high = number(r.pending.all_missed), number(r.pending.all_found)
        drawn = f"{r.pending.documents:,} drawn {'document has' if r.pending.documents == 1 else 'documents have'}"
        notes.append(
            f"{drawn} no label yet: if all that is in them was missed, the estimate would be {low}; if found, {high}."
        )
    return tuple(notes)
