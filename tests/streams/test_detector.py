"""The demo's detector is the real one, phones nobody, and its second version really is worse."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest
from datafog import telemetry

from monitor.matching import Extent, matched, unique
from monitor.records import Span
from streams.detector import Detector, redact
from streams.documents import LabelledDocument, documents

COUNT = 200


@pytest.fixture(scope="module")
def drawn() -> list[LabelledDocument]:
    """Return documents for both versions."""
    return list(documents(3, COUNT))


def extents(spans: Sequence[Span]) -> list[Extent]:
    """Return spans as matching reads them."""
    return unique(Extent(s.start, s.end, s.entity) for s in spans)


def recall(detector: Detector, drawn: list[LabelledDocument], entity: str) -> float:
    """Return the share of an entity's labelled spans that the detector finds."""
    found = true = 0
    for document in drawn:
        truth = [e for e in extents(document.labels) if e.entity == entity]
        decision = detector.detect(document.doc_id, document.lang, document.text)
        found += len(matched(truth, extents(decision.spans), 0.45))
        true += len(truth)
    return found / true


def test_the_second_version_loses_e_mail_addresses_and_nothing_else(drawn: list[LabelledDocument]) -> None:
    """The fall is wide, in a common entity, and alone: the others read as they did."""
    first, second = Detector(1), Detector(2)
    assert recall(first, drawn, "EMAIL_ADDRESS") > 0.8
    assert recall(second, drawn, "EMAIL_ADDRESS") < recall(first, drawn, "EMAIL_ADDRESS") - 0.25
    assert recall(second, drawn, "EMAIL_ADDRESS") > 0.2
    assert recall(second, drawn, "PHONE_NUMBER") == recall(first, drawn, "PHONE_NUMBER") > 0.2


def test_a_decision_says_who_made_it() -> None:
    """Both versions have one name and different versions."""
    one, two = (Detector(release).detect("d", "en", "call 212-555-0142") for release in (1, 2))
    assert (one.doc_id, one.lang, one.detector) == ("d", "en", "datafog")
    assert one.version != two.version
    assert [(s.start, s.end, s.entity) for s in one.spans] == [(5, 17, "PHONE_NUMBER")]
    assert one.redacted == "call <PHONE_NUMBER>"


def test_german_recognisers_read_german_documents_only() -> None:
    """An account number is found where its recogniser is on."""
    text = "IBAN DE89 3704 0044 0532 0130 00"
    assert [s.entity for s in Detector(1).detect("d", "de", text).spans] == ["IBAN_CODE"]
    assert "IBAN_CODE" not in [s.entity for s in Detector(1).detect("d", "en", text).spans]


def test_offsets_are_code_points() -> None:
    """A character outside the basic plane before a value moves it by one."""
    (span,) = Detector(1).detect("d", "en", "😀 ann@mail.example").spans
    assert (span.start, span.end) == (2, 18)


def test_spans_are_usable_and_ordered(drawn: list[LabelledDocument]) -> None:
    """No span is empty, reversed, beyond the text or over another."""
    detector = Detector(1)
    for document in drawn:
        end = 0
        for span in detector.detect(document.doc_id, document.lang, document.text).spans:
            assert end <= span.start < span.end <= len(document.text)
            end = span.end


def test_redaction_keeps_what_is_not_in_a_span() -> None:
    """Every span goes, everything else stays."""
    spans = [Span(0, 3, "PERSON"), Span(7, 9, "AGE")]
    assert redact("Ann is 41.", spans) == "<PERSON> is <AGE>."
    assert redact("Nobody.", []) == "Nobody."


def test_nothing_is_sent_even_where_telemetry_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented opt-out overrides the opt-in, and a scan opens no socket."""

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setenv("DATAFOG_TELEMETRY", "1")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    Detector(1).detect("d", "en", "ann@mail.example")
    assert telemetry._is_telemetry_enabled() is False  # noqa: SLF001  # there is no public way to ask
