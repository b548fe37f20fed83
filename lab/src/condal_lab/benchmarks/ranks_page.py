"""The tables of `ranks.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from condal_lab.benchmarks.on_ranks import KINDS
from condal_mpi.cost import Size, iteration, memory, seconds
from condal_mpi.machine import Machine

OUTSIDE, WEAK = 0.10, 1.3  # the targets
TWO_RANKS, ONE_RANK = 0.65, 1.3  # of the low-rank method: time over that of one rank, of no MPI


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page with all tables."""
    short = [row for row in rows if row["how"] == "short"]
    plain = [row for row in rows if row["how"] == "plain"]
    answers = [row for row in rows if row["how"] == "answer"]
    lowrank = [row for row in rows if row["how"] == "lowrank"]
    text = [
        "# Max-cut on ranks",
        "",
        "Random graphs of average degree 4 and tori of degree 4, R = 10. Each rank has one thread; "
        "the machine has 2 cores, which 4 ranks share. The low-rank method solves to a proved gap "
        "of 1e-3; what follows it is CGAL. Plain runs are CGAL as a user gets it. Short runs "
        "ask for so little accuracy that SLEPc builds one Krylov space per call of the oracle: all "
        "iterations make the same, minimal number of products, and the remaining work has its "
        "largest share. Times of short runs are those of the fastest iteration after the first; "
        "times of plain runs are means over these iterations. *Load* is the load of the machine in "
        "the last minute, including the run itself: if it exceeds the number of ranks, other "
        "processes disturbed the run.",
        "",
        "## Figures",
        "",
        *_low_rank_figures(lowrank),
        *_pair_figures(lowrank, [row for row in rows if row["how"] == "lowrank-pair"]),
        *_figures(plain, short, answers),
        "",
        "## The low-rank method to a proved gap of 1e-3",
        "",
        *_table(
            ("n", "ranks", "s", "CPU s", "iterations", "products", "gap", "status", *WHERE),
            map(_low_rank, lowrank),
        ),
        "",
        "Seconds from the model in memory to the proof. CPU seconds are those of all ranks "
        "together; a rank that waits for another is busy.",
        "",
        "## Short runs: one Krylov space per call of the oracle, the fewest products",
        "",
        *_table(("graph", "n", "ranks", *PARTS, "outside", *WHERE), map(_parts, short)),
        "",
        "Times are seconds per iteration. *Outside* is the share spent neither in SLEPc nor in "
        "products of the maps; it includes the sketch. *Shell* is the time of products inside "
        "SLEPc beyond PETSc's own.",
        "",
        "## Weak scaling, with a constant number of rows per rank",
        "",
        *_table(("graph", "rows per rank", "ranks", "s per iteration", "x"), _weak(short)),
        "",
        "## Plain runs, and one process without MPI",
        "",
        *_table(
            ("n", "ranks", "products", "s per iteration", "ms per product", "outside", *WHERE),
            map(_plain, plain),
        ),
        "",
        "## The answer after the same number of iterations",
        "",
        *_table(("ranks", "iterations", "products", "objective", "bound"), map(_answer, answers)),
        "",
        "## SLEPc's solvers: 20 iterations on one rank, within 60 s",
        "",
        *_table(
            ("n", "solver", "products", "s per iteration", "objective", "bound"),
            map(_engine, (row for row in rows if row["how"] in KINDS)),
        ),
        "",
        "The objective belongs to an infeasible point, and the bound is an estimate. After the "
        "same number of iterations, a lower bound indicates a better oracle.",
        "",
        "## The model against what was measured",
        "",
        *_table(
            ("graph", "n", "ranks", "s", "model s", *(f"{one} x" for one in MODEL)),
            map(_model, short),
        ),
        "",
        "x is the model's figure over the measured one: seconds in total, for the products "
        "(including the shell), for SLEPc's other work and for the rest; flops of the products, "
        "bytes fetched and halo as counted; peak memory.",
        "",
        "## The machine, as measured with each run",
        "",
        *_table(("n", "ranks", *MACHINE), map(_machine, short)),
        "",
    ]
    return "\n".join(text)


PARTS = ("products", "s", "SLEPc", "of which products", "shell", "orthogonal", "maps", "sketch")
WHERE = ("peak MB", "load")
MODEL = ("all", "products", "SLEPc", "rest", "flops", "sent", "halo", "memory")
MACHINE = ("GB/s", "ns per read", "Gflop/s", "us latency", "GB/s of messages")


