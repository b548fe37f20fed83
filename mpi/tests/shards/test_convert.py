"""A converted graph is what `read_graph` gives of the file, and so is the error of one fault."""

import gzip
import io
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from condal.errors import CondalError, FormatError, ProblemError
from condal.io.formats import read_labelled_graph
from condal_mpi import convert_graph, write_shards
from condal_mpi.shards import convert as module
from condal_mpi.shards.folder import read_shards
from readers import FORMATS

sys.path.append(str(Path(__file__).parents[3] / "tests" / "faults"))
from cell import NoSuchThing
from cells import CELLS

BY_NAME = {form.name: form for form in FORMATS}
NAMES = ["rudy", "matrix market", "metis", "edge list", "sparse array", "dense array"]
SHORT = 16  # bytes of a piece of text: most files have several


@pytest.fixture
def short_pieces(monkeypatch):
    monkeypatch.setattr(module, "MAX_PIECE_BYTES", SHORT)


def outcome(read, *given, **named):
    try:
        return read(*given, **named), None
    except CondalError as error:
        return None, str(error)


def agree(path: Path, shards: int | None = 3) -> None:
    """Whether a file is converted to what is read of it, or refused in the same words."""
    whole, wrong = outcome(read_labelled_graph, path)
    folder = path.with_name("converted")
    few = shards is not None and whole is not None and whole[0].shape[0] < shards
    shards = None if few or whole is None else shards
    _, refused = outcome(convert_graph, path, folder, shards=shards, overwrite=True)
    assert refused == wrong
    if whole is None:
        return
    graph = read_shards(folder)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(graph.W, part), getattr(whole[0], part))
    np.testing.assert_array_equal(graph.labels, whole[1])


@pytest.mark.parametrize("name", NAMES)
def test_right_files_are_converted(name, tmp_path, short_pieces):
    form = BY_NAME[name]
    for number, contents in enumerate(form.files):
        path = tmp_path / f"{number}{form.suffix}"
        path.write_bytes(contents)
        agree(path)
        if form.text:
            path.write_bytes(b"\xef\xbb\xbf" + contents.replace(b"\n", b"\r\n"))
            agree(path)


@pytest.mark.parametrize("name", NAMES)
def test_files_with_a_fault_are_refused_alike(name, tmp_path, short_pieces):
    form = BY_NAME[name]
    for number, cell in enumerate(CELLS[name].values()):
        if not isinstance(cell, NoSuchThing):
            path = tmp_path / f"{number}{form.suffix}"
            path.write_bytes(cell.contents)
            agree(path)


@pytest.mark.parametrize("name", NAMES)
def test_truncated_files_are_refused_alike(name, tmp_path, short_pieces):
    form = BY_NAME[name]
    path = tmp_path / f"cut{form.suffix}"
    for length in range(0, len(form.files[0]), 7 if form.text else 151):
        path.write_bytes(form.files[0][:length])
        agree(path)


