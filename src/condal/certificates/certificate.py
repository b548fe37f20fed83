"""What is true of an answer, recomputed from x and y alone and proved.

For any y in dom h*, with v = grad f(x) + A'y,

    f(x) - <grad f(x), x> + min_X <v, .> - h*(y)

is a lower bound on the optimum. The minimum is bounded from below by a proof of the domain's.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from condal.certificates.rounding import (
    adjoint_rounding,
    dual_rounding,
    errors_of,
    tangent_rounding,
)
from condal.domains.lifted import from_user
from condal.errors import ProblemError
from condal.linalg.gradients import add
from condal.linalg.norms import stable_norm, sum_roundings
from condal.linalg.points import Array, Point
from condal.linalg.proof import Proof
from condal.linalg.roundoff import gamma
from condal.problem import Model, Problem, problem_of
from condal.runtime.arguments import finite_array
from condal.runtime.markup import pairs
from condal.sets import Equal
from condal.sets.defaults import trusted
from condal.types import Provable

DEFAULT_FAILURE = 1e-6
LITTLE = 0.02  # of the slack of a proof: rounding that is not worth a closer look


@dataclass(frozen=True)
class Certificate:
    """An answer's objective, a proved bound on the optimum, and how feasible the answer is.

    In the user's sense: for a maximisation the bound is an upper bound. `failure` is the
    probability that the bound is wrong, 0 unless the proof is probabilistic. `distance_to_X` bounds
    how far the answer is from the domain: rounding, for all that the methods return.
    """

    objective: float
    bound: float
    infeasibility: float
    how: str
    failure: float = 0.0
    distance_to_X: float = 0.0
    dimacs: dict[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """|bound - objective| / max(1, |objective|)."""
        return relative_gap(self.objective, self.bound)

    @property
    def certified(self) -> bool:
        """Whether there is a finite proved bound at all."""
        return bool(np.isfinite(self.bound))

    def __str__(self) -> str:
        if not self.certified:
            return "no bound was proved"
        return f"bound {self.bound:.10g} proved by {self.because}"

    @property
    def because(self) -> str:
        """The proof in words, with its chance of being wrong."""
        surely = f", wrong with probability at most {self.failure:.1g}" if self.failure else ""
        return self.how + surely

    def _repr_html_(self) -> str:
        rows = [
            ("objective", f"{self.objective:.10g}"),
            ("bound", f"{self.bound:.10g}" if self.certified else "none was proved"),
            ("gap", f"{self.gap:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("proof", self.because),
            *((name, f"{error:.3g}") for name, error in self.dimacs.items()),
        ]
        return pairs("Certificate", rows)


def relative_gap(objective: float, bound: float) -> float:
    """|bound - objective| / max(1, |objective|)."""
    return abs(bound - objective) / max(1.0, abs(objective))


def certify(
    model: Problem | Model,
    x: Any,
    y: Array,
    *,
    tangent: Array | None = None,
    slack: float | None = None,
    failure: float = DEFAULT_FAILURE,
    seed: int = 0,
) -> Certificate:
    """The certificate of the point x with the bound of the dual y.

    With f(x) = phi(Mx), the bound is

        phi(u) - <phi'(u), u> + min over X of <M' phi'(u) + A'y, .> - h*(y),

    as phi, being convex, is above its tangent at any u.

    Parameters
    ----------
    tangent : u; None for Mx. That of a `Result`, where it has one.
    slack : how much the proof may lose against the exact minimum; None for 1e-8 of the objective.
    failure : the probability of error that a probabilistic proof is allowed.
    seed : of the random start of such a proof.
    """
    problem = problem_of(model)
    y = finite_array(y, "y", ndim=1)
    if y.size != problem.A.size:
        raise ProblemError(
            f"y must have a number for each of the {problem.A.size} constraints; got {y.size}"
        )
    if tangent is not None:
        tangent = require_tangent(problem, tangent)
    seen = EvaluatedPoint.of(problem, from_user(problem.X, x))
    slack = 1e-8 * problem.gap_unit(seen.objective) if slack is None else slack
    return certificate_of(
        problem, seen, y, tangent=tangent, slack=slack, failure=failure, seed=seed
    )


def require_tangent(problem: Problem, tangent: Any) -> Array:
    """u, where the tangent of phi is taken; ProblemError unless phi has one there."""
    f, u = problem.f, finite_array(tangent, "tangent", ndim=1)
    if u.size != f.M.size:
        raise ProblemError(
            f"tangent must have a number for each of the {f.M.size} of Mx; got {u.size}"
        )
    with np.errstate(all="ignore"):
        if not (np.isfinite(f.value(u)) and np.isfinite(f.gradient(u)).all()):
            raise ProblemError("the objective has no tangent there: it must be finite; give None")
    return u


def certificate_of(
    problem: Problem,
    seen: EvaluatedPoint,
    y: Array,
    *,
    tangent: Array | None = None,
    slack: float,
    failure: float,
    seed: int,
    enough: float = inf,
) -> Certificate:
    """`certify` for a point whose images are known; a bound of `enough` (in the sense of a
    minimisation) is not improved."""
    lower, proof = lower_bound(
        problem,
        seen.Mx if tangent is None else tangent,
        y,
        slack=slack,
        failure=failure,
        seed=seed,
        enough=enough,
    )
    return Certificate(
        objective=seen.objective,
        bound=float(problem.sense * lower),
        infeasibility=seen.infeasibility,
        distance_to_X=seen.distance_to_X,
        how=proof.how,
        failure=proof.failure,
        dimacs=dimacs_errors(problem, seen, y, lower, proof),
    )


@dataclass(frozen=True, eq=False)
class EvaluatedPoint:
    """What a problem sees of a point: its images, and the objective and infeasibility of these."""

    Mx: Array
    Ax: Array
    objective: float
    infeasibility: float
    distance_to_X: float

    @classmethod
    def of(cls, problem: Problem, x: Point) -> EvaluatedPoint:
        """The images of x, each computed once."""
        Mx, Ax = problem.f.M(x), problem.A(x)
        return cls(
            Mx,
            Ax,
            problem.sense * (problem.f.value(Mx) + problem.h.value(Ax)) + 0.0,  # 0 for -0
            problem.h.distance(Ax) / problem.infeasibility_unit,
            problem.X.distance(x),
        )


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
    """A proved lower bound on the minimum of f + h(A.) over X, and the proof behind it; by the dual
    y, and the tangent of f at u."""
    f, h = problem.f, problem.h
    w = h.dual_point(y)
    g = f.gradient(u)
    v = add(f.M.adjoint(g), problem.A.adjoint(w))
    value, slope, support = f.value(u), float(g @ u), h.conjugate(w)
    proof = problem.X.bound(
        v, slack=slack, failure=failure, seed=seed, enough=enough - (value - slope - support)
    )
    sizes = abs(value) + float(np.abs(g) @ np.abs(u)) + abs(proof.value) + h.conjugate_abs_sum(w)
    rounding = gamma(sum_roundings(u) + sum_roundings(w) + 8) * sizes
    little = LITTLE * slack / (problem.X.max_norm or 1.0)  # X = {0} has no size
    adjoints = adjoint_rounding(f.M, g, little), adjoint_rounding(problem.A, w, little)
    rounding += problem.X.max_norm * sum(adjoints)
    rounding += problem.X.max_norm * dual_rounding(problem.A, h.dual_error(w))
    off = errors_of(f, u, value, g)
    rounding += tangent_rounding(f.M, off, stable_norm(u), problem.X.max_norm)
    trusting = " and ".join(filter(None, (off.trusting, trusted(h))))
    if trusting:
        proof = replace(proof, how=f"{proof.how}, trusting {trusting}")
    return value - slope + proof.value - support - rounding, proof


def normal_part(h: Provable, y: Array) -> Array:
    """The normal of dom h in the dual y: 0 for the parts of h that are finite everywhere."""
    d = h.dual_point(y).copy()
    for here, part in h.pieces:
        if part.lipschitz < inf:
            d[here] = 0.0
    return d


def infeasibility_proof(
    problem: Problem, d: Array, *, slack: float, failure: float, seed: int
) -> Proof | None:
    """A proof that no x in X has Ax in K = dom h, from a normal d of K; None if d proves nothing.

    min_X <A'd, .> > sup_K <d, .> separates A(X) from K. The proof's value is a lower bound on the
    distance between the two. Where h is finite everywhere, d must be 0.
    """
    A, X, h = problem.A, problem.X, problem.h
    size, support = float(np.linalg.norm(d)), h.support(d)
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


def dimacs_errors(
    problem: Problem, seen: EvaluatedPoint, y: Array, lower: float, proof: Proof
) -> dict[str, float]:
    """The six error measures of the DIMACS challenge, for a linear objective over K = {b}, x in X.

    The dual slack Z = V - l I, with l proved below lambda_min(V), is psd: e3 and e4 vanish. e2
    holds the distance to X, of which a negative eigenvalue is a part.
    """
    if not isinstance(problem.h, Equal) or problem.f.L != 0.0 or not np.isfinite(lower):
        return {}
    b, value = problem.h.b, problem.f.value(seen.Mx)
    largest = 1.0 + float(np.abs(b).max(initial=0.0))
    total = 1.0 + abs(value) + abs(lower)
    residual = seen.Ax - b
    errors: dict[str, Any] = {
        "e1": np.linalg.norm(residual) / largest,
        "e2": seen.distance_to_X / largest,
        "e3": 0.0,
        "e4": 0.0,
        "e5": (value - lower) / total,
        "e6": (value + y @ seen.Ax - proof.value) / total,
    }
    return {name: float(error) for name, error in errors.items()}
