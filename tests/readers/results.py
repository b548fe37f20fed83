"""A saved result with other contents of some files, all of whose hashes are right."""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import condal
from condal.io.container.manifest import seal_of
from condal.io.results import load, save

RECORD = "result.json"


@cache
def files() -> dict[str, bytes]:
    """Those of a result that was saved."""
    solved = condal.solve(condal.problems.max_cut(np.ones((3, 3)) - np.eye(3)))
    picture = {"a": np.ones(2), "b": np.array(["x"])}
    with tempfile.TemporaryDirectory() as folder:
        path = save(solved, Path(folder) / "run", picture=picture)
        return {file.name: file.read_bytes() for file in path.iterdir()}


def put(folder: Path, changed: dict[str, bytes]) -> Path:
    """The folder of the result, with these contents of these files."""
    folder.mkdir(exist_ok=True)
    whole = {**files(), **changed}
    # What is no record any more is to be refused as it is.
    with contextlib.suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        whole[RECORD] = _sealed(whole)
    for name, data in whole.items():
        (folder / name).write_bytes(data)
    return folder


def reader(name: str) -> Callable[[Path], Any]:
    """Read what is given as one file of the result among the others."""
    return lambda path: load(put(path.with_name("run"), {name: path.read_bytes()}))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field is there twice, and is to be so")
    return dict(pairs)


def _none(name: str) -> None:
    raise ValueError(name)


def _sealed(whole: dict[str, bytes]) -> bytes:
    """The record, with the hashes of the files and its own seal."""
    record = json.loads(whole[RECORD].decode(), object_pairs_hook=_once, parse_constant=_none)
    for name, claim in record["files"].items():
        data = whole[name]
        claim.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    record["seal"] = seal_of(record)
    return json.dumps(record).encode()
