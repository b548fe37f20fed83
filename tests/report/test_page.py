"""The page: what it says, what it escapes, that it is one file, and its structure."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

import condal
from condal.certificates.certificate import Certificate
from condal.certificates.history import History, Row
from condal.cli import result_text
from condal.errors import CondalError, ProblemError
from condal.io.results import Saved
from condal.linalg.rounding import Proof
from condal.report import page, words, write
from condal.report.pages import MAX_RESULTS
from condal.result import Status, unbegun
from condal.runtime import extras
from hostile import ACTING, HOSTILE

# Of the language of drawings, and one of a hostile name.
ADDRESSES = {"http://www.w3.org/2000/svg", "http://example.com\\x07here\\x1b]8;;\\x1b\\"}
VOID = {"meta", "link", "br", "img"}


class Outline(HTMLParser):
    """The elements of a page, its headings and its text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.headings, self.text, self._open = [], [], "", []
        self.feed(text)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)
        if re.fullmatch(r"h\d", tag):
            self.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and re.fullmatch(r"h\d", self._open[-1]):
            level, said = self.headings[-1]
            self.headings[-1] = level, said + data
        if "style" not in self._open:
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def shown(solved, limited, infeasible, blocks, long, hostile):
    return {
        "one": page(solved),
        "several": page([solved, limited, infeasible]),
        "infeasible": page(infeasible),
        "blocks": page(blocks),
        "long": page(long),
        "hostile": page([hostile, solved], title="<u>title</u>"),
    }


NAMES = ["one", "several", "infeasible", "blocks", "long", "hostile"]


@pytest.mark.parametrize("name", NAMES)
def test_the_structure(shown, name):
    outline = Outline(shown[name])
    levels = [level for level, _ in outline.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert outline.all("html") == [{"lang": "en"}]
    assert all(svg["role"] == "img" and svg["aria-label"] for svg in outline.all("svg"))
    assert all("scope" in cell for cell in outline.all("th"))
    ids = [element["id"] for _, element in outline.elements if "id" in element]
    assert len(ids) == len(set(ids))
    targets = re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^)"]+)', shown[name])
    assert set(targets) <= set(ids)
    assert "main" in targets


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_one_file_that_asks_for_nothing(shown, name):
    text, outline = shown[name], Outline(shown[name])
    assert text.isascii()
    (given,) = [m["content"] for m in outline.all("meta") if "http-equiv" in m]
    policy = dict(one.strip().partition(" ")[::2] for one in given.split(";"))
    assert {policy[key] for key in ("default-src", "base-uri", "form-action")} == {"'none'"}
    assert policy["img-src"] == "data:"
    assert not {"script-src", "connect-src", "frame-src", "object-src", "font-src"} & set(policy)
    assert text.index("Content-Security-Policy") < text.index("<title>") < text.index("<style>")
    assert 'name="referrer" content="no-referrer"' in text
    addresses = re.findall(r'(?:href|src)="([^"]*)"', text)
    assert all(re.match(r"#|data:(image/png|text/csv);base64,", one) for one in addresses)
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= ADDRESSES


def test_the_size_of_a_page(shown):
    assert len(shown["one"]) < 300_000
    assert len(shown["long"]) < 600_000


def test_markup_in_names_is_text(shown):
    outline = Outline(shown["hostile"])
    assert not ACTING.search(unescape(shown["hostile"]))
    assert outline.text.count(HOSTILE["markup"]) >= 6
    for said in (HOSTILE["template"], "<u>title</u>", "<b>file</b>", "<i>1</i>", "\u2713"):
        assert said in outline.text
    tags = {"script", "object", "iframe", "embed", "base", "form", "input", "link", "u", "b", "i"}
    assert not tags & {tag for tag, _ in outline.elements}
    names = {name for _, attributes in outline.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]


