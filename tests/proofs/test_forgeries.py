"""No forged proof is accepted beyond the optimum; `make soak SUITES=proofs` tries many more."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import pytest
from forgeries import CHECK, EXACT, KNOWN, accepted, forge, honest, program_of

from condal.problems.proof_files import _is_inside, slack


@pytest.mark.parametrize("seed", range(4))
def test_no_forgery_is_accepted_beyond_the_optimum(seed):
    row = forge(250, seed)
    assert not row.faults
    assert 10 < row.solved < 200  # honest ones are accepted


def _refusal(known, lines, tmp_path, checker=CHECK):
    (tmp_path / "problem").write_bytes(known.text.encode())
    (tmp_path / "proof").write_text("\n".join(lines))
    good, output = accepted(checker, tmp_path / "problem", tmp_path / "proof")
    return "" if good else output


@pytest.mark.parametrize("known", KNOWN)
def test_honest_proofs_are_accepted(known, tmp_path):
    assert _refusal(known, honest(known, known.duals[-1]), tmp_path) == ""
    for y in known.duals:
        assert _refusal(known, honest(known, y), tmp_path, EXACT) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((0, "condal proof 2"), "another format"),
        ((2, "sha256 " + "0" * 64), "the proof is of another problem file"),
        ((3, "claim infeasible"), "y separates nothing"),
        ((4, "bound 8.9"), "b'y is 9.0000"),
        ((4, "bound nan"), "wanted a number; got 'nan'"),
        ((5, "numbers 5"), "5 numbers need 12 lines; got 13"),
        ((6, "0x1.42p+0"), "the slack is not psd: a dense part has no Cholesky factor"),
        ((6, "1" * 100_000), "wanted a number; got '1111"),
        ((6, "1e309"), "is out of range"),
        ((6, "1e308"), "b'y is 1.0"),
        ((12, "fin"), "truncated"),
    ],
)
def test_a_refusal_says_what_does_not_fit(change, why, tmp_path):
    known = KNOWN[1]
    lines = honest(known, known.duals[1])
    lines[change[0]] = change[1]
    output = _refusal(known, lines, tmp_path)
    assert output.startswith("REFUSED: ")
    assert why in output
    assert max(map(len, output.splitlines())) < 160


SDPA = "2\n2\n2 -2\n1 2\n0 1 1 2 0.5\n1 1 1 1 1\n2 1 2 2 1\n2 2 1 1 1\n"
CUT = "3 3\n1 2 1\n1 3 1\n2 3 1\n"


@pytest.mark.parametrize("checker", [CHECK, EXACT])
@pytest.mark.parametrize(
    ("text", "old", "new", "fits"),
    [
        (SDPA, "2 -2", "2\n\n{-2} two blocks", True),
        (SDPA, "2\n2\n", '" \u00e9\n * 5\n2 = m, of 3\r\n2 = blocks\n', True),
        (SDPA, "1 1 1 1 1", "1 1 1 1 1." + "0" * 90, True),
        (SDPA, "0 1 1 2 0.5", "0 1 2 1 .5", True),
        (CUT, "1 2 1", "1 2", True),
        (CUT, "3 3\n", "\ufeff3 4\n2 2 7\n", True),
        (SDPA, "2 -2", "2 +-2", False),
        (SDPA, "2 2 1 1 1", "2 2 1 2 1", False),
        (SDPA, "0 1 1 2 0.5", "0 1 1 2 0.5\n0 1 2 1 0", False),
        (SDPA, "0.5", "0\v5", False),
        (SDPA, "0.5", "0x1p-1", False),
        (SDPA, "0 1 1 2 0.5\n", "0 1 1 2\n0.5 ", False),
        (CUT, "3 3\n", "3 4\n2 2 x\n", False),
    ],
)
def test_a_problem_is_read_strictly(checker, text, old, new, fits, tmp_path):
    kind, y = ("sdpa", [1.0, 1.0]) if text is SDPA else ("max-cut", [1.0, 1.0, 1.0])
    assert old in text
    known = KNOWN[0]._replace(kind=kind, text=text.replace(old, new, 1))
    assert (_refusal(known, honest(known, y), tmp_path, checker) == "") is fits


@pytest.mark.parametrize(("checker", "most"), [(CHECK, "MAX_BYTES"), (EXACT, "MOST_BYTES")])
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_packed_file_is_not_unpacked_without_a_limit(checker, most, pack, monkeypatch, tmp_path):
    monkeypatch.setattr(checker, most, 10_000)
    (tmp_path / "bomb").write_bytes(pack(b" " * 10_001))
    good, output = accepted(checker, tmp_path / "bomb", tmp_path / "bomb")
    assert not good
    assert "more than 10000 bytes" in output


def test_only_the_lower_triangle_of_a_factor_counts(monkeypatch):
    T = np.eye(300)
    T[299, 0] = T[0, 299] = 10.0  # T is not psd, but L has no entry of its last block and L_0 has
    monkeypatch.setattr(np.linalg, "cholesky", lambda T: np.triu(T).copy())
    assert CHECK.residual(T).max() > 9


@pytest.mark.parametrize("checker", [CHECK, EXACT])
def test_decimal_numbers_of_the_problem_are_not_rounded(checker, tmp_path):
    """y is 0.05 twice; its double is above 0.05 by 2.8e-18."""
    for weight, good in (("0.1", True), ("0.1000000000000000056", False)):
        known = KNOWN[2]._replace(text=f"2 1\n1 2 {weight}\n")
        refusal = _refusal(known, honest(known, [0.05, 0.05 + 1e-9 * good]), tmp_path, checker)
        assert (refusal == "") is good


@pytest.mark.parametrize("checker", [CHECK, EXACT])
def test_a_slack_of_1e_400_has_a_sign(checker, tmp_path):
    known = KNOWN[-1]._replace(text="1\n1\n-1\n0\n1 1 1 1 -1e-200\n")
    assert _refusal(known, honest(known, [-1e-200]), tmp_path, checker) == ""
    assert "REFUSED" in _refusal(known, honest(known, [1e-200]), tmp_path, checker)


def test_a_zero_beside_an_entry_is_outside_the_cone(tmp_path):
    (tmp_path / "problem").write_text(KNOWN[-1].text)
    sdp = program_of("sdpa", tmp_path / "problem")
    assert _is_inside(*slack(sdp, np.array([1.0, 1.0]), 1.0))
    assert not _is_inside(*slack(sdp, np.array([0.0, 1.0]), 1.0))
