"""Outputs that are hard to read: offsets of other units, other scripts, escapes, digests and surrogates."""

from __future__ import annotations

import html
import json
from hashlib import md5, sha256
from typing import NamedTuple
from urllib.parse import quote

import pytest

from monitor.leaks.check import check
from monitor.leaks.coverage import coverage_of
from monitor.leaks.percent import decode
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.records import Span

PERSON, PHONE, MAIL, ADDRESS, CARD = "PERSON", "PHONE_NUMBER", "EMAIL_ADDRESS", "ADDRESS", "CREDIT_CARD"


class Hard(NamedTuple):
    """A text, what is flagged in it, an output, and what of the text survives there (its stretches; none: clean)."""

    text: str
    flagged: tuple[tuple[str, str], ...]
    redacted: str
    left: tuple[str, ...] = ()
    aligned: bool = True


def in_units(text: str, value: str, encoding: str, mask: str = "<PERSON>") -> str:
    """Return a text whose redactor took the units of an encoding for code points."""
    start = text.index(value)
    low, high = (len(text[:at].encode(encoding)) for at in (start, start + len(value)))
    size = len("a".encode(encoding))
    return text[: low // size] + mask + text[high // size :]


GERMAN = "Gr\u00fc\u00dfe, ich hei\u00dfe J\u00f6rg M\u00fc\u00dfiggang und wohne in K\u00f6ln."
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467 H\u00e9, ik ben Fenna Hoekmeijer, echt waar."
FIRM = 'M\u00fcller & S\u00f6hne: J\u00f6rg Br\u00e4ndle <j.braendle@x.example> schrieb "hallo".'
FIRMS = (("J\u00f6rg Br\u00e4ndle", PERSON), ("j.braendle@x.example", MAIL))
AHMAD, ARABIC_PHONE = (
    "\u0623\u062d\u0645\u062f \u0645\u0646\u0635\u0648\u0631",
    "\u0660\u0666\u0663\u0661\u0667\u0667\u0662\u0660\u0669\u0665",
)
ARABIC = f"\u0623\u0646\u0627 {AHMAD} \u0648\u0631\u0642\u0645\u064a {ARABIC_PHONE}"
ARABS = ((AHMAD, PERSON), (ARABIC_PHONE, PHONE))
ARABIC_RIGHT = ARABIC.replace(AHMAD, "<PERSON>").replace(ARABIC_PHONE, "<PHONE_NUMBER>")
IVAN = "\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u0435\u043d\u043a\u043e"
BUYER = "kaart 4539 0000 1234 5676 van Bo Smid"
BOUGHT = (("4539 0000 1234 5676", CARD), ("Bo Smid", PERSON))
ODILE = "bonjour Odile B\u00e9renger, merci"
ODILES = (("Odile B\u00e9renger", PERSON),)
NOTE = "Naam: Bo Smid\nTel: 06-31772095"
NOTES = (("Bo Smid", PERSON), ("06-31772095", PHONE))

CASES = {
    "byte offsets, German": Hard(
        GERMAN,
        (("J\u00f6rg M\u00fc\u00dfiggang", PERSON),),
        in_units(GERMAN, "J\u00f6rg M\u00fc\u00dfiggang", "utf-8"),
        ("J\u00f6r",),
    ),
    "UTF-16 units behind a family": Hard(
        FAMILY, (("Fenna Hoekmeijer", PERSON),), in_units(FAMILY, "Fenna Hoekmeijer", "utf-16-le"), ("Fen",)
    ),
    "French address, both ends": Hard(
        "J'habite 12 bis rue des Lilas, 75011 Paris.",
        (("12 bis rue des Lilas, 75011 Paris", ADDRESS),),
        "J'habite 12 bis <ADDRESS>, 75011 Paris.",
        ("12 bis", "75011 Paris"),
    ),
    "Swedish address": Hard(
        "Jag bor p\u00e5 Storgatan 14 B, 114 55 Stockholm.",
        (("Storgatan 14", ADDRESS),),
        "Jag bor p\u00e5 <ADDRESS> B, 114 55 Stockholm.",
        (" B, 114 55 Stockholm",),
    ),
    "Dutch address and a telephone number": Hard(
        "Woont Laan 14, 030 12 34 567 bellen.", (("Laan 14", ADDRESS),), "Woont <ADDRESS>, 030 12 34 567 bellen."
    ),
    "Swedish name with hyphens": Hard(
        "Han heter Karl-Johan \u00c5kesson-Bergstr\u00f6m.",
        (("Karl-Johan \u00c5kesson", PERSON),),
        "Han heter <PERSON>-Bergstr\u00f6m.",
        ("-Bergstr\u00f6m",),
    ),
    "Swedish number, international": Hard(
        "Ring 070-123 45 67. Allts\u00e5 +46 70 123 45 67.",
        (("070-123 45 67", PHONE),),
        "Ring <PHONE_NUMBER>. Allts\u00e5 +46 70 123 45 67.",
        ("70-123 45 67",),
    ),
    "French mail address": Hard(
        "Mail: jean-luc.o'brien+test@exemple.example svp",
        (("jean-luc.o'brien+test@exemple.example", MAIL),),
        "Mail: jean-luc.<EMAIL_ADDRESS> svp",
        ("jean-luc",),
    ),
    "German extension": Hard(
        "Kontakt: Hr. \u00d6. \u00c7elik, Tel. 030/1234567-89",
        (("\u00d6. \u00c7elik", PERSON), ("030/1234567", PHONE)),
        "Kontakt: Hr. <PERSON>, Tel. <PHONE_NUMBER>-89",
        ("-89",),
    ),
    "spelled out": Hard(
        "Sanne Dekkerveld schreef. Groet, S a n n e  D e k k e r v e l d",
        (("Sanne Dekkerveld", PERSON),),
        "<PERSON> schreef. Groet, S a n n e  D e k k e r v e l d",
        ("Sanne Dekkerveld",),
    ),
    "Russian capitals": Hard(f"{IVAN}. {IVAN.upper()}", ((IVAN, PERSON),), f"<PERSON>. {IVAN.upper()}", (IVAN,)),
    "decomposed name beside its mask": Hard(
        "Ik ben Zo\u00eb Smid.", (("Zo\u00eb Smid", PERSON),), "Ik ben Zoe\u0308 <PERSON>.", ("Zo\u00eb",)
    ),
    "Arabic, right": Hard(ARABIC, ARABS, ARABIC_RIGHT),
    "Arabic, digits of another script": Hard(
        f"{ARABIC} 0631772095", ARABS, f"{ARABIC_RIGHT} 0631772095", (ARABIC_PHONE,)
    ),
    "Arabic, a surname": Hard(
        f"{ARABIC} {AHMAD.split()[1]}", ARABS, f"{ARABIC_RIGHT} {AHMAD.split()[1]}", (AHMAD.split()[1],)
    ),
    "digests": Hard(BUYER, BOUGHT, f"kaart {sha256(b'a').hexdigest()} van {md5(b'b').hexdigest()}"),  # noqa: S324
    "short digests": Hard(BUYER, BOUGHT, f"kaart {sha256(b'a').hexdigest()[:12]} van {sha256(b'b').hexdigest()[:10]}"),
    "digest with the last four": Hard(BUYER, BOUGHT, f"kaart {sha256(b'a').hexdigest()}5676 van <PERSON>", ("5676",)),
    "surrogates": Hard(BUYER, BOUGHT, "kaart 5412 7534 9988 1124 van Ad Kuyper"),
    "surrogate with the surname": Hard(BUYER, BOUGHT, "kaart 5412 7534 9988 1124 van Ad Smid", ("Smid",)),
    "last four": Hard(BUYER, BOUGHT, "kaart ************5676 van <PERSON>", ("5676",)),
    "digits in the middle": Hard("Tel: 0631772095.", (("0631772095", PHONE),), "Tel: ***177****.", ("177",)),
    "numbers that differ in the last digit": Hard(
        "tel 06-31 77 20 95 / 06-31 77 20 96",
        (("06-31 77 20 95", PHONE), ("06-31 77 20 96", PHONE)),
        "tel <PHONE_NUMBER> / 06-31 77 20 96",
        ("06-31 77 20 96",),
    ),
    "JSON, right": Hard(NOTE, NOTES, json.dumps("Naam: <PERSON>\nTel: <PHONE_NUMBER>")[1:-1], aligned=False),
    "JSON": Hard(NOTE, NOTES, json.dumps("Naam: <PERSON>\nTel: 06-31772095")[1:-1], ("06-31772095",), aligned=False),
    "JSON of an accent": Hard(ODILE, ODILES, json.dumps(ODILE)[1:-1], ("Odile B\u00e9renger",)),
    "HTML, right": Hard(
        FIRM, FIRMS, html.escape(FIRM.replace(FIRMS[0][0], "[PERSON]").replace(FIRMS[1][0], "[MAIL]")), aligned=False
    ),
    "HTML": Hard(FIRM, FIRMS, html.escape(FIRM.replace(FIRMS[1][0], "[MAIL]")), (FIRMS[0][0],), aligned=False),
    "URL, right": Hard(ODILE, ODILES, quote("bonjour [X], merci"), aligned=False),
    "URL": Hard(ODILE, ODILES, quote(ODILE), ("Odile B\u00e9renger",), aligned=False),
    "URL, a surname": Hard(ODILE, ODILES, quote("bonjour [X] B\u00e9renger, merci"), ("B\u00e9renger",), aligned=False),
    "URL of another text": Hard(
        ODILE, ODILES, quote("Note: Odile B\u00e9renger a dit bonjour."), ("Odile B\u00e9renger",), aligned=False
    ),
    "percent signs that are no escapes": Hard(
        "10% korting, 20%AB, voor Bo Smid", (("Bo Smid", PERSON),), "10% korting, 20%AB, voor %NAME%"
    ),
    "season and surname, German": Hard(
        "Dr. Sommer kommt. Im Sommer ist es warm. Der Sommer war lang.",
        (("Dr. Sommer", PERSON),),
        "<PERSON> kommt. Im Sommer ist es warm. Der Sommer war lang.",
    ),
    "stone and wine, French": Hard(
        "Je m'appelle Pierre Blanc. La pierre est blanche, le vin blanc aussi.",
        (("Pierre Blanc", PERSON),),
        "Je m'appelle <PERSON>. La pierre est blanche, le vin blanc aussi.",
    ),
    "mountain, Swedish": Hard(
        "Hon heter Linn Berg. Vi s\u00e5g ett berg. Det var ett h\u00f6gt berg.",
        (("Linn Berg", PERSON),),
        "Hon heter <PERSON>. Vi s\u00e5g ett berg. Det var ett h\u00f6gt berg.",
    ),
    "month and year, French": Hard(
        "N\u00e9 le 12 mars 1980 \u00e0 Lyon. En mars 1980, il neigeait.",
        (("12 mars 1980", "DATE_OF_BIRTH"),),
        "N\u00e9 le <DATE_OF_BIRTH> \u00e0 Lyon. En mars 1980, il neigeait.",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_survives_is_told_and_nothing_else(case: Hard) -> None:
    """Whether the output is the text with parts replaced, and which stretches of the text it still shows."""
    spans = [Span(case.text.index(v), case.text.index(v) + len(v), entity) for v, entity in case.flagged]
    found = check(case.text, spans, case.redacted, Policy())
    assert found == examine(case.text, spans, case.redacted, Policy())
    assert found.aligned is case.aligned
    assert tuple(case.text[leak.start : leak.end] for leak in found.leaks) == case.left


def test_places_in_a_percent_encoded_output_are_those_of_the_output() -> None:
    """Offsets are of what was written, escapes and all."""
    redacted = quote("salut \u20ac, Odile B\u00e9renger et [X]")
    text = "salut \u20ac, Odile B\u00e9renger et Bo Smid"
    found = check(text, [Span(9, 23, PERSON), Span(27, 34, PERSON)], redacted, Policy())
    assert [redacted[leak.output_start : leak.output_end] for leak in found.leaks] == ["Odile%20B%C3%A9renger"]


@pytest.mark.parametrize("output", ["%F0%9F%98%80a%20", "a%zz%20b%C3", "\u00e9%41%42\u00e9"])
def test_every_character_of_a_decoded_output_has_its_place(output: str) -> None:
    """The places are in order and cover the output; each holds the character, or its escape."""
    decoded = decode(output)
    assert decoded is not None
    pieces = [output[slice(*decoded.place(at, at + 1))] for at in range(len(decoded.text))]
    assert "".join(pieces) == output
    assert all(
        piece in (character, quote(character, safe=""), f"%{ord(character):02X}")
        for piece, character in zip(pieces, decoded.text, strict=True)
    )


def test_what_a_percent_encoded_output_shows_is_readable() -> None:
    """Nobody flagged the name; its letters stand in the output, one of them as two escapes."""
    text = "bonjour, je suis Odile B\u00e9renger et j'habite \u00e0 Lyon depuis toujours, merci beaucoup"
    redacted = quote(text)
    coverage = coverage_of(text, [], redacted, check(text, [], redacted, Policy()), Policy())
    at = text.index("B\u00e9renger")
    assert not any(start < at + 8 and at < end for start, end in coverage.hidden)
