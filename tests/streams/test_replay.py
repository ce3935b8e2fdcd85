"""Replay: the same stages on lines of files; whose labels count, for which text, and that order changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replays import (
    ANNA,
    BO,
    TEXT,
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

from monitor.config import read_config
from monitor.fold import Channel
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.readings import ANY, Window
from monitor.records import Record, Task
from monitor.route import Change, Route
from streams import replay as replay_module
from streams.replay import Replay

# -- cases -------------------------------------------------------------------------------------------------------------


def test_nam_1_names_of_five_tools_fold_onto_four() -> None:
    """As detected, as labelled, and one against the other; an unknown name is kept and is itself."""
    folded = {
        "PERSON": ["PERSON", "NAME", "PER", "PERSON_NAME", "person", "Person "],
        "PHONE_NUMBER": ["phone number", "PHONE", "PHONE_NUMBER"],
        "EMAIL_ADDRESS": ["EMAIL", "EMAIL_ADDRESS"],
        "CREDIT_CARD": ["CREDIT_DEBIT_NUMBER", "CREDIT_CARD_NUMBER"],
        "MY_CUSTOM_ID": ["MY_CUSTOM_ID"],
    }
    pairs = [(name, other) for names in folded.values() for name in names for other in names]
    decisions = [decision(str(i), spans_of([(0, 4, name)])) for i, (name, _) in enumerate(pairs)]
    labels = [corpus_line(str(i), [(0, 4, name)]) for i, (_, name) in enumerate(pairs)]
    snapshot = replay(decisions, labels)
    assert {r.entity for r in snapshot.readings} == {*folded, ANY}
    assert {entity: found_of_true(snapshot, entity) for entity in folded} == {
        entity: (len(names) ** 2, len(names) ** 2) for entity, names in folded.items()
    }


def test_aliases_of_the_config_fold_both_sides_in_any_case() -> None:
    """The operator's names add to the default ones."""
    tree = config(entities={"aliases": {"klant naam": "Person", "BSN": "national_id"}})
    decisions = [
        decision("a", spans_of([(0, 4, "KLANT-NAAM")])),
        decision("b", spans_of([(0, 4, "per"), (9, 11, "bsn")])),
    ]
    labels = [corpus_line("a", [(0, 4, "person")]), label("b", [(0, 4, "Klant_Naam"), (9, 11, "National ID")])]
    snapshot = replay(decisions, labels, tree=tree)
    assert (found_of_true(snapshot, "PERSON"), found_of_true(snapshot, "NATIONAL_ID")) == ((2, 2), (1, 1))
    assert {r.entity for r in snapshot.readings} == {"PERSON", "NATIONAL_ID", ANY}


def test_samp_3_what_the_detector_never_read_is_missed() -> None:
    """Labels beyond what it read stay in the denominator."""
    text = "x" * 5000
    truth: list[Extent] = [(10, 20, "PERSON"), (2500, 2512, "PERSON"), (4100, 4109, "PERSON")]
    line = decision(text=text, spans=spans_of(truth[:1]), detector_meta={"truncated": True, "chars_read": 1800})
    snapshot = replay([line], [corpus_line(text=text, spans=truth)])
    (within,) = (r.matched for r in snapshot.readings if (r.entity, r.language, bool(r.stratum)) == ("PERSON", "en", 1))
    assert (within.found, within.true) == (1, 3)
    assert (within.estimate, within.lower, within.upper) == pytest.approx((0.333333, 0.061492, 0.79234), abs=5e-7)


HALF = {"matching": {"iou": 0.5}}


def test_mat_1_one_blob_over_two_names() -> None:
    """At an overlap of a half it is neither; at the default it is one of them; never both."""
    text = "Anna Brandt, Piet Zomer"
    decisions = [decision(text=text, spans=spans_of([(0, 23, "PERSON")]))]
    labels = [corpus_line(text=text, spans=[(0, 11, "PERSON"), (13, 23, "PERSON")])]
    assert found_of_true(replay(decisions, labels, tree=config(**HALF))) == (0, 2)
    by_default = replay(decisions, labels)
    assert found_of_true(by_default) == (1, 2)
    assert (cell(by_default).masked.found, cell(by_default).masked.true) == (2, 2)


def test_mat_2_the_same_span_twice_is_one() -> None:
    """On both sides: two recognisers that agree, a label that was imported twice."""
    text = "Bel 0612345678901"
    phone: Extent = (5, 15, "PHONE_NUMBER")
    spans = [{**span, "score": score} for span, score in zip(spans_of([phone, phone]), (0.75, 0.4), strict=True)]
    snapshot = replay([decision(text=text, spans=spans)], [corpus_line(text=text, spans=[phone, phone])])
    assert found_of_true(snapshot, "PHONE_NUMBER") == (1, 1)
    assert cell(snapshot, "PHONE_NUMBER").matched.estimate == 1.0


