"""What a notebook shows: tables that escape what they are told, and bars that follow a solve."""

import sys
from types import SimpleNamespace

import pytest

import condal
from condal.certificates.certificate import rounded_text
from condal.certificates.history import History, Row
from condal.report import notebook
from condal.report.notebook import drawn
from condal.report.progress import Progress, in_notebook
from condal.report.words import bound_of

ROW = Row(7, 12044.5, 12155.8, 1e-3, 1e-6, 1e-5, 1e-2, 1.0, 0.5, 1.0, 7, 259, 0.1)


class Screen:
    """IPython.display, and all that was drawn."""

    def __init__(self, fails: bool = False):
        self.pages, self.fails = [], fails

    def HTML(self, page):
        return page

    def display(self, page, *, display_id):
        assert display_id is True
        self.pages.append(page)
        return self

    def update(self, page):
        if self.fails:
            raise RuntimeError("nobody is there")
        self.pages.append(page)


@pytest.fixture
def screen(monkeypatch):
    """A notebook, without a kernel."""
    found = Screen()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", found)
    return found


def test_a_notebook_is_told_from_a_shell(monkeypatch, screen):
    assert in_notebook()
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()


def test_a_solve_draws_its_progress_in_one_output(screen, monkeypatch, capsys):
    monkeypatch.setattr(notebook, "SECONDS_BETWEEN_UPDATES", 0.0)
    model = condal.problems.max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    result = condal.solve(model, callback=condal.Progress())
    assert "starting" in screen.pages[0]
    assert f"iteration {result.iterations:,}," in screen.pages[-1]
    assert len(screen.pages) >= result.iterations
    assert capsys.readouterr() == ("", "")


def test_at_the_end_it_shows_what_is_proved(screen):
    """Nothing is marked as an estimate any more."""
    model = condal.problems.max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    result = condal.solve(model, verbose=True)
    assert f"proved bound {bound_of(result)}" in screen.pages[-1]
    assert f'aria-valuetext="{result.certificate.error:.1e}"' in screen.pages[-1]
    assert f"solved in {result.iterations:,} iterations" in screen.pages[-1]
    assert "~" not in screen.pages[-1]


def test_it_is_drawn_at_most_five_times_a_second(screen):
    with Progress() as progress:
        for k in range(1000):
            progress(ROW._replace(k=k))
    assert len(screen.pages) < 10
    assert "iteration 999," in screen.pages[-1]


def test_notes_stand_below_and_are_escaped(screen):
    with Progress() as progress:
        progress.note("<stopping>")
    assert "<div>&lt;stopping&gt;</div>" in screen.pages[-1]


def test_a_stream_is_written_to_in_a_notebook_too(screen, capsys):
    with Progress(sys.stdout) as progress:
        progress(ROW)
    assert not screen.pages
    assert "12044.50" in capsys.readouterr().out


def test_a_screen_that_is_gone_does_not_stop_a_solve(screen):
    screen.fails = True
    with Progress() as progress:
        progress(ROW)


def test_an_interrupt_while_it_is_drawn_ends_the_solve_with_an_answer(screen, monkeypatch):
    def interrupted(page):
        raise KeyboardInterrupt

    monkeypatch.setattr(notebook, "SECONDS_BETWEEN_UPDATES", 0.0)
    monkeypatch.setattr(screen, "update", interrupted)
    progress = condal.Progress()
    monkeypatch.setattr(notebook.Bar, "close", lambda bar: None)
    model = condal.problems.max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    result = condal.solve(model, condal.CGAL(), tol=1e-9, callback=progress)
    assert result.status is condal.Status.INTERRUPTED
    assert result.x is not None


@pytest.mark.parametrize(
    ("error", "width", "text"),
    [
        (1e-3, "50.0%", "1.0e-03"),
        (2.0, "0.0%", "2.0e+00"),
        (1e-9, "100.0%", "1.0e-09"),
        (0.0, "100.0%", "0.0e+00"),
        (float("inf"), "0.0%", "not known yet"),
        (float("nan"), "0.0%", "not known yet"),
    ],
)
def test_a_bar_has_a_sixth_for_each_digit(error, width, text):
    page = drawn(ROW._replace(gap=error, infeasibility=error), 1.0)
    assert page.count(f"width:{width}") == 2
    gap = text if text == "not known yet" else f"~{text}"  # an estimate
    assert page.count('aria-label="gap"') == 1
    assert f'aria-valuetext="{gap}"' in page
    assert f'aria-valuetext="{text}"' in page


def test_no_bound_yet_is_said():
    assert "bound none yet" in drawn(ROW._replace(bound=float("inf")), 0.0)


def test_a_result_its_certificate_and_its_history_show_themselves():
    problem = condal.problems.max_cut([[0, 1, 1], [1, 0, 1], [1, 1, 0]], name="<b>mine</b>")
    result = condal.solve(problem, condal.CGAL(), max_iters=30, tol=1e-12)
    page = result._repr_html_()
    assert "Result of &lt;b&gt;mine&lt;/b&gt;" in page
    assert rounded_text(result.objective, up=False) in page  # as x is feasible, a bound
    assert f"{float(result.bound)!r}" in result.certificate._repr_html_()
    assert "History of 30 iterations" in result.history._repr_html_()
    assert "none was proved" in condal.Certificate(1.0, float("inf"), 0.0, "")._repr_html_()


@pytest.mark.parametrize(("count", "shown"), [(0, 0), (3, 3), (10, 10), (11, 11), (500, 11)])
def test_a_history_shows_its_first_and_last_rows(count, shown):
    history = History()
    for k in range(count):
        history.append(ROW._replace(k=k))
    page = history._repr_html_()
    assert page.count("<tr") == shown + 1
    assert page.count(f">{count - 1}</td>") == (count > 0)
    assert ("..." in page) == (count > 10)
