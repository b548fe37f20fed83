"""The METIS (.graph) format: a line `n m [fmt [ncon]]`, then one line of neighbours per vertex.

Every edge stands in the lines of both its ends. fmt has up to three digits. The last is 1 if edges
have weights, the one before if vertices have ncon weights, the first if vertices have sizes. The
weights and sizes of vertices are checked but not used. METIS itself asks for positive whole edge
weights; here they may be any finite numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice, pairwise
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse

from condal.errors import ProblemError
from condal.io.formats import numerals
from condal.io.formats.adjacency import (
    Entries,
    EntryStream,
    Neighbours,
    PairFault,
    graph_of,
    mirror,
)
from condal.io.formats.entries import (
    Header,
    Layout,
    TextPieces,
    check_claims,
    index_fault,
    read_count,
    weight_fault,
)
from condal.io.formats.text import Source, Text, quote
from condal.io.formats.writing import upper_triangle, write_text
from condal.io.safe_files import PathLike

MAX_VERTEX_WEIGHTS = 1000

_COMMENT = re.compile(rb"^[ \t]*%[^\n]*(?:\n|\Z)", re.MULTILINE)
_HEADER = "'n m', 'n m fmt' or 'n m fmt ncon', the numbers of vertices and edges first"


class _Plan(NamedTuple):
    """The claim of the header.

    A line has `own` numbers of its vertex, then a neighbour in every `step` numbers.
    """

    layout: Layout
    own: int
    step: int
    header: Header


def read_metis(path: Source) -> sparse.csr_array:
    """Read a graph in the METIS format.

    Without weights an edge has weight 1. A blank line is a vertex without neighbours.

    The file and the result are as in `read_graph`.
    """
    return graph_of(metis_entries(TextPieces.of_whole(path)))[0]


def metis_entries(pieces: TextPieces) -> EntryStream:
    """Return the entries of a METIS file, each edge twice."""
    plan = _plan(pieces)
    # m is not needed to allocate memory, and the error of a wrong m is clearer at the end.
    check_claims(pieces, replace(plan.layout, m=0), plan.header)

    def end(fault: PairFault | None, ends: int) -> None:
        if fault is not None:
            bodies = pieces.after(plan.header)
            lines = (pair for text, start in bodies for pair in text.numbered_lines(start))
            vertices = (number for number, content in lines if not _is_comment(content))
            raise pieces.name.error(fault.text, next(islice(vertices, fault.vertex, None)))
        if ends != 2 * plan.layout.m:
            raise plan.header.error(
                f"the header says {plan.layout.m} edges, but the lines hold {ends // 2}, each "
                "twice; correct the header"
            )

    return EntryStream(plan.layout.n, Neighbours(pieces.name, end), _entries(pieces, plan))


def write_metis(path: PathLike, W: sparse.csr_array | npt.ArrayLike) -> None:
    """Write a graph in the METIS format; `read_metis` gives it back exactly.

    The file and the matrix are as in `write_rudy`; the diagonal must be zero, as there are no
    self-loops.
    """
    upper = upper_triangle(W)
    if (loops := np.flatnonzero(upper.row == upper.col)).size:
        raise ProblemError(
            f"W has a self-loop at vertex {upper.row[loops[0]] + 1}, which METIS files cannot "
            "hold; remove the diagonal, or use write_rudy"
        )
    write_text(path, _lines(sparse.csr_array(upper)))


def _plan(pieces: TextPieces) -> _Plan:
    """Read the header."""
    header = pieces.header()
    error, words = header.error, header.content.split(None, 4)
    if not words:
        raise pieces.name.error(f"holds only comments; wanted a header, {_HEADER}")
    if len(words) not in (2, 3, 4):
        raise error(f"the header must be {_HEADER}; got {quote(header.content)}")
    n, m = read_count(error, words[0], "vertices"), read_count(error, words[1], "edges")
    fmt = words[2] if len(words) > 2 else b"0"
    if not re.fullmatch(rb"[01]{1,3}", fmt):
        raise error(f"fmt must be up to three digits 0 or 1, as in 1, 11 or 100; got {quote(fmt)}")
    sizes, weights, edges = (digit == "1" for digit in fmt.decode().zfill(3))
    ncon = read_count(error, words[3], "weights of a vertex") if len(words) > 3 else 1
    if len(words) > 3 and not weights:
        raise error(
            f"the header says {ncon} weights per vertex, but fmt {fmt.decode()} says none; write "
            f"{'1' if sizes else '0'}1{int(edges)}, or leave out the number"
        )
    if not 1 <= ncon <= MAX_VERTEX_WEIGHTS:
        raise error(f"the header says {ncon} weights per vertex; wanted 1 to {MAX_VERTEX_WEIGHTS}")
    layout = Layout(n, m, "edges", (2,))
    return _Plan(layout, int(sizes) + ncon * int(weights), 1 + int(edges), header)


def _entries(pieces: TextPieces, plan: _Plan) -> Iterator[Entries]:
    """Yield the entries of each block of lines."""
    n, ends, partial, last = plan.layout.n, 0, 0, plan.header.line
    for text, start in pieces.after(plan.header):
        # Comments do not count as vertices; only errors need their lines.
        body = _COMMENT.sub(b"", text.data[start:]) if b"%" in text.data else text.data[start:]
        before = ends
        for begin, end in numerals.line_blocks(body):
            block = _bulk(body, begin, end, plan, ends)
            if block is None:
                _refuse_first_fault(text, start, plan, before)
            yield block
            ends += body.count(b"\n", begin, end)
        partial, last = int(body != b"" and not body.endswith(b"\n")), text.last_line
    if ends + 1 < n:  # the last line, which may be blank, need not have an end
        raise plan.header.error(
            f"the header says {n} vertices, but {ends + 1} lines follow; a vertex without "
            "neighbours has a blank line: the file is truncated or the header is wrong"
        )
    if plan.own and ends + partial < n:
        raise pieces.name.error(
            f"the line of vertex {n} is missing: wanted its {plan.own} sizes and weights", last
        )


def _bulk(data: bytes, begin: int, end: int, plan: _Plan, before: int) -> Entries | None:
    """Parse data[begin:end], after the lines of `before` vertices; None if any line is faulty."""
    a = np.frombuffer(data, np.uint8, end - begin, begin)
    if not numerals.IN_REALS[a].all():
        return None
    starts, ends, first, width = numerals.split_words(a)
    vertex = before + np.searchsorted(np.flatnonzero(a == ord("\n")), starts[first])
    rest = width - plan.own
    lines = data.count(b"\n", begin, end) + (data[end - 1 : end] != b"\n")
    if plan.own and first.size < min(lines, plan.layout.n - before):
        return None  # a blank line
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
    return i, j - 1, w


def _is_comment(content: bytes) -> bool:
    return content.lstrip(b" \t").startswith(b"%")


def _refuse_first_fault(text: Text, start: int, plan: _Plan, before: int) -> NoReturn:
    """Raise the error of the first faulty line from an offset on, after `before` vertices."""
    n, vertices = plan.layout.n, count(before + 1)

    def fault(content: bytes) -> str | None:
        if _is_comment(content):
            return None
        vertex, words = next(vertices), numerals.WORD.findall(content)
        if vertex <= n:
            return _fault(words, vertex, plan)
        excess = (
            f"the header says {n} vertices, but {quote(content)} follows their lines; correct the "
            "header or remove the excess"
        )
        return excess if words else None

    text.refuse_first(start, fault)


def _fault(words: list[bytes], vertex: int, plan: _Plan) -> str | None:
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
