"""Theta and phase retrieval with a sketch, n = 10^5 and 10^6: what is proved, by how much memory.

python -m benchmarks large runs all, each in a process of its own; --only=theta-100000 some of them;
the rows of the others are kept. Instances are generated. Nobody else's solver takes these sizes.
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

CGAL with a sketch of x, random graphs of average degree 4 and coded diffraction of random images
through 8 masks, one thread, to the tolerance or to a limit of time, on a machine that others use as
well: CPU time says more than that of the wall. Each run is a process of its own.

* Theta: x = J/n, of objective n, has an infeasibility of sqrt(p)/n alone, so that objective and gap
  of a point that is not feasible say little. What stands are two numbers that are proved: the bound
  on theta, and the stable set that was found, a feasible point of its own size. The bound falls at
  once to that of duals which are alike on all edges, and then rests while the oracle answers with
  vectors at vertices of high degree, until their duals are right; of n = 10^6 that takes longer
  than the time that it was given.
* Phase retrieval, to a gap of 1e-1, where x = 0 has the objective 0.5: the x of so early an
  iteration has many small eigenvalues, which a sketch of R = 5 does not hold. The bound is by the
  tangent of f before these were lost, and so bears nothing of that; the signal does.
""".splitlines()


def main() -> None:
    """Every kind and size, one after the other."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    for (kind, n), seconds in SECONDS.items():
        if only and f"{kind.split()[0]}-{n}" not in only[0].split(","):
            continue
        with tempfile.TemporaryDirectory() as folder:
            reply = Path(folder, "reply.json")
            done = alone("benchmarks.large", kind, n, seconds, reply, timeout=4 * seconds + 900)
            if not reply.is_file():
                raise SystemExit(f"{kind}, n = {n}: {(done.stdout + done.stderr)[-2000:]}")
            found = json.loads(reply.read_text(encoding="utf-8"))
        kept = {**_earlier(), (kind, n): found}
        rows = [kept[key] for key in sorted(kept, key=lambda key: (key[1], key[0]))]
        write("large", rows)
        (RESULTS / "large.md").write_text(_page(rows), encoding="utf-8")
        print(_page([found]))


def work(kind: str, n: int, seconds: float) -> dict[str, Any]:
    """One run, in this process."""
    return (_theta if kind == THETA else _phase)(n, seconds)


def _theta(n: int, seconds: float) -> dict[str, Any]:
    model = theta(random_graph(n, 4.0))
    edges = model.problem.A.size
    # |y| grows as the root of the number of edges, and so does the penalty that it takes.
    method = CGAL(Balanced(first=0.05 * sqrt(edges)))
    # A tol that x = J/n does not meet: |x_ij| on all edges is as small as sqrt(edges)/n there.
    tol = 0.05 * sqrt(edges) / n
    row, result = _measured(THETA, n, model, method, 10, tol=tol, seconds=seconds)
    began = time.process_time()
    found = model.round(result, trials=TRIALS)
    row |= {
        "p": edges,
        "rounded": f"stable set of {found.size}: {_share(result.bound / found.size - 1)} below",
        "rounding_cpu_seconds": time.process_time() - began,
    }
    return row


def _phase(n: int, seconds: float) -> dict[str, Any]:
    side = 40 * round(sqrt(n) / 40)  # of small factors, as fast transforms like it
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
    told = sum(estimate(problem, method, storage).values())
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
        "estimate_mb": told / 1e6,
        "reconstruction": str(result.reconstruction),
    }
    return row, result


def _complex(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.complex128]:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def _share(part: float) -> str:
    return f"{100 * part:.3g}%"


def _earlier() -> dict[tuple[str, int], dict[str, Any]]:
    path = RESULTS / "large.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    return {(row["kind"], row["asked"]): row for row in rows}


def _page(rows: list[dict[str, Any]]) -> str:
    lines = [*ABOUT, ""]
    for row in rows:
        beside = row["peak_mb"] - row["data_mb"]
        lines += [
            f"## {row['kind']}, n = {row['n']:,}, p = {row['p']:,}, R = {row['R']}",
            "",
            f"* {row['status']}: objective {row['objective']:.6g}, proved bound "
            f"{row['bound']:.6g}, gap {row['gap']:.3g}, infeasibility {row['infeasibility']:.3g}; "
            f"{row['proof']}",
            f"* before it was reconstructed, x had the objective {row['iterate_objective']:.6g} "
            f"and the infeasibility {row['iterate_infeasibility']:.3g}; the oracle's own word, "
            f"which proves nothing, made the bound {row['estimated_bound']:.6g}",
            f"* {row['iterations']} iterations, {row['products']} products, "
            f"{row['wall_seconds']:.0f} s of wall, {row['cpu_seconds']:.0f} s of CPU time",
            f"* peak {row['peak_mb']:.0f} MB, {beside:.0f} MB of it beside the data; the estimate "
            f"before the start was {row['estimate_mb']:.0f} MB",
            f"* {row['rounded']}, in {row['rounding_cpu_seconds']:.0f} s of CPU time",
            f"* {row['reconstruction']}",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    kind, n, seconds, reply = sys.argv[1:]
    Path(reply).write_text(json.dumps(work(kind, int(n), float(seconds))), encoding="utf-8")
