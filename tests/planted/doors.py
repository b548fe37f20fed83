"""The doors: each takes a planted problem into condal and finds what is false about the answer."""

import importlib
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

import condal
from attempts import Findings
from condal.certificates import conic
from condal.certificates.bound import infeasibility_proof
from condal.certificates.verification import verify
from condal.problems.conic import Program, conic_model
from condal.problems.conic.answers import certify as conic_certify
from condal.problems.conic.files import read_sdpa, read_sedumi
from condal.result import Result, Status
from planted import duals, forms
from planted.forging import FORGERS
from planted.judging import PROVED, Answer, faults, is_far
from planted.planting import Profile
from planted.problem import Planted

TOLERANCES = (1e-2, 1e-4, 1e-6)
MAX_ITERS = 500
CHECKED = 3  # points and duals per problem
FAR = "optimal, but far from the optimum"
NAMES = {
    Status.SOLVED: "optimal",
    Status.INFEASIBLE: "infeasible",
    Status.UNBOUNDED: "unbounded",
}


@dataclass(frozen=True)
class Door:
    """A way into condal, the problems that it takes, and its share of the work."""

    enter: Callable[[Planted, np.random.Generator], Findings]
    profile: Profile
    share: int = 1  # problems per round


def judged(planted: Planted, answer: Answer, rows: np.ndarray | None = None) -> Findings:
    said = FAR if is_far(planted, answer) else answer.status
    return Findings(said, faults(planted, answer, rows))


# ---- condal.solve ------------------------------------------------------------------------------


def by_problem(planted: Planted, rng: np.random.Generator) -> Findings:
    """`Problem.of` and `condal.solve`."""
    problem, tol = forms.as_problem(planted), float(rng.choice(TOLERANCES))
    result = condal.solve(problem, tol=tol, max_iters=MAX_ITERS)
    return judged(planted, _answer(planted, problem, result), forms.free_rows(planted))


def _answer(planted: Planted, problem: condal.Problem, result: Result) -> Answer:
    sense = planted.sense
    return Answer(
        NAMES.get(result.status, result.status.name.lower()),
        sense * result.objective,
        sense * result.bound,
        result.infeasibility * problem.infeasibility_unit,
        _price(result.certificate),
        constant=planted.offset,
    )


def _price(told: Any) -> float:
    """Return the absolute price of infeasibility of a certificate."""
    return float(told.price * told.unit)


def by_certify(planted: Planted, rng: np.random.Generator) -> Findings:
    """`condal.certify` of adversarial duals, and proofs of infeasibility by them."""
    problem, rows = forms.as_problem(planted), forms.free_rows(planted)
    x = problem.X.lmo(problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size))))
    found = Findings("infeasible" if planted.status == "infeasible" else "optimal")
    for y in duals.multipliers(planted, rng):
        y = -y[rows]
        try:
            certificate = condal.certify(problem, x, y)
        except condal.CondalError:
            continue
        bound = planted.sense * certificate.bound
        answer = Answer("bound", bound=bound, constant=planted.offset)
        found.wrong += faults(planted, answer)
        if planted.status == "infeasible" or not rows.size:
            continue
        d = problem.h.dual_point(y)
        proof = infeasibility_proof(problem, d, slack=0.0, failure=1e-9, seed=0)
        if proof is not None:
            found.wrong.append(f"separated by {proof.value!r}, but it is feasible")
    return found


def by_folder(planted: Planted, rng: np.random.Generator) -> Findings:
    """A saved result, honest or forged: what `verify` proves is true."""
    problem, tol = forms.as_problem(planted), float(rng.choice(TOLERANCES))
    result = condal.solve(problem, tol=tol, max_iters=200)
    found = judged(planted, _answer(planted, problem, result), forms.free_rows(planted))
    forged = [one for forger in FORGERS for one in forger(problem, result, rng)]
    with tempfile.TemporaryDirectory() as folder:
        for k, claimed in enumerate((result, *forged)):
            path = Path(folder) / str(k)
            condal.save(claimed, path)
            loaded = condal.load(path).result
            if not verify(problem, loaded).proved:
                continue
            answer = _answer(planted, problem, loaded)
            # Another machine may have rounded the bound in another way.
            bound = answer.bound - 1e-8 * max(1.0, abs(answer.bound), problem.objective_range)
            false = faults(planted, replace(answer, bound=bound, residual=inf, price=nan))
            found.wrong += [f"verified, {'forged' if k else 'honest'}: {text}" for text in false]
    return found


# ---- conic programs ----------------------------------------------------------------------------


def by_program(planted: Planted, rng: np.random.Generator) -> Findings:
    """`conic_model` of a `Program`."""
    return _solved(planted, forms.as_program(planted), rng)


def by_sdpa(planted: Planted, rng: np.random.Generator) -> Findings:
    """An SDPA file, as `condal solve` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planted.dat-s"
        forms.write_sdpa(planted, path)
        return _solved(planted, read_sdpa(path).program, rng, constant=planted.offset)


def by_sedumi(planted: Planted, rng: np.random.Generator) -> Findings:
    """A SeDuMi file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "planted.mat"
        forms.write_sedumi(planted, path)
        return _solved(planted, read_sedumi(path), rng, constant=planted.offset)


