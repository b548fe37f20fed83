"""Check a proof file of condal with nothing of condal: python check.py PROBLEM PROOF.

PROBLEM is a graph in the rudy format or a program in the sparse SDPA format, plain, gzip or xz.
PROOF is a proof file (docs/proofs.md). They are about the program

    maximise <F_0, X>  subject to  <F_i, X> = b_i (i = 1, ..., m),  X symmetric and psd.

For max-cut, F_0 is a quarter of the Laplacian of the graph, and X_ii = 1. If the slack
Z = sum_i y_i F_i - F_0 is psd, every feasible X has <F_0, X> = b'y - <Z, X> <= b'y. If
sum_i y_i F_i is psd and b'y < 0, no X is feasible. This program reads y from PROOF, forms Z, proves
that Z is psd, and adds up b'y. It trusts nothing else that PROOF says. What it proves holds for the
decimal numbers of PROBLEM, few of which are doubles.

Three facts about symmetric matrices prove that Z is psd, in floating point (u = 2^-53):

1. If |E| <= F entrywise and F has the row sums e, then E + Diag(e) is psd, as it is diagonally
   dominant. So a matrix that is known up to E is at least the known one less Diag(e).
2. For a diagonal D > 0, (D B'; B C) - (0 0; 0 C - B D^-1 B') is psd. So rows are eliminated, and
   what is wrong with the computed C - B D^-1 B' is an E on the rows that remain.
3. L L' is psd for any L, from anywhere, and a matrix T is L L' + E with E = T - L L'.

A sum of t products, in any order, is off by at most 1.01 t u times the sum of their absolute
values. This is all that is assumed of NumPy and SciPy; none of their factorisations is trusted.
"""

import gzip
import hashlib
import io
import lzma
import math
import re
import sys
import zlib
from fractions import Fraction
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

U = 2.0**-53
SAFETY = 1 + 1e-6  # the sums that bound errors are rounded themselves, 10^8 times at most
TINY = 1e-280  # the least number above 0 that is read: it is rounded as larger ones are
UNDERFLOW = 1e-200  # more than all products below 1e-308 of an accepted proof can lose together
MAX_BYTES = 1 << 30  # of an unpacked file
MAX_WORD = 1000  # characters of a number
MAX_DENSE = 20_000  # rows of the dense rest of the elimination
MAX_EXACT = 1_000  # diagonal entries of Z whose sign is decided in exact arithmetic
ROUND_COST = 200.0  # of an entry in a sparse round, in dense multiplications: from G60 and G81
BLOCK = 256  # rows of a dense product
VERSION = "condal proof 1"
DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
HEXADECIMAL = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-]\d{1,3}")
EITHER = re.compile(f"{DECIMAL.pattern}|{HEXADECIMAL.pattern}")
COMMENTS = re.compile(r'(\s*["*][^\n]*)*')
PLAIN = bytes(c if c in b"\t\n\r" or 32 <= c < 127 else ord("?") for c in range(256))


class RefusedError(Exception):
    """The files do not prove the claim; the text says why."""


def require(condition, why):
    """Refuse the proof unless the condition holds."""
    if not condition:
        raise RefusedError(why)


# ---- files ---------------------------------------------------------------------------------------


def contents(path):
    """Return the unpacked bytes of a file."""
    try:
        with open(path, "rb") as file:
            head = file.read(6)
        packed = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}.get(head[:2], open)
        with packed(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, ValueError) as error:
        raise RefusedError(f"{path}: cannot be read: {error}") from None
    require(len(data) <= MAX_BYTES, f"{path}: more than {MAX_BYTES} bytes")
    return data


def text_of(data):
    """Return bytes as text; what is not plain becomes "?", which is in no number."""
    return data.removeprefix(b"\xef\xbb\xbf").translate(PLAIN).decode("ascii")


