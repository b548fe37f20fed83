"""The template: minimise f(x) + g(Bx) subject to x in X and Ax in K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass
from functools import cached_property
from math import inf
from typing import Any, Protocol, runtime_checkable

import numpy as np

from condal.domains.wrapped import adjoint_of, complete_domain, require_fit
from condal.errors import ProblemError
from condal.linalg.gradients import zeros_of
from condal.linalg.points import Array, Point, total_rows
from condal.maps.combined import Stack
from condal.maps.user import as_map
from condal.runtime.arguments import require_whole
from condal.sets.defaults import sized_proximable
from condal.sets.separable import Separable
from condal.smooth.objectives import Linear, complete_smooth, zero_objective
from condal.types import (
    Domain,
    DomainLike,
    LinearMap,
    MapLike,
    Provable,
    ProximableLike,
    Smooth,
    SmoothLike,
    from_user,
)

MAX_SHOWN_CHARACTERS = 60  # of a domain in the repr of a problem


@dataclass(frozen=True, eq=False)
class Problem:
    r"""The problem of minimising :math:`f(x) + h(Ax)` over :math:`x \in X`.

    Build it with `Problem.of`. A constraint :math:`Ax \in K` is one h, a nonsmooth :math:`g(Bx)`
    another; for both, A and B are stacked and h is the sum.

    Parameters
    ----------
    f : Smooth
        The smooth part of the objective.
    X : Domain
        The domain.
    A : LinearMap
        The map in h(Ax).
    h : Provable
        The indicator of K, a nonsmooth function, or a sum of these.
    maximise : bool
        Whether the user's objective is -(f + h).
    repair : callable, optional
        Maps a point of X that is nearly feasible to a feasible one, so that objective and bound
        bracket the optimum. Without it, the factor of x is moved to the surface A(R R') = b where
        the equations of a linear program over psd matrices have sparse rows.
    propose : callable, optional
        Guesses a feasible point and a dual from a point of X. The pair is tried next to the pair of
        the method and counts only for what is proved of it.
    name : str
        The name of the problem in results.
    rank : int, optional
        The expected rank of a solution, at which a low-rank method begins.
    checked : bool
        Whether the pieces are known to fit each other.
    """

    f: Smooth
    X: Domain
    A: LinearMap
    h: Provable
    maximise: bool = False
    repair: Callable[[Point], Point] | None = None
    propose: Callable[[Point], tuple[Point, Array]] | None = None
    name: str = "problem"
    rank: int | None = None
    checked: InitVar[bool] = False

    def __post_init__(self, checked: bool) -> None:
        if self.rank is not None:
            require_whole(self.rank, "rank")
        if self.A.size != self.h.size:
            raise ProblemError(
                f"A and h do not fit: A makes images of length {self.A.size}, but h is a function "
                f"of vectors of length {self.h.size}"
            )
        if not checked:
            require_fit(self.X, self.f.M, "f", "the objective f")
            require_fit(self.X, self.A, "A", "the constraint map A")

    def __repr__(self) -> str:
        verb = "maximise" if self.maximise else "minimise"
        f, h, X = type(self.f).__name__, type(self.h).__name__, repr(self.X)
        X = X if len(X) <= MAX_SHOWN_CHARACTERS else type(self.X).__name__
        rows = f", h = {h} of size {self.h.size}" if self.h.size else ""
        return f"Problem({self.name!r}: {verb} {f} over {X}{rows})"

    @classmethod
    def of(
        cls,
        f: SmoothLike | None = None,
        X: DomainLike | None = None,
        A: MapLike | None = None,
        K: ProximableLike | None = None,
        *,
        B: MapLike | None = None,
        g: ProximableLike | None = None,
        maximise: bool = False,
        repair: Callable[[Point], Point] | None = None,
        propose: Callable[[Point], tuple[Point, Array]] | None = None,
        name: str = "problem",
        rank: int | None = None,
    ) -> Problem:
        r"""Build the problem :math:`\min_{x \in X} f(x) + g(Bx)` subject to :math:`Ax \in K`.

        With `maximise`, it is :math:`\max f(x) - g(Bx)`. A piece that you write needs only the
        members of `DomainLike`, `SmoothLike`, `MapLike` or `ProximableLike` in `condal.types`; the
        others have defaults.

        Parameters
        ----------
        f : Smooth, optional
            The smooth part of the objective; 0 if left out. To maximise, it must be `Linear`.
        X : Domain
            The domain, such as `Spectrahedron(n, trace=...)`.
        A, K : LinearMap and set, optional
            The constraint; give both or neither. If x is a vector, A and B may also be SciPy or
            PyLops LinearOperators.
        B, g : LinearMap and function, optional
            The nonsmooth part of the objective, such as `Matrix(B)` and `L1(0.3)`. B may be left
            out if x is a vector. The dual of a solution holds the multipliers of A, then those of
            B.
        maximise, repair, propose, name, rank
            As for `Problem`.

        Returns
        -------
        Problem
            The problem, after a check that the pieces fit each other.

        Raises
        ------
        ProblemError
            If pieces do not fit, or lack members; the message says what to add.

        Examples
        --------
        >>> import condal, numpy as np
        >>> problem = condal.Problem.of(
        ...     f=condal.Linear(np.array([1.0, 2.0])), X=condal.Simplex(2),
        ...     A=condal.Matrix([[1.0, -1.0]]), K=condal.Equal([0.0]),
        ... )
        >>> round(condal.solve(problem, tol=1e-6).objective, 4)
        1.5
        """
        for value, kind, verb in (
            (f, "the objective f, such as condal.Linear(C)", "gradient"),
            (X, "the domain X, such as condal.Spectrahedron(n)", "lmo"),
            (A, "the map A, such as condal.Diagonal(n) or condal.Matrix(a)", "adjoint"),
            (K, "the set K, such as condal.Equal(b)", "prox"),
            (B, "the map B, such as condal.Matrix(B)", "adjoint"),
            (g, "the function g, such as condal.L1(0.3)", "prox"),
        ):
            if value is not None and (isinstance(value, type) or not hasattr(value, verb)):
                got = value.__name__ if isinstance(value, type) else type(value).__name__
                raise ProblemError(f"wanted {kind}; got {got}")
        if X is None:
            raise ProblemError("a problem needs its domain X, such as condal.Spectrahedron(n)")
        if (A is None) != (K is None):
            raise ProblemError("A and K go together: give both for Ax in K, or neither")
        if B is not None and g is None:
            raise ProblemError("B and g go together: give both for g(Bx), or g alone for g(x)")
        A, B = (M if M is None else as_map(M, part) for M, part in ((A, "A"), (B, "B")))
        smooth = zero_objective(X, A, B) if f is None else complete_smooth(f, X, A, B)
        domain = complete_domain(X, lambda: adjoint_of(smooth.M, zeros_of(smooth.M), "f", "f"))
        require_fit(domain, smooth.M, "f", "the objective f")
        if maximise:
            if not isinstance(smooth, Linear):
                raise ProblemError(
                    f"only a linear objective can be maximised; got {type(smooth).__name__}: "
                    "to maximise a concave function, minimise its negative"
                )
            smooth = smooth.scaled(-1.0)
        rows: list[tuple[LinearMap, Provable]] = []
        if A is not None and K is not None:
            require_fit(domain, A, "A", "the constraint map A")
            rows.append((A, sized_proximable(K, A, "A and K", "K is a set", "the set K")))
        if g is not None:
            B = _identity(smooth) if B is None else B
            require_fit(domain, B, "B", "the map B")
            rows.append((B, sized_proximable(g, B, "B and g", "g is a function", "the function g")))
        Ah: tuple[LinearMap, Provable]
        if len(rows) == 1:
            Ah = rows[0]
        else:
            Ah = Stack(*(M for M, _ in rows)), Separable(*(h for _, h in rows))
        return cls(smooth, domain, *Ah, maximise, repair, propose, name, rank, checked=True)

    @property
    def sense(self) -> float:
        """-1 for a maximisation, else 1: the user's objective is sense * (f + h)."""
        return -1.0 if self.maximise else 1.0

    @property
    def fixed_diagonal(self) -> Array | None:
        """The diagonal of every feasible x, if Ax = d diag(x) = b is all of A; else None."""
        d, b, n = self.A.diagonal_rows, self.h.fixed, getattr(self.X, "n", None)
        if d is None or b is None or total_rows(d) != n:
            return None
        diagonal: Array = b / d
        return diagonal

    def objective(self, x: Any) -> float:
        """Return the user's objective at x, a point of X or the x of a result."""
        x = from_user(self.X, x)
        return self.sense * (self.f.value(self.f.M(x)) + self.h.value(self.A(x))) + 0.0  # 0 for -0

    def infeasibility(self, x: Any) -> float:
        """Return dist(Ax, K) / infeasibility_unit at x, a point of X or the x of a result."""
        return self.h.distance(self.A(from_user(self.X, x))) / self.infeasibility_unit

    def price(self, Ax: Array, w: Array) -> float:
        """Return |<w, Ax - P_K(Ax)>|: what the infeasibility of x is worth at the prices w.

        Both vectors are of this problem, and K is dom h. For an optimal w, the optimum is better
        than the objective at x by no more than this.
        """
        return abs(float(w @ self.h.normal_residual(Ax)))

    def equivalent_gap(self, Ax: Array, objective: float) -> float:
        """Return the gap that exceeds a tolerance as far as the infeasibility of x does.

        It is 0 if a repair removes the infeasibility.
        """
        if self.repair is not None:
            return 0.0
        return self.h.distance(Ax) / self.infeasibility_unit * self.gap_unit(objective)

    @cached_property
    def infeasibility_unit(self) -> float:
        """max(1, dist(0, K)), or |A| max |x| in place of 1 if that is smaller.

        For Ax = b, dist(0, K) is |b|.
        """
        attainable = min(1.0, self.A.norm * self.X.max_norm)
        return max(attainable or 1.0, self.h.distance(zeros_of(self.A)))

    def gap_unit(self, objective: float) -> float:
        """Return what tol is relative to: |objective|, or at least 1 if f can reach it."""
        return gap_unit(objective, self.objective_range)

    @cached_property
    def objective_range(self) -> float:
        """An upper bound on the variation of f(x) + g(Bx) over X; problems are scaled by it."""
        size, total = self.X.max_norm, self.f.variation(self.X.max_norm)
        finite = [(part, h.lipschitz) for part, h in self.h.pieces if h.lipschitz < inf]
        if finite:
            norm, rows = self.A.norm, self.A.row_norms()
            total += sum(
                lipschitz * size * min(norm, float(np.linalg.norm(rows[part])))
                for part, lipschitz in finite
            )
        return total


def gap_unit(objective: float, objective_range: float) -> float:
    """Return what tol is relative to: |objective|, or at least 1 if it is within the range."""
    # |C||x| overestimates what <C, x> can be: a hundredth of it is reachable.
    return max(min(1.0, 0.01 * objective_range) or 1.0, abs(objective))


@runtime_checkable
class Model(Protocol):
    """An application: a problem, and an interpretation of its solution.

    If it has a method `first_pair`, `condal.solve` begins at the (x, y) that this returns, unless a
    method or a warm start is given.
    """

    @property
    def problem(self) -> Problem:
        """The problem to solve."""


class JudgesItself:
    """A model that says itself what a result of its problem proves.

    The problem of a conic program bounds traces that nothing bounds in the program: only the model
    can say what holds without that bound. By default all of it holds.
    """

    @property
    def verdict(self) -> Any:
        """What is proved when the model is made: a status, and how; None if nothing is."""
        return None

    def solve(self, method: Any = None, **options: Any) -> Any:
        """Solve the problem, and return what holds for the model."""
        raise NotImplementedError

    def resume(self, checkpoint: Any, **options: Any) -> Any:
        """Resume a solve of the problem, and return what holds for the model."""
        raise NotImplementedError

    def certified(self, certificate: Any, y: Array) -> Any:
        """Return what a certificate of the problem, with the dual y, proves of the model."""
        return certificate

    def certified_pair(self, x: Any, y: Array, certificate: Any) -> Any:
        """Return the certificate of a pair with the bound that holds for the model."""
        return self.certified(certificate, y)

    def separated_for(self, d: Array) -> str | None:
        """Return what d assumes as a proof that nothing is feasible; None if it is not a proof."""
        return ""

    def rechecked(self, result: Any) -> Any:
        """Return the result with the bound and the status that the model's own data prove."""
        return result


def problem_of(model: Problem | Model) -> Problem:
    """Return the problem of a model, or the problem itself."""
    if isinstance(model, Problem):
        return model
    if isinstance(model, Model) and isinstance(model.problem, Problem):
        return model.problem
    raise ProblemError(
        f"solve takes a Problem or a model such as condal.problems.max_cut(W); "
        f"got {type(model).__name__}"
    )


def _identity(f: Smooth) -> LinearMap:
    """Return x -> x, if f acts on vectors."""
    gradient = f.M.adjoint(np.zeros(f.M.size))
    if isinstance(gradient, np.ndarray) and gradient.ndim == 1:
        from condal.maps.vectors import Identity

        return Identity(gradient.size)
    raise ProblemError(
        "B can be left out only where x is a vector: for g of all entries of a symmetric matrix "
        "pass B=condal.Entries(n), for a product of domains B=condal.Across(B_1, B_2, ...)"
    )
