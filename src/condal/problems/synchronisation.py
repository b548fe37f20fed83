"""Sign synchronisation: signs from noisy relative measurements of pairs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate
from condal.certificates.verification import certify
from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.problem import Problem
from condal.problems.answers import GainAnswer, Picture, Rows
from condal.problems.graphs import adjacency
from condal.problems.models import (
    Rounded,
    RoundedModel,
    Trials,
    factor_of,
    leading_factor,
    unit_diagonal_program,
)
from condal.problems.signs import best_signs, checked_signs, flipped, signs_of
from condal.result import Result
from condal.runtime.text import number
from condal.smooth.objectives import Linear


@dataclass(frozen=True, eq=False, repr=False)
class Signs(GainAnswer):
    """Signs +1 and -1, determined up to one global sign, with a proved bound.

    Attributes
    ----------
    value : float
        s'C s, the agreement with the measurements.
    bound : float
        A proved upper bound on the value of all signs.
    signs : ndarray
        +1 or -1 for each unknown.
    """

    value: float
    bound: float
    signs: Array
    model: Any = None

    noun = "agreement"
    none_text = "no signs agree with C better"

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

    def rows(self) -> Rows:
        ones = int((self.signs > 0).sum())
        return [
            ("signs", f"{ones:,} of +1 and {self.signs.size - ones:,} of -1, or all flipped"),
            ("agreement", f"{number(self.value)}, the sum of C_ij s_i s_j over the measurements"),
        ]

    @property
    def weights(self) -> Any:
        return 2 * self.model.C.data

    @property
    def sizes_text(self) -> str:
        ones = int((self.signs > 0).sum())
        return f"positive={ones}, negative={self.signs.size - ones}"


class Synchronisation(RoundedModel[Rounded]):
    """Maximise z*C z over signs or phases z: numbers of modulus 1, here `units`."""

    C: Any

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return int(self.C.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation; its domain is tr x = n."""
        return unit_diagonal_program(
            Linear(self.C),
            self.n,
            hermitian=self.C.dtype.kind == "c",
            propose=self.propose,
            name=self.name,
        )

    @abstractmethod
    def _checked(self, units: Any) -> Any:
        """Return the units as an array; raise ProblemError if they are not of this kind."""

    @abstractmethod
    def _improved(self, columns: Any) -> Any:
        """Return units near these columns, each after steps that raise z*C z."""

    def propose(self, x: Point) -> tuple[Point, Array]:
        """Return z z* for the units of the leading eigenvector of x, and its dual."""
        z = self._improved(leading_factor(x, 1))[:, 0]
        return LowRank(z[:, None], np.ones(1)), self.dual(z)

    def dual(self, units: Any) -> Array:
        """Return y = Re(conj(z) * C z), which proves z z* optimal if Diag(y) - C is psd."""
        z = self._checked(units)
        return np.asarray((z.conj() * (self.C @ z)).real)

    def value(self, units: Any) -> float:
        """Return z*C z, the agreement with the measurements."""
        z = self._checked(units)
        return float(np.vdot(z, self.C @ z).real)

    def certificate(self, units: Any) -> Certificate:
        """Certify signs or phases by their own dual, without a solve.

        A gap of 0 proves them optimal. Above the noise level at which the relaxation is exact, the
        bound may be far above that of a `Result`.

        Parameters
        ----------
        units : array_like
            n signs +1 or -1, or n phases: complex numbers of modulus 1, or angles in radians.

        Returns
        -------
        Certificate
            The objective z*C z and a proved bound.
        """
        z = self._checked(units)
        return certify(self, LowRank(z[:, None], np.ones(1)), self.dual(z))


@dataclass(frozen=True, eq=False, repr=False)
class SignSynchronisation(Synchronisation[Signs]):
    r"""The semidefinite relaxation of sign synchronisation [1]_.

    .. math::

        \max_x \; \langle C, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0,

    with :math:`C_{ij}` a noisy measurement of :math:`s_i s_j`. It relaxes: maximise :math:`s^T C s`
    over signs :math:`s`. Its optimum bounds :math:`s^T C s`, and for low noise :math:`s s^T` is a
    solution.

    The candidates of `round` are the signs of the leading eigenvector of x and, for 49 more trials,
    of random combinations of the columns of its factor, each improved by single flips.
    `sign_synchronisation` builds the model.

    Parameters
    ----------
    C : sparse array
        The symmetric measurements, with an empty diagonal.

    References
    ----------
    .. [1] A. S. Bandeira, "Random Laplacian matrices and convex relaxations", *Foundations of
       Computational Mathematics* 18, 2018.
    """

    C: Any = field(repr=False)
    name: str = "sign synchronisation"

    most_trials = 50

    def _checked(self, units: Any) -> Array:
        return checked_signs(units, self.n)

    def _improved(self, columns: Any) -> Array:
        return flipped(self.C, signs_of(columns))

    def _rounded(self, x: Point, trials: Trials) -> Array:
        return best_signs(self.C, factor_of(x), trials, signs_of(leading_factor(x, 1)))[1]

    def answer_of(self, found: Any, result: Result) -> Signs:
        return Signs(self.value(found), float(result.bound), found, self)


def sign_synchronisation(C: Any, *, name: str = "sign synchronisation") -> SignSynchronisation:
    """Return the model of signs from noisy products of pairs.

    Parameters
    ----------
    C : array, sparse matrix or NetworkX graph
        Symmetric measurements: :math:`C_{ij}` is near :math:`s_i s_j`, or has its sign and a
        modulus that grows with trust; 0 without a measurement. The diagonal is ignored.

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
