"""A letter and what redactors made of it: right, with leaks of several kinds, and no longer the letter at all."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from monitor.entities import Aliases
from monitor.leaks.screen import examine
from monitor.output_keys import LeakKey, OutputKey, RedactedKey, RedactionsKey
from monitor.plan import Plan
from monitor.records import Span
from monitor.tally import Key, Tally

TEXT = "Ik ben Joke Hendriksma, mail joke@voorbeeld.example, tel 06-55 51 23 99."
PERSON, MAIL, PHONE = Span(7, 22, "PERSON", 0.9), Span(29, 51, "EMAIL_ADDRESS", 0.9), Span(57, 71, "PHONE_NUMBER", 0.9)
FLAGGED = (PERSON, MAIL, PHONE)
RIGHT = "Ik ben <PERSON>, mail <EMAIL_ADDRESS>, tel <PHONE_NUMBER>."
TAIL = "Ik ben <PERSON>, mail <EMAIL_ADDRESS>, tel 06-** ** ** 99."
"""The telephone number's first and last two digits stay: two leaks of one redaction."""
LEFT = "Ik ben <PERSON>, mail joke@voorbeeld.example, tel <PHONE_NUMBER>."
"""The address was never replaced."""
SLID = "Ik ben <PERSON>driksma<EMAIL_ADDRESS>rbeeld<PHONE_NUMBER>06-55 51 23 99."
TOLD_ANEW = "I am <PERSON>, and you can reach me at <EMAIL_ADDRESS>, or by telephone on 06-55 51 23 99, thank you."
OUTPUTS = (RIGHT, TAIL, LEFT, SLID, TOLD_ANEW, TEXT, "", None)
"""Of the last there is none."""
LEAK_ROWS = ("output", "redactions", "redacted", "leak")


class Redacted(NamedTuple):
    """A decision about the letter."""

    doc: str
    output: str | None
    spans: Sequence[Span] = FLAGGED
    version: str = "1"
    at_ms: int = 0

    @property
    def value(self) -> bytes:
        """Return the record's value."""
        spans = [{"start": s.start, "end": s.end, "entity": s.entity, "score": s.score} for s in self.spans]
        document = {"doc_id": self.doc, "lang": "nl", "text": TEXT, "detector": "d", "version": self.version}
        output = {} if self.output is None else {"redacted": self.output}
        return json.dumps({**document, **output, "spans": spans, "threshold": 0.5}).encode()


def leak_rows(tally: Tally) -> dict[Key, tuple[int, ...]]:
    """Return what a tally counted of outputs."""
    return {key: row for key, row in tally.rows.items() if key.kind in LEAK_ROWS}


def counted(documents: Iterable[Redacted], plan: Plan) -> Mapping[Key, tuple[int, ...]]:
    """Return what all documents count of outputs, worked out one by one from what is found in each."""
    sums: defaultdict[Key, Counter[int]] = defaultdict(Counter)

    def add(key: Key, *numbers: int) -> None:
        sums[key].update(dict(enumerate(numbers)))

    for one in documents:
        if one.output is None:
            continue
        fold = Aliases().fold
        spans = [Span(s.start, s.end, fold(s.entity)) for s in one.spans if s.score is None or s.score >= 0.5]
        secret = [s for s in spans if not plan.policy.of(s.entity).ignore]
        found = examine(TEXT, spans, one.output, plan.policy, plan.net)
        group = "nl", "d", one.version
        masked = sum(end - start for start, end in found.masked), len(TEXT)
        size = masked if found.aligned else (0, 0)
        add(OutputKey(*group, "both" if spans else "loose_only"), 1, not found.aligned, bool(found.leaks), *size)
        y = found.replaced_spans
        leaking = [s for s in secret if any(leak.entity == s.entity and _is_of(s, leak) for leak in found.leaks)]
        t = sum(not any(_is_all_of(s, leak) for leak in found.leaks) for s in leaking)
        if y:
            add(RedactionsKey(*group), t, y, t * t, t * y, y * y)
        for entity in {s.entity for s in secret}:
            own = [s for s in secret if s.entity == entity]
            has_leak = any(leak.entity == entity for leak in found.leaks)
            add(RedactedKey(*group, entity), 1, len(own), has_leak, sum(s.entity == entity for s in leaking))
        for (entity, kind), leaks in Counter((leak.entity, leak.kind) for leak in found.leaks).items():
            add(LeakKey(*group, entity, kind), 1, leaks)
    width = {key: max(numbers) + 1 for key, numbers in sums.items()}
    return {key: tuple(int(n[i]) for i in range(width[key])) for key, n in sums.items()}


def _is_of(span: Span, leak: tuple[str, str, int, int, int, int]) -> bool:
    start, end = leak[2:4]
    return start < span.end and span.start < end


def _is_all_of(span: Span, leak: tuple[str, str, int, int, int, int]) -> bool:
    return leak[0] in ("untouched", "shifted_mask") and leak[2:4] == (span.start, span.end)
