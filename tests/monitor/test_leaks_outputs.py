"""Outputs of all makes: what lies on its text, what doesn't and is still searched, policies, and hostile ones."""

from __future__ import annotations

import re
from random import Random

import pytest

from monitor.errors import ConfigError
from monitor.leaks.alignment import Replaced, differences, walk, walk_between_masks
from monitor.leaks.check import check
from monitor.leaks.policy import EntityPolicy, Policy, RedactionConfig, build_policy
from monitor.leaks.screen import examine, suspicious
from monitor.leaks.squeezed import Letters, squeeze
from monitor.records import Span

_TEXT = 'Hallo Jan Smit, "bel" mij op 06-31 77 20 95 & mail.\nTot dan.'
_SPANS = [Span(6, 14, "PERSON"), Span(29, 43, "PHONE_NUMBER")]


@pytest.mark.parametrize(
    "redacted",
    [
        'Hallo <PERSON>, "bel" mij op <PHONE_NUMBER> & mail.\nTot dan.',
        'Hallo [NAME_1], "bel" mij op [PHONE_1] & mail.\nTot dan.',
        'Hallo ********, "bel" mij op **-** ** ** ** & mail.\nTot dan.',
        'Hallo ████, "bel" mij op █ & mail.\nTot dan.',
        'Hallo , "bel" mij op  & mail.\nTot dan.',
        'Hallo Ad Pol, "bel" mij op 06-40 11 00 22 & mail.\nTot dan.',
        'Hallo Persoon 1, "bel" mij op nummer 1 & mail.\nTot dan.',
        f'Hallo {"0f" * 32}, "bel" mij op {"a1" * 20} & mail.\nTot dan.',
        'Hallo <PERSON>, "bel" mij op <PHONE_NUMBER> & mail.\nTot [REDACTED].',
        "<REDACTED>",
        "",
    ],
)
def test_text_with_parts_replaced_is_aligned_and_clean(redacted: str) -> None:
    """Placeholders, masks of any length, nothing, digests, surrogates, more masks than were asked for."""
    found = check(_TEXT, _SPANS, redacted, Policy())
    assert (found.aligned, found.leaks, found.replaced_spans) == (True, (), 2)
    assert found == examine(_TEXT, _SPANS, redacted, Policy())
    assert all(any(start <= span.start and span.end <= end for start, end in found.masked) for span in _SPANS)


@pytest.mark.parametrize(
    ("redacted", "kinds"),
    [
        ("Hallo &lt;PERSON&gt;, &quot;bel&quot; mij op &lt;PHONE_NUMBER&gt; &amp; mail.\nTot dan.", ()),
        ('Hallo <PERSON>,\n"bel" mij op\n<PHONE_NUMBER> &\nmail. Tot dan.', ()),
        ('Hallo <PERSON>, \\"bel\\" mij op <PHONE_NUMBER> & mail.\\nTot dan.', ()),
        ("Hello <PERSON>, call me at <PHONE_NUMBER> and send me a mail. See you then.", ()),
        ("Hello <PERSON>, call me at +31 6 3177 2095 and send me a mail. See you then.", ("survives_elsewhere",)),
        ("Hello Jan Smit, call me at <PHONE_NUMBER> and send me a mail. See you then.", ("survives_elsewhere",)),
        ('{"text": "Hallo \\nJan Smit, \\"bel\\" mij"}', ("survives_elsewhere",)),
    ],
)
def test_other_text_is_said_to_be_unaligned_and_searched(redacted: str, kinds: tuple[str, ...]) -> None:
    """Escaped, wrapped anew, translated, cut: never silently clean, and never compared place by place."""
    found = check(_TEXT, _SPANS, redacted, Policy())
    assert (found.aligned, found.masked) == (False, ())
    assert tuple(leak.kind for leak in found.leaks) == kinds
    assert suspicious(_TEXT, _SPANS, redacted, Policy())


@pytest.mark.parametrize(("words", "aligned"), [(0, True), (1, True), (5, False)])
def test_other_words_where_nothing_is_flagged(words: int, aligned: bool) -> None:  # noqa: FBT001  # a parameter
    """A redactor may know a little more than the detector did; of more than a hundredth it's no longer that text."""
    text = "Ik ben Jan Smit. " + " ".join(f"woord{n:03d}" for n in range(100))
    redacted = text.replace("Jan Smit", "<PERSON>")
    for number in range(words):
        redacted = redacted.replace(f"woord{number * 20 + 5:03d}", "geheim")
    assert check(text, [Span(7, 15, "PERSON")], redacted, Policy()).aligned is aligned


