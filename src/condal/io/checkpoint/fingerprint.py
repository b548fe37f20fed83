"""SHA-256 of the numbers and the structure of a problem: the same data have the same, anywhere.

What is hashed: the names of classes, the values of their attributes, and the shape, dtype and
numbers of arrays and sparse matrices, all the way down. What is not: where they are in memory and
in which order, caches, a name that errors use, and what is computed from the rest by routines whose
rounding depends on their version.

A function, and an object of another library's, is hashed as far as it can be seen: by its name, and
by its public attributes; a function of condal's own, with all that is in its closure. What another
computes is not seen: `probes` tries that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from condal.problem import Problem

PIECE = 1 << 21  # numbers that are copied at a time, where they must be
DEEPEST = 100
DERIVED = {  # by rounding that another version may do otherwise
    "Affine": ("_Q", "_R"),
    "Operator": ("norm", "name"),
    "Polytope": ("_member", "_least", "_most"),
    "Problem": ("name",),
}
Told: TypeAlias = Callable[[Any], Sequence[str] | None]
NUMBERS = (int, float, complex, np.bool_, np.number)


def fingerprint(problem: Problem) -> str:
    """The SHA-256, in hexadecimal."""
    return seen(problem)[0]


def seen(problem: Problem, told: Told | None = None) -> tuple[str, bool]:
    """The fingerprint, and whether all can be seen: no part is a function, or of a class that is
    not condal's. Two problems of one fingerprint may differ where that is not so.

    What `told` has words for is seen by these alone: what many processes hold together.
    """
    seeing = _Seeing(told)
    seeing.see(problem)
    return seeing.digest.hexdigest(), not seeing.hidden


class _Seeing:
    """The digest so far, what is open above, and whether something could not be seen."""

    def __init__(self, told: Told | None = None) -> None:
        self._told = told
        self.digest = hashlib.sha256()
        self.hidden = False
        self._above: list[int] = []

    def see(self, value: Any) -> None:
        """Add a value, of any kind."""
        if value is None or isinstance(value, bool | str | bytes | slice | range | np.dtype | type):
            self._tag("value", type(value).__name__, _spelled(value))
        elif isinstance(value, NUMBERS):
            self._tag("number", _number(value))
        elif isinstance(value, Enum):
            self._tag("enum", type(value).__qualname__, value.name)
        elif self._told is not None and (words := self._told(value)) is not None:
            self._tag("told", *words)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif sp.issparse(value):
            self._sparse(value)
        elif id(value) in self._above or len(self._above) > DEEPEST:
            self._tag("above")
        else:
            self._above.append(id(value))
            self._compound(value)
            self._above.pop()

    def _compound(self, value: Any) -> None:
        if isinstance(value, tuple | list):
            self._tag("items", str(len(value)))
            for each in value:
                self.see(each)
        elif isinstance(value, set | frozenset):
            self._tag("set", *sorted(_alone(each) for each in value))
        elif isinstance(value, Mapping):
            self._tag("pairs", str(len(value)))
            named = {_alone(key): each for key, each in value.items()}
            for key, each in sorted(named.items(), key=_first):
                self._tag("key", key)
                self.see(each)
        elif isinstance(value, Problem):
            self._object(value, skipped=("repair", "propose"))
            for name in ("repair", "propose"):
                call = getattr(value, name)
                self._tag(name, "none" if call is None else _name_of(call))
        elif callable(value) and not _is_object(value):
            self._function(value)
        else:
            self._object(value)

    def _object(self, value: Any, skipped: tuple[str, ...] = ()) -> None:
        """The class, and the attributes that are neither caches nor derived."""
        cls = type(value)
        ours = _is_ours(cls)
        self.hidden = self.hidden or not ours
        skipped = (*skipped, *DERIVED.get(cls.__name__, ())) if ours else skipped
        self._tag("object", cls.__qualname__)
        for name in sorted(_attributes(value)):
            if name.startswith("_") and not (ours or _is_ours(getattr(value, name))):
                continue  # it may be a cache, which is there or not
            if name not in skipped and not isinstance(getattr(cls, name, None), cached_property):
                self._tag("attribute", name)
                self.see(getattr(value, name))
        self._tag("end")

    def _function(self, call: Any) -> None:
        """Its name; one of condal's, with what it has in its closure."""
        self._tag("function", _name_of(call))
        if not _is_ours(call):
            self.hidden = True
            return
        self.see(getattr(call, "__self__", None))
        for cell in getattr(call, "__closure__", None) or ():
            self.see(cell.cell_contents)

    def _array(self, array: NDArray[Any]) -> None:
        if array.dtype.kind not in "biufc":
            self.hidden = True
            self._tag("array", array.dtype.str, str(array.shape), repr(array.tolist()))
            return
        low = array.dtype.newbyteorder("<")
        self._tag("array", low.str, str(array.shape))
        if array.ndim == 0 or array.flags.c_contiguous:
            flat = array.reshape(-1)
            step = PIECE
        else:
            flat, step = array, max(1, PIECE // max(1, array[:1].size))
        for begin in range(0, len(flat), step):
            piece = np.ascontiguousarray(flat[begin : begin + step], dtype=low)
            self.digest.update(piece.reshape(-1).view(np.uint8).data)

    def _sparse(self, matrix: Any) -> None:
        """As CSR or CSC, its entries in order and each there once; whole numbers as int64."""
        if matrix.format not in ("csr", "csc"):
            matrix = matrix.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self._tag("sparse", matrix.format, str(tuple(matrix.shape)))
        self._array(matrix.data)
        for indices in (matrix.indices, matrix.indptr):
            self._tag("indices", str(indices.size))
            for begin in range(0, indices.size, PIECE):
                piece = indices[begin : begin + PIECE].astype("<i8")
                self.digest.update(piece.view(np.uint8).data)

    def _tag(self, *words: str) -> None:
        """Words with their lengths: no two lists of them are the same bytes."""
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self.digest.update(f"{len(data)}:".encode() + data)
        self.digest.update(b";")


def _attributes(value: Any) -> set[str]:
    """The names of the attributes of an instance: of its dict, its slots and its fields."""
    names = set(getattr(value, "__dict__", {}))
    if is_dataclass(value):
        names.update(field.name for field in fields(value))
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        names.update(name for name in ((slots,) if isinstance(slots, str) else slots))
    return {name for name in names if hasattr(value, name)}


def _is_object(value: Any) -> bool:
    """Whether a callable has something in it: an instance with attributes, and no function."""
    function = hasattr(value, "__code__") or hasattr(value, "__self__")
    return bool(_attributes(value)) and not function


def _is_ours(value: Any) -> bool:
    """Whether a class or a function is condal's."""
    return str(getattr(value, "__module__", "")).partition(".")[0] == "condal"


def _alone(value: Any) -> str:
    """The fingerprint of one value."""
    seeing = _Seeing()
    seeing.see(value)
    return seeing.digest.hexdigest()


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _name_of(call: Any) -> str:
    return str(getattr(call, "__qualname__", None) or type(call).__qualname__)


def _spelled(value: Any) -> str:
    return value.__qualname__ if isinstance(value, type) else repr(value)


def _number(value: Any) -> str:
    """A number by its value: 3 is 3.0, and NumPy's is Python's."""
    plain = value.item() if isinstance(value, np.generic) else value
    whole = isinstance(plain, int) and abs(plain) <= 2**53
    return repr(float(plain) if whole else plain)