def test_headings_of_one_and_of_several(shown, infeasible):
    one, several = Outline(shown["one"]), Outline(shown["several"])
    assert [said for level, said in one.headings if level == 2] == [
        "What is proved",
        "Convergence",
        "Cost per iteration",
        "Spectrum of x",
        "How it was solved",
    ]
    assert [said for level, said in several.headings if level == 2] == [
        "Side by side",
        "1: max-cut, lowrank",
        "2: max-cut, cgal",
        f"3: problem, {infeasible.method}",
    ]


def test_the_numbers_are_those_of_the_result(solved):
    text = Outline(page(solved)).text
    assert words.objective_of(solved) in text
    assert words.bound_of(solved) in text
    assert f"{solved.gap:.2g}" in text
    assert solved.certificate.how in text
    assert solved.why in text
    assert f"condal {condal.__version__}" in text


def test_what_a_folder_brings_is_shown(solved):
    saved = Saved(
        solved,
        file="G1.txt",
        digest="ab" * 32,
        settings={"seed": 7, "max_iters": None},
        options={"trials": 3},
        answer=[("cut", "24, sides of 10 and 10")],
        versions={"condal": "9.9"},
        created="2024-02-29T12:00:00Z",
    )
    text = Outline(page(saved)).text
    for said in ("max-cut of G1.txt", "ab" * 32, "seed7", "trials3", "24, sides of", "condal 9.9"):
        assert said in text
    assert "2024-02-29 at 12:00:00 UTC" in text
    assert "max iters" not in text


def test_the_table_can_be_had_as_csv(shown, limited):
    (link,) = Outline(page(limited)).all("a")[1:]
    assert link["download"] == "r1-history.csv"
    text = base64.b64decode(link["href"].partition(",")[2]).decode()
    header, row, end = text.split("\n")
    assert header == ",".join(History.columns)
    assert [float(value) for value in row.split(",")] == [float(v) for v in limited.history.last]
    assert end == ""
    long = base64.b64decode(re.search(r"text/csv;base64,([^\"]+)", shown["long"])[1]).decode()
    assert long.splitlines()[1].startswith("1,")
    assert long.splitlines()[-1].startswith("100000,")
    assert len(long.splitlines()) == 2001


def test_a_solve_that_never_began(model):
    text = Outline(page(unbegun(model.problem, "cgal", "b is <NaN>"))).text
    assert "Stopped by a numerical error" in text
    assert "b is <NaN>" in text
    assert "No bound on the optimum was proved" in text


def test_write(solved, tmp_path):
    write(tmp_path / "page.html", solved, title="mine")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert "<h1>mine</h1>" in (tmp_path / "page.html").read_text()


def test_what_is_refused(solved, monkeypatch):
    with pytest.raises(ProblemError, match=r"a page shows results of .*; got int"):
        page([3])
    with pytest.raises(ProblemError, match=f"a page shows 1 to {MAX_RESULTS} results; got 0"):
        page([])
    with pytest.raises(ProblemError, match="wanted a label for each of 1 results; got 2"):
        page(solved, labels=["a", "b"])
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(CondalError, match=r"pages need Jinja2; .*'condal\[report\]'"):
        page(solved)


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_verdict(solved, status):
    verdict = words.verdict(replace(solved, status=status))
    assert verdict.title
    assert verdict.text.endswith(".")
    assert verdict.tone in ("good", "fair", "bad")
    assert (verdict.tone == "good") == (status is Status.SOLVED)
    assert all(said.endswith(".") for said in words.proof(replace(solved, status=status)))


def certified(result, **changes):
    return replace(result, certificate=replace(result.certificate, unit=np.nan, **changes))


def test_the_certificate_in_words(solved):
    sure = " ".join(words.proof(certified(solved, failure=0.0, how="a reason")))
    assert "The proof is by a reason. It is deterministic." in sure
    assert "The optimum of the convex problem lies between the two" in sure
    likely = " ".join(words.proof(certified(solved, failure=1e-6, infeasibility=0.02)))
    assert "fails with probability at most 1e-06" in likely
    assert "a relative infeasibility of 0.02" in likely
    assert "lies between the two" not in likely
    none = " ".join(words.proof(certified(solved, bound=np.inf, how="no proof")))
    assert none.startswith("No bound on the optimum was proved")
    assert "Proved" not in none
    outside = " ".join(words.proof(certified(solved, distance_to_X=0.5)))
    assert "The point x lies at most 0.5 outside X." in outside


