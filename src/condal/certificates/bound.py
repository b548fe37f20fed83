r"""Bounds: what is true of an answer, recomputed from x and y alone and proved.

For any y in dom h*, with :math:`v = \nabla f(x) + A'y`,

.. math:: f(x) - \langle \nabla f(x), x \rangle + \min_X \langle v, \cdot \rangle - h^*(y)

is a lower bound on the optimum. The domain proves a lower bound on the minimum.

No point of X satisfies the constraints if a normal d of K separates A(X) from K:

.. math:: \min_{x \in X} \langle A'd, x \rangle > \sup_{z \in K} \langle d, z \rangle.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate, exact_text
from condal.certificates.evaluation import (
    EXACT_DISTANCE,
    EvaluatedPoint,
    dimacs_errors,
    is_bracket,
    norm_of_map,
    refutes,
    relative_price,
    require_vector,
)
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.eigenvalue_bounds import FLOPS_PER_SECOND, deterministic_flops
from condal.linalg.factorisations import SURE, spending
from condal.linalg.gradients import Gradient, add, zeros_of
from condal.linalg.points import Array
from condal.linalg.rounding import (
    UNDERFLOW,
    Errors,
    Proof,
    Rounded,
    gamma,
    norm_above,
    stable_norm,
    sum_roundings,
)
from condal.linalg.symmetric import Symmetric
from condal.problem import Problem
from condal.runtime.arguments import finite_array
from condal.sets.defaults import trusted
from condal.types import LinearMap, Provable, Smooth, why_unprovable

DEFAULT_FAILURE, MAX_FAILURE = 1e-6, 1e-2  # a proof that is wrong more often proves little
DEFAULT_SLACK = 1e-8  # of the objective: what the proof of a certificate may lose
REFUTED = (
    "a proof of a bound is wrong, by its stated probability of failure or because a piece of the "
    "problem is: check the pieces with condal.check_problem, or solve with another seed"
)
KNOWN = "the signs of the terms of the objective"
NEGLIGIBLE_ROUNDING = 0.02  # of the slack of a proof: not worth a closer bound
MIN_SIZE, MAX_SIZE = 1e-70, 1e70  # of f and A: duals have the size of f over A, and are squared
MAX_SQUARED = 1e150  # the square of a larger number may overflow
MAX_ENTRYWISE_SIDE = 1000  # n up to which the rounding of A'y is bounded entry by entry
PROOF_SLACK = 0.1  # of the expected separation: what a proof may lose
LEAST_EXPECTED = 1e-3  # of the widest possible separation: the least that is expected


def require_failure(failure: Any) -> None:
    """Raise ProblemError unless proofs may be wrong with this probability."""
    real = isinstance(failure, int | float | np.integer | np.floating)
    if failure is True or failure is False or not (real and 0 <= failure <= MAX_FAILURE):
        raise ProblemError(
            "failure must be a probability from 0, for deterministic proofs only, to "
            f"{MAX_FAILURE:g}; got {failure!r}"
        )


def require_deterministic(problem: Problem) -> str:
    """Say what the factorisation of a deterministic proof costs; ProblemError if none is
    affordable."""
    f = problem.f
    with np.errstate(all="ignore"):  # only the pattern of the gradient matters
        y = np.ones_like(zeros_of(problem.A))
        v = add(f.M.adjoint(f.gradient(np.ones_like(zeros_of(f.M)))), problem.A.adjoint(y))
    with spending(SURE):
        flops = deterministic_flops(v)
    if flops == inf:
        raise ProblemError(
            "no deterministic proof is affordable here: the matrix is too large to factorise, or "
            f"an operator; allow failure={DEFAULT_FAILURE:g}, for a proof by Lanczos"
        )
    seconds = flops / FLOPS_PER_SECOND
    return f"each proof is a factorisation of about {flops:.1g} operations ({seconds:.1g} s)"


def require_tangent(problem: Problem, tangent: Any) -> Array:
    """Return u, where the tangent of phi is taken; ProblemError unless phi has one there."""
    f, u = problem.f, finite_array(tangent, "tangent", ndim=1)
    if u.size != f.M.size:
        raise ProblemError(
            f"tangent must have a number for each of the {f.M.size} of Mx; got {u.size}"
        )
    with np.errstate(all="ignore"):
        if not (np.isfinite(f.value(u)) and np.isfinite(f.gradient(u)).all()):
            raise ProblemError("the objective has no tangent there: it must be finite; give None")
    return u


def require_scales(problem: Problem) -> None:
    """Raise ProblemError unless X, the objective over X and the rows of Ax are of a safe size."""
    size = problem.X.max_norm
    _require_safe(size, "the size of X", "measure x in other units")
    with np.errstate(over="ignore", under="ignore"):
        magnitude, norms = problem.objective_range, problem.A.row_norms()
    _require_safe(magnitude, "the objective's size over X", "scale the objective")
    nonzero = norms[norms > 0]
    for norm in (nonzero.min(initial=inf), nonzero.max(initial=0.0)):
        if 0 < norm < inf and not _is_safe(norm * size):
            i = int(np.flatnonzero(norms == norm)[0])
            _require_safe(norm * size, f"the size of row {i} of Ax", "scale it, and its K")


def _is_safe(number: float) -> bool:
    return number == 0 or MIN_SIZE <= number <= MAX_SIZE


def _require_safe(number: float, what: str, advice: str) -> None:
    """Raise ProblemError unless the number is 0, or its powers are finite and not 0."""
    if not _is_safe(number):
        raise ProblemError(
            f"{what} is {number:.3g}, beyond what double precision holds the squares and products "
            f"of ({MIN_SIZE:g} to {MAX_SIZE:g}): {advice}, for example by the largest entry"
        )


def certificate_and_proof(
    problem: Problem, seen: EvaluatedPoint, y: Array, **options: Any
) -> tuple[Certificate, Proof]:
    """Return a certificate of a point, and the proof of the minimum over X behind it; the options
    are those of `lower_bound`."""
    lower, proof = lower_bound(problem, seen.u, y, **options)
    return certificate_by(problem, seen, y, lower, proof), proof


def certificate_by(
    problem: Problem, seen: EvaluatedPoint, y: Array, lower: float, proof: Proof
) -> Certificate:
    """Return the certificate of a point by a lower bound that y and the proof prove.

    Without a bound, and with a warning, if the point itself shows that the proof is wrong. What is
    known without work takes the place of a weaker bound.
    """
    if lower < 0 and (known := known_bound(problem)) > lower:
        lower, proof = known, replace(proof, how=KNOWN, failure=0.0)
    price = relative_price(problem, seen, y)
    if refutes(problem, seen, y, lower, price):
        how = f"void: the point has the objective {exact_text(seen.objective)}, and {proof.how} "
        how += f"gave the bound {exact_text(problem.sense * lower)}, which excludes it"
        warnings.warn(f"{REFUTED}; {how}", RuntimeWarning, stacklevel=2)
        lower, proof = -inf, Proof(-inf, how)
    certificate = Certificate(
        objective=seen.objective,
        bound=float(problem.sense * lower),
        infeasibility=seen.infeasibility,
        price=price,
        distance_to_X=seen.distance_to_X,
        inside=seen.distance_to_X <= EXACT_DISTANCE * problem.X.max_norm,
        how=proof.how,
        failure=proof.failure,
        dimacs=dimacs_errors(problem, seen, y, lower, proof),
        unit=problem.gap_unit(seen.objective),
        size_of_X=problem.X.max_norm,
    )
    return replace(certificate, bracket=is_bracket(problem, seen, y, certificate))


def known_bound(problem: Problem) -> float:
    """Return what f + h is never below, by the signs of its terms: about 0, or -inf for none."""
    f, X = problem.f, problem.X
    if problem.maximise or why_unprovable(X) or problem.h.conjugate(zeros_of(problem.A)) != 0.0:
        return -inf
    if f.L > 0 or type(X) is not Spectrahedron:
        return float(getattr(f, "least", -inf))
    from condal.linalg.eigenvalue_bounds import gershgorin

    V = f.M.adjoint(np.ones(1))  # a Laplacian with weights >= 0 is psd up to rounding
    discs = gershgorin(V) if isinstance(V, Symmetric) else None
    return -inf if discs is None else X.trace * min(discs.value, 0.0) * (1 + gamma(2))


def lower_bound(
    problem: Problem,
    u: Array,
    y: Array,
    *,
    slack: float,
    failure: float,
    seed: int,
    enough: float = inf,
) -> tuple[float, Proof]:
    """Prove a lower bound on the minimum of f + h(A.) over X by the dual y and the tangent of f at
    u; return the bound and the proof. A bound of `enough` is not improved."""
    f, h = problem.f, problem.h
    require_vector(y, zeros_of(problem.A), "y")
    require_vector(u, zeros_of(f.M), "tangent")
    w = h.dual_point(y)
    g = f.gradient(u)
    v = add(f.M.adjoint(g), problem.A.adjoint(w))
    value, slope, support = f.value(u), float(g @ u), h.conjugate(w)
    prove, diagonal = problem.X.bound, problem.fixed_diagonal
    if diagonal is not None and type(problem.X) is Spectrahedron:
        prove = partial(problem.X.bound, diagonal=diagonal)
    left = enough - (value - slope - support)
    proof = prove(v, slack=slack, failure=failure, seed=seed, enough=left)
    sizes = abs(value) + float(np.abs(g) @ np.abs(u)) + abs(proof.value) + h.conjugate_abs_sum(w)
    rounding = gamma(sum_roundings(u) + sum_roundings(w) + 8) * sizes
    negligible = NEGLIGIBLE_ROUNDING * slack / (problem.X.max_norm or 1.0)  # X may be {0}
    adjoints = adjoint_rounding(f.M, g, negligible), adjoint_rounding(problem.A, w, negligible)
    rounding += problem.X.max_norm * sum(adjoints)
    rounding += problem.X.max_norm * dual_rounding(problem.A, h.dual_error(w))
    off = errors_of(f, u, value, g)
    rounding += tangent_rounding(f.M, off, stable_norm(u), problem.X.max_norm)
    trusting = " and ".join(filter(None, (off.trusting, trusted(h))))
    if trusting:
        proof = replace(proof, how=f"{proof.how}, trusting {trusting}")
    return value - slope + proof.value - support - rounding, proof


def errors_of(f: Smooth, u: Array, value: float, g: Array) -> Errors:
    """Return the rounding errors of f at u; where f does not state them, assume a few roundings."""
    stated = f.errors(u) if isinstance(f, Rounded) else None
    if stated is not None:
        return stated
    trusted = "the value and the gradient of f, and that it is convex"
    return Errors(gamma(u.size + 8) * abs(value), gamma(8) * stable_norm(g), trusting=trusted)


def tangent_rounding(M: LinearMap, off: Errors, u: float, size: float) -> float:
    """Bound how far the tangent of f at an image of norm u may be above f where |x| <= size."""
    if max(u, size) > MAX_SQUARED:
        return inf
    above = off.value + 0.5 * (off.concavity * (u + size) ** 2 + off.departure * size**2)
    if off.gradient:
        above += off.gradient * (u + norm_of_map(M) * size)
    return above


def adjoint_rounding(A: LinearMap, y: Array, enough: float = 0.0) -> float:
    """Bound |computed A'y - A'y|: an entry is a sum of A.terms products, rounded.

    The norms of A and y give a bound; if that is not `enough` and A is small, |A|'|y| gives one.
    """
    sizes = norm_above(A.row_norms()), norm_above(y)
    if 0.0 in sizes:
        return 0.0  # no product is rounded
    by_norms = gamma(A.terms + 4) * (sizes[0] * sizes[1]) + UNDERFLOW * A.terms
    if by_norms <= enough or not np.isfinite(by_norms) or not _is_small(A.adjoint(zeros_of(A))):
        return by_norms
    from condal.linalg.gradients import SquareRows

    rows = SquareRows.of(A)
    if rows is None:
        return by_norms
    counts = np.diff(rows.matrix.indptr)
    each = np.abs(rows.matrix.data) * np.repeat(np.abs(y), counts)
    columns = np.unique(rows.matrix.indices, return_inverse=True)[1].ravel()
    size = norm_above(np.asarray(np.bincount(columns, each), dtype=np.float64))
    products = int(counts[y != 0].sum())  # each may underflow
    if rows.squares.size:  # of v v', without its n^2 entries
        squared = np.array([norm_above(v) ** 2 for v in rows.vectors.T])
        size += float(np.abs(rows.c * y[rows.squares]) @ squared) * (1 + gamma(squared.size + 4))
        products += rows.vectors.size * len(rows.vectors)
    return min(by_norms, gamma(A.terms + 8) * size + UNDERFLOW * products)


def _is_small(v: Gradient | None) -> bool:
    """Return whether v is small enough to bound each entry."""
    if isinstance(v, tuple):
        return all(_is_small(part) for part in v)
    return v is not None and v.shape[0] <= MAX_ENTRYWISE_SIDE ** (1 if len(v.shape) > 1 else 2)


def dual_rounding(A: LinearMap, error: float) -> float:
    """Bound |A'y - A'w| for the point w that y stands for, if |y - w| <= error."""
    return error * norm_above(A.row_norms()) + UNDERFLOW if error else 0.0


@dataclass(frozen=True, eq=False)
class Separation:
    """A normal d of K, and the proof that it separates A(X) from K.

    `slack` and `number` are those of the proof, by which the ledger proves it again.
    """

    normal: Array
    proof: Proof
    slack: float
    number: int


def infeasibility_proof(
    problem: Problem, d: Array, *, slack: float, failure: float, seed: int
) -> Proof | None:
    """Prove by a normal d of K = dom h that no x in X has Ax in K; None if d proves nothing.

    The value of the proof is a lower bound on the distance between A(X) and K. Where h is finite
    everywhere, d must be 0.
    """
    A, X, h = problem.A, problem.X, problem.h
    require_vector(d, zeros_of(A), "the separator")
    size, support = norm_above(d), h.support(d)
    if size == 0.0 or not np.isfinite(support):
        return None
    gradient = A.adjoint(d)
    if gradient is None:
        return None
    least = X.bound(gradient, slack=slack, failure=failure, seed=seed)
    rounding = gamma(sum_roundings(d) + 8) * (abs(least.value) + h.support_abs_sum(d))
    rounding += X.max_norm * (adjoint_rounding(A, d) + dual_rounding(A, h.support_error(d)))
    separation = least.value - support - rounding
    if not separation > 0:
        return None
    return Proof(separation / size, least.how, least.failure)


def candidates(
    problem: Problem, Ax: Array, y: Array, excess: float
) -> Iterator[tuple[Array, float]]:
    """Yield normals of K that may separate A(X) from K, each with the slack of its proof: the
    normal at Ax, and the part of the dual y that is a normal.

    A bound that exceeds a value of f + g by more than f + g varies owes the `excess` to the second
    of them, which then separates by as much.
    """
    h = problem.h
    for d in (h.normal_residual(Ax), normal_part(h, y)):
        widest = float(d @ Ax) - h.support(d)  # Ax is a point of A(X)
        if not widest > 0:
            continue
        expected = min(max(excess, LEAST_EXPECTED * widest), widest) if excess > 0 else widest
        yield d, PROOF_SLACK * expected


def normal_part(h: Provable, y: Array) -> Array:
    """Return the normal of dom h in the dual y: 0 for pieces of h that are finite everywhere."""
    d = h.dual_point(y).copy()
    for rows, piece in h.pieces:
        if piece.lipschitz < inf:
            d[rows] = 0.0
    return d
