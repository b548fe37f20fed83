"""The interface of a peer: prepare a task for a problem, solve it, and return the answer.

The standard form of the peers is: minimise <C, x> subject to <A_i, x> = b_i or <= b_i, x psd. Its
dual is: maximise -b'z with C + sum_i z_i A_i psd, and z_i >= 0 for inequalities.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from condal.certificates.certificate import Certificate
from condal.errors import CondalError, ProblemError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.methods.interior.assembly import bounds
from condal.problem import Model, Problem, problem_of
from condal.problems.conic.program import Block, Program
from condal.sets import Box, Equal, NonNegative, NonPositive
from condal.smooth import Linear
from condal.types import Spectral


class Refusal(CondalError):
    """A peer does not support the problem or its size; the text says why."""


class TimeExceeded(CondalError):
    """A peer returned no answer within its time limit."""


@dataclass(frozen=True)
class Usage:
    """CPU seconds, wall-clock seconds, and peak memory in bytes."""

    cpu: float
    wall: float
    memory: int


@dataclass(frozen=True, eq=False)
class PeerAnswer:
    """A point and a dual of the problem, if the peer returns them.

    `claim` is the objective it reports, in the user's sense; `message` its own status text;
    `usage` what it used if it ran in another process; `certificate` condal's own certificate;
    `recovered` what it found instead of a point of the problem.
    """

    x: Point | None = None
    y: Array | None = None
    claim: float | None = None
    message: str = ""
    usage: Usage | None = None
    certificate: Certificate | None = None
    recovered: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether it holds neither a point nor a value nor anything else that was recovered."""
        held = (self.x, self.claim, self.certificate, self.recovered)
        return all(part is None for part in held)


class PeerTask(Protocol):
    """A problem in the peer's input format, ready to be solved."""

    def solve(self) -> None:
        """Solve the problem; only this call is timed."""

    def answer(self) -> PeerAnswer:
        """Return the answer in condal's terms."""


@dataclass
class CallTask:
    """The task of a Python package: `run` calls it, `read` converts its output."""

    run: Callable[[], Any]
    read: Callable[[Any], PeerAnswer]
    output: Any = None

    def solve(self) -> None:
        self.output = self.run()

    def answer(self) -> PeerAnswer:
        return self.read(self.output)


@dataclass(frozen=True)
class Limits:
    """Limits on CPU seconds and bytes of memory; `folder` holds the files of the task."""

    seconds: float
    memory: int
    folder: Path


@dataclass(frozen=True, eq=False)
class ConeAnswer:
    """The status of a conic program, or the solver's own word; the blocks of x, and the dual z."""

    verdict: str
    blocks: Sequence[Any] = ()
    z: Array | None = None


Prepare: TypeAlias = Callable[[Problem | Model, float, Limits], PeerTask]
ReadCone: TypeAlias = Callable[[ConeAnswer], PeerAnswer]
Ask: TypeAlias = Callable[[Program, float, Limits, ReadCone], PeerTask]


@dataclass(frozen=True)
class Peer:
    """A solver to compare with: its name in tables and for --peers, and how to install it.

    `version` returns its version, or None if it is not installed. `own` returns the task for a
    model, or `ask` that for a conic program, by default the standard form of a model, if the
    `numbers` that it stores for the side n of x and m rows fit into the memory.
    """

    name: str
    install: str
    version: Callable[[], str | None]
    own: Prepare | None = None
    ask: Ask | None = None
    numbers: Callable[[int, int], float] = lambda n, m: 0.0

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> PeerTask:
        """Return the task for a model; raise Refusal if it is unsupported or too large."""
        if self.own is not None:
            return self.own(model, tol, limits)
        assert self.ask is not None
        problem = problem_of(model)
        stored = self.numbers(getattr(problem.X, "n", 0), problem.A.size)
        require_memory(BYTES_PER_NUMBER * stored, limits)
        form = standard_form(problem)

        def read(found: ConeAnswer) -> PeerAnswer:
            if found.z is None:
                return PeerAnswer(message=found.verdict)
            return PeerAnswer(found.blocks[0], form.dual(found.z), message=found.verdict)

        return self.ask(form.program, tol, limits, read)


def package_version(module: str, package: str | None = None) -> str | None:
    """Return the version of a Python package; None if it cannot be imported."""
    try:
        importlib.import_module(module)
        return metadata.version(package or module)
    except (ImportError, OSError):
        return None


def require_memory(wanted: float, limits: Limits) -> None:
    """Raise Refusal if more bytes are needed than allowed."""
    if wanted > limits.memory:
        raise Refusal(
            f"needs about {wanted / 1e9:,.0f} GB, and {limits.memory / 1e9:,.0f} GB are allowed"
        )


def require_cut(model: Problem | Model) -> Any:
    """Return C of a problem with objective <C, x> and no constraint but diag x = 1."""
    problem = problem_of(model)
    rows, b = problem.A.diagonal_rows, problem.h.fixed
    if not isinstance(problem.f, Linear) or rows is None or b is None or not (b == rows).all():
        raise Refusal("takes only a linear objective with diag x = 1")
    C = problem.f.C
    assert isinstance(C, Symmetric)
    return sp.csr_array(C.to_sparse()) if C.factorable else C.to_dense()


