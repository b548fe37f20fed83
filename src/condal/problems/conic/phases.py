"""Phase one: weights y of the rows that bound the trace.

    minimise dist_1(A x, K_0) over x in the cone, with trace 1 in total

where K_0 is the recession cone of K, and rows have norm 1. If the minimum is positive, the
multipliers y have A'y > 0 on the cone, and they bound the trace of every feasible x. With the
objective as a row that must not rise, they bound the traces of points of an objective of at most
any U. At a minimum of 0, x is a direction that the rows do not constrain.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.history import Row
from condal.domains.cones import CutOrthant
from condal.domains.product import Product
from condal.driver.solve import solve
from condal.linalg.points import Array
from condal.linalg.rounding import row_squares
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Across
from condal.maps.inner import Inner
from condal.maps.vectors import Matrix
from condal.problem import Problem
from condal.problems.conic.structure import Shape
from condal.problems.conic.summed_rows import trace_places
from condal.result import Result, Status
from condal.sets.boxes import Box
from condal.sets.cones import SecondOrder
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear
from condal.types import LinearMap, Provable

PHASE_ONE_TOL = 1e-9
MIN_DISTANCE = 1e-7  # a smaller minimum counts as 0; rows have norm 1
GOOD_BOUND = 0.5  # fraction of the minimum at which the search for a bound stops


def weights(shape: Shape, *, of_objective: bool, **limits: Any) -> Array | None:
    """Return y for `combine`, which proves its bound; None if the minimum is 0."""
    if not of_objective and not shape.K.size:
        return None
    phase = _Phase(shape, of_objective)
    result = solve(phase.problem, tol=PHASE_ONE_TOL, callback=_enough, **limits)
    enough = len(result.history) > 0 and _enough(result.history.last)
    if result.status is Status.INTERRUPTED and not enough:
        raise KeyboardInterrupt  # the interrupt is meant for the whole search
    if result.x is None or not result.objective > MIN_DISTANCE:
        return None
    return phase.read(result)


def _enough(row: Row) -> bool:
    """Return whether to stop: the bound is good, or there is none."""
    if row.objective <= MIN_DISTANCE:
        return row.infeasibility <= MIN_DISTANCE
    return row.infeasibility <= 1e-3 and row.objective * GOOD_BOUND < row.bound


class _Phase:
    """The problem: parts of trace at most 1, the residuals of the rows, and a row for the trace."""

    def __init__(self, shape: Shape, of_objective: bool) -> None:
        folded = shape.folded
        self.of_objective = of_objective
        stacked = [part.A for part in folded.parts]
        if of_objective:
            stacked = [
                sp.vstack([A, size.c]) for A, size in zip(stacked, folded.parts, strict=True)
            ]
        norms = np.sqrt(sum(row_squares(A) for A in stacked))
        for cone in folded.cones:
            norms[cone] = norms[cone].max()
        self.scale = 1.0 / np.where(norms > 0, norms, 1.0)
        low = np.where(np.isfinite(folded.low), 0.0, -inf)[: folded.bounded]
        high = np.where(np.isfinite(folded.high), 0.0, inf)[: folded.bounded]
        rows: list[Provable] = [Box(low, high)] if low.size else []
        rows += [SecondOrder(cone.stop - cone.start) for cone in folded.cones]
        rows.append(Box([-inf, 1.0], [0.0, 1.0]) if of_objective else Box([1.0], [1.0]))
        size = self.scale.size
        maps: list[LinearMap] = [
            _with_trace(part.kind, part.n, sp.csr_array(_scaled(A, self.scale)), trace_places(part))
            for part, A in zip(folded.parts, stacked, strict=True)
        ]
        eye = sp.eye(size, format="csr")
        residuals = sp.vstack([sp.hstack([-eye, eye]), sp.csr_array((1, 2 * size))])
        costs: list[Any] = [
            Symmetric(part.n) if part.kind == "psd" else np.zeros(part.n) for part in folded.parts
        ]
        X = shape.domain(np.ones(len(folded.parts)))
        parts = X.parts if isinstance(X, Product) else (X,)
        self.problem = Problem.of(
            f=Linear((*costs, np.ones(2 * size))),
            X=Product(*parts, CutOrthant(2 * size, 2.0 * size)),
            A=Across(*maps, Matrix(residuals)),
            K=Separable(*rows),
            name=f"phase one of {folded.program.name}",
        )

    def read(self, result: Result) -> Array | None:
        """Return the multipliers of the folded rows in their units, with 1 for the objective."""
        y = self.scale * result.y[: self.scale.size]
        if not self.of_objective:
            return np.asarray(y)
        return np.asarray(y[:-1] / y[-1]) if y[-1] > 0 else None


def _scaled(A: Any, rows: Array) -> Any:
    return sp.dia_array((rows[None], [0]), (rows.size, rows.size)) @ A


def _with_trace(kind: str, n: int, A: Any, places: Any) -> LinearMap:
    """Return the rows, followed by a row for the trace."""
    zeros = np.zeros(places.size, dtype=np.int64)
    row = sp.csr_array((np.ones(places.size), (zeros, places)), (1, A.shape[1]))
    whole = sp.csr_array(sp.vstack([A, row]))
    return Inner.from_matrix(whole) if kind == "psd" else Matrix(whole)
