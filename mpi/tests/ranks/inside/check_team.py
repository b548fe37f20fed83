"""Ranks that differ, or fail alone, end with one word; what the first decides, all do."""

import numpy as np
import pytest

from condal.errors import CondalError, FormatError, ProblemError
from condal.runtime.meter import Cancelled, Deadline, Stopper, agreed, check_cancelled, seconds_left
from condal_mpi.team import Team


def raised(error, here):
    if here:
        raise error


def test_an_error_of_one_rank_is_that_of_all(team):
    last = team.size - 1
    with (
        pytest.raises(FormatError, match=r"^a\.graph, line 7: is short$") as caught,
        team.together(),
    ):
        raised(FormatError("is short", path="a.graph", line=7), team.rank == last)
    assert (caught.value.path, caught.value.line) == ("a.graph", 7)


def test_of_two_errors_the_first_ranks_counts(team):
    with pytest.raises(ProblemError, match="of rank 0"), team.together():
        raise ProblemError(f"of rank {team.rank}")


def test_errors_that_others_may_not_know_are_told_in_words(team):
    class Odd(Exception):
        pass

    with pytest.raises((Odd, CondalError), match="strange"), team.together():
        raised(Odd("strange"), team.rank == 1)


def test_nothing_happens_where_all_is_well(team):
    with team.together():
        found = team.rank
    assert found == team.rank


@pytest.mark.parametrize("shape", [(3,), (5, 2), (2**14 + 1,), (2**13, 3)])
def test_sums_have_the_same_bits_in_the_order_of_the_ranks(team, shape):
    parts = [np.random.default_rng(rank).standard_normal(shape) for rank in range(team.size)]
    total = team.sums(parts[team.rank])
    assert total.shape == shape
    wanted = parts[0]
    for part in parts[1:]:
        wanted = wanted + part
    assert total.tobytes() == wanted.tobytes()
    columns = np.asfortranarray(parts[team.rank])
    assert team.sums(columns).tobytes() == wanted.tobytes()


def test_ranks_that_differ_are_refused_by_all(team):
    team.require_same("one", "a word")
    with pytest.raises(
        ProblemError,
        match="the ranks differ in a word: rank 0 has 0, rank 1 has 1; start all of them with the",
    ):
        team.require_same(min(team.rank, 1), "a word")


def test_other_versions_are_refused(team, monkeypatch):
    team.require_alike()
    if team.rank == 1:
        monkeypatch.setattr("condal_mpi.team.versions", lambda: {"condal": "0.0"})
    with pytest.raises(ProblemError, match="the ranks differ in their versions"):
        team.require_alike()


def test_more_ranks_than_rows_are_refused(team):
    with pytest.raises(ProblemError, match=f"1 rows cannot be shared by {team.size} ranks"):
        team.range(1)


def test_all_go_the_way_of_the_first(team):
    assert agreed(team.rank) == team.rank
    with team.solving():
        assert agreed(team.rank) == 0
    assert agreed(team.rank) == team.rank


def test_a_stop_that_the_first_hears_is_heard_by_all_and_no_other(team):
    first, others = Stopper(), Stopper()
    (first if team.rank == 0 else others).stop()
    with team.solving(), Deadline(others).on():
        check_cancelled()  # rank 0 was not asked by this one
    with team.solving(), Deadline(first).on(), pytest.raises(Cancelled):
        check_cancelled()


def test_the_clock_is_that_of_the_first(team):
    with team.solving(), Deadline(until=float(team.rank)).on():
        left = team.gathered(seconds_left())
        assert len(set(left)) == 1


def test_a_team_may_be_some_of_the_ranks(team):
    comm = team.comm.Split(team.rank % 2)
    part = Team(comm)
    assert part.sum(1.0) == part.size == len(range(team.rank % 2, team.size, 2))
    comm.Free()
