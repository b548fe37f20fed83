"""Check a proof file in exact arithmetic: python exact.py PROBLEM PROOF.

This is a second checker, for blocks of at most 200 coupled rows. It proves the same as check.py,
which explains the mathematics, from the same files. It shares no code with it, needs nothing but
Python, and rounds nothing. A multiple of the slack Z has whole entries; it is psd if elimination
without fractions (Bareiss 1968) meets no negative pivot, and only zeros in the row of a zero pivot.
So it also decides about slacks that are psd, but not positive definite.
"""

import gzip
import hashlib
import io
import lzma
import re
import sys
import zlib
from collections import defaultdict
from fractions import Fraction
from itertools import accumulate
from math import inf, lcm, nextafter

MOST_ROWS, MOST_BYTES, MOST_DIGITS = 200, 1 << 28, 1000
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
HEXADECIMAL = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-]\d{1,3}")
HEADER = ("condal proof 1", "problem", "sha256", "claim", "bound", "numbers")
FAULTS = (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError, LookupError, OverflowError)


class RefusedError(Exception):
    """The files do not prove the claim; the text says why."""


def require(condition, why):
    """Refuse the proof unless the condition holds."""
    if not condition:
        raise RefusedError(why)


def unpacked(path):
    """Return the bytes of a file, unpacked from gzip or xz."""
    with open(path, "rb") as file:
        magic = file.read(6)
    form = gzip if magic[:2] == b"\x1f\x8b" else lzma if magic == b"\xfd7zXZ\0" else io
    with form.open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    require(len(data) <= MOST_BYTES, f"{path}: more than {MOST_BYTES} bytes")
    return data


