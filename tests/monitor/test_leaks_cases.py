"""Leaks as people reported them: what an output leaves at a mask's edge, elsewhere, and what only looks like it."""

from __future__ import annotations

import pytest

from monitor.leaks.check import check
from monitor.leaks.findings import Checked
from monitor.leaks.policy import EntityPolicy, Policy
from monitor.leaks.screen import examine
from monitor.records import Span

_PHONE = "06-31 77 20 95"
_LETTER = "Ik ben Joke Hendriksma, mail joke@voorbeeld.example, tel 06-55 51 23 99."
_IN_LETTER = {
    "Joke Hendriksma": "PERSON",
    "joke@voorbeeld.example": "EMAIL_ADDRESS",
    "06-55 51 23 99": "PHONE_NUMBER",
}
_CARD_LAST = Policy({"CREDIT_CARD": EntityPolicy(keep_last=4)})


def look(text: str, values: dict[str, str], redacted: str, policy: Policy | None = None) -> Checked:
    """Return what the check says of an output; each value is flagged where it stands first. The screen must agree."""
    spans = [Span(at := text.index(value), at + len(value), entity) for value, entity in values.items()]
    found = check(text, spans, redacted, policy or Policy())
    assert found == examine(text, spans, redacted, policy or Policy())
    return found


def shown(found: Checked, redacted: str) -> set[tuple[str, str]]:
    """Return the kinds of a check's leaks with what the output shows."""
    return {(leak.kind, redacted[leak.output_start : leak.output_end]) for leak in found.leaks}


def test_digits_survive_a_mask_that_slid_in_text_with_emoji() -> None:
    """Code points read as UTF-16 units: two characters before the number are gone, its last two digits stay."""
    redacted = "Ok 😀👍 bel mij<PHONE_NUMBER>95 graag"
    found = look("Ok 😀👍 bel mij: 06-31 77 20 95 graag", {_PHONE: "PHONE_NUMBER"}, redacted)
    assert shown(found, redacted) == {("shifted_mask", "95")}
    assert [(leak.start, leak.end) for leak in found.leaks] == [(27, 29)]


def test_positions_in_the_output_read_as_positions_in_the_text() -> None:
    """The right output is clean; of the other one every rest is told, the number that stands whole among them."""
    right = "Ik ben <PERSON>, mail <EMAIL_ADDRESS>, tel <PHONE_NUMBER>."
    assert look(_LETTER, _IN_LETTER, right).leaks == ()
    wrong = "Ik ben <PERSON>driksma<EMAIL_ADDRESS>rbeeld<PHONE_NUMBER>06-55 51 23 99."
    found = look(_LETTER, _IN_LETTER, wrong)
    assert found.aligned
    told = {text: kind for kind, text in shown(found, wrong)}
    assert told.keys() == {"driksma", "rbeeld", "06-55 51 23 99"}
    assert told["06-55 51 23 99"] == "shifted_mask"


@pytest.mark.parametrize(
    ("text", "flagged", "whole", "redacted", "rest"),
    [
        (
            "Woont Kerkhoflaan 14-bis, 3999 ZX Werkdam.",
            "Kerkhoflaan 14",
            "Kerkhoflaan 14-bis, 3999 ZX Werkdam",
            "Woont <ADDRESS>-bis, 3999 ZX Werkdam.",
            "3999 ZX",
        ),
        ("Woont Kerkhoflaan 14-bis.", "Kerkhoflaan", "Kerkhoflaan 14-bis", "Woont <ADDRESS> 14-bis.", "14"),
        ("Woont Singel 1813 27 hs.", "Singel 1813", "Singel 1813 27 hs", "Woont <ADDRESS> 27 hs.", "27"),
    ],
)
def test_rest_of_an_address(text: str, flagged: str, whole: str, redacted: str, rest: str) -> None:
    """A rest is an edge's where nobody flagged it, and a partial mask where the span held it."""
    for value, kind in ((flagged, "edge_fragment"), (whole, "partial_mask")):
        told = shown(look(text, {value: "ADDRESS"}, redacted), redacted)
        assert [(k, rest in text) for k, text in told] == [(kind, True)]


