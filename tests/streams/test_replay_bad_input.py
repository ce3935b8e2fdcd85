"""What can't be read, through replay: each kind is counted with its reason, and its neighbours go on."""

from __future__ import annotations

import pytest
from replays import (
    ANNA,
    BO,
    Extent,
    cell,
    config,
    corpus_line,
    counts,
    decision,
    found_of_true,
    label,
    replay,
    spans_of,
)

# -- decisions ----------------------------------------------------------------------------------------------

GOOD = decision("good")
REFUSED = {
    "not JSON": (b"{nope}", "not_json"),
    "cut short": (decision()[:-5], "not_json"),
    "not UTF-8": (b"\xff\xfe\x00", "not_utf8"),
    "not UTF-8 inside a text": (GOOD.replace(b"Anna", b"Ann\xe4"), "not_utf8"),
    "a list": (b"[1, 2]", "not_object"),
    "a string": (b'"just text"', "not_object"),
    "null": (b"null", "not_object"),
    "no bytes": (b"", "empty"),
    "no doc_id": (b'{"spans": []}', "doc_id"),
    "doc_id of a number": (decision(doc_id=7), "doc_id"),  # type: ignore[arg-type]  # what it's about
    "empty doc_id": (decision(""), "doc_id"),
    "blank doc_id": (decision("  "), "doc_id"),
    "doc_id too long": (decision("a" * 513), "doc_id"),
    "no text": (decision(text=None), "text"),
    "text of a list": (decision(text=[]), "text"),
    "no language": (decision(lang=None), "lang"),
    "language of a number": (decision(lang=1), "lang"),
    "no detector": (decision(detector=None), "detector"),
    "detector of an object": (decision(detector={}), "detector"),
    "no version": (decision(version=None), "version"),
    "version of a number": (decision(version=1.10), "version"),
    "version too long": (decision(version="1" * 513), "version"),
    "no spans": (b'{"doc_id":"a","lang":"en","text":"","detector":"x","version":"1"}', "spans"),
    "spans of null": (GOOD.replace(b"[]", b"null"), "spans"),
    "spans of an object": (GOOD.replace(b"[]", b"{}"), "spans"),
    "text too long": (decision(text="a" * 101), "text_too_long"),
    "text of too many bytes": (decision(text="é" * 51), "text_too_long"),
    "too many spans": (decision(spans=spans_of([ANNA] * 6)), "too_many_spans"),
    "a lone surrogate": (decision(text="\ud83d"), "surrogate"),
    "nesting": (b"[" * 10_000, "too_deep"),
    "nesting in a field": (GOOD[:-1] + b', "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "too_deep"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_decision_is_one_dead_letter_and_its_neighbours_go_on(kind: str) -> None:
    """One reason, counted once; the decisions around it are counted and their labels joined."""
    line, reason = REFUSED[kind]
    tree = config(limits={"max_text_bytes": 100, "max_spans": 5})
    lines = [decision("b", spans_of([ANNA])), line, decision("c")]
    snapshot = replay(lines, [corpus_line(d, [ANNA]) for d in "bc"], tree=tree)
    assert counts(snapshot.dead_letters) == {f"decisions/{reason}": 1}
    assert (cell(snapshot).census, cell(snapshot).labelled, found_of_true(snapshot)) == (2, 2, (1, 2))


SET_ASIDE: dict[str, tuple[object, str]] = {
    "negative": ({"start": -3, "end": 4, "entity": "PERSON"}, "negative"),
    "reversed": ({"start": 4, "end": 0, "entity": "PERSON"}, "reversed"),
    "empty": ({"start": 4, "end": 4, "entity": "PERSON"}, "empty"),
    "out of range": ({"start": 0, "end": 21, "entity": "PERSON"}, "beyond_text"),
    "whitespace": ({"start": 4, "end": 5, "entity": "PERSON"}, "whitespace"),
    "mistyped": ({"start": True, "end": 4, "entity": "PERSON"}, "offset"),
    "missing": ({"start": 0, "entity": "PERSON"}, "offset"),
    "part of a number": ({"start": 0, "end": 4.5, "entity": "PERSON"}, "offset"),
    "no entity": ({"start": 0, "end": 4}, "entity"),
    "blank entity": ({"start": 0, "end": 4, "entity": " "}, "entity"),
    "entity of a number": ({"start": 0, "end": 4, "entity": 1}, "entity"),
    "entity too long": ({"start": 0, "end": 4, "entity": "P" * 257}, "entity"),
    "surrogate entity": ({"start": 0, "end": 4, "entity": "\ud83d"}, "surrogate"),
    "no object": ("0-4", "not_object"),
}


@pytest.mark.parametrize("kind", SET_ASIDE)
def test_a_bad_span_is_quarantined_and_its_document_stays(kind: str) -> None:
    """The other span counts as ever, and the document is in the frame."""
    span, reason = SET_ASIDE[kind]
    snapshot = replay([decision(spans=[span, *spans_of([BO])])], [corpus_line(spans=[ANNA, BO])])
    assert (counts(snapshot.quarantined), snapshot.dead_letters) == ({reason: 1}, ())
    assert (cell(snapshot).census, found_of_true(snapshot, "PERSON")) == (1, (1, 2))


def test_what_can_be_read_is_read() -> None:
    """Numeric strings, whole numbers with a point, unknown fields, other spellings, a byte order mark."""
    spans = [{"start": "0", "end": "4", "type": "PERSON"}, {"start": 9.0, "end": 11.0, "entity_type": "PERSON"}]
    line = b"\xef\xbb\xbf" + decision(spans=spans, brand_new={"a": 1}, lang=None, language="en")
    snapshot = replay([line], [corpus_line(spans=[ANNA, BO])])
    assert (snapshot.dead_letters, snapshot.quarantined, found_of_true(snapshot)) == ((), (), (2, 2))
    assert cell(snapshot, language="en").census == 1


def test_poi_1_empty_values_are_counted_and_the_others_go_on() -> None:
    """Two decisions, an empty value and a JSON null; a file has no tombstones."""
    snapshot = replay([decision("g1"), b"", decision("g3"), b"null"])
    assert cell(snapshot).census == 2
    assert counts(snapshot.dead_letters) == {"decisions/empty": 1, "decisions/not_object": 1}


def test_poi_2_malformed_values_between_good_ones() -> None:
    """Four are taken in, six are not, each for its own reason; none is lost unseen."""
    lines = [
        decision("g1"),
        b'{"doc_id": "x", "spans": [',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'"just text"',
        b'{"spans": []}',
        decision("n").replace(b"[]", b"null"),
        decision("s", [{"entity_type": "PERSON", "start": "0", "end": "4"}], brand_new_field={"a": 1}),
        b"\xef\xbb\xbf" + decision("bom"),
        decision("g9"),
    ]
    snapshot = replay(lines, [corpus_line(d, [ANNA]) for d in ("g1", "s", "bom", "g9")])
    reasons = {"not_json": 1, "not_utf8": 1, "not_object": 2, "doc_id": 1, "spans": 1}
    assert counts(snapshot.dead_letters) == {f"decisions/{reason}": n for reason, n in reasons.items()}
    assert (cell(snapshot).census, cell(snapshot).labelled, found_of_true(snapshot)) == (4, 4, (1, 4))


def test_poi_4_bad_spans_are_set_aside_one_by_one() -> None:
    """Two of nine are kept; a negative start never names real text, and no length divides by nothing."""
    text = "Wim Oord en Eva"
    spans = [
        {"start": 0, "end": 8, "type": "PERSON"},
        {"start": 8, "end": 0, "type": "PERSON"},
        {"start": -3, "end": 15, "type": "PERSON"},
        {"start": 4, "end": 4, "type": "PERSON"},
        {"start": 12, "end": 16, "type": "PERSON"},
        {"start": 8, "end": 9, "type": "PERSON"},
        {"start": 12.0, "end": 15.0, "type": "PERSON"},
        {"start": 0, "end": 3, "type": None},
        {"start": True, "end": 3, "type": "PERSON"},
    ]
    truth = corpus_line(spans=[(0, 8, "PERSON"), (12, 15, "PERSON")], text=text)
    snapshot = replay([decision(text=text, spans=spans)], [truth])
    assert sum(tally.value for tally in snapshot.quarantined) == 7
    assert found_of_true(snapshot) == (2, 2)


def test_wire_3_a_score_that_is_none_leaves_its_span() -> None:
    """NaN, a string, a tiny number and null: four spans, and no NaN in any number."""
    scores = ["NaN", '"0.91"', "1e-7", "null"]
    places = [(0, 2), (3, 5), (6, 8), (9, 11)]
    spans = ",".join(
        f'{{"entity_type":"PERSON","start":{a},"end":{b},"score":{s}}}'
        for (a, b), s in zip(places, scores, strict=True)
    )
    text = "Ab Bo Cy Di"
    line = decision(text=text).replace(b"[]", f"[{spans}]".encode())
    snapshot = replay([line], [corpus_line(text=text, spans=[(a, b, "PERSON") for a, b in places])])
    assert (snapshot.quarantined, found_of_true(snapshot, "PERSON")) == ((), (4, 4))


def test_spans_under_the_decisions_own_threshold_are_no_decisions() -> None:
    """A score at it is one, no score is one, a score out of range is no score."""
    places = [(0, 2), (3, 5), (6, 8), (9, 11)]
    scores = [0.49, 0.5, None, 7]
    spans = [
        {"start": a, "end": b, "entity": "PERSON", "score": score} for (a, b), score in zip(places, scores, strict=True)
    ]
    text = "Ab Bo Cy Di"
    truth = [corpus_line(text=text, spans=[(a, b, "PERSON") for a, b in places])]
    assert found_of_true(replay([decision(text=text, spans=spans, threshold=0.5)], truth)) == (3, 4)
    assert found_of_true(replay([decision(text=text, spans=spans)], truth)) == (4, 4)


# -- labels -------------------------------------------------------------------------------------------------

BAD_LABELS = {
    "not JSON": (b"{nope}", "not_json"),
    "not UTF-8": (b"\xff", "not_utf8"),
    "a list": (b"[1]", "not_object"),
    "null": (b"null", "not_object"),
    "nesting": (b"[" * 10_000, "too_deep"),
    "no doc_id": (b'{"annotator": "jo", "spans": []}', "doc_id"),
    "empty doc_id": (corpus_line(""), "doc_id"),
    "no annotator": (b'{"doc_id": "a", "spans": []}', "annotator"),
    "nobody who read it": (corpus_line(annotators=None), "annotators"),
    "annotators of a string": (corpus_line(annotators="jo"), "annotators"),
    "annotator too long": (label(annotator="j" * 513), "annotator"),
    "task_id too long": (label(task_id="t" * 513), "task_id"),
    "spans missing": (b'{"doc_id": "a", "annotator": "jo"}', "spans"),
    "labels of null": (corpus_line(labels=None), "labels"),
    "too many spans": (label(spans=[ANNA] * 6), "too_many_spans"),
    "too many labels": (corpus_line(spans=[ANNA] * 6), "too_many_spans"),
    "unknown status": (label(status="done"), "status"),
    "negative revision": (label(revision=-1), "revision"),
    "text too long": (corpus_line(text="a" * 101), "text_too_long"),
    "a lone surrogate": (corpus_line(text="\ud83d"), "surrogate"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_a_bad_label_is_one_dead_letter_and_its_neighbours_go_on(kind: str) -> None:
    """Its document stays unlabelled; the labels around it are joined."""
    line, reason = BAD_LABELS[kind]
    tree = config(limits={"max_text_bytes": 100, "max_spans": 5})
    labels = [corpus_line("b", [ANNA]), line, label("c", [ANNA])]
    snapshot = replay([decision(d) for d in "abc"], labels, tree=tree)
    assert counts(snapshot.dead_letters) == {f"labels/{reason}": 1}
    assert counts(snapshot.outcomes) == {"joined": 2}
    assert (cell(snapshot).sampled, cell(snapshot).labelled) == (3, 2)


BAD_EXTENTS: dict[str, Extent] = {
    "negative": (-1, 4, "PERSON"),
    "reversed": (4, 0, "PERSON"),
    "empty": (4, 4, "PERSON"),
    "out of range": (0, 21, "PERSON"),
    "whitespace": (4, 5, "PERSON"),
    "blank entity": (0, 4, " "),
    "entity too long": (0, 4, "P" * 257),
    "mistyped": ("x", 4, "PERSON"),  # type: ignore[dict-item]  # what it's about
}


@pytest.mark.parametrize("own", [True, False], ids=["own record", "corpus"])
@pytest.mark.parametrize("kind", BAD_EXTENTS)
def test_a_truth_with_a_hole_is_none(kind: str, own: bool) -> None:  # noqa: FBT001  # one of two shapes
    """A label with a bad span is a dead letter whole, in either shape; its good span counts for nothing."""
    spans = [BO, BAD_EXTENTS[kind]]
    line = label(spans=spans) if own else corpus_line(spans=spans)
    snapshot = replay([decision(spans=spans_of([BO]))], [line])
    assert sum(tally.value for tally in snapshot.dead_letters) == 1
    assert {tally.labels[-1] for tally in snapshot.dead_letters} == {"bad_span"}
    assert (cell(snapshot).labelled, found_of_true(snapshot)) == (0, (0, 0))


def test_one_readers_bad_span_leaves_the_others_answers() -> None:
    """Of a corpus line with two readers one is a dead letter, the other the truth."""
    spans = [{**span, "annotator": who} for span, who in zip(spans_of([(0, 99, "X"), BO]), ("jo", "kim"), strict=True)]
    line = corpus_line(labels=spans, annotators=["jo", "kim"])
    snapshot = replay([decision(spans=spans_of([BO]))], [line])
    assert (counts(snapshot.dead_letters), found_of_true(snapshot)) == ({"labels/bad_span": 1}, (1, 1))
