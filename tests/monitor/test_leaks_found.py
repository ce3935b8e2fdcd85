"""What the leak check finds: every kind in more shapes than were reported."""

from __future__ import annotations

import pytest

from monitor.leaks.check import check
from monitor.leaks.findings import Checked
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.net import Net, build_net
from monitor.records import Span

Flagged = tuple[str, str]
PERSON, PHONE, MAIL, ADDRESS = "PERSON", "PHONE_NUMBER", "EMAIL_ADDRESS", "ADDRESS"


def find(text: str, flagged: Flagged, redacted: str, net: Net | None = None) -> Checked:
    """Return what check and screen say alike of an output of a text with one value, flagged where it stands first."""
    value, entity = flagged
    at = text.index(value)
    spans = [Span(at, at + len(value), entity)]
    found = check(text, spans, redacted, Policy(), net)
    assert found == examine(text, spans, redacted, Policy(), net)
    return found


@pytest.mark.parametrize(
    ("text", "flagged", "redacted", "left"),
    [
        ("call 06-24 11 87 03 now", ("06-24 11 87 03", PHONE), "call 06-24 11 87 ** now", "06-24 11 87"),
        ("SSN 123-45-6789 ok", ("123-45-6789", "US_SSN"), "SSN XXX-XX-6789 ok", "6789"),
        ("SSN 123456789 ok", ("123456789", "US_SSN"), "SSN XXXXX6789 ok", "6789"),
        ("Dr. Jan Jansen komt", ("Jan Jansen", PERSON), "Dr. <PERSON> Jansen komt", "Jansen"),
        ("Dr. Jan Jansen komt", ("Jan Jansen", PERSON), "Dr. Jan <PERSON> komt", "Jan"),
        ("Dr. Jan Jansen komt", ("Jan Jansen", PERSON), "Dr. Jansen komt", "Jansen"),
        ("Dr. Jan Jansen komt", ("Jan Jansen", PERSON), "Dr. Piet Jansen komt", "Jansen"),
        ("Dr. Jan Jansen komt", ("Jan Jansen", PERSON), "Dr. [NAME: Jansen] komt", "Jansen"),
        ("mail jan@mail.nl ok", ("jan@mail.nl", MAIL), "mail j**@****.** ok", "j"),
        ("mail jan@mail.nl ok", ("jan@mail.nl", MAIL), "mail <USER>@mail.nl ok", "@mail.nl"),
        ("Woont Hoofdweg 12b, Delft.", ("Hoofdweg 12b, Delft", ADDRESS), "Woont [ADRES] 12b, Delft.", "12b, Delft"),
        ("geb. 12-03-1980 te", ("12-03-1980", "DATE_OF_BIRTH"), "geb. **-**-1980 te", "1980"),
        ("NL91ABNA0417164300", ("NL91ABNA0417164300", "IBAN_CODE"), "<IBAN>4300", "4300"),
        ("bel 0612345678 nu", ("0612345678", PHONE), "bel 0612000078 nu", None),
    ],
)
def test_what_a_mask_leaves_of_its_value(text: str, flagged: Flagged, redacted: str, left: str | None) -> None:
    """Digits, names and parts of addresses in place; of a surrogate what is too much for chance."""
    found = find(text, flagged, redacted)
    assert found.aligned
    assert {leak.kind for leak in found.leaks} == {"partial_mask"}
    if left is not None:
        [leak] = found.leaks
        assert redacted[leak.output_start : leak.output_end] == left.lstrip("@")
        assert text[leak.start : leak.end] == left.lstrip("@")


