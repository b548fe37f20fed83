"""Python packages: condal with default options, COPT, Pymanopt, and SCS, Clarabel and CVXOPT; and a
yardstick, one dense eigenvalue decomposition.

The last three solve conic programs with psd blocks and orthants, and get the dual. For minimise
<c, x> subject to Ax = b, x in K it is minimise -b'z subject to A'z + s = c, s in K. The multiplier
of its rows is x.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import condal
from condal.linalg.points import Array, LowRank
from condal.problem import Model, Problem, problem_of
from condal.problems.conic import ConicModel, conic_model
from condal.problems.conic.files import write_sdpa
from condal.problems.conic.program import Block, Program
from condal.result import Result
from condal_lab.bench.peers.executables import PROBLEM, sdpa_of
from condal_lab.bench.peers.peer import (
    Ask,
    CallTask,
    ConeAnswer,
    Limits,
    Peer,
    PeerAnswer,
    Refusal,
    package_version,
    require_cut,
    standard_form,
)

WORK_VECTORS = 25  # of the length of the data, in the workspace of SCS


@dataclass(frozen=True, eq=False)
class ConeForm:
    """The dual of a program in rows: orthants first, then the psd blocks.

    A matrix is kept as its scaled `upper` or lower triangle, column by column, or whole (None).
    `order` has the blocks in the order of the rows. A maximisation is turned into a minimisation.
    """

    program: Program
    upper: bool | None
    order: tuple[int, ...]
    G: Any = field(repr=False)
    c: Array = field(repr=False)

    @classmethod
    def of(cls, program: Program, *, upper: bool | None) -> ConeForm:
        """Return the form."""
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
        return cls(program, upper, tuple(order), G, np.concatenate(costs))

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
                if self.upper is None:  # of the columns only the lower triangle is valid
                    x = np.tril(x.T)
                found[j] = x + x.T - np.diag(np.diag(x))
            else:
                found[j] = values
        return [found[j] for j in range(len(found))]


def _kept(block: Block, *, upper: bool | None) -> tuple[Any, Array]:
    """Return the places of the kept entries in the order of the rows, and their factors."""
    if block.kind != "psd" or upper is None:
        return np.arange(block.length), np.ones(block.length)
    i, j = np.divmod(np.arange(block.n**2), block.n)
    inside = np.flatnonzero(i <= j if upper else i >= j)
    inside = inside[np.lexsort((i[inside], j[inside]))]  # column by column
    return inside, np.where(i[inside] == j[inside], 1.0, np.sqrt(2.0))


def _scs(program: Program, tol: float) -> Callable[[], ConeAnswer]:
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
        return ConeAnswer(verdicts.get(status, status), form.point(output["y"]), -output["x"])

    return run


def _clarabel(program: Program, tol: float) -> Callable[[], ConeAnswer]:
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
        return ConeAnswer(
            verdicts.get(status, status), form.point(np.asarray(output.z)), -np.asarray(output.x)
        )

    return run


def _cvxopt(program: Program, tol: float) -> Callable[[], ConeAnswer]:
    """Return a call of CVXOPT's `conelp` with tolerances tol and other settings by default."""
    from cvxopt import matrix, solvers, spmatrix

    form = ConeForm.of(program, upper=None)
    G = sp.coo_matrix(form.G)
    sparse = spmatrix(G.data.tolist(), G.row.tolist(), G.col.tolist(), G.shape)
    orthants = sum(block.n for block in form.blocks if block.kind == "orthant")
    dims = {"l": orthants, "q": [], "s": [b.n for b in form.blocks if b.kind == "psd"]}
    options = {"show_progress": False, "abstol": tol, "reltol": tol, "feastol": tol}

    def run() -> ConeAnswer:
        right = matrix(form.c), matrix(-program.b)
        output = solvers.conelp(right[1], sparse, right[0], dims, options=options)
        if output["x"] is None or output["z"] is None:
            return ConeAnswer(str(output["status"]), ())
        blocks = form.point(np.asarray(output["z"]).ravel())
        return ConeAnswer(str(output["status"]), blocks, -np.asarray(output["x"]).ravel())

    return run


def _called(call: Callable[[Program, float], Callable[[], ConeAnswer]]) -> Ask:
    return lambda program, tol, limits, read: CallTask(call(program, tol), read)


def _package(name: str, ask: Ask, numbers: Callable[[int, int], float]) -> Peer:
    package = name.lower()
    version = partial(package_version, package)
    return Peer(name, f"pip install {package}", version, ask=ask, numbers=numbers)


PACKAGES = (
    # The workspace vectors are as long as the triangle of x and the rows.
    _package("SCS", _called(_scs), lambda n, m: WORK_VECTORS * (n * (n + 1) / 2 + m)),
    # The scaling of the psd cone is a dense matrix of side n(n + 1)/2.
    _package("Clarabel", _called(_clarabel), lambda n, m: (n * (n + 1) / 2) ** 2),
    # It scales an n^2 x m matrix as a dense one, and factors an m x m matrix.
    _package("CVXOPT", _called(_cvxopt), lambda n, m: n**2 * m + m**2),
)


