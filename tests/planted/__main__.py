"""`python -m planted DOOR SEED [COUNT]`: report on one problem, or on the wrong ones of COUNT."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

USAGE = "python -m planted DOOR SEED [COUNT]"


def main(door: str, first: int, count: int) -> None:
    from planted.doors import chosen
    from planted.trial import attempt

    try:
        names = chosen(door)
    except ValueError as error:
        sys.exit(f"{USAGE}: {error}")
    for name in names:
        said: Counter[str] = Counter()
        began, slowest = time.perf_counter(), (0.0, 0)
        for seed in range(first, first + count):
            outcome = attempt(name, seed)
            said[f"{outcome.status}: {outcome.said}"] += 1
            slowest = max(slowest, (outcome.seconds, seed))
            if count == 1 or outcome.wrong:
                print(f"{name} {seed} ({outcome.story}): {outcome.said}, {outcome.seconds:.2f} s")
            for text in outcome.wrong:
                print(f"    WRONG: {text}", flush=True)
        spent = time.perf_counter() - began
        print(f"{name}: {count / spent:.1f} per second, slowest {slowest[0]:.2f} s ({slowest[1]})")
        print(f"    {dict(sorted(said.items()))}", flush=True)


if __name__ == "__main__":
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # before NumPy is imported
    given = sys.argv[1:]
    if not 1 <= len(given) <= 3:
        sys.exit(USAGE)
    main(given[0], int(given[1]) if len(given) > 1 else 0, int(given[2]) if len(given) > 2 else 1)
