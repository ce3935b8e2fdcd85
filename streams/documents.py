"""Invented transcripts with labels by construction: what stands where is known because it was put there.

A document is an opening, exchanges in any order and a closing. Most exchanges hold no personal data; the others are
asked for by kind, each kind with a rate of its own, so that a document holds none, one or several, and rare kinds stay
rare. Nothing is ever searched for: the writer notes the start and end of a value while it appends it, so a label is
right even where a value looks like the text around it. Values are written as people write them (`documents_writing`),
misspelt, spoken and lower-cased ones among them, which no regex finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count as count_up
from random import Random
from typing import NamedTuple

from monitor.records import Span
from streams.documents_slots import Scene
from streams.documents_templates import CHANNELS, ChannelName, Exchange, Language, read_transcripts
from streams.documents_values import LOCALES, Pool, draw_pool

_LOCALE_WEIGHTS = {"en_US": 24, "en_GB": 14, "es_ES": 19, "fr_FR": 16, "de_DE": 15, "nl_NL": 12}
_CHANNEL_WEIGHTS = (35, 25, 14, 14, 12)

# Share of documents that are asked for a kind, then by what a channel multiplies it.
_RATES: Mapping[str, float] = {
    "email": 0.25,
    "phone": 0.25,
    "person": 0.15,
    "birth": 0.10,
    "address": 0.10,
    "city": 0.08,
    "iban": 0.05,
    "card": 0.05,
    "national_id": 0.045,
    "ip": 0.015,
    "plate": 0.006,
    "passport": 0.008,
    "username": 0.006,
    "password": 0.005,
}
_FACTORS: Mapping[ChannelName, Mapping[str, float]] = {
    "chat": {"email": 1.4, "card": 1.5, "ip": 2},
    "phone": {"phone": 1.2},
    "claims": {"plate": 6, "iban": 2},
    "clinic": {"birth": 2.5, "national_id": 1.5, "card": 0},
    "hr": {"national_id": 2.5, "iban": 2, "address": 1.5, "card": 0},
}


class LabelledDocument(NamedTuple):
    """A transcript, and every piece of personal data in it; labels in order, none overlapping another."""

    doc_id: str
    lang: Language
    text: str
    labels: list[Span]


def documents(seed: int, count: int | None = None, *, start: int = 0) -> Iterator[LabelledDocument]:
    """Yield documents number `start` and up: `count` of them, or without end where it's None.

    The document of a number is the same for the same seed and version of faker, however many were drawn before it.
    """
    pools = {locale: draw_pool(locale, seed) for locale in LOCALES}
    numbers = count_up(start) if count is None else range(start, start + count)
    for number in numbers:
        rng = Random(f"{seed} {number}")
        (locale,) = rng.choices(tuple(_LOCALE_WEIGHTS), weights=tuple(_LOCALE_WEIGHTS.values()))
        yield _write_document(rng, f"demo-{seed}-{number:07d}", locale, pools[locale])


def _write_document(rng: Random, doc_id: str, locale: str, pool: Pool) -> LabelledDocument:
    (name,) = rng.choices(CHANNELS, weights=_CHANNEL_WEIGHTS)
    transcripts = read_transcripts(pool.language)
    channel = transcripts.channels[name]
    writer = _Writer(Scene(rng, locale, pool, transcripts.words, name), rng.choice(channel.speakers))
    middle = [rng.choice(transcripts.ask[kind]) for kind in _choose_kinds(rng, name)]
    middle += rng.sample(channel.filler, _choose_length(rng))
    rng.shuffle(middle)
    for exchange in (rng.choice(channel.opening), *middle, rng.choice(channel.closing)):
        writer.append_exchange(exchange)
    return LabelledDocument(doc_id, pool.language, "".join(writer.pieces), writer.labels)


def _choose_kinds(rng: Random, name: ChannelName) -> list[str]:
    factors = _FACTORS[name]
    return [kind for kind, rate in _RATES.items() if rng.random() < rate * factors.get(kind, 1)]


def _choose_length(rng: Random) -> int:
    """Return how many exchanges hold nothing in particular: one document in six is short."""
    return rng.randint(0, 2) if rng.random() < 1 / 6 else rng.randint(5, 14)


class _Writer:
    """Appends text and notes, as it goes, where a value begins and ends (code points)."""

    def __init__(self, scene: Scene, speakers: tuple[str, str]) -> None:
        self.pieces: list[str] = []
        self.labels: list[Span] = []
        self._scene = scene
        self._speakers = speakers
        self._length = 0
        self._clock = scene.rng.randint(8 * 60, 17 * 60) if scene.stamped else None

    def append_exchange(self, exchange: Exchange) -> None:
        """Append the turns of an exchange, a line each."""
        for speaker, parts in exchange:
            self._append_speaker(speaker)
            lower = self._scene.informal and speaker == 1
            for literal, slot in parts:
                self._append(literal.lower() if lower else literal)
                if slot:
                    self._append_value(slot, lower=lower)

    def _append(self, piece: str) -> None:
        self.pieces.append(piece)
        self._length += len(piece)

    def _append_speaker(self, speaker: int) -> None:
        if self.pieces:
            self._append("\n")
        if self._clock is not None:
            self._clock += self._scene.rng.randint(0, 2)
            self._append(f"[{self._clock // 60:02d}:{self._clock % 60:02d}] ")
        self._append(f"{self._speakers[speaker]}: ")

    def _append_value(self, slot: str, *, lower: bool) -> None:
        text, entity = self._scene.fill(slot)
        start = self._length
        self._append(text.lower() if lower and entity in {"PERSON", "LOCATION"} else text)
        if entity:
            self.labels.append(Span(start, self._length, entity))
