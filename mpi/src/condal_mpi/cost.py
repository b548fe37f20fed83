"""The cost of CGAL with a sketch, and of the low-rank method, per rank.

With n rows and some stored entries, each of P ranks has r = n/P rows and e = entries/P entries. A
product with the gradient needs h numbers of other ranks, the *halo*. In a random graph these are
nearly all that its entries refer to,

    h = (n - r) (1 - exp(-(e - r)/n)),

and in a graph with locality they are few. Ranks of one machine read them in place, others send
them. Everything else is passes over a rank's own rows, and sums over the ranks. With the figures of
a `Machine`, the work takes

    w = max(flops / F, bytes / B + reads G) + block b + single s + fresh f + calls c  seconds,

and where it has messages, (1 + z) w + messages a + sent / N. All functions are pure: a `Size` and
counts of steps give `Work`, and that and a `Machine` seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, exp, log2

from condal.errors import ProblemError
from condal.storage.whole import FLOAT_BYTES as NUMBER
from condal_mpi.machine import Machine
from condal_mpi.memory import DATA_COPIES, bytes_by_part, halo_bytes, low_rank_bytes
from condal_mpi.oracle import BASIS_SIZE
from condal_mpi.team import Team
from condal_mpi.work import Work

GRAM_SCHMIDT_PASSES = 2  # per vector
KEPT_FRACTION = 0.5  # of the basis, at a restart of Krylov-Schur
OUTER_PRODUCTS = 3  # outside SLEPc: of V and the start, and of V and C and the atom
SUMS_PER_VECTOR = 2  # over the ranks, to orthogonalise it
SUMS_AND_BROADCASTS = 15  # in the rest of an iteration
# Numbers that are read or written; the cache reads what is written before.
ROW_TRAFFIC = 80  # per row, in the rest of an iteration
SHELL_TRAFFIC = 12  # per row, by c C v + Diag(d) v without C v
SKETCH_TRAFFIC = 8  # per entry of the sketch, which is scaled and added to
STEP_TRAFFIC = 28  # per row, by a step of the Lanczos recurrence without C v
SWEEP_TRAFFIC = 13  # per number of R, by a sweep without its products
EVALUATION_TRAFFIC = 14  # per number of R, by its gradient and their lengths
EVALUATION_COPIES = 2  # new arrays of the size of R
KEPT_COPIES = 4  # new vectors per vector of a basis at most: its memory doubles when it is full
KEPT_TRAFFIC = 6  # per row, by a vector that is stored and moved when the basis grows
# Operations of Python on arrays.
PRODUCT_CALLS, STEP_CALLS, EVALUATION_CALLS = 15, 20, 140
BLOCK_CALLS, BLOCK_ROWS = 8, 1000  # of a block of rows of a sweep
SINGLE = NUMBER // 2  # bytes of a number in single precision
COLOURS = 6  # of a sparse graph: a sweep exchanges the rows of each in turn


@dataclass(frozen=True)
class Size:
    """n rows, the entries of C with its diagonal, R columns of a sketch, and P ranks.

    `halo` is how many numbers of other ranks a rank needs per row of its own, and `neighbours` how
    many ranks have them; the defaults are those of a random graph. `index` is the bytes of PETSc's
    integers: 4, or 8 from 2^31 / 25 rows on, because it numbers the entries of a whole basis. All
    ranks are on one machine, and share its memory, if `shared`.
    """

    n: int
    entries: int
    R: int = 10
    ranks: int = 1
    basis: int = BASIS_SIZE
    halo: float | None = None
    neighbours: int | None = None
    index: int = 4
    shared: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.ranks <= self.n:
            raise ProblemError(
                f"{self.n} rows cannot be shared by {self.ranks} ranks; give from 1 to {self.n}"
            )

    @property
    def rows(self) -> float:
        """r, the rows of a rank."""
        return self.n / self.ranks

    @property
    def stored(self) -> float:
        """e, the entries of a rank."""
        return self.entries / self.ranks

    @property
    def fetched(self) -> float:
        """h, the numbers of other ranks that a product needs on a rank."""
        if self.ranks == 1:
            return 0.0
        if self.halo is not None:
            return self.halo * self.rows
        return (self.n - self.rows) * (1 - exp(-(self.stored - self.rows) / self.n))

    @property
    def partners(self) -> int:
        """The number of ranks that have them."""
        most = self.ranks - 1 if self.neighbours is None else self.neighbours
        return min(most, self.ranks - 1, ceil(self.fetched))

    @property
    def received(self) -> float:
        """The numbers of other ranks that come by messages."""
        return 0.0 if self.shared else self.fetched

    @property
    def exchanges(self) -> int:
        """The messages of a rank by which these come; without any, a barrier takes their place."""
        return self.rounds if self.shared else self.partners

    @property
    def rounds(self) -> int:
        """The messages of a rank in a sum over all ranks, or in a broadcast."""
        return ceil(log2(self.ranks))


def measured_machine(team: Team, size: Size) -> Machine:
    """Measure these ranks by products of the rows that a rank has in a problem of this size."""
    return Machine.measured(
        team,
        rows=ceil(size.rows),
        degree=size.stored / size.rows - 1,
        halo=ceil(size.fetched),
        local=size.halo is not None,
    )


def iteration(size: Size, products: float) -> dict[str, Work]:
    """Return the work per part of an iteration with `products` products inside SLEPc."""
    product, r = _product(size), size.rows
    broadcast = Work(messages=size.rounds)  # of the decision to continue, by the first rank's clock
    shell = Work(3 * r, SHELL_TRAFFIC * NUMBER * r) + broadcast
    return {
        "products": (products + OUTER_PRODUCTS) * product + (products + 2) * shell,
        "orthogonalisation": _orthogonalisation(size, products),
        "vectors": Work(ROW_TRAFFIC * r / 2, ROW_TRAFFIC * NUMBER * r),
        "sketch": Work(5 * size.R * r, SKETCH_TRAFFIC * NUMBER * size.R * r),
        "sums": SUMS_AND_BROADCASTS * Work(messages=size.rounds, sent=NUMBER * (size.ranks - 1)),
    }


def whole(size: Size, products: float) -> Work:
    """Return the work of all bytes_by_part of that iteration."""
    return sum(iteration(size, products).values(), start=Work())


def seconds(size: Size, products: float, machine: Machine) -> dict[str, float]:
    """Return the seconds per part of that iteration."""
    return {name: work.seconds(machine) for name, work in iteration(size, products).items()}


def low_rank(
    size: Size,
    *,
    columns: float,
    sweeps: float = 0,
    evaluations: float = 0,
    steps: float = 0,
    kept: float = 0,
    single: bool = True,
) -> dict[str, Work]:
    """Return the work per part of the low-rank method, with a factor R of some columns.

    A sweep moves all rows of R, in single or double precision; an evaluation is a product C R with
    the passes over R that follow; and a step is one of Lanczos, for the oracle or a proof. The
    vectors of the oracle's steps are `kept`. Other parts of a solve are passes over R that are
    fewer than these.
    """
    return {
        "sweeps": sweeps * _sweep(size, columns, single),
        "evaluations": evaluations * _evaluation(size, columns),
        "steps": steps * _step(size) + kept * _kept(size),
    }


def low_rank_seconds(works: Mapping[str, Work], machine: Machine) -> dict[str, float]:
    """Return the seconds per part of that work."""
    return {name: work.seconds(machine) for name, work in works.items()}


def low_rank_memory(size: Size, columns: float) -> dict[str, int]:
    """Return an upper bound of the bytes per part of a rank that has a factor of some columns."""
    rows, stored, halo = ceil(size.rows), ceil(size.stored), ceil(size.fetched)
    by_part = low_rank_bytes(rows, stored, ceil(columns), halo)
    longer = size.index - 4
    data, more = DATA_COPIES * longer * stored, halo_bytes(halo, index=size.index)
    shorter = halo_bytes(halo)
    return {
        **by_part,
        "data": by_part["data"] + data,
        "halo": by_part["halo"] + more - shorter,
    }


def memory(size: Size) -> dict[str, int]:
    """Return an upper bound of the bytes per part of a rank.

    It is that of `estimate`, plus what the halo and longer integers need.
    """
    rows, stored = ceil(size.rows), ceil(size.stored)
    longer = DATA_COPIES * (size.index - 4) * stored
    halo = halo_bytes(ceil(size.fetched), index=size.index)
    by_part = bytes_by_part(rows, stored, size.R, basis=size.basis)
    return {**by_part, "data": by_part["data"] + longer, "halo": halo}


def _product(size: Size) -> Work:
    """C v: the entries and their places, v at their places, and the result.

    v is copied to where the halo is received, or others read it.
    """
    r, e, h = size.rows, size.stored, size.received
    rows = (size.index + 3 * NUMBER) * r + (2 * NUMBER * r if size.ranks > 1 else 0)
    scattered = e - r + h  # with those packed for other ranks
    moved = (NUMBER + size.index) * e + rows + 4 * NUMBER * h
    return Work(2 * e, moved, scattered, size.exchanges, NUMBER * h, calls=PRODUCT_CALLS)


def _sweep(size: Size, columns: float, single: bool) -> Work:
    """Products of the entries off the diagonal with R, and the moves of its rows."""
    r, h, number = size.rows, size.received, SINGLE if single else NUMBER
    products = (size.stored - r) * columns
    return Work(
        bytes=number * columns * (SWEEP_TRAFFIC * r + 3 * h),
        messages=COLOURS * size.exchanges,
        sent=number * columns * h,
        block=0.0 if single else products,
        single=products if single else 0.0,
        calls=BLOCK_CALLS * (COLOURS + r / BLOCK_ROWS),
    )


def _evaluation(size: Size, columns: float) -> Work:
    """C R, the gradient, and the sums of its squares. The gradient and its terms are new arrays."""
    r, h = size.rows, size.received
    return Work(
        bytes=NUMBER * columns * (EVALUATION_TRAFFIC * r + 3 * h),
        messages=size.exchanges + SUMS_AND_BROADCASTS * size.rounds,
        sent=NUMBER * columns * h,
        block=size.stored * columns,
        fresh=EVALUATION_COPIES * NUMBER * columns * r,
        calls=EVALUATION_CALLS,
    )


def _step(size: Size) -> Work:
    """C v, the diagonal part, and the vectors of the recurrence; two sums over the ranks."""
    vectors = Work(
        bytes=STEP_TRAFFIC * NUMBER * size.rows, messages=2 * size.rounds, calls=STEP_CALLS
    )
    return _product(size) + vectors


def _kept(size: Size) -> Work:
    """A vector that is added to a basis."""
    numbers = NUMBER * size.rows
    return Work(bytes=KEPT_TRAFFIC * numbers, fresh=KEPT_COPIES * numbers)


def _orthogonalisation(size: Size, products: float) -> Work:
    """Orthogonalise each new vector against the j before it, GRAM_SCHMIDT_PASSES times.

    j rises to `basis`, falls to KEPT_FRACTION of it at a restart, which combines them, and rises
    again.
    """
    r, m = size.rows, min(size.basis, products)
    cycle = max((1 - KEPT_FRACTION) * size.basis, 1.0)
    restarts = max(products - size.basis, 0.0) / cycle
    columns = m * (m + 1) / 2 + restarts * cycle * (1 + KEPT_FRACTION) * size.basis / 2
    each = Work(4 * r, 2 * NUMBER * r)
    vectors = Work(2 * r, 6 * NUMBER * r, messages=size.rounds * SUMS_PER_VECTOR)
    kept = KEPT_FRACTION * size.basis
    restart = Work(2 * size.basis * kept * r, NUMBER * (size.basis + 2 * kept) * r)
    return GRAM_SCHMIDT_PASSES * columns * each + products * vectors + restarts * restart
