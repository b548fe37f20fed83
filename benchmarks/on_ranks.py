"""Run max-cut once, on the available ranks or in one process without MPI, and time its parts.

`mpirun -n 2 python -m benchmarks.on_ranks GRAPH ITERATIONS REPLY`: GRAPH is a file; the first rank
writes REPLY as JSON. `--alone` runs the rival, `condal.solve`; `--answer` continues to the proof;
`--short` builds one Krylov space per call of the oracle; `--lobpcg`, `--gd` and `--jd` use other
solvers of SLEPc.
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
from condal import distributed
from condal.distributed import matrix, oracle
from condal.distributed.cost import Size
from condal.distributed.engine import engine
from condal.distributed.machine import Machine
from condal.lab.bench.memory import peak
from condal.linalg.symmetric import Symmetric
from condal.storage import Sketch

R = 10
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
    team = distributed.Team()
    model = distributed.read_max_cut(graph, team)
    machine = Machine.measured(team, rows=model.block.shape[0])
    own: Any = model.problem.X
    own.engine.kind = next((kind for kind in KINDS if f"--{kind}" in options), KINDS[0])
    clock = Clock()
    clock.watch(oracle.Slepc, "_solved", "slepc")
    clock.watch(oracle._Shell, "mult", "shell")
    clock.watch(matrix.ShardedRows, "_product", "rows")
    clock.watch(Symmetric, "__matmul__", "maps", outside="slepc")
    clock.watch(distributed.DistributedSketch, "move", "sketch")
    for name in ("sums", "largest", "gathered", "agreed"):
        clock.watch(distributed.Team, name, "words")
    engine().PETSc.Log.begin()
    rows: list[dict[str, float]] = []
    say = _noting(rows, clock, None if "--answer" in options else iterations)
    answer: dict[str, Any] = {}
    try:
        result = distributed.solve(model, R=R, tol=1e-9, max_iters=iterations, callback=say)
        answer = {"objective": result.objective, "bound": result.bound}
    except Enough:
        pass
    memory = team.largest(float(peak()))
    nnz = int(team.sum(float(model.block.nnz))) + model.n
    halo = team.largest(float(model.cost._halo.columns.size - model.block.shape[0]))
    size = Size(model.n, nnz, R=R, ranks=team.size, basis=own.engine.basis)
    estimate = sum(distributed.estimate(model, R).values())
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
                **_events(),
            }
        )
        if row.k == last:
            raise Enough

    return say


def _events() -> dict[str, float]:
    """Return the counters of PETSc."""
    if "petsc4py" not in sys.modules:
        return {}
    PETSc = engine().PETSc
    names = (*EVENTS, "MatMult", "VecScatterBegin", "EPSSolve")
    events = {name: PETSc.Log.Event(name).getPerfInfo() for name in names}
    times = {f"{name}_seconds": info["time"] for name, info in events.items()}
    return {
        **times,
        "flops": events["MatMult"]["flops"],
        "messages": events["VecScatterBegin"]["numMessages"],
        "sent": events["VecScatterBegin"]["messageLength"],
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
    record = alone(graph, iterations) if "--alone" in options else ranks(graph, iterations, options)
    if record is not None:
        Path(reply).write_text(json.dumps(record), encoding="utf-8")


if __name__ == "__main__":
    main()
