"""Conic programs, random or with a planted solution, judged against Clarabel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from attempts import Findings
from clarabel_form import for_clarabel
from condal.problems.conic import Block, Program, UnboundedTraceError, conic_model
from condal.result import Status
from random_programs import random_program
from truth.files import by_file
from truth.judged import ROUNDING
from truth.rivals import ACCURACY, SAID, SECONDS, Said, interval, is_panic

KINDS = ("psd", "orthant", "second-order")


@dataclass(frozen=True, eq=False)
class Planted:
    """A program; `upper` is the objective of a point that is feasible without rounding, and
    `known` what is sure of it: "infeasible", "unbounded", "feasible" or ""."""

    program: Program
    known: str = ""
    upper: float = np.inf


@dataclass(frozen=True, eq=False)
class Heard(Said):
    """The rival's x and the multipliers of the rows, in the program's units."""

    x: Any = None
    y: Any = None


def planted(seed: int) -> Planted:
    """Random, or with a planted solution in integers."""
    rng = np.random.default_rng([seed, 31])
    kind = rng.integers(5)
    if kind < 2:
        return Planted(random_program(seed, wide=int(rng.choice([1, 3, 8]))))
    blocks = tuple(
        Block(KINDS[rng.integers(3)], int(rng.integers(1, 5))) for _ in range(rng.integers(1, 4))
    )
    m = int(rng.integers(1, 6))
    A = np.array([_whole(blocks, rng) for _ in range(m)])
    x, c = _corner(blocks, rng), _whole(blocks, rng)
    if kind == 2:
        b, known = A @ x, "feasible"
    elif kind == 3:  # A'y in the cone and <b, y> < 0
        y = np.append(rng.choice([-1.0, 1.0]), rng.integers(-2, 3, m - 1))
        A[0] = y[0] * (_corner(blocks, rng) - y[1:] @ A[1:])
        b = rng.integers(-3, 4, m).astype(float)
        b[0] = y[0] * (-float(rng.choice([1.0, 1.0, 2.0**-7, 2.0**-17])) - y[1:] @ b[1:])
        known = "infeasible"
    else:  # the identity is a ray: all rows vanish on it
        eye = np.concatenate([_identity(block) for block in blocks])
        place = int(np.argmax(eye))
        A[:, place] -= A @ eye
        c[place] -= c @ eye + 1.0
        b, known = A @ x, "unbounded"
    rows = 2.0 ** rng.integers(-12, 13, m) if rng.random() < 0.3 else np.ones(m)
    size = 2.0 ** rng.integers(-30, 31) if rng.random() < 0.2 else 1.0
    maximise = bool(rng.random() < 0.3)
    sense = -1.0 if maximise else 1.0
    program = Program(
        sense * size * c,
        sp.csr_array(A * rows[:, None]),
        rows * b,
        blocks,
        maximise=maximise,
        offset=float(rng.choice([0.0, 0.0, 1e6])),
    )
    return Planted(program, known, sense * size * float(c @ x) if known == "feasible" else np.inf)


def _kinds(program: Program) -> set[str]:
    return {block.kind for block in program.blocks}


def _whole(blocks, rng) -> np.ndarray:
    parts = []
    for block in blocks:
        if block.kind == "psd":
            upper = np.triu(rng.integers(-2, 3, (block.n, block.n)))
            parts.append((upper + np.triu(upper, 1).T).ravel())
        else:
            parts.append(rng.integers(-2, 3, block.n))
    return np.concatenate(parts).astype(float)


def _corner(blocks, rng) -> np.ndarray:
    """Return an integer point of the cones, mostly on their boundary."""
    parts = []
    for block in blocks:
        if block.kind == "psd":
            g = rng.integers(-1, 2, (block.n, int(rng.integers(0, block.n + 1))))
            parts.append((g @ g.T).ravel())
        elif block.kind == "orthant":
            parts.append(rng.integers(0, 3, block.n))
        else:
            u = np.zeros(block.n)
            u[0] = float(rng.integers(0, 3))
            if block.n > 1:
                u[rng.integers(1, block.n)] = u[0] * rng.integers(-1, 2)
            parts.append(u)
    return np.concatenate(parts).astype(float)


def _identity(block: Block) -> np.ndarray:
    if block.kind == "psd":
        return np.eye(block.n).ravel()
    return np.ones(block.n) if block.kind == "orthant" else np.eye(1, block.n).ravel()


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
    """Return the findings for one program."""
    given, findings = planted(seed), Findings()
    if seed % 4 == 0 and given.program.b.size and "second-order" not in _kinds(given.program):
        sign = 1.0 if given.program.maximise else -1.0
        given = Planted(by_file(given.program), given.known, sign * given.upper)
    program = given.program
    kinds = ", ".join(f"{block.kind} {block.n}" for block in program.blocks)
    findings.story = f"{given.known or 'random'}: {program.b.size} rows over {kinds}"
    try:
        model = conic_model(program, max_seconds=seconds, seed=seed % 3)
        result = model.solve(tol=tol, max_seconds=seconds, seed=seed % 3)
    except UnboundedTraceError:
        findings.short.append("nothing bounds the trace")
        findings.judged = bool(given.known)
        findings.said = "refused"
        return findings
    heard = clarabel_hears(program)
    status, sense = result.status, -1.0 if program.maximise else 1.0
    findings.judged = bool(given.known) or heard.status != "unknown"
    bound = sense * result.bound
    if given.known == "feasible":
        findings.ask(status is not Status.INFEASIBLE, "INFEASIBLE, but a point is known")
        findings.ask(bound <= sense * given.upper, f"bound past the feasible {given.upper!r}")
    if given.known == "infeasible":
        _of_infeasible(findings, model, result, tol)
    if given.known == "unbounded":
        findings.ask(status not in (Status.SOLVED, Status.INFEASIBLE), f"{status.name}: no bound")
        findings.ask(not np.isfinite(result.bound), f"bound {result.bound!r} of an unbounded one")
        if status is not Status.UNBOUNDED:
            findings.short.append("not proved unbounded")
    if status is Status.INFEASIBLE:
        _separates(findings, model, result, clarabel_hears(replace(program, c=0 * program.c)))
    elif status is Status.UNBOUNDED:
        _falls(findings, model, heard)
    elif heard.status == "solved" and given.known != "unbounded":
        _agrees(findings, model, result, heard, tol)
    elif heard.status == "unbounded" and not given.known:
        findings.ask(status is not Status.SOLVED, "SOLVED, but the rival proves it unbounded")
        findings.short.append("not proved unbounded, the rival says")
    elif heard.status == "infeasible" and not given.known and status is not Status.SOLVED:
        findings.short.append("not proved infeasible, the rival says")
    findings.said = status.name
    return findings


def _of_infeasible(findings: Findings, model: Any, result: Any, tol: float) -> None:
    """SOLVED only within the tolerance."""
    if result.status is Status.SOLVED:
        findings.ask(result.infeasibility > 0, "SOLVED with no infeasibility, but it is infeasible")
        findings.ask(result.infeasibility <= tol, "SOLVED beyond the tolerance")
    elif result.status is not Status.INFEASIBLE:
        findings.short.append("not proved infeasible")


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
    r = ray.x / np.linalg.norm(ray.x)
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
