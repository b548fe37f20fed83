"""Peers find known optima, and condal certifies their answers.

The packages of the development environment are run. In place of the programs, scripts write what
the programs write, so no test depends on what is on the PATH. To run all the peers of a machine:
CONDAL_TEST_PEERS=1 pytest lab/tests/bench/test_peers.py
"""

import os
import signal
import stat
import sys

import numpy as np
import pytest

import condal
from condal.errors import CondalError, FormatError, ProblemError
from condal_lab.bench.peers import PEERS, chosen, installed
from condal_lab.bench.peers.executables import ProgramTask, read_factor
from condal_lab.bench.peers.peer import Limits, PeerAnswer, Refusal, TimeExceeded, standard_form
from condal_lab.bench.results import Job
from condal_lab.bench.run import TIGHTENINGS
from condal_lab.bench.table import row
from condal_lab.bench.worker import certify_answer, work
from condal_lab.generated import theta
from known import PLANTED

PACKAGES = ("SCS", "Clarabel")  # of the development environment
RUN = tuple(installed()) if os.environ.get("CONDAL_TEST_PEERS") else PACKAGES
TOL = 1e-6
CUTS_ONLY = ("Pymanopt", "mixing")

# K_3: the relaxation puts three vectors at angles of 120 degrees, 3/4 an edge.
TRIANGLE = condal.problems.max_cut(np.ones((3, 3)) - np.eye(3))
# C_5: Lovasz, theta = sqrt(5).
PENTAGON = condal.Problem.of(
    f=condal.Linear(np.ones((5, 5))),
    X=condal.Spectrahedron(5),
    A=condal.Entries(5, np.arange(5), (np.arange(5) + 1) % 5),
    K=condal.Equal(np.zeros(5)),
    maximise=True,
)


GENERAL = [name for name in RUN if name not in (*CUTS_ONLY, "LoRADS", "SDPLR")]


@pytest.fixture(params=RUN)
def peer(request):
    return PEERS[request.param]


@pytest.fixture
def limits(tmp_path):
    return Limits(60.0, 4 << 30, tmp_path)


def solve(peer, model, limits, tol=TOL):
    task = peer.prepare(model, tol, limits)
    task.solve()
    return task.answer()


def certify_to(error, peer, model, limits):
    """Tighten the tolerance of the peer until the error is certified, as a benchmark does."""
    for divisor in (1, *TIGHTENINGS):
        answer = solve(peer, model, limits, TOL / divisor)
        certified = certify_answer(model, answer, tol=error)
        if certified.error <= error or peer.name == "LoRADS":  # which returns a value only
            break
    return certified


def test_max_cut_of_a_triangle(peer, limits):
    certified = certify_to(1e-4, peer, TRIANGLE, limits)
    assert certified.objective == pytest.approx(2.25, rel=1e-4)
    if peer.name != "LoRADS":
        assert certified.error < 1e-4
        assert certified.bound >= 2.25 * (1 - 1e-12)


def test_theta_of_a_pentagon(peer, limits):
    if peer.name in CUTS_ONLY:
        with pytest.raises(Refusal, match="takes only a linear objective with diag x = 1"):
            peer.prepare(PENTAGON, TOL, limits)
        return
    certified = certify_to(1e-4, peer, PENTAGON, limits)
    assert certified.objective == pytest.approx(np.sqrt(5), rel=1e-4)
    if peer.name != "LoRADS":
        assert certified.error < 1e-4
        assert certified.bound >= np.sqrt(5) * (1 - 1e-12)


def test_mixing_refuses_problems_other_than_max_cut(limits):
    with pytest.raises(Refusal, match="takes only a linear objective with diag x = 1"):
        PEERS["mixing"].prepare(PENTAGON, TOL, limits)


# The others support only max-cut, or return no point.
@pytest.mark.parametrize("name", ["sdp-equal", "sdp-box", "sdp-at-most"])
@pytest.mark.parametrize("peer", GENERAL, indirect=True)
def test_planted_problems(peer, limits, name):
    known = PLANTED[name]()
    certified = certify_answer(known.problem, solve(peer, known.problem, limits), tol=TOL)
    assert certified.objective == pytest.approx(known.optimum, rel=1e-3, abs=1e-3)
    assert certified.error < 1e-3
    assert certified.bound <= known.optimum + 1e-9


