"""Every application of the command line has a picture, which is kept with its result and drawn."""

import networkx as nx
import numpy as np
import pytest

import condal
from builders import TURNS
from commands import FILES, enter, solved
from condal import problems
from condal.io.results import load
from condal.report.figures import of_picture

WITHOUT = {"sdp"}  # its unknowns stand for nothing that could be drawn


@pytest.mark.parametrize("name", sorted(set(FILES) - WITHOUT))
def test_the_picture_of_an_application(name, tmp_path, monkeypatch):
    enter(tmp_path, monkeypatch)
    solved(name, "--tol", "0.01", "--quiet", "--save", "run")
    drawn = of_picture(load("run").picture, "p")
    assert drawn is not None
    assert drawn.caption.endswith(".")
    assert drawn.svg.count("<path") + drawn.svg.count("<image") > 2


GRAPH = nx.karate_club_graph()
ANSWERS = {
    "cut": lambda: problems.max_cut(GRAPH),
    "balanced cut": lambda: problems.bisection(GRAPH),
    "partition": lambda: problems.communities(GRAPH, 3),
    "clustering": lambda: problems.k_means(np.eye(6, 3), 2),
    "stable set": lambda: problems.theta(GRAPH),
    "signs": lambda: problems.sign_synchronisation(nx.to_numpy_array(GRAPH)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_rounded_answer_draws_itself(name, tmp_path):
    model = ANSWERS[name]()
    answer = model.round(condal.solve(model, tol=1e-2))
    page = answer._repr_html_()
    assert all(name in page for name, _ in answer.rows())
    assert ">bound<" in page
    figure = answer.plot()
    assert figure.get_suptitle() == str(answer.picture()["caption"])
    figure.savefig(tmp_path / "answer.png")
    assert (tmp_path / "answer.png").stat().st_size > 2000


def test_a_completed_matrix_draws_the_known_entries_next_to_all():
    full = np.outer([1.0, 2.0, 3.0], [1.0, 2.0])
    full[1, 1] = np.nan
    model = problems.matrix_completion(full, radius=9.0)
    completed = model.complete(condal.solve(model, tol=1e-2))
    picture = completed.picture()
    np.testing.assert_allclose(picture["panel0"], full, rtol=1e-6)
    np.testing.assert_allclose(picture["panel1"], np.asarray(completed), rtol=1e-5)
    assert len(completed.plot().axes) == 4  # two panels and their bars


def test_an_answer_without_its_model_says_that_there_is_nothing_to_draw():
    cut = problems.Cut(1.0, 2.0, np.array([1.0, -1.0]))
    assert cut.sides == ([0], [1])
    assert cut._repr_html_() is None
    with pytest.raises(condal.ProblemError, match="this Cut was made without its model"):
        cut.plot()


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (
            problems.rotation_synchronisation([(0, 1), (1, 2), (2, 0)], TURNS),
            "rotations without positions",
        ),
        (
            problems.k_means(distances=np.ones((4, 4)) - np.eye(4), k=2),
            "only the distances of the points were given",
        ),
    ],
)
def test_an_answer_without_places_says_that_there_is_nothing_to_draw(model, text):
    answer = model.round(condal.solve(model, tol=1e-2))
    with pytest.raises(condal.ProblemError, match=text):
        answer.plot()
