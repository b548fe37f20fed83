"""Polytopes given by inequalities, with linear programs as oracles."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.flat import Flat
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, gamma, stable_norm
from condal.linalg.sparse import require_sound
from condal.runtime.arguments import finite_array, refuse_complex
from condal.sets.boxes import require_ordered

HIGHS_TOLERANCE = 1e-10  # the smallest that HiGHS accepts
TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
OPTIMAL, INFEASIBLE = 0, 2  # the status codes of linprog
MAX_SPARE = 0.5  # of the largest |x_i|: a proof of bounds that leaves more proves nothing


@dataclass(frozen=True, eq=False)
class _Rows:
    """a x, compared with b; no constraint if a has no rows."""

    a: Any
    b: Array

    @classmethod
    def of(cls, a: Any, b: Any, names: str) -> _Rows | None:
        if (a is None) != (b is None):
            raise ProblemError(f"{names[0]} and {names[1]} go together: give both, or neither")
        if a is None:
            return None
        if sp.issparse(a):
            require_sound(a, names[0])
            refuse_complex(a.dtype, names[0])
            finite_array(a.tocoo().data, f"the stored entries of {names[0]}")
        else:
            a = finite_array(a, names[0], ndim=2)
        rows = sp.csr_array(a, dtype=np.float64, copy=True)  # SciPy sorts indices in place
        rows.sum_duplicates()
        right = finite_array(b, names[1], ndim=1).copy()
        if rows.shape[0] != right.size:
            raise ProblemError(
                f"{names[0]} has {rows.shape[0]} rows and {names[1]} has {right.size} entries: "
                "they must agree"
            )
        # Rows of one size, scaled by powers of 2: exactly the same set.
        largest = abs(rows).max(axis=1).toarray().ravel() if rows.nnz else np.zeros(right.size)
        factors = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
        return cls(sp.csr_array(rows.multiply(factors[:, None])), factors * right)


def _side(values: Any, name: str, nothing: float) -> Array:
    """Return a bound, or one per entry; `nothing`, the infinity that does not bind, if left out."""
    values = nothing if values is None else values
    side = finite_array(values, name, test=lambda z: ~np.isnan(z) & (z != -nothing))
    if side.ndim > 1:
        raise ProblemError(f"{name} must be a number, or a vector of them; got shape {side.shape}")
    return side


class Polytope(Flat):
    r"""The bounded polytope :math:`X = \{x : Gx \le h,\ Ex = e,\ l \le x \le u\}`.

    The oracle solves a linear program with HiGHS; its vertices satisfy each constraint to 1e-10.
    Each infinite bound in `low` and `high` costs one linear program at construction, which finds
    and proves a finite bound.

    Parameters
    ----------
    G, h : array_like or sparse array, and array_like, optional
        The inequalities, one per row.
    E, e : array_like or sparse array, and array_like, optional
        The equations, one per row.
    low, high : float or array_like of shape (n,), optional
        The bounds :math:`l` and :math:`u`; infinite if left out.

    Raises
    ------
    ProblemError
        If X is empty or unbounded.
    """

    def __init__(
        self,
        G: Any = None,
        h: Any = None,
        *,
        E: Any = None,
        e: Any = None,
        low: Any = None,
        high: Any = None,
    ) -> None:
        below, equal = _Rows.of(G, h, "Gh"), _Rows.of(E, e, "Ee")
        least, most = _side(low, "low", -inf), _side(high, "high", inf)
        sizes = {
            "G": None if below is None else below.a.shape[1],
            "E": None if equal is None else equal.a.shape[1],
            "low": least.size if least.ndim else None,
            "high": most.size if most.ndim else None,
        }
        known = {name: int(n) for name, n in sizes.items() if n is not None}
        if len(set(known.values())) != 1 or not all(known.values()):
            got = ", ".join(f"{name} for {n}" for name, n in known.items()) or "none"
            raise ProblemError(f"G, E, low and high must have one number of entries; got {got}")
        self.n = next(iter(known.values()))
        nothing = sp.csr_array((0, self.n))
        self.G, self.h = (below.a, below.b) if below else (nothing, np.zeros(0))
        self.E, self.e = (equal.a, equal.b) if equal else (nothing, np.zeros(0))
        self.low, self.high = (np.broadcast_to(side, (self.n,)).copy() for side in (least, most))
        require_ordered(self.low, self.high, "Polytope")
        self._member: Array = self._inside()
        self._least, self._most = self.low, self.high
        self._least, self._most = self._proved_box()

    def __repr__(self) -> str:
        return f"Polytope({self.n} entries, {self.h.size} inequalities, {self.e.size} equations)"

    def _inside(self) -> Array:
        answer = self._program(np.zeros(self.n))
        if answer.status == OPTIMAL:
            return np.clip(answer.x, self.low, self.high)
        why = "has no point, as HiGHS proves" if answer.status == INFEASIBLE else answer.message
        raise ProblemError(
            f"the Polytope is empty: {{Gx <= h, Ex = e, low <= x <= high}} {why}; relax a bound"
        )

    def _proved_box(self) -> tuple[Array, Array]:
        """Return the bounds, with a proved number in place of each infinite one."""
        sides = [(i, 1.0) for i in np.flatnonzero(np.isinf(self.low))]
        sides += [(i, -1.0) for i in np.flatnonzero(np.isinf(self.high))]
        low, high = self.low.copy(), self.high.copy()
        spare = np.zeros(len(sides))
        for place, (i, sign) in enumerate(sides):
            c = np.zeros(self.n)
            c[i] = sign
            answer = self._program(c)
            least, spare[place] = self._dual(c, answer)
            if answer.status != OPTIMAL or spare[place] > MAX_SPARE:
                side, way = ("low", "fall") if sign > 0 else ("high", "grow")
                raise ProblemError(
                    f"the Polytope must be bounded: x[{i}] can {way} without end, or HiGHS cannot "
                    f"rule that out ({answer.message.strip()}); give {side}[{i}]"
                )
            (low if sign > 0 else high)[i] = sign * least
        if sides:
            # Each bound holds up to spare max |x_i|; together they bound that.
            loose = np.unique([i for i, _ in sides])
            reach = float(np.maximum(np.abs(low), np.abs(high))[loose].max())
            reach = reach / (1.0 - float(spare.max())) * (1 + 1e-12)
            for (i, sign), part in zip(sides, spare, strict=True):
                (low if sign > 0 else high)[i] -= sign * (part * reach + 1e-12 * reach)
        return low, high

    def _program(self, c: Array) -> Any:
        """Solve min <c, x> over X with HiGHS."""
        return _solved(c, (self.G, self.h), (self.E, self.e), (self.low, self.high))

    @property
    def diameter(self) -> float:
        """|high - low|, with the proved bounds in place of infinite ones: an upper bound."""
        return stable_norm(self._most - self._least)

    @property
    def max_norm(self) -> float:
        """The norm of max(|low_i|, |high_i|), with the proved bounds: an upper bound."""
        return stable_norm(np.maximum(np.abs(self._least), np.abs(self._most)))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        answer = self._program(self._finite(v, "the gradient"))
        if answer.status != OPTIMAL:
            raise FloatingPointError(f"HiGHS finds no least point of {self!r}: {answer.message}")
        return np.clip(answer.x, self.low, self.high)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """-<h, p> - <e, q> + min over the box of <v + G'p + E'q, .>, by weak duality.

        The bound holds for any p >= 0 and q; those of HiGHS are used.
        """
        v = self._finite(v, "the gradient")
        trivial, _ = self._dual(v, None)
        value, _ = self._dual(v, self._program(v))
        return Proof(max(trivial, value), "duality of linear programs")

    def _dual(self, c: Array, answer: Any) -> tuple[float, float]:
        """Return (value, spare) with <c, x> >= value - spare max |x_i| over X.

        The maximum is over those i that have an infinite bound.
        """
        p, q = np.zeros(self.h.size), np.zeros(self.e.size)
        if answer is not None and answer.status == OPTIMAL:
            scale = float(np.abs(c).max(initial=0.0)) or 1.0
            p = np.maximum(-scale * answer.ineqlin.marginals, 0.0) if p.size else p
            q = -scale * answer.eqlin.marginals if q.size else q
        r = c + self.G.T @ p + self.E.T @ q
        sizes = np.abs(c) + abs(self.G).T @ p + abs(self.E).T @ np.abs(q)
        lost = gamma(p.size + q.size + 4) * sizes
        side = np.where(r > 0, self._least, self._most)
        reach = np.maximum(np.abs(self._least), np.abs(self._most))
        finite, known = np.isfinite(side), np.isfinite(reach)
        terms = np.concatenate([-self.h * p, -self.e * q, r[finite] * side[finite]])
        rounding = gamma(terms.size + 4) * float(np.abs(terms).sum())
        value = float(terms.sum()) - rounding - 1.01 * float(lost[known] @ reach[known])
        return value, float(np.abs(r[~finite]).sum() + lost[~known].sum())

    def distance(self, x: Point) -> float:
        """The distance to the nearest member in the l1 norm, as HiGHS finds it: an upper bound."""
        z = self._finite(x, "x")
        inside = np.all(self.G @ z <= self.h) and np.all(self.E @ z == self.e)
        if inside and np.all((self.low <= z) & (z <= self.high)):
            return 0.0
        # z + up - down is a member, with the smallest sum of up and down.
        eye = sp.csr_array(sp.identity(self.n))
        G, E = sp.vstack([self.G, eye, -eye]), self.E
        h = np.concatenate([self.h - self.G @ z, self._most - z, z - self._least])
        answer = _solved(
            np.ones(2 * self.n),
            (sp.hstack([G, -G]), h),
            (sp.hstack([E, -E]), self.e - E @ z),
            (np.zeros(2 * self.n), np.full(2 * self.n, inf)),
        )
        if answer.status != OPTIMAL:
            return stable_norm(z - self._member)
        return stable_norm(answer.x[: self.n] - answer.x[self.n :])


def _solved(
    c: Array, below: tuple[Any, Array], equal: tuple[Any, Array], box: tuple[Array, Array]
) -> Any:
    """Solve min <c, x> where Gx <= h, Ex = e, low <= x <= high by linprog.

    The units are such that small numbers do not look like rounding, nor large ones like infinity.
    """
    (G, h), (E, e), (low, high) = below, equal, box
    numbers = np.abs(np.concatenate([h, e, low, high]))
    numbers = numbers[np.isfinite(numbers) & (numbers > 0)]
    unit = float(np.clip(1.0, numbers.min(), numbers.max())) if numbers.size else 1.0
    from scipy.optimize import linprog

    answer = linprog(
        c / (float(np.abs(c).max(initial=0.0)) or 1.0),
        A_ub=sp.csc_matrix(G) if h.size else None,
        b_ub=h / unit if h.size else None,
        A_eq=sp.csc_matrix(E) if e.size else None,
        b_eq=e / unit if e.size else None,
        bounds=np.column_stack([low, high]) / unit,
        method="highs",
        options=dict.fromkeys(TOLERANCES, HIGHS_TOLERANCE),
    )
    if answer.x is not None:
        answer.x = unit * answer.x
    return answer
