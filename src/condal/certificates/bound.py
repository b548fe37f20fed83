r"""Bounds: what is true of an answer, recomputed from x and y alone and proved.

For any y in dom h*, with :math:`v = \nabla f(x) + A'y`,

.. math:: f(x) - \langle \nabla f(x), x \rangle + \min_X \langle v, \cdot \rangle - h^*(y)

is a lower bound on the optimum. The domain proves a lower bound on the minimum.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from condal.certificates.certificate import Certificate, allowed_gap, exact_text, relative_price
from condal.certificates.evaluation import (
    EXACT_DISTANCE,
    EvaluatedPoint,
    dimacs_errors,
    is_bracket,
    refutes,
    require_vector,
)
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
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
from condal.problem import JudgesItself, Model, Problem, problem_of
from condal.runtime.arguments import finite_array, unpredictable_seed
from condal.sets.defaults import trusted
from condal.types import LinearMap, Smooth, from_user

DEFAULT_FAILURE = 1e-6
DEFAULT_SLACK = 1e-8  # of the objective: what the proof of a certificate may lose
REFUTED = (
    "a proof of a bound is wrong, by its stated probability of failure or because a piece of the "
    "problem is: check the pieces with condal.check_problem, or solve with another seed"
)
NEGLIGIBLE_ROUNDING = 0.02  # of the slack of a proof: not worth a closer bound
MIN_SIZE, MAX_SIZE = 1e-70, 1e70  # of f and A: duals have the size of f over A, and are squared
MAX_SQUARED = 1e150  # the square of a larger number may overflow
MAX_ENTRYWISE_SIDE = 1000  # n up to which the rounding of A'y is bounded entry by entry


@np.errstate(under="ignore")  # whatever numpy.seterr says: an underflow is a rounding
def certify(
    model: Problem | Model,
    x: Any,
    y: Array,
    *,
    tangent: Array | None = None,
    slack: float | None = None,
    failure: float = DEFAULT_FAILURE,
    seed: int | None = None,
) -> Certificate:
    r"""Certify the point x, with the bound of the dual y.

    With :math:`f(x) = \varphi(Mx)`, the bound is

    .. math::

        \varphi(u) - \langle \varphi'(u), u \rangle
        + \min_{x \in X} \langle M'\varphi'(u) + A'y, x \rangle - h^*(y),

    as the convex function :math:`\varphi` lies above its tangent at any u.

    Parameters
    ----------
    model : Problem or Model
        The problem that x and y belong to.
    x : array, LowRank, Outer or tuple
        A point of X.
    y : array
        The multipliers of the constraints.
    tangent : array, optional
        The point u; Mx by default. A `Result` whose x was made from a sketch has one.
    slack : float, optional
        How much the proof may lose against the exact minimum; 1e-8 of the objective by default.
    failure : float
        The probability of error that a probabilistic proof is allowed.
    seed : int, optional
        The seed of such a proof. By default it is drawn from the system's entropy, so whoever chose
        y cannot have known it.

    Returns
    -------
    Certificate

    Raises
    ------
    ProblemError
        If y or the tangent do not fit the problem, or its numbers are too large or too small.

    Examples
    --------
    >>> import numpy as np, condal
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> model = condal.problems.max_cut(cycle + cycle.T)
    >>> result = condal.solve(model)
    >>> condal.certify(model, result.x, result.y).gap < 1e-3
    True
    """
    problem = problem_of(model)
    require_scales(problem)
    seed = unpredictable_seed() if seed is None else seed
    y = finite_array(y, "y", ndim=1)
    if y.size != problem.A.size:
        raise ProblemError(
            f"y must have a number for each of the {problem.A.size} constraints; got {y.size}"
        )
    if tangent is not None:
        tangent = require_tangent(problem, tangent)
    seen = EvaluatedPoint.of(problem, from_user(problem.X, x), tangent)
    slack = allowed_gap(problem, seen.objective, DEFAULT_SLACK) if slack is None else slack
    certificate, _ = certificate_and_proof(
        problem, seen, y, slack=slack, failure=failure, seed=seed
    )
    if isinstance(model, JudgesItself):
        proved: Certificate = model.certified_pair(x, y, certificate)
        return proved
    return certificate


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
    with np.errstate(over="ignore", under="ignore"):
        magnitude, norms = problem.objective_range, problem.A.row_norms()
    _require_safe(size, "the size of X", "measure x in other units")
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

    Without a bound, and with a warning, if the point itself shows that the proof is wrong.
    """
    if refutes(problem, seen, y, lower):
        how = f"void: the point has the objective {exact_text(seen.objective)}, and {proof.how} "
        how += f"gave the bound {exact_text(problem.sense * lower)}, which excludes it"
        warnings.warn(f"{REFUTED}; {how}", RuntimeWarning, stacklevel=2)
        lower, proof = -inf, Proof(-inf, how)
    certificate = Certificate(
        objective=seen.objective,
        bound=float(problem.sense * lower),
        infeasibility=seen.infeasibility,
        price=relative_price(problem, seen.Ax, y, seen.objective),
        distance_to_X=seen.distance_to_X,
        inside=seen.distance_to_X <= EXACT_DISTANCE * problem.X.max_norm,
        how=proof.how,
        failure=proof.failure,
        dimacs=dimacs_errors(problem, seen, y, lower, proof),
    )
    return replace(certificate, bracket=is_bracket(problem, seen, certificate))


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
        # A norm may be an estimate: twice that is too small with a probability below 1e-40.
        norm = min(2 * M.norm, norm_above(M.row_norms()))
        above += off.gradient * (u + norm * size)
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
