"""The table of a sweep: columns, the best row, files and pages without surprises."""

import csv
import math
from pathlib import Path

import pytest

from condal.errors import ProblemError
from condal_lab.sweeps import Entry, Table


def entry(seed, status="solved", **more):
    return Entry({"seed": seed}, status, **{"objective": 1.0, "gap": 1e-4, "seconds": 2.0, **more})


ROWS = (
    entry(0, objective=3.0, figures={"cut": 7.0}),
    entry(1, objective=2.0, figures={"cut": 9.0}),
    entry(2, "max_iters", objective=-5.0, figures={"cut": None}),
    Entry({"seed": 3}, "failed", error="=SUM(A1) went wrong"),
)
TABLE = Table(ROWS, Path("out"))


def test_the_best_is_of_the_solved_rows():
    assert TABLE.best() is ROWS[1]
    assert TABLE.best(highest=True) is ROWS[0]
    assert TABLE.best("cut", highest=True) is ROWS[1]
    assert TABLE.best("seed") is ROWS[0]
    assert TABLE.best(lambda row: math.nan if row is ROWS[0] else 1.0) is ROWS[1]
    unsaid = entry(5, figures={"cut": None})
    assert Table((unsaid, *ROWS), Path("out")).best("cut") is ROWS[0]
    with pytest.raises(ProblemError, match=r"no column 'cost'; there are seed, status, .*, cut"):
        TABLE.best("cost")
    with pytest.raises(ProblemError, match="no point of the table is solved"):
        Table(ROWS[2:], Path("out")).best()


def test_rows_and_columns():
    assert len(TABLE) == 4
    assert list(TABLE) == list(ROWS)
    assert TABLE[1] is ROWS[1]
    assert TABLE["seed"] == [0, 1, 2, 3]
    assert TABLE["cut"] == [7.0, 9.0, None, None]
    assert TABLE["status"] == ["solved", "solved", "max_iters", "failed"]
    with pytest.raises(KeyError, match="no column 'cost'"):
        TABLE["cost"]
    frame = TABLE.to_pandas()
    assert list(frame.columns) == list(TABLE.columns)
    assert frame["objective"][1] == 2.0


def test_a_file_holds_every_digit_and_no_formula(tmp_path):
    rows = (*ROWS, entry(4, objective=1 / 3, bound=-math.inf), entry("-1+1", objective=-0.1))
    Table(rows, tmp_path).to_csv(tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert float(read[4]["objective"]) == 1 / 3
    assert read[4]["bound"] == "-1e999"
    assert read[3]["error"] == "'=SUM(A1) went wrong"
    assert (read[5]["seed"], read[5]["objective"]) == ("'-1+1", "-0.1")
    assert read[0]["cut"] == "7.0"
    assert read[3]["cut"] == ""


def test_what_is_printed_fits_into_80_columns():
    assert str(TABLE).splitlines() == [
        "seed     status  objective       cut      gap   time",
        "   0     solved   3.000000  7.000000  1.0e-04  2.0 s",
        "   1     solved   2.000000  9.000000  1.0e-04  2.0 s",
        "   2  max iters  -5.000000            1.0e-04  2.0 s",
        "   3     failed",
        "",
        "1 point failed, the first by: =SUM(A1) went wrong",
    ]
    assert "failed, the first" not in str(Table(ROWS[:3], Path("out")))
    wide = Table(tuple(entry("x" * 200 + f"\x1b{i}", objective=-1e-300) for i in (1, 2)), Path("o"))
    assert all(len(line) <= 80 and line.isprintable() for line in str(wide).splitlines())
    assert "-1.000000e-300  1.0e-04  2.0 s" in str(wide)
    assert "&lt;b&gt;" in Table((entry("<b>"),), Path("out"))._repr_html_()
