"""Files that claim or unpack to a lot: refused by the command line in 1.5 GB of address space.

One process for all of them: the limit is the system's, and what NumPy, zlib and liblzma ask for
counts as well as what Python does.
"""

import gzip
import io
import json
import lzma
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
import scipy.sparse as sp

from readers.contents import BANNER, RUDY, claiming, coo, csr, mat, npz

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has no such limits")
LIMIT = 1_500_000_000
MILLION_MILLION = b"1000000000000"
ZEROS = 64 << 20

# The script runs each command in turn and prints its exit code and stderr.
SCRIPT = """
import contextlib, io, json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
from condal.cli.app import cli
from condal.errors import FormatError
from condal.formats import read_sedumi
told = []
for arguments in json.load(sys.stdin):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            if arguments[1].endswith(".mat"):  # which the command line does not read
                told.append((0, str(len(read_sedumi(arguments[1]).blocks))))
            else:
                cli.main(arguments)
    except SystemExit as end:
        told.append((end.code, said.getvalue()))
    except FormatError as error:
        told.append((2, "condal: error: " + str(error) + chr(10)))
print(json.dumps(told))
"""


def greedy_xz() -> bytes:
    """A small file whose header asks for a dictionary of 4 GiB."""
    chosen = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]
    made = bytearray(lzma.compress(RUDY, check=lzma.CHECK_CRC32, filters=chosen))
    length = 4 * (made[12] + 1)  # of the header of its block
    assert made[14:16] == b"\x21\x01"  # LZMA2, and one byte: the size of the dictionary
    made[16] = 40
    made[12 + length - 4 : 12 + length] = struct.pack("<I", zlib.crc32(made[12 : 12 + length - 4]))
    return bytes(made)


def greedy_zip() -> bytes:
    """An archive with an array whose compression asks for a dictionary of 4 GiB."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        for name in ("a", "b"):
            archive.writestr(f"{name}.npy", claiming((4,), data=bytes(32)))
    made = stream.getvalue()
    place = made.index(b"\x5d\x00\x00")  # the properties of LZMA: the dictionary follows
    return made[: place + 1] + b"\xff\xff\xff\xff" + made[place + 5 :]


def zeros(name: str) -> bytes:
    """An archive with an array of 64 MiB of zeros."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
            member.write(claiming((ZEROS,), "|b1"))
            for _ in range(ZEROS >> 20):
                member.write(bytes(1 << 20))
        archive.writestr("a.npy" if name == "b" else "b.npy", claiming((0, 2)))
    return stream.getvalue()


TALL = sp.csc_matrix(([2.0], ([0], [0])), shape=(10**9, 1))
CUT, MEANS = ("--as", "max-cut"), ("--as", "k-means", "--clusters", "2")
PHASES, ENTRIES = ("--as", "phase-retrieval"), ("--as", "matrix-completion", "--radius", "2")
FILES = {
    "bomb.txt.gz": (lambda: gzip.compress(b"\n" * ZEROS), CUT),
    "bomb.dat-s.xz": (lambda: lzma.compress(b"\n" * ZEROS, preset=0), ("--as", "sdp")),
    "greedy.txt.xz": (greedy_xz, CUT),
    "vertices.txt": (lambda: b"1000000000 0\n", CUT),
    "edges.txt": (lambda: b"9 " + MILLION_MILLION + b"\n1 2\n", CUT),
    "rows.mtx": (lambda: BANNER + b"900000000 900000000 0\n", CUT),
    "vertices.graph": (lambda: b"999999999 0\n", CUT),
    "sizes.dat-s": (lambda: b"1\n1\n" + MILLION_MILLION + b"\n1\n", ("--as", "sdp")),
    "matrices.dat-s": (lambda: MILLION_MILLION + b"\n1\n2\n1\n", ("--as", "sdp")),
    "places.dat": (lambda: b"1000000\n1 2\n", ("--as", "qap")),
    "ratings.mtx": (
        lambda: BANNER.replace(b"symmetric", b"general") + b"900000000 900000000 0\n",
        ENTRIES,
    ),
    "claim.npy": (lambda: claiming((4294967296, 1)), MEANS),
    "graph.npy": (lambda: claiming((65536, 65536)), CUT),
    "shape.npz": (lambda: csr(shape=np.array([10**12] * 2)), CUT),
    "coo.npz": (lambda: coo(shape=np.array([10**9] * 2)), CUT),
    "indptr.npz": (lambda: zeros("indptr"), CUT),
    "arrays.npz": (lambda: zeros("b"), PHASES),
    "member.npz": (lambda: npz(a=np.eye(2)).replace(b"(2, 2)", b"(2,65)"), PHASES),
    "greedy.npz": (greedy_zip, PHASES),
    "cone.mat": (lambda: mat(K={"s": 1e6}), ()),
    "tall.mat": (lambda: mat(K={"l": 1.0, "q": 3.0, "s": TALL}), ()),
    "c.mat": (lambda: mat(c=TALL), ()),
    "zeros.mat": (lambda: mat(A=np.zeros((2, 1_300_000)), packed=True), ()),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """Return the exit code and the text of each command, by file name."""
    folder = tmp_path_factory.mktemp("greedy")
    commands = []
    for name, (make, options) in FILES.items():
        (folder / name).write_bytes(make())
        commands.append(["solve", str(folder / name), *options, "--save", str(folder / "run")])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(limit=LIMIT)],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert not (folder / "run").exists()
    return dict(zip(FILES, json.loads(run.stdout), strict=True))


@pytest.mark.parametrize("name", [name for name in FILES if name != "tall.mat"])
def test_a_file_that_asks_for_much_is_refused_before_it_has_it(ended, name):
    code, said = ended[name]
    assert code == 2, said
    assert said.startswith("condal: error: ")
    assert name in said
    assert "out of memory" not in said
    assert said.count("\n") == 1


def test_of_a_shape_that_is_claimed_nothing_is_made(ended):
    """A sparse matrix of 10^9 rows in a MATLAB file costs only its entries."""
    assert ended["tall.mat"] == [0, "3"]
