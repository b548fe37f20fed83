"""Checkpoints of a stranger: what they say of their proofs makes no claim true."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

import condal
from condal import Status
from condal.certificates import ledger as ledgers
from condal.certificates.bound import Separation
from condal.errors import CondalError, FormatError, ProblemError
from condal.io.checkpoint.codec import pack
from condal.io.checkpoint.file import put, read, write
from condal.linalg import eigenvalue_bounds
from condal.linalg.rounding import Proof
from condal.problems import max_cut
from forging import spoil, spoiled
from known import planted_simplex, random_graph

N, TOL = 300, 1e-2
OVERFLOWING = np.int64(2**32)  # its square is 0


@pytest.fixture(autouse=True)
def lanczos(monkeypatch):
    """Prove by Lanczos only, as for large problems."""
    monkeypatch.setattr(
        eigenvalue_bounds, "_plan", lambda V: eigenvalue_bounds.Plan("probabilistic", 0.0)
    )


@pytest.fixture
def model():
    return max_cut(random_graph(N, 8.0, seed=4))


@pytest.fixture
def checkpoint(model, tmp_path):
    condal.solve(model, tol=TOL, checkpoint=tmp_path / "run")
    return tmp_path / "run"


def forge(path, change):
    """Change the ledger of a checkpoint, with digests that fit again."""
    contents = read(path)
    change(contents.value["certification"]["ledger"], contents.value)
    write(path, contents.about, contents.value)


def resumed(checkpoint, model, **options):
    """The result of a resumed solve; None if the checkpoint is refused for its numbers."""
    try:
        return condal.resume(checkpoint, model, **options)
    except FormatError as error:
        if "the checkpoint counts its proofs by" not in str(error):
            raise
    return None


def cheapened(point, number):
    """The point with a dual that is feasible only if nobody looks, and the number of its proof."""
    gap, enough, _ = point.proof
    return replace(point, y=0.985 * point.y, proof=(gap, enough, number))


@pytest.mark.parametrize("count", [None, OVERFLOWING, 2**32, 10**6])
@pytest.mark.parametrize("number", [OVERFLOWING, 2**32, 1, 0, -1, 1.0, 2.5, True, None])
def test_no_number_of_a_proof_proves_a_false_bound(model, checkpoint, number, count):
    best = condal.solve(model, tol=1e-5).objective

    def change(ledger, value):
        ledger["count"] = ledger["count"] if count is None else count
        ledger["certified"] = cheapened(ledger["certified"], number)
        value["answer"] = ledger["certified"]

    forge(checkpoint, change)
    result = resumed(checkpoint, model)
    if result is not None:
        assert result.bound >= best * (1 - 1e-9)
        assert result.certificate.failure <= 1e-6


@pytest.mark.parametrize("number", [OVERFLOWING, 2**32, 0, 1.0])
def test_no_number_of_a_separation_proves_a_false_infeasibility(model, checkpoint, number):
    def change(ledger, value):
        d = np.ones(N)
        ledger["separation"] = Separation(d, Proof(1.0, "forged"), 1.0, number)
        ledger["count"] = max(ledger["count"], 2**33)
        value["ended"] = Status.INFEASIBLE

    forge(checkpoint, change)
    result = resumed(checkpoint, model, max_iters=3)
    if result is not None:
        assert result.infeasible is None
        assert result.status is not Status.INFEASIBLE


def test_two_claims_do_not_share_one_part_of_the_failure_probability(
    model, checkpoint, monkeypatch
):
    shares, real = [], ledgers._share
    monkeypatch.setattr(ledgers, "_share", lambda k, *of: shares.append(k) or real(k, *of))

    def change(ledger, value):
        value["answer"] = replace(ledger["certified"], y=1.01 * ledger["certified"].y)

    condal.resume(checkpoint, model)
    assert len(set(shares)) == 1  # an honest checkpoint names one proof, perhaps twice
    shares.clear()
    forge(checkpoint, change)
    condal.resume(checkpoint, model)
    assert len(set(shares)) == len(shares) == 2


@pytest.mark.parametrize("offset", [-1, 2**40, 0.5, None])
def test_an_offset_of_the_seed_that_no_solve_has_is_refused(model, checkpoint, offset):
    forge(checkpoint, lambda ledger, value: ledger.update(seed_offset=offset))
    with pytest.raises(FormatError, match="the checkpoint counts its proofs by"):
        condal.resume(checkpoint, model)


@pytest.mark.usefixtures("system_entropy")
def test_a_resumed_verdict_is_proved_from_a_start_that_the_file_does_not_know(model, checkpoint):
    results = [condal.resume(checkpoint, model) for _ in range(2)]
    assert all(result.status is Status.SOLVED for result in results)
    assert results[0].seed != results[1].seed
    again = condal.resume(checkpoint, model, seed=results[0].seed)
    assert again.bound == results[0].bound


def lopsided(problem, objective):
    """A matrix whose lower triangle is that of the identity, with this objective by its upper one:
    a function that reads one triangle sees a feasible point."""
    x, step = np.eye(N), np.zeros((N, N))
    step[np.triu_indices(N, 1)] = 1.0
    at = [problem.objective(x + t * step) for t in (0.0, 1.0)]
    return x + (objective - at[0]) / (at[1] - at[0]) * step


def weak_claim(model):
    """A result whose objective is its bound: 30% beyond the optimum, at a lopsided x."""
    best = condal.solve(model, tol=1e-4)
    y = 1.3 * best.y
    bound = condal.certify(model, best.x, y).bound
    certificate = replace(best.certificate, objective=bound, bound=bound)
    return replace(best, x=lopsided(model.problem, bound), y=y, certificate=certificate)


def test_a_matrix_that_is_not_symmetric_is_no_point_at_any_door(model, checkpoint, tmp_path):
    claim = weak_claim(model)
    with pytest.raises(ProblemError, match="x must be symmetric"):
        condal.certify(model, claim.x, claim.y)
    condal.save(claim, tmp_path / "folder")
    for start in (claim, condal.load(tmp_path / "folder").result):
        with pytest.raises(ProblemError, match="a point of another space"):
            condal.solve(model, tol=TOL, warm_start=start)

    def change(ledger, value):
        ledger["certified"] = replace(ledger["certified"], x=claim.x, y=claim.y)
        value["answer"] = ledger["certified"]

    forge(checkpoint, change)
    with pytest.raises(FormatError, match=r"claims what no solve does \(x must be symmetric"):
        condal.resume(checkpoint, model)


@pytest.mark.parametrize(
    "lie",
    [
        {"tangent": np.array([2.0 + 2.0j])},
        {"tangent": np.zeros(3)},
        {"y": np.ones(N, dtype=complex)},
        {"y": np.ones((N, 1))},
        {"y": np.ones(N - 1)},
        {"proof": ("much", np.inf, 1)},
        {"proof": (1.0, None, 1)},
    ],
)
def test_a_claim_that_is_not_of_the_form_of_one_is_refused(model, checkpoint, lie):
    def change(ledger, value):
        ledger["certified"] = replace(ledger["certified"], **lie)

    forge(checkpoint, change)
    with pytest.raises(FormatError, match="the checkpoint claims what no solve does"):
        condal.resume(checkpoint, model)


@pytest.mark.parametrize("normal", [np.ones(N, dtype=complex), np.ones(3), None])
def test_a_separator_that_is_not_of_the_form_of_one_is_refused(model, checkpoint, normal):
    def change(ledger, value):
        ledger["separation"] = Separation(normal, Proof(1.0, "forged"), 1.0, 1)

    forge(checkpoint, change)
    with pytest.raises(FormatError, match="the checkpoint claims what no solve does"):
        condal.resume(checkpoint, model)


SMALL = {
    "max-cut": (max_cut(random_graph(20, 4.0, seed=3)), {}),
    "sketch": (max_cut(random_graph(20, 4.0, seed=3)), {"storage": condal.storage.Sketch(20, 5)}),
    "simplex": (planted_simplex(5, seed=1).problem, {}),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers that no solve has
@pytest.mark.parametrize("name", SMALL)
def test_whatever_a_checkpoint_says_it_is_refused_or_what_is_returned_is_true(name, tmp_path):
    problem, options = SMALL[name]
    best = condal.solve(problem, tol=1e-6)
    path, rng = tmp_path / "run", random.Random(name)
    condal.solve(problem, condal.CGAL(), max_iters=30, checkpoint=path, **options)
    contents, sense = read(path), 1.0 if best.bound <= best.objective else -1.0
    refused = 0
    for _ in range(60):
        tree, arrays = pack(contents.value)
        about, at = deepcopy(contents.about), rng.randrange(len(arrays))
        what = rng.choice(["about", "tree", "tree", "array"])
        if what == "array":
            arrays[at] = np.asarray(spoiled(rng, arrays[at]))
        else:
            spoil(rng, about if what == "about" else tree)
        put(path, about, tree, arrays)
        (tmp_path / "run.previous").unlink(missing_ok=True)
        try:
            result = condal.resume(path, problem, max_iters=3, max_seconds=1)
        except CondalError:
            refused += 1
            continue
        assert sense * (result.bound - best.objective) <= 1e-6
        assert result.infeasible is None
        if result.status is Status.SOLVED:
            assert condal.certify(problem, result.x, result.y, tangent=result.tangent).within(
                result.tol * (1 + 1e-6)
            )
    assert 20 < refused < 60


def test_what_a_callback_of_a_resumed_solve_raises_is_its_own(model, checkpoint):
    def callback(row):
        raise ValueError("of the callback")

    with pytest.raises(ValueError, match=r"^of the callback$"):
        condal.resume(checkpoint, model, tol=1e-6, callback=callback)
