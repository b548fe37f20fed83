"""Anderson acceleration of a fixed-point iteration u <- T(u) from its previous steps.

With F(u) = T(u) - u, the next point is T(u) - sum_i g_i (T(u_i+1) - T(u_i)), where g minimises
|F(u) - sum_i g_i (F(u_i+1) - F(u_i))|: exact for a linear T after as many steps as T has distinct
eigenvalues (Walker and Ni 2011). The caller must test each accelerated step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np
from scipy.linalg.blas import daxpy

from condal.linalg.blocked import block_slices
from condal.linalg.points import Array

MEMORY = 10
RIDGE = 1e-8  # of the Gram matrix of the differences
MAX_COEFFICIENTS = 1e4  # |g| above which the differences are nearly dependent


@dataclass(frozen=True, eq=False)
class Anderson:
    """T(u) and F(u) of the last u, and the last differences of each, the oldest first.

    `gram` holds the inner products of the differences of F, `along` those of F(u) with them.
    """

    image: Array | None = None
    residual: Array | None = None
    images: tuple[Array, ...] = ()
    residuals: tuple[Array, ...] = ()
    gram: Array | None = None
    along: Array | None = None
    memory: int = MEMORY

    def restarted(self) -> Anderson:
        """Return the record without any step."""
        return Anderson(memory=self.memory)

    @property
    def change(self) -> float:
        """|F(u) - F(u')| of the last two u; infinite with fewer."""
        return inf if self.gram is None else sqrt(max(float(self.gram[-1, -1]), 0.0))

    def after(self, image: Array, residual: Array) -> Anderson:
        """Return the record with T(u) and F(u) of one more u; neither is copied."""
        if self.image is None or self.residual is None:
            return replace(self, image=image, residual=residual)
        newest = residual - self.residual
        images = (*self.images, image - self.image)[-self.memory :]
        residuals = (*self.residuals, newest)[-self.memory :]
        products = np.array([newest @ d for d in residuals])
        size = len(residuals)
        gram = np.empty((size, size))
        if self.gram is not None and size > 1:
            gram[:-1, :-1] = self.gram[-(size - 1) :, -(size - 1) :]
        gram[-1] = gram[:, -1] = products
        along = np.full(size, residual @ newest)
        if self.along is not None and size > 1:  # F(u) has changed by the newest difference
            along[:-1] = self.along[-(size - 1) :] + products[:-1]
        return Anderson(image, residual, images, residuals, gram, along, self.memory)

    def next(self) -> Array | None:
        """Return the next u; None without enough previous steps."""
        if self.gram is None or len(self.gram) < 2 or self.image is None or self.along is None:
            return None
        size = float(np.trace(self.gram))
        if not size > 0:
            return None
        unit = self.gram / size  # no ridge of a unit matrix underflows
        ridged = unit + RIDGE * np.diag(np.diagonal(unit)) + 1e-14 * np.eye(len(unit))
        g = np.linalg.solve(ridged, self.along / size)
        if not np.linalg.norm(g) < MAX_COEFFICIENTS:
            return None
        u = self.image.copy()
        for block in block_slices(u.size):
            part = u[block]
            for weight, change in zip(g, self.images, strict=True):
                daxpy(change[block], part, a=-weight)
        return u
