"""Certified optima of the instances, against which the figures measure residuals.

They are those of `condal.solve`, to a tolerance far below what the trials reach. The points are
feasible up to this tolerance, so the error of the objective is at most about its distance from the
bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from condal.driver.solve import solve
from condal.errors import ProblemError
from condal_lab.experiments.instances import Instance
from condal_lab.sweeps.run import undisturbed

TOLERANCE = 1e-9
MAX_SECONDS = 480.0
MAX_INFEASIBILITY = 1e-6  # of a point that counts as feasible


@dataclass(frozen=True)
class Reference:
    """The optimum f* lies between the `objective` of a feasible point and the proved `bound`.

    `gap` is |objective - bound| / |objective|. `infeasibility` and `distance_to_X` measure how far
    the point is from feasible. `how` names the proof of the bound, `failure` is its failure
    probability. All fields are numbers or text for JSON.
    """

    objective: float
    bound: float
    gap: float
    infeasibility: float
    distance_to_X: float
    how: str
    failure: float
    method: str
    seconds: float


def reference(instance: Instance, *, max_seconds: float = MAX_SECONDS) -> Reference:
    """Return the certified optimum of the instance, to the tolerance if time allows."""
    result = undisturbed(solve(instance.problem, tol=TOLERANCE, max_seconds=max_seconds, seed=0))
    proved = result.certificate
    objective, bound = float(proved.objective), float(proved.bound)
    if not isfinite(objective - bound) or proved.infeasibility > MAX_INFEASIBILITY:
        raise ProblemError(
            f"the optimum of {instance.name} is not known: condal.solve ended with "
            f"{result.status.name.lower()}, bound {bound:g} and infeasibility "
            f"{proved.infeasibility:.1e}"
        )
    return Reference(
        objective,
        bound,
        abs(objective - bound) / (abs(objective) or 1.0),
        float(proved.infeasibility),
        float(proved.distance_to_X),
        proved.how,
        float(proved.failure),
        result.method,
        result.seconds,
    )
