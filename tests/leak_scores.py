"""How many planted leaks are found and how many right outputs are flagged, by kind and language; others beside it.

The others give an answer for a document. `plain`: a flagged value, as it was written, still stands in the output.
`redetect`: datafog's regex engine, the detector of the product's demo, is run on the output, and finds something at the
planted place, or anything at all in a right output: what a pipeline has that scores its outputs with a detector.
`net`: the product's loose net finds anything in the output.

Below stand the names that are ordinary words and in no list (`leak_words`), by the form in which they were flagged.

`tests/run --slow` writes the table to `tests/reports`. By itself: `PYTHONPATH=.:tests python -m leak_scores 2000`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from leak_injector import FAULTS, Injected, Planted, injected
from leak_sentences import LANGUAGES
from leak_words import FORMS, WORDS, leaks, right_outputs, share, told

from monitor.leaks.check import check
from monitor.leaks.findings import KINDS, Checked, Leak
from monitor.leaks.screen import examine
from monitor.net import Net, build_net
from streams.detector import Detector

REPORTS = Path(__file__).parent / "reports"
RIGHT = "right"
_EVERY = 10


@dataclass
class Tally:
    """Documents of one kind and language."""

    documents: int = 0
    found: int = 0
    """With every planted place found under its entity; of right outputs, those with any leak."""
    places: int = 0
    places_found: int = 0
    unscreened: int = 0
    """Of which the screen says another thing than the check does."""
    unaligned: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """Documents by the kinds of the leaks that touch a planted place; of right outputs, by those of all leaks."""
    plain: int = 0
    net: int = 0
    redetected_of: int = 0
    """Documents that the detector was run on: one in ten."""
    redetected: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})


class Verdict(NamedTuple):
    """What the check said of one document."""

    case: Injected
    checked: Checked
    missed: tuple[Planted, ...]
    screened: Checked


Table = dict[tuple[str, str], Tally]


def touching(planted: Planted, leaks: Iterable[Leak]) -> list[Leak]:
    """Return the leaks of the same entity that touch the planted place in the output."""
    return [
        leak
        for leak in leaks
        if leak.entity == planted.entity
        and leak.output_start < planted.output_end
        and planted.output_start < leak.output_end
    ]


def judge(case: Injected, net: Net | None = None) -> Verdict:
    """Return what check and screen say of a document."""
    asked = case.text, case.spans, case.redacted, case.policy, net
    checked = check(*asked)
    missed = tuple(planted for planted in case.planted if not touching(planted, checked.leaks))
    return Verdict(case, checked, missed, examine(*asked))


def score(seed: int, count: int, tell: Callable[[Verdict], None] = lambda _: None) -> Table:
    """Return the tallies of `count` documents by fault (or what's harmless) and language; `tell` hears each verdict."""
    table: Table = {}
    net, detector = build_net(defaults=True, patterns={}, triggers=()), Detector(1)
    for number, case in enumerate(injected(seed, count)):
        verdict = judge(case, net)
        tell(verdict)
        kind = case.fault or f"{RIGHT} {case.harmless}".strip()
        tally = table.setdefault((kind, case.lang), Tally())
        tally += _tally(verdict) + _others(case, net, detector if number % _EVERY == 0 else None)
        table[kind, case.lang] = tally
    return table


def _tally(verdict: Verdict) -> Tally:
    case, checked, missed, screened = verdict
    found = not missed if case.fault else bool(checked.leaks)
    near = [leak for planted in case.planted for leak in touching(planted, checked.leaks)]
    kinds = {leak.kind for leak in (near if case.fault else checked.leaks)}
    return Tally(
        documents=1,
        found=found,
        places=len(case.planted),
        places_found=len(case.planted) - len(missed),
        unscreened=screened != checked,
        unaligned=not checked.aligned,
        kinds=Counter(kinds),
    )


def _others(case: Injected, net: Net, detector: Detector | None) -> Tally:
    plain = any(case.text[span.start : span.end] in case.redacted for span in case.spans)
    tally = Tally(plain=plain, net=net.catches(case.redacted))
    if detector is not None:
        spans = detector.detect(case.doc_id, case.lang, case.redacted).spans
        places = [(p.output_start, p.output_end) for p in case.planted]
        hit = any(s.start < end and start < s.end for s in spans for start, end in places)
        tally.redetected_of, tally.redetected = 1, hit if case.fault else bool(spans)
    return tally


def total(table: Mapping[tuple[str, str], Tally], *, right: bool) -> Tally:
    """Return all documents with a fault together, or all right ones."""
    return sum((tally for (kind, _), tally in table.items() if kind.startswith(RIGHT) == right), Tally())


def lines(table: Table) -> Iterator[str]:
    """Yield the table: a row a kind, found of documents by language and in all, then what the others give.

    Below it, as what kind of leak the planted places were found.
    """
    head = "".join(f"{lang:>14}" for lang in LANGUAGES)
    yield f"{'':30}{head}{'all':>16}{'':>9}{'plain':>8}{'redetect':>10}{'net':>8}"
    kinds = sorted({kind for kind, _ in table}, key=lambda kind: (kind.startswith(RIGHT), kind))
    for kind in kinds:
        cells = [table.get((kind, lang), Tally()) for lang in LANGUAGES]
        yield _line(kind, cells)
    for name, right in (("all faults: found", False), ("all right: flagged", True)):
        rows = [{key: t for key, t in table.items() if key[1] == lang} for lang in LANGUAGES]
        yield _line(name, [total(row, right=right) for row in rows])
    yield ""
    yield f"{'documents by kind of leak':30}" + "".join(f"{kind:>20}" for kind in KINDS)
    for kind in kinds:
        counted = sum((table.get((kind, lang), Tally()) for lang in LANGUAGES), Tally()).kinds
        yield f"{kind:30}" + "".join(f"{counted[name] or '-':>20}" for name in KINDS)


def word_lines(seed: int) -> Iterator[str]:
    """Yield the table: by form and language the right outputs that are flagged, and the leaks that are found."""
    yield f"{'names that are words':30}" + "".join(f"{lang:>14}" for lang in WORDS) + f"{'all':>16}"
    for title, cases in (("right, flagged", right_outputs(seed)), ("left, found", leaks(seed))):
        counts = told(cases)
        for form in FORMS:
            row = "".join(f"{'{}/{}'.format(*counts[lang, form]):>14}" for lang in WORDS)
            part, whole = share(counts, form)
            yield f"{f'{title}: {form}':30}{row}{f'{part}/{whole}':>16}{part / whole:>9.2%}"


def _line(name: str, cells: list[Tally]) -> str:
    whole = sum(cells, Tally())
    row = "".join(f"{f'{cell.found}/{cell.documents}':>14}" for cell in cells)
    others = (whole.plain, whole.documents), (whole.redetected, whole.redetected_of), (whole.net, whole.documents)
    beside = "".join(f"{_percent(*pair):>{width}}" for pair, width in zip(others, (8, 10, 8), strict=True))
    return f"{name:30}{row}{f'{whole.found}/{whole.documents}':>16}{_percent(whole.found, whole.documents):>9}{beside}"


def _percent(part: int, of: int) -> str:
    return f"{part / of:.2%}" if of else "-"


def write(table: Table, seed: int, directory: Path) -> None:
    """Write leaks.json and leaks.txt; the directory is made where there is none."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = [
        {"kind": kind, "lang": lang, "right": kind.startswith(RIGHT), **vars(tally)}
        for (kind, lang), tally in sorted(table.items())
    ]
    document = {
        "made": datetime.now(UTC).date().isoformat(),
        "seed": seed,
        "faults": list(FAULTS),
        "beside": {
            "plain": "a flagged value as it was written still stands in the output",
            "redetect": f"datafog's regex engine on the output, one document in {_EVERY}",
            "net": "the product's loose net on the output",
        },
        "faulty": vars(total(table, right=False)),
        "right": vars(total(table, right=True)),
        "rows": rows,
    }
    (directory / "leaks.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    shown = [*lines(table), "", *word_lines(seed)]
    (directory / "leaks.txt").write_text("\n".join(shown) + "\n", encoding="utf-8")


if __name__ == "__main__":
    scored = score(1, int(sys.argv[1]))
    sys.stdout.write("\n".join(lines(scored)) + "\n")
