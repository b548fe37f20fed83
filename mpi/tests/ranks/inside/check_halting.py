"""An oracle that is told to stop, or that meets an error, works again, and ends in peace."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from condal.runtime.meter import Cancelled, Deadline
from condal_mpi import max_cut
from condal_mpi.oracle import Slepc
from condal_mpi.team import engine

N = 60


class Stopping:
    """V, which raises in a product when it is asked for the 7th time."""

    def __init__(self, V, error):
        self.V, self.error, self.asked = V, error, 0

    def __matmul__(self, v):
        self.asked += 1
        if self.asked == 7:
            raise self.error
        return self.V @ v


@pytest.fixture
def V(team):
    rng = np.random.default_rng(1)
    half = sp.csr_array(np.triu(rng.random((N, N)) < 0.2, 1).astype(float))
    begin, end = team.range(N)
    return max_cut(sp.csr_array((half + half.T)[begin:end]), team).problem.f.C


@pytest.mark.parametrize("error", [Cancelled(Deadline(), asked=True), MemoryError()], ids=repr)
def test_it_works_again(error, team, V):
    oracle = Slepc(N, team=team)
    value = oracle.smallest(V, 1e-9).value
    with pytest.raises(type(error)):
        oracle.smallest(Stopping(V, error), 1e-9)
    assert oracle.smallest(V, 1e-9).value == pytest.approx(value, abs=1e-8)


def test_one_that_was_told_to_stop_is_let_go(team, V):
    oracle = Slepc(N, team=team)
    with pytest.raises(Cancelled):
        oracle.smallest(Stopping(V, Cancelled(Deadline(), asked=True)), 1e-9)
    oracle.release()
    shell = weakref.ref(oracle._shell)
    del oracle
    gc.collect()
    assert shell() is None  # a matrix of PETSc that is alive holds it


def test_one_that_was_never_released_is_let_go(team, V):
    oracle = Slepc(N, team=team)
    oracle.smallest(V, 1e-9)
    shell = weakref.ref(oracle._shell)
    del oracle
    engine().PETSc.garbage_cleanup(team.comm)
    assert shell() is None
