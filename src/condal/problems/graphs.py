"""Models of graphs, and their weight matrix W = W' from the forms in which graphs are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from condal.errors import ProblemError
from condal.linalg.lifting import symmetric
from condal.linalg.points import Array
from condal.linalg.sparse import diagonal_matrix, require_sound
from condal.problems.models import Rounded, RoundedModel
from condal.runtime.arguments import (
    describe,
    finite_array,
    is_matrix_like,
    is_table,
    plain_array,
    require_real,
)


@dataclass(frozen=True, eq=False, repr=False)
class GraphModel(RoundedModel[Rounded]):
    """A model of a graph.

    Parameters
    ----------
    W : sparse array
        The symmetric weights, with an empty diagonal.
    names : list, optional
        The names of the vertices, if they are not 0, 1, ...
    """

    W: Any = field(repr=False)
    name: str = field(default="graph", kw_only=True)
    names: list[Any] | None = field(default=None, repr=False, kw_only=True)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.W.shape[0])

    @property
    def weights(self) -> Array:
        """The weights of the edges, each of them twice."""
        return np.asarray(self.W.data)


def adjacency(graph: Any, name: str = "graph") -> Any:
    """Return W as a CSR array without loops and zeros, from a symmetric matrix or a graph.

    The edge attribute `weight` of a NetworkX or igraph graph is used (1 if missing). Vertices are
    numbered in the order of `list(graph)`, or of `graph.vs`.
    """
    if (is_networkx(graph) or is_igraph(graph)) and graph.is_directed():
        advice = "as_undirected" if is_igraph(graph) else "to_undirected"
        raise ProblemError(
            f"the graph is directed; pass an undirected one: graph.{advice}() keeps one weight "
            "of each pair, A + A' of its adjacency matrix adds them"
        )
    weights = weights_of(graph, name)
    require_real(weights, name)
    checked = symmetric(weights, name)
    if checked.sparse and checked.sparse[0].data.all() and not checked.sparse[0].diagonal().any():
        return checked.sparse[0]  # already canonical: a large graph is not copied
    W = sp.coo_array(checked.sparse[0] if checked.sparse else checked.dense)
    is_edge = (W.row != W.col) & (W.data != 0)
    places = (W.row[is_edge], W.col[is_edge])
    return sp.csr_array((W.data[is_edge], places), shape=W.shape)


def edges_required(graph: Any, name: str, without: str) -> Any:
    """Return `adjacency`; if there are no edges, raise ProblemError with what holds `without`."""
    W = adjacency(graph, name)
    if W.nnz == 0:
        raise ProblemError(f"the graph has no edges: {without}; nothing to solve")
    return W


def weights_of(graph: Any, name: str) -> Any:
    """Return the weights of a graph, directed or not, as a CSR array or an array.

    A sparse matrix is returned unchanged, lists and tables become arrays; anything else raises
    ProblemError.
    """
    if is_networkx(graph):
        return _from_networkx(graph)
    if is_igraph(graph):
        weighted = "weight" in graph.es.attributes()
        return graph.get_adjacency_sparse("weight" if weighted else None)
    if not is_matrix_like(graph):
        raise ProblemError(
            f"{name} must be a SciPy sparse matrix, a NumPy array or a NetworkX graph; "
            f"got {type(graph).__name__}"
        )
    if is_table(graph):
        index, columns = list(graph.index), list(graph.columns)
        if index != columns and set(index) == set(columns):
            raise ProblemError(
                f"the columns of {name} are its index in another order: pass {name}[{name}.index]"
            )
    return (
        graph
        if sp.issparse(graph)
        else plain_array(graph, name, "a matrix, with rows of one length")
    )


def square_weights(graph: Any, name: str) -> Any:
    """Return the weights as a float64 copy, CSR or dense; raise ProblemError if not square."""
    W = weights_of(graph, name)
    require_real(W, name)
    if sp.issparse(W):
        require_sound(W, name)
        finite_array(W.tocoo().data, f"the stored entries of {name}")
        W = sp.csr_array(W, dtype=np.float64, copy=True)
    else:
        W = finite_array(W, name, ndim=2).copy()
    if W.shape[0] != W.shape[1] or W.shape[0] == 0:
        raise ProblemError(f"{name} must be square, at least 1 x 1; got shape {W.shape}")
    return W


def is_networkx(graph: Any) -> bool:
    """Return whether `graph` looks like a NetworkX graph."""
    return hasattr(graph, "adjacency") and hasattr(graph, "number_of_nodes")


def is_igraph(graph: Any) -> bool:
    """Return whether `graph` looks like a graph of igraph."""
    return hasattr(graph, "get_adjacency_sparse") and hasattr(graph, "vs")


def vertex_names(graph: Any) -> list[Any] | None:
    """Return the names of the vertices in their order; None if they are numbers from 0.

    The names are the nodes of a NetworkX graph, the attribute `name` of igraph, or the index of a
    table of pandas.
    """
    names: list[Any] = []
    if is_networkx(graph):
        names = list(graph)
    elif is_igraph(graph):
        names = list(graph.vs["name"]) if "name" in graph.vs.attributes() else []
    elif is_table(graph):
        names = list(graph.index)
    return None if names in ([], list(range(len(names)))) else names


def named_groups(labels: Any, k: int, model: Any) -> list[list[Any]]:
    """Return the vertices of each of the labels 0, ..., k - 1, by name if the model has names."""
    groups = [np.flatnonzero(labels == group).tolist() for group in range(k)]
    names = getattr(model, "names", None)
    return groups if names is None else [[names[v] for v in group] for group in groups]


def edges(W: Any) -> tuple[Any, Any]:
    """Return the endpoints i < j of all edges."""
    upper = sp.coo_array(sp.triu(W, 1))
    return upper.row.astype(np.intp), upper.col.astype(np.intp)


def quarter_laplacian(W: Any) -> Any:
    """Return L / 4, for the Laplacian L of symmetric weights: s'(L / 4)s is the weight of a cut."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    laplacian = diagonal_matrix(degrees) - W
    return sp.csr_array(0.25 * laplacian)


def _from_networkx(graph: Any) -> Any:
    if graph.number_of_nodes() == 0:
        raise ProblemError("the graph has no vertices: nothing to solve")
    from decimal import Decimal

    for i, j, weight in graph.edges(data="weight", default=1):
        if not isinstance(weight, Real | Decimal | np.bool_):
            raise ProblemError(
                f"the weights of the graph must be real numbers; got {describe(weight)} on the "
                f"edge ({i!r}, {j!r})"
            )
    import networkx as nx

    return nx.to_scipy_sparse_array(graph, dtype=np.float64, weight="weight")