def test_deg_3_a_clean_sample_is_not_prevalence_zero() -> None:
    """500 documents without an IBAN leave room for one in 130, and no recall at all."""
    decisions = [decision("iban", spans_of([(0, 4, "IBAN_CODE")]), lang="nl")]
    decisions += [decision(f"d{i}") for i in range(500)]
    snapshot = replay(decisions, [corpus_line(f"d{i}") for i in range(500)])
    iban = cell(snapshot, "IBAN_CODE", "en")
    documents = iban.prevalence.documents
    assert (iban.labelled, documents.count, documents.estimate, documents.lower) == (500, 0, 0.0, 0.0)
    assert documents.upper is not None
    assert 0.0073 < documents.upper < 0.0077
    share = iban.matched
    assert (share.found, share.true, share.estimate, share.lower, share.upper) == (0, 0, None, None, None)
    assert iban.status == "no_truth"


def test_an_empty_answer_is_one_and_a_skipped_task_is_none() -> None:
    """As ABS-1: skipped, nothing here, labelled, nobody's; two documents are labelled, half of them with a person."""
    decisions = [decision(d, spans_of([ANNA])) for d in ("skipped", "nothing", "labelled", "open")]
    labels = [label("skipped", status="skipped"), label("nothing"), label("labelled", [ANNA])]
    snapshot = replay(decisions, labels)
    person = cell(snapshot, "PERSON")
    assert (person.sampled, person.labelled, person.completeness) == (4, 2, 0.5)
    assert (found_of_true(snapshot, "PERSON"), person.prevalence.documents.count) == ((1, 1), 1)
    assert person.prevalence.documents.estimate == 0.5
    assert counts(snapshot.outcomes) == {"joined": 2, "skipped": 1}


def test_nam_3_versions_that_look_alike_stay_apart() -> None:
    """1.9, 1.10 and 1.1 are three, in the order of versions and not of letters, newest first."""
    snapshot = replay([decision(v, version=v) for v in ("1.9.0", "1.10.0", "1.10.0-rc1", "1.1")])
    assert list(dict.fromkeys(r.version for r in snapshot.readings)) == ["1.10.0", "1.10.0-rc1", "1.9.0", "1.1"]


# -- whose labels, of which text ---------------------------------------------------------------------------------------


def test_a_label_of_another_text_is_counted_and_not_joined() -> None:
    """Its offsets mean nothing in the text that was decided on."""
    snapshot = replay([decision(spans=spans_of([ANNA]))], [corpus_line(spans=[ANNA], text=f" {TEXT}")])
    assert (counts(snapshot.outcomes), cell(snapshot).labelled) == ({"other_task": 1}, 0)


def test_a_label_reaches_the_text_that_it_is_about() -> None:
    """Two versions read different texts under one id; each text's label is that one's truth, whatever came last."""
    other = "Nobody is here at all"
    decisions = [decision(spans=spans_of([ANNA])), decision(version="2", text=other, spans=spans_of([ANNA]))]
    labels = [corpus_line(spans=[ANNA]), corpus_line(text=other)]
    for lines in (labels, labels[::-1], labels[:1]):
        snapshot = replay(decisions, lines)
        first, second = (cell(snapshot, ANY, ANY, version) for version in ("1", "2"))
        assert (first.labelled, first.matched.found, first.matched.true) == (1, 1, 1)
        assert (second.labelled, second.matched.true) == (len(lines) - 1, 0)


def test_a_label_serves_every_version_that_read_its_text() -> None:
    """One reading by a person, two detector versions compared."""
    decisions = [decision(spans=spans_of([ANNA])), decision(version="2")]
    snapshot = replay(decisions, [corpus_line(spans=[ANNA])])
    assert [cell(snapshot, "PERSON", ANY, v).matched.found for v in ("1", "2")] == [1, 0]
    assert counts(snapshot.outcomes) == {"joined": 1}


def test_labels_of_documents_that_were_not_sampled_are_counted() -> None:
    """They change no number: only what was drawn may count."""
    tree = read_config({"sampling": {"random_rate": 0.5, "loose_rate": 0.5, "key": "k"}})
    names = [f"d{i}" for i in range(100)]
    snapshot = replay([decision(n) for n in names], [corpus_line(n, [ANNA]) for n in names], tree=tree)
    every = cell(snapshot)
    assert 0 < every.sampled < 100
    assert (every.labelled, every.completeness) == (every.sampled, 1.0)
    assert counts(snapshot.outcomes) == {"joined": every.sampled, "orphan": 100 - every.sampled}