def number(word, what, pattern=DECIMAL):
    """Return a number as a finite double: a decimal one, or a hexadecimal one as C prints it."""
    if len(word) > MAX_WORD or not pattern.fullmatch(word):
        raise RefusedError(f"{what}: wanted a number; got {word[:40]!a}")
    value = float.fromhex(word) if "x" in word else float(word)
    zero = value == 0 and not re.search("[1-9]", re.split("[eE]", word)[0])
    if not (zero or TINY <= abs(value) < math.inf):
        raise RefusedError(f"{what}: {word[:40]!a} is out of range")
    return value


def count(word, what, most, least=1):
    """Return a whole number from `least` to `most`."""
    if not (word.isdecimal() and len(word) <= 18 and least <= int(word) <= most):
        raise RefusedError(f"{what}: wanted {least} to {most}; got {word[:40]!a}")
    return int(word)


def column(words, read, *given):
    """Return a column of a file as an array; each different word is read once."""
    known = {word: read(word, *given) for word in set(words)}
    return np.fromiter(map(known.get, words), np.int64 if read is count else float, len(words))


def table(text, wanted, least, most):
    """Return the columns of a text whose lines have `least` to `most` words, or none.

    A word that is missing is "1".
    """
    a = np.frombuffer(text.encode(), np.uint8)
    begins = np.flatnonzero((a > 32) & (np.append(32, a)[:-1] <= 32))
    widths = np.bincount(np.cumsum(a == 10)[begins])
    widths = widths[widths > 0]
    require(((widths >= least) & (widths <= most)).all(), f"problem: a line is not {wanted}")
    words = np.array([*text.split(), *["1"] * most], dtype=object)
    places = np.cumsum(widths) - widths
    return [np.where(widths > k, words[places + k], "1") for k in range(most)]


def read_proof(data):
    """Return the header of a proof file as a dictionary, and y."""
    lines = text_of(data).split("\n")
    require(lines[0] == VERSION, f"proof: another format: {lines[0][:40]!a}, not {VERSION!r}")
    header = {}
    for k, name in enumerate(("problem", "sha256", "claim", "bound", "numbers"), 1):
        words = lines[k].split(" ") if k < len(lines) else []
        require(len(words) == 2 and words[0] == name, f"proof: line {k + 1} is not '{name} ...'")
        header[name] = words[1]
    require(header["problem"] in ("max-cut", "sdpa"), "proof: unknown kind of problem")
    require(header["claim"] in ("bound", "infeasible"), "proof: unknown claim")
    m = count(header["numbers"], "proof: numbers", MAX_BYTES)
    require(len(lines) == m + 8, f"proof: {m} numbers need {m + 7} lines; got {len(lines) - 1}")
    require(lines[-2:] == ["end", ""], "proof: does not end with 'end'; it is truncated")
    return header, column(lines[6:-2], number, "proof", EITHER)


# ---- programs ------------------------------------------------------------------------------------


class Program:
    """The words of b, and the entries of F_0, ..., F_m at (rows, cols), rows >= cols.

    Blocks stand one after another on the diagonal. An entry is a word of the file, or `values`, the
    double nearest to it, times `shares`, plus or minus a power of 2.
    """

    def __init__(self, b, side, matrices, rows, cols, words, shares, about):
        self.b, self.side, self.matrices, self.about = b, side, matrices, about
        self.rows, self.cols = np.maximum(rows, cols), np.minimum(rows, cols)
        self.words, self.values = words, column(words, number, "problem")
        self.shares = shares


def read_rudy(data):
    """Return max-cut of a graph: a line `n m`, then m lines `i j` or `i j weight`."""
    first, _, rest = text_of(data).partition("\n")
    require(len(first.split()) == 2, "problem: the first line is not 'n m'")
    n, m = (count(word, "problem: the first line", MAX_BYTES) for word in first.split())
    *ends, weights = table(rest, "'i j' or 'i j weight'", 2, 3)
    require(len(weights) == m, f"problem: {m} edges are announced; got {len(weights)}")
    i, j = (column(words, count, "a vertex", n) - 1 for words in ends)
    quarter, vertices = np.where(i == j, 0.0, 0.25), np.arange(n)  # self-loops do not count
    matrices = np.concatenate([np.zeros(3 * m, dtype=np.int64), vertices + 1])
    rows, cols = np.concatenate([i, j, i, vertices]), np.concatenate([i, j, j, vertices])
    words = np.concatenate([weights, weights, weights, np.full(n, "1", dtype=object)])
    shares = np.concatenate([quarter, quarter, -quarter, np.ones(n)])
    about = f"max-cut of a graph with {n:,} vertices and {m:,} edges"
    return Program(["1"] * n, n, matrices, rows, cols, words, shares, about)


