"""A proved lower bound on a linear function over a set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A lower bound `value` on min over X of <v, x>, and `how` it was proved.

    `failure` is the probability that the bound is wrong: 0 for a deterministic proof.
    """

    value: float
    how: str
    failure: float = 0.0
