"""The default set: what each pattern and trigger catches in its languages, and what it lets pass."""

from __future__ import annotations

import unicodedata
from functools import cache
from random import Random

import pytest
import re2

from monitor.net import Net, build_net
from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, Pattern
from monitor.regex_syntax import Assertion, Atom, Node, Repeat, Sequence, Union, parse_regex

CAUGHT = [
    ("email", "write to ana.lopez+x@mail.example.org, please"),
    ("email", "josé@correo.example"),
    ("email", "jan [at] voorbeeld punt nl"),
    ("phone_international", "call +44 20 7946 0018"),
    ("phone_international", "+34 612-345-678"),
    ("phone_international", "+1 (415) 555-0132"),
    ("phone_international", "+49 (0)30 901820"),
    ("phone_international", "00 33 no, 0033 6 12 34 56 78"),
    ("phone_international", "0031612345678"),
    ("phone_national", "móvil 612 345 678"),
    ("phone_national", "612345678"),
    ("phone_national", "tel. 912 34 56 78"),
    ("phone_national", "fijo 93 2746809"),
    ("phone_national", "bel 06-12345678"),
    ("phone_national", "020-7946001"),
    ("phone_national", "06 12 34 56 78"),
    ("phone_national", "01.23.45.67.89"),
    ("phone_national", "06\u00a012\u00a034\u00a056\u00a078"),
    ("phone_national", "030 / 901820"),
    ("phone_national", "0171 2345678"),
    ("phone_national", "020 7946 0018"),
    ("phone_national", "(01632) 960 123"),
    ("phone_national", "07700900123"),
    ("phone_national", "(415) 555-0132"),
    ("phone_national", "415-555-0132"),
    ("payment_card", "paid with 4111111111111111 today"),
    ("payment_card", "4111-1111-1111-1111"),
    ("payment_card", "card 2020 4111 1111 1111 1111 exp 12/29"),
    ("payment_card", "3782 822463 10005"),
    ("iban", "to ES91 2100 0418 4502 0005 1332 por favor"),
    ("iban", "iban:de89370400440532013000"),
    ("iban", "NL91-ABNA-0417-1643-00"),
    ("iban", "FR14 2004 1010 0505 0001 3M02 606"),
    ("iban", "GB82WEST12345698765432"),
    ("national_id_es", "con 12345678Z"),
    ("national_id_es", "12.345.678-z"),
    ("national_id_es", "x-1234567-l"),
    ("national_id_nl", "nummer 111222333"),
    ("national_id_nl", "1234 56 782"),
    ("national_id_fr", "n° 2 55 08 14 168 025 38"),
    ("national_id_fr", "255081416802538"),
    ("national_id_de", "IdNr. 47 036 892 816"),
    ("national_id_de", "47036892816"),
    ("national_id_uk", "NI AB 12 34 56 C"),
    ("national_id_uk", "ab123456c"),
    ("health_id_uk", "943 476 5919"),
    ("national_id_us", "219-09-1234"),
    ("birth_date", "She was born on 3 May 1980."),
    ("birth_date", "Born: May 3, 1980"),
    ("birth_date", "DOB 03/05/80"),
    ("birth_date", "date of birth:\n1980-05-03"),
    ("birth_date", "nacido en Ávila el 3 de mayo de 1980"),
    ("birth_date", "Fecha de nacimiento: 03.05.1980"),
    ("birth_date", "née le 3 mai 1980"),
    ("birth_date", "né(e) le 1er mai 1980"),
    ("birth_date", "ne le 03/05/1980"),
    ("birth_date", "NEE LE 3 MAI 1980"),
    ("birth_date", "Date de naissance 03-05-1980"),
    ("birth_date", "geb. 03.05.1980"),
    ("birth_date", "Geburtsdatum: 3. Mai 1980"),
    ("birth_date", "geboren op 3 mei 1980"),
    ("ip_v4", "from 203.0.113.77."),
    ("ip_v6", "2001:db8:0:0:0:0:0:1"),
    ("ip_v6", "from 2001:db8::8a2e:370"),
    ("url_userinfo", "ftp://ana:secret@files/"),
]

