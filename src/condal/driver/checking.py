"""Checks of the laws that the pieces of a problem must obey, before it is solved."""

from __future__ import annotations

from math import inf

import numpy as np

from condal.driver.guards import guarded, rows_of
from condal.driver.samples import Law, Notes, Report, Samples, between, broken, copied, length, same
from condal.errors import PieceError, ProblemError
from condal.linalg.gradients import dot
from condal.linalg.guarded import NAMES
from condal.linalg.points import Array, combine
from condal.maps.user import check_adjoint
from condal.problem import Model, Problem, problem_of
from condal.runtime.arguments import require_positive, require_whole
from condal.types import Domain, LinearMap, Provable, Smooth, why_unprovable

BOUND_ROUNDING = 1e-9
DIFFERENCE_STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # the best of them counts
SLOPE_TOL = 1e-5  # how well the best of them approximates a derivative
LIPSCHITZ_ROUNDING = 1e-9
PROX_STEP = 0.6


def check_problem(model: Problem | Model, *, seed: int = 0, tol: float = 1e-6) -> Report:
    """Check on random points the laws that the pieces of a problem must obey.

    The checks cover the adjoints and norms of A, B and M; the gradient of f against differences of
    its values, its convexity and its constant L; the prox of K and g, and their conjugates and
    supports; the oracle of X (its points are in X and optimal among those tried), its bound and its
    diameter; shapes, NaN, repeatability, and that no piece changes its argument.

    Parameters
    ----------
    model : Problem or Model
        The problem, or a model of one.
    seed : int
        The seed of the random points.
    tol : float
        The largest relative error that passes.

    Returns
    -------
    Report
        The worst error of each law.

    Raises
    ------
    ProblemError
        If a law is broken; the text names the piece and the law.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> report = condal.check_problem(condal.problems.max_cut(cycle + cycle.T))
    >>> max(check.error for check in report.checks) < 1e-6
    True
    """
    require_whole(seed, "seed", least=0)
    require_positive(tol, "tol")
    rng, notes = np.random.default_rng(seed), Notes(tol)
    try:
        problem = guarded(problem_of(model))
        samples = Samples.of(problem, rng)
        # The map of f comes first: the domain is tried on its gradients.
        _check_map("M", problem.f.M, samples, notes)
        _check_domain(problem.X, samples, notes, seed)
        _check_objective(problem.f, samples, notes)
        for A, h, (of_map, of_function) in rows_of(problem.A, problem.h):
            _check_map(of_map, A, samples, notes)
            images = [A(x) for x in samples.points]
            _check_function(of_function, h, images, notes, rng)
    except PieceError as error:
        raise ProblemError(str(error)) from error
    return notes.report(problem.name)


def _check_domain(X: Domain, samples: Samples, notes: Notes, seed: int) -> None:
    """Check that the oracle gives the best of all points tried, and that bounds and norms hold."""
    points, law = samples.points, notes.laws_of("X")
    for v, s in zip(samples.gradients, samples.answers, strict=True):
        values, value = np.array([dot(v, x) for x in points]), dot(v, s)
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


def _check_map(letter: str, A: LinearMap, samples: Samples, notes: Notes) -> None:
    """Check that A is linear, its adjoint fits, and its norms are upper bounds."""
    points, rng, law = samples.points, samples.rng, notes.laws_of(letter)
    try:
        worst = check_adjoint(A, points, seed=int(rng.integers(2**31)), tol=notes.tol)
    except ProblemError as error:
        raise ProblemError(f"{NAMES[letter]}: {error}") from None
    law("adjoint", worst, 1.0, wrong="the adjoint")
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


def _check_objective(f: Smooth, samples: Samples, notes: Notes) -> None:
    """Check the gradient of f, its convexity, and L as a Lipschitz constant of its gradient."""
    points, law = samples.points, notes.laws_of("f")
    images = [f.M(x) for x in points]
    values = [f.value(u) for u in images]
    slopes = [f.gradient(u) for u in images]
    sizes = [abs(float(g @ u)) for g, u in zip(slopes, images, strict=True)]
    spread = max(max(values) - min(values), *sizes)
    for u, value, slope in zip(images, values, slopes, strict=True):
        before = u.copy()
        again = f.value(u), f.gradient(u)
        if not np.array_equal(before, u):
            raise broken("f", "it changes its argument")
        if again[0] != value or not np.array_equal(again[1], slope):
            raise broken("f", "it gives another value or gradient when it is asked again")
    inside = images[-1]  # a mixture of the others: f is finite around it in their directions
    for i, u in enumerate(images):
        _check_slope(f, inside, u - inside, spread, law)
        for j, v in enumerate(images):
            # f is above its tangents, and below the parabolas of curvature L on them.
            above = values[j] - values[i] - float(slopes[i] @ (v - u))
            wrong = "it is not convex: its value is below a tangent"
            law("convex", -above, spread, wrong=wrong)
            most = 0.5 * f.L * between(points[i], points[j]) ** 2
            wrong = f"its curvature is more than L = {f.L:.3g} says"
            law("curvature", above - most, spread, most, wrong=wrong)
    tripled = f.scaled(3.0)
    for x, value in zip(points, values, strict=True):
        error, scale = abs(tripled.value(tripled.M(x)) - 3.0 * value), max(spread, abs(value))
        law("scaled", error, 3.0 * scale, wrong="scaled(c) is not c f")


