"""What an iteration of CGAL takes of each rank: flops, bytes of memory, messages, bytes sent.

Of n rows with so many stored entries, P ranks have r = n/P rows and e = entries/P each. A product
with the gradient needs h numbers of other ranks, the *halo*: of a random graph nearly all that its
entries name,

    h = (n - r) (1 - exp(-(e - r)/n)),

of a graph with locality few. Everything else is passes over a rank's own rows, and sums over the
ranks. Work takes, with the figures of a `Machine`,

    max(flops / F, bytes / B + reads G) + messages a + sent / N  seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, log2

from condal.distributed.machine import Machine
from condal.distributed.memory import COPIES, halo_bytes, parts
from condal.distributed.oracle import BASIS
from condal.errors import ProblemError
from condal.storage.whole import FLOAT_BYTES as NUMBER

PASSES = 2  # of Gram and Schmidt, to orthogonalise a vector
KEPT = 0.5  # of the basis, at a restart of Krylov-Schur
OUTSIDE = 3  # products beside SLEPc's: with the start, and with the atom by V and by C
SUMS = 2  # over the ranks, for a vector that is orthogonalised
WORDS = 15  # sums and words of the first, in the rest of an iteration
VECTORS = 80  # numbers of each row that are read or written there
# The numbers that a pass over vectors moves: what is written is read before, by the cache.
SHELL = 12  # c C v + Diag(d) v, beside C v
MOVED = 8  # of a sketch, for each of its entries: scaled, added to, and the term itself


@dataclass(frozen=True)
class Work:
    """Of one rank: flops, bytes that go through its memory, numbers that it reads from anywhere in
    a vector, messages and the bytes in them."""

    flops: float = 0.0
    bytes: float = 0.0
    reads: float = 0.0
    messages: float = 0.0
    sent: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(self._all, other._all, strict=True)))

    def __rmul__(self, c: float) -> Work:
        return Work(*(c * a for a in self._all))

    @property
    def _all(self) -> tuple[float, ...]:
        return self.flops, self.bytes, self.reads, self.messages, self.sent

    def seconds(self, machine: Machine) -> float:
        """On that machine."""
        moved = self.bytes / machine.memory + self.reads * machine.gather
        return max(self.flops / machine.flops, moved) + self.told(machine)

    def told(self, machine: Machine) -> float:
        """The seconds of its messages alone."""
        return self.messages * machine.latency + self.sent / machine.network


@dataclass(frozen=True)
class Size:
    """n rows, the entries of C, diagonal and all, R columns of a sketch, and P ranks.

    `halo` is how many numbers of others a rank needs for each row of its own, and `neighbours` the
    ranks that have them; those of a random graph, unless they are given. `index` is the bytes of
    PETSc's integers: 4, or 8 from 2^31 / 25 rows on, as it numbers the entries of a whole basis.
    """

    n: int
    entries: int
    R: int = 10
    ranks: int = 1
    basis: int = BASIS
    halo: float | None = None
    neighbours: int | None = None
    index: int = 4

    def __post_init__(self) -> None:
        if not 1 <= self.ranks <= self.n:
            raise ProblemError(
                f"{self.n} rows cannot be shared by {self.ranks} ranks; give from 1 to {self.n}"
            )

    @property
    def rows(self) -> float:
        """r, of a rank."""
        return self.n / self.ranks

    @property
    def stored(self) -> float:
        """e, the entries of a rank."""
        return self.entries / self.ranks

    @property
    def fetched(self) -> float:
        """h, the numbers that a product of a rank takes of others."""
        if self.ranks == 1:
            return 0.0
        if self.halo is not None:
            return self.halo * self.rows
        return (self.n - self.rows) * (1 - exp(-(self.stored - self.rows) / self.n))

    @property
    def partners(self) -> int:
        """How many ranks have them."""
        most = self.ranks - 1 if self.neighbours is None else self.neighbours
        return min(most, self.ranks - 1, ceil(self.fetched))

    @property
    def rounds(self) -> int:
        """The messages of a rank in a sum, or a word of the first, over all."""
        return ceil(log2(self.ranks))


def iteration(size: Size, products: float) -> dict[str, Work]:
    """By parts, for an iteration of so many products inside SLEPc."""
    once, r = _product(size), size.rows
    agreed = Work(messages=size.rounds)  # whether to go on: the first rank's clock tells
    shell = Work(3 * r, SHELL * NUMBER * r) + agreed
    return {
        "products": (products + OUTSIDE) * once + (products + 2) * shell,
        "orthogonalisation": _orthogonalised(size, products),
        "vectors": Work(VECTORS * r / 2, VECTORS * NUMBER * r),
        "sketch": Work(5 * size.R * r, MOVED * NUMBER * size.R * r),
        "sums": WORDS * Work(messages=size.rounds, sent=NUMBER * (size.ranks - 1)),
    }


def whole(size: Size, products: float) -> Work:
    """All parts of that iteration."""
    return sum(iteration(size, products).values(), start=Work())


def seconds(size: Size, products: float, machine: Machine) -> dict[str, float]:
    """By parts, the time of that iteration."""
    return {name: work.seconds(machine) for name, work in iteration(size, products).items()}


def memory(size: Size) -> dict[str, int]:
    """By parts, at most how many bytes a rank holds: what `estimate` says of a model, and what
    others' numbers and longer integers take."""
    rows, stored = ceil(size.rows), ceil(size.stored)
    longer = COPIES * (size.index - 4) * stored
    halo = halo_bytes(ceil(size.fetched), index=size.index)
    known = parts(rows, stored, size.R, basis=size.basis)
    return {**known, "data": known["data"] + longer, "halo": halo}


def _product(size: Size) -> Work:
    """C v: each entry and where it stands, v in order or from anywhere, and what is written; v is
    copied to where the numbers of others are put."""
    r, e, h = size.rows, size.stored, size.fetched
    rows = (size.index + 3 * NUMBER) * r + (2 * NUMBER * r if size.ranks > 1 else 0)
    scattered = e - r + h if size.halo is None else 0.0  # also to pack what others need
    return Work(
        2 * e,
        (NUMBER + size.index) * e + rows + 4 * NUMBER * h,
        scattered,
        size.partners,
        NUMBER * h,
    )


def _orthogonalised(size: Size, products: float) -> Work:
    """Each new vector against the j before, PASSES times: j rises to `basis`, falls to KEPT of it
    at a restart, which combines them, and rises again."""
    r, m = size.rows, min(size.basis, products)
    cycle = max((1 - KEPT) * size.basis, 1.0)
    restarts = max(products - size.basis, 0.0) / cycle
    columns = m * (m + 1) / 2 + restarts * cycle * (1 + KEPT) * size.basis / 2
    each = Work(4 * r, 2 * NUMBER * r)
    vectors = Work(2 * r, 6 * NUMBER * r, messages=size.rounds * SUMS)
    kept = KEPT * size.basis
    restart = Work(2 * size.basis * kept * r, NUMBER * (size.basis + 2 * kept) * r)
    return PASSES * columns * each + products * vectors + restarts * restart
