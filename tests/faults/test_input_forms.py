"""Valid input: every form of the same numbers gives the same object and stays unchanged."""

from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp
from forms import LAYOUTS, SPARSE, arrays_of, frozen

import condal
from builders import BUILDERS, MODELS, PIECES, probe, same
from condal import Status
from known import PLANTED
from laws.listed import INSTANCES
from method_cases import CASES

# Integers, which every number type represents exactly.
TYPES = {
    "float32": np.float32,
    "integer": np.int64,
    "small integer": np.int8,
    "object": object,
}


def pairs(*kinds, among=BUILDERS):
    cases = [(name, arg) for name, b in among.items() for kind in kinds for arg in getattr(b, kind)]
    return pytest.mark.parametrize(("name", "arg"), cases, ids=[f"{n}-{a}" for n, a in cases])


def array(name, arg):
    given = np.asarray(BUILDERS[name].arrays[arg])
    whole = arg in BUILDERS[name].places or given.dtype.kind in "ic"
    return given if whole else given.astype(float)


def taken_as(name, arg, form):
    """Check that the builder makes the same object from a form of its array, left unchanged."""
    plain = array(name, arg)
    given = form(plain)
    before = [part.copy() for part in arrays_of(given)]
    made = BUILDERS[name](**{arg: given})
    assert same(made, BUILDERS[name](**{arg: plain}), rtol=1e-6)
    for part, old in zip(arrays_of(given), before, strict=True):
        np.testing.assert_array_equal(part, old)


@pairs("numbers", "bounds")
@pytest.mark.parametrize("kind", TYPES)
def test_integer_object_and_float32_dtypes_are_taken(name, arg, kind):
    if kind.endswith("integer") and (array(name, arg) % 1).any():
        kind = "float32"
    taken_as(name, arg, lambda a: a.astype(TYPES[kind]))


@pytest.mark.parametrize(
    "name", [n for n in MODELS if MODELS[n].symmetric and "W" in MODELS[n].numbers]
)
def test_bool_dtype_is_taken(name):
    taken_as(name, "W", lambda a: a != 0)
    taken_as(name, "W", lambda a: sp.csr_array(a != 0))


@pairs("numbers", "bounds", "places", "waves", "labels")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_read_only_strided_and_fortran_ordered_arrays_are_taken(name, arg, layout):
    taken_as(name, arg, LAYOUTS[layout])


@pairs("sparse")
@pytest.mark.parametrize("form", SPARSE)
def test_duplicate_coo_entries_unsorted_csr_and_explicit_zeros_are_taken(name, arg, form):
    taken_as(name, arg, SPARSE[form])


@pairs("sparse")
@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_sparse_matrices_of_float32_and_integers_are_taken(name, arg, kind):
    plain = array(name, arg)
    kind = np.complex64 if plain.dtype.kind == "c" else kind
    taken_as(name, arg, lambda a: sp.csr_array(a.astype(kind)))


# Complex Hermitian data.


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_complex_hermitian_data_are_solved_on_hermitian_matrices(form):
    H = np.array([[2.0, 1j], [-1j, 2.0]])  # eigenvalues 1 and 3
    for maximise, optimum in ((False, 1.0), (True, 3.0)):
        problem = condal.Problem.of(
            condal.Linear(form(H)),
            condal.Hermitian(2),
            condal.Diagonal(2, hermitian=True),
            condal.Equal([0.5, 0.5]),
            maximise=maximise,
        )
        result = condal.solve(problem, tol=1e-5)
        assert result.status is Status.SOLVED
        assert result.objective == pytest.approx(optimum, abs=1e-4)
        assert np.iscomplexobj(result.x.U)


def test_complex_hermitian_data_on_real_matrices_are_refused_by_name():
    H = np.array([[2.0, 1j], [-1j, 2.0]])
    with pytest.raises(condal.ProblemError, match=r"f and X do not fit: .*2 x 2.*\(4, 4\)"):
        condal.Problem.of(condal.Linear(H), condal.Spectrahedron(2))
    with pytest.raises(
        condal.ProblemError, match=r"complex data go with the domain condal\.Hermit"
    ):
        condal.Equal([1j, 1.0])


# Many entries.


