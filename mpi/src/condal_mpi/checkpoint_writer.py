"""The checkpoint of a solve on many ranks: a folder to which each rank writes its shard."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from condal.driver.checkpoint import Checkpoint, CheckpointWriter
from condal.errors import FormatError
from condal.io.checkpoint.about import described
from condal.io.checkpoint.codec import pack
from condal.io.checkpoint.file import Contents
from condal.io.checkpoint.file import read_about as manifest_about
from condal.io.container.atomic import previous
from condal.io.safe_files import PathLike
from condal.problem import Problem
from condal_mpi.checkpoint.folder import MANIFEST, Shares, forget, read, write
from condal_mpi.checkpoint.manifest import without_parts
from condal_mpi.checkpoint.shard_digest import shard_words
from condal_mpi.diffraction import DistributedDiffraction
from condal_mpi.team import Team


class DistributedCheckpointWriter(CheckpointWriter):
    """Write the checkpoint of one solve on many ranks; the folder is locked while it is entered.

    All ranks call each method.
    """

    def __init__(self, checkpoint: Checkpoint, problem: Problem) -> None:
        X: Any = problem.X
        self.team: Team = X.team
        self.folder = Path(os.fsdecode(checkpoint.path)).absolute()
        self._made = False
        with self.team.together():
            if self.folder.exists() and not self.folder.is_dir():
                raise FormatError(
                    "is a file; a solve on many ranks writes a folder: give the path of a new one",
                    path=str(self.folder),
                )
            super().__init__(replace(checkpoint, path=self.folder / MANIFEST), problem)

    def __enter__(self) -> DistributedCheckpointWriter:
        with self.team.together():
            if self.team.rank == 0:
                self._open()
        return self

    def _open(self) -> None:
        if not self.folder.exists():
            try:
                self.folder.mkdir()
            except OSError as error:
                raise FormatError(
                    f"cannot be made: {error.strerror}; check the path and the permissions",
                    path=str(self.folder),
                ) from error
            self._made = True
        super().__enter__()
        forget(Path(self.path))  # what a killed job has left

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self._made:
            with suppress(OSError):  # it is not empty
                self.folder.rmdir()

    def _describe(self, problem: Problem) -> dict[str, Any]:
        rows = sum(self.team.gathered(int(problem.A.size)))
        return {**described(problem, shard_words), "p": rows}

    def _require_free(self) -> None:
        with self.team.together():
            super()._require_free()

    def _require_packable(self, held: Any) -> None:
        with self.team.together():
            pack(held, Shares(self.team))

    def _contents(self) -> Contents:
        return read(self.team, self.path, self._rows_of)

    def _rows_of(self, total: int) -> tuple[int, int]:
        """Return the rows of this rank of an array; images of masks are distributed by these."""
        M = self.problem.f.M
        if isinstance(M, DistributedDiffraction):
            begin, end, images = M.rows
            if total == images:
                return begin, end
        return self.team.range(total)

    def _set_aside(self) -> None:
        if self.team.rank == 0:
            super()._set_aside()

    def _write(self, about: dict[str, Any], value: Any) -> None:
        write(self.team, self.path, about, value)

    def _say(self, text: str) -> None:
        if self.team.rank == 0:
            super()._say(text)


def is_sharded_checkpoint(path: PathLike) -> bool:
    """Whether there is a checkpoint of many ranks at `path`.

    Parameters
    ----------
    path : str or os.PathLike
        A folder.

    Returns
    -------
    bool
        Whether the folder holds a manifest.
    """
    manifest = Path(os.fsdecode(path)) / MANIFEST
    return os.path.lexists(manifest) or os.path.lexists(previous(manifest))


def read_about(path: PathLike) -> dict[str, Any]:
    """Read what a checkpoint of many ranks says of itself.

    Parameters
    ----------
    path : str or os.PathLike
        The folder.

    Returns
    -------
    dict
        The description, like that of a checkpoint of one process.
    """
    return without_parts(manifest_about(Path(os.fsdecode(path)) / MANIFEST))
