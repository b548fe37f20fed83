"""The laws of X and of a map."""

from __future__ import annotations

import numpy as np

from condal.domains.user import why_unprovable
from condal.driver.pieces.checking.notes import Notes
from condal.driver.pieces.checking.samples import (
    Samples,
    between,
    copied,
    length,
    pairings,
    relative,
    same,
)
from condal.errors import ProblemError
from condal.linalg.gradients import dot
from condal.linalg.guarded import NAMES
from condal.linalg.points import combine
from condal.maps import check_adjoint
from condal.types import Domain, LinearMap

ROUNDING = 1e-9


def check_domain(X: Domain, samples: Samples, notes: Notes, *, tol: float, seed: int) -> None:
    """The oracle gives members, and the best of all that are tried; the bound is one."""
    points = samples.points
    for v, s in zip(samples.gradients, samples.answers, strict=True):
        values, value = pairings(v, points), dot(v, s)
        scale = float(np.abs(values).max())
        notes.note(
            "X",
            "oracle in X",
            relative(X.distance(s), X.max_norm),
            most=tol,
            wrong="the oracle lmo gave a point that is not in X",
        )
        notes.note(
            "X",
            "oracle is best",
            relative(value - float(values.min()), scale),
            most=tol,
            wrong="the oracle lmo gave a point, and another one of X has a smaller <v, x>",
        )
        proof = X.bound(v, slack=1e-3 * scale, failure=1e-6, seed=seed)
        notes.note(
            "X",
            "bound below",
            relative(proof.value - float(values.min()), scale),
            most=ROUNDING,
            wrong="the bound is above <v, x> for a point x of X",
        )
        before = copied(v)
        again = X.lmo(v)
        if not same(before, copied(v)):
            raise ProblemError("the domain X is wrong: the oracle lmo changes its argument")
        notes.note(
            "X",
            "oracle repeats",
            relative(abs(dot(v, again) - value), scale),
            most=tol,
            wrong="the oracle lmo gave another value of <v, x> when it was asked again",
        )
    for i, x in enumerate([] if why_unprovable(X) else points):  # without max_norm, an estimate
        notes.note(
            "X",
            "size",
            relative(length(x) - X.max_norm, X.max_norm),
            most=ROUNDING,
            wrong="a point of X is longer than its size says",
        )
        for z in points[:i]:
            notes.note(
                "X",
                "diameter",
                relative(between(x, z) - X.diameter, X.diameter, X.max_norm),
                most=ROUNDING,
                wrong="two points of X are farther apart than its diameter says",
            )


def check_map(
    letter: str,
    A: LinearMap,
    samples: Samples,
    notes: Notes,
    *,
    tol: float,
    rng: np.random.Generator,
) -> None:
    """A is linear, its adjoint is one, and its norms are upper bounds."""
    points = samples.points
    try:
        worst = check_adjoint(A, points, seed=int(rng.integers(2**31)), tol=tol)
    except ProblemError as error:
        raise ProblemError(f"{NAMES[letter]}: {error}") from None
    notes.note(letter, "adjoint", worst, most=tol, wrong="the adjoint")
    images = [A(x) for x in points]
    scale = max(float(np.linalg.norm(image)) for image in images)
    weights = rng.standard_normal(len(points))
    mixed = A(combine(points, weights)) - sum(
        w * image for w, image in zip(weights, images, strict=True)
    )
    notes.note(
        letter,
        "linear",
        relative(float(np.linalg.norm(mixed)), scale * float(np.abs(weights).sum())),
        most=tol,
        wrong="the image of a sum is not the sum of the images",
    )
    rows = A.row_norms()
    factors = np.exp(rng.standard_normal(A.size))
    scaled = A.scaled(factors)
    y = rng.standard_normal(A.size)
    for x, image in zip(points, images, strict=True):
        size, before = length(x), copied(x)
        long = float(np.linalg.norm(image))
        notes.note(
            letter,
            "norm",
            relative(long - A.norm * size, A.norm * size, long),
            most=ROUNDING,
            wrong="an image is longer than the norm says",
        )
        over = float(np.max(np.abs(image) - rows * size, initial=0.0))
        notes.note(
            letter,
            "row norms",
            relative(over, long),
            most=tol,
            wrong="an entry of an image is larger than row_norms says",
        )
        again, other = A(x), scaled(x) - factors * image
        if not (same(before, copied(x)) and np.array_equal(again, image)):
            raise ProblemError(
                f"{NAMES[letter]} is wrong: it changes its argument, or gives another image of "
                "the same point when it is asked again"
            )
        notes.note(
            letter,
            "scaled",
            relative(float(np.linalg.norm(other)), long * float(factors.max(initial=0.0))),
            most=tol,
            wrong="scaled(rows) is not x -> rows * Ax",
        )
    before, gradients = y.copy(), [A.adjoint(y), A.adjoint(y)]
    pair = [[0.0 if v is None else dot(v, x) for x in points] for v in gradients]
    if not np.array_equal(before, y) or pair[0] != pair[1]:
        raise ProblemError(
            f"{NAMES[letter]} is wrong: its adjoint changes its argument, or gives another "
            "gradient when it is asked again"
        )
