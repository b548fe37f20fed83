"""Readers fuzzed for as long as one likes, with Hypothesis alone; what is asked of them is what the
tests ask, `readers.oracle`. One reader and one seed again: `python -m soak.fuzzing NAME SEED`."""

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from readers import FORMATS
from readers.format import Format
from readers.mutations import any_file
from readers.oracle import returned
from soak.table import Row

AT_ONCE = 100  # files per reader between two checks of the time
OTHERS = [contents for one in FORMATS for contents in one.files]


def run(seconds: float, seed: int) -> Iterator[Row]:
    """Fuzz every reader in turn with a hundred files until the time is over, at least once."""
    until, rounds = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory(prefix="condal-soak-") as folder:
        while rounds == 0 or time.monotonic() < until:
            for form in FORMATS:
                yield attempt(form, 10_000 * seed + rounds, Path(folder))
                if rounds and time.monotonic() >= until:
                    return
            rounds += 1


def attempt(form: Format, seed: int, folder: Path) -> Row:
    """Fuzz one reader with a hundred files; each must be read or refused."""
    path, tried, read, began = folder / f"given{form.suffix}", 0, 0, time.monotonic()

    def one(contents: bytes) -> None:
        nonlocal tried, read
        tried += 1
        path.write_bytes(contents)
        read += returned(form, path) is not None

    limits = settings(
        max_examples=AT_ONCE,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],  # the seed reproduces it
        suppress_health_check=list(HealthCheck),
    )
    faults: tuple[str, ...] = ()
    try:
        seeded(seed)(limits(given(any_file(form, OTHERS))(one)))()
    except Exception as error:
        again = f"PYTHONPATH=tests python -m soak.fuzzing '{form.name}' {seed}"
        faults = (f"{error!s:.300}; {again}",)
    spent = time.monotonic() - began
    return Row(f"reads {form.name}", tried, tried, read, len(faults), 0, spent, faults)


if __name__ == "__main__":
    name, number = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        print(attempt(next(one for one in FORMATS if one.name == name), number, Path(folder)))
