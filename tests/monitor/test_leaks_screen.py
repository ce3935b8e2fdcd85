"""The screen's arguments one by one: words that stand nowhere, needles that every key has, places that show nothing."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.leaks.check import check
from monitor.leaks.needles import may_stand, needles_of
from monitor.leaks.policy import EntityPolicy, Policy
from monitor.leaks.screen import examine
from monitor.leaks.squeezed import Letters, squeeze
from monitor.leaks.standing import Standing, find, words_of
from monitor.leaks.values import SUFFIX, keys_of, nature_of_value, piece_size
from monitor.net import build_net
from monitor.records import Span

_NET = build_net(defaults=True, patterns={}, triggers=())
_PIECES = (
    *("Jan", " ", " ", "-", ", ", ". ", "   -  ", "\n", "é", "ß", "œ", "½", "²", "µ", "€", "…", "ł", "A", "b", "06"),
    *("_", "&", "&amp;", "&eacute;", "\\", "\\n", "\\u00e9", "\u00ad", "\u200b", "e\u0301", "٣", "Д", "😀", "ﬁ", "𝐉"),
    *("\x00", "\x01", "\x02", "\ud800"),
)
TEXTS = st.one_of(st.lists(st.sampled_from(_PIECES), max_size=6).map("".join), st.text(max_size=20))


@given(text=TEXTS)
@settings(max_examples=400)
def test_words_are_the_squeezed_text_with_blanks_where_words_part(text: str) -> None:
    """Of whatever text has them: the same letters, and a blank exactly where a word ends for the check."""
    words = words_of(text)
    if words is None:
        assert Standing(text).squeezed.decode() == squeeze(text)
        return
    assert words.replace(b" ", b"").decode() == Standing(text).squeezed.decode() == squeeze(text)
    begins, at = [], 0
    for word in words.split():
        begins.append(at)
        at += len(word)
    assert Letters(text).word_begins() == (begins or [])


@pytest.mark.parametrize(
    "text",
    [
        "Jan\u00adsen",
        "Jan\u200bsen",
        "Jan e\u0301 sen",
        "J&eacute;r\u00f4me",
        "Jan\\nsen",
        "Jan \\u00e9",
        "µ",
        "Дa",
        "عربي",
    ],
)
def test_text_whose_characters_mean_more_has_no_words(text: str) -> None:
    """Hidden characters, marks, escapes, other scripts: such a text is squeezed as the check does it."""
    assert words_of(text) is None
    assert Standing(text).squeezed.decode() == squeeze(text)
    assert Standing(text).may_have_words(b"anything")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("R&D \\o/ Straße", b" r d  o  strasse "),
        ("œuvre – 5 €…", b" oeuvre   5    "),
        ("Łódź_ﬁn½", b" lodz fin12 "),
        ("", b"  "),
    ],
)
def test_words_are_told_character_by_character(text: str, words: bytes) -> None:
    """A blank for each that is no letter or digit; what stands for several letters becomes them."""
    assert words_of(text) == words


@given(text=TEXTS, more=TEXTS)
@settings(max_examples=400)
def test_letters_between_the_edges_of_words_may_stand_there(text: str, more: str) -> None:
    """Whatever stands before and behind, and however its words are spaced."""
    standing = Standing(f"{more} {text}, {more}")
    letters = squeeze(text)
    if letters and letters.isascii() and (standing.words is None or words_of(text) is not None):
        assert find(standing.squeezed, letters.encode()) >= 0
        assert standing.may_have_words(letters.encode())


@pytest.mark.parametrize(
    ("text", "letters", "stands"),
    [
        ("Bo de Jong", "jong", True),
        ("Bo de Jongens", "jong", False),
        ("de jon-g, ja", "jong", True),
        ("de jon \u2013\n\n  - g", "jong", True),
        ("de J O N G", "jong", True),
        ("dejong", "jong", False),
        ("jo wil ng", "jong", False),
        ("abc " * 12, "abc" * 12, True),
        ("abc " * 40, "abc" * 39 + "abd", True),
    ],
)
def test_word_stands_whole_or_in_pieces_that_follow_one_another(text: str, letters: str, *, stands: bool) -> None:
    """Inside a longer word it doesn't; of very long values the first letters decide."""
    assert Standing(text).may_have_words(letters.encode()) == stands


def test_letters_of_several_words_are_told_from_one_word() -> None:
    """What stands in one piece alone is found without a look at each place's edges."""
    pieces = [
        Standing(f"de {said} is").may_have_words(b"anna", several=True) for said in ("Anna", "An-na", "Anna, an na")
    ]
    long = [Standing(said).may_have_words(b"ab" * 40, several=True) for said in ("ab" * 40, "ab" * 39 + " ab", "abc")]
    assert (pieces, long) == ([False, True, True], [True, True, False])


