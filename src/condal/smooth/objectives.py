"""Linear objectives, and objectives of a user with defaults for what they lack."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import Gradient
from condal.linalg.lifting import is_complex, symmetric
from condal.linalg.points import Array
from condal.linalg.rounding import Errors
from condal.linalg.symmetric import Symmetric
from condal.maps.combined import Across
from condal.maps.matrices import Cost
from condal.maps.user import as_map
from condal.runtime.arguments import finite_array, has_member, require_members, require_positive
from condal.types import DomainLike, LinearMap

_ONE = np.ones(1)
_ONE.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Linear:
    r"""The linear objective :math:`f(x) = \langle C, x \rangle`.

    Parameters
    ----------
    C : array_like, sparse array, LinearOperator, or tuple of these
        A vector, a symmetric matrix, or one of these for each block of a product.
    """

    L = 0.0

    C: Any

    @cached_property
    def M(self) -> LinearMap:
        return inner_with(self.C)

    def __post_init__(self) -> None:
        object.__setattr__(self, "C", checked_cost(self.C))

    def value(self, u: Array) -> float:
        return float(u[0])

    def gradient(self, u: Array) -> Array:
        return _ONE

    def errors(self, u: Array) -> Errors:
        """None: nothing is computed."""
        return Errors(0.0, 0.0)

    def variation(self, max_norm: float) -> float:
        return self.M.norm * max_norm

    def scaled(self, c: float) -> Linear:
        """<c C, x>; c may be negative."""
        return Linear(_times(self.C, c))


def checked_cost(C: Any) -> Any:
    """Return C as `Linear` stores it: a vector, a `Symmetric`, or a tuple of these."""
    if isinstance(C, tuple):
        return tuple(checked_cost(part) for part in C)
    if isinstance(C, Symmetric):
        return C
    shape = C.shape if hasattr(C, "shape") else np.shape(C) if is_complex(C) else ()
    if len(shape) == 2:
        return symmetric(C)
    array = finite_array(C, "C")
    if array.ndim == 1:
        return array.copy()
    return symmetric(array)


def inner_with(C: Any) -> LinearMap:
    """Return the map x -> [<C, x>]."""
    if isinstance(C, tuple):
        return Across(*(inner_with(part) for part in C))
    if isinstance(C, Symmetric):
        return Cost(C)
    from condal.maps.vectors import Matrix

    return Matrix(C)


def _times(C: Any, c: float) -> Any:
    if isinstance(C, tuple):
        return tuple(_times(part, c) for part in C)
    return C.scaled(c) if isinstance(C, Symmetric) else c * C


class Function:
    r"""A user's objective :math:`f(x) = \varphi(Mx)`, by value and gradient of :math:`\varphi`.

    Bounds are proved from what `value` and `gradient` return. They hold if these are right up to a
    few roundings and :math:`\varphi` is convex, and the certificate says so. `condal.check_problem`
    compares the two functions.

    Parameters
    ----------
    value : callable
        Returns :math:`\varphi(u)`, a number, for a vector u. :math:`\varphi` must be convex, also
        beyond the images of X.
    gradient : callable
        Returns the gradient of :math:`\varphi` at u, a vector of the same length.
    L : float
        A Lipschitz constant of the gradient of f: that of :math:`\varphi` times :math:`\|M\|^2`.
    M : array_like, sparse array, LinearOperator or linear map, optional
        The map M; give either M or size.
    size : int, optional
        The length of x, if M is the identity.

    Examples
    --------
    >>> import condal, numpy as np
    >>> f = condal.Function(lambda u: np.sum(u**4), lambda u: 4 * u**3, L=12.0, size=3)
    >>> condal.solve(condal.Problem.of(f, condal.Simplex(3))).status.name
    'SOLVED'
    """

    def __init__(
        self,
        value: Callable[[Array], float],
        gradient: Callable[[Array], Any],
        *,
        L: float,
        M: Any = None,
        size: int | None = None,
    ) -> None:
        for name, given in (("value", value), ("gradient", gradient)):
            if not callable(given):
                raise ProblemError(
                    f"{name} must be a function of a vector; got {type(given).__name__}"
                )
        if L != 0:
            require_positive(L, "L")
        if (M is None) == (size is None):
            raise ProblemError("Function takes one of M, the map in phi(Mx), and size, that of x")
        self.M = as_map(M, "M") if size is None else _identity(size)
        self._value, self._gradient = value, gradient
        self._L, self._weight = float(L), 1.0

    @property
    def L(self) -> float:
        return self._weight * self._L

    def value(self, u: Array) -> float:
        value = self._called("value", self._value, u)
        if value.shape not in ((), (1,)):
            raise PieceError(
                f"value must return one number; it returned an array of shape {value.shape}",
                piece="f",
            )
        return self._weight * float(value.reshape(-1)[0])

    def gradient(self, u: Array) -> Array:
        gradient = self._called("gradient", self._gradient, u)
        if gradient.shape != u.shape:
            raise PieceError(
                f"gradient must return a vector of the length of u, {u.size}; it returned an array "
                f"of shape {gradient.shape}",
                piece="f",
            )
        return np.asarray(self._weight * gradient)

    def _called(self, name: str, function: Callable[[Array], Any], u: Array) -> Array:
        read_only = u.view()
        read_only.flags.writeable = False  # u belongs to the solver
        try:
            answer = np.asarray(function(read_only), dtype=np.float64)
        except Exception as error:
            raise PieceError(
                f"the function given as {name} failed: {type(error).__name__}: {error}", piece="f"
            ) from error
        wrong = answer[~np.isfinite(answer)]
        if wrong.size:
            raise PieceError(
                f"the function given as {name} returned {wrong[0]} at a u "
                f"with entries from {u.min(initial=0.0):g} to {u.max(initial=0.0):g}: phi must be "
                "finite on all images of X",
                piece="f",
            )
        return answer

    def variation(self, max_norm: float) -> float:
        """What the slope at u = 0 and L allow; L alone if f has no slope there."""
        try:
            slope = float(np.linalg.norm(self.gradient(np.zeros(self.M.size))))
        except PieceError:
            slope = 0.0
        return slope * float(self.M.norm) * max_norm + 0.5 * self.L * max_norm**2

    def scaled(self, c: float) -> Function:
        twin = copy(self)
        twin._weight = self._weight * c
        return twin


def _identity(size: int) -> LinearMap:
    from condal.maps.vectors import Identity

    return Identity(size)


def complete_smooth(f: Any, X: Any, *maps: LinearMap | None) -> Any:
    """Return f, or a `Function` of its `value`, `gradient` and `L` if it lacks other members.

    Without `M`, f acts on x itself, a vector whose length is `f.size`, or that of the other pieces.
    """
    purposes = {
        "value(u)": "phi(u), a number",
        "gradient(u)": "the gradient of phi at u",
        "L": "a Lipschitz constant of the gradient of f, of which step sizes are made",
    }
    require_members(f, "the objective f", purposes)
    if all(has_member(f, name) for name in ("M", "scaled", "variation")):
        return f
    M = getattr(f, "M", None)
    size = _length_of_x(f, X, maps) if M is None else None
    return Function(f.value, f.gradient, L=f.L, M=M, size=size)


def _length_of_x(f: Any, X: Any, maps: tuple[LinearMap | None, ...]) -> int:
    for M in maps:
        gradient = None if M is None else M.adjoint(np.zeros(M.size))
        if isinstance(gradient, np.ndarray):
            return int(gradient.size)
    for piece, name in ((f, "size"), (X, "n")):
        if isinstance(getattr(piece, name, None), int | np.integer):
            return int(getattr(piece, name))
    raise ProblemError(
        f"the objective f, a {type(f).__name__}, does not say how long x is: add size, "
        "that length, or M, the linear map in f(x) = phi(Mx)"
    )


def zero_objective(X: DomainLike, *maps: LinearMap | None) -> Linear:
    """Return f = 0 on the space of the maps."""
    for M in maps:
        gradient = None if M is None else M.adjoint(np.zeros(M.size))
        if gradient is not None:
            return Linear(_nothing(gradient))
    raise ProblemError(
        f"f can be left out only where A or B says what the points of X look like: give f for "
        f"this {type(X).__name__}, such as condal.Linear of zeros"
    )


def _nothing(v: Gradient) -> Gradient:
    """Return 0 in the space of the gradient v."""
    if isinstance(v, tuple):
        return tuple(_nothing(part) for part in v)
    return Symmetric(v.n) if isinstance(v, Symmetric) else np.zeros_like(v)
