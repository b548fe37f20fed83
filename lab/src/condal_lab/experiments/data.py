"""Find or download the public files of experiments and benchmarks.

Their checksums and URLs are in public.json. A file is looked for in the caller's folder, in
$CONDAL_DATA and in the user's cache, else it is downloaded to the cache. Its checksum is always
verified. The checksum of a text is that of its unpacked words, so compression and line ends do not
matter.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from condal.errors import CondalError, FormatError, ProblemError
from condal.io.formats.text import read_text
from condal.io.safe_files import PathLike

ARCHIVE = ".tar.gz"


@dataclass(frozen=True)
class Source:
    """A file: its `place` in a data folder, its checksum, and its URLs (`homes`) in order.

    The checksum of a `text` is that of its words, separated by single blanks. An archive (.tar.gz)
    contains a member with the file name of `place`. A file without a URL has an `origin`, the data
    that it was derived from.

    Of a program are also known what `kind` it is, its optimum or other status, and, if it has one
    matrix, the side n of this and the number of rows. The optima are those of SDPA-GMP. They have
    more digits than SDPLIB's own table, which is wrong for maxG51. Those of hinf1, which SDPA-GMP
    does not solve, and of maxG60 are the table's, the latter with more digits from max-cut of G60,
    the same graph; those of the sparse programs are CSDP's, and of the tori and Hamming graphs the
    challenge's, with the weights of the files: in torusg3-8, 10^5 times the challenge's.
    """

    name: str
    place: str
    sha256: str
    homes: tuple[str, ...]
    text: bool = True
    origin: str = ""
    kind: str = ""
    n: int = 0
    rows: int = 0
    optimum: float | None = None
    status: Literal["optimal", "infeasible", "unbounded"] = "optimal"

    @property
    def title(self) -> str:
        """The program in words."""
        side = f", n = {self.n:,}" if self.n else ""
        return f"{self.kind}{side}" + (f", {self.rows:,} rows" if self.rows else "")

    @property
    def places(self) -> tuple[str, ...]:
        """The possible places in a data folder: plain or compressed, in the subfolder or not."""
        plain = Path(self.place)
        stems = [plain, plain.with_suffix("")] if plain.suffix == ".txt" else [plain]
        stems += [Path(stem.name) for stem in stems]
        packings = ("", ".xz", ".gz") if self.text else ("",)
        return tuple(f"{stem.as_posix()}{packing}" for stem in stems for packing in packings)

    def checksum(self, contents: bytes) -> str:
        """Return the checksum of unpacked contents."""
        return sha256(b" ".join(contents.split()) if self.text else contents).hexdigest()

    @property
    def by_hand(self) -> str:
        """How to get the file by hand."""
        if not self.homes:
            return f"derive it from {self.origin}"
        home = self.homes[0]
        return f"unpack {home}" if home.endswith(ARCHIVE) else f"fetch {home}"

    def check(self, path: Path) -> Path:
        """Return the path if the file has the right contents, else raise ProblemError."""
        checksum = self.checksum(read_text(path).data if self.text else path.read_bytes())
        if checksum != self.sha256:
            raise ProblemError(
                f"{path} is not the file {self.name} of the experiments: the checksum of its "
                f"contents is {checksum[:12]}..., not {self.sha256[:12]}...; remove it, and "
                f"{self.by_hand}"
            )
        return path


def _sources() -> dict[str, Source]:
    """Read the table of the files; URLs of GitHub are of a fixed commit."""
    table = json.loads(Path(__file__).with_name("public.json").read_text(encoding="utf-8"))
    return {row["name"]: Source(**{**row, "homes": tuple(row["homes"])}) for row in table}


SOURCES = _sources()


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
