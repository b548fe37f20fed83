"""No forged proof is accepted beyond the optimum; `make soak SUITES=proofs` tries many more."""

from __future__ import annotations

import pytest
from forgeries import CHECK, EXACT, HEADERS, KNOWN, WORDS, accepted, forge, honest


@pytest.mark.parametrize("seed", range(4))
def test_no_forgery_is_accepted_beyond_the_optimum(seed):
    row = forge(250, seed)
    assert not row.faults
    assert 10 < row.solved < 200  # honest ones are accepted


def _refusal(known, lines, tmp_path, checker=CHECK):
    (tmp_path / "problem").write_text(known.text)
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


@pytest.mark.parametrize("checker", [CHECK, EXACT])
def test_no_word_brings_a_checker_down(checker, tmp_path):
    known = KNOWN[0]
    for at, words in ((4, [f"bound {word}" for word in WORDS]), (6, WORDS), (1, HEADERS)):
        for word in words:
            lines = honest(known, known.duals[1])
            lines[at] = word
            _refusal(known, lines, tmp_path, checker)


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
