"""The work of one rank, and the seconds that it takes on a machine."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from condal_mpi.machine import Machine


@dataclass(frozen=True)
class Work:
    """The work of one rank.

    `bytes` go through its memory, `reads` are entries of sparse products with a vector, and
    `messages` hold the bytes `sent`. `block` and `single` are entries times columns of sparse
    products with a block of vectors, in double and in single precision. `fresh` are bytes of
    memory that is written for the first time, which the system maps and clears then. `calls` are
    operations of Python on arrays, however short these are.
    """

    flops: float = 0.0
    bytes: float = 0.0
    reads: float = 0.0
    messages: float = 0.0
    sent: float = 0.0
    block: float = 0.0
    single: float = 0.0
    fresh: float = 0.0
    calls: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __rmul__(self, c: float) -> Work:
        return Work(*(c * a for a in astuple(self)))

    def seconds(self, machine: Machine) -> float:
        """Return the seconds on that machine."""
        own = self.own_seconds(machine)
        waiting = machine.imbalance * own if self.messages else 0.0
        return own + waiting + self.message_seconds(machine)

    def own_seconds(self, machine: Machine) -> float:
        """Return the seconds of what the rank does by itself."""
        moved = self.bytes / machine.memory + self.reads * machine.gather
        blocks = [(self.block, machine.block), (self.single, machine.single)]
        products = sum(count * each for count, each in blocks if count)
        more = self.fresh * machine.fresh + self.calls * machine.call
        return max(self.flops / machine.flops, moved) + products + more

    def message_seconds(self, machine: Machine) -> float:
        """Return the seconds of its messages, without the wait for the work of others."""
        return self.messages * machine.latency + self.sent / machine.network
