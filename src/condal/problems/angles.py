"""Angular synchronisation: angles from noisy differences of pairs of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certify import Certificate, certify
from condal.domains import Hermitian
from condal.errors import ProblemError
from condal.lifting import is_complex
from condal.maps import Diagonal
from condal.points import Array, LowRank, Point, require_whole
from condal.problem import Problem
from condal.problems.answers import point_of
from condal.problems.unit_diagonal import factor_of, leading, unit_diagonal
from condal.result import Result
from condal.sets import Equal
from condal.smooth import Linear
from condal.symmetry import symmetric

POWERS = 100  # iterations at the most
ENOUGH = 1e-12  # of the value: a gain that is none
MODULUS = 1e-6  # how far from 1 that of a phase may be


@dataclass(frozen=True, eq=False)
class Phases:
    """Complex numbers of modulus 1, known up to one factor for all; `value` is z*C z."""

    value: float
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
        return f"Phases(value={self.value:.10g}, {self.phases.size} of them)"


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
        require_whole(trials, "trials")
        require_whole(seed, "seed", least=0)
        x = point_of(result, self.n)
        R, rng = factor_of(x), np.random.default_rng(seed)
        real, imaginary = rng.standard_normal((2, R.shape[1], trials - 1))
        Z = self._powers(_unit(np.column_stack([leading(x, 1), R @ (real + 1j * imaginary)])))
        best = Z[:, int(np.argmax(self._values(Z, self.C @ Z)))].copy()
        return Phases(self.value(best), best)

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
        diagonal says nothing.
    """
    if not (sp.issparse(C) or isinstance(C, np.ndarray | list | tuple)):
        raise ProblemError(
            f"C must be a SciPy sparse matrix or a NumPy array; got {type(C).__name__}"
        )
    given = C if sp.issparse(C) else np.asarray(C)
    symmetric(given, "C")
    measured = sp.coo_array(given)
    kept = (measured.row != measured.col) & (measured.data != 0)
    if not kept.any():
        raise ProblemError("C has no measurements: every choice of angles agrees as well")
    places = (measured.row[kept], measured.col[kept])
    stored = sp.csr_array((measured.data[kept].astype(complex), places), measured.shape)
    return AngularSynchronisation(sp.csr_array(0.5 * (stored + stored.conj().T)), name)


def _unit(Z: Any) -> Any:
    """Z entry by entry over its modulus; 1 for 0."""
    sizes = np.abs(Z)
    return np.where(sizes > 0, Z / np.where(sizes > 0, sizes, 1.0), 1.0)


def _phases(given: Any, n: int) -> Any:
    """n phases, as they are or from their angles."""
    array = np.asarray(given)
    z = array if is_complex(array) else np.exp(1j * array) if array.dtype.kind in "iuf" else array
    wrong = z.shape != (n,) or not is_complex(z)
    if wrong or not np.all(np.abs(np.abs(z) - 1.0) <= MODULUS):
        raise ProblemError(
            f"wanted {n} complex numbers of modulus 1, or angles in radians; got {given!r}"
        )
    return z / np.abs(z)
