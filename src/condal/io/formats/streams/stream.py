"""The stream of the entries of a graph file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from condal.io.formats.streams.rules import Rule


@dataclass(frozen=True, eq=False)
class EntryStream:
    """The entries of a file in chunks.

    Parameters
    ----------
    n : int or None
        The number of vertices; None if they have labels, which the chunks then hold for i and j.
    rule : Rule
        How the entries become rows of W.
    chunks : iterator
        Arrays i, j and w; it raises the error of a faulty file at its end at the latest.
    """

    n: int | None
    rule: Rule
    chunks: Iterator[tuple[Any, Any, Any]]
