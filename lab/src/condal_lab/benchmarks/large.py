"""Theta and phase retrieval, n = 10^5 and 10^6, by the default method: time, memory and proofs.

`python -m condal_lab.benchmarks large` runs all cases, each in its own process.
`--only=theta-100000` runs some of them and keeps the rows of the others. Instances are generated.
No other solver handles these sizes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condal.driver.solve import solve
from condal.problems import phase_retrieval, theta
from condal.result import Result
from condal_lab.bench.memory import peak
from condal_lab.benchmarks.record import RESULTS, random_graph, write
from condal_lab.benchmarks.timed import alone

THETA, PHASE = "theta", "phase retrieval"
MASKS = 8
TRIALS = 2  # stable sets


@dataclass(frozen=True)
class Case:
    """A problem, its size, the tolerance, a limit on the wall time, and the average degree."""

    kind: str
    n: int
    tol: float
    seconds: float
    degree: int = 0

    @property
    def name(self) -> str:
        """The name for `--only`."""
        return f"{self.kind.split()[0]}-{self.n}"


CASES = [
    Case(THETA, 100_000, 1e-3, 3600.0, degree=6),
    Case(PHASE, 100_000, 1e-3, 3600.0),
    Case(THETA, 1_000_000, 1e-2, 7200.0, degree=4),
    Case(PHASE, 1_000_000, 1e-3, 7200.0),
]
ABOUT = """\
# Theta and phase retrieval at n = 10^5 and 10^6

`condal.solve(model, tol=...)` without any other choice, on random graphs, and on coded diffraction
of random images through 8 masks. Each run has its own process and one thread. Other users shared
the machine, so CPU time is more meaningful than wall time.

SOLVED means that the gap, the infeasibility and the price of the infeasibility are at most the
tolerance, by a proof for the data as they were given. The stable set is a rounded point of theta,
and the signal the rounded point of phase retrieval; its error is the distance to the true signal.
""".splitlines()


def main() -> None:
    """Run every case in turn."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    for case in CASES:
        if only and case.name not in only[0].split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            reply = Path(folder, "reply.json")
            done = alone(
                "condal_lab.benchmarks.large", case.name, reply, timeout=2 * case.seconds + 900
            )
            if not reply.is_file():
                raise SystemExit(f"{case.name}: {(done.stdout + done.stderr)[-2000:]}")
            row = json.loads(reply.read_text(encoding="utf-8"))
        by_name = {**_earlier(), case.name: row}
        rows = [by_name[other.name] for other in CASES if other.name in by_name]
        write("large", rows)
        (RESULTS / "large.md").write_text(_page(rows), encoding="utf-8")
        print(_page([row]))


def work(name: str) -> dict[str, Any]:
    """Run one case in this process."""
    case = next(case for case in CASES if case.name == name)
    return (_theta if case.kind == THETA else _phase)(case)


def _theta(case: Case) -> dict[str, Any]:
    model = theta(random_graph(case.n, case.degree))
    row, result = _measured(case, model)
    began = time.process_time()
    size = model.round(result, trials=TRIALS).size
    row |= {
        "p": model.problem.A.size,
        "rounded": f"stable set of {size}; the bound is {_share(result.bound / size - 1)} above",
        "rounding_cpu_seconds": time.process_time() - began,
    }
    return row


def _phase(case: Case) -> dict[str, Any]:
    side = 40 * round(sqrt(case.n) / 40)  # a multiple of 40, for fast Fourier transforms
    rng = np.random.default_rng(0)
    u = _complex(rng, (side, side))
    masks = rng.choice([1, -1, 1j, -1j], size=(MASKS, side, side))
    masks *= rng.choice([sqrt(0.5), sqrt(3.0)], p=[0.8, 0.2], size=masks.shape)
    b = np.stack([np.abs(np.fft.fft2(mask * u, norm="ortho")) ** 2 for mask in masks])
    model = phase_retrieval(b, masks=masks)
    del masks, b
    row, result = _measured(case, model)
    began = time.process_time()
    error = model.signal(result).error(u)
    row |= {
        "p": model.problem.f.M.size,
        "rounded": f"signal within {_share(error)}",
        "rounding_cpu_seconds": time.process_time() - began,
    }
    return row


def _measured(case: Case, model: Any) -> tuple[dict[str, Any], Result]:
    before, began, cpu = peak(), time.perf_counter(), time.process_time()
    result = solve(model, tol=case.tol, max_seconds=case.seconds)
    row = {
        "name": case.name,
        "kind": case.kind,
        "n": model.n,
        "tol": case.tol,
        "method": result.method,
        "rank": result.x.rank,
        "status": result.status.name,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "infeasibility": result.infeasibility,
        "price": result.certificate.price,
        "proof": result.certificate.because,
        "iterations": result.iterations,
        "products": result.matvecs,
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "data_mb": before / 1e6,
        "peak_mb": peak() / 1e6,
    }
    return row, result


def _complex(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.complex128]:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _share(share: float) -> str:
    return f"{100 * share:.3g}%"


def _earlier() -> dict[str, dict[str, Any]]:
    path = RESULTS / "large.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    return {row["name"]: row for row in rows if "name" in row}


def _page(rows: list[dict[str, Any]]) -> str:
    lines = [*ABOUT, ""]
    for row in rows:
        beyond_data = row["peak_mb"] - row["data_mb"]
        lines += [
            f"## {row['kind']}, n = {row['n']:,}, p = {row['p']:,}, tol = {row['tol']:g}",
            "",
            f"* {row['status']} by `{row['method']}`: objective {row['objective']:.6g}, proved "
            f"bound {row['bound']:.6g}, gap {row['gap']:.3g}, infeasibility "
            f"{row['infeasibility']:.3g}, price {row['price']:.3g}; {row['proof']}",
            f"* {row['iterations']} iterations, {row['products']} products, rank {row['rank']}, "
            f"{row['wall_seconds']:.0f} s of wall time, {row['cpu_seconds']:.0f} s of CPU time",
            f"* peak {row['peak_mb']:.0f} MB, of which {beyond_data:.0f} MB beyond the data",
            f"* {row['rounded']}, in {row['rounding_cpu_seconds']:.0f} s of CPU time",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    name, reply = sys.argv[1:]
    Path(reply).write_text(json.dumps(work(name)), encoding="utf-8")
