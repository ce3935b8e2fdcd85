"""Documents whose redaction is right by construction, and the same with one fault planted, of eighteen kinds.

The documents are the product's own invented transcripts in English, Dutch, German and Spanish, with what is personal in
them known because it was put there. presidio-anonymizer replaces it (`leak_redactors`: replace, mask, redact, hash,
custom, keep). So in a document without a fault no stretch of a value is left but what its policy allows; words and
numbers that look like a part of one are put there as nobody's (`leak_harmless`).

Faults, by name:

* `offset_unit`: code points read as UTF-16 units, the reverse, or bytes: masks slide off their values.
* `output_positions`: positions in the output are read as positions in the text.
* `digits_left`: the mask ends one to four digits early, or begins late.
* `address_tail`: house number, its addition or the postal code after a masked street.
* `mail_local`: the local part of a mail address, or a piece of it, before the mask.
* `name_beside`: one part of a name stays beside the mask.
* `repeat_left`: the same value, or a surname alone, stands unmasked elsewhere.
* `other_digits`: elsewhere in full-width, Arabic-Indic and other digits.
* `hidden_characters`: elsewhere with zero-width characters or soft hyphens.
* `html_entities`: elsewhere with HTML entities.
* `combining_marks`: elsewhere decomposed, or struck through and underlined.
* `other_separators`: elsewhere with other separators, or in the other case.
* `international`: a telephone number elsewhere with, or without, the country's prefix.
* `untouched`: one flagged value was never replaced.
* `first_of_list`: of three listed values the first alone was replaced.
* `mask_beside`: the mask stands beside the value, which is whole.
* `too_much_kept`: more stays than the policy allows.
* `rewritten`: the output was escaped, wrapped anew or put in another order, and a value is left in it.

In `address_tail`, `mail_local` and `name_beside` either the redactor cut a flagged value short, or the detector had
flagged no more than what was masked. A rest of a value isn't planted beside a surrogate: a short one may be chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from leak_drafts import Draft, drafts, invent, national_phone, without
from leak_harmless import HARMLESS, keep_something
from leak_redactors import (
    IN_FULL,
    MANNERS,
    Manner,
    Redaction,
    draw_manner,
    keep_domain,
    keep_last,
    keeping,
    redact,
    words,
)
from leak_rewriting import rewrite
from leak_sentences import ACCENTS, AGAIN, CHEER, FIRST_MENTION, LISTED, SURNAME_AGAIN, Language
from leak_spellings import SPELLINGS, count_digits, count_graphemes, international

from monitor.leaks.policy import EntityPolicy, Policy
from monitor.records import Span

_FAULTY_SHARE = 0.5
_REWRITTEN_SHARE = 0.04
_KEEPING_SHARE = 0.15
_LASTING = ("CREDIT_CARD", "IBAN_CODE", "PHONE_NUMBER")


class Planted(NamedTuple):
    """A stretch of a value that survives: where it stands in the text and in the output."""

    entity: str
    start: int
    end: int
    output_start: int
    output_end: int


class Injected(NamedTuple):
    """A redacted document, and what is wrong with it."""

    doc_id: str
    fault: str | None
    """One of `FAULTS`; None where the output is right."""
    harmless: str
    """What was put there that only looks like a leak; empty for nothing."""
    manner: str
    lang: Language
    text: str
    spans: list[Span]
    redacted: str
    policy: Policy
    planted: tuple[Planted, ...]
    rewritten: bool


class Setup(NamedTuple):
    """What a fault makes of a draft: what the detector flagged, what the redactor was told, and what stays of it."""

    spans: list[Span]
    ranges: list[Span]
    planted: list[Span]
    manner: Manner


def injected(seed: int, count: int) -> Iterator[Injected]:
    """Yield `count` documents, half of them with a fault; the same ones for the same seed and versions."""
    source = drafts(seed)
    for _ in range(count):
        draft = next(source)
        fault = draft.rng.choice(tuple(FAULTS)) if draft.rng.random() < _FAULTY_SHARE else None
        while (made := _try(draft, fault)) is None:
            draft = next(source)
        yield made


def _try(draft: Draft, fault: str | None) -> Injected | None:
    harmless = ""
    try:
        if fault is None:
            harmless = draft.rng.choice(("", "", *HARMLESS))
            manner = HARMLESS[harmless](draft) if harmless else draw_manner(draft)
            if draft.rng.random() < _KEEPING_SHARE:
                manner = keep_something(draft, manner)
            setup = Setup(draft.labels, draft.labels, [], manner)
        else:
            setup = FAULTS[fault](draft)
    except LookupError:
        return None
    if fault and not setup.planted:
        return None
    redaction = redact(draft.text, setup.ranges, setup.manner.operators)
    if fault is None:
        _prove(draft, redaction, setup.manner)
    places = [redaction.place(span.start, span.end) for span in setup.planted]
    output, rewritten = (
        redaction.output,
        fault == "rewritten" or draft.rng.random() < (0 if fault else _REWRITTEN_SHARE),
    )
    if rewritten:
        output, places = rewrite(draft.rng, output, places)
    planted = tuple(Planted(s.entity, s.start, s.end, *at) for s, at in zip(setup.planted, places, strict=True))
    policy = Policy(setup.manner.policy)
    name = setup.manner.name
    return Injected(
        draft.doc_id, fault, harmless, name, draft.lang, draft.text, setup.spans, output, policy, planted, rewritten
    )


def _prove(draft: Draft, redaction: Redaction, manner: Manner) -> None:
    """Raise ValueError where a replacement bears a word of its value, or a label isn't replaced."""
    rest = list(draft.labels)
    for start, end, output_start, output_end in redaction.pieces:
        entity = rest[0].entity
        while rest and rest[0].end <= end:
            rest.pop(0)
        if entity in manner.policy:
            continue
        if words(draft.text[start:end]) & words(redaction.output[output_start:output_end]):
            raise ValueError(f"{draft.doc_id}: {manner.name} leaves a word of {entity}")
    if rest:
        raise ValueError(f"{draft.doc_id}: {rest[0].entity} isn't replaced")


