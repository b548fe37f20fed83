"""The interfaces. Everything else implements one of these; read this first.

A problem is  minimise f(x) + h(Ax) over x in X,  with f(x) = phi(Mx) smooth, h the indicator of a
set K, a nonsmooth function g, or both, and X reached only through its oracle `lmo`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.proof import Proof

if TYPE_CHECKING:
    from condal.methods.state import State, Warm
    from condal.problem import Problem


@runtime_checkable
class Domain(Protocol):
    """X, a compact convex set, reached by its linear minimisation oracle."""

    @property
    def diameter(self) -> float:
        """D_X, an upper bound on |x - x'| over X."""

    @property
    def max_norm(self) -> float:
        """max |x| over X, to scale problems by."""

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> Point:
        """A point s of X with <v, s> <= min over X of <v, .> + tol, near `guess` if it can be."""

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """A proved lower bound on min over X of <v, .>, not lower than the minimum by much
        more than `slack` if that can be had, wrong with probability at most `failure`. The proof
        may stop at a bound of `enough`."""

    def distance(self, x: Point) -> float:
        """An upper bound on how far x is from X; 0 for a member."""

    def check(self, v: Gradient, name: str) -> None:
        """Raise ProblemError unless v is a gradient on the space of X."""


@runtime_checkable
class Spectral(Domain, Protocol):
    """X = {x psd : tr x = trace, or <= trace}, the points of which have factors x = R R'."""

    @property
    def n(self) -> int:
        """The side of x."""

    @property
    def trace(self) -> float:
        """The trace of x, or its bound."""

    @property
    def at_most(self) -> bool:
        """Whether the trace is a bound."""

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        """The smallest eigenvalues of v, at most `count`, in rising order and the first within
        tol, and orthonormal eigenvectors, a column each: estimates, never a proof. They are
        looked for beside the span of the columns of `beside`, where v is known."""

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        """The nearest point of X to the symmetric n x n array v, within tol. A `guess` of about
        its rank may make it cheaper."""


def spectral_parts(X: Domain) -> tuple[Spectral, ...] | None:
    """X alone if it is spectral, the parts of a product if all of them are; else None."""
    parts = (X,) if isinstance(X, Spectral) else tuple(getattr(X, "parts", ()))
    found = tuple(part for part in parts if isinstance(part, Spectral))
    return found if parts and len(found) == len(parts) else None


@runtime_checkable
class Projectable(Domain, Protocol):
    """X, a domain whose nearest points are known as well."""

    def project(self, v: Any) -> Point:
        """The nearest point of X to v, an array or a tuple of arrays."""


def projects(X: Domain) -> bool:
    """Whether X has a projection; a product, if each of its parts has."""
    parts = getattr(X, "parts", None)
    if parts is not None:
        return all(projects(part) for part in parts)
    return isinstance(X, Projectable)


@runtime_checkable
class Lifted(Domain, Protocol):
    """X, the points of which stand for others: Hermitian or rectangular matrices (`lifting`)."""

    def to_user(self, x: Point) -> Any:
        """What the point x stands for."""

    def from_user(self, x: Any) -> Point:
        """A point that stands for x; a point of X as it is."""


class LinearMap(Protocol):
    """A, B or M: a linear map from the space of X to vectors of length `size`."""

    @property
    def size(self) -> int:
        """The length of an image."""

    @property
    def norm(self) -> float:
        """An upper bound on |A|, the largest |Ax| / |x| (Euclidean norms), close to it."""

    def __call__(self, x: Point) -> Array:
        """Ax."""

    def adjoint(self, y: Array) -> Gradient | None:
        """A'y; None for a map to nothing."""

    @property
    def terms(self) -> int:
        """How many products add up to an entry of A'y, at most: what its rounding grows with."""

    def scaled(self, rows: Array) -> LinearMap:
        """x -> rows * Ax."""

    @property
    def diagonal_rows(self) -> Array | None:
        """d: Ax = d * diag(x), or d * sums of diag(x) over runs of n / size entries, or None."""

    def row_norms(self) -> Array:
        """|A_i| for each row i, as elements of the space of X."""

    def as_matrix(self) -> Any | None:
        """A as a CSR array of a row for each A_i. On symmetric matrices A_i is flattened, both
        triangles: Ax = as_matrix() @ x.ravel() and A'y = (as_matrix().T @ y).reshape(n, n). On
        tuples the blocks stand side by side. None where an operator hides the numbers of A, or
        where they are too many to write down."""


