"""What of a tree is not the same on all ranks: the rows that each of them owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condal.distributed.sharded_array import ShardedArray
from condal.distributed.sketch import DistributedSketch
from condal.distributed.team import Team
from condal.io.checkpoint.known import name_of
from condal.io.checkpoint.tree import filled
from condal.linalg.points import Array

KNOWN: Mapping[str, type] = {name_of(DistributedSketch): DistributedSketch}
ROWS, TEAM = "rows", "team"


class Shares:
    """The rows of this rank, by the numbers that stand for them in a tree that all ranks share."""

    known = KNOWN

    def __init__(self, team: Team, arrays: Sequence[Array] = ()) -> None:
        self.team = team
        self.arrays = list(arrays)
        self._made = [ShardedArray(array, team) for array in self.arrays]
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id is that of one array for as long as it is alive

    def packed(self, value: Any) -> Any:
        """The number of rows, or the word for the ranks."""
        if isinstance(value, Team):
            return {TEAM: None}
        if not isinstance(value, ShardedArray):
            return None
        number = self._numbers.setdefault(id(value.local), len(self.arrays))
        if number == len(self.arrays):
            self._alive.append(value.local)
            self.arrays.append(filled(value.local))
        return {ROWS: number}

    def kinds(self) -> dict[str, Callable[[Any, int], Any]]:
        """The rows of a number, and these ranks."""
        return {ROWS: self._rows, TEAM: self._team}

    def _rows(self, number: Any, depth: int) -> ShardedArray:
        if type(number) is not int or not 0 <= number < len(self._made):
            raise ValueError("there are no such rows")
        return self._made[number]

    def _team(self, nothing: Any, depth: int) -> Team:
        if nothing is not None:
            raise ValueError("there are no such ranks")
        return self.team