def _check_slope(f: Smooth, u: Array, d: Array, spread: float, law: Law) -> None:
    """Check <grad, d> against differences of values along d."""
    slope, steps = float(f.gradient(u) @ d), DIFFERENCE_STEPS
    errors = [abs((f.value(u + t * d) - f.value(u - t * d)) / (2 * t) - slope) for t in steps]
    wrong, best = "the gradient is not the derivative of the value", float(np.min(errors))
    law("gradient", best, spread, abs(slope), wrong=wrong, most=SLOPE_TOL)


def _check_function(
    letter: str, h: Provable, images: list[Array], notes: Notes, rng: np.random.Generator
) -> None:
    """Check the prox of h, its conjugate, and its other constants."""
    law = notes.laws_of(letter)
    size = max(1.0, *(float(np.abs(image).max(initial=0.0)) for image in images))
    starts = [image + 2 * size * rng.standard_normal(h.size) for image in images]
    _check_prox(letter, h, [*images, *starts], law)
    _check_support(h, [*images, *starts], law)
    _check_pieces(letter, h, starts[0])
    rows = np.exp(rng.standard_normal(h.size)) if h.separable else np.full(h.size, 0.7)
    c, scaled, wrong = 2.5, h.scaled(rows, 2.5), "scaled(rows, c) is not z -> c h(z / rows)"
    for z in images:
        error = abs(scaled.value(rows * z) - c * h.value(z))
        law("scaled", error, c * abs(h.value(z)), size, wrong=wrong)
    for z in starts:
        y = scaled.multiplier(rows * z, 1.0)
        error = abs(scaled.conjugate(y) - c * h.conjugate(h.dual_point(rows * y / c)))
        law("scaled", error, float(np.abs(rows * y) @ np.abs(z)), size, wrong=wrong)
    _check_prox(letter, scaled, [rows * z for z in starts], law, form="the scaled form: ")


def _check_prox(letter: str, h: Provable, starts: list[Array], law: Law, form: str = "") -> None:
    t, lam = PROX_STEP, 1 / PROX_STEP
    tried = []
    for z in starts:
        before = z.copy()
        p, w = h.prox(z, t), h.multiplier(z, lam)
        if not (np.array_equal(z, before) and np.array_equal(p, h.prox(z, t))):
            text = "its prox changes its argument, or gives another answer when it is asked again"
            raise broken(letter, f"{form}{text}")
        size = max(1.0, float(np.linalg.norm(z)))
        wrong = f"{form}its prox is a point at which it is not finite"
        law("prox in the domain", h.distance(p), size, wrong=wrong)
        error = float(np.linalg.norm(w - lam * (z - p)))
        wrong = f"{form}multiplier(z, lam) is not lam (z - prox(z, 1/lam))"
        law("multiplier", error, lam * size, wrong=wrong)
        error = abs(h.distance(z) - float(np.linalg.norm(h.normal_residual(z))))
        wrong = f"{form}normal_residual(z) is not as long as distance(z)"
        law("distance", error, size, wrong=wrong)
        tried.append((z, p, w, h.value(p), h.conjugate(w), size))
    for z, p, w, value, conjugate, size in tried:
        error = abs(value + conjugate - float(p @ w))
        wrong = f"{form}h(p) + h*(w) = <p, w> does not hold for p = prox(z), w = multiplier(z)"
        law("conjugate", error, lam * size**2, abs(value), wrong=wrong)
        own = value + 0.5 * lam * float((p - z) @ (p - z))
        for _, q, y, other, support, longer in tried:
            sizes = lam * max(size, longer) ** 2, abs(value)
            error = own - (other + 0.5 * lam * float((q - z) @ (q - z)))
            wrong = f"{form}its prox is not the minimum of h(r) + |r - z|^2 / (2t)"
            law("prox is best", error, *sizes, wrong=wrong)
            wrong = f"{form}its conjugate is below <y, z> - h(z)"
            law("conjugate above", float(p @ y) - value - support, *sizes, wrong=wrong)
            if h.lipschitz < inf:
                step = h.lipschitz * float(np.linalg.norm(p - q))
                error, most = abs(value - other) - step, LIPSCHITZ_ROUNDING
                wrong = f"{form}its values differ by more than its lipschitz constant allows"
                law("lipschitz", error, step, abs(value), wrong=wrong, most=most)


def _check_support(h: Provable, starts: list[Array], law: Law) -> None:
    """Check that the support is above <d, z> for z in dom h, as proofs of infeasibility need."""
    members = [h.prox(z, PROX_STEP) for z in starts]
    wrong = "its support is below <d, z> for a point z at which it is finite"
    for z in [*starts, np.zeros(h.size)]:
        d = h.normal_residual(z)
        support = h.support(d)
        for p in members:
            size = float(np.abs(d) @ np.abs(p))
            law("support above", float(d @ p) - support, size, 1.0, wrong=wrong)


def _check_pieces(letter: str, h: Provable, z: Array) -> None:
    """Check that the pieces cover h and have its prox."""
    covered = [i for places, _ in h.pieces for i in range(h.size)[places]]
    if covered != list(range(h.size)):
        raise broken(letter, f"its pieces do not cover 0..{h.size - 1}")
    parts = [piece.prox(z[places], PROX_STEP) for places, piece in h.pieces]
    joined = np.concatenate([np.zeros(0), *parts])
    if not np.allclose(joined, h.prox(z, PROX_STEP), rtol=1e-9, atol=1e-12):
        raise broken(letter, "its pieces have another prox than it has")
