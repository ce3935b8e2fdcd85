"""Texts that are made to be expensive for the loose net, and ordinary ones to compare with; all seeded."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random

from monitor.checksums import CHECKS
from monitor.patterns import DEFAULT_TRIGGERS
from streams.documents import documents

_DIGITS = string.digits
Piece = Callable[[Random], str]


def ordinary_texts(number: int, length: int, *, ascii_only: bool) -> list[str]:
    """Return transcripts of `length` characters, conversations one after the other."""
    kept = (_ascii(document.text) if ascii_only else document.text for document in documents(3))
    return list(islice(_cut(kept, length), number))


def _ascii(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def _cut(texts: Iterator[str], length: int) -> Iterator[str]:
    """Yield pieces of one length out of texts set end to end."""
    held = ""
    for text in texts:
        held += text + "\n"
        while len(held) >= length:
            yield held[:length]
            held = held[length:]


def hostile_texts(name: str, number: int, length: int, *, seed: int = 0) -> list[str]:
    """Return `number` texts of `length` characters of one of `HOSTILE`'s kinds, no two alike."""
    rng = Random(f"{name} {seed}")  # noqa: S311  # seeded, not secret
    pieces = (HOSTILE[name](rng) for _ in iter(int, 1))
    return list(islice(_cut(pieces, length), number))


def _number(rng: Random, digits: int) -> str:
    return "".join(rng.choices(_DIGITS, k=digits))


def _wrong(check: str, digits: int, prefix: str = "") -> Piece:
    """Return numbers of a checked pattern's shape that fail its check."""

    def piece(rng: Random) -> str:
        while CHECKS[check](candidate := prefix + _number(rng, digits)):
            pass
        return candidate + " "

    return piece


def _soup(letters: str) -> Piece:
    return lambda rng: "".join(rng.choices(letters, k=500))


def _near_trigger(rng: Random) -> str:
    trigger = rng.choice(DEFAULT_TRIGGERS)
    return trigger[: rng.randint(1, len(trigger) - 1)] + rng.choice(" x-")


def _mail_without_domain(rng: Random) -> str:
    name, host = ("".join(rng.choices(string.ascii_lowercase, k=k)) for k in (6, 8))
    return f"{name}@{host} "


HOSTILE: dict[str, Piece] = {
    "fake cards": _wrong("payment_card", 16),
    "fake IBANs": _wrong("iban", 22, "ES"),
    "fake numbers of nine digits": _wrong("nl_bsn", 8, "1"),
    "digits only": _soup(_DIGITS),
    "digits and separators": _soup(_DIGITS + " .-"),
    "digits, plus and brackets": _soup(_DIGITS + "+()-/. "),
    "hexadecimal and colons": _soup("0123456789abcdef:"),
    "letters": _soup(string.ascii_letters),
    "punctuation": _soup(string.punctuation + " "),
    "all that prints": _soup(string.printable),
    "one letter": lambda _: "a" * 500,
    "@ only": lambda _: "@" * 500,
    "@ and letters": _soup("@@.a /"),
    "mail without a domain": _mail_without_domain,
    "beginnings of triggers": _near_trigger,
    "birth without a date": lambda rng: rng.choice(("born ", "geb. ", "née ", "nacido el ", "x", "12 ")),
    "digits of other scripts": _soup("٠١٢٣٤٥٦٧٨٩०१२३४५६७८९" + _DIGITS + " "),
    "letters of all scripts": lambda rng: chr(rng.choice((rng.randrange(32, 591), rng.randrange(0x370, 0xD7FF)))),
}
"""Kinds of hostile text: what each puts out, a piece at a time."""
