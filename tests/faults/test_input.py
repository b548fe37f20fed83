"""Invalid input is refused before any work; the text says what was got, wanted and to be done."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from forms import BROKEN

import condal
from builders import BUILDERS, same
from condal import Problem, ProblemError

N = 3


def each(*kinds, among=BUILDERS):
    """Return every array of these kinds of every builder."""
    pairs = [(name, arg) for name, b in among.items() for kind in kinds for arg in getattr(b, kind)]
    return pytest.mark.parametrize(("name", "arg"), pairs, ids=[f"{n}-{a}" for n, a in pairs])


def with_value(name, arg, value, where=1):
    """Return the builder's array with one number changed; two for a symmetric matrix."""
    given = np.array(BUILDERS[name].arrays[arg])
    given = given.astype(np.result_type(given, type(value)))
    if arg in BUILDERS[name].symmetric:
        given[0, 1] = given[1, 0] = value
    else:
        given.flat[min(where, given.size - 1)] = value
    return given


def forms_of(name, arg, full):
    """Return the array, and a sparse matrix if the builder takes one."""
    return (full, sp.csr_array(full)) if arg in BUILDERS[name].sparse else (full,)


def refused(make, text):
    with pytest.raises(ProblemError, match=text) as caught:
        make()
    assert len(str(caught.value)) < 400, "a text to read"


NOT_FINITE = "every entry must be a finite number: clean the data first"


@each("numbers", "waves")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused(name, arg, value):
    refused(
        lambda: BUILDERS[name](**{arg: with_value(name, arg, value)}),
        f"has the value {value} at index .*; {NOT_FINITE}",
    )


@pytest.mark.parametrize("part", [np.nan, 1j * np.nan, complex(0, np.inf)])
@each("waves")
def test_nan_in_a_complex_c_is_refused(name, arg, part):
    for given in forms_of(name, arg, with_value(name, arg, complex(part), where=0)):
        refused(lambda g=given: BUILDERS[name](**{arg: g}), "has the value (nan|inf)")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@each("sparse")
def test_nan_in_a_sparse_c_is_refused(name, arg, value):
    given = sp.csr_array(with_value(name, arg, value))
    refused(lambda: BUILDERS[name](**{arg: given}), f"has the value {value}.*; {NOT_FINITE}")


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.array([[1.0, np.inf]]), f"the matrix has the value inf at index .*; {NOT_FINITE}"),
        (sp.csr_array([[1.0, np.nan]]), f"the matrix has the value nan at index .*; {NOT_FINITE}"),
        ([[1.0], [1.0, 2.0]], "the matrix must be an array of real numbers; got list"),
        (np.array([["a", "b"]]), "the matrix must be an array of real numbers; got ndarray"),
        (np.eye(2) * 1j, "the matrix is complex"),
        (BROKEN["a column too high"][0](np.eye(2)), "the matrix has the column index 2"),
    ],
    ids=["inf", "nan stored", "ragged", "words", "complex", "index"],
)
def test_known_entries_of_what_is_no_matrix_are_refused(matrix, text):
    """Where nan is what is not known."""
    refused(lambda: condal.problems.known_entries(matrix), text)


def masked(a, wrong):
    """Return `a` as a masked array that hides the entries where `wrong` is true."""
    return np.ma.array(a, mask=np.broadcast_to(wrong, np.shape(a)))


@each("numbers", "bounds", "places", "labels", "waves")
def test_masked_entries_are_refused_rather_than_read(name, arg):
    """The value under a mask is not data: a masked edge must not be read as an edge."""
    good = np.asarray(BUILDERS[name].arrays[arg])
    refused(
        lambda: BUILDERS[name](**{arg: masked(good, np.ones(good.shape, dtype=bool))}),
        "masked .*filled",
    )


@each("numbers", "bounds", "places", "labels", "waves")
def test_a_masked_array_without_masked_entries_is_taken(name, arg):
    good = np.asarray(BUILDERS[name].arrays[arg])
    made = BUILDERS[name](**{arg: masked(good, False)})
    assert same(made, BUILDERS[name](**{arg: good}), rtol=1e-6)


def test_a_masked_edge_of_a_triangle_is_not_cut():
    triangle = 1.0 - np.eye(3)
    hidden = masked(triangle, [[False, True, False], [True, False, False], [False, False, False]])
    refused(
        lambda: condal.problems.max_cut(hidden),
        r"W has 2 masked entries, the first at index \(0, 1\): fill them, .*W.filled\(0\)",
    )
    assert condal.problems.max_cut(hidden.filled(0)).W.nnz == 4


# Bounds.


@each("bounds")
def test_nan_bounds_are_refused(name, arg):
    refused(
        lambda: BUILDERS[name](**{arg: with_value(name, arg, np.nan)}),
        f"{arg} has the value nan at index .*; {NOT_FINITE}",
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: condal.Box([0.0, 2.0], [1.0, 1.0]), r"low\[1\] = 2 is above high\[1\] = 1"),
        (
            lambda: condal.Polytope(low=[0.0, 2.0], high=[1.0, 1.0]),
            r"the Polytope is empty: low\[1\] = 2 is above high\[1\] = 1",
        ),
    ],
    ids=["Box", "Polytope"],
)
def test_l_above_u_is_refused(make, text):
    refused(make, text)


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("name", [name for name in BUILDERS if BUILDERS[name].bounds])
def test_infinity_on_the_wrong_side_is_refused(name, side):
    wrong, right = (np.inf, -np.inf) if side == "low" else (-np.inf, np.inf)
    refused(
        lambda: BUILDERS[name](**{side: with_value(name, side, wrong, where=0)}),
        f"{side} has the value {wrong} at index 0; {NOT_FINITE}",
    )
    if name != "Polytope" or side == "high":  # which is bounded by its rows from above alone
        assert BUILDERS[name](**{side: with_value(name, side, right, where=0)}) is not None


