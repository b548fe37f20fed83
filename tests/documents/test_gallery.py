"""The gallery: every example runs, prints and draws what its page shows, and has a notebook."""

import ast
import inspect
import re
import runpy
import sys

import nbformat
import pytest
from matplotlib import pyplot as plt

import condal
from pages import ROOT, agrees, blocks_of, has_cvxpy

sys.path.insert(0, str(ROOT / "docs" / "extensions"))

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
GALLERY = ROOT / "docs" / "gallery"
LARGEST_PICTURE = 120_000  # bytes
FACTS = ["input", "output", "proved", "size reached", "rival"]
WITHIN = 0.2  # of a number: answers at loose tolerances differ between machines

each_example = pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])


def name_of(path):
    """The name of the page of an example: without the number."""
    return path.stem.partition("_")[2]


def test_examples_are_numbered_each_once():
    numbers = [path.stem.partition("_")[0] for path in EXAMPLES]
    assert all(re.fullmatch(r"\d\d", number) for number in numbers)
    assert len(set(numbers)) == len(numbers)


@each_example
def test_a_page_has_the_picture_the_facts_and_the_example(path):
    name = name_of(path)
    page = (GALLERY / f"{name}.md").read_text()
    assert f"({name}.png)" in page
    assert f"```{{example}} {path.stem}\n" in page
    assert re.findall(r"(?m)^\| ([a-z ]+) \| \S", page)[-5:] == FACTS
    picture = GALLERY / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < LARGEST_PICTURE, picture.name


def test_every_page_has_an_example_a_card_and_a_place_in_the_contents():
    page = (ROOT / "docs" / "gallery.md").read_text()
    names = sorted(name_of(path) for path in EXAMPLES)
    assert sorted(re.findall(r"(?m)^(\w+): \S", page)) == names
    assert "\ngallery/*\n" in page
    for suffix in ("md", "png", "txt"):
        assert sorted(file.stem for file in GALLERY.glob(f"*.{suffix}")) == names


def test_the_gallery_shows_every_application():
    pages = [f"docs/gallery/{name_of(path)}.md" for path in EXAMPLES]
    blocks = "".join(block for page in pages for block in blocks_of(page))
    for name in condal.problems.__all__:
        if inspect.isfunction(getattr(condal.problems, name)):
            assert f"condal.problems.{name}(" in blocks, name


@each_example
def test_an_example_prints_what_its_page_shows_and_draws_one_picture(
    path, tmp_path, monkeypatch, capsys
):
    if "cvxpy" in path.name and not has_cvxpy():
        pytest.skip("no CVXPY, or an old one")
    monkeypatch.chdir(tmp_path)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        plt.close("all")
    printed, warned = capsys.readouterr()
    assert warned == ""
    name = name_of(path)
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "solved" in printed
    shown = (GALLERY / f"{name}.txt").read_text()
    assert agrees(shown, printed, within=WITHIN), f"run make gallery; it prints\n{printed}"


@each_example
def test_an_example_is_a_notebook_too(path):
    """All of its code, in order, and its comments as text; each cell is whole."""
    from example_gallery import notebook

    code = path.read_text()
    made = nbformat.from_dict(notebook(name_of(path), code))
    nbformat.validate(made)
    cells = [cell.source for cell in made.cells if cell.cell_type == "code"]
    joined = ast.dump(ast.parse("\n".join(cells[:-1])))
    script = ast.parse(code)
    assert joined == ast.dump(ast.Module(script.body[1:], []))
    assert made.cells[0].source.startswith("# ")
    assert f'"{name_of(path)}.png"' in cells[-1]