def survivors(text: str, spans: Sequence[Span], ranges: Sequence[Span]) -> list[Span]:
    """Return the stretches of spans that no range covers and that hold a letter or digit."""
    left = []
    for span in spans:
        at = span.start
        for start, end in [*sorted((r.start, r.end) for r in ranges), (span.end, span.end)]:
            if end <= at:
                continue
            stop = min(start, span.end)
            if stop > at and any(map(str.isalnum, text[at:stop])):
                left.append(Span(at, stop, span.entity))
            at = max(at, end)
            if at >= span.end:
                break
    return left


def _plant_in_place(draft: Draft, spans: list[Span], ranges: list[Span], manner: Manner) -> Setup:
    return Setup(spans, ranges, survivors(draft.text, spans, ranges), manner)


def _slide(draft: Draft, move: Callable[[int], int]) -> list[Span]:
    size = len(draft.text)
    moved = [Span(max(0, move(s.start)), min(size, move(s.end)), s.entity) for s in draft.labels]
    return [span for span in moved if span.start < span.end]


def _offset_unit(draft: Draft) -> Setup:
    unit = draft.rng.choice(("units as points", "points as units", "bytes"))
    sentence = ACCENTS if unit == "bytes" else CHEER
    for _ in range(draft.rng.choice((1, 2))):
        draft.add(sentence[draft.lang], first=True)
    text = draft.text
    if unit == "bytes":
        ranges = _slide(draft, lambda at: len(text[:at].encode()))
    else:
        beyond = sum(letter > "\uffff" for letter in text) * (1 if unit == "units as points" else -1)
        ranges = _slide(draft, lambda at: at + beyond)
    return _plant_in_place(draft, draft.labels, ranges, draw_manner(draft, IN_FULL))


def _output_positions(draft: Draft) -> Setup:
    for entity in draft.rng.sample(("PHONE_NUMBER", "EMAIL_ADDRESS", "PERSON"), k=2):
        draft.pick(entity)
    manner = draw_manner(draft, [name for name in IN_FULL if name != "empty"])
    right = redact(draft.text, draft.labels, manner.operators)
    size = len(draft.text)
    entities = {span.start: span.entity for span in draft.labels}
    ranges = [Span(p[2], min(p[3], size), entities[p[0]]) for p in right.pieces if p[2] < size]
    return _plant_in_place(draft, draft.labels, ranges, manner)


