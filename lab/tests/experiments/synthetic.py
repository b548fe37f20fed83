"""Studies with synthetic curves, for which every claim is known to hold or fail."""

from typing import Any

import numpy as np

from condal_lab.experiments.claims import Study, make_study
from condal_lab.experiments.curve import Curve
from condal_lab.experiments.trial import MethodTrial, Reference, TrialBudget, TrialTask

K = 10_000
CALLS = np.unique(np.geomspace(1, K, 400).astype(int)).astype(float)
OPTIMUM = 4.0
C = 0.05  # so that f* is 0.2 in normalised units


def trial(
    name: str,
    setting: tuple[int, ...],
    residual: Any,
    infeasibility: Any = None,
    *,
    outer: Any = None,
    atoms: Any = None,
    ended: str = "calls",
    share: float = 0.9,
) -> MethodTrial:
    """Return a trial with the given errors; the errors of the atoms default to 1."""
    residual = np.broadcast_to(residual, CALLS.shape)
    infeasibility = np.abs(residual) if infeasibility is None else infeasibility
    atoms = np.ones(CALLS.size) if atoms is None else atoms
    curve = Curve(
        CALLS,
        OPTIMUM * (1 + residual),
        np.broadcast_to(infeasibility, CALLS.shape),
        np.ones(CALLS.size) if outer is None else outer,
        OPTIMUM * (1 + atoms),
        atoms,
    )
    task = TrialTask("made", name, setting, TrialBudget(K, 60.0))
    return MethodTrial(task, curve, ended, 1.0, K, 20 * K, 1.0, share, C)


def study(trials: list[MethodTrial]) -> Study:
    """Return the study of these trials."""
    known = Reference(OPTIMUM, OPTIMUM * (1 + 1e-9), 1e-9, 0.0, 0.0, "made", 0.0, "made", 0.0)
    return make_study("made", "a made instance", known, TrialBudget(K, 60.0), trials)
