"""Small traffic with everything in it: repeats, versions, changed texts, bad records, late and orphaned labels."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from hypothesis import strategies as st

from monitor.config import Config, NetConfig, Sampling
from monitor.document import task_id

FIRST_DAY = 20_000
DAY_MS = 86_400_000
TEXTS = ("Anna at Utrecht", "Anna @ home, Oslo")
OUTPUTS = (
    (
        None,
        None,
        "<PERSON> at <LOCATION>",
        "Anna at ****",
        "An** at Utrecht",
        TEXTS[0],
        "Nobody lives anywhere, he says",
    ),
    (None, "**** @ home, Oslo", "<PERSON>", "<PERSON> home, Oslo"),
)
"""What a redactor may have made of each text; None where it was never asked."""
SPANS = ((0, 4, "PERSON"), (0, 4, "per"), (0, 6, "PERSON"), (8, 15, "LOCATION"), (8, 12, "ODD"), (12, 17, "GPE"))
NET = NetConfig(defaults=False, patterns={"at": "@"})
CONFIG = Config(sampling=Sampling(random_rate=0.6, loose_rate=0.5), net=NET)

Span = tuple[int, int, str]


class Said(NamedTuple):
    """A decision: `text` is an index of `TEXTS`, `at` a day and a moment in it."""

    doc: str
    version: str
    language: str
    text: int
    spans: tuple[Span, ...]
    at: int
    redacted: str | None = None

    @property
    def value(self) -> bytes:
        """Return the record's value."""
        spans = [{"start": s, "end": e, "entity": n} for s, e, n in self.spans]
        document = {"doc_id": self.doc, "lang": self.language, "text": TEXTS[self.text], "spans": spans}
        output = {} if self.redacted is None else {"redacted": self.redacted}
        return json.dumps({**document, **output, "detector": "d", "version": self.version}).encode()


class Answered(NamedTuple):
    """A label; `task` names the text that it's about, None leaves it open."""

    doc: str
    annotator: str
    revision: int
    submitted: bool
    spans: tuple[Span, ...]
    task: int | None
    at: int

    @property
    def value(self) -> bytes:
        """Return the record's value."""
        spans = [{"start": s, "end": e, "entity": n} for s, e, n in self.spans]
        document: dict[str, object] = {"doc_id": self.doc, "annotator": self.annotator, "spans": spans}
        document |= {"revision": self.revision, "status": "submitted" if self.submitted else "skipped"}
        if self.task is not None:
            document["task_id"] = task_of(self.doc, TEXTS[self.task])
        return json.dumps(document).encode()


class Bad(NamedTuple):
    """A record that can't be read, or a tombstone."""

    doc: str
    value: bytes | None
    at: int


def task_of(doc: str, text: str) -> str:
    """Return the id of the task about a text of a document."""
    return task_id(doc, hashlib.blake2b(text.encode(), digest_size=8).hexdigest(), "label", 1)


Traffic = tuple[list[Said | Bad], list[Answered | Bad]]
DOCUMENTS = [f"doc-{i}" for i in range(6)]


def moments(days: int) -> st.SearchStrategy[int]:
    """Return times on the first so many days."""
    return st.builds(lambda day, ms: (FIRST_DAY + day) * DAY_MS + ms, st.integers(0, days - 1), st.integers(0, 99))


def spans(text: int) -> st.SearchStrategy[tuple[Span, ...]]:
    """Return spans that a text can have."""
    fitting = [span for span in SPANS if span[1] <= len(TEXTS[text])]
    return st.lists(st.sampled_from(fitting), max_size=3).map(tuple)


@st.composite
def traffic(draw: st.DrawFn, days: int = 3, most: int = 14) -> Traffic:
    """Draw decisions and labels; a label about a document of two texts names its task."""
    at = moments(days)
    said: list[Said | Bad] = []
    texts: dict[str, set[int]] = {}
    # in order, as a broker's clock writes them: a partition's day never goes back, so another order is another day
    for moment in sorted(draw(st.lists(at, min_size=1, max_size=most))):
        doc, text = draw(st.sampled_from(DOCUMENTS)), draw(st.sampled_from((0, 0, 1)))
        if draw(st.integers(0, 9)) == 0:
            said.append(Bad(doc, draw(st.sampled_from((None, b"", b"{", b"[1]", b"\xff"))), moment))
            continue
        version, language = draw(st.sampled_from("12")), draw(st.sampled_from(("en", "EN", "nl")))
        redacted = draw(st.sampled_from(OUTPUTS[text]))
        said.append(Said(doc, version, language, text, draw(spans(text)), moment, redacted))
        texts.setdefault(doc, set()).add(text)
    labels: list[Answered | Bad] = []
    for _ in range(draw(st.integers(0, most))):
        doc = draw(st.sampled_from([*DOCUMENTS[:4], "nobody-asked"]))
        if draw(st.integers(0, 9)) == 0:
            labels.append(
                Bad(doc, draw(st.sampled_from((None, b"", b"{}", b'{"doc_id": "doc-0", "spans": 1}'))), draw(at))
            )
            continue
        task = draw(st.sampled_from((0, 1) if len(texts.get(doc, ())) > 1 else (None, None, 0, 1)))
        seen = draw(st.lists(st.sampled_from(SPANS), max_size=3).map(tuple))
        revision, submitted = draw(st.integers(0, 2)), draw(st.sampled_from((True, True, True, False)))
        labels.append(Answered(doc, draw(st.sampled_from("ab")), revision, submitted, seen, task, draw(at)))
    return said, labels
