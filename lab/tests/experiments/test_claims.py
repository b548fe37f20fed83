"""Claims on synthetic curves: each verdict occurs both ways, and the page shows it."""

import numpy as np
import pytest
from synthetic import CALLS, OPTIMUM, C, study, trial

from condal_lab.experiments import claims, paper, rivals
from condal_lab.experiments.catalogue import EXPERIMENTS
from condal_lab.experiments.claims import ClaimVerdict, PaperClaim

HOLDS, FAILS, UNTESTED = ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.UNTESTED
UNDECIDED = ClaimVerdict.UNDECIDED


@pytest.mark.parametrize(
    ("test", "name", "power", "verdict"),
    [
        (paper.hcgm_is_slow, "hcgm", -0.5, HOLDS),
        (paper.hcgm_is_slow, "hcgm", -0.8, FAILS),
        (paper.hcgm_is_slow, "hcgm", -0.2, FAILS),
        (paper.cgal_is_fast, "cgal", -1.0, HOLDS),
        (paper.cgal_is_fast, "cgal", -0.7, FAILS),
        (paper.cgal_is_nearly_one, "cgal", -0.85, HOLDS),
        (paper.cgal_is_nearly_one, "cgal", -0.7, FAILS),
    ],
)
def test_slopes(test, name, power, verdict):
    claim = test(study([trial(name, (0,), CALLS**power)]))
    assert claim.verdict is verdict
    assert f"{power:.2f}" in claim.measured


def test_the_neighbours_of_the_best_are_told():
    made = study([trial("hcgm", (e,), 10.0**-e * CALLS**-0.5) for e in (-2, -1, 0)])
    said = paper.hcgm_is_slow(made).measured
    assert said.startswith("slopes -0.50 [-0.50, -0.50] of |f - f*| and -0.50 [")
    assert said.endswith("; lam0 = 0.1: -0.50 and -0.50")


def test_a_rate_that_straddles_its_band_is_undecided():
    waves = CALLS**-0.6 * np.exp(0.3 * np.cos(3 * np.log(CALLS)))
    assert paper.hcgm_is_slow(study([trial("hcgm", (0,), waves)])).verdict is UNDECIDED


def test_a_rate_that_cannot_be_fitted_is_not_tested():
    assert paper.hcgm_is_slow(study([trial("hcgm", (0,), 0.0)])).verdict is UNTESTED


def test_both_slopes_must_comply():
    made = study([trial("hcgm", (0,), CALLS**-0.5, CALLS**-1.0)])
    assert paper.hcgm_is_slow(made).verdict is FAILS


def test_the_best_setting_is_the_one_that_counts():
    made = study([trial("cgal", (0,), 0.01 * CALLS**-0.3), trial("cgal", (1,), CALLS**-1.2)])
    assert made.tuned["cgal"].setting == (1,)
    assert paper.cgal_is_fast(made).verdict is HOLDS


def test_who_is_ahead():
    made = study([trial("cgal", (0,), 1e-3), trial("hcgm", (0,), 1e-2)])
    assert paper.ahead("cgal", "hcgm", "5")(made).verdict is HOLDS
    behind = paper.ahead("hcgm", "cgal", "5")(made)
    assert behind.verdict is FAILS
    assert behind.measured == "1.0e-02 against 1.0e-03"


def plateau(eps: float, times: float) -> np.ndarray:
    """Return a residual that falls like 1/k to a multiple of eps."""
    return np.maximum(CALLS**-1.0, times * eps / (OPTIMUM * C))


@pytest.mark.parametrize(("times", "verdict"), [(0.5, HOLDS), (0.02, HOLDS), (1.5, FAILS)])
def test_saturation_is_measured_in_eps(times, verdict):
    made = study([trial("upd", (e,), plateau(10.0**e, times), 0.0) for e in (-1, -2)])
    claim = rivals.upd_saturates(made)
    assert claim.verdict is verdict
    assert f"at {times:.2g} to {times:.2g} times eps" in claim.measured


def test_what_never_saturates_is_not_tested():
    made = study([trial("upd", (-2,), CALLS**-0.5)])
    assert rivals.upd_saturates(made).verdict is UNTESTED


def dip(sign: float) -> np.ndarray:
    """Return 1/sqrt(k) with a dip at 3000 calls, and the given sign after it."""
    x = 10 * np.log(CALLS / 3000)
    shape = np.clip(x, -1, 1) if sign > 0 else np.clip(np.abs(x), 1e-6, 1)
    shape[np.argmin(np.abs(x))] = 1e-3
    return -shape * CALLS**-0.5


def test_drops_are_sign_flips_or_not():
    flip, touch = trial("upd", (0,), dip(1.0)), trial("upd", (1,), dip(-1.0))
    assert rivals.upd_drops_by_sign(study([flip])).verdict is HOLDS
    mixed = rivals.upd_drops_by_sign(study([flip, touch]))
    assert mixed.verdict is FAILS
    assert mixed.measured == "1 of 2 sudden drops are sign flips"
    smooth = study([trial("upd", (0,), CALLS**-0.5)])
    assert rivals.upd_drops_by_sign(smooth).verdict is UNTESTED


def test_aupd_goes_on_where_upd_is_flat():
    flat = trial("upd", (-2,), plateau(1e-2, 0.5))
    falling, stuck = trial("aupd", (-2,), CALLS**-0.5), trial("aupd", (-2,), plateau(1e-2, 0.5))
    assert rivals.aupd_goes_on(study([flat, falling])).verdict is HOLDS
    assert rivals.aupd_goes_on(study([flat, stuck])).verdict is FAILS
    moving = trial("upd", (-2,), CALLS**-0.5)
    assert rivals.aupd_goes_on(study([moving, falling])).verdict is UNTESTED
    assert rivals.aupd_is_alike(study([moving, falling])).verdict is HOLDS
    assert rivals.aupd_is_alike(study([moving, trial("aupd", (0,), CALLS**-1.0)])).verdict is FAILS


