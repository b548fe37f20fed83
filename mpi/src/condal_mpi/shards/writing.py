"""Write a graph that is in memory as a folder of shards, which appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.container.atomic import replacing_folder, write_errors
from condal.io.formats.adjacency import mirror
from condal.io.formats.writing import upper_triangle
from condal.io.safe_files import PathLike
from condal_mpi.shards.manifest import MAX_SHARDS, SHARD_FOLDER, Manifest, ShardRecord
from condal_mpi.shards.shard import write_shard

SHARD_NUMBERS = 1 << 23  # rows and entries of a shard, by default


def write_shards(
    path: PathLike,
    W: sparse.csr_array | npt.ArrayLike,
    *,
    shards: int | None = None,
    labels: npt.ArrayLike | None = None,
    overwrite: bool = False,
) -> None:
    """Write a graph as a folder of shards, of which any number of ranks read their rows.

    Parameters
    ----------
    path : str or os.PathLike
        The folder to make. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`. Zeros are not written.
    shards : int, optional
        The number of shards; by default one per 8 million rows and entries.
    labels : array_like of int, optional
        The labels of the vertices; by default 1 to n.
    overwrite : bool
        Replace an earlier folder of shards; nothing else is ever overwritten.
    """
    with new_folder(path, overwrite=overwrite) as folder:
        whole = mirror(sparse.csr_array(upper_triangle(W)))
        write_rows(folder, whole, shards=shards, labels=_vector(labels, whole.shape[0]))


@contextmanager
def new_folder(path: PathLike, *, overwrite: bool) -> Iterator[Path]:
    """Make a folder to write shards to, which takes its name when the block ends."""
    target = SHARD_FOLDER.check_target(path, overwrite=overwrite)

    def check() -> None:
        SHARD_FOLDER.check_earlier(target, str(target), overwrite)

    with write_errors(path), replacing_folder(target, check) as folder:
        yield folder


def write_rows(
    folder: Path,
    W: sparse.csr_array,
    *,
    shards: int | None = None,
    labels: Any = None,
    numbers: Any = None,
    source: str = "",
) -> Manifest:
    """Write W, in canonical form, and the manifest into a new folder.

    `numbers` are those of the rows in the file, from 0, if they are in another order.
    """
    n = int(W.shape[0])
    before = W.indptr.astype(np.int64) + np.arange(n + 1)
    ends = row_cuts(np.arange(n + 1), before, shard_count(n, int(before[-1]), shards))
    records: list[ShardRecord] = []
    for number, (begin, end) in enumerate(pairwise(ends)):
        own = (None if of is None else of[begin:end] for of in (labels, numbers))
        records.append(write_shard(folder, number, begin, W[begin:end], *own))
    manifest = Manifest(source, n, labels is not None, numbers is not None, tuple(records))
    manifest.write(folder)
    return manifest


def shard_count(n: int, numbers: int, shards: int | None, *, least: int = 1) -> int:
    """Return the number of shards of so many rows and entries; ProblemError if there cannot be.

    `least` is how many the memory asks for.
    """
    if shards is None:
        return min(max(-(-numbers // SHARD_NUMBERS), least), n, MAX_SHARDS)
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise ProblemError(f"shards must be a whole number from 1 on; got {shards!r}")
    if shards > min(n, MAX_SHARDS):
        raise ProblemError(
            f"{n} rows cannot be divided into {shards} shards; give at most {min(n, MAX_SHARDS)}"
        )
    return shards


def row_cuts(rows: Any, before: Any, shards: int) -> list[int]:
    """Return where the rows of each of the shards begin and end, for about equal loads.

    before[k] is the load of the rows before rows[k]; between these places loads are interpolated.
    """
    n = int(rows[-1])
    loads = np.arange(shards + 1) * (float(before[-1]) / shards)
    cuts = np.rint(np.interp(loads, before, rows)).astype(np.int64)
    k = np.arange(shards + 1)
    # Every shard has a row: the cuts are pushed apart, upwards and then downwards.
    cuts = np.maximum.accumulate(np.maximum(cuts, k) - k) + k
    cuts = np.minimum(cuts, n - shards + k)
    cuts[0], cuts[-1] = 0, n
    return [int(cut) for cut in cuts]


def _vector(labels: npt.ArrayLike | None, n: int) -> Any:
    if labels is None:
        return None
    vector = np.asarray(labels)
    if vector.shape != (n,) or vector.dtype.kind not in "iu":
        raise ProblemError(f"labels must be {n} whole numbers; got shape {vector.shape}")
    return vector.astype(np.int64)
