"""Packages that take cone programs: what they share is the program, and this is it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.lab.bench.peers.peer import Limits, PeerAnswer, package_version, require_memory
from condal.lab.bench.standard import NUMBER, Standard, standard
from condal.linalg.points import Array
from condal.problem import Model, Problem, problem_of


@dataclass(frozen=True, eq=False)
class Cone:
    """The dual: minimise b'z, G z + s = right, the first `slack` of s at least 0, the rest psd.

    The multiplier of the psd part C + A'z is x.
    """

    form: Standard
    G: Any = field(repr=False)
    right: Array = field(repr=False)

    @classmethod
    def of(cls, form: Standard, A: Any, C: Array) -> Cone:
        """With A' and C as the package wants them: triangles, or whole."""
        slack = form.m - form.equalities
        signs = sp.hstack([sp.csc_array((slack, form.equalities)), sp.identity(slack)])
        return cls(form, -sp.vstack([signs, A]), np.concatenate([np.zeros(slack), C]))

    @property
    def slack(self) -> int:
        """How many rows are inequalities."""
        return self.form.m - self.form.equalities

    def psd(self, multiplier: Any) -> Array:
        """Of a multiplier the part that is x."""
        return np.asarray(multiplier).ravel()[self.slack :]

    def dual(self, z: Any) -> Array:
        """y of the problem."""
        return self.form.dual(np.asarray(z).ravel())


@dataclass
class ConicTask:
    """`run` is the package's call, and `read` its answer."""

    run: Callable[[], Any]
    read: Callable[[Any], PeerAnswer]
    found: Any = None

    def solve(self) -> None:
        """Set-up and iterations."""
        self.found = self.run()

    def answer(self) -> PeerAnswer:
        """x, y from its multipliers."""
        return self.read(self.found)


@dataclass(frozen=True)
class Conic:
    """A package: how many `numbers` it stores for n and m, and its task for a form and tol."""

    name: str
    package: str
    numbers: Callable[[int, int], float]
    task: Callable[[Standard, float], ConicTask]

    @property
    def install(self) -> str:
        """From PyPI."""
        return f"pip install {self.package}"

    def version(self) -> str | None:
        """That of the package."""
        return package_version(self.package)

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> ConicTask:
        """The cone program."""
        problem = problem_of(model)
        require_memory(NUMBER * self.numbers(getattr(problem.X, "n", 0), problem.A.size), limits)
        return self.task(standard(problem), tol)
