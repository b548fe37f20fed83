"""Theta and phase retrieval with a sketch, n = 10^5 and 10^6: what is proved, with how much memory.

`python -m benchmarks large` runs all cases, each in its own process. `--only=theta-100000` runs
some of them and keeps the rows of the others. Instances are generated. No other solver handles
these sizes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import RESULTS, random_graph, write
from benchmarks.timed import alone
from condal.driver.memory import estimate
from condal.driver.solve import solve
from condal.lab.bench.memory import peak
from condal.methods.cgal import CGAL
from condal.methods.rules import Balanced, LineSearch
from condal.problems import phase_retrieval, theta
from condal.result import Result
from condal.storage import Sketch

THETA, PHASE = "theta", "phase retrieval"
SECONDS = {
    (THETA, 100_000): 300.0,
    (PHASE, 100_000): 300.0,
    (THETA, 1_000_000): 840.0,
    (PHASE, 1_000_000): 3600.0,
}
MASKS = 8
TRIALS = 2  # stable sets
ABOUT = """\
# Theta and phase retrieval with a sketch

CGAL with a sketch of x, on random graphs of average degree 4, and on coded diffraction of random
images through 8 masks. Each run has its own process and one thread, and stops at the tolerance or
at a time limit. Other users shared the machine, so CPU time is more meaningful than wall time.

* Theta: x = J/n has the objective n but an infeasibility of only sqrt(p)/n, so the objective and
  the gap of an infeasible point say little. Two proved numbers remain: the bound on theta, and the
  size of the stable set that was found, which is a feasible point. The bound falls at once to the
  value for duals that are equal on all edges. It then stagnates while the oracle returns vectors at
  vertices of high degree, until the duals there are right. For n = 10^6 this takes longer than the
  time limit.
* Phase retrieval is solved to a gap of 1e-1, where x = 0 has the objective 0.5. The x of such an
  early iteration has many small eigenvalues, which a sketch of R = 5 loses. The bound linearises f
  before the loss and is not affected by it; the signal is.
""".splitlines()


def main() -> None:
    """Run every kind and size in turn."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    for (kind, n), seconds in SECONDS.items():
        if only and f"{kind.split()[0]}-{n}" not in only[0].split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            reply = Path(folder, "reply.json")
            done = alone("benchmarks.large", kind, n, seconds, reply, timeout=4 * seconds + 900)
            if not reply.is_file():
                raise SystemExit(f"{kind}, n = {n}: {(done.stdout + done.stderr)[-2000:]}")
            row = json.loads(reply.read_text(encoding="utf-8"))
        by_case = {**_earlier(), (kind, n): row}
        rows = [by_case[key] for key in sorted(by_case, key=lambda key: (key[1], key[0]))]
        write("large", rows)
        (RESULTS / "large.md").write_text(_page(rows), encoding="utf-8")
        print(_page([row]))


def work(kind: str, n: int, seconds: float) -> dict[str, Any]:
    """Run one case in this process."""
    return (_theta if kind == THETA else _phase)(n, seconds)


def _theta(n: int, seconds: float) -> dict[str, Any]:
    model = theta(random_graph(n, 4.0))
    edges = model.problem.A.size
    # |y| grows like the square root of the number of edges, and so must the penalty.
    method = CGAL(Balanced(first=0.05 * sqrt(edges)))
    # A tol that x = J/n does not meet: its infeasibility is only sqrt(edges)/n.
    tol = 0.05 * sqrt(edges) / n
    row, result = _measured(THETA, n, model, method, 10, tol=tol, seconds=seconds)
    began = time.process_time()
    size = model.round(result, trials=TRIALS).size
    row |= {
        "p": edges,
        "rounded": f"stable set of {size}; the bound is {_share(result.bound / size - 1)} above",
        "rounding_cpu_seconds": time.process_time() - began,
    }
    return row


