"""All benchmarks, one after the other, or those named: `python -m benchmarks oracle penalty`."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("oracle", "penalty", "memory", "kmeans", "maps")

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            raise SystemExit(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
        import_module(f"benchmarks.{name}").main()
