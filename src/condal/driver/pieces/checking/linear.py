"""The laws of X and of a map."""

from __future__ import annotations

import numpy as np

from condal.driver.pieces.checking.notes import Notes, broken
from condal.driver.pieces.checking.samples import (
    Samples,
    between,
    copied,
    length,
    pairings,
    same,
)
from condal.errors import ProblemError
from condal.linalg.gradients import dot
from condal.linalg.guarded import NAMES
from condal.linalg.points import combine
from condal.maps.user import check_adjoint
from condal.types import Domain, LinearMap, why_unprovable

BOUND_ROUNDING = 1e-9


def check_domain(X: Domain, samples: Samples, notes: Notes, *, tol: float, seed: int) -> None:
    """Check that the oracle gives the best of all points tried, and that bounds and norms hold."""
    points, law = samples.points, notes.laws_of("X", tol)
    for v, s in zip(samples.gradients, samples.answers, strict=True):
        values, value = pairings(v, points), dot(v, s)
        scale, least = float(np.abs(values).max()), float(values.min())
        wrong = "the oracle lmo gave a point that is not in X"
        law("oracle in X", X.distance(s), X.max_norm, wrong=wrong)
        wrong = "the oracle lmo gave a point, and another one of X has a smaller <v, x>"
        law("oracle is best", value - least, scale, wrong=wrong)
        proof = X.bound(v, slack=1e-3 * scale, failure=1e-6, seed=seed)
        wrong = "the bound is above <v, x> for a point x of X"
        law("bound below", proof.value - least, scale, wrong=wrong, most=BOUND_ROUNDING)
        before = copied(v)
        again = X.lmo(v)
        if not same(before, copied(v)):
            raise broken("X", "the oracle lmo changes its argument")
        wrong = "the oracle lmo gave another value of <v, x> when it was asked again"
        law("oracle repeats", abs(dot(v, again) - value), scale, wrong=wrong)
    for i, x in enumerate([] if why_unprovable(X) else points):  # else max_norm is an estimate
        wrong, over = "a point of X has a larger norm than max_norm", length(x) - X.max_norm
        law("max_norm", over, X.max_norm, wrong=wrong, most=BOUND_ROUNDING)
        wrong = "two points of X are farther apart than its diameter"
        for z in points[:i]:
            over, sizes = between(x, z) - X.diameter, (X.diameter, X.max_norm)
            law("diameter", over, *sizes, wrong=wrong, most=BOUND_ROUNDING)


def check_map(
    letter: str,
    A: LinearMap,
    samples: Samples,
    notes: Notes,
    *,
    tol: float,
    rng: np.random.Generator,
) -> None:
    """Check that A is linear, its adjoint fits, and its norms are upper bounds."""
    points, law = samples.points, notes.laws_of(letter, tol)
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
    size = scale * float(np.abs(weights).sum())
    wrong = "the image of a sum is not the sum of the images"
    law("linear", float(np.linalg.norm(mixed)), size, wrong=wrong)
    rows = A.row_norms()
    factors = np.exp(rng.standard_normal(A.size))
    scaled = A.scaled(factors)
    y = rng.standard_normal(A.size)
    for x, image in zip(points, images, strict=True):
        before, long, most = copied(x), float(np.linalg.norm(image)), A.norm * length(x)
        wrong = "an image is longer than the norm allows"
        law("norm", long - most, most, long, wrong=wrong, most=BOUND_ROUNDING)
        over = float(np.max(np.abs(image) - rows * length(x), initial=0.0))
        wrong = "an entry of an image is larger than row_norms allows"
        law("row norms", over, long, wrong=wrong)
        again, other = A(x), scaled(x) - factors * image
        if not (same(before, copied(x)) and np.array_equal(again, image)):
            text = "it changes its argument, or gives another image of the same point when it is "
            raise broken(letter, text + "asked again")
        size = long * float(factors.max(initial=0.0))
        wrong = "scaled(rows) is not x -> rows * Ax"
        law("scaled", float(np.linalg.norm(other)), size, wrong=wrong)
    before, gradients = y.copy(), [A.adjoint(y), A.adjoint(y)]
    pair = [[0.0 if v is None else dot(v, x) for x in points] for v in gradients]
    if not np.array_equal(before, y) or pair[0] != pair[1]:
        text = "its adjoint changes its argument, or gives another gradient when it is asked again"
        raise broken(letter, text)