def _solved(
    planted: Planted, program: Program, rng: np.random.Generator, constant: float = 0.0
) -> Findings:
    tol = float(rng.choice(TOLERANCES))
    try:
        model = conic_model(program, max_seconds=SECONDS)
        result = model.solve(tol=tol, max_iters=MAX_ITERS, max_seconds=SECONDS)
    except condal.CondalError as error:
        return Findings(type(error).__name__)
    sense = -1.0 if program.maximise else 1.0
    answer = Answer(
        NAMES.get(result.status, result.status.name.lower()),
        sense * model.objective(result),
        sense * model.bound(result),
        inf if result.infeasibility > 0 else 0.0,
        _price(result.certificate),
        constant=constant,
        terms=_terms(model, result),
    )
    return judged(planted, answer)


def _terms(model: Any, result: Result) -> float:
    """Return the sum of the absolute values of the terms of the objective."""
    if result.x is None:
        return 0.0
    x = np.concatenate([block.ravel() for block in model.blocks(result, full=True)])
    return float((abs(model.program.c) @ np.abs(x))[0])


def by_checked_answer(planted: Planted, rng: np.random.Generator) -> Findings:
    """`condal.conic.certify` of adversarial points and duals."""
    program, found = forms.as_program(planted), Findings("nothing")
    v = planted.v if planted.v is not None else rng.integers(0, 4, planted.c.size) * 1.0
    ray = planted.ray is not None and rng.random() < 0.7
    v = planted.ray if ray else v
    points = list(duals.points(v, planted.A, rng))
    witness, *others = duals.multipliers(planted, rng)
    pairs = [(v, witness)]
    pairs += [(points[rng.integers(len(points))], others[k]) for k in rng.permutation(len(others))]
    with np.errstate(all="ignore"):
        for point, y in pairs[:CHECKED]:
            X = forms.point_of_program(planted, point, ray=ray)
            try:
                answer = conic_certify(program, X, planted.sense * y, max_seconds=SECONDS)
            except condal.CondalError:
                continue
            said = answer.status if answer.proved else "nothing"
            said = "bound" if said == "bounded" else said
            attained = planted.sense * answer.attained
            found.wrong += faults(planted, Answer(said, bound=planted.sense * answer.bound))
            if planted.status == "infeasible" and isfinite(attained):
                found.wrong.append(f"{attained!r} is attained, but it is infeasible")
            if planted.status == "optimal" and attained < planted.value:
                found.wrong.append(f"{attained!r} is attained below {float(planted.value)!r}")
            found.said = said if found.said == "nothing" else found.said
    return found


def by_command(planted: Planted, rng: np.random.Generator) -> Findings:
    """`condal solve FILE --json`."""
    import json

    from click.testing import CliRunner

    from condal.cli.app import cli

    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "planted.dat-s", Path(folder) / "out.json"
        forms.write_sdpa(planted, path)
        tol = str(rng.choice(TOLERANCES))
        options = ["--tol", tol, "--max-seconds", str(2 * SECONDS), "--json", str(out), "--quiet"]
        run = CliRunner().invoke(cli, ["solve", str(path), *options])
        if run.exception is not None and not isinstance(run.exception, SystemExit):
            raise run.exception
        if not out.exists():
            return Findings(f"exit code {run.exit_code}")
        told = json.loads(out.read_text())
    status = Status[told["status"].upper()]
    numbers = {name: told[name] for name in ("objective", "bound")}
    objective, bound = (nan if value is None else float(value) for value in numbers.values())
    answer = Answer(
        NAMES.get(status, status.name.lower()),
        -objective,
        -inf if told["bound"] is None else -bound,
        inf,
        constant=planted.offset,
    )
    return judged(planted, answer)


def by_proofs(planted: Planted, rng: np.random.Generator) -> Findings:
    """The proofs of `condal.certificates.conic` with adversarial vectors."""
    form, found = forms.as_form(planted), Findings(planted.status)
    optimum = planted.status == "optimal"
    value = planted.value - Fraction(planted.offset) if optimum else Fraction(0)
    with np.errstate(all="ignore"):
        for y in duals.multipliers(planted, rng):
            bound = conic.proved_lower_bound(form, y)
            found.wrong += faults(planted, Answer("bound", bound=bound, constant=planted.offset))
            if conic.proves_infeasible(form, y):
                found.wrong += faults(planted, Answer("infeasible"))
        v = planted.v if planted.v is not None else rng.integers(0, 4, planted.c.size) * 1.0
        for point in duals.points(v, planted.A, rng):
            upper = conic.proved_upper_bound(form, forms.point_of_form(planted, point))
            if planted.status == "infeasible" and upper < inf:
                found.wrong.append(f"a feasible point at {upper!r}, but it is infeasible")
            if optimum and upper < value:
                found.wrong.append(f"upper bound {upper!r} of {float(value)!r}")
        ray = planted.ray if planted.ray is not None else rng.integers(0, 4, v.size) * 1.0
        for direction in duals.points(ray, planted.A, rng, ray=True):
            whole = forms.point_of_form(planted, direction, ray=True)
            falls = conic.falls_along(form, whole)
            if falls and planted.status == "optimal":
                found.wrong.append("falls along a ray, but it has an optimum")
    return found


