"""Random conic programs, judged against Clarabel; `planted` has those whose truth is known."""

from dataclasses import dataclass, replace
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from attempts import Findings
from condal.problems.conic import Block, Program, UnboundedTraceError, conic_model
from condal.result import Status
from truth.judged import ROUNDING
from truth.random_programs import random_program
from truth.rivals import ACCURACY, SAID, SECONDS, Said, interval, is_panic


@dataclass(frozen=True, eq=False)
class Heard(Said):
    """The rival's x and the multipliers of the rows, in the program's units."""

    x: Any = None
    y: Any = None


def least(block: Block, z: np.ndarray) -> float:
    """Return the depth of z in the (self-dual) cone of the block; negative outside."""
    if block.kind == "psd":
        full = z.reshape(block.n, block.n)
        return float(np.linalg.eigvalsh(0.5 * (full + full.T))[0])
    return float(z.min() if block.kind == "orthant" else z[0] - np.linalg.norm(z[1:]))


def clarabel_hears(program: Program) -> Heard:
    """Solve the program with rows and objective scaled to norm 1; answer in its own units."""
    spoken = for_clarabel(program)
    try:
        solution = spoken.solve(accuracy=ACCURACY, seconds=SECONDS)
    except BaseException as error:
        if is_panic(error):
            return Heard("unknown")
        raise
    status = SAID.get(str(solution.status), "unknown")
    if status != "solved":
        return Heard(status)
    low, high = interval({"A": spoken.A, "b": spoken.b, "c": spoken.c}, solution)
    size, norms = spoken.size, spoken.norms
    y = size * np.asarray(solution.z)[: norms.size] / norms
    return Heard(status, size * low, size * high, np.inf, spoken.T @ np.asarray(solution.x), y)


def attempt_program(seed: int, tol: float, seconds: float) -> Findings:
    """Return the findings for one random program."""
    rng = np.random.default_rng([seed, 31])
    program, findings = random_program(seed, wide=int(rng.choice([1, 3, 8]))), Findings()
    kinds = ", ".join(f"{block.kind} {block.n}" for block in program.blocks)
    findings.story = f"{program.b.size} rows over {kinds}"
    try:
        model = conic_model(program, max_seconds=seconds)
        result = model.solve(tol=tol, max_seconds=seconds)
    except UnboundedTraceError:
        findings.said = "refused"
        findings.short.append("nothing bounds the trace")
        return findings
    heard = clarabel_hears(program)
    status = result.status
    findings.said, findings.judged = status.name, heard.status != "unknown"
    if status is Status.INFEASIBLE:
        _separates(findings, model, result, clarabel_hears(replace(program, c=0 * program.c)))
    elif status is Status.UNBOUNDED:
        _falls(findings, model, heard)
    elif heard.status == "solved":
        _agrees(findings, model, result, heard, tol)
    elif heard.status == "unbounded":
        findings.ask(status is not Status.SOLVED, "SOLVED, but the rival proves it unbounded")
        findings.short.append("not proved unbounded, the rival says")
    elif heard.status == "infeasible":
        if status is Status.SOLVED:  # by less than the tolerance, and it says by how much
            told = (
                f"SOLVED, infeasible by {result.infeasibility!r}, but the rival proves that none is"
            )
            findings.ask(1e-8 < result.infeasibility <= tol, told)
        else:
            findings.short.append("not proved infeasible, the rival says")
    return findings


def _separates(findings: Findings, model: Any, result: Any, heard: Heard) -> None:
    """A'y in the cone and <b, y> < 0: 0 <= <A'y, x> = <b, y> would hold of a feasible x."""
    program, y = model.program, model.separator(result)
    below = float(program.b @ y)
    findings.ask(below < 0, f"the separator has <b, y> = {below!r}")
    z, size = program.A.T @ y, abs(program.A).T @ np.abs(y)
    for j, block in enumerate(program.blocks):
        here = program.place(j)
        out = least(block, z[here])
        room = 1e-9 * float(np.linalg.norm(size))
        findings.ask(out >= -room, f"A'y is outside of the cone of block {j} by {out!r}")
        if heard.status == "solved" and heard.x is not None:
            # the rival's x is feasible but for its residual: then -out tr x + |y r| explains it
            residual = float(np.abs(y) @ np.abs(program.A @ heard.x - program.b))
            explained = 10 * (max(0.0, -out) * float(np.abs(heard.x).sum()) + residual)
            rounding = 1e-12 * float(np.abs(program.b) @ np.abs(y))
            findings.ask(explained + rounding >= -below, "INFEASIBLE, but the rival has a point")


def _falls(findings: Findings, model: Any, heard: Heard) -> None:
    """The ray is in the cone, all rows vanish on it, and the objective decreases."""
    program, ray = model.program, getattr(model.trace, "ray", None)
    sense = -1.0 if program.maximise else 1.0
    narrow = heard.width <= 1e-6 * max(1.0, abs(heard.high))
    if heard.status == "solved" and narrow:
        findings.ask(False, f"UNBOUNDED, but the rival has [{heard.low!r}, {heard.high!r}]")
    if ray is None:
        findings.ask(False, "UNBOUNDED without a ray")
        return
    r = ray / np.linalg.norm(ray)
    seen = float(np.abs(program.A @ r).max(initial=0.0))
    largest = float(np.abs(program.A.data).max(initial=0.0))
    findings.ask(seen <= 1e-9 * largest, f"a row sees the ray: {seen!r}")
    findings.ask(sense * float((program.c @ r)[0]) < 0, "the objective does not fall")
    for j, block in enumerate(program.blocks):
        findings.ask(
            least(block, r[program.place(j)]) >= 0, f"the ray leaves the cone of block {j}"
        )