def read_sdpa(data):
    """Return a program: m, the number of blocks, sizes, b, and entries `k block i j value`."""
    text = COMMENTS.sub("", text_of(data), count=1)
    stream = io.StringIO(text.translate(str.maketrans(",(){}dDqQ", "     eEeE")))
    m, blocks = (count(_several(stream, 1)[0], "problem: header", MAX_BYTES) for _ in range(2))
    words = _several(stream, blocks)
    sizes = [count(word[word[0] in "+-" :], "problem: a size", MAX_BYTES) for word in words]
    diagonal = np.array([word[0] == "-" for word in words])
    b = _several(stream, m)
    begins = np.cumsum([0, *sizes])
    side = int(begins[-1])
    require(side <= MAX_BYTES, "problem: too many rows")
    about = f"an SDPA program: {m:,} equations, {side:,} rows, {blocks:,} block{'s' * (blocks > 1)}"
    k, block, i, j, words = table(stream.read(), "'matrix block i j value'", 5, 5)
    k = column(k, count, "problem: a matrix", m, 0)
    block = column(block, count, "problem: a block", blocks) - 1
    i, j = (column(part, count, "problem: a row", side) for part in (i, j))
    inside = np.maximum(i, j) <= np.array(sizes)[block]
    require(inside.all(), "problem: an entry is outside its block")
    require(((i == j) | ~diagonal[block]).all(), "problem: a diagonal block has an entry beside it")
    i, j = begins[block] + i - 1, begins[block] + j - 1
    program = Program(b, side, k, i, j, words, np.ones(k.size), about)
    places = np.lexsort((program.cols, program.rows, k))
    places = np.stack((k, program.rows, program.cols))[:, places]
    require(np.diff(places).any(axis=0).all(), "problem: an entry is given twice")
    return program


def _several(stream, wanted):
    """Return this many words from as many lines as they take."""
    words = []
    while len(words) < wanted:
        line = stream.readline()
        require(line, "problem: the header is not complete")
        words += line.split()
    more = any(map(DECIMAL.fullmatch, words[wanted : wanted + 1]))  # another word begins a remark
    require(not more, "problem: a line of the header has more numbers than are wanted")
    return words[:wanted]


# ---- Z = sum_i y_i F_i - F_0 ---------------------------------------------------------------------


def slack(program, factors):
    """Return rows, columns (rows >= cols) and values of Z, and bounds on the errors of the values.

    Z adds up factors times entries. An error has a rounding of each number of the file, of each
    product and of each sum.
    """
    terms = factors * program.values
    keys = program.rows * program.side + program.cols
    places, owner = np.unique(keys, return_inverse=True)
    values, sizes = np.bincount(owner, terms), np.bincount(owner, np.abs(terms))
    errors = SAFETY * U * (np.bincount(owner) + 3) * sizes + UNDERFLOW
    errors[np.bincount(owner, (factors != 0) & (program.values != 0)) == 0] = 0.0
    require(np.isfinite(sizes).all(), "the slack overflows")
    return (*np.divmod(places, program.side), values, errors, owner)


def is_negative(factors, words):
    """Return whether the sum of factors times numbers of the file is negative, exactly."""
    pairs = zip(factors.tolist(), words, strict=True)
    return sum(Fraction(factor) * Fraction(word) for factor, word in pairs) < 0


