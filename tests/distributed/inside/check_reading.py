"""The rows of all ranks, one under the other, are what `read_graph` gives; so are the errors."""

from __future__ import annotations

import gzip
import io
import lzma
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cell import NoSuchThing
from cells import CELLS

from condal import distributed
from condal.distributed.reading import read_rows
from condal.distributed.team import Team
from condal.errors import CondalError, FormatError, ProblemError
from condal.io.formats import read_graph, read_labelled_graph
from condal.problems.graphs import adjacency
from readers import FORMATS

BY_NAME = {one.name: one for one in FORMATS}
FEW = re.compile(r"\d rows cannot be shared by \d ranks; start at most \d of them")
NAMES = ["rudy", "matrix market", "metis", "edge list", "sparse array"]


@cache
def teams():
    """All ranks, and all but the last, if this one is among them."""
    team = Team()
    fewer = Team(team.comm.Split(0 if team.rank < team.size - 1 else 1))
    return [fewer, team] if team.rank < team.size - 1 else [team]


def put(shared, team, name: str, contents: bytes):
    path = shared / name
    if team.rank == 0:
        path.write_bytes(contents)
    team.comm.Barrier()
    return path


def outcome(read, *given):
    try:
        return read(*given), None
    except CondalError as error:
        return None, str(error)


def agree(path, team):
    """Whether each team reads what one process does, or is refused in the same words."""
    whole, wrong = outcome(read_labelled_graph, path)
    for some in teams():
        if whole is not None and whole[0].shape[0] < some.size:
            continue
        rows, refused = outcome(read_rows, path, some)
        # With fewer rows than ranks, it may not be read as far as its fault.
        few = whole is None and FEW.match(f"{refused}")
        assert some.gathered(refused) == [refused if few else wrong] * some.size
        if whole is None:
            continue
        blocks = some.gathered((rows.W, rows.labels))
        W, labels = sp.csr_array(sp.vstack([one for one, _ in blocks])), whole[1]
        assert all(one.has_sorted_indices for one, _ in blocks)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(W, part), getattr(whole[0], part))
        np.testing.assert_array_equal(np.concatenate([one for _, one in blocks]), labels)
    team.comm.Barrier()


@pytest.mark.parametrize("name", NAMES)
def test_right_files_are_read_alike(name, shared, team):
    form = BY_NAME[name]
    for number, contents in enumerate(form.files):
        agree(put(shared, team, f"{number}{form.suffix}", contents), team)
        if form.text:
            crlf = contents.replace(b"\n", b"\r\n")
            agree(put(shared, team, f"{number}bom{form.suffix}", b"\xef\xbb\xbf" + crlf), team)


@pytest.mark.parametrize("name", NAMES)
def test_files_with_a_fault_are_refused_alike(name, shared, team):
    form = BY_NAME[name]
    for number, cell in enumerate(CELLS[name].values()):
        if not isinstance(cell, NoSuchThing):
            agree(put(shared, team, f"{number}{form.suffix}", cell.contents), team)


@pytest.mark.parametrize("name", NAMES)
def test_truncated_files_are_refused_alike(name, shared, team):
    form = BY_NAME[name]
    step = 7 if form.text else 151
    for length in range(0, len(form.files[0]), step):
        agree(put(shared, team, f"{length}{form.suffix}", form.files[0][:length]), team)


