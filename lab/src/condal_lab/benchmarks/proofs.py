"""What proofs cost: CPU seconds of a solve, and of its proofs, with one thread.

`python -m condal_lab.benchmarks proofs` solves max-cut of unions of planar graphs with 7,000
vertices like G63 and G64 (to 1e-6), of dependency graphs with hubs (to 1e-3), of graphs of the Gset
where the data are present, and a theta problem. `--only=planar,hubs` runs some of them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any
from unittest.mock import patch

import condal
from condal.certificates.ledger import CertifiedPoint, ProofLedger
from condal.problem import Model, Problem, problem_of
from condal_lab.bench.generated import theta
from condal_lab.benchmarks.record import DATA, save
from condal_lab.experiments.stand_ins import dependency_graph, planar_union

GSET = (("G1", 1e-3), *product(("G22", "G55", "G60", "G67"), (1e-3, 1e-6)))
MAX_SECONDS = 300.0

Case = tuple[str, float, Callable[[], Problem | Model]]


def main() -> None:
    """Solve each case, and write results/proofs.json."""
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    wanted = only[0].split(",") if only else []
    cases = [case for case in _cases() if not wanted or case[0].split()[0] in wanted]
    save("proofs", [measure(*case) for case in cases])


def _cases() -> Iterator[Case]:
    max_cut = condal.problems.max_cut
    yield "planar union, n = 7000, signed", 1e-6, lambda: max_cut(planar_union(7000))
    yield "planar union, n = 7000", 1e-6, lambda: max_cut(abs(planar_union(7000)))
    for n in (30_000, 60_000):
        yield f"hubs, n = {n}", 1e-3, partial(_max_cut, dependency_graph, n)
    yield "theta, n = 1500, 4500 edges", 1e-3, lambda: theta(1500, 4500)
    if (DATA / "gset").is_dir():
        for name, tol in GSET:
            path = DATA / "gset" / f"{name}.txt.xz"
            yield f"gset {name}", tol, partial(_max_cut, condal.read_graph, path)


def _max_cut(graph: Callable[[Any], Any], argument: Any) -> Model:
    return condal.problems.max_cut(graph(argument))


def measure(name: str, tol: float, build: Callable[[], Problem | Model]) -> dict[str, Any]:
    """Solve one problem; `proofs` is the CPU time of its proofs, `share` their part of all, and
    `estimate` the gap that was estimated where the proof was tried."""
    problem, seconds = problem_of(build()), []
    certify = ProofLedger.certify

    def timed(ledger: ProofLedger, *args: Any, **options: Any) -> CertifiedPoint:
        began = time.process_time()
        try:
            return certify(ledger, *args, **options)
        finally:
            seconds.append(time.process_time() - began)

    with patch.object(ProofLedger, "certify", timed):
        began = time.process_time()
        result = condal.solve(problem, tol=tol, max_seconds=MAX_SECONDS)
        total = time.process_time() - began
    return {
        "case": name,
        "tol": tol,
        "status": result.status.name,
        "gap": result.gap,
        "estimate": result.history.last.gap,
        "seconds": total,
        "proofs": sum(seconds),
        "tried": len(seconds),
        "share": sum(seconds) / total,
        "how": result.certificate.how,
    }


if __name__ == "__main__":
    main()
