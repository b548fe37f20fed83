"""Fuzz one reader under Atheris: `python -m fuzz.one NAME CORPUS WRONG [options of libFuzzer]`.

The oracle is that of the tests, `readers.oracle`. An input on which the reader fails is stored in
the folder WRONG, once per place of failure, and the search continues.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["condal.formats", "condal.saved", "zipfile"]):
    from readers import FORMATS
    from readers.archives import changed
    from readers.oracle import returned

SHARED_MEMORY = Path("/dev/shm")


def _mutated(data: bytes, most: int, seed: int) -> bytes:
    """Return a mutated input; for an archive, usually one changed member with correct digests."""
    if data.startswith(b"PK") and seed % 4:
        made = changed(data, seed // 4, lambda member: atheris.Mutate(member, most))
        if made is not None and len(made) <= most:
            return made
    return atheris.Mutate(data, most)


def main() -> None:
    """Fuzz until libFuzzer's time limit."""
    name, corpus, wrong, *options = sys.argv[1:]
    form = next(form for form in FORMATS if form.name == name)
    warnings.simplefilter("error")
    place = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place, prefix="condal-fuzz-") as folder:
        path, seen = Path(folder) / f"given{form.suffix}", set()

        def try_one(data: bytes) -> None:
            path.write_bytes(data)
            try:
                returned(form, path)
            except Exception as error:
                cause = error.__cause__ or error
                where = "".join(traceback.format_tb(cause.__traceback__)[-1:])
                key = hashlib.sha256(f"{type(cause)}{where}".encode()).hexdigest()[:12]
                if key not in seen:
                    seen.add(key)
                    (Path(wrong) / key).write_bytes(data)
                    (Path(wrong) / f"{key}.txt").write_text(f"{error}\n{where}")

        atheris.Setup([sys.argv[0], corpus, *options], try_one, custom_mutator=_mutated)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
