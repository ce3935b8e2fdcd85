"""Redactors as people run them: presidio-anonymizer with its operators, in the manners that outputs are seen in.

What it replaced, and where the replacement stands, is taken from its own answer and proved: the parts between are the
text's. Nothing here is a leak yet.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from leak_drafts import Draft, invent
from leak_sentences import Language
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from monitor.leaks.policy import EntityPolicy
from monitor.records import Span

ENTITIES = (
    "PERSON",
    "LOCATION",
    "ADDRESS",
    "EMAIL_ADDRESS",
    "PHONE_NUMBER",
    "IBAN_CODE",
    "CREDIT_CARD",
    "DATE_OF_BIRTH",
    "NATIONAL_ID",
    "IP_ADDRESS",
    "PASSPORT_NUMBER",
    "LICENSE_PLATE",
    "USERNAME",
    "PASSWORD",
)
_SHORT = {
    "en": ("NAME", "REDACTED"),
    "nl": ("NAAM", "VERWIJDERD"),
    "de": ("NAME", "GESCHWÄRZT"),
    "es": ("NOMBRE", "TACHADO"),
}
_PERSON = {"en": "PERSON", "nl": "PERSOON", "de": "PERSON", "es": "PERSONA"}
Write = Callable[[str], str]

IN_FULL = (
    "entity",
    "numbered",
    "named",
    "digest",
    "word",
    "fixed",
    "stars",
    "blocks",
    "shape",
    "letters",
    "empty",
    "sha256",
    "sha512",
)
"""Manners whose replacement is told from a rest of the value: a surrogate that ends as the value does isn't."""
SURROGATES = ("surrogate", "surrogate_said")
MANNERS = IN_FULL + SURROGATES
_SALT = b"sixteen or more bytes"
_OPERATORS = {
    "entity": ("replace", {}),
    "fixed": ("replace", {"new_value": "****"}),
    "stars": ("mask", {"masking_char": "*", "chars_to_mask": 500, "from_end": False}),
    "blocks": ("mask", {"masking_char": "█", "chars_to_mask": 500, "from_end": False}),
    "letters": ("mask", {"masking_char": "X", "chars_to_mask": 500, "from_end": False}),
    "empty": ("redact", {}),
    "sha256": ("hash", {"hash_type": "sha256", "salt": _SALT}),
    "sha512": ("hash", {"hash_type": "sha512", "salt": _SALT}),
}
_CUSTOM: dict[str, Callable[[str], Write]] = {
    "shape": lambda _: lambda value: re.sub(r"\w", "*", value),
    "digest": lambda entity: lambda value: f"<{entity}:{hashlib.sha256(value.encode()).hexdigest()[:16]}>",
}


KEEP = OperatorConfig("keep", {})


class Manner(NamedTuple):
    """How a redactor replaces, and what its operator says may stay."""

    name: str
    operators: dict[str, OperatorConfig]
    policy: dict[str, EntityPolicy]


class Redaction(NamedTuple):
    """An output, and of every replacement where it stood and stands: source start and end, output start and end."""

    output: str
    pieces: tuple[tuple[int, int, int, int], ...]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of the source stands in the output; in a replacement, the whole of that."""
        return self._map(start, 2), self._map(end - 1, 3)

    def _map(self, at: int, side: int) -> int:
        moved = 0
        for piece in self.pieces:
            if at < piece[0]:
                break
            if at < piece[1]:
                return piece[side]
            moved = piece[3] - piece[1]
        return at + moved + (side == 3)


_ENGINE = AnonymizerEngine()


def redact(text: str, spans: Sequence[Span], operators: dict[str, OperatorConfig]) -> Redaction:
    """Return what presidio-anonymizer makes of a text.

    It joins neighbours of one entity with spaces alone between them. Raises ValueError where its output isn't the text
    with the stretches replaced that it says.
    """
    found = [RecognizerResult(span.entity, span.start, span.end, 1.0) for span in spans]
    answer = _ENGINE.anonymize(text, found, operators)  # type: ignore[arg-type]  # its own class, by another path
    pieces, rest, built, end = [], sorted(spans, key=lambda s: (s.start, s.end)), [], 0
    for item in sorted(answer.items, key=lambda item: (item.start, item.end)):
        start, stop, entity = rest[0].start, rest[0].end, rest.pop(0).entity
        while rest and rest[0].entity == entity and not text[stop : rest[0].start].strip(" ") and rest[0].start > stop:
            stop = rest.pop(0).end
        built += (text[end:start], item.text)
        pieces.append((start, stop, item.start, item.end))
        end = stop
    if rest or "".join((*built, text[end:])) != answer.text:
        raise ValueError("the output isn't the text with these stretches replaced")
    return Redaction(answer.text, tuple(pieces))


def draw_manner(draft: Draft, names: Sequence[str] = MANNERS) -> Manner:
    """Return one of the manners, made for a draft: counters and surrogates are the document's own."""
    name = draft.rng.choice(names)
    write = {entity: _writer(name, entity, draft) for entity in ENTITIES}
    policy = {e: EntityPolicy(surrogate=True) for e in ENTITIES} if name == "surrogate_said" else {}
    return Manner(name, write, policy)


