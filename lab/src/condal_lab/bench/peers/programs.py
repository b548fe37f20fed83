"""SCS and Clarabel on a conic program with psd blocks and orthants: both are given its dual.

For minimise <c, x> subject to Ax = b, x in K the dual is minimise -b'z subject to A'z + s = c,
s in K. The multiplier of its rows is x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.problems.conic.program import Block, Program
from condal_lab.bench.peers.peer import Refusal
from condal_lab.bench.standard import triangle_places


@dataclass(frozen=True, eq=False)
class ConeForm:
    """The dual of a program in rows: orthants first, then scaled triangles of the psd blocks.

    `sense` is -1 for a maximisation, `order` the blocks in the order of the rows.
    """

    program: Program
    upper: bool
    sense: float
    order: tuple[int, ...]
    G: Any = field(repr=False)
    c: Array = field(repr=False)

    @classmethod
    def of(cls, program: Program, *, upper: bool) -> ConeForm:
        """Return the form; `upper` says which triangle of a matrix is kept, column by column."""
        kinds = [block.kind for block in program.blocks]
        if "second-order" in kinds:
            raise Refusal("takes psd blocks and orthants only")
        order = sorted(range(len(kinds)), key=lambda j: kinds[j] == "psd")
        sense = -1.0 if program.maximise else 1.0
        columns, c = program.A.tocsc(), program.c.toarray().ravel()
        rows, costs = [], []
        for j in order:
            keep, scale = _kept(program.blocks[j], upper=upper)
            place = program.place(j)
            rows.append(columns[:, place].T.tocsr()[keep].multiply(scale[:, None]))
            costs.append(sense * scale * c[place][keep])
        G = sp.csc_matrix(sp.vstack(rows))
        return cls(program, upper, sense, tuple(order), G, np.concatenate(costs))

    @property
    def blocks(self) -> list[Block]:
        """The blocks in the order of the rows."""
        return [self.program.blocks[j] for j in self.order]

    def point(self, multiplier: Any) -> list[Array]:
        """Return the blocks of x, in the program's order, from the multiplier of the rows."""
        found, begin = {}, 0
        for j, block in zip(self.order, self.blocks, strict=True):
            keep, scale = _kept(block, upper=self.upper)
            values = np.asarray(multiplier[begin : begin + keep.size]) / scale
            begin += keep.size
            if block.kind == "psd":
                x = np.zeros((block.n, block.n))
                x.flat[keep] = values
                found[j] = x + x.T - np.diag(np.diag(x))
            else:
                found[j] = values
        return [found[j] for j in range(len(found))]


def _kept(block: Block, *, upper: bool) -> tuple[Any, Array]:
    """Return the places of the kept entries in the order of the rows, and their factors."""
    if block.kind != "psd":
        return np.arange(block.n), np.ones(block.n)
    inside, places, scale = triangle_places(block.n, np.arange(block.n**2), upper=upper)
    order = np.argsort(places)
    return np.flatnonzero(inside)[order], scale[order]


@dataclass(frozen=True, eq=False)
class ConeAnswer:
    """The solver's own status and the blocks of x; the status of the program is `verdict`."""

    verdict: str
    blocks: Sequence[Array]


def scs_task(program: Program, tol: float) -> Callable[[], ConeAnswer]:
    """Return a call of SCS with eps_abs = eps_rel = tol."""
    import scs

    form = ConeForm.of(program, upper=False)
    data = {"A": form.G, "b": form.c, "c": -program.b}
    cones = {
        "l": sum(block.n for block in form.blocks if block.kind == "orthant"),
        "s": [block.n for block in form.blocks if block.kind == "psd"],
    }

    def run() -> ConeAnswer:
        output = scs.SCS(data, cones, eps_abs=tol, eps_rel=tol, verbose=False).solve()
        status = str(output["info"]["status"])
        # The status is that of the dual.
        verdicts = {"solved": "optimal", "infeasible": "unbounded", "unbounded": "infeasible"}
        return ConeAnswer(verdicts.get(status, status), form.point(output["y"]))

    return run


def clarabel_task(program: Program, tol: float) -> Callable[[], ConeAnswer]:
    """Return a call of Clarabel on one thread with gap and feasibility tolerances tol."""
    import clarabel

    form = ConeForm.of(program, upper=True)
    cones = {"psd": clarabel.PSDTriangleConeT, "orthant": clarabel.NonnegativeConeT}
    listed = [cones[block.kind](block.n) for block in form.blocks]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    none = sp.csc_matrix((program.b.size, program.b.size))

    def run() -> ConeAnswer:
        arguments = none, -program.b, form.G, form.c, listed, settings
        output = clarabel.DefaultSolver(*arguments).solve()
        status = str(output.status)
        verdicts = {
            "Solved": "optimal",
            "PrimalInfeasible": "unbounded",
            "DualInfeasible": "infeasible",
        }
        return ConeAnswer(verdicts.get(status, status), form.point(np.asarray(output.z)))

    return run
