"""A proved lower bound on a linear function over a set."""

from __future__ import annotations

from dataclasses import dataclass, field

from condal.linalg.points import Array


@dataclass(frozen=True)
class Proof:
    """A lower bound `value` on min over X of <v, x>, and `how` it was proved.

    `failure` is the probability that the bound is wrong: 0 for a deterministic proof. Where a
    better bound was asked for and does not hold, the orthonormal columns u of `refuting` may show
    that: <v, t uu'> is below it, for the trace t of a spectral X.
    """

    value: float
    how: str
    failure: float = 0.0
    refuting: Array | None = field(default=None, compare=False, repr=False)

    @property
    def because(self) -> str:
        """The proof in words, with the probability that it is wrong."""
        surely = f", wrong with probability at most {self.failure:.1g}" if self.failure else ""
        return self.how + surely
