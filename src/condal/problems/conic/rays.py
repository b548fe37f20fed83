"""Proofs that a program is unbounded: a direction of the cone that the rows do not constrain.

Let Ax be near 0, <c, x> < 0, and x at least d inside the cone. If A has full rank, a correction of
norm |Ax| / s, s its smallest singular value, makes Ax = 0 exactly. If the correction is shorter
than d and leaves <c, .> negative, the corrected direction is a ray: from any solution of Ax = b,
points far enough along the ray are feasible, and the objective is unbounded.

A ray on the boundary of the cone is found as an exact vector of a face near a computed one. It
needs a feasible point of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from condal.driver.solve import solve
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.points import Array, dense
from condal.linalg.rounding import gamma, norm_above, row_squares
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.folded import fold
from condal.problems.conic.interior import proved_ray
from condal.problems.conic.program import Block, Program, trace_of
from condal.problems.conic.structure import Shape, blocks_of
from condal.problems.conic.verified import packed, unpacked
from condal.result import Status
from condal.runtime.time_limit import TimeLimit

MAX_DENSE_SIDE = 2000  # of the rows, and of all blocks together
DEPTHS = (0.3, 1e-2, 1e-4)  # of the candidates inside the cone, relative to the trace
RAY_TOL = 1e-6
BOUNDARY_ITERS = 500  # of a solve that proposes a ray on the boundary, or a feasible point
SIZE_GUESSES = 1e2, 1e5  # sizes of a feasible point, relative to b


@dataclass(frozen=True, eq=False)
class Ray:
    """A direction in the program's x along which the minimised objective falls by at least `fall`.

    It is a ray up to a correction, proved to be shorter than `off`, that stays inside the cone. A
    feasible point is near one of the `points`, or far along a ray that is inside the cone.
    """

    x: Array = field(repr=False)
    fall: float
    off: float
    points: tuple[Array, ...] = field(default=(), repr=False)


def find_ray(program: Program, *, max_seconds: float | None, **limits: Any) -> Ray | None:
    """Return a proved ray; None if none was found within max_seconds in total."""
    limit = TimeLimit(max_seconds)
    if max(program.b.size, sum(block.n for block in program.blocks)) > MAX_DENSE_SIDE:
        return None
    A = program.A
    gram = (A @ A.T).toarray()
    least = _smallest(0.5 * (gram + gram.T)) if gram.size else np.inf
    if least is not None:
        least -= gamma(A.shape[1] + 4) * float(np.trace(gram))
    if least is None or least <= 0:
        return None
    factor = cho_factor(gram) if gram.size else None
    for done, depth in enumerate(DEPTHS):
        if limit.is_over():
            return None
        each = limit.share(1 / (len(DEPTHS) - done))
        x = least_direction(program, depth, max_seconds=each.max_seconds, **limits)
        if x is None:
            continue
        if factor is not None:
            x -= A.T @ cho_solve(factor, A @ x)
        ray = _proved(program, x, least)
        if ray is not None:
            return ray
    return None


def find_boundary_ray(program: Program, *, max_seconds: float | None, **limits: Any) -> Ray | None:
    """Return a proved ray on the boundary of the cone; None if none was found."""
    limit, form = TimeLimit(max_seconds), program.form
    limits["max_iters"] = min(limits.get("max_iters") or BOUNDARY_ITERS, BOUNDARY_ITERS)
    direction = proved_ray(form)
    if direction is None:
        share = limit.share(0.5).max_seconds
        candidate = least_direction(program, max_seconds=share, **limits)
        if candidate is not None:
            direction = proved_ray(form, packed(program, candidate))
    if direction is None:
        return None
    x = unpacked(program, direction)
    points = tuple(_points(program, max_seconds=limit.max_seconds, **limits))
    return Ray(x, -float(form.c @ direction), 0.0, points)


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


def _proved(program: Program, x: Array, least: float) -> Ray | None:
    """Return the ray near x if the necessary correction is proved to be short enough."""
    A, c = program.A, program.c.toarray().ravel() * (-1.0 if program.maximise else 1.0)
    longest = int(np.diff(A.indptr).max(initial=0))
    rows = norm_above(A.data)
    residual = norm_above(A @ x) + gamma(longest + 4) * rows * norm_above(x)
    # A matrix is symmetrised before its depth is computed, which rounds each entry once.
    off = residual / float(np.sqrt(least)) * (1 + 1e-12) + gamma(2) * norm_above(x)
    depth = min(_depth(block, x[program.place(j)]) for j, block in enumerate(program.blocks))
    rounding = gamma(c.size + 4) * float(np.abs(c) @ np.abs(x))
    slope = float(c @ x) + rounding + norm_above(c) * off
    return Ray(x, -slope, off) if off < depth and slope < 0 else None


def _depth(block: Block, x: Array) -> float:
    """Return a proved lower bound on the depth of x inside the cone."""
    if block.kind == "orthant":
        return float(x.min())
    if block.kind == "second-order":
        return float(x[0] - norm_above(x[1:])) / 1.5
    full = x.reshape(block.n, block.n)
    return _smallest(0.5 * (full + full.T)) or -np.inf


def _smallest(full: Any) -> float | None:
    """Return a proved lower bound on the smallest eigenvalue if it is positive; else None."""
    estimate = float(np.linalg.eigvalsh(full)[0])
    proof = dense_cholesky(Symmetric(len(full), dense=full), 0.5 * estimate)
    return None if proof is None or estimate <= 0 else proof.value
