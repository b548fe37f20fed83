"""Public files of experiments and benchmarks: where they are looked for, and where they live.

A file is looked for in the folder that the caller names, in $CONDAL_DATA and in the user's cache;
else it is downloaded to the cache. Its contents are known by a checksum wherever it was found: of
the words of a text, unpacked, so that packing and line ends do not matter.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from condal.errors import CondalError, FormatError, ProblemError
from condal.formats.regular import PathLike
from condal.formats.text import read_text

VARIABLE = "CONDAL_DATA"
INSTALL = "pip install 'condal[experiments]'"
ARCHIVE = ".tar.gz"
SECONDS = 30  # how long a home may stay silent


@dataclass(frozen=True)
class Source:
    """A file: `place` in a data folder, the checksum of its contents, its public homes in order.

    The checksum of a `text` is that of its words with one blank between them. A home that serves an
    archive (.tar.gz) holds a member of the name of the place.
    """

    name: str
    place: str
    sha256: str
    homes: tuple[str, ...]
    text: bool = True

    @property
    def places(self) -> tuple[str, ...]:
        """Where in a data folder the file may stand, plain or packed, in a subfolder or not."""
        plain = Path(self.place)
        stems = [plain, plain.with_suffix("")] if plain.suffix == ".txt" else [plain]
        stems += [Path(stem.name) for stem in stems]
        packings = ("", ".xz", ".gz") if self.text else ("",)
        return tuple(f"{stem.as_posix()}{packing}" for stem in stems for packing in packings)

    def checksum(self, contents: bytes) -> str:
        """The checksum of unpacked contents."""
        return sha256(b" ".join(contents.split()) if self.text else contents).hexdigest()

    def check(self, path: Path) -> Path:
        """The path, if it holds what it should."""
        contents = read_text(path).data if self.text else path.read_bytes()
        found = self.checksum(contents)
        if found != self.sha256:
            raise ProblemError(
                f"{path} is not the file {self.name} of the experiments: the checksum of its "
                f"contents is {found[:12]}..., wanted {self.sha256[:12]}...; remove it, and fetch "
                f"{self.homes[0]}"
            )
        return path


def _gset(name: str, checksum: str) -> Source:
    # The second home is a copy at a fixed commit.
    copies = "https://raw.githubusercontent.com/romank-rudolfovo/MaxCut_benchmarkdata"
    homes = (
        f"https://web.stanford.edu/~yyye/yyye/Gset/{name}",
        f"{copies}/899680c2643b564a3b4842cd0f33b29d1d8bd55e/yyye/{name}.txt",
    )
    return Source(name, f"gset/{name}.txt", checksum, homes)


SOURCES = {
    source.name: source
    for source in (
        Source(
            "GD97_b",
            "gd97b/GD97_b.rb",
            "c01610615366b6bf489f25fab40f2439750c81fddd25739dfa31ca9548f94b39",
            (
                "https://sparse.tamu.edu/RB/Pajek/GD97_b.tar.gz",
                "https://suitesparse-collection-website.herokuapp.com/RB/Pajek/GD97_b.tar.gz",
            ),
        ),
        _gset("G1", "d478e100fccb96c00e8b70a7303ee6d88cf58935ce097a8bc0b41c0fd9c09a26"),
        _gset("G40", "46d50003591c2799d2669d8762668a83ad62cbc8750c3792120964a343663eb8"),
        _gset("G22", "0f4cdf85870a8394bad36dfdefabdad4fc73ad8e2234457e22dacb1fa5b7778b"),
        _gset("G43", "577bcffc5756175a4ab6613082d2ecf25d02bfda1faf3197931557481a6642d1"),
        _gset("G67", "9f9ee48cf7c40e50761d91addefc6a738be5d42b26139bf273d5700e012f4010"),
        _gset("G81", "fe76cb9851f0b5e793d76ba06dc8bd0c1067af70ce61eec0ef9366abe286e3e0"),
        Source(
            "MNIST features",
            "kmeans_mnist/data_features.mat",
            "d809c8f897c03cf02c680f19fd02508343291fa8e0868bbdf6c68894306fd1aa",
            (
                "https://raw.githubusercontent.com/solevillar/kmeans_sdp/"
                "1cbb36bf40b3ed5b370dcab83ad04903ed1baa2a/data/data_features.mat",
            ),
            text=False,
        ),
    )
}


def find(name: str, data: PathLike | None = None) -> Path:
    """The path of a file of `SOURCES`, its contents checked; downloaded if it must be.

    Looked for in `data`, $CONDAL_DATA and the user's cache, in this order.
    """
    if name not in SOURCES:
        raise ProblemError(f"there is no file {name!r}; the experiments know {', '.join(SOURCES)}")
    source = SOURCES[name]
    pooch = _pooch()
    cache = None if pooch is None else Path(pooch.os_cache("condal"))
    for folder in _folders(data, cache):
        for place in source.places:
            if (folder / place).is_file():
                return source.check(folder / place)
    if pooch is None or cache is None:
        raise _not_found(source, data, [f"for that, {INSTALL}"])
    failures = []
    for home in source.homes:
        try:
            return _download(source, home, cache, pooch)
        # What the network, the server or the disk has against it, and a file of other contents.
        except (OSError, ValueError) as error:
            wrong = isinstance(error, CondalError)
            failures.append(f"{home}: {'other contents' if wrong else type(error).__name__}")
    raise _not_found(source, data, failures)


def _folders(data: PathLike | None, cache: Path | None) -> Iterator[Path]:
    named = {"the data folder": data, f"${VARIABLE}": os.environ.get(VARIABLE) or None}
    for what, folder in named.items():
        if folder is None:
            continue
        if not Path(folder).is_dir():
            raise ProblemError(f"{what}, {os.fsdecode(folder)}, is not a folder: name one that is")
        yield Path(folder)
    if cache is not None:
        yield cache


def _pooch() -> ModuleType | None:
    try:
        import pooch
    except ImportError:
        return None
    return pooch  # type: ignore[no-any-return,unused-ignore]


def _download(source: Source, home: str, cache: Path, pooch: ModuleType) -> Path:
    """The file in the cache, put there whole and only if its contents are right."""
    path = cache / source.place
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fresh = Path(folder, path.name)
        # Not pooch.retrieve: its checksum is that of the packing, which a home may change.
        pooch.HTTPDownloader(timeout=SECONDS)(home, str(fresh), None)
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
                    return file.read()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise FormatError(f"is not a tar archive ({error})") from error
    raise FormatError(f"the archive holds no {name}")


def _not_found(source: Source, data: PathLike | None, reasons: list[str]) -> ProblemError:
    given = "--data (not given)" if data is None else os.fsdecode(data)
    folder = os.environ.get(VARIABLE)
    variable = f"${VARIABLE} ({folder or 'not set'})"
    home = source.homes[0]
    by_hand = f"unpack {home}" if home.endswith(ARCHIVE) else f"fetch {home}"
    return ProblemError(
        f"the file {source.name} is not in {given}, nor {variable}, nor the user's cache, and was "
        f"not downloaded ({'; '.join(reasons)}); {by_hand} by hand, and put the file at "
        f"{source.place} in a folder named by --data or ${VARIABLE}"
    )