def graph(n: int = 83, *, loops: bool = True):
    """W = W', of weights that no sum keeps exactly."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, 6 * n))
    w = rng.standard_normal(i.size)
    upper = sp.triu(sp.coo_array((w, (i, j)), shape=(n, n)).tocsr(), 0 if loops else 1)
    return sp.csr_array(upper + sp.triu(upper, 1).T)


def written(W) -> dict[str, bytes]:
    """The graph in every format, its entries in no order, some of them several times."""
    rng = np.random.default_rng(5)
    upper = sp.coo_array(sp.triu(W))
    order = rng.permutation(upper.nnz)
    i, j, w = upper.row[order] + 1, upper.col[order] + 1, upper.data[order]
    n, lines = W.shape[0], [f"{a} {b} {c!r}" for a, b, c in zip(i, j, w.tolist(), strict=True)]
    turned = [f"{b} {a} {c!r}" for a, b, c in zip(i, j, (3 * w).tolist(), strict=True)]
    alike = [f"{b} {a} {c!r}" for a, b, c in zip(i, j, w.tolist(), strict=True)]
    both = [line for line, a, b in zip(alike, i, j, strict=True) if a != b] + lines
    market = "%%MatrixMarket matrix coordinate real {}\n% of a test\n\n{} {} {}\n{}\n"
    files = {
        "graph.txt": f"{n} {3 * len(lines)}\n" + "\n".join(lines + turned + lines),
        "upper.mtx": market.format("symmetric", n, n, 2 * len(lines), "\n\n".join(lines * 2)),
        "whole.mtx": market.format("general", n, n, len(both), "\n".join(both)),
        "graph.edges": "# of a test\n\n" + "\n % a\n".join(lines + alike) + "\n",
        "graph.csv": "u,v,w\n" + "\n".join(line.replace(" ", ",") for line in lines[:40]),
    }
    return {name: text.encode() for name, text in files.items()}


@pytest.mark.parametrize("shards", [1, 3, 29])
def test_graphs_of_some_size_are_converted(shards, tmp_path, monkeypatch):
    """Lines across the borders of pieces, comments, blank lines, duplicates, loops."""
    monkeypatch.setattr(module, "MAX_PIECE_BYTES", 300)
    files = written(graph())
    rudy = files["graph.txt"]
    files |= {"packed.txt.gz": gzip.compress(rudy), "packed.txt.xz": lzma.compress(rudy)}
    files["cut.txt.xz"] = lzma.compress(rudy)[:-9]
    for name, contents in files.items():
        path = tmp_path / name
        path.write_bytes(contents)
        agree(path, shards)


@pytest.mark.parametrize("weighted", [True, False])
def test_metis_files_are_converted(weighted, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PIECE_BYTES", 300)
    W = graph(loops=False)
    lines = []
    for row in range(W.shape[0]):
        own = slice(W.indptr[row], W.indptr[row + 1])
        edges = zip((W.indices[own] + 1).tolist(), W.data[own].tolist(), strict=True)
        pairs = [f"{j} {w!r}" if weighted else f"{j}" for j, w in edges]
        lines += ["%" + "x" * (row % 7) if row % 5 == 0 else "", " ".join(pairs)]
    lines = [line for k, line in enumerate(lines) if k % 2 or line]
    head = f"%{'y' * 300}\n{W.shape[0]} {W.nnz // 2}{' 1' * weighted}\n"
    path = tmp_path / "whole.graph"
    path.write_text(head + "\n".join(lines))
    agree(path)
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
        path.write_text(head + "\n".join(wrong))
        agree(path)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("packed", [True, False])
def test_saved_matrices_are_converted(form, packed, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_PIECE_BYTES", 300)
    stream = io.BytesIO()
    sp.save_npz(stream, graph().asformat(form), compressed=packed)
    whole, path = stream.getvalue(), tmp_path / "whole.npz"
    path.write_bytes(whole)
    agree(path)
    rng = np.random.default_rng(2)
    for _ in range(6):  # a byte is another
        wrong = bytearray(whole)
        wrong[int(rng.integers(200, len(whole) - 400))] ^= 4
        path.write_bytes(bytes(wrong))
        agree(path)
    lopsided = graph().tolil()
    lopsided[40, 2] = 7.0
    sp.save_npz(path, sp.csr_array(lopsided).asformat(form))
    agree(path)


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
    "14.txt": b" \n" * 20,
    "15.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n" + b"% a\n" * 20,
    "16.mtx": b"%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n",
    "17.graph": b"% a\n" * 20,
    "18.graph": b"8 0 11\n" + b"1\n" * 7,
    "19.graph": b"8 0 11\n" + b"1\n" * 5 + b"\n1\n1\n",
    "21.dat-s": b"1 2\n",
    "22.edges": b"1 9007199254740994\n" * 20,
    "23.edges": b"1 2\n" * 20 + b"1 2 3\n",
    "25.edges": b"1 2 1\n3 4 1\n" * 20 + b"4 3 2\n2 1 3\n",
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_anywhere_are_refused_alike(name, tmp_path, short_pieces):
    path = tmp_path / name
    path.write_bytes(FAULTS[name])
    agree(path)
    assert outcome(read_labelled_graph, path)[0] is None
    assert [file.name for file in tmp_path.iterdir()] == [name]


SEVERAL_FAULTS = {
    "13.txt": b"1 2\n" * 20 + b"\xff\n" + b"1 2\n" * 20 + b"\x00\n",
    "20.edges": b"1 x\n" * 20 + b"3\x0b4\n",
    "24.edges": b"1 2.5\n" * 20 + b"1.5 2\n",
}


@pytest.mark.parametrize("name", SEVERAL_FAULTS)
def test_of_several_faults_the_first_in_the_file_is_named(name, tmp_path, short_pieces):
    path = tmp_path / name
    path.write_bytes(SEVERAL_FAULTS[name])
    for read, line in ((read_labelled_graph, None), (convert_graph, 1 if ".edges" in name else 21)):
        with pytest.raises(FormatError) as caught:
            read(path) if read is read_labelled_graph else read(path, tmp_path / "converted")
        assert line is None or caught.value.line == line


MEMORY = 8_000_000
# In its own process: the interpreter's table of strings grows during some test by more than this.
PEAK = f"""
import sys, tracemalloc
from condal.io.formats import text
from condal_mpi.shards import convert
convert.MIN_MEMORY, text.CHUNK_BYTES = {MEMORY}, 1 << 16
tracemalloc.start()
convert.convert_graph(*sys.argv[1:], max_memory={MEMORY})
print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.parametrize("suffix", [".txt", ".mtx", ".graph", ".edges", ".npz"])
def test_a_file_larger_than_the_memory_is_converted_within_it(suffix, tmp_path):
    """The entries take 12 bytes each in W alone, and the file and its parsed text more."""
    n, m = 20_000, 800_000
    rng = np.random.default_rng(3)
    i, j = np.sort(rng.integers(n, size=(2, m)), axis=0)
    i, j = np.divmod(np.unique(i[i < j].astype(np.int64) * n + j[i < j]), n)
    path, folder = tmp_path / f"big{suffix}", tmp_path / "big.shards"
    upper = sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    W = sp.csr_array(upper + upper.T)
    if suffix == ".npz":
        sp.save_npz(path, W, compressed=False)
    elif suffix == ".graph":
        rows = np.split((W.indices + 1).astype("U"), W.indptr[1:-1])
        path.write_text(f"{n} {i.size}\n" + "\n".join(map(" ".join, rows)))
    else:
        banner = f"%%MatrixMarket matrix coordinate pattern symmetric\n{n} "
        head = "" if suffix == ".edges" else f"{banner * (suffix == '.mtx')}{n} {i.size}\n"
        lines = np.char.add(np.char.add((i + 1).astype("U"), " "), (j + 1).astype("U"))
        path.write_text(head + "\n".join(lines.tolist()))
    assert 12 * W.nnz > 2 * MEMORY
    run = subprocess.run(
        [sys.executable, "-c", PEAK, path, folder], capture_output=True, text=True, check=True
    )
    assert 0 < int(run.stdout) < MEMORY + (40 * n if suffix == ".edges" else 0)
    assert (read_shards(folder).W != W).nnz == 0


