"""Angular synchronisation: angles from noisy differences of pairs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.certificate import Certificate, certify
from condal.domains.lifted import Hermitian
from condal.errors import ProblemError
from condal.linalg.lifting import is_complex
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.sparse import require_sound
from condal.linalg.symmetrize import symmetric
from condal.maps.entries import Diagonal
from condal.problem import Problem
from condal.problems.answers import generator, point_of
from condal.problems.factors import factor_of, leading
from condal.problems.graphs import is_networkx
from condal.problems.inputs import array_of, described, stored
from condal.problems.unit_diagonal import unit_diagonal
from condal.result import Result
from condal.sets.boxes import Equal
from condal.smooth.linear import Linear

POWERS = 100  # iterations at the most
ENOUGH = 1e-12  # of the value: a gain that is none
MODULUS = 1e-6  # how far from 1 that of a phase may be


@dataclass(frozen=True, eq=False)
class Phases:
    """Complex numbers of modulus 1, known up to one factor for all; `value` is z*C z.

    No phases have a value above `bound`, which is proved.
    """

    value: float
    bound: float
    phases: Any

    @property
    def angles(self) -> Array:
        """Those of the phases, in (-pi, pi]."""
        return np.asarray(np.angle(self.phases))

    def aligned(self, others: Any) -> Any:
        """The phases times the factor that brings them nearest to others."""
        turn = np.vdot(self.phases, _phases(others, self.phases.size))
        return self.phases * (turn / abs(turn) if turn else 1.0)

    def error(self, others: Any) -> float:
        """The root of the mean |z_i - w_i|^2, up to a common factor: 0 for the same, at most
        sqrt(2). The others are phases, or angles in radians."""
        w = _phases(others, self.phases.size)
        return float(np.sqrt(np.mean(np.abs(self.aligned(w) - w) ** 2)))

    def __repr__(self) -> str:
        return (
            f"Phases(value={self.value:.10g}, none is above {self.bound:.10g}, "
            f"{self.phases.size} of them)"
        )


@dataclass(frozen=True, eq=False)
class AngularSynchronisation:
    """maximise <C, x> subject to diag x = 1, x Hermitian psd: C_ij a noisy exp(i (t_i - t_j)).

    The relaxation of: maximise z*C z over phases z. Its value bounds z*C z for all of them, and
    where the noise is moderate, a solution is z z* itself (Singer 2011; Bandeira, Boumal and Singer
    2017).
    """

    C: Any = field(repr=False)
    name: str = "angular synchronisation"

    @property
    def n(self) -> int:
        """How many angles."""
        return int(self.C.shape[0])

    @cached_property
    def problem(self) -> Problem:
        """The relaxation, with tr x = n as its domain."""
        return Problem.of(
            f=Linear(self.C),
            X=Hermitian(self.n, trace=float(self.n)),
            A=Diagonal(self.n, hermitian=True),
            K=Equal(np.ones(self.n)),
            maximise=True,
            repair=unit_diagonal,
            propose=self.propose,
            name=self.name,
        )

    def propose(self, x: Point) -> tuple[Any, Array]:
        """z z* for the phases of the leading eigenvector of x, and the dual that belongs to it."""
        z = self._powers(_unit(leading(x, 1)))[:, 0]
        return LowRank(z[:, None], np.ones(1)), self.dual(z)

    def dual(self, phases: Any) -> Array:
        """y = Re(conj(z) * C z), which proves z z* optimal if Diag(y) - C is psd."""
        z = _phases(phases, self.n)
        return np.asarray((z.conj() * (self.C @ z)).real)

    def value(self, phases: Any) -> float:
        """z*C z: how well the phases, or angles, agree with the measurements."""
        z = _phases(phases, self.n)
        return float(np.vdot(z, self.C @ z).real)

    def certificate(self, phases: Any) -> Certificate:
        """What the phases prove of themselves, by their own dual: a gap of 0 if none are better.

        It needs no solve. Beyond the noise up to which the relaxation is exact, its bound may be
        far above that of a Result.
        """
        z = _phases(phases, self.n)
        return certify(self, LowRank(z[:, None], np.ones(1)), self.dual(z))

    def round(self, result: Result, *, trials: int = 10, seed: int = 0) -> Phases:
        """The phases of the leading eigenvector of x, or of the best of `trials` - 1 random
        combinations of its factor, each improved by power iterations."""
        rng, x = generator(trials, seed), point_of(result, self.n)
        R = factor_of(x)
        real, imaginary = rng.standard_normal((2, R.shape[1], trials - 1))
        Z = self._powers(_unit(np.column_stack([leading(x, 1), R @ (real + 1j * imaginary)])))
        best = Z[:, int(np.argmax(self._values(Z, self.C @ Z)))].copy()
        return Phases(self.value(best), float(result.bound), best)

    def _values(self, Z: Any, CZ: Any) -> Array:
        return np.asarray(np.einsum("ij,ij->j", Z.conj(), CZ).real)

    def _powers(self, Z: Any) -> Any:
        """Generalised power iterations, a column a start: z <- the phases of (C + alpha) z.

        z*(C + alpha) z is convex for an alpha of |C|_inf, so that they never lose (Boumal 2016).
        """
        alpha = float(abs(self.C).sum(axis=1).max())
        CZ = self.C @ Z
        value = self._values(Z, CZ)
        for _ in range(POWERS):
            Z = _unit(CZ + alpha * Z)
            CZ, before = self.C @ Z, value
            value = self._values(Z, CZ)
            if np.all(value - before <= ENOUGH * np.abs(value)):
                break
        return Z


def angular_synchronisation(
    C: Any, *, name: str = "angular synchronisation"
) -> AngularSynchronisation:
    """The model of angles from noisy differences of pairs of them.

    Parameters
    ----------
    C : a Hermitian matrix, sparse or dense: C_ij is near exp(i (t_i - t_j)), or larger the more it
        is trusted, and C_ji its conjugate; 0 where nothing was measured. What stands on the
        diagonal says nothing. Of differences t_i - t_j it is numpy.exp(1j * differences).
    """
    if is_networkx(C):
        raise ProblemError(
            "C must be a matrix, for an edge of a graph does not say from which end its angle is "
            "measured: pass numpy.exp(1j * T) where there is an edge and 0 elsewhere, with T the "
            "differences, T' = -T; networkx.to_numpy_array(graph) gives the weights"
        )
    if not stored(C):
        raise ProblemError(
            f"C must be a SciPy sparse matrix or a NumPy array; got {type(C).__name__}"
        )
    if sp.issparse(C):
        require_sound(C, "C")
    given = C if sp.issparse(C) else _numbers(C)
    _refuse_differences(given)
    symmetric(given, "C")
    measured = sp.coo_array(given)
    kept = (measured.row != measured.col) & (measured.data != 0)
    if not kept.any():
        raise ProblemError("C has no measurements: every choice of angles agrees as well")
    places = (measured.row[kept], measured.col[kept])
    half = sp.csr_array((0.5 * measured.data[kept].astype(complex), places), measured.shape)
    return AngularSynchronisation(sp.csr_array(half + half.conj().T), name)


def _numbers(C: Any) -> Any:
    """C as an array; of a table of objects, of the numbers that they are."""
    wanted = "a matrix of numbers, with rows of one length"
    found = array_of(C, "C", wanted)
    if found.dtype.kind != "O":
        return found.astype(found.dtype.newbyteorder("="), copy=False)  # SciPy knows no other
    try:
        found = found.astype(complex)
    except (TypeError, ValueError, OverflowError):
        raise ProblemError(f"C must be {wanted}; got {described(C)}") from None
    return found if found.imag.any() else found.real


def _refuse_differences(C: Any) -> None:
    """ProblemError for a real C' = -C: differences themselves, where exp(i C) is wanted."""
    if len(set(C.shape)) != 1 or len(C.shape) != 2 or C.dtype.kind not in "if" or 0 in C.shape:
        return
    with np.errstate(invalid="ignore"):
        size, apart = abs(C).max(), abs(C + C.T).max()
    if 0 < size < np.inf and apart <= 1e-12 * size:
        raise ProblemError(
            "C holds real differences of angles (C' = -C): pass numpy.exp(1j * C), with 0 where "
            "nothing was measured"
        )


def _unit(Z: Any) -> Any:
    """Z entry by entry over its modulus; 1 for 0."""
    sizes = np.abs(Z)
    return np.where(sizes > 0, Z / np.where(sizes > 0, sizes, 1.0), 1.0)


def _phases(given: Any, n: int) -> Any:
    """n phases, as they are or from their angles."""
    wanted = f"{n} complex numbers of modulus 1, or angles in radians"
    array = array_of(given, "phases", wanted)
    with np.errstate(invalid="ignore"):
        z = np.exp(1j * array) if array.dtype.kind in "iuf" else array
    off = np.full(z.shape, True) if not is_complex(z) else ~(np.abs(np.abs(z) - 1.0) <= MODULUS)
    if z.shape != (n,) or off.any():
        raise ProblemError(f"wanted {wanted}; got {described(given, off)}")
    return z / np.abs(z)
