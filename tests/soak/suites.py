"""The suites of `make soak`: each a module with `run(seconds, seed)` and its share of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from soak.table import Row


@dataclass(frozen=True)
class Suite:
    """A name, the module with its `run`, and its share of the time."""

    name: str
    module: str
    part: float

    @property
    def there(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def run(self) -> Callable[[float, int], Iterator[Row]]:
        """Yield rows for `seconds`, reproducible from the seed."""
        return import_module(self.module).run


SUITES = (
    Suite("planted", "soak.plantings", 6.0),
    Suite("truth", "soak.truths", 6.0),
    Suite("kills", "soak.kills", 2.0),
    Suite("fuzz", "soak.fuzzing", 2.0),
)
