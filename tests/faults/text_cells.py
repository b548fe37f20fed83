"""What is right where a file of text has a fault, of each format."""

import re

from cell import (
    BANNED,
    COUNT,
    FORTRAN,
    HUGE,
    LOWER,
    MILLION_MILLION,
    NAN,
    OFF,
    OVERFLOW,
    TRAILING,
    TWICE,
    ZERO,
    Cell,
    NoSuchThing,
    Read,
    Refused,
    without,
)

from readers.contents import (
    BANNER,
    EDGES,
    FACTORS,
    G2O,
    MARKET,
    METIS,
    PERMUTATION,
    QAPLIB,
    RATINGS,
    RECTANGLE,
    RESULT,
    RUDY,
    SDPA,
    SOLUTION,
    TABLE,
)

# What readers say of words in the place of a number.
SPELT = {
    OVERFLOW: "'{}' overflows; scale",
    NAN: "must be finite, got '{}'; remove",
    FORTRAN: "exponent '{}'; write E",
}
WHOLE_MATRICES = NoSuchThing("it holds whole matrices")
MEASURED_TWICE = NoSuchThing("an entry may be measured twice")


def _numbers(
    contents: bytes,
    number: bytes,
    line: int,
    *,
    said: dict[str, str] = SPELT,
    nan: bytes = b"nan",
    fortran: bytes = b"1D3",
) -> dict[str, Cell]:
    """Words that are no numbers in the place of one, each refused with what is said of it."""
    return {
        fault: Refused(
            contents.replace(number, word), said[fault].format(re.escape(word.decode())), line
        )
        for fault, word in {OVERFLOW: b"1e999", NAN: nan, FORTRAN: fortran}.items()
    }


def _columns(
    contents: bytes, number: bytes, line: int, *, column: int, **words: bytes
) -> dict[str, Cell]:
    """The same of a table."""
    text = f"wanted finite.*column {column} is '{{}}'; correct the line, or"
    said = dict.fromkeys(SPELT, text)
    return _numbers(contents, number, line, said=said, **words)


