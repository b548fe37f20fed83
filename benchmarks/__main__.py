"""All benchmarks, one after the other, or those named: `python -m benchmarks oracle penalty`.

`applications` has options of its own: `--quick`, and `--only=theta,map` for some instances.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("oracle", "penalty", "memory", "kmeans", "maps", "applications", "cvxpy_maxcut", "sdplib")

if __name__ == "__main__":
    for name in [word for word in sys.argv[1:] if not word.startswith("--")] or NAMES:
        if name not in NAMES:
            raise SystemExit(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()
