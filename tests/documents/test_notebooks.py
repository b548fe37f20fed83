"""The notebooks are valid, kept without outputs, and run from end to end to a picture."""

import re
import sys
import warnings

import nbformat
import pytest

from locations import ROOT
from pages import has_cvxpy

sys.path.insert(0, str(ROOT / "docs" / "extensions"))

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 240  # that a cell may take, on a busy machine


def read(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_clean(path):
    """No outputs, no numbers of runs, nothing of who made it; it begins with a title."""
    notebook = read(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].source.startswith("# ")
    for cell in notebook.cells:
        assert not cell.metadata
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            assert not re.search(r"^[!%]", cell.source, re.MULTILINE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_ends_in_a_picture(path, tmp_path):
    if path.stem == "cvxpy" and not has_cvxpy():
        pytest.skip("no CVXPY, or an old one")
    notebook = read(path)
    outputs = executed(notebook, tmp_path)
    assert not [out for out in outputs if out.get("name") == "stderr"]
    assert "image/png" in outputs[-1].data
    shown = [output.data for output in outputs if "data" in output]
    assert any("text/html" in data for data in shown)  # a result, a certificate or bars
    assert not list(tmp_path.iterdir())


def executed(notebook, folder):
    """Run the cells in the folder and return all their outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the client; what a cell warns of is its output
        from nbclient import NotebookClient

        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output for cell in code for output in cell.outputs]


def test_a_notebook_of_an_example_runs_and_ends_in_its_picture(tmp_path):
    from example_gallery import notebook

    path = ROOT / "examples" / "22_sweep.py"
    made = nbformat.from_dict(notebook("sweep", path.read_text()))
    assert "image/png" in executed(made, tmp_path)[-1].data


LONG = """
import numpy as np
import condal

W = np.random.default_rng(0).integers(0, 2, (60, 60))
model = condal.problems.max_cut(np.triu(W, 1) + np.triu(W, 1).T)
result = condal.solve(model, condal.CGAL(), tol=1e-14, callback=condal.Progress())
print(result.status.name, result.x is not None)
"""


def test_an_interrupt_of_the_kernel_ends_a_solve_with_its_best_answer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from jupyter_client.manager import start_new_kernel

        manager, client = start_new_kernel(kernel_name="python3")
        try:
            asked, printed, bars = client.execute(LONG), "", 0
            while True:
                message = client.get_iopub_msg(timeout=SECONDS)
                if message["parent_header"].get("msg_id") != asked:
                    continue
                kind, content = message["msg_type"], message["content"]
                if kind in ("display_data", "update_display_data"):
                    assert "text/html" in content["data"]
                    bars += 1
                    if bars == 3:  # it is well under way
                        manager.interrupt_kernel()
                elif kind == "stream":
                    printed += content["text"]
                elif kind == "status" and content["execution_state"] == "idle":
                    break
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    assert printed == "INTERRUPTED True\n"
    assert bars > 3  # it is drawn a last time
