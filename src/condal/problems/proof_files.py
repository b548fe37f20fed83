"""Proof files: multipliers with which a program that imports nothing of condal proves a bound.

For maximise <F_0, X>, <F_i, X> = b_i, X psd, each y with a psd slack Z = sum_i y_i F_i - F_0 proves
the bound b'y. A proof file names a problem file by its digest and holds such a y, for which Z is
positive definite by more than the rounding of a check. Without F_0 and with b'y < 0, y proves that
the program is infeasible. `docs/proofs.md` has the format, and `checker/check.py` checks it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import fsum, inf, isfinite, nextafter, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from condal.errors import ProblemError
from condal.io.formats.coordinate import read_rudy, write_rudy
from condal.io.formats.graph_files import text_format
from condal.io.formats.signatures import digest_of, is_npy, is_npz, is_shard_folder
from condal.io.formats.text import read_text, suffixes_of
from condal.io.formats.writing import write_text
from condal.io.safe_files import PathLike
from condal.linalg.eigenvalue_bounds import deterministic_flops
from condal.linalg.factorisations import SparseFactors, plan_factorisation
from condal.linalg.partial_cholesky import PartialCholesky
from condal.linalg.points import Array
from condal.linalg.rounding import UNIT_ROUNDOFF
from condal.linalg.sparse import diagonal_matrix
from condal.linalg.symmetric import Symmetric
from condal.problems.conic.files import SdpaProblem, read_sdpa, write_sdpa
from condal.problems.conic.interior import interior_point
from condal.problems.conic.model import ConicModel
from condal.problems.conic.program import Program
from condal.problems.conic.verified import verifiable
from condal.problems.cuts import MaxCut
from condal.problems.graphs import adjacency, quarter_laplacian
from condal.result import Result, Status

VERSION = "condal proof 1"
UNITS, MOST_MARGIN = 12.0, 1e-8  # of rounding; of the diagonal of the slack, which is made 1
SHIFTS = (0.0, *(4.0**k for k in range(2, 22)))  # of y, in units of its rounding
NEGLIGIBLE = 1e-200  # a multiplier that is rounded to 0: the checker reads none below 1e-280
CERTAIN = 1e-15  # of the absolute terms of a number: less may be rounding

TOO_LARGE = (
    "the slack of this problem is too large to factorise, which a proof file needs; without one, "
    "the bound is proved by Lanczos, with a stated probability of failure"
)


def save_proof(result: Result, path: PathLike, model: Any, file: PathLike | None = None) -> str:
    """Write a proof of the bound of a result, or that nothing is feasible, for a problem file.

    Parameters
    ----------
    result : Result
        A result of `condal.solve` for the model.
    path : str or os.PathLike
        The proof file to write.
    model : MaxCut or ConicModel
        The model: of `problems.max_cut`, or of `conic_model` with psd cones and orthants.
    file : str or os.PathLike, optional
        The rudy or SDPA file that the model was made from. By default one is written beside the
        proof, under its name with the suffix .rudy or .dat-s.

    Returns
    -------
    str
        The problem file.

    Raises
    ------
    ProblemError
        If the model cannot be written, the file holds another problem, or no multipliers near those
        of the result have a positive definite slack.
    """
    sdp = require_affordable(model)
    cut = isinstance(model, MaxCut)
    starts = _starts_of_cut(result, sdp) if cut else _starts_of_program(model, result)
    infeasible = result.status is Status.INFEASIBLE
    if result.status is Status.UNBOUNDED:
        raise ProblemError(
            "a proof file holds multipliers, which cannot prove an unbounded program"
        )
    if not (infeasible or isfinite(result.bound)):
        raise ProblemError("the result proves no bound, so there is nothing to write: solve longer")
    y = _inside(sdp, starts, 0.0 if infeasible else 1.0)
    value = _value_above(sdp.b, y)
    if infeasible and value >= 0:
        raise ProblemError("the separator of the result is too close to feasible points")
    if file is None:  # write the problem beside the proof
        file = f"{os.fsdecode(path)}.{'rudy' if cut else 'dat-s'}"
        if cut:
            write_rudy(file, model.W)
        else:
            write_sdpa(file, sdp)
    file = os.fsdecode(file)
    if not _holds(file, model, sdp):
        raise ProblemError(f"{file} holds another problem than the model; leave it out")
    header = (
        VERSION,
        f"problem {'max-cut' if cut else 'sdpa'}",
        f"sha256 {digest_of(file)}",
        f"claim {'infeasible' if infeasible else 'bound'}",
        f"bound {value!r}",
        f"numbers {y.size}",
    )
    write_text(path, (f"{line}\n" for line in (*header, *map(float.hex, y.tolist()), "end")))
    return file


def require_affordable(model: Any) -> SdpaProblem:
    """Return the program of a model; ProblemError if there can be no proof file for it."""
    if isinstance(model, MaxCut):
        sdp = _program_of_cut(model.W)
    elif isinstance(model, ConicModel):
        sdp = sdpa_of(model.program)
    else:
        raise ProblemError(
            "proof files are for the models of problems.max_cut and conic_model; got "
            f"{type(model).__name__}"
        )
    Z = slack(sdp, np.ones(sdp.b.size), 1.0)[0]
    if deterministic_flops(Symmetric(Z.shape[0], sparse=(Z,))) == inf:
        raise ProblemError(TOO_LARGE)
    return sdp


def checkable(model: Any, file: str) -> bool:
    """Return whether a file that the model was read from is in a format of the checker."""
    if not isinstance(model, MaxCut):
        return ".mat" not in suffixes_of(file)
    binary = is_shard_folder(file) or is_npy(file) or is_npz(file)
    return not binary and text_format(read_text(file)) == "rudy"


# ---- programs ------------------------------------------------------------------------------------


def sdpa_of(program: Program) -> SdpaProblem:
    """Return a program of psd cones and orthants in the SDPA format, as a maximisation."""
    if any(block.kind == "second-order" for block in program.blocks):
        raise ProblemError("the SDPA format, and so a proof file, has no second-order cones")
    c = program.c if program.maximise else -program.c
    F = sp.coo_array(sp.vstack([c, program.A]))
    owners = program.owners(F.col)
    places = F.col - program.offsets[owners]
    sides = np.array([block.n if block.kind == "psd" else 0 for block in program.blocks])[owners]
    rows, cols = np.divmod(places, np.maximum(sides, 1))
    rows, cols = np.where(sides > 0, rows, places), np.where(sides > 0, cols, places)
    upper = (rows <= cols) & (F.data != 0)
    columns = (column[upper] for column in (F.row, owners, rows, cols, F.data))
    sizes = tuple(block.n if block.kind == "psd" else -block.n for block in program.blocks)
    return SdpaProblem(program.b, sizes, *columns)


def _program_of_cut(W: Any) -> SdpaProblem:
    """Return max-cut as a program: maximise <L/4, X>, X_ii = 1."""
    laplacian = sp.coo_array(sp.triu(quarter_laplacian(W)))
    ones = np.arange(W.shape[0])
    matrices = np.concatenate([np.zeros(laplacian.nnz, dtype=np.int64), ones + 1])
    rows, cols = (np.concatenate([part, ones]) for part in (laplacian.row, laplacian.col))
    values = np.concatenate([laplacian.data, np.ones(ones.size)])
    return SdpaProblem(
        np.ones(ones.size), (ones.size,), matrices, np.zeros_like(matrices), rows, cols, values
    )


def _holds(file: str, model: Any, sdp: SdpaProblem) -> bool:
    """Return whether a file holds the problem of the model."""
    if isinstance(model, MaxCut):
        W = adjacency(read_rudy(file))
        return W.shape == model.W.shape and not (W != model.W).nnz
    found, own = read_sdpa(file).program, sdp.program
    same = found.blocks == own.blocks and np.array_equal(found.b, own.b)
    return same and not (found.A != own.A).nnz and not (found.c != own.c).nnz


def _value_above(b: Array, y: Array) -> float:
    """Return a number above b'y by more than a careful sum loses."""
    products = b * y
    loss = 8 * UNIT_ROUNDOFF * fsum(np.abs(products))
    return nextafter(fsum([*products.tolist(), loss]), inf)


