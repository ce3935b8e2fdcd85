r"""What the loose net looks for by default, as data: RE2 patterns, and words that announce personal data.

The net asks whether a document holds anything, never where. So a pattern ends as soon as it's sure, and has an upper
bound only where a check reads the candidate. Precision isn't the aim, but a net that flags ordinary prose has no use:
a shape that any number has (nine digits) needs a check, and a word that anybody uses is no trigger.

RE2 makes one automaton of all patterns. Its size is what hostile text can blow up, so patterns start at a boundary,
group their digits, and bridge gaps with `*` and a class, never with `.{0,40}`, which would count from every start.
RE2's `\b`, `\w` and `\d` are ASCII; `(?i)` folds all of Unicode.

A trigger is matched as a word, and as people really type it:

* Whole words: a letter or digit on either side, accented Latin ones among them, forbids it; an underscore doesn't.
* Upper and lower case alike, except that a trigger in capitals throughout is matched in capitals only: Spain's "NIE"
  isn't German's "nie" (never), and France's "RIB" isn't a rib.
* Accents are optional both ways, composed or combining; ä, ö, ü and ß may be ae, oe, ue and ss.
* A space is any run of white space, hyphens and underscores; a hyphen may be a space or nothing; an apostrophe may be
  typographic or missing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import re2

from monitor.errors import ConfigError


class Pattern(NamedTuple):
    """One thing to look for: a name, an RE2 regex, and a name out of `monitor.checksums.CHECKS` or none.

    With a check, a document is caught only if a match of the regex passes it.
    """

    name: str
    regex: str
    check: str | None = None


# What stands between groups of digits, the same throughout a number. French writes no-break spaces.
_SPACE = r"[ \x{a0}\x{202f}]"


def _grouped(*groups: str) -> str:
    """Return the alternatives of a number whose groups are all joined by spaces, points or hyphens."""
    return "|".join(rf"\b{separator.join(groups)}\b" for separator in (_SPACE, r"\.", "-"))


_PHONE_INTERNATIONAL = (
    rf"\+[1-9](?:(?:{_SPACE}|[.\-/])?[()]{{0,3}} ?\d){{8}}|\b00[1-9]\d{{9,13}}\b|\b00(?:1|[34]\d)[ \-(]{{1,2}}\d"
)
_PHONE_NATIONAL = "|".join(
    (
        r"\b0[1-9]\d{7,10}\b",  # NL, FR, DE, UK in one piece
        _grouped(r"0\d", r"\d\d", r"\d\d", r"\d\d", r"\d\d"),  # FR and NL in pairs
        # Area code, then a subscriber's number: NL, DE, UK. Three digits at least: a date begins with two.
        r"\b0\d{2,4}(?:\) ?| ?[/\-] ?| )(?:\d{6}|\d\d \d\d \d\d|\d{3,4}[ \-]\d{3})",
        r"\b06[ \-]\d{4} ?\d{4}",  # NL mobile
        r"\b[6-9]\d{8}\b",  # ES
        r"\b[89]\d{1,2}[ \-](?:\d{6,7}|\d{3} \d\d \d\d)\b",
        _grouped(r"[6-9]\d\d", r"\d{3}", r"\d{3}"),
        _grouped(r"[6-9]\d\d", r"\d\d", r"\d\d", r"\d\d"),
        r"\b[2-9]\d{9}\b",  # US
        r"\b\d{3}(?:\) ?|[ .\-])\d{3}[.\-]\d{4}\b",
    )
)

# The date must be what the next digit after the word begins, in the same sentence. Dates alone are in every business
# text (court cases, invoices, log lines) and would flag nearly all of it; a birth word beside one hardly ever errs.
_BIRTH_WORDS: tuple[str, ...] = (
    r"born|birth|birthda(?:y|te)|dob|d\.o\.b\.?",  # en
    r"nacid[oa]s?|nac[ií]|naci[oó]|nacimiento|f\. ?nac\.?",  # es
    r"n[ée]e? ?\(e\)|née?s?|naissance|naquit",  # fr; without accents "nee" is Dutch "no", "ne" is "not"
    r"geb\.?|geboren(?:e[rn]?)?|geburts(?:datum|tag)",  # de
    r"geboorte(?:datum|dag)|verjaardag",  # nl
)
_DATES: tuple[str, ...] = (
    r"\d{1,2} ?[./\-] ?\d{1,2} ?[./\-] ?\d\d",  # 3/4/80, 03.04.1980
    r"(?:19|20)\d\d[./\-]\d",  # 1980-04-03
    r"\d{1,2}[^\d\n;!?]*(?:19|20)\d\d",  # 3 de abril de 1980, 3rd of April 1980, April 3, 1980
)
_BORN = "|".join(_BIRTH_WORDS)
_LETTER = r"A-Za-z\x{c0}-\x{24f}"
# From the birth word to the first digit of the sentence.
_TO_DATE = rf"(?:[^{_LETTER}\d!?;][^\d.!?;]*)?"

DEFAULT_PATTERNS: tuple[Pattern, ...] = (
    Pattern("email", rf"[^\s@]@[^\s@/]+\.[{_LETTER}]{{2}}|\w ?[(\[](?:at|AT)[)\]] ?\w"),
    Pattern("phone_international", _PHONE_INTERNATIONAL),
    Pattern("phone_national", _PHONE_NATIONAL),
    Pattern(
        "payment_card",
        "|".join(
            (
                r"\b\d{12,19}\b",
                _grouped(r"\d{4}", r"\d{4}", r"\d{4}", r"\d{1,7}"),
                _grouped(r"\d{4}", r"\d{6}", r"\d{4,5}"),
            )
        ),
        "payment_card",
    ),
    Pattern(
        "iban",
        r"(?i)\b[A-Z]{2}\d\d(?:[A-Z0-9]{11,30}|(?:[ \-][A-Z0-9]{4}){2,7}[ \-][A-Z0-9]{1,4})\b",
        "iban",
    ),
    Pattern(
        "national_id_es",
        r"(?i)\b(?:\d{8}|\d\d\.\d{3}\.\d{3}|[KLMXYZ][ \-]?(?:\d{7}|\d\.\d{3}\.\d{3}))[ \-]?[A-HJ-NP-TV-Z]\b",
        "es_nif",
    ),
    Pattern(
        "national_id_nl",
        "|".join((r"\b\d{9}\b", _grouped(r"\d{4}", r"\d\d", r"\d{3}"), _grouped(r"\d{3}", r"\d{3}", r"\d{3}"))),
        "nl_bsn",
    ),
    Pattern(
        "national_id_fr",
        "|".join(
            (
                r"\b\d{6}[\dAaBb]\d{8}\b",
                _grouped(r"\d", r"\d\d", r"\d\d", r"\d[\dAaBb]", r"\d{3}", r"\d{3}", r"\d\d"),
                r"\b\d{6}[\dAaBb]\d{6}[ \-/]\d\d\b",
            )
        ),
        "fr_nir",
    ),
    Pattern("national_id_de", r"\b\d{11}\b|" + _grouped(r"\d\d", r"\d{3}", r"\d{3}", r"\d{3}"), "de_steuer_id"),
    Pattern(
        "national_id_uk",
        r"(?i)\b[A-Z]{2}(?: ?\d{6} ?|(?: \d\d){3} |(?:-\d\d){3}-)[A-D]\b",
        "uk_nino",
    ),
    Pattern("health_id_uk", r"\b\d{10}\b|" + _grouped(r"\d{3}", r"\d{3}", r"\d{4}"), "uk_nhs"),
    Pattern("national_id_us", _grouped(r"\d{3}", r"\d\d", r"\d{4}"), "us_ssn"),
    Pattern("birth_date", rf"(?i)(?:^|[^{_LETTER}])(?:(?:{_BORN}){_TO_DATE}|nee? le )(?:{'|'.join(_DATES)})"),
    Pattern("ip_v4", r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
    Pattern("ip_v6", r"(?i)\b[\da-f]{1,4}(?::[\da-f]{1,4}){7}\b|\b[\da-f]{1,4}(?::[\da-f]{1,4})*::[\da-f]{1,4}"),
    Pattern("url_userinfo", r"://[^\s/?#@]+@[^\s/]"),
)

# Words that announce an identifier, for the numbers that no pattern knows: spelled out, misheard, mistyped. What prose
# uses without a number beside it isn't here ("credit card" but "card number"; "Seguridad Social" is an authority).
# In capitals throughout: matched in capitals only, as German's "nie" (never) isn't a NIE.
DEFAULT_TRIGGERS: tuple[str, ...] = (
    # en
    "passport",
    "sort code",
    "account number",
    "routing number",
    "card number",
    "CVV",
    "social security number",
    "SSN",
    "national insurance number",
    "NHS number",
    "medical record number",
    "driving licence",
    "driver's licence",
    "driver's license",
    "taxpayer identification number",
    "date of birth",
    # es
    "pasaporte",
    "DNI",
    "NIE",
    "NIF",
    "documento de identidad",
    "número de cuenta",
    "número de tarjeta",
    "número de la seguridad social",
    "número de afiliación",
    "tarjeta sanitaria",
    "carnet de conducir",
    "permiso de conducir",
    "fecha de nacimiento",
    # fr
    "passeport",
    "carte d'identité",
    "numéro de sécurité sociale",
    "numéro de compte",
    "numéro de carte",
    "numéro fiscal",
    "RIB",
    "carte vitale",
    "titre de séjour",
    "permis de conduire",
    "date de naissance",
    # de
    "Reisepass",
    "Personalausweis",
    "Ausweisnummer",
    "Steuernummer",
    "Steuer-ID",
    "Steueridentifikationsnummer",
    "Sozialversicherungsnummer",
    "Rentenversicherungsnummer",
    "Versichertennummer",
    "Kontonummer",
    "Kreditkartennummer",
    "Bankleitzahl",
    "Führerschein",
    "Geburtsdatum",
    # nl
    "paspoort",
    "paspoortnummer",
    "identiteitskaart",
    "identiteitsbewijs",
    "burgerservicenummer",
    "BSN",
    "sofinummer",
    "rekeningnummer",
    "creditcardnummer",
    "rijbewijs",
    "geboortedatum",
    # any
    "IBAN",
)

_ACCENTED = {
    "a": "aàáâãäå",
    "c": "cç",
    "e": "eèéêë",
    "i": "iìíîï",
    "n": "nñ",
    "o": "oòóôõöø",
    "u": "uùúûü",
    "y": "yýÿ",
}
_COMBINING = r"[\x{300}-\x{308}\x{327}]?"
_SPELLED_OUT = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "oe", "å": "aa"}
_OTHERS = {" ": r"[\s\x{a0}_\-]+", "-": r"[\s\-]?", "'": "['’]?", "’": "['’]?"}
_EDGE = r"[^0-9A-Za-z\x{c0}-\x{24f}]"


def trigger_regex(trigger: str) -> str:
    """Return the RE2 regex of one trigger.

    Raises `ConfigError` for one without a letter or digit, which would fire on every document.
    """
    return _words([trigger], fold=not trigger.isupper())


def union_regex(triggers: Iterable[str]) -> list[str]:
    """Return at most two regexes for all triggers, those that fold case and those in capitals.

    One regex each, because RE2's automaton then starts them all at once; with one regex a trigger it took up
    to ten times as long on text that it hadn't seen the like of. Raises as `trigger_regex`.
    """
    capitals = [trigger for trigger in triggers if trigger.isupper()]
    others = [trigger for trigger in triggers if not trigger.isupper()]
    return [_words(group, fold=fold) for group, fold in ((others, True), (capitals, False)) if group]


def _words(triggers: Iterable[str], *, fold: bool) -> str:
    words = "|".join(sorted(map(_spellings, triggers)))
    return f"{'(?i)' if fold else ''}(?:^|{_EDGE})(?:{words})(?:$|{_EDGE})"


def _spellings(trigger: str) -> str:
    words = " ".join(unicodedata.normalize("NFC", trigger).split())
    if not any(character.isalnum() for character in words):
        raise ConfigError("net.triggers", f"{trigger!r} has no letter or digit")
    return "".join(map(_spelling, words))


def _spelling(character: str) -> str:
    if character in _OTHERS:
        return _OTHERS[character]
    plain = unicodedata.normalize("NFD", character)[0]
    variants = _ACCENTED.get(plain.lower(), "")
    if plain.isupper():
        variants = variants.upper()
    spelling = f"[{variants}]{_COMBINING}" if variants else re2.escape(character)
    if spelled_out := _SPELLED_OUT.get(character.lower()):
        return f"(?:{spelling}|{spelled_out.upper() if character.isupper() else spelled_out})"
    return spelling
