"""Choose the proof of an eigenvalue bound by its work: a factorisation, or Lanczos steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np

from condal.linalg.lanczos import Recurrence
from condal.linalg.lanczos_bounds import MAX_PROOF_STEPS, steps_for
from condal.linalg.limits import MAX_FACTOR_BYTES, MAX_FACTOR_FLOPS, dense_factor_bytes
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import DENSE_SPEED

MIN_SPARSE_SIDE = 1000  # below, a dense proof costs less than planning another one
MAX_OPERATOR_SIDE = 3000  # of an operator that is multiplied out
MAX_SAVINGS = 100.0  # of minimum degree: flops of the envelope over those of the factor,
SPARSE_DEGREE = 6.0  # up to this average degree
LIKELY_SAVINGS = 10.0  # the same, as a rule
MAX_DENSE_SAVINGS = 4.0  # flops of the envelope over dense ones: 8 means a full envelope
BYTES_PER_ENTRY = 96  # of L: both factors, as SuperLU and as SciPy store them
MIN_FILLED_FLOPS = 5e7  # of a sparse factorisation: below, it costs little more than its ordering

MAX_LANCZOS_WORK = 0.6  # of a factorisation: what Lanczos steps may take before it
STEP_FLOPS = 2.0  # of an entry in a step, where the vectors stay in the cache
LIKELY_ROOM = 20.0  # times the slack: what a proof may lose against a bound that is enough
TINY = 1e-300
SPREAD_STEPS = 12  # that estimate the spread of the spectrum
STEPS_MARGIN = 1.1  # times the likely steps: what they may turn out to be


@dataclass(frozen=True)
class Plan:
    """The kind of a proof, and its sparse flops."""

    kind: str
    flops: float


def plan_factorisation(V: Symmetric) -> Plan:
    """Return the cheapest affordable proof: a dense or sparse factorisation, or Lanczos."""
    plans, multiplied_out = [], not V.operators or V.n <= MAX_OPERATOR_SIDE
    if dense_factor_bytes(V.n) <= MAX_FACTOR_BYTES and multiplied_out:
        plans.append(Plan("dense", V.n**3 / 3 / DENSE_SPEED))
    if V.factorable and V.n > MIN_SPARSE_SIDE:
        sparse = _sparse_plan(V.to_sparse(), min((plan.flops for plan in plans), default=inf))
        plans += [] if sparse is None else [sparse]
    plans = [plan for plan in plans if plan.flops <= MAX_FACTOR_FLOPS]
    return min(plans, key=lambda plan: plan.flops, default=Plan("probabilistic", 0.0))


def _sparse_plan(pattern: Any, dense: float) -> Plan | None:
    """Return the plan of a sparse factorisation by its exact cost, unless it is hopeless.

    Minimum degree takes a minute for a random graph of 10^5 vertices. The envelope of an order that
    is found at once tells where that is in vain: the factor takes less, by a factor that falls with
    the degree (measured on random, planar and geometric graphs of 10^3 to 10^5 vertices).
    """
    from condal.linalg.symbolic import elimination, envelope

    n = pattern.shape[0]
    width = envelope(pattern)
    flops = float(width @ width)
    if flops > min(_savings(pattern.nnz / n) * MAX_FACTOR_FLOPS, MAX_DENSE_SAVINGS * dense):
        return None
    cost = elimination(pattern)
    fits = BYTES_PER_ENTRY * cost.entries <= MAX_FACTOR_BYTES
    return Plan("sparse", cost.flops) if fits else None


class Likely(NamedTuple):
    """The flops of the cheapest factorisation, estimated before anything is ordered, inf if none is
    affordable, and whether it ends in dense rows."""

    flops: float
    fills: bool


def likely_factorisation(V: Symmetric) -> Likely:
    """Estimate the cheapest factorisation by the envelope."""
    flops, fills = inf, False
    if dense_factor_bytes(V.n) <= MAX_FACTOR_BYTES and not V.operators:
        flops = V.n**3 / 3 / DENSE_SPEED
    if V.factorable and V.n > MIN_SPARSE_SIDE:
        from condal.linalg.symbolic import envelope

        pattern = V.to_sparse()
        width = envelope(pattern)
        sparse = float(width @ width) / LIKELY_SAVINGS
        fills = sparse >= MIN_FILLED_FLOPS
        if fills:
            savings = DENSE_SPEED * _savings(pattern.nnz / V.n)
            sparse *= LIKELY_SAVINGS / min(MAX_SAVINGS, savings)
        flops = min(flops, sparse)
    return Likely(flops if flops <= MAX_FACTOR_FLOPS else inf, fills)


def _savings(degree: float) -> float:
    """Return the flops of the envelope over those of a factor in minimum degree order, at most."""
    return MAX_SAVINGS / max(1.0, degree / SPARSE_DEGREE) ** 3


def likely_steps(V: Symmetric, slack: float, failure: float) -> int:
    """Return how many Lanczos steps prove a bound that may lose LIKELY_ROOM times the slack.

    The proof of a gap mostly has room to lose far more than its slack. The spread of the spectrum
    is estimated from another start than that of the proof, on which the number does not depend.
    """
    start = np.random.default_rng(V.n).standard_normal(V.n)
    run = Recurrence(V, start / np.linalg.norm(start), keep=0)
    run.grow_to(SPREAD_STEPS)
    least, most = run.ends()
    return steps_for(V.n, LIKELY_ROOM * slack / max(most - least, TINY), failure)


def few_steps(V: Symmetric, likely: int, flops: float) -> int:
    """Return how many Lanczos steps to try before a factorisation; 0 if that is likely in vain.

    They take at most a part of the work of the factorisation.
    """
    steps = int(MAX_LANCZOS_WORK * flops / (STEP_FLOPS * (V.entries + 4 * V.n)))
    steps = min(steps, MAX_PROOF_STEPS)
    return steps if STEPS_MARGIN * likely <= steps else 0
