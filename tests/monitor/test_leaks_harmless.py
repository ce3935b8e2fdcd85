"""What isn't a leak: right outputs in four languages whose rest looks like a part of a value."""

from __future__ import annotations

import pytest

from monitor.leaks.check import check
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.records import Span

_PERSON, _ADDRESS = "PERSON", "ADDRESS"


def leaks_of(text: str, value: str, entity: str) -> tuple[str, ...]:
    """Return the kinds of leaks found where a value is replaced, where it stands first, by its entity's name."""
    at = text.index(value)
    spans, redacted = [Span(at, at + len(value), entity)], text.replace(value, f"<{entity}>", 1)
    found = check(text, spans, redacted, Policy())
    assert found == examine(text, spans, redacted, Policy())
    assert found.aligned
    return tuple(leak.kind for leak in found.leaks)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Will Smith called. Will you come?", "Will Smith"),
        ("Will Smith called. It will rain.", "Will Smith"),
        ("I saw May Johnson. In May it rained. You may go. May 12 is fine.", "May Johnson"),
        ("Bill Price paid. Price list and bill follow.", "Bill Price"),
        ("John Baker came. Baker Street is near.", "John Baker"),
        ("Grace Young said so. Young people have grace.", "Grace Young"),
        ("Hope Summer said. I hope so. In summer. Hope to see you.", "Hope Summer"),
        ("Theresa Best called. There's a quiet room.", "Theresa Best"),
        ("Mark Berg belde. De berg is hoog. Een mark kostte.", "Mark Berg"),
        ("Piet Bakker belde. De bakker bakt brood. Bakker gezocht.", "Piet Bakker"),
        ("Jan Winter kwam. In de winter. Winter is koud.", "Jan Winter"),
        ("Mr. Jan Jansen. In januari, op 12 jan. dus.", "Jan Jansen"),
        ("Anna Berg rief an. Der Berg ist hoch. Am Berg.", "Anna Berg"),
        ("Hans Koch rief an. Der Koch kocht. Ein Koch!", "Hans Koch"),
        ("Peter Klein kam. Klein, aber fein. Das ist klein.", "Peter Klein"),
        ("Frau Sommer kam. Im Sommer. Der Sommer ist schön.", "Sommer"),
        ("Elsa Gute kam. Alles Gute wünsche ich.", "Elsa Gute"),
        ("Ana Rosa Iglesias vino. Las iglesias. Una rosa.", "Ana Rosa Iglesias"),
        ("Luis Blanco vino. Blanco y negro. Color blanco.", "Luis Blanco"),
        ("Dolores Campo vino. Tiene dolores. Rellene el campo.", "Dolores Campo"),
        ("Angel Cruz vino. Es un ángel. La cruz roja.", "Angel Cruz"),
        ("Tom Harvest called. Harvest is over, we harvest in May.", "Tom Harvest"),
        ("Ich bin Jens Drescher. Drescher gesucht, ich will als Drescher arbeiten.", "Jens Drescher"),
        ("Mr Harvest called. Harvest is over, and harvest it was.", "Harvest"),
        ("Según él no hay nada. Se hizo según lo dicho por el otro.", "Según"),
        ("Olga Orchestra? The orchestra plays, our orchestra sings.", "Olga Orchestra"),
    ],
)
def test_ordinary_word_that_is_a_part_of_a_name(text: str, value: str) -> None:
    """A sentence's first word, a month, a German noun, a word that comes again and again: nobody is meant."""
    assert leaks_of(text, value, _PERSON) == ()


@pytest.mark.parametrize(
    ("text", "value", "entity"),
    [
        (
            "Woont Kerkstraat 14, 3511 AB Utrecht. De gemeente Utrecht besliste.",
            "Kerkstraat 14, 3511 AB Utrecht",
            _ADDRESS,
        ),
        ("Lives at Elm Street 4, Boston. Boston is nice.", "Elm Street 4, Boston", _ADDRESS),
        ("Vive en Calle Mayor 14, Madrid. Madrid es grande. La calle mayor.", "Calle Mayor 14, Madrid", _ADDRESS),
        ("Er wohnt in Berlin. Berlin ist groß.", "Berlin", "LOCATION"),
        (
            "Woont Hoofdweg 1, 1806 AM Nieuwendijk. In Nieuwendijk was markt.",
            "Hoofdweg 1, 1806 AM Nieuwendijk",
            _ADDRESS,
        ),
        ("Phone 06-24118703. Order 24 has 11 items, 87 left, 03.", "06-24118703", "PHONE_NUMBER"),
        ("call 020-555 12 34. Office: 020-555 12 00.", "020-555 12 34", "PHONE_NUMBER"),
        ("Card 4539 0000 1234 5676, and the year 1234.", "4539 0000 1234 5676", "CREDIT_CARD"),
        ("born 12-03-1980, working since 1980.", "12-03-1980", "DATE_OF_BIRTH"),
        ("The PIN is 4711. He paid 4711 euros.", "4711", "PIN"),
        ("She is 46 years old; 46 years ago it was.", "46 years", "AGE"),
        ("mail info@zaak.nl. Meer info op zaak.nl. Info hier.", "info@zaak.nl", "EMAIL_ADDRESS"),
        ("mail klantenservice@zaak.nl. Onze Klantenservice!", "klantenservice@zaak.nl", "EMAIL_ADDRESS"),
        ("A Dutch man spoke Dutch.", "Dutch", "NRP"),
    ],
)
def test_city_number_or_mailbox_that_is_everybodys(text: str, value: str, entity: str) -> None:
    """Public places, numbers that are equal by chance, a role's mailbox."""
    assert leaks_of(text, value, entity) == ()


@pytest.mark.parametrize(
    ("text", "value", "entity"),
    [
        ("I met Anna on Monday.", "Anna", _PERSON),
        ("Then Anna Monday left", "Anna", _PERSON),
        ("Dear Anna, I am here.", "Anna", _PERSON),
        ("President Lincoln said so.", "Lincoln", _PERSON),
        ("It's at the Johnson Street office.", "Johnson", _PERSON),
        ("Name: Anna Phone: 1", "Anna", _PERSON),
        ("Anna's book", "Anna", _PERSON),
        ("in London 14 people", "London", "LOCATION"),
        ("Call 555-123-4567 24 hours a day", "555-123-4567", "PHONE_NUMBER"),
        ("On 12 March 1980 25 people came", "12 March 1980", "DATE_TIME"),
        ("IP 10.0.0.1:8080 is it", "10.0.0.1", "IP_ADDRESS"),
        ("Gisteren belde Jan over 3 dozen.", "Jan", _PERSON),
        ("Mevrouw Jansen zei niets.", "Jansen", _PERSON),
        ("Bel 06-24118703 10 keer", "06-24118703", "PHONE_NUMBER"),
        ("Woont Kerkstraat 14, 3 hoog?", "Kerkstraat 14", _ADDRESS),
        ("de Utrechtse markt", "Utrecht", "LOCATION"),
        ("Dann hat Anna Termin.", "Anna", _PERSON),
        ("Ich bin Anna von der Schadenabteilung.", "Anna", _PERSON),
        ("Herr Müller kam, und Patientin Meier auch.", "Meier", _PERSON),
        ("Frau Dr. Weber kam.", "Weber", _PERSON),
        ("El señor García vino.", "García", _PERSON),
        ("Dijo que Ana Martes no vino.", "Ana", _PERSON),
    ],
)
def test_what_touches_a_mask_and_is_no_rest(text: str, value: str, entity: str) -> None:
    """Titles, days, roles, streets named after somebody, and numbers of something else."""
    assert leaks_of(text, value, entity) == ()
