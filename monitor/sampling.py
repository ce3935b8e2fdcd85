"""Which documents people read: two independent slices, drawn by keyed hash, never at random.

A document's fate is a pure function of its id, the operator's key and the rates: the same record read twice, by any
worker, after any crash, is decided the same way. Each slice has its own hash, so the slices are independent; a higher
rate draws a superset of what a lower one drew. With p_r the random rate, p_s the loose rate of the stratum (0 where
nothing flagged the document) and q the thinning factor,

    π = q · (1 − (1 − p_r)(1 − p_s)).

Without the key nobody can tell beforehand which documents will be looked at; BLAKE2b is keyed (RFC 7693).
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from monitor.config import LanguageRates, Sampling
from monitor.records import Slices, Stratum

_DETECTED: tuple[Stratum, ...] = ("both", "detector_only")
_FLAGGED: tuple[Stratum, ...] = (*_DETECTED, "loose_only")
_FULL = 1 << 64
_ALL = bytes([255] * 9)  # above every hash, which has eight bytes


class Rates(NamedTuple):
    """What is in force for one language and stratum."""

    slices: Slices
    probability: float
    """π, thinning included, in (0, 1]."""
    random_below: bytes
    loose_below: bytes
    """Hashes below these are drawn: the rate times 2⁶⁴, as bytes that compare like numbers; empty where it's 0."""


class Draw(NamedTuple):
    """A document that is drawn, and by which slices."""

    rates: Rates
    random: bool
    loose: bool


def _threshold(rate: float) -> bytes:
    r"""Return 64 bits that a hash is compared with: bytes, since making a number of each hash takes longer.

    >>> _threshold(0.5), _threshold(1.0) > bytes([255] * 8), _threshold(0.0)
    (b'\x80\x00\x00\x00\x00\x00\x00\x00', True, b'')
    """
    if rate >= 1:
        return _ALL
    return int(rate * _FULL).to_bytes(8) if rate else b""


class Sampler:
    """The design in force: rates by language and stratum, one key, one thinning factor.

    Parameters
    ----------
    sampling
        Rates and key.
    thinning
        q in (0, 1]: the share of what the slices draw that is kept while the review queue is over capacity.

    Examples
    --------
    >>> sampler = Sampler(Sampling(random_rate=0.1, loose_rate=0.5))
    >>> round(sampler.rates("en", "both").probability, 2), sampler.rates("en", "unflagged").probability
    (0.55, 0.1)
    """

    def __init__(self, sampling: Sampling, thinning: float = 1.0) -> None:
        if not 0 < thinning <= 1:
            raise ValueError(f"thinning {thinning} is not in (0, 1]")
        self._sampling = sampling
        self.thinning = thinning
        key = hashlib.blake2b(sampling.key.encode()).digest()
        self._random = hashlib.blake2b(key=key, digest_size=8, person=b"random")
        self._loose = hashlib.blake2b(key=key, digest_size=8, person=b"loose")
        self._thin = hashlib.blake2b(key=key, digest_size=8, person=b"thin")
        self._thin_below = _threshold(thinning)
        self._rates: dict[tuple[str, Stratum], Rates] = {}
        self.floors = _floors(sampling, thinning)
        """The smallest probabilities of any language: of documents that the detector flagged, and of all."""
        # ROUTE writes languages in lower case
        self._by_language = {language.lower(): own for language, own in sampling.by_language.items()}

    def rates(self, language: str, stratum: Stratum) -> Rates:
        """Return the rates in force for a document of this language and stratum."""
        key = (language, stratum)
        found = self._rates.get(key)
        if found is None:
            found = self._rates[key] = self._work_out(language, stratum)
        return found

    def _work_out(self, language: str, stratum: Stratum) -> Rates:
        own = self._by_language.get(language)
        random = _random_rate(self._sampling, own)
        loose = 0.0 if stratum == "unflagged" else _loose_rate(self._sampling, own, stratum)
        probability = self.thinning * _drawn(random, loose)
        return Rates(Slices(random, loose), probability, _threshold(random), _threshold(loose))

    def in_force(self) -> dict[tuple[str, str, str], float]:
        """Return the share of documents that each slice draws, thinning included, by slice, language and stratum.

        The random slice draws whatever the stratum, `any`. Language `any` is every one without rates of its own.

        >>> rates = Sampler(Sampling(random_rate=0.1, loose_rate=0.5), thinning=0.5).in_force()
        >>> rates["random", "any", "any"], rates["loose", "any", "both"]
        (0.05, 0.25)
        """
        languages = {"any": None, **self._by_language}
        found = {("random", name, "any"): _random_rate(self._sampling, own) for name, own in languages.items()}
        for name, own in languages.items():
            found |= {("loose", name, stratum): _loose_rate(self._sampling, own, stratum) for stratum in _FLAGGED}
        return {key: self.thinning * rate for key, rate in found.items()}

    def draw(self, doc_id: str, language: str, stratum: Stratum) -> Draw | None:
        """Return which slices draw the document, or None: the same answer whenever and wherever it's asked."""
        rates = self._rates.get((language, stratum)) or self.rates(language, stratum)
        name = doc_id.encode()
        random = _hash(self._random, name) < rates.random_below
        loose = rates.loose_below != b"" and _hash(self._loose, name) < rates.loose_below
        if not (random or loose):
            return None
        if self._thin_below != _ALL and _hash(self._thin, name) >= self._thin_below:
            return None
        return Draw(rates, random, loose)


def _random_rate(sampling: Sampling, own: LanguageRates | None) -> float:
    return sampling.random_rate if own is None or own.random_rate is None else own.random_rate


def _loose_rate(sampling: Sampling, own: LanguageRates | None, stratum: Stratum) -> float:
    loose = sampling.loose_rate_by_stratum.get(stratum, sampling.loose_rate)
    if own is not None:
        loose = loose if own.loose_rate is None else own.loose_rate
        loose = own.loose_rate_by_stratum.get(stratum, loose)
    return loose


def _drawn(random: float, loose: float) -> float:
    """Return 1 - (1 - p)(1 - s), written so that a rate of 0 leaves the other one exactly.

    In doubles 1 + s - s isn't always 1, and only π = 1 exactly is a census.
    """
    return 1.0 if 1 in (random, loose) else min(random + loose - random * loose, 1.0)


def _floors(sampling: Sampling, thinning: float) -> tuple[float, float]:
    languages = (None, *sampling.by_language.values())
    detected = min(
        _drawn(_random_rate(sampling, own), _loose_rate(sampling, own, stratum))
        for own in languages
        for stratum in _DETECTED
    )
    return thinning * detected, thinning * min(_random_rate(sampling, own) for own in languages)


def _hash(keyed: hashlib.blake2b, name: bytes) -> bytes:
    """Return 64 bits of the keyed hash of a document's id."""
    state = keyed.copy()
    state.update(name)
    return state.digest()
