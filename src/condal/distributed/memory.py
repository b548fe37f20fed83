"""How much memory a solve takes on a rank, part by part."""

from __future__ import annotations

from condal.distributed.maxcut import DistributedMaxCut
from condal.distributed.oracle import BASIS
from condal.driver.memory import ENTRY_BYTES as ENTRY
from condal.driver.memory import IMAGE_VECTORS as IMAGES
from condal.driver.memory import PROOF_VECTORS as VECTORS
from condal.driver.memory import PYTHON_BYTES as PYTHON
from condal.driver.memory import Bytes, bytes_of, size
from condal.errors import ProblemError
from condal.storage.sketch import Sketch
from condal.storage.whole import FLOAT_BYTES as NUMBER

COPIES = 4  # of the rows of W, at most: those given, L while it is made, and PETSc's
ENGINE = 50 * 10**6  # bytes of MPI, PETSc and SLEPc, beside Python


def estimate(model: DistributedMaxCut, R: int) -> dict[str, int]:
    """At most how many bytes the largest rank takes at its worst moment, by parts."""
    team = model.team
    rows, edges = -(-model.n // team.size), int(team.largest(float(model.block.nnz)))
    halo = min(edges, model.n - rows) if team.size > 1 else 0
    return {**parts(rows, edges + rows, R), "halo": halo_bytes(halo)}


def halo_bytes(count: int, *, index: int = 4) -> int:
    """Of so many numbers of others, and where they are, here and there."""
    return 2 * (NUMBER + index) * count


def parts(rows: int, entries: int, R: int, *, basis: int = BASIS) -> dict[str, int]:
    """That of a rank of so many rows, and of entries of C in them."""
    return {
        "x": Sketch.bytes_for(rows, R),
        "data": COPIES * ENTRY * entries,
        "images and duals": IMAGES * NUMBER * rows,
        "oracle": (basis + VECTORS) * NUMBER * rows,
        "proof": VECTORS * NUMBER * rows,
        "Python": PYTHON + ENGINE,
    }


def require_memory(model: DistributedMaxCut, R: int, max_memory: Bytes) -> None:
    """Raise ProblemError on all ranks where one may take more than that."""
    total, limit = sum(estimate(model, R).values()), bytes_of(max_memory)
    if total > limit:
        raise ProblemError(
            f"this needs {size(total)} of memory on each of {model.team.size} ranks, and "
            f"max_memory is {size(limit)} a rank: start more ranks, give a smaller R, or raise it"
        )


def told(model: DistributedMaxCut, R: int) -> str:
    """That, in words, before a solve begins."""
    by, ranks = estimate(model, R), model.team.size
    total = sum(by.values())
    first = sorted(by, key=lambda name: -by[name])[:3]
    shown = ", ".join(f"{name} {size(by[name])}" for name in first)
    each = f"each of {ranks} ranks" if ranks > 1 else "one rank"
    return f"memory: at most {size(total)} on {each}; of it {shown}"
