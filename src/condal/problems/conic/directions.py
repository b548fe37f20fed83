"""Directions of the cone: those that no row constrains, and weights of rows that constrain all.

A direction that no row constrains proves that a program is unbounded, beside a feasible point: a
computed one leads to an exact vector of a face near it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.history import Row
from condal.domains.cones import CutOrthant
from condal.domains.product import Product
from condal.driver.solve import solve
from condal.linalg.points import Array, dense
from condal.linalg.rounding import row_squares
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Across
from condal.maps.inner import Inner
from condal.maps.vectors import Matrix
from condal.problem import Problem
from condal.problems.conic.folded import fold
from condal.problems.conic.interior import proved_ray
from condal.problems.conic.program import Program, trace_of
from condal.problems.conic.structure import Shape, blocks_of
from condal.problems.conic.verified import packed, unpacked
from condal.result import Result, Status
from condal.runtime.limits import TimeLimit
from condal.sets.boxes import Box
from condal.sets.cones import SecondOrder
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear
from condal.types import LinearMap, Provable

MAX_DENSE_SIDE = 2000  # of the rows, and of all blocks together
DEPTHS = (0.0, 0.3, 1e-2, 1e-4)  # of the candidates inside the cone, relative to the trace
RAY_TOL = 1e-6
MAX_ITERS = 500  # of a solve that proposes a ray, or a feasible point
SIZE_GUESSES = 1e2, 1e5  # sizes of a feasible point, relative to b
PHASE_ONE_TOL = 1e-9
MIN_DISTANCE = 1e-7  # a smaller minimum counts as 0; rows have norm 1
GOOD_BOUND = 0.5  # fraction of the minimum at which the search for a bound stops


def find_ray(
    program: Program, *, max_seconds: float | None, **limits: Any
) -> tuple[Array, tuple[Array, ...]] | None:
    """Return a ray that the program's own data prove, and points that may be feasible; or None.

    Least directions are tried on the boundary of the cone and inside it: near one of them there
    may be an exact ray of a face.
    """
    limit, form = TimeLimit(max_seconds), program.form
    if max(program.b.size, sum(block.n for block in program.blocks)) > MAX_DENSE_SIDE:
        return None
    limits["max_iters"] = min(limits.get("max_iters") or MAX_ITERS, MAX_ITERS)
    direction = proved_ray(form)
    for done, depth in enumerate(DEPTHS):
        if direction is not None or limit.is_over():
            break
        share = limit.share(1 / (len(DEPTHS) + 1 - done)).max_seconds
        candidate = least_direction(program, depth, max_seconds=share, **limits)
        if candidate is not None:
            direction = proved_ray(form, packed(program, candidate))
    if direction is None:
        return None
    points = _points(program, max_seconds=limit.max_seconds, **limits)
    return unpacked(program, direction), tuple(points)


def _points(program: Program, *, max_seconds: float | None, **limits: Any) -> Iterator[Array]:
    """Yield points that seem to be feasible, of larger and larger traces."""
    limit, size = TimeLimit(max_seconds), point_size(program)
    for trace in (factor * size for factor in SIZE_GUESSES):
        if not limit.is_over():
            task = replace(program, c=sp.csr_array(program.c.shape))
            x = _solution(task, trace, exact=False, max_seconds=limit.max_seconds, **limits)
            yield from () if x is None else (x,)


def point_size(program: Program) -> float:
    """Return the size of a point that satisfies some row, and at least 1."""
    norms = np.sqrt(row_squares(program.A))
    distances = np.abs(program.b) / np.where(norms > 0, norms, 1.0)
    return 1.0 + float(distances.max(initial=0.0))


def least_direction(program: Program, depth: float = 0.0, **limits: Any) -> Array | None:
    """Return eps I + X of least objective that the rows do not constrain, with tr X = 1.

    The trace of eps I is `depth`. None if a solve within the `limits` has no point.
    """
    eye = np.concatenate([trace_of(block) for block in program.blocks])
    A = sp.vstack([program.A, sp.csr_array(eye[None])])
    eye *= depth / float(eye.sum())
    task = Program(
        -program.c if program.maximise else program.c,
        A,
        np.append(-(program.A @ eye), 1.0),
        program.blocks,
        name=f"a ray of {program.name}",
    )
    x = _solution(task, 1.0, exact=True, **limits)
    return None if x is None else x + eye


def _solution(task: Program, trace: float, *, exact: bool, **limits: Any) -> Array | None:
    """Return a solution of a program whose parts have at most this trace; None if there is none."""
    shape = Shape.of(fold(task))
    single = len(shape.maps) == 1
    problem = shape.problem(np.full(len(shape.maps), trace), exact=single and exact)
    result = solve(problem, tol=RAY_TOL, **limits)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the interrupt is meant for the whole search
    if result.x is None:
        return None
    blocks = blocks_of(shape.folded, result.x)
    return np.concatenate([np.asarray(dense(block)).ravel() for block in blocks])


def phase_one_weights(shape: Shape, *, of_objective: bool, **limits: Any) -> Array | None:
    """Return y for `combine`, which proves its bound; None if the minimum of phase one is 0.

        minimise dist_1(A x, K_0) over x in the cone, with trace 1 in total

    where K_0 is the recession cone of K, and rows have norm 1. If the minimum is positive, the
    multipliers y have A'y > 0 on the cone, and they bound the trace of every feasible x. With the
    objective as a row that must not rise, they bound the traces of points of an objective of at
    most any U. At a minimum of 0, x is a direction that the rows do not constrain.
    """
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
            _with_trace(part.kind, part.n, sp.csr_array(_scaled(A, self.scale)), part.trace_places)
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
