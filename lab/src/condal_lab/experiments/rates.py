"""Rates of CGAL and its variants on planted pairs, with and without strict complementarity.

A run is a method with one lam0 on one instance. It is kept as the slopes of its residuals and their
peaks. All runs are kept in one file, so that none is computed twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from condal.io.formats.writing import write_text
from condal.linalg.points import Array, LowRank
from condal.methods import CGAL
from condal.methods.rules import Exact
from condal.methods.state import State
from condal_lab.experiments.contenders import CONTENDERS
from condal_lab.experiments.curve import Slope, slope
from condal_lab.experiments.guarantees import states
from condal_lab.experiments.rate_instances import RateInstance, rate_instances
from condal_lab.sweeps.progress import Watch
from condal_lab.sweeps.workers import Desk, Workers

METHODS = ("cgal", "cgal-decr", "cgal-ls", "hcgm")
RESIDUALS = ("objective", "gap", "dual", "multiplier", "atoms")
SHOWN = ("objective", "gap")  # the residuals whose peaks are kept
SAMPLE_GROWTH = 1.02  # of k from sample to sample
PARTS_PER_DECADE = 4  # of the peaks
ROUNDING = 1e-12  # of the largest residual of a run: smaller ones are rounding errors
FILE = "rates.json"


@dataclass(frozen=True)
class RatePlan:
    """The ranks of the instances, the iterations of a run, and lam0 in units of |y*| / (D_X |A|).

    In this unit lam0 = 1 makes the paper's D_Y = D_X |A| lam0 equal to |y*|.
    """

    ranks: tuple[int, ...]
    iterations: int
    lam0: tuple[float, ...]


FULL = RatePlan((1, 2, 3), 4_000, (0.1, 1.0, 10.0))
QUICK = RatePlan((1,), 300, (1.0,))


@dataclass(frozen=True)
class RateRun:
    """The slopes of a run, and the largest residual of each quarter of a decade of k.

    The peaks are relative: the objective to |y*| |A| D_X, the feasibility gap to |A| D_X.
    """

    pair: str
    strict: bool
    method: str
    lam0: float
    slopes: dict[str, Slope]
    peaks: dict[str, list[float]]

    @property
    def kind(self) -> str:
        """The kind of the instance."""
        return self.pair.split()[0]


def measure(instance: RateInstance, method: str, lam0: float, iterations: int) -> RateRun:
    """Run a method on an instance with an exact oracle and no bound on y."""
    truth, problem = instance.truth, instance.truth.problem
    width = problem.A.norm * problem.X.diameter
    size = float(np.linalg.norm(truth.y))
    built = CONTENDERS[method].build(lam0 * size / width)
    assert isinstance(built, CGAL)
    samples = _samples(instance, replace(built, tol=Exact()), iterations)
    k = samples.pop("k")
    units = {"objective": size * width, "gap": width}
    return RateRun(
        instance.name,
        instance.strict,
        method,
        lam0,
        {name: slope(k, values, ROUNDING * values.max()) for name, values in samples.items()},
        {name: _peaks(k, samples[name] / units[name]) for name in SHOWN},
    )


def _samples(instance: RateInstance, method: CGAL, iterations: int) -> dict[str, Array]:
    """Return k and the residuals at k, for values of k that grow by 2%."""
    rows, due = [], 1.0
    for state in states(instance.truth.problem, method, iterations):
        if state.k >= due or state.k == iterations:
            due = SAMPLE_GROWTH * state.k
            rows.append((float(state.k), *_residuals(instance, state)))
    return dict(zip(("k", *RESIDUALS), np.array(rows).T, strict=True))


def _residuals(instance: RateInstance, state: State) -> tuple[float, ...]:
    truth = instance.truth
    return (
        abs(state.value - truth.optimum),
        truth.problem.h.distance(state.Ax),
        float(np.linalg.norm(state.y - truth.y)),
        float(np.linalg.norm(state.w - truth.y)),
        _distance_to_face(state.s, instance.face),
    )


def _distance_to_face(s: Any, face: Array | None) -> float:
    """Return the distance of an atom of rank 1 to the matrices on the range of x*, over |s|."""
    if face is None or not isinstance(s, LowRank):
        return nan
    u = s.U[:, -1] / np.linalg.norm(s.U[:, -1])
    inside = face @ (face.T @ u)
    outside = u - inside  # computed as a difference, so that 1 - |inside|^4 does not cancel
    return float(np.linalg.norm(outside) * np.sqrt(1.0 + inside @ inside))


def _peaks(k: Array, values: Array) -> list[float]:
    """Return the largest value of each part of a decade of k."""
    parts = np.floor(PARTS_PER_DECADE * np.log10(k) + 1e-9).astype(int)
    parts = np.minimum(parts, parts[-1] - 1)  # the last part is not whole
    return [float(f"{values[parts == part].max():.3g}") for part in range(parts[-1] + 1)]


def peak_positions(count: int) -> Array:
    """Return the geometric middle of each part of a decade."""
    return np.asarray(10 ** ((np.arange(count) + 0.5) / PARTS_PER_DECADE))


def measure_all(plan: RatePlan, section: Path, workers: Workers, watch: Watch) -> list[RateRun]:
    """Measure all runs that the file of the section lacks, on all workers."""
    path = section / FILE
    runs = read_runs(path) if path.exists() else []
    known = {(run.pair, run.strict) for run in runs}
    desk = Desk(workers)

    def keep(what: str, measured: tuple[list[RateRun], float]) -> None:
        runs.extend(measured[0])
        write_runs(runs, path)
        watch.done(what, measured[1], None)

    def requests() -> Iterator[Any]:
        for instance in rate_instances(plan.ranks):
            what = f"{instance.name}, {'strict' if instance.strict else 'not strict'}"
            if (instance.name, instance.strict) in known:
                watch.found(what)
                continue
            watch.asked(what)
            yield partial(desk.ask, partial(keep, what), measure_instance, instance, plan)

    desk.go(requests())
    write_runs(runs, path)
    return runs


def measure_instance(instance: RateInstance, plan: RatePlan) -> tuple[list[RateRun], float]:
    """Run every method with every lam0 on an instance; return the runs and the seconds."""
    began = time.perf_counter()
    runs = [
        measure(instance, method, lam0, plan.iterations)
        for method, lam0 in product(METHODS, plan.lam0)
    ]
    return runs, time.perf_counter() - began


def write_runs(runs: list[RateRun], path: Path) -> None:
    """Write the runs, a line each, with three digits of every number."""
    order = sorted(runs, key=lambda run: (run.pair, not run.strict, run.method, run.lam0))
    lines = [json.dumps(_plain(run), separators=(",", ":")) for run in order]
    write_text(path, ["[\n" + ",\n".join(lines) + "\n]\n"])


def read_runs(path: Path) -> list[RateRun]:
    """Read what `write_runs` wrote."""
    runs = []
    for record in json.loads(path.read_text(encoding="utf-8")):
        slopes = {
            name: Slope(*(nan if v is None else v for v in values))
            for name, values in record.pop("slopes").items()
        }
        runs.append(RateRun(**record, slopes=slopes))
    return runs


def _plain(run: RateRun) -> dict[str, Any]:
    slopes = {
        name: [round(v, 3) if isfinite(v) else None for v in (s.value, s.low, s.high)]
        for name, s in run.slopes.items()
    }
    return {**vars(run), "slopes": slopes}
