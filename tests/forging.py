"""Forged folders of saved results: changed claims and arrays, with hashes that fit again."""

import hashlib
import json
from pathlib import Path

import numpy as np

from condal.io.container.manifest import seal_of


def rewrite(folder, change, *, fitting=True):
    """Change the record of a result, and make its seal right again; if `fitting`, also the
    hashes."""
    path = Path(folder) / "result.json"
    record = json.loads(path.read_text())
    change(record)
    if not fitting:
        seal(path, record)
        return
    for name, claim in record["files"].items():
        data = (Path(folder) / name).read_bytes()
        claim.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    seal(path, record)


def seal(path, record):
    """Write a record with the seal that fits it."""
    path.write_text(json.dumps({**record, "seal": seal_of(record)}))


def reseal(folder, name, change):
    """Change an array of a result: the last one of an archive."""
    path = Path(folder) / name
    if name.endswith(".npy"):
        np.save(path, change(np.load(path)))
    else:
        with np.load(path) as archive:
            arrays = {key: archive[key] for key in archive}
        key = sorted(arrays)[-1]
        arrays[key] = change(arrays[key])
        np.savez(path, **arrays)
    rewrite(folder, lambda record: None)


WORDS = "the one and only truth\x1b[31m"
VALUES = (None, True, -1, 0, 2**62, 10**40, 1.5, 1e308, 5e-324, -1e-3, "inf", "nan", WORDS, [], {})
SPOILERS = (
    lambda a: np.full(a.shape, np.nan),
    lambda a: np.full(a.shape, 2**62),
    lambda a: 1j * a,
    lambda a: a.ravel()[:-1],
    lambda a: a[None],
    lambda a: a.astype(np.float32),
    lambda a: 1e200 * a,
    lambda a: 1.01 * a,
)


def spoil(rng, tree):
    """Put a value that nobody wrote somewhere in a tree of lists and dicts."""
    holder, key = rng.choice(list(_places(tree)))
    holder[key] = rng.choice(VALUES)


def _places(tree):
    for key in range(len(tree)) if isinstance(tree, list) else tree:
        yield tree, key
        if isinstance(tree[key], list | dict):
            yield from _places(tree[key])


def spoiled(rng, array):
    """An array of another dtype, shape or size, or of other numbers; texts stay what they are."""
    with np.errstate(all="ignore"):
        return array if array.dtype.kind == "U" else rng.choice(SPOILERS)(array)
