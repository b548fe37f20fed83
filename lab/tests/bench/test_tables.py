"""The arithmetic of tables and profiles, on invented runs."""

import json
from dataclasses import replace

import numpy as np
import pytest

from condal.errors import CondalError
from condal_lab.bench.profile import draw, factors, steps
from condal_lab.bench.results import BenchRun, Results, load, machine, save, versions
from condal_lab.bench.sets import SETS
from condal_lab.bench.table import HEAD, growth, heading, notes, page, row, rows
from condal_lab.benchmarks.runner import RESULTS
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


def test_a_row_has_ratios_of_ours_to_its():
    ours = run(cpu=1.0, memory=10**8, gap=1.234e-7)
    its = run(solver="SCS", cpu=4.0, wall=5.0, memory=2 * 10**8, infeasibility=2e-9)
    cells = dict(zip(HEAD, row(its, ours), strict=True))
    assert (cells["xCPU"], cells["xwall"], cells["xMB"]) == ("0.25", "0.20", "0.50")
    assert (cells["CPU s"], cells["MB"], cells["infeas."]) == ("4", "200", "2e-9")
    mine = dict(zip(HEAD, row(ours, ours), strict=True))
    assert (mine["xCPU"], mine["gap"]) == ("", "1.2e-7")
    assert dict(zip(HEAD, row(replace(ours, price=3e-8), ours), strict=True))["price"] == "3e-8"
    rough = run(cpu=0.5, tol=1e-3)
    assert row(rough, ours)[0] == "condal 1e-3"


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
    text = page(SETS["gset"], measured)
    assert "| CSDP | > 600 |" in text
    assert "needs about 820 GB" in text
    assert "a processor" in text


def test_a_yardstick_is_a_unit_of_time():
    fine = run("theta-2000", cpu=30.0)
    unit = run("theta-2000", "eigh", cpu=4.0, outcome="unproved", gap=None, certified="own claim")
    ours = run("theta-1000", cpu=2.0)
    measured = [results(ours, run("theta-1000", "CSDP"), unit, fine, name="general")]
    assert set(factors(measured)) == {"condal", "CSDP"}  # it solves nothing


def test_a_quality_is_noted():
    ours = run("ratings", cpu=3.0, tol=1e-2, quality=0.85, reason="solved by lowrank")
    its = run("ratings", "soft-impute", cpu=2.0, tol=1e-2, outcome="unproved", quality=0.86)
    text = page(SETS["general"], results(ours, its, name="general"))
    assert "* condal to 1e-2: solved by lowrank" in text
    assert "* condal: test RMSE 0.85\n" in text
    assert "* soft-impute: test RMSE 0.86\n" in text


def test_a_stand_in_is_said():
    measured = results(run(stand_in=True), run(solver="Pymanopt", cpu=9.0))
    assert heading(SETS["gset"], measured, "G1").endswith("to 1e-6, a generated stand-in")
    assert markdown(("a",), [("b|c",)]) == "| a |\n| --- |\n| b\\|c |"


def test_a_limit_is_that_of_the_run():
    late = run(solver="Pymanopt", outcome="time", max_seconds=100.0)
    assert rows(results(run(cpu=10.0), late), "G1")[1][1] == "> 100"


def test_the_tightest_of_several_tolerances_is_compared():
    runs = [run(tol=1e-2, cpu=0.1), run(cpu=1.0)]
    runs += [run(solver="SCS", tol=1e-6, cpu=4.0), run(solver="SCS", tol=1e-2, cpu=0.5)]
    for order in (runs, runs[::-1]):
        measured = results(*order)
        assert measured.peer("G1", "SCS").cpu == 4.0
        np.testing.assert_array_equal(factors([measured])["SCS"], [4.0])


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
    path = save(tmp_path, made)
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


def test_the_growth_of_times_is_that_of_solved_runs():
    sizes = (10_000, 100_000, 1_000_000)
    runs = [run(f"random-{n}", cpu=1e-4 * n**1.1, tol=1e-3) for n in sizes]
    rough = run("random-10000", cpu=1e-9, tol=1e-1)
    late = run("random-316228", tol=1e-3, outcome="time")
    (line,) = growth(SETS["growth"], results(rough, *runs, late, name="growth"))
    assert line == "condal's CPU time grows like n^1.10 from n = 10,000 to 1,000,000."
    assert growth(SETS["growth"], results(runs[0], name="growth")) == []


def test_the_known_optimum_is_in_the_heading():
    good = results(run(case="theta1", tol=1e-4), name="sdplib")
    said = heading(SETS["sdplib"], good, "theta1")
    assert said == "theta1: theta, n = 50, 104 rows, to 1e-4, optimum 23"


@pytest.mark.parametrize("name", SETS)
def test_the_stored_page_is_that_of_the_stored_runs(name):
    stored = load(RESULTS, name)
    if stored is not None:
        assert (RESULTS / f"bench-{name}.md").read_text() == page(SETS[name], stored)
