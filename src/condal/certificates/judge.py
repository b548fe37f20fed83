"""The judge: the only module that issues the statuses SOLVED, INFEASIBLE and UNBOUNDED.

Anything may propose an answer. A verdict rests on a record of what is proved of it, and a test
reads the syntax of all modules to keep it so: elsewhere these statuses are only compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from condal.certificates.certificate import Certificate
from condal.linalg.points import Array
from condal.linalg.rounding import Proof, norm_above
from condal.result import Result, Status

if TYPE_CHECKING:
    from condal.certificates.cones import ConicForm

PROVED = Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED
SLOPE = 1e-12  # of a ray, relative to its size: less may be rounding


def of_point(certificate: Certificate | None, tol: float) -> Status | None:
    """Return SOLVED if the certificate of a point is within tol; else None."""
    return Status.SOLVED if certificate is not None and certificate.within(tol) else None


def of_separation(proof: Proof | None) -> Status | None:
    """Return INFEASIBLE if A(X) is proved to be at a positive distance from K; else None."""
    return Status.INFEASIBLE if proof is not None and proof.value > 0 else None


class Ending(NamedTuple):
    """A proof that there is no optimum: by a separator of all points, or by a ray."""

    status: Status
    vector: Array


def of_multipliers(form: ConicForm, y: Array) -> Ending | None:
    """Return INFEASIBLE with y, if y itself proves that no x is feasible; else None."""
    from condal.certificates.conic import proves_infeasible

    return Ending(Status.INFEASIBLE, y) if proves_infeasible(form, y) else None


def separated(dual: ConicForm, near: Iterable[Array]) -> Ending | None:
    """Return INFEASIBLE with a ray of the dual near one of these along which it falls for ever."""
    ray = proved_ray(dual, near)
    return None if ray is None else Ending(Status.INFEASIBLE, ray)


def unbounded(
    form: ConicForm, near: Iterable[Array], points: Callable[[Array], Iterable[Array]]
) -> Ending | None:
    """Return UNBOUNDED with a ray near one of these, if a point near one for it is feasible."""
    ray = proved_ray(form, near)
    if ray is None or not has_point(form, points(ray)):
        return None
    return Ending(Status.UNBOUNDED, ray)


def proved_ray(form: ConicForm, near: Iterable[Array]) -> Array | None:
    """Return a direction near one of these along which the objective falls clearly; or None.

    The right-hand side of the form does not matter.
    """
    from condal.certificates.conic import is_clear
    from condal.certificates.proposals import proved_value

    form = form.directions
    size = float(abs(form.c).max(initial=0.0))
    for v in near if size else ():
        value, w = proved_value(form, v, enough=-SLOPE * size * norm_above(v))
        if is_clear(-value, form.c, w):
            return w
    return None


def has_point(form: ConicForm, near: Iterable[Array]) -> bool:
    """Return whether a feasible point is proved near one of these."""
    from condal.certificates.proposals import proved_value

    form = form.feasibility
    return any(proved_value(form, v, enough=1.0)[0] < inf for v in near)


def judged(result: Result, tol: float | None = None) -> Result:
    """Return the result as solved if its certificate is within tol, by default what was asked."""
    status = of_point(result.certificate, result.tol or 0.0 if tol is None else tol)
    return result if status is None else replace(result, status=status, reason="")