def _cut(draft: Draft, label: Span, start: int, end: int, *, flagged_short: bool = False) -> Setup:
    """Mask `[start, end)` of a label's value alone; `flagged_short`: the detector flagged no more either."""
    short = Span(label.start + start, label.start + end, label.entity)
    ranges = [*without(draft.labels, label), short]
    setup = _plant_in_place(draft, draft.labels, ranges, draw_manner(draft, IN_FULL))
    return setup._replace(spans=sorted(ranges, key=lambda span: span.start)) if flagged_short else setup


def _digits_left(draft: Draft) -> Setup:
    entity = draft.rng.choice(("PHONE_NUMBER", "IBAN_CODE", "CREDIT_CARD", "NATIONAL_ID", "DATE_OF_BIRTH"))
    label = draft.pick(entity, lambda value: count_digits(value) >= 6 and value[-1].isdigit() and value[0].isdigit())
    places = [at for at, letter in enumerate(draft.value(label)) if letter.isdigit()]
    count = draft.rng.randint(1, 4)
    if draft.rng.random() < 0.2:
        return _cut(draft, label, places[count], label.end - label.start)
    return _cut(draft, label, 0, places[-count - 1] + 1)


def _address_tail(draft: Draft) -> Setup:
    label = draft.pick("ADDRESS", lambda value: bool(_address_cuts(value)))
    at = draft.rng.choice(_address_cuts(draft.value(label)))
    return _cut(draft, label, 0, at, flagged_short=draft.rng.random() < 0.5)


def _address_cuts(value: str) -> list[int]:
    return [
        found.start()
        for found in re.finditer(r"(?<=\w)[ ,/-]", value)
        if count_graphemes(value[: found.start()]) >= 4 and count_digits(value[found.start() :])
    ]


def _mail_local(draft: Draft) -> Setup:
    label = draft.pick("EMAIL_ADDRESS", lambda value: value.find("@") >= 4)
    local = draft.value(label).split("@")[0]
    cuts = [found.end() for found in re.finditer(r"(?<=[^\W_]{2})[._-]", local)] + [len(local)]
    at = draft.rng.choice(cuts)
    return _cut(draft, label, at, label.end - label.start, flagged_short=draft.rng.random() < 0.5)


def _name_beside(draft: Draft) -> Setup:
    label = draft.pick("PERSON", lambda v: v.istitle() and bool(re.fullmatch(r"[^\W\d_]{3,} [^\W\d_]{3,}", v)))
    gap = draft.value(label).index(" ")
    short = draft.rng.random() < 0.5
    if draft.rng.random() < 0.5:
        return _cut(draft, label, 0, gap, flagged_short=short)
    return _cut(draft, label, gap + 1, label.end - label.start, flagged_short=short)


def _leave_elsewhere(draft: Draft, written: str, entity: str, sentences: Sequence[str] = ()) -> Setup:
    """Say `written` once more where nobody flags it."""
    draft.add(draft.rng.choice(sentences or AGAIN[draft.lang]), (written, entity), unseen=True)
    return Setup(draft.labels, draft.labels, draft.unseen, draw_manner(draft, MANNERS))


def _repeat_left(draft: Draft) -> Setup:
    if draft.rng.random() < 0.3:
        name = draft.value(draft.pick("PERSON", lambda v: v.istitle() and bool(re.fullmatch(r"\w+ [^\W\d_]{5,}", v))))
        return _leave_elsewhere(draft, name.split()[1], "PERSON", SURNAME_AGAIN[draft.lang])
    entity = draft.rng.choice(tuple(FIRST_MENTION[draft.lang]))
    value = draft.value(draft.pick(entity, lambda value: count_graphemes(value) >= 6))
    return _leave_elsewhere(draft, value, entity)


def _respelled(kind: str) -> Callable[[Draft], Setup]:
    respell, entities, fits = SPELLINGS[kind]

    def plant(draft: Draft) -> Setup:
        entity = draft.rng.choice(entities)
        return _leave_elsewhere(draft, respell(draft.rng, draft.value(draft.pick(entity, fits))), entity)

    return plant