class Smooth(Protocol):
    """f(x) = phi(Mx), convex, its gradient L-Lipschitz in x; a proof asks more of one `Rounded`."""

    @property
    def M(self) -> LinearMap:
        """The map through which f sees x."""

    @property
    def L(self) -> float:
        """The Lipschitz constant of the gradient of f."""

    def value(self, u: Array) -> float:
        """phi(u)."""

    def gradient(self, u: Array) -> Array:
        """The gradient of phi at u; that of f at x is M'(gradient(Mx))."""

    def scaled(self, c: float) -> Smooth:
        """c f, for c > 0."""

    def variation(self, max_norm: float) -> float:
        """How much f can vary where |x| <= max_norm, to scale problems by."""


class Proximable(Protocol):
    """h: the indicator of a set K, a nonsmooth function g, or a sum of these over blocks."""

    @property
    def size(self) -> int:
        """The length of z in h(z)."""

    @property
    def separable(self) -> bool:
        """Whether each coordinate may be scaled by a factor of its own."""

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of h, which bounds |y| over dom h*; inf for a set."""

    @property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """Slices of z, in turn, and the functions of these that add up to h: as short as `PIECE`
        where h can be cut, so that what is made of a piece is made without leaving the cache."""

    @property
    def fixed(self) -> Array | None:
        """b, where h is the indicator of {b}; else None."""

    def prox(self, z: Array, t: float) -> Array:
        """argmin_r h(r) + |r - z|^2 / (2 t); the projection for a set."""

    def value(self, z: Array) -> float:
        """The finite part of h(z): 0 for a set."""

    def distance(self, z: Array) -> float:
        """The distance from z to dom h: to K for a set."""

    def normal_residual(self, z: Array) -> Array:
        """z less the nearest point of dom h: a normal of dom h, 0 where h is finite at z."""

    def support(self, d: Array) -> float:
        """sup <d, z> over dom h: h*(d) for a set; 0 at 0, else inf, if h is finite everywhere."""

    def support_abs_sum(self, d: Array) -> float:
        """The sum of the absolute values of the terms of support(d)."""

    def support_error(self, d: Array) -> float:
        """What `dual_error` is, of a d where the support is finite up to rounding."""

    def conjugate(self, y: Array) -> float:
        """h*(y) = sup_z <y, z> - h(z); inf outside its domain."""

    def conjugate_abs_sum(self, y: Array) -> float:
        """The sum of the absolute values of the terms of h*(y): what its rounding is part of."""

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam (z - prox(z, 1/lam)), which is prox_{lam h*}(lam z): a point where h* is finite,
        under rounding too. It is written to `out` if that is given, which may be z itself."""

    def dual_point(self, y: Array) -> Array:
        """The nearest point to y where h* is finite."""

    def dual_error(self, y: Array) -> float:
        """An upper bound on how far y, where h* is finite up to rounding, is from a point where it
        is so exactly, and is what `conjugate` says: no vector of doubles may be such a point."""

    def scaled(self, rows: Array, c: float) -> Proximable:
        """z -> c h(z / rows), for rows > 0 and c > 0."""


class Storage(Protocol):
    """What is kept of x. A method touches x by `move` alone."""

    def move(self, s: Point, eta: float) -> None:
        """x <- (1 - eta) x + eta s."""

    def load(self, x: Point) -> None:
        """x <- the given point."""

    def point(self) -> Point:
        """x, or the best that is known of it."""


@runtime_checkable
class AtomStorage(Storage, Protocol):
    """x = sum_i weights_i s_i, kept as its atoms, whose weights a method may set."""

    weights: Array
    blocks: Indices

    def split(self, s: Point) -> tuple[Point, ...]:
        """The atoms that s joins as, each with a weight of its own; they add up to s."""

    def whole(self) -> tuple[Point, ...]:
        """The atoms, in the order of `weights`; those of one block have weights that sum to 1."""

    def reweigh(self, weights: Array) -> None:
        """x <- sum_i weights_i s_i; the atoms of weight 0 are dropped."""


Keeps: TypeAlias = Literal["x", "factor", "atoms", "atoms by block", "sketch"]


class Method(Protocol):
    """An algorithm: a frozen record that yields states."""

    @property
    def name(self) -> str:
        """What the method is called in tables and at the command line."""

    @property
    def keeps(self) -> Keeps:
        """What it wants kept of x: all that memory allows, its atoms, or no more than a sketch."""

    def start(self, problem: Problem, warm: Warm | None = None) -> State:
        """The state to begin with, or to go on from where `warm` ended; ProblemError, in one line,
        if the method does not apply to the problem."""

    def iterates(self, problem: Problem, x: Storage, start: State | None = None) -> Iterator[State]:
        """The states after each iteration, from `start` on; they end when it can do no more."""