@pytest.mark.parametrize("kind", [np.int32, np.uint16, np.int64])
def test_int32_overflow_in_nnz_does_no_harm(kind):
    """n^2 exceeds 32 bits: indices of entries need 64."""
    n = 60_000
    rows, cols = np.array([n - 1, 0, n - 2]), np.array([n - 1, 1, n - 5])
    u = np.zeros((n, 1))
    u[[n - 1, 0, 1, n - 2, n - 5], 0] = [2.0, 3.0, 5.0, 7.0, 11.0]
    x = condal.LowRank(u, np.ones(1))
    places = rows.astype(kind), cols.astype(kind)
    owner = np.arange(3).astype(kind)
    entries = condal.Entries(n, *places)
    inner = condal.Inner.from_triplets(
        n, owner, rows=places[0], cols=places[1], values=[1.0, 0.5, 0.5]
    )
    S = sp.coo_array(([1.0], ([n - 1], [n - 1])), shape=(n, n))
    for A in (entries, inner):
        np.testing.assert_array_equal(A(x), [4.0, 15.0, 77.0])
        v = np.zeros(n)
        v[[n - 1, 0, n - 2]] = 1.0
        image = A.adjoint(np.array([1.0, 2.0, 4.0])) @ v
        assert image[[n - 1, 1, n - 5]].tolist() == [1.0, 1.0, 2.0]
    assert condal.Inner([S])(x).tolist() == [4.0]
    assert condal.Linear(S).M(x).tolist() == [4.0]
    assert int(condal.Linear(S).M.as_matrix().indices[0]) == n * n - 1


# The caller's arrays.


@pytest.mark.parametrize("name", BUILDERS)
def test_the_callers_arrays_are_never_changed_by_a_builder(name):
    builder = BUILDERS[name]
    given = {arg: frozen(np.array(array(name, arg))) for arg in builder.arrays}
    for arg in builder.sparse:
        given[arg] = frozen(SPARSE["unsorted CSR with duplicates"](array(name, arg)))
    before = {arg: [part.copy() for part in arrays_of(a)] for arg, a in given.items()}
    probe(builder(**given))
    for arg, parts in before.items():
        for part, old in zip(arrays_of(given[arg]), parts, strict=True):
            np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_made_does_not_change_with_the_callers_arrays(name):
    builder = BUILDERS[name]
    for arg in (*builder.numbers, *builder.bounds, *builder.waves):
        given = np.array(array(name, arg))
        for held in (given, sp.csr_array(given)) if arg in builder.sparse else (given,):
            made = builder(**{arg: held})
            before = [np.array(part) for part in probe(made)]
            arrays_of(held)[0][...] = 99.0
            for part, old in zip(probe(made), before, strict=True):
                np.testing.assert_array_equal(part, old)
            given = np.array(array(name, arg))


@pytest.mark.parametrize("name", MODELS)
def test_the_callers_arrays_are_never_changed_by_a_solve(name):
    builder = MODELS[name]
    given = {arg: frozen(np.array(array(name, arg))) for arg in builder.arrays}
    before = {arg: a.copy() for arg, a in given.items()}
    result = condal.solve(builder(**given), tol=1e-1, max_iters=40)
    assert result.x is not None
    for arg, old in before.items():
        np.testing.assert_array_equal(given[arg], old)


METHODS = {"default": None} | {
    name: case.method for name, case in CASES.items() if case.known is PLANTED["sdp-equal"]
}


@pytest.mark.parametrize("method", METHODS)
def test_the_callers_arrays_are_never_changed_by_a_method(method):
    """This includes the arrays it holds: the data, and the point and dual of a warm start."""
    known = PLANTED["sdp-equal"]()
    full = frozen(known.problem.f.C.to_dense())
    b = frozen(np.array(known.problem.h.b))
    problem = condal.Problem.of(
        condal.Linear(full), known.problem.X, known.problem.A, condal.Equal(b)
    )
    copies = full.copy(), b.copy()
    first = condal.solve(problem, METHODS[method], max_iters=20, tol=1e-8)
    point, dual = np.array(first.x), first.y.copy()
    for part in (first.y, *((first.x.U, first.x.weights) if hasattr(first.x, "U") else (first.x,))):
        part.flags.writeable = False
    condal.solve(problem, METHODS[method], max_iters=20, tol=1e-8, warm_start=first)
    condal.certify(problem, first.x, first.y)
    assert np.array_equal(full, copies[0])
    assert np.array_equal(b, copies[1])
    assert np.array_equal(np.array(first.x), point)
    assert np.array_equal(first.y, dual)


def test_pieces_that_take_arrays_are_listed():
    """Constructors annotate array arguments with `Any`; two take operators there."""
    listed = {type(case.made) for case in PIECES.values()} | {condal.Function, condal.Operator}
    public = {type(piece) for _, pieces, _ in INSTANCES.values() for piece in pieces}
    missing = [
        f"let a case of {cls.__name__} in tests/laws be made of arrays: it takes some"
        for cls in public - listed
        if cls.__name__ in condal.__all__ and takes_arrays(cls)
    ]
    assert missing == []


def takes_arrays(cls):
    return any(argument.annotation == "Any" for argument in signature(cls).parameters.values())
