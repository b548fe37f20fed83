"""All benchmarks, one after the other, or those named: `python -m benchmarks oracle penalty`.

`applications` has options of its own: `--quick`, and `--only=theta,map` for some instances. So has
`large`, which runs only by its name: `--only=theta-100000`; and `ranks`: `--only=short-random`.
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
)
BY_NAME = ("large", "ranks")  # hours, or a machine to itself: only where it is asked for

if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        raise SystemExit(__doc__)
    for name in [word for word in sys.argv[1:] if not word.startswith("--")] or NAMES:
        if name not in NAMES + BY_NAME:
            known = ", ".join(NAMES + BY_NAME)
            raise SystemExit(f"no benchmark {name!r}; there are {known}")
        import_module(f"benchmarks.{name}").main()
