"""Laws of the cost model: what an iteration takes of a rank, and how that goes with n and P."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from condal.errors import ProblemError
from condal_mpi.cost import (
    Machine,
    Size,
    iteration,
    low_rank,
    low_rank_memory,
    low_rank_seconds,
    memory,
    seconds,
)
from condal_mpi.memory import bytes_by_part
from condal_mpi.work import Work

LOCAL = {"halo": 0.01, "neighbours": 4}
MACHINE = Machine(memory=1e10, gather=3e-9, flops=2e9, latency=1e-6, network=1e9)
BLOCKS = replace(MACHINE, block=2e-9, single=1e-9)


def test_a_rank_with_as_many_rows_does_as_much_on_any_number_of_ranks():
    two, many = (
        iteration(Size(ranks * 1000, ranks * 5000, ranks=ranks, **LOCAL), 30) for ranks in (8, 4096)
    )
    for name, work in two.items():
        assert many[name].flops == pytest.approx(work.flops)
        assert many[name].bytes == pytest.approx(work.bytes)
    assert many["products"].sent == pytest.approx(two["products"].sent)
    assert many["sums"].messages == 4 * two["sums"].messages  # log2 of 4096 is 4 times that of 8


def test_one_rank_sends_nothing():
    for work in iteration(Size(1000, 5000), 30).values():
        assert work.messages == work.sent == 0


@pytest.mark.parametrize("ranks", [2, 5, 40])
def test_the_halo_is_that_of_a_random_graph(ranks):
    n, rng = 40_000, np.random.default_rng(0)
    ends = rng.integers(0, n, (2, 2 * n))
    rows, cols = np.concatenate([ends, ends[::-1]], axis=1)
    here = rows < n // ranks
    others = np.unique(cols[here & (cols >= n // ranks)])
    size = Size(n, n + 4 * n, ranks=ranks)
    assert size.fetched == pytest.approx(others.size, rel=0.03)
    assert size.partners == ranks - 1


def test_no_more_ranks_are_asked_than_have_what_is_needed():
    assert Size(100, 500, ranks=50, halo=1.0).partners == 2
    assert Size(10_000, 50_000, ranks=50, **LOCAL).partners == 2
    assert Size(100_000, 500_000, ranks=50, **LOCAL).partners == 4


def test_a_krylov_space_that_is_not_restarted_orthogonalises_each_vector_against_all_before():
    r, m = 1000, 24
    work = iteration(Size(r, 5 * r, basis=m), m)["orthogonalisation"]
    dots_and_updates = 4 * r * m * (m + 1) / 2
    assert work.flops == pytest.approx(2 * dots_and_updates, rel=0.02)


def test_each_restart_costs_the_same():
    size = Size(1000, 5000, basis=20)
    flops = [iteration(size, 20 + 10 * k)["orthogonalisation"].flops for k in range(4)]
    assert np.diff(flops) == pytest.approx(flops[1] - flops[0])


def test_work_adds_up_and_takes_time_for_each_thing():
    work = Work(1e9, 1e10, 1e6, 10, 1e9)
    assert (work + work).seconds(MACHINE) == pytest.approx(2 * work.seconds(MACHINE))
    assert (3 * work).flops == 3e9
    assert work.seconds(MACHINE) == pytest.approx(1 + 3e-3 + 1e-5 + 1)
    assert Work(flops=2e9).seconds(MACHINE) == 1


def test_new_memory_and_calls_take_time_and_messages_wait_for_work():
    machine = replace(MACHINE, fresh=1e-9, call=1e-6, imbalance=0.5)
    assert Work(fresh=1e9, calls=1e6).seconds(machine) == pytest.approx(2)
    assert Work(flops=2e9).seconds(machine) == 1  # nobody waits for a rank without messages
    assert Work(flops=2e9, messages=1).seconds(machine) == pytest.approx(1.5 + 1e-6)


def test_a_kept_basis_is_written_to_new_memory():
    size = Size(1000, 5000)
    kept, other = (low_rank(size, columns=0, steps=9, kept=kept)["steps"] for kept in (9, 0))
    assert other.fresh == 0
    assert 9 * 2 * 8000 <= kept.fresh <= 9 * 4 * 8000  # doubled when it is full, and copied
    assert kept.bytes > other.bytes
    assert replace(kept, fresh=0.0, bytes=other.bytes) == other


def test_ranks_of_one_machine_send_no_rows_but_wait_at_barriers():
    counts = {"columns": 8, "sweeps": 1, "evaluations": 1, "steps": 1}
    apart, together = (
        low_rank(Size(10**5, 5 * 10**5, ranks=4, shared=shared), **counts)
        for shared in (False, True)
    )
    for name, work in together.items():
        assert work.sent == 0.0 < apart[name].sent
        assert work.bytes < apart[name].bytes
        assert 0 < work.messages < apart[name].messages


def test_time_is_the_sum_of_the_parts_and_falls_with_ranks_until_messages_count():
    times = [
        sum(seconds(Size(10**6, 5 * 10**6, ranks=ranks, **LOCAL), 30, MACHINE).values())
        for ranks in (1, 8, 64, 10**6)
    ]
    assert times[0] > 6 * times[1] > 30 * times[2]
    floor = (30 + 2) * 20 * MACHINE.latency  # a word of the first in each product, to 2^20 ranks
    assert times[3] > floor


def test_memory_is_that_of_the_parts_and_of_what_others_have():
    size = Size(10**6, 5 * 10**6, ranks=10)
    found = memory(size)
    known = bytes_by_part(10**5, 5 * 10**5, 10)
    assert {name: found[name] for name in known} == known
    assert found["halo"] == pytest.approx(2 * 12 * size.fetched, abs=24)
    longer = memory(Size(10**6, 5 * 10**6, ranks=10, index=8))
    assert longer["data"] * 12 == found["data"] * 16


@pytest.mark.parametrize("ranks", [0, 11])
def test_ranks_without_rows_are_refused(ranks):
    with pytest.raises(ProblemError, match=f"10 rows cannot be shared by {ranks} ranks"):
        Size(10, 30, ranks=ranks)


def total(size, machine=BLOCKS, **counts):
    return sum(low_rank_seconds(low_rank(size, **counts), machine).values())


def test_the_low_rank_method_multiplies_each_entry_by_each_column():
    size = Size(1000, 5000)
    works = low_rank(size, columns=7, sweeps=3, evaluations=2, steps=11)
    assert works["sweeps"].single == 3 * 4000 * 7  # the diagonal has no part in them
    assert works["sweeps"].block == works["evaluations"].single == 0
    assert works["evaluations"].block == 2 * 5000 * 7
    assert works["steps"].reads == 11 * 4000
    double = low_rank(size, columns=7, sweeps=3, single=False)["sweeps"]
    assert (double.block, double.single) == (3 * 4000 * 7, 0)
    assert all(work.messages == work.sent == 0 for work in works.values())


@pytest.mark.parametrize("part", [{"sweeps": 1}, {"evaluations": 1}, {"steps": 1}])
def test_the_work_of_the_low_rank_method_is_shared_by_ranks(part):
    times = [
        total(Size(10**6, 5 * 10**6, ranks=ranks, **LOCAL), columns=80, **part)
        for ranks in (1, 4, 16)
    ]
    assert times[0] > 3 * times[1] > 9 * times[2]
    assert total(Size(10**6, 5 * 10**6), columns=80, **dict.fromkeys(part, 2)) == pytest.approx(
        2 * times[0]
    )


def test_a_sweep_sends_the_halo_of_all_columns_once():
    size = Size(10**5, 5 * 10**5, ranks=8)
    work = low_rank(size, columns=20, sweeps=1)["sweeps"]
    assert work.sent == pytest.approx(4 * 20 * size.fetched)
    double = low_rank(size, columns=20, sweeps=1, single=False)["sweeps"]
    assert double.sent == pytest.approx(8 * 20 * size.fetched)


def test_what_was_not_measured_has_no_time():
    size = Size(1000, 5000)
    assert isnan(total(size, MACHINE, columns=7, sweeps=1))
    assert total(size, MACHINE, columns=7, steps=1) > 0


def test_the_factor_takes_memory_per_column():
    size = Size(10**6, 5 * 10**6, ranks=10)
    small, large = (low_rank_memory(size, columns) for columns in (10, 20))
    assert large["x"] == 2 * small["x"]
    assert large["halo"] > small["halo"]
    assert small["data"] == memory(size)["data"]
