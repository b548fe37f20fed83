"""The repr of every model and of its problem is one short line, without arrays."""

import networkx as nx
import pytest

from builders import MODELS
from condal import problems

MAX_CHARACTERS = 160


@pytest.mark.parametrize("name", MODELS)
def test_models_and_problems_have_short_reprs(name):
    model = MODELS[name]()
    for text in (repr(model), repr(model.problem)):
        assert "\n" not in text
        assert "array" not in text
        assert len(text) <= MAX_CHARACTERS


def test_the_repr_of_a_model_has_its_sizes_and_the_options_that_were_chosen():
    graph = nx.petersen_graph()
    assert repr(problems.max_cut(graph)) == "MaxCut(n=10, edges=15)"
    assert repr(problems.max_k_cut(graph, 3, name="mine")) == (
        "MaxKCut(n=10, k=3, edges=15, name='mine')"
    )
    assert repr(problems.bisection(graph, imbalance=2)) == "Bisection(n=10, edges=15, imbalance=2)"


def test_the_repr_of_a_problem_says_what_it_is_about():
    assert repr(problems.max_cut(nx.petersen_graph()).problem) == (
        "Problem('max-cut': maximise Linear over Spectrahedron(n=10, trace=10.0, at_most=False), "
        "h = Equal of size 10)"
    )
