"""What only looks like a leak in a document that is redacted as it should be, and policies by which something stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from leak_drafts import Draft, invent
from leak_redactors import KEEP, Manner, Write, draw_manner, keep_domain, keep_last, keep_year, keeping, words
from leak_sentences import (
    ALREADY_MASKED,
    FIRST_MENTION,
    LISTED,
    NUMBER,
    ORDINARY_FIRST,
    ORDINARY_LAST,
    PUBLIC_CITY,
    SHARED_DOMAIN,
    YEAR,
)
from presidio_anonymizer.entities import OperatorConfig

from monitor.leaks.policy import EntityPolicy


def _ordinary_word(draft: Draft) -> Manner:
    """Name somebody after an ordinary word, and use the word."""
    rng, lang = draft.rng, draft.lang
    person = rng.choice(draft.pool.people)
    named = rng.choice((ORDINARY_FIRST, ORDINARY_LAST))[lang]
    name = rng.choice(tuple(named))
    full = f"{name} {person.last}" if named is ORDINARY_FIRST[lang] else f"{person.first} {name}"
    draft.add(FIRST_MENTION[lang]["PERSON"], (full, "PERSON"))
    draft.add(rng.choice(named[name]))
    return draw_manner(draft)


def _number_by_chance(draft: Draft) -> Manner:
    """Use a house number or a group of up to three digits as a number of something else, a year of birth as a year."""
    entity = draft.rng.choice(("ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "DATE_OF_BIRTH", "NATIONAL_ID"))
    pattern = r"(?<!\w)(?:19|20)\d\d(?!\w)" if entity == "DATE_OF_BIRTH" else r"(?<!\w)[1-9]\d{0,2}(?!\w)"
    value = draft.value(draft.pick(entity, lambda value: bool(re.search(pattern, value))))
    number = draft.rng.choice(re.findall(pattern, value))
    sentences = YEAR if entity == "DATE_OF_BIRTH" else NUMBER
    draft.add(draft.rng.choice(sentences[draft.lang]), (number, ""))
    return draw_manner(draft)


def _public_city(draft: Draft) -> Manner:
    """Say the city of a masked address as a place that everybody may name."""
    value = draft.value(draft.pick("ADDRESS", lambda value: bool(_cities(draft, value))))
    draft.add(draft.rng.choice(PUBLIC_CITY[draft.lang]), (max(_cities(draft, value), key=len), ""))
    return draw_manner(draft)


def _cities(draft: Draft, address: str) -> list[str]:
    """Return the cities in an address that aren't flagged by themselves and have no name of somebody in them.

    The English ones are invented out of names: West Debra.
    """
    named = words(" ".join(draft.value(span) for span in draft.labels if span.entity in {"LOCATION", "PERSON"}))
    near = [city for city in draft.pool.cities if city in address and not words(city) & named]
    return [city for city in near if re.search(rf"(?<!\w){re.escape(city)}(?!\w)", address)]


def _already_masked(draft: Draft) -> Manner:
    """Let the source itself hold placeholders and masks."""
    draft.add(draft.rng.choice(ALREADY_MASKED[draft.lang]))
    return draw_manner(draft)


def _shared_domain(draft: Draft) -> Manner:
    """Name a department's mailbox at the domain of a masked address."""
    value = draft.value(draft.pick("EMAIL_ADDRESS", lambda value: "@" in value and " " not in value))
    draft.add(SHARED_DOMAIN[draft.lang], (value.split("@")[1], ""))
    return draw_manner(draft)


def _neighbours_joined(draft: Draft) -> Manner:
    """List addresses with spaces alone between them: presidio makes one placeholder of all three."""
    values = [invent(draft, "EMAIL_ADDRESS") for _ in range(3)]
    mails = [(value, "EMAIL_ADDRESS") for value in values]
    draft.add(LISTED[draft.lang], mails[0], (" ", ""), mails[1], (" ", ""), mails[2])
    return draw_manner(draft)


def _digits_of_placeholders(draft: Draft) -> Manner:
    """Give placeholders numbers whose digits the values hold too."""
    for entity in ("PHONE_NUMBER", "PERSON"):
        draft.pick(entity)
    manner = draw_manner(draft, ("numbered", "named", "digest"))
    digits = re.findall(r"\d\d", "".join(map(draft.value, draft.labels))) or ["06"]

    def write(entity: str) -> Write:
        number = draft.rng.choice(digits)
        shape = draft.rng.choice(("[[{}_{}]]", "<{}_{}>", "{{{{{}_{}}}}}", "[{}-{}]"))
        return lambda _: shape.format(entity, number)

    for entity in ("PHONE_NUMBER", "PERSON"):
        manner = keeping(manner, entity, EntityPolicy(), write(entity))
    return manner


HARMLESS: Mapping[str, Callable[[Draft], Manner]] = {
    "ordinary_word": _ordinary_word,
    "number_by_chance": _number_by_chance,
    "public_city": _public_city,
    "already_masked": _already_masked,
    "shared_domain": _shared_domain,
    "neighbours_joined": _neighbours_joined,
    "digits_of_placeholders": _digits_of_placeholders,
}

_KEPT: tuple[tuple[str, EntityPolicy, Write | OperatorConfig], ...] = (
    ("CREDIT_CARD", EntityPolicy(keep_last=4), keep_last(4)),
    ("IBAN_CODE", EntityPolicy(keep_last=4, keep_first=2), keep_last(4, 2)),
    ("PHONE_NUMBER", EntityPolicy(keep_last=3), keep_last(2, mask="█")),
    ("EMAIL_ADDRESS", EntityPolicy(keep=("email_domain",)), keep_domain),
    ("DATE_OF_BIRTH", EntityPolicy(keep=("year",)), keep_year),
    ("LOCATION", EntityPolicy(ignore=True), KEEP),
    ("IP_ADDRESS", EntityPolicy(ignore=True), KEEP),
)


def keep_something(draft: Draft, manner: Manner) -> Manner:
    """Return the manner with one entity of which something stays, as its policy says."""
    entity, policy, write = draft.rng.choice(_KEPT)
    if entity in FIRST_MENTION[draft.lang]:
        draft.pick(entity)
    return keeping(manner, entity, policy, write)
