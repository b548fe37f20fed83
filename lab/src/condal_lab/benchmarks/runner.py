"""Measured claims: cases that run in processes of their own, and a file of rows per benchmark.

`python -m condal_lab.benchmarks threads` runs one; `--only=theta,maxcut-316228` runs the cases of
which the names begin so, and keeps the rows of the others. A benchmark with a page also writes it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from condal.errors import CondalError
from condal.io.formats import read_graph
from condal_lab.bench.cases import locate
from condal_lab.bench.process import finite, run_alone
from condal_lab.bench.results import machine, versions
from condal_lab.generated import planar_union, random_graph, torus
from condal_lab.markdown import aligned

ROOT = Path(__file__).resolve().parents[4]  # of the clone
RESULTS = ROOT / "lab" / "results"

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A function of a module, its arguments, and a limit on its wall time; it returns rows."""

    name: str
    work: Callable[..., list[Row]]
    arguments: tuple[Any, ...] = ()
    wall: float = 3600.0


@dataclass(frozen=True)
class Benchmark:
    """The cases of a claim; `page` makes a page of the rows of all."""

    name: str
    cases: tuple[Case, ...]
    page: Callable[[list[Row]], str] | None = None

    def run(self, only: Sequence[str] = (), *, results: Path = RESULTS) -> list[Row]:
        """Run the cases in turn, write the rows after each, and return the new ones."""
        chosen = [case for case in self.cases if not only or case.name.startswith(tuple(only))]
        if not chosen:
            names = ", ".join(case.name for case in self.cases)
            raise SystemExit(f"{self.name} has no case {', '.join(only)}; its cases are {names}")
        new = []
        for case in chosen:
            ended = run_alone(case.work, *case.arguments, wall=case.wall)
            if ended.outcome != "done":
                raise CondalError(f"{self.name} {case.name}: {ended.reason}")
            rows = [{"case": case.name, **row, "load": os.getloadavg()[0]} for row in ended.reply]
            print(table(rows), flush=True)
            new += rows
            self.write([*self._others(case, results), *rows], results)
        return new

    def write(self, rows: list[Row], results: Path = RESULTS) -> None:
        """Write rows in the order of the cases, with the machine and the versions."""
        names = [case.name for case in self.cases]
        ordered = sorted(rows, key=lambda row: names.index(row["case"]))
        record = {"machine": machine(), "versions": versions({}), "rows": finite(ordered)}
        results.mkdir(exist_ok=True)
        text = json.dumps(record, indent=1, allow_nan=False)
        (results / f"{self.name}.json").write_text(f"{text}\n", encoding="utf-8")
        if self.page is not None:
            (results / f"{self.name}.md").write_text(self.page(ordered), encoding="utf-8")

    def stored(self, results: Path = RESULTS) -> list[Row]:
        """Return the rows that were written before, of cases that there are."""
        path, names = results / f"{self.name}.json", {case.name for case in self.cases}
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
        return [row for row in rows if row["case"] in names]

    def _others(self, case: Case, results: Path) -> list[Row]:
        return [row for row in self.stored(results) if row["case"] != case.name]


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the value of a call, and its seconds of wall time and of CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = call()
    return value, time.perf_counter() - wall, time.process_time() - cpu


def table(rows: Sequence[Row]) -> str:
    """Return rows as a table for a terminal."""
    head = list(dict.fromkeys(key for row in rows for key in row))
    return aligned(head, [[_cell(row.get(key)) for key in head] for row in rows])


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


STAND_INS = {
    "G1": partial(random_graph, 800),
    "G40": partial(planar_union, 2000),
}
NAMES = (*STAND_INS, "torus 50x40")


def graph(name: str) -> Any:
    """Return the adjacency matrix of one of these graphs."""
    if name not in STAND_INS:
        return torus(50, 40)
    path = locate(name, None)
    return STAND_INS[name]() if path is None else read_graph(path)
