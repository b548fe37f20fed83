"""The suites of `make soak`: a function `run(seconds, seed)` and a share of the time each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from soak.table import Row


@dataclass(frozen=True)
class Suite:
    """A name, the module that runs it, its share of the time, and what else its `run` takes."""

    name: str
    module: str
    part: float
    given: tuple[Any, ...] = ()

    @property
    def run(self) -> Callable[[float, int], Iterator[Row]]:
        """Yield rows for `seconds`, reproducible from the seed."""
        return lambda seconds, seed: import_module(self.module).run(*self.given, seconds, seed)


SUITES = (
    Suite("planted", "soak.pool", 6.0, ("planted",)),
    Suite("truth", "soak.pool", 6.0, ("truth",)),
    Suite("kills", "soak.kills", 2.0),
    Suite("fuzz", "soak.fuzzing", 2.0),
    Suite("limits", "soak.limits", 2.0),
    Suite("proofs", "proofs.forgeries", 1.0),
    Suite("adversarial", "soak.adversarial", 1.0),
)
