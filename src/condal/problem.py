"""The template: minimise f(x) + g(Bx) subject to x in X, Ax in K."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass
from functools import cached_property
from math import inf
from typing import Any, Protocol, runtime_checkable

import numpy as np

from condal.domains.lifted import from_user
from condal.domains.user import complete_domain
from condal.errors import CondalError, PieceError, ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.guarded import Products, guard_operators
from condal.linalg.images import zeros_of
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Stack
from condal.maps.operator import as_map
from condal.maps.vectors import Identity
from condal.runtime.arguments import require_whole
from condal.sets.defaults import complete_proximable
from condal.sets.separable import Separable
from condal.smooth.function import complete_smooth
from condal.smooth.linear import Linear
from condal.types import Domain, Lifted, LinearMap, Provable, Smooth


@dataclass(frozen=True, eq=False)
class Problem:
    """minimise f(x) + h(Ax) over x in X; `maximise` says that the user's objective is -(f + h).

    A constraint Ax in K is one h, a nonsmooth g(Bx) another; both at once are A and B stacked, and
    the sum of the two: `Problem.of` makes it.
    `repair` takes a point of X near {x : Ax in K} to a feasible one, where the problem has such a
    thing. `propose` guesses a feasible point and a dual from a point of X: the pair is tried beside
    the method's own, and counts for nothing but what is proved of it. `rank` is what is expected of
    a solution, if that is known: a method may begin there. Build with `Problem.of`. Who makes one
    of the parts of another says `checked`: they fit.
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
            _require_fit(self.X, self.f.M, "f", "the objective f")
            _require_fit(self.X, self.A, "A", "the constraint map A")

    @classmethod
    def of(
        cls,
        f: Smooth | None = None,
        X: Domain | None = None,
        A: LinearMap | None = None,
        K: Provable | None = None,
        *,
        B: LinearMap | None = None,
        g: Provable | None = None,
        maximise: bool = False,
        repair: Callable[[Point], Point] | None = None,
        propose: Callable[[Point], tuple[Point, Array]] | None = None,
        name: str = "problem",
        rank: int | None = None,
    ) -> Problem:
        """The problem of minimising f(x) + g(Bx), or maximising f(x) - g(Bx), over x in X with
        Ax in K.

        Parameters
        ----------
        f : the smooth part of the objective, 0 if left out; to maximise it must be `Linear`.
        X : the domain, such as `Spectrahedron(n, trace=...)`.
        A, K : the constraint Ax in K; leave both out for none. A map of vectors may be a SciPy
            LinearOperator, or one of PyLops.
        B, g : the nonsmooth part of the objective, such as `Matrix(B)` and `L1(0.3)`; leave both
            out for none, or B alone for g(x), x a vector. The dual of a solution holds the
            multipliers of A first, and then those of B.
        rank : of a solution, as far as it is known: a low-rank method begins there.
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
        f = _zero(X, A, B) if f is None else complete_smooth(f, X, A, B)
        X = complete_domain(X, f.M.adjoint(zeros_of(f.M)))
        _require_fit(X, f.M, "f", "the objective f")
        if maximise:
            if not isinstance(f, Linear):
                raise ProblemError(
                    f"only a linear objective can be maximised; got {type(f).__name__}: "
                    "to maximise a concave function, minimise its negative"
                )
            f = f.scaled(-1.0)
        rows: list[tuple[LinearMap, Provable]] = []
        if A is not None and K is not None:
            _require_fit(X, A, "A", "the constraint map A")
            rows.append((A, _sized(K, A, "A and K", "K is a set", "the set K")))
        if g is not None:
            B = _identity(f) if B is None else B
            _require_fit(X, B, "B", "the map B")
            rows.append((B, _sized(g, B, "B and g", "g is a function", "the function g")))
        Ah: tuple[LinearMap, Provable]
        if len(rows) == 1:
            Ah = rows[0]
        else:
            Ah = Stack(*(M for M, _ in rows)), Separable(*(h for _, h in rows))
        return cls(f, X, *Ah, maximise, repair, propose, name, rank, checked=True)

    @property
    def sense(self) -> float:
        """-1 for a maximisation, else 1: the user's objective is sense * (f + h)."""
        return -1.0 if self.maximise else 1.0

    def objective(self, x: Any) -> float:
        """The user's objective at x, a point of X or what one is shown as in a result."""
        x = from_user(self.X, x)
        return self.sense * (self.f.value(self.f.M(x)) + self.h.value(self.A(x))) + 0.0  # 0 for -0

    def infeasibility(self, x: Any) -> float:
        """dist(Ax, K) / reach."""
        return self.h.distance(self.A(from_user(self.X, x))) / self.infeasibility_unit

    @cached_property
    def infeasibility_unit(self) -> float:
        """The unit of infeasibility: max(1, dist(0, K)); where |A| max |x| is less than 1, that
        takes the place of 1. For Ax = b, dist(0, K) is |b|."""
        attainable = min(1.0, self.A.norm * self.X.max_norm)
        return max(attainable or 1.0, self.h.distance(zeros_of(self.A)))

    def gap_unit(self, objective: float) -> float:
        """What tol is relative to: |objective|, or 1 where that is less and f can reach it."""
        return max(self._attainable, abs(objective))

    @cached_property
    def _attainable(self) -> float:
        # |C||x| overestimates what <C, x> can be: a hundredth of it is within reach.
        return min(1.0, 0.01 * self.objective_range) or 1.0

    @cached_property
    def objective_range(self) -> float:
        """How much f(x) + g(Bx) can vary over X, or more, to scale the problem by."""
        size, total = self.X.max_norm, self.f.variation(self.X.max_norm)
        finite = [(here, h.lipschitz) for here, h in self.h.pieces if h.lipschitz < inf]
        if finite:
            norm, rows = self.A.norm, self.A.row_norms()
            total += sum(
                lipschitz * size * min(norm, float(np.linalg.norm(rows[here])))
                for here, lipschitz in finite
            )
        return total


