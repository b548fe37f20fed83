"""Conic problems in whole or dyadic numbers whose status and optimum are known exactly."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import cvxpy as cp
import numpy as np

KINDS = ("optimal", "infeasible", "unbounded")
UNITS = ("none", "powers of two", "millions")
SHORT = 1e-3  # of a value at tol = 1e-4


@dataclass(frozen=True, eq=False)
class Planted:
    """A problem, its status, and its optimum if it has one."""

    problem: cp.Problem
    status: str
    value: float = np.nan


@dataclass
class Count:
    """Of so many problems, how many were answered, how many not proved, and which wrongly."""

    tried: int = 0
    right: int = 0
    short: int = 0
    wrong: list[str] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0


def judged(count: int, first: int = 0, **options: Any) -> Count:
    """The count of problems from the seed `first`, solved by CONDAL."""
    total = Count()
    for seed in range(first, first + count):
        planted, start = plant(seed), time.perf_counter()
        fault, said = trial(planted, **options)
        total.slowest = max(total.slowest, time.perf_counter() - start)
        total.tried += 1
        total.said[f"{planted.status}: {said}"] += 1
        if fault:
            total.wrong.append(f"seed {seed}: {fault}")
        elif said in KINDS:
            total.right += 1
        else:
            total.short += 1
    return total


def trial(planted: Planted, **options: Any) -> tuple[str, str]:
    """What is wrong with the answer, if anything, and its status."""
    from condal.cvxpy import CONDAL

    problem = planted.problem
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(?s).*(inaccurate|infeasible or unbounded)")
            problem.solve(solver=CONDAL(**options))
    except cp.SolverError:
        return "", "no answer"
    said, judgement = problem.status, problem.solver_stats.extra_stats.judgement
    unit = max(1.0, abs(planted.value)) if planted.status == "optimal" else 1.0
    highest = {"optimal": planted.value + 1e-9 * unit, "unbounded": -np.inf, "infeasible": np.inf}
    if judgement.bound > highest[planted.status]:
        return f"bound {judgement.bound}, but {planted.status}, {planted.value}", said
    if said in KINDS and said != planted.status:
        return f"{said}, but {planted.status}", said
    if said == "optimal" and abs(judgement.objective - planted.value) > SHORT * unit:
        return f"optimal, {judgement.objective}, but the optimum is {planted.value}", said
    return "", said


def plant(seed: int) -> Planted:
    """A problem of each status in turn, with cones, free variables and units at random."""
    rng = np.random.default_rng([17, seed])
    status = KINDS[seed % 3]
    cones = _Cones(rng)
    rows = 0 if seed % 11 == 0 and status != "infeasible" else int(rng.integers(1, 6))
    A = rng.integers(-3, 4, (rows, cones.size)).astype(float)
    A *= rng.random(A.shape) < rng.choice([0.5, 1.0])
    loose = rng.random(rows) < 0.3  # inequalities: A v <= b
    build = {"optimal": _optimal, "infeasible": _infeasible, "unbounded": _unbounded}[status]
    A, b, c, value = build(rng, cones, A, loose)
    scale = np.ones(rows)
    units = UNITS[rng.integers(3)]
    if units == "powers of two":
        scale = 2.0 ** rng.integers(-20, 21, rows)
    elif units == "millions":
        scale[rng.random(rows) < 0.7] = 1e6
    A, b = scale[:, None] * A, scale * b
    v = cones.vector
    limits = [A[i] @ v <= b[i] if loose[i] else A[i] @ v == b[i] for i in range(rows)]
    if seed % 7 == 0:
        limits.append(np.zeros(cones.size) @ v == 0)
    problem = cp.Problem(cp.Minimize(c @ v), [*limits, *cones.limits])
    return Planted(problem, status, value)


class _Cones:
    """Variables in cones, as one vector v; matrices by their upper triangles."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.plain = int(rng.integers(0, 5))
        self.free = int(rng.integers(0, 3))
        self.soc = int(rng.integers(0, 2))
        self.side = int(rng.choice([0, 0, 2, 3]))
        if not (self.plain or self.soc or self.side):
            self.plain = 2
        self.pairs = [(i, j) for i in range(self.side) for j in range(i, self.side)]
        self.size = self.plain + self.free + 3 * self.soc + len(self.pairs)
        self.twice = np.ones(self.size)  # <x, z> of matrices counts what is off the diagonal twice
        for k, (i, j) in enumerate(self.pairs):
            self.twice[self.size - len(self.pairs) + k] = 1.0 if i == j else 2.0
        parts: list[Any] = []
        self.limits: list[Any] = []
        if self.plain:
            parts.append(cp.Variable(self.plain))
            self.limits.append(parts[-1] >= 0)
        if self.free:
            parts.append(cp.Variable(self.free))
        if self.soc:
            t = cp.Variable(3)
            parts.append(t)
            self.limits.append(cp.SOC(t[0], t[1:]))
        if self.side:
            X = cp.Variable((self.side, self.side), PSD=True)
            parts += [cp.reshape(X[i, j], (1,), order="F") for i, j in self.pairs]
        self.vector = cp.hstack(parts)

    def pair(self) -> tuple[np.ndarray, np.ndarray]:
        """x and z in the cones with <x, z> = 0; z as a cost."""
        rng = self.rng
        ones = rng.random(self.plain) < 0.5
        x = [rng.integers(0, 5, self.plain) * ones, rng.integers(-3, 4, self.free)]
        z = [rng.integers(0, 5, self.plain) * ~ones, np.zeros(self.free)]
        if self.soc:
            three = np.array([5, *rng.permutation([3, 4])]) * rng.choice([1, 2])
            x.append(three * rng.integers(0, 3))
            z.append(three * [1, -1, -1] * rng.integers(0, 3))
        if self.side:
            L = np.tril(rng.integers(-2, 3, (self.side, self.side)), -1) + np.eye(self.side)
            R = np.round(np.linalg.inv(L)).T
            on = rng.random(self.side) < 0.5
            X = L @ np.diag(on * rng.integers(1, 4, self.side)) @ L.T
            Z = R @ np.diag(~on * rng.integers(1, 4, self.side)) @ R.T
            x.append(np.array([X[i, j] for i, j in self.pairs]))
            z.append(np.array([Z[i, j] for i, j in self.pairs]))
        return np.concatenate(x).astype(float), np.concatenate(z).astype(float) * self.twice

    def inside(self) -> np.ndarray:
        """x inside the cones."""
        rng = self.rng
        x = [rng.integers(1, 5, self.plain), rng.integers(-3, 4, self.free)]
        if self.soc:
            x.append(np.array([6, *rng.integers(-3, 4, 2)]))
        if self.side:
            X = rng.integers(-1, 2, (self.side, self.side))
            X = X + X.T + 7 * np.eye(self.side)
            x.append(np.array([X[i, j] for i, j in self.pairs]))
        return np.concatenate(x).astype(float)


