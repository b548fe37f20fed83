"""A folder of one shard with other contents, all of whose digests are right."""

import contextlib
import hashlib
import json
import math
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.io.container.array_file import DIGEST_BYTES, DTYPES, LENGTHS, head_bytes, raw
from condal.io.container.manifest import sealed
from condal.io.formats import read_graph
from condal.io.safe_files import read_whole
from condal_mpi import write_shards
from condal_mpi.shards.manifest import MANIFEST, SHARDS, Manifest, ShardRecord
from readers.contents import W

MAGIC = b"condal shards\n"
NAME = "0000.rows"
MOST = 1 << 24  # bytes of a file that is tried


@cache
def right() -> bytes:
    """The file of a shard that was written."""
    with tempfile.TemporaryDirectory() as folder:
        write_shards(Path(folder) / "graph", W)
        return (Path(folder) / "graph" / NAME).read_bytes()


def of(**changed: Any) -> bytes:
    """The file with other arrays: counts, columns or weights."""
    own = sp.csr_array(W.astype(float))
    arrays = {
        "counts": np.diff(own.indptr).astype(np.int32),
        "columns": own.indices.astype(np.int32),
        "weights": own.data,
        **changed,
    }
    values = [np.asarray(array) for array in arrays.values()]
    head = head_bytes(SHARDS, {"shard": 0, "begin": 0, "n": len(W)}, [0, len(W)], values)
    return head + b"".join(bytes(raw(array)) for array in values)


def claiming(rows: int) -> bytes:
    """The file with a header that claims so many rows."""
    data = right()
    begin = len(MAGIC) + LENGTHS.size
    version, length = LENGTHS.unpack(data[len(MAGIC) : begin])
    values = json.loads(data[begin : begin + length])
    values["arrays"][0].update(shape=[rows])
    text = json.dumps(values, separators=(",", ":")).encode()
    head = MAGIC + LENGTHS.pack(version, len(text)) + text
    return head + hashlib.sha256(head).digest() + data[begin + length + DIGEST_BYTES :]


def read(path: Path) -> Any:
    """Read a file as the only shard of a folder, whose manifest names it as it is."""
    data = resealed(read_whole(path, MOST))
    folder = path.with_name("folder")
    folder.mkdir(exist_ok=True)
    (folder / NAME).write_bytes(data)
    record = ShardRecord(len(W), int(np.count_nonzero(W)), len(data), _digest(data))
    manifest = Manifest("", len(W), False, False, (record,))
    (folder / MANIFEST).write_text("".join(sealed(manifest.as_json())))
    return read_graph(folder)


def resealed(data: bytes) -> bytes:
    """The file with right digests of its head and arrays, as far as it is one."""
    with contextlib.suppress(Exception):
        begin = len(MAGIC) + LENGTHS.size
        version, length = LENGTHS.unpack(data[len(MAGIC) : begin])
        values = json.loads(data[begin : begin + length])
        body = data[begin + length + DIGEST_BYTES :]
        rest = body
        for array in values["arrays"]:
            size = math.prod(array["shape"]) * DTYPES[array["dtype"]].itemsize
            array["sha256"], rest = hashlib.sha256(rest[:size]).hexdigest(), rest[size:]
        text = json.dumps(values, separators=(",", ":")).encode()
        head = MAGIC + LENGTHS.pack(version, len(text)) + text
        return head + hashlib.sha256(head).digest() + body
    return data


def _digest(data: bytes) -> str:
    """The digest of the head, as the file has it."""
    with contextlib.suppress(Exception):
        begin = len(MAGIC) + LENGTHS.size
        _, length = LENGTHS.unpack(data[len(MAGIC) : begin])
        return data[begin + length : begin + length + DIGEST_BYTES].hex().ljust(64, "0")[:64]
    return "0" * 64
