"""Proved lower bounds on the smallest eigenvalue.

1. A completed Cholesky factorisation of V - tau I, dense or sparse, proves that lambda_min(V) > tau
   less a bound on the rounding of the factorisation.
2. Lanczos from a fresh random start proves a bound with a known probability of failure
   (`lanczos_bounds`).
3. Gershgorin discs prove a bound for any matrix with known entries.
4. A matrix of low rank reduces to a small one (`factor_bounds`).

Ritz values prove nothing: they lie above lambda_min.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf, isnan
from typing import Any

import numpy as np

from condal.linalg.eigen import Engine
from condal.linalg.factorisations import (
    MAX_OPERATOR_SIDE,
    MIN_SPARSE_SIDE,
    SURE,
    Plan,
    budget,
    dense_cholesky,
    few_steps,
    likely_factorisation,
    likely_steps,
    sparse_factorisation,
    spending,
)
from condal.linalg.factorisations import plan_factorisation as _plan
from condal.linalg.lanczos_bounds import probabilistic
from condal.linalg.points import Array
from condal.linalg.reductions import Deflated, DiagonalScaling
from condal.linalg.rounding import UNIT_ROUNDOFF, Proof, gamma
from condal.linalg.symmetric import Symmetric
from condal.runtime.meter import DENSE_SPEED, Cancelled, check_cancelled, seconds_left

FLOPS_PER_SECOND = 2e9  # about
MAX_PSD_FLOPS = 2e9  # of SuperLU, to check an argument before there is any problem


def smallest_eigenvalue_bound(
    V: Symmetric,
    *,
    slack: float,
    failure: float,
    seed: int,
    enough: float = inf,
    engine: Engine | None = None,
    shares: Array | None = None,
) -> Proof:
    """Prove l <= lambda_min(V), with lambda_min - l about `slack` where that is affordable.

    A bound of `enough` is not improved: one factorisation there needs no estimate first. With
    `shares`, l need only be a bound on <V, x> for the psd x with these shares as their diagonal.
    """
    if V.matrix_free and not V.operators:  # the terms without entries are Schur complements
        from condal.linalg.schur_bounds import schur_bound

        return schur_bound(V, slack=slack, enough=enough)
    if all(term.low_rank for term in V.terms):
        from condal.linalg.reductions import factor_bound, factor_columns

        proof = factor_bound(V, slack) if factor_columns(V) else None
        if proof is not None:
            return proof
    deflated = Deflated.of(V, slack)
    if deflated is not None:
        proof = smallest_eigenvalue_bound(
            deflated.V,
            slack=slack,
            failure=failure,
            seed=seed,
            enough=enough + deflated.loss,
            engine=engine,
            shares=shares,
        )
        return replace(proof, value=proof.value - deflated.loss)
    discs = gershgorin(V)
    if discs is not None and discs.value >= enough:
        return discs
    best = discs or Proof(-inf, "no proof")
    if engine is None:
        from condal.linalg.eigen import Lanczos

        engine = Lanczos()
    attempts = _attempts(V, slack, failure, seed, enough, engine, shares)
    # Out of time, what was proved before remains.
    with suppress(Cancelled), spending(budget() if failure else SURE):
        for proof in attempts:
            best = _better(proof, best)
            if best.value >= enough:
                break
    if discs is not None and best.how == discs.how and seconds_left() <= 0:
        best = replace(best, how=f"{best.how}, as there was no time for a better proof")
    if V.operators:
        return replace(best, how=f"{best.how}, trusting the products of the operator")
    return best


def deterministic_flops(v: Any) -> float:
    """Estimate the sparse flops of the factorisations that prove a bound on a gradient; inf if they
    are not affordable. What is no symmetric matrix needs none."""
    if isinstance(v, tuple):
        return sum(map(deterministic_flops, v))
    if not isinstance(v, Symmetric) or (v.matrix_free and not v.operators):
        return 0.0
    from condal.linalg.reductions import factor_columns

    columns = factor_columns(v)
    if v.operators and v.n <= MAX_OPERATOR_SIDE:  # it is multiplied out
        return v.n**3 / 3 / DENSE_SPEED
    return likely_factorisation(v).flops if columns is None else v.n * columns**2


def _attempts(
    V: Symmetric,
    slack: float,
    failure: float,
    seed: int,
    enough: float,
    engine: Engine,
    shares: Array | None,
) -> Iterator[Proof]:
    """Prove bounds on the smallest eigenvalue, the cheapest first."""
    scaling = None if shares is None else DiagonalScaling.of(V, shares)
    prove = partial(probabilistic, failure=failure, seed=seed)
    lanczos = partial(by_lanczos, V, scaling, prove, slack=slack)
    if np.isfinite(enough) and V.n > MIN_SPARSE_SIDE:
        scaled = (V, slack) if scaling is None else (scaling.scaled, slack / scaling.total)
        flops, fills = likely_factorisation(V)
        if flops == inf and failure:  # a plan would come to the same end, after another ordering
            yield lanczos(enough=enough)
            return
        if flops > budget().preferred:
            steps = few_steps(scaled[0], likely_steps(*scaled, failure), flops)
            if steps:
                yield lanczos(enough=enough, max_steps=steps)
        partly_dense = fills and _partly_dense(V, slack, enough, engine)
        if partly_dense:
            yield partly_dense
            return
    check_cancelled()
    plan = _plan(V)
    check_cancelled()
    if plan.kind == "probabilistic" or plan.flops > FLOPS_PER_SECOND * seconds_left():
        if failure:
            yield lanczos(enough=enough)
    else:
        factored = _factored(V, plan, slack, enough, engine)
        if factored is not None:
            yield factored


def _factored(
    V: Symmetric, plan: Plan, slack: float, enough: float, engine: Engine
) -> Proof | None:
    """Prove a bound by a factorisation at `enough`, or below an estimate.

    A factorisation that fails at `enough` shows where V is lower: that is the estimate, and goes
    with the proof of the lower bound.
    """
    prove = dense_cholesky if plan.kind == "dense" else sparse_factorisation
    explicit = V.explicit()
    if not np.isfinite(enough):
        return _descend(explicit, prove, engine.smallest(V, tol=0.5 * slack).value, slack)
    if plan.kind == "dense":
        proof, lower = dense_cholesky(explicit, enough), None
    else:
        from condal.linalg.factorisations import SparseFactors

        factors = SparseFactors.of(explicit, enough)
        proof = None if factors is None else factors.proof()
        lower = None if factors is None or proof is not None else factors.below()
    return proof or _lower(explicit, prove, lower, slack, enough, engine)


def _partly_dense(V: Symmetric, slack: float, enough: float, engine: Engine) -> Proof | None:
    """`_factored`, without a plan; None if the dense part is too large."""
    from condal.linalg.partial_cholesky import PartialCholesky, partial_cholesky

    max_flops = min(budget().flops, FLOPS_PER_SECOND * seconds_left())
    factors = PartialCholesky.of(V, enough, max_flops)
    if factors is None:
        return None
    return factors.proof() or _lower(V, partial_cholesky, factors.below(), slack, enough, engine)


def _lower(
    V: Symmetric,
    prove: Any,
    lower: tuple[Array, Array] | None,
    slack: float,
    enough: float,
    engine: Engine,
) -> Proof | None:
    """Prove a bound below `enough`, given Ritz values and vectors of V that show that it is too
    high, or None."""
    if lower is None:
        pair = engine.smallest(V, tol=0.5 * slack)
        lower = np.array([pair.value]), pair.vector[:, None]
    values, vectors = lower
    slack = max(slack, 4 * abs(float(values[0]) - enough))  # a coarse bound will do
    proof: Proof | None = _descend(V, prove, float(values[0]), slack)
    refuting = vectors[:, values < enough]
    return proof if proof is None or refuting.size == 0 else replace(proof, refuting=refuting)


def semidefinite(V: Symmetric) -> Proof | None:
    """Prove that V is psd up to rounding: l <= lambda_min(V), with l >= 0 or a little below it.

    The result is None if no factorisation is affordable, and l = -inf if V is clearly not psd.
    """
    discs = gershgorin(V)
    if discs is not None and discs.value >= 0:
        return discs
    plan = _plan(V)
    if plan.kind == "probabilistic" or plan.flops > MAX_PSD_FLOPS:
        return None
    prove = dense_cholesky if plan.kind == "dense" else sparse_factorisation
    V = V.explicit()
    sums = V.absolute_row_sums()
    assert sums is not None
    trace, unit = float(V.absolute_diag().sum()), 8 * gamma(V.n + 1) * float(sums.max())
    below = [-unit * 8**k for k in range(4)]
    for tau in (4 * gamma(V.n + 1) * trace + unit, *below):
        proof = prove(V, tau)
        if proof is not None:
            return proof
    added = f"{-below[-1]:.3g} added to its diagonal"
    return Proof(-inf, f"no factorisation of it completes, not with {added} either")


def _descend(V: Symmetric, prove: Any, estimate: float, slack: float) -> Proof | None:
    """Try shifts further and further below the estimate until a factorisation completes."""
    sums = V.absolute_row_sums()
    least = 0.0 if sums is None else UNIT_ROUNDOFF * float(sums.max())  # rounding hides less
    step = max(slack, 1e-14 * abs(estimate), least, np.finfo(float).tiny)
    for _ in range(12):
        check_cancelled()
        proof: Proof | None = prove(V, estimate - step)
        if proof is not None:
            return proof
        step *= 8
    return None


def by_lanczos(
    V: Symmetric,
    scaling: DiagonalScaling | None,
    prove: Callable[..., Proof],
    *,
    slack: float,
    enough: float,
    **options: Any,
) -> Proof:
    """Prove a bound on V by Lanczos, or by V scaled by its diagonal."""
    if scaling is None:
        return prove(V, slack=slack, enough=enough, **options)
    total = scaling.total
    proof = prove(scaling.scaled, slack=slack / total, enough=enough / total, **options)
    how = f"{proof.how}, scaled by the diagonal"
    return replace(proof, value=scaling.bound(proof.value), how=how)


def gershgorin(V: Symmetric) -> Proof | None:
    """Prove min_i (V_ii - sum of |V_ij| over j != i), term by term; None for a matrix-free V."""
    sums = V.absolute_row_sums()
    if sums is None:
        return None
    worst = float((V.diag() - (sums - V.absolute_diag())).min())
    return Proof(worst - 8 * (V.n + 4) * UNIT_ROUNDOFF * float(sums.max()), "Gershgorin discs")


def _better(a: Proof, b: Proof) -> Proof:
    """Return the higher bound, with the vectors that refute an even higher one."""
    best, other = (b, a) if b.value > a.value or isnan(a.value) else (a, b)
    return best if other.refuting is None else replace(best, refuting=other.refuting)
