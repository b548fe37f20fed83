"""Phase retrieval on ranks: each has some masks, and the answer is that of one process."""

import numpy as np
import pytest
from sharded import own, refused_by_all, together

import condal
import condal_mpi
from condal.errors import FormatError, ProblemError
from condal.linalg.points import LowRank
from condal.methods import LowRankCGAL
from condal.problems import phase_retrieval
from condal_mpi.sharded_array import ShardedArray

SIDE, MASKS = 16, 9  # masks that neither 2 nor 4 ranks can share evenly


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    u = rng.standard_normal((SIDE, SIDE)) + 1j * rng.standard_normal((SIDE, SIDE))
    masks = rng.choice([1, -1, 1j, -1j], size=(MASKS, SIDE, SIDE))
    masks *= rng.choice(np.sqrt([0.5, 3.0]), p=[0.8, 0.2], size=masks.shape)
    return u, masks, np.abs(np.fft.fft2(masks * u, norm="ortho")) ** 2


def model_of(team, data, **options):
    _, masks, b = data
    return condal_mpi.phase_retrieval(own(team, b), own(team, masks), team, **options)


@pytest.fixture(scope="module")
def model(team, data):
    return model_of(team, data)


@pytest.fixture(scope="module")
def result(model):
    return condal_mpi.solve(model)


def test_the_answer_is_that_of_one_process(data, model, result):
    u, masks, b = data
    assert (result.status, result.method) == (condal.Status.SOLVED, "lowrank")
    whole = phase_retrieval(b, masks=masks)
    single = condal.solve(whole, LowRankCGAL(aim=1e-3), tol=1e-3)
    assert result.objective == pytest.approx(single.objective, rel=1e-6, abs=1e-12)
    assert result.bound == pytest.approx(single.bound, rel=1e-6)
    signal, other = model.signal(result), whole.signal(single)
    assert signal.error(u) < 1e-2
    assert signal.error(other.values) < 1e-6
    assert signal.residual == pytest.approx(other.residual, rel=1e-6)
    assert signal.residual == pytest.approx(whole.residual(signal.values), rel=1e-9)


def test_solved_means_proved(data, result):
    _, masks, b = data
    again = condal.certify(phase_retrieval(b, masks=masks), result.x, np.zeros(0))
    assert again.objective == pytest.approx(result.objective, rel=1e-6, abs=1e-12)
    assert max(result.bound, again.bound) <= 0.0 <= result.objective  # the optimum is 0
    assert max(again.gap, again.infeasibility, again.price) <= 1e-3


def test_every_rank_has_all_of_x_to_the_last_bit(team, model, result):
    assert result.x.shape == (SIDE**2, SIDE**2)
    signal = model.signal(result)
    bits = (np.asarray(result.x.U).tobytes(), signal.values.tobytes(), signal.residual)
    assert len(set(team.gathered(bits))) == 1


def test_the_map_is_that_of_all_masks(team, data, model):
    _, masks, b = data
    whole, rng = phase_retrieval(b, masks=masks), np.random.default_rng(1)
    A, U = model.problem.f.M, rng.standard_normal((2 * SIDE**2, 2))
    x = LowRank(U, np.array([2.0, 0.5]))
    np.testing.assert_allclose(together(team, A(x)), whole.A(x), rtol=1e-12)
    y = rng.standard_normal(b.size).reshape(b.shape)
    V = A.adjoint(ShardedArray(own(team, y).ravel(), team))
    wanted = whole.A.adjoint(y.ravel())
    np.testing.assert_allclose(V @ U, wanted @ U, atol=1e-12)
    np.testing.assert_allclose(V @ U[:, 0], wanted @ U[:, 0], atol=1e-12)
    np.testing.assert_allclose(together(team, A.row_norms()), whole.A.row_norms(), rtol=1e-14)
    assert A.norm == pytest.approx(whole.A.norm, rel=1e-14)
    rows = 1.0 + rng.random(b.shape)
    scaled = A.scaled(ShardedArray(own(team, rows).ravel(), team))
    again = whole.A.scaled(rows.ravel())
    np.testing.assert_allclose(together(team, scaled(x)), again(x), rtol=1e-12)
    assert scaled.norm == pytest.approx(again.norm, rel=1e-14)


