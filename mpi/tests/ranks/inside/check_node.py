"""Ranks of one machine read each other's rows in shared memory, to the same bits as by messages."""

import errno
import gc
import logging
import os
import resource
from pathlib import Path

import numpy as np
import pytest
from sharded import own_rows, random_weights

import condal_mpi
from condal_mpi import sweeps
from condal_mpi.matrix import ShardedRows
from condal_mpi.node_rows import NodeRows, shared_memory
from condal_mpi.sharded_array import ShardedArray, normals
from condal_mpi.sweeps import DistributedSweeps
from condal_mpi.team import Team, engine

N, COLUMNS = 300, 16
# The machine of each rank: all on one, two and two, or the first apart. The ranks of one need not
# have numbers that follow each other.
MACHINES = {"one": lambda _: 0, "halves": lambda r: r // 2, "odd": lambda r: r % 2, "first": bool}


@pytest.fixture(scope="module")
def W():
    return random_weights(N, seed=5)


@pytest.fixture
def apart(team):
    """The same ranks, as if each had a machine to itself."""
    ranks = Team(team.comm)
    ranks.node = Team(engine().MPI.COMM_SELF)
    return ranks


@pytest.fixture(params=MACHINES)
def machines(request, team):
    """The same ranks, spread over simulated machines."""
    ranks = Team(team.comm)
    comm = team.comm.Split(int(MACHINES[request.param](team.rank)))
    ranks.node = Team(comm)
    yield ranks
    comm.Free()


def unit_rows(team):
    R = normals(team, N, seed=[3], columns=COLUMNS)
    return R.with_local(R.local / np.linalg.norm(R.local, axis=1)[:, None])


def sweeps_of(team, W):
    begin, end = team.range(N)
    squares = ShardedArray(np.ones(end - begin), team)
    return DistributedSweeps.of(ShardedRows(own_rows(team, W), team), squares)


def shared_files():
    """The files and the mappings of this process that other ranks have, too."""
    gc.collect()
    files = [str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    maps = Path("/proc/self/maps").read_text().splitlines()
    return {line for line in files + maps if "memfd:condal" in line}


def test_the_ranks_of_this_machine_share_memory(team):
    assert team.node.size == team.size


def test_rows_are_where_their_owners_store_them(machines, W):
    halo = ShardedRows(own_rows(machines, W), machines).halo
    begin, end = machines.range(N)
    order = np.random.default_rng(machines.rank).permutation(end - begin)
    for places in (None, order):
        on_node = NodeRows(halo, places)
        rows = on_node.empty((2,), np.float64)
        rows[on_node.own][np.arange(end - begin) if places is None else places, 0] = np.arange(
            begin, end
        )
        rows[on_node.outer, 0] = on_node.columns
        on_node.publish()
        np.testing.assert_array_equal(rows[on_node.index, 0], halo.columns)
        on_node.publish()


def test_only_rows_of_other_machines_are_copied(machines, W):
    halo = ShardedRows(own_rows(machines, W), machines).halo
    mates = machines.node.gathered(machines.range(N))
    near = sum(int(((halo.columns >= a) & (halo.columns < b)).sum()) for a, b in mates)
    assert halo.on_node.columns.size == halo.columns.size - near


def test_products_have_the_bits_of_messages(machines, apart, W):
    v, R = normals(apart, N, seed=[1]), normals(apart, N, seed=[2], columns=COLUMNS)
    C, wanted = (2.0 * ShardedRows(own_rows(t, W), t) for t in (machines, apart))
    for factor in (v, R, v * v, R * R, R[:, :0]):
        np.testing.assert_array_equal((C @ factor).local, (wanted @ factor).local)


def test_a_fetched_vector_outlives_the_next(machines, W):
    C = ShardedRows(own_rows(machines, W), machines)
    begin, end = machines.range(N)
    first, second = (C.halo.fetch(np.full(end - begin, value)) for value in (1.0, 2.0))
    index = C.halo.on_node.index if machines.size > 1 else slice(None)
    assert np.all(first[index] == 1.0)
    assert np.all(second[index] == 2.0)
    machines.comm.Barrier()


@pytest.mark.parametrize("single", [False, True])
def test_sweeps_have_the_bits_of_messages(machines, apart, W, single, monkeypatch):
    monkeypatch.setattr(sweeps, "MIN_COLOUR_ENTRIES", 1)
    options = {"sweeps": 7, "omega": 1.5, "single": single}
    (R, met), (wanted, wanted_met) = (
        sweeps_of(ranks, W).relaxed(unit_rows(ranks), **options) for ranks in (machines, apart)
    )
    np.testing.assert_array_equal(R.local, wanted.local)
    assert met.sweeps == wanted_met.sweeps
    assert met.first == wanted_met.first


def test_solves_have_the_bits_of_messages(machines, apart, W, monkeypatch):
    monkeypatch.setattr(sweeps, "MIN_COLOUR_ENTRIES", 1)
    result, wanted = (
        condal_mpi.solve(condal_mpi.max_cut(own_rows(ranks, W), ranks), "lowrank", tol=1e-4)
        for ranks in (machines, apart)
    )
    assert (result.objective, result.bound) == (wanted.objective, wanted.bound)
    np.testing.assert_array_equal(result.x.U.local, wanted.x.U.local)
    np.testing.assert_array_equal(result.y.local, wanted.y.local)


def test_ranks_whose_files_are_limited_exchange_messages(team, W, caplog):
    """On one of them apart: all must agree."""
    limits, ranks = resource.getrlimit(resource.RLIMIT_FSIZE), Team(team.comm)
    if team.rank == team.size - 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limits[1]))
    try:
        with caplog.at_level(logging.INFO, logger="condal"):
            assert ranks.node.size == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert ("files are limited to 1048576 bytes" in caplog.text) == (team.size > 1)
    v = normals(team, N, seed=[1])
    C, wanted = (ShardedRows(own_rows(t, W), t) for t in (ranks, team))
    np.testing.assert_array_equal((C @ v).local, (wanted @ v).local)


