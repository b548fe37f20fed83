"""Find or download the public files of experiments and benchmarks.

A file is looked for in the caller's folder, in $CONDAL_DATA and in the user's cache, else it is
downloaded to the cache. Its checksum is always verified. The checksum of a text is that of its
unpacked words, so compression and line ends do not matter.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from condal.errors import CondalError, FormatError, ProblemError
from condal.io.safe_files import PathLike
from condal_lab.experiments.public import ARCHIVE, SOURCES, Source

VARIABLE = "CONDAL_DATA"
DOWNLOAD_TIMEOUT = 30  # seconds
MAX_MEMBER_BYTES = 2**28  # of a file in an archive: far more than any of the sources has

__all__ = ["SOURCES", "Source", "find"]


def find(name: str, data: PathLike | None = None) -> Path:
    """Return the path of a file of `SOURCES`, its contents checked; download it if necessary.

    The search order is `data`, $CONDAL_DATA, the user's cache.
    """
    if name not in SOURCES:
        raise ProblemError(f"there is no file {name!r}; the experiments know {', '.join(SOURCES)}")
    import pooch

    source, cache = SOURCES[name], Path(pooch.os_cache("condal"))
    for folder in (*_folders(data), cache):
        for place in source.places:
            if (folder / place).is_file():
                return source.check(folder / place)
    failures = []
    for home in source.homes:
        try:
            return _download(source, home, cache)
        # An error of the network, the server or the disk, or a file with other contents.
        except (OSError, ValueError) as error:
            wrong = isinstance(error, CondalError)
            failures.append(f"{home}: {'other contents' if wrong else type(error).__name__}")
    raise _not_found(source, data, failures)


def _folders(data: PathLike | None) -> Iterator[Path]:
    named = {"the data folder": data, f"${VARIABLE}": os.environ.get(VARIABLE) or None}
    for what, folder in named.items():
        if folder is None:
            continue
        if not Path(folder).is_dir():
            raise ProblemError(f"{what}, {os.fsdecode(folder)}, is not a folder; name a folder")
        yield Path(folder)


def _download(source: Source, home: str, cache: Path) -> Path:
    """Download the file to the cache atomically, and only if its contents are right."""
    import pooch

    path = cache / source.place
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fresh = Path(folder, path.name)
        # pooch.retrieve would verify the compressed file, which a server may change.
        pooch.HTTPDownloader(timeout=DOWNLOAD_TIMEOUT)(home, str(fresh), None)
        if home.endswith(ARCHIVE):
            fresh.write_bytes(_member(fresh.read_bytes(), path.name))
        source.check(fresh)
        fresh.replace(path)
    return path


def _member(archive: bytes, name: str) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if Path(member.name).name == name and (file := tar.extractfile(member)):
                    if member.size > MAX_MEMBER_BYTES:
                        raise FormatError(f"the archive's {name} claims {member.size:,} bytes")
                    return file.read()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise FormatError(f"is not a tar archive ({error})") from error
    raise FormatError(f"the archive holds no {name}")


def _not_found(source: Source, data: PathLike | None, reasons: list[str]) -> ProblemError:
    given = "--data (not given)" if data is None else os.fsdecode(data)
    folder = os.environ.get(VARIABLE)
    variable = f"${VARIABLE} ({folder or 'not set'})"
    return ProblemError(
        f"the file {source.name} is not in {given}, {variable} or the user's cache, and was not "
        f"downloaded ({'; '.join(reasons) or 'it has no URL'}); {source.by_hand} by hand, and put "
        f"the file at {source.place} in a folder named by --data or ${VARIABLE}"
    )
