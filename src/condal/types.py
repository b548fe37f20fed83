r"""The interfaces. Everything else implements one of these; read this first.

A problem is

.. math:: \min_{x \in X} f(x) + h(Ax), \qquad f(x) = \varphi(Mx),

with :math:`f` smooth and :math:`h` the indicator of a set :math:`K`, a nonsmooth function
:math:`g`, or a sum of both. :math:`X` is accessed only through a linear minimisation oracle.

Each interface has two forms, as NumPy has `ndarray` and `ArrayLike`: a `...Like` names the few
members that `Problem.of` needs, and `Problem.of` supplies defaults for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.rounding import Proof

if TYPE_CHECKING:
    from condal.methods.state import State, Warm
    from condal.problem import Problem


class DomainLike(Protocol):
    """What a user's domain must have: a linear minimisation oracle.

    Each further member of `Domain` that it has is used. Without `bound` and `max_norm` nothing can
    be proved, and no result is SOLVED; without `distance`, membership in X is trusted.
    """

    def lmo(self, v: Any) -> Point:
        """Return a point s of X that minimises <v, s>."""


@runtime_checkable
class Domain(DomainLike, Protocol):
    """X, a compact convex set with a linear minimisation oracle."""

    @property
    def diameter(self) -> float:
        """D_X, an upper bound on |x - x'| over X."""

    @property
    def max_norm(self) -> float:
        """An upper bound on |x| over X; problems are scaled by it."""

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        """Return s in X with <v, s> <= min over X of <v, .> + tol, near `guess` if possible."""

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """Prove a lower bound on min over X of <v, .>, wrong with probability at most `failure`.

        It should be within `slack` of the minimum if possible, and need not exceed `enough`.
        """

    def distance(self, x: Point) -> float:
        """Return an upper bound on the distance from x to X; 0 for a member."""

    def check(self, v: Gradient, name: str) -> None:
        """Raise ProblemError unless v is a gradient on the space of X."""


@runtime_checkable
class Spectral(Domain, Protocol):
    r""":math:`X = \{x \succeq 0 : \operatorname{tr} x = t\}`, or :math:`\le t`.

    Its points have factors :math:`x = R R^\top`.
    """

    @property
    def n(self) -> int:
        """The side of x."""

    @property
    def trace(self) -> float:
        """The trace of x, or its upper bound."""

    @property
    def at_most(self) -> bool:
        """Whether `trace` is an upper bound."""

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        """Estimate at most `count` smallest eigenvalues of v, ascending, the first within tol.

        Their eigenvectors are orthonormal columns. The search is orthogonal to the columns of
        `beside`, where v is known.
        """

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        """Return the nearest point of X to the symmetric n x n array v, within tol.

        A `guess` of about the same rank may make the projection cheaper. The result may have
        columns of weight 0, which make it a better guess.
        """


def spectral_parts(X: Domain) -> tuple[Spectral, ...] | None:
    """Return (X,) if X is spectral, its parts if all of them are spectral; else None."""
    if isinstance(X, Spectral):
        return (X,)
    parts = tuple(getattr(X, "parts", ()))
    spectral = tuple(part for part in parts if isinstance(part, Spectral))
    return spectral if parts and len(spectral) == len(parts) else None


def matrix_sides(X: Domain) -> list[int]:
    """Return the sides of the matrices among the blocks of X."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        return [n for part in parts for n in matrix_sides(part)]
    return [X.n] if isinstance(X, Spectral) else []


@runtime_checkable
class Projectable(Domain, Protocol):
    """X, a domain with a projection."""

    def project(self, v: Any) -> Point:
        """Return the nearest point of X to v, an array or a tuple of arrays."""


def projects(X: Domain) -> bool:
    """Return whether X has a projection; a product needs one for each of its parts."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        return all(projects(part) for part in parts)
    return isinstance(X, Projectable)


@runtime_checkable
class Lifted(Domain, Protocol):
    """X, a domain whose points represent Hermitian or rectangular matrices (`linalg.lifting`)."""

    def to_user(self, x: Point) -> Any:
        """Return the matrix that the point x represents."""

    def from_user(self, x: Any) -> Point:
        """Return a point that represents the matrix x; a point of X is returned unchanged."""


