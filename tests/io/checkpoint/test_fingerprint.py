"""The same data have the same fingerprint, in any process; one number more or less has another."""

import copy
import os
import subprocess
import sys
from functools import cached_property
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import condal
from builders import MODELS
from condal.io.checkpoint.fingerprint import (
    DERIVED,
    _Hashing,
    agree,
    fingerprint_of,
    probes,
)
from known import planted_sdp, planted_simplex, random_graph
from laws.domains import DOMAINS
from laws.functions import FUNCTIONS
from laws.maps import MAPS
from laws.sets import SETS
from laws.smooth import SMOOTH
from locations import TESTS


def fingerprint(problem: condal.Problem) -> str:
    return fingerprint_of(problem)[0]


def of(value: Any) -> str:
    """The fingerprint of a piece."""
    seeing = _Hashing()
    seeing.add(value)
    return seeing.digest.hexdigest()


def pieces() -> dict[str, Any]:
    found = {}
    for kind, cases in (
        ("map", MAPS),
        ("smooth", SMOOTH),
        ("domain", DOMAINS),
        ("set", SETS),
        ("function", FUNCTIONS),
    ):
        for i, case in enumerate(cases):
            piece = next(
                getattr(case, name) for name in ("A", "f", "X", "h") if hasattr(case, name)
            )
            found[f"{kind} {i} {type(piece).__name__}"] = piece
    return found


PIECES = pieces()
each_piece = pytest.mark.parametrize("name", PIECES)


def leaves(value: Any, place: str = "", depth: int = 0):
    """Every number and array of numbers in a piece of condal's: its place, and how to change it."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufc" and value.size:
        for index in {0, value.size - 1}:
            yield f"{place}[{index}]", value, index
    elif sp.issparse(value):
        yield from leaves(value.data, f"{place}.data", depth)
    elif isinstance(value, tuple | list):
        for i, part in enumerate(value):
            yield from leaves(part, f"{place}[{i}]", depth + 1)
    elif type(value).__module__.startswith("condal.") and depth < 8:
        for name, part in vars(value).items():
            cached = isinstance(getattr(type(value), name, None), cached_property)
            if not cached and name not in DERIVED.get(type(value).__name__, ()):
                yield from leaves(part, f"{place}.{name}", depth + 1)


def changed(array: np.ndarray, index: int) -> Any:
    """The array, one number of it another, for the time of a test."""
    array.flags.writeable = True
    old = array.flat[index]
    array.flat[index] = old + 1 if array.dtype.kind in "iu" else np.nextafter(old.real, 0.123)
    return old


@each_piece
def test_the_same_data_have_the_same_fingerprint(name):
    piece = PIECES[name]
    assert of(copy.deepcopy(piece)) == of(piece)


@each_piece
def test_one_number_in_its_last_bit_makes_another_fingerprint(name):
    piece = copy.deepcopy(PIECES[name])
    before = of(piece)
    for place, array, index in list(leaves(piece)):
        old = changed(array, index)
        assert of(piece) != before, place
        array.flat[index] = old
    assert of(piece) == before


@each_piece
def test_a_cache_is_not_part_of_it(name):
    piece = PIECES[name]
    before = of(piece)
    for verb in ("norm", "diameter", "size", "L", "lipschitz", "terms"):
        getattr(piece, verb, None)
    if hasattr(piece, "row_norms"):
        piece.row_norms()
    assert of(piece) == before


def test_pieces_of_other_kinds_differ():
    found = {}
    for name, piece in PIECES.items():
        found.setdefault(of(piece), []).append(name)
    kinds = [{name.split()[2] for name in names} for names in found.values()]
    assert all(len(each) == 1 for each in kinds)


def of_other_data(name: str) -> Any:
    """The model of a builder, one number of its data larger by little; theta has one edge less."""
    builder = MODELS[name]
    key, value = next(iter((builder.numbers | builder.waves).items()))
    value = np.array(value)
    place = next(p for p in zip(*np.nonzero(value), strict=True) if len(set(p)) == len(p))
    value[place] *= 0.0 if name == "theta" else 1 + 1e-12
    if key in builder.symmetric:
        value[place[::-1]] = np.conj(value[place])
    return builder(**{key: value})


@pytest.mark.parametrize("name", MODELS)
def test_a_problem_built_twice_is_the_same_and_one_of_other_data_is_not(name):
    first, again, other = (
        make().problem for make in (*[MODELS[name]] * 2, lambda: of_other_data(name))
    )
    assert fingerprint(first) == fingerprint(again)
    assert fingerprint(first) != fingerprint(other)


def plain(n: int = 4, **more: Any) -> condal.Problem:
    options = {"f": condal.Linear(np.eye(n)), "X": condal.Spectrahedron(n)}
    return condal.Problem.of(**(options | more))


def test_a_maximisation_is_not_a_minimisation_and_a_name_is_no_matter():
    assert fingerprint(plain(maximise=True)) != fingerprint(plain(f=condal.Linear(-np.eye(4))))
    assert fingerprint(plain(name="a")) == fingerprint(plain(name="b"))
    assert fingerprint(plain(rank=2)) != fingerprint(plain())


def test_a_repair_counts_by_its_name_alone():
    def repair(x):
        return x

    def other(x):
        return x

    plainly = fingerprint(plain())
    assert fingerprint(plain(repair=repair)) not in (plainly, fingerprint(plain(repair=other)))
    assert fingerprint(plain(repair=repair)) == fingerprint(plain(repair=repair))


def test_memory_is_no_matter():
    a = np.random.default_rng(0).standard_normal((4, 6))
    wide = np.zeros((4, 12))
    wide[:, ::2] = a
    found = {of(x) for x in (a, np.asfortranarray(a), wide[:, ::2], a.astype(">f8"))}
    assert len(found) == 1
    assert of(a.astype(np.float32).astype(np.float64)) != of(a)
    assert of(a.astype(np.float32)) != of(a)
    assert of(a.T) != of(a)
    assert of(a.reshape(6, 4)) != of(a)


def test_a_sparse_matrix_counts_by_its_entries():
    i, j, w = [2, 0, 0, 1], [1, 2, 0, 1], [1.0, 2.0, 3.0, 4.0]
    made = sp.coo_array((w, (i, j)), shape=(3, 3))
    split = sp.coo_array(([*w, -1.0, 1.0], ([*i, 0, 0], [*j, 0, 0])), shape=(3, 3))
    csr = made.tocsr()
    mixed = csr.copy()
    mixed.indices, mixed.data = mixed.indices[[1, 0, 2, 3]], mixed.data[[1, 0, 2, 3]]
    mixed.has_sorted_indices = mixed.has_canonical_format = False
    long = csr.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    assert len({of(x) for x in (made, split, csr, mixed, long)}) == 1
    assert mixed.indices.tolist() != csr.indices.tolist()  # the caller's own is as it was
    other = csr.copy()
    other.data[0] = 3.5
    assert of(other) != of(csr)


def test_numbers_are_what_they_are_worth():
    assert of(3) == of(3.0) == of(np.float64(3.0)) == of(np.int64(3))
    assert of(3) != of("3")
    assert of(2**60) != of(2**60 + 1)
    assert of((1, (2, 3))) != of((1, 2, 3))
    assert of(("ab", "c")) != of(("a", "bc"))
    assert of({"a": 1, "b": 2}) == of({"b": 2, "a": 1})
    assert of({3, 1}) == of({1, 3})


def test_one_that_is_part_of_itself_comes_to_an_end():
    endless: list[Any] = [1]
    endless.append(endless)
    assert of(endless) == of(endless)


SCRIPT = """
from known import planted_sdp, planted_simplex
import condal, numpy as np
from condal.io.checkpoint.fingerprint import fingerprint_of
print(fingerprint_of(planted_sdp().problem)[0], fingerprint_of(planted_simplex().problem)[0])
"""


def test_it_is_the_same_in_another_process():
    path = os.pathsep.join([str(TESTS), *sys.path])
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [fingerprint(planted_sdp().problem), fingerprint(planted_simplex().problem)]
    assert run.stdout.split() == here


class Doubled:
    """A map of the user's own."""

    diagonal_rows = None
    terms, norm, size = 1, 2.0, 3

    def __init__(self, factor: float) -> None:
        self._factor = factor

    def __call__(self, x):
        return self._factor * np.asarray(x)

    def adjoint(self, y):
        return self._factor * y

    def row_norms(self):
        return np.full(3, self._factor)

    def as_matrix(self):
        return None

    def scaled(self, rows):
        raise NotImplementedError


