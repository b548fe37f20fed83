"""Ways in which a folder of shards can be wrong, and what is said of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.io.container import array_file
from condal.io.container import manifest as container
from condal.io.container.manifest import seal_of
from condal_mpi import write_shards
from condal_mpi.shards import shard as module
from condal_mpi.shards.folder import write_rows

SHARDS, N = 3, 40


def graph() -> Any:
    """A graph with weights and without isolated vertices."""
    rng = np.random.default_rng(4)
    dense = np.triu(rng.standard_normal((N, N)) * (rng.random((N, N)) < 0.2), 1)
    dense += np.diag(np.ones(N - 1), 1)
    return sp.csr_array(dense + dense.T)


def put(folder: Path) -> Path:
    """Write the graph as shards."""
    write_shards(folder, graph(), shards=SHARDS)
    return folder


def _bytes(number: int, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        file = folder / f"000{number}.rows"
        file.write_bytes(change(file.read_bytes()))

    return damage


def _manifest(**changed: Any) -> Callable[[Path], None]:
    """Other fields, with the right seal."""

    def damage(folder: Path) -> None:
        file = folder / "manifest.json"
        values = json.loads(file.read_text()) | changed
        file.write_text(json.dumps(values | {"seal": seal_of(values)}))

    return damage


def _shard(number: int, **changed: Any) -> Callable[[Path], None]:
    """Other claims about a shard, with the right seal."""

    def damage(folder: Path) -> None:
        listed = json.loads((folder / "manifest.json").read_text())["shards"]
        listed[number] |= changed
        _manifest(shards=listed)(folder)

    return damage


def _swap(folder: Path) -> None:
    first, second, other = (folder / name for name in ("0000.rows", "0001.rows", "other"))
    first.rename(other)
    second.rename(first)
    other.rename(second)


def _swap_with_sizes(folder: Path) -> None:
    """Two files are exchanged, and the manifest has their right sizes."""
    _swap(folder)
    listed = json.loads((folder / "manifest.json").read_text())["shards"]
    listed[0]["bytes"], listed[1]["bytes"] = listed[1]["bytes"], listed[0]["bytes"]
    _manifest(shards=listed)(folder)


def _swap_with_claims(folder: Path) -> None:
    """Two files are exchanged, and so are the lines of the manifest."""
    _swap(folder)
    listed = json.loads((folder / "manifest.json").read_text())["shards"]
    _manifest(shards=[listed[1], listed[0], listed[2]])(folder)


def _link(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        elsewhere = folder.with_name(f"{folder.name}-elsewhere")
        (folder / name).rename(elsewhere)
        (folder / name).symlink_to(elsewhere)

    return damage


def _other_version(name: str) -> Callable[[Path], None]:
    """The file as another version of the format would have written it."""

    def damage(folder: Path) -> None:
        other = folder.with_name(f"{folder.name}-other")
        homes, before = (container, array_file), container.FORMAT_VERSION
        try:
            for home in homes:
                home.FORMAT_VERSION = before + 1
            put(other)
        finally:
            for home in homes:
                home.FORMAT_VERSION = before
        (other / name).rename(folder / name)

    return damage


def _other_dtype(folder: Path) -> None:
    """A folder whose shards have wide columns."""
    narrow = module.index_of
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    try:
        module.index_of = lambda n: "<i8"
        put(folder)
    finally:
        module.index_of = narrow


def _numbers(numbers: Any) -> Callable[[Path], None]:
    """A folder whose rows have these numbers, with the right digests."""

    def damage(folder: Path) -> None:
        for file in folder.iterdir():
            file.unlink()
        write_rows(folder, graph(), shards=SHARDS, numbers=np.asarray(numbers))

    return damage


def _altered_number(folder: Path) -> None:
    _numbers(np.arange(N)[::-1])(folder)
    _bytes(1, _flip)(folder)  # the numbers are the last array of the file


def _flip(data: bytes) -> bytes:
    return data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]


def _big_endian(data: bytes) -> bytes:
    return data.replace(b'"<f8"', b'">f8"')


SHA = "0" * 64
DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing shard": (lambda f: (f / "0001.rows").unlink(), "cannot be read: No such file"),
    "truncated shard": (_bytes(2, lambda data: data[:-8]), "it is truncated, or of another"),
    "longer shard": (_bytes(0, lambda data: data + b"more"), "it is truncated, or of another"),
    "empty shard": (_bytes(0, lambda data: b""), "has 0 bytes, and the manifest says"),
    "altered byte": (_bytes(1, _flip), "an array does not match its SHA-256"),
    "altered head": (_bytes(1, _big_endian), "its header does not match its SHA-256"),
    "swapped": (_swap, "it is truncated, or of another conversion"),
    "swapped, sizes right": (_swap_with_sizes, "it is not the shard that the manifest names"),
    "swapped with claims": (_swap_with_claims, "its rows are not those that the manifest names"),
    "other version of a shard": (_other_version("0001.rows"), "in format 3; this version reads"),
    "other version of the manifest": (_other_version("manifest.json"), "in format 3; this"),
    "other dtype": (_other_dtype, "its arrays are of other dtypes, or not of its pieces"),
    "linked shard": (_link("0001.rows"), "is a link; a folder of shards has the file itself"),
    "linked manifest": (_link("manifest.json"), "is a link; a folder of shards has the file"),
    "altered manifest": (
        lambda f: (f / "manifest.json").write_text(
            (f / "manifest.json").read_text().replace('"n": 40', '"n": 41')
        ),
        "was changed after it was saved",
    ),
    "manifest that is not JSON": (
        lambda f: (f / "manifest.json").write_text("{"),
        "is not JSON that condal wrote",
    ),
    "other kind": (_manifest(format="condal result"), "is not the manifest of a condal shards"),
    "more rows": (_manifest(n=41), "do not add up to those of W"),
    "more entries": (_manifest(entries=10**9), "do not add up to those of W"),
    "huge n": (_manifest(n=10**15), "do not add up to those of W"),
    "huge rows": (_shard(0, rows=10**12), "do not add up to those of W"),
    "huge shard": (_shard(0, bytes=10**15), "it is truncated, or of another conversion"),
    "huge claims": (
        lambda f: _huge(f),
        "a shard claims more rows and entries than its bytes can hold",
    ),
    "negative rows": (_shard(1, rows=-1), "must be whole numbers"),
    "rows of text": (_shard(1, rows="12"), "must be whole numbers"),
    "no digest": (_shard(1, sha256="x"), "a shard has no SHA-256"),
    "wrong digest": (_shard(1, sha256=SHA), "it is not the shard that the manifest names"),
    "no shards": (_manifest(shards=[]), "wanted a list of 1 to 4096 shards"),
    "other fields": (_manifest(extra=1), "it has other fields"),
    "labels that are not there": (_manifest(labelled=True), "its arrays are of other dtypes"),
    "numbers that are not there": (_manifest(renumbered=True), "its arrays are of other dtypes"),
    "renumbered by text": (_manifest(renumbered="no"), "or renumbered not true or false"),
    "altered number": (_altered_number, "an array does not match its SHA-256"),
    "equal numbers": (_numbers([*range(N - 1), 0]), "two rows have the same number"),
    "number below 0": (_numbers([*range(1, N), -1]), "the number of a row is not one of 0 to 39"),
    "number above n": (_numbers([*range(1, N), N]), "the number of a row is not one of 0 to 39"),
    "too few numbers": (_numbers(np.arange(N - 1)), "have other lengths than its rows"),
}


def _huge(folder: Path) -> None:
    values = json.loads((folder / "manifest.json").read_text())
    values["shards"][0]["rows"] += 10**12
    _manifest(n=N + 10**12, shards=values["shards"])(folder)
