"""SHA-256 of the numbers and the structure of a problem, the same on every machine.

Hashed are the names of classes, the values of their attributes, and the shape, dtype and numbers of
arrays and sparse matrices, recursively. Not hashed are the layout in memory, caches, names for
error messages, and what is computed from the rest by routines whose rounding depends on their
version.

A function of condal is hashed with its closure. Other functions are hashed by their names, and
objects of other libraries by their public attributes. `probes` tells such problems apart: each
function or operator is evaluated once, at a vector that is the same in every process. The values
are compared up to rounding, which may depend on the number of threads: a small change of one number
among many can pass unnoticed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from math import isclose, isnan, nan, sqrt
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from condal.linalg.gradients import Gradient
from condal.linalg.guarded import is_ours
from condal.linalg.points import Array
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.types import LinearMap

NUMBERS_PER_PIECE = 1 << 21  # copied at a time, where a copy is needed
MAX_LEVELS = 100
DERIVED = {  # attributes that another version may round differently
    "Affine": ("_Q", "_R"),
    "Operator": ("norm", "name"),
    "Polytope": ("_member", "_least", "_most"),
    "Problem": ("name",),
}
WordsOf: TypeAlias = Callable[[Any], Sequence[str] | None]
NUMBERS = (int, float, complex, np.bool_, np.number)
PROBE_TOLERANCE = 1e-9  # relative to the larger of two values


def fingerprint_of(problem: Problem, words_of: WordsOf | None = None) -> tuple[str, bool]:
    """Return the fingerprint in hexadecimal, and whether it is complete: whether no part is an
    opaque function, or of a class outside condal. Two problems of one incomplete fingerprint may
    differ.

    Values for which `words_of` returns words, such as sharded data, are hashed by these alone.
    """
    hashing = _Hashing(words_of)
    hashing.add(problem)
    return hashing.digest.hexdigest(), not hashing.hidden


class _Hashing:
    """The digest so far, the objects that are open, and whether something is opaque."""

    def __init__(self, words_of: WordsOf | None = None) -> None:
        self._words_of = words_of
        self.digest = hashlib.sha256()
        self.hidden = False
        self._above: list[int] = []

    def add(self, value: Any) -> None:
        """Add a value of any kind."""
        if value is None or isinstance(value, bool | str | bytes | slice | range | np.dtype | type):
            spelled = value.__qualname__ if isinstance(value, type) else repr(value)
            self._tag("value", type(value).__name__, spelled)
        elif isinstance(value, NUMBERS):
            self._tag("number", _number(value))
        elif isinstance(value, Enum):
            self._tag("enum", type(value).__qualname__, value.name)
        elif self._words_of is not None and (words := self._words_of(value)) is not None:
            self._tag("words", *words)
        elif isinstance(value, np.ndarray):
            self._array(value)
        elif sp.issparse(value):
            self._sparse(value)
        elif id(value) in self._above or len(self._above) > MAX_LEVELS:
            self._tag("above")
        else:
            self._above.append(id(value))
            self._compound(value)
            self._above.pop()

    def _compound(self, value: Any) -> None:
        if isinstance(value, tuple | list):
            self._tag("items", str(len(value)))
            for each in value:
                self.add(each)
        elif isinstance(value, set | frozenset):
            self._tag("set", *sorted(_alone(each) for each in value))
        elif isinstance(value, Mapping):
            self._tag("pairs", str(len(value)))
            named = {_alone(key): each for key, each in value.items()}
            for key, each in sorted(named.items(), key=itemgetter(0)):
                self._tag("key", key)
                self.add(each)
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
        """Add the class, and the attributes that are neither caches nor derived."""
        cls = type(value)
        ours = is_ours(cls)
        self.hidden = self.hidden or not ours
        skipped = (*skipped, *DERIVED.get(cls.__name__, ())) if ours else skipped
        self._tag("object", cls.__qualname__)
        for name in sorted(_attributes(value)):
            if name.startswith("_") and not (ours or is_ours(getattr(value, name))):
                continue  # it may be a cache, which may be absent
            if name not in skipped and not isinstance(getattr(cls, name, None), cached_property):
                self._tag("attribute", name)
                self.add(getattr(value, name))
        self._tag("end")

    def _function(self, call: Any) -> None:
        """Add the name of a function, and the closure if it is condal's."""
        self._tag("function", _name_of(call))
        if not is_ours(call):
            self.hidden = True
            return
        self.add(getattr(call, "__self__", None))
        for cell in getattr(call, "__closure__", None) or ():
            self.add(cell.cell_contents)

    def _array(self, array: NDArray[Any]) -> None:
        if array.dtype.kind not in "biufc":
            self.hidden = True
            self._tag("array", array.dtype.str, str(array.shape), repr(array.tolist()))
            return
        low = array.dtype.newbyteorder("<")
        self._tag("array", low.str, str(array.shape))
        if array.ndim == 0 or array.flags.c_contiguous:
            flat = array.reshape(-1)
            step = NUMBERS_PER_PIECE
        else:
            flat, step = array, max(1, NUMBERS_PER_PIECE // max(1, array[:1].size))
        for begin in range(0, len(flat), step):
            piece = np.ascontiguousarray(flat[begin : begin + step], dtype=low)
            self.digest.update(piece.reshape(-1).view(np.uint8).data)

    def _sparse(self, matrix: Any) -> None:
        """Add a matrix as CSR or CSC, sorted and without duplicates, its indices as int64."""
        if matrix.format not in ("csr", "csc"):
            matrix = matrix.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        self._tag("sparse", matrix.format, str(tuple(matrix.shape)))
        self._array(matrix.data)
        for indices in (matrix.indices, matrix.indptr):
            self._tag("indices", str(indices.size))
            for begin in range(0, indices.size, NUMBERS_PER_PIECE):
                piece = indices[begin : begin + NUMBERS_PER_PIECE].astype("<i8")
                self.digest.update(piece.view(np.uint8).data)

    def _tag(self, *words: str) -> None:
        """Add words with their lengths, so that different lists give different bytes."""
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self.digest.update(f"{len(data)}:".encode() + data)
        self.digest.update(b";")


def _attributes(value: Any) -> set[str]:
    """Return the names of the attributes of an instance: in its dict, slots and fields."""
    names = set(getattr(value, "__dict__", {}))
    if is_dataclass(value):
        names.update(field.name for field in fields(value))
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        names.update(name for name in ((slots,) if isinstance(slots, str) else slots))
    return {name for name in names if hasattr(value, name)}


def _is_object(value: Any) -> bool:
    """Whether a callable is an instance with attributes, not a function."""
    function = hasattr(value, "__code__") or hasattr(value, "__self__")
    return bool(_attributes(value)) and not function


def _alone(value: Any) -> str:
    """Return the fingerprint of one value."""
    hashing = _Hashing()
    hashing.add(value)
    return hashing.digest.hexdigest()


def _name_of(call: Any) -> str:
    return str(getattr(call, "__qualname__", None) or type(call).__qualname__)


def _number(value: Any) -> str:
    """Spell a number by its value: 3 as 3.0, and NumPy's as Python's."""
    plain = value.item() if isinstance(value, np.generic) else value
    whole = isinstance(plain, int) and abs(plain) <= 2**53
    return repr(float(plain) if whole else plain)


def probes(problem: Problem) -> list[float]:
    """Evaluate f, M, A and h, and X if it is not condal's; NaN where a piece raises."""
    f, X, A, h = problem.f, problem.X, problem.A, problem.h

    def pulled_back(M: LinearMap) -> Any:
        return M.adjoint(wave(M.size))

    evaluations: list[Callable[[], float]] = [
        lambda: _along(pulled_back(f.M)),
        lambda: _along(pulled_back(A)),
        lambda: f.value(_positive(f.M.size)),
        lambda: _across(f.gradient(_positive(f.M.size))),
        lambda: _across(h.prox(wave(h.size), 1.0)),
        lambda: X.max_norm,
        lambda: X.diameter,
        lambda: A.norm,
    ]
    if hasattr(X, "of_user") or not is_ours(X):
        evaluations.append(lambda: _across(np.asarray(X.lmo(pulled_back(f.M)))))
    with np.errstate(all="ignore"):
        return [_evaluated(evaluate) for evaluate in evaluations]


def agree(before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether the values are the same up to rounding."""
    least = {"rel_tol": PROBE_TOLERANCE, "abs_tol": 1e-6 * PROBE_TOLERANCE}
    return len(before) == len(now) and all(
        isclose(a, b, **least) or (isnan(a) and isnan(b)) for a, b in zip(before, now, strict=True)
    )


def wave(n: int) -> Array:
    """Return (cos 1, cos 2, ..., cos n) / sqrt(n): a vector of about unit length, no pattern."""
    return np.asarray(np.cos(np.arange(1.0, n + 1.0)) / sqrt(max(n, 1)))


def _positive(n: int) -> Array:
    return np.asarray(1.5 + np.cos(np.arange(1.0, n + 1.0)))


def _along(v: Gradient | None) -> float:
    if v is None:
        return 0.0
    if isinstance(v, tuple):
        return sum((i + 1) * _along(part) for i, part in enumerate(v))
    if isinstance(v, Symmetric):
        return float(np.flip(wave(v.n)) @ (v @ wave(v.n)))
    return _across(v)


def _across(values: Any) -> float:
    flat = np.asarray(values, dtype=np.float64).ravel()
    return float(flat @ np.flip(wave(flat.size)))


def _evaluated(evaluate: Callable[[], float]) -> float:
    try:
        return float(evaluate())
    except Exception:  # the solve will meet it, and name the piece
        return nan
