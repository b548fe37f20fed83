"""Generate, solve and judge one problem."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import condal
from attempts import Findings, Outcome, attempted
from condal import methods, storage
from condal.problem import problem_of
from condal.types import Spectral
from truth.families import FAMILIES
from truth.judged import judge
from truth.modelled import attempt_modelled
from truth.programs import attempt_program
from truth.rivals import clarabel_says

TOLERANCES = (1e-2, 1e-3, 1e-3, 1e-5, 1e-8)
SECONDS = 4.0  # time limit of a solve
SLACK = 10.0  # seconds of the processor more

METHODS: dict[str, Callable[[], Any]] = {name: getattr(methods, name) for name in methods.__all__}


def attempt(family: str, seed: int, seconds: float = SECONDS) -> Outcome:
    """Generate, solve and judge one problem; any exception counts as wrong."""

    def run() -> Findings:
        found = ATTEMPTS[family](seed, seconds)
        found.solved = found.said in ("SOLVED", "INFEASIBLE", "UNBOUNDED")
        if found.method:
            found.short.clear()  # of another method than the default little is expected
        return found

    return attempted("truth", family, seed, run)


def chosen(family: str) -> list[str]:
    """Return the families of a name, or all."""
    if family not in (*ATTEMPTS, "all"):
        raise ValueError(f"the families are {', '.join(ATTEMPTS)}, all")
    return list(ATTEMPTS) if family == "all" else [family]


def of_case(family: str) -> Callable[[int, float], Findings]:
    def found(seed: int, limit: float) -> Findings:
        rng, case = np.random.default_rng([seed, 1, *family.encode()]), FAMILIES[family](seed)
        options = _options(case.model, rng)
        name, began = options.pop("name"), time.process_time()
        options.setdefault("max_seconds", limit)
        try:
            result = condal.solve(case.model, **options)
        except condal.ProblemError:
            if options.pop("method", None) is None:
                raise
            options.pop("max_iters")  # the method does not support the problem
            name, result = "", condal.solve(case.model, **options)
        if not name and rng.random() < 0.1:  # warm start with another tolerance
            options |= {"tol": float(rng.choice(TOLERANCES)), "warm_start": result}
            result = condal.solve(case.model, **options)
        seconds = time.process_time() - began
        findings = judge(case, result, clarabel_says(case.asked()), options["tol"])
        findings.ask(seconds < 2 * limit + SLACK, f"took {seconds:.0f} s of {limit:g}")
        findings.said, findings.method, findings.story = result.status.name, name, case.story
        return findings

    return found


def _of_other(made: Callable[[int, float, float], Findings]) -> Callable[[int, float], Findings]:
    def found(seed: int, limit: float) -> Findings:
        tol = float(np.random.default_rng([seed, 2]).choice([1e-2, 1e-4, 1e-6]))
        return made(seed, tol, limit)

    return found


ATTEMPTS: dict[str, Callable[[int, float], Findings]] = {
    **{family: of_case(family) for family in FAMILIES},
    "conic": _of_other(attempt_program),
    "cvxpy": _of_other(attempt_modelled),
}
SHARES = dict.fromkeys(ATTEMPTS, 1)


def _options(model: Any, rng) -> dict[str, Any]:
    """The default, mostly; else a method with few iterations, or a storage."""
    options: dict[str, Any] = {"tol": float(rng.choice(TOLERANCES)), "name": ""}
    options["seed"] = int(rng.integers(3))
    draw = rng.random()
    if draw < 0.25:
        name = str(rng.choice(list(METHODS)))
        options |= {"name": name, "method": METHODS[name]()}
        options["max_iters"] = int(rng.choice([1, 5, 30, 200]))
    elif draw < 0.30:
        last = int(rng.choice([1, 3, 20]))
        options |= {"name": f"stopped at {last}", "callback": lambda row: row.k >= last}
    elif draw < 0.33:
        options |= {"name": "in no time", "max_seconds": 10.0 ** -int(rng.integers(1, 5))}
    elif draw < 0.40:
        kept = _storage(problem_of(model).X, rng)
        options |= {"name": type(kept).__name__, "storage": kept, "max_iters": 200}
    return options


def _storage(X: Any, rng) -> Any:
    if not isinstance(X, Spectral):
        blocks = isinstance(X, condal.Product)
        return storage.Atoms() if blocks or rng.random() < 0.5 else storage.Dense()
    n = X.n
    kinds = [storage.Atoms(), storage.Dense(), storage.Factored(n)]
    kinds += [storage.Sketch(n, int(rng.integers(1, n + 2)), seed=0)]
    return kinds[int(rng.integers(len(kinds)))]
