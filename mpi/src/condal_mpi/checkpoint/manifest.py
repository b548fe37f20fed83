"""The parts of a checkpoint on many ranks, as the manifest names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from condal.io.container.array_file import DIGEST_BYTES, MAX_EXACT_INT
from condal.linalg.points import Array
from condal_mpi.checkpoint.part import opened_part
from condal_mpi.checkpoint.shard_spec import ShardSpec

KEYS = ("generation", "digests", "specs", "ends")
GENERATION = re.compile(r"[0-9a-f]{16}")
PART_NAME = re.compile(r"([0-9a-f]{16})\.\d+\.rows")
_SHA256 = re.compile(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


@dataclass(frozen=True)
class Parts:
    """The parts of a generation, one per rank that wrote it.

    `digests` are those of their heads. Part r holds the rows ends[k][r] ... ends[k][r + 1] - 1 of
    array k, which is of specs[k].
    """

    generation: str
    digests: tuple[str, ...]
    specs: tuple[ShardSpec, ...]
    ends: tuple[tuple[int, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the parts as they are written."""
        specs, ends = [spec.as_json() for spec in self.specs], [list(rows) for rows in self.ends]
        values = (self.generation, list(self.digests), specs, ends)
        return dict(zip(KEYS, values, strict=True))

    @classmethod
    def read(cls, values: Any) -> Parts:
        """Read an object that `as_json` made; ValueError for another value."""
        if not isinstance(values, dict) or tuple(values) != KEYS:
            raise ValueError("it does not say which parts it has")
        generation, digests, specs, ends = (values[key] for key in KEYS)
        if not isinstance(generation, str) or not GENERATION.fullmatch(generation):
            raise ValueError("it has no generation")
        listed = all(isinstance(value, list) for value in (digests, specs, ends))
        if not listed or len(specs) != len(ends) or not digests:
            raise ValueError("it has no parts")
        if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in digests):
            raise ValueError("a part has no SHA-256")
        if not all(_rises(rows, len(digests)) for rows in ends):
            raise ValueError("a part has invalid rows")
        return cls(
            generation, tuple(digests), tuple(map(ShardSpec.read, specs)), tuple(map(tuple, ends))
        )

    def name(self, rank: int) -> str:
        """Return the name of the file of a rank."""
        return f"{self.generation}.{rank}.rows"

    def joined(self, folder: Path, wanted: Sequence[tuple[int, int]]) -> list[Array]:
        """Read the rows wanted[k] of each array k from the files in the folder; nothing is
        allocated before all the files are seen to be there."""
        needed = [
            (rank, [rows[rank + 1] - rows[rank] for rows in self.ends])
            for rank in range(len(self.digests))
            if any(
                rows[rank] < end and begin < rows[rank + 1]
                for rows, (begin, end) in zip(self.ends, wanted, strict=True)
            )
        ]
        for rank, counts in needed:
            with opened_part(folder / self.name(rank), self.digests[rank], self.specs, counts):
                pass
        pairs = zip(self.specs, wanted, strict=True)
        arrays = [spec.empty(end - begin) for spec, (begin, end) in pairs]
        for rank, counts in needed:
            path = folder / self.name(rank)
            with opened_part(path, self.digests[rank], self.specs, counts) as part:
                for k, (begin, end) in enumerate(wanted):
                    first = self.ends[k][rank]
                    for row, piece in part.rows(k, begin - first, end - first):
                        at = first + row - begin
                        arrays[k][at : at + len(piece)] = piece
        for array, spec in zip(arrays, self.specs, strict=True):
            array.flags.writeable = spec.writeable
        return arrays


def _rises(ends: Any, parts: int) -> bool:
    whole = isinstance(ends, list) and all(type(n) is int and 0 <= n < MAX_EXACT_INT for n in ends)
    return (
        whole and len(ends) == parts + 1 and ends[0] == 0 and all(a <= b for a, b in pairwise(ends))
    )


def without_parts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of the solve alone, as a checkpoint of one process does."""
    return {key: value for key, value in about.items() if key != "parts"}
