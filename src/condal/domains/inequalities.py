"""Polytopes given by inequalities, reached by linear programs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.domains.flat import Flat
from condal.errors import ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.linalg.roundoff import gamma
from condal.linalg.sparse import require_sound
from condal.runtime.arguments import finite_array, refuse_complex

TIGHT = 1e-10  # what HiGHS may leave of a bound, the least that it takes
OPTIMAL, INFEASIBLE = 0, 2  # what linprog calls them
LOOSEST = 0.5  # of the largest |x_i|: a proof of bounds that leaves more proves nothing


@dataclass(frozen=True, eq=False)
class _Rows:
    """a x, compared with b; none where a has no rows."""

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
        rows = sp.csr_array(a, dtype=np.float64, copy=True)  # SciPy sorts the indices in place
        rows.sum_duplicates()
        right = finite_array(b, names[1], ndim=1).copy()
        if rows.shape[0] != right.size:
            raise ProblemError(
                f"{names[0]} has {rows.shape[0]} rows and {names[1]} has {right.size} entries: "
                "they must agree"
            )
        # Rows of one size, by powers of 2: exactly the same set.
        largest = abs(rows).max(axis=1).toarray().ravel() if rows.nnz else np.zeros(right.size)
        factors = np.exp2(-np.round(np.log2(np.where(largest > 0, largest, 1.0))))
        return cls(sp.csr_array(rows.multiply(factors[:, None])), factors * right)


def _side(values: Any, name: str, nothing: float) -> Array:
    """A bound, or one for each entry; `nothing`, the infinity that bounds nothing, if left out."""
    values = nothing if values is None else values
    side = finite_array(values, name, test=lambda z: ~np.isnan(z) & (z != -nothing))
    if side.ndim > 1:
        raise ProblemError(f"{name} must be a number, or a vector of them; got shape {side.shape}")
    return side


class Polytope(Flat):
    """X = {x : Gx <= h, Ex = e, low <= x <= high}, not empty and bounded.

    The oracle is a linear program (HiGHS), whose vertices keep each constraint to 1e-10. What is
    left out is no constraint; but each bound of `low` and `high` that is infinite costs a linear
    program when the Polytope is made, which finds and proves one.

    Parameters
    ----------
    G, h : inequalities, a row each; dense or sparse.
    E, e : equations, likewise.
    low, high : bounds, a number each or one for every entry.
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
            raise ProblemError(f"G, E, low and high must be for one number of entries; got {got}")
        self.n = next(iter(known.values()))
        nothing = sp.csr_array((0, self.n))
        self.G, self.h = (below.a, below.b) if below else (nothing, np.zeros(0))
        self.E, self.e = (equal.a, equal.b) if equal else (nothing, np.zeros(0))
        self.low, self.high = (np.broadcast_to(side, (self.n,)).copy() for side in (least, most))
        if np.any(self.low > self.high):
            i = int(np.argmax(self.low > self.high))
            raise ProblemError(
                f"the Polytope is empty: low[{i}] = {self.low[i]:g} is above "
                f"high[{i}] = {self.high[i]:g}"
            )
        self._member: Array = self._inside()
        self._least, self._most = self.low, self.high
        self._least, self._most = self._proved_box()

    def __repr__(self) -> str:
        return f"Polytope({self.n} entries, {self.h.size} inequalities, {self.e.size} equations)"

    def _inside(self) -> Array:
        found = self._program(np.zeros(self.n))
        if found.status == OPTIMAL:
            return np.clip(found.x, self.low, self.high)
        why = "has no point, as HiGHS proves" if found.status == INFEASIBLE else found.message
        raise ProblemError(
            f"the Polytope is empty: {{Gx <= h, Ex = e, low <= x <= high}} {why}; relax a bound"
        )

    def _proved_box(self) -> tuple[Array, Array]:
        """The bounds, with a proved number in place of each infinite one."""
        sides = [(i, 1.0) for i in np.flatnonzero(np.isinf(self.low))]
        sides += [(i, -1.0) for i in np.flatnonzero(np.isinf(self.high))]
        low, high = self.low.copy(), self.high.copy()
        spare = np.zeros(len(sides))
        for place, (i, sign) in enumerate(sides):
            c = np.zeros(self.n)
            c[i] = sign
            found = self._program(c)
            least, spare[place] = self._dual(c, found)
            if found.status != OPTIMAL or spare[place] > LOOSEST:
                side, way = ("low", "fall") if sign > 0 else ("high", "grow")
                raise ProblemError(
                    f"the Polytope must be bounded: x[{i}] can {way} without end, or HiGHS cannot "
                    f"tell that it does not ({found.message.strip()}); give {side}[{i}]"
                )
            (low if sign > 0 else high)[i] = sign * least
        if sides:
            # Each of these holds but for spare max |x_i|, and together they bound that.
            loose = np.unique([i for i, _ in sides])
            reach = float(np.maximum(np.abs(low), np.abs(high))[loose].max())
            reach = reach / (1.0 - float(spare.max())) * (1 + 1e-12)
            for (i, sign), part in zip(sides, spare, strict=True):
                (low if sign > 0 else high)[i] -= sign * (part * reach + 1e-12 * reach)
        return low, high

    def _program(self, c: Array) -> Any:
        """The linear program min <c, x> over X, as HiGHS leaves it."""
        return _solved(c, (self.G, self.h), (self.E, self.e), (self.low, self.high))

    @property
    def diameter(self) -> float:
        """|high - low|, with the proved bounds in place of infinite ones: an upper bound."""
        return stable_norm(self._most - self._least)

    @property
    def max_norm(self) -> float:
        """The norm of the larger of |low_i| and |high_i|, likewise: an upper bound."""
        return stable_norm(np.maximum(np.abs(self._least), np.abs(self._most)))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Array:
        """The best vertex."""
        found = self._program(self._finite(v, "the gradient"))
        if found.status != OPTIMAL:
            raise FloatingPointError(f"HiGHS finds no least point of {self!r}: {found.message}")
        return np.clip(found.x, self.low, self.high)

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """-<h, p> - <e, q> + min over the box of <v + G'p + E'q, .>, for the p >= 0 and q that
        HiGHS finds: weak duality, whatever these are."""
        v = self._finite(v, "the gradient")
        trivial, _ = self._dual(v, None)
        value, _ = self._dual(v, self._program(v))
        return Proof(max(trivial, value), "duality of linear programs")

    def _dual(self, c: Array, found: Any) -> tuple[float, float]:
        """(value, spare): <c, x> >= value - spare max |x_i| over X, the maximum being over those
        i that have an infinite bound."""
        p, q = np.zeros(self.h.size), np.zeros(self.e.size)
        if found is not None and found.status == OPTIMAL:
            scale = float(np.abs(c).max(initial=0.0)) or 1.0
            p = np.maximum(-scale * found.ineqlin.marginals, 0.0) if p.size else p
            q = -scale * found.eqlin.marginals if q.size else q
        r = c + self.G.T @ p + self.E.T @ q
        sizes = np.abs(c) + abs(self.G).T @ p + abs(self.E).T @ np.abs(q)
        lost = gamma(p.size + q.size + 4) * sizes
        side = np.where(r > 0, self._least, self._most)
        reach = np.maximum(np.abs(self._least), np.abs(self._most))
        here, known = np.isfinite(side), np.isfinite(reach)
        terms = np.concatenate([-self.h * p, -self.e * q, r[here] * side[here]])
        rounding = gamma(terms.size + 4) * float(np.abs(terms).sum())
        value = float(terms.sum()) - rounding - 1.01 * float(lost[known] @ reach[known])
        return value, float(np.abs(r[~here]).sum() + lost[~known].sum())

    def distance(self, x: Point) -> float:
        """How far x is from the nearest member in the l1 norm, as HiGHS finds it."""
        z = self._finite(x, "x")
        inside = np.all(self.G @ z <= self.h) and np.all(self.E @ z == self.e)
        if inside and np.all((self.low <= z) & (z <= self.high)):
            return 0.0
        # z + up - down is a member, and the sum of up and down the least that it can be.
        eye = sp.csr_array(sp.identity(self.n))
        G, E = sp.vstack([self.G, eye, -eye]), self.E
        h = np.concatenate([self.h - self.G @ z, self._most - z, z - self._least])
        found = _solved(
            np.ones(2 * self.n),
            (sp.hstack([G, -G]), h),
            (sp.hstack([E, -E]), self.e - E @ z),
            (np.zeros(2 * self.n), np.full(2 * self.n, inf)),
        )
        if found.status != OPTIMAL:
            return stable_norm(z - self._member)
        return stable_norm(found.x[: self.n] - found.x[self.n :])


def _solved(
    c: Array, below: tuple[Any, Array], equal: tuple[Any, Array], box: tuple[Array, Array]
) -> Any:
    """min <c, x> where Gx <= h, Ex = e, low <= x <= high: the answer of linprog, in units in which
    small numbers do not look like rounding, nor large ones like infinity."""
    from scipy.optimize import linprog

    (G, h), (E, e), (low, high) = below, equal, box
    numbers = np.abs(np.concatenate([h, e, low, high]))
    numbers = numbers[np.isfinite(numbers) & (numbers > 0)]
    unit = float(np.clip(1.0, numbers.min(), numbers.max())) if numbers.size else 1.0
    found = linprog(
        c / (float(np.abs(c).max(initial=0.0)) or 1.0),
        A_ub=sp.csc_matrix(G) if h.size else None,
        b_ub=h / unit if h.size else None,
        A_eq=sp.csc_matrix(E) if e.size else None,
        b_eq=e / unit if e.size else None,
        bounds=np.column_stack([low, high]) / unit,
        method="highs",
        options={"primal_feasibility_tolerance": TIGHT, "dual_feasibility_tolerance": TIGHT},
    )
    if found.x is not None:
        found.x = unit * found.x
    return found
