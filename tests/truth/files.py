"""Conic programs through an SDPA file, written here line by line."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from condal.problems.conic import Program
from condal.problems.conic.files import read_sdpa


def sdpa_text(program: Program) -> str:
    """maximise <F_0, X> with <F_i, X> = b_i: one line per entry of the upper triangles."""
    sizes = [block.n if block.kind == "psd" else -block.n for block in program.blocks]
    lines = [str(program.b.size), str(len(sizes)), " ".join(map(str, sizes))]
    lines.append(" ".join(repr(float(value)) for value in program.b))
    c = program.c.toarray() * (1.0 if program.maximise else -1.0)
    for i, row in enumerate(np.vstack([c, program.A.toarray()])):
        for j, block in enumerate(program.blocks):
            part = row[program.place(j)]
            full = part.reshape(block.n, block.n) if block.kind == "psd" else np.diag(part)
            for r, s in zip(*np.nonzero(np.triu(full)), strict=True):
                lines.append(f"{i} {j + 1} {r + 1} {s + 1} {float(full[r, s])!r}")
    return "\n".join(lines) + "\n"


def by_file(program: Program) -> Program:
    """Return the program as read back; it always maximises."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.dat-s"
        path.write_text(sdpa_text(program))
        return replace(read_sdpa(path).program, offset=program.offset)
