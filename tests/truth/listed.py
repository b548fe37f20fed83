"""Regions for domains that are only listed in tests/laws, so that a new one needs no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cvxpy as cp
import numpy as np

from laws.domain_case import DomainCase
from laws.domains import DOMAINS
from laws.spaces import Vectors
from truth.regions import Flat, Region


class Listed(Flat):
    """X of a case of the laws, which test its oracle; `rules` are its CVXPY constraints."""

    scales = exacts = False

    def __init__(self, case: DomainCase) -> None:
        super().__init__(case.space.n, case.X.max_norm)
        self.case = case

    def made(self, s: float) -> Any:
        return self.case.X

    def vertex(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.case.X.lmo(v))

    def least(self, v: np.ndarray) -> float:
        return self.case.minimum(v)

    def off(self, z: np.ndarray) -> float:
        x = cp.Variable(z.size)
        return float(cp.Problem(cp.Minimize(cp.norm(x - z)), self._rules(x)).solve())

    def _rules(self, x: Any) -> list[Any]:
        assert self.case.rules is not None
        return self.case.rules(x)


def listed_regions(
    regions: Mapping[str, Callable[..., Region]],
) -> dict[str, Callable[..., Region]]:
    """A region, named as its class, for each listed class that no region makes."""
    rng = np.random.default_rng(0)
    made = {type(region(rng).made(1.0)) for region in regions.values()}
    cases: dict[str, list[DomainCase]] = {}
    for case in DOMAINS:
        if case.rules is not None and isinstance(case.space, Vectors) and type(case.X) not in made:
            cases.setdefault(type(case.X).__name__, []).append(case)
    return {name: _chooser(members) for name, members in cases.items()}


def _chooser(cases: list[DomainCase]) -> Callable[..., Region]:
    return lambda rng: Listed(cases[int(rng.integers(len(cases)))])