def outside(row: dict[str, Any]) -> float:
    """Return the share of an iteration spent neither in SLEPc nor in a product."""
    return 1 - (row["slepc_seconds"] + row["maps_seconds"]) / row["seconds"]


def _parts(row: dict[str, Any]) -> list[str]:
    inner = row["slepc_seconds"] - row["shell_seconds"]
    times = (
        row["seconds"],
        row["slepc_seconds"],
        row["shell_seconds"],
        row["shell_seconds"] + row["maps_seconds"] - row["rows_seconds"],
        inner,
        row["maps_seconds"],
        row["sketch_seconds"],
    )
    share = f"{100 * outside(row):.1f}%"
    shown = [f"{value:.3g}" for value in times]
    return [*_case(row), f"{row['products']:.1f}", *shown, share, *_where(row)]


def _weak(rows: list[dict[str, Any]]) -> Iterable[list[str]]:
    for kind, each, several in _families(rows):
        for row in several:
            by = row["seconds"] / several[0]["seconds"]
            shown = f"{each:,.0f}", f"{row['ranks']}", f"{row['seconds']:.3g}", f"{by:.2f}"
            yield [kind, *shown]


def _families(rows: list[dict[str, Any]]) -> list[tuple[str, float, list[dict[str, Any]]]]:
    """Group the rows by kind and rows per rank; keep groups of several."""
    families: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in rows:
        families.setdefault((row["kind"], row["n"] / row["ranks"]), []).append(row)
    return [(*key, several) for key, several in families.items() if len(several) > 1]


def _plain(row: dict[str, Any]) -> list[str]:
    each = 1e3 * row["seconds"] / row["products"]
    share = f"{100 * outside(row):.1f}%" if row["ranks"] else "-"
    shown = f"{row['products']:.1f}", f"{row['seconds']:.3g}", f"{each:.3g}"
    return [f"{row['n']:,}", f"{row['ranks'] or 'no MPI'}", *shown, share, *_where(row)]


def _low_rank(row: dict[str, Any]) -> list[str]:
    times = f"{row['seconds']:.3g}", f"{row['cpu_seconds']:.3g}"
    work = f"{row['iterations']}", f"{row['products']:,}", f"{row['gap']:.1e}"
    ranks = f"{row['ranks'] or 'no MPI'}"
    return [f"{row['n']:,}", ranks, *times, *work, row["status"].lower(), *_where(row)]