@pytest.mark.parametrize("peer", [name for name in GENERAL if name != "COPT"], indirect=True)
def test_a_size_beyond_the_memory_is_refused(peer, tmp_path):
    with pytest.raises(Refusal, match=r"needs about [\d,]+ GB, and 0 GB are allowed"):
        peer.prepare(theta(20, 30), TOL, Limits(60.0, 1000, tmp_path))


def test_peers_are_chosen_by_name(monkeypatch):
    there = {"SCS": "3.2", "LoRADS": "unknown"}
    monkeypatch.setattr("condal_lab.bench.peers.installed", lambda: there)
    assert chosen(None) == there
    assert chosen("") == {}
    assert chosen(" scs ,") == {"SCS": "3.2"}
    assert chosen("LORADS, SCS") == there
    with pytest.raises(ProblemError, match=r"there is no peer 'gurobi'; there are Pymanopt"):
        chosen("gurobi")
    with pytest.raises(ProblemError, match="SDPLR is not installed: build "):
        chosen("sdplr")


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Put a Python script on a PATH that holds nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, body: str) -> None:
        script = folder / name
        script.write_text(f"#!{sys.executable} -S\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    return put


def test_mixing_is_given_the_graph_and_its_factor_is_read(on_path, limits):
    on_path(
        "mixing",
        "import sys, math\n"
        "assert sys.argv[1:] == ['-s', 'maxcut', '-e', '1e-06', '-t', 'max', 'graph'], sys.argv\n"
        "assert open('graph').read() == '3 3\\n1 2 1\\n1 3 1\\n2 3 1\\n'\n"
        "turn = [2 * math.pi * i / 3 for i in range(3)]\n"
        "rows = [f'{math.cos(t):.17g} {math.sin(t):.17g} \\n' for t in turn]\n"
        "open('graph.sol', 'w').writelines(rows)\n"
        "print('iter 1 delta 0')\n",
    )
    assert PEERS["mixing"].version() == "unknown"
    answer = solve(PEERS["mixing"], TRIANGLE, limits)
    assert answer.message == "iter 1 delta 0"
    assert answer.usage is not None
    assert 0 < answer.usage.cpu < 60
    certified = certify_answer(TRIANGLE, answer, tol=TOL)
    assert (certified.basis, certified.objective) == ("x, our y", pytest.approx(2.25))
    assert certified.error < 1e-7


LORADS_END = "print('End Program due to reaching `Official terminate criteria`:')\n"
LORADS_VALUE = "print('\\t 1.Primal Objective:            : -2.250000e+00')\n"


def test_lorads_has_its_claim_and_nothing_else(on_path, limits):
    on_path("lorads", LORADS_END + LORADS_VALUE)
    answer = solve(PEERS["LoRADS"], TRIANGLE, limits)
    assert answer.message == "End Program due to reaching `Official terminate criteria`"
    certified = certify_answer(TRIANGLE, answer, tol=TOL)
    assert (certified.basis, certified.objective) == ("own claim", 2.25)
    assert np.isnan(certified.error)


def test_the_value_of_lorads_at_its_time_limit_is_no_answer(on_path, limits):
    on_path("lorads", "print('End Program since time limit.')\n" + LORADS_VALUE)
    with pytest.raises(TimeExceeded, match="no answer within 60 s"):
        solve(PEERS["LoRADS"], TRIANGLE, limits)


@pytest.mark.parametrize("code", [0, 1])
def test_a_run_without_an_answer_has_failed_and_has_no_time(on_path, code):
    on_path("lorads", f"print('Reading')\nraise SystemExit({code})")
    run = work(Job("quick", "cut-60", "LoRADS", 1e-3, 1e-3, 60.0, 4 << 30))
    assert (run.outcome, run.cpu, run.certified) == ("failed", None, "")
    assert run.reason == "ended without an answer"
    assert not run.answered
    assert row(run, None)[:2] == ("LoRADS", "failed")


# x = R R' of the triangle and its dual z, in the files of each program.
ENTRIES = "".join(
    f"2 1 {i} {j} {1.0 if i == j else -0.5}\n" for i in range(1, 4) for j in range(i, 4)
)
MATRIX = "{ {1,-0.5,-0.5}, {-0.5,1,-0.5}, {-0.5,-0.5,1} }"
PROGRAMS = {
    "CSDP": ("csdp", f"0.75 0.75 0.75\n{ENTRIES}", "Success: SDP solved"),
    "DSDP": ("dsdp5", f"0.75 0.75 0.75\n{ENTRIES}", "DSDP Converged. "),
    "SDPA": (
        "sdpa",
        f"xVec = \n{{0.75,0.75,0.75}}\nxMat = \n{{\n}}\nyMat = \n{{\n{MATRIX}\n}}\n"
        "    main loop time = 0.0\n",
        "phase.value = pdOPT",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_point_and_the_dual_of_a_program_are_read(on_path, limits, name):
    program, solution, status = PROGRAMS[name]
    on_path(
        program,
        "import sys\n"
        "assert 'problem.dat-s' in sys.argv, sys.argv\n"
        "assert open('problem.dat-s').read().startswith('3\\n1\\n3\\n1.0 1.0 1.0\\n')\n"
        f"open('solution', 'w').write({solution!r})\n"
        f"print({status!r})\n",
    )
    answer = solve(PEERS[name], TRIANGLE, limits)
    assert answer.message == "optimal"
    certified = certify_answer(TRIANGLE, answer, tol=TOL)
    assert (certified.basis, certified.objective) == ("x, y", pytest.approx(2.25))
    assert certified.error < 1e-7


def test_a_factor_of_sdplr_is_read(tmp_path):
    def put_text(text):
        path = tmp_path / "solution"
        path.write_text(text)
        return path

    form = standard_form(TRIANGLE.problem)
    R = np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]])
    # C - sum_i z_i I_i = 0 on the range of R, for C = -L/4: z = -3/4.
    lines = ["dual variable 3", *["-0.75"] * 3, "primal variable 1 s 3 3 2"]
    lines += [repr(value) for value in R.T.ravel().tolist()] + ["special majiter 3"]
    answer = read_factor(put_text("\n".join(lines)), form)
    np.testing.assert_array_equal(answer.x.U, R)
    np.testing.assert_array_equal(answer.y, [0.75] * 3)
    assert certify_answer(TRIANGLE, answer, tol=TOL).error < 1e-7
    with pytest.raises(FormatError, match="does not begin with 'dual variable'"):
        read_factor(put_text("primal"), form)
    with pytest.raises(FormatError, match="is not a solution of this problem of 3 rows"):
        read_factor(put_text("dual variable 1\n0\nprimal variable 1 s 3 3 2"), form)


