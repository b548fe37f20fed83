"""Every format that condal reads. A new one is tried with every fault of files, and fuzzed, by
being listed here; tests/faults/cells.py then asks what is right for each fault."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.io import formats
from condal.io.formats.answers import read_factors, read_result, read_solution, solution_lines
from condal.io.formats.writing import write_text
from condal.problems.conic import files
from readers import holding, results, shards
from readers.contents import (
    EDGES,
    FACTORS,
    G2O,
    G2O_SPACE,
    INTENSITIES,
    MARKET,
    METIS,
    PERMUTATION,
    QAPLIB,
    RATINGS,
    RECTANGLE,
    RESULT,
    RUDY,
    SDPA,
    SIZES,
    SOLUTION,
    TABLE,
    A,
    W,
    coo,
    csr,
    mat,
    npy,
    npz,
)
from readers.format import Format

CUT = ("--as", "max-cut")
MEANS = ("--as", "k-means", "--clusters", "2")
COMPLETION = ("--as", "matrix-completion", "--radius", "20")


def _write_metis(path: Path, found: Any) -> None:
    formats.write_metis(path, found)


def _write_edges(path: Path, found: Any) -> None:
    formats.write_edge_list(path, found.W)


def _write_poses(path: Path, found: Any) -> None:
    n, d = len(found.ids), found.measurements.translations.shape[1]
    still = condal.problems.Poses(0.0, 0.0, np.tile(np.eye(d), (n, 1, 1)), np.zeros((n, d)))
    formats.write_g2o(path, found, still)


def _before(contents: bytes, last: bytes) -> int:
    """Up to the first character of the last number that may stand alone."""
    return contents.rindex(last) + len(last)


def _result(name: str, *, told: int = 0, text: bool = True) -> Format:
    """A file of a saved result."""
    contents = results.files()[name]
    read = results.reader(name)
    told = told or len(contents)
    suffix = Path(name).suffix
    return Format(
        f"saved {name}", suffix, read, (contents,), holding.saved, told, text=text, packed=False
    )


def _graph(
    name: str,
    suffix: str,
    read: Callable[[Path], Any],
    files: tuple[bytes, ...],
    told: int,
    **more: Any,
) -> Format:
    """One of a graph and no more."""
    same = holding.same_graph
    return Format(name, suffix, read, files, holding.graph, told, CUT, same=same, **more)


def _binary(
    name: str,
    suffix: str,
    read: Callable[[Path], Any],
    files: tuple[bytes, ...],
    holds: Callable[[Any], None],
    command: tuple[str, ...] | None = None,
) -> Format:
    """One of NumPy's, or of condal's own: every byte counts."""
    told = len(files[0])
    return Format(name, suffix, read, files, holds, told, command, text=False, packed=False)


GRAPHS = [
    _graph(
        "rudy",
        ".txt",
        formats.read_rudy,
        (RUDY, b"3 2\n1 2\n1 1 2\n", b"1 0\n"),
        _before(RUDY, b"2 3"),  # a missing weight is 1
        write=formats.write_rudy,
    ),
    _graph(
        "matrix market",
        ".mtx",
        formats.read_matrix_market,
        (
            MARKET,
            MARKET.replace(b"real", b"integer"),
            b"%%MatrixMarket matrix coordinate pattern general\n% a\n2 2 2\n1 2\n2 1\n",
        ),
        _before(MARKET, b"-1"),
        write=formats.write_matrix_market,
    ),
    _graph(
        "metis",
        ".graph",
        formats.read_metis,
        (METIS, b"% a\n3 1\n3\n\n1\n", b"3 2 111 2\n5 1 1 2 2\n5 1 1 1 2 3 4\n5 1 1 2 4\n"),
        len(METIS) - 1,
        write=_write_metis,
    ),
    Format(
        "edge list",
        ".edges",
        formats.read_edge_list,
        (EDGES, b"# a\nu,v\n0,7\n", b'% a\n"1";"2";"-1.5"\n'),
        holding.edge_list,
        len(b"1 2"),
        CUT,
        write=_write_edges,
        same=lambda one, other: holding.same_graph(one.W, other.W),
    ),
    _binary(
        "sparse array",
        ".npz",
        formats.read_sparse_array,
        (csr(), coo(), csr(packed=True)),
        holding.graph,
        CUT,
    ),
    _binary("dense array", ".npy", formats.read_sparse_array, (npy(W),), holding.graph, CUT),
    _binary("shard", ".rows", shards.read, (shards.right(),), holding.graph),
]
PROGRAMS = [
    Format(
        "sdpa",
        ".dat-s",
        files.read_sdpa,
        (SDPA, b'"a"\n1 =m\n1\n{3}\n{1.0D0}\n'),
        holding.sdpa,
        len(b"2\n2\n2 -2\n1 2"),
        ("--as", "sdp"),
        write=files.write_sdpa,
        same=holding.same_sdpa,
    ),
    Format(
        "sdpa solution",
        ".sol",
        lambda path: read_solution(path, SIZES),
        (SOLUTION,),
        holding.solution,
        1,
        write=lambda path, found: write_text(
            path, (f"{line}\n" for line in solution_lines(found.z, found.X, found.X))
        ),
        same=holding.same_solution,
    ),
    Format(
        "sdpa result",
        ".out",
        lambda path: read_result(path, SIZES),
        (RESULT,),
        holding.solution,
        _before(RESULT, b"{0"),
    ),
    Format(
        "sdplr factors",
        ".sdplr",
        lambda path: read_factors(path, SIZES),
        (FACTORS,),
        holding.solution,
        _before(FACTORS, b"\n0"),
    ),
    Format(
        "sedumi",
        ".mat",
        files.read_sedumi,
        (mat(), mat(packed=True), mat(A=None, At=sp.csc_matrix(A.T))),
        holding.program,
        len(mat()),
        text=False,
        more=48 << 20,  # what is packed inside
    ),
    Format(
        "qaplib",
        ".dat",
        formats.read_qaplib,
        (QAPLIB,),
        holding.qaplib,
        _before(QAPLIB, b" 1"),
        ("--as", "qap"),
    ),
    Format(
        "qaplib solution",
        ".sln",
        formats.read_qaplib_solution,
        (PERMUTATION,),
        holding.permutation,
        _before(PERMUTATION, b" 1"),
    ),
]
NUMBERS = [
    Format(
        "table",
        ".csv",
        formats.read_table,
        (TABLE, b"1 2\n3 4\n"),
        holding.table,
        len(b"x,y\n1,2"),
    ),
    Format(
        "points",
        ".csv",
        formats.read_points,
        (TABLE, npy(W)),
        holding.points,
        len(b"x,y\n1,2"),
        MEANS,
    ),
    Format(
        "ratings",
        ".csv",
        formats.read_ratings,
        (RATINGS, b"1;2;3\n"),
        holding.ratings,
        len(b"user,film,rating\n7,30,4"),
        COMPLETION,
    ),
    Format(
        "ratings matrix",
        ".mtx",
        formats.read_ratings,
        (RECTANGLE,),
        holding.ratings,
        _before(RECTANGLE, b"-1"),
        COMPLETION,
    ),
    Format(
        "g2o",
        ".g2o",
        formats.read_g2o,
        (G2O, G2O_SPACE),
        holding.pose_graph,
        _before(G2O, b"0 1 0 2"),
        ("--as", "pose-graph"),
        write=_write_poses,
        same=holding.alike,
    ),
    _binary(
        "array",
        ".npy",
        formats.read_array,
        (npy(W), npy(W.astype(complex).T), npy(W > 0)),
        holding.array,
        MEANS,
    ),
    _binary(
        "arrays",
        ".npz",
        formats.read_arrays,
        (npz(**INTENSITIES), npz(packed=True, a=W)),
        holding.arrays,
        ("--as", "phase-retrieval"),
    ),
]
RESULTS = [
    _result("result.json", told=len(results.files()["result.json"]) - 1),
    _result("history.csv", told=results.files()["history.csv"].index(b"\n") + 1),
    _result("x.npz", text=False),
    _result("y.npy", text=False),
    _result("picture.npz", text=False),
]
FORMATS = [*GRAPHS, *PROGRAMS, *NUMBERS, *RESULTS]
