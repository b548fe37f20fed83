"""The folder of a checkpoint that many ranks write: it is the old one or the new one, whole.

    FOLDER/manifest            the newest: a checkpoint of one file, of all that is the same on all
                               ranks, which names its parts and their digests
    FOLDER/manifest.previous   the one before
    FOLDER/GENERATION.r.rows   the rows of rank r

Each rank writes its part under a new name. When all are on the disk, the first rank puts the
manifest in its place in one step, as that of one process is put; then the parts that neither of
the two manifests names are removed.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from condal.distributed.checkpoint.kind import Kind
from condal.distributed.checkpoint.manifest import PART, Parts, without_parts
from condal.distributed.checkpoint.part import write_part
from condal.distributed.checkpoint.shares import Shares
from condal.distributed.team import Team
from condal.errors import CondalError, FormatError
from condal.io.checkpoint.file import Contents, contents_of, neither, older_note, put
from condal.io.checkpoint.header import head_of, header_of, refuse
from condal.io.checkpoint.place import previous, remove, resolved, unwritable
from condal.io.checkpoint.table import table_of
from condal.io.checkpoint.tree import pack, unpack
from condal.io.safe_files import opened

MANIFEST = "manifest"
_UNKNOWN: tuple[str | None, Any] = (None, None)  # what other ranks than the first know of it


def write(team: Team, path: str, about: dict[str, Any], value: Any) -> None:
    """Put a checkpoint in the folder of the manifest `path`: one team at a time.

    If one rank cannot write, all raise its error, and what was there is untouched.
    """
    shares, folder = Shares(team), Path(path).parent
    with team.together():
        skeleton, arrays = pack(value, shares)
    generation = team.agreed(secrets.token_hex(8))
    own = folder / f"{generation}.{team.rank}.rows"
    try:
        with team.together():
            digest = _written(own, shares, path)
        with team.together():
            if team.rank == 0:
                _require_seen(folder, generation, team.size, path)
    except CondalError:
        remove(own)
        raise
    said = team.gathered((digest, [len(array) for array in shares.arrays]))
    # From here on the manifest may name the parts, whatever happens: they stay.
    with team.together():
        if team.rank == 0:
            counts = list(zip(*(rows for _, rows in said), strict=True))
            parts = Parts(
                generation,
                tuple(one for one, _ in said),
                tuple(map(Kind.of, shares.arrays)),
                tuple(tuple(sum(one[:r]) for r in range(team.size + 1)) for one in counts),
            )
            whole = {**about, "parts": parts.as_json()}
            try:
                put(path, head_of(whole, skeleton, table_of(arrays)), arrays)
            finally:
                forget(Path(path))


def _require_seen(folder: Path, generation: str, ranks: int, path: str) -> None:
    """Raise FormatError unless the parts of all ranks are where this one writes the manifest."""
    for rank in range(ranks):
        if not (folder / f"{generation}.{rank}.rows").is_file():
            raise FormatError(
                f"rank 0 does not see what rank {rank} has written beside it: give a folder on a "
                "disk that all ranks share",
                path=path,
            )


def _written(own: Path, shares: Shares, path: str) -> str:
    try:
        return write_part(own, shares.arrays)
    except (OSError, ValueError) as error:
        raise unwritable(error, path) from error


def forget(manifest: Path) -> None:
    """Remove the parts that no manifest names; none, if one cannot be read."""
    kept = set()
    with suppress(OSError, CondalError, ValueError):
        for place in (manifest, previous(manifest)):
            if os.path.lexists(place):
                with opened(place) as file:
                    kept.add(Parts.read(header_of(file, str(place)).about.get("parts")).generation)
        for other in manifest.parent.iterdir():
            if (part := PART.fullmatch(other.name)) and part[1] not in kept:
                remove(other)


def read(team: Team, path: str) -> Contents:
    """The checkpoint in the folder of the manifest `path`, on as many ranks as there are: each has
    its own rows. The one before, and a note, where one is absent or damaged for any of them."""
    target, faults = Path(path), []
    for generation, place in enumerate((target, previous(target))):
        with team.together():
            mine = _manifest(place) if team.rank == 0 else _UNKNOWN
        fault, found = team.agreed(mine)
        if fault is None:
            about, skeleton, arrays, parts = found
            wanted = [team.range(ends[-1]) for ends in parts.ends]
            with team.together():
                fault, own = _rows(parts, target.parent, wanted)
            fault = next((one for one in team.gathered(fault) if one is not None), None)
        if fault is not None:
            faults.append(FormatError(fault))
            continue
        value = unpack(skeleton, arrays, str(place), Shares(team, own))
        there = team.agreed(os.path.lexists(target))
        note = older_note(path, there) if generation else ""
        return Contents(without_parts(about), value, generation, note)
    if team.agreed(os.path.lexists(previous(target))):
        raise neither(*faults)
    raise faults[0]


def _manifest(place: Path) -> tuple[str | None, Any]:
    """What is wrong with a manifest; else what it is about, its tree and arrays, and its parts."""
    shown = str(place)
    try:
        if not os.path.lexists(place):
            raise FormatError("there is no such file; check the path", path=shown)
        with opened(resolved(place)) as file:
            header, arrays = contents_of(file, shown)
        try:
            parts = Parts.read(header.about.get("parts"))
        except ValueError as error:
            refuse(str(error), shown)
    except FormatError as error:
        return _fault(error), None
    return None, (header.about, header.skeleton, arrays, parts)


def _rows(
    parts: Parts, folder: Path, wanted: list[tuple[int, int]]
) -> tuple[str | None, list[Any]]:
    """What is wrong with the parts that have the rows of this rank; else these."""
    try:
        return None, parts.joined(folder, wanted)
    except FormatError as error:
        return _fault(error), []


def _fault(error: FormatError) -> str:
    """What is wrong with a file; one that is there, and may not be read, is no reason to take the
    one before."""
    if isinstance(error.__cause__, PermissionError):
        raise error
    return str(error)
