"""What differs between ranks in a tree: the rows that each of them owns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condal.io.checkpoint.known import name_of
from condal.io.container.array_file import filled
from condal.linalg.points import Array
from condal_mpi.sharded_array import ShardedArray
from condal_mpi.sketch import DistributedSketch
from condal_mpi.team import Team

ROWS, TEAM = "rows", "team"


class Shares:
    """The rows of this rank, by the numbers that stand for them in a tree that all ranks share."""

    known: Mapping[str, type] = {name_of(DistributedSketch): DistributedSketch}

    def __init__(self, team: Team, arrays: Sequence[Array] = ()) -> None:
        self.team = team
        self.arrays = list(arrays)
        self._sharded = [ShardedArray(array, team) for array in self.arrays]
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # an id belongs to one array for as long as it is alive

    def packed(self, value: Any) -> Any:
        """Return the number of some rows, or the word for the ranks; None for anything else."""
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
        """Return what unpacks rows and ranks."""
        return {ROWS: self._rows, TEAM: self._team}

    def _rows(self, number: Any, depth: int) -> ShardedArray:
        if type(number) is not int or not 0 <= number < len(self._sharded):
            raise ValueError("there are no such rows")
        return self._sharded[number]

    def _team(self, nothing: Any, depth: int) -> Team:
        if nothing is not None:
            raise ValueError("there are no such ranks")
        return self.team