def test_white_space_trimmed_at_the_ends_is_no_rewriting() -> None:
    """A redactor that strips its output still replaced parts of the text."""
    text = "  Ik ben Jan Smit en ga.\n"
    assert check(text, [Span(9, 17, "PERSON")], "Ik ben <PERSON> en ga.", Policy()).aligned


def test_output_of_nothing_flagged_must_be_the_text() -> None:
    """Without a span there's no leak, and other words are still told."""
    assert not suspicious("all well", [], "all well", Policy())
    assert not check("all is well here", [], "nothing is as it was", Policy()).aligned


def test_walk_tells_replacements_with_spaces_inside() -> None:
    """A part between two values that is one space doesn't end the placeholder that holds one."""
    text = "Jan Smit Piet Pot"
    found = walk(text, [(0, 8), (9, 17)], "[NAME 1] [NAME 2]")
    assert found == [Replaced(0, 8, 0, 8), Replaced(9, 17, 9, 17)]
    assert walk(text, [(0, 8)], "[NAME 1] Piet Por") is None


def test_walk_between_masks_finds_what_masks_swallowed() -> None:
    """What stands between masks is looked for in the text in order; other words are no such output."""
    text = "Hi Jan Smit, bye Piet Pot."
    assert walk_between_masks(text, "Hi <P>mit, b<P> Pot.") == [Replaced(3, 8, 3, 6), Replaced(14, 21, 12, 15)]
    assert walk_between_masks(text, "Ho <P>, bye <P>.") is None


def test_differences_are_where_both_sides_differ() -> None:
    """Equal words are passed, and the ends of differing ones that are equal."""
    text = "one two three four five six seven eight nine ten"
    found = differences(text, text.replace("three", "drei").replace("eight", "acht"))
    assert [text[one.start : one.end] for one in found] == ["three", "eig"]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        (EntityPolicy(keep_last=2), "06-** ** ** 95"),
        (EntityPolicy(keep_first=2, keep_last=2), "06-** ** ** 95"),
        (EntityPolicy(ignore=True), "06-31 77 20 95"),
        (EntityPolicy(surrogate=True), "06-31 77 20 96"),
    ],
)
def test_policy_lets_a_remainder_stay(policy: EntityPolicy, kept: str) -> None:
    """What a policy allows is no leak; without it, it is, but for the first two digits beside a policy of the last."""
    redacted = f'Hallo <PERSON>, "bel" mij op {kept} & mail.\nTot dan.'
    leaks = check(_TEXT, _SPANS, redacted, Policy({"PHONE_NUMBER": policy})).leaks
    assert [leak.kind for leak in leaks] == (["partial_mask"] if policy == EntityPolicy(keep_last=2) else [])
    assert check(_TEXT, _SPANS, redacted, Policy()).leaks != ()


def test_policy_keeps_year_and_domain() -> None:
    """The named parts may stay, and no other."""
    text = "geb. 12-03-1980, mail jan@mail.nl"
    spans = [Span(5, 15, "DATE_OF_BIRTH"), Span(22, 33, "EMAIL_ADDRESS")]
    policy = Policy(
        {"DATE_OF_BIRTH": EntityPolicy(keep=("year",)), "EMAIL_ADDRESS": EntityPolicy(keep=("email_domain",))}
    )
    assert check(text, spans, "geb. **-**-1980, mail ***@mail.nl", policy).leaks == ()
    leaks = check(text, spans, "geb. **-03-1980, mail j**@mail.nl", policy).leaks
    assert [(leak.kind, text[leak.start : leak.end]) for leak in leaks] == [
        ("partial_mask", "03-1980"),
        ("partial_mask", "j"),
    ]


def test_policy_names_placeholders_of_a_shape_of_its_own() -> None:
    """A shape that holds a word of the value is no leak where the operator says that it's a placeholder."""
    text, redacted = "Jan Smit belde.", "(was: Jan S., 12) belde."
    spans = [Span(0, 8, "PERSON")]
    assert check(text, spans, redacted, Policy({}, [r"\(was: .*, \d+\)"])).leaks == ()


def test_policy_is_looked_up_by_the_folded_name() -> None:
    """Spans bear the producer's name, policies the canonical one, and so does a leak."""
    policy = build_policy(RedactionConfig(entities={"card": EntityPolicy(keep_last=4)}), lambda name: name.upper())
    text, spans = "kaart 4539 0000 1234 5676", [Span(6, 25, "Card")]
    assert check(text, spans, "kaart **** **** **** 5676", policy).leaks == ()
    assert [leak.entity for leak in check(text, spans, text, policy).leaks] == ["CARD"]


