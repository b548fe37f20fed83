"""Checks of every result: consistent with itself, with NumPy and with a rival."""

from itertools import pairwise
from typing import Any

import numpy as np

import condal
from attempts import Findings
from condal.certificates.verification import verify
from condal.problem import problem_of
from condal.result import Result, Status
from truth.case import Case
from truth.rivals import Said

ROUNDING = 1e-9  # relative to the summands: the effect of another order of summation
MEMBER = 2e-6  # of the size of X: how far outside X a solution may be
CLEARLY = 2.0  # times the tolerance: an infeasibility that must be proved
PROOF = 1e-8  # of the unit: slack of the proof of `certify`
SURELY = 1e-6  # of the size of the terms: a separation beyond rounding


def judge(case: Case, result: Result, said: Said, tol: float) -> Findings:
    """Run all checks."""
    findings = Findings()
    problem = problem_of(case.model)
    with_itself(findings, problem, result, tol)
    if result.x is not None:
        with_numpy(findings, case, problem, result)
    bounds: list[float] = []
    if result.x is not None and _is_dual(result.y, problem):
        with_certify(findings, problem, result, tol)
        bounds = of_any_duals(problem, result)
    with_what_is_known(findings, case, problem, result, tol)
    with_rival(findings, case, problem, result, said, tol)
    for bound in bounds:
        known = case.sense * case.upper if np.isfinite(case.upper) else np.inf
        high = min(said.high, known) if said.status == "solved" else known
        fine = case.margin > 0 or case.sense * bound <= high
        findings.ask(fine, f"certify proves {bound!r} by another dual, past {case.sense * high!r}")
    return findings


def with_itself(findings: Findings, problem: Any, result: Result, tol: float) -> None:
    """The gap matches bound and objective, and the result has what its status implies."""
    objective, bound = result.objective, result.bound
    gap = abs(bound - objective) / problem.gap_unit(objective)
    findings.ask(result.gap == gap or not np.isfinite(gap), f"gap is {result.gap}, not {gap}")
    findings.ask(_is_dual(result.y, problem), f"y has shape {result.y.shape}, or no numbers")
    rows = list(result.history)
    for row in rows:
        gap = abs(row.bound - row.objective) / problem.gap_unit(row.objective)
        findings.ask(row.gap == gap or not np.isfinite(gap), f"row {row.k} has a gap of {row.gap}")
    counts = [(row.k, row.oracle_calls, row.matvecs, row.seconds) for row in rows]
    for before, after in pairwise(counts):
        fell = [a < b for a, b in zip(after, before, strict=True)]
        findings.ask(not any(fell), f"a count of the history fell from {before} to {after}")
    proved = result.infeasible is not None and result.separator is not None
    infeasible = result.status is Status.INFEASIBLE
    findings.ask(proved == infeasible, f"{result.status.name} with proof {result.infeasible}")
    findings.ask(result.status is not Status.NUMERICAL_ERROR, f"NUMERICAL_ERROR: {result.reason}")
    if result.status is Status.SOLVED:
        aim = tol * problem.gap_unit(objective) * (1 + 1e-12)
        findings.ask(abs(bound - objective) <= aim, f"SOLVED with a gap of {result.gap}")
        findings.ask(result.infeasibility <= tol, f"SOLVED, infeasible by {result.infeasibility}")


def _is_dual(y: np.ndarray, problem: Any) -> bool:
    return y.shape == (problem.A.size,) and bool(np.isfinite(y).all())


def with_numpy(findings: Findings, case: Case, problem: Any, result: Result) -> None:
    """Objective, infeasibility and membership of x agree with NumPy."""
    value, size = case.value(result.x), max(problem.objective_range, abs(result.objective))
    same = abs(value - result.objective) <= ROUNDING * size + 1e-300
    findings.ask(same, f"the objective is {value!r}, not {result.objective!r}")
    missed, told = case.missed(result.x), result.infeasibility * problem.infeasibility_unit
    reach = float(problem.A.norm * problem.X.max_norm) + missed + problem.infeasibility_unit
    findings.ask(abs(missed - told) <= ROUNDING * reach, f"Ax misses K by {missed!r}, not {told!r}")
    farthest = problem.h.distance(np.zeros(problem.A.size))
    findings.ask(
        problem.infeasibility_unit <= max(1.0, farthest) * (1 + 1e-12),
        f"reach is {problem.infeasibility_unit}",
    )
    off, told = case.off(result.x), result.certificate.distance_to_X / (problem.X.max_norm or 1.0)
    limit = MEMBER if result.status is Status.SOLVED else MEMBER + 2 * told
    findings.ask(off <= limit, f"x is outside of X by {off:.3g} of its size; told {told:.3g}")


