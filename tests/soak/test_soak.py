"""`make soak` sums the results of its suites, divides the time and reports faults."""

import pytest

from soak import __main__ as command
from soak.suites import Suite
from soak.table import Row, Table


class Fake(Suite):
    """A suite that yields the given rows."""

    @property
    def run(self):
        def run(seconds, seed):
            asked.append((self.name, seconds, seed))
            for row in rows[self.name]:
                if row is None:
                    raise KeyboardInterrupt
                yield row

        return run


asked: list[tuple[str, float, int]] = []
rows: dict[str, list[Row | None]] = {}


@pytest.fixture
def fakes(monkeypatch):
    asked.clear()
    rows.clear()
    suites = (Fake("one", "soak.table", 3.0), Fake("two", "soak.table", 1.0))
    monkeypatch.setattr(command, "SUITES", suites)
    monkeypatch.setenv("SOAK_MINUTES", "2")
    monkeypatch.setenv("SOAK_SEED", "7")


def test_rows_of_one_name_are_added():
    table = Table()
    table.add(Row("a", tried=1, judged=1, solved=1, seconds=2.0))
    table.add(Row("b", tried=1))
    table.add(Row("a", tried=2, judged=1, wrong=1, seconds=1.0, faults=("no\n    again",)))
    lines = str(table).splitlines()
    assert " ".join(lines[0].split()) == (
        "suite tried judged solved not judged short wrong slowest"
    )
    assert lines[2].split() == ["a", "3", "2", "1", "1", "0", "1", "2.0", "s"]
    assert lines[-1].split() == ["all", "4", "2", "1", "2", "0", "1", "2.0", "s"]
    assert table.total.faults == ("no\n    again",)


def test_the_time_is_shared_out(fakes, capsys):
    rows.update(one=[Row("one", 1, 1, 1)], two=[Row("two", 1, 1, 1)])
    assert command.main([]) == 0
    assert asked == [("one", 90.0, 7), ("two", 30.0, 7)]
    assert "all        2" in capsys.readouterr().out


def test_one_that_is_wrong_is_told_and_makes_the_exit_code(fakes, capsys):
    rows.update(one=[Row("one", 1, 1, wrong=1, faults=("false\n    make it",))], two=[])
    assert command.main(["one"]) == 1
    assert "WRONG, one: false\n    make it" in capsys.readouterr().out


def test_what_there_is_so_far_after_an_interrupt(fakes, capsys):
    rows.update(one=[Row("one", 1, 1, 1), None], two=[Row("two", 1)])
    assert command.main([]) == 0
    out = capsys.readouterr().out
    assert "interrupted" in out
    assert "one        1" in out
    assert "two" not in out


def test_an_unknown_suite_is_refused(fakes, capsys):
    assert command.main(["three"]) == 2
    assert "got three" in capsys.readouterr().err
