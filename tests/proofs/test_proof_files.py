"""Proof files that condal writes are accepted by a program that imports nothing of condal."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from commands import PROGRAM, run
from condal.conic import Block, Program, conic_model
from condal.errors import ProblemError
from condal.formats import read_graph, read_sdpa, write_rudy
from known import DATA, needs_data
from locations import ROOT

PENTAGON = 2.5 * (1 + np.cos(np.pi / 5))
CHECKER = ROOT / "checker" / "check.py"
WITHOUT_CONDAL = "import runpy, sys; sys.modules['condal'] = None; sys.argv = sys.argv[1:]; "
WITHOUT_CONDAL += "runpy.run_path(sys.argv[0], run_name='__main__')"


def checked(problem, proof):
    """Return the exit status and the output of a checker that cannot import condal."""
    command = [sys.executable, "-I", "-c", WITHOUT_CONDAL, CHECKER, problem, proof]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


def proved_bound(output):
    """Return the bound that the checker printed."""
    line = next(line for line in output.splitlines() if line.startswith("proved"))
    return float(line.split()[-1])


def graph(n, density, seed, signs=False):
    W = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    W.data = np.sign(W.data - 0.5) if signs else np.ceil(3 * W.data)
    return sp.csr_array(sp.triu(W, 1) + sp.triu(W, 1).T)


def written(model, path, tol=1e-6, **options):
    """Solve a model; return the result, and the problem file that its proof names."""
    result = model.solve(tol=tol) if hasattr(model, "solve") else condal.solve(model, tol=tol)
    return result, result.save_proof(path, model, **options)


def test_the_proof_of_a_pentagon(tmp_path):
    model = condal.problems.max_cut(np.roll(np.eye(5), 1, 0) + np.roll(np.eye(5), -1, 0))
    result, problem = written(model, tmp_path / "proof")
    assert problem == f"{tmp_path / 'proof'}.rudy"
    status, output = checked(problem, tmp_path / "proof")
    assert status == 0, output
    assert PENTAGON <= proved_bound(output) <= result.bound * (1 + 1e-9)
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize(("n", "density"), [(2, 1.0), (30, 0.5), (300, 0.02), (1500, 0.002)])
def test_proofs_of_random_graphs(n, density, signs, tmp_path):
    W = graph(n, density, seed=n, signs=signs)
    result, problem = written(condal.problems.max_cut(W), tmp_path / "proof", tol=1e-5)
    status, output = checked(problem, tmp_path / "proof")
    assert status == 0, output
    assert result.objective * (1 - 1e-12) <= proved_bound(output) <= result.bound + 1e-8 * n


def test_the_command_writes_a_proof_for_its_file(tmp_path):
    path = tmp_path / "graph.txt.gz"
    write_rudy(path, graph(50, 0.2, seed=1))
    done = run("solve", path, "--as", "max-cut", "--proof", tmp_path / "proof", "--tol", "1e-4")
    assert done.exit_code == 0, done.output
    assert f"python checker/check.py {path} {tmp_path / 'proof'}" in " ".join(done.output.split())
    assert checked(path, tmp_path / "proof")[0] == 0


def test_the_command_writes_the_graph_beside_a_proof_if_the_checker_cannot_read_it(tmp_path):
    path = tmp_path / "graph.edges"
    path.write_text("0 1\n1 2\n0 2\n")
    assert run("solve", path, "--as", "max-cut", "--proof", tmp_path / "proof").exit_code == 0
    refused = run("solve", path, "--as", "theta", "--proof", tmp_path / "proof")
    assert "--proof is for --as max-cut and --as sdp" in refused.output
    assert checked(tmp_path / "proof.rudy", tmp_path / "proof")[0] == 0


def test_the_proof_of_a_program(tmp_path):
    path = tmp_path / "small.dat-s"
    path.write_text(PROGRAM)
    result, problem = written(conic_model(read_sdpa(path).program), tmp_path / "proof", file=path)
    assert problem == str(path)
    status, output = checked(path, tmp_path / "proof")
    assert status == 0, output
    assert np.sqrt(2) * (1 - 1e-15) <= proved_bound(output) <= result.bound * (1 + 1e-9)


def test_a_minimisation_is_written_as_a_maximisation(tmp_path):
    program = Program([2.0, 1.0, 1.0, 2.0], [[1.0, 0, 0, 1.0]], [1.0], [Block("psd", 2)])
    _, problem = written(conic_model(program), tmp_path / "proof")
    status, output = checked(problem, tmp_path / "proof")
    assert status == 0, output
    assert -1 <= proved_bound(output) <= -1 + 1e-5


def test_the_proof_that_nothing_is_feasible(tmp_path):
    path = tmp_path / "none.dat-s"
    path.write_text("2\n1\n2\n1 -1\n0 1 1 2 1\n1 1 1 1 1\n1 1 2 2 1\n2 1 1 1 1\n2 1 2 2 2\n")
    result, _ = written(conic_model(read_sdpa(path).program), tmp_path / "proof", file=path)
    assert result.status is condal.Status.INFEASIBLE
    status, output = checked(path, tmp_path / "proof")
    assert status == 0, output
    assert "no X is feasible" in output


def test_what_cannot_be_written_is_refused(tmp_path):
    model = condal.problems.max_cut(graph(20, 0.5, seed=0))
    result = condal.solve(model)
    theta = condal.problems.theta(graph(20, 0.5, seed=0))
    with pytest.raises(ProblemError, match="proof files are for the models"):
        result.save_proof(tmp_path / "proof", theta)
    write_rudy(tmp_path / "other", graph(20, 0.5, seed=1))
    with pytest.raises(ProblemError, match="other holds another problem than the model"):
        result.save_proof(tmp_path / "proof", model, tmp_path / "other")
    cone = Program([1.0, 0, 0], [[0, 1.0, 2.0]], [5.0], [Block("second-order", 3)])
    with pytest.raises(ProblemError, match="no second-order cones"):
        written(conic_model(cone), tmp_path / "proof")
    path = tmp_path / "ray.dat-s"
    path.write_text("1\n1\n2\n1\n0 1 2 2 1\n1 1 1 1 1\n")
    with pytest.raises(ProblemError, match="cannot prove an unbounded program"):
        written(conic_model(read_sdpa(path).program), tmp_path / "proof")
    V, E = 60_000, np.random.default_rng(0).integers(0, 60_000, (2, 150_000))
    large = sp.coo_array((np.ones(150_000), E), (V, V))
    with pytest.raises(ProblemError, match="too large to factorise"):
        result.save_proof(tmp_path / "proof", condal.problems.max_cut(large + large.T))
    with pytest.raises(ProblemError, match="the result has 20 multipliers, and the model 3"):
        result.save_proof(tmp_path / "proof", condal.problems.max_cut(1 - np.eye(3)))
    assert not (tmp_path / "proof").exists()


@needs_data
@pytest.mark.parametrize("name", ["G1", "G11", "G14", "G32", "G43", "G48", "G55"])
def test_proofs_of_public_graphs(name, tmp_path):
    path = DATA / f"gset/{name}.txt.xz"
    written(condal.problems.max_cut(read_graph(path)), tmp_path / "proof", tol=1e-4, file=path)
    status, output = checked(path, tmp_path / "proof")
    assert status == 0, output
