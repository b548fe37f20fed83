"""One time limit for all parts of a command or call."""

from math import inf

import pytest

from condal.runtime.limits import UNLIMITED, TimeLimit


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets: clock[0] are its seconds."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


def test_the_parts_of_a_call_share_its_limit(clock):
    limit = TimeLimit(10.0)
    clock[0] += 4.0
    assert limit.seconds == 4.0
    assert limit.left == limit.max_seconds == 6.0
    assert not limit.is_over()
    clock[0] += 6.0
    assert limit.is_over()
    clock[0] += 4.0
    assert limit.left == -4.0
    assert 0.0 < limit.max_seconds < 1e-6  # of a part that begins late, which must be positive


def test_a_share_is_one_of_what_is_left_from_now_on(clock):
    limit = TimeLimit(10.0)
    clock[0] += 2.0
    part = limit.share(0.25)
    assert part.max_seconds == 2.0
    clock[0] += 3.0
    assert part.is_over()
    assert not limit.is_over()
    clock[0] += 10.0
    assert limit.share(0.5).is_over()


@pytest.mark.parametrize("limit", [TimeLimit(None), UNLIMITED, UNLIMITED.share(0.5)])
def test_without_a_limit_there_is_always_time(limit):
    assert limit.max_seconds is None
    assert limit.left == inf
    assert not limit.is_over()