def test_the_first_line_says_how_sure_the_proof_is(solved):
    for failure, said in (
        (0.0, "deterministic proof"),
        (1e-6, "wrong with probability at most 1e-06"),
    ):
        result = certified(solved, failure=failure)
        first = f"solved to tol {result.tol:g} ({said})"
        assert f"status         {first}" in result.summary()
        assert result_text.summary(result, [])[0] == ("status", first)
        assert result_text.record(result, {})["failure"] == failure
        assert words.verdict(result).title == f"Solved and proved ({said})"
    stopped = replace(solved, status=Status.MAX_ITERS)
    assert stopped.surety == ""


def test_a_gap_is_a_percentage_only_where_it_is_a_share_of_the_objective(solved):
    for objective, bound, text in ((200.0, 196.875, "1.6%"), (0.2, 0.198, "0.002")):
        result = certified(solved, objective=objective, bound=bound)
        for said in (words.verdict(result).text, " ".join(words.proof(result))):
            assert f" are {text} apart" in said


def test_a_page_of_files_says_that_nothing_was_proved_again(solved):
    note = "To verify them: <code>condal certify PROBLEM RESULT</code>"
    assert note in page(Saved(solved, created="2024-02-29T12:00:00Z"))
    assert note not in page(solved)


def test_a_result_without_iterations_has_no_curves(solved):
    empty = Certificate(np.nan, np.inf, np.inf, "nothing was computed")
    none = replace(solved, x=None, history=History(), certificate=empty)
    text = page(none)
    assert "Convergence" not in text
    assert "<svg" not in text
    assert "<td>none</td><td>0</td>" in page([solved, none])


def test_names_that_no_font_and_no_encoding_has(solved):
    text = page([solved, solved], labels=["\u7ed3\u679c", "bad\udcff"])
    assert "1: &#32467;&#26524;" in text
    assert "2: bad?" in text


def test_an_infeasible_problem_in_words(infeasible):
    assert infeasible.status is Status.INFEASIBLE
    said = words.proof(replace(infeasible, infeasible=Proof(0.25, "a reason", 1e-6)))
    assert "no point of X satisfies the constraints" in said[0]
    assert "at least 0.25 for every x" in said[1]
    assert "fails with probability" in said[2]


def test_numbers_have_ten_digits():
    assert [words.number(v) for v in (1 / 3, -1234.5)] == ["0.3333333333", "-1,234.5"]
    assert words.number(np.inf) == words.number(np.nan) == "none"


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (0.5, "50%"), (0.00981, "0.99%"), (1e-9, "1.1e-7%")]
)
def test_a_percentage_is_never_less_than_it_is(share, text):
    assert float(words.percent(share)[:-1]) >= 100 * share
    assert words.percent(share) == text


@pytest.mark.parametrize(
    ("objective", "bound", "text"),
    [(1.0, 1 + 1e-12, "1.000000001"), (1.0, 1 - 1e-12, "0.9999999999")],
)
def test_a_bound_is_rounded_to_stay_one(solved, objective, bound, text):
    certificate = Certificate(objective, bound, 0.0, "a")
    result = replace(solved, history=History(), certificate=certificate, maximise=None)
    assert words.bound_of(result) == text


def test_a_bound_that_the_objective_has_passed_is_still_rounded_its_own_way(solved):
    """An infeasible iterate may be better than the bound; the history tells which way it bounds."""
    history = History()
    history.append(Row(1, 0.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1, 1, 0.1))
    certificate = Certificate(2.0, 1 + 1e-12, 0.1, "a")
    result = replace(solved, history=history, certificate=certificate, maximise=None)
    assert words.bound_of(result) == "1.000000001"