def _agrees(findings: Findings, model: Any, result: Any, heard: Heard, tol: float) -> None:
    """Check bound, objective, rows and cones if the rival has a solution."""
    program, sense = model.program, -1.0 if model.program.maximise else 1.0
    unit = model.problem.gap_unit(result.objective)
    if heard.width > 0.1 * max(tol * unit, 1e-6 * model.problem.objective_range):
        findings.judged = False
        return
    bound = sense * result.bound
    findings.ask(
        not np.isfinite(bound) or bound <= heard.high, f"bound {bound!r} past {heard.high!r}"
    )
    if result.status is not Status.SOLVED:
        findings.short.append(f"{result.status.name} on a feasible program")
        return
    objective = sense * result.objective
    over = objective - heard.high
    findings.ask(over <= tol * unit * (1 + 1e-9), f"SOLVED, {over!r} above the optimum")
    x = np.concatenate([np.ravel(block) for block in model.blocks(result, full=True)])
    value = sense * float((program.c @ x)[0])
    outside = max(-least(block, x[program.place(j)]) for j, block in enumerate(program.blocks))
    size = float(np.abs(program.c.toarray().ravel()) @ np.abs(x)) + abs(value)
    residual = float(np.abs(heard.y) @ np.abs(program.A @ x - program.b))
    slack = sense * program.c.toarray().ravel() + program.A.T @ heard.y
    owed = 2 * residual + 2 * max(0.0, outside) * float(np.abs(slack).sum())
    owed += 1e-5 * (tol * unit + size) + abs(heard.width)
    under = heard.low - value
    findings.ask(under <= owed, f"SOLVED, {under!r} below the optimum, and {owed!r} is owed")
    apart = abs(value - objective)
    findings.ask(
        apart <= owed + ROUNDING * size + tol * unit, f"x has {value!r}, not {objective!r}"
    )
    y, unit = model.dual(result), max(1.0, abs(value))
    room = 100 * tol * unit
    attained = sense * float(program.b @ y)
    findings.ask(abs(attained - value) <= room, f"the dual has {attained!r}, x {value!r}")
    z = sense * (program.c.toarray().ravel() - program.A.T @ y)
    out = min(least(block, z[program.place(j)]) for j, block in enumerate(program.blocks))
    findings.ask(out * model.trace.traces.max() >= -room, f"y is not dual by {out!r}")


@dataclass(frozen=True, eq=False)
class ClarabelForm:
    """min <c, u>, Au + s = b, s in the cones, where x = Tu.

    `norms` are the lengths that the rows of the program had, `size` that of its objective, which
    is `sense` times this one.
    """

    c: np.ndarray
    A: sp.csc_matrix
    b: np.ndarray
    cones: list[Any]
    T: np.ndarray
    norms: np.ndarray
    size: float
    sense: float

    def solve(self, *, accuracy: float, seconds: float = np.inf) -> Any:
        """Solve the program with Clarabel."""
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, seconds
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
        n = self.c.size
        P = sp.csc_matrix((n, n))
        return clarabel.DefaultSolver(P, self.c, self.A, self.b, self.cones, settings).solve()


def for_clarabel(program: Program) -> ClarabelForm:
    """Return the program with rows and objective scaled to norm 1."""
    T = block_diag(*(_entries(block) for block in program.blocks))
    sense = -1.0 if program.maximise else 1.0
    A, c = program.A.toarray() @ T, sense * program.c.toarray().ravel() @ T
    norms, size = np.linalg.norm(A, axis=1), float(np.linalg.norm(c)) or 1.0
    norms[norms == 0] = 1.0
    m, n = A.shape
    return ClarabelForm(
        c / size,
        sp.csc_matrix(np.vstack([A / norms[:, None], -np.eye(n)])),
        np.concatenate([program.b / norms, np.zeros(n)]),
        [*([clarabel.ZeroConeT(m)] if m else []), *map(_cone, program.blocks)],
        T,
        norms,
        size,
        sense,
    )


def _cone(block: Block) -> Any:
    kinds = {
        "psd": clarabel.PSDTriangleConeT,
        "orthant": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
    }
    return kinds[block.kind](block.n)


def _entries(block: Block) -> np.ndarray:
    """Return the entries of a block from Clarabel's variables: for matrices, the upper triangle
    column by column, with sqrt(2) x_ij."""
    n = block.n
    if block.kind != "psd":
        return np.eye(n)
    j, i = np.tril_indices(n)
    T = np.zeros((n * n, i.size))
    T[i * n + j, np.arange(i.size)] = T[j * n + i, np.arange(i.size)] = np.where(
        i == j, 1.0, np.sqrt(0.5)
    )
    return T
