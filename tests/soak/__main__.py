"""`make soak`: run all suites for a time and print a table; exit code 1 on any fault.

SOAK_SECONDS or SOAK_MINUTES is the time, SOAK_SEED the first seed, and SOAK_PROCESSES the number of
processes. With SOAK_COUNT, the suites of planted problems and of proofs end after as many, and
SOAK_DOORS chooses the doors of the former: `conic`, or names separated by semicolons.
"""

import os
import sys
import time
from collections.abc import Sequence

from soak.suites import SUITES, Suite
from soak.table import Row, Table

MINUTES = 50.0
EACH = 30.0  # seconds between two lines of progress without a terminal
USAGE = "python -m soak [SUITE ...], of the suites " + ", ".join(suite.name for suite in SUITES)


class Progress:
    """Show the progress: one rewritten line on a terminal, else a line now and then."""

    def __init__(self, seconds: float) -> None:
        self.began, self.seconds, self.last = time.monotonic(), seconds, 0.0
        self.terminal = sys.stderr.isatty()

    def show(self, table: Table, row: Row) -> None:
        now = time.monotonic()
        if now - self.last < (0.2 if self.terminal else EACH):
            return
        self.last, total = now, table.total
        spent = (now - self.began) / 60
        line = f"{spent:5.1f} of {self.seconds / 60:g} min: {total.tried} tried, "
        line += f"{total.judged} judged, {total.wrong} wrong; {row.suite}"
        print(f"\r{line:<78}" if self.terminal else line, end="" if self.terminal else "\n")
        sys.stdout.flush()


def soak(suites: Sequence[Suite], seconds: float, seed: int) -> Table:
    """Run each suite for its share of the time and return the table, also after Ctrl-C."""
    table, progress = Table(), Progress(seconds)
    whole = sum(suite.part for suite in suites)
    try:
        for suite in suites:
            for row in suite.run(seconds * suite.part / whole, seed):
                for fault in row.faults:
                    print(f"\nWRONG, {row.suite}: {fault}", flush=True)
                table.add(row)
                progress.show(table, row)
    except KeyboardInterrupt:
        print("\ninterrupted: what there is so far")
    return table


def _setting(name: str, default: float) -> str:
    return os.environ.get(name) or str(default)


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if name not in [suite.name for suite in SUITES]]
    if unknown:
        print(f"{USAGE}; got {', '.join(unknown)}", file=sys.stderr)
        return 2
    chosen = [suite for suite in SUITES if not names or suite.name in names]
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # set before a suite imports NumPy
    seconds = float(os.environ.get("SOAK_SECONDS") or 60 * float(_setting("SOAK_MINUTES", MINUTES)))
    table = soak(chosen, seconds, int(_setting("SOAK_SEED", 0)))
    print(f"\n\n{table}")
    if table.total.resume:
        print(f"SEED={table.total.resume} continues with other problems")
    for fault in table.total.faults:
        print(f"WRONG: {fault}")
    return 1 if table.total.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
