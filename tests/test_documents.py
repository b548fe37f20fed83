"""What the documents and the examples show runs as it stands, and nothing public is left out."""

from __future__ import annotations

import inspect
import re
import runpy
import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import condal
from condal import domains, maps, nonsmooth, sets, smooth
from known import torus

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
LARGEST_PICTURE = 120_000  # bytes


def blocks_of(document):
    """The Python blocks of a document, in order."""
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)


def run(block, document, names):
    """What a block leaves behind, with warnings as errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(block, document, "exec"), names)
    return names


def test_the_readme_runs():
    blocks = blocks_of("README.md")
    W = torus(5, 8)
    n = W.shape[0]
    names = {"W": W, "n": n, "C": W.toarray(), "np": np, "k": 2}
    names["points"] = np.repeat([[0.0, 0.0], [9.0, 0.0]], 10, axis=0) + np.eye(20, 2)
    for block in blocks:
        run(block, "README.md", names)
    assert len(blocks) == 3
    assert names["cut"].weight == condal.problems.max_cut(W).weight(names["cut"].signs)
    assert names["clustering"].cost == names["model"].cost(names["clustering"].labels)
    assert names["result"].status.name == "SOLVED"


def for_the_gallery():
    """What the blocks of the gallery take as given, small."""
    rng = np.random.default_rng(0)
    returns, graph = rng.standard_normal((30, 6)), nx.petersen_graph()
    masks, image = rng.choice([1, 1j, -1, -1j], (6, 3, 3)), rng.standard_normal((3, 3))
    rows, cols = np.nonzero(rng.random((8, 9)) < 0.7)
    ratings = (rng.standard_normal((8, 1)) * rng.standard_normal(9))[rows, cols]
    signs, angles = np.sign(rng.standard_normal(8)), np.exp(1j * rng.random(8))
    flows = np.ones((4, 4)) - np.eye(4)
    path = nx.to_numpy_array(nx.path_graph(5))
    return {
        "graph": graph,
        "points": rng.standard_normal((9, 2)) + 9.0 * np.repeat(np.eye(3, 2), 3, axis=0),
        "returns": returns,
        "index": returns[:, :3].mean(axis=1),
        "exposures": rng.standard_normal((2, 6)),
        "low": np.full(2, -0.3),
        "high": np.full(2, 0.3),
        "Phi": np.diag([1.0, 2.0, 3.0]),
        "Psi": np.eye(3),
        "masks": masks,
        "intensities": np.abs(np.fft.fft2(masks * image, norm="ortho")) ** 2,
        "rows": rows,
        "cols": cols,
        "ratings": ratings,
        "picture": np.where(rng.random((9, 8)) < 0.7, np.outer(np.ones(9), np.arange(8.0)), np.nan),
        "flows": flows,
        "distances": np.abs(np.subtract.outer(np.arange(4), np.arange(4))),
        "comparisons": np.outer(signs, signs) - np.eye(8),
        "differences": np.outer(angles, angles.conj()) - np.eye(8),
        "features": returns,
        "responses": returns @ np.outer(np.arange(6.0), [1.0, -1.0]),
        "M": returns,
        "b": returns @ [1.0, -1.0, 0, 0, 0, 0],
        "expected": np.linspace(0.0, 0.1, 5),
        "F": 0.1 * rng.standard_normal((2, 5)),
        "d": np.full(5, 0.04),
        "unary": rng.random((3, 2)),
        "edges": [[0, 1], [1, 2]],
        "pairwise": 1.0 - np.eye(2),
        "A": path,
        "B": path[::-1, ::-1],
        "noisy": rng.random((5, 6)),
    }


def for_the_template():
    """The same for the page of the template."""
    rng = np.random.default_rng(1)
    n = 4
    a, H = rng.standard_normal((n, n)), rng.standard_normal((2, n, n))
    rows, cols = np.nonzero(rng.random((3, n)) < 0.8)
    complex_part = H[0] + 1j * H[1]
    return {
        "n": n,
        "m": 3,
        "M": rng.standard_normal((5, n)),
        "c": rng.standard_normal(5),
        "a": rng.standard_normal((2, n)),
        "low": np.full(2, -2.0),
        "high": np.full(2, 2.0),
        "b": rng.standard_normal((3, n)),
        "H": complex_part + complex_part.conj().T,
        "rows": rows,
        "cols": cols,
        "values": rng.standard_normal(rows.size),
        "C": np.ones((3, n)) / 12,
        "C1": a + a.T,
        "C2": np.eye(n) - 2.0 * np.diag(np.arange(n) < 2),
        "c2": np.array([1.0, 2.0]),
    }


PAGES = {"docs/gallery.md": for_the_gallery, "docs/template.md": for_the_template}
BLOCKS = [(page, number) for page in PAGES for number in range(len(blocks_of(page)))]


@pytest.mark.parametrize(("page", "number"), BLOCKS, ids=[f"{p[5:-3]}-{n}" for p, n in BLOCKS])
def test_the_blocks_of_a_page_run_each_by_itself(page, number):
    given = {"condal": condal, "np": np, **PAGES[page]()}
    names = run(blocks_of(page)[number], page, given)
    assert names["result"].status is condal.Status.SOLVED


def test_the_gallery_shows_every_example_with_its_picture():
    page = (ROOT / "docs" / "gallery.md").read_text()
    for path in EXAMPLES:
        picture = ROOT / "docs" / "gallery" / f"{path.stem.split('_', 1)[1]}.png"
        assert f"(../examples/{path.name})" in page
        assert f"(gallery/{picture.name})" in page
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < LARGEST_PICTURE, picture.name
    shown = re.findall(r"\]\(gallery/(\w+)\.png\)", page)
    pictures = (ROOT / "docs" / "gallery").iterdir()
    assert sorted(shown) == sorted(path.stem for path in pictures)


def test_the_gallery_shows_every_application():
    blocks = "".join(blocks_of("docs/gallery.md"))
    for name in condal.problems.__all__:
        if inspect.isfunction(getattr(condal.problems, name)):
            assert f"condal.problems.{name}(" in blocks, name


@pytest.mark.parametrize("kind", [domains, sets, nonsmooth, smooth, maps], ids=lambda m: m.__name__)
def test_the_template_names_every_part(kind):
    page = (ROOT / "docs" / "template.md").read_text()
    for name in set(kind.__all__) & set(condal.__all__) - {"check_adjoint"}:
        assert re.search(rf"`(domains\.)?{name}(\(|`)", page), name


def test_the_links_of_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_run_and_draw_one_picture(path, capsys, monkeypatch, tmp_path):
    """In their quick mode: a PNG of the example's own name, without its number."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), "--quick"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path))
    assert "solved" in capsys.readouterr().out
    name = path.stem.split("_", 1)[1]
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_examples_are_numbered_each_once():
    numbers = [path.stem.split("_", 1)[0] for path in EXAMPLES]
    assert all(re.fullmatch(r"\d\d", number) for number in numbers)
    assert len(set(numbers)) == len(numbers)


def test_every_make_target_of_the_documents_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"^ {4}make (\w+)", (ROOT / document).read_text(), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
