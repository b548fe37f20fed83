"""Nonsmooth g in NumPy: values and CVXPY expressions."""

from __future__ import annotations

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


def _l1(size: int, t: float, rng) -> Term:
    w = t * (0.5 + rng.random(size))
    return Term(
        "L1",
        lambda c: condal.L1(c * w),
        lambda z: float(w @ np.abs(z)),
        lambda z: w @ cp.abs(z),
    )


def _l2(size: int, t: float, rng) -> Term:
    return Term(
        "L2",
        lambda c: condal.L2(c * t),
        lambda z: t * float(np.linalg.norm(z)),
        lambda z: t * cp.norm2(z),
    )


def _linf(size: int, t: float, rng) -> Term:
    return Term(
        "Linf",
        lambda c: condal.Linf(c * t),
        lambda z: t * float(np.abs(z).max()),
        lambda z: t * cp.norm_inf(z),
    )


def _groups(size: int, t: float, rng) -> Term:
    groups = rng.integers(0, 3, size)
    places = [np.flatnonzero(groups == label) for label in np.unique(groups)]
    return Term(
        "GroupL1",
        lambda c: condal.GroupL1(groups, c * t),
        lambda z: t * sum(float(np.linalg.norm(z[place])) for place in places),
        lambda z: t * sum(cp.norm2(z[place]) for place in places),
    )


def _maximum(size: int, t: float, rng) -> Term:
    return Term(
        "Maximum",
        lambda c: condal.Maximum(c * t),
        lambda z: t * float(z.max()),
        lambda z: t * cp.max(z),
    )


def _largest(size: int, t: float, rng) -> Term:
    cone = Psd({1: 1, 3: 2, 6: 3}[size])
    return Term(
        "MaxEigenvalue",
        lambda c: condal.MaxEigenvalue(cone.k, c * t),
        lambda z: t * float(np.linalg.eigvalsh(cone.square(z))[-1]),
        lambda z: t * cp.lambda_max(cp.reshape(cone.basis @ z, (cone.k, cone.k), order="C")),
    )


def _absolute(size: int, t: float, rng) -> Term:
    c0 = rng.standard_normal(size)
    return Term(
        "AbsoluteLoss",
        lambda c: condal.AbsoluteLoss(c0, c * t),
        lambda z: t * float(np.abs(z - c0).sum()),
        lambda z: t * cp.norm1(z - c0),
    )


def _quantile(size: int, t: float, rng) -> Term:
    c0, q = rng.standard_normal(size), float(rng.choice([0.1, 0.5, 0.8]))
    return Term(
        "Quantile",
        lambda c: condal.Quantile(c0, q, c * t),
        lambda z: t * float(np.maximum(q * (c0 - z), (1 - q) * (z - c0)).sum()),
        lambda z: t * cp.sum(cp.maximum(q * (c0 - z), (1 - q) * (z - c0))),
    )


def _hinge(size: int, t: float, rng) -> Term:
    labels = rng.choice([-1.0, 1.0], size)
    return Term(
        "Hinge",
        lambda c: condal.Hinge(labels, c * t),
        lambda z: t * float(np.maximum(0.0, 1 - labels * z).sum()),
        lambda z: t * cp.sum(cp.pos(1 - cp.multiply(labels, z))),
    )


def _insensitive(size: int, t: float, rng) -> Term:
    c0, epsilon = rng.standard_normal(size), rng.random(size)
    return Term(
        "EpsilonInsensitive",
        lambda c: condal.EpsilonInsensitive(c0, epsilon, c * t),
        lambda z: t * float(np.maximum(0.0, np.abs(z - c0) - epsilon).sum()),
        lambda z: t * cp.sum(cp.pos(cp.abs(z - c0) - epsilon)),
    )
