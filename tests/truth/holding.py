"""Sets K that contain an image or no image, and rows of A that put an image in a cone."""

import numpy as np

from truth.constraints import Affine, Ball, Box, Cone, Kept, Parts, Psd


def holding(z: np.ndarray, room: float, rng) -> Kept:
    """Return a set that contains z at distance `room` from its boundary, if it has an interior."""
    kind = rng.integers(6)
    if kind == 0 or z.size == 0:
        return Box(z, z)
    if kind == 1:
        away = rng.standard_normal(z.size)
        inside = max(room, 0.0)
        out = float(rng.choice([0.3, 2.0]))
        return Ball(z + out * away / np.linalg.norm(away), out + inside)
    if kind == 2:
        C = rng.standard_normal((int(rng.integers(1, z.size + 1)), z.size))
        return Affine(C, C @ z)
    if kind == 3 and z.size > 1:
        cut = int(rng.integers(1, z.size))
        return Parts(holding(z[:cut], room, rng), holding(z[cut:], room, rng))
    return box_about(z, room, rng)


def box_about(z: np.ndarray, room: float, rng) -> Box:
    """Some bounds are tight, some infinite, some equal."""
    tight, open_ = rng.random((2, z.size)) < 0.4, rng.random((2, z.size)) < 0.3
    wide = np.where(tight, room, room + rng.random((2, z.size)))
    wide = np.where(open_ & ~tight, np.inf, wide)
    equal = rng.random(z.size) < 0.2
    return Box(np.where(equal, z, z - wide[0]), np.where(equal, z, z + wide[1]))


def orthant(size: int, positive: bool) -> Box:
    """z >= 0, or z <= 0."""
    zero, none = np.zeros(size), np.full(size, np.inf)
    return Box(zero, none) if positive else Box(-none, zero)


def cone_and_target(size: int, room: float, rng) -> tuple[Kept, np.ndarray]:
    """Return a cone in about that dimension, and a point at distance `room` inside it."""
    kind = rng.integers(4)
    if kind == 0:
        u = rng.standard_normal(size - 1)
        return Cone(size), np.concatenate([[np.linalg.norm(u) + room], u])
    if kind == 1:
        k = 1 if size < 3 else 2 if size < 6 else 3
        g = rng.standard_normal((k, int(rng.integers(0, k + 1))))
        cone = Psd(k)
        return cone, cone.basis.T @ (g @ g.T + room * np.eye(k)).ravel()
    away = np.abs(rng.standard_normal(size)) * (rng.random(size) < 0.5) + room
    positive = kind == 2
    return orthant(size, positive), away if positive else -away


def aimed(rows: np.ndarray, x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the rows, changed such that the image of x is the target."""
    return rows + np.outer(target - rows @ x, x / (x @ x))


def apart(rows: np.ndarray, region, margin: float, rng) -> tuple[Kept, np.ndarray]:
    """Return a set at least `margin` from all images of the region, and a separating normal d."""
    d = rng.standard_normal(len(rows)) * (rng.random(len(rows)) < 0.7)
    d = d if d.any() else np.eye(len(rows))[0]
    length = float(np.linalg.norm(d))
    z = rows @ region.vertex(rows.T @ d)
    z = z + d * ((region.least(rows.T @ d) - float(d @ z)) / length**2 - margin / length)
    kind = rng.integers(4)
    if kind == 0:
        return Box(z, z), d
    if kind == 1:
        radius = float(rng.choice([0.1, 1.0]))
        return Ball(z - radius / length * d, radius), d
    if kind == 2:
        return Affine(d[None] / length, np.array([float(d @ z)]) / length), d
    wide = np.where(rng.random(z.size) < 0.4, np.inf, rng.random(z.size))
    return Box(np.where(d > 0, z - wide, z), np.where(d < 0, z + wide, z)), d