# ---- multipliers ---------------------------------------------------------------------------------


def _starts_of_cut(result: Result, sdp: SdpaProblem) -> Iterator[tuple[Array, Array]]:
    """Yield multipliers and directions into the cone, by what the bound of the result costs."""
    y = np.asarray(result.y)
    if y.size != sdp.b.size:
        raise ProblemError(f"the result has {y.size} multipliers, and the model {sdp.b.size}")
    cost, diagonal = max(0.0, result.bound - fsum(y)), slack(sdp, y, 1.0)[0].diagonal()
    for direction in (diagonal, np.ones(y.size)):
        total = float(direction.sum())
        if total > 0:
            yield y + cost / total * direction, diagonal


def _starts_of_program(model: ConicModel, result: Result) -> Iterator[tuple[Array, Array]]:
    """Yield multipliers and directions into the cone, for the program as a maximisation."""
    infeasible = result.status is Status.INFEASIBLE
    y = model.separator(result) if infeasible else model.dual(result)
    if not (infeasible or model.program.maximise):
        y = -y
    for direction in [] if model.verdict is not None else model.inward:
        yield y, -direction
    if infeasible:
        yield y, np.zeros(y.size)
        return
    for point in model.inside:
        yield y, -point - y
    central = interior_point(model.program.form.dual) if verifiable(model.program) else None
    yield y, np.zeros(y.size) if central is None else -central[: y.size] - y


