"""A tree comes back as it was, to the last bit, and nothing but condal's own comes back at all."""

import json
import re
from math import inf, nan
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bits import same
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

import condal
from condal.certificates.history import History, Row
from condal.errors import FormatError, ProblemError
from condal.io.checkpoint.codec import MAX_LEVELS, pack, unpack
from condal.io.container.array_file import DTYPES
from condal.linalg.points import LowRank
from condal.methods import CGAL
from condal.methods.state import Warm
from condal.result import Status
from condal.storage import Sketch


def again(value: Any) -> Any:
    """What comes back of a value, by way of a text."""
    skeleton, arrays = pack(value)
    text = json.dumps(skeleton, allow_nan=False)
    return unpack(json.loads(text), arrays, "a.checkpoint")


def array_of(draw, dtype: str) -> np.ndarray:
    shape = draw(nst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    bits = np.dtype(dtype).itemsize * max(1, int(np.prod(shape)))
    data = np.frombuffer(draw(st.binary(min_size=bits, max_size=bits)), np.uint8)
    if np.dtype(dtype).kind == "b":
        data = data % 2
    array = data.view(dtype)[: int(np.prod(shape))].reshape(shape)
    array = np.array(array, order=draw(st.sampled_from("CF")))
    if array.ndim and draw(st.booleans()):
        array = array[::2]
    array.flags.writeable = draw(st.booleans())
    return array


ARRAYS = st.composite(lambda draw: array_of(draw, draw(st.sampled_from(sorted(DTYPES)))))()
SCALARS = ARRAYS.filter(lambda a: a.size > 0).map(lambda a: a.ravel()[0])
NUMBERS = st.one_of(st.booleans(), st.integers(), st.floats(), SCALARS)
LEAVES = st.one_of(st.none(), NUMBERS, st.text(), st.sampled_from(list(Status)), ARRAYS)


def grown(inside: Any) -> Any:
    return st.one_of(
        st.lists(inside, max_size=3),
        st.lists(inside, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), inside, max_size=3),
        st.builds(LowRank, inside, inside),
        st.builds(Warm, inside, inside, inside),
    )


TREES = st.recursive(LEAVES, grown, max_leaves=12)


@given(TREES)
def test_a_tree_comes_back_as_it_was(value):
    assert same(again(value), value)


@given(ARRAYS)
def test_an_array_that_is_referred_to_twice_is_one_array_again(value):
    first, second = again([value, {"again": LowRank(value, value)}])
    assert second["again"].U is second["again"].weights is first


@pytest.mark.parametrize(
    "value",
    [nan, -nan, inf, -inf, -0.0, 5e-324, 1.7976931348623157e308, 2**53, -(2**63), 10**400],
)
def test_numbers_that_json_does_not_hold_are_exact(value):
    assert same(again(value), value)


def test_a_nan_keeps_its_bits():
    odd = np.array([0x7FF800000000BEEF, 0xFFF0000000000001], np.uint64).view(np.float64)
    assert same(again(odd.copy()), odd)
    assert same(again([float(odd[0]), odd[1]]), [float(odd[0]), odd[1]])


def test_one_column_keeps_the_order_that_a_product_sees():
    column = np.asfortranarray(np.arange(6.0).reshape(3, 2))[:, :1]
    row = np.arange(6.0).reshape(2, 3)[:1]
    block = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
    for array in (column, row, column.copy(), row.T, np.arange(3.0)[:, None], block):
        assert again(array).strides == array.strides


def test_other_strides_keep_the_order_of_the_axes():
    wide = np.arange(24.0).reshape(4, 6)
    for view, order in ((wide[:, ::2], "C_CONTIGUOUS"), (wide.T[::2], "F_CONTIGUOUS")):
        back = again(view)
        assert np.array_equal(back, view)
        assert back.flags[order]


def test_an_array_of_high_end_first_comes_back_in_the_order_of_the_machine():
    back = again(np.arange(3.0).astype(">f8"))
    assert back.dtype == np.float64
    assert back.tolist() == [0.0, 1.0, 2.0]


def test_a_sketch_keeps_its_random_matrix_only_if_it_has_one():
    sketch = Sketch(6, 2, seed=3)
    assert "_omega" not in vars(again(sketch))
    sketch.move(LowRank(np.ones((6, 1)), np.ones(1)), 1.0)
    back = again(sketch)
    assert same(back, sketch)
    assert vars(back)["_omega"].tobytes() == sketch._omega.tobytes()


def rows(count: int) -> list[Row]:
    return [
        Row(k, 0.1 * k, -inf, nan, 0.0, 0.0, inf, 1.0, 0.5, 0.0, k, 7 * k, 0.25)
        for k in range(count)
    ]


def test_rows_come_back_as_they_were():
    assert same(again(rows(5)), rows(5))


def test_a_history_is_a_few_arrays_whatever_its_length():
    history = History()
    for row in rows(1000):
        history.append(row)
    skeleton, arrays = pack(history)
    assert len(json.dumps(skeleton)) < 1000
    assert len(arrays) <= len(Row._fields)
    assert same(list(again(history)), list(history))


class Stranger:
    pass


