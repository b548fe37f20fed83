"""Run all benchmarks in order, or those named: `python -m condal_lab.benchmarks oracle penalty`.

Some benchmarks have options: `applications` takes `--quick` and `--only=theta,map` for some
instances. `cost_model`, `crossover`, `large`, `partition`, `ranks` and `threads` run only by name;
`crossover`, `large`, `ranks` and `threads` take `--only=theta`, `--only=theta-100000`,
`--only=short-random` and `--only=maxcut-316228`. `quotes` measures nothing: it copies stored times
into the tables of the documents.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    "oracle",
    "penalty",
    "memory",
    "kmeans",
    "maps",
    "applications",
    "cvxpy_maxcut",
    "sdplib",
    "huge",
    "proofs",
)
# These take hours, or need an idle machine.
BY_NAME = (
    "cost_model",
    "crossover",
    "large",
    "walk",
    "partition",
    "quotes",
    "ranks",
    "startup",
    "theta_ranks",
    "threads",
)

if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        raise SystemExit(__doc__)
    for name in [word for word in sys.argv[1:] if not word.startswith("--")] or NAMES:
        if name not in NAMES + BY_NAME:
            known = ", ".join(NAMES + BY_NAME)
            raise SystemExit(f"no benchmark {name!r}; the benchmarks are {known}")
        import_module(f"condal_lab.benchmarks.{name}").main()
