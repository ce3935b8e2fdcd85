"""What stands in place of a value: placeholders, mask characters, digests; the parts of a replacement that say nothing.

A counter, a hex digest and a label share characters with a value by chance, so none of them is compared with it.
"""

from __future__ import annotations

import re

_LONGEST = 80  # characters in brackets that may still be one placeholder
_BRACKETS = (("<", ">"), (r"\[\[", r"\]\]"), (r"\[", r"\]"), (r"\{\{", r"\}\}"), (r"\{", r"\}"), ("«", "»"), ("⟦", "⟧"))
_BRACKETED = "|".join(rf"{left}[^\n\"<>\[\]{{}}«»⟦⟧]{{1,{_LONGEST}}}{right}" for left, right in _BRACKETS)
_ESCAPED = rf"&lt;[^\n&;]{{1,{_LONGEST}}}&gt;"
DIGESTS = (128, 96, 64, 40, 32)
"""Lengths of hex digests, longest first."""
_DIGEST = "|".join(rf"[0-9a-f]{{{n}}}|[0-9A-F]{{{n}}}" for n in DIGESTS)
_GLUED_DIGEST = "[0-9a-f]{32,}|[0-9A-F]{32,}"
_EDGE, _END = r"(?<![^\W_])", r"(?![^\W_])"
_TOKEN = rf"{_EDGE}(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{{8,31}}{_END}"
_UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_LABEL = (
    rf"{_EDGE}(?:(?![A-Z]*XX)[A-Z]{{3,}}(?:_[A-Z]+)*[_\-]?[0-9]{{1,6}}|[A-Z]{{2,}}(?:_[A-Z]{{2,}})+){_END}"
    r"|__[A-Z]\w*__|[%$#][A-Z_]{3,}[%$#]"
)
_RUN = r"[*█▉▊▓▒░■●•∗✱＊×]+|[_#]{2,}|-{4,}|\.{3,}|…|\?{2,}|[Xx]{2,}|([0-9])\1{3,}"
_ALONE = rf"{_EDGE}[Xx]{_END}"
_SAID = (
    r"(?i:\b(?:redacted|removed|anonymi[sz]ed|masked|hidden|deleted|verwijderd|gelakt|geanonimiseerd|geschwärzt"
    r"|entfernt|anonymisiert|tachado|oculto|eliminado|anonimizado|supprimé|masqué|anonymisé)\b)"
)
BRACKETED = re.compile(rf"{_BRACKETED}|{_ESCAPED}")
"""A placeholder in brackets."""
_OTHERS = f"{_TOKEN}|{_LABEL}|{_RUN}|{_ALONE}|{_SAID}"
_MASK = re.compile(f"{_BRACKETED}|{_ESCAPED}|{_UUID}|{_DIGEST}|{_OTHERS}")
_WIDE = re.compile(f"{_BRACKETED}|{_ESCAPED}|{_UUID}|{_GLUED_DIGEST}|{_OTHERS}")
_SURE = re.compile(f"{_BRACKETED}|{_ESCAPED}|{_RUN}|{_SAID}")
_REPEATED = re.compile(r"([0-9])\1{3,}")
_PLAIN_LABEL = r"[A-Z_]{3,40}(?:[_\-][0-9]{1,4})?"
PLAIN = re.compile(rf"<{_PLAIN_LABEL}>|\[{_PLAIN_LABEL}\]|\[\[{_PLAIN_LABEL}\]\]|\{{\{{{_PLAIN_LABEL}\}}\}}|\*+|█+|XX+")
"""The replacements that are seen most: whatever the value was, the whole of one says nothing of it."""


def mask_pieces(written: str) -> list[tuple[int, int]]:
    """Return the stretches of a replacement that are mask or placeholder, in order.

    >>> mask_pieces("<ADDRESS>-bis"), mask_pieces("06-** **"), mask_pieces("Ad Smid")
    ([(0, 9)], [(3, 5), (6, 8)], [])
    """
    return [match.span() for match in _MASK.finditer(written)]


def wide_mask_pieces(output: str) -> list[tuple[int, int]]:
    """Return the masks of an output, each digest with the letters that look like a part of it on either side."""
    return [match.span() for match in _WIDE.finditer(output)]


def is_surely_masked(written: str) -> bool:
    """Return whether a mask stands there that no value looks like: a surrogate may well look like a digest.

    It may hold a digit four times, too: zeros are a mask where they are most of it.
    """
    found = _SURE.search(written)
    if found is None or not found[0].isdigit():
        return found is not None
    repeated = sum(len(run[0]) for run in _REPEATED.finditer(written))
    return 2 * repeated >= len(written) or any(not mask[0].isdigit() for mask in _SURE.finditer(written))


def mask_at(output: str, start: int) -> int:
    """Return where the mask or placeholder that begins at an offset of an output ends; the offset where none does."""
    match = _MASK.match(output, start)
    return match.end() if match else start
