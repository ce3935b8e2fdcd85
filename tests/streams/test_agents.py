"""Which plan decides which record: through restarts, changes of config, lost rows and a key that was changed."""

from __future__ import annotations

import json
from collections import defaultdict

import msgspec
import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.board import Board
from monitor.config import Config, document_id, read_config, recorded_document
from monitor.errors import StateError
from monitor.fold import Fold, Output
from monitor.history import ConfigRecord, History, Recorded
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.records import Record, Sampled
from monitor.route import Route, held_in
from streams.agents import TABLES, Stages
from streams.chunks import Place
from streams.live import channel_topics
from streams.live_config import LiveConfig
from streams.settings import load_settings

TOPICS = channel_topics(Config())
TOPIC = TOPICS["decisions"]


def plan(iou: float, key: str = "k") -> Plan:
    """Return a plan under which every document is drawn, told apart by a setting that changes nothing about that."""
    return Plan(read_config({"sampling": {"random_rate": 1.0, "key": key}, "matching": {"iou": iou}}))


OLD, NEW, NEWEST = plan(0.5), plan(0.6), plan(0.7)


def line(offset: int) -> Record:
    """Return a decision at an offset."""
    made = {"doc_id": f"d{offset}", "lang": "en", "text": "x", "detector": "x", "version": "1", "spans": []}
    return Record(offset, 0, json.dumps(made).encode())


def redacted_line(offset: int) -> Record:
    """Return a decision at an offset, with an output."""
    made = json.loads(line(offset).value or b"") | {"redacted": "x"}
    return Record(offset, 0, json.dumps(made).encode())


class Worker:
    """One worker after another over one partition of decisions; the table and the history outlive them."""

    def __init__(self, in_force: Plan = OLD) -> None:
        self.history = History()
        self.live = LiveConfig(load_settings(None), {})
        self.live.plan = in_force
        self.end: int | None = 0
        self.head: bytes | None = None
        self.decided: defaultdict[int, list[str]] = defaultdict(list)
        self.sent: list[Output] = []
        self.start()

    def start(self) -> None:
        """Open the fold anew, in a worker that knows nothing but table and history."""
        self.stages = Stages(TOPICS, self.live, self.history, lambda: 1.0, self.end_of)
        self.spec = self.stages.specs()[0]
        self.reopen()

    def reopen(self) -> None:
        """Open the fold anew in the same worker: it lost the partition and got it back."""
        fold = self.spec.opener(0, self.head, {})
        assert isinstance(fold, Route)
        self.route = fold
        self.fresh = True

    def end_of(self, place: Place) -> int | None:
        """Return where the partition ends."""
        assert place == Place(TOPIC, 0)
        return self.end

    def prepare(self) -> list[str]:
        """Take up the config in force; return the keys of what is recorded."""
        assert self.spec.prepare is not None
        outputs = self.spec.prepare(self.route) or []
        self.sent += outputs
        self.fresh = False
        return [output.key.decode() for output in outputs]

    def read(self, until: int) -> None:
        """Decide records up to an offset."""
        if self.fresh:
            self.prepare()
        start = self.route.position("decisions") or 0
        for output in self.route.fold("decisions", [line(o) for o in range(start, until)], until):
            drawn = msgspec.json.decode(output.value or b"", type=Sampled)
            self.decided[int(drawn.doc_id[1:])].append(drawn.config)

    def checkpoint(self) -> None:
        """Record what has to be, then write the row."""
        self.prepare()
        self.head = self.route.head()

    def recorded(self) -> list[tuple[int, str]]:
        """Return the recorded changes."""
        return [(c.offset, c.config) for c in self.history.of(TOPIC, 0)]


def test_stages_read_and_keep_what_they_should() -> None:
    """BOARD alone reads from the start, whatever it keeps; a table has the partitions of an input of its stage."""
    specs = Worker().stages.specs()
    assert {s.name: (s.inputs, s.table, s.from_start) for s in specs} == {
        "route": (("decisions",), "route", False),
        "intake": (("labels",), "intake", False),
        "ledger": (("sampled", "labels_by_document"), "ledger", False),
        "board": (("tallies",), "board", True),
    }
    assert {s.table: TABLES[s.table] in s.inputs for s in specs if s.table} == dict.fromkeys(TABLES, True)


def test_a_new_partition_records_its_first_config() -> None:
    """Config and offset, once."""
    worker = Worker()
    assert worker.prepare() == [f"config/{OLD.id}", f"change/{TOPIC}/0/0/1000"]
    assert worker.prepare() == []
    assert worker.recorded() == [(0, OLD.id)]


def test_a_change_takes_effect_from_the_next_record_on() -> None:
    """It's recorded before, and the row names the new plan."""
    worker = Worker()
    worker.read(5)
    worker.live.plan = NEW
    assert worker.prepare() == [f"config/{NEW.id}", f"change/{TOPIC}/0/5/1000"]
    worker.read(7)
    assert [worker.decided[o] for o in range(7)] == [[OLD.id]] * 5 + [[NEW.id]] * 2
    held = held_in(worker.route.head())
    assert held is not None
    assert (held.next, held.plan) == (7, NEW.id)