@pytest.mark.parametrize(
    ("text", "flagged", "rest"),
    [
        ("Bel 06-24 11 87 03 nu", ("06-24 11 87", PHONE), " 03"),
        ("Bel 06-24118703 nu", ("06-241187", PHONE), "03"),
        ("Call 555-123-4567 now", ("555-123", PHONE), "-4567"),
        ("card 4539 0000 1234 5676 ok", ("4539 0000 1234", "CREDIT_CARD"), " 5676"),
        ("IBAN NL91 ABNA 0417 1643 00 ok", ("NL91 ABNA 0417", "IBAN_CODE"), " 1643 00"),
        ("born 12 March 1980 in", ("12 March", "DATE_TIME"), " 1980"),
        ("Ik sprak Joke Hendriksma gisteren.", ("Joke", PERSON), " Hendriksma"),
        ("Ik sprak Joke Hendriksma gisteren.", ("Hendriksma", PERSON), "Joke "),
        ("Ik sprak Jan de Vries gisteren.", ("Jan", PERSON), " de Vries"),
        ("Ik sprak Anna-Maria gisteren.", ("Anna", PERSON), "-Maria"),
        ("Gestern hat Anna Schmidt angerufen.", ("Anna", PERSON), " Schmidt"),
        ("I spoke to Susan Hall yesterday.", ("Susan", PERSON), " Hall"),
        ("Ayer llamó Lucía García.", ("Lucía", PERSON), " García"),
        ("Patient: Bo Smeding.", ("Smeding", PERSON), "Bo "),
        ("Mail j.de.vries@mail.nl graag", ("vries@mail.nl", MAIL), "j.de."),
        ("Mail jansen@mail.nl graag", ("mail.nl", "URL"), "jansen@"),
        ("Wohnt Hauptstraße 12, 10115 Berlin.", ("Hauptstraße 12", ADDRESS), ", 10115 Berlin"),
        ("Wohnt Hauptstraße 12 dort.", ("Hauptstraße", ADDRESS), " 12"),
        ("Vive en Calle Mayor 14, 28001 Madrid.", ("Calle Mayor", ADDRESS), " 14, 28001 Madrid"),
        ("Lives at 221 Baker Street, London NW1 6XE.", ("221 Baker Street", ADDRESS), ", London NW1 6XE"),
        ("Lives at 12 Main St, Troy, IL 62704.", ("12 Main St", ADDRESS), ", Troy, IL 62704"),
    ],
)
def test_rest_that_nobody_flagged_beside_a_mask(text: str, flagged: Flagged, rest: str) -> None:
    """It goes on with a number, a name, an address or a mail address, in four languages."""
    redacted = text.replace(flagged[0], f"<{flagged[1]}>", 1)
    [leak] = find(text, flagged, redacted).leaks
    assert (leak.kind, redacted[leak.output_start : leak.output_end]) == ("edge_fragment", rest)
    assert text[leak.start : leak.end] == rest


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("Tel 06-31 77 20 95, of 0031 (0)6 3177 2095", ("06-31 77 20 95", PHONE)),
        ("Tel 06-31 77 20 95, of 06&#45;31&#45;77&#45;20&#45;95", ("06-31 77 20 95", PHONE)),
        ("Tel 06-31 77 20 95, of 0\u00ad6\u00ad31772095", ("06-31 77 20 95", PHONE)),
        ("Call +1 (415) 555-0132, home 4155550132.", ("+1 (415) 555-0132", PHONE)),
        ("Call +44 20 7946 0018 or 020 7946 0018", ("+44 20 7946 0018", PHONE)),
        ("IBAN NL91ABNA0417164300 dus NL91 ABNA 0417 1643 00", ("NL91ABNA0417164300", "IBAN_CODE")),
        ("BSN 123456782 en 1234.56.782", ("123456782", "NL_BSN")),
        ("born 12-03-1980 and 12/03/1980", ("12-03-1980", "DATE_OF_BIRTH")),
        ("plate XR-52-KT, so xr52kt", ("XR-52-KT", "LICENSE_PLATE")),
        ("mail jan@x-mail.nl of jan&#64;x-mail.nl", ("jan@x-mail.nl", MAIL)),
        ("Jan Jansen belde. Later zei Jansen niets.", ("Jan Jansen", PERSON)),
        ("Jan Jansen belde. Groet, jan jansen", ("Jan Jansen", PERSON)),
        ("Joke Hendriksma belde. Groet hendriksma", ("Joke Hendriksma", PERSON)),
        ("José Núñez llamó. Luego Nunez colgó.", ("José Núñez", PERSON)),
        ("Jürgen Müller rief an. Herr Mu\u0308ller war nett.", ("Jürgen Müller", PERSON)),
        ("Ms Hendriksma came. H-e-n-d-r-i-k-s-m-a signed.", ("Hendriksma", PERSON)),
        ("Ms Hendriksma came. H\u200bendriksma signed.", ("Hendriksma", PERSON)),
        ("Ms Hendriksma came. H&eacute;ndriksma signed.", ("Hendriksma", PERSON)),
        ("Ms Hendriksma came. \uff28\uff25\uff2e\uff24\uff32\uff29\uff2b\uff33\uff2d\uff21!", ("Hendriksma", PERSON)),
        ("Frau Koch kam. Danach ging Frau Koch.", ("Koch", PERSON)),
        ("Will Smith called. I gave it to Will yesterday.", ("Will Smith", PERSON)),
        ("Tom Harvest called. At noon Harvest was there.", ("Tom Harvest", PERSON)),
        ("Harvest Jones called. Harvest is late.", ("Harvest Jones", PERSON)),
        ("We saw Harvest. Harvest is late.", ("Harvest", PERSON)),
        ("Ich bin Jens Drescher. Drescher sagte, das ist so.", ("Jens Drescher", PERSON)),
        ("Smid, Bente is er. Bente is ziek.", ("Smid, Bente", PERSON)),
        ("Woont Kerkhoflaan 14. De Kerkhoflaan is lang.", ("Kerkhoflaan 14", ADDRESS)),
        ("zero six two four one one, I said zero six two four one one", ("zero six two four one one", PHONE)),
    ],
)
def test_value_stands_elsewhere(text: str, flagged: Flagged) -> None:
    """The same value, or a name of it, that nobody flagged the second time, in whatever spelling."""
    [leak] = find(text, flagged, text.replace(flagged[0], f"<{flagged[1]}>", 1)).leaks
    assert leak.kind == "survives_elsewhere"
    at = text.index(flagged[0])
    assert at <= leak.start < leak.end <= at + len(flagged[0])