LET_PASS = [
    ("email", "3 @ 5 euros; foo@bar; @example"),
    ("phone_international", "+5 to +12, 1+1=2, +1,200 units"),
    ("phone_international", "order 0012 34, part 0000123456789"),
    ("phone_national", "on 01-02-2003 14:55:09, 2003-01-02, 01/02/2003 04:05"),
    ("phone_national", "items 300 400 500, 1,234,567, EUR 12 345 678"),
    ("payment_card", "4111 1111 1111 1112 and 1234567890123"),
    ("iban", "ES91 2100 0418 4502 0005 1333"),
    ("iban", "AB12 this that them over some"),
    ("national_id_es", "12345678A or 12345678"),
    ("national_id_nl", "111222334"),
    ("national_id_fr", "255081416802539"),
    ("national_id_de", "47036892817"),
    ("national_id_uk", "GB123456C"),
    ("health_id_uk", "943 476 5918"),
    ("national_id_us", "666-09-1234"),
    ("birth_date", "The figures were born of hope. On 3 May 1980 they met."),
    ("birth_date", "il ne pense pas que le 3 mai 1980 convienne"),
    ("birth_date", "il ne le voit pas, le 3 mai 1980 non plus"),
    ("birth_date", "nee, op 3 mei 1980 niet"),
    ("birth_date", "stubborn since 3 May 1980"),
    ("birth_date", "founded on 3 May 1980; the Borne met on 03/05/1980"),
    ("ip_v4", "version 1.2.3, section 12.4"),
    ("ip_v6", "at 12:30:45, std::vector"),
    ("url_userinfo", "https://example.org/a?to=b and mail@example.org"),
]

SPELLINGS = [
    ("número de cuenta", "Mi NUMERO DE CUENTA es"),
    ("número de cuenta", "nu\u0301mero  de\ncuenta"),
    ("numéro de sécurité sociale", "numero de securite sociale"),
    ("carte d'identité", "CARTE D’IDENTITÉ"),
    ("sort code", "Sort-Code: "),
    ("account number", '"account_number": 1'),
    ("Führerschein", "fuehrerschein"),
    ("Steuer-ID", "Steuer ID"),
    ("burgerservicenummer", "uw burgerservicenummer?"),
    ("pasaporte", "pasaporte"),
    ("NIE", "mi NIE."),
]

PROSE = {
    "en": "We shipped order 48213 on 12/03/2024 at 14:05; 300 units at 1,250.00 each, 15 % off. Call us any time.",
    "es": "El 12 de marzo de 2024 nadie sabía nada; pagó 1.250,00 euros, artículo 8.3, de 9 a 14 h.",
    "fr": "Il ne viendra pas le 12 mars 2024 ; la requête no 18949 / 91 vise les articles 32 par. 1 et 47.",
    "de": "Das war nie so geplant: am 12.03.2024 um 14:05 Uhr kamen 300 Stück zu je 1.250,00 Euro, Version 2.4.1.",
    "nl": "Nee, op 12-03-2024 kwamen er 300 stuks van 1.250,00 euro; zie artikel 12.4 en kamer 203.",
}


@pytest.fixture(scope="module")
def net() -> Net:
    """Return the default net."""
    return build_net(defaults=True, patterns={}, triggers=())


@pytest.mark.parametrize(("name", "text"), CAUGHT)
def test_default_pattern_catches(net: Net, name: str, text: str) -> None:
    """Each pattern fires on what people of its languages write."""
    assert name in net.names(text)
    assert net.catches(text)


@pytest.mark.parametrize(("name", "text"), LET_PASS)
def test_default_pattern_lets_pass(net: Net, name: str, text: str) -> None:
    """Each pattern leaves alone what only resembles its subject."""
    assert name not in net.names(text)


