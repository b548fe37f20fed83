"""J J' of the surface at a factor R: its assembly, and solutions of its equations."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.linalg.rounding import TINY
from condal.methods.surface.rows import SurfaceRows
from condal.runtime.meter import check_cancelled

MAX_STEPS = 600  # of conjugate gradients
SLOW_STEPS = 200  # of one solution: J J' is then ill-conditioned
MAX_DENSE_ROWS = (
    200  # up to here a spectral decomposition is cheap, and safe where J J' is singular
)
ZERO_EIGENVALUE = 1e-14  # of the largest
TIGHT = 1e-9  # residual of the border, relative to its corner, unless told otherwise
SMALL_DAMPING = 1e-5  # a smaller one changes the border too little to matter
ZERO_PIVOT = 1e-12  # of the largest: smaller ones belong to dependent rows


class Gram:
    """J J' + shift I at R, without the shift for the trace: sparse, bordered by the wide rows.

    Equations are solved by conjugate gradients, preconditioned by blocks (by a spectral
    decomposition for few rows, directly if the narrow rows share no row of x), and by elimination
    of the border, whose residual is tol. `slow` is True once a solution took many steps, `failed`
    once an equation was not solved; those with a damping that matters do not count.
    """

    def __init__(self, rows: SurfaceRows, R: Array, shift: float = 0.0, tol: float = TIGHT) -> None:
        self.rows, self.R, coupling = rows, R, rows.coupling
        self.steps, self.slow, self.failed = 0, False, False
        check_cancelled()
        place, columns, pointers = coupling.pattern
        check_cancelled()
        products = [np.zeros(0)]
        for touches, count in coupling.groups:
            block = (touches @ R[: rows.n]).reshape(-1, count, R.shape[1])
            products.append(np.matmul(block, block.transpose(0, 2, 1)).ravel())
        data: Any = np.bincount(place, 4 * np.concatenate(products), minlength=columns.size)
        data = data.astype(np.float64, copy=False)  # an empty count is of integers
        side = coupling.narrow.size
        squares = np.full(rows.b.size, shift)
        squares[rows.bounded] += 4 * rows.slacks(R) ** 2
        data[coupling.diagonal] += squares[coupling.narrow]
        check_cancelled()
        self.matrix = sp.csr_array((data, columns, pointers), shape=(side, side))
        self._largest = float(self.matrix.diagonal().max(initial=0.0))
        self._damped: tuple[float, Any] = 0.0, None
        check_cancelled()
        self._removed = coupling.removed(R)
        few = side <= MAX_DENSE_ROWS
        whole = self.matrix.toarray() - self._removed @ self._removed.T if few else None
        self._spectrum = None if whole is None else np.linalg.eigh(whole)
        self._diagonal = self.matrix.diagonal() if columns.size == side else None
        self._cores: dict[float, Array] = {}
        wide = rows.wide_products(R)
        last = np.arange(rows.size, rows.b.size)
        self._order = np.concatenate([coupling.narrow, coupling.wide, last])
        images = [2 * rows.along(R, W)[self._order] for W in wide]
        border = np.array(images).reshape(len(wide), rows.b.size).T
        self._border, corner = border[:side], border[side:]
        count = coupling.wide.size
        corner[:count, :count] += shift * np.eye(count)
        self._corner, self._tol = corner, tol
        self._eliminated: dict[float, tuple[Array, Array]] = {}

    @cached_property
    def _inverse(self) -> Any:
        """The preconditioner of J J' of the narrow rows."""
        return self.rows.coupling.schwarz.inverse(self.matrix.data, self.matrix.diagonal())

    @property
    def diagonal(self) -> Array:
        """The diagonal of J J' of the narrow rows, or [1] if there are none."""
        return np.asarray(self.matrix.diagonal()) if self.matrix.shape[0] else np.ones(1)

    def solve(self, z: Array, tol: float, damping: float = 0.0) -> Array:
        """Solve J J' u = z to a relative residual of tol.

        `damping`, relative to the largest diagonal entry, is added to the diagonal of the narrow
        rows: rows that almost vanish at R then get a small u.
        """
        side, absolute = self.rows.coupling.narrow.size, damping * self._largest
        solved, schur = self._elimination(absolute if damping > SMALL_DAMPING else 0.0)
        ordered = z[self._order]
        a = self._conjugate(ordered[:side], tol, absolute)
        t = schur @ (ordered[side:] - self._border.T @ a)
        u = np.empty(z.size)
        u[self._order] = np.concatenate([a - solved @ t, t])
        return u

    def _elimination(self, damping: float) -> tuple[Array, Array]:
        """The solutions for the columns of the border, and the inverse of its Schur complement."""
        if damping in self._eliminated:
            return self._eliminated[damping]
        corner, wide = self._corner, self._border.shape[1]
        # The corner sets the scale: a column that almost vanishes does not matter.
        units = np.sqrt(np.maximum(corner.diagonal(), 0.0)).tolist()
        solutions = [
            self._conjugate(column, self._tol, damping, unit)
            for column, unit in zip(self._border.T, units, strict=True)
        ]
        solved = np.array(solutions).reshape(wide, self._border.shape[0]).T
        schur = corner - self._border.T @ solved
        values, vectors = np.linalg.eigh(0.5 * (schur + schur.T))
        large = values > ZERO_PIVOT * max(float(np.abs(corner).max(initial=0.0)), TINY)
        inverse = (vectors[:, large] / values[large]) @ vectors[:, large].T
        self._eliminated[damping] = solved, inverse
        return solved, inverse

    def _conjugate(self, b: Array, tol: float, damping: float = 0.0, unit: float = 0.0) -> Array:
        """The solution for the narrow rows; the best one found if conjugate gradients break.

        tol is relative to `unit` or to b, whichever is larger in the norm of the inverse.
        """
        check_cancelled()
        if self._spectrum is not None:
            values, vectors = self._spectrum
            large = values > ZERO_EIGENVALUE * self._largest
            scaled = (vectors.T @ b)[large] / (values[large] + damping)
            return np.asarray(vectors[:, large] @ scaled)
        if self._diagonal is not None:
            return self._by_elimination(b, damping)
        damped = damping > SMALL_DAMPING * self._largest
        inverse = self._damped_inverse(damping) if damped else self._inverse
        u, r = np.zeros(b.size), b.copy()
        z = inverse @ r
        rz = float(r @ z)
        scale = max(rz, unit * unit)
        target, p = tol * tol * scale, z.copy()
        for k in range(MAX_STEPS):
            self.slow = self.slow or (k > SLOW_STEPS and not damped)
            if rz <= target:
                return u
            check_cancelled()
            q = self.matrix @ p
            if self._removed.size:
                q -= self._removed @ (self._removed.T @ p)
            if damping:
                q += damping * p
            curvature = float(p @ q)
            self.steps += 1
            if not curvature > 0:
                break
            t = rz / curvature
            u += t * p
            r -= t * q
            z = inverse @ r
            rz, before = float(r @ z), rz
            p *= rz / before
            p += z
        self.failed = self.failed or (rz > 1e-6 * scale and not damped)
        return u

    def _damped_inverse(self, damping: float) -> Any:
        """Return the preconditioner of J J' + damping I."""
        if self._damped[0] != damping:
            coupling, data = self.rows.coupling, self.matrix.data.copy()
            data[coupling.diagonal] += damping
            inverse = coupling.schwarz.inverse(data, self.matrix.diagonal() + damping)
            self._damped = damping, inverse
        return self._damped[1]

    def _by_elimination(self, b: Array, damping: float) -> Array:
        """The solution where J J' of the narrow rows is diagonal but for what is removed.

        With D the diagonal and B B' the rest, (D - B B')^-1 = D^-1 + F (I - B'F)^-1 F', F = D^-1 B.
        """
        assert self._diagonal is not None
        least = max(ZERO_EIGENVALUE * self._largest, TINY)
        z = b / np.maximum(self._diagonal + damping, least)
        if not self._removed.size:
            return np.asarray(z)
        if damping not in self._cores:
            D = np.maximum(self._diagonal + damping, least)
            F = self._removed / D[:, None]
            values, vectors = np.linalg.eigh(np.eye(F.shape[1]) - self._removed.T @ F)
            large = values > ZERO_PIVOT
            self._cores[damping] = F @ ((vectors[:, large] / values[large]) @ vectors[:, large].T)
        return np.asarray(z + self._cores[damping] @ (self._removed.T @ z))