def test_equal_number_that_nobody_flagged_is_no_leak() -> None:
    """The house number stands in the text once more, as a number of days."""
    text = "Woont Kerkhoflaan 14. Reactie binnen 14 dagen."
    assert look(text, {"Kerkhoflaan 14": "ADDRESS"}, "Woont <ADDRESS>. Reactie binnen 14 dagen.").leaks == ()


def test_first_of_a_list_replaced() -> None:
    """Two of three addresses are untouched; one placeholder for all three is no leak."""
    text = "a.klomp@mail.example info@zaak.example b.ras@mail.example"
    values = dict.fromkeys(text.split(), "EMAIL_ADDRESS")
    redacted = "<EMAIL_ADDRESS> info@zaak.example b.ras@mail.example"
    expected = {("untouched", "info@zaak.example"), ("untouched", "b.ras@mail.example")}
    assert shown(look(text, values, redacted), redacted) == expected
    assert look(text, values, "<EMAIL_ADDRESS>").leaks == ()


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("０６-３１ ７７ ２０ ９５", True),
        ("0631\u200b772095", True),
        ("٠٦٣١٧٧٢٠٩٥", True),
        ("06 | 31 | 77 | 20 | 95", True),
        ("+31 6 31772095", True),
        ("0631772", False),
    ],
)
def test_known_number_comes_back_in_another_spelling(written: str, whole: bool) -> None:  # noqa: FBT001  # a parameter
    """A piece of seven digits of ten is told with the piece's own offsets, not the number's."""
    text, redacted = f"Tel {_PHONE}, of {written}", f"Tel <PHONE_NUMBER>, of {written}"
    [leak] = look(text, {_PHONE: "PHONE_NUMBER"}, redacted).leaks
    assert leak.kind == "survives_elsewhere"
    assert redacted[leak.output_start : leak.output_end].strip("+") in written
    assert (leak.end == 4 + len(_PHONE)) is whole


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Bel 06-31 77 20 95 of Bo Persoon", "Bel [[PHONE_NUMBER_95]] of <PERSON_06>"),
        ("Bel 06-31 77 20 95 van Bo Persoon", "Bel <PHONE_NUMBER:9c20f95b77aa3106> van <PERSON>"),
        ("Bel 06-31 77 20 95 van Bo Persoon", "Bel ** ** ** ** ** van ██████"),
        ("Bel 06-31 77 20 95 van Bo Persoon", "Bel 06-40 11 22 33 van Ad Smid"),
        ("Bel 06-31 77 20 95: Bo Persoon", "Bel <PHONE>: {{PERSOON_1}}"),
    ],
)
def test_placeholders_hashes_and_surrogates_share_characters_with_a_value(text: str, redacted: str) -> None:
    """Counters, hex digits, label words and a number's beginning reveal nothing."""
    assert look(text, {_PHONE: "PHONE_NUMBER", "Bo Persoon": "PERSON"}, redacted).leaks == ()


@pytest.mark.parametrize(
    ("redacted", "allowed", "left"),
    [
        ("kaart **** **** **** 5676", True, {"5676"}),
        ("kaart **** **** ***4 5676", False, {"4 5676"}),
        ("kaart 4539 **** **** 5676", False, {"4539", "5676"}),
    ],
)
def test_last_four_digits_are_lawful_by_policy_alone(redacted: str, allowed: bool, left: set[str]) -> None:  # noqa: FBT001  # a parameter
    """With the policy a fifth digit, or four others, still are a leak; without it all of them are."""
    text, values = "kaart 4539 0000 1234 5676", {"4539 0000 1234 5676": "CREDIT_CARD"}
    without = shown(look(text, values, redacted), redacted)
    assert without == {("partial_mask", piece) for piece in left}
    assert bool(look(text, values, redacted, _CARD_LAST).leaks) is not allowed
