"""What SOLVED means: the gap, the infeasibility and its price are within tol, at a point of X."""

from __future__ import annotations

from condal.certificates.certificate import Certificate, allowed_gap
from condal.certificates.membership import is_member
from condal.problem import Problem


def solves(problem: Problem, certificate: Certificate, tol: float) -> bool:
    """Return whether a certificate proves that its point solves the problem to tol."""
    return not excess(problem, certificate, tol)


def excess(
    problem: Problem,
    certificate: Certificate,
    tol: float,
    *,
    gap_room: float = 0.0,
    infeasibility_room: float = 0.0,
) -> str:
    """Return what is not within tol, in words; "" if the point solves the problem to tol.

    The rooms are for the rounding of another machine: of gap and price, which are absolute here,
    and of the relative infeasibility. A measure that is nan is not within tol.
    """
    objective, unit = certificate.objective, problem.gap_unit(certificate.objective)
    allowed = allowed_gap(problem, objective, tol) + gap_room
    gap = abs(certificate.bound - objective)
    if not gap <= allowed:
        return f"a gap of {gap / unit:.3g} is not within tol {tol:g}"
    if not certificate.infeasibility <= tol + infeasibility_room:
        return f"an infeasibility of {certificate.infeasibility:.3g} is not within tol {tol:g}"
    price = certificate.price * max(1.0, abs(objective))
    if not price <= allowed:
        return f"a price of infeasibility of {price / unit:.3g} is not within tol {tol:g}"
    return "" if is_member(problem.X, certificate.distance_to_X, tol) else "the point is not in X"