class MapLike(Protocol):
    """What a user's linear map must have."""

    @property
    def size(self) -> int:
        """The length of an image Ax."""

    def __call__(self, x: Any) -> Array:
        """Return Ax."""

    def adjoint(self, y: Array) -> Any:
        """Return A'y: an array, a Symmetric, or a tuple of these."""


class LinearMap(MapLike, Protocol):
    """A, B or M: a linear map from the space of X to vectors of length `size`."""

    @property
    def norm(self) -> float:
        """A tight upper bound on |A|, the largest |Ax| / |x| in Euclidean norms."""

    def __call__(self, x: Point) -> Array:
        """Return Ax."""

    def adjoint(self, y: Array) -> Gradient | None:
        """Return A'y; None for a map with images of length 0."""

    @property
    def terms(self) -> int:
        """The largest number of products that add up to an entry of A'y; its rounding grows so."""

    def scaled(self, rows: Array) -> LinearMap:
        """Return the map x -> rows * Ax."""

    @property
    def diagonal_rows(self) -> Array | None:
        """d, if Ax = d * diag(x) or d * sums of diag(x) over runs of n / size entries."""

    def row_norms(self) -> Array:
        """Return |A_i| for each row i, as elements of the space of X."""

    def as_matrix(self) -> Any | None:
        """Return A as a CSR array with one row per A_i.

        On symmetric matrices A_i is flattened, both triangles: Ax = as_matrix() @ x.ravel() and
        A'y = (as_matrix().T @ y).reshape(n, n). On tuples the blocks stand side by side. None if
        an operator hides the entries of A, or if there are too many to store.
        """


class SmoothLike(Protocol):
    """What a user's objective f(x) = phi(Mx) must have; M defaults to the identity."""

    @property
    def L(self) -> float:
        """A Lipschitz constant of the gradient of f."""

    def value(self, u: Array) -> float:
        """Return phi(u)."""

    def gradient(self, u: Array) -> Array:
        """Return the gradient of phi at u; the gradient of f at x is M'(gradient(Mx))."""


class Smooth(SmoothLike, Protocol):
    """f(x) = phi(Mx), convex with an L-Lipschitz gradient.

    With a method `errors` (`linalg.rounding.Rounded`) proofs cover the rounding of f; without one
    they say that they trust its values.
    """

    @property
    def M(self) -> LinearMap:
        """The map through which f depends on x."""

    def scaled(self, c: float) -> Smooth:
        """Return c f, for c > 0."""

    def variation(self, max_norm: float) -> float:
        """Return how much f can vary where |x| <= max_norm; problems are scaled by it."""


class ProximableLike(Protocol):
    """What a user's set K, or function g, must have; a function also has `value`, `lipschitz`."""

    @property
    def size(self) -> int:
        """The length of z in h(z)."""

    def prox(self, z: Array, t: float) -> Array:
        """Return argmin_r h(r) + |r - z|^2 / (2 t); the projection for a set."""

    def conjugate(self, y: Array) -> float:
        """Return h*(y) = sup_z <y, z> - h(z); inf outside its domain."""