@pytest.mark.parametrize("redacted", ["Ik ben Jan Smit <PERSON> naar huis.", "Ik <PERSON>Jan Smit en ga naar huis."])
def test_mask_beside_the_value(redacted: str) -> None:
    """The value stands whole, and a mask of no other span beside it."""
    found = find("Ik ben Jan Smit en ga naar huis.", ("Jan Smit", PERSON), redacted)
    assert [leak.kind for leak in found.leaks] == ["shifted_mask"]
    assert found.replaced_spans == 0


def test_digest_glued_to_what_is_left() -> None:
    """A hex digest has a length, so the digits before it, which could be its own, are told from it."""
    text, digest = "born 27.06.1999 in", "56adb16226a52c3f" * 4
    [leak] = find(text, ("27.06.1999", "DATE_OF_BIRTH"), f"born 2{digest} in").leaks
    assert (leak.kind, leak.start, leak.end, leak.output_start, leak.output_end) == ("partial_mask", 5, 6, 5, 6)


def test_untouched_value_is_told_once() -> None:
    """A value that two spans flag, one masked and one not, is untouched there, and not elsewhere too."""
    text = "Jan Smit, en weer Jan Smit."
    spans = [Span(0, 8, PERSON), Span(18, 26, PERSON)]
    found = check(text, spans, "<PERSON>, en weer Jan Smit.", Policy())
    assert [(leak.kind, leak.start, leak.output_start) for leak in found.leaks] == [("untouched", 18, 18)]
    assert (found.masked, found.replaced_spans) == (((0, 8),), 1)


def test_overlapping_spans_are_one_place() -> None:
    """A span inside another one is masked with it, and what is left of both is told for the longer one."""
    text = "mail jan@mail.nl ok"
    spans = [Span(9, 16, "URL"), Span(5, 16, MAIL)]
    assert check(text, spans, "mail <EMAIL_ADDRESS> ok", Policy()).leaks == ()
    leaks = check(text, spans, "mail ***@mail.nl ok", Policy()).leaks
    assert [(leak.kind, leak.entity) for leak in leaks] == [("partial_mask", MAIL)]


def test_net_knows_what_touches_a_mask() -> None:
    """A mail address of which only a name was masked: no rule knows the rest, and the net does."""
    text = "mail Joke+b.klomp@mail.example please"
    redacted = text.replace("Joke", "<PERSON>")
    net = build_net(defaults=True, patterns={}, triggers=())
    assert find(text, ("Joke", PERSON), redacted).leaks == ()
    [leak] = find(text, ("Joke", PERSON), redacted, net).leaks
    assert (leak.kind, redacted[leak.output_start : leak.output_end]) == ("net_on_output", "+b.klomp@mail.example")