def graph(n: int = 83, *, loops: bool = True):
    """W = W', of weights that no sum keeps exactly."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, 6 * n))
    w = rng.standard_normal(i.size)
    upper = sp.triu(sp.coo_array((w, (i, j)), shape=(n, n)).tocsr(), 0 if loops else 1)
    return sp.csr_array(upper + sp.triu(upper, 1).T)


def written(W) -> dict[str, bytes]:
    """The graph in every format, its entries in no order, some of them twice."""
    rng = np.random.default_rng(5)
    upper = sp.coo_array(sp.triu(W))
    order = rng.permutation(upper.nnz)
    i, j, w = upper.row[order] + 1, upper.col[order] + 1, upper.data[order]
    n, lines = W.shape[0], [f"{a} {b} {c!r}" for a, b, c in zip(i, j, w.tolist(), strict=True)]
    turned = [f"{b} {a} {c!r}" for a, b, c in zip(i, j, w.tolist(), strict=True)]
    both = [one for one, a, b in zip(turned, i, j, strict=True) if a != b] + lines
    market = "%%MatrixMarket matrix coordinate real {}\n% of a test\n\n{} {} {}\n{}\n"
    files = {
        "graph.txt": f"{n} {3 * len(lines)}\n" + "\n".join(lines + turned + lines),
        "upper.mtx": market.format("symmetric", n, n, 2 * len(lines), "\n\n".join(lines * 2)),
        "whole.mtx": market.format("general", n, n, len(both), "\n".join(both)),
        "graph.edges": "# of a test\n\n" + "\n % a\n".join(lines + turned) + "\n",
        "graph.csv": "u,v,w\n" + "\n".join(one.replace(" ", ",") for one in lines[:40]),
    }
    return {name: text.encode() for name, text in files.items()}


def test_graphs_of_some_size_are_read_alike(shared, team):
    """Lines across the borders of slices, comments, blank lines, duplicates, loops."""
    W = graph()
    for name, contents in written(W).items():
        agree(put(shared, team, name, contents), team)
    rudy = written(W)["graph.txt"]
    agree(put(shared, team, "packed.txt.gz", gzip.compress(rudy)), team)
    agree(put(shared, team, "packed.txt.xz", lzma.compress(rudy)), team)
    agree(put(shared, team, "cut.txt.xz", lzma.compress(rudy)[:-9]), team)


@pytest.mark.parametrize("weighted", [True, False])
def test_metis_files_are_read_alike(weighted, shared, team):
    W = graph(loops=False)
    lines = []
    for row in range(W.shape[0]):
        here = slice(W.indptr[row], W.indptr[row + 1])
        edges = zip((W.indices[here] + 1).tolist(), W.data[here].tolist(), strict=True)
        pairs = [f"{j} {w!r}" if weighted else f"{j}" for j, w in edges]
        lines += ["%" + "x" * (row % 7) if row % 5 == 0 else "", " ".join(pairs)]
    lines = [line for k, line in enumerate(lines) if k % 2 or line]
    head = f"%{'y' * 300}\n{W.shape[0]} {W.nnz // 2}{' 1' * weighted}\n"
    whole = (head + "\n".join(lines)).encode()
    agree(put(shared, team, "whole.graph", whole), team)
    rng = np.random.default_rng(1)
    for number in range(12):  # a line is lost, or another number stands in one
        wrong = list(lines)
        at = int(rng.integers(len(lines)))
        words = wrong[at].split()
        if number % 2 and words:
            words[int(rng.integers(len(words)))] = str(rng.integers(1, 84))
            wrong[at] = " ".join(words)
        else:
            del wrong[at]
        agree(put(shared, team, f"{number}.graph", (head + "\n".join(wrong)).encode()), team)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("packed", [True, False])
def test_saved_matrices_are_read_alike(form, packed, shared, team):
    stream = io.BytesIO()
    sp.save_npz(stream, graph().asformat(form), compressed=packed)
    whole = stream.getvalue()
    agree(put(shared, team, "whole.npz", whole), team)
    rng = np.random.default_rng(2)
    for number in range(6):  # a byte is another
        wrong = bytearray(whole)
        wrong[int(rng.integers(200, len(whole) - 400))] ^= 4
        agree(put(shared, team, f"{number}.npz", bytes(wrong)), team)
    agree(put(shared, team, "lopsided.npz", lopsided(form)), team)


def lopsided(form):
    W = graph().tolil()
    W[40, 2] = 7.0
    stream = io.BytesIO()
    sp.save_npz(stream, sp.csr_array(W).asformat(form))
    return stream.getvalue()


FAULTS = {
    "0.txt": b"40 39\n" + b"".join(b"%d %d\n" % (k, k + 1) for k in range(1, 30)) + b"31 x\n",
    "1.txt": b"40 9\n" + b"".join(b"%d %d\n" % (k, k + 1) for k in range(1, 30)) + b"31 x\n",
    "2.txt": b"40 39\n" + b"".join(b"%d %d\n" % (k, k + 1) for k in range(1, 30)) + b"\n\n",
    "3.txt": b"9 8\n" + b"1 2 1e308\n" * 8,
    "4.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n9 9 9\n"
    + b"".join(b"%d %d\n" % (k + 1, k) for k in range(1, 9))
    + b"1 2\n",
    "5.edges": b"".join(b"%d %d 2\n" % (k, 3 * k) for k in range(1, 40)) + b"12 4 2.5\n",
    "6.edges": b"".join(b"%d %d 2\n" % (k, 3 * k) for k in range(1, 40)) + b"a b 2.5\n",
    "7.edges": b"".join(b"%d %d 2\n" % (k, 3 * k) for k in range(1, 40)) + b"1 2 {}\n",
    "8.edges": b"1 2\n" * 20 + b"1 2.5\n" + b"1 2\n" * 20,
    "9.edges": b"1 2 3 4\n" * 20,
    "10.edges": b"u v\n" + b"# a\n" * 20,
    "11.edges": b"# a\n" * 20,
    "12.txt": b"1 2\n" * 20 + b"\xff\n",
    "13.txt": b"1 2\n" * 20 + b"\x00\n",
    "14.txt": b" \n" * 20,
    "15.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n" + b"% a\n" * 20,
    "16.mtx": b"%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n",
    "17.graph": b"% a\n" * 20,
    "18.graph": b"8 0 11\n" + b"1\n" * 7,
    "19.graph": b"8 0 11\n" + b"1\n" * 5 + b"\n1\n1\n",
    "20.edges": b"1 2\n" * 20 + b"3\x0b4\n",
    "21.dat-s": b"1 2\n",
    "22.edges": b"1 9007199254740994\n" * 20,
    "23.edges": b"1 2\n" * 20 + b"1 2 3\n",
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_anywhere_are_told_of_as_in_one_process(name, shared, team):
    agree(put(shared, team, name, FAULTS[name]), team)
    assert outcome(read_graph, shared / name)[0] is None


def test_a_file_that_one_rank_does_not_find_is_refused_by_all(shared, team):
    path = put(shared, team, "here.txt", b"9 1\n1 2\n")
    given = path if team.rank < team.size - 1 else shared / "absent.txt"
    with pytest.raises(CondalError, match=r"absent.txt: cannot be read: No such file") as caught:
        read_rows(given, team)
    assert len(set(team.gathered(str(caught.value)))) == 1


def test_a_file_that_is_shorter_for_one_rank_is_refused_by_all(shared, monkeypatch, team):
    own = shared / f"{team.rank}"
    own.mkdir()
    monkeypatch.chdir(own)
    whole = b"90 80\n" + b"1 2\n" * 80
    Path("given.txt").write_bytes(whole[:-20] if team.rank == team.size - 1 else whole)
    with pytest.raises(ProblemError, match=r"differ in the bytes of given.txt: rank 0 has 326"):
        read_rows("given.txt", team)


def test_more_ranks_than_vertices_are_refused(shared, team):
    path = put(shared, team, "few.txt", b"1 0\n")
    if team.size > 1:
        with pytest.raises(ProblemError, match=f"1 rows cannot be shared by {team.size} ranks"):
            read_rows(path, team)


@pytest.mark.parametrize("contents", [b"\x93NUMPY\x01\x00", b"a title"], ids=["x.npy", "x.rb"])
def test_what_one_process_alone_reads_is_refused(contents, shared, team):
    name = "x.npy" if contents.startswith(b"\x93") else "x.rb"
    with pytest.raises(FormatError, match=r"only (be read by )?one process"):
        read_rows(put(shared, team, name, contents), team)


def test_loops_and_zeros_are_left_out_as_max_cut_does(shared, team):
    path = put(shared, team, "graph.txt", written(graph())["graph.txt"])
    blocks = team.gathered(distributed.max_cut(read_rows(path, team).W, team).block)
    W = adjacency(read_graph(path))
    assert (sp.csr_array(sp.vstack(blocks)) != W).nnz == 0
    zeros = b"9 3\n1 2 0\n2 3 0\n8 9 0\n"
    with pytest.raises(ProblemError, match="the graph has no edges"):
        distributed.read_max_cut(put(shared, team, "zeros.txt", zeros), team)


@pytest.mark.parametrize("name", ["graph.txt", "graph.txt.gz", "graph.npz"])
def test_files_that_are_as_long_and_not_the_same_are_refused_by_all(
    name, shared, monkeypatch, team
):
    """As node-local copies of which one is stale."""
    own = shared / f"{team.rank}"
    own.mkdir()
    monkeypatch.chdir(own)
    n = 3000
    weight = b"7" if team.rank == 1 else b"1"
    text = b"%d %d\n" % (n, n - 1) + b"".join(b"%d %d 1\n" % (i, i + 1) for i in range(1, n - 1))
    text += b"%d %d %s\n" % (n - 1, n, weight)
    if name.endswith(".npz"):
        W = sp.csr_array(sp.diags([np.ones(n - 1)] * 2, offsets=[-1, 1]))
        W.data[-1] = W.data[-2] = float(weight)
        sp.save_npz(name, W, compressed=False)
    else:
        Path(name).write_bytes(gzip.compress(text, mtime=0) if name.endswith(".gz") else text)
    lengths = team.gathered(Path(name).stat().st_size)
    what = "what is in" if len(set(lengths)) == 1 else "the bytes of"
    with pytest.raises(ProblemError, match=f"the ranks differ in {what} {name}"):
        read_rows(name, team)
