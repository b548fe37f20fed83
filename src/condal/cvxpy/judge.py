"""The judge: verdicts about a cone program, proved on the data as CVXPY hands them over.

    minimise <c, x>, Ax + s = b, s in K        and        maximise -<b, z>, A'z = -c, z in K*

A convex quadratic term 1/2 <x, Px> is bounded by its tangent at any x: the dual is then to maximise
-<b, z> - 1/2 <x, Px>, Px + A'z = -c, and x is part of its vector.

Elimination, scaling and solvers propose x, z and rays. `condal.certificates.conic` proves that
exact vectors exist near them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.certificates.certificate import Certificate
from condal.certificates.cones import Cone, ConicForm
from condal.certificates.inner import inner_value, lifted, nearby_value
from condal.certificates.judge import Ending
from condal.certificates.proposals import proved_value
from condal.cvxpy.forms import CvxpyProblem, Pair
from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.problem import gap_unit
from condal.problems.conic.interior import (
    ending_along,
    interior_point,
    separator_of,
)

ROUNDED_ZERO = 1e-18  # relative to the data: smaller objectives count as 0
LIFT = 0.2  # of the allowed gap that a bound may lose to a proof inside the cones
WITHOUT = "an exact dual near the proposed one, without assumptions"
WITHIN = "an exact dual near the proposed one, for points within the given trace bound"
BY_ROOT = "an exact dual near the proposed one, trusting a rounded root of the quadratic objective"
NO_BOUND = "no dual near the proposed one is proved feasible"


@dataclass(frozen=True, eq=False)
class Judge:
    """The cone program of a CVXPY problem and its dual, as forms that proofs take.

    `how` says what its bounds assume.
    """

    problem: CvxpyProblem
    how: str = WITHOUT
    last: dict[tuple[Any, ...], Certificate] = field(default_factory=dict, repr=False)

    @cached_property
    def dual(self) -> ConicForm:
        """minimise <b, z> subject to A'z = -c, z in K* and free in the rows of equations.

        With P, x stands before z.
        """
        form, P = self._separators, self.problem.P
        if P is None:
            return form
        (n, m), rows = form.A.shape, self.problem.structure.dual_rows
        indptr = np.append(P.indptr, np.full(m, P.nnz))
        curvature = sp.csr_array((P.data, P.indices, indptr), (n + m, n + m))
        costs, cones = np.concatenate([np.zeros(n), form.c]), (Cone("free", n), *form.cones)
        return ConicForm(costs, rows.A, form.b, cones, curvature, rows)

    @cached_property
    def _separators(self) -> ConicForm:
        """The dual without P, whose rays separate."""
        problem, rows = self.problem, self.problem.structure.separators
        free = Cone("free", problem.layout.zero)
        cones = (cone.dual for cone in problem.layout.cones)
        return ConicForm(problem.b, rows.A, -problem.c, (free, *cones), None, rows)

    @cached_property
    def primal(self) -> ConicForm:
        """minimise <c, x> subject to Ax + s = b, s in K: x is free, equations have no s."""
        A, layout = self.problem.A, self.problem.layout
        m, n = A.shape
        slack = sp.eye_array(m, m - layout.zero, k=-layout.zero, format="csr")
        c = np.concatenate([self.problem.c, np.zeros(m - layout.zero)])
        A = sp.csr_array(sp.hstack([A, slack])) if m > layout.zero else sp.csr_array(A)
        P, k = self.problem.P, A.shape[1] - n
        P = None if P is None else sp.csr_array(sp.block_diag([P, sp.csr_array((k, k))]))
        return ConicForm(c, A, self.problem.b, (Cone("free", n), *layout.cones), P)

    # ---- optimal -----------------------------------------------------------------------------

    def judge(
        self,
        pair: Pair,
        tol: float,
        trace_bound: float | None = None,
        inner: Pair | None = None,
    ) -> Certificate:
        """Return what is proved about x and z; the last judgement is remembered.

        `inner` is a z deep inside its cone with the x of its tangent, if they are known.
        """
        key = pair.x.tobytes(), pair.z.tobytes(), tol, trace_bound
        if key not in self.last:
            self.last.clear()
            self.last[key] = self._judged(pair, tol, trace_bound, inner)
        return self.last[key]

    def _judged(
        self, pair: Pair, tol: float, trace_bound: float | None, inner: Pair | None
    ) -> Certificate:
        x = pair.x
        objective = self.problem.value(x)
        unit = self._unit(pair, objective)
        enough = objective - tol * unit
        bound = -inf
        if inner is None and self.problem.structure.convex:  # a solver left z inside its cone
            bound = -nearby_value(self.dual, self._point(*pair))
        if bound < enough:
            bound = max(bound, self._deep_bound(pair, tol * unit, inner))
        if bound < enough:
            bound = max(bound, self.bound(pair.z, enough, x))
        violations = self.problem.layout.distances(self.problem.b - self.problem.A @ x)
        # The dual that proves the bound lies near z: its price is at least what the bound exceeds.
        price = max(self._price(violations, pair.z), bound - objective) / unit
        infeasibility = self._infeasibility(violations)
        how = self.how if bound > -inf else NO_BOUND
        judged = Certificate(objective, bound, infeasibility, how, price=price, unit=unit)
        if trace_bound is not None and not judged.within(tol):
            bound = self.bound_within(pair.z, trace_bound, enough)
            limited = replace(judged, bound=bound, how=WITHIN)
            if limited.gap < judged.gap:
                return limited
        return judged

    def _unit(self, pair: Pair, objective: float) -> float:
        """Return what tol is relative to, if x and z have about the sizes of a solution.

        A quadratic objective may be flat at a solution that fits its data exactly: how large it is
        at other points of this size counts as well.
        """
        slope, P = self.problem.gradient(pair.x), self.problem.P
        norms = [stable_norm(v) for v in (slope, pair.x, self.problem.b, pair.z)]
        reach = norms[0] * norms[1] + norms[2] * norms[3]
        reach += 0.0 if P is None else 0.5 * stable_norm(P.data) * norms[1] ** 2
        if reach <= ROUNDED_ZERO * (norms[0] + norms[2]):  # a solution of 0, rounded
            return 1.0
        return gap_unit(objective, reach)

    def bound(self, z: Array, enough: float = inf, x: Array | None = None) -> float:
        """Return the best lower bound that is proved near z; -inf if there is none.

        With P, x is where the tangent of the objective touches it.
        """
        if not self.problem.structure.convex:
            return -inf
        return -proved_value(self.dual, self._point(x, z), lambda: self._inner_dual, -enough)[0]

    def _point(self, x: Array | None, z: Array) -> Array:
        """Return the vector of the dual."""
        if self.problem.P is None:
            return z
        assert x is not None
        return np.concatenate([x, z])

    def _deep_bound(self, pair: Pair, allowed: float, inner: Pair | None = None) -> float:
        """Return the bound that is proved inside the cone, near z; it loses less than `allowed`.

        z moves towards `inner`, or to about the central point whose gap is a share of `allowed`.
        """
        if not self.problem.structure.convex:
            return -inf
        x, z, form, share = pair.x, pair.z, self.dual, LIFT * allowed
        if inner is not None:
            loss = self._dual_value(pair) - self._dual_value(inner)
            part = min(1.0, share / loss if loss > 0 else 1.0)
            x, z = x + part * (inner.x - x), z + part * (inner.z - z)
        z = self._point(x, z)
        if inner is None:
            s = self.problem.b - self.problem.A @ x
            s = np.concatenate([np.zeros(z.size - s.size), s])
            z = lifted(form, z, s, share / max(self.problem.layout.degree, 1))
        return -inner_value(form, z)[0]

    def _dual_value(self, pair: Pair) -> float:
        """Return the objective of the dual, about."""
        problem = self.problem
        return problem.value(pair.x) - float(problem.gradient(pair.x) @ pair.x + problem.b @ pair.z)

    @cached_property
    def _inner_dual(self) -> Array | None:
        return interior_point(self.dual)

    def bound_within(self, z: Array, trace_bound: float, enough: float = inf) -> float:
        """Return the bound for points whose slacks have traces of at most trace_bound."""
        form = self.dual
        blocks = [
            (place.start + np.flatnonzero(_trace(cone)), max(-_depth(cone, z[place]), 0.0))
            for cone, place in zip(form.cones, form.places, strict=True)
            if cone.kind != "free" and cone.length
        ]
        lifted = z.copy()
        for entries, mu in blocks:
            lifted[entries] += mu
        # mu of a block has a copy for each entry of the trace: no entry of the form is rounded.
        index = np.concatenate([entries for entries, _ in blocks])
        counts = [entries.size for entries, _ in blocks]
        copies, k = np.repeat([mu for _, mu in blocks], counts), len(blocks)
        owner = sp.csr_array(
            (np.ones(index.size), (np.arange(index.size), np.repeat(np.arange(k), counts))),
            shape=(index.size, k),
        )
        limited = ConicForm(
            np.concatenate([form.c, -form.c[index], np.full(k, trace_bound)]),
            sp.csr_array(
                sp.block_array(
                    [[form.A, -form.A[:, index], None], [None, sp.eye_array(index.size), -owner]]
                )
            ),
            np.concatenate([form.b, np.zeros(index.size)]),
            (*form.cones, Cone("free", index.size), Cone("orthant", k)),
        )
        v = np.concatenate([lifted, copies, [mu for _, mu in blocks]])
        return -proved_value(limited, v, lambda: interior_point(limited), -enough)[0]

    # ---- feasible ------------------------------------------------------------------------------

    def _infeasibility(self, violations: Array) -> float:
        """Return the size of the violations of rows and blocks, relative to the data.

        It is the larger of two numbers: their norm over max(1, the distance of b from K), and the
        largest violation of a row or block over the norm of its coefficients and its b.
        """
        worst = float((violations / self._units).max(initial=0.0))
        whole = stable_norm(violations)
        if whole > worst:  # a large b may forgive it
            whole /= max(1.0, stable_norm(self.problem.layout.distances(self.problem.b)))
        return max(whole, worst)

    def _price(self, violations: Array, z: Array) -> float:
        """Return the sum of the violations of rows and blocks, each times the norm of its z."""
        layout = self.problem.layout
        weighted = np.abs(z) / np.sqrt(layout.multiplicity)
        return float(violations @ layout.by_block(weighted, np.hypot))

    @cached_property
    def _units(self) -> Array:
        """The size of each row or block; 1 for an empty one."""
        problem = self.problem
        sizes = np.maximum(problem.structure.row_norms, np.abs(problem.b))
        units = problem.layout.by_block(sizes, np.maximum)
        return np.where(units > 0, units, 1.0)

    # ---- infeasible and unbounded --------------------------------------------------------------

    def refutation(self, z: Array | None = None) -> Ending | None:
        """Return the proof that no x is feasible: a vector near z, or one that is searched for."""
        problem, kept = self.problem, self.problem.structure.separating_rows
        zero, end = problem.layout.zero, problem.layout.zero + problem.layout.nonneg
        equations, inequalities = np.searchsorted(kept, [zero, end])
        layout = replace(problem.layout, zero=int(equations), nonneg=int(inequalities - equations))
        A = sp.csr_array(problem.A[kept].T)
        A = sp.csr_array(A[np.diff(A.indptr) > 0])
        cones = (Cone("free", layout.zero), *(cone.dual for cone in layout.cones))
        form = ConicForm(problem.b[kept], A, np.zeros(A.shape[0]), cones)
        ending = separator_of(form, None if z is None else z[kept])
        if ending is None:
            return None
        full: Array = np.zeros(problem.b.size)
        full[kept] = ending.vector
        return ending._replace(vector=full)

    def attained(self, v: Array) -> float:
        """Return the least objective that a feasible point near (x, s) is proved to have."""
        return proved_value(self.primal, v, lambda: interior_point(self.primal))[0]

    def unbounded(self, direction: Array | None = None) -> Ending | None:
        """Return the proof that the objective is unbounded, along a ray near the direction."""
        if direction is not None:
            direction = np.concatenate([direction, -(self.problem.A @ direction)[self._zero :]])
        return ending_along(self.primal, direction)

    @property
    def _zero(self) -> int:
        return self.problem.layout.zero


def _trace(cone: Cone) -> Array:
    if cone.kind == "psd":
        return cone.coordinates(np.eye(cone.n))
    return np.ones(cone.n) if cone.kind == "orthant" else np.eye(1, cone.n).ravel()


def _depth(cone: Cone, v: Array) -> float:
    """Return the largest d with v - d times the unit of the cone in the cone, about."""
    if cone.kind == "psd":
        return float(np.linalg.eigvalsh(cone.matrix(v))[0])
    if cone.kind == "orthant":
        return float(v.min())
    return float(v[0] - np.linalg.norm(v[1:]))