def test_the_trace_is_that_of_one_process(team, data, model):
    u, masks, b = data
    assert model.trace == pytest.approx(phase_retrieval(b, masks=masks).trace, rel=1e-12)
    given = model_of(team, data, trace=1000.0)
    assert (given.trace, given.scale) == (1000.0, None)
    assert given.residual(u) < 1e-12


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda b, masks: (-b, masks), "none may be negative"),
        (lambda b, masks: (b * np.nan, masks), "intensities"),
        (lambda b, masks: (b.ravel()[1:], masks), "there must be one for each"),
        (lambda b, masks: (b, masks[:, 0]), "are not those of masks|the ranks differ"),
        (lambda b, masks: (b, np.full_like(masks, np.inf)), "masks"),
    ],
)
def test_wrong_data_of_one_rank_are_refused_by_all(team, data, wrong, match):
    _, masks, b = data
    mine = own(team, b), own(team, masks)
    if team.rank == team.size - 1:
        mine = wrong(*mine)
    with refused_by_all(team, ProblemError, match):
        condal_mpi.phase_retrieval(*mine, team)


def test_images_of_other_shapes_are_refused(team, data):
    _, masks, b = data
    width = SIDE - (team.rank == team.size - 1)
    mine = own(team, b)[:, :, :width], own(team, masks)[:, :, :width]
    if team.size > 1:
        with refused_by_all(team, ProblemError, "the ranks differ in the"):
            condal_mpi.phase_retrieval(*mine, team)


def test_pixels_that_no_mask_shows_are_refused(team, data):
    _, masks, b = data
    dark = own(team, masks)
    dark[:, 0, 0] = 0.0
    for intensities, shown, match in (
        (own(team, b), dark, "do not bound the signal"),
        (own(team, b), 0.0 * dark, "do not bound the signal"),
        (0.0 * own(team, b), own(team, masks), "not all may be 0"),
    ):
        with refused_by_all(team, ProblemError, match):
            condal_mpi.phase_retrieval(intensities, shown, team)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_file_gives_each_rank_its_masks(team, data, model, shared, save):
    _, masks, b = data
    path = shared / "measured.npz"
    if team.rank == 0:
        save(path, b=b.ravel(), masks=masks, u=np.ones(3))
    team.comm.Barrier()
    again = condal_mpi.read_phase_retrieval(path, team)
    assert again.A.words == model.A.words
    np.testing.assert_array_equal(again.b.local, model.b.local)
    np.testing.assert_array_equal(again.A.own.scale, model.A.own.scale)
    assert (again.trace, again.shape) == (model.trace, model.shape)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"b": np.ones(4), "a": np.eye(4)}, "holds a, b; ranks share masks"),
        ({"b": np.ones(4), "masks": np.ones((4, 1))}, "masks have shape"),
        ({"b": np.ones(7), "masks": np.ones((4, 1, 1))}, "7 numbers are not 4 equal parts"),
        ({"b": np.ones(4), "masks": np.full((4, 1, 1), np.nan)}, "holds nan or inf"),
    ],
)
def test_a_wrong_file_is_refused_by_all(team, shared, arrays, match):
    path = shared / "wrong.npz"
    if team.rank == 0:
        np.savez(path, **arrays)
    team.comm.Barrier()
    with refused_by_all(team, FormatError, match):
        condal_mpi.read_phase_retrieval(path, team)


def test_too_few_masks_are_refused(team, shared):
    path = shared / "few.npz"
    if team.rank == 0:
        np.savez(path, b=np.ones((1, 2, 2)), masks=np.ones((1, 2, 2)))
    team.comm.Barrier()
    if team.size > 1:
        with refused_by_all(team, ProblemError, "1 masks cannot be shared by . ranks"):
            condal_mpi.read_phase_retrieval(path, team)


def test_other_methods_are_refused(team, model):
    with refused_by_all(team, ProblemError, "solved by condal.methods.LowRankCGAL"):
        condal_mpi.solve(model, "cgal")


@pytest.mark.parametrize("what", ["masks", "intensities", "trace", "order"])
def test_a_checkpoint_of_other_data_is_refused(team, data, model, shared, what):
    _, masks, b = data
    condal_mpi.solve(model, max_iters=1, checkpoint=shared / "run")
    other = {"masks": (b, -masks), "intensities": (2 * b, masks), "order": (b[::-1], masks[::-1])}
    intensities, codes = other.get(what, (b, masks))
    trace = model.trace if what == "trace" else None
    again = model_of(team, (None, codes, intensities), trace=trace)
    with refused_by_all(team, ProblemError, "with other data"):
        condal_mpi.resume(shared / "run", again)