BYTES_PER_NUMBER = 8


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The standard form: `equalities` rows <A_i, x> = b_i, then rows <A_i, x> <= b_i.

    A row is a flattened symmetric matrix. Row i is signs[i] times row owners[i] of the problem's
    A, or times the trace if owners[i] is the size of A.
    """

    n: int
    C: Any = field(repr=False)
    rows: Any = field(repr=False)
    b: Array = field(repr=False)
    equalities: int
    owners: Any = field(repr=False)
    signs: Array = field(repr=False)
    size: int = 0

    @property
    def m(self) -> int:
        """The number of rows."""
        return int(self.b.size)

    def dual(self, z: Array) -> Array:
        """Return y of the problem for z of the standard form."""
        full = np.bincount(self.owners, weights=self.signs * z, minlength=self.size + 1)
        return np.asarray(full[: self.size])

    @property
    def program(self) -> Program:
        """The form as a conic program, whose orthant holds the slacks of the inequalities."""
        cost = sp.csr_array(self.C).reshape((1, self.n**2))
        slack = self.m - self.equalities
        if not slack:
            return Program(cost, self.rows, self.b, (Block("psd", self.n),))
        ones = sp.vstack([sp.csr_array((self.equalities, slack)), sp.eye_array(slack)])
        return Program(
            sp.hstack([sp.csr_array(cost), sp.csr_array((1, slack))]),
            sp.hstack([self.rows, ones]),
            self.b,
            (Block("psd", self.n), Block("orthant", slack)),
        )


def standard_form(problem: Problem) -> StandardForm:
    """Return the standard form of a problem with a linear objective over one spectral domain."""
    X, f = problem.X, problem.f
    if not isinstance(f, Linear) or not isinstance(f.C, Symmetric) or not isinstance(X, Spectral):
        raise ProblemError(
            "peers take a linear objective over one spectral domain; "
            f"got {type(f).__name__} over {type(X).__name__}"
        )
    rows = problem.A.as_matrix()
    if rows is None or f.C.operators:
        raise ProblemError("peers need the entries of C and A; an operator does not have them")
    for _, K in problem.h.pieces:
        if not isinstance(K, Box | Equal | NonNegative | NonPositive):
            raise ProblemError(
                f"peers take K made of points, boxes and orthants; got {type(K).__name__}"
            )
    low, high, _ = bounds(problem.h)
    p = problem.A.size
    if not _implies_trace(rows, low, high, X):
        rows = sp.vstack([rows, _flat_identity(X.n)])
        low = np.append(low, -np.inf if X.at_most else X.trace)
        high = np.append(high, X.trace)
    return _sorted(X.n, _matrix(f.C), sp.csr_array(rows), low, high, p)


def _sorted(n: int, C: Any, rows: Any, low: Array, high: Array, p: int) -> StandardForm:
    """Order the rows: equalities, upper bounds, then lower bounds with their sign changed."""
    equal = np.flatnonzero(low == high)
    above = np.flatnonzero((low != high) & np.isfinite(high))
    below = np.flatnonzero((low != high) & np.isfinite(low))
    owners = np.concatenate([equal, above, below])
    signs = np.ones(owners.size)
    signs[equal.size + above.size :] = -1.0
    b = np.concatenate([high[equal], high[above], -low[below]])
    scaled = sp.csr_array(rows[owners].multiply(signs[:, None]))
    return StandardForm(n, C, scaled, b, equal.size, owners, signs, p)


def _matrix(C: Symmetric) -> Any:
    return sp.csr_array(C.to_sparse()) if C.factorable else C.to_dense()


def _flat_identity(n: int) -> Any:
    places = np.arange(n) * (n + 1)
    return sp.csr_array((np.ones(n), (np.zeros(n, dtype=places.dtype), places)), shape=(1, n * n))


def _implies_trace(rows: Any, low: Array, high: Array, X: Spectral) -> bool:
    """Return whether the equalities imply tr x = trace: a redundant row would hurt the solvers."""
    equal = np.flatnonzero(low == high)
    if equal.size == 0:
        return False
    A = sp.coo_array(rows[equal])
    diagonal = np.arange(X.n) * (X.n + 1)
    used, where = np.unique(np.append(A.col, diagonal), return_inverse=True)
    compact = sp.csr_array((A.data, (where[: A.nnz], A.row)), shape=(used.size, equal.size))
    identity = np.zeros(used.size)
    identity[where[A.nnz :]] = 1.0
    weights = lsqr(compact, identity, atol=1e-14, btol=1e-14)[0]
    residual = float(np.linalg.norm(compact @ weights - identity)) / np.sqrt(X.n)
    return residual < 1e-9 and abs(float(weights @ low[equal]) - X.trace) < 1e-9 * X.trace
