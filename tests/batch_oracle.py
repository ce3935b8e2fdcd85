"""The tally of a whole input at once: dictionaries over lists of documents, no state, no order but the input's own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction

import matching_oracle
from traffic import TEXTS, Answered, Said, Traffic

from monitor.estimators.sample import Moments
from monitor.leaks.check import check
from monitor.leaks.squeezed import squeeze
from monitor.matching import Extent
from monitor.output_keys import OutputDesignKey
from monitor.plan import Plan
from monitor.records import Span, Stratum
from monitor.tally import CellKey, CensusKey, DesignKey, EntryKey, FlaggedKey, Key, MadeKey, QueueKey

FOLDED = {"PERSON": "PERSON", "per": "PERSON", "LOCATION": "LOCATION", "GPE": "LOCATION", "ODD": "ODD"}
Rows = dict[Key, tuple[int, ...]]


def fold(spans: tuple[tuple[int, int, str], ...]) -> list[Extent]:
    """Return the spans under the names that count, identical ones once."""
    return sorted({Extent(start, end, FOLDED[name]) for start, end, name in spans})


def truths(labels: list[Answered], doc: str, text: int) -> tuple[list[Extent] | None, bool]:
    """Return what a text's labels say was there, and whether they were all skipped."""
    latest: dict[str, Answered] = {}
    for label in labels:
        about = text if label.task is None else label.task
        if label.doc == doc and about == text and all(end <= len(TEXTS[text]) for _, end, _ in label.spans):
            held = latest.get(label.annotator)
            if held is None or label.revision > held.revision:
                latest[label.annotator] = label
    truth = next((label for label in latest.values() if label.submitted), None)
    return (None if truth is None else fold(truth.spans)), truth is None and bool(latest)


def batch(traffic: Traffic, plan: Plan) -> Rows:
    """Return the rows that a whole input adds up to: census, designs, cells, queue."""
    sums: defaultdict[Key, Counter[int]] = defaultdict(Counter)

    def add(key: Key, *numbers: int) -> None:
        sums[key].update(dict(enumerate(numbers)))

    said = [s for s in traffic[0] if isinstance(s, Said)]
    labels = [label for label in traffic[1] if isinstance(label, Answered)]
    drawn: dict[str, list[tuple[Said, Stratum, float]]] = {}
    for one in said:
        language, found = one.language.lower(), fold(one.spans)
        flagged, loose = bool(found), "@" in TEXTS[one.text]
        stratum: Stratum = ("both" if loose else "detector_only") if flagged else "loose_only" if loose else "unflagged"
        add(CensusKey(language, "d", one.version, stratum), 1)
        for entity in {f.entity for f in found}:
            add(FlaggedKey(language, "d", one.version, entity), 1, sum(f.entity == entity for f in found))
        fate = plan.sampler.draw(one.doc, language, stratum)
        mine = drawn.setdefault(one.doc, [])
        if fate is not None and all(other.version != one.version for other, _, _ in mine):
            mine.append((one, stratum, fate.rates.probability))
    for doc, mine in drawn.items():
        for text in dict.fromkeys(one.text for one, _, _ in mine):
            truth, skipped = truths(labels, doc, text)
            readers = [(one, stratum, p) for one, stratum, p in mine if one.text == text]
            done = truth is not None
            add(QueueKey(readers[0][0].language.lower()), 1, done, skipped)
            for place, (one, stratum, p) in enumerate(readers):
                design = one.language.lower(), "d", one.version, stratum, p
                add(DesignKey(*design), 1, done, skipped, not done and not skipped, done and place > 0)
                add(MadeKey("d", one.version, plan.id, plan.net.version), 1)
                for key, numbers in [*_cells(design, truth, fold(one.spans)), *_shown(design, truth, one, plan)]:
                    add(key, *numbers)
                for entity, t, y in _entered(truth, fold(one.spans)):
                    add(EntryKey(*design[:3], entity, 0, p, *plan.sampler.floors, t, y, done), 1)
    width = {key: len(numbers) for key, numbers in sums.items()}
    return {key: tuple(int(n[i]) for i in range(width[key])) for key, n in sums.items()}