def test_one_annotators_labels_count_where_one_is_named() -> None:
    """Without a name the first answer is the truth; with one the others are counted and left out."""
    spans = [{**span, "annotator": who} for span, who in zip(spans_of([ANNA, BO]), ("jo", "kim"), strict=True)]
    line = corpus_line(labels=spans, annotators=["jo", "kim", "lu"])
    decisions = [decision(spans=spans_of([ANNA]))]
    by = {name: replay(decisions, [line], [name]) for name in ("jo", "kim", "lu", "nobody")}
    assert {name: found_of_true(s) for name, s in by.items()} == {
        "jo": (1, 1),
        "kim": (0, 1),
        "lu": (0, 0),
        "nobody": (0, 0),
    }
    assert {name: cell(s).labelled for name, s in by.items()} == {"jo": 1, "kim": 1, "lu": 1, "nobody": 0}
    assert counts(by["kim"].outcomes) == {"joined": 1, "not_chosen": 2}
    everybody = replay(decisions, [line])
    assert (found_of_true(everybody), counts(everybody.outcomes)) == ((1, 1), {"joined": 1, "extra": 2})
    assert counts(replay(decisions, [line], ["jo", "lu"]).outcomes) == {"joined": 1, "extra": 1, "not_chosen": 1}


def test_a_later_revision_replaces_an_answer() -> None:
    """Whichever is read first; the lower one is a duplicate then."""
    decisions = [decision(spans=spans_of([ANNA]))]
    early, late = label(spans=[ANNA, BO]), label(spans=[ANNA], revision=1)
    assert found_of_true(replay(decisions, [early, late])) == (1, 1)
    assert found_of_true(replay(decisions, [late, early])) == (1, 1)


def test_answers_to_our_own_tasks_are_joined_by_the_task() -> None:
    """What an annotator sent to a live worker can be replayed: task ids are the same everywhere."""
    line, plan = decision(spans=spans_of([ANNA])), Plan(config())
    (drawn,) = Route("decisions", 0, [Change(0, plan)]).fold("decisions", [Record(0, 0, line)], 1)
    topics: dict[Channel, str] = {"sampled": "s", "labels_by_document": "l"}
    (sent,) = Ledger(0, plan, topics).fold("sampled", [Record(0, 0, drawn.value)], 1)
    task = msgspec.json.decode(sent.value or b"", type=Task)
    snapshot = replay([line], [label(spans=[ANNA], task_id=task.task_id)])
    assert (counts(snapshot.outcomes), found_of_true(snapshot)) == ({"joined": 1}, (1, 1))
    stranger = replay([decision()], [label(task_id="another")])
    assert counts(stranger.outcomes) == {"other_task": 1}


# -- order and size ----------------------------------------------------------------------------------------------------

DAY_S = 86_400
names = st.sampled_from(["PERSON", "per", "EMAIL", "odd"])
extents = st.tuples(st.integers(0, 15), st.integers(1, 4), names).map(lambda e: (e[0], e[0] + e[1], e[2]))


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    """Give decisions of some documents by one or two versions, and labels of some, bad lines among both."""
    decisions, labels = [b"{", decision("")], [b"[]"]
    for i in range(draw(st.integers(1, 8))):
        ts = draw(st.sampled_from([None, 0, 3 * DAY_S, 90 * DAY_S, "2026-05-01T00:00:00Z", "soon"]))
        lang = draw(st.sampled_from(["en", "nl"]))
        for version in draw(st.sampled_from([("1",), ("2",), ("1", "2")])):
            spans = spans_of(draw(st.lists(extents, max_size=3)))
            decisions.append(decision(f"d{i}", spans, lang=lang, version=version, ts=ts))
        kind = draw(st.sampled_from([corpus_line, label, None]))
        if kind is not None:
            labels.append(kind(f"d{i}", draw(st.lists(extents, max_size=3))))
    return decisions, labels


@settings(max_examples=60, deadline=None)
@given(documents(), st.randoms(use_true_random=False))
def test_order_changes_no_reading(given_lines: tuple[list[bytes], list[bytes]], random: object) -> None:
    """Of decisions, of labels, of the files they stand in, and whether labels come first."""
    decisions, labels = given_lines
    expected = replay(decisions, labels)
    random.shuffle(decisions)  # type: ignore[attr-defined]  # hypothesis' own kind of Random
    random.shuffle(labels)  # type: ignore[attr-defined]  # the same
    run = Replay(config())
    run.label(labels)
    for part in (decisions[::2], decisions[1::2]):
        run.decide(part)
    actual = run.snapshot()
    assert actual.readings == expected.readings
    assert (actual.dead_letters, actual.outcomes) == (expected.dead_letters, expected.outcomes)


