"""The demo's detector: `datafog`'s regex engine, as it is (version 1) and after a change that seemed harmless (2).

Version 2's operator wanted role mailboxes (help@, support@, billing@) left alone and used datafog's own
`allowlist_patterns` for it, with a pattern for "nothing but letters before the @". It does what it was meant to do,
precision even rises, and it exempts half of all people's addresses too: a change that only recall shows.

datafog phones home only where `DATAFOG_TELEMETRY` is set; `DATAFOG_NO_TELEMETRY` overrides that, so it's set here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from monitor.records import Decision, Span

os.environ["DATAFOG_NO_TELEMETRY"] = "1"  # before the import, and whatever the user's environment says

import datafog

Release = Literal[1, 2]

NAME: Final = "datafog"
EXEMPT_MAILBOXES: Final = r"[a-z]+@.+"

# datafog's `DATE` is what its own recogniser calls DOB. The rest of an address it doesn't know, only the postal code.
ENTITIES: Mapping[str, str] = {
    "EMAIL": "EMAIL_ADDRESS",
    "PHONE": "PHONE_NUMBER",
    "SSN": "NATIONAL_ID",
    "DATE": "DATE_OF_BIRTH",
    "ZIP_CODE": "ADDRESS",
    "DE_IBAN": "IBAN_CODE",
    "DE_TAX_ID": "NATIONAL_ID",
    "DE_SOCIAL_SECURITY_NUMBER": "NATIONAL_ID",
    "DE_POSTAL_CODE": "ADDRESS",
    "DE_PASSPORT_NUMBER": "PASSPORT_NUMBER",
}


class Detector:
    """One version of the detector; no model, no network, the same decision for the same text.

    >>> Detector(1).detect("d1", "en", "Write to ann@mail.example.").redacted
    'Write to <EMAIL_ADDRESS>.'
    >>> Detector(2).detect("d1", "en", "Write to ann@mail.example.").spans
    []
    """

    def __init__(self, release: Release = 1) -> None:
        self.version = f"{datafog.__version__}-{release}"
        self._allowlist = [EXEMPT_MAILBOXES] if release == 2 else None

    def detect(self, doc_id: str, lang: str, text: str) -> Decision:
        """Return what is found in a text, in order and without overlaps, and the text with it replaced.

        German recognisers are on for German documents only, as datafog documents them.
        """
        locales = ["de"] if lang == "de" else None
        scan = datafog.scan(text, engine="regex", locales=locales, allowlist_patterns=self._allowlist)
        spans = [Span(e.start, e.end, ENTITIES.get(e.type, e.type), e.confidence) for e in scan.entities]
        return Decision(doc_id, lang, text, NAME, self.version, spans, redacted=redact(text, spans))


def redact(text: str, spans: Sequence[Span]) -> str:
    """Return the text with every span replaced by `<ENTITY>`; spans in order, none overlapping another.

    >>> redact("Ann, 12", [Span(0, 3, "PERSON")])
    '<PERSON>, 12'
    """
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces += (text[end : span.start], f"<{span.entity}>")
        end = span.end
    return "".join((*pieces, text[end:]))
