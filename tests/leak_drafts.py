"""Documents under edit: the product's own invented transcripts, and sentences added with values that are noted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

from leak_sentences import FIRST_MENTION, LANGUAGES, Language

from monitor.records import Span
from streams.documents import LabelledDocument, documents
from streams.documents_ids import NATIONAL_IDS
from streams.documents_values import Pool, draw_pool
from streams.documents_writing import write_card, write_groups

_LOCALES: dict[Language, str] = {"en": "en_US", "nl": "nl_NL", "de": "de_DE", "es": "es_ES"}


class Draft:
    """A text, what is personal in it, and places that nobody is going to flag.

    All are spans of the text as it is now: adding a sentence moves them.
    """

    def __init__(self, document: LabelledDocument, lang: Language, rng: Random, seed: int) -> None:
        self.doc_id = document.doc_id
        self.lang: Language = lang
        self.text = document.text
        self.rng = rng
        self.labels = list(document.labels)
        self.unseen: list[Span] = []
        self.pool: Pool = draw_pool(_LOCALES[lang], seed)

    def value(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]

    def add(self, sentence: str, *values: tuple[str, str], unseen: bool = False, first: bool = False) -> list[Span]:
        """Put a sentence at the end of a line, or at the text's beginning, and return where its values stand.

        A value comes with its entity; with none it's nobody's. `unseen`: its values are noted apart from the labels.
        """
        literals = sentence.split("{}")
        at, before = (0, "") if first else self._place()
        pieces, placed = [before], []
        end = at + len(before)
        for literal, (written, entity) in zip(literals, (*values, ("", "")), strict=True):
            end += len(literal)
            pieces += (literal, written)
            if entity:
                placed.append(Span(end, end + len(written), entity))
            end += len(written)
        if first:
            pieces.append("\n")
        added = "".join(pieces)
        self.text = self.text[:at] + added + self.text[at:]
        self.labels = [_move(span, at, len(added)) for span in self.labels]
        self.unseen = [_move(span, at, len(added)) for span in self.unseen]
        (self.unseen if unseen else self.labels).extend(placed)
        self.labels.sort(key=lambda span: span.start)
        return placed

    def _place(self) -> tuple[int, str]:
        """Return a line's end, and what separates a sentence there from the one before.

        Where a line doesn't end as a sentence does, a value may, and the new sentence's first word would touch it.
        """
        ends = [*(found.start() for found in re.finditer("\n", self.text)), len(self.text)]
        at = self.rng.choice(ends)
        return at, " " if self.text[at - 1] in ".?!" else "\n"

    def pick(self, entity: str, fits: Callable[[str], bool] = bool) -> Span:
        """Return a label of an entity whose value fits; one is written where there is none.

        Raises LookupError where none of a hundred values of the pool fits.
        """
        found = [span for span in self.labels if span.entity == entity and fits(self.value(span))]
        if found:
            return self.rng.choice(found)
        for _ in range(100):
            written = invent(self, entity)
            if fits(written):
                return self.add(FIRST_MENTION[self.lang][entity], (written, entity))[0]
        raise LookupError(entity)


def _move(span: Span, at: int, by: int) -> Span:
    return Span(span.start + by, span.end + by, span.entity) if span.start >= at else span


def invent(draft: Draft, entity: str) -> str:
    """Return a value of an entity as the language's country writes it."""
    return _INVENT[entity](draft)


def _full_name(draft: Draft) -> str:
    person = draft.rng.choice(draft.pool.people)
    return f"{person.first} {person.last}"


def _birth(draft: Draft) -> str:
    rng = draft.rng
    gap = {"en": "/", "nl": "-", "de": ".", "es": "/"}[draft.lang]
    return f"{rng.randint(1, 28):02d}{gap}{rng.randint(1, 12):02d}{gap}{rng.randint(1930, 2008)}"


_INVENT: dict[str, Callable[[Draft], str]] = {
    "PERSON": _full_name,
    "PHONE_NUMBER": lambda draft: national_phone(draft.rng, draft.lang)[0],
    "EMAIL_ADDRESS": lambda draft: draft.rng.choice(draft.pool.people).email,
    "ADDRESS": lambda draft: draft.rng.choice(draft.pool.addresses),
    "IBAN_CODE": lambda draft: write_groups(draft.rng.choice(draft.pool.ibans), " "),
    "CREDIT_CARD": lambda draft: write_card(draft.rng, draft.rng.choice(draft.pool.cards)),
    "NATIONAL_ID": lambda draft: NATIONAL_IDS[_LOCALES[draft.lang]](draft.rng).number,
    "DATE_OF_BIRTH": _birth,
}


def national_phone(rng: Random, lang: Language) -> tuple[str, str, str]:
    """Return a telephone number as written at home, the number without its trunk zero, and the country's prefix."""

    def digits(count: int) -> str:
        return "".join(rng.choices("0123456789", k=count))

    if lang == "nl":
        rest = "6" + digits(8)
        home = f"0{rest[:1]}-{rest[1:3]} {rest[3:5]} {rest[5:7]} {rest[7:]}" if rng.random() < 0.5 else f"0{rest}"
        return home, rest, "31"
    if lang == "de":
        rest = rng.choice(("30", "171", "6442", "89")) + digits(rng.randint(6, 8))
        cut = 3 if rest.startswith("171") else 2
        return f"0{rest[:cut]}{rng.choice((' ', '/', '-'))}{rest[cut:]}", rest, "49"
    if lang == "es":
        rest = rng.choice("69") + digits(8)
        return rng.choice((rest, f"{rest[:3]} {rest[3:5]} {rest[5:7]} {rest[7:]}")), rest, "34"
    if rng.random() < 0.5:
        rest = "7" + digits(9)
        return f"0{rest[:4]} {rest[4:]}", rest, "44"
    rest = rng.choice("23456789") + digits(9)
    return rng.choice((f"({rest[:3]}) {rest[3:6]}-{rest[6:]}", f"{rest[:3]}-{rest[3:6]}-{rest[6:]}")), rest, "1"


def drafts(seed: int) -> Iterator[Draft]:
    """Yield drafts without end, those of the product's documents that are in one of the four languages."""
    for document in documents(seed):
        for lang in LANGUAGES:
            if document.lang == lang:
                yield Draft(document, lang, Random(f"leak {document.doc_id}"), seed)  # noqa: S311  # no secret


def without(spans: Sequence[Span], *left: Span) -> list[Span]:
    """Return the spans that aren't among those left."""
    return [span for span in spans if span not in left]
