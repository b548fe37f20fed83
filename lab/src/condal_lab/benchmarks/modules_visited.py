"""List the modules of condal that one call of `solve` visits.

A module counts when one of its functions runs during the call. A first call, which is not traced,
imports the modules.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import condal
from condal_lab.benchmarks.record import random_graph, save

SOURCE = Path(condal.__file__).resolve().parent
MAX_VISITED = 35


def visited(call: Any) -> list[str]:
    """Return the modules whose functions run during a call, in the order of their first frame."""
    modules: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{SOURCE}/"):
            modules.setdefault(Path(path).relative_to(SOURCE).with_suffix("").as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(modules)


def main() -> None:
    """Print the path of a solve of a max-cut problem by CGAL, and save its length."""
    W = random_graph(60, 6.0)
    n = W.shape[0]
    problem = condal.Problem.of(
        f=condal.Linear(W / n),
        X=condal.Spectrahedron(n, trace=float(n)),
        A=condal.Diagonal(n),
        K=condal.Equal(np.ones(n)),
    )

    def solve() -> None:
        condal.solve(problem, method=condal.CGAL(), tol=1e-2)

    solve()
    modules = visited(solve)
    for number, module in enumerate(modules, start=1):
        print(f"{number:3}  {module}")
    save("modules_visited", [{"visited": len(modules), "at most": MAX_VISITED}])


if __name__ == "__main__":
    main()
