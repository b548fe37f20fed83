"""The faults of files, and the possible outcomes of reading them."""

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
IMPOSSIBLE = {
    BANNED: NoSuchThing("it has no banner"),
    ZERO: NoSuchThing("it has no indices"),
    LOWER: NoSuchThing("it has no triangles"),
    OFF: NoSuchThing("it has no blocks"),
    TWICE: NoSuchThing("it has no indices"),
    COUNT: NoSuchThing("no header claims a size"),
    HUGE: NoSuchThing("no header claims a size"),
    FORTRAN: NoSuchThing("numbers are not spelt in it"),
}
MILLION_MILLION = b"1000000000000"


def without(*faults: str) -> dict[str, Cell]:
    """The cells of a format that cannot have these faults, for the usual reasons."""
    return {fault: IMPOSSIBLE[fault] for fault in faults}