def test_every_default_pattern_has_examples_both_ways() -> None:
    """A pattern that's added without examples fails here."""
    names = {pattern.name for pattern in DEFAULT_PATTERNS}
    assert names == {name for name, _ in CAUGHT}
    assert names == {name for name, _ in LET_PASS}


CHECKED = [pytest.param(pattern, id=pattern.name) for pattern in DEFAULT_PATTERNS if pattern.check]
CHARACTERS = "0123456789 .-/()+aAbBcCdDeEgGkKlLmMnNsSxXyYzZ\u00a0\u202f"


@cache
def read_by(regex: str) -> str:
    """Return the characters that an atom matches."""
    return "".join(character for character in CHARACTERS if re2.fullmatch(regex, character))


def drawn(node: Node, rng: Random) -> str:
    """Return a text that a regex's tree matches, but for what it asserts between characters."""
    match node:
        case Atom(regex):
            return rng.choice(read_by(regex))
        case Assertion():
            return ""
        case Sequence(parts):
            return "".join(drawn(part, rng) for part in parts)
        case Union(choices):
            return drawn(rng.choice(choices), rng)
        case Repeat(part, least, most):
            most = least + 5 if most is None else most
            return "".join(drawn(part, rng) for _ in range(rng.choice([least, rng.randint(least, most), most])))


@pytest.mark.parametrize("pattern", CHECKED)
def test_a_candidate_is_told_by_the_bytes_that_follow(pattern: Pattern) -> None:
    """The net looks at 64 bytes from where a candidate begins; each kind is drawn many times, all sorts around it."""
    rng, tree = Random(pattern.name), parse_regex(pattern.regex)  # noqa: S311  # seeded, not secret
    before, after = ("", " ", "x ", "1 ", "+"), ("", " ", ".", "1", " 1", "a")
    texts = [rng.choice(before) + drawn(tree, rng) + rng.choice(after) for _ in range(400)]
    found = [match for match in (re2.search(pattern.regex, text) for text in texts) if match]
    assert len(found) > 200
    here = re2.compile(pattern.regex)
    assert [
        m.string for m in found if not here.match(m.string.encode()[len(m.string[: m.start()].encode()) :][:64])
    ] == []


@pytest.mark.parametrize("trigger", DEFAULT_TRIGGERS)
def test_default_trigger_fires_in_its_spellings(net: Net, trigger: str) -> None:
    """Each trigger fires as it stands, without its accents, with combining accents, and in capitals."""
    decomposed = unicodedata.normalize("NFD", trigger)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    for spelling in (trigger, plain, decomposed, trigger.upper()):
        assert f"trigger:{trigger}" in net.names(f"({spelling}:")


@pytest.mark.parametrize(("trigger", "text"), SPELLINGS)
def test_trigger_is_matched_as_people_type_it(net: Net, trigger: str, text: str) -> None:
    """Case, accents, white space, hyphens, underscores, apostrophes and spelled-out umlauts are all one."""
    assert f"trigger:{trigger}" in net.names(text)


@pytest.mark.parametrize("text", ["passporter", "épassport", "passport2", "nie", "Nie wieder", "ein rib", "sortcode"])
def test_trigger_is_a_whole_word_and_an_acronym_is_in_capitals(net: Net, text: str) -> None:
    """A word inside another doesn't fire, nor does a lower-case acronym, which may be a word of another language."""
    assert net.names(text) == []


@pytest.mark.parametrize("trigger", ["número de cuenta", "numero de cuenta"])
@pytest.mark.parametrize("text", ["número de cuenta", "numero de cuenta", "nu\u0301mero de cuenta"])
def test_accents_are_optional_on_both_sides(trigger: str, text: str) -> None:
    """An operator's trigger and a text match whichever of the two has the accents."""
    assert build_net(defaults=False, patterns={}, triggers=[trigger]).catches(text)


@pytest.mark.parametrize("language", PROSE)
def test_ordinary_business_prose_passes(net: Net, language: str) -> None:
    """Dates, times, amounts, articles and order numbers alone flag nothing."""
    assert net.names(PROSE[language]) == []
