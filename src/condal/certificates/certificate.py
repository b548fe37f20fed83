r"""Certificates: what is true of an answer, recomputed from x and y alone and proved.

For any y in dom h*, with :math:`v = \nabla f(x) + A'y`,

.. math:: f(x) - \langle \nabla f(x), x \rangle + \min_X \langle v, \cdot \rangle - h^*(y)

is a lower bound on the optimum. The domain proves a lower bound on the minimum.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isnan, nan
from typing import Any

import numpy as np

from condal.certificates.measures import EXACT_DISTANCE, dimacs_errors, is_bracket
from condal.certificates.membership import refutes, require_point, require_vector
from condal.certificates.rounding import (
    adjoint_rounding,
    dual_rounding,
    errors_of,
    tangent_rounding,
)
from condal.certificates.scales import require_scales
from condal.domains.spectral import Spectrahedron
from condal.errors import ProblemError
from condal.linalg.gradients import add, zeros_of
from condal.linalg.points import Array, Point
from condal.linalg.rounding import Proof, gamma, stable_norm, sum_roundings
from condal.problem import JudgesItself, Model, Problem, problem_of
from condal.runtime.arguments import finite_array
from condal.runtime.entropy import unpredictable_seed
from condal.runtime.markup import pairs
from condal.sets.defaults import trusted
from condal.types import from_user

DEFAULT_FAILURE = 1e-6
DEFAULT_SLACK = 1e-8  # of the objective: what the proof of a certificate may lose
REFUTED = (
    "a proof of a bound is wrong, by its stated probability of failure or because a piece of the "
    "problem is: check the pieces with condal.check_problem, or solve with another seed"
)
NEGLIGIBLE_ROUNDING = 0.02  # of the slack of a proof: not worth a closer bound


@dataclass(frozen=True)
class Certificate:
    """The objective of an answer, a proved bound on the optimum, and how feasible the answer is.

    If the dual that proves the bound is optimal, the objective is within gap and price of the
    optimum; the bound holds for any dual.

    Parameters
    ----------
    objective : float
        The user's objective at x.
    bound : float
        A proved bound on the optimum: an upper bound for a maximisation.
    infeasibility : float
        The relative distance of Ax from K.
    how : str
        How the bound was proved.
    failure : float
        The probability that the bound is wrong; 0 unless the proof is probabilistic.
    price : float
        The price of infeasibility: ``|<w, Ax - P_K(Ax)>| / max(1, |objective|)``, with w the dual
        that proves the bound; nan if it is unknown.
    distance_to_X : float
        A bound on the distance of x from X: rounding, for all points that the methods return, and
        inf if it was not measured.
    inside : bool
        Whether that distance is rounding.
    bracket : bool
        Whether the optimum lies between objective and bound, up to rounding: x is in X, it violates
        no row by more than the rounding of this row, the price is rounding, and the bound is not
        better than the objective.
    dimacs : dict
        The DIMACS error measures, for a linear objective over K = {b}.
    """

    objective: float
    bound: float
    infeasibility: float
    how: str
    failure: float = 0.0
    price: float = nan
    distance_to_X: float = 0.0
    inside: bool = False
    bracket: bool = False
    dimacs: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.certified:  # also where a bound is replaced by none
            object.__setattr__(self, "bracket", False)

    @property
    def gap(self) -> float:
        r""":math:`|bound - objective| / \max(1, |objective|)`."""
        return relative_gap(self.objective, self.bound)

    @property
    def error(self) -> float:
        """The largest of gap, infeasibility and price; inf if one of them is unknown."""
        errors = self.gap, self.infeasibility, self.price
        return inf if any(map(isnan, errors)) else max(errors)

    @property
    def certified(self) -> bool:
        """Whether a finite bound is proved."""
        return bool(np.isfinite(self.bound))

    def __str__(self) -> str:
        if not self.certified:
            return "no bound was proved"
        return f"bound {exact_text(self.bound)} proved by {self.because}"

    @property
    def because(self) -> str:
        """The proof in words, with the probability that it is wrong."""
        surely = f", wrong with probability at most {self.failure:.1g}" if self.failure else ""
        return self.how + surely

    def _repr_html_(self) -> str:
        rows = [
            ("objective", f"{self.objective:.10g}"),
            ("bound", exact_text(self.bound) if self.certified else "none was proved"),
            ("gap", f"{self.gap:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("price", f"{self.price:.3g}"),
            ("proof", self.because),
            *((name, f"{error:.3g}") for name, error in self.dimacs.items()),
        ]
        return pairs("Certificate", rows)


def exact_text(bound: float) -> str:
    """Return a bound with all its digits: fewer, if rounded to the wrong side, are not proved."""
    return repr(float(bound))


def relative_gap(objective: float, bound: float) -> float:
    """|bound - objective| / max(1, |objective|)."""
    return relative(abs(bound - objective), objective)


def relative(amount: float, objective: float) -> float:
    """amount / max(1, |objective|), for a gap or a price."""
    return amount / max(1.0, abs(objective))


def relative_price(problem: Problem, Ax: Array, y: Array, objective: float) -> float:
    """`Problem.price` of the dual that y proves its bound by, over max(1, |objective|)."""
    return relative(problem.price(Ax, problem.h.dual_point(y)), objective)


def allowed_gap(problem: Problem, objective: float, tol: float) -> float:
    """tol * `Problem.gap_unit`: the absolute gap that a relative tolerance allows."""
    return tol * problem.gap_unit(objective)


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
    seen = EvaluatedPoint.of(problem, from_user(problem.X, x))
    slack = allowed_gap(problem, seen.objective, DEFAULT_SLACK) if slack is None else slack
    certificate = certificate_of(
        problem, seen, y, tangent=tangent, slack=slack, failure=failure, seed=seed
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
    """Certify a point whose images are known. A bound of `enough`, as of a minimisation, is not
    improved."""
    return certificate_and_proof(
        problem,
        seen,
        y,
        tangent=tangent,
        slack=slack,
        failure=failure,
        seed=seed,
        enough=enough,
    )[0]


def certificate_and_proof(
    problem: Problem,
    seen: EvaluatedPoint,
    y: Array,
    *,
    tangent: Array | None,
    slack: float,
    failure: float,
    seed: int,
    enough: float,
) -> tuple[Certificate, Proof]:
    """Return a certificate, and the proof of the minimum over X behind it."""
    lower, proof = lower_bound(
        problem,
        seen.Mx if tangent is None else tangent,
        y,
        slack=slack,
        failure=failure,
        seed=seed,
        enough=enough,
    )
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


@dataclass(frozen=True, eq=False)
class EvaluatedPoint:
    """The images of a point, and its objective, infeasibility and distance from X."""

    Mx: Array
    Ax: Array
    objective: float
    infeasibility: float
    distance_to_X: float

    @classmethod
    def of(cls, problem: Problem, x: Point) -> EvaluatedPoint:
        """Evaluate x, which must be a point of the space of X; each image is computed once."""
        require_point(problem.X, x)
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
    """Prove a lower bound on the minimum of f + h(A.) over X by the dual y and the tangent of f at
    u; return the bound and the proof."""
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