@pytest.mark.parametrize(
    ("entity", "value"),
    [
        ("PERSON", "Bo"),
        ("PERSON", "Bo Li"),
        ("PERSON", "Jan de Vries"),
        ("PERSON", "José Núñez"),
        ("PERSON", "J-A-N"),
        ("PERSON", "June"),
        ("PERSON", "Mr"),
        ("PERSON", "Jansen 2nd floor 99"),
        ("PERSON", "O'Neil, Ann-Marie"),
        ("PERSON", "Дмитрий Smith"),
        ("EMAIL_ADDRESS", "jan.jansen@mail.nl"),
        ("EMAIL_ADDRESS", "josé.jansen@mail.nl"),
        ("EMAIL_ADDRESS", "j_jansen99@mail.nl"),
        ("EMAIL_ADDRESS", "jan2jansen.smit@mail.nl"),
        ("EMAIL_ADDRESS", "jan at mail dot nl"),
        ("EMAIL_ADDRESS", "a.b@c.nl"),
        ("EMAIL_ADDRESS", "1234567"),
        ("PHONE_NUMBER", "06-31 77 20 95"),
        ("PHONE_NUMBER", "+31 (0)6 31772095"),
        ("PHONE_NUMBER", "٠٦-٣١٧٧٢٠٩٥"),
        ("PHONE_NUMBER", "4711"),
        ("LOCATION", "28109"),
        ("LOCATION", "Kerkhoflaan 14"),
        ("LOCATION", "Paris"),
        ("LOCATION", "Paris 75001 A"),
        ("ADDRESS", "Kerkhoflaan 14-bis, 3999 ZX Werkdam"),
        ("ADDRESS", "12 rue d'&eacute;t&eacute;"),
        ("ORGANIZATION", "Acme Foods BV"),
        ("DATE_TIME", "12 March 1980"),
        ("DATE_OF_BIRTH", "12-03-1980"),
        ("AGE", "46 years"),
        ("ID", "NXF4837K2"),
        ("ID", "x@y.nl"),
        ("PASSWORD", "correct horse battery"),
        ("CREDIT_CARD", "4539 0000 1234 5676"),
        ("IBAN_CODE", "NL91 ABNA 0417 1643 00"),
        ("NRP", "12345"),
        ("ID", "---"),
    ],
)
def test_needles_stand_wherever_a_key_does(entity: str, value: str) -> None:
    """Every key holds one of the fewest, a number's beginning and end both do; of words the keys are all there is."""
    needles = needles_of(entity, nature_of_value(entity, value), value)
    fewest, whole = needles
    for key in keys_of(entity, value):
        letters, size = key.letters.encode(), piece_size(len(key.letters))
        cut = key.way == "number" and len(letters) >= SUFFIX
        pieces = (letters[:size], letters[-size:]) if cut else (letters,)
        assert all(any(needle in piece for needle in fewest) for piece in pieces)
        assert not whole or (letters in {whole, *fewest} and not cut)
        assert may_stand(Standing(f"so {key.letters}, so"), needles)


_SAID = "Jan Smit belde 06-31772095 over Kerkhoflaan 14, mail jan.smit@mail.nl. De heer SMIT wacht, groet Jan é J-a-n"
_ENTITIES = ("PERSON", "ADDRESS", "ID", "EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION", "DATE", "my kind")
_POLICIES = (
    Policy(),
    Policy({"ID": EntityPolicy(ignore=True), "PERSON": EntityPolicy(keep_last=2)}),
    Policy({"PERSON": EntityPolicy(surrogate=True)}, [r"\(REMOVED \d+\)"]),
)


