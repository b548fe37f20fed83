"""Progress: rows that get rarer, a live line that costs an iteration next to nothing."""

import io
import subprocess
import sys
import time
from itertools import pairwise

import pytest

import condal
from condal.certificates.history import Row
from condal.report import progress as progress_module
from condal.report.progress import HEADER, LEGEND, Progress, clock, line


def row(k: int = 1, seconds: float = 0.1, **changes: float) -> Row:
    usual = Row(k, 12044.5, 12155.8, 9.2e-3, 1.3e-1, 2e-2, 0.3, 1.0, 0.5, 1.0, k, 37 * k, seconds)
    return usual._replace(**changes)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def rows_printed(stream: io.StringIO) -> list[str]:
    header, legend, *rows = stream.getvalue().splitlines()
    assert header == HEADER
    assert legend == LEGEND
    return rows


def test_rows_come_at_powers_of_two_and_the_last_one_at_the_end():
    stream = io.StringIO()
    with Progress(stream) as progress:
        for k in range(1, 101):
            assert progress(row(k, seconds=k / 1000)) is None
    assert [int(text.split()[0]) for text in rows_printed(stream)] == [1, 2, 4, 8, 16, 32, 64, 100]


def test_slow_iterations_are_shown_by_time_ever_more_rarely():
    stream = io.StringIO()
    progress = Progress(stream)
    progress(row(2**20))
    for second in range(1, 1001):
        progress(row(2**20 + second, seconds=float(second)))
    shown = [int(text.split()[0]) - 2**20 for text in rows_printed(stream)]
    assert shown[:4] == [0, 11, 21, 31]
    steps = [after - before for before, after in pairwise(shown[4:])]
    assert steps == sorted(steps)
    assert len(shown) < 30


def test_a_row_printed_already_is_not_printed_again_at_the_end():
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress(row(1))
    assert len(rows_printed(stream)) == 1


def test_nothing_is_printed_where_nothing_happens():
    stream = io.StringIO()
    with Progress(stream):
        pass
    assert stream.getvalue() == ""


def test_bound_and_gap_are_marked_as_estimates():
    assert "~12155.80" in line(row())
    assert "~9.2e-03" in line(row())


def test_a_negative_zero_is_a_zero():
    assert "-0.0" not in line(row(objective=-0.0))


@pytest.mark.parametrize("bound", [float("inf"), float("-inf"), float("nan")])
def test_no_bound_yet_is_a_dash(bound):
    shown = line(row(bound=bound, gap=float("inf"))).split()
    assert shown[2:4] == ["-", "-"]


@pytest.mark.parametrize("value", [-1.2345678e-300, 1.2345678e300, float("nan"), 0.0, -1e7])
def test_a_row_and_a_ctrl_c_fit_in_80_columns(value):
    widest = row(99_999_999, 360_000.0, objective=value, bound=value, gap=1e300, infeasibility=1e-9)
    assert len(line(widest)) + len("^C") <= 80
    assert max(len(HEADER), len(LEGEND)) <= 80


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0.0 s"), (99.94, "99.9 s"), (99.96, "1:40"), (245.2, "4:05"), (3723.0, "1:02:03")],
)
def test_clock(seconds, shown):
    assert clock(seconds) == shown


def test_a_stream_that_is_gone_does_not_stop_a_solve():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with Progress(Gone()) as progress:
        progress(row())


def test_solve_takes_it_as_a_callback():
    stream = io.StringIO()
    model = condal.problems.max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    with Progress(stream) as progress:
        condal.solve(model, max_iters=20, tol=1e-12, callback=progress)
    assert rows_printed(stream)


def test_on_a_terminal_one_line_is_drawn_at_most_ten_times_a_second(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    drawn = []
    monkeypatch.setattr(
        progress_module, "line", lambda shown: drawn.append(shown.k) or f"k = {shown.k}"
    )
    stream, began = Terminal(), time.perf_counter()
    with Progress(stream) as progress:
        while time.perf_counter() - began < 0.5:
            progress(row(len(drawn) + 1))
        progress(row(7777))
    took = time.perf_counter() - began
    assert 2 <= len(drawn) <= 10 * took + 4
    assert "k = 7777" in stream.getvalue()


def test_on_a_terminal_an_iteration_pays_microseconds(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = row()
    with Progress(Terminal()) as progress:
        began = time.process_time()
        for _ in range(100_000):
            progress(shown)
        took = time.process_time() - began
    assert took / 100_000 < 1e-5


def test_a_note_stands_above_the_live_line(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Progress(stream) as progress:
        progress.note("[stopping]")
    assert "[stopping]" in stream.getvalue()


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_dumb_terminal_gets_rows(monkeypatch, term):
    monkeypatch.setenv("TERM", term)
    stream = Terminal()
    with Progress(stream) as progress:
        progress(row())
    assert len(rows_printed(stream)) == 1


def test_without_rich_a_terminal_gets_rows(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setitem(sys.modules, "rich.live", None)
    stream = Terminal()
    with Progress(stream) as progress:
        progress(row())
    assert len(rows_printed(stream)) == 1


def test_rich_is_imported_only_when_used():
    code = "import sys, condal.report.progress; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
