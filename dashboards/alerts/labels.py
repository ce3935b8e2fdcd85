"""What is known: readings that lapsed, targets without a number, readers who don't agree."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import Not, OneOf, Wanted, block, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, cell, looked_up, named, value
from monitor import metrics as m

_CELL = cell()
_PLACES = ("entity", "language")
_LAPSED = ("expired", "stale", "incomplete", "greyed")
_NEVER = ("no_label", "no_truth", "no_interval")


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on what is known."""
    return [
        _unknown(settings, recording),
        _never_known(settings, recording),
        _unseen(settings, recording),
        _withheld(settings, recording),
        _kappa_low(settings, recording),
    ]


def _without_number(settings: Settings, recording: Recording, status: tuple[str, ...]) -> str:
    window = settings.readings.window
    return block(
        """
        <labelled>
        and on (job, entity, language, detector, version)
          <status>
        and <target>
        """,
        labelled=select(recording.cell(m.LABELLED), window=window),
        status=select(recording.cell(m.STATUS), window=window, status=OneOf(status)),
        target=select(recording.cell(m.TARGET), window=window),
    )


def _labels(settings: Settings, recording: Recording) -> str:
    window = settings.readings.window
    sampled = looked_up(recording.cell(m.CELL_SAMPLED), "number", window=window)
    share = looked_up(recording.cell(m.COMPLETENESS), "percent", window=window)
    return f"{value('number')} of {sampled} sampled documents of the last {window} are labelled ({share})"


def _unknown(settings: Settings, recording: Recording) -> Alert:
    window = settings.readings.window
    kappa = looked_up(recording.board(m.KAPPA_ESTIMATE), "ratio", _PLACES, window=window)
    came = f"time() - {recording.board(m.NEWEST_LABEL).name}{{job=%q,language=%q,detector=%q,version=%q}}"
    status = looked_up(recording.cell(m.STATUS), "status", window=window)
    return Alert(
        settings.of("RecallwatchRecallUnknown"),
        "board",
        "A reading says itself whether it can be relied on. Which of these words it has may change meanwhile, so the "
        "wait is for the cell and not for the word.",
        _without_number(settings, recording, _LAPSED),
        "Recall of a cell with a target is no longer known",
        f"{_CELL}: recall can't be relied on any more, as {status}; nothing says that it fell. "
        f"{_labels(settings, recording)}; the last label of the version came {asked(came, 'duration')} ago; two "
        f"readers' kappa is {kappa}.",
        Section(
            "A number that stood can't be relied on any more. Its status on the page says why: `expired`, the newest "
            "label is older than the window; `stale`, no label for days; `incomplete`, too few of the sampled "
            "documents are labelled; `greyed`, two readers don't agree. Nothing says that recall fell; nothing would "
            "say so if it did, either.",
            (
                "The status, completeness and κ on the page.",
                (
                    "`RecallwatchAnnotatorsIdle`, `RecallwatchOldestTaskTooOld` and `RecallwatchKappaLow`: mostly one "
                    "of them is the cause."
                ),
            ),
            (
                "Expired, stale, incomplete: get the open tasks answered, or sample less so that all are.",
                "Greyed: settle with the annotators what counts as this entity; adjudicate where they differ.",
            ),
            "Until the day on which the labels are promised.",
        ),
        _PLACES,
    )


def _never_known(settings: Settings, recording: Recording) -> Alert:
    status = looked_up(recording.cell(m.STATUS), "status", window=settings.readings.window)
    return Alert(
        settings.of("RecallwatchNeverKnown"),
        "board",
        "It's the ordinary state of a new version or target, and worth a word where it doesn't end.",
        _without_number(settings, recording, _NEVER),
        "A cell with a target still has no recall",
        f"{_CELL} has a target and no recall yet, as {status}. {_labels(settings, recording)}; "
        f"{looked_up(recording.cell(m.TRUE), 'number', window=settings.readings.window)} occurrences were in them.",
        Section(
            "A target was set, and after a week there's still no interval: no label, no label with this entity, or "
            "none of a document that no tool flagged.",
            ("The status on the page and its reason.", "How rare the entity is: `recallwatch plan`."),
            ("Raise the rates of that language (`sampling.by_language`), or take the target away.",),
            "For the cell, until it has been decided.",
        ),
        _PLACES,
    )