@pytest.mark.parametrize("lacks", ["memfd_create", "open", "posix_fallocate"])
def test_memory_that_one_rank_lacks_is_refused_by_all(team, lacks, monkeypatch):
    if team.size == 1:
        return

    def refuse(*_):
        raise OSError(errno.ENOSPC, "no room")

    before = shared_files()
    with monkeypatch.context() as patch:
        if team.rank == (0 if lacks == "memfd_create" else team.size - 1):
            patch.setattr(os, lacks, refuse)
        with pytest.raises(MemoryError, match=r"ranks cannot share 4800000 bytes .*no room"):
            shared_memory(team, 4800000 // team.size)
        assert Team(team.comm).node.size == 1
    assert shared_files() == before
    assert Team(team.comm).node.size == team.size


def test_memory_of_another_process_is_not_opened(team, monkeypatch):
    """Ranks in two containers may take each other's numbers of processes for their own."""
    if team.size == 1:
        return
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: 1)
        assert Team(team.comm).node.size == 1


def test_no_memory_is_left_by_sweeps_nor_by_cancelled_ones(team, W, monkeypatch):
    monkeypatch.setattr(sweeps, "MIN_COLOUR_ENTRIES", 1)
    swept, before, more = sweeps_of(team, W), shared_files(), []
    swept.relaxed(unit_rows(team), sweeps=2, omega=1.5, single=True)
    assert shared_files() == before

    def cancel(_):
        more.extend(shared_files() - before)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "spend", cancel)
    with pytest.raises(KeyboardInterrupt):
        swept.relaxed(unit_rows(team), sweeps=2, omega=1.5, single=True)
    assert bool(more) == (team.size > 1)
    assert shared_files() == before