def _cells(
    design: tuple[str, str, str, Stratum, float], truth: list[Extent] | None, found: list[Extent]
) -> list[tuple[CellKey, Moments]]:
    if truth is None:
        return []
    matched = matching_oracle.matched(truth, found, Fraction("0.45"))
    hits = {"matched": matched, "masked": matching_oracle.masked(truth, found)}
    rows = []
    for entity in sorted({t.entity for t in truth} | {f.entity for f in found} | {"any"}):
        of_entity = _of(entity, truth)
        for reading in ("matched", "masked") if of_entity else ():
            moments = Moments.of(len(hits[reading] & of_entity), len(of_entity))
            rows += [(CellKey(*design, entity, reading), moments)]
        detected = len(_of(entity, found))
        if detected:
            rows.append((CellKey(*design, entity, "right"), Moments.of(len(matched & of_entity), detected)))
        elif of_entity:
            rows.append((CellKey(*design, entity, "unnamed"), Moments.of(0, len(of_entity))))
    return rows


def _shown(
    design: tuple[str, str, str, Stratum, float], truth: list[Extent] | None, one: Said, plan: Plan
) -> list[tuple[Key, tuple[int, ...]]]:
    """Return what of the truth can be read in the output, code point by code point, and what was masked needlessly."""
    if one.redacted is None:
        return []
    text = TEXTS[one.text]
    hidden, masked = hidden_points(text, fold(one.spans), one.redacted, plan)
    rows: list[tuple[Key, tuple[int, ...]]] = [(OutputDesignKey(*design), (1, int(truth is not None)))]
    for entity in sorted({t.entity for t in truth or ()} | {"any"}):
        true = [t for t in truth or () if entity in (t.entity, "any")]
        shown = sum(not set(range(t.start, t.end)) <= hidden for t in true)
        if true:
            rows.append((CellKey(*design, entity, "hidden"), Moments.of(len(true) - shown, len(true))))
        if shown:
            rows.append((CellKey(*design, entity, "readable"), Moments.of(shown, shown)))
    if truth is not None and masked:
        needless = [at for at in masked if not any(t.start <= at < t.end for t in truth)]
        rows.append((CellKey(*design, "any", "needless"), Moments.of(len(needless), len(masked))))
    return rows


def hidden_points(text: str, found: list[Extent], redacted: str, plan: Plan) -> tuple[set[int], set[int]]:
    """Return the code points that an output shows nothing of, and those that were masked; all marks stand alone."""
    spans = [Span(*extent) for extent in found]
    checked = check(text, spans, redacted, plan.policy, plan.net)
    leaks = {at for leak in checked.leaks for at in range(leak.start, leak.end)}
    masked = {at for start, end in checked.masked for at in range(start, end)}
    hidden = set(masked)
    if checked.aligned:
        hidden.update(at for s in spans if leaks.isdisjoint(range(s.start, s.end)) for at in range(s.start, s.end))
    else:
        letters = squeeze(redacted)
        for word in re.finditer(r"[^\W_]+", text):
            if squeeze(word[0]) not in letters:
                hidden.update(range(*word.span()))
    hidden -= leaks
    for _ in text:
        beside = {at + step for at in hidden for step in (-1, 1)}
        hidden |= {at for at in beside if 0 <= at < len(text) and not text[at].isalnum()}
    return hidden, {at for at in masked if not text[at].isspace()}


def _entered(truth: list[Extent] | None, found: list[Extent]) -> list[tuple[str, int, int]]:
    """Return what a drawn document enters the alarm with: entity, found, true; unlabelled, twice what's detected."""
    there = found if truth is None else truth
    matched = matching_oracle.matched(there, found, Fraction("0.45"))
    entities = sorted({t.entity for t in there} | ({"any"} if there else set()))
    return [(entity, len(matched & _of(entity, there)), len(_of(entity, there))) for entity in entities]


def _of(entity: str, spans: list[Extent]) -> set[int]:
    return {i for i, span in enumerate(spans) if entity in (span.entity, "any")}
