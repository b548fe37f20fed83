"""A user's own objective."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np

from condal.errors import PieceError, ProblemError
from condal.linalg.points import Array
from condal.maps.operator import as_map
from condal.maps.vectors import Identity
from condal.runtime.arguments import has_member, require_members, require_positive
from condal.types import LinearMap


class Function:
    """f(x) = phi(Mx), by the caller's own `value` and `gradient` of phi.

    Parameters
    ----------
    value : phi(u), a number, of a vector u; phi must be convex, also beyond the images of X.
    gradient : the gradient of phi at u, a vector of its length.
    L : a Lipschitz constant of the gradient of f in x: that of phi's times |M|^2.
    M : a matrix, or any linear map; x itself, a vector of length `size`, if left out.

    Bounds are proved from what `value` and `gradient` return: they hold if these are right, but for
    a few roundings of what they return, and phi is convex; and the certificate says so.
    `condal.check_problem` compares the two.
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
        self.M: LinearMap = Identity(size) if size is not None else as_map(M, "M")
        self._value, self._gradient = value, gradient
        self._L, self._weight = float(L), 1.0

    @property
    def L(self) -> float:
        """That of the caller."""
        return self._weight * self._L

    def value(self, u: Array) -> float:
        """phi(u), checked to be a number."""
        found = self._called("value", self._value, u)
        if found.shape not in ((), (1,)):
            raise PieceError(
                f"value must return one number; it returned an array of shape {found.shape}",
                piece="f",
            )
        return self._weight * float(found.reshape(-1)[0])

    def gradient(self, u: Array) -> Array:
        """The gradient of phi at u, checked to be a vector of its length."""
        found = self._called("gradient", self._gradient, u)
        if found.shape != u.shape:
            raise PieceError(
                f"gradient must return a vector of the length of u, {u.size}; it returned an array "
                f"of shape {found.shape}",
                piece="f",
            )
        return np.asarray(self._weight * found)

    def _called(self, name: str, function: Callable[[Array], Any], u: Array) -> Array:
        shown = u.view()
        shown.flags.writeable = False  # u is the solver's own
        try:
            found = np.asarray(function(shown), dtype=np.float64)
        except Exception as error:
            raise PieceError(
                f"the function given as {name} failed: {type(error).__name__}: {error}", piece="f"
            ) from error
        wrong = found[~np.isfinite(found)]
        if wrong.size:
            raise PieceError(
                f"the function given as {name} returned {wrong[0]} at a u "
                f"with entries from {u.min(initial=0.0):g} to {u.max(initial=0.0):g}: phi must be "
                "finite on all images of X",
                piece="f",
            )
        return found

    def variation(self, max_norm: float) -> float:
        """What its slope at u = 0 and its L allow, or its L alone where it has none there."""
        try:
            slope = float(np.linalg.norm(self.gradient(np.zeros(self.M.size))))
        except PieceError:
            slope = 0.0
        return slope * float(self.M.norm) * max_norm + 0.5 * self.L * max_norm**2

    def scaled(self, c: float) -> Function:
        """c phi."""
        found = copy(self)
        found._weight = self._weight * c
        return found


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
