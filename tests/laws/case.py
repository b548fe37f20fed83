"""The one record of a public class, which laws, random problems, builders and faults read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

# Arrays to make cases of: whole numbers, which every type of numbers holds exactly.
rng = np.random.default_rng(11)
N = 4
FULL = rng.integers(-3, 4, (N, N)).astype(float)
C = FULL + FULL.T + 16.0 * np.eye(N)  # positive definite
TALL = np.round(4 * rng.standard_normal((6, N)))
b = np.arange(1.0, 7.0)
SIGNS = np.array([1.0, -1, 1, 1, -1, -1])
GROUPS = np.array([0, 0, 1, 1, 1, 0])
POINTS = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
WAVES = TALL + 1j * np.roll(TALL, 1, axis=0)


@dataclass(frozen=True, eq=False)
class Case:
    """An instance of a public class, or a model.

    `make` takes its arrays by name: `numbers`, finite and real; `bounds`, which may be infinite;
    `places`, whole numbers that count; `labels`, which are one of a few; `waves`, which may be
    complex. Each of them is passed to it in many forms, and spoilt in many ways.
    """

    name: str
    make: Callable[..., Any]
    numbers: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    waves: dict[str, Any] = field(default_factory=dict)
    sparse: tuple[str, ...] = ()  # those that may be SciPy sparse matrices
    symmetric: tuple[str, ...] = ()
    space: Any = None  # of the points that a map or a smooth f acts on
    exact: bool = True  # whether its norms are those of its matrix, and not only above them
    answer: str = "round"  # the method of a model that turns a result into an answer

    @classmethod
    def of(cls, name: str, made: Any, space: Any = None, exact: bool = True, **more: Any) -> Self:
        """The case of an instance that is made already."""
        return cls(name, lambda: made, space=space, exact=exact, **more)

    @property
    def arrays(self) -> dict[str, Any]:
        return self.numbers | self.bounds | self.places | self.labels | self.waves

    def __call__(self, **changed: Any) -> Any:
        return self.make(**(self.arrays | changed))

    @cached_property
    def made(self) -> Any:
        return self()

    @property
    def _piece(self) -> Any:
        return self.made

    f = A = h = X = _piece  # the letters of the template
