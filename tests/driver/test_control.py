"""Who stops a solve, and what it then returns: signals, stoppers, limits of time and of memory."""

import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

import condal
from condal import Status, Stopper, storage
from condal.driver.memory import LazyChoices, Plan, estimate, in_all, make_plan, require_memory
from condal.driver.schedule import Budget
from condal.errors import PieceError, ProblemError
from condal.linalg.symmetric import Symmetric
from condal.methods.choice import Choice, choices
from condal.problems import max_cut
from condal.runtime.limits import (
    NOTICE,
    TERMINATED,
    SignalHandler,
    TimeLimit,
    available,
    bytes_of,
    physical,
    size,
)
from condal.runtime.meter import Cancelled, Deadline, check_cancelled, seconds_left, uninterrupted
from known import random_graph
from sparse_matrices import identity, random_sparse

N = 60
KILLS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: SystemExit}


@contextmanager
def handled(number, handler):
    """Handle a signal so, for the time of the context."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.fixture(autouse=True)
def _restored():
    """Signals as a shell leaves them, where one that starts the tests in the background has SIGINT
    ignored; every test leaves them so."""
    with handled(signal.SIGINT, signal.default_int_handler):
        before = {one: signal.getsignal(one) for one in KILLS}
        yield
        SignalHandler.terminating = False
        assert {one: signal.getsignal(one) for one in KILLS} == before
        assert signal.set_wakeup_fd(-1) == -1


class Events:
    """A diagonal C of which each product may do something."""

    def __init__(self, at=None, do=None, n=N):
        self.calls, self.at, self.do, self.n = 0, at, do, n

    def asked(self):
        self.calls += 1
        if self.at is not None and self.calls == self.at:
            self.do()

    def problem(self):
        C = np.arange(1.0, self.n + 1)

        def matvec(v):
            self.asked()
            return C * np.ravel(v)

        operator = LinearOperator((self.n, self.n), matvec=matvec, dtype=np.float64)
        f = condal.Linear(Symmetric(self.n, operators=(operator,)))
        A, K = condal.Diagonal(self.n), condal.Equal(np.full(self.n, 1 / self.n))
        return condal.Problem.of(f, condal.Spectrahedron(self.n), A, K)


def assert_best_so_far(result):
    """The point and the bound are what a proof says: the optimum is the mean of C."""
    assert result.x is not None
    optimum = (N + 1) / 2
    assert result.bound <= optimum + 1e-9
    assert result.certificate.certified
    assert abs(result.objective - condal.dense(result.x).diagonal() @ np.arange(1, N + 1)) < 1e-8


# Signals


@pytest.mark.parametrize("number", KILLS)
def test_ctrl_c_inside_a_matvec_returns_the_best_iterate(number):
    events = Events(400, lambda: signal.raise_signal(number))
    result = condal.solve(events.problem(), condal.CGAL(), tol=1e-9)
    assert result.status is Status.INTERRUPTED
    assert result.iterations > 1
    assert_best_so_far(result)


def test_a_sigterm_ends_a_loop_of_solves():
    events = Events(400, lambda: signal.raise_signal(signal.SIGTERM))
    assert condal.solve(events.problem(), condal.CGAL(), tol=1e-9).status is Status.INTERRUPTED
    for _ in range(2):
        with pytest.raises(SystemExit) as stop:
            condal.solve(Events(None).problem(), condal.CGAL(), tol=1e-9)
        assert stop.value.code == TERMINATED


def test_the_matvec_that_heard_it_is_the_last_of_the_method():
    after = []

    def press():
        signal.raise_signal(signal.SIGINT)
        after.append(events.calls)

    events = Events(400, press)
    seen = []
    condal.solve(events.problem(), condal.CGAL(), tol=1e-9, callback=seen.append)
    assert seen[-1].matvecs <= after[0]


@pytest.mark.parametrize("number", KILLS)
def test_a_second_ctrl_c_raises(number):
    def press():
        signal.raise_signal(number)
        signal.raise_signal(number)

    with pytest.raises(KILLS[number]):
        condal.solve(Events(400, press).problem(), condal.CGAL(), tol=1e-9)


def test_a_ctrl_c_before_the_first_iterate_returns_none():
    stopped = Stopper()
    stopped.stop()
    before = Events()
    condal.solve(before.problem(), condal.CGAL(), stopper=stopped)  # to see what scaling takes
    events = Events(before.calls + 2, lambda: signal.raise_signal(signal.SIGINT))
    result = condal.solve(events.problem(), condal.CGAL(), tol=1e-9)
    assert result.status is Status.INTERRUPTED
    assert result.x is None
    assert result.bound == -np.inf


def test_a_ctrl_c_during_the_last_proof_cuts_it_short():
    events = Events(None)
    problem = events.problem()

    def callback(row):
        if row.k == 20:
            events.at, events.do = events.calls + 3, lambda: signal.raise_signal(signal.SIGINT)
        return row.k == 20

    result = condal.solve(problem, condal.CGAL(), tol=1e-9, callback=callback)
    assert result.status is Status.INTERRUPTED
    assert result.x is not None


def test_a_handler_that_somebody_has_set_stays():
    heard = []
    with handled(signal.SIGINT, lambda *_: heard.append(1)):
        events = Events(100, lambda: signal.raise_signal(signal.SIGINT))
        result = condal.solve(events.problem(), condal.CGAL(), tol=1e-9, max_iters=30)
    assert heard == [1]
    assert result.status is Status.MAX_ITERS


def test_a_solve_in_another_thread_leaves_signals_alone():
    handlers, before = [], signal.getsignal(signal.SIGINT)
    events = Events(100, lambda: handlers.append(signal.getsignal(signal.SIGINT)))

    def solved(problem):
        return condal.solve(problem, condal.CGAL(), tol=1e-9, max_iters=30)

    with ThreadPoolExecutor(1) as pool:
        apart = pool.submit(solved, events.problem()).result()
    assert handlers == [before]
    assert np.array_equal(apart.y, solved(Events().problem()).y)


def test_the_progress_says_what_a_second_ctrl_c_does(capsys):
    events = Events(400, lambda: signal.raise_signal(signal.SIGINT))
    condal.solve(events.problem(), condal.CGAL(), tol=1e-9, callback=condal.Progress())
    assert NOTICE in capsys.readouterr().err


def test_interrupts_raise_once_where_nothing_listens_and_then_exit():
    said = []
    with SignalHandler(Stopper(), say=said.append, last=lambda: SystemExit(130)):
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert said == [NOTICE]
        with pytest.raises(SystemExit) as stop:
            signal.raise_signal(signal.SIGINT)
        assert stop.value.code == 130


def test_two_interrupts_during_one_compiled_call_both_count():
    stopper = Stopper()
    with SignalHandler(stopper) as interrupts, stopper.listening():
        interrupts._write.send(bytes([signal.SIGINT]))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert interrupts.aborted


def test_interrupts_stay_ignored_where_they_were():
    stopper = Stopper()
    with handled(signal.SIGINT, signal.SIG_IGN), SignalHandler(stopper), stopper.listening():
        signal.raise_signal(signal.SIGINT)
    assert not stopper.stopped


def test_a_wakeup_socket_of_somebody_else_stays():
    """As that of an event loop: the signals that it waits for reach it."""
    ours, theirs = socket.socketpair()
    with ours, theirs, handled(signal.SIGUSR1, lambda *_: None):
        ours.setblocking(False)
        theirs.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno())
        try:
            with SignalHandler(Stopper()):
                signal.raise_signal(signal.SIGUSR1)
        finally:
            assert signal.set_wakeup_fd(-1) == theirs.fileno()
        assert ours.recv(10) == bytes([signal.SIGUSR1])


def test_a_signal_that_somebody_else_handles_does_not_count():
    stopper = Stopper()
    with (
        handled(signal.SIGINT, lambda *_: None),
        SignalHandler(stopper) as interrupts,
        stopper.listening(),
    ):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert stopper.stopped
    assert not interrupts.aborted


def test_a_signal_while_the_handlers_are_restored_waits_for_that():
    interrupts = SignalHandler(Stopper()).__enter__()
    interrupts._restore.append(lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        interrupts.__exit__()


# Stoppers


def test_stop_from_another_thread_is_heard_inside_the_oracle():
    stopper = Stopper()
    events = Events(400, stopper.stop)
    result = condal.solve(events.problem(), condal.CGAL(), tol=1e-9, stopper=stopper)
    assert result.status is Status.INTERRUPTED
    assert_best_so_far(result)
    again = condal.solve(Events().problem(), condal.CGAL(), stopper=stopper)
    assert again.status is Status.INTERRUPTED  # it stays
    assert again.x is None


def test_one_stopper_ends_several_solves_in_threads():
    stopper, begun = Stopper(), threading.Barrier(4)
    model, options = max_cut(random_graph(200, 6)), {"tol": 1e-12, "stopper": stopper}

    def meet(row):
        if row.k == 1:
            begun.wait(60)

    def work():
        return condal.solve(model, condal.CGAL(), callback=meet, **options)

    with ThreadPoolExecutor(3) as pool:
        solves = [pool.submit(work) for _ in range(3)]
        begun.wait(60)
        stopper.stop()
        for result in (solve.result(60) for solve in solves):
            assert result.status is Status.INTERRUPTED
            assert result.bound >= result.objective


def test_a_stopper_that_is_none_is_refused():
    with pytest.raises(ProblemError, match=r"stopper takes a condal\.Stopper\(\); got 3"):
        condal.solve(Events().problem(), stopper=3)


# Alarms


def test_an_alarm_is_heard_in_its_thread_and_its_block_alone():
    stopper = Stopper()
    stopper.stop()
    with Deadline(stopper).on():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(check_cancelled).result()
        with pytest.raises(Cancelled) as halt:
            check_cancelled()
    assert halt.value.asked
    check_cancelled()


def test_an_alarm_within_another_listens_for_both():
    stopper = Stopper()
    with Deadline(stopper).on(), Deadline(until=time.perf_counter() + 1000).on():
        assert 900 < seconds_left() <= 1000
        check_cancelled()
        stopper.stop()
        with pytest.raises(Cancelled):
            check_cancelled()
    assert seconds_left() == np.inf


def test_what_is_done_as_one_is_not_broken():
    with Deadline(until=-np.inf).on():
        with uninterrupted():
            check_cancelled()
        with pytest.raises(Cancelled) as halt:
            check_cancelled()
    assert not halt.value.asked


def test_no_piece_of_the_users_can_swallow_a_stop():
    stopper = Stopper()
    C = np.diag(np.arange(N, dtype=float))

    def matvec(v):
        try:
            stopper.stop()
            return Symmetric(N, dense=C) @ v  # which heeds
        except Exception:
            return v

    operator = LinearOperator((N, N), matvec=matvec, dtype=np.float64)
    f = condal.Linear(Symmetric(N, operators=(operator,)))
    problem = condal.Problem.of(f, condal.Spectrahedron(N))
    assert condal.solve(problem, stopper=stopper).status is Status.INTERRUPTED


# Time


def test_a_time_limit_in_the_middle_of_an_lmo():
    """The products take 0.02 s each, and the oracle some sixty of them."""

    class Slow(Events):
        on = False

        def asked(self):
            if self.on:
                time.sleep(0.02)

    events = Slow()

    def callback(row):
        events.on = row.k >= 3

    tight = condal.CGAL(tol=condal.methods.rules.Exact())
    result = condal.solve(events.problem(), tight, tol=1e-9, max_seconds=0.5, callback=callback)
    assert result.status is Status.MAX_SECONDS
    assert result.iterations == 3
    assert result.x is not None
    assert result.bound <= (N + 1) / 2  # -inf, where there was no time for a proof


def test_the_time_is_divided_between_iterations_and_the_proof(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    free, short = Budget(TimeLimit()), Budget(TimeLimit(10.0))
    assert free.until(1.0, 1.0) == np.inf
    assert free.proof_until(1.0, False) == np.inf
    assert now + 6.9 < short.until(3.0, 0.1) < now + 7.1  # never more than three tenths
    assert now + 9.8 <= short.until(0.1, 0.1) < now + 9.9
    assert short.until(0.0, 0.0) == now + 9.0  # nothing is known of the first iteration
    assert now + 10 <= short.proof_until(0.25, False) < now + 10.3  # one call of the oracle,
    assert short.proof_until(100.0, False) == now + 11.0  # within 10% and a second
    assert free.proof_until(100.0, True) == short.proof_until(0.1, True) == now + 0.5


def test_a_proof_that_is_cut_short_proves_less_and_is_right():
    from condal.linalg.eigenvalue_bounds import probabilistic

    rng = np.random.default_rng(0)
    n = 400
    V = random_sparse(rng, (n, n), 0.02)
    V = Symmetric(n, sparse=(sp.csr_array(V + V.T),))
    least = np.linalg.eigvalsh(V.to_dense())[0]
    whole = probabilistic(V, slack=1e-3, failure=1e-9, seed=0)

    class After(Stopper):
        left = 10

        @property
        def stopped(self):
            self.left -= 1
            return self.left < 0

    with Deadline(After()).on():
        cut = probabilistic(V, slack=1e-3, failure=1e-9, seed=0)
    assert cut.value < whole.value <= least + 1e-12
    with Deadline(until=-np.inf).on():
        none = probabilistic(V, slack=1e-3, failure=1e-9, seed=0)
    assert (none.value, none.how) == (-np.inf, "no time for a proof")


# Memory and the choice of methods


def test_a_fall_back_is_made_when_it_is_needed_and_once():
    made = []

    def made_choices():
        for name in "first", "second":
            made.append(name)
            yield Choice(condal.CGAL(), name)

    lazy = LazyChoices(made_choices())
    assert next(iter(lazy)).why == "first"
    assert made == ["first"]
    assert [choice.why for choice in lazy] == [choice.why for choice in lazy] == made
    assert made == ["first", "second"]


def test_a_piece_that_fails_while_a_fall_back_looks_at_it_ends_the_solve(monkeypatch):
    def broken_choices(problem, **_):
        yield Choice(condal.CGAL(), "the first", patience=1)
        raise PieceError("A returned nan", piece="A")

    monkeypatch.setattr("condal.driver.memory.choices", broken_choices)
    result = condal.solve(max_cut(random_graph(50, 4)), tol=1e-9, max_iters=50)
    assert result.status is Status.NUMERICAL_ERROR
    assert "A returned nan" in result.reason
    assert result.x is not None


def test_a_memory_estimate_is_refused_before_allocating():
    model = max_cut(random_graph(2000, 4))
    with pytest.raises(ProblemError) as error:
        condal.solve(model, condal.CGAL(), max_memory=100_000)
    text = str(error.value)
    assert text.startswith("this needs ")
    for part in ("x ", "images and duals ", "oracle ", "proof "):
        assert part in text
    assert "max_memory is 0.10 MB" in text
    assert "of memory with" in text


def test_a_storage_that_does_not_fit_is_refused():
    model = max_cut(random_graph(2000, 4))
    with pytest.raises(ProblemError, match=r"leave storage= out, or give a smaller one"):
        condal.solve(model, condal.CGAL(), storage=storage.Factored(2000), max_memory="150 MB")


def test_what_fits_is_chosen():
    model = max_cut(random_graph(1500, 4))
    few = condal.solve(model, condal.CGAL(), max_memory="220 MB", max_iters=2)
    assert few.x.rank < 100
    many = condal.solve(model, condal.CGAL(), max_memory="1 GB", max_iters=2)
    assert many.x.rank <= 2  # its atoms themselves


def test_a_method_that_does_not_fit_is_left_out():
    problem = max_cut(random_graph(1200, 4)).problem
    needs = {one.method.name: in_all(problem, one.method) for one in choices(problem, tol=1e-3)}
    limit = (needs["cgal-ls"] + needs["lowrank"]) // 2
    assert needs["cgal-ls"] < limit < needs["lowrank"]
    result = condal.solve(problem, max_memory=limit, max_iters=3)
    assert result.method == next(name for name, need in needs.items() if need <= limit)


@pytest.mark.parametrize("method", [None, condal.CGAL(), condal.methods.LowRankCGAL()])
@pytest.mark.parametrize("n", [300, 1200, 20_000])
def test_what_is_announced_in_total_is_within_max_memory(n, method):
    problem = max_cut(random_graph(n, 4)).problem
    needed = in_all(problem, condal.CGAL() if method is None else method)
    for share in (0.99, 1.0, 1.01, 1.5, 2.0, 10.0):
        limit = int(share * needed)
        try:
            plan = make_plan(problem, method, None, tol=1e-3, max_memory=limit)
        except ProblemError as error:
            assert limit < needed
            message = str(error)
            assert f"and max_memory is {limit / 1e6:,.2f} MB" in message
            continue
        for choice in plan.tried:
            one = Plan((choice,), plan.max_bytes)
            assert in_all(problem, choice.method, one.first_storage(problem, None)) <= limit


def test_an_estimate_is_not_exceeded():
    """Of what NumPy allocates during a solve."""
    import tracemalloc

    model = max_cut(random_graph(1000, 4))
    problem = model.problem
    for method in (condal.CGAL(), condal.methods.LowRankCGAL()):
        kept = None if method.keeps == "factor" else storage.Sketch(1000, 10)
        told = sum(estimate(problem, method, kept).values())
        tracemalloc.start()
        condal.solve(problem, method, storage=kept, max_iters=30)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= told
        assert told <= 20 * peak


def test_an_estimate_grows_with_the_data_and_n_times_the_rank():
    n, R = 40_000, 10
    few, many = (max_cut(random_graph(n, degree)).problem for degree in (4, 8))
    kept = storage.Sketch(n, R)
    a, b = (in_all(problem, condal.CGAL(), kept) for problem in (few, many))
    entries = many.f.C.sparse[0].nnz - few.f.C.sparse[0].nnz
    assert 20 * entries < b - a < 100 * entries
    assert in_all(few, condal.CGAL(), storage.Sketch(n, 2 * R)) - a == 64 * n * R


def test_a_huge_problem_gets_more_than_the_usual_memory_for_a_sketch():
    n = 2_000_000
    ring = Symmetric(n, sparse=(identity(n),))
    problem = condal.Problem.of(condal.Linear(ring), condal.Spectrahedron(n))
    tried = (Choice(condal.CGAL(), "a test"),)
    assert require_memory(problem, tried, None, "16 GB").max_bytes == 64 * n * 10
    assert require_memory(problem, tried, None, "1 GB").max_bytes < 10**9


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [(2**20, 2**20), ("1MB", 1e6), ("1.5 GiB", 1.5 * 2**30), (" 2 kb ", 2000), ("12", 12)],
)
def test_sizes_are_read(given, bytes_):
    assert bytes_of(given) == bytes_


@pytest.mark.parametrize("given", [0, -1, np.nan, "four GB", "1 XB", True, "", "-3GB", "1e400"])
def test_a_size_that_is_none_is_refused(given):
    with pytest.raises(ProblemError, match=r"max_memory must be a number of bytes, or a text such"):
        condal.solve(Events().problem(), max_memory=given)


CGROUPS = {
    "v2": ("0::/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "1000000\n"}, 10**6),
    "v2, own group on top": ("0::/docker/1\n", {"memory.max": "2000000\n"}, 2 * 10**6),
    "v2, no limit": ("0::/\n", {"memory.max": "max\n"}, None),
    "v1": ("5:cpu:/c\n4:memory:/c\n", {"memory/c/memory.limit_in_bytes": "3000000\n"}, 3 * 10**6),
    "v1, no limit": ("4:memory:/\n", {"memory/memory.limit_in_bytes": f"{2**63 - 4096}\n"}, None),
    "v1, two controllers": ("4:cpu,memory:/\n", {"memory/memory.limit_in_bytes": "9\n"}, 9),
    "spoilt": ("nonsense\n", {"memory.max": "plenty\n"}, None),
    "none": (None, {}, None),
}


@pytest.mark.parametrize("name", CGROUPS)
def test_the_limit_of_a_control_group_counts(name, tmp_path):
    groups, files, limit = CGROUPS[name]
    if groups is not None:
        (tmp_path / "proc/self").mkdir(parents=True)
        (tmp_path / "proc/self/cgroup").write_text(groups)
    for path, text in files.items():
        file = tmp_path / "sys/fs/cgroup" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert available(tmp_path) == (physical() if limit is None else limit)


def test_a_solve_that_the_control_group_does_not_allow_is_refused(monkeypatch):
    monkeypatch.setattr("condal.driver.memory.available", lambda: 10**5)
    text = "the control group of this process allows 0.10 MB: use a larger machine"
    with pytest.raises(ProblemError, match=text):
        condal.solve(max_cut(random_graph(200, 4)), max_iters=1)


def test_sizes_are_told():
    assert [size(count) for count in (0, 999, 1234, 5_600_000)] == [
        "0 bytes",
        "1 kB",
        "1.2 kB",
        "5.6 MB",
    ]


# Callbacks


def test_a_raising_callback_is_raised_and_the_handlers_are_restored():
    def callback(row):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        condal.solve(Events().problem(), callback=callback)
