"""Run max-cut once, on the available ranks or in one process without MPI, and time its parts.

`mpirun -n 2 python -m condal_lab.benchmarks.on_ranks GRAPH ITERATIONS REPLY`: GRAPH is a file; the
first rank writes REPLY as JSON. `--alone` runs the rival, `condal.solve`; `--answer` continues to
the proof; `--short` builds one Krylov space per call of the oracle; `--lobpcg`, `--gd` and `--jd`
use other solvers of SLEPc. `--lowrank` solves by the low-rank method to a proved gap of 1e-3, on
ranks or with `--alone`; with `--lowrank-pair`, each rank solves the whole problem by itself.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import condal
import condal_mpi
from condal.linalg.symmetric import Symmetric
from condal.storage import Sketch
from condal_lab.bench.memory import peak
from condal_mpi import matrix, oracle
from condal_mpi.cost import Size
from condal_mpi.engine import engine
from condal_mpi.machine import Machine

R = 10
LOW_RANK_TOL = 1e-3
KINDS = ("krylovschur", "lobpcg", "jd", "gd")
EVENTS = ("BVOrthogonalizeV", "BVMultInPlace")


class Enough(Exception):
    """Raised when enough iterations have been timed."""


class Clock:
    """Seconds and calls of some functions; nested calls of the same part are not counted."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: Counter[str] = Counter()
        self._on: set[str] = set()
        self.flops, self.sent = 0.0, 0.0

    def count(self, rows: type[matrix.ShardedRows]) -> None:
        """Count the flops and the bytes that products of distributed matrices fetch."""
        product = rows.__matmul__

        def counted(C: Any, v: Any) -> Any:
            columns = 1 if v.ndim == 1 else v.shape[1]
            self.flops += 2.0 * C.nnz * columns
            self.sent += 8.0 * C.halo.size * columns
            return product(C, v)

        rows.__matmul__ = counted  # type: ignore[method-assign]  # to count

    def watch(self, owner: Any, name: str, part: str, *, outside: str = "") -> None:
        """Time a method of a class as a part, except inside calls of the part `outside`."""
        called = getattr(owner, name)

        def timed(*given: Any, **named: Any) -> Any:
            if outside in self._on or part in self._on:
                return called(*given, **named)
            self._on.add(part)
            began = time.perf_counter()
            try:
                return called(*given, **named)
            finally:
                self._on.discard(part)
                self.seconds[part] += time.perf_counter() - began
                self.calls[part] += 1

        setattr(owner, name, timed)


def ranks(graph: str, iterations: int, options: list[str]) -> dict[str, Any] | None:
    """Run on ranks; return the record on the first rank and None on the others."""
    short = "--short" in options
    if short:
        oracle.ASSUMED_SEPARATION, oracle.MAX_RUNS = 1e300, 1
    team = condal_mpi.Team()
    model = condal_mpi.read_max_cut(graph, team)
    machine = Machine.measured(team, rows=model.block.shape[0])
    own: Any = model.problem.X
    own.engine.kind = next((kind for kind in KINDS if f"--{kind}" in options), KINDS[0])
    clock = Clock()
    clock.watch(oracle.Slepc, "_solved", "slepc")
    clock.watch(oracle._Shell, "mult", "shell")
    clock.count(matrix.ShardedRows)
    clock.watch(matrix.ShardedRows, "__matmul__", "rows")
    clock.watch(Symmetric, "__matmul__", "maps", outside="slepc")
    clock.watch(condal_mpi.DistributedSketch, "move", "sketch")
    for name in ("sums", "largest", "gathered", "agreed"):
        clock.watch(condal_mpi.Team, name, "words")
    engine().PETSc.Log.begin()
    rows: list[dict[str, float]] = []
    say = _noting(rows, clock, None if "--answer" in options else iterations)
    answer: dict[str, Any] = {}
    try:
        limits: dict[str, Any] = {"tol": 1e-9, "max_iters": iterations, "seed": 0}
        result = condal_mpi.solve(model, condal.CGAL(), R=R, callback=say, **limits)
        answer = {"objective": result.objective, "bound": result.bound}
    except Enough:
        pass
    memory = team.largest(float(peak()))
    nnz = int(team.sum(float(model.block.nnz))) + model.n
    halo = team.largest(float(model.cost.halo.size))
    size = Size(model.n, nnz, R=R, ranks=team.size, basis=own.engine.basis)
    estimate = sum(condal_mpi.estimate(model, R, condal.CGAL()).values())
    if team.rank:
        return None
    return {
        **_means(rows, fastest=short),
        **answer,
        "size": asdict(size),
        "halo": halo,
        "machine": asdict(machine),
        "peak_mb": memory / 1e6,
        "estimate_mb": estimate / 1e6,
    }


