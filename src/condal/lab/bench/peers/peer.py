"""What a peer is: asked of a problem, it prepares a task, solves it, and answers."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import scipy.sparse as sp

from condal.certificates.certificate import Certificate
from condal.errors import CondalError
from condal.linalg.points import Array, Point
from condal.linalg.symmetric import Symmetric
from condal.problem import Model, Problem, problem_of
from condal.smooth import Linear


class Refusal(CondalError):
    """A problem that a peer does not take, or not of this size; the text says why."""


class TimeExceeded(CondalError):
    """A peer that had not answered when its time was over."""


@dataclass(frozen=True)
class Usage:
    """Seconds of CPU and on the clock, and the peak of the memory in bytes."""

    cpu: float
    wall: float
    memory: int


@dataclass(frozen=True, eq=False)
class PeerAnswer:
    """A point and a dual of the problem, as far as the peer gives them.

    `claim` is the objective in the user's sense that it reports, `said` how it ended, in its own
    words; `usage` what it used where that was not this process; `certificate` is there where the
    solver made one of ours.
    """

    x: Point | None = None
    y: Array | None = None
    claim: float | None = None
    said: str = ""
    usage: Usage | None = None
    certificate: Certificate | None = None


class Task(Protocol):
    """A problem in the peer's own data, ready to be solved."""

    def solve(self) -> None:
        """The part that is timed."""

    def answer(self) -> PeerAnswer:
        """What was found, in condal's terms."""


@dataclass(frozen=True)
class Limits:
    """Seconds of CPU, and bytes of memory; `folder` is the task's own, for its files."""

    seconds: float
    memory: int
    folder: Path


class Peer(Protocol):
    """A solver to compare with."""

    @property
    def name(self) -> str:
        """Its name in tables, and for --peers."""

    @property
    def install(self) -> str:
        """How it is installed."""

    def version(self) -> str | None:
        """Its version; None where it is not installed."""

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> Task:
        """The task; raises Refusal for a problem that is not for this peer, or too large."""


def package_version(module: str, package: str | None = None) -> str | None:
    """The version of a Python package that can be imported."""
    try:
        importlib.import_module(module)
        return metadata.version(package or module)
    except (ImportError, OSError):
        return None


def require_memory(wanted: float, limits: Limits) -> None:
    """Raise Refusal for what needs more bytes than there are."""
    if wanted > limits.memory:
        raise Refusal(
            f"needs about {wanted / 1e9:,.0f} GB, and {limits.memory / 1e9:,.0f} GB are allowed"
        )


def require_cut(model: Problem | Model) -> Any:
    """C, sparse or dense, if <C, x> is the objective and diag x = 1 are all constraints."""
    problem = problem_of(model)
    rows, b = problem.A.diagonal_rows, problem.h.fixed
    if not isinstance(problem.f, Linear) or rows is None or b is None or not (b == rows).all():
        raise Refusal("takes only a linear objective with diag x = 1")
    C = problem.f.C
    assert isinstance(C, Symmetric)
    return sp.csr_array(C.to_sparse()) if C.factorable else C.to_dense()