def _low_rank_figures(rows: list[dict[str, Any]]) -> Iterable[str]:
    by = {(row["n"], row["ranks"]): row["seconds"] for row in rows}
    for n in sorted({row["n"] for row in rows}):
        for a, b, target, what in (
            (2, 1, TWO_RANKS, "2 ranks take {:.2f} times as long as 1"),
            (1, 0, ONE_RANK, "1 rank takes {:.2f} times as long as a process without MPI"),
        ):
            if (n, a) in by and (n, b) in by:
                ratio = by[n, a] / by[n, b]
                verdict = f"target {target}: {_verdict(ratio <= target)}"
                yield f"* Low-rank method, random graph of {n:,} vertices: {what.format(ratio)}"
                yield f"  ({verdict})."
        if (n, 2) in by and (n // 2, 1) in by:
            ratio = by[n, 2] / by[n // 2, 1]
            yield f"* Weak scaling of the low-rank method, {n // 2:,} rows per rank: 2 ranks take"
            yield f"  {ratio:.2f} times as long as 1 (target {WEAK}: {_verdict(ratio <= WEAK)})."
            if (n, 1) in by:
                growth = by[n, 1] / by[n // 2, 1] / 2
                yield f"  Of it, {growth:.2f} is the growth of a solve on 1 rank from {n // 2:,} to"
                yield f"  {n:,} vertices, per vertex."


def _pair_figures(rows: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> Iterable[str]:
    by = {row["n"]: row["seconds"] for row in rows if row["ranks"] == 1}
    for pair in pairs:
        if pair["n"] in by:
            n, ratio = pair["n"], pair["seconds"] / by[pair["n"]]
            yield f"* Two solves of {n:,} vertices at once, one per core and without messages,"
            yield f"  take {ratio:.2f} times as long as one: what the cores lose to each other."


def _answer(row: dict[str, Any]) -> list[str]:
    total = row["products"] * (row["iterations"] - 1)
    shown = f"{row['iterations']}", f"{total:.0f}"
    return [f"{row['ranks']}", *shown, f"{row['objective']:.10g}", f"{row['bound']:.10g}"]


def _engine(row: dict[str, Any]) -> list[str]:
    if row["seconds"] is None:
        return [f"{row['n']:,}", row["how"], "-", "not done", "-", "-"]
    shown = f"{row['products']:.1f}", f"{row['seconds']:.3g}"
    return [f"{row['n']:,}", row["how"], *shown, *(f"{value:.8g}" for value in row["reached"])]


def _model(row: dict[str, Any]) -> list[str]:
    inside = row["shell_calls"]
    machine, known = Machine(**row["machine"]), Size(**row["size"])
    local = row["kind"] == "torus"
    size = Size(**{**row["size"], "halo": row["halo"] * known.ranks / known.n}) if local else known
    by, work = seconds(size, inside, machine), iteration(size, inside)
    total = sum(by.values())
    products = row["shell_seconds"] + row["maps_seconds"]
    inner = row["slepc_seconds"] - row["shell_seconds"]
    rest = row["seconds"] - row["slepc_seconds"] - row["maps_seconds"]
    shell = 3 * size.rows * (inside + 2)
    ratios = (
        (total, row["seconds"]),
        (by["products"], products),
        (by["orthogonalisation"], inner),
        (by["vectors"] + by["sketch"] + by["sums"], rest),
        (work["products"].flops - shell, row["flops"]),
        (work["products"].sent, row["sent"]),
        (size.fetched, row["halo"]),
        (sum(memory(size).values()), 1e6 * row["peak_mb"]),
    )
    shown = [f"{model / measured:.2f}" if measured else "-" for model, measured in ratios]
    return [*_case(row), f"{row['seconds']:.3g}", f"{total:.3g}", *shown]


def _machine(row: dict[str, Any]) -> list[str]:
    machine = Machine(**row["machine"])
    figures = (machine.memory / 1e9, 1e9 * machine.gather, machine.flops / 1e9)
    words = (1e6 * machine.latency, machine.network / 1e9) if row["ranks"] > 1 else ()
    shown = [f"{value:.3g}" for value in figures + words] + ["-"] * (2 - len(words))
    return [f"{row['n']:,}", f"{row['ranks']}", *shown]


def _figures(
    plain: list[dict[str, Any]], short: list[dict[str, Any]], answers: list[dict[str, Any]]
) -> Iterable[str]:
    for rows, what in ((plain, "plain"), (short, "short")):
        shares = [outside(row) for row in rows if 0 < row["ranks"] <= 2]
        if shares:
            most, verdict = f"{100 * max(shares):.1f}%", _verdict(max(shares) <= OUTSIDE)
            yield f"* Time outside SLEPc and the products of the maps: at most {most}"
            yield f"  of an iteration of the {what} runs on 1 and 2 ranks (target 10%: {verdict})."
    for kind, each, several in _families(short):
        by = {row["ranks"]: row["seconds"] for row in several}
        if 1 in by and 2 in by:
            growth = by[2] / by[1]
            verdict = _verdict(growth <= WEAK)
            yield f"* Weak scaling, {kind} graph, {each:,.0f} rows per rank: an iteration takes"
            yield f"  {growth:.2f} times as long on 2 ranks as on 1 (target 1.3: {verdict})."
    if answers:
        first = answers[0]
        off = max(
            abs(row[key] / first[key] - 1) for row in answers for key in ("objective", "bound")
        )
        yield f"* The answers of 1, 2 and 4 ranks differ by at most {off:.1e} (relative)."


def _verdict(reached: bool) -> str:
    return "reached" if reached else "missed"


def _where(row: dict[str, Any]) -> list[str]:
    return [f"{row['peak_mb']:.0f}", f"{row['load']:.1f}"]


def _case(row: dict[str, Any]) -> list[str]:
    return [row["kind"], f"{row['n']:,}", f"{row['ranks']}"]


def _table(heads: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    return [_line(heads), _line(["---"] * len(heads)), *map(_line, lines)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
