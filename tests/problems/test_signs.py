"""Signs improved by flips: laws of the result, and that of several processes."""

import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from condal.problems import signs as module
from condal.problems.models import Trials
from condal.problems.signs import best_signs, flipped, signs_of
from known import random_graph, torus
from sparse_matrices import path_graph


def weighted(n, seed):
    """A graph of real weights, of both signs."""
    upper = sp.triu(random_graph(n, 6.0), 1).tocsr()
    upper.data = np.random.default_rng(seed).standard_normal(upper.nnz)
    return sp.csr_array(upper + upper.T)


def starts(n, count, seed=0):
    return signs_of(np.random.default_rng(seed).standard_normal((n, count)))


GRAPHS = {
    "random": -random_graph(300, 5.0),
    "torus": torus(15, 20),
    "real": weighted(200, 1),
    "star": -nx.to_scipy_sparse_array(nx.star_graph(8), dtype=float),
}
graphs = pytest.mark.parametrize("C", GRAPHS.values(), ids=GRAPHS)


@graphs
def test_no_flip_gains_and_nothing_is_lost(C):
    begin = starts(C.shape[0], 7)
    ended = flipped(C, begin.copy())
    assert set(np.unique(ended)) <= {-1.0, 1.0}
    assert (-ended * (C @ ended)).max() <= 1e-11
    values = [np.einsum("ij,ij->j", s, C @ s) for s in (begin, ended)]
    assert (values[1] >= values[0]).all()
    again = flipped(C, ended.copy())
    assert np.array_equal(again, ended)


@graphs
def test_a_column_does_not_feel_the_others(C):
    begin = starts(C.shape[0], 5, seed=1)
    together = flipped(C, begin.copy())
    each = [flipped(C, begin[:, [j]]) for j in range(5)]
    assert np.array_equal(together, np.hstack(each))


def test_a_long_chain_of_equals_is_not_taken_one_by_one(monkeypatch):
    n, rounds, ahead = 5000, [], module._ahead
    monkeypatch.setattr(module, "_ahead", lambda *given: rounds.append(0) or ahead(*given))
    path = -path_graph(n)
    s = flipped(path, np.ones((n, 1)))
    assert (-s * (path @ s)).max() <= 0.0
    assert len(rounds) <= 3 * module.ROUNDS_IN_INDEX_ORDER


def test_blocks_of_trials_change_nothing(monkeypatch):
    C, factor = GRAPHS["random"], np.random.default_rng(3).standard_normal((300, 4))
    first = starts(300, 1, seed=4)
    most, best = best_signs(C, factor, Trials(10, np.random.default_rng(5)), first)
    monkeypatch.setattr(module, "MAX_BATCH_SIGNS", 900)
    again = best_signs(C, factor, Trials(10, np.random.default_rng(5)), first)
    assert again[0] == most == best @ (C @ best)
    assert np.array_equal(again[1], best)
    alone = flipped(C, first.copy())[:, 0]
    assert most >= alone @ (C @ alone)


class Half:
    """One of two processes, played by threads: its rows of C, and its exchanges with the other."""

    def __init__(self, C, rank, barrier, desk):
        n = C.shape[0]
        cut = [0, n // 3, n]
        self.mine = slice(cut[rank], cut[rank + 1])
        rows = sp.csr_array(C[self.mine])
        others = np.setdiff1d(np.unique(rows.indices), np.arange(n)[self.mine])
        self.numbers = np.concatenate([np.arange(n)[self.mine], others])
        self.block = sp.csr_array(rows[:, self.numbers])
        self.others, self.rank, self.barrier, self.desk = others, rank, barrier, desk

    def exchanged(self, values):
        self.desk[self.rank] = values
        self.barrier.wait(timeout=60)
        both = [self.desk[0].copy(), self.desk[1].copy()]
        self.barrier.wait(timeout=60)
        return both

    def halo(self, values):
        return np.concatenate([values, np.concatenate(self.exchanged(values))[self.others]])

    def largest(self, v):
        return np.maximum(*self.exchanged(v))

    def run(self, begin, out):
        out[self.rank] = flipped(
            self.block,
            begin[self.mine].copy(),
            back=sp.csr_array(self.block.T),
            numbers=self.numbers,
            halo=self.halo,
            largest=self.largest,
        )


@pytest.mark.parametrize("name", ["random", "torus"])
def test_two_processes_with_their_own_rows_flip_as_one(name):
    C = GRAPHS[name]
    begin, out, desk = starts(C.shape[0], 3), [None, None], [None, None]
    barrier = threading.Barrier(2)
    halves = [Half(C, rank, barrier, desk) for rank in (0, 1)]
    threads = [threading.Thread(target=half.run, args=(begin, out)) for half in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.vstack(out), flipped(C, begin.copy()))


def test_fewer_trials_of_large_graphs_unless_they_are_asked_for():
    for trials, n, count in ((None, 800, 100), (None, 10**6, 10), (None, 10**8, 4), (7, 10**8, 7)):
        assert Trials.of(trials, 0, None, most=100, n=n).count == count
