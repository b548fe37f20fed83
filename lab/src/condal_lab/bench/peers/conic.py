"""Packages that solve cone programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.linalg.points import Array
from condal.problem import Model, Problem, problem_of
from condal_lab.bench.peers.peer import CallTask, Limits, package_version, require_memory
from condal_lab.bench.standard import BYTES_PER_NUMBER, StandardForm, standard_form


@dataclass(frozen=True, eq=False)
class DualProgram:
    """Minimise b'z subject to G z + s = right, the first `slack` entries of s >= 0, the rest psd.

    This is the dual of the standard form. The multiplier of the psd part C + A'z is x.
    """

    form: StandardForm
    G: Any = field(repr=False)
    right: Array = field(repr=False)

    @classmethod
    def of(cls, form: StandardForm, A: Any, C: Array) -> DualProgram:
        """Build the program from A' and C, given as triangles or whole."""
        slack = form.m - form.equalities
        signs = sp.hstack([sp.csc_array((slack, form.equalities)), sp.identity(slack)])
        return cls(form, -sp.vstack([signs, A]), np.concatenate([np.zeros(slack), C]))

    @property
    def slack(self) -> int:
        """The number of inequalities."""
        return self.form.m - self.form.equalities

    def psd(self, multiplier: Any) -> Array:
        """Return the part of a multiplier that is x."""
        return np.asarray(multiplier).ravel()[self.slack :]

    def dual(self, z: Any) -> Array:
        """Return y of the problem."""
        return self.form.dual(np.asarray(z).ravel())


@dataclass(frozen=True)
class Conic:
    """A package: the `numbers` it stores for n and m, and its task for a form and tol."""

    name: str
    package: str
    numbers: Callable[[int, int], float]
    task: Callable[[StandardForm, float], CallTask]

    @property
    def install(self) -> str:
        return f"pip install {self.package}"

    def version(self) -> str | None:
        return package_version(self.package)

    def prepare(self, model: Problem | Model, tol: float, limits: Limits) -> CallTask:
        problem = problem_of(model)
        require_memory(
            BYTES_PER_NUMBER * self.numbers(getattr(problem.X, "n", 0), problem.A.size), limits
        )
        return self.task(standard_form(problem), tol)