def _inside(sdp: SdpaProblem, starts: Iterator[tuple[Array, Array]], constant: float) -> Array:
    """Return multipliers with a slack that is positive definite by a margin.

    Each start is moved along its direction as little as that takes.
    """
    for y, direction in starts:
        size = float(np.abs(direction).max(initial=0.0))
        unit = UNIT_ROUNDOFF * (1.0 + float(np.abs(y).max(initial=0.0))) / (size or 1.0)
        for shift in SHIFTS if size else SHIFTS[:1]:
            moved = y + shift * unit * direction
            moved[np.abs(moved) < NEGLIGIBLE] = 0.0
            if _is_inside(*slack(sdp, moved, constant)):
                return moved
    raise ProblemError(
        "a proof file needs multipliers whose slack is positive definite by a margin, and none "
        "were found near those of the result: solve to another tol"
    )


def slack(sdp: SdpaProblem, y: Array, constant: float) -> tuple[Any, Array]:
    """Return Z = sum_i y_i F_i - constant F_0, all blocks on one diagonal, and the sums of the
    absolute terms of its diagonal."""
    begins = np.cumsum([0, *map(abs, sdp.sizes)])
    side = int(begins[-1])
    places = (begins[sdp.blocks] + sdp.rows, begins[sdp.blocks] + sdp.cols)
    terms = np.concatenate([[-constant], y])[sdp.matrices] * sdp.values
    upper = sp.csr_array(sp.coo_array((terms, places), (side, side)))
    upper.eliminate_zeros()
    on = places[0] == places[1]
    sizes = np.bincount(places[0][on], np.abs(terms[on]), side)
    return sp.csr_array(upper + sp.triu(upper, 1).T), np.asarray(sizes)


def _is_inside(Z: Any, terms: Array) -> bool:
    """Return whether Z is positive definite by a margin, where it has entries off the diagonal.

    The others are numbers of their own, which may be 0 if they have no terms.
    """
    diagonal, coupled = Z.diagonal(), np.diff(Z.indptr) > (Z.diagonal() != 0)
    if np.any(diagonal[~coupled] < CERTAIN * terms[~coupled]) or np.any(diagonal[coupled] <= 0):
        return False
    if not coupled.any():
        return True
    roots = diagonal_matrix(1.0 / np.sqrt(diagonal[coupled]))
    lower = sp.tril(roots @ Z[coupled][:, coupled] @ roots)
    scaled = sp.csr_array(lower + sp.tril(lower, -1).T)
    m = int(np.bincount(connected_components(scaled, directed=False)[1]).max())
    sizes = float(abs(scaled).sum(axis=1).max())
    margin = min(UNITS * UNIT_ROUNDOFF * m * (4 + 2 * sqrt(m) + sizes), MOST_MARGIN)
    V = Symmetric(scaled.shape[0], sparse=(scaled,))
    factors = PartialCholesky.of(V, margin)
    if factors is not None:
        return factors.failed is None
    if plan_factorisation(V).kind == "probabilistic":
        raise ProblemError(TOO_LARGE)
    rest = SparseFactors.of(V, margin)
    return rest is not None and bool(np.all(rest.pivots > 0))
