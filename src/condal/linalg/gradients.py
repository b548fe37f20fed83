"""Gradients, the linear functions on the space of X: arrays, `Symmetric`s and tuples of these."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from condal.errors import ProblemError
from condal.linalg.points import Array, LowRank, Point
from condal.linalg.symmetric import Symmetric, require_same_space

Gradient: TypeAlias = Array | Symmetric | tuple["Gradient", ...]


def add(a: Gradient | None, b: Gradient | None) -> Gradient:
    """Return a + b; None is a zero of any space."""
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
    """Return <v, x>."""
    if isinstance(v, tuple):
        assert isinstance(x, tuple)
        return sum(dot(p, q) for p, q in zip(v, x, strict=True))
    assert not isinstance(x, tuple)
    if isinstance(v, Symmetric):
        return v.quadratic(x)
    return float(np.vdot(v, np.asarray(x)))


def norm(v: Gradient | Point, rng: np.random.Generator) -> float:
    """Return the Euclidean norm |v|; an estimate from one random product for a Symmetric."""
    if isinstance(v, tuple):
        return float(np.linalg.norm([norm(block, rng) for block in v]))
    if isinstance(v, Symmetric):  # the mean of |Vz|^2 is |V|_F^2
        return float(np.linalg.norm(v @ rng.standard_normal(v.n)))
    if isinstance(v, LowRank):
        gram = (v.U.T @ v.U) ** 2
        return float(np.sqrt(abs(float(v.weights @ gram @ v.weights))))
    return float(np.linalg.norm(v))


def functional(x: Point) -> Gradient:
    """Return <x, .> for a point x stored as arrays: vectors or symmetric matrices."""
    if isinstance(x, tuple):
        return tuple(functional(block) for block in x)
    array = np.asarray(x)
    return Symmetric(len(array), dense=array) if array.ndim == 2 else array
