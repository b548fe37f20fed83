"""The cost model against what ranks hold, and against the estimate of a model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import condal
import condal_mpi
from condal.errors import ProblemError
from condal_mpi.cost import Size, iteration, measured_machine, memory
from condal_mpi.engine import engine
from condal_mpi.oracle import Slepc


@pytest.fixture(scope="module")
def model(team):
    n, rng = 4000, np.random.default_rng(0)
    i, j = rng.integers(0, n, (2, 2 * n))
    W = sp.csr_array((np.ones(i.size), (i, j)), shape=(n, n))
    begin, end = team.range(n)
    return condal_mpi.max_cut((W + W.T)[begin:end], team)


def size_of(model):
    entries = model.team.sum(float(model.block.nnz + model.block.shape[0]))
    return Size(model.n, int(entries), ranks=model.team.size)


def test_a_product_sends_what_the_halo_holds(model, team):
    cost, size = model.cost, size_of(model)
    work = iteration(size, 1)["products"]
    fetched = 8 * team.sum(float(cost.halo.size)) / team.size  # bytes of a product
    assert work.sent / 4 == pytest.approx(fetched, rel=0.03)
    assert size.stored == pytest.approx(team.sum(float(cost.nnz)) / team.size, rel=0.01)


def test_the_memory_of_the_model_is_the_estimate(model):
    by, found = condal_mpi.estimate(model, 10, condal.CGAL()), memory(size_of(model))
    assert set(by) == set(found)
    assert found.pop("halo") <= by.pop("halo")  # at most all edges have an end elsewhere
    assert sum(found.values()) == pytest.approx(sum(by.values()), rel=0.03)


def test_the_figures_of_these_ranks(team):
    machine = measured_machine(team, Size(2000 * team.size, 10_000 * team.size, ranks=team.size))
    figures = np.array([machine.memory, machine.flops, machine.latency, machine.network])
    more = [machine.block, machine.single, machine.fresh, machine.call]
    figures = np.concatenate([figures, more])
    assert np.all(np.isfinite(figures))
    assert np.all(figures > 0)
    assert machine.gather >= 0
    assert machine.imbalance >= 0
    team.require_same(machine, "the figures of the machine")


def test_a_basis_that_petsc_cannot_number_is_refused(team):
    most = int(np.iinfo(engine().PETSc.IntType).max)
    Slepc(most // 25, team=team)
    with pytest.raises(ProblemError, match=r"25 vectors of .* built with 64-bit indices"):
        Slepc(most // 25 + 1, team=team)
