"""The results of the suites, summed and printed."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """Counts of a suite, or of a part of one; `faults` are the wrong ones, a line or more each:
    what was claimed, and a command that shows it. `seconds` is what the slowest took, and
    `resume` the seed at which the suite continues, if it can."""

    suite: str
    tried: int = 0
    judged: int = 0
    solved: int = 0
    wrong: int = 0
    short: int = 0
    seconds: float = 0.0
    faults: tuple[str, ...] = ()
    resume: int = 0


COLUMNS = ("suite", "tried", "judged", "solved", "not judged", "short", "wrong", "slowest")


@dataclass
class Table:
    """The rows of each suite by name, in order of arrival."""

    rows: dict[str, Row] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        before = self.rows.get(row.suite, Row(row.suite))
        self.rows[row.suite] = _sum(row.suite, before, row)

    @property
    def total(self) -> Row:
        return _sum("all", *self.rows.values())

    def __str__(self) -> str:
        lines = [COLUMNS, *map(_cells, self.rows.values()), _cells(self.total)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
        text = ["  ".join(_aligned(line, widths)).rstrip() for line in lines]
        rule = "-" * max(map(len, text))
        return "\n".join([text[0], rule, *text[1:-1], rule, text[-1]])


def _sum(name: str, *rows: Row) -> Row:
    return Row(
        name,
        sum(row.tried for row in rows),
        sum(row.judged for row in rows),
        sum(row.solved for row in rows),
        sum(row.wrong for row in rows),
        sum(row.short for row in rows),
        max((row.seconds for row in rows), default=0.0),
        tuple(fault for row in rows for fault in row.faults),
        max((row.resume for row in rows), default=0),
    )


def _cells(row: Row) -> tuple[str, ...]:
    numbers = (row.tried, row.judged, row.solved, row.tried - row.judged, row.short, row.wrong)
    return (row.suite, *map(str, numbers), f"{row.seconds:.1f} s")


def _aligned(line: tuple[str, ...], widths: list[int]) -> list[str]:
    cells = zip(line, widths, strict=True)
    return [
        cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(cells)
    ]
