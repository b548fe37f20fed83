"""The public files, whose checksums and URLs are in public.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from condal.errors import ProblemError
from condal.io.formats.text import read_text

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
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {row["name"]: Source(**{**row, "homes": tuple(row["homes"])}) for row in table}


SOURCES = _sources()
