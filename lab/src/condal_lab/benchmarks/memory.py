"""Memory: a sketch of R = 10 on a random graph of 100,000 vertices, 50 iterations, in total."""

from __future__ import annotations

import json
import subprocess
import sys

from condal_lab.benchmarks.record import save

JOB = """
import json, resource
from condal_lab.benchmarks.record import random_graph
import condal
from condal.storage import Sketch
n = {n}
result = condal.solve(
    condal.problems.max_cut(random_graph(n, 4.0)), tol=1e-6, max_iters=50, storage=Sketch(n, 10)
)
print(json.dumps(dict(
    n=n, R=10, status=result.status.name, iterations=result.iterations, gap=result.gap,
    proof=result.certificate.how, cpu_seconds=result.cpu_seconds,
    peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
)))
"""


def main() -> None:
    """Run each size in its own process, so that the peaks are separate."""
    rows = []
    for n in (10_000, 100_000):
        output = subprocess.run(
            [sys.executable, "-c", JOB.format(n=n)], check=True, capture_output=True, text=True
        ).stdout
        rows.append(json.loads(output))
    save("memory", rows)


if __name__ == "__main__":
    main()