def keeping(manner: Manner, entity: str, policy: EntityPolicy, write: Write | OperatorConfig) -> Manner:
    """Return the manner with an entity of its own: what may stay of it, and how it's written."""
    operator = write if isinstance(write, OperatorConfig) else custom(write)
    return manner._replace(operators=manner.operators | {entity: operator}, policy=manner.policy | {entity: policy})


def custom(write: Write) -> OperatorConfig:
    """Return an operator that calls a function."""
    return OperatorConfig("custom", {"lambda": write})


def _writer(name: str, entity: str, draft: Draft) -> OperatorConfig:
    if name in _OPERATORS:
        operator, params = _OPERATORS[name]
        return OperatorConfig(operator, dict(params))  # a copy: presidio writes the entity into it
    lang: Language = draft.lang
    if name == "word":
        return OperatorConfig("replace", {"new_value": f"[{_SHORT[lang][1]}]"})
    if name in SURROGATES:
        return custom(_Surrogates(entity, draft, alike=name == "surrogate_said"))
    if name in {"numbered", "named"}:
        shown = {"PERSON": _PERSON[lang] if name == "named" else _SHORT[lang][0]}.get(entity, entity)
        return custom(_Counter("{{{{{}_{}}}}}" if name == "named" else "[{}_{}]", shown))
    return custom(_CUSTOM[name](entity))


class _Counter:
    """Writes a placeholder with the number of the value among those of its entity."""

    def __init__(self, shape: str, shown: str) -> None:
        self._shape = shape
        self._shown = shown
        self._numbers: dict[str, int] = {}

    def __call__(self, value: str) -> str:
        return self._shape.format(self._shown, self._numbers.setdefault(value, len(self._numbers) + 1))


class _Surrogates:
    """Writes another value of the same kind, the same one for the same value.

    `alike`: one drawn as people draw them, which may share a first name or a digit with the value. Otherwise a name,
    address or mailbox shares no word and no four letters on end, and anything else no letter or digit at its place.
    """

    def __init__(self, entity: str, draft: Draft, *, alike: bool) -> None:
        self._entity = entity
        self._draft = draft
        self._alike = alike
        self._kept: dict[str, str] = {}
        self._taken = words(" ".join(map(draft.value, draft.labels)))

    def __call__(self, value: str) -> str:
        if value not in self._kept:
            self._kept[value] = self._draw(value)
        return self._kept[value]

    def _draw(self, value: str) -> str:
        rng = self._draft.rng
        if self._entity in {"PERSON", "EMAIL_ADDRESS", "ADDRESS"}:
            for _ in range(50):
                drawn = invent(self._draft, self._entity)
                if self._entity == "EMAIL_ADDRESS":
                    drawn = f"{drawn.split('@')[0]}@{rng.choice(('fake.test', 'nobody.invalid'))}"
                own = words(value) if self._alike and " " in value else set()
                apart = self._alike or not _runs(drawn) & _runs(value)
                if drawn != value and apart and not words(drawn) & (self._taken - own):
                    return drawn
        while True:
            drawn = "".join(_other(rng, letter, self._alike) for letter in value)
            if self._alike or not words(drawn) & words(value):
                return drawn


def words(text: str) -> set[str]:
    """Return the words of a text of three letters or digits and more, in lower case."""
    return set(re.findall(r"[^\W_]{3,}", text.lower()))


def _runs(text: str) -> set[str]:
    return {text[at : at + 4].lower() for at in range(len(text) - 3)}


def _other(rng: Random, letter: str, alike: bool) -> str:  # noqa: FBT001  # the class's own choice
    if letter.isdigit():
        return rng.choice("0123456789" if alike else "0123456789".replace(letter, ""))
    if letter.isalpha():
        drawn = rng.choice("abdefghiklmnoprstuvw".replace(letter.lower(), ""))
        return drawn.upper() if letter.isupper() else drawn
    return letter


def keep_last(count: int, first: int = 0, mask: str = "*") -> Write:
    """Return what masks all letters and digits but the last `count` and the first `first`."""

    def write(value: str) -> str:
        places = [at for at, letter in enumerate(value) if letter.isalnum()]
        shown = set(places[len(places) - count :] if count else ()) | set(places[:first])
        return "".join(c if not c.isalnum() or at in shown else mask for at, c in enumerate(value))

    return write


def keep_domain(value: str) -> str:
    """Mask what stands before the at sign, and all of a value without one."""
    local, at, domain = value.rpartition("@")
    return f"***{at}{domain}" if local else "***"


def keep_year(value: str) -> str:
    """Mask all of a date but a year of four digits."""
    return re.sub(r"(?<!\d)((?:19|20)\d\d)(?!\d)|\w", lambda found: found[1] or "*", value)
