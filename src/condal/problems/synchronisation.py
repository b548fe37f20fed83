"""Synchronisation: unknowns of a group from noisy relative measurements of pairs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate, certify
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.entries import Diagonal
from condal.problem import Problem
from condal.problems.answers import generator, point_of, trials_of
from condal.problems.factors import factor_of, leading
from condal.problems.graphs import adjacency
from condal.problems.signs import best_signs, checked_signs, flipped, signs_of
from condal.problems.unit_diagonal import unit_diagonal
from condal.result import Result
from condal.sets.boxes import Equal
from condal.smooth.linear import Linear


@dataclass(frozen=True, eq=False)
class Signs:
    """Signs +1 and -1, known up to one sign for all; `value` is s'C s, how well they agree.

    No signs have a value above `bound`, which is proved.
    """

    value: float
    bound: float
    signs: Array

    def agreement(self, signs: Any) -> float:
        """The share of signs that others share, or share after all are turned: at least 1/2."""
        other = checked_signs(signs, self.signs.size)
        return float(0.5 + 0.5 * abs(np.mean(self.signs * other)))

    def __repr__(self) -> str:
        ones = int((self.signs > 0).sum())
        return (
            f"Signs(value={self.value:.10g}, none is above {self.bound:.10g}, {ones} of +1 and "
            f"{self.signs.size - ones} of -1)"
        )


@dataclass(frozen=True, eq=False)
class SignSynchronisation:
    """maximise <C, x> subject to diag x = 1, x psd: C_ij a noisy measurement of s_i s_j.

    The relaxation of: maximise s'C s over signs s. Its value bounds s'C s for all of them, and
    where the noise is low, a solution is s s' itself.
    """

    C: Any = field(repr=False)
    name: str = "sign synchronisation"

    @property
    def n(self) -> int:
        """How many signs."""
        return int(self.C.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, with tr x = n as its domain."""
        return Problem.of(
            f=Linear(Symmetric(self.n, sparse=(self.C,))),
            X=Spectrahedron(self.n, trace=float(self.n)),
            A=Diagonal(self.n),
            K=Equal(np.ones(self.n)),
            maximise=True,
            repair=unit_diagonal,
            propose=self.propose,
            name=self.name,
        )

    def propose(self, x: Point) -> tuple[Point, Array]:
        """s s' for the signs of the leading eigenvector of x, and the dual that belongs to it."""
        s = flipped(self.C, signs_of(leading(x, 1)))[:, 0]
        return LowRank(s[:, None], np.ones(1)), self.dual(s)

    def dual(self, signs: Any) -> Array:
        """y = s * C s, which proves s s' optimal if Diag(y) - C is psd (Bandeira 2018)."""
        s = checked_signs(signs, self.n)
        return np.asarray(s * (self.C @ s))

    def value(self, signs: Any) -> float:
        """s'C s: the measurements that agree with the signs less those that do not, twice."""
        s = checked_signs(signs, self.n)
        return float(s @ (self.C @ s))

    def certificate(self, signs: Any) -> Certificate:
        """What the signs prove of themselves, by their own dual: a gap of 0 if none are better.

        It needs no solve. Beyond the noise up to which the relaxation is exact, its bound may be
        far above that of a Result.
        """
        s = checked_signs(signs, self.n)
        return certify(self, LowRank(s[:, None], np.ones(1)), self.dual(s))

    def round(self, result: Result, *, trials: int | None = None, seed: int = 0) -> Signs:
        """The signs of the leading eigenvector of x, or of the best of `trials` - 1 random
        combinations of its factor, each improved by flips of single signs; 50 unless they are
        given, or fewer of more than 2 x 10^5 signs."""
        trials = trials_of(trials, 50, self.n)
        rng, x = generator(trials, seed), point_of(result, self.n)
        best = best_signs(
            self.C, factor_of(x), trials=trials, rng=rng, first=signs_of(leading(x, 1))
        )[1]
        return Signs(self.value(best), float(result.bound), best)


def sign_synchronisation(C: Any, *, name: str = "sign synchronisation") -> SignSynchronisation:
    """The model of signs from noisy products of pairs of them.

    Parameters
    ----------
    C : a symmetric matrix, sparse or dense, or a NetworkX graph whose weights are the measurements:
        C_ij is near s_i s_j, or of its sign and larger the more it is trusted; 0 where nothing was
        measured. What stands on the diagonal says nothing.
    """
    measured = adjacency(C, "C")
    if measured.nnz == 0:
        raise ProblemError("C has no measurements: every choice of signs agrees as well")
    return SignSynchronisation(measured, name)
