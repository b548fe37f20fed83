"""What is asked of every reader, whatever the file: it gives something that is right, or a
FormatError that says so in a few words; no other error, no warning, and no more memory than the
file justifies."""

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

from condal.errors import FormatError
from condal.io.safe_files import most_bytes
from readers.format import Format

# The one place where it is said how much memory a file justifies: what a small file may claim (a
# million vertices without an edge), and bytes for each byte of it.
ALWAYS = 40 << 20
EACH = 100
UNPACKED = 8  # bytes for each that a file may unpack to, where it is packed
LONGEST = 2000  # characters of an error


class Wrong(AssertionError):
    """A reader did what no reader may."""


def judged(form: Format, path: Path) -> Any:
    """What the reader gives, or None if it refused the file; Wrong if it did neither rightly."""
    size = path.stat().st_size if path.exists() else 0
    allowed = ALWAYS + form.more + EACH * size + UNPACKED * _most_unpacked(path)
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = form.read(path)
    except FormatError as error:
        _judge_refusal(error, path)
        found = None
    except Exception as error:
        raise Wrong(f"{form} raised {type(error).__name__}: {error!s:.200}") from error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > allowed:
        raise Wrong(f"{form} took {peak} bytes for a file of {size}; {allowed} are allowed")
    if found is not None:
        form.holds(found)
    return found


def returned(form: Format, path: Path) -> Any:
    """As `judged`; and what was read comes back from what the writer makes of it."""
    found = judged(form, path)
    if found is None or form.write is None:
        return found
    copy = path.with_name(f"copy{form.suffix}")
    try:
        form.write(copy, found)
    except ValueError as error:  # of what the format cannot hold; the texts are tested elsewhere
        if type(error).__name__ != "ProblemError":
            raise
        return found
    again = judged(form, copy)
    if again is None or not form.same(found, again):
        raise Wrong(f"{form} does not read what was written of what it read")
    return found


def _most_unpacked(path: Path) -> int:
    head = path.read_bytes()[:6] if path.is_file() else b""
    packed = any(head.startswith(magic) for magic in (b"\x1f\x8b", b"\xfd7zXZ", b"PK"))
    return most_bytes(path.stat().st_size, packed=True) if packed else 0


def _judge_refusal(error: FormatError, path: Path) -> None:
    text = str(error)
    if len(text) > LONGEST + len(str(path)):
        raise Wrong(f"an error of {len(text)} characters: {text[:200]}")
    if error.path is None:
        raise Wrong(f"an error that names no file: {text}")
    if "bulk parser" in text or not text.partition(": ")[2]:
        raise Wrong(f"an error that says nothing: {text}")