def test_a_change_waits_for_the_end_that_was_found() -> None:
    """Below it a worker that crashed may have sent anything, decided under the plan of then."""
    worker = Worker()
    worker.checkpoint()
    worker.read(8)
    worker.end, worker.live.plan = 8, NEW
    worker.start()
    worker.read(12)
    assert worker.recorded() == [(0, OLD.id), (8, NEW.id)]
    assert [set(worker.decided[o]) for o in range(12)] == [{OLD.id}] * 8 + [{NEW.id}] * 4


def test_a_partition_that_came_back_has_another_end() -> None:
    """What another worker did meanwhile isn't decided anew."""
    worker = Worker()
    worker.read(3)
    worker.checkpoint()
    worker.read(8)
    worker.end, worker.live.plan = 8, NEW
    worker.reopen()
    worker.read(9)
    assert [set(worker.decided[o]) for o in range(9)] == [{OLD.id}] * 8 + [{NEW.id}]


def test_without_a_known_end_no_change_is_taken_up() -> None:
    """It's known once the broker was asked; until then the old plan decides."""
    worker = Worker()
    worker.checkpoint()
    worker.end, worker.live.plan = None, NEW
    worker.start()
    worker.read(3)
    assert worker.prepare() == []
    worker.end = 3
    assert worker.prepare() == [f"config/{NEW.id}", f"change/{TOPIC}/0/3/1000"]


@pytest.mark.parametrize("written", [3, 5])
def test_a_crash_between_record_and_row_changes_nothing(written: int) -> None:
    """The record says where the new plan begins, also where the row already stands right there."""
    worker = Worker()
    worker.read(written)
    worker.checkpoint()
    worker.read(5)
    worker.live.plan = NEW
    worker.prepare()
    worker.read(8)
    worker.end = 8
    worker.start()
    worker.read(8)
    assert [set(worker.decided[o]) for o in range(8)] == [{OLD.id}] * 5 + [{NEW.id}] * 3
    assert worker.recorded() == [(0, OLD.id), (5, NEW.id)]


def test_a_lost_row_is_made_again_under_what_was_recorded() -> None:
    """From the start of the partition, each record under the plan of then."""
    worker = Worker()
    worker.read(5)
    worker.live.plan = NEW
    worker.checkpoint()
    worker.read(8)
    worker.live.plan = NEWEST
    worker.head = None
    worker.end = 8
    worker.start()
    worker.read(10)
    expected = [{OLD.id}] * 5 + [{NEW.id}] * 3 + [{NEWEST.id}] * 2
    assert [set(worker.decided[o]) for o in range(10)] == expected


def test_after_another_key_the_row_goes_on_under_the_new_config() -> None:
    """The old plan can't be made again; that's said, and recorded from where it begins."""
    worker = Worker()
    worker.read(5)
    worker.checkpoint()
    other = worker.live.plan = plan(0.5, "another")
    with structlog.testing.capture_logs() as logged:
        worker.start()
    told = f"config {OLD.id} was made with another sampling.key: set it back"
    assert [(e["event"], e["offset"], e["reason"]) for e in logged] == [("config_not_recorded", 5, told)]
    worker.read(7)
    assert worker.recorded() == [(0, OLD.id), (5, other.id)]
    assert [worker.decided[o] for o in (4, 5, 6)] == [[OLD.id], [other.id], [other.id]]
    assert worker.prepare() == []


def of_an_older_version(worker: Worker, settings: dict[str, object]) -> Plan:
    """Put the old config into the history as a version wrote it without `alarm`, with these settings instead."""
    document = {name: value for name, value in recorded_document(OLD.config).items() if name != "alarm"} | settings
    identity, record = document_id(document), ConfigRecord(1.0, document, OLD.net.version)
    worker.history.take(f"config/{identity}".encode(), msgspec.json.encode(record))
    return Plan(OLD.config, identity=identity)


def test_a_worker_of_a_newer_version_goes_on_where_the_older_one_was() -> None:
    """Row and changes name the config by the id of then: that plan decides, and nothing is missing."""
    worker = Worker()
    worker.live.plan = older = of_an_older_version(worker, {})
    worker.start()
    worker.read(3)
    worker.checkpoint()
    worker.read(5)
    worker.live.plan = OLD
    worker.end = 5
    with structlog.testing.capture_logs() as logged:
        worker.start()
        worker.read(8)
    assert logged == []
    assert [set(worker.decided[o]) for o in range(8)] == [{older.id}] * 5 + [{OLD.id}] * 3
    assert worker.recorded() == [(0, older.id), (5, OLD.id)]
    worker.head = None
    worker.start()
    worker.read(8)
    assert [set(worker.decided[o]) for o in range(8)] == [{older.id}] * 5 + [{OLD.id}] * 3


