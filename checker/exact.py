"""Check a proof file in exact arithmetic: python exact.py PROBLEM PROOF.

This is a second checker, for blocks of at most 200 coupled rows. It proves the same as check.py,
which explains the mathematics, from the same files. It shares no code with it, needs nothing but
Python, and rounds nothing. A multiple of the slack Z has whole entries; it is psd if elimination
without fractions (Bareiss 1968) meets no negative pivot, and only zeros in the row of a zero pivot.
So it also decides about slacks that are psd, but not positive definite.
"""

import gzip
import hashlib
import lzma
import re
import sys
import zlib
from fractions import Fraction
from math import lcm

MOST_ROWS = 200
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
HEXADECIMAL = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-]\d{1,3}")
WHOLE = re.compile(r"\d{1,12}")
FAULTS = (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError, LookupError, OverflowError)


class RefusedError(Exception):
    """The files do not prove the claim; the text says why."""


def unpacked(path):
    """Return the bytes of a file, unpacked from gzip or xz."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    return lzma.decompress(data) if data[:6] == b"\xfd7zXZ\0" else data


def exactly(word):
    """Return a number as a fraction."""
    if len(word) <= 64 and HEXADECIMAL.fullmatch(word):
        return Fraction(float.fromhex(word))
    if len(word) > 64 or not DECIMAL.fullmatch(word):
        raise RefusedError(f"not a number: {word[:40]!a}")
    return Fraction(word)


def whole(word, most, least=1):
    """Return a whole number in a range."""
    if not WHOLE.fullmatch(word) or not least <= int(word) <= most:
        raise RefusedError(f"wanted a whole number from {least} to {most}; got {word[:40]!a}")
    return int(word)


def read_graph(text):
    """Return b and the entries {(matrix, i, j): value} of max-cut, times 4 but for b."""
    (n, m), *edges = (line.split() for line in text.split("\n") if line.strip())
    n = whole(n, 10**9)
    if len(edges) != whole(m, 10**9) or {len(edge) for edge in edges} not in ({2}, {3}):
        raise RefusedError("the edges do not fit the first line, or each other")
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
    text = text.translate(str.maketrans(",(){}dDqQ", "     eEeE"))
    lines = [line.split() for line in text.split("\n") if line.strip()]
    while lines and lines[0][0][0] in '"*':
        lines.pop(0)

    def several(count):
        words = []
        while len(words) < count:
            words += lines.pop(0)
        if any(map(DECIMAL.fullmatch, words[count:])):  # what follows may be a remark
            raise RefusedError("a line of the header has more numbers than are wanted")
        return words[:count]

    m, blocks = (whole(several(1)[0], 10**9) for _ in range(2))
    sizes, b = several(blocks), several(m)
    sizes = [(whole(word.lstrip("+-"), 10**9), word[0] == "-") for word in sizes]
    begins = [sum(size for size, _ in sizes[:k]) for k in range(blocks)]
    entries = {}
    for k, block, i, j, value in lines:
        k, block = whole(k, m, 0), whole(block, blocks) - 1
        size, diagonal = sizes[block]
        i, j = sorted((whole(i, size) - 1, whole(j, size) - 1))
        place = k, begins[block] + i, begins[block] + j
        if place in entries or (diagonal and i != j):
            raise RefusedError(
                f"an entry stands twice, or off the diagonal of a diagonal block: {k}"
            )
        entries[place] = exactly(value)
    return [exactly(word) for word in b], entries


def components(Z):
    """Yield lists of rows of Z that are coupled."""
    beside = {}
    for (i, j), value in Z.items():
        beside.setdefault(i, set())
        beside.setdefault(j, set())
        if value:
            beside[i].add(j)
            beside[j].add(i)
    while beside:
        found = [next(iter(beside))]
        near = beside.pop(found[0])
        while near:
            row = near.pop()
            if row in beside:
                found.append(row)
                near |= beside.pop(row)
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
            Mi, c = M[i], column[i]
            for j in rows:
                Mi[j] = (d * Mi[j] - c * column[j]) // before  # exact
        before = d
    return True


def check(problem, proof):
    """Return what is proved."""
    version, *lines = unpacked(proof).decode("ascii").split("\n")
    words = [line.split(" ") for line in lines[:5]]
    names = [word[0] for word in words]
    if version != "condal proof 1" or names != ["problem", "sha256", "claim", "bound", "numbers"]:
        raise RefusedError("not a proof file of version 1")
    kind, digest, claim, bound, count = (value for _, value in words)
    m = whole(count, 10**9)
    if len(lines) != m + 7 or lines[-2:] != ["end", ""]:
        raise RefusedError("the proof is truncated, or has more numbers than it says")
    data = unpacked(problem)
    if hashlib.sha256(data).hexdigest() != digest:
        raise RefusedError("the proof is of another file")
    read = {"max-cut": read_graph, "sdpa": read_program}[kind]
    (b, entries), y = read(data.decode("ascii")), [exactly(word) for word in lines[5:-2]]
    if len(b) != m:
        raise RefusedError(f"the problem has {len(b)} equations, and the proof {m} numbers")
    factors = [-{"bound": Fraction(1), "infeasible": Fraction(0)}[claim], *y]
    Z = {}
    for (k, i, j), value in entries.items():
        Z[i, j] = Z.get((i, j), 0) + factors[k] * value
    for rows in components(Z):
        if len(rows) > MOST_ROWS:
            raise RefusedError(f"{len(rows)} rows are coupled: too many for exact arithmetic")
        part = [[Fraction(Z.get((min(i, j), max(i, j)), 0)) for j in rows] for i in rows]
        scale = lcm(*(value.denominator for row in part for value in row))
        if not is_psd([[int(value * scale) for value in row] for row in part]):
            raise RefusedError("the slack is not psd")
    total = sum(map(Fraction.__mul__, b, y), Fraction(0))
    if claim == "infeasible":
        if total >= 0:
            raise RefusedError("b'y is not negative: y separates nothing")
        return "no X is feasible"
    if total > exactly(bound):
        raise RefusedError(f"y proves {float(total)!r}, which is more than is claimed")
    up = -(-total * 10**12 // 1)  # with 12 digits, rounded up
    shown = f"{'-' * (up < 0)}{abs(up) // 10**12}.{abs(up) % 10**12:012}"
    return f"the optimum is at most {shown}"


def main(arguments):
    """Check the files that the arguments name; return the exit status."""
    if len(arguments) != 2:
        print("usage: python exact.py PROBLEM PROOF", file=sys.stderr)
        return 2
    try:
        print(f"proved    {check(*arguments)}\nACCEPTED")
    except RefusedError as error:
        print(f"REFUSED: {error}")
    except FAULTS as error:
        print(f"REFUSED: a file is not in its format: {error!r:.200}")
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