TEXT: dict[str, dict[str, Cell]] = {
    "rudy": {
        TRAILING: Refused(RUDY + b"EOF\n", "2 edges, but 'EOF' follows them; correct", 4),
        BANNED: Refused(b"graph\n" + RUDY, "first line must be 'n m'.*got 'graph'.*convert it", 1),
        ZERO: Refused(b"3 2\n0 1 2\n1 2 3\n", "got index 0, wanted 1 to 3; add 1 to all", 2),
        LOWER: Read(b"3 2\n2 1 2\n3 2 -15\n", RUDY),
        **without(OFF),
        TWICE: Read(b"3 3\n1 2 1\n2 1 1\n2 3 -15\n", RUDY),
        COUNT: Refused(
            b"3 3" + RUDY[3:], "says 3 edges, but the file ends after 2; it is trunc", 3
        ),
        HUGE: Refused(MILLION_MILLION + RUDY[1:], "more than the 1000000000 .*check the header", 1),
        **_numbers(RUDY, b"-15", 3, fortran=b"-15D0"),
    },
    "matrix market": {
        TRAILING: Refused(MARKET + b"3 3\n", "2 entries, but '3 3' follows them; correct", 5),
        BANNED: Refused(MARKET[1:], "first line must be '%%MatrixMarket .*got '%MatrixMarket", 1),
        ZERO: Refused(BANNER + b"3 3 1\n1 0 2\n", "got index 0, wanted 1 to 3; add 1", 3),
        LOWER: Read(BANNER + b"3 3 2\n1 2 2\n2 3 -15\n", MARKET),
        **without(OFF),
        TWICE: Read(BANNER + b"3 3 3\n2 1 1\n2 1 1\n3 2 -15\n", MARKET),
        COUNT: Refused(MARKET.replace(b"3 3 2", b"3 3 1"), "1 entries, but '.*' follows them", 4),
        HUGE: Refused(
            BANNER + b"%b %b 0\n" % ((MILLION_MILLION,) * 2), "more than the 10000000", 2
        ),
        **_numbers(MARKET, b"-15", 4, nan=b"NaN", fortran=b"-1.5D+1"),
    },
    "metis": {
        TRAILING: Refused(METIS + b"1 2\n", "3 vertices, but '1 2' follows their lines", 5),
        BANNED: Refused(b"graph\n" + METIS, "the header must be 'n m'.*got 'graph'", 1),
        ZERO: Refused(b"2 1\n1\n0\n", "vertex 1 is its own neighbour", 2),
        LOWER: NoSuchThing("every edge stands in both triangles"),
        **without(OFF),
        TWICE: Refused(b"2 1\n2 2\n1\n", "neighbour 2 is given twice", 2),
        COUNT: Refused(
            b"3 3" + METIS[3:], "says 3 edges, but the lines hold 2, each twice; cor", 1
        ),
        HUGE: Refused(MILLION_MILLION + METIS[1:], "more than the 1000000000 that can be read", 1),
        **_numbers(METIS, b"-15", 3),
    },
    "edge list": {
        TRAILING: Refused(EDGES + b"EOF\n", "got 1 columns, wanted 3 as in the first line", 3),
        **without(BANNED, OFF, COUNT, HUGE),
        ZERO: NoSuchThing("its vertices are labels, from 0 on"),
        LOWER: Read(b"2 1 2\n3 2 -15\n", EDGES),
        TWICE: Refused(EDGES + b"2 1 3\n", "given on line 1 with weight 2, and here with 3; an", 3),
        **_columns(EDGES, b"-15", 2, column=3),
    },
    "sdpa": {
        TRAILING: Refused(SDPA + b"the end\n", "5 columns, got 2: 'the end'", 10),
        BANNED: Refused(b"SDP\n" + SDPA, "number of matrices.*got 'SDP'; correct the line", 1),
        ZERO: Refused(SDPA + b"1 1 0 1 1\n", "got row 0 of block 1, wanted 1 to 2; add 1 to", 10),
        LOWER: Read(SDPA.replace(b"0 1 1 2", b"0 1 2 1"), SDPA),
        OFF: Refused(SDPA + b"1 2 1 2 1\n", "off the diagonal of block 2, which is diagonal", 10),
        TWICE: Refused(SDPA + b"0 1 2 1 0.5\n", "was given in line 5 already.*give it once", 10),
        COUNT: Refused(b"3" + SDPA[1:], "number.* of b .*there is one more number", 5),
        HUGE: Refused(MILLION_MILLION + SDPA[1:], "but the file has only 78 bytes; it is trunc", 1),
        **_numbers(SDPA, b"25", 9),
        FORTRAN: Read(SDPA.replace(b"25", b"2.5D+1"), SDPA),
    },
    "sdpa solution": {
        TRAILING: Refused(SOLUTION + b"the end\n", "wanted 'matrix block i j value', 5 finite", 7),
        BANNED: Refused(
            b"CSDP\n" + SOLUTION, "the dual, on the first line, must be finite numbers; got"
        ),
        ZERO: Refused(SOLUTION + b"2 1 0 1 1\n", "block 1 has entries beyond its size, 2"),
        LOWER: Read(SOLUTION.replace(b"2 1 1 2", b"2 1 2 1"), SOLUTION),
        OFF: Refused(SOLUTION + b"2 2 1 2 1\n", "block 2 has entries beyond its size, 1"),
        TWICE: Read(SOLUTION + b"2 2 1 1 0.125\n", SOLUTION),
        **without(COUNT),
        HUGE: Refused(SOLUTION + b"2 1 %b 1 1\n" % MILLION_MILLION, "beyond its size, 2"),
        **_numbers(SOLUTION, b"0.125", 6, said=dict.fromkeys(SPELT, "5 finite numbers, 4 of them")),
    },
    "sdplr factors": {
        TRAILING: Refused(FACTORS + b"the end\n", "a factor must be finite numbers; got"),
        BANNED: Refused(b"SDPLR\n" + FACTORS, "does not begin with 'dual variable'"),
        **without(ZERO, TWICE),
        LOWER: NoSuchThing("it holds factors"),
        OFF: NoSuchThing("of a diagonal block it holds the roots of the diagonal"),
        COUNT: Refused(FACTORS.replace(b"2 2 1\n", b"2 2 2\n"), "holds 2 numbers; wanted 2 x 2"),
        HUGE: Refused(
            FACTORS.replace(b"variable 2\n-", b"variable %b\n-" % MILLION_MILLION),
            "the dual variable has 2 numbers; wanted 1000000000000",
        ),
        OVERFLOW: Refused(FACTORS.replace(b"-0.25", b"1e999"), "a factor must be finite numbers"),
        NAN: Refused(FACTORS.replace(b"-0.25", b"nan"), "a factor must be finite numbers; got"),
        FORTRAN: Refused(FACTORS.replace(b"-0.25", b"1D3"), "a factor must be finite numbers; got"),
    },
    "sdpa result": {
        TRAILING: Refused(RESULT + b"the end\n", "yMat must be finite numbers; got"),
        BANNED: Refused(RESULT.replace(b"xVec", b"zVec"), "has no xVec; wanted the result of"),
        **without(ZERO, TWICE, HUGE),
        LOWER: WHOLE_MATRICES,
        OFF: NoSuchThing("of a diagonal block it holds the diagonal"),
        COUNT: Refused(RESULT.replace(b"0.125", b"1,2"), "yMat holds 6 numbers; wanted 5"),
        OVERFLOW: Refused(RESULT.replace(b"0.125", b"1e999"), "yMat must be finite numbers"),
        NAN: Refused(RESULT.replace(b"0.125", b"nan"), "yMat must be finite numbers; got"),
        FORTRAN: Refused(RESULT.replace(b"0.125", b"1D3"), "yMat must be finite numbers; got"),
    },
    "qaplib": {
        TRAILING: Refused(QAPLIB + b"7\n", "8 numbers, but '7' follows them; remove it", 7),
        BANNED: Refused(b"QAP of 2\n" + QAPLIB, "first line must be 'n', got 'QAP of 2'; if", 1),
        **without(ZERO, OFF, TWICE),
        LOWER: WHOLE_MATRICES,
        COUNT: Refused(b"3" + QAPLIB[1:], "18 numbers, but the file ends after 8; it is trunc", 6),
        HUGE: Refused(MILLION_MILLION + QAPLIB[1:], "but the file ends after 8; it is trunc", 6),
        **_numbers(QAPLIB, b"15", 6),
    },
    "qaplib solution": {
        TRAILING: Refused(PERMUTATION + b"EOF\n", "3 numbers, but 'EOF' follows them", 3),
        BANNED: Refused(b"best\n" + PERMUTATION, "first line must be 'n cost', got 'best'", 1),
        ZERO: Read(b"3 12\n1 2 0\n", PERMUTATION),
        **without(LOWER, OFF),
        TWICE: Refused(b"3 12\n2 3 2\n", "must hold each of 1 to 3 once; correct", 2),
        COUNT: Refused(b"4 12\n2 3 1\n", "4 numbers, but the file ends after 3; it is trunc", 2),
        HUGE: Refused(
            MILLION_MILLION + b" 12\n2 3 1\n", "but the file ends after 3; it is trunc", 2
        ),
        **_numbers(PERMUTATION, b"12", 1),
    },
    "g2o": {
        TRAILING: Refused(G2O + b"EOF\n", "'EOF' is an unknown tag; wanted VERTEX_SE2", 4),
        BANNED: Refused(b"g2o\n" + G2O, "'g2o' is an unknown tag; wanted VERTEX_SE2", 1),
        ZERO: NoSuchThing("its vertices are numbers, from 0 on"),
        LOWER: NoSuchThing("of an information matrix it holds the upper triangle"),
        **without(OFF, HUGE),
        TWICE: NoSuchThing("a relative pose may be measured twice"),
        COUNT: Refused(G2O.replace(b" 15\n", b"\n"), "takes 11 numbers, i j x y theta.*got 10", 3),
        **_numbers(G2O, b"15", 3),
    },
    "table": {
        TRAILING: Refused(TABLE + b"the end\n", "got 1 columns, wanted 2 as in the first line", 5),
        **without(BANNED, ZERO, LOWER, OFF, TWICE, HUGE),
        COUNT: Refused(TABLE + b"7\n", "got 1 columns, wanted 2 as in the first line; corr", 5),
        **_columns(TABLE, b"16", 4, column=2),
    },
    "ratings": {
        TRAILING: Refused(RATINGS + b"EOF\n", "got 1 columns, wanted 3 as in the first line", 5),
        **without(BANNED, OFF, COUNT),
        ZERO: NoSuchThing("its rows and columns are numbers of users and films"),
        LOWER: NoSuchThing("its matrix has no triangles"),
        TWICE: MEASURED_TWICE,
        HUGE: Read(
            RATINGS.replace(b"9,30", b"%b,30" % MILLION_MILLION),
            RATINGS.replace(b"9,30", b"%b,30" % MILLION_MILLION),
        ),
        **_columns(RATINGS, b"15", 4, column=3, nan=b"NaN"),
    },
    "ratings matrix": {
        TRAILING: Refused(RECTANGLE + b"x\n", "2 entries, but 'x' follows them; correct", 5),
        BANNED: Refused(RECTANGLE[1:], "first line must be '%%MatrixMarket", 1),
        ZERO: Refused(RECTANGLE.replace(b"2 1 -", b"2 0 -"), "got index 0, wanted 1 to 4; add", 4),
        LOWER: Refused(
            RECTANGLE.replace(b"general", b"symmetric"), "write 'general' in the ban", 1
        ),
        **without(OFF),
        TWICE: MEASURED_TWICE,
        COUNT: Refused(
            RECTANGLE.replace(b"2 4 2", b"2 4 1"), "1 entries, but '.*' follows them", 4
        ),
        HUGE: Refused(RECTANGLE.replace(b"2 4 2", MILLION_MILLION + b" 4 2"), "more than the 1", 2),
        **_numbers(RECTANGLE, b"-15", 4),
    },
}
# Points are a table, or an array, and no more.
TEXT["points"] = TEXT["table"]
