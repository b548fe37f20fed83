"""The METIS (.graph) format: a line `n m [fmt [ncon]]`, then one line of neighbours per vertex.

Every edge stands in the lines of both its ends. fmt has up to three digits. The last is 1 if edges
have weights, the one before if vertices have ncon weights, the first if vertices have sizes. The
weights and sizes of vertices are checked but not used. METIS itself asks for positive whole edge
weights; here they may be any finite numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.formats import numerals
from condal.io.formats.adjacency import (
    Entries,
    from_edges,
    mirror,
    pair_fault,
    same,
    sum_entries,
    upper_triangle,
)
from condal.io.formats.coordinate import index_fault, line_blocks, weight_fault
from condal.io.formats.header import Layout, check_claims, read_count
from condal.io.formats.text import Source, Text, quote, read_text
from condal.io.formats.writing import write_text
from condal.io.safe_files import PathLike

MAX_VERTEX_WEIGHTS = 1000

_COMMENT = re.compile(rb"^[ \t]*%[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADER = "'n m', 'n m fmt' or 'n m fmt ncon', the numbers of vertices and edges first"


@dataclass(frozen=True)
class Plan:
    """The claim of the header, on line `line`, about the lines after it, which begin at `start`.

    A line has `own` numbers of its vertex, then a neighbour in every `step` numbers.
    """

    layout: Layout
    own: int
    step: int
    start: int
    line: int


def read_metis(path: Source) -> sparse.csr_array:
    """Read a graph in the METIS format.

    Without weights an edge has weight 1. A blank line is a vertex without neighbours.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be packed with gzip or xz.

    Returns
    -------
    csr_array
        The adjacency matrix :math:`W = W^T`.
    """
    text = read_text(path)
    plan = read_header(text)
    n = plan.layout.n
    # m is not needed to allocate memory, and the error of a wrong m is clearer at the end.
    check_claims(text, replace(plan.layout, m=0), plan.start, plan.line)
    # Comments do not count as vertices; only errors need their lines.
    body = without_comments(text.data[plan.start :])
    require_lines(text, plan, body.count(b"\n"))
    parsed = parse_neighbours(body, plan)
    if parsed is None or (plan.own and parsed.full < n):
        refuse_first_fault(text, plan)
    i, j, w = parsed.entries
    del parsed
    if w.all():
        W = sum_entries(text, n, i, j, w)
        if W.nnz == i.size == 2 * plan.layout.m and same(W, W.T.tocsr()):
            return W
    if (fault := pair_fault(n, (i, j, w), (j, i, w))) is not None:
        raise text.error(fault.text, line_of_vertex(text, plan, fault.vertex))
    require_edges(text, plan, i.size)
    once = i < j
    return from_edges(text, n, i[once], j[once], w[once])


def without_comments(data: bytes) -> bytes:
    """Remove the lines that are comments."""
    return _COMMENT.sub(b"", data)


def require_lines(text: Text, plan: Plan, ends: int) -> None:
    """Refuse fewer lines than vertices; `ends` is the number of ends of lines."""
    lines = ends + 1  # the last line, which may be blank, need not have an end
    if lines < plan.layout.n:
        raise text.error(
            f"the header says {plan.layout.n} vertices, but {lines} lines follow; a vertex without "
            "neighbours has a blank line: the file is truncated or the header is wrong",
            plan.line,
        )


def require_edges(text: Text, plan: Plan, ends: int) -> None:
    """Refuse a number of edges, half of `ends`, that differs from the header."""
    if ends != 2 * plan.layout.m:
        raise text.error(
            f"the header says {plan.layout.m} edges, but the lines hold {ends // 2}, each twice; "
            "correct the header",
            plan.line,
        )


def write_metis(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write a graph in the METIS format; `read_metis` gives it back exactly.

    Parameters
    ----------
    path : str or os.PathLike
        The file, packed if its name ends in .gz or .xz. It appears whole or not at all.
    W : sparse or dense matrix
        The adjacency matrix :math:`W = W^T`. Its diagonal must be zero, as there are no self-loops.
    """
    upper = upper_triangle(W)
    if (loops := np.flatnonzero(upper.row == upper.col)).size:
        raise ProblemError(
            f"W has a self-loop at vertex {upper.row[loops[0]] + 1}, which METIS files cannot "
            "hold; remove the diagonal, or use write_rudy"
        )
    write_text(path, _lines(sparse.csr_array(upper)))


def read_header(text: Text) -> Plan:
    """Read the header."""
    header = text.header()
    if header is None:
        raise text.error(f"holds only comments; wanted a header, {_HEADER}")
    content, after, number = header
    words = content.split(None, 4)
    if len(words) not in (2, 3, 4):
        raise text.error(f"the header must be {_HEADER}; got {quote(content)}", number)
    n = read_count(text, words[0], number, "vertices")
    m = read_count(text, words[1], number, "edges")
    fmt = words[2] if len(words) > 2 else b"0"
    if not re.fullmatch(rb"[01]{1,3}", fmt):
        raise text.error(
            f"fmt must be up to three digits 0 or 1, as in 1, 11 or 100; got {quote(fmt)}", number
        )
    sizes, weights, edges = (digit == "1" for digit in fmt.decode().zfill(3))
    ncon = read_count(text, words[3], number, "weights of a vertex") if len(words) > 3 else 1
    if len(words) > 3 and not weights:
        raise text.error(
            f"the header says {ncon} weights per vertex, but fmt {fmt.decode()} says none; write "
            f"{'1' if sizes else '0'}1{int(edges)}, or leave out the number",
            number,
        )
    if not 1 <= ncon <= MAX_VERTEX_WEIGHTS:
        raise text.error(
            f"the header says {ncon} weights per vertex; wanted 1 to {MAX_VERTEX_WEIGHTS}", number
        )
    layout = Layout(n, m, "edges", (2,))
    return Plan(layout, int(sizes) + ncon * int(weights), 1 + int(edges), after, number)


