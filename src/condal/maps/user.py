"""Linear maps of users: a LinearOperator, or a map with defaults for what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import ProblemError
from condal.linalg.gradients import Gradient, dot, norm
from condal.linalg.operator_norms import operator_norm
from condal.linalg.points import Array, Point
from condal.linalg.rounding import TINY
from condal.linalg.sparse import is_operator
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import BasicMap, Scaled
from condal.runtime.arguments import (
    copy_members,
    has_member,
    refuse_complex,
    require_members,
    require_positive,
)
from condal.types import LinearMap, MapLike

MAX_NORM_PRODUCTS = 2000  # to compute the norms of the rows
UNIT_VECTORS_PER_BLOCK = 64
MAX_ROWS_MEASURED = 2000  # one adjoint per row; the norms of more rows are bounded by |A|
OPTIONAL = ("norm", "terms", "diagonal_rows", "row_norms", "as_matrix")


@dataclass(frozen=True, eq=False)
class Operator(BasicMap):
    """The map A x = op x of a linear operator, for x a vector.

    Parameters
    ----------
    op : LinearOperator of shape (p, n)
        A real operator of SciPy or PyLops, in double precision.
    norm : float, optional
        An upper bound on |op|. Without one, about 60 products bound it, but for a probability of
        1e-6.
    name : str, default "op"
        The name of the operator in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import LinearOperator
    >>> from condal.maps import Operator
    >>> op = LinearOperator((2, 2), matvec=np.flip, rmatvec=np.flip, dtype=float)
    >>> Operator(op, norm=1.0)(np.array([1.0, 2.0]))
    array([2., 1.])
    """

    op: Any
    norm: Any = None
    name: str = field(default="op", repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not is_operator(self.op):
            raise ProblemError(
                f"Operator takes a SciPy LinearOperator; got {type(self.op).__name__}: for a "
                "matrix, dense or sparse, use condal.Matrix"
            )
        refuse_complex(self.op.dtype, "the operator")
        if self.op.dtype is not None and self.op.dtype in (np.float16, np.float32):
            raise ProblemError(
                f"the operator computes in {self.op.dtype}, too coarse for a proof: make it one of "
                "float64"
            )
        if self.norm is None:
            object.__setattr__(self, "norm", operator_norm(self.op, self.name))
        else:
            require_positive(self.norm, "norm")

    @property
    def size(self) -> int:
        return int(self.op.shape[0])

    @property
    def terms(self) -> int:
        """p, as for a dense matrix."""
        return self.size

    def row_norms(self) -> Array:
        """The norms of the rows, by min(p, n) products; if these are too many, the bound |op|."""
        return self._row_norms.copy()

    def as_matrix(self) -> None:
        """None: the entries are unknown."""

    def __call__(self, x: Point) -> Array:
        return _real(self.op.matvec(np.asarray(x)))

    def adjoint(self, y: Array) -> Gradient:
        return _real(self.op.rmatvec(y))

    @cached_property
    def _row_norms(self) -> Array:
        p, n = self.op.shape
        if min(p, n) > MAX_NORM_PRODUCTS:
            return np.full(p, self.norm)
        squares, by_rows = np.zeros(p), p <= n
        for first in range(0, min(p, n), UNIT_VECTORS_PER_BLOCK):
            block = slice(first, first + UNIT_VECTORS_PER_BLOCK)
            units = np.eye(min(p, n))[:, block]
            if by_rows:
                squares[block] = (_real(self.op.rmatmat(units)) ** 2).sum(axis=0)
            else:
                squares += (_real(self.op.matmat(units)) ** 2).sum(axis=1)
        return np.sqrt(squares)


def _real(image: Any) -> Array:
    """Return a copy: an operator may return its argument."""
    return np.array(image, dtype=np.float64)


class UserMap:
    """A user's map, with defaults for the members of `LinearMap` that it lacks.

    |A| is bounded by about 60 products with A A', up to a failure probability of 1e-6.
    """

    of_user = True
    diagonal_rows: Array | None = None

    def __init__(self, A: Any, name: str) -> None:
        self.A, self._name = A, name
        self.size = self.terms = int(A.size)
        copy_members(self, A, OPTIONAL)

    def __call__(self, x: Point) -> Array:
        return self.A(x)

    def adjoint(self, y: Array) -> Gradient | None:
        return self.A.adjoint(y)

    @cached_property
    def norm(self) -> float:
        from scipy.sparse.linalg import LinearOperator

        def product(y: Any) -> Array:
            return self.A(_as_point(self.A.adjoint(np.ravel(y))))

        shape = (self.size, self.size)
        gram = LinearOperator(shape, matvec=product, rmatvec=product, dtype=np.float64)
        return float(np.sqrt(operator_norm(gram, type(self.A).__name__)))

    def row_norms(self) -> Array:
        return self._row_norms.copy()

    @cached_property
    def _row_norms(self) -> Array:
        if self.size > MAX_ROWS_MEASURED:
            return np.full(self.size, self.norm)
        return np.array([_norm(self.A.adjoint(unit)) for unit in np.eye(self.size)])

    def as_matrix(self) -> Any | None:
        return None

    def scaled(self, rows: Array) -> LinearMap:
        if has_member(self.A, "scaled"):
            return complete_map(self.A.scaled(rows), self._name)
        return Scaled(self, rows)


def as_map(a: Any, name: str = "op") -> LinearMap:
    """Return a map unchanged, the Operator of a LinearOperator or the Matrix of an array."""
    if is_operator(a):  # first: its `adjoint` is of another kind
        return Operator(a, name=name)
    if hasattr(a, "adjoint"):
        return complete_map(a, name)
    from condal.maps.vectors import Matrix

    return Matrix(a)


def complete_map(A: MapLike, name: str) -> Any:
    """Return A, or a `UserMap` if A lacks members; ProblemError names those it must have."""
    purposes = {"size": "the length of Ax", "__call__(x)": "Ax"}
    require_members(A, f"the map {name}", purposes)
    return A if all(has_member(A, member) for member in (*OPTIONAL, "scaled")) else UserMap(A, name)


def _as_point(v: Any) -> Any:
    """Return the gradient v as a point of its space."""
    if isinstance(v, tuple):
        return tuple(_as_point(block) for block in v)
    return v.to_dense() if isinstance(v, Symmetric) else v


def _norm(v: Any) -> float:
    """Return |v|, the Euclidean norm."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([_norm(block) for block in v]))
    return float(np.linalg.norm(_as_point(v)))