class Proximable(ProximableLike, Protocol):
    """h, as algorithms see it: the indicator of K, a nonsmooth g, or a sum of these over blocks."""

    @property
    def separable(self) -> bool:
        """Whether each coordinate may be scaled by a factor of its own."""

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of h, which bounds |y| over dom h*; inf for a set."""

    @property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """Consecutive slices of z and functions of these slices that add up to h.

        They are short where h can be cut, so that operations on a piece stay in the cache.
        """

    @property
    def fixed(self) -> Array | None:
        """b, if h is the indicator of {b}; else None."""

    def value(self, z: Array) -> float:
        """Return the finite part of h(z): 0 for a set."""

    def distance(self, z: Array) -> float:
        """Return the distance from z to dom h: to K for a set."""

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """Return lam (z - prox(z, 1/lam)) = prox_{lam h*}(lam z).

        The result, written to `out` if given, is a point where h* is finite, rounded or not;
        `out` may be z itself.
        """

    def scaled(self, rows: Array, c: float) -> Proximable:
        """Return z -> c h(z / rows), for rows > 0 and c > 0."""


class Provable(Proximable, Protocol):
    """h, as proofs see it. `sets.defaults.ProximableDefaults` derives these members from others.

    No vector of doubles may lie exactly in dom h*. h* counts as finite within rounding of its
    domain, and `dual_error` bounds what a proof loses by that.
    """

    @property
    def pieces(self) -> Sequence[tuple[slice, Provable]]:
        """As for `Proximable`."""

    def scaled(self, rows: Array, c: float) -> Provable:
        """Return z -> c h(z / rows), for rows > 0 and c > 0."""

    def conjugate_abs_sum(self, y: Array) -> float:
        """Return the sum of absolute values of the terms of h*(y), which bounds its rounding."""

    def dual_point(self, y: Array) -> Array:
        """Return the nearest point to y where h* is finite."""

    def dual_error(self, y: Array) -> float:
        """Return an upper bound on the distance from y, where `conjugate` is finite, to dom h*.

        At that point of dom h*, h* must be at most what `conjugate` returns for y.
        """

    def normal_residual(self, z: Array) -> Array:
        """Return z minus the nearest point of dom h: a normal of dom h, 0 where h is finite."""

    def support(self, d: Array) -> float:
        """Return sup <d, z> over dom h: h*(d) for a set; 0 or inf if h is finite everywhere."""

    def support_abs_sum(self, d: Array) -> float:
        """Return the sum of absolute values of the terms of support(d)."""

    def support_error(self, d: Array) -> float:
        """Return what `dual_error` returns, for a d where the support is finite up to rounding."""


class Storage(Protocol):
    """What is kept of x. A method touches x only through `move`."""

    def move(self, s: Point, eta: float) -> None:
        """x <- (1 - eta) x + eta s."""

    def load(self, x: Point) -> None:
        """x <- the given point."""

    def point(self) -> Point:
        """Return x, or the best known approximation of it."""


@runtime_checkable
class AtomStorage(Storage, Protocol):
    """x = sum_i weights_i s_i, kept as atoms s_i whose weights a method may set."""

    weights: Array
    blocks: Indices

    def split(self, s: Point) -> tuple[Point, ...]:
        """Return the atoms, each with a weight of its own, that add up to s."""

    def whole(self) -> tuple[Point, ...]:
        """Return the atoms in the order of `weights`; the weights of a block sum to 1."""

    def reweigh(self, weights: Array) -> None:
        """x <- sum_i weights_i s_i; atoms of weight 0 are dropped."""


Keeps: TypeAlias = Literal["x", "factor", "atoms", "atoms by block", "sketch"]


class Method(Protocol):
    """An algorithm: a frozen record that yields states."""

    @property
    def name(self) -> str:
        """The name of the method in tables and on the command line."""

    @property
    def keeps(self) -> Keeps:
        """What the method wants kept of x."""

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """Return the initial state, or the state that continues from `warm`.

        Raise a one-line ProblemError if the method does not apply to the problem.
        """

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """Yield the states after `start`; end, or say `last`, where no progress is possible."""


def to_user(X: Domain, x: Point) -> Any:
    """Return the point x of X in the form that users see."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        assert isinstance(x, tuple)
        return tuple(to_user(part, p) for part, p in zip(parts, x, strict=True))
    return X.to_user(x) if isinstance(X, Lifted) else x


def from_user(X: Domain, x: Any) -> Point:
    """Return the point of X that a user means by x."""
    parts = getattr(X, "parts", None)
    if parts is not None and isinstance(x, tuple) and len(x) == len(parts):
        return tuple(from_user(part, p) for part, p in zip(parts, x, strict=True))
    return X.from_user(x) if isinstance(X, Lifted) else x


def why_unprovable(X: Any) -> str:
    """Return why nothing can be proved over X, in words that say what to add; else empty."""
    inner = [*getattr(X, "parts", ()), *([X.X] if hasattr(X, "X") else [])]
    return next(filter(None, [getattr(X, "unprovable", ""), *map(why_unprovable, inner)]), "")
