"""Gradients, the linear functions on the space of X: arrays, `Symmetric`s, and tuples of these."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric, require_same_space

Gradient: TypeAlias = Array | Symmetric | tuple["Gradient", ...]


def add(a: Gradient | None, b: Gradient | None) -> Gradient:
    """a + b; None is the gradient of nothing."""
    if a is None:
        if b is None:
            raise ProblemError("the problem has neither an objective nor a constraint")
        return b
    if b is None:
        return a
    require_same_space(_shape(a), _shape(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(add(p, q) for p, q in zip(a, b, strict=True))
    if isinstance(a, Symmetric) and isinstance(b, Symmetric):
        return a + b
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    return a + b


def _shape(v: Gradient) -> Any:
    return len(v) if isinstance(v, tuple) else v.shape


def dot(v: Gradient, x: Point) -> float:
    """<v, x>."""
    if isinstance(v, tuple):
        assert isinstance(x, tuple)
        return sum(dot(p, q) for p, q in zip(v, x, strict=True))
    assert not isinstance(x, tuple)
    if isinstance(v, Symmetric):
        return v.quadratic(x)
    return float(np.vdot(v, np.asarray(x)))


def functional(x: Point) -> Gradient:
    """<x, .>, for a point x kept as an array: n numbers, or n x n of a symmetric matrix."""
    if isinstance(x, tuple):
        return tuple(functional(part) for part in x)
    array = np.asarray(x)
    return Symmetric(len(array), dense=array) if array.ndim == 2 else array
