"""The arithmetic of verdicts, tables and profiles, on invented runs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from condal.errors import CondalError
from condal_lab.bench.figures import FIGURES, Figure, judge, verdicts
from condal_lab.bench.job import BenchRun
from condal_lab.bench.measures import Measured
from condal_lab.bench.profile import draw, factors, steps
from condal_lab.bench.results import Results, load, machine, save, versions
from condal_lab.bench.sets import SETS
from condal_lab.bench.table import HEAD, figure_cells, heading, notes, page, row, rows
from condal_lab.markdown import markdown


def run(case="G1", solver="condal", cpu=1.0, tol=1e-6, outcome="solved", **more):
    facts = {"wall": cpu, "memory": 2 * 10**8, "gap": tol / 2, "infeasibility": 0.0}
    facts |= {"certified": "x, y", "eps": tol}
    if outcome in ("time", "refused", "failed"):
        cpu, facts = None, {"eps": tol}
    return BenchRun(
        case=case, solver=solver, tol=tol, outcome=outcome, cpu=cpu, **{**facts, **more}
    )


def results(*runs, name="gset"):
    return Results(name, 600.0, list(runs), {"cpu": "a processor"}, {"condal": "0"})


def verdict(text, *runs, name="gset"):
    (figure,) = (one for one in FIGURES if one.set == name and one.text.startswith(text))
    return judge(figure, results(*runs, name=name))


def test_a_ratio_is_reached_or_missed_by_a_factor():
    text = "G1: CPU time, condal / Pymanopt"
    figure = verdict(text, run(cpu=1.0), run(solver="Pymanopt", cpu=2.5))
    assert (figure.value, figure.verdict) == (0.4, "reached")
    figure = verdict(text, run(cpu=1.0), run(solver="Pymanopt", cpu=1.0))
    assert (figure.limit, figure.value, figure.verdict) == (0.5, 1.0, "missed by 2x")


def test_a_limit_of_zero_is_missed_without_a_factor():
    figure = Figure("gset", "a difference", 0.0, lambda results: Measured(1.0))
    assert judge(figure, results()).verdict == "missed"


def test_a_ratio_without_a_peer_is_not_measured():
    text = "G1: CPU time, condal / Pymanopt"
    assert verdict(text, run()).verdict == "not measured"
    assert verdict(text, run()).remark == "Pymanopt was not run"
    figure = verdict(text, run(), run(solver="Pymanopt", outcome="failed", reason="boom"))
    assert (figure.verdict, figure.remark) == ("not measured", "Pymanopt failed: boom")


def test_a_peer_that_ran_out_of_time_bounds_the_ratio():
    text = "G1: CPU time, condal / Pymanopt"
    out = run(solver="Pymanopt", outcome="time", reason="no answer within 600 s")
    figure = verdict(text, run(cpu=60.0), out)
    assert (figure.value, figure.verdict) == (0.1, "reached")
    assert "no answer within 600 s" in figure.remark
    assert verdict(text, run(cpu=550.0), out).verdict == "not measured"


def test_what_ours_does_not_solve_is_missed():
    text = "G1: CPU time, condal / Pymanopt"
    figure = verdict(text, run(outcome="short", gap=1e-3), run(solver="Pymanopt"))
    assert figure.verdict == "missed"
    assert figure.remark == "G1: condal reached 1.0e-03, not 1e-06"
    figure = verdict(text, run(outcome="time", reason="no answer"), run(solver="Pymanopt"))
    assert (figure.verdict, figure.remark) == ("missed", "G1: condal time: no answer")


def test_our_own_times_are_compared():
    text = "G22: CPU time, condal to 1e-3"
    fine, rough = run("G22", cpu=10.0), run("G22", cpu=3.0, tol=1e-3)
    assert verdict(text, fine, rough).value == pytest.approx(0.3)
    assert verdict(text, fine, rough).verdict == "reached"
    assert verdict(text, fine).verdict == "not measured"
    small, large = run("G67", cpu=2.0, tol=1e-5), run("G81", cpu=9.0, tol=1e-5)
    figure = verdict("CPU time, condal on G81", small, large, name="tori")
    assert (figure.value, figure.verdict) == (4.5, "missed by 1.1x")


def test_failures_are_counted():
    good, bad = run("theta-200", tol=1e-5), run("theta-1000", tol=1e-4, outcome="failed")
    assert verdict("failures", good, bad, name="theta").verdict == "missed"
    assert verdict("failures", good, name="theta").verdict == "not measured"
    fine = run("theta-1000", tol=1e-4)
    assert verdict("failures", good, fine, name="theta").verdict == "reached"


def test_the_slope_of_growth():
    sizes = (10_000, 100_000, 1_000_000)
    runs = [run(f"random-{n}", cpu=1e-4 * n**1.1, tol=1e-3, memory=3 * 10**9) for n in sizes]
    figure = verdict("slope", *runs, name="growth")
    assert figure.value == pytest.approx(1.1)
    assert (figure.verdict, figure.remark) == ("reached", "n = 10,000 to 1,000,000")
    assert verdict("n = 10^6: bytes", *runs, name="growth").verdict == "reached"
    seconds = verdict("n = 10^6: wall-clock seconds", *runs, name="growth")
    assert seconds.value == pytest.approx(1e-4 * 1e6**1.1)
    assert verdict("slope", runs[0], name="growth").verdict == "not measured"
    late = run("random-1000000", tol=1e-3, outcome="time", reason="no answer")
    assert verdict("slope", *runs[:2], late, name="growth").verdict == "missed"


def test_every_figure_of_the_sets_has_a_verdict_without_runs():
    assert {figure.set for figure in FIGURES} <= set(SETS)
    for name in SETS:
        assert {figure.verdict for figure in verdicts(results(name=name))} <= {"not measured"}


def test_a_row_has_ratios_of_ours_to_its():
    ours = run(cpu=1.0, memory=10**8, gap=1.234e-7)
    its = run(solver="SCS", cpu=4.0, wall=5.0, memory=2 * 10**8, infeasibility=2e-9)
    cells = dict(zip(HEAD, row(its, ours, 600.0), strict=True))
    assert (cells["xCPU"], cells["xwall"], cells["xMB"]) == ("0.25", "0.20", "0.50")
    assert (cells["CPU s"], cells["MB"], cells["infeas."]) == ("4", "200", "2e-9")
    mine = dict(zip(HEAD, row(ours, ours, 600.0), strict=True))
    assert (mine["xCPU"], mine["gap"]) == ("", "1.2e-7")
    assert (
        dict(zip(HEAD, row(replace(ours, price=3e-8), ours, 600.0), strict=True))["price"] == "3e-8"
    )
    rough = run(cpu=0.5, tol=1e-3)
    assert row(rough, ours, 600.0)[0] == "condal 1e-3"


def test_what_gave_no_answer_is_in_the_table():
    ours = run(cpu=6.0)
    late = run(solver="CSDP", outcome="time", reason="no answer within 600 s")
    large = run(solver="Clarabel", outcome="refused", reason="needs about 820 GB")
    short = run(solver="SDPA", outcome="short", gap=1e-2, eps=1e-8)
    claim = run(solver="LoRADS", outcome="unproved", gap=None, objective=1.5, certified="own claim")
    measured = results(ours, late, large, short, claim)
    table = rows(measured, "G1")
    assert len(table) == 5
    assert table[1][:2] == ("CSDP", "> 600")
    assert table[1][4] == "<0.01"
    assert table[2][:2] == ("Clarabel", "refused")
    assert table[3][7:] == ("1.0e-2*", "0e0", "", "x, y")
    assert table[4][7:] == ("none", "0e0", "", "own claim")
    assert notes(measured.of("G1")) == [
        "CSDP: time, no answer within 600 s",
        "Clarabel: refused, needs about 820 GB",
        "SDPA ran at 1e-8 to reach 1e-6",
        "LoRADS claims 1.5; nothing is proved about it",
    ]
    text = page(SETS["gset"], measured, verdicts(measured))
    assert "| CSDP | > 600 |" in text
    assert "needs about 820 GB" in text
    assert "a processor" in text


def test_a_yardstick_is_a_unit_of_time():
    fine, rough = run("theta-2000", cpu=30.0), run("theta-2000", cpu=12.0, tol=1e-4)
    unit = run("theta-2000", "eigh", cpu=4.0, outcome="unproved", gap=None, certified="own claim")
    figure = verdict("theta-2000 to 1e-04", fine, rough, unit, name="general")
    assert (figure.value, figure.verdict, figure.remark) == (3.0, "reached", "")
    assert verdict("theta-2000 to 1e-06", fine, rough, unit, name="general").value == 7.5
    ours = run("theta-1000", cpu=2.0)
    measured = [results(ours, run("theta-1000", "CSDP"), unit, fine, name="general")]
    assert set(factors(measured)) == {"condal", "CSDP"}  # it solves nothing


def test_a_quality_is_compared_and_noted():
    ours = run("ratings", cpu=3.0, tol=1e-2, quality=0.85, reason="solved by lowrank")
    its = run("ratings", "soft-impute", cpu=2.0, tol=1e-2, outcome="unproved", quality=0.86)
    figure = verdict("ratings: test RMSE", ours, its, name="general")
    assert figure.value == pytest.approx(0.85 / 0.86)
    assert (figure.verdict, figure.remark) == ("reached", "0.8500 / 0.8600")
    assert verdict("ratings: test RMSE", ours, name="general").verdict == "not measured"
    assert verdict("ratings: CPU", ours, its, name="general").value == 1.5
    text = page(SETS["general"], results(ours, its, name="general"), [])
    assert "* condal to 1e-2: solved by lowrank" in text
    assert "* condal: test RMSE 0.85\n" in text
    assert "* soft-impute: test RMSE 0.86\n" in text


def test_a_stand_in_is_said():
    measured = results(run(stand_in=True), run(solver="Pymanopt", cpu=9.0))
    assert heading(SETS["gset"], measured, "G1").endswith("to 1e-6, a generated stand-in")
    assert verdict("G1: CPU time, condal / Pymanopt", *measured.runs).remark == "stand-in data"
    assert figure_cells(verdicts(measured)[0])[0].endswith("(stand-in data)")
    assert markdown(("a",), [("b|c",)]) == "| a |\n| --- |\n| b\\|c |"


def test_every_remark_is_kept():
    text, ours = "G1: CPU time, condal / Pymanopt", run(stand_in=True)

    def remark(outcome, **more):
        return verdict(text, ours, run(solver="Pymanopt", cpu=9.0, outcome=outcome, **more)).remark

    assert remark("short", gap=1e-2) == "Pymanopt reached only 1e-02; stand-in data"
    assert remark("unproved", gap=None) == "Pymanopt's answer is not proved; stand-in data"
    assert remark("time", reason="late") == "Pymanopt: late; stand-in data"
    assert remark("failed", reason="boom") == "Pymanopt failed: boom; stand-in data"
    bad = run(outcome="failed", reason="boom", stand_in=True)
    assert verdict(text, bad).remark == "G1: condal failed: boom; stand-in data"
    bad, good = (run(f"kmeans-{n}", outcome=o) for n, o in ((200, "failed"), (1000, "solved")))
    figure = verdict("failures", bad, replace(good, stand_in=True), name="kmeans")
    assert (figure.verdict, figure.remark) == (
        "missed",
        "kmeans-200: condal failed: ; stand-in data",
    )
    fine, rough = run("G22"), run("G22", tol=1e-3, stand_in=True)
    assert verdict("G22: CPU time, condal to 1e-3", fine, rough).remark == "stand-in data"


def test_a_limit_is_that_of_the_run():
    late = run(solver="Pymanopt", outcome="time", max_seconds=100.0)
    figure = verdict("G1: CPU time, condal / Pymanopt", run(cpu=10.0), late)
    assert figure.value == pytest.approx(0.1)
    assert rows(results(run(cpu=10.0), late), "G1")[1][1] == "> 100"


def test_the_tightest_of_several_tolerances_is_compared():
    runs = [run(tol=1e-2, cpu=0.1), run(cpu=1.0)]
    runs += [run(solver="SCS", tol=1e-6, cpu=4.0), run(solver="SCS", tol=1e-2, cpu=0.5)]
    for order in (runs, runs[::-1]):
        measured = results(*order)
        assert measured.peer("G1", "SCS").cpu == 4.0
        np.testing.assert_array_equal(factors([measured])["SCS"], [4.0])
    sizes = [run(f"random-{n}", cpu=1e-4 * n, tol=1e-3) for n in (10_000, 100_000)]
    rough = run("random-10000", cpu=1e-9, tol=1e-1)
    assert verdict("slope", rough, *sizes, name="growth").value == pytest.approx(1.0)


def test_factors_of_the_fastest():
    ratios = factors(
        [
            results(
                run(cpu=1.0),
                run(cpu=0.1, tol=1e-3),  # to another tolerance: not compared
                run(solver="SCS", cpu=3.0),
                run("G43", cpu=4.0),
                run("G43", "SCS", cpu=2.0),
                run("G22", cpu=1.0),
                run("G22", "SCS", cpu=0.5, outcome="short", gap=1.0),
            ),
            results(run("random-10000", tol=1e-3), name="growth"),  # alone: not compared
        ]
    )
    # G1, G22, G43
    np.testing.assert_array_equal(ratios["condal"], [1.0, 1.0, 2.0])
    np.testing.assert_array_equal(ratios["SCS"], [3.0, np.inf, 1.0])


def test_a_profile_rises_to_the_share_that_is_solved():
    x, y = steps(np.array([1.0, np.inf, 3.0, np.inf]), 10.0)
    np.testing.assert_array_equal(x, [1.0, 1.0, 3.0, 10.0])
    np.testing.assert_array_equal(y, [0.0, 0.25, 0.5, 0.5])


def test_a_profile_is_drawn(tmp_path):
    measured = results(run(), run(solver="SCS", cpu=2.0))
    paths = draw([measured], tmp_path / "profile", "title")
    assert [path.suffix for path in paths] == [".svg", ".png"]
    assert all(path.stat().st_size > 1000 for path in paths)
    assert draw([results(run())], tmp_path / "none", "title") == []


def test_results_are_kept(tmp_path):
    made = Results("gset", 60.0, [run(bound=float("nan"))], machine(), versions({"SCS": "3"}))
    path = save(tmp_path, made, [figure.record() for figure in verdicts(made)])
    record = json.loads(path.read_text())
    assert record["runs"][0]["bound"] is None
    assert record["versions"]["SCS"] == "3"
    assert set(record["machine"]) == {"cpu", "cores", "memory_gb", "system", "threads"}
    again = load(tmp_path, "gset")
    assert again.ours("G1").cpu == 1.0
    assert again.versions == made.versions
    assert load(tmp_path, "tori") is None
    path.write_text("{}")
    with pytest.raises(CondalError, match=r"cannot be read as results \('format'\); delete it"):
        load(tmp_path, "gset")


def test_objectives_are_held_against_the_known_optima():
    text = "objectives of condal, relative distance"
    good = run(case="theta1", tol=1e-4, objective=23.0 * (1 + 5e-5))
    figure = verdict(text, good, name="sdplib")
    assert figure.verdict == "reached"
    assert figure.value == pytest.approx(5e-5)
    off = run(case="qap5", tol=1e-4, objective=-436.0 * (1 + 3e-4))
    figure = verdict(text, good, off, name="sdplib")
    assert (figure.verdict, figure.remark) == ("missed by 3x", "qap5, of 2 instances")
    assert verdict(text, name="sdplib").verdict == "not measured"
    split_measured = heading(SETS["sdplib"], results(good, name="sdplib"), "theta1")
    assert split_measured == "theta1: theta, n = 50, 104 rows, to 1e-4, optimum 23"
