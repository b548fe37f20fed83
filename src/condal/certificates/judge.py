"""The judge: the only module that issues the statuses SOLVED, INFEASIBLE and UNBOUNDED.

Anything may propose an answer. A verdict rests on a record of what is proved of it, and a test
reads the syntax of all modules to keep it so: elsewhere these statuses are only compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condal.certificates.certificate import Certificate
from condal.linalg.points import Array
from condal.linalg.rounding import Proof
from condal.result import Result, Status

if TYPE_CHECKING:
    from condal.certificates.cones import ConicForm

PROVED = Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED


def of_point(certificate: Certificate | None, tol: float) -> Status | None:
    """Return SOLVED if the certificate of a point is within tol; else None."""
    return Status.SOLVED if certificate is not None and certificate.within(tol) else None


def of_separation(proof: Proof | None) -> Status | None:
    """Return INFEASIBLE if A(X) is proved to be at a positive distance from K; else None."""
    return Status.INFEASIBLE if proof is not None and proof.value > 0 else None


def of_multipliers(form: ConicForm, y: Array) -> Status | None:
    """Return INFEASIBLE if y proves that no x of the conic program is feasible; else None."""
    from condal.certificates.conic import proves_infeasible

    return Status.INFEASIBLE if proves_infeasible(form, y) else None


def of_ray(form: ConicForm, x: Array, ray: Array) -> Status | None:
    """Return UNBOUNDED if the objective is proved to fall for ever along the ray from x."""
    from condal.certificates.conic import proves_unbounded

    return Status.UNBOUNDED if proves_unbounded(form, x, ray) else None


def judged(result: Result, tol: float | None = None) -> Result:
    """Return the result as solved if its certificate is within tol, by default what was asked."""
    status = of_point(result.certificate, result.tol or 0.0 if tol is None else tol)
    return result if status is None else replace(result, status=status, reason="")