@runtime_checkable
class Model(Protocol):
    """An application: a problem, and what its solution means."""

    @property
    def problem(self) -> Problem:
        """The problem to solve."""


def problem_of(model: Problem | Model) -> Problem:
    """The problem of a model, or the problem itself."""
    if isinstance(model, Problem):
        return model
    if isinstance(model, Model) and isinstance(model.problem, Problem):
        return model.problem
    raise ProblemError(
        f"solve takes a Problem or a model such as condal.problems.max_cut(W); "
        f"got {type(model).__name__}"
    )


def _require_fit(X: Domain, M: LinearMap, part: str, what: str) -> None:
    """Raise ProblemError unless the map acts on the space of X."""
    y = zeros_of(M)
    if _lifted(X):  # other matrices than those of X may have the same side: numbers tell
        y = np.random.default_rng(0).standard_normal(M.size)
    try:
        with Products(part, "the adjoint", what).asked():
            gradient = M.adjoint(y)
    except PieceError as error:
        if isinstance(error.__cause__, CondalError):  # of ours, which says all
            raise error.__cause__ from None
        raise
    if gradient is None:
        return
    try:
        X.check(_guarded(gradient, part), what)
    except ProblemError as error:
        raise ProblemError(
            f"{part} and X do not fit: {error} ({part} acts on {_shape(gradient)})"
        ) from None


def _lifted(X: Domain) -> bool:
    """Whether points of X, or of a part of it, stand for other matrices."""
    return isinstance(X, Lifted) or any(_lifted(part) for part in getattr(X, "parts", ()))


def _guarded(v: Gradient, part: str) -> Gradient:
    """v, its operators guarded: a check may multiply by them."""
    if isinstance(v, tuple):
        return tuple(_guarded(block, part) for block in v)
    return guard_operators(v, part) if isinstance(v, Symmetric) else v


def _shape(v: Gradient) -> str:
    """The space of a gradient, in words."""
    if isinstance(v, tuple):
        return f"({', '.join(_shape(part) for part in v)})"
    return f"shape {v.shape}"


def _sized(h: Any, M: LinearMap, parts: str, kind: str, name: str) -> Provable:
    """Return h as a function of the images of M, complete; ProblemError if sizes differ."""
    misfit = f"{parts} do not fit: {parts[0]} makes images of length {M.size}"
    if hasattr(h, "sized"):
        try:
            h = h.sized(M.size)
        except ProblemError as error:
            raise ProblemError(f"{misfit}; {error}") from None
    h = complete_proximable(h, name)
    if h.size != M.size:
        raise ProblemError(f"{misfit}, but {kind} of vectors of length {h.size}")
    return h


def _zero(X: Domain, *maps: LinearMap | None) -> Linear:
    """f = 0, on the space of the maps."""
    for M in maps:
        gradient = None if M is None else M.adjoint(np.zeros(M.size))
        if gradient is not None:
            return Linear(_nothing(gradient))
    raise ProblemError(
        f"f can be left out only where A or B says what the points of X look like: give f for "
        f"this {type(X).__name__}, such as condal.Linear of zeros"
    )


def _nothing(v: Gradient) -> Gradient:
    """0 in the space of the gradient, without the parts that v has."""
    if isinstance(v, tuple):
        return tuple(_nothing(part) for part in v)
    return Symmetric(v.n) if isinstance(v, Symmetric) else np.zeros_like(v)


def _identity(f: Smooth) -> Identity:
    """x -> x, where f acts on vectors."""
    gradient = f.M.adjoint(np.zeros(f.M.size))
    if isinstance(gradient, np.ndarray) and gradient.ndim == 1:
        return Identity(gradient.size)
    raise ProblemError(
        "B can be left out only where x is a vector: for g of all entries of a symmetric matrix "
        "pass B=condal.Entries(n), for a product of domains B=condal.Across(B_1, B_2, ...)"
    )