class Better(Sketch):
    pass


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (Stranger(), "test_packing.Stranger"),
        (Better(4, 2), "test_packing.Better"),
        (CGAL(eta=lambda k, slope: 0.1), "builtins.function"),
        ({1, 2}, "builtins.set"),
        (b"bytes", "builtins.bytes"),
        (1j, "builtins.complex"),
        (np.ma.masked_array([1.0]), "numpy.ma"),
        (np.random.default_rng(0), "numpy.random"),
        (sp.csr_matrix((2, 2)), "scipy.sparse"),
        (np.timedelta64(1, "s"), "numpy.timedelta64"),
        (condal.Simplex(3), "condal.domains.vectors.Simplex"),
    ],
)
def test_what_is_not_condals_own_is_refused_by_name(value, got):
    with pytest.raises(ProblemError) as caught:
        pack([0, {"state": value}])
    text = str(caught.value)
    assert text.startswith("no checkpoint can be made of [1].state")
    assert got in text
    assert "a checkpoint holds only condal's own records" in text
    assert text.endswith("solve without checkpoint=, or build the method from condal's own rules")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({1: 2}, "the keys of a dict must be texts"),
        (np.array([None]), "no array of dtype object"),
        (np.array(["a"]), "no array of dtype <U1"),
        (np.zeros(2, "M8[s]"), "no array of dtype datetime64[s]"),
        (np.zeros(3, "i4,f8"), "no array of dtype"),
    ],
)
def test_what_has_no_place_in_a_checkpoint_is_refused(value, why):
    with pytest.raises(ProblemError, match=re.escape(why)):
        pack(value)


def test_an_object_that_is_part_of_itself_is_refused():
    endless: list[Any] = []
    endless.append((endless,))
    with pytest.raises(ProblemError, match=f"at most {MAX_LEVELS} levels deep"):
        pack(endless)


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


def test_a_tree_is_as_deep_as_it_may_be_and_no_deeper():
    assert same(again(nested(MAX_LEVELS - 1)), nested(MAX_LEVELS - 1))
    with pytest.raises(ProblemError, match=f"at most {MAX_LEVELS} levels deep"):
        pack(nested(MAX_LEVELS))
    for deep in (nested(MAX_LEVELS + 1), nested(900), {"tuple": nested(900)}):
        with pytest.raises(
            FormatError, match=f"a.checkpoint: .*more than {MAX_LEVELS} levels deep"
        ):
            unpack(deep, [], "a.checkpoint")


def test_an_attribute_that_would_be_lost_is_refused():
    sketch = Sketch(4, 2)
    sketch.more = 1
    with pytest.raises(ProblemError, match="Sketch has an attribute 'more' that is not kept"):
        pack(sketch)


LOW_RANK = {"U": {"array": 0}, "weights": {"array": 1}}


@pytest.mark.parametrize(
    "skeleton",
    [
        {},
        {"tuple": [], "list": []},
        {"eval": "1"},
        {"tuple": {}},
        {"tuple": None},
        {"dict": []},
        {"float": "7ff8000000000000"},
        {"float": 1.0},
        {"float": 0},
        {"scalar": 0},
        {"scalar": ["<f8", "00"]},
        {"array": 3},
        {"array": -1},
        {"array": True},
        {"array": "0"},
        {"array": None},
        {"instance": ["result.Status", "NONE"]},
        {"instance": ["result.Status", 1]},
        {"instance": ["result.Status", {}]},
        {"instance": ["points.LowRank", "U"]},
        {"instance": "result.Status"},
        {"instance": ["os.system", {}]},
        {"instance": ["builtins.eval", {"source": "1"}]},
        {"instance": ["sketch.Sketch", {}]},
        {"instance": ["points.LowRank", {"U": {"array": 0}}]},
        {"instance": ["points.LowRank", LOW_RANK | {"more": 1}]},
        {"instance": ["points.LowRank", dict(reversed(LOW_RANK.items()))]},
        {"instance": ["points.LowRank", [1, 2]]},
        {"instance": [["points.LowRank"], {}]},
        {"instance": ["history.Row", {"k": 1}]},
        {"instance": ["sketch.Sketch", {"n": 1}]},
        {"instance": ["choice.Blocks", {"parts": {"tuple": []}, "__class__": 1}]},
        {"instance": ["whole.Factored", {"n": 1, "filled": "ab"}]},
        {"sparse": ["csr", 2, 2, False, 0, 1, 2]},
        {"same": 0},
    ],
    ids=lambda skeleton: json.dumps(skeleton)[:60],
)
def test_a_skeleton_that_pack_does_not_make_is_refused(skeleton):
    arrays = [np.zeros(2), np.array([0, 5]), np.array([0, 1, 2])]
    with pytest.raises(FormatError) as caught:
        unpack(skeleton, arrays, "a.checkpoint")
    assert str(caught.value).startswith("a.checkpoint: is damaged or not a condal checkpoint (")
    assert str(caught.value).endswith("); give another, or solve again")


def test_an_array_that_belongs_to_nothing_is_refused():
    with pytest.raises(FormatError, match="an array belongs to nothing"):
        unpack([{"array": 0}], [np.zeros(1), np.zeros(1)], "a.checkpoint")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 2**60), st.floats(-1, 1), st.text()),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3),
        st.dictionaries(
            st.sampled_from(["tuple", "array", "instance", "scalar", "float", "dict"]),
            inside,
            max_size=1,
        ),
    ),
)


@given(JSON)
def test_any_json_is_refused_or_a_tree_that_can_be_packed(skeleton):
    try:
        value = unpack(skeleton, [], "a.checkpoint")
    except FormatError:
        return
    assert same(again(value), value)
