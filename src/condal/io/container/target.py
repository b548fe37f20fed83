"""Where a folder may be written: under a new name, or in place of an earlier one of its kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from condal.errors import FormatError
from condal.io.container.atomic import temporary, write_errors
from condal.io.container.manifest import Kind, read_json
from condal.io.safe_files import PathLike, size_of


@dataclass(frozen=True)
class FolderKind:
    """A kind of container that is a folder.

    Parameters
    ----------
    kind : Kind
        Its format.
    manifest : str
        The name of the file with the manifest.
    noun : str
        What such a folder holds, in error messages: an earlier `noun`.
    owner : str
        What such a folder is, in error messages.
    is_own : callable
        Whether a file of this name belongs to such a folder.
    """

    kind: Kind
    manifest: str
    noun: str
    owner: str
    is_own: Callable[[str], bool]

    def check_target(self, folder: PathLike, *, overwrite: bool = False) -> Path:
        """Return the resolved folder to write; refuse one that cannot be written, or that holds
        anything but an earlier one to overwrite."""
        name = os.fsdecode(folder)
        path = Path(name)
        with write_errors(name):
            path = path.parent.resolve() / path.name
            if os.path.lexists(path):
                self.check_earlier(path, name, overwrite)
            trial = temporary(path)
            trial.mkdir()
            trial.rmdir()
        return path

    def check_earlier(self, path: Path, name: str, overwrite: bool) -> None:
        """Refuse what is at the path unless it is an earlier one to overwrite, and nothing more."""
        if path.is_symlink() or not path.is_dir():
            raise FormatError("exists and is not a folder; give a new folder", path=name)
        if not self.is_there(path):
            raise FormatError(f"exists and is not {self.owner}; give a new folder", path=name)
        if not overwrite:
            raise FormatError(
                f"holds an earlier {self.noun}; give a new folder, or overwrite it (--overwrite, "
                "overwrite=True)",
                path=name,
            )
        for other in sorted(path.iterdir()):
            if not self.is_own(other.name) or not (other.is_file() or other.is_symlink()):
                raise FormatError(
                    f"holds {other.name!a} beside an earlier {self.noun}, and is not overwritten: "
                    "move that, or give a new folder",
                    path=name,
                )

    def is_there(self, folder: Path) -> bool:
        """Whether a folder holds a manifest of this kind, of any version."""
        try:
            size_of(folder / self.manifest, self.owner)
            values = read_json(folder / self.manifest, self.kind.remedy)
            return values.get("format") == self.kind.name
        except FormatError:
            return False
