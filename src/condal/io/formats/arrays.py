"""NumPy's own files, .npy and .npz: never unpickled, and checked before memory is asked for."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.formats.npy import NUMBERS, parse
from condal.io.safe_files import PathLike, first_bytes, most_bytes, opened

ZIP = b"PK\x03\x04"
NOTHING = b"PK\x05\x06"  # an archive without members
END = 22  # bytes of the record at the end of an archive without a comment
MAX_MEMBERS = 64
LONGEST_WORD = 1024  # bytes of its file, most of which is the header


def is_npz(path: PathLike) -> bool:
    """Whether a file is a .npz archive, and no other of zip's, by its first bytes."""
    head = first_bytes(path, 256)
    return head.startswith(ZIP) and b".npy" in head


def read_array(path: PathLike, *, finite: bool = True) -> Any:
    """The array of a .npy file; one that is not `finite` is refused, unless that may be."""
    name = os.fsdecode(path)
    with opened(name) as file:
        return parse(file, os.fstat(file.fileno()).st_size, name, "", finite=finite)


def read_arrays(
    path: PathLike,
    names: Collection[str] | None = None,
    *,
    kinds: str = NUMBERS,
    most: int = MAX_MEMBERS,
    finite: bool = True,
) -> dict[str, Any]:
    """The arrays of a .npz file by name: all, or those of the names that it has.

    `kinds` are those of the dtypes that are taken, and `most` is how many arrays there may be;
    those that are not `finite` are refused, unless that may be.
    """
    name = os.fsdecode(path)
    with archive_of(name) as (archive, size):
        members = {
            stem: member
            for stem, member in members_of(archive, name, most).items()
            if names is None or stem in names
        }
        _check_sizes(list(members.values()), size, name)
        return {
            stem: _member(archive, member, name, kinds=kinds, finite=finite)
            for stem, member in members.items()
        }


def read_word(path: PathLike, name: str) -> str:
    """The one short word of an array of a .npz file, as SciPy's name of a sparse format."""
    file = os.fsdecode(path)
    with archive_of(file) as (archive, _):
        member = members_of(archive, file)[name]
        if member.file_size > LONGEST_WORD:
            raise FormatError(f"{shown(member)} is too long for a word", path=file)
        with archive.open(member) as stream:
            data = stream.read(LONGEST_WORD + 1)
        word = parse(io.BytesIO(data), len(data), file, f"{shown(member)}: ", kinds="SU")
    return str(word.astype(str).item()) if word.size == 1 else ""


def names_of_arrays(path: PathLike) -> list[str]:
    """The names of the arrays of a .npz file, none of which is read."""
    name = os.fsdecode(path)
    with archive_of(name) as (archive, _):
        return sorted(members_of(archive, name))


@contextmanager
def archive_of(name: str) -> Iterator[tuple[zipfile.ZipFile, int]]:
    """The archive, and how many bytes the file has."""
    with opened(name) as file:
        first, size = file.read(len(ZIP)), os.fstat(file.fileno()).st_size
        if first != ZIP and not (first == NOTHING and size == END):
            raise FormatError("is no .npz file; save one with numpy.savez(path, ...)", path=name)
        file.seek(max(size - END, 0))
        end = file.read()
        file.seek(0)
        # Where zipfile would look for the end before bytes that follow it, and take these for a
        # comment.
        if not end.startswith(b"PK\x05\x06") or not end.endswith(b"\0\0"):
            raise damaged(name, "it does not end as one")
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive, size
        except FormatError:
            raise
        except (
            zipfile.BadZipFile,
            struct.error,
            zlib.error,
            EOFError,
            OSError,
            RuntimeError,  # a member that is encrypted, or packed in a way unknown to zipfile
            ValueError,
        ) as error:
            raise damaged(name, f"{error!s:.200}") from error


def damaged(name: str, why: str) -> FormatError:
    """The error of an archive that is not whole."""
    return FormatError(f"the archive is truncated or damaged ({why}); make it again", path=name)


def members_of(
    archive: zipfile.ZipFile, name: str, most: int = MAX_MEMBERS
) -> dict[str, zipfile.ZipInfo]:
    """The members of an archive by their names, which are arrays alone."""
    members = archive.infolist()
    if len(members) > most:
        raise FormatError(f"holds {len(members)} files; wanted a few arrays", path=name)
    for member in members:
        plain = member.filename == Path(member.filename).name
        if not plain or not member.filename.endswith(".npy"):
            raise FormatError(
                f"holds {member.filename[:40]!a}; wanted arrays alone, as numpy.savez writes",
                path=name,
            )
        # Of other ways to pack, one asks for as much memory as its header likes.
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(
                f"{shown(member)} is packed in a way that numpy.savez has not; save it "
                "with numpy.savez_compressed",
                path=name,
            )
    found = {member.filename.removesuffix(".npy"): member for member in members}
    if len(found) != len(members):
        raise FormatError(
            "holds two arrays of one name; save each once, with numpy.savez", path=name
        )
    return found


def shown(member: zipfile.ZipInfo) -> str:
    """The name of a member, as an error shows it."""
    return ascii(member.filename[:40])[1:-1]


def _check_sizes(members: Collection[zipfile.ZipInfo], size: int, name: str) -> None:
    """Refuse arrays that are, all together, more than what a file of a size may hold: members can
    share the bytes that they are packed in."""
    total = sum(member.file_size for member in members)
    if total > most_bytes(size, packed=True):
        largest = max(members, key=lambda member: member.file_size)
        raise FormatError(
            f"{shown(largest)} is to be {largest.file_size} bytes in a file of {size}, and "
            f"all arrays {total}, more than is read; save them with numpy.savez, uncompressed, if "
            "you trust it",
            path=name,
        )


def _member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, *, kinds: str, finite: bool
) -> Any:
    with archive.open(member) as stream:
        data = stream.read(member.file_size + 1)
    where = f"{shown(member)}: "
    return parse(io.BytesIO(data), len(data), name, where, kinds=kinds, finite=finite)