# ---- CVXPY -------------------------------------------------------------------------------------


def by_cvxpy(planted: Planted, rng: np.random.Generator) -> Findings:
    """`problem.solve(solver=CONDAL())`."""
    import cvxpy as cp

    from condal.cvxpy import CONDAL

    problem, tol = forms.as_cvxpy(planted), float(rng.choice(TOLERANCES))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(solver=CONDAL(tol=tol, max_seconds=SECONDS))
    except cp.SolverError:
        return Findings("SolverError")
    certificate = problem.solver_stats.extra_stats.certificate
    answer = Answer(
        problem.status,
        certificate.objective,
        certificate.bound,
        inf if certificate.infeasibility > 0 else 0.0,
        _price(certificate),
        constant=planted.offset,
    )
    return judged(planted, answer)


def _checked(solver: str) -> Callable[[Planted, np.random.Generator], Findings]:
    def enter(planted: Planted, rng: np.random.Generator) -> Findings:
        """`condal.cvxpy.certify` of another solver's answer."""
        import cvxpy as cp

        from condal.cvxpy import certify

        problem = forms.as_cvxpy(planted)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            try:
                problem.solve(solver=solver)
            except cp.SolverError:
                return Findings("no answer")
            except ValueError:  # SCS cannot be given a problem without rows
                return Findings("no answer")
            found = _of_checked(planted, certify(problem))
            for constraint in problem.constraints:
                _forge_duals(constraint, rng)
            found.wrong += _of_checked(planted, certify(problem)).wrong
        return found

    return enter


def _of_checked(planted: Planted, answer: Any) -> Findings:
    """Judge what is proved about another solver's answer."""
    said = next((status for status in PROVED if answer.status.startswith(status)), "nothing")
    if not answer.proved:
        said = _refuted(answer.verdict)
    elif said == "optimal":  # it proves a bound, no more
        said = "bound"
    return judged(planted, Answer(said, bound=planted.sense * answer.bound))


def _forge_duals(constraint: Any, rng: np.random.Generator) -> None:
    """Change the duals of a constraint by a little, or by much."""
    noise = float(rng.choice([1e-12, 1e-6, 1e-2, 1.0]))
    size = float(rng.choice([1.0, 1.0, 1e-170, 1e60]))
    for dual in constraint.dual_variables:
        if dual.value is not None:
            value = np.asarray(dual.value, dtype=float)
            noisy = value + noise * (1.0 + np.abs(value)) * rng.standard_normal(value.shape)
            dual.save_value(size * noisy)


def _refuted(verdict: str) -> str:
    """Return the status that is proved in the place of the one that the solver gave."""
    if "no point is feasible" in verdict:
        return "infeasible"
    return "unbounded" if "the objective is unbounded" in verdict else "nothing"


ANY, CAPPED, FILE = Profile(), Profile(free=0.0, caps=1.0), Profile(free=0.1, caps=0.6)
SECONDS = 2.0  # for a phase of a solve
DOORS: dict[str, Door] = {
    "Problem.of": Door(by_problem, CAPPED, 8),
    "certify": Door(by_certify, CAPPED, 10),
    "proofs": Door(by_proofs, ANY, 8),
    "folders": Door(by_folder, CAPPED),
    "Program": Door(by_program, FILE, 2),
    "SDPA": Door(by_sdpa, FILE, 2),
    "SeDuMi": Door(by_sedumi, FILE, 2),
    "conic.certify": Door(by_checked_answer, FILE),
    "condal solve": Door(by_command, FILE),
    "CVXPY": Door(by_cvxpy, ANY, 2),
    "CVXPY, Clarabel": Door(_checked("CLARABEL"), ANY),
    "CVXPY, SCS": Door(_checked("SCS"), ANY),
}
GROUPS = {
    "all": tuple(DOORS),
    "conic": ("Program", "SDPA", "SeDuMi", "condal solve", "CVXPY"),  # conic programs, solved
}


def chosen(names: str) -> list[str]:
    """Return the doors of a list like "conic" or "Program; SDPA": doors and groups, by ;."""
    words = [word.strip() for word in names.split(";") if word.strip()]
    unknown = [word for word in words if word not in DOORS and word not in GROUPS]
    if unknown:
        known = "; ".join((*GROUPS, *DOORS))
        raise ValueError(f"there is no door {', '.join(map(repr, unknown))}; there are {known}")
    listed = [door for word in words or ["all"] for door in GROUPS.get(word, (word,))]
    return list(dict.fromkeys(listed))


@cache
def there(name: str) -> bool:
    """Whether the libraries of a door are installed."""
    try:
        if name.startswith("CVXPY"):
            importlib.import_module("condal.cvxpy")
    except condal.MissingExtra:
        return False
    return True
