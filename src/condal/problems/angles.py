"""Angular synchronisation: angles from noisy differences of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lifting import is_complex, symmetric
from condal.linalg.points import Array, Point
from condal.linalg.sparse import require_sound
from condal.problems.answers import bounded_text
from condal.problems.graphs import is_networkx
from condal.problems.models import Trials, factor_of, leading_factor
from condal.problems.synchronisation import Synchronisation
from condal.result import Result
from condal.runtime.arguments import describe, is_matrix_like, plain_array
from condal.runtime.limits import UNLIMITED, TimeLimit

BATCH = 50  # columns that are iterated together
MAX_POWER_ITERATIONS = 100
MIN_POWER_GAIN = 1e-12  # relative to the value
MODULUS_TOLERANCE = 1e-6  # how far the modulus of a phase may be from 1


@dataclass(frozen=True, eq=False)
class Phases:
    """Complex numbers of modulus 1, determined up to one common factor, with a proved bound.

    Attributes
    ----------
    value : float
        z*C z, the agreement with the measurements.
    bound : float
        A proved upper bound on the value of all phases.
    phases : ndarray of complex
        The phases z.
    """

    value: float
    bound: float
    phases: Any

    @property
    def angles(self) -> Array:
        """The angles of the phases, in (-pi, pi]."""
        return np.asarray(np.angle(self.phases))

    def aligned(self, others: Any) -> Any:
        """Return the phases times the factor that brings them nearest to other phases."""
        turn = np.vdot(self.phases, _phases(others, self.phases.size))
        return self.phases * (turn / abs(turn) if turn else 1.0)

    def error(self, others: Any) -> float:
        r"""Return :math:`\sqrt{\operatorname{mean}_i |z_i - w_i|^2}`, up to a common factor.

        Parameters
        ----------
        others : array_like
            The phases w, or their angles in radians.

        Returns
        -------
        float
            0 for equal phases, at most sqrt(2).
        """
        w = _phases(others, self.phases.size)
        return float(np.sqrt(np.mean(np.abs(self.aligned(w) - w) ** 2)))

    def __repr__(self) -> str:
        return bounded_text(self, f"n={self.phases.size}", up=True)


@dataclass(frozen=True, eq=False, repr=False)
class AngularSynchronisation(Synchronisation[Phases]):
    r"""The semidefinite relaxation of angular synchronisation [1]_.

    .. math::

        \max_x \; \langle C, x \rangle
        \quad \text{subject to} \quad \operatorname{diag} x = 1, \; x \succeq 0 \text{ Hermitian},

    with :math:`C_{ij}` a noisy :math:`\exp(i (t_i - t_j))`. It relaxes: maximise :math:`z^* C z`
    over phases :math:`z`. Its optimum bounds :math:`z^* C z`, and for moderate noise :math:`z z^*`
    is a solution [2]_.

    The candidates of `round` are the phases of the leading eigenvector of x and, for 9 more trials,
    of random combinations of the columns of its factor, each improved by power iterations.
    `angular_synchronisation` builds the model.

    Parameters
    ----------
    C : sparse array
        The Hermitian measurements, with an empty diagonal.

    References
    ----------
    .. [1] A. Singer, "Angular synchronization by eigenvectors and semidefinite programming",
       *Applied and Computational Harmonic Analysis* 30, 2011.
    .. [2] A. S. Bandeira, N. Boumal and A. Singer, "Tightness of the maximum likelihood
       semidefinite relaxation for angular synchronization", *Mathematical Programming* 163, 2017.
    """

    C: Any = field(repr=False)
    name: str = "angular synchronisation"

    most_trials = 10

    def _checked(self, units: Any) -> Any:
        return _phases(units, self.n)

    def _improved(self, columns: Any) -> Any:
        return self._powers(_unit(columns))

    def _rounded(self, x: Point, trials: Trials) -> Any:
        R = factor_of(x)
        real, imaginary = trials.rng.standard_normal((2, R.shape[1], trials.count - 1))
        combinations, best = real + 1j * imaginary, leading_factor(x, 1)
        for batch in replace(trials, count=-(-trials.count // BATCH)):
            columns = R @ combinations[:, BATCH * batch : BATCH * (batch + 1)]
            best = self._best_phases(best, columns, trials.limit)
        return best[:, 0]

    def answer_of(self, found: Any, result: Result) -> Phases:
        return Phases(self.value(found), float(result.bound), found)

    def _best_phases(self, first: Any, others: Any, limit: TimeLimit) -> Any:
        """Return, as a column, the best phases after power iterations from these columns."""
        Z = self._powers(_unit(np.column_stack([first, others])), limit)
        top = int(np.argmax(self._values(Z, self.C @ Z)))
        return Z[:, top : top + 1].copy()

    def _values(self, Z: Any, CZ: Any) -> Array:
        return np.asarray(np.einsum("ij,ij->j", Z.conj(), CZ).real)

    def _powers(self, Z: Any, limit: TimeLimit = UNLIMITED) -> Any:
        """Run generalised power iterations z <- phases of (C + alpha) z, one start per column.

        With alpha = |C|_inf, z*(C + alpha) z is convex, so values never decrease (Boumal 2016).
        """
        alpha = float(abs(self.C).sum(axis=1).max())
        CZ = self.C @ Z
        value = self._values(Z, CZ)
        for _ in range(MAX_POWER_ITERATIONS):
            if limit.is_over():
                break
            Z = _unit(CZ + alpha * Z)
            CZ, before = self.C @ Z, value
            value = self._values(Z, CZ)
            if np.all(value - before <= MIN_POWER_GAIN * np.abs(value)):
                break
        return Z


def angular_synchronisation(
    C: Any, *, name: str = "angular synchronisation"
) -> AngularSynchronisation:
    r"""Return the model of angles from noisy differences of pairs.

    Parameters
    ----------
    C : array or sparse matrix
        Hermitian measurements: :math:`C_{ij}` is near :math:`\exp(i (t_i - t_j))`, or has its phase
        and a modulus that grows with trust; 0 without a measurement. The diagonal is ignored. For
        differences T, pass numpy.exp(1j * T).

    Raises
    ------
    ProblemError
        If C is not Hermitian, holds real differences, or has no measurements.

    Examples
    --------
    >>> import condal, numpy
    >>> angles = numpy.array([0.1, 0.7, 2.0, -1.0])
    >>> differences = angles[:, None] - angles
    >>> model = condal.problems.angular_synchronisation(numpy.exp(1j * differences))
    >>> phases = model.round(condal.solve(model))
    >>> phases.error(angles) < 1e-6
    True
    """
    if is_networkx(C):
        raise ProblemError(
            "C must be a matrix, because an edge of a graph does not say from which end its angle "
            "is measured: pass numpy.exp(1j * T) where there is an edge and 0 elsewhere, with T "
            "the differences, T' = -T; networkx.to_numpy_array(graph) gives the weights"
        )
    if not is_matrix_like(C):
        raise ProblemError(
            f"C must be a SciPy sparse matrix or a NumPy array; got {type(C).__name__}"
        )
    if sp.issparse(C):
        require_sound(C, "C")
    matrix = C if sp.issparse(C) else _numbers(C)
    _refuse_differences(matrix)
    symmetric(matrix, "C")
    measured = sp.coo_array(matrix)
    is_measured = (measured.row != measured.col) & (measured.data != 0)
    if not is_measured.any():
        raise ProblemError("C has no measurements: all angles agree with it equally well")
    places = (measured.row[is_measured], measured.col[is_measured])
    with np.errstate(under="ignore"):
        half = 0.5 * measured.data[is_measured].astype(complex)
    half = sp.csr_array((half, places), measured.shape)
    return AngularSynchronisation(sp.csr_array(half + half.conj().T), name)


def _numbers(C: Any) -> Any:
    """Return C as an array of numbers, also from a table of objects."""
    wanted = "a matrix of numbers, with rows of one length"
    table = plain_array(C, "C", wanted)
    if table.dtype.kind != "O":
        # SciPy takes native byte order only.
        return table.astype(table.dtype.newbyteorder("="), copy=False)
    try:
        table = table.astype(complex)
    except (TypeError, ValueError, OverflowError):
        raise ProblemError(f"C must be {wanted}; got {describe(C)}") from None
    return table if table.imag.any() else table.real


def _refuse_differences(C: Any) -> None:
    """Raise ProblemError for a real C' = -C: angle differences instead of exp(i C)."""
    if len(set(C.shape)) != 1 or len(C.shape) != 2 or C.dtype.kind not in "if" or 0 in C.shape:
        return
    with np.errstate(invalid="ignore"):
        largest, asymmetry = abs(C).max(), abs(C + C.T).max()
    if 0 < largest < np.inf and asymmetry <= 1e-12 * largest:
        raise ProblemError(
            "C holds real differences of angles (C' = -C): pass numpy.exp(1j * C), with 0 where "
            "nothing was measured"
        )


def _unit(Z: Any) -> Any:
    """Return Z divided entrywise by its modulus; 1 for 0."""
    sizes = np.abs(Z)
    return np.where(sizes > 0, Z / np.where(sizes > 0, sizes, 1.0), 1.0)


def _phases(given: Any, n: int) -> Any:
    """Return n phases, given as they are or by their angles."""
    wanted = f"{n} complex numbers of modulus 1, or angles in radians"
    array = plain_array(given, "phases", wanted)
    with np.errstate(invalid="ignore"):
        z = np.exp(1j * array) if array.dtype.kind in "iuf" else array
    off = np.full(z.shape, True)
    if is_complex(z):
        off = ~(np.abs(np.abs(z) - 1.0) <= MODULUS_TOLERANCE)
    if z.shape != (n,) or off.any():
        raise ProblemError(f"wanted {wanted}; got {describe(given, off)}")
    return z / np.abs(z)