# Shapes.


@each("numbers", "bounds", "places", "labels", "waves")
@pytest.mark.parametrize("more", ["a dimension", "ragged", "words", "nothing at all", "a name"])
def test_wrong_shapes_are_refused(name, arg, more):
    good = np.asarray(BUILDERS[name].arrays[arg])
    given = {
        "a dimension": np.stack([good] * 3, axis=-1),
        "ragged": [[1.0], [1.0, 2.0]],
        "words": np.full(good.shape, "one"),
        "nothing at all": np.full(good.shape, None),
        "a name": "numbers.txt",
    }[more]
    refused(lambda: BUILDERS[name](**{arg: given}), r"must|wanted|needs|takes|different lengths")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"A": condal.Diagonal(4)}, r"A and X do not fit: .* symmetric 3 x 3.* shape \(4, 4\)"),
        (
            {"A": condal.Stack(condal.Diagonal(3), condal.Diagonal(4))},
            r"gradients of different sizes, \(3, 3\) and \(4, 4\), cannot be added: the objective,",
        ),
        (
            {"A": condal.Stack(condal.Diagonal(3), condal.Matrix(np.eye(3)))},
            r"gradients of different sizes, \(3, 3\) and \(3,\), cannot be added",
        ),
    ],
    ids=["A", "a stack", "a mixed stack"],
)
def test_wrong_shapes_of_pieces_are_refused(given, text):
    parts = {
        "f": condal.Linear(np.eye(N)),
        "X": condal.Spectrahedron(N),
        "A": condal.Diagonal(N),
        "K": condal.Equal(np.ones(N)),
    }
    refused(lambda: Problem.of(**(parts | given)), text)


def test_wrong_shapes_of_a_cost_beside_factors_are_refused():
    f = condal.FactoredQuadratic(np.ones((2, N)), None, np.ones(N + 1))
    refused(lambda: Problem.of(f, condal.Simplex(N)), r"different sizes, \(3,\) and \(4,\)")


@each("symmetric")
def test_what_is_not_square_is_refused(name, arg):
    wide = np.asarray(BUILDERS[name].arrays[arg])[:-1]
    for given in forms_of(name, arg, wide):
        refused(lambda g=given: BUILDERS[name](**{arg: g}), r"square.*; got shape \(\d, \d\)")


@each("symmetric")
def test_an_asymmetric_c_is_refused(name, arg):
    full = np.array(BUILDERS[name].arrays[arg])
    full[0, 1] += 1.5
    text = r"must be (symmetric|Hermitian); .* 1\.5: pass \(.*\) / 2 if that is what you mean"
    for given in forms_of(name, arg, full):
        refused(lambda g=given: BUILDERS[name](**{arg: g}), text)


@each("numbers")
def test_complex_data_are_refused_by_name_where_they_mean_nothing(name, arg):
    given = np.asarray(BUILDERS[name].arrays[arg]) * (1 + 1j)
    refused(lambda: BUILDERS[name](**{arg: given}), rf"(?s)complex.*(real|{re.escape(arg)})")


@each("sparse", among={k: b for k, b in BUILDERS.items() if not b.waves})
def test_complex_sparse_data_are_refused_by_name(name, arg):
    given = sp.csr_array(np.asarray(BUILDERS[name].arrays[arg]) * (1 + 1j))
    refused(lambda: BUILDERS[name](**{arg: given}), "complex")


# Indices.


@each("sparse")
@pytest.mark.parametrize("how", BROKEN)
def test_an_index_out_of_range_of_a_sparse_matrix_is_refused(name, arg, how):
    broken, text = BROKEN[how]
    refused(lambda: BUILDERS[name](**{arg: broken(BUILDERS[name].arrays[arg])}), text)


@each("places")
def test_an_index_out_of_range_is_refused(name, arg):
    without_end = arg in ("sizes", "heads", "tails", "owner")
    for index in (-1,) if without_end else (-1, 99):
        given = with_value(name, arg, index, where=0)
        text = rf"(must|wanted).*(; got|{index})"
        refused(lambda g=given: BUILDERS[name](**{arg: g}), text)


@each("places")
def test_an_index_that_is_no_whole_number_is_refused(name, arg):
    given = np.asarray(BUILDERS[name].arrays[arg]) + 0.5
    refused(lambda: BUILDERS[name](**{arg: given}), "(whole numbers|integers|number of a vertex)")


# Nothing.


@each("symmetric")
def test_an_empty_matrix_is_refused(name, arg):
    for given in forms_of(name, arg, np.zeros((0, 0))):
        refused(lambda g=given: BUILDERS[name](**{arg: g}), "at least 1 x 1|square|one point")


def test_numbers_too_large_for_a_double_are_refused():
    for name, builder in BUILDERS.items():
        for arg in builder.numbers:
            given = np.full(np.shape(builder.arrays[arg]), 10**400, dtype=object)
            refused(lambda b=builder, a=arg, g=given: b(**{a: g}), "must|numbers"), name
