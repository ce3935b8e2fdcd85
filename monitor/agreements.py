"""How far two readers agree, for any entity and language of a window: kappa by document, and by span what they share.

Entity and language may be `any`: a document then has any entity at all, and spans are those of all entities together
(paired within each). Languages add as disjoint documents do. What was worked out is kept by the numbers it came from.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from monitor.estimators.agreement import GREYED_BELOW, AgreementStatus, ReadTwice, Table, kappa, status_of
from monitor.estimators.capture_recapture import SearchedTwice, recapture
from monitor.readings import ANY, Agreement
from monitor.span_agreement import SpansReadTwice, span_agreement
from monitor.tally import AgreementKey, AgreementRow, Tally, TwiceKey

_NONE = AgreementRow()


class _Design(NamedTuple):
    """The documents with one probability of being drawn and read twice, and what was named in them."""

    probability: float
    documents: int
    row: AgreementRow


class Agreements:
    """The doubly read documents of a window.

    Parameters
    ----------
    sums
        The window's; rows that aren't about agreement are passed over.
    """

    def __init__(self, sums: Tally) -> None:
        self._documents: defaultdict[str, list[tuple[str, float, int]]] = defaultdict(list)
        """Language, probability and documents, by language and over all."""
        self._rows: dict[AgreementKey, AgreementRow] = {}
        for key, row in sums.rows.items():
            if isinstance(key, TwiceKey):
                for language in (key.language, ANY):
                    self._documents[language].append((key.language, key.probability, row[0]))
            elif isinstance(key, AgreementKey):
                self._rows[key] = AgreementRow.of(row)

    def read(self, entity: str, language: str, confidence: float) -> Agreement | None:
        """Return how the two readers agree about an entity; None where nobody read twice.

        Parameters: `entity` folded, or `any`; `language`, or `any`; `confidence` two-sided, in (0, 1).
        """
        designs = [
            _Design(probability, documents, self._rows.get(AgreementKey(of, probability, entity), _NONE))
            for of, probability, documents in self._documents.get(language, ())
        ]
        return _agreement(tuple(sorted(designs)), confidence) if designs else None

    @staticmethod
    def status(agreement: Agreement | None) -> AgreementStatus:
        """Return what the readers' agreement makes of the numbers that rest on their labels.

        `ok` where there's no kappa to say otherwise: nobody read twice, or both named the entity in all documents or in
        none. F1 by span then is what says how they agree.
        """
        if agreement is None:
            return "ok"
        return status_of(agreement.kappa, agreement.upper, agreement.n_eff) or "ok"

    @staticmethod
    def too_few(agreement: Agreement | None) -> bool:
        """Say whether kappa is low enough to grey a number, and is worth too few documents to do so."""
        low = agreement is not None and agreement.kappa is not None and agreement.kappa < GREYED_BELOW
        return low and Agreements.status(agreement) == "marked"


@lru_cache(1 << 13)
def _agreement(designs: tuple[_Design, ...], confidence: float) -> Agreement:
    by_document = kappa(
        [ReadTwice(p, Table.within(n, row.both, row.first_only, row.second_only)) for p, n, row in designs], confidence
    )
    by_span = span_agreement([SpansReadTwice(p, row.spans) for p, _, row in designs])
    missed = recapture([SearchedTwice(p, row.captures) for p, _, row in designs], confidence).missed_by_both
    return Agreement(
        documents=sum(n for _, n, _ in designs),
        named=sum(row.both + row.first_only + row.second_only for _, _, row in designs),
        kappa=by_document and by_document.estimate,
        lower=by_document and by_document.lower,
        upper=by_document and by_document.upper,
        n_eff=by_document and by_document.n_eff,
        span_f1=by_span.f1,
        mean_iou=by_span.mean_iou,
        missed_by_both=missed and missed.estimate,
        missed_by_both_upper=missed and missed.upper,
    )
