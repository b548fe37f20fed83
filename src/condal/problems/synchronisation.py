"""Sign synchronisation: signs from noisy relative measurements of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.certificates.certificate import Certificate, certify
from condal.certificates.checked import rounded_text
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.problems.answers import (
    Drawn,
    generator,
    model_text,
    point_of,
    rounding_limit,
    trials_of,
)
from condal.problems.factors import factor_of, leading_factor
from condal.problems.graphs import adjacency
from condal.problems.signs import best_signs, checked_signs, flipped, signs_of
from condal.problems.unit_diagonal import unit_diagonal_program
from condal.result import Result
from condal.runtime.arguments import Seed
from condal.smooth.objectives import Linear

if TYPE_CHECKING:
    from condal.report.pictures import Picture


@dataclass(frozen=True, eq=False)
class Signs(Drawn):
    """Signs +1 and -1, determined up to one global sign, with a proved bound.

    Attributes
    ----------
    value : float
        s'C s, the agreement with the measurements.
    bound : float
        A proved upper bound on the value of all signs.
    signs : ndarray
        +1 or -1 for each unknown.
    model : SignSynchronisation, optional
        The model of the measurements.
    """

    value: float
    bound: float
    signs: Array
    model: Any = None

    def picture(self) -> Picture:
        from condal.report import pictures

        return pictures.sorted_matrix(
            self.model.C,
            self.signs < 0,
            ("+1", "-1"),
            "The measurements, sorted by sign. They agree if they are positive within a sign and "
            "negative between the signs.",
        )

    def agreement(self, signs: Any) -> float:
        """Return the fraction of equal signs, up to a global sign: at least 1/2."""
        other = checked_signs(signs, self.signs.size)
        return float(0.5 + 0.5 * abs(np.mean(self.signs * other)))

    def __repr__(self) -> str:
        ones = int((self.signs > 0).sum())
        bound = rounded_text(self.bound, up=True)
        return (
            f"Signs(value={self.value:.10g}, bound={bound}, positive={ones}, "
            f"negative={self.signs.size - ones})"
        )


@dataclass(frozen=True, eq=False)
class SignSynchronisation:
    r"""The semidefinite relaxation of sign synchronisation [1]_.

    .. math::

        \max_x \; \langle C, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,

    with :math:`C_{ij}` a noisy measurement of :math:`s_i s_j`. It relaxes: maximise :math:`s^T C s`
    over signs :math:`s`. Its optimum bounds :math:`s^T C s`, and for low noise :math:`s s^T` is a
    solution. `sign_synchronisation` builds the model.

    Parameters
    ----------
    C : sparse array
        The symmetric measurements, with an empty diagonal.
    name : str, optional
        The name in results and reports.

    References
    ----------
    .. [1] A. S. Bandeira, "Random Laplacian matrices and convex relaxations", *Foundations of
       Computational Mathematics* 18, 2018.
    """

    C: Any = field(repr=False)
    name: str = "sign synchronisation"

    __repr__ = model_text

    @property
    def n(self) -> int:
        """The number of signs."""
        return int(self.C.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        f = Linear(Symmetric(self.n, sparse=(self.C,)))
        X = Spectrahedron(self.n, float(self.n))
        return unit_diagonal_program(f, X, self.n, propose=self.propose, name=self.name)

    def propose(self, x: Point) -> tuple[Point, Array]:
        """Return s s' for the signs of the leading eigenvector of x, and its dual."""
        s = flipped(self.C, signs_of(leading_factor(x, 1)))[:, 0]
        return LowRank(s[:, None], np.ones(1)), self.dual(s)

    def dual(self, signs: Any) -> Array:
        """Return y = s * C s, which proves s s' optimal if Diag(y) - C is psd."""
        s = checked_signs(signs, self.n)
        return np.asarray(s * (self.C @ s))

    def value(self, signs: Any) -> float:
        """Return s'C s: twice the difference of agreeing and disagreeing measurements."""
        s = checked_signs(signs, self.n)
        return float(s @ (self.C @ s))

    def certificate(self, signs: Any) -> Certificate:
        """Certify signs by their own dual, without a solve; a gap of 0 proves them optimal.

        Above the noise level at which the relaxation is exact, the bound may be far above that of a
        `Result`.

        Parameters
        ----------
        signs : array_like
            n numbers, each +1 or -1.

        Returns
        -------
        Certificate
            The objective s'C s and a proved bound.
        """
        s = checked_signs(signs, self.n)
        return certify(self, LowRank(s[:, None], np.ones(1)), self.dual(s))

    def round(
        self,
        result: Result,
        *,
        trials: int | None = None,
        seed: Seed = 0,
        max_seconds: float | None = None,
    ) -> Signs:
        """Round a solution to signs, each candidate improved by single flips.

        Candidates are the signs of the leading eigenvector of x and of random combinations of the
        columns of its factor.

        Parameters
        ----------
        result : Result
            A result of `condal.solve` for this model.
        trials : int, optional
            The number of random trials, 50, or fewer for more than 2 x 10^5 signs, by default.
        seed : int or Generator, optional
            The seed of the random generator.
        max_seconds : float, optional
            A time limit: the best answer found by then is returned.

        Returns
        -------
        Signs
            The best signs of all trials.
        """
        limit, trials = rounding_limit(max_seconds), trials_of(trials, 50, self.n)
        rng, x = generator(trials, seed), point_of(result, self.n)
        first = signs_of(leading_factor(x, 1))
        best = best_signs(self.C, factor_of(x), trials=trials, rng=rng, first=first, limit=limit)[1]
        return Signs(self.value(best), float(result.bound), best, self)


def sign_synchronisation(C: Any, *, name: str = "sign synchronisation") -> SignSynchronisation:
    """Return the model of signs from noisy products of pairs.

    Parameters
    ----------
    C : array, sparse matrix or NetworkX graph
        Symmetric measurements: :math:`C_{ij}` is near :math:`s_i s_j`, or has its sign and a
        modulus that grows with trust; 0 without a measurement. The diagonal is ignored.
    name : str, optional
        The name in results and reports.

    Returns
    -------
    SignSynchronisation
        The model, for `condal.solve`.

    Raises
    ------
    ProblemError
        If C is not symmetric and real, or has no measurements.

    Examples
    --------
    >>> import condal, numpy
    >>> s = numpy.array([1, 1, -1, 1])
    >>> model = condal.problems.sign_synchronisation(numpy.outer(s, s))
    >>> signs = model.round(condal.solve(model))
    >>> signs.agreement(s)
    1.0
    """
    measured = adjacency(C, "C")
    if measured.nnz == 0:
        raise ProblemError("C has no measurements: all signs agree with it equally well")
    return SignSynchronisation(measured, name)
