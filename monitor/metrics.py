"""Every metric series as data: the exporter, dashboards, rules and alerts take their names from here.

`recallwatch_<noun>_<unit>[_total]`, after Prometheus's naming practices. Process-local flows are counters; what is
restored from topics is a gauge, for it can fall and it moves between workers. Estimate, lower and upper are three
series, never a label, because a sum over a label must mean something. Roll-ups carry `any`: select
`entity!="any",language!="any"` before summing occurrences.

Cardinality: a board exports at most `MAX_CELLS` cells (entity × language × detector × version × window), roll-ups and
current versions first, and says how many it withheld. A cell is at most 47 series, and 16 more by stratum in a current
version: 63,000 series at the very worst, some thousands in practice; besides 8 an alarm, 7 a pair of readers, 6 a
signal of drift, 2 a version. Redacted outputs have 20 a language, version and window, and at most 20 a cell of theirs,
of which `MAX_CELLS` are exported too: 20,000 more at the very worst, where every entity leaks in all six ways.
Entities, languages and versions are capped by `limits.*` at the intake. Ids never are labels.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from monitor.document import Outcome
from monitor.errors import DECISION_REASONS, LABEL_REASONS
from monitor.salvage import Reason

Kind = Literal["counter", "gauge", "info"]

MAX_CELLS = 1000
"""Cells that one board exports."""
MAX_CHANGES = 20
"""Changes of version, config or net that one board exports."""


class Metric(NamedTuple):
    """One series: its exposed name, kind, help, label names in order, and the unit its name ends in."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    unit: str = ""


PLACE = ("channel", "partition")
CELL = ("entity", "language", "detector", "version", "window")
ALARM = CELL[:-1]
VERSION = ("detector", "version")
PAIR = ("entity", "language", "window")
SIGNAL = ("signal", "language", "entity")
OUTPUT = CELL[1:]
LEAK = (*CELL, "kind")
SHARE = (*CELL, "reading")
"""`reading`: `matched` (same entity, IoU) or `masked` (every character of the true span covered)."""


