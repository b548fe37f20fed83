"""Generate, solve and judge one problem."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import condal
from alarms import alarm
from condal import methods, storage
from condal.problem import problem_of
from condal.types import Spectral
from truth.families import FAMILIES
from truth.judged import Findings, judge
from truth.modelled import attempt_modelled
from truth.programs import attempt_program
from truth.rivals import clarabel_says

TOLERANCES = (1e-2, 1e-3, 1e-3, 1e-5, 1e-8)
SECONDS = 4.0  # time limit of a solve
SLACK = 10.0  # seconds more on a busy machine
PATIENCE = 60  # seconds, after which a solve counts as hung

METHODS: dict[str, Callable[[], Any]] = {name: getattr(methods, name) for name in methods.__all__}


@dataclass(frozen=True)
class Outcome:
    """The outcome of one problem. `method` is "" for the default."""

    family: str
    seed: int
    story: str
    method: str
    status: str
    judged: bool
    wrong: tuple[str, ...]
    short: tuple[str, ...]
    seconds: float

    @property
    def solved(self) -> bool:
        return self.status in ("SOLVED", "INFEASIBLE", "UNBOUNDED")

    @property
    def command(self) -> str:
        """The command that reproduces it."""
        return f"PYTHONPATH=tests .venv/bin/python -m truth {self.family} {self.seed}"


class Told(NamedTuple):
    """A description of the problem, the method (the default if empty), status and findings."""

    story: str
    method: str
    status: str
    findings: Findings


def attempt(family: str, seed: int, seconds: float = SECONDS) -> Outcome:
    """Generate, solve and judge one problem; any exception counts as wrong."""
    began = time.perf_counter()
    try:
        with alarm(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("error")
            told = ATTEMPTS[family](seed, seconds)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "condal" in frame.filename] or frames
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        wrong = f"{type(error).__name__}: {error} ({where})"
        told = Told("", "", "raised", Findings(wrong=[wrong]))
    return Outcome(
        family,
        seed,
        told.story,
        told.method,
        told.status,
        told.findings.judged,
        tuple(told.findings.wrong),
        tuple(told.findings.short) if not told.method else (),
        time.perf_counter() - began,
    )


def of_case(family: str) -> Callable[[int, float], Told]:
    def told(seed: int, limit: float) -> Told:
        rng, case = np.random.default_rng([seed, 1, *family.encode()]), FAMILIES[family](seed)
        options = _options(case.model, rng)
        name, began = options.pop("name"), time.perf_counter()
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
        seconds = time.perf_counter() - began
        findings = judge(case, result, clarabel_says(case.asked()), options["tol"])
        findings.ask(seconds < 2 * limit + SLACK, f"took {seconds:.0f} s of {limit:g}")
        return Told(case.story, name, result.status.name, findings)

    return told


def _of_other(made: Callable[[int, float, float], tuple[str, str, Findings]]) -> Any:
    def told(seed: int, limit: float) -> Told:
        tol = float(np.random.default_rng([seed, 2]).choice([1e-2, 1e-4, 1e-6]))
        story, status, findings = made(seed, tol, limit)
        return Told(story, "", status, findings)

    return told


ATTEMPTS: dict[str, Callable[[int, float], Told]] = {
    **{family: of_case(family) for family in FAMILIES},
    "conic": _of_other(attempt_program),
    "cvxpy": _of_other(attempt_modelled),
}


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