def _optimal(rng, cones, A, loose):
    """c = A'y + z with y <= 0 on inequalities, complementary to x and its slacks."""
    x, z = cones.pair()
    y = rng.integers(-3, 4, len(A)).astype(float)
    y[loose] = -np.abs(y[loose])
    slack = np.where(loose & (y == 0), rng.integers(0, 4, len(A)), 0)
    c = A.T @ y + z
    return A, A @ x + slack, c, float(c @ x)


def _infeasible(rng, cones, A, loose):
    """-A'y = z in the cones, <b, y> > 0, by the choice of the last row."""
    _, z = cones.pair()
    if rng.random() < 0.5:  # inside the dual cone, where nothing is free
        z = cones.inside() * cones.twice
    z[cones.plain : cones.plain + cones.free] = 0.0
    y = rng.integers(-2, 3, len(A)).astype(float)
    y[loose] = -np.abs(y[loose])
    y[-1] = -1.0
    A[-1] = z + A[:-1].T @ y[:-1]
    b = rng.integers(-4, 5, len(A)).astype(float)
    b[-1] = b[:-1] @ y[:-1] - rng.choice([1.0, 3.0, 2.0**-10])
    c = rng.integers(-3, 4, cones.size).astype(float)
    return A, b, c, np.inf


def _unbounded(rng, cones, A, loose):
    """Ad = 0 for a direction of the cones with <c, d> < 0, by the choice of a column and cost."""
    d = cones.pair()[0] if rng.random() < 0.5 else cones.inside()
    j = int(rng.integers(cones.plain + cones.free)) if cones.plain + cones.free else None
    c = rng.integers(-3, 4, cones.size).astype(float)
    if j is None:  # no rows see the diagonal or the first entry, whose direction is the ray
        d = np.zeros(cones.size)
        first = 0
        d[first] = 1.0
        A[:, first] = 0.0
        c[first] = -1.0
    else:
        d[j] = 1.0
        A[:, j] -= A @ d
        c[j] -= c @ d + float(rng.choice([1.0, 2.0]))
    x = cones.inside()
    slack = np.where(loose, rng.integers(0, 4, len(A)), 0)
    return A, A @ x + slack, c, -np.inf
