"""What the tests need to know of a domain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class DomainCase:
    name: str
    X: Any
    space: Any
    members: Callable[[np.random.Generator], list[Any]]  # among them points as far apart as can be
    minimum: Callable[[Any], float]  # min over X of <v, .>, by other means
    exact: bool = True  # whether the oracle is exact at tol = 0
    attained: bool = True  # whether max_norm and diameter are attained, and not only bounds
    rules: Callable[[Any], list[Any]] | None = None  # X by CVXPY: constraints on a variable x