def check_adjoint(
    A: LinearMap, points: Sequence[Point], *, seed: int = 0, tol: float = 1e-8
) -> float:
    r"""Check that :math:`\langle Ax, y \rangle = \langle x, A^T y \rangle` for random y.

    Parameters
    ----------
    A : LinearMap
        The map to check.
    points : sequence of Point
        Points x of the space that A maps from.
    seed : int, default 0
        The seed of the random y.
    tol : float, default 1e-8
        The largest error that passes.

    Returns
    -------
    float
        The largest error over the points, relative to the larger of :math:`|Ax| |y|` and
        :math:`|A^T y| |x|`: an image may be small by cancellation.

    Raises
    ------
    ProblemError
        If an error exceeds `tol`, or an image does not have the size of the map.

    Examples
    --------
    >>> import numpy as np
    >>> from condal.maps import Matrix, check_adjoint
    >>> check_adjoint(Matrix(np.eye(3)), [np.ones(3)]) < 1e-15
    True
    """
    rng = np.random.default_rng(seed)
    errors: list[float] = []
    for x in points:
        image = A(x)
        if image.shape != (A.size,):
            raise ProblemError(f"the map says size {A.size}, but an image has shape {image.shape}")
        y = rng.standard_normal(A.size)
        gradient = A.adjoint(y)
        right = 0.0 if gradient is None else dot(gradient, x)
        left = float(image @ y)
        scale = float(np.linalg.norm(image) * np.linalg.norm(y))
        if gradient is not None:
            scale = max(scale, norm(gradient, rng) * norm(x, rng))
            errors.append(_asymmetry(gradient, rng))
        errors.append(abs(left - right) / max(scale, TINY))
    worst = float(np.max(errors, initial=0.0))  # unlike `max`, this returns nan if there is one
    if not worst <= tol:
        raise ProblemError(
            f"the adjoint is wrong: <Ax, y> and <x, A'y> differ by {worst:.3g} of their size; "
            "an entry off the diagonal must be split between (i, j) and (j, i)"
        )
    return worst


def _asymmetry(v: Gradient, rng: np.random.Generator) -> float:
    """|<Va, b> - <a, Vb>|, relative, for random a and b; 0 for a gradient on vectors."""
    if isinstance(v, tuple):
        return float(np.max([_asymmetry(block, rng) for block in v]))
    if not isinstance(v, Symmetric):
        return 0.0
    a, b = rng.standard_normal((2, v.n))
    # A block: the product with one vector may read half of V only.
    Va, Vb = (v @ np.stack([a, b], axis=1)).T
    scale = float(np.linalg.norm(Va) * np.linalg.norm(b) + np.linalg.norm(a) * np.linalg.norm(Vb))
    return abs(float(Va @ b) - float(a @ Vb)) / max(scale, TINY)
