"""What the documents quote was measured, their links lead somewhere, and no part is left out."""

import re
import tomllib

import pytest

import condal
from condal import domains, maps, nonsmooth, sets, smooth
from condal_lab.bench.peers import PEERS
from condal_lab.bench.results import load
from condal_lab.bench.sets import SETS
from condal_lab.benchmarks import quotes
from condal_lab.benchmarks.runner import RESULTS
from pages import ROOT, all_pages

LETTERS = ["k", "x", "y", "r", "s", "v", "w", "d", "f", "g", "h", "A", "B", "M", "K", "X", "phi"]
LETTERS += ["lam", "lam0", "eta", "sigma", "D_X", "D_Y", "L_f", "L_g", "L_lam", "rbar", "alpha"]


@pytest.mark.parametrize("kind", [domains, sets, nonsmooth, smooth, maps], ids=lambda m: m.__name__)
def test_the_template_names_every_part(kind):
    page = (ROOT / "docs" / "template.md").read_text()
    for name in set(kind.__all__) & set(condal.__all__) - {"check_adjoint"}:
        assert re.search(rf"`(domains\.)?{name}(\(|`)", page), name


def test_the_links_of_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / page for page in all_pages())]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def tables(path):
    """The rows of the tables of a document, as cells, by the heading that they stand under."""
    heading, rows = "", []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            rows.append((heading, [cell.strip() for cell in line.strip()[1:-1].split("|")]))
    return rows


@pytest.mark.parametrize("page", quotes.PAGES)
def test_a_page_quotes_what_was_measured(page):
    """Every table of times has the set it comes from, and the times that are stored."""
    text = (ROOT / page).read_text()
    assert len(quotes.QUOTED.findall(text)) == text.count("| instance | condal |") >= 1
    assert quotes.refreshed(text) == text, "run python -m condal_lab.benchmarks quotes"


def test_the_comparison_has_every_peer_in_one_table():
    page = (ROOT / "docs" / "comparison.md").read_text()
    heads = re.findall(r"(?m)^\| instance \| (.*) \|$", page)
    assert {"condal", *PEERS} in [set(head.split(" | ")) for head in heads]


def test_the_comparison_quotes_the_ratios_of_the_applications():
    results = load(RESULTS, "applications")
    titles = {case.title: case.name for case in SETS["applications"].cases}
    page = [c for _, c in tables(ROOT / "docs" / "comparison.md") if c[0] in titles]
    for title, solver, quoted in page:
        case = titles[title]
        ratio = results.ours(case).cpu / results.peer(case, solver).cpu
        assert quoted == (f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"), (case, solver)
    compared = {run.case for run in results.runs if run.solver != "condal"}
    assert {titles[cells[0]] for cells in page} == compared


def test_the_install_page_has_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    rows = [cells[0] for _, cells in tables(ROOT / "docs" / "install.md")]
    assert sorted(rows[2:]) == sorted(f"`{name}`" for name in project["optional-dependencies"])


def test_the_formats_page_has_every_reader_and_writer():
    page = (ROOT / "docs" / "formats.md").read_text()
    for name in condal.formats.__all__:
        if name.startswith(("read_", "write_")):
            assert re.search(rf"`(condal\.)?(formats\.)?{name}(\(|`)|formats\.{name}\(", page), name


@pytest.mark.parametrize("letter", LETTERS)
def test_the_notation_has_every_letter(letter):
    rows = tables(ROOT / "docs" / "notation.md")
    assert letter in {word for _, cells in rows for word in re.findall(r"\w+", " ".join(cells[:3]))}


def test_every_make_target_of_the_documents_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^ {4}make (\w+)", (ROOT / document).read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