def prove_psd(program, y, constant):
    """Refuse the proof unless Z is proved to be psd; return what was done, in words."""
    factors = np.concatenate([[-float(constant)], y])[program.matrices] * program.shares
    rows, cols, values, errors, owner = slack(program, factors)
    off = (rows != cols) & ((values != 0.0) | (errors > 0.0))
    coupled = np.zeros(program.side, dtype=bool)
    coupled[rows[off]] = coupled[cols[off]] = True
    alone = np.flatnonzero(~coupled[rows] & (rows == cols))  # entries that are blocks of their own
    doubtful = alone[values[alone] < errors[alone]]
    for k in doubtful[:MAX_EXACT]:
        negative = is_negative(factors[owner == k], program.words[owner == k])
        require(not negative, f"the slack is negative at row {rows[k] + 1}: {values[k]:.3g}")
    require(len(doubtful) <= MAX_EXACT, "too many entries of the slack are nearly 0")
    if not off.any():
        return f"{len(alone):,} numbers that are not negative"
    used = coupled[rows]
    renumbered = np.cumsum(coupled) - 1
    rows, cols = renumbered[rows[used]], renumbered[cols[used]]
    values, errors = values[used], errors[used]
    side = int(coupled.sum())
    diagonal = np.zeros(side)
    diagonal[rows[rows == cols]] = values[rows == cols]
    require((diagonal > 0).all(), "the slack is not psd: a diagonal entry is not positive")
    # Powers of 2 bring the diagonal to about 1, without rounding.
    powers = -(np.frexp(diagonal)[1] // 2)
    values, errors = (np.ldexp(part, powers[rows] + powers[cols]) for part in (values, errors))
    lower = sp.csr_array(sp.coo_array((values, (rows, cols)), (side, side)))
    M = sp.csr_array(lower + sp.tril(lower, -1).T)
    require(np.isfinite(M.data).all(), "the slack overflows")
    e = np.bincount(rows, errors, side) + np.bincount(cols, errors, side) + UNDERFLOW
    dense, most = factorise(M, e)
    return f"a slack of {side:,} coupled rows, {dense:,} dense; rounding to {most:.1e}"


# ---- M is psd ------------------------------------------------------------------------------------


def factorise(M, e):
    """Refuse the proof unless M - Diag(e) is proved to be psd, with e > 0 rounded sums.

    Rows of low degree that are not coupled are eliminated together, by sparse products; the rest is
    factorised as a dense matrix. The errors of a step are added to e. Where rounding makes M
    unsymmetric, its reader decides which of two entries is meant; an error counts for both. Return
    the number of rows in the dense rest, and the largest e.
    """
    ties, most = np.random.default_rng(0), 0.0
    while M.shape[0]:
        side, degrees = M.shape[0], np.diff(M.indptr).astype(np.int64)
        pivots = (M.diagonal() - SAFETY * e) * (1 - 4 * U)
        require((pivots > 0).all(), "the slack is not psd: a pivot is not positive")
        most = max(most, float(e.max()))
        keys = degrees * side + ties.permutation(side)
        chosen = np.minimum.reduceat(keys[M.indices], M.indptr[:-1]) == keys
        chosen &= degrees <= 2 * degrees[chosen].min() + 2
        out, kept = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        if side * side * out.size <= ROUND_COST * M.nnz:
            break
        require(M[out][:, out].nnz == out.size, "the slack is not symmetric")
        rest = M[kept]
        G = sp.csr_array(rest[:, out] / np.sqrt(pivots[out]))
        M = sp.csr_array(rest[:, kept] - G @ G.T)
        sizes, G, ones = abs(M), abs(G), np.ones(kept.size)
        e = e[kept] + U * (sizes @ ones + sizes.T @ ones)
        e += 1.01 * U * (np.diff(G.indptr) + 10) * (G @ (G.T @ ones))
    require(np.isfinite(M.data).all(), "the factorisation overflows")
    parts = connected_components(M, directed=False)[1]
    order, ends = np.argsort(parts, kind="stable"), np.cumsum(np.bincount(parts)).tolist()
    for part in np.split(order, ends[:-1]) if ends else []:
        require(part.size <= MAX_DENSE, f"{part.size:,} rows of the factor are dense: too many")
        most = max(most, dense_rest(M[part][:, part].toarray(), SAFETY * e[part]))
    return M.shape[0], most


def dense_rest(T, e):
    """Refuse the proof unless T - Diag(e) is proved to be psd, by the lower triangle of T; return
    the largest error that was allowed for."""
    side, diagonal = len(T), np.diagonal(T).copy()
    sizes = np.abs(T).sum(axis=1).max()  # the shift is several times what rounding mostly takes
    shift = 4 * U * side * (4 + 2 * math.sqrt(side) + sizes)
    T[np.diag_indices(side)] = diagonal - e - shift
    off = SAFETY * residual(T).max() + 4 * U * np.abs(diagonal).max() + UNDERFLOW
    require(off <= shift, f"rounding of {off:.1e} exceeds the {shift:.1e} that is allowed for it")
    return float(e.max() + shift)


def residual(T):
    """Return bounds on the row sums of |T - L L'|, for T by its lower triangle and some L."""
    side = len(T)
    try:
        L = np.linalg.cholesky(T)
    except np.linalg.LinAlgError:
        raise RefusedError("the slack is not psd: a dense part has no Cholesky factor") from None
    require(np.isfinite(L).all(), "the factorisation overflows")
    sums = np.zeros(side)
    for a in range(0, side, BLOCK):
        b = min(a + BLOCK, side)
        L[a:b] = np.tril(L[a:b], a)
        off = np.abs(np.tril(T[a:b, :b] - L[a:b, :b] @ L[:b, :b].T, a))
        sums[a:b] += off.sum(axis=1)
        sums[:b] += off.sum(axis=0)
    np.abs(L, out=L)
    return (1 + 2 * U) * sums + 1.01 * U * (side + 2) * (L @ (L.T @ np.ones(side)))


# ---- the bound -----------------------------------------------------------------------------------


def sum_above(words, y):
    """Return a number >= b'y, for b in the words of the file."""
    b = column(words, number, "problem: b")
    products = b * y
    require(np.isfinite(products).all(), "b'y overflows")
    error = 3 * U * math.fsum(np.abs(products)) + UNDERFLOW * np.any((b != 0) & (y != 0))
    return math.nextafter(math.fsum([*products, error]), math.inf)


def check(problem, proof):
    """Return what is proved, in lines; raise RefusedError if that is not what is claimed."""
    header, y = read_proof(contents(proof))
    data = contents(problem)
    digest = hashlib.sha256(data).hexdigest()
    require(header["sha256"] == digest, "the proof is of another problem file: by its SHA-256")
    program = {"max-cut": read_rudy, "sdpa": read_sdpa}[header["problem"]](data)
    fits = y.size == len(program.b)
    require(fits, f"the proof has {y.size} numbers, and the problem {len(program.b)} equations")
    claim = number(header["bound"], "proof: bound", EITHER)
    constant = int(header["claim"] == "bound")
    bound = sum_above(program.b, y)
    require(constant or bound < 0, f"b'y is {bound:.17g}, not negative: y separates nothing")
    require(not constant or bound <= claim, f"b'y is {bound:.17g}, above the claim {claim:.17g}")
    how = prove_psd(program, y, constant)
    what = "no cut weighs more than" if header["problem"] == "max-cut" else "no <F_0, X> exceeds"
    proved = f"{what} {bound!r}" if constant else "no X is feasible"
    return [f"problem   {program.about}", f"psd       {how}", f"proved    {proved}"]


def main(arguments):
    """Check the files that the arguments name; return the exit status."""
    if len(arguments) != 2:
        print("usage: python check.py PROBLEM PROOF", file=sys.stderr)
        return 2
    began = perf_counter()
    try:
        with np.errstate(all="ignore"):
            lines = check(*arguments)
    except (RefusedError, MemoryError, OverflowError) as error:
        print(f"REFUSED: {error or 'out of memory'}")
        return 1
    print("\n".join([*lines, f"ACCEPTED in {perf_counter() - began:.2f} s"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