def text_of(data):
    """Return text without a byte-order mark; "?" takes the place of what is not plain."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return re.sub(r"[^\t\n\r -~]", "?", text)


def exactly(word, proof=False):
    """Return a number as a fraction; that of a proof may be hexadecimal."""
    if proof and HEXADECIMAL.fullmatch(word):
        return Fraction(float.fromhex(word))
    require(len(word) <= MOST_DIGITS and DECIMAL.fullmatch(word), f"not a number: {word[:40]!a}")
    return Fraction(word)


def whole(word, most, least=1):
    """Return a whole number in a range."""
    fits = word.isdecimal() and len(word) <= 18 and least <= int(word) <= most
    require(fits, f"wanted a whole number from {least} to {most}; got {word[:40]!a}")
    return int(word)


def read_graph(text):
    """Return b and the entries {(matrix, i, j): value} of max-cut, times 4 but for b."""
    first, *lines = text.split("\n")
    n, m = (whole(word, 10**9) for word in first.split())
    edges = [line.split() for line in lines if line.strip()]
    fits = len(edges) == m and {len(edge) for edge in edges} <= {2, 3}
    require(fits, "an edge is not 'i j' or 'i j weight', or their number is not that announced")
    entries = {(k + 1, k, k): Fraction(4) for k in range(n)}
    for edge in edges:
        i, j = sorted(whole(word, n) - 1 for word in edge[:2])
        weight = exactly(edge[2]) if len(edge) == 3 else Fraction(1)
        for place, share in (((0, i, i), 1), ((0, j, j), 1), ((0, i, j), -1)):
            if i != j:
                entries[place] = entries.get(place, Fraction(0)) + share * weight
    return [Fraction(1)] * n, entries


def read_program(text):
    """Return b and the entries {(matrix, i, j): value} of an SDPA program, all blocks in a row."""
    lines = [line for line in text.split("\n") if line.strip()]
    while lines and lines[0].lstrip()[0] in '"*':
        lines.pop(0)
    plain = str.maketrans(",(){}dDqQ", "     eEeE")
    lines = [words for line in lines if (words := line.translate(plain).split())]

    def several(count):
        words = []
        while len(words) < count:
            words += lines.pop(0)
        more = any(map(DECIMAL.fullmatch, words[count : count + 1]))  # others begin a remark
        require(not more, "a line of the header has more numbers than are wanted")
        return words[:count]

    m, blocks = (whole(several(1)[0], 10**9) for _ in range(2))
    sizes, b = several(blocks), several(m)
    sizes = [(whole(word[word[0] in "+-" :], 10**9), word[0] == "-") for word in sizes]
    begins = list(accumulate((size for size, _ in sizes), initial=0))
    entries = {}
    for k, block, i, j, value in lines:
        k, block = whole(k, m, 0), whole(block, blocks) - 1
        size, diagonal = sizes[block]
        i, j = sorted((whole(i, size) - 1, whole(j, size) - 1))
        place = k, begins[block] + i, begins[block] + j
        fits = place not in entries and (i == j or not diagonal)
        require(fits, "an entry stands twice, or beside a diagonal block's diagonal")
        entries[place] = exactly(value)
    return [exactly(word) for word in b], entries


def components(Z):
    """Yield lists of rows of Z that are coupled."""
    beside = defaultdict(set)
    for (i, j), value in Z.items():
        if value or i == j:
            beside[i].add(j)
            beside[j].add(i)
    while beside:
        found, near = [], [next(iter(beside))]
        while near:
            row = near.pop()
            if row in beside:
                found.append(row)
                near += beside.pop(row)
        yield found


def is_psd(M):
    """Return whether a symmetric matrix of integers is psd."""
    before, rows = 1, list(range(len(M)))
    while rows:
        pivot = max(rows, key=lambda i: M[i][i])
        d = M[pivot][pivot]
        rows.remove(pivot)
        if d <= 0:  # so all diagonal entries are
            return not any(M[i][j] for i in (pivot, *rows) for j in (pivot, *rows))
        column = M[pivot]
        for i in rows:
            c = column[i]
            M[i] = [(d * a - c * b) // before for a, b in zip(M[i], column, strict=True)]  # exact
        before = d
    return True


def check(problem, proof):
    """Return what is proved."""
    version, *lines = text_of(unpacked(proof)).split("\n")
    names, values = zip(*(line.split(" ") for line in lines[:5]), strict=True)
    require((version, *names) == HEADER, f"not a proof file of version 1: {version[:40]!a}")
    kind, digest, claim, bound, count = values
    require(lines[-2:] == ["end", ""], "the proof does not end with 'end': it is truncated")
    data = unpacked(problem)
    require(hashlib.sha256(data).hexdigest() == digest, "the proof is of another file")
    b, entries = {"max-cut": read_graph, "sdpa": read_program}[kind](text_of(data))
    y = [exactly(word, proof=True) for word in lines[5:-2]]
    fits = whole(count, 10**9) == len(y) == len(b)
    require(fits, f"{count} numbers are announced for {len(b)} equations; got {len(y)}")
    factors = [-{"bound": Fraction(1), "infeasible": Fraction(0)}[claim], *y]
    Z = {}
    for (k, i, j), value in entries.items():
        Z[i, j] = Z.get((i, j), 0) + factors[k] * value
    for rows in components(Z):
        require(len(rows) <= MOST_ROWS, f"{len(rows)} rows are coupled: too many to be exact")
        part = [[Fraction(Z.get((min(i, j), max(i, j)), 0)) for j in rows] for i in rows]
        scale = lcm(*(value.denominator for row in part for value in row))
        part = [[int(value * scale) for value in row] for row in part]
        require(is_psd(part), "the slack is not psd")
    total = sum(map(Fraction.__mul__, b, y), Fraction(0))
    if claim == "infeasible":
        require(total < 0, "b'y is not negative: y separates nothing")
        return "no X is feasible"
    require(total <= exactly(bound, proof=True), f"y proves {float(total)!r}: more than is claimed")
    return f"the optimum is at most {nextafter(float(total), inf)!r}"


def main(arguments):
    """Check the files that the arguments name; return the exit status."""
    if len(arguments) != 2:
        print("usage: python exact.py PROBLEM PROOF", file=sys.stderr)
        return 2
    try:
        print(f"proved    {check(*arguments)}\nACCEPTED")
        return 0
    except RefusedError as error:
        print(f"REFUSED: {error}")
    except FAULTS as error:
        print(f"REFUSED: a file is not in its format: {error!r:.200}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
