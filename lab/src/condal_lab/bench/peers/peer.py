"""The interface of a peer: prepare a task for a problem, solve it, and return the answer."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import scipy.sparse as sp

from condal.certificates.certificate import Certificate
from condal.errors import CondalError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Model, Problem, problem_of
from condal.problems.conic.program import Program
from condal.smooth import Linear
from condal_lab.bench.standard import BYTES_PER_NUMBER, standard_form


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