@pytest.mark.parametrize("policy", _POLICIES, ids=["none", "ignores and keeps", "surrogates"])
def test_any_replacement_of_any_spans_is_told_as_the_check_tells_it(policy: Policy) -> None:
    """Words flagged at random, replaced by masks, rests, other values and nothing at all; with the net and without."""
    rng = Random(8)  # noqa: S311  # no secret
    said = re.findall(r"\S+", _SAID)
    unlike = 0
    for _ in range(1500):
        text = rng.choice((" ", "  ", "\n")).join(rng.choices(said, k=rng.randint(4, 30)))
        places = [m.span() for m in re.finditer(r"\w+(?:[ .@-]\w+)?", text)]
        chosen = sorted(rng.sample(places, k=min(len(places), rng.randint(1, 4))))
        spans = [Span(start, end - rng.choice((0, 0, 0, 1)), rng.choice(_ENTITIES)) for start, end in chosen]
        spans = [span for span in spans if span.start < span.end]
        redacted = text
        for span in reversed(spans):
            value = text[span.start : span.end]
            kept = value[: rng.randint(1, 4)]
            masks = (
                f"<{span.entity}>",
                f"<{span.entity}>",
                "***",
                "",
                "Ad Pol",
                f"[ID: {value}]",
                "(REMOVED 12)",
                value,
            )
            instead = rng.choice(
                (*masks, f"{kept}***", f"***{value[-3:]}", "*" * len(value), value[:-1], "ab" * 16 + kept)
            )
            redacted = redacted[: span.start] + instead + redacted[span.end :]
        for net in (None, _NET):
            found = examine(text, spans, redacted, policy, net)
            assert found == check(text, spans, redacted, policy, net)
            unlike += bool(found.leaks)
    assert unlike > 300


@pytest.mark.parametrize(
    ("text", "span", "redacted"),
    [
        (
            "Stuur naar Kerkhoflaan 14.jan@mail.nl graag",
            Span(11, 25, "ADDRESS"),
            "Stuur naar <ADDRESS>.jan@mail.nl graag",
        ),
        ("Zie jan@mail.nl-Q7 nu", Span(16, 18, "ID"), "Zie jan@mail.nl-<ID> nu"),
    ],
)
def test_net_is_asked_about_what_is_joined_to_a_mask(text: str, span: Span, redacted: str) -> None:
    """On either side; a full stop that ends an address joins what follows without a blank."""
    found = examine(text, [span], redacted, Policy(), _NET)
    assert found == check(text, [span], redacted, Policy(), _NET)
    assert [leak.kind for leak in found.leaks] == ["net_on_output"]
    assert examine(text, [span], redacted, Policy()).leaks == ()


@pytest.mark.parametrize("said", ["", "Straße, ", "chef d'œuvre, ", "½ €, ", "“R&D” – ", "an na, ", "Stra\u00adße, "])
def test_place_of_a_mention_is_exact_whatever_stands_before_it(said: str) -> None:
    """Characters that become several letters or none, and words that have the letters together."""
    text = f"Here is Ms Anna. {said}then Ms Anna left"
    spans, redacted = [Span(11, 15, "PERSON")], f"Here is Ms <PERSON>. {said}then Ms Anna left"
    found = examine(text, spans, redacted, Policy())
    assert found == check(text, spans, redacted, Policy())
    at = redacted.index("Anna")
    assert [leak[-2:] for leak in found.leaks] == [(at, at + 4)]


def test_ignored_value_of_which_a_part_stays_is_masked_in_part() -> None:
    """No leak and no redaction, and yet what stays isn't counted as masked."""
    policy = Policy({"LOCATION": EntityPolicy(ignore=True)})
    asked = "In Utrecht 3512 dus", [Span(3, 15, "LOCATION")], "In Utrecht **** dus"
    found = examine(*asked, policy)
    assert found == check(*asked, policy)
    assert (found.leaks, found.masked, found.replaced_spans) == ((), ((10, 15),), 0)


@pytest.mark.parametrize(
    ("text", "value", "entity", "left"),
    [
        ("Hello &nbsp;&nbsp; there", "&nbsp;&nbsp;", "PERSON", []),
        ("Hello \u00a0\u00a0 there", "\u00a0\u00a0", "PERSON", []),
        ("see note \u00b9\u00b2\u00b3 45 ok", "\u00b9\u00b2\u00b3", "ID", []),
        ("Kerkhoflaan \ufe7c ok", "Kerkhoflaan \ufe7c", "ADDRESS", []),
        ("Vandaag met Anna Smits, (nieuw) ok", "Smits, ", "PERSON", ["Anna "]),
        ("Mail Piet @jansen ok", "@jansen", "PERSON", ["Piet "]),
        ("BSN 123\n456", "456", "ID", []),
        ("jan.smit\n@mail.nl", "@mail.nl", "EMAIL_ADDRESS", []),
    ],
)
def test_odd_values_are_told_alike_and_stop_nothing(text: str, value: str, entity: str, left: list[str]) -> None:
    """Values without letters, digits that no regex takes for some, blanks and line ends at a mask's edge."""
    start = text.index(value)
    span = Span(start, start + len(value), entity)
    redacted = f"{text[:start]}<{entity}>{text[span.end :]}"
    found = examine(text, [span], redacted, Policy(), _NET)
    assert found == check(text, [span], redacted, Policy(), _NET)
    assert [text[leak.start : leak.end] for leak in found.leaks] == left
