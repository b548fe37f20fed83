"""How far a vector of doubles is from dom h*, in rational arithmetic: what `dual_error` bounds."""

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from condal.linalg.rounding import NEAR
from condal.nonsmooth import L1, L2, AbsoluteLoss, EpsilonInsensitive, GroupL1, Linf, Maximum
from condal.sets import Affine, Ball, Box, Equal, NonNegative, NonPositive, SecondOrder, Separable
from laws.proximable import ProximableCase, vectors

BITS = 300


def dual_error_bounds_the_distance(case: ProximableCase) -> None:
    """Wherever h* counts as finite, a point of dom h* is within dual_error, rounding and all."""
    rng, h = np.random.default_rng(14), case.h
    for v in vectors(case, rng):
        for y in near(h.dual_point(v), rng):
            if np.isfinite(h.conjugate(y)):
                away = squared_distance(h, [Fraction(t) for t in y])
                assert away <= Fraction(h.dual_error(y)) ** 2


def near(y: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """y, and vectors that are so near to it that they may count as points of dom h* as well."""
    yield y
    for part in (0.9, 0.1, 1e-3, -0.9):
        yield y * (1 + part * NEAR)
    for part in (0.3, 0.01):
        yield y + part * NEAR * float(np.linalg.norm(y)) * rng.standard_normal(y.size)


def squared_distance(h: Any, y: list[Fraction]) -> Fraction:
    """dist(y, dom h*)^2, rounded down; NotImplementedError if dom h* is none that we can ask."""
    if isinstance(h, Separable):
        ends = np.cumsum([0, *(part.size for part in h.parts)])
        places = zip(h.parts, ends[:-1], ends[1:], strict=True)
        return sum((squared_distance(part, y[a:b]) for part, a, b in places), Fraction())
    if isinstance(h, Equal | Ball):  # dom h* is the whole space
        return Fraction()
    if isinstance(h, NonNegative | NonPositive | Box):
        return sum((t * t for t in forbidden(h, y)), Fraction())
    if isinstance(h, L1 | AbsoluteLoss | EpsilonInsensitive):
        return sum((over(abs(t), u) ** 2 for t, u in zip(y, h.t, strict=True)), Fraction())
    if isinstance(h, L2):
        return over(root(squares(y)), h.t) ** 2
    if isinstance(h, GroupL1):
        groups = [[t for t, g in zip(y, h.groups, strict=True) if g == i] for i in range(h.t.size)]
        away = (over(root(squares(group)), u) for group, u in zip(groups, h.t, strict=True))
        return squares(list(away))
    if isinstance(h, Linf):
        sizes = [abs(t) for t in y]
        return from_simplex(sizes, Fraction(h.t)) if sum(sizes) > h.t else Fraction()
    if isinstance(h, Maximum):
        return from_simplex(y, Fraction(h.t))
    if isinstance(h, SecondOrder):  # from -K: to its surface, or to its tip
        s, u = y[0], root(squares(y[1:]))
        return max(u + s, Fraction()) ** 2 / 2 if u > s else squares(y)
    if isinstance(h, Affine):
        return from_range(h.C, y)
    raise NotImplementedError(type(h).__name__)


def known_exactly(case: ProximableCase) -> bool:
    """Whether dom h* has a description in rational numbers here."""
    try:
        squared_distance(case.h, [Fraction()] * case.h.size)
    except NotImplementedError:
        return False
    return True


def squares(y: list[Fraction]) -> Fraction:
    return sum((t * t for t in y), Fraction())


def root(q: Fraction) -> Fraction:
    """The square root, rounded down to a part of 2^-BITS of it or less."""
    more = 2 * BITS + 2 * q.denominator.bit_length()
    return Fraction(isqrt((q.numerator << more) // q.denominator), 1 << (more // 2))


def over(t: Fraction, limit: float) -> Fraction:
    return max(t - Fraction(limit), Fraction())


def forbidden(h: Any, y: list[Fraction]) -> Iterator[Fraction]:
    """The y_i whose sign an infinite bound forbids."""
    low = {NonNegative: 0.0, NonPositive: -np.inf}.get(type(h))
    high = {NonNegative: np.inf, NonPositive: 0.0}.get(type(h))
    lows = h.low if low is None else [low] * len(y)
    highs = h.high if high is None else [high] * len(y)
    for t, a, b in zip(y, lows, highs, strict=True):
        if (t > 0 and b == np.inf) or (t < 0 and a == -np.inf):
            yield t


def from_simplex(y: list[Fraction], total: Fraction) -> Fraction:
    """The squared distance to {q >= 0 : sum q = total}: q = max(y - theta, 0)."""
    falling = sorted(y, reverse=True)
    levels = [(sum(falling[: k + 1]) - total) / (k + 1) for k in range(len(y))]
    theta = [level for t, level in zip(falling, levels, strict=True) if t > level][-1]
    return squares([t - max(t - theta, Fraction()) for t in y])


def from_range(C: np.ndarray, y: list[Fraction]) -> Fraction:
    """The squared distance to the range of C', by Gram and Schmidt without roots."""
    basis: list[list[Fraction]] = []
    rest = y
    for row in C:
        q = [Fraction(t) for t in row]
        for b in basis:
            q = less(q, b)
        if any(q):
            basis.append(q)
            rest = less(rest, q)
    return squares(rest)


def less(q: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    """q without its part along b."""
    along = sum((s * t for s, t in zip(q, b, strict=True)), Fraction()) / squares(b)
    return [s - along * t for s, t in zip(q, b, strict=True)]
