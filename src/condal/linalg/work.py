"""The work that this thread has done on symmetric operators, in sparse flops.

Decisions that an answer depends on compare work and not seconds, so a run repeats on any machine.
"""

from __future__ import annotations

import threading

PRODUCT_FLOPS = 4.0  # of an entry in a product: it waits for memory, where a factorisation does not
DENSE_SPEED = 8.0  # of a dense flop in LAPACK, against a sparse one

_thread = threading.local()


def work_done() -> float:
    """Return the work of this thread so far."""
    return float(getattr(_thread, "done", 0.0))


def add_work(flops: float) -> None:
    """Add sparse flops to the work of this thread."""
    _thread.done = work_done() + flops
