"""Graph files that many ranks read together: each its own part of the bytes, and then its rows."""

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
from condal.io.formats.arrays import is_npz
from condal.io.formats.edge_list import is_edge_list
from condal.io.formats.matrix_market import is_matrix_market
from condal.io.formats.npy import MAGIC
from condal.io.formats.text import Text, suffixes_of
from condal.io.safe_files import PathLike, first_bytes

__all__ = ["GraphRows", "read_rows"]

_ALONE = "is read by one process alone; convert it, for example with condal.formats.write_rudy"


@dataclass(frozen=True, eq=False)
class GraphRows:
    """This rank's rows of W = W', a CSR array of n columns, and the labels of these rows in the
    file: those of an edge list, else from 1."""

    W: sparse.csr_array = field(repr=False)
    labels: npt.NDArray[np.int64] = field(repr=False)

    @property
    def n(self) -> int:
        """How many vertices the graph has."""
        return int(self.W.shape[1])


def read_rows(path: PathLike, team: Team) -> GraphRows:
    """This rank's rows of the matrix that `condal.formats.read_graph` gives, number for number.

    Every rank calls it, at the same place. Each reads its part of the file, and so needs memory for
    that and for its rows. A file that is at fault, or not there, for one of them is refused by all
    with the same words, those of `read_graph`.
    """
    name = os.fsdecode(path)
    if _is_archive(team, name):
        return _numbered(team, archive_rows(team, name))
    text = read_slice(team, name)
    kind = _kind(team, text)
    if kind == "edge list":
        return GraphRows(*edge_list_rows(team, text))
    parse = {"matrix market": matrix_market_rows, "metis": metis_rows, "rudy": rudy_rows}[kind]
    return _numbered(team, parse(team, text))


def _numbered(team: Team, W: sparse.csr_array) -> GraphRows:
    begin, end = team.range(W.shape[1])
    return GraphRows(W, np.arange(begin + 1, end + 1))


def _is_archive(team: Team, name: str) -> bool:
    """Whether it is a .npz file, for all ranks; a dense array is refused."""
    with team.together():
        dense, archive = first_bytes(name, len(MAGIC)) == MAGIC, is_npz(name)
        if dense:
            raise FormatError(
                "holds a dense array, which is read by one process alone; save a sparse matrix "
                "with scipy.sparse.save_npz",
                path=name,
            )
    team.require_same(archive, f"whether {name} is a .npz file")
    return archive


def _kind(team: Team, text: Text) -> str:
    """The format of a file, as `read_graph` tells it."""
    suffixes = suffixes_of(text.path)
    if ".dat-s" in suffixes:
        raise text.error("holds a semidefinite program, and no graph; condal solve takes it as sdp")
    if team.agreed(is_matrix_market(text)):
        return "matrix market"
    if ".rb" in suffixes:
        raise text.error(_ALONE)
    if ".graph" in suffixes or ".metis" in suffixes:
        return "metis"
    first = team.gathered(is_edge_list(text) if text.data.strip() else None)
    return "edge list" if next(one for one in first if one is not None) else "rudy"