def program_of(name, seconds, folder):
    return ProgramTask([name], Limits(seconds, 4 << 30, folder), lambda *_: PeerAnswer())


@pytest.mark.parametrize(
    ("body", "error", "text"),
    [
        ("while True: pass", TimeExceeded, "no answer within 0.5 s"),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
            CondalError,
            "ended by SIGSEGV",
        ),
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            CondalError,
            r"ended by SIGKILL after 0\.\d s, perhaps for lack of memory",
        ),
    ],
)
def test_a_program_that_fails_says_how(on_path, tmp_path, body, error, text):
    on_path("broken", body)
    program = program_of("broken", 0.5, tmp_path)
    with pytest.raises(error, match=text) as caught:
        program.solve()
    assert isinstance(caught.value, TimeExceeded) is (error is TimeExceeded)


def test_a_program_that_hangs_is_ended_as_one_without_time(on_path, tmp_path, monkeypatch):
    monkeypatch.setattr("condal_lab.bench.peers.executables.EXTRA_SECONDS", 0.3)
    monkeypatch.setattr("condal_lab.bench.peers.executables.WALL_PER_CPU", 0)
    on_path("hangs", "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)")
    program = program_of("hangs", 5.0, tmp_path)
    with pytest.raises(TimeExceeded, match=r"no answer within 0\.3 s of wall time"):
        program.solve()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_program_that_does_not_heed_the_end_of_its_time_has_had_it(tmp_path):
    program = program_of("deaf", 5.0, tmp_path)
    record = {"code": -signal.SIGKILL, "cpu": 11.0, "wall": 11.0, "memory": 1}
    with pytest.raises(TimeExceeded, match="no answer within 5 s"):
        program._judge(record)
