"""Repairs: feasible points near nearly feasible ones, so that objective and bound bracket the
optimum.

A problem may bring its own repair. For other semidefinite programs with equations that have sparse
rows, the factor of x = R R' moves to the surface A(R R') = b by Gauss-Newton steps,

    R <- R - J'(J J')^-1 (A(R R') - b),    J D = A(R D' + D R').

Each is a least-squares correction of the factor: x stays psd, and its objective changes by about
the price of the infeasibility. A shift towards an interior point would cost far more. For
diag x = d, to scale the rows of R is enough. If entries are to be 0, as for Lovasz's theta, some
sweeps with a large penalty and one pass that makes rows of R orthogonal cost less than one step.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.points import Array, LowRank, Point, dense, with_diagonal
from condal.problem import Problem
from condal.types import Lifted, Spectral

if TYPE_CHECKING:
    from condal.methods.spheres.forms import ZeroEntries
    from condal.methods.spheres.sweeps import PairSweeps
    from condal.methods.surface.manifold import Surface

MAX_NUMBERS = 2 * 10**7  # of a factor, which is copied some times
MAX_DENSE_SIDE = 2000  # of an x that is stored whole
NEGLIGIBLE = 1e-14  # of the largest eigenvalue of x: not a column of its factor
RANK_THRESHOLD = 1e-8  # of the largest |column|^2 of R: smaller columns do not count
MAX_WORK = 2.0  # times n^3, about a step of a method that stores x whole: one J J' at most
ROOM = 1.2  # times the number of equations: the degrees of freedom that R must have
EXACT = 1e-15  # the residual that is aimed at, on the normalised problem

MIN_SEQUENTIAL_ROWS = 5000  # of R: with fewer, steps are cheap, and lead to a point nearer to x
MIN_SEQUENTIAL_TOL = 1e-3  # for a smaller one x is near the surface: few steps lead there
MAX_NEIGHBOURS = 0.5  # of the rank: the share of the dimensions that neighbours of a row may take
SWEEPS, OMEGA = 5, 1.9  # before rows are made orthogonal
PENALTY = 10.0  # of these sweeps, times the mean of the linear term


class FactorRepair:
    """Moves x to the surface A(R R') = b of its factor R, for a normalised problem.

    `tol` is the tolerance of the solve: for a loose one, a cheap move may do.
    """

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol

    @classmethod
    def of(cls, problem: Problem, tol: float) -> FactorRepair | None:
        """Return the repair of a normalised problem; None if it is not one of a surface."""
        X, fixed = problem.X, problem.h.fixed is not None and problem.A.size > 0
        spectral = isinstance(X, Spectral) and not isinstance(X, Lifted)
        return cls(problem, tol) if spectral and fixed and problem.f.L == 0 else None

    @cached_property
    def _surface(self) -> Surface | None:
        """The surface, if equations with J J' can be solved; made when it is needed first."""
        from condal.methods.surface.equations import cost_of
        from condal.methods.surface.manifold import Surface
        from condal.methods.surface.rows import SurfaceRows

        rows = SurfaceRows.of(self.problem)
        if rows is None or not rows.coupling.sparse:
            return None
        return Surface(rows, cost_of(self.problem))

    @cached_property
    def _diagonal(self) -> Array | None:
        """The diagonal of every feasible x; None if there is none, or no such x is in X."""
        d, X = self.problem.fixed_diagonal, self.problem.X
        assert isinstance(X, Spectral)
        if d is None or (d < 0).any():
            return None
        excess = float(d.sum()) / X.trace - 1.0
        return d if (excess <= EXACT if X.at_most else abs(excess) <= EXACT * d.size) else None

    @cached_property
    def _zero_entries(self) -> tuple[ZeroEntries, PairSweeps] | None:
        """The form and the sweeps of a problem of zero entries; None for any other, a small one, a
        tight tolerance, or entries that are distributed."""
        from condal.methods.spheres.forms import ZeroEntries, form_of
        from condal.methods.spheres.program import WholePairs
        from condal.methods.spheres.sweeps import PairSweeps

        X = self.problem.X
        assert isinstance(X, Spectral)
        cheap = X.n >= MIN_SEQUENTIAL_ROWS and self.tol >= MIN_SEQUENTIAL_TOL
        form = form_of(self.problem) if cheap else None
        if not isinstance(form, ZeroEntries) or not isinstance(form.pairs, WholePairs):
            return None
        sweeps = PairSweeps.of(form.program)
        return None if sweeps is None else (form, sweeps)

    def __call__(self, x: Point, w: Array) -> Point | None:
        """Return a feasible point near x, up to rounding; None if none was found.

        w is the best dual so far.
        """
        if self._diagonal is not None:
            return with_diagonal(x, self._diagonal)
        R = _factor(x)
        if R is None or R.size > MAX_NUMBERS:
            return None
        if self._zero_entries is not None:
            form, sweeps = self._zero_entries
            if sweeps.max_neighbours <= MAX_NEIGHBOURS * R.shape[1]:
                return self._with_zeros(x, w, form, sweeps)
        return self._on_surface(R)

    def _with_zeros(self, x: Point, w: Array, form: ZeroEntries, sweeps: PairSweeps) -> LowRank:
        """Return a point near x whose entries are 0."""
        from condal.methods.spheres.program import WholePairs
        from condal.methods.spheres.sweeps import orthogonalise

        assert isinstance(form.pairs, WholePairs)
        R, z = sweeps.sorted_rows(form.vectors(x)), form.pair_multipliers(x, w)
        penalty = PENALTY * float(np.abs(form.program.linear).mean())
        sweeps.relax(R, z, penalty, sweeps=SWEEPS, omega=OMEGA, curvature=1.0)
        R = sweeps.unsorted_rows(R)
        orthogonalise(R, form.pairs.a, form.pairs.b)
        # Each row at its best length: this changes no zero.
        return form.point(form.vectors(LowRank(R, np.ones(R.shape[1]))))

    def _on_surface(self, R: Array) -> LowRank | None:
        """Return the point of R, moved to the surface."""
        X = self.problem.X
        assert isinstance(X, Spectral)
        if self._surface is None:
            return None
        from condal.methods.surface.equations import point_of_factor

        squares = np.einsum("ij,ij->j", R, R)
        columns = int((squares > RANK_THRESHOLD * squares.max(initial=0.0)).sum())
        rank = min(columns, len(R))  # a sum of rank-one steps may have more columns than rows
        freedom, rows = rank * len(R) - rank * (rank - 1) // 2, self._surface.rows
        if freedom < ROOM * rows.b.size or rows.coupling.pairs * columns > MAX_WORK * X.n**3:
            return None  # J J' is nearly singular, or costs more than the solve
        R = rows.with_slacks(R / np.sqrt(X.trace), least=0.0)
        moved = self._surface.retracted(R, tol=EXACT)
        if moved is None or not np.isfinite(moved).all():
            return None
        return point_of_factor(X, moved[: X.n])


def _factor(x: Any) -> Array | None:
    """Return R with x = R R'; None for an x that is too large to factor."""
    if isinstance(x, LowRank):
        return x.factor()
    if isinstance(x, tuple) or len(x) > MAX_DENSE_SIDE:
        return None
    values, vectors = np.linalg.eigh(dense(x))
    large = values > NEGLIGIBLE * values[-1]
    return np.asarray(vectors[:, large] * np.sqrt(values[large]))
