"""Adversarial vectors: near a witness, huge, tiny, and such that sums cancel."""

from collections.abc import Iterator

import numpy as np

from planted.problem import Planted

NOISE = (1e-16, 1e-12, 1e-8, 1e-4, 1e-1)
SIZES = (1e-300, 1e-162, 1e-80, 1e-20, 1e20, 1e80, 1e150)
CANCELLING = (1e6, 2.0**40, 1e15, 1e17, 1e25)


def multipliers(planted: Planted, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield multipliers of the rows, with the sign of the witness y."""
    m = planted.b.size
    start = np.array([float(y) for y in planted.multipliers]) if planted.y is not None else None
    y = rng.integers(-3, 4, m) / planted.scale if start is None else start
    yield y
    unit = np.abs(y) + np.abs(y).max(initial=1.0)
    for noise in rng.choice(NOISE, 2, replace=False):
        yield y + noise * unit * rng.standard_normal(m)
    for size in rng.choice(SIZES, 2, replace=False):
        with np.errstate(all="ignore"):
            yield y * size
    yield np.nextafter(y, np.where(planted.b > 0, np.inf, -np.inf))  # towards a larger <b, y>
    kernel = _kernel(planted.A)
    if kernel is not None:  # A'y stays, but for rounding
        yield y + rng.choice(CANCELLING) * rng.choice([-1.0, 1.0]) * kernel
    yield y + rng.choice(NOISE) * unit * np.sign(planted.b)


def points(
    v: np.ndarray, A: np.ndarray, rng: np.random.Generator, *, ray: bool = False
) -> Iterator[np.ndarray]:
    """Yield vectors near v, and multiples of it."""
    yield v
    unit = np.abs(v) + np.abs(v).max(initial=1.0)
    for noise in rng.choice(NOISE, 2, replace=False):
        yield v + noise * unit * rng.standard_normal(v.size)
        yield np.maximum(v, 0.0) * (1 + noise * rng.standard_normal(v.size))
    for size in rng.choice(SIZES, 2, replace=False):
        with np.errstate(all="ignore"):
            yield v * size
    kernel = _kernel(A.T)
    if kernel is not None:
        yield v + rng.choice(CANCELLING) * rng.choice([-1.0, 1.0]) * kernel


def _kernel(A: np.ndarray) -> np.ndarray | None:
    """Return y, of size 1, with A'y = 0 up to rounding."""
    if not A.size or not A.any():
        return None
    U, sizes, _ = np.linalg.svd(A)
    rank = int((sizes > 1e-10 * sizes[0]).sum())
    return None if rank == A.shape[0] else U[:, -1] / np.abs(U[:, -1]).max()
