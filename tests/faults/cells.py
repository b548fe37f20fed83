"""What is right where a file has a fault: for each format, and each fault that files can have."""

from __future__ import annotations

from binary_cells import BINARY
from cell import Cell
from text_cells import TEXT

CELLS: dict[str, dict[str, Cell]] = TEXT | BINARY
