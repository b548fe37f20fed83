"""The expected outcome for each format and each fault of files."""

from binary_cells import BINARY
from cell import Cell
from text_cells import TEXT

from readers import FORMATS

CELLS: dict[str, dict[str, Cell]] = TEXT | BINARY
for name in (form.name for form in FORMATS if form.name not in CELLS):
    raise LookupError(f"say what is right for each fault of {name}: in tests/faults/text_cells.py")