def with_certify(findings: Findings, problem: Any, result: Result, tol: float) -> None:
    """`certify` proves as much from x and y alone, unless the bound takes another tangent of f."""
    if result.tangent is not None:
        overstated = [claim for claim in verify(problem, result).unproved if claim.name == "bound"]
        findings.ask(not overstated, f"x, y and the tangent do not prove it: {overstated}")
    again = condal.certify(problem, result.x, result.y)
    sense = problem.sense
    unit = problem.gap_unit(result.objective)
    aim = tol * unit
    lost = sense * (result.bound - again.bound)
    if np.isfinite(result.bound) and result.tangent is None:
        room = 0.1 * max(aim, abs(result.bound - result.objective)) + 2 * PROOF * unit
        findings.ask(
            lost <= room + ROUNDING * problem.objective_range, f"certify has {again.bound!r}"
        )
    same = abs(again.objective - result.objective) <= ROUNDING * problem.objective_range + 1e-300
    findings.ask(same, f"certify has the objective {again.objective!r}")


def of_any_duals(problem: Any, result: Result) -> list[float]:
    """Bounds from arbitrary duals must hold as well."""
    if not problem.A.size:
        return []
    rng = np.random.default_rng(len(result.history))
    unit = problem.objective_range / (float(problem.A.norm * problem.X.max_norm) or 1.0)
    some = rng.standard_normal(problem.A.size) * unit
    duals = [some, 10.0 ** rng.integers(-8, 9) * some, result.y + 1e-3 * some, 1e3 * result.y]
    return [condal.certify(problem, result.x, y).bound for y in duals]


def with_what_is_known(
    findings: Findings, case: Case, problem: Any, result: Result, tol: float
) -> None:
    """A point that is feasible by construction, or a margin by which none is."""
    sense = case.sense
    if np.isfinite(case.upper):
        findings.judged = True
        over = sense * (result.bound - case.upper)
        findings.ask(over <= 0, f"bound {result.bound!r} is past the feasible {case.upper!r}")
    if case.margin == 0.0:
        findings.ask(result.status is not Status.INFEASIBLE, "INFEASIBLE, but a point is known")
    elif case.margin > 0:
        findings.judged = True
        forgiven = tol * problem.infeasibility_unit
        solved = result.status is Status.SOLVED
        findings.ask(not solved or case.margin <= 1.001 * forgiven, "SOLVED, but it is infeasible")
        told = result.infeasibility * problem.infeasibility_unit
        image = float(problem.A.norm * problem.X.max_norm)
        # 1 is for the set: a ball of radius 1 may touch 0.
        rounding = 1e-15 * (1.0 + image + problem.h.distance(np.zeros(problem.A.size)))
        room = image * case.off(result.x) + rounding + 1e-6 * case.margin
        findings.ask(told >= case.margin - room, f"told {told!r} from K, {case.margin!r} is least")
        if case.margin > CLEARLY * forgiven and result.status is not Status.INFEASIBLE:
            findings.short.append("not proved infeasible")
        elif result.status not in (Status.SOLVED, Status.INFEASIBLE):
            findings.short.append(f"{result.status.name} on a barely infeasible problem")
    if result.status is Status.INFEASIBLE and result.separator is not None and case.separation:
        least, support, size = case.separation(result.separator)
        findings.ask(
            least - support >= -1e-13 * (abs(least) + abs(support) + size),
            f"the separator has min <A'd, x> = {least!r}, sup <d, z> = {support!r}",
        )


def with_rival(
    findings: Findings, case: Case, problem: Any, result: Result, said: Said, tol: float
) -> None:
    """The bound is valid, and a solution is within the tolerance."""
    if said.status == "infeasible" and case.margin != 0.0:
        there = result.status is Status.SOLVED and result.infeasibility < 1e-12
        if there and np.isnan(case.margin):
            return  # a point checked elsewhere refutes the rival, which is sometimes wrong
        # Where the margin is known, `with_what_is_known` compares it with the distance told: the
        # rival sees rows of any scale as equals, the distance does not.
        findings.judged = True
        if np.isnan(case.margin) and result.status is not Status.INFEASIBLE:
            findings.short.append("not proved infeasible, the rival says")
        return
    if said.status != "solved" or case.margin > 0:
        return
    sense, unit = case.sense, problem.gap_unit(result.objective)
    if said.width > 0.1 * max(tol * unit, 1e-6 * problem.objective_range):
        return  # the rival is not accurate enough
    findings.judged = True
    findings.ask(
        not np.isfinite(result.bound) or sense * result.bound <= said.high,
        f"bound {result.bound!r} is past the optimum [{sense * said.low!r}, {sense * said.high!r}]",
    )
    if result.status is Status.INFEASIBLE:
        findings.ask(
            result.infeasible is not None
            and result.infeasible.value <= SURELY * problem.infeasibility_unit,
            "INFEASIBLE by a wide margin, but the rival solves it",
        )
    elif result.status is Status.SOLVED:
        over = sense * result.objective - said.high
        findings.ask(over <= tol * unit * (1 + 1e-9), f"SOLVED, {over!r} above the optimum")
        # f(x) >= f* - |y*| dist(Ax, K), y* the optimal multipliers, if x is in X
        outside = 2 * MEMBER * problem.objective_range
        owed = 2 * said.price * result.infeasibility * problem.infeasibility_unit + outside
        under = said.low - sense * result.objective
        findings.ask(under <= owed, f"SOLVED, {under!r} below the optimum, and {owed!r} is owed")
    else:
        findings.short.append(f"{result.status.name} on a feasible problem")