def test_a_setting_that_is_gone_is_said_and_the_row_goes_on() -> None:
    """The log names it, and what comes is decided under the config in force."""
    worker = Worker()
    worker.live.plan = older = of_an_older_version(worker, {"gone": {"n": 1}})
    worker.start()
    worker.read(3)
    worker.checkpoint()
    worker.live.plan = OLD
    with structlog.testing.capture_logs() as logged:
        worker.start()
    assert [(e["event"], e["config"]) for e in logged] == [("config_not_recorded", older.id)]
    assert "(gone: unknown key" in logged[0]["reason"]
    worker.read(4)
    assert worker.recorded() == [(0, older.id), (3, OLD.id)]


def test_a_change_past_the_row_to_a_setting_that_is_gone_ends_the_worker() -> None:
    """Nobody knows what was drawn under it; the message names the setting and says what to do."""
    worker = Worker()
    worker.read(3)
    worker.checkpoint()
    worker.read(5)
    worker.live.plan = older = of_an_older_version(worker, {"gone": {"n": 1}})
    worker.prepare()
    worker.live.plan = OLD
    said = rf"{TOPIC}/0@5: config {older.id} was recorded by another version of the product \(gone: unknown key"
    with pytest.raises(StateError, match=said):
        worker.start()


def test_a_change_past_the_row_that_needs_another_key_ends_the_worker() -> None:
    """Under a guess the same document would be drawn and not drawn; the message says what to do."""
    worker = Worker()
    worker.read(3)
    worker.checkpoint()
    worker.read(5)
    worker.live.plan = plan(0.5, "another")
    worker.prepare()
    worker.live.plan = OLD
    with pytest.raises(StateError, match=rf"{TOPIC}/0@5: config [0-9a-f]{{8}} was made with another sampling.key"):
        worker.start()


def test_a_config_is_recorded_once_for_all_partitions() -> None:
    """A partition that comes later records its own change alone."""
    worker = Worker()
    worker.prepare()
    (route, *_) = Stages(TOPICS, worker.live, worker.history, lambda: 1.0, lambda _place: 0).specs()
    assert route.prepare is not None
    outputs = route.prepare(route.opener(1, None, {})) or []
    assert [output.key.decode() for output in outputs] == [f"change/{TOPIC}/1/0/1000"]


def test_other_stages_take_up_a_config_at_once() -> None:
    """They derive everything anew; that something changed is told, with nothing to record."""
    worker = Worker()
    folds: list[Fold] = [spec.opener(0, None, {}) for spec in worker.stages.specs()[1:]]
    assert [type(fold) for fold in folds] == [Intake, Ledger, Board]
    assert worker.spec.prepare is not None
    assert [worker.spec.prepare(fold) for fold in folds] == [None] * 3
    worker.live.plan = NEW
    assert [worker.spec.prepare(fold) for fold in folds] == [[]] * 3
    assert [worker.spec.prepare(fold) for fold in folds] == [None] * 3
    assert [fold.plan for fold in folds if isinstance(fold, Intake | Ledger | Board)] == [NEW] * 3
    assert worker.stages.board is folds[2]


STEP = st.one_of(
    st.tuples(st.just("produce"), st.integers(1, 5)),
    st.tuples(st.just("read"), st.integers(1, 5)),
    st.tuples(st.just("config"), st.integers(0, 2)),
    st.tuples(st.sampled_from(["checkpoint", "record", "restart", "reopen", "lose the row"]), st.just(0)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(STEP, max_size=30))
def test_an_offset_has_one_plan_whatever_happens(steps: list[tuple[str, int]]) -> None:
    """However often a record is read again, by whoever: it's decided under the one plan that the history tells."""
    worker = Worker()
    produced = 0
    for what, n in steps:
        if what == "produce":
            produced += n
            worker.end = produced
        elif what == "read":
            worker.read(min((worker.route.position("decisions") or 0) + n, produced))
        elif what == "config":
            worker.live.plan = (OLD, NEW, NEWEST)[n]
        elif what == "checkpoint":
            worker.checkpoint()
        elif what == "record":
            worker.prepare()
        elif what == "reopen":
            worker.reopen()
        else:
            worker.head = None if what == "lose the row" else worker.head
            worker.start()
    told = worker.history.of(TOPIC, 0)
    for offset, configs in worker.decided.items():
        assert set(configs) == {_in_force(told, offset)}


def _in_force(told: list[Recorded], offset: int) -> str:
    return [change.config for change in told if change.offset <= offset][-1]


def test_check_that_fails_is_logged_once_by_kind_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first document of each class of exception, by its place; the count has all of them, and no text is told."""
    raised = iter((ValueError("Joke Hendriksma"), ValueError("x"), RecursionError("Joke Hendriksma")))

    def failing(*_: object) -> None:
        raise next(raised)

    monkeypatch.setattr("monitor.output_check.examine", failing)
    worker = Worker()
    with structlog.testing.capture_logs() as logs:
        worker.route.fold("decisions", [redacted_line(offset) for offset in (4, 5, 6)], 7)

    told = [(log["event"], log["topic"], log["partition"], log["offset"], type(log["exc_info"])) for log in logs]
    assert told == [
        ("output_not_checked", TOPIC, 0, 4, ValueError),
        ("output_not_checked", TOPIC, 0, 6, RecursionError),
    ]
    assert worker.stages.flow["unchecked", "outputs"] == 3
    assert worker.route.position("decisions") == 7
