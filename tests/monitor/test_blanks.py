"""The map of a text's white space says what the text itself would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.blanks import blank_test, blanks

LETTERS = st.sampled_from(["a", " ", "\n", "\u00a0", "\u2003", "\u200b", "\x1c", "é", "😀"])


@given(st.one_of(st.text(LETTERS, min_size=1, max_size=80), st.text(min_size=1, max_size=80)), st.data())
def test_map_agrees_with_the_text(text: str, data: st.DataObject) -> None:
    """Of any stretch, in any script."""
    is_blank = blank_test(blanks(text))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))

    assert text[start:end].isspace() == is_blank(start, end)


@given(st.lists(st.sampled_from([0, 1, 254, 255, 256, 509, 510, 511, 1000]), min_size=1, max_size=6))
def test_long_words_keep_their_length(lengths: list[int]) -> None:
    """A length that doesn't fit a byte goes on in the next."""
    text = " ".join("x" * length for length in lengths)
    is_blank = blank_test(blanks(text))

    assert [c.isspace() for c in text] == [is_blank(i, i + 1) for i in range(len(text))]