def hidden(A: Any) -> condal.Problem:
    return condal.Problem.of(
        f=condal.Linear(np.ones(3)), X=condal.Simplex(3), A=A, K=condal.Equal(np.ones(3))
    )


def operator(factor: float) -> LinearOperator:
    return LinearOperator(
        (3, 3), matvec=lambda x: factor * x, rmatvec=lambda y: factor * y, dtype=np.float64
    )


@pytest.mark.parametrize("make", [Doubled, operator])
def test_what_cannot_be_seen_is_told_apart_by_what_it_gives(make):
    one, again, other = (hidden(make(factor)) for factor in (2.0, 2.0, 2.0001))
    assert fingerprint_of(one) == (fingerprint(other), False)
    assert agree(probes(one), probes(again))
    assert not agree(probes(one), probes(other))


def test_a_matrix_in_an_operator_is_seen():
    a = np.arange(9.0).reshape(3, 3)
    one, other = aslinearoperator(a), aslinearoperator(a + 1e-12)
    before = fingerprint(hidden(one))
    assert before != fingerprint(hidden(other))
    _ = one.T  # which SciPy keeps
    assert fingerprint(hidden(one)) == before


def test_problems_of_condals_own_pieces_are_seen_whole():
    assert fingerprint_of(planted_sdp().problem)[1]
    assert fingerprint_of(condal.problems.max_cut(random_graph(8, 3)).problem)[1]


def test_probes_never_raise_and_agree_with_themselves():
    class Broken(Doubled):
        def adjoint(self, y):
            if np.any(y):
                raise RuntimeError("no")
            return 0 * y

    found = probes(hidden(Broken(2.0)))
    assert np.isnan(found[1])
    assert agree(found, probes(hidden(Broken(2.0))))
    assert not agree(found, probes(hidden(Doubled(2.0))))
    assert agree([1.0, np.inf], [1.0 + 1e-12, np.inf])
    assert not agree([1.0], [1.0, 2.0])
