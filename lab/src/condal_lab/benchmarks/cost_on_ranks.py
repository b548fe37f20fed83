"""Time the parts of a solve of max-cut on these ranks, and predict them by the cost model.

`mpirun -n 2 python -m condal_lab.benchmarks.cost_on_ranks GRAPH METHOD REPLY`: GRAPH is a folder of
shards, METHOD is lowrank or cgal, and the first rank writes REPLY as JSON. The figures of the
machine are measured before and after each solve, and averaged: other load then slows both sides.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

import condal
import condal_mpi
from condal.linalg.lanczos import Recurrence
from condal.methods.lowrank.factored import FactoredLagrangian
from condal_mpi.cost import Size, low_rank, measured_machine, seconds
from condal_mpi.machine import Machine
from condal_mpi.sweeps import DistributedSweeps

SOLVES = 1
TOL, ITERATIONS, R = 1e-2, 6, 10
SINGLE, DOUBLE, EVALUATIONS = "sweeps", "double sweeps", "evaluations"
STEPS, KEPT = "steps", "kept steps"


class Parts:
    """The time of some functions, and how much they did; calls inside another do not count."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.counts: dict[str, float] = defaultdict(float)
        self._on = False

    def watch(self, owner: Any, name: str, count: Callable[..., tuple[str, float]]) -> None:
        """Time a method of a class; `count` says to which part a call belongs, given its result."""
        called = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            if self._on:
                return called(*given, **named)
            self._on, began = True, time.perf_counter()
            try:
                result = called(*given, **named)
            finally:
                self._on = False
            part, amount = count(result, *given, **named)
            self.seconds[part] += time.perf_counter() - began
            self.counts[part] += amount
            return result

        setattr(owner, name, timed)


def low_rank_parts(model: Any, parts: Parts) -> None:
    """Solve by the low-rank method."""
    parts.seconds.clear()
    parts.counts.clear()
    condal_mpi.solve(model, "lowrank", tol=TOL)


def predict_low_rank(size: Size, machine: Machine, counts: dict[str, float]) -> dict[str, float]:
    """Return the seconds of each part by the model; sweeps and evaluations count columns."""
    works = {
        SINGLE: low_rank(size, columns=counts.get(SINGLE, 0.0), sweeps=1)["sweeps"],
        DOUBLE: low_rank(size, columns=counts.get(DOUBLE, 0.0), sweeps=1, single=False)["sweeps"],
        EVALUATIONS: low_rank(size, columns=counts[EVALUATIONS], evaluations=1)["evaluations"],
        STEPS: low_rank(size, columns=0, steps=counts[STEPS])["steps"],
        KEPT: low_rank(size, columns=0, steps=counts[KEPT], kept=counts[KEPT])["steps"],
    }
    return {name: work.seconds(machine) for name, work in works.items() if counts.get(name)}


def watched() -> Parts:
    """Watch the parts of the low-rank method."""
    parts = Parts()
    parts.watch(
        DistributedSweeps,
        "relaxed",
        lambda result, own, factor, *, single, **more: (
            SINGLE if single else DOUBLE,
            result[1].sweeps * factor.shape[1],
        ),
    )
    parts.watch(
        FactoredLagrangian,
        "at",
        lambda result, own, factor, *more: (EVALUATIONS, factor.shape[1]),
    )
    parts.watch(Recurrence, "_step", lambda result, own: (KEPT if own._keep else STEPS, 1))
    return parts


def cgal_iteration(model: Any) -> tuple[float, float]:
    """Return the seconds and the products of an iteration of CGAL, but for the first."""
    rows: list[tuple[float, int]] = []

    def note(row: Any) -> None:
        rows.append((time.perf_counter(), row.matvecs))

    options: dict[str, Any] = {"tol": 1e-9, "max_iters": ITERATIONS, "callback": note}
    condal_mpi.solve(model, condal.CGAL(), R=R, **options)
    count = len(rows) - 1
    return (rows[-1][0] - rows[0][0]) / count, (rows[-1][1] - rows[0][1]) / count


def mean_of(before: Machine, after: Machine) -> Machine:
    """Return the mean of two measurements."""
    return Machine(*np.mean([astuple(before), astuple(after)], axis=0).tolist())


def main() -> None:
    """Run, and write the reply."""
    graph, method, reply = sys.argv[1:]
    team = condal_mpi.Team()
    model = condal_mpi.read_max_cut(graph, team)
    entries = int(team.sum(float(model.block.nnz))) + model.n
    near = float(model.cost.halo.size) / model.block.shape[0]
    halo = team.sum(near) / team.size
    where: dict[str, Any] = {"halo": halo, "neighbours": 2} if "torus" in Path(graph).name else {}
    shared = team.node.size == team.size
    size = Size(model.n, entries, R=R, ranks=team.size, shared=shared, **where)
    parts = watched() if method == "lowrank" else Parts()
    measured: dict[str, float] = defaultdict(float)
    predicted: dict[str, float] = defaultdict(float)
    machine = measured_machine(team, size)
    for _ in range(SOLVES):
        before = machine
        if method == "lowrank":
            low_rank_parts(model, parts)
            times, products = dict(parts.seconds), 0.0
        else:
            iteration, products = cgal_iteration(model)
            times = {"iteration": iteration}
        machine = measured_machine(team, size)
        mean = mean_of(before, machine)
        model_times = (
            predict_low_rank(size, mean, parts.counts)
            if method == "lowrank"
            else {"iteration": sum(seconds(size, products, mean).values())}
        )
        for name, value in times.items():
            measured[name] += value / SOLVES
            predicted[name] += model_times[name] / SOLVES
    if team.rank == 0:
        record = {"measured": measured, "predicted": predicted, "machine": vars(mean)}
        Path(reply).write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