def _count(noun: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    """Return a process-local counter of the things that its name ends in."""
    return Metric(f"recallwatch_{noun}_total", "counter", text, labels, noun.rpartition("_")[2])


def _gauge(noun: str, unit: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    return Metric(f"recallwatch_{noun}_{unit}", "gauge", text, labels, unit)


def _moment(noun: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    """Return a point in time: its age is a query's business, so that it goes on growing when the worker stops."""
    return Metric(f"recallwatch_{noun}_timestamp_seconds", "gauge", text, labels, "seconds")


def _flag(noun: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    return Metric(f"recallwatch_{noun}", "gauge", text + " (1 or 0).", labels)


def _info(noun: str, text: str, labels: tuple[str, ...]) -> Metric:
    return Metric(f"recallwatch_{noun}_info", "info", text + " (always 1).", labels)


# What one worker did since it started

DECISIONS = _count("decisions", "Decisions counted by this worker.", ("detector", "version"))
SAMPLED = _count("sampled_documents", "Documents sampled by this worker, by slice.", ("slice",))
TASKS = _count("annotation_tasks", "Annotation tasks sent by this worker.", ("kind",))
LABELS = _count("labels", "Labels taken in by this worker, by what came of them.", ("outcome",))
DEAD_LETTERS = _count("dead_letters", "Records that this worker could not read.", ("channel", "reason"))
QUARANTINED = _count("quarantined_spans", "Spans set aside; their documents stay in the frame.", ("reason",))
UNCHECKED = _count("unchecked_outputs", "Outputs that weren't checked because the check failed; in no share.")
TOMBSTONES = _count("tombstones", "Null values met by this worker.", ("channel",))
HOLES = _count("position_holes", "Chunks dropped because they began beyond the position.", PLACE)
REWINDS = _count("position_rewinds", "Seeks back to the position that the state gives.", PLACE)
LOST = _count("lost_records", "Records that the topic's retention removed before they were read.", PLACE)
REBUILDS = _count("ledger_rebuilds", "Partitions of the ledger that were built again from their topics.")
REBALANCES = _count("rebalances", "Times that this worker was dealt its partitions, its start included.")
CHUNKS = _count("chunks", "Chunks of records that were folded.", ("stage",))
CHUNK_SECONDS = _count("chunk_seconds", "Time spent folding them.", ("stage",))
CHECKPOINTS = _count("checkpoints", "Checkpoints that were acknowledged.")
CHECKPOINT_SECONDS = _count("checkpoint_seconds", "Time spent in checkpoints.")
CONFIG_REFUSALS = _count("config_refusals", "Changed config files that were refused; the old one stayed.")

# What one worker is

BUILD = _info("build", "Version of the product", ("version",))
CONFIG = _info("config", "Config and net version in force on this worker", ("config", "net"))
READY = _flag(
    "ready", "Whether this worker reads its partitions, their state recovered; of a spare, which has none, it's 1 too"
)
BOARD_OWNER = _flag("board_owner", "Whether this worker is the board and exports readings")
CONFIG_REFUSED = _flag("config_refused", "Whether the config file on disk is refused and an older one in force")
KEY_IS_DEFAULT = _flag("sampling_key_default", "Whether the sampling key is the published default")
THINNING = _gauge("thinning", "ratio", "Share of the sample that is drawn here while the review queue is over a bound.")
RATE = _gauge(
    "sampling_rate",
    "ratio",
    "Share of documents that a slice draws, thinning included; of language `any` where one has no rate of its own.",
    ("slice", "language", "stratum"),
)
DEADLINE = _gauge("label_deadline", "seconds", "Time from a draw after which its label counts as missing.")
ASSIGNED = _gauge("assigned", "partitions", "Partitions assigned to this worker.")
POSITION = _gauge("position", "offset", "Offset that this worker reads next.", PLACE)
LAG = _gauge("consumer_lag", "records", "Records between the position and the end of the partition.", PLACE)
STARTED = _moment("worker_start", "When this worker started.")
HEARTBEAT = _moment("heartbeat", "Last sign of life: the time of the scrape, unless /healthz says what hangs.")
CHECKPOINTED = _moment("checkpoint", "When the last checkpoint was acknowledged.")

# What the board restored from the topics: counts over the longest window

COMPUTED = _moment("board_computed", "When the published readings were computed.")
DETECTOR = _info("detector", "Detector version that the newest traffic carries", VERSION)
FIRST_DECISION = _moment(
    "version_first_decision", "When the version's first decision was made, of all that is kept.", VERSION
)
LAST_DECISION = _moment("version_last_decision", "When the version's last decision was made.", VERSION)
CHANGED = _moment(
    "changed", "When a version was first seen, or a config or net came into use: the newest ones.", ("kind", "what")
)
STRATA_DOCUMENTS = _gauge(
    "stratum",
    "documents",
    "Documents counted in the main window, by what flagged them.",
    ("language", "detector", "version", "stratum"),
)
COUNTED_LABELS = _gauge("counted", "labels", "Labels of all workers, by what came of them.", ("outcome",))
COUNTED_DOCUMENTS = _gauge("counted", "documents", "Drawn documents by what came of them.", ("outcome",))
COUNTED_DEAD_LETTERS = _gauge("counted_dead", "letters", "Records that no worker could read.", ("channel", "reason"))
COUNTED_UNCHECKED = _gauge("counted_unchecked", "outputs", "Outputs that no worker could check.", ("reason",))
COUNTED_QUARANTINED = _gauge("counted_quarantined", "spans", "Spans set aside by all workers.", ("reason",))
UNKNOWN_ENTITIES = _gauge("unknown_entities", "names", "Entity names that the alias table doesn't know.")
UNSEEN_TARGETS = _gauge("unseen_targets", "cells", "Targets of cells that nothing was flagged or labelled in.")
NEWEST_LABEL = _moment(
    "newest_label", "When the last label of the version and language came.", ("language", "detector", "version")
)
QUEUE_SENT = _gauge("queue_sent", "tasks", "Annotation tasks sent in the window.", ("language",))
QUEUE_DONE = _gauge("queue_done", "tasks", "Annotation tasks answered.", ("language",))
QUEUE_OPEN = _gauge("queue_open", "tasks", "Annotation tasks without an answer: the queue's depth.", ("language",))
QUEUE_SKIPPED = _gauge("queue_skipped", "tasks", "Annotation tasks that an annotator skipped.", ("language",))
QUEUE_OLDEST = _moment("queue_oldest_draw", "Event time of the oldest open task's document.", ("language",))
QUEUE_CAPACITY = _gauge("queue_capacity", "tasks", "Annotation tasks a day that annotators get through, as configured.")
CELLS_WITHHELD = _gauge("withheld", "cells", "Cells not exported because of the bound on series.")
DRIFT_SHARE = _gauge("drift_share", "ratio", "Share of documents since the signal's last change.", SIGNAL)
DRIFT_DOCUMENTS = _gauge("drift", "documents", "Documents since the signal's last change.", SIGNAL)
DRIFT_FOUND = _gauge("drift_found", "shifts", "Changes of the signal found so far.", SIGNAL)
DRIFT_BEFORE = _gauge(
    "drift_share_before", "ratio", "Share of documents before the place where the signal last changed.", SIGNAL
)
DRIFT_AFTER = _gauge(
    "drift_share_after", "ratio", "Share of documents from that place on until the change was found.", SIGNAL
)
DRIFT_CHANGE = _moment("drift_change", "When the signal's last change was found.", (*SIGNAL, "direction"))

# What the board reads, by cell

RECALL_ESTIMATE = _gauge("recall_estimate", "ratio", "Population recall.", SHARE)
RECALL_LOWER = _gauge("recall_lower", "ratio", "Lower limit of population recall.", SHARE)
RECALL_UPPER = _gauge("recall_upper", "ratio", "Upper limit of population recall.", SHARE)
FOUND = _gauge("found", "occurrences", "Labelled occurrences that the detector found, unweighted.", SHARE)
TRUE = _gauge("true", "occurrences", "Occurrences that people labelled, unweighted.", SHARE)
N_EFF = _gauge("effective", "occurrences", "Effective sample size behind the recall interval.", SHARE)
LOOKED_ESTIMATE = _gauge("where_looked_estimate", "ratio", "Recall in documents that any tool flagged.", SHARE)
LOOKED_LOWER = _gauge("where_looked_lower", "ratio", "Lower limit of recall where any tool looked.", SHARE)
LOOKED_UPPER = _gauge("where_looked_upper", "ratio", "Upper limit of recall where any tool looked.", SHARE)
UNFLAGGED_WIDTH = _gauge(
    "unflagged_width", "ratio", "Share of the recall interval's width that comes from unflagged documents.", CELL
)
HALVING_RATE = _gauge("halving_random_rate", "ratio", "Random rate that would halve that part of the width.", CELL)
CERTIFIED_LOWER = _gauge("certified_lower", "ratio", "Certified lower limit of recall, by document.", CELL)
TARGET = _gauge("recall_target", "ratio", "Recall that the operator asks for.", CELL)
PREVALENCE_ESTIMATE = _gauge("prevalence_estimate", "ratio", "Share of documents with the entity.", CELL)
PREVALENCE_LOWER = _gauge("prevalence_lower", "ratio", "Lower limit of that share.", CELL)
PREVALENCE_UPPER = _gauge("prevalence_upper", "ratio", "Upper limit of that share.", CELL)
PREVALENCE_COUNT = _gauge("prevalence", "documents", "Labelled documents with the entity, unweighted.", CELL)
PER_1000_ESTIMATE = _gauge("per_1000_documents_estimate", "occurrences", "Occurrences in 1,000 documents.", CELL)
PER_1000_LOWER = _gauge("per_1000_documents_lower", "occurrences", "Lower limit of that number.", CELL)
PER_1000_UPPER = _gauge("per_1000_documents_upper", "occurrences", "Upper limit of that number.", CELL)
COMPLETENESS = _gauge("completeness", "ratio", "Share of the sampled documents whose label is in.", CELL)
CENSUS = _gauge("cell_census", "documents", "Documents counted.", CELL)
CELL_SAMPLED = _gauge("cell_sampled", "documents", "Documents sampled.", CELL)
LABELLED = _gauge("cell_labelled", "documents", "Documents whose label is in, those without the entity included.", CELL)
NEWEST_DRAW = _moment("newest_draw", "Event time of the newest labelled document.", CELL)
STATUS = _info("reading_status", "Whether the reading can be relied on", (*CELL, "status"))
CURRENT = _flag("reading_current", "Whether the reading may be taken for the state of today", CELL)
ANY_TIME_LOWER = _gauge(
    "any_time_lower", "ratio", "Lower limit of recall, right at all looks of a year together.", CELL
)
ANY_TIME_UPPER = _gauge(
    "any_time_upper", "ratio", "Upper limit of recall, right at all looks of a year together.", CELL
)
PENDING = _gauge("pending", "documents", "Drawn documents without a label: open, overdue or skipped.", CELL)
PENDING_MISSED = _gauge("pending_missed", "ratio", "Recall if all that they hold were missed.", CELL)
PENDING_FOUND = _gauge("pending_found", "ratio", "Recall if all that they hold were found.", CELL)
PRECISION_ESTIMATE = _gauge("precision_estimate", "ratio", "Share of the detected spans that is right.", CELL)
PRECISION_LOWER = _gauge("precision_lower", "ratio", "Lower limit of that share.", CELL)
PRECISION_UPPER = _gauge("precision_upper", "ratio", "Upper limit of that share.", CELL)
RIGHT = _gauge("right", "spans", "Right spans among the detected ones, in labelled documents, unweighted.", CELL)
DETECTED = _gauge("detected", "spans", "Detected spans in labelled documents, unweighted.", CELL)
OPTIMISTIC = _gauge("optimistic_recall", "ratio", "Recall by recapture with the second detector: optimistic.", CELL)
STRATUM_FOUND = _gauge("stratum_found", "occurrences", "Found occurrences by stratum.", (*SHARE, "stratum"))
STRATUM_TRUE = _gauge("stratum_true", "occurrences", "Labelled occurrences by stratum.", (*SHARE, "stratum"))

# What the board reads of redacted outputs: a census of the traffic, whose limits are for the rate behind it

OUTPUTS = _gauge("redacted", "outputs", "Redacted outputs that were looked at.", OUTPUT)
UNALIGNED = _gauge("unaligned", "outputs", "Outputs that aren't the text with parts replaced.", OUTPUT)
LEAKING = _gauge("leaking", "outputs", "Outputs with a leak.", OUTPUT)
LEAKING_ESTIMATE = _gauge("leaking_outputs_estimate", "ratio", "Share of outputs with a leak.", OUTPUT)
LEAKING_LOWER = _gauge("leaking_outputs_lower", "ratio", "Lower limit of the rate behind that share.", OUTPUT)
LEAKING_UPPER = _gauge("leaking_outputs_upper", "ratio", "Upper limit of the rate behind that share.", OUTPUT)
REDACTIONS = _gauge("counted", "redactions", "Spans that outputs replace.", OUTPUT)
LEAKING_REDACTIONS = _gauge("leaking", "redactions", "Redactions with a leak.", OUTPUT)
REDACTIONS_ESTIMATE = _gauge("leaking_redactions_estimate", "ratio", "Share of redactions with a leak.", OUTPUT)
REDACTIONS_LOWER = _gauge("leaking_redactions_lower", "ratio", "Lower limit of the rate behind that share.", OUTPUT)
REDACTIONS_UPPER = _gauge("leaking_redactions_upper", "ratio", "Upper limit of the rate behind that share.", OUTPUT)
MASKED_TEXT = _gauge("masked_text", "ratio", "Share of the text that aligned outputs mask.", OUTPUT)
COUNTED_AT = _moment("newest_counted", "Time of the newest decision counted beside these outputs.", OUTPUT)
LEAKS = _gauge("found", "leaks", "Leaks by kind.", LEAK)
LEAK_DOCUMENTS = _gauge("found_leaks", "documents", "Documents with a leak of that kind.", LEAK)
ENTITY_DOCUMENTS = _gauge("redacted", "documents", "Documents with an output where the entity was flagged.", CELL)
ENTITY_LEAKING = _gauge("leaking", "documents", "Of these, documents with a leak of it.", CELL)

# What labels say of redacted outputs

OUTPUTS_SAMPLED = _gauge("sampled", "outputs", "Drawn documents with an output.", OUTPUT)
OUTPUTS_LABELLED = _gauge("labelled", "outputs", "Drawn documents with an output whose label is in.", OUTPUT)
OVER_MASKING_ESTIMATE = _gauge("over_masking_estimate", "ratio", "Share of what is masked that is needless.", OUTPUT)
OVER_MASKING_LOWER = _gauge("over_masking_lower", "ratio", "Lower limit of over-masking.", OUTPUT)
OVER_MASKING_UPPER = _gauge("over_masking_upper", "ratio", "Upper limit of over-masking.", OUTPUT)
NEEDLESS = _gauge("needless", "graphemes", "Masked graphemes that are no personal data, unweighted.", OUTPUT)
MASKED_GRAPHEMES = _gauge("masked", "graphemes", "Masked graphemes in labelled documents, unweighted.", OUTPUT)
READABLE = _gauge("readable", "occurrences", "Labelled occurrences that can be read in outputs, unweighted.", CELL)
OUTPUT_TRUE = _gauge("output_true", "occurrences", "Labelled occurrences in documents with an output.", CELL)
DISCLOSURE_ESTIMATE = _gauge(
    "disclosure_per_1000_documents_estimate", "occurrences", "Occurrences readable in 1,000 outputs.", CELL
)
DISCLOSURE_LOWER = _gauge(
    "disclosure_per_1000_documents_lower", "occurrences", "Lower limit of that disclosure rate.", CELL
)
DISCLOSURE_UPPER = _gauge(
    "disclosure_per_1000_documents_upper", "occurrences", "Upper limit of that disclosure rate.", CELL
)
DISCLOSURE_CURRENT = _flag("disclosure_current", "Whether that rate may be taken for the state of today", CELL)
OUTPUT_CELLS_WITHHELD = _gauge("withheld_output", "cells", "Cells of outputs not exported because of the bound.")

# What the board reads of two readers, whatever the version

TWICE = _gauge("read_twice", "documents", "Documents that two people read blind, unweighted.", PAIR)
KAPPA_ESTIMATE = _gauge("kappa_estimate", "ratio", "Cohen's kappa of two readers, by document.", PAIR)
KAPPA_LOWER = _gauge("kappa_lower", "ratio", "Lower limit of kappa.", PAIR)
KAPPA_UPPER = _gauge("kappa_upper", "ratio", "Upper limit of kappa.", PAIR)
SPAN_F1 = _gauge("span_agreement_f1", "ratio", "F1 of one reader's spans against the other's.", PAIR)
SPAN_IOU = _gauge("span_agreement_iou", "ratio", "Mean overlap of the spans that both marked.", PAIR)
MISSED_BY_BOTH = _gauge("missed_by_both", "ratio", "Share that both readers missed: optimistic.", PAIR)

# What the pager stands on, by cell with a target of a version in traffic

ALARM_ON = _flag("alarm_on", "Whether recall is below its target, said at the promised rate of false alarms", ALARM)
ALARM_EVIDENCE = _gauge("alarm_evidence", "nats", "Log-evidence that recall is below its target.", ALARM)
ALARM_BAR = _gauge("alarm_bar", "nats", "Log-evidence at which the alarm goes on.", ALARM)
ALARM_PROMISED = _gauge("alarm_promised", "seconds", "Mean time up to a false alarm of the cell, at least.", ALARM)
ALARM_LABELLED = _gauge("alarm_labelled", "documents", "Labelled documents with the entity that it has seen.", ALARM)
ALARM_SINCE = _moment("alarm_on", "When the alarm went on.", ALARM)
ALARM_RESTATED = _flag("alarm_restated", "Whether a corrected label took back evidence that was published", ALARM)
TOLD = _moment(
    "told", "When somebody was last told of a cell, by cause; of a version: `version_changed`.", (*ALARM, "cause")
)

METRICS: tuple[Metric, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""All of them, in the order above."""

_OUTCOMES = tuple((name,) for name in get_args(Outcome) if name != "repeat")
_REASONS = tuple((name,) for name in get_args(Reason))
_UNREADABLE = (
    *(("decisions", reason) for reason in DECISION_REASONS),
    *(("labels", reason) for reason in LABEL_REASONS),
)

KNOWN: dict[Metric, tuple[tuple[str, ...], ...]] = {
    SAMPLED: (("random",), ("loose",), ("both",)),
    TASKS: (("label",), ("adjudicate",)),
    LABELS: _OUTCOMES,
    DEAD_LETTERS: _UNREADABLE,
    QUARANTINED: _REASONS,
    TOMBSTONES: (("decisions",), ("labels",)),
    UNCHECKED: ((),),
    REBUILDS: ((),),
    REBALANCES: ((),),
    CHECKPOINTS: ((),),
    CHECKPOINT_SECONDS: ((),),
    CONFIG_REFUSALS: ((),),
}
"""Label values known beforehand, exported as 0 until something happens."""
