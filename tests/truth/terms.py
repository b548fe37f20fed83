"""Nonsmooth g in NumPy: values and CVXPY expressions."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import condal
from cvxpy_later import cp
from truth.constraints import Psd


class Term(NamedTuple):
    """g: `made(c)` is condal's c g, `value` NumPy's, `rival` CVXPY's."""

    name: str
    made: Callable[[float], Any]
    value: Callable[[np.ndarray], float]
    rival: Callable[[Any], Any]


def random_term(size: int, rng) -> Term:
    """Return a term on vectors of that length."""
    t = float(rng.choice([0.1, 1.0, 3.0]))
    kinds = [_l1, _l2, _linf, _groups, _maximum, _absolute, _quantile, _hinge, _insensitive]
    kinds += [_largest] if size in (1, 3, 6) else []
    return kinds[int(rng.integers(len(kinds)))](size, t, rng)


def _times(t: float, made: Callable[[float], Any], value: Any, rival: Any) -> Term:
    """Return t times a function: `made(t)` is condal's, `value` and `rival` are for t = 1."""
    name = type(made(t)).__name__
    return Term(name, lambda c: made(c * t), lambda z: t * float(value(z)), lambda z: t * rival(z))


def _l1(size: int, t: float, rng) -> Term:
    w = 0.5 + rng.random(size)
    return _times(t, lambda t: condal.L1(t * w), lambda z: w @ np.abs(z), lambda z: w @ cp.abs(z))


def _l2(size: int, t: float, rng) -> Term:
    return _times(t, condal.L2, np.linalg.norm, cp.norm2)


def _linf(size: int, t: float, rng) -> Term:
    return _times(t, condal.Linf, lambda z: np.abs(z).max(), cp.norm_inf)


def _groups(size: int, t: float, rng) -> Term:
    groups = rng.integers(0, 3, size)
    places = [np.flatnonzero(groups == label) for label in np.unique(groups)]
    return _times(
        t,
        lambda t: condal.GroupL1(groups, t),
        lambda z: sum(float(np.linalg.norm(z[place])) for place in places),
        lambda z: sum(cp.norm2(z[place]) for place in places),
    )


def _maximum(size: int, t: float, rng) -> Term:
    return _times(t, condal.Maximum, np.max, cp.max)


def _largest(size: int, t: float, rng) -> Term:
    cone = Psd({1: 1, 3: 2, 6: 3}[size])
    return _times(
        t,
        lambda t: condal.MaxEigenvalue(cone.k, t),
        lambda z: np.linalg.eigvalsh(cone.square(z))[-1],
        lambda z: cp.lambda_max(cp.reshape(cone.basis @ z, (cone.k, cone.k), order="C")),
    )


def absolute(c0: np.ndarray, t: float) -> Term:
    return _times(
        t,
        lambda t: condal.AbsoluteLoss(c0, t),
        lambda z: np.abs(z - c0).sum(),
        lambda z: cp.norm1(z - c0),
    )


def _absolute(size: int, t: float, rng) -> Term:
    return absolute(rng.standard_normal(size), t)


def _quantile(size: int, t: float, rng) -> Term:
    c0, q = rng.standard_normal(size), float(rng.choice([0.1, 0.5, 0.8]))
    return _times(
        t,
        lambda t: condal.Quantile(c0, q, t),
        lambda z: np.maximum(q * (c0 - z), (1 - q) * (z - c0)).sum(),
        lambda z: cp.sum(cp.maximum(q * (c0 - z), (1 - q) * (z - c0))),
    )


def _hinge(size: int, t: float, rng) -> Term:
    labels = rng.choice([-1.0, 1.0], size)
    return _times(
        t,
        lambda t: condal.Hinge(labels, t),
        lambda z: np.maximum(0.0, 1 - labels * z).sum(),
        lambda z: cp.sum(cp.pos(1 - cp.multiply(labels, z))),
    )


def _insensitive(size: int, t: float, rng) -> Term:
    c0, epsilon = rng.standard_normal(size), rng.random(size)
    return _times(
        t,
        lambda t: condal.EpsilonInsensitive(c0, epsilon, t),
        lambda z: np.maximum(0.0, np.abs(z - c0) - epsilon).sum(),
        lambda z: cp.sum(cp.pos(cp.abs(z - c0) - epsilon)),
    )
