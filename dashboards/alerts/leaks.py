"""Outputs: redactions that leave something of the value, and what can still be read after all."""

from __future__ import annotations

from dashboards.alert import Alert, Section
from dashboards.promql import Not, Wanted, select
from dashboards.recording import Recording
from dashboards.settings import Settings
from dashboards.texts import asked, label, looked_up, value
from monitor import metrics as m

_OUTPUT = ("language", "detector", "version")
_WHERE = f"{label('language')} ({label('detector')} {label('version')})"


def alerts(settings: Settings, recording: Recording) -> list[Alert]:
    """Return the alerts on redacted outputs."""
    return [
        _leaking(settings, recording),
        _outputs(settings, recording),
        _unaligned(settings, recording),
        _unchecked(settings, recording),
        _disclosing(settings, recording),
    ]


def _leaking(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchRedactionsLeak"), settings.readings.fall_window
    wanted: dict[str, Wanted] = {"window": window, "language": Not("any")}
    estimate, upper = (
        looked_up(recording.cell(metric), "percent", _OUTPUT, window=window)
        for metric in (m.REDACTIONS_ESTIMATE, m.REDACTIONS_UPPER)
    )
    leaking, counted, documents, outputs = (
        looked_up(recording.cell(metric), "number", _OUTPUT, window=window)
        for metric in (m.LEAKING_REDACTIONS, m.REDACTIONS, m.LEAKING, m.OUTPUTS)
    )
    by_kind = f'{recording.cell(m.LEAK_DOCUMENTS).name}{{window="{window}",entity!="any",job=%q'
    worst = asked(f"topk(1, {by_kind},language=%q,detector=%q,version=%q}})", "kind")
    return Alert(
        knobs,
        "board",
        "Every output is looked at, so the share is a census; its lower limit is that of the rate behind it, and keeps "
        "still while few outputs came.",
        f"{select(recording.cell(m.REDACTIONS_LOWER), **wanted)} > {knobs.number('allowed')}",
        "Redactions leave something of the value in the output",
        f"{_WHERE}: {estimate} of the redactions of the last {window} leave part of the value readable, limits "
        f"{value('percent')} to {upper}, allowed is "
        f"{100 * float(knobs.number('allowed')):g}%; {leaking} of {counted} redactions, in {documents} of {outputs} "
        f"outputs. Most of them: {worst}.",
        Section(
            "What was found was masked, and the output still shows part of it: the end of a number, a name beside the "
            "mask, the value somewhere else. Recall doesn't see that: the span counts as found.",
            (
                (
                    "The page's leaks, by entity and kind: `shifted_mask` is an offset unit, `partial_mask` and "
                    "`edge_fragment` are boundaries, `survives_elsewhere` a value written twice."
                ),
                "`recallwatch leaks FILE` on recent decisions, beside the text: where the mask stands.",
                "Unaligned outputs: did whatever writes them change?",
            ),
            (
                "`shifted_mask` in numbers: stop the outputs now, the redactor works on wrong offsets.",
                "A remainder that's wanted (the last four of a card): allow it in `[redaction]`.",
                "Boundaries: have the detector's spans widened, or the redactor mask whole words.",
            ),
            "For the language and version, while the redactor is being mended.",
        ),
        ("language",),
    )


def _outputs(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchOutputsLeak"), settings.readings.fall_window
    wanted: dict[str, Wanted] = {"window": window, "language": Not("any")}
    estimate, upper = (
        looked_up(recording.cell(metric), "percent", _OUTPUT, window=window)
        for metric in (m.LEAKING_ESTIMATE, m.LEAKING_UPPER)
    )
    leaking, outputs, unaligned = (
        looked_up(recording.cell(metric), "number", _OUTPUT, window=window)
        for metric in (m.LEAKING, m.OUTPUTS, m.UNALIGNED)
    )
    return Alert(
        knobs,
        "board",
        "A value that nothing masks, or whose mask lies beside it, is no redaction: where the redactor fails wholly, "
        "only the share of outputs tells. So it does of outputs that aren't aligned.",
        f"{select(recording.cell(m.LEAKING_LOWER), **wanted)} > {knobs.number('allowed')}",
        "Too many outputs show something of what was flagged",
        f"{_WHERE}: {estimate} of the outputs of the last {window} show something that was flagged, limits "
        f"{value('percent')} to {upper}, allowed is {100 * float(knobs.number('allowed')):g}%; {leaking} of {outputs} "
        f"outputs. {unaligned} outputs aren't the text with parts replaced.",
        Section(
            "So many documents leave with something that the detector had flagged. That can be one bad spelling in "
            "each, or a redactor that masks nothing at all.",
            (
                "The page's leaks by kind: `untouched` (nothing is masked), `shifted_mask` (wrong offsets), or others.",
                "`RecallwatchRedactionsLeak` beside it: then most masks are there, and leave something.",
            ),
            (
                "`untouched` or `shifted_mask` in numbers: stop the outputs now, the redactor fails.",
                "Else as for `RecallwatchRedactionsLeak`.",
            ),
            "For the language and version, while the redactor is being mended.",
        ),
        ("language",),
    )


def _unaligned(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchOutputsUnaligned"), settings.readings.fall_window
    wanted: dict[str, Wanted] = {"window": window, "language": Not("any")}
    unaligned, outputs = (select(recording.cell(metric), **wanted) for metric in (m.UNALIGNED, m.OUTPUTS))
    counts = tuple(
        looked_up(recording.cell(metric), "number", _OUTPUT, window=window) for metric in (m.UNALIGNED, m.OUTPUTS)
    )
    return Alert(
        knobs,
        "board",
        "Of an output that isn't the text with parts replaced nobody knows what is masked: it's searched for values "
        "alone, and is no trial of the share of redactions.",
        f"{unaligned} / {outputs} > {knobs.number('allowed')}\nand {outputs} >= {knobs.number('min_outputs')}",
        "Many outputs aren't the text with parts replaced",
        f"{_WHERE}: {value('percent')} of the outputs of the last {window} aren't the text with parts replaced, so "
        f"nobody knows what they mask; allowed is {100 * float(knobs.number('allowed')):g}%; {counts[0]} of "
        f"{counts[1]} outputs.",
        Section(
            "Something writes the output anew: escapes it, translates it, wraps its lines, or it's of another text.",
            ("`recallwatch leaks FILE` on recent decisions: what differs besides the masks?",),
            ("Send the output as the redactor made it, before anything else changes it.",),
            "Where outputs are translated on purpose: then set `allowed` to what is usual.",
        ),
        ("language",),
    )


def _unchecked(settings: Settings, recording: Recording) -> Alert:
    knobs = settings.of("RecallwatchOutputsUnchecked")
    window = knobs.window("window")
    read = asked(f"sum(increase({m.DECISIONS.name}{{job=%q}}[{window}]))", "number")
    return Alert(
        knobs,
        "traffic",
        "The check never fails by what it's given, so one such output is a fault of ours. A worker that meets it again "
        "after a restart counts it before its first scrape: what stands on a young counter counts in full.",
        f"{recording.happened(m.UNCHECKED, window)} > 0",
        "Outputs weren't checked, because the check failed over them",
        f"The check failed over {value('number')} outputs in {window}, 0 are expected: whether they leak nobody knows; "
        f"{read} decisions were counted.",
        Section(
            "The check of redacted outputs met a document that it can't handle. The document counts in everything "
            "else; whether its output leaks nobody knows, and it's in no share of outputs.",
            (
                (
                    "The worker's log, `output_not_checked`: the exception's class, where it arose, and the first such "
                    "document's topic, partition and offset."
                ),
                "`recallwatch status`: how many there are, by class of exception.",
            ),
            (
                "A handful: report class and trace as a fault, and look at those outputs by hand.",
                "Many: the shares of outputs speak of the others alone; say so in the next sign-off.",
            ),
            "Once the fault is reported; it ends by itself.",
        ),
    )


def _disclosing(settings: Settings, recording: Recording) -> Alert:
    knobs, window = settings.of("RecallwatchDisclosureHigh"), settings.readings.window
    wanted: dict[str, Wanted] = {"window": window, "entity": "any", "language": Not("any")}
    lower, current = (select(recording.cell(metric), **wanted) for metric in (m.DISCLOSURE_LOWER, m.DISCLOSURE_CURRENT))
    estimate, upper = (
        looked_up(recording.cell(metric), "ratio", window=window)
        for metric in (m.DISCLOSURE_ESTIMATE, m.DISCLOSURE_UPPER)
    )
    readable, true = (looked_up(recording.cell(one), "number", window=window) for one in (m.READABLE, m.OUTPUT_TRUE))
    labelled = looked_up(recording.cell(m.OUTPUTS_LABELLED), "number", _OUTPUT, window=window)
    by_entity = f'{recording.cell(m.DISCLOSURE_ESTIMATE).name}{{window="{window}",entity!="any",job=%q'
    worst = asked(f"topk(1, {by_entity},language=%q,detector=%q,version=%q}})", "entity")
    return Alert(
        knobs,
        "board",
        "Misses and leaks in one number, of all entities together. Its lower limit, as the estimate rests on labels.",
        f"{lower} > {knobs.number('allowed')}\nand {current} == 1",
        "More personal data can be read in outputs than is allowed",
        f"{_WHERE}: {estimate} occurrences of personal data can be read in 1,000 documents, limits {value('ratio')} to "
        f"{upper}, allowed are {knobs.number('allowed')}; {readable} of {true} labelled occurrences, in {labelled} "
        f"labelled outputs of the last {window}. Most of them: {worst}.",
        Section(
            "What people found in documents can still be read in their redacted outputs, because the detector missed "
            "it or the redactor left it. Of all numbers here this one is closest to what leaves the house.",
            (
                "Which entity it mostly is, and whether its recall is low (missed) or its leaks are many (left).",
                "`recallwatch misses`; `RecallwatchRedactionsLeak`; `RecallwatchRecallFell`.",
            ),
            (
                "Missed: see `RecallwatchBelowTarget`. Left: see `RecallwatchRedactionsLeak`.",
                "Tell the privacy lead: the figures stand in the next report either way.",
            ),
            "Where the privacy lead has accepted the rate, until the date agreed on.",
        ),
        ("language",),
    )