SHARE_OF_TIME = 0.9  # of condal; the rest is for a last proof
SEED = 0  # of the starting point of Pymanopt


def _condal(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Solve with default options, including the certificate and, for a conic program, the bound on
    the trace. It stops a little before its CPU time is over, to show the gap that it reached.
    """

    def run() -> Result:
        # A conic model is built again, because users with a file pay for its bound too.
        fresh = conic_model(model.program) if isinstance(model, ConicModel) else model
        end = time.process_time() + SHARE_OF_TIME * limits.seconds
        solve = fresh.solve if isinstance(fresh, ConicModel) else partial(condal.solve, fresh)
        return solve(tol=tol, callback=lambda row: time.process_time() >= end)

    def read(result: Result) -> PeerAnswer:
        message = f"{result.status.name.lower()} by {result.method}"
        return PeerAnswer(result.x, result.y, message=message, certificate=result.certificate)

    return CallTask(run, read)


def _eigh(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Decompose a random symmetric matrix of the side of x; it solves nothing."""
    n = getattr(problem_of(model).X, "n", 0)
    a = np.random.default_rng(0).standard_normal((n, n))
    a += a.T
    return CallTask(lambda: np.linalg.eigh(a), lambda pairs: PeerAnswer(recovered=pairs))


def _copt(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Run an interior-point method on one thread with tolerances tol, other settings by default.

    Without a licence, it takes only up to 2000 rows.
    """
    import coptpy

    form = standard_form(problem_of(model))
    path = limits.folder / PROBLEM
    write_sdpa(path, sdpa_of(form.program))
    program = coptpy.Envr().createModel("condal")
    program.setParam("Logging", 0)
    program.setParam("Threads", 1)
    program.readSdpa(str(path))
    for name in ("RelGap", "FeasTol", "DualTol"):
        program.setParam(name, tol)

    def run() -> Any:
        try:
            program.solve()
        except coptpy.CoptError as error:
            if "size" in str(error).lower() or "license" in str(error).lower():
                raise Refusal("more than its free size, 2000 rows") from None
            raise
        return program

    def read(solved: Any) -> PeerAnswer:
        # COPT returns the lower triangle of x, column by column.
        n = form.n
        x = np.zeros((n, n))
        x.T[np.triu_indices(n)] = np.asarray(solved.getPsdSolution()[0])[: n * (n + 1) // 2]
        x += np.tril(x, -1).T
        y = form.dual(np.asarray(solved.getPsdDuals()))
        optimal = solved.status == coptpy.COPT.OPTIMAL
        return PeerAnswer(x, y, message="optimal" if optimal else f"status {solved.status}")

    return CallTask(run, read)


def _pymanopt(model: Problem | Model, tol: float, limits: Limits) -> CallTask:
    """Run a Riemannian trust region over x = R R', the rows of R unit vectors, of rank
    ceil(sqrt(2n)), to a gradient norm of tol |C|; the random start is not timed.
    """
    import pymanopt
    from pymanopt.manifolds import Oblique
    from pymanopt.optimizers import TrustRegions

    C = require_cut(model)
    n = C.shape[0]
    manifold = Oblique(math.ceil(math.sqrt(2 * n)), n)

    def cost(R: Any) -> float:
        return float(np.vdot(R.T, C @ R.T))

    def gradient(R: Any) -> Any:
        return 2 * (C @ R.T).T

    def hessian(R: Any, D: Any) -> Any:
        return 2 * (C @ D.T).T

    on_manifold = pymanopt.function.numpy(manifold)
    task = pymanopt.Problem(
        manifold,
        on_manifold(cost),
        euclidean_gradient=on_manifold(gradient),
        euclidean_hessian=on_manifold(hessian),
    )
    start = np.random.default_rng(SEED).standard_normal((manifold._m, n))
    start /= np.linalg.norm(start, axis=0)
    region = TrustRegions(
        min_gradient_norm=tol * problem_of(model).f.M.norm,
        max_iterations=10**6,
        max_time=float("inf"),
        verbosity=0,
    )

    def read(output: Any) -> PeerAnswer:
        R = np.ascontiguousarray(output.point.T)
        return PeerAnswer(LowRank(R, np.ones(R.shape[1])), message=output.stopping_criterion)

    return CallTask(lambda: region.run(task, initial_point=start), read)


OURS = Peer("condal", "pip install condal", lambda: condal.__version__, _condal)
EIGH = Peer("eigh", "pip install numpy", lambda: np.__version__, _eigh)
COPT = Peer("COPT", "pip install coptpy", lambda: package_version("coptpy"), _copt)
PYMANOPT = Peer("Pymanopt", "pip install pymanopt", lambda: package_version("pymanopt"), _pymanopt)
