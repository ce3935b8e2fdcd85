"""Texts that hold masks of an earlier redactor: a right output is clean, and what is planted is found."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from random import Random
from typing import NamedTuple

import pytest

from monitor.leaks.check import check
from monitor.leaks.findings import Checked
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.records import Span

HELD = (
    *("<PERSON>", "[NAME_1]", "[[PHONE_NUMBER_2]]", "{{NAAM}}", "<EMAIL_ADDRESS>", "<PHONE_NUMBER>", "[REDACTED]"),
    *("<person>", "&lt;NAME&gt;", "PERSON_1", "XXXX", "xxxxx", "[...]", "\u2026"),
    *("**", "***", "****", "\u2588" * 6, "____", "#####", "----"),
)
VALUES = {
    "PERSON": ("Joke Hendriksma", "Bo Smid", "Sanne van der Linden", "Karl-Heinz W\u00f6rner", "\u00c5sa Lindqvist"),
    "PHONE_NUMBER": ("06-31 77 20 95", "+49 171 9876543", "04 72 09 52 30", "0704-55 21 98", "(020) 765 43 21"),
    "EMAIL_ADDRESS": ("joke.h@voorbeeld.example", "karl@beispiel.example", "asa_l77@exempel.example"),
    "IBAN_CODE": ("NL91 ABNA 0417 1643 00", "DE89370400440532013000"),
}
SAID = (
    *("ik belde gisteren", "het formulier is al ingevuld", "de naam is weggelakt:", "eerder stond hier"),
    *("bitte melden Sie sich", "Feld bleibt leer", "le dossier est complet", "la r\u00e9ponse est l\u00e0"),
    *("please see the note", "value was", "vi ringer tillbaka"),
)
Write = Callable[[str, str], str]
WRITES: dict[str, Write] = {
    "placeholder": lambda entity, _: f"<{entity}>",
    "square": lambda entity, _: f"[{entity}]",
    "counted": lambda entity, value: f"[{entity}_{len(value) % 7}]",
    "curly": lambda entity, _: f"{{{{{entity}}}}}",
    "stars": lambda _, value: "*" * len(value),
    "blocks": lambda _, value: "\u2588" * len(value),
    "four stars": lambda *_: "****",
    "nothing": lambda *_: "",
    "digest": lambda _, value: hashlib.sha256(value.encode()).hexdigest(),
}


class Held(NamedTuple):
    """A text, what is flagged in it, and how it's redacted."""

    text: str
    spans: list[Span]
    write: Write

    def redacted(self, write: Write | None = None) -> str:
        """Return the output, each value written as it should be or as told."""
        parts: list[str] = []
        at = 0
        for span in self.spans:
            parts += self.text[at : span.start], (write or self.write)(span.entity, self.text[span.start : span.end])
            at = span.end
        return "".join(parts) + self.text[at:]


def made(seed: int) -> tuple[Held, Random]:
    """Return a text with one value to three, each with what an earlier redactor left beside or near it."""
    rng = Random(seed)  # noqa: S311
    text, spans = "", []
    values = {value: entity for entity in VALUES for value in VALUES[entity]}
    for value in rng.sample(sorted(values), k=rng.randint(1, 3)):
        text += rng.choice(SAID) + rng.choice((" ", ", ", ": ", " - ", "\n", " ("))
        if rng.random() < 0.7:
            text += rng.choice(HELD) + rng.choice((" ", " ", ", ", "/", ": ", "-", " en ", ". "))
        spans.append(Span(len(text), len(text) + len(value), values[value]))
        text += value
        if rng.random() < 0.6:
            text += rng.choice((" ", ", ", "/", " en ", ": ", " (")) + rng.choice(HELD)
        text += rng.choice((". ", ", ", "\n", ") "))
    return Held(f"{text}{rng.choice(SAID)}.", spans, WRITES[rng.choice(sorted(WRITES))]), rng


def looked(text: str, spans: list[Span], redacted: str) -> Checked:
    """Return what check and screen say alike."""
    found = check(text, spans, redacted, Policy())
    assert found == examine(text, spans, redacted, Policy())
    return found


@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_right_output_of_a_text_with_placeholders_is_clean(first: int) -> None:
    """However it's redacted, with the same placeholders or others: aligned, and without a leak."""
    for seed in range(first, first + 250):
        case, _ = made(seed)
        found = looked(case.text, case.spans, case.redacted())
        assert (seed, found.aligned, found.leaks) == (seed, True, ())


@pytest.mark.parametrize("fault", ["untouched", "tail", "first name", "elsewhere"])
def test_what_is_planted_among_placeholders_is_found(fault: str) -> None:
    """One value is left, its last digits or letters, its first name, or all of it again behind a placeholder."""
    planted = 0
    for seed in range(400):
        case, rng = made(seed)
        text, number = case.text, rng.randrange(len(case.spans))
        span = case.spans[number]
        value = text[span.start : span.end]
        first = value.split()[0] + " "
        if (fault == "first name" and span.entity != "PERSON") or (fault == "tail" and case.write is WRITES["digest"]):
            continue
        kept = {"untouched": (value, ""), "tail": (value[-3:], ""), "first name": ("", first), "elsewhere": ("", "")}
        tail, head = kept[fault]

        def write(entity: str, other: str, kept: tuple[str, str, str] = (value, head, tail), case: Held = case) -> str:
            if other != kept[0]:
                return case.write(entity, other)
            rest = other[len(kept[1]) : len(other) - len(kept[2])]
            return kept[1] + (case.write(entity, rest) if rest else "") + kept[2]

        redacted = case.redacted(write)
        if fault == "elsewhere":
            again = f" {rng.choice(HELD)} {value}"
            text, redacted = text + again, redacted + again
        found = looked(text, case.spans, redacted)
        planted += 1
        assert (seed, found.aligned, {leak.entity for leak in found.leaks}) == (seed, True, {span.entity})
        assert all(span.start <= leak.start < leak.end <= span.end for leak in found.leaks)
    assert planted > 100


@pytest.mark.parametrize(
    ("text", "value", "redacted", "rest"),
    [
        ("mail XXXX-jan@mail.nl ok", "jan@mail.nl", "mail XXXX-<EMAIL_ADDRESS> ok", None),
        ("mail PERSON_1/jan@mail.nl ok", "jan@mail.nl", "mail PERSON_1/<EMAIL_ADDRESS> ok", None),
        ("mail X.jan@mail.nl ok", "jan@mail.nl", "mail X.<EMAIL_ADDRESS> ok", "X."),
        ("mail MAXX-jan@mail.nl ok", "jan@mail.nl", "mail MAXX-<EMAIL_ADDRESS> ok", "MAXX-"),
        ("mail bo_PERSON_1/jan@mail.nl ok", "jan@mail.nl", "mail bo_PERSON_1/<EMAIL_ADDRESS> ok", "bo_PERSON_1/"),
    ],
)
def test_mask_of_an_earlier_redactor_is_no_rest(text: str, value: str, redacted: str, rest: str | None) -> None:
    """What is glued to the value and holds a letter of somebody's still is one."""
    at = text.index(value)
    found = looked(text, [Span(at, at + len(value), "EMAIL_ADDRESS")], redacted)
    assert [text[leak.start : leak.end] for leak in found.leaks] == ([rest] if rest else [])
