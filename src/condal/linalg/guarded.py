"""Checks of the numbers, arrays, points and gradients that user code returns.

Each value is checked once, in one pass. The checks live in linalg because user operators are
multiplied as soon as a map or an objective is built (see `guarded_operators`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from condal.errors import PieceError
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric

NAMES = {
    "f": "the objective f",
    "M": "the map M of f",
    "X": "the domain X",
    "A": "the map A",
    "K": "the set K",
    "B": "the map B",
    "g": "the function g",
    "repair": "the repair",
    "propose": "the proposal",
}
OURS = ("condal", "condal_lab", "condal_mpi")


def is_ours(value: Any) -> bool:
    """Return whether a function, a class or the class of an object is of condal or of a package
    beside it."""
    return str(getattr(value, "__module__", "")).partition(".")[0] in OURS


@dataclass(frozen=True)
class UserPiece:
    """A user-supplied piece of a problem, and the method `verb` that is called (or "" for itself).

    `called` names the piece while its letter in the template is unknown. `advice` ends messages.
    """

    letter: str
    verb: str = ""
    called: str = ""
    advice: str = ""

    @property
    def name(self) -> str:
        """The name of the piece in messages."""
        whole = self.called or NAMES[self.letter]
        return f"{self.verb} of {whole}" if self.verb else whole

    def asked(self) -> UserPiece:
        """Context manager: re-raise any exception from user code as a PieceError that names it."""
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, PieceError | MemoryError):
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            raise PieceError(f"{self.name} raised {what}", piece=self.letter) from error

    def wrong(self, got: str, wanted: str) -> NoReturn:
        """Raise PieceError: the piece returned one thing and promised another."""
        raise PieceError(
            f"{self.name} returned {got} where {wanted} was promised{self.advice}",
            piece=self.letter,
        )

    def number(self, value: Any, wanted: str = "a number") -> float:
        """Return the value if it is a real number, infinity included."""
        if not isinstance(value, Real | np.bool_) and np.shape(value) != ():
            self.wrong(_kind(value), wanted)
        try:
            number = float(value)
        except (TypeError, ValueError):
            self.wrong(_kind(value), wanted)
        if np.isnan(number):
            self.wrong("nan", wanted)
        return number

    def array(self, value: Any, shape: tuple[int, ...]) -> Array:
        """Return the value if it is an array of finite doubles of that shape; convert integers."""
        if not isinstance(value, np.ndarray):
            self.wrong(_kind(value), f"an array of shape {shape}")
        if value.shape != shape:
            self.wrong(f"shape {value.shape}", f"{shape}")
        if value.dtype != np.float64:
            if value.dtype.kind not in "biu":
                self.wrong(f"numbers of type {value.dtype}", "float64")
            value = value.astype(np.float64)
        if not _finite(value):
            bad = np.argwhere(~np.isfinite(value))[0]
            where = ", ".join(str(i) for i in bad)
            self.wrong(f"{value[tuple(bad)]} at index {where}", "a finite number")
        return value

    def point(self, x: Any, like: Gradient) -> Point:
        """Return x if it is a point of the space of the gradient `like`."""
        if isinstance(like, tuple):
            blocks = self._blocks(x, len(like))
            return tuple(self.point(block, v) for block, v in zip(blocks, like, strict=True))
        if not isinstance(like, Symmetric):
            return self.array(x, np.shape(like))
        if not isinstance(x, LowRank):
            return self.array(x, like.shape)
        if np.ndim(x.U) != 2 or x.U.shape[0] != like.n or x.weights.shape != x.U.shape[1:]:
            got = f"a LowRank with U of shape {x.U.shape} and {x.weights.size} weights"
            self.wrong(got, f"one of side {like.n}")
        self.array(x.U, x.U.shape)
        self.array(x.weights, x.weights.shape)
        return x

    def gradient(self, v: Any, like: Gradient | None) -> Gradient | None:
        """Return v if it is a gradient of the space of `like`."""
        if isinstance(like, tuple):
            pairs = zip(self._blocks(v, len(like)), like, strict=True)
            # None, the zero of any space, may be among them.
            return tuple(self.gradient(block, w) for block, w in pairs)  # type: ignore[misc]  # a recursive type
        if like is None:  # a map with no rows
            return None
        if not isinstance(like, Symmetric):
            return self.array(v, like.shape)
        if not isinstance(v, Symmetric):
            self.wrong(_kind(v), f"a condal.operators.Symmetric of side {like.n}")
        if v.n != like.n:
            self.wrong(f"a Symmetric of side {v.n}", f"one of side {like.n}")
        if not all(_finite(numbers) for term in v.terms for numbers in term.arrays()):
            self.wrong("a Symmetric with nan or inf in it", "one of finite numbers")
        return v

    def _blocks(self, x: Any, count: int) -> tuple[Any, ...]:
        if not isinstance(x, tuple):
            self.wrong(_kind(x), f"a tuple of {count} blocks")
        if len(x) != count:
            self.wrong(f"{len(x)} blocks", f"{count}")
        return x


class Products(UserPiece):
    """The products of an operator, whose shapes SciPy checks first."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ValueError):
            shapes = re.match(r"cannot reshape array of size (\d+) into shape (.*)", str(error))
            if shapes is not None:
                self.wrong(f"an array of size {shapes[1]}", f"one of shape {shapes[2]}")
            if str(error).startswith("dimension mismatch"):
                self.wrong("no product (dimension mismatch)", "one of its shape")
        super().__exit__(kind, error, trace)


def _finite(values: Any) -> bool:
    """Whether all values are finite; a finite sum of squares is a quick proof."""
    return isfinite(np.vdot(values, values)) or bool(np.isfinite(values).all())


def _kind(value: Any) -> str:
    """Describe a value, with its article."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
