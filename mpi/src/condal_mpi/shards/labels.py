"""The labels of the vertices of an edge list, collected chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np


class LabelSet:
    """Distinct labels in rising order."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.int64)
        self._pending: list[Any] = []
        self._length = 0

    def add(self, *labels: Any) -> None:
        """Add the labels of some arrays."""
        new = np.unique(np.concatenate(labels))
        self._pending.append(new)
        self._length += new.size
        # Merged only when they have doubled: the work is n log n for any order of labels.
        if self._length > self._sorted.size:
            self._merge()

    @property
    def values(self) -> Any:
        """The labels."""
        self._merge()
        return self._sorted

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.values.size)

    def numbers(self, labels: Any) -> Any:
        """Return the number of each label, from 0."""
        return np.searchsorted(self.values, labels)

    def _merge(self) -> None:
        if self._pending:
            self._sorted = np.unique(np.concatenate([self._sorted, *self._pending]))
            self._pending, self._length = [], 0