def test_policy_refuses_what_it_cannot_use() -> None:
    """A regex that RE2 can't read, and an entity under two of its names."""
    with pytest.raises(ConfigError, match=r"redaction\.placeholders"):
        Policy({}, ["(["])
    config = RedactionConfig(entities={"card": EntityPolicy(), "CARD": EntityPolicy()})
    with pytest.raises(ConfigError, match=r"redaction\.entities\.CARD"):
        build_policy(config, str.upper)


@pytest.mark.parametrize(
    "text",
    [
        "J&eacute;r\u00f4me O\u2019Neil",
        "0\u200b6-\uff13\uff11",
        "Stra\u00dfe \u0153uvre",
        "\u0661\u0662 e\u0301t\u00e9",
        "a&#8203;b \\u00e9",
        "",
    ],
)
def test_letters_know_where_they_come_from(text: str) -> None:
    """Each letter's place in the original, squeezed by itself, is that letter, or holds it."""
    letters = Letters(text)
    assert letters.text == squeeze(text)
    for at, letter in enumerate(letters.text):
        start, end = letters.place(at, at + 1)
        assert letter in squeeze(text[start:end])


def test_words_end_at_separators_and_not_at_marks() -> None:
    """A zero-width space, its entity and an accent part no word; a hyphen does."""
    letters = Letters("ab\u200bc d&#8203;e f\u0301g-h")
    begins = letters.word_begins()
    assert [letters.text[a:b] for a, b in zip(begins, [*begins[1:], None], strict=True)] == ["abc", "de", "fg", "h"]


def test_screen_says_what_the_check_says_of_any_damage() -> None:
    """Outputs cut, doubled, shuffled and masked at random: the same findings both ways."""
    rng = Random(6)  # noqa: S311  # no secret
    said = "Jan Smit belde 06-31772095 over Kerkhoflaan 14, mail jan.smit@mail.nl. De heer SMIT wacht, groet Jan"
    words = re.findall(r"\S+", said)
    for _ in range(300):
        text = " ".join(rng.choices(words, k=rng.randint(4, 30)))
        starts = sorted(rng.sample(range(len(text) - 3), k=3))
        spans = [
            Span(at, min(len(text), at + rng.randint(2, 14)), rng.choice(("PERSON", "ADDRESS", "ID"))) for at in starts
        ]
        redacted = text
        for span in reversed(spans):
            by = rng.choice((0, 0, 0, -2, 3))
            mask = rng.choice(("<PERSON>", "***", "", "Ad Pol", "[ID_7]"))
            redacted = redacted[: max(0, span.start + by)] + mask + redacted[max(0, span.end + by) :]
        assert examine(text, spans, redacted, Policy()) == check(text, spans, redacted, Policy())


def test_places_are_inside_text_and_output() -> None:
    """Whatever the damage, offsets are code points of both sides, and a stretch is never empty."""
    rng = Random(7)  # noqa: S311  # no secret
    text = "😀 Jan Smit belde, 06-31772095 é Kerkhoflaan 14. " * 4
    spans = [Span(at, at + 8, "PERSON") for at in range(2, len(text) - 8, 50)]
    for _ in range(300):
        low, high = sorted(rng.sample(range(len(text)), k=2))
        redacted = text[:low] + rng.choice(("<P>", "", "*****", "x")) + text[high:]
        found = check(text, spans, redacted, Policy())
        assert all(0 <= leak.start < leak.end <= len(text) for leak in found.leaks)
        assert all(0 <= leak.output_start < leak.output_end <= len(redacted) for leak in found.leaks)
        assert all(0 <= start < end <= len(text) for start, end in found.masked)


def test_ten_thousand_spans_are_told_one_by_one() -> None:
    """A text of 1 MB with 10,000 spans, all of them masked but every hundredth; each of those is told, and no other."""
    line = "Dit is een regel met wat woorden, en daarna staat er nog een naam: "
    names = [f"Zq{number:05d}x" for number in range(10_000)]
    text = "".join(f"{line}{name}.\n" for name in names)
    width = len(line) + len(names[0]) + 2
    spans = [Span(at, at + len(names[0]), "USERNAME") for at in range(len(line), len(text), width)]
    redacted = "".join(f"{line}{name if n % 100 == 0 else '<USERNAME>'}.\n" for n, name in enumerate(names))
    found = check(text, spans, redacted, Policy())
    assert [(leak.kind, leak.start) for leak in found.leaks] == [("untouched", span.start) for span in spans[::100]]
    assert (found.replaced_spans, len(found.masked)) == (9_900, 9_900)
