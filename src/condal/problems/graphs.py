"""W = W', the weights of a graph, from the forms in which graphs are given."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.symmetrize import symmetric
from condal.problems.inputs import array_of, described, require_real, stored


def adjacency(graph: Any, name: str = "graph") -> Any:
    """W as a CSR array without loops and zeros: of a symmetric matrix, or of a NetworkX graph.

    Of a NetworkX graph the edge attribute `weight` is taken (1 where it is missing), and the
    vertices are those of `list(graph)`, in that order.
    """
    if is_networkx(graph) and graph.is_directed():
        raise ProblemError(
            "the graph is directed; pass an undirected one: graph.to_undirected() keeps one weight "
            "of each pair, A + A' of its adjacency matrix adds them"
        )
    given = weights_of(graph, name)
    require_real(given, name)
    checked = symmetric(given, name)
    if checked.sparse and checked.sparse[0].data.all() and not checked.sparse[0].diagonal().any():
        return checked.sparse[0]  # as it is to be: a large graph is not copied again
    W = sp.coo_array(checked.sparse[0] if checked.sparse else checked.dense)
    kept = (W.row != W.col) & (W.data != 0)
    return sp.csr_array((W.data[kept], (W.row[kept], W.col[kept])), shape=W.shape)


def weights_of(graph: Any, name: str) -> Any:
    """The weights of a NetworkX graph, directed or not, as a CSR array; a sparse matrix as it is;
    an array of a list or a table; ProblemError for anything else."""
    if is_networkx(graph):
        return _from_networkx(graph)
    if not stored(graph):
        raise ProblemError(
            f"{name} must be a SciPy sparse matrix, a NumPy array or a NetworkX graph; "
            f"got {type(graph).__name__}"
        )
    return (
        graph if sp.issparse(graph) else array_of(graph, name, "a matrix, with rows of one length")
    )


def is_networkx(graph: Any) -> bool:
    """Whether it has what a NetworkX graph has."""
    return hasattr(graph, "adjacency") and hasattr(graph, "number_of_nodes")


def edges(W: Any) -> tuple[Any, Any]:
    """i and j of each edge, i < j."""
    upper = sp.coo_array(sp.triu(W, 1))
    return upper.row.astype(np.intp), upper.col.astype(np.intp)


def _from_networkx(graph: Any) -> Any:
    if graph.number_of_nodes() == 0:
        raise ProblemError("the graph has no vertices: nothing to solve")
    for i, j, weight in graph.edges(data="weight", default=1):
        if not isinstance(weight, Real | Decimal | np.bool_):
            raise ProblemError(
                f"the weights of the graph must be real numbers; got {described(weight)} on the "
                f"edge ({i!r}, {j!r})"
            )
    import networkx as nx

    return nx.to_scipy_sparse_array(graph, dtype=np.float64, weight="weight")
