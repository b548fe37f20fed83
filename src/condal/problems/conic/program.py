"""Conic programs: the standard form of files and modelling languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices, LowRank, dense
from condal.linalg.sparse import stored_rows
from condal.runtime.arguments import finite_array, require_whole

if TYPE_CHECKING:
    from condal.certificates.cones import ConicForm

MAX_ENTRY = 1e150  # its square does not overflow
MAX_ASYMMETRY = 1e-12  # relative to the largest entry


@dataclass(frozen=True)
class Block:
    r"""A cone of a conic program.

    Parameters
    ----------
    kind : {"psd", "orthant", "second-order"}
        Symmetric psd n x n matrices, vectors :math:`u \ge 0` of length n, or vectors with
        :math:`\|(u_2, \dots, u_n)\| \le u_1`.
    n : int
        The side of the matrices, or the length of the vectors.

    Raises
    ------
    ProblemError
        If kind or n is not allowed.
    """

    kind: Literal["psd", "orthant", "second-order"]
    n: int

    def __post_init__(self) -> None:
        if self.kind not in ("psd", "orthant", "second-order"):
            raise ProblemError(f"a block is 'psd', 'orthant' or 'second-order'; got {self.kind!r}")
        require_whole(self.n, "n of a block")

    @property
    def length(self) -> int:
        """The number of entries in x: n^2 (both triangles of a matrix, row by row) or n."""
        return self.n**2 if self.kind == "psd" else self.n


@dataclass(frozen=True, eq=False)
class Program:
    r"""A conic program in standard form.

    .. math::

        \min_x \; \langle c, x \rangle + \mathrm{offset}
        \quad \text{subject to} \quad A x = b, \; x = (x_1, x_2, \dots), \; x_j \in \mathcal{K}_j.

    x is one long vector: a psd block takes its :math:`n^2` entries, row by row, the other blocks
    their n. The psd parts of c and of the rows of A must be symmetric.

    Parameters
    ----------
    c : array_like or sparse matrix of one row
        The objective, as long as x.
    A : sparse matrix or array_like
        One row per constraint.
    b : array_like
        The right-hand sides.
    blocks : sequence of Block
        The cones.
    offset : float, optional
        A constant added to the objective.
    maximise : bool, optional
        Whether the objective is maximised.
    name : str, optional
        The name in results and reports.

    Raises
    ------
    ProblemError
        If the sizes do not fit, a psd part is not symmetric, or numbers are too large or too small.

    Examples
    --------
    The smallest eigenvalue of a matrix C: minimise <C, x> subject to tr x = 1, x psd.

    >>> import numpy
    >>> from condal.conic import Block, Program, conic_model
    >>> C = numpy.array([[2.0, 1.0], [1.0, 2.0]])
    >>> program = Program(C.ravel(), numpy.eye(2).ravel()[None], [1.0], [Block("psd", 2)])
    >>> model = conic_model(program)
    >>> f"{model.objective(model.solve(tol=1e-6)):.3f}"
    '1.000'
    """

    c: Any = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    blocks: tuple[Block, ...]
    offset: float = 0.0
    maximise: bool = False
    name: str = "conic program"

    def __post_init__(self) -> None:
        blocks = tuple(self.blocks)
        if not blocks:
            raise ProblemError("a conic program needs at least one block, such as Block('psd', n)")
        A, c = _canonical(self.A, "A"), _canonical(self.c, "c")
        b = finite_array(self.b, "b", ndim=1).copy()
        length = sum(block.length for block in blocks)
        if A.shape != (b.size, length) or c.shape != (1, length):
            raise ProblemError(
                f"the blocks take {length} numbers and b has {b.size}: wanted A of {b.size} x "
                f"{length} and c of 1 x {length}; got {A.shape} and {c.shape}"
            )
        _require_sizes(A, c, b)
        A, c = (_symmetric(part, name, blocks) for part, name in ((A, "a row of A"), (c, "c")))
        for name, value in (("c", c), ("A", A), ("b", b), ("blocks", blocks)):
            object.__setattr__(self, name, value)

    @cached_property
    def offsets(self) -> Any:
        """The index in x at which each block begins, followed by the length of x."""
        return np.concatenate([[0], np.cumsum([block.length for block in self.blocks])])

    @cached_property
    def form(self) -> ConicForm:
        """The program, as a minimisation, in the form that proofs take."""
        from condal.problems.conic.verified import form_of

        return form_of(self)

    @cached_property
    def opposites(self) -> tuple[Indices, Indices]:
        """The places of nonnegative numbers with opposite columns of A and c, in pairs.

        Each pair is a free number, the difference of the two.
        """
        orthants = [k for k, block in enumerate(self.blocks) if block.kind == "orthant"]
        spans = [np.arange(*self.offsets[k : k + 2]) for k in orthants]
        at = np.concatenate([np.zeros(0, dtype=np.int64), *spans])
        columns = sp.csc_array(sp.vstack([self.c, self.A]))[:, at]
        # Sums in the same order: those of opposite columns are opposite to the last bit.
        sums = np.cos(np.arange(columns.shape[0])) @ columns
        order = np.lexsort((sums, np.abs(sums)))
        ahead, sums = order[1:], sums[order]
        pair = (sums[:-1] < 0) & (sums[:-1] == -sums[1:])
        minus, plus = order[:-1][pair], ahead[pair]
        off = columns[:, plus] + columns[:, minus]
        exact = np.asarray(abs(off).sum(axis=0)).ravel() == 0.0
        return at[plus[exact]], at[minus[exact]]

    def place(self, j: int) -> slice:
        """Return the slice of block j in x."""
        return slice(int(self.offsets[j]), int(self.offsets[j + 1]))

    def owners(self, places: Indices) -> Indices:
        """Return the block of each of these places in x."""
        return np.searchsorted(self.offsets, places, side="right") - 1

    def entries(self, x: Sequence[Any], places: Indices) -> Array:
        """Return the numbers at these places of the blocks x: arrays, or factors of matrices."""
        found, owners = np.zeros(places.size), self.owners(places)
        for j in np.unique(owners).tolist():
            inside, value = owners == j, x[j]
            local = places[inside].astype(np.int64) - self.place(j).start
            if self.blocks[j].kind != "psd":
                found[inside] = value[local]
                continue
            rows, cols = np.divmod(local, self.blocks[j].n)
            if isinstance(value, LowRank) and rows.size < value.U.shape[0] ** 2:
                U = value.U
                found[inside] = np.einsum("ij,ij,j->i", U[rows], U[cols], value.weights)
            else:
                full = np.asarray(dense(value)).reshape(self.blocks[j].n, -1)
                found[inside] = 0.5 * (full[rows, cols] + full[cols, rows])
        return found


def _canonical(part: Any, name: str) -> Any:
    """Return a CSR copy with duplicate entries summed."""
    if sp.issparse(part):
        return stored_rows(part, name)
    full = np.atleast_2d(finite_array(part, name))
    if full.ndim > 2:
        raise ProblemError(f"{name} must have a row for each constraint; got {full.shape}")
    return sp.csr_array(full)


def _require_sizes(A: Any, c: Any, b: Array) -> None:
    """Raise ProblemError for numbers whose squares overflow or underflow."""
    largest = max(float(np.abs(part).max(initial=0.0)) for part in (A.data, c.data, b))
    if largest > MAX_ENTRY:
        raise ProblemError(
            f"c, A and b have entries of up to {largest:.3g}; scale them below {MAX_ENTRY:g}"
        )
    rows = abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(0)
    small = np.flatnonzero((rows > 0) & (rows < 1 / MAX_ENTRY))
    if small.size:
        raise ProblemError(
            f"row {small[0]} of A has no entry above {rows[small[0]]:.3g}; scale it and its b"
        )


def _symmetric(part: Any, name: str, blocks: tuple[Block, ...]) -> Any:
    """Return the rows with symmetric psd parts; asymmetry beyond rounding is an error."""
    begins = np.cumsum([0, *(block.length for block in blocks)])
    owner = np.searchsorted(begins, part.indices, side="right") - 1
    sides = np.array([block.n if block.kind == "psd" else 0 for block in blocks])[owner]
    row, col = np.divmod(part.indices - begins[owner], np.maximum(sides, 1))
    columns = np.where(sides > 0, begins[owner] + col * sides + row, part.indices)
    mirrored = sp.csr_array((part.data, columns, part.indptr), part.shape, copy=True)
    mirrored.sort_indices()
    if np.array_equal(mirrored.indices, part.indices) and np.array_equal(mirrored.data, part.data):
        return part
    asymmetry = abs(part - mirrored).max(axis=1).toarray().ravel()
    k = int(np.argmax(asymmetry))
    if asymmetry[k] > MAX_ASYMMETRY * abs(part).max():
        raise ProblemError(
            f"the psd parts of c and A must be symmetric, with both triangles given: {name} "
            f"({k}) is off by {asymmetry[k]:.3g}; give (M + M') / 2 for a part M"
        )
    return sp.csr_array(0.5 * (part + mirrored))
