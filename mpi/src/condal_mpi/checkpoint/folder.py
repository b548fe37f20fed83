"""The folder of a checkpoint that many ranks write: it holds the old one or the new one, whole.

    FOLDER/manifest            the newest: a checkpoint of what is the same on all ranks; it names
                               the parts and their digests
    FOLDER/manifest.previous   the one before
    FOLDER/GENERATION.r.rows   the rows of rank r

Each rank writes its part under a new name. When all parts are on disk, the first rank replaces the
manifest in one step; then the parts that neither manifest names are removed.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from condal.errors import CondalError, FormatError
from condal.io.checkpoint import CHECKPOINT
from condal.io.checkpoint.codec import pack, unpack
from condal.io.checkpoint.file import Contents, newest, put
from condal.io.checkpoint.known import name_of
from condal.io.container.array_file import filled, read_file, read_head
from condal.io.container.atomic import previous, remove, resolve_target, write_errors
from condal.io.safe_files import opened
from condal.linalg.points import Array
from condal_mpi.checkpoint.manifest import PART_NAME, Parts, ShardSpec, without_parts, write_part
from condal_mpi.pieces import DistributedSketch
from condal_mpi.sharded_array import ShardedArray
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


MANIFEST = "manifest"


def write(team: Team, path: str, about: dict[str, Any], value: Any) -> None:
    """Write a checkpoint to the folder of the manifest `path`; the first rank holds the lock.

    If one rank cannot write, all raise its error, and what was there is unchanged.
    """
    shares, folder = Shares(team), Path(path).parent
    with team.together():
        skeleton, arrays = pack(value, shares)
    generation = team.agreed(secrets.token_hex(8))
    own = folder / f"{generation}.{team.rank}.rows"
    try:
        with team.together(), write_errors(path):
            digest = write_part(own, shares.arrays)
        with team.together():
            if team.rank == 0:
                _require_visible(folder, generation, team.size, path)
    except CondalError:
        remove(own)
        raise
    written = team.gathered((digest, [len(array) for array in shares.arrays]))
    # From here on the manifest may name the parts, whatever happens: they stay.
    with team.together():
        if team.rank == 0:
            counts = list(zip(*(rows for _, rows in written), strict=True))
            parts = Parts(
                generation,
                tuple(part_digest for part_digest, _ in written),
                tuple(map(ShardSpec.of, shares.arrays)),
                tuple(tuple(sum(rows[:r]) for r in range(team.size + 1)) for rows in counts),
            )
            try:
                put(path, {**about, "parts": parts.as_json()}, skeleton, arrays)
            finally:
                forget(Path(path))


def _require_visible(folder: Path, generation: str, ranks: int, path: str) -> None:
    """Raise FormatError unless the first rank sees the parts of all ranks."""
    for rank in range(ranks):
        if not (folder / f"{generation}.{rank}.rows").is_file():
            raise FormatError(
                f"rank 0 does not see what rank {rank} has written beside it: give a folder on a "
                "disk that all ranks share",
                path=path,
            )


def forget(manifest: Path) -> None:
    """Remove the parts that no manifest names; none, if a manifest cannot be read."""
    named = set()
    with suppress(OSError, CondalError, ValueError):
        for place in (manifest, previous(manifest)):
            if os.path.lexists(place):
                with opened(place) as file:
                    about = read_head(CHECKPOINT, file, str(place)).about
                    named.add(Parts.read(about.get("parts")).generation)
        for other in manifest.parent.iterdir():
            if (part := PART_NAME.fullmatch(other.name)) and part[1] not in named:
                remove(other)


def read(
    team: Team, path: str, rows_of: Callable[[int], tuple[int, int]] | None = None
) -> Contents:
    """Read the checkpoint in the folder of the manifest `path` on any number of ranks; each gets
    its own rows, which `rows_of` returns for the number of all rows; by default `team.range`.

    Where the newest one is absent or damaged for any rank, all read the one before, with a note.
    """
    target = Path(path)

    def read_at(place: Path, name: str) -> tuple[dict[str, Any], Any]:
        with team.together():
            manifest = _manifest(place, name) if team.rank == 0 else None
        about, skeleton, arrays, parts = team.agreed(manifest)  # type: ignore[misc]  # of the first
        wanted = [(rows_of or team.range)(ends[-1]) for ends in parts.ends]
        with team.together():
            shares = Shares(team, parts.joined(target.parent, wanted))
            return without_parts(about), unpack(skeleton, arrays, name, shares)

    def exists(place: Path) -> bool:
        return team.agreed(os.path.lexists(place))

    (about, value), generation, note = newest(target, path, read_at, exists)
    return Contents(about, value, generation, note)


def _manifest(place: Path, name: str) -> tuple[dict[str, Any], Any, list[Array], Parts]:
    """Return the about, skeleton, arrays and parts of a manifest."""
    with opened(resolve_target(place)) as file:
        head, arrays = read_file(CHECKPOINT, file, name)
    try:
        return head.about, head.skeleton, arrays, Parts.read(head.about.get("parts"))
    except ValueError as error:
        CHECKPOINT.refuse(str(error), name)
