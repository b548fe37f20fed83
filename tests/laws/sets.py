"""The sets K that the laws of proximable functions are tried on."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import BLOCK_LENGTH
from condal.linalg.triangles import BLOCK_ROWS
from condal.sets import (
    Affine,
    Ball,
    Box,
    Equal,
    NonNegative,
    NonPositive,
    PSDCone,
    SecondOrder,
    Separable,
)
from laws.proximable import INF, ProximableCase


def _between(low: Any, high: Any) -> Callable[[np.random.Generator], np.ndarray]:
    """Random points of a box, found without its projection; infinite sides reach some way out."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    bottom = np.where(np.isfinite(low), low, np.minimum(high, 0) - 20)
    bottom = np.where(np.isfinite(bottom), bottom, -20.0)
    top = np.where(np.isfinite(high), high, np.maximum(bottom, 0) + 20)

    def member(rng: np.random.Generator) -> np.ndarray:
        share = rng.choice([0.0, 1.0, float(rng.random())], size=low.size)
        return np.clip(bottom + share * (top - bottom), bottom, top)

    return member


def _together(*cases: ProximableCase) -> ProximableCase:
    def member(rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([case.member(rng) for case in cases])

    name = "Separable of " + ", ".join(case.name for case in cases)
    return ProximableCase(name, Separable(*(case.h for case in cases)), member)


def _ball(centre: Any, radius: float) -> ProximableCase:
    h = Ball(centre, radius)

    def member(rng: np.random.Generator) -> np.ndarray:
        way = rng.standard_normal(h.size)
        return h.centre + rng.choice([0.0, 0.5, 1 - 1e-15]) * radius * way / np.linalg.norm(way)

    return ProximableCase(f"Ball, {h.size} of radius {radius:g}", h, member)


def _second_order(size: int) -> ProximableCase:
    def member(rng: np.random.Generator) -> np.ndarray:
        u = rng.standard_normal(size - 1)
        return np.concatenate([[np.linalg.norm(u) + rng.choice([0.0, 1.0, 30.0])], u])

    return ProximableCase(f"SecondOrder({size})", SecondOrder(size), member)


def _psd(n: int) -> ProximableCase:
    h = PSDCone(n)

    def member(rng: np.random.Generator) -> np.ndarray:
        factor = rng.standard_normal((n, int(rng.integers(1, n + 1))))
        return h.vector(factor @ factor.T)

    return ProximableCase(f"PSDCone({n})", h, member)


def _affine(name: str, C: Any, d: Any, rank: int) -> ProximableCase:
    rows = C.toarray() if sp.issparse(C) else np.atleast_2d(C)
    place = np.linalg.lstsq(rows, np.atleast_1d(d), rcond=None)[0]
    free = np.linalg.svd(rows)[2][rank:]

    def member(rng: np.random.Generator) -> np.ndarray:
        return place + 5 * rng.standard_normal(len(free)) @ free

    return ProximableCase(name, Affine(C, d), member)


def _sets() -> Iterator[ProximableCase]:
    b = np.array([1.0, -2.0, 0.0, 1e3])
    equal = ProximableCase("Equal", Equal(b), lambda rng: b.copy())
    low, high = [-1.0, 0.0, -INF, 2.0, -INF, -3.0], [1.0, 0.0, 1.0, INF, INF, -1.0]
    box = ProximableCase("Box", Box(low, high), _between(low, high))
    positive = ProximableCase("NonNegative", NonNegative(3), _between([0.0] * 3, [INF] * 3))
    negative = ProximableCase("NonPositive", NonPositive(2), _between([-INF] * 2, [0.0] * 2))
    yield from (equal, box, positive, negative)
    yield ProximableCase("Box, finite", Box([-1, -5], [2, -1]), _between([-1, -5], [2, -1]))
    yield ProximableCase("Box, free", Box([-INF] * 2, [INF] * 2), _between([-INF] * 2, [INF] * 2))
    yield ProximableCase("Equal, nothing", Equal(np.zeros(0)), lambda rng: np.zeros(0))
    yield ProximableCase("Separable of nothing", Separable(), lambda rng: np.zeros(0))
    yield (both := _together(equal, box, positive, negative))
    yield _together(both, positive)
    rng = np.random.default_rng(3)
    yield _ball(np.zeros(3), 2.0)
    yield (ball := _ball([1.0, -30.0, 0.0, 4.0], 0.5))
    yield _ball([3.0], 1.0)
    yield (cone := _second_order(4))
    yield _second_order(1)
    yield _second_order(2)
    psd = _psd(3)
    yield from (_psd(1), psd, _psd(BLOCK_ROWS + 2))
    C = rng.standard_normal((2, 5))
    yield (affine := _affine("Affine", C, [1.0, -3.0], 2))
    yield _affine("Affine, one row", np.ones(4), 1.0, 1)
    yield _affine("Affine, dependent", np.vstack([C, C[0] - C[1]]), [1.0, -3.0, 4.0], 2)
    yield _affine("Affine, a point", rng.standard_normal((3, 3)), [1.0, 2.0, 3.0], 3)
    yield _affine("Affine, through 0", sp.csr_array(np.eye(3)[:2]), [0.0, 0.0], 2)
    yield _together(cone, positive, ball, psd, affine)


SETS = list(_sets())


def long_set() -> Separable:
    """One that does not fit a piece, nor do most of its parts."""
    rng = np.random.default_rng(4)
    low = rng.choice([-1.0, -INF], BLOCK_LENGTH + 1)
    return Separable(
        NonNegative(2 * BLOCK_LENGTH + 1),
        Equal(rng.standard_normal(BLOCK_LENGTH + 7)),
        NonPositive(BLOCK_LENGTH),
        Box(low, rng.choice([0.5, INF], low.size)),
    )
