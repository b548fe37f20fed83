"""A step of the multipliers that raises the dual bound at a fixed R.

The bound b'y + lambda_min(C - A'y), for a trace of 1, has the supergradient b - A(v v') for each
unit eigenvector v of the smallest eigenvalue. At a solution b = A(X), so the step changes S little
in the range of R. Eigenvectors on a few rows of x, where R hardly determines the multipliers, are
lifted by one step each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condal.linalg.points import Array
from condal.methods.surface.newton import SurfacePoint
from condal.methods.surface.oracle import SlackSpectrum, dual_value, slack_of

if TYPE_CHECKING:
    from condal.problem import Problem

LOW_SHARE = 0.1  # of the smallest eigenvalue of S: smaller ones are lifted
LONGEST = 4.0  # times the step that lifts each eigenvalue to 0 by itself
FRACTIONS = tuple(0.5**k for k in range(8))  # of the longest step, that are tried


def dual_step(
    problem: Problem, point: SurfacePoint, spectrum: SlackSpectrum
) -> tuple[Array, float]:
    """Return better multipliers than those of the spectrum, and the gap that they promise.

    The length is the best one on the span of R and of the eigenvectors that are known.
    """
    y, step = spectrum.y, _supergradient(point, spectrum)
    basis = np.linalg.qr(np.hstack([point.axes[0], spectrum.vectors]))[0]
    ends = []
    for end in (y, y + LONGEST * step):
        w, shift, S = slack_of(problem, point, end)
        inside = basis.T @ (S @ basis)
        ends.append((0.5 * (inside + inside.T), dual_value(problem, w, shift, 0.0)))
    (first, near), (last, far) = ends
    values = [
        near + t * (far - near) + np.linalg.eigvalsh(first + t * (last - first))[0]
        for t in FRACTIONS
    ]
    best = int(np.argmax(values))
    moved = y + FRACTIONS[best] * LONGEST * step
    constant = problem.f.value(np.zeros(problem.f.M.size))
    return moved, point.value - point.price_of(moved) + constant - float(values[best])


def _supergradient(point: SurfacePoint, spectrum: SlackSpectrum) -> Array:
    """The sum of b - A(v v') over the low eigenvectors, each as long as it needs by itself."""
    rows, total = point.surface.rows, np.zeros(point.surface.rows.b.size)
    low = spectrum.values < LOW_SHARE * spectrum.values[0]
    closed = np.zeros(rows.bounded.size)
    for value, v in zip(spectrum.values[low], spectrum.vectors[:, low].T, strict=True):
        direction = rows.b - rows.values(rows.joined(v[:, None], closed))
        total -= value / max(float(direction @ direction), 1e-300) * direction
    return total