def test_the_whole_input_is_one_window_however_long() -> None:
    """A year and a half of decisions, newest first: all are counted, none has expired, and the window says so."""
    times = [day * 7 * DAY_S for day in range(1, 80)]
    lines = [decision(f"d{at}", spans_of([ANNA]), ts=at) for at in times[::-1]]
    snapshot = replay(lines, [corpus_line(f"d{at}", [ANNA]) for at in times])
    assert (cell(snapshot).census, found_of_true(snapshot)) == (79, (79, 79))
    assert {r.window for r in snapshot.readings} == {Window(None, "1970-01-08", "1971-07-08")}
    assert replay(lines[::-1]).readings[0].window == snapshot.readings[0].window


@pytest.mark.parametrize("ts", [None, "soon", -5, 1e30, 1_790_000_000_000, [1], True, "1_767_225_600", "1e400", "nan"])
def test_a_window_without_any_time_has_no_days(ts: object) -> None:
    """A file needs none; a time in another unit is none."""
    assert {r.window for r in replay([decision(ts=ts)]).readings} == {Window(None, None, None)}


@pytest.mark.parametrize(
    "ts",
    [
        *(1_767_225_600, "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01"),
        *("1767225600", "1.7672256e9", "2026-01-01T00:00:00.123456789Z", "20260101"),
    ],
)
def test_a_decisions_own_time_dates_the_window(ts: object) -> None:
    """Seconds since the epoch, or ISO 8601; without a zone it's UTC."""
    days = Window(None, "2026-01-01", "2026-01-01")
    assert {r.window for r in replay([decision(ts=ts), decision("b")]).readings} == {days}


def test_a_time_is_read_of_what_the_typed_decoder_refuses() -> None:
    """A byte order mark, a score of NaN: the record counts, and so does its day."""
    marked = b"\xef\xbb\xbf" + decision("a", ts=1_767_225_600)
    scored = decision("b", ts="2026-01-03", spans=[{"start": 0, "end": 4, "entity": "PERSON", "score": float("nan")}])
    found = replay([marked, scored])
    assert {(r.census, r.window) for r in found.readings if r.stratum is None and r.entity == "any"} == {
        (2, Window(None, "2026-01-01", "2026-01-03"))
    }


def test_little_is_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are asked for as they are used: a chunk of so many lines, of long ones fewer."""
    monkeypatch.setattr(replay_module, "CHUNK_BYTES", 10_000)
    run = Replay(read_config({}))
    held: list[int] = []

    def lines() -> Iterator[bytes]:
        for i in range(40):
            taken = run.snapshot().readings[:1]
            held.append(i - sum(r.census for r in taken))
            yield decision(f"d{i}", text="a" * 1000)

    assert run.decide(lines()) == 40
    assert max(held) == 9


def test_a_snapshot_may_be_taken_in_between() -> None:
    """It tells what was taken so far, and the next one tells more."""
    run = Replay(config())
    run.decide([decision("a")])
    first = cell(run.snapshot())
    run.label([corpus_line("a")])
    run.decide([decision("b")])
    second = cell(run.snapshot())
    assert [(r.census, r.labelled) for r in (first, second)] == [(1, 0), (2, 1)]


@pytest.mark.parametrize("most", [1, 2, 4, 5, 200])
def test_entities_add_up_however_few_are_kept_apart(most: int) -> None:
    """What has no room is UNLISTED, and takes the place of no name that has."""
    run = Replay(read_config({"sampling": {"random_rate": 1.0}, "limits": {"max_entities": most}}))
    names = [f"BADGE{n}" for n in range(5)]
    spans = {name: [{"start": 0, "end": 4, "entity": name}] for name in names}
    run.decide([decision(name, spans=spans[name], redacted="****") for name in names])
    answers = [{"doc_id": name, "annotator": "jo", "spans": spans[name]} for name in names]
    run.label(map(msgspec.json.encode, answers))
    true = {r.entity: r.matched.true for r in run.snapshot().readings if r.stratum is None and r.language != "any"}

    outputs = {e.entity for r in run.snapshot().outputs for e in r.entities}
    assert outputs - {"any"} == set(names[:most]) | ({"UNLISTED"} if most < 5 else set())
    assert true.pop("any") == 5
    left_over = {"UNLISTED": 5 - most} if most < 5 else {}
    assert true == dict.fromkeys(names[:most], 1) | left_over