def _phase(n: int, seconds: float) -> dict[str, Any]:
    side = 40 * round(sqrt(n) / 40)  # a multiple of 40, for fast Fourier transforms
    rng = np.random.default_rng(0)
    u = _complex(rng, (side, side))
    masks = rng.choice([1, -1, 1j, -1j], size=(MASKS, side, side))
    masks *= rng.choice([sqrt(0.5), sqrt(3.0)], p=[0.8, 0.2], size=masks.shape)
    b = np.stack([np.abs(np.fft.fft2(mask * u, norm="ortho")) ** 2 for mask in masks])
    model = phase_retrieval(b, masks=masks)
    del masks, b
    method = CGAL(eta=LineSearch())
    row, result = _measured(PHASE, n, model, method, 5, tol=1e-1, seconds=seconds)
    began = time.process_time()
    error = model.signal(result).error(u)
    row |= {
        "p": model.problem.f.M.size,
        "rounded": f"signal within {_share(error)}",
        "rounding_cpu_seconds": time.process_time() - began,
    }
    return row


def _measured(
    kind: str, asked: int, model: Any, method: CGAL, R: int, *, tol: float, seconds: float
) -> tuple[dict[str, Any], Result]:
    problem = model.problem
    storage, before = Sketch(problem.X.n, R), peak()
    estimated = sum(estimate(problem, method, storage).values())
    began = time.perf_counter()
    result = solve(model, tol=tol, method=method, storage=storage, max_seconds=seconds)
    row = {
        "kind": kind,
        "asked": asked,
        "n": model.n,
        "R": R,
        "status": result.status.name,
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "infeasibility": result.infeasibility,
        "proof": result.certificate.because,
        "iterate_objective": result.history.last.objective,
        "iterate_infeasibility": result.history.last.infeasibility,
        "estimated_bound": result.history.last.bound,
        "iterations": result.iterations,
        "products": result.matvecs,
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": result.cpu_seconds,
        "data_mb": before / 1e6,
        "peak_mb": peak() / 1e6,
        "estimate_mb": estimated / 1e6,
        "reconstruction": str(result.reconstruction),
    }
    return row, result


def _complex(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.complex128]:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _share(share: float) -> str:
    return f"{100 * share:.3g}%"


def _earlier() -> dict[tuple[str, int], dict[str, Any]]:
    path = RESULTS / "large.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    return {(row["kind"], row["asked"]): row for row in rows}


def _page(rows: list[dict[str, Any]]) -> str:
    lines = [*ABOUT, ""]
    for row in rows:
        beyond_data = row["peak_mb"] - row["data_mb"]
        lines += [
            f"## {row['kind']}, n = {row['n']:,}, p = {row['p']:,}, R = {row['R']}",
            "",
            f"* {row['status']}: objective {row['objective']:.6g}, proved bound "
            f"{row['bound']:.6g}, gap {row['gap']:.3g}, infeasibility {row['infeasibility']:.3g}; "
            f"{row['proof']}",
            f"* before the reconstruction, x had the objective {row['iterate_objective']:.6g} "
            f"and the infeasibility {row['iterate_infeasibility']:.3g}; the oracle's own estimate, "
            f"which proves nothing, gave the bound {row['estimated_bound']:.6g}",
            f"* {row['iterations']} iterations, {row['products']} products, "
            f"{row['wall_seconds']:.0f} s of wall time, {row['cpu_seconds']:.0f} s of CPU time",
            f"* peak {row['peak_mb']:.0f} MB, of which {beyond_data:.0f} MB beyond the data; "
            f"the estimate before the start was {row['estimate_mb']:.0f} MB",
            f"* {row['rounded']}, in {row['rounding_cpu_seconds']:.0f} s of CPU time",
            f"* {row['reconstruction']}",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    kind, n, seconds, reply = sys.argv[1:]
    Path(reply).write_text(json.dumps(work(kind, int(n), float(seconds))), encoding="utf-8")