def _international(draft: Draft) -> Setup:
    home, rest, prefix = national_phone(draft.rng, draft.lang)
    pair = [home, international(draft.rng, rest, prefix)]
    draft.rng.shuffle(pair)
    draft.add(FIRST_MENTION[draft.lang]["PHONE_NUMBER"], (pair[0], "PHONE_NUMBER"))
    return _leave_elsewhere(draft, pair[1], "PHONE_NUMBER")


def _untouched(draft: Draft) -> Setup:
    draft.pick(draft.rng.choice(tuple(FIRST_MENTION[draft.lang])))
    label = draft.rng.choice([span for span in draft.labels if count_graphemes(draft.value(span)) >= 2])
    return Setup(draft.labels, without(draft.labels, label), [label], draw_manner(draft, MANNERS))


def _first_of_list(draft: Draft) -> Setup:
    entity = draft.rng.choice(("EMAIL_ADDRESS", "PHONE_NUMBER", "PERSON"))
    values = [invent(draft, entity) for _ in range(3)]
    if len(set(values)) < 3:
        raise LookupError(entity)
    gap = draft.rng.choice((", ", "; ", " / ", "\n") if entity == "PERSON" else (" ", ", ", "; ", " / ", "\n"))
    listed = [(values[0], entity), (gap, ""), (values[1], entity), (gap, ""), (values[2], entity)]
    left = draft.add(LISTED[draft.lang], *listed)[1:]
    return Setup(draft.labels, without(draft.labels, *left), left, draw_manner(draft, MANNERS))


def _mask_beside(draft: Draft) -> Setup:
    label = draft.pick(draft.rng.choice(tuple(FIRST_MENTION[draft.lang])))
    others = without(draft.labels, label)
    size = label.end - label.start
    for _ in range(20):
        by = (size + draft.rng.randint(0, 5)) * draft.rng.choice((-1, 1))
        start, end = label.start + by, label.end + by
        free = start >= 0 and end <= len(draft.text) and all(end <= o.start or o.end <= start for o in others)
        if free and count_graphemes(draft.text[start:end]) >= 3:
            ranges = [*others, Span(start, end, label.entity)]
            return Setup(draft.labels, ranges, [label], draw_manner(draft, IN_FULL))
    raise LookupError(label.entity)


def _too_much_kept(draft: Draft) -> Setup:
    entity = draft.rng.choice((*_LASTING, "EMAIL_ADDRESS", "DATE_OF_BIRTH"))
    if entity == "EMAIL_ADDRESS":
        label = draft.pick(entity, lambda value: value.find("@") >= 6)
        policy, write = EntityPolicy(keep=("email_domain",)), lambda value: value[:4] + keep_domain(value)
    elif entity == "DATE_OF_BIRTH":
        label = draft.pick(entity, lambda value: bool(re.fullmatch(r"\d\d\D\d\d\D(19|20)\d\d", value)))
        policy, write = EntityPolicy(keep=("year",)), lambda value: "**" + value[2:]
    else:
        label = draft.pick(entity, lambda value: count_digits(value) >= 9)
        policy, write = EntityPolicy(keep_last=4), keep_last(*draft.rng.choice(((5, 0), (6, 0), (4, 4), (4, 1))))
    manner = keeping(draw_manner(draft, IN_FULL), entity, policy, write)
    return Setup(draft.labels, draft.labels, [label], manner)


FAULTS: Mapping[str, Callable[[Draft], Setup]] = {
    "offset_unit": _offset_unit,
    "output_positions": _output_positions,
    "digits_left": _digits_left,
    "address_tail": _address_tail,
    "mail_local": _mail_local,
    "name_beside": _name_beside,
    "repeat_left": _repeat_left,
    **{kind: _respelled(kind) for kind in SPELLINGS},
    "international": _international,
    "untouched": _untouched,
    "first_of_list": _first_of_list,
    "mask_beside": _mask_beside,
    "too_much_kept": _too_much_kept,
    "rewritten": _repeat_left,
}
