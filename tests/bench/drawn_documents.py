"""Drawn documents of 5 KB and the labels that answer them, for what is measured about the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import msgspec

from monitor.document import task_id, text_digest
from monitor.origin import DrawnRecord, LabelRecord
from monitor.records import STRATA, Slices, Span, Stratum

FIRST_DAY = 20_000
DAY_S = 86_400
_ENTITIES = ("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "LOCATION", "IBAN_CODE", "DATE_TIME")
_LANGUAGES = ("en", "es", "de")
_PROBABILITIES: dict[Stratum, float] = {"both": 0.1, "loose_only": 0.1, "detector_only": 0.1, "unflagged": 0.01}
_LETTERS = "etaoinshrdlcumwfgypbvk"
_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
_FREQUENCIES = (3, 17, 20, 15, 11, 9, 8, 6, 4, 4, 3)
"""Of an English text's words, in percent."""


class Pair(NamedTuple):
    """A drawn document as ROUTE sends it, and the label that answers it as INTAKE sends it."""

    doc_id: str
    drawn: bytes
    label: bytes


def pairs(count: int, *, length: int = 5000, spans: int = 5, days: int = 10, seed: int = 1) -> Iterator[Pair]:
    """Yield documents of so many code points, with as many labelled spans, of which one is missed in three documents.

    White space stands where words of English lengths end, drawn anew for each: its map deflates no better than that
    of real transcripts (500 bytes for 5 KB).
    """
    rng = Random(f"{seed} {length} {spans}")  # noqa: S311  # a workload, no secret
    words = ["".join(rng.choices(_LETTERS, k=size)) for size in _LENGTHS for _ in range(20)]
    weights = [share for share in _FREQUENCIES for _ in range(20)]
    for number in range(count):
        yield _pair(number, _text(rng, words, weights, length), spans, FIRST_DAY + number % days, rng)


def _text(rng: Random, words: list[str], weights: list[int], length: int) -> str:
    chosen = rng.choices(words, weights, k=length // 4 + 1)
    return " ".join(chosen)[:length].rstrip().ljust(length, ".")


def _pair(number: int, text: str, spans: int, day: int, rng: Random) -> Pair:
    doc_id = f"{rng.getrandbits(128):032x}"
    stratum, share = rng.choice(STRATA), len(text) // max(spans, 1)
    true = [Span(i * share, i * share + 12, rng.choice(_ENTITIES)) for i in range(spans)]
    at = day * DAY_S + rng.random() * DAY_S
    drawn = DrawnRecord(
        doc_id=doc_id,
        lang=rng.choice(_LANGUAGES),
        text=text,
        detector="detector",
        version="1.4.2",
        spans=true[number % 3 == 0 :],
        stratum=stratum,
        slices=Slices(0.01, 0.09),
        probability=_PROBABILITIES[stratum],
        thinning=1.0,
        config="0123456789ab",
        net="ba9876543210",
        sampled_at=at,
        day=day,
        origin=(0, number),
    )
    task = task_id(doc_id, text_digest(text), "label", 1)
    label = LabelRecord(doc_id=doc_id, annotator="annotator-07", spans=true, task_id=task, origin=(0, number))
    return Pair(doc_id, msgspec.json.encode(drawn), msgspec.json.encode(label))