def test_shards_that_do_not_fit_into_the_memory_are_refused(tmp_path):
    path = tmp_path / "star.txt"
    n = 200_000
    path.write_text(f"{n} {n - 1}\n" + "".join(f"1 {k}\n" for k in range(2, n + 1)))
    with pytest.raises(ProblemError, match=r"shard 0 of 2 has 199999 entries and would take 20 MB"):
        convert_graph(path, tmp_path / "star", shards=2, max_memory="16 MB")
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ProblemError, match=r"max_memory must be at least 16 MB; got 1 MB"):
        convert_graph(path, tmp_path / "star", max_memory="1 MB")


def test_folders_are_converted_again(tmp_path):
    W = graph()
    write_shards(tmp_path / "one", W, labels=7 * np.arange(83))
    agree(tmp_path / "one", 5)


def test_what_is_there_is_kept_unless_it_is_a_conversion_to_overwrite(tmp_path):
    path, folder = tmp_path / "graph.txt", tmp_path / "shards"
    path.write_text("3 2\n1 2\n2 3\n")
    for other in (path, tmp_path):
        with pytest.raises(FormatError, match=r"exists and is not a folder"):
            convert_graph(path, other, overwrite=True)
    convert_graph(path, folder)
    with pytest.raises(FormatError, match=r"holds an earlier conversion; give a new folder"):
        convert_graph(path, folder)
    convert_graph(path, folder, shards=3, overwrite=True)
    assert len(list(folder.glob("*.rows"))) == 3
    (folder / "mine").touch()
    with pytest.raises(FormatError, match=r"holds 'mine' beside an earlier conversion"):
        convert_graph(path, folder, overwrite=True)


def test_an_interrupted_conversion_leaves_nothing(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text("3 2\n1 2\n2 3\n")

    def stop(step, done, of):
        if step == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_graph(path, tmp_path / "shards", progress=stop)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("shards", [0, -1, 4, True, 1.5])
def test_bad_numbers_of_shards_are_refused(shards, tmp_path):
    with pytest.raises(ProblemError, match=r"shards must be a whole number|at most 3"):
        write_shards(tmp_path / "shards", np.ones((3, 3)), shards=shards)
