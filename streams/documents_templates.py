"""Exchanges out of which documents are put together: one TOML file a language, compiled once into turns and slots."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Literal, NamedTuple, get_args

import msgspec

Language = Literal["en", "es", "fr", "de", "nl"]
ChannelName = Literal["chat", "phone", "claims", "clinic", "hr"]
CHANNELS: tuple[ChannelName, ...] = get_args(ChannelName)
_SIDES = ("A: ", "B: ")


class Part(NamedTuple):
    """Text as it stands, then the name of the slot that follows it; an empty name is none."""

    literal: str
    slot: str


class Turn(NamedTuple):
    """What one side says; `speaker` is 0 for the staff and 1 for the other side."""

    speaker: int
    parts: tuple[Part, ...]


Exchange = tuple[Turn, ...]


class Channel(NamedTuple):
    """One kind of transcript: who talks (one of several pairs of names), how it begins, goes on and ends."""

    speakers: tuple[tuple[str, str], ...]
    opening: tuple[Exchange, ...]
    filler: tuple[Exchange, ...]
    closing: tuple[Exchange, ...]


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a language needs to write a value in words, and to fill in what is nobody's personal data."""

    months: list[str]
    digits: list[str]
    at: str
    """How an @ is said aloud, and below it a full stop."""
    dot: str
    date: str
    """A date in words, formatted with d, m (in words) and y; `day` is the same without the year."""
    day: str
    roles: list[str]
    """Mailboxes of a department."""
    product: list[str]


class Transcripts(NamedTuple):
    """All that is written for one language; `ask` is keyed by the kind of value that the exchange holds."""

    channels: dict[ChannelName, Channel]
    ask: dict[str, tuple[Exchange, ...]]
    words: Words


class _Scenes(msgspec.Struct, frozen=True):
    filler: list[str]
    opening: list[str] = []
    closing: list[str] = []


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    speakers: dict[ChannelName, list[tuple[str, str]]]
    words: Words
    shared: _Scenes
    ask: dict[str, list[str]]
    chat: _Scenes
    phone: _Scenes
    claims: _Scenes
    clinic: _Scenes
    hr: _Scenes


def compile_exchange(written: str) -> Exchange:
    """Return the turns of an exchange: a line each, beginning with `A: ` or `B: `.

    Raises ValueError where a line begins otherwise.

    >>> compile_exchange("A: Hello {first}.")
    (Turn(speaker=0, parts=(Part(literal='Hello ', slot='first'), Part(literal='.', slot=''))),)
    """
    turns = []
    for line in written.strip().splitlines():
        side, said = line[:3], line[3:]
        parts = tuple(Part(literal, slot or "") for literal, slot, _, _ in Formatter().parse(said))
        if side not in _SIDES:
            raise ValueError(f"no speaker before {line!r}")
        turns.append(Turn(_SIDES.index(side), parts))
    return tuple(turns)


def _compile_all(written: list[str]) -> tuple[Exchange, ...]:
    return tuple(map(compile_exchange, written))


@cache
def read_transcripts(language: Language) -> Transcripts:
    """Return what is written for a language, out of the package's own `transcripts/`."""
    raw = (files("streams") / "transcripts" / f"{language}.toml").read_bytes()
    file = msgspec.toml.decode(raw, type=_File)
    scenes: dict[ChannelName, _Scenes] = {
        "chat": file.chat,
        "phone": file.phone,
        "claims": file.claims,
        "clinic": file.clinic,
        "hr": file.hr,
    }
    channels = {
        name: Channel(
            tuple(file.speakers[name]),
            _compile_all(scene.opening),
            _compile_all(scene.filler + file.shared.filler),
            _compile_all(scene.closing),
        )
        for name, scene in scenes.items()
    }
    ask = {kind: _compile_all(exchanges) for kind, exchanges in file.ask.items()}
    return Transcripts(channels, ask, file.words)
