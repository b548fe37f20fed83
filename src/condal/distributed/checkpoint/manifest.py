"""The manifest of a checkpoint on many ranks: what its parts hold, and which rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from condal.distributed.checkpoint.kind import Kind
from condal.distributed.checkpoint.part import opened_part
from condal.io.checkpoint.header import DIGEST
from condal.io.checkpoint.leaves import SAFE
from condal.linalg.points import Array

FORMAT = 1
KEYS = ("format", "generation", "digests", "kinds", "ends")
GENERATION = re.compile(r"[0-9a-f]{16}")
PART = re.compile(r"([0-9a-f]{16})\.\d+\.rows")
_HEX = re.compile(f"[0-9a-f]{{{2 * DIGEST}}}")


@dataclass(frozen=True)
class Parts:
    """The parts of a generation, one for each rank that wrote it.

    `digests` are those of their heads. The part r has the rows ends[k][r] ... ends[k][r + 1] - 1 of
    the array k, which is of kinds[k].
    """

    generation: str
    digests: tuple[str, ...]
    kinds: tuple[Kind, ...]
    ends: tuple[tuple[int, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """As it is written."""
        kinds, ends = [kind.as_json() for kind in self.kinds], [list(one) for one in self.ends]
        held = (FORMAT, self.generation, list(self.digests), kinds, ends)
        return dict(zip(KEYS, held, strict=True))

    @classmethod
    def read(cls, part: Any) -> Parts:
        """Those of an object as `as_json` makes it; ValueError for another."""
        if not isinstance(part, dict) or tuple(part) != KEYS or part["format"] != FORMAT:
            raise ValueError("it does not say which parts it has, or in another format")
        generation, digests, kinds, ends = (part[key] for key in KEYS[1:])
        if not isinstance(generation, str) or not GENERATION.fullmatch(generation):
            raise ValueError("it has no generation")
        listed = all(isinstance(one, list) for one in (digests, kinds, ends))
        if not listed or len(kinds) != len(ends) or not digests:
            raise ValueError("it has no parts")
        if not all(isinstance(one, str) and _HEX.fullmatch(one) for one in digests):
            raise ValueError("a part has no SHA-256")
        if not all(_rises(one, len(digests)) for one in ends):
            raise ValueError("the rows of a part are none")
        return cls(
            generation, tuple(digests), tuple(map(Kind.read, kinds)), tuple(map(tuple, ends))
        )

    def name(self, rank: int) -> str:
        """That of the file of a rank."""
        return f"{self.generation}.{rank}.rows"

    def joined(self, folder: Path, wanted: Sequence[tuple[int, int]]) -> list[Array]:
        """The rows wanted[k] of each array k, of the files in the folder: nothing is allocated
        before all of them are seen to be there."""
        needed = [
            (rank, [one[rank + 1] - one[rank] for one in self.ends])
            for rank in range(len(self.digests))
            if any(
                one[rank] < end and begin < one[rank + 1]
                for one, (begin, end) in zip(self.ends, wanted, strict=True)
            )
        ]
        for rank, rows in needed:
            with opened_part(folder / self.name(rank), self.digests[rank], self.kinds, rows):
                pass
        pairs = zip(self.kinds, wanted, strict=True)
        found = [kind.empty(end - begin) for kind, (begin, end) in pairs]
        for rank, rows in needed:
            place = folder / self.name(rank)
            with opened_part(place, self.digests[rank], self.kinds, rows) as part:
                for k, (begin, end) in enumerate(wanted):
                    first = self.ends[k][rank]
                    for row, piece in part.rows(k, begin - first, end - first):
                        at = first + row - begin
                        found[k][at : at + len(piece)] = piece
        for array, kind in zip(found, self.kinds, strict=True):
            array.flags.writeable = kind.writeable
        return found


def _rises(ends: Any, parts: int) -> bool:
    whole = isinstance(ends, list) and all(type(n) is int and 0 <= n < SAFE for n in ends)
    return (
        whole and len(ends) == parts + 1 and ends[0] == 0 and all(a <= b for a, b in pairwise(ends))
    )


def without_parts(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says of the solve alone, as a checkpoint of one file does."""
    return {key: value for key, value in about.items() if key != "parts"}