class Neighbours(NamedTuple):
    """Entries i, j (from 0) and w of lines of vertices, and the number of nonblank lines."""

    entries: Entries
    full: int


def parse_neighbours(body: bytes, plan: Plan, before: int = 0) -> Neighbours | None:
    """Parse lines without comments, after the lines of `before` vertices; None if any is faulty."""
    columns: list[list[Any]] = [[np.zeros(0, dtype)] for dtype in (np.int64, np.int64, np.float64)]
    full = 0
    for begin, end in line_blocks(body, 0):
        block = _bulk(body, begin, end, plan, before)
        if block is None:
            return None
        for column, piece in zip(columns, block.entries, strict=True):
            column.append(piece)
        full += block.full
        before += body.count(b"\n", begin, end)
    # Popped one by one, so that only one column is in memory twice.
    i, j, w = (np.concatenate(columns.pop(0)) for _ in range(3))
    return Neighbours((i, j, w), full)


def _bulk(data: bytes, begin: int, end: int, plan: Plan, before: int) -> Neighbours | None:
    """Parse data[begin:end] into entries and the number of nonblank lines; None at any fault."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not numerals.IN_REALS[a].all():
        return None
    starts, ends, first, width = numerals.split_words(a)
    vertex = before + np.searchsorted(np.flatnonzero(a == ord("\n")), starts[first])
    rest = width - plan.own
    if (vertex >= plan.layout.n).any() or (rest < 0).any() or (rest % plan.step).any():
        return None
    place = np.arange(starts.size) - np.repeat(first, width) - plan.own
    is_own, is_neighbour = place < 0, (place >= 0) & (place % plan.step == 0)
    own, j = (
        numerals.parse_digits(a, starts[which], ends[which]) for which in (is_own, is_neighbour)
    )
    i = np.repeat(vertex, rest // plan.step)
    is_weight = ~(is_own | is_neighbour)
    weighted = plan.step == 2
    w = (
        numerals.parse_numbers(a, starts[is_weight], ends[is_weight])
        if weighted
        else np.ones(i.size)
    )
    if own is None or j is None or w is None:
        return None
    if j.size and (j.min() < 1 or j.max() > plan.layout.n or (i == j - 1).any()):
        return None
    return Neighbours((i, j - 1, w), first.size)


def _vertices(text: Text, plan: Plan) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not comments, with their numbers: one per vertex, then the rest."""
    for number, content in text.numbered_lines(plan.start):
        if not content.lstrip(b" \t").startswith(b"%"):
            yield number, content


def line_of_vertex(text: Text, plan: Plan, vertex: int) -> int:
    """Return the line of a vertex, counted from 0, among those that begin at `plan.start`."""
    return next(islice(_vertices(text, plan), vertex, None))[0]


def refuse_first_fault(text: Text, plan: Plan, before: int = 0) -> NoReturn:
    """Raise the error of the first faulty line after those of the first `before` vertices."""
    n = plan.layout.n
    for vertex, (number, content) in enumerate(_vertices(text, plan), before + 1):
        words = numerals.WORD.findall(content)
        if vertex > n:
            if words:
                raise text.error(
                    f"the header says {n} vertices, but {quote(content)} follows their lines; "
                    "correct the header or remove the excess",
                    number,
                )
            continue
        fault = _fault(words, vertex, plan)
        if fault is not None:
            raise text.error(fault, number)
    raise text.error(
        f"the line of vertex {n} is missing: wanted its {plan.own} sizes and weights",
        text.last_line,
    )


def _fault(words: list[bytes], vertex: int, plan: Plan) -> str | None:
    """Describe what is wrong with the line of a vertex, or return None."""
    own, rest = words[: plan.own], words[plan.own :]
    if len(own) < plan.own:
        return (
            f"got {len(own)} numbers for vertex {vertex}; by the header its line begins with its "
            f"{plan.own} sizes and weights"
        )
    for word in own:
        if not numerals.is_count(word):
            return f"a vertex weight must be a whole number without sign, got {quote(word)}"
    if len(rest) % plan.step:
        return (
            f"the last neighbour of vertex {vertex} has no weight: by the header a line consists "
            "of pairs 'neighbour weight'"
        )
    for k, word in enumerate(rest):
        fault = weight_fault(word) if k % plan.step else index_fault(word, plan.layout)
        if fault is None and k % plan.step == 0 and int(word) == vertex:
            fault = f"vertex {vertex} is its own neighbour; METIS files have no self-loops"
        if fault is not None:
            return fault
    return None


def _lines(upper: sparse.csr_array) -> Iterator[str]:
    """Yield the header, then one line per vertex."""
    weighted = not (upper.data == 1.0).all()
    yield f"{upper.shape[0]} {upper.nnz}{' 1' if weighted else ''}\n"
    W = mirror(upper)
    for begin, end in pairwise(W.indptr.tolist()):
        row = (W.indices[begin:end] + 1).tolist()
        if weighted:
            weights = map(numerals.spell, W.data[begin:end].tolist())
            yield " ".join(f"{j} {w}" for j, w in zip(row, weights, strict=True)) + "\n"
        else:
            yield " ".join(map(str, row)) + "\n"
