"""Graph files that ranks read together: each reads its part of the bytes, then owns its rows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.distributed.reading.archive import archive_rows
from condal.distributed.reading.coordinates import matrix_market_rows, rudy_rows
from condal.distributed.reading.edges import edge_list_rows
from condal.distributed.reading.neighbours import metis_rows
from condal.distributed.reading.slices import read_slice
from condal.distributed.team import Team
from condal.errors import FormatError
from condal.io.formats.graph_files import text_format
from condal.io.formats.signatures import is_npy, is_npz
from condal.io.safe_files import PathLike

__all__ = ["GraphRows", "read_rows"]


@dataclass(frozen=True, eq=False)
class GraphRows:
    """This rank's rows of W = W', a CSR array of n columns, and their labels in the file.

    The labels are those of an edge list, and count from 1 in other formats.
    """

    W: sparse.csr_array = field(repr=False)
    labels: npt.NDArray[np.int64] = field(repr=False)

    @property
    def n(self) -> int:
        """The number of vertices of the graph."""
        return int(self.W.shape[1])


def read_rows(path: PathLike, team: Team) -> GraphRows:
    """Read this rank's rows of the matrix that `condal.formats.read_graph` returns.

    Every rank calls it. Each reads its part of the file, and needs memory for that part and for its
    rows. If one rank cannot read a faulty or missing file, all raise the error of `read_graph`.

    Parameters
    ----------
    path : str or os.PathLike
        The file, in a format of `read_graph` except Rutherford-Boeing and .npy.
    team : Team
        The ranks.

    Returns
    -------
    GraphRows
        The rows and their labels.
    """
    name = os.fsdecode(path)
    if _is_archive(team, name):
        return _numbered(team, archive_rows(team, name))
    text = read_slice(team, name)
    kind = text_format(text)
    # The first rank with text knows.
    kinds = team.gathered(kind if text.data.strip() else None)
    kind = next(known for known in kinds if known is not None)
    if kind == "rutherford-boeing":
        raise text.error(
            "can only be read by one process; convert it, for example with "
            "condal.formats.write_rudy"
        )
    if kind == "edge list":
        return GraphRows(*edge_list_rows(team, text))
    parse = {"matrix market": matrix_market_rows, "metis": metis_rows, "rudy": rudy_rows}[kind]
    return _numbered(team, parse(team, text))


def _numbered(team: Team, W: sparse.csr_array) -> GraphRows:
    begin, end = team.range(W.shape[1])
    return GraphRows(W, np.arange(begin + 1, end + 1))


def _is_archive(team: Team, name: str) -> bool:
    """Whether the file is a .npz file, for all ranks; refuse a dense array."""
    with team.together():
        dense, archive = is_npy(name), is_npz(name)
        if dense:
            raise FormatError(
                "holds a dense array, which only one process can read; save a sparse matrix with "
                "scipy.sparse.save_npz",
                path=name,
            )
    team.require_same(archive, f"whether {name} is a .npz file")
    return archive
