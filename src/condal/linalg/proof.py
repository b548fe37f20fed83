"""A proved lower bound on a linear function over a set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """`value` is a lower bound on min over X of <v, x>; `how` says why, and `failure` is the
    probability that it is wrong: 0 for a deterministic proof."""

    value: float
    how: str
    failure: float = 0.0
