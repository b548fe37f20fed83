"""Manifests: sealed objects of strict JSON that say what a container is and who wrote it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from condal.errors import FormatError
from condal.io.container.atomic import temporary, write_errors
from condal.io.safe_files import PathLike, read_whole, size_of
from condal.io.strict_json import json_object, require_shallow
from condal.runtime.version import __version__

FORMAT_VERSION = 2  # of all containers: raise it when a reader of the old one would go wrong
STAMP = ("format", "version", "condal")  # the first fields of every manifest
SEAL = "seal"
MAX_JSON_BYTES = 64 << 20


@dataclass(frozen=True)
class Kind:
    """A kind of container.

    `name` is its format on disk. `remedy` says what to do with a damaged container, and
    `other_version` with one of another format version, which condal `{writer}` wrote.
    """

    name: str
    remedy: str
    other_version: str = ""  # as `remedy`, if empty

    def stamp(self) -> dict[str, Any]:
        """Return the first fields of a manifest."""
        return dict(zip(STAMP, (self.name, FORMAT_VERSION, __version__), strict=True))

    def refuse_version(self, number: Any, writer: Any, path: str) -> NoReturn:
        """Raise the FormatVersionError of a container of another format version."""
        writer = shown(writer) if isinstance(writer, str) else "of an unknown version"
        raise FormatVersionError(
            f"was written by condal {writer} in format {shown(number)}; this version reads format "
            f"{FORMAT_VERSION}: {(self.other_version or self.remedy).format(writer=writer)}",
            path=path,
        )

    def refuse(self, why: str, path: str) -> NoReturn:
        """Raise the FormatError of what is damaged, or is not a container of this kind."""
        raise FormatError(f"is damaged or not a {self.name} ({why}); {self.remedy}", path=path)


class FormatVersionError(FormatError):
    """A container of another format version."""


def shown(value: Any, limit: int = 60) -> str:
    """Return a value of a file as an error shows it: short, and without control characters."""
    printable = isinstance(value, str) and value.isprintable()
    return (value if printable else ascii(value))[:limit]


def seal_of(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an object without its own seal, which detects accidents."""
    rest = {name: value for name, value in values.items() if name != SEAL}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def sealed(values: Mapping[str, Any]) -> list[str]:
    """Return the text of an object with its seal, in pieces."""
    return [json.dumps({**values, SEAL: seal_of(values)}, allow_nan=False, indent=1), "\n"]


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Read an object of strict JSON; its seal is not checked."""
    try:
        values = json_object(read_whole(path, MAX_JSON_BYTES).decode("utf-8"))
        require_shallow(values)
    except FormatError:
        raise
    except (RecursionError, ValueError) as error:
        raise FormatError(
            f"is not JSON that condal wrote ({error!s:.200}); {remedy}", path=str(path)
        ) from error
    return values


def require_seal(values: Mapping[str, Any], path: Path) -> None:
    """Raise FormatError if an object was changed after it was written."""
    if values.get(SEAL) != seal_of(values):
        raise FormatError("was changed after it was saved", path=str(path))


def require_version(values: Mapping[str, Any], kind: Kind, path: Path) -> None:
    """Raise FormatError for a manifest of another kind, or of another format version."""
    name, number = values.get("format"), values.get("version")
    if name != kind.name:
        raise FormatError(f"is not the manifest of a {kind.name}", path=str(path))
    if number != FORMAT_VERSION or type(number) is not int:
        kind.refuse_version(number, values.get("condal"), str(path))


@dataclass(frozen=True)
class FolderKind:
    """A kind of container that is a folder.

    `manifest` is the name of the file with the manifest, `is_own` says whether a file of some name
    belongs to such a folder. In error messages the folder is `owner`, and holds an earlier `noun`.
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
