"""The laws of f, and of a set K or a function g."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.driver.pieces.checking.notes import Notes
from condal.driver.pieces.checking.samples import Samples, between, relative
from condal.errors import ProblemError
from condal.linalg.guarded import NAMES
from condal.linalg.points import Array, Point
from condal.types import Provable, Smooth

STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of a difference: the best of them counts
SLOPE = 1e-5  # how well the best of them tells a derivative
ROUNDING = 1e-9


def check_objective(f: Smooth, samples: Samples, notes: Notes, *, tol: float) -> None:
    """The gradient is one, f is convex, and L is a Lipschitz constant of its gradient."""
    points = samples.points
    images = [f.M(x) for x in points]
    values = [f.value(u) for u in images]
    slopes = [f.gradient(u) for u in images]
    sizes = [abs(float(g @ u)) for g, u in zip(slopes, images, strict=True)]
    spread = max(max(values) - min(values), *sizes)
    for u, value, slope in zip(images, values, slopes, strict=True):
        before = u.copy()
        again = f.value(u), f.gradient(u)
        if not np.array_equal(before, u):
            raise ProblemError("the objective f is wrong: it changes its argument")
        if again[0] != value or not np.array_equal(again[1], slope):
            raise ProblemError(
                "the objective f is wrong: it gives another value or gradient when it is asked "
                "again"
            )
    inside = images[-1]  # a mixture of the others: near it, f is known in all their directions
    for i, u in enumerate(images):
        _check_slope(f, inside, u - inside, spread, notes)
        for j in range(len(images)):
            _check_pair(f, points, images, values, slopes, (i, j), spread, notes, tol)
    tripled = f.scaled(3.0)
    for x, value in zip(points, values, strict=True):
        error = abs(tripled.value(tripled.M(x)) - 3.0 * value)
        scale = 3.0 * max(spread, abs(value))
        notes.note("f", "scaled", relative(error, scale), most=tol, wrong="scaled(c) is not c f")


def _check_slope(f: Smooth, u: Array, d: Array, spread: float, notes: Notes) -> None:
    """<grad, d> against differences of values along d."""
    slope = float(f.gradient(u) @ d)
    errors = [abs((f.value(u + t * d) - f.value(u - t * d)) / (2 * t) - slope) for t in STEPS]
    notes.note(
        "f",
        "gradient",
        relative(float(np.min(errors)), spread, abs(slope)),
        most=SLOPE,
        wrong="the gradient is not the derivative of the value",
    )


def _check_pair(
    f: Smooth,
    points: list[Point],
    images: list[Array],
    values: list[float],
    slopes: list[Array],
    pair: tuple[int, int],
    spread: float,
    notes: Notes,
    tol: float,
) -> None:
    """f is above its tangents, and below the parabolas of curvature L on them."""
    i, j = pair
    above = values[j] - values[i] - float(slopes[i] @ (images[j] - images[i]))
    notes.note(
        "f",
        "convex",
        relative(-above, spread),
        most=tol,
        wrong="it is not convex: its value is below a tangent",
    )
    most = 0.5 * f.L * between(points[i], points[j]) ** 2
    notes.note(
        "f",
        "curvature",
        relative(above - most, spread, most),
        most=tol,
        wrong=f"its curvature is more than L = {f.L:.3g} says",
    )


def check_function(
    letter: str,
    h: Provable,
    images: list[Array],
    notes: Notes,
    *,
    tol: float,
    rng: np.random.Generator,
) -> None:
    """The prox is one, the conjugate fits it, and what h says of itself is true."""
    size = max(1.0, *(float(np.abs(image).max(initial=0.0)) for image in images))
    starts = [image + 2 * size * rng.standard_normal(h.size) for image in images]
    _check_prox(letter, h, [*images, *starts], notes, tol)
    _check_support(letter, h, [*images, *starts], notes, tol)
    _check_pieces(letter, h, starts[0])
    rows = np.exp(rng.standard_normal(h.size)) if h.separable else np.full(h.size, 0.7)
    c, scaled = 2.5, h.scaled(rows, 2.5)
    for z in images:
        error = abs(scaled.value(rows * z) - c * h.value(z))
        notes.note(
            letter,
            "scaled",
            relative(error, c * abs(h.value(z)), size),
            most=tol,
            wrong="scaled(rows, c) is not z -> c h(z / rows)",
        )
    for z in starts:
        y = scaled.multiplier(rows * z, 1.0)
        error = abs(scaled.conjugate(y) - c * h.conjugate(h.dual_point(rows * y / c)))
        notes.note(
            letter,
            "scaled",
            relative(error, float(np.abs(rows * y) @ np.abs(z)), size),
            most=tol,
            wrong="scaled(rows, c) is not z -> c h(z / rows)",
        )
    _check_prox(letter, scaled, [rows * z for z in starts], notes, tol, said="the scaled form: ")


def _check_prox(
    letter: str, h: Provable, starts: list[Array], notes: Notes, tol: float, said: str = ""
) -> None:
    t = 0.6
    lam = 1 / t
    found = []
    for z in starts:
        before = z.copy()
        p, w = h.prox(z, t), h.multiplier(z, lam)
        if not (np.array_equal(z, before) and np.array_equal(p, h.prox(z, t))):
            raise ProblemError(
                f"{NAMES[letter]} is wrong: {said}its prox changes its argument, or gives another "
                "answer when it is asked again"
            )
        size = max(1.0, float(np.linalg.norm(z)))
        notes.note(
            letter,
            "prox in the domain",
            relative(h.distance(p), size),
            most=tol,
            wrong=f"{said}its prox is a point at which it is not finite",
        )
        error = float(np.linalg.norm(w - lam * (z - p)))
        notes.note(
            letter,
            "multiplier",
            relative(error, lam * size),
            most=tol,
            wrong=f"{said}multiplier(z, lam) is not lam (z - prox(z, 1/lam))",
        )
        gone = abs(h.distance(z) - float(np.linalg.norm(h.normal_residual(z))))
        notes.note(
            letter,
            "distance",
            relative(gone, size),
            most=tol,
            wrong=f"{said}normal_residual(z) is not as long as distance(z)",
        )
        found.append((z, p, w, h.value(p), h.conjugate(w), size))
    for z, p, w, value, conjugate, size in found:
        young = value + conjugate - float(p @ w)
        notes.note(
            letter,
            "conjugate",
            relative(abs(young), lam * size**2, abs(value)),
            most=tol,
            wrong=f"{said}h(p) + h*(w) = <p, w> does not hold for p = prox(z), w = multiplier(z)",
        )
        mine = value + 0.5 * lam * float((p - z) @ (p - z))
        for _, q, y, other, support, longer in found:
            theirs = other + 0.5 * lam * float((q - z) @ (q - z))
            scale = lam * max(size, longer) ** 2
            notes.note(
                letter,
                "prox is best",
                relative(mine - theirs, scale, abs(value)),
                most=tol,
                wrong=f"{said}its prox is not the minimum of h(r) + |r - z|^2 / (2t)",
            )
            below = float(p @ y) - value - support
            notes.note(
                letter,
                "conjugate above",
                relative(below, scale, abs(value)),
                most=tol,
                wrong=f"{said}its conjugate is below <y, z> - h(z)",
            )
            if h.lipschitz < inf:
                step = h.lipschitz * float(np.linalg.norm(p - q))
                notes.note(
                    letter,
                    "lipschitz",
                    relative(abs(value - other) - step, step, abs(value)),
                    most=ROUNDING,
                    wrong=f"{said}its values differ by more than its lipschitz constant allows",
                )


def _check_support(letter: str, h: Provable, starts: list[Array], notes: Notes, tol: float) -> None:
    """It is above <d, z> for all z of the domain: what proofs of infeasibility rest on."""
    members = [h.prox(z, 0.6) for z in starts]
    for z in [*starts, np.zeros(h.size)]:
        d = h.normal_residual(z)
        support = h.support(d)
        for p in members:
            notes.note(
                letter,
                "support above",
                relative(float(d @ p) - support, float(np.abs(d) @ np.abs(p)), 1.0),
                most=tol,
                wrong="its support is below <d, z> for a point z at which it is finite",
            )


def _check_pieces(letter: str, h: Provable, z: Array) -> None:
    """They follow each other, and know all that h does."""
    places = [i for here, _ in h.pieces for i in range(h.size)[here]]
    if places != list(range(h.size)):
        raise ProblemError(f"{NAMES[letter]} is wrong: its pieces do not cover 0..{h.size - 1}")
    joined = np.concatenate([np.zeros(0), *(part.prox(z[here], 0.6) for here, part in h.pieces)])
    if not np.allclose(joined, h.prox(z, 0.6), rtol=1e-9, atol=1e-12):
        raise ProblemError(f"{NAMES[letter]} is wrong: its pieces have another prox than it has")
