"""The faults of files, and the possible outcomes of reading them."""

from __future__ import annotations

from dataclasses import dataclass

BANNED = "bad banner"
ZERO = "0-based index"
LOWER = "lower-triangle entries"
OFF = "off-diagonal entry in a diagonal block"
TWICE = "duplicates"
COUNT = "count mismatch"
HUGE = "a header that claims 10^12 rows"
OVERFLOW = "1e999"
NAN = "nan"
FORTRAN = "D-exponents"
TRAILING = "trailing garbage"
FAULTS = [TRAILING, BANNED, ZERO, LOWER, OFF, TWICE, COUNT, HUGE, OVERFLOW, NAN, FORTRAN]


@dataclass(frozen=True)
class Refused:
    """The file is refused with this text, for this line."""

    contents: bytes
    text: str
    line: int | None = None


@dataclass(frozen=True)
class Read:
    """The file is read like another one."""

    contents: bytes
    like: bytes


@dataclass(frozen=True)
class NoSuchThing:
    """The format cannot have the fault, for this reason."""

    why: str


Cell = Refused | Read | NoSuchThing
NO_BLOCKS = NoSuchThing("it has no blocks")
NO_INDICES = NoSuchThing("it has no indices")
NO_HEADER = NoSuchThing("no header claims a size")
NO_BANNER = NoSuchThing("it has no banner")
NOT_SPELT = NoSuchThing("numbers are not spelt in it")
MILLION_MILLION = b"1000000000000"
