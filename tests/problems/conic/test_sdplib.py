"""Public programs: the published optimum lies between the objective and the bound, to 1e-4, and
the checker accepts the proof file."""

import pytest

from condal.problems.conic import conic_model
from condal.problems.conic.files import read_sdpa
from condal.result import Status
from known import DATA, needs_data
from proofs.forgeries import CHECK, accepted

# SDPLIB's table, SDPA-GMP's digits; of the sparse SDPs, what CSDP finds.
OPTIMA = {
    "sdplib/arch0.dat-s.xz": 0.56651727,
    "sdplib/control1.dat-s.xz": 17.784627,
    "sdplib/control2.dat-s.xz": 8.3,
    "sdplib/control3.dat-s.xz": 13.633266,
    "sdplib/gpp100.dat-s.xz": -44.943551,
    "sdplib/hinf1.dat-s.xz": 2.0326,
    "sdplib/maxG32.dat-s.xz": 1567.6396447,
    "sdplib/maxG51.dat-s.xz": 4006.2555217,
    "sdplib/maxG60.dat-s.xz": 15222.268,
    "sdplib/mcp100.dat-s.xz": 226.15735,
    "sdplib/mcp250-1.dat-s.xz": 317.26434,
    "sdplib/mcp500-1.dat-s.xz": 598.14852,
    "sdplib/qap5.dat-s.xz": -436.0,
    "sdplib/qap7.dat-s.xz": -424.8197,
    "sdplib/qpG11.dat-s.xz": 2448.6591,
    "sdplib/theta1.dat-s.xz": 23.0,
    "sdplib/theta2.dat-s.xz": 32.879169,
    "sdplib/theta3.dat-s.xz": 42.166981,
    "sdplib/theta4.dat-s.xz": 50.321222,
    "sdplib/thetaG11.dat-s.xz": 400.0,
    "sdplib/truss1.dat-s.xz": -8.9999963,
    "sparse_sdp/buck1.dat-s.gz": 146.41915,
    "sparse_sdp/shmup1.dat-s.gz": 188.41483,
    "sparse_sdp/trto1.dat-s.gz": 1104.5,
    "sparse_sdp/vibra1.dat-s.gz": 40.819012,
}
ROUNDED = 4e-5  # what the digits of the tables may be off


@needs_data
@pytest.mark.parametrize("name", OPTIMA)
def test_optimum(name, tmp_path):
    model = conic_model(read_sdpa(DATA / name).program)
    result = model.solve(tol=5e-5)
    optimum = OPTIMA[name]
    unit = max(1.0, abs(optimum))
    assert result.status is Status.SOLVED
    assert abs(result.objective - optimum) <= 1e-4 * unit
    assert -ROUNDED * unit <= result.bound - optimum <= 1e-4 * unit
    result.save_proof(tmp_path / "proof", model, DATA / name)
    good, output = accepted(CHECK, DATA / name, tmp_path / "proof")
    assert good, output


@needs_data
@pytest.mark.parametrize(
    ("name", "status"), [("infd1", Status.INFEASIBLE), ("infp1", Status.UNBOUNDED)]
)
def test_no_optimum(name, status):
    model = conic_model(read_sdpa(DATA / "sdplib" / f"{name}.dat-s.xz").program)
    assert model.verdict is not None
    assert model.solve().status is status
