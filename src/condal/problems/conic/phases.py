"""Phase one: weights y of the rows that bound the trace, or a direction in which nothing does.

    minimise dist_1(A x, K_0) over x in the cone, the trace of all parts 1

with K_0 the directions in which K goes on for ever, and rows of length 1. Where the minimum is
positive, the multipliers y have A'y > 0 on the cone: every feasible x has a trace bounded by them.
With the objective as a row that must not rise, they bound the traces of points of an objective of
at most any U. A minimum of 0 has a direction x that the rows do not see.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains import CutOrthant, Product
from condal.driver.solve import solve
from condal.linalg.norms import row_squares
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.maps import Across, Inner, Matrix
from condal.problem import Problem
from condal.problems.conic.exact import trace_places
from condal.problems.conic.structure import Shape
from condal.result import Result, Row, Status
from condal.sets import Box, SecondOrder, Separable
from condal.smooth import Linear
from condal.types import LinearMap, Provable

TOL = 1e-9
ZERO = 1e-7  # of the rows' lengths: a minimum below it is none
GOOD = 0.5  # of the minimum: a bound of so much is worth no more work


def weights(
    shape: Shape, *, of_objective: bool, seed: int, max_seconds: float | None
) -> Array | None:
    """y for `combine`, which proves what it is worth; None if the minimum is 0."""
    if not of_objective and not shape.K.size:
        return None
    phase = _Phase(shape, of_objective)
    result = solve(phase.problem, tol=TOL, seed=seed, max_seconds=max_seconds, callback=_enough)
    enough = len(result.history) > 0 and _enough(result.history.last)
    if result.status is Status.INTERRUPTED and not enough:
        raise KeyboardInterrupt  # it is for the whole search
    if result.x is None or not result.objective > ZERO:
        return None
    return phase.read(result)


def _enough(row: Row) -> bool:
    """Whether to stop: the bound is good, or there is none to find."""
    if row.objective <= ZERO:
        return row.infeasibility <= ZERO
    return row.infeasibility <= 1e-3 and row.objective * GOOD < row.bound


class _Phase:
    """The problem: the parts with a trace of at most 1, what the rows miss, a row for the trace."""

    def __init__(self, shape: Shape, of_objective: bool) -> None:
        folded = shape.folded
        self.of_objective = of_objective
        stacked = [part.A for part in folded.parts]
        if of_objective:
            stacked = [sp.vstack([A, p.c]) for A, p in zip(stacked, folded.parts, strict=True)]
        norms = np.sqrt(sum(row_squares(A) for A in stacked))
        for here in folded.cones:
            norms[here] = norms[here].max()
        self.scale = 1.0 / np.where(norms > 0, norms, 1.0)
        low = np.where(np.isfinite(folded.low), 0.0, -inf)[: folded.bounded]
        high = np.where(np.isfinite(folded.high), 0.0, inf)[: folded.bounded]
        rows: list[Provable] = [Box(low, high)] if low.size else []
        rows += [SecondOrder(here.stop - here.start) for here in folded.cones]
        rows.append(Box([-inf, 1.0], [0.0, 1.0]) if of_objective else Box([1.0], [1.0]))
        p = self.scale.size
        maps: list[LinearMap] = [
            _with_trace(part.kind, part.n, sp.csr_array(_scaled(A, self.scale)), trace_places(part))
            for part, A in zip(folded.parts, stacked, strict=True)
        ]
        eye = sp.eye(p, format="csr")
        missed = sp.vstack([sp.hstack([-eye, eye]), sp.csr_array((1, 2 * p))])
        costs: list[Any] = [
            Symmetric(part.n) if part.kind == "psd" else np.zeros(part.n) for part in folded.parts
        ]
        X = shape.domain(np.ones(len(folded.parts)))
        parts = X.parts if isinstance(X, Product) else (X,)
        self.problem = Problem.of(
            f=Linear((*costs, np.ones(2 * p))),
            X=Product(*parts, CutOrthant(2 * p, 2.0 * p)),
            A=Across(*maps, Matrix(missed)),
            K=Separable(*rows),
            name=f"phase one of {folded.program.name}",
        )

    def read(self, result: Result) -> Array | None:
        """The multipliers of the program's folded rows, in their units, the objective's being 1."""
        y = self.scale * result.y[: self.scale.size]
        if not self.of_objective:
            return np.asarray(y)
        return np.asarray(y[:-1] / y[-1]) if y[-1] > 0 else None


def _scaled(A: Any, rows: Array) -> Any:
    return sp.dia_array((rows[None], [0]), (rows.size, rows.size)) @ A


def _with_trace(kind: str, n: int, A: Any, places: Any) -> LinearMap:
    """The rows, and one more: the trace."""
    zeros = np.zeros(places.size, dtype=np.int64)
    row = sp.csr_array((np.ones(places.size), (zeros, places)), (1, A.shape[1]))
    whole = sp.csr_array(sp.vstack([A, row]))
    return Inner.from_matrix(whole) if kind == "psd" else Matrix(whole)