@pytest.mark.parametrize(("jump", "verdict"), [(50.0, HOLDS), (2.0, FAILS)])
def test_stairs_are_jumps_within_subproblems(jump, verdict):
    outer = (np.arange(CALLS.size) % 20 == 19).astype(float)
    values = np.where(outer > 0, 1.0, jump) * 1e-3
    claim = rivals.ial_has_stairs(study([trial("ial", (0, 0), values, outer=outer)]))
    assert claim.verdict is verdict
    assert f"factor of {jump:g}" in claim.measured


def test_fwal_is_hard_if_its_best_is_far_from_cgals():
    cgal = trial("cgal", (0,), 1e-4)
    bad = [trial("fwal", (e, 0), 1e-2 * 20**-e) for e in (-2, -1, 0)]
    claim = rivals.fwal_is_hard(study([cgal, *bad]))
    assert claim.verdict is HOLDS
    assert "best of 3 settings 1.0e-02, 1e+02 times CGAL's 1.0e-04; 1 of them" in claim.measured
    assert rivals.fwal_is_hard(study([cgal, trial("fwal", (0, 0), 2e-4)])).verdict is FAILS


def test_linear_atoms_are_told_from_slow_ones():
    linear = trial("cgal", (0,), CALLS**-1.0, atoms=0.997**CALLS)
    slow = trial("cgal", (0,), CALLS**-1.0, atoms=CALLS**-0.5)
    fast_power = trial("cgal", (0,), CALLS**-1.0, atoms=CALLS**-2.0)
    root = trial("cgal", (0,), CALLS**-1.0, atoms=np.exp(-0.3 * np.sqrt(CALLS)))
    test = paper.atoms_converge("cgal", linearly=True)
    verdicts = [test(study([t])).verdict for t in (linear, slow, fast_power, root)]
    assert verdicts == [HOLDS, FAILS, FAILS, FAILS]
    assert paper.atoms_converge("cgal", linearly=False)(study([slow])).verdict is HOLDS


def test_shares_and_breakdowns():
    made = study([trial("cgal", (0,), 1e-3, share=0.9), trial("hcgm", (0,), 1e-3, share=0.3)])
    claim = paper.oracle_dominates(made)
    assert claim.verdict is FAILS
    assert "30%" in claim.measured
    assert "HCGM" in claim.measured
    assert paper.unbounded_duals(made).verdict is HOLDS
    broken = study([trial("cgal", (0,), 1e-3, ended="numerical_error")])
    assert paper.unbounded_duals(broken).measured == "1 of 1 trials broke down"
    assert paper.unbounded_duals(broken).verdict is FAILS


def test_the_cost_of_an_iteration_is_compared_at_the_same_lam0():
    hcgm = trial("hcgm", (0,), 1e-3, share=0.5)
    assert (
        paper.cost_is_nearly_the_same(study([trial("cgal", (0,), 1e-3, share=0.45), hcgm])).verdict
        is HOLDS
    )
    claim = paper.cost_is_nearly_the_same(study([trial("cgal", (0,), 1e-3, share=0.3), hcgm]))
    assert claim.verdict is FAILS
    assert claim.measured == ("outside the lmo 0.07 ms against 0.05 ms, of 0.1 and 0.1 ms in all")
    other = study([trial("cgal", (1,), 1e-3), hcgm])
    assert paper.cost_is_nearly_the_same(other).verdict is UNTESTED


@pytest.mark.parametrize(("exponent", "verdict"), [(-2, HOLDS), (-3, HOLDS), (-1, FAILS)])
def test_the_best_eps_is_measured_in_the_optimum(exponent, verdict):
    claim = rivals.upd_needs_the_optimum(study([trial("upd", (exponent,), 1e-3)]))
    assert claim.measured.startswith(f"|f*| times {10.0**exponent / (OPTIMUM * C):.2g},")
    assert claim.verdict is verdict


def test_two_parameters_take_more_trials():
    single = [trial("cgal", (e,), 1e-3) for e in range(3)]
    two = [trial(n, (e, f), 1e-3) for n in ("fwal", "ial") for e in range(2) for f in range(2)]
    assert rivals.two_parameters_cost(study(single + two)).verdict is HOLDS
    assert rivals.two_parameters_cost(study(single + two[:2] + two[4:])).verdict is FAILS


def test_the_page_says_everything():
    edge = trial("cgal", (4,), CALLS**-1.0)
    made = study([edge])
    proposed = [
        PaperClaim("5", "a | b", "2.0", HOLDS, "made"),
        PaperClaim("B", "c", "3.0", FAILS, "made"),
        PaperClaim("B", "d", "why", UNTESTED, "made"),
    ]
    text = claims.page("name", "title", [made], proposed, criteria=["word means"], remarks=["left"])
    assert text.startswith("# name: title\n")
    assert "| made | a \\| b | 5 | 2.0 | **holds** |" in text
    assert "| made | c | B | 3.0 | **does not hold** |" in text
    assert "| made | d | B | why | **not tested here** |" in text
    assert "* word means" in text
    assert "lam0 is at the end of its range" in text
    assert "left" in text
    assert "quick" not in text
    text.encode("ascii")
    quick = claims.page("name", "title", [made], proposed, criteria=["word means"], quick=True)
    assert "A quick run" in quick


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_every_claim_of_the_catalogue_can_be_read_in_ascii(name):
    for line in (*paper.CRITERIA, EXPERIMENTS[name].title, *EXPERIMENTS[name].remarks):
        line.encode("ascii")
