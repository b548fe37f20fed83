"""Proofs that a program is unbounded: a direction inside the cone that the rows do not constrain.

Let Ax be near 0, <c, x> < 0, and x at least d inside the cone. If A has full rank, a correction of
norm |Ax| / s, s its smallest singular value, makes Ax = 0 exactly. If the correction is shorter
than d and leaves <c, .> negative, the corrected direction is a ray: from any solution of Ax = b,
points far enough along the ray are feasible, and the objective is unbounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from condal.driver.solve import solve
from condal.linalg.factorisations import dense_cholesky
from condal.linalg.norms import gamma
from condal.linalg.points import Array, dense
from condal.linalg.rounding import norm_above
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.folded import fold
from condal.problems.conic.program import Block, Program, trace_of
from condal.problems.conic.structure import Shape
from condal.problems.conic.unfolded import blocks_of
from condal.result import Status
from condal.runtime.time_limit import TimeLimit

MAX_DENSE_SIDE = 2000  # of the rows, and of all blocks together
DEPTHS = (0.3, 1e-2, 1e-4)  # of the candidates inside the cone, relative to the trace
RAY_TOL = 1e-6


@dataclass(frozen=True, eq=False)
class Ray:
    """A direction in the program's x along which the minimised objective falls by at least `fall`.

    It is a ray up to a correction, proved to be shorter than `off`, that stays inside the cone.
    """

    x: Array = field(repr=False)
    fall: float
    off: float


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
        x = _candidate(program, depth, max_seconds=each.max_seconds, **limits)
        if x is None:
            continue
        if factor is not None:
            x -= A.T @ cho_solve(factor, A @ x)
        ray = _proved(program, x, least)
        if ray is not None:
            return ray
    return None


def _candidate(program: Program, depth: float, **limits: Any) -> Array | None:
    """Return eps I + X of least objective that the rows do not constrain, with tr X = 1."""
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
    shape = Shape.of(fold(task))
    single = len(shape.maps) == 1
    problem = shape.problem(np.ones(len(shape.maps)), exact=single)
    result = solve(problem, tol=RAY_TOL, **limits)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt  # the interrupt is meant for the whole search
    if result.x is None:
        return None
    Ax = sum(
        A(part) for A, part in zip(shape.maps, (result.x,) if single else result.x, strict=True)
    )
    blocks = blocks_of(shape.folded, result.x, np.asarray(Ax))
    return np.concatenate([np.asarray(dense(block)).ravel() for block in blocks]) + eye


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
