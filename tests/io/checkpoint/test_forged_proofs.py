"""Checkpoints of a stranger: what they say of their proofs makes no claim true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal import Status
from condal.certificates import ledger as ledgers
from condal.certificates.infeasibility import Separation
from condal.errors import FormatError
from condal.io.checkpoint.file import read, write
from condal.linalg import eigenvalue_bounds
from condal.linalg.proof import Proof
from condal.problems import max_cut
from known import random_graph

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
    monkeypatch.setattr(ledgers, "_share", lambda number: shares.append(number) or real(number))

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
