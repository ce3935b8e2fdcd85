"""Ordinary text, made up and always the same: what a pattern's automaton is tried on before it sees a stream."""

from __future__ import annotations

from collections.abc import Iterator

_WORDS = """
the of and to a in that is it was for on are as with his they at be this have from or had by not but what all were we
when your can said there use an each which she do how their if will up other about out many then them these so some her
would make like him into time has look two more write go see number no way could people my than first water been call
who oil its now find long down day did get come made may part account order email question
""".split()  # noqa: SIM905  # as a list it would be a page of quotes
_ENDS = (". ", ", ", "\n", ": ", "-", *[" "] * 27)


def _draws(seed: int) -> Iterator[int]:
    """Yield numbers of 19 bits that look random: a linear congruential generator, Park and Miller's "minimal standard".

    Source: S. K. Park, K. W. Miller, "Random number generators: good ones are hard to find", CACM 31 (1988).
    """
    while True:
        seed = seed * 48_271 % 0x7FFFFFFF
        yield seed >> 12


def _write_prose(length: int) -> str:
    draws, written, so_far = _draws(1), list[str](), 0
    while so_far < length:
        kind, word = next(draws) % 20, _WORDS[next(draws) % len(_WORDS)]
        if kind == 0:
            word = str(next(draws) % 10 ** (1 + next(draws) % 6))
        elif kind < 3:
            word = word.capitalize()
        written.append(word + _ENDS[next(draws) % len(_ENDS)])
        so_far += len(written[-1])
    return "".join(written)[:length]


PROSE = _write_prose(8_000)
"""Eight thousand characters: words as frequent as English has them, a number in twenty, lines."""
