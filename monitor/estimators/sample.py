"""What every estimator reads: one cell's labelled sample by stratum, as whole numbers by inclusion probability.

Sums are kept per distinct inclusion probability π and unweighted, so they are whole numbers: they add, subtract and
merge exactly, in any order, and every weighted sum of `Σ w^k t^i y^j` is a handful of products away. (Sums of weighted
floats would leave a residue behind each corrected label: w⁴y⁴ reaches 1e21.)

Notation of one labelled document: y true occurrences of the cell's entity, t of them found by the detector, w = 1/π.
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.records import Stratum


class Moments(NamedTuple):
    """Unweighted sums over labelled documents of one π. Documents with y = 0 add nothing here; `Design` counts them."""

    with_entity: int = 0
    """Documents with y > 0."""
    with_miss: int = 0
    """Documents with t < y."""
    all_found: int = 0
    """Documents with t = y > 0."""
    t: int = 0
    y: int = 0
    tt: int = 0
    ty: int = 0
    yy: int = 0
    tty: int = 0
    tyy: int = 0
    yyy: int = 0
    ttyy: int = 0
    tyyy: int = 0
    yyyy: int = 0

    @classmethod
    def of(cls, t: int, y: int) -> Moments:
        """Return one document's moments; `0 <= t <= y`, and y = 0 gives all zeros.

        >>> Moments.of(1, 2).tyy
        4
        """
        if not 0 <= t <= y:
            raise ValueError(f"found {t} of {y}")
        if y == 0:
            return cls()
        ty, yy = t * y, y * y
        return cls(1, int(t < y), int(t == y), t, y, t * t, ty, yy, t * ty, t * yy, y * yy, ty * ty, ty * yy, yy * yy)

    def plus(self, other: Moments) -> Moments:
        """Return the sum of two disjoint samples."""
        return Moments(*(a + b for a, b in zip(self, other, strict=True)))


class Design(NamedTuple):
    """The documents of one stratum and language that were drawn with one inclusion probability."""

    probability: float
    sampled: int
    labelled: int
    moments: Moments


class StratumSample(NamedTuple):
    """One stratum of one language: its census, and its sample for one cell."""

    language: str
    stratum: Stratum
    census: int
    """N_h: documents that ROUTE counted, never an estimate."""
    designs: tuple[Design, ...]

    @property
    def sampled(self) -> int:
        """Documents drawn."""
        return sum(d.sampled for d in self.designs)

    @property
    def labelled(self) -> int:
        """Documents whose label is in."""
        return sum(d.labelled for d in self.designs)


class Interval(NamedTuple):
    """An estimate between its limits; `0 <= lower <= estimate <= upper` and, for shares, `upper <= 1`."""

    estimate: float
    lower: float
    upper: float
