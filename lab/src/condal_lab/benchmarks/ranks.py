"""Max-cut on ranks: the time per iteration by part, weak scaling, and the cost model.

`python -m condal_lab.benchmarks ranks` needs a Python with MPI, PETSc and SLEPc; `--quick` uses
small graphs and records nothing. A *short* run asks for so little accuracy that SLEPc builds one
Krylov space per call of the oracle. Every iteration then makes the same, minimal number of
products, and the remaining work has its largest share. A *plain* run is CGAL as a user gets it. A
*lowrank* run solves by the low-rank method to a proved gap of 1e-3. The rival is `condal.solve` in
one process, by the low-rank method or by CGAL with the same sketch. A *lowrank-pair* run solves the
same problem twice at the same time, on a rank each, without any message between them: what that
takes longer than one solve, the cores lose to each other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condal_lab.benchmarks import ranks_page
from condal_lab.benchmarks.huge import graph
from condal_lab.benchmarks.launch import failure, run_python
from condal_lab.benchmarks.on_ranks import KINDS
from condal_lab.benchmarks.record import RESULTS, torus, write
from condal_mpi import write_shards

SHORT, PLAIN, ANSWER, LOW_RANK = "short", "plain", "answer", "lowrank"
PAIR = f"{LOW_RANK}-pair"
HALF = 500_000  # rows per rank
PATIENCE, ENGINE_PATIENCE = 1500.0, 60.0


@dataclass(frozen=True)
class Case:
    """A number of iterations on a graph of n vertices; 0 ranks stands for the rival."""

    kind: str
    n: int
    ranks: int
    how: str
    iterations: int


def cases() -> list[Case]:
    """Return all measured cases."""
    weak = [
        Case(kind, ranks * HALF, ranks, SHORT, 12)
        for kind in ("random", "torus")
        for ranks in (1, 2, 4)
    ]
    sizes = [Case("random", 10**5, ranks, SHORT, 20) for ranks in (1, 2, 4)]
    sizes += [Case("random", 10**6, 1, SHORT, 8), Case("random", 10**7, 2, SHORT, 4)]
    plain = [Case("random", n, ranks, PLAIN, 8) for n in (10**5, 10**6) for ranks in (0, 1, 2)]
    answers = [Case("random", 10**5, ranks, ANSWER, 10) for ranks in (1, 2, 4)]
    engines = [Case("random", n, 1, how, 20) for n in (10**4, 10**5) for how in KINDS]
    return low_rank_cases() + weak + sizes + plain + answers + engines


def low_rank_cases() -> list[Case]:
    """Return the cases of the low-rank method: no MPI, 1 and 2 ranks, and weak scaling."""
    sizes = [(10**5, 0), (10**5, 1), (10**5, 2), (HALF, 1), (10**6, 0), (10**6, 1), (10**6, 2)]
    pair = Case("random", HALF, 2, PAIR, 0)
    return [*(Case("random", n, ranks, LOW_RANK, 0) for n, ranks in sizes), pair]


def quick() -> list[Case]:
    """Return small cases of the same kinds."""
    ways = (
        (LOW_RANK, (0, 1, 2)),
        (SHORT, (1, 2, 4)),
        (PLAIN, (0, 1, 2)),
        (ANSWER, (1, 2, 4)),
    )
    short = [Case("random", 4000, ranks, how, 6) for how, several in ways for ranks in several]
    return [*short, *(Case("torus", ranks * 2000, ranks, SHORT, 6) for ranks in (1, 2))]


def run(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case in its own processes and return its record."""
    file, reply = folder / f"{case.kind}-{case.n}.shards", folder / "reply.json"
    if not file.is_dir():
        write_shards(file, _graph(case.kind, case.n))
    reply.unlink(missing_ok=True)
    by_itself = case.ranks == 0 or case.how in KINDS  # without mpirun, so that a kill ends it
    words = ["condal_lab.benchmarks.on_ranks", file, case.iterations, reply]
    words += ["--alone"] if case.ranks == 0 else []
    words += [f"--{case.how}"] if case.ranks or case.how == LOW_RANK else []
    engine = case.how in KINDS
    try:
        done = run_python(
            *words,
            ranks=0 if by_itself else case.ranks,
            patience=ENGINE_PATIENCE if engine else PATIENCE,
            yields=case.ranks > (os.cpu_count() or 1),
        )
    except subprocess.TimeoutExpired:
        if not engine:
            raise
        return {**vars(case), "load": os.getloadavg()[0], "seconds": None}
    if not reply.is_file():
        raise failure(case, done)
    return {
        **vars(case),
        "load": os.getloadavg()[0],
        **json.loads(reply.read_text(encoding="utf-8")),
    }


def _graph(kind: str, n: int) -> Any:
    return graph(n) if kind == "random" else torus(n // 500, 500)


def main() -> None:
    """Run all cases in turn, or those whose names start with `--only=lowrank-random-1000000`.

    The other cases stay as recorded. With `--again`, a faster recorded short or low-rank run also
    stays: other load on the machine can only make a run slower.
    """
    small, again = "--quick" in sys.argv, "--again" in sys.argv
    only = tuple(word[7:] for word in sys.argv if word.startswith("--only="))
    records = {} if small else {_name(row): row for row in _recorded()}
    with tempfile.TemporaryDirectory() as folder:
        for case in quick() if small else cases():
            name = _name(vars(case))
            if only and not name.startswith(only):
                continue
            row, before = run(case, Path(folder)), records.get(name)
            print(name, row["seconds"], f"load {row['load']:.1f}", flush=True)
            faster = before is not None and before["seconds"] < row["seconds"]
            if again and case.how in (SHORT, LOW_RANK) and faster:
                continue
            records[name] = row
            if not small:
                _save(records)
    print(ranks_page.page(list(records.values())))


def _save(records: dict[str, dict[str, Any]]) -> None:
    names = [_name(vars(case)) for case in cases()]
    rows = [records[name] for name in names if name in records]
    write("ranks", rows)
    (RESULTS / "ranks.md").write_text(ranks_page.page(rows), encoding="utf-8")


def _name(case: dict[str, Any]) -> str:
    return f"{case['how']}-{case['kind']}-{case['n']}-{case['ranks']}"


def _recorded() -> list[dict[str, Any]]:
    path = RESULTS / "ranks.json"
    return json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