def alone(graph: str, iterations: int) -> dict[str, Any]:
    """Run the rival: one process, without MPI."""
    model = condal.problems.max_cut(condal.read_graph(graph))
    clock = Clock()
    clock.watch(Symmetric, "__matmul__", "maps")
    clock.watch(Sketch, "move", "sketch")
    rows: list[dict[str, float]] = []
    try:
        storage = Sketch(model.n, R)
        condal.solve(
            model,
            condal.CGAL(),
            storage=storage,
            tol=1e-9,
            callback=_noting(rows, clock, iterations),
        )
    except Enough:
        pass
    return {**_means(rows), "peak_mb": peak() / 1e6}


def low_rank(graph: str, *, on_ranks: bool, apart: bool = False) -> dict[str, Any] | None:
    """Solve to LOW_RANK_TOL by the low-rank method; None on other ranks than the first.

    If they solve `apart`, the slowest rank counts.
    """
    if not on_ranks:
        model: Any = condal.problems.max_cut(condal.read_graph(graph))
        return _solved(lambda: condal.solve(model, tol=LOW_RANK_TOL, seed=0))
    team = condal_mpi.Team()
    model = condal_mpi.read_max_cut(
        graph, condal_mpi.Team(engine().MPI.COMM_SELF) if apart else team
    )
    team.comm.Barrier()
    record = _solved(lambda: condal_mpi.solve(model, tol=LOW_RANK_TOL, seed=0))
    record["seconds"] = team.largest(record["seconds"])
    parts = condal_mpi.estimate(model)
    record["peak_mb"] = team.largest(record["peak_mb"])
    record["cpu_seconds"] = team.sum(record["cpu_seconds"])
    record["estimate_mb"] = sum(parts.values()) / 1e6
    return None if team.rank else record


def _solved(solve: Callable[[], Any]) -> dict[str, Any]:
    """Return the time of a solve, from the model to the proof, and its answer."""
    began, before = time.perf_counter(), time.process_time()
    result = solve()
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - before,
        "iterations": result.iterations,
        "products": result.matvecs,
        "status": result.status.name,
        "method": result.method,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "peak_mb": peak() / 1e6,
    }


def _noting(rows: list[dict[str, float]], clock: Clock, last: int | None) -> Callable[[Any], None]:
    def say(row: Any) -> None:
        rows.append(
            {
                "seconds": time.perf_counter(),
                "products": row.matvecs,
                "objective": row.objective,
                "bound": row.bound,
                **{f"{part}_seconds": value for part, value in clock.seconds.items()},
                **{f"{part}_calls": value for part, value in clock.calls.items()},
                **_events(clock),
            }
        )
        if row.k == last:
            raise Enough

    return say


def _events(clock: Clock) -> dict[str, float]:
    """Return the flops and the bytes sent by products of the matrix, and what SLEPc counts."""
    if "petsc4py" not in sys.modules:
        return {}
    PETSc = engine().PETSc
    events = {name: PETSc.Log.Event(name).getPerfInfo() for name in (*EVENTS, "EPSSolve")}
    times = {f"{name}_seconds": info["time"] for name, info in events.items()}
    return {
        **times,
        "flops": clock.flops,
        "sent": clock.sent,
        "reductions": events["EPSSolve"]["numReductions"],
        "slepc_flops": events["EPSSolve"]["flops"],
        "slepc_messages": events["EPSSolve"]["numMessages"],
    }


def _means(rows: list[dict[str, float]], *, fastest: bool = False) -> dict[str, Any]:
    """Return the cost per iteration: the mean from the second on, or the fastest of the iterations
    with the fewest products, which other load on the machine disturbs least."""
    steps = [{key: b[key] - a.get(key, 0.0) for key in b} for a, b in pairwise(rows)]
    if fastest:
        steps = [min(steps, key=lambda step: (step["products"], step["seconds"]))]
    means = {key: sum(step[key] for step in steps) / len(steps) for key in steps[-1]}
    reached = [rows[-1][key] for key in ("objective", "bound")]
    return {"iterations": len(rows), **means, "reached": reached}


def main() -> None:
    options = [word for word in sys.argv if word.startswith("--")]
    graph, count, reply = [word for word in sys.argv[1:] if not word.startswith("--")]
    iterations = int(count)
    by_itself = "--alone" in options
    apart = "--lowrank-pair" in options
    if "--lowrank" in options or apart:
        record = low_rank(graph, on_ranks=not by_itself, apart=apart)
    else:
        record = alone(graph, iterations) if by_itself else ranks(graph, iterations, options)
    if record is not None:
        Path(reply).write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