def _unseen(settings: Settings, recording: Recording) -> Alert:
    targets = f'count({recording.cell(m.TARGET).name}{{window="{settings.readings.window}",job=%q}})'
    known = asked(targets, "count")
    return Alert(
        settings.of("RecallwatchTargetUnseen"),
        "board",
        "A target whose cell nothing was ever flagged or labelled in mostly is a misspelled name.",
        f"{select(recording.board(m.UNSEEN_TARGETS))} > 0",
        "Targets are set for cells that nothing is known of",
        f"{value('number')} targets are for an entity and language in which nothing was ever flagged or labelled, 0 "
        f"are allowed: mostly a misspelt name. {known} targets have a reading. The page names those that have none.",
        Section(
            "`[targets]` has a name that no decision and no label carries. It has no alarm, and never will.",
            ("The page's first lines name it.",),
            ("Correct the name, or add it to `[entities.aliases]`; take it away where it's of the past.",),
            "While a detector that will send that name is being brought in.",
        ),
    )


def _withheld(settings: Settings, recording: Recording) -> Alert:
    shown = asked(f'count({recording.cell(m.CURRENT).name}{{window="{settings.readings.window}",job=%q}})', "count")
    return Alert(
        settings.of("RecallwatchCellsWithheld"),
        "board",
        "What isn't exported can't be alerted on. The alarm of recall is: it's exported whatever else is withheld.",
        f"{select(recording.board(m.CELLS_WITHHELD))} > 0\nor {select(recording.board(m.OUTPUT_CELLS_WITHHELD))} > 0",
        "The board has more cells than it exports",
        f"{value('number')} combinations of entity, language, version and window aren't exported, 0 are allowed; "
        f"{shown} are, of the versions in traffic over {settings.readings.window}. Of those that aren't, a fall of "
        "recall still pages; no other alert sees them.",
        Section(
            "There are more combinations of entity, language, version and window than the board exports. Roll-ups and "
            "the versions in traffic come first, so mostly old versions are left out; `RecallwatchBelowTarget` and "
            "`RecallwatchRecallUnknown` don't see what is.",
            ("The page has them all: which names or languages are new, or misspelled?",),
            (
                (
                    "Bring names together (`[entities.aliases]`), read fewer windows (`readings.windows_days`), or "
                    "lower `limits.max_entities` and `limits.max_languages`."
                ),
            ),
            "Where those left out are of no interest.",
        ),
    )


def _kappa_low(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchKappaLow"), settings.readings.window
    one_cell: dict[str, Wanted] = {"window": window, "entity": Not("any"), "language": Not("any")}
    kappa, twice = (select(recording.board(metric), **one_cell) for metric in (m.KAPPA_ESTIMATE, m.TWICE))
    lower, upper = (
        looked_up(recording.board(one), "ratio", _PLACES, window=window) for one in (m.KAPPA_LOWER, m.KAPPA_UPPER)
    )
    return Alert(
        knobs,
        "board",
        "The estimate gates, as it does in the product, once it's worth more than a handful of documents.",
        f"{kappa} < {knobs.number('below')}\nand {twice} >= {knobs.number('min_documents')}",
        "Two readers don't agree on what an entity is",
        f"{named('entity')} in {named('language')}: two readers of the same documents agree with a kappa of "
        f"{value('ratio')} (1 is always, 0 as by chance), limits {lower} to {upper}, under {knobs.number('below')}; "
        f"{looked_up(recording.board(m.TWICE), 'number', _PLACES, window=window)} documents were read twice.",
        Section(
            "People who read the same document, blind, differ so much that no number that rests on their labels can "
            "stand: recall of this entity is greyed.",
            ("The adjudicated documents of the entity: where and how the two differ.",),
            (
                (
                    "Write down what counts as this entity and what doesn't, with examples; have the open cases "
                    "adjudicated."
                ),
                "Where one annotator stands alone, talk to that one.",
            ),
            "For the entity and language, until labels under the new guideline fill the window.",
        ),
        _PLACES,
    )
