"""User-supplied pieces that forward to another one, except for the members a test changes, and a
problem that has one of every piece."""

from collections.abc import Callable
from typing import Any

import numpy as np

import condal

N = 6


class Forwarding:
    """A piece that forwards to `inner` every public name that its own class lacks.

    `__getattr__` is not enough: since Python 3.12, isinstance looks for the members of a protocol
    in the class.
    """

    def __new__(cls, inner: Any, *args: Any, **options: Any) -> Any:
        names = [name for name in dir(inner) if not (name.startswith("_") or hasattr(cls, name))]
        members = {name: property(lambda self, name=name: self._forward(name)) for name in names}
        piece = super().__new__(type(cls.__name__, (cls,), members))
        piece._inner = inner
        return piece

    def _forward(self, name: str) -> Any:
        return getattr(self._inner, name)


def problem_of(**changes: Callable[[Any], Any]) -> condal.Problem:
    """Return a composite problem over the simplex, with its pieces changed by their letters."""
    rng = np.random.default_rng(0)
    pieces = {
        "f": condal.LeastSquares(rng.standard_normal((4, N)), 3 * rng.standard_normal(4)),
        "X": condal.Simplex(N),
        "A": condal.Matrix(rng.standard_normal((2, N))),
        "K": condal.Box([-0.3, -0.3], [0.3, 0.3]),
        "B": condal.Matrix(rng.standard_normal((3, N))),
        "g": condal.L1(t=0.3, size=3),
    }
    for letter, change in changes.items():
        if letter == "M":
            pieces["f"] = condal.LeastSquares(change(pieces["f"].M), pieces["f"].c)
        else:
            pieces[letter] = change(pieces[letter])
    return condal.Problem.of(**pieces)
