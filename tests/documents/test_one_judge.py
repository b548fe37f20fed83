"""SOLVED, INFEASIBLE and UNBOUNDED are issued in one module: `condal.certificates.judge`."""

import ast

from locations import ROOT

PROVED = {"SOLVED", "INFEASIBLE", "UNBOUNDED"}
JUDGE = "src/condal/certificates/judge.py"
NAMED_IN_A_FILE = {"src/condal/io/results/reading.py"}  # what a file claims, which verify tries


def issues(source):
    """Whether a module names a proved status other than to compare it or to look it up."""
    tree = ast.parse(source)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return any(is_status(node) and not reads(node, above) for node in ast.walk(tree))


def is_status(node):
    """Status.SOLVED or its like; Status[...], Status(...) and `in Status`, which may be one."""
    of = {
        ast.Attribute: "value",
        ast.Subscript: "value",
        ast.Call: "func",
        ast.comprehension: "iter",
    }
    inner = getattr(node, of.get(type(node), ""), None)
    named = getattr(inner, "id", getattr(inner, "attr", "")) == "Status"
    return named and getattr(node, "attr", "SOLVED") in PROVED


def reads(node, above):
    """Whether a status is compared, is the key of a table, or is asked for an attribute."""
    parent = above[node]
    if isinstance(parent, ast.Tuple):
        return isinstance(above[parent], ast.Compare)
    key = isinstance(parent, ast.Dict) and node in parent.keys
    return key or isinstance(parent, ast.Compare | ast.Attribute)


def test_only_the_judge_issues_a_proved_status():
    homes = ("src/condal", "lab/src", "mpi/src")
    modules = (path for home in homes for path in (ROOT / home).rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix() for path in modules if issues(path.read_text())}
    assert found == {JUDGE} | NAMED_IN_A_FILE


def test_what_counts_as_issued():
    for source in (
        "status = Status.SOLVED",
        "replace(result, status=condal.Status.INFEASIBLE)",
        "return Status.UNBOUNDED",
        "ends = {'optimal': Status.SOLVED}",
        "PROVED = (Status.SOLVED, Status.STALLED)",
        "Status['SOLVED']",
        "Status(text)",
        "{status.name: status for status in Status}",
    ):
        assert issues(source), source
    for source in (
        "result.status is Status.SOLVED",
        "result.status in (Status.SOLVED, Status.INFEASIBLE)",
        "words = {Status.SOLVED: 'optimal'}",
        "Status.SOLVED.name",
        "Status.STALLED",
    ):
        assert not issues(source), source
