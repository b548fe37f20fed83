"""The sets K that the laws are tried on, most of them known by other means, too: as `Kept`."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.blocked import BLOCK_LENGTH
from condal.linalg.triangles import BLOCK_ROWS
from condal.sets import Affine, Ball, Box, Equal, NonNegative, NonPositive, Separable
from laws.case import TALL, b
from laws.proximable import INF, ProximableCase
from truth import constraints
from truth.constraints import Cone, Kept, Parts, Psd


def _case(name: str, kept: Kept, make: Any = None, **arrays: Any) -> ProximableCase:
    """A set, and points of it that are found by other means; it is made by `kept`, or by `make`."""

    def member(rng: np.random.Generator) -> np.ndarray:
        return kept.nearest(rng.choice([1.0, 5.0, 30.0]) * rng.standard_normal(kept.size))

    make = (lambda: kept.made(np.ones(kept.size))) if make is None else make
    return ProximableCase(name, make, member=member, **arrays)


def _box(low: Any, high: Any) -> Kept:
    return constraints.Box(np.array(low, dtype=float), np.array(high, dtype=float))


def _affine(name: str, C: Any, d: Any) -> ProximableCase:
    rows = C.toarray() if sp.issparse(C) else np.atleast_2d(C)
    return _case(name, constraints.Affine(rows, np.atleast_1d(d)), lambda: Affine(C, d))


def _sets() -> Iterator[ProximableCase]:
    rng = np.random.default_rng(3)
    goal = np.array([1.0, -2.0, 0.0, 1e3])
    equal, positive, negative = (
        _box(goal, goal),
        _box([0.0] * 3, [INF] * 3),
        _box([-INF] * 2, [0.0] * 2),
    )
    box = _box([-1.0, 0.0, -INF, 2.0, -INF, -3.0], [1.0, 0.0, 1.0, INF, INF, -1.0])
    both = Parts(equal, box, positive, negative)
    ball, cone, psd = constraints.Ball(np.array([1.0, -30.0, 0.0, 4.0]), 0.5), Cone(4), Psd(3)
    C = rng.standard_normal((2, 5))
    yield _case("Equal", _box(b, b), Equal, numbers={"b": b})
    yield _case("Equal, of several sizes", equal)
    yield _case("Box", box)
    yield _case("NonNegative", positive)
    yield _case("NonPositive", negative)
    yield _case("Box, finite", _box(-b, b), Box, bounds={"low": -b, "high": b})
    yield _case("Box, free", _box([-INF] * 2, [INF] * 2))
    yield _case("Equal, nothing", _box([], []))
    yield ProximableCase.of("Separable of nothing", Separable(), member=lambda rng: np.zeros(0))
    yield _case("Separable", both)
    yield _case("Separable of a Separable", Parts(both, positive))
    yield _case("Ball around 0", constraints.Ball(np.zeros(3), 2.0))
    centred = {"centre": b}
    yield _case("Ball", constraints.Ball(b, 2.0), lambda centre: Ball(centre, 2.0), numbers=centred)
    yield _case("Ball, far away", ball)
    yield _case("Ball, an interval", constraints.Ball(np.array([3.0]), 1.0))
    yield _case("SecondOrder", cone)
    yield _case("SecondOrder, n = 1", Cone(1))
    yield _case("SecondOrder, n = 2", Cone(2))
    yield _case("PSDCone", psd)
    yield _case("PSDCone, n = 1", Psd(1))
    yield _case("PSDCone, of blocks", Psd(BLOCK_ROWS + 2))
    rows = {"C": TALL[:2], "d": b[:2]}
    yield _case("Affine", constraints.Affine(*rows.values()), Affine, numbers=rows, sparse=("C",))
    yield _affine("Affine, wide", C, [1.0, -3.0])
    yield _affine("Affine, one row", np.ones(4), 1.0)
    yield _affine("Affine, dependent", np.vstack([C, C[0] - C[1]]), [1.0, -3.0, 4.0])
    yield _affine("Affine, a point", rng.standard_normal((3, 3)), [1.0, 2.0, 3.0])
    yield _affine("Affine, through 0", sp.csr_array(np.eye(3)[:2]), [0.0, 0.0])
    affine = constraints.Affine(C, np.array([1.0, -3.0]))
    yield _case("Separable of all kinds", Parts(cone, positive, ball, psd, affine))


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
