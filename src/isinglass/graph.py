"""The result: which columns are linked, and the numbers of each link."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.frames import frame
from isinglass.notebook import small_table
from isinglass.parameters import checked
from isinglass.wording import counted, listing

if TYPE_CHECKING:
    import networkx
    from scipy.sparse import csr_array


class Link(NamedTuple):
    """One edge of a :class:`Graph`; a named tuple.

    Attributes
    ----------
    source, target : int
        Columns, source before target.
    strength : float or None
        sqrt(1 - exp(-2c)), 0 to 1 (the R of Cox and Snell), with c the log-likelihood per row that
        is lost when the edge is removed and everything else is refitted, the mean of its two ends.
        None in the graph of a model without a table.
    sign : int
        +1 or -1 where both columns are ordered or have two states, else 0.
    coupling, log_odds : float or None
        theta on the -1/+1 scale, and 4 theta, between two columns of two states: the mean of the
        ends that chose the edge, or in a model's graph the one value of the joint fit.
    evidence : float or None
        The likelihood ratio statistic of the edge, 2nc, as a chi-square with one degree of freedom.
    selected_by : str
        "both", the name of the one column that chose it, "required", or empty if no search is
        known.
    unbounded : bool
        Whether an empty cell or a collinear column leaves the size of the edge without a limit.
    tier : str
        "firm", "tentative", or empty: the first tier whose level `entry_evidence` exceeds; or
        "required".
    relative_strength : float or None
        The strength at one end as a share of what is possible there (the R of Nagelkerke), at the
        end where it is larger. It is 1 if one end determines the other exactly.
    entry_evidence : float or None
        The edge is in the graph of every threshold below this one, down to that of this graph, on
        the scale of `evidence`: 2n times the gain.
    source_state, target_state : str or None
        The states that `log_odds` is about: the second, high state of each column.
    size : float
        How wide the edge is drawn where there is no strength.
    form : "product", "trend" or "table"
        What the edge is: one product of scores between two ordered columns, a trend for each state
        of an unordered one, or a whole table of log-potentials; the larger one where its ends
        differ.
    step_log_odds : float or None
        In the form "product", the log odds ratio when both columns go up by one step, one unit of
        their scores: the mean of the ends that chose the edge, or in a model's graph the one value
        of the joint fit.
    """

    source: int
    target: int
    strength: float | None
    sign: int
    coupling: float | None
    log_odds: float | None
    evidence: float | None
    selected_by: str
    unbounded: bool
    tier: str = ""
    relative_strength: float | None = None
    entry_evidence: float | None = None
    source_state: str | None = None
    target_state: str | None = None
    size: float = 0.0
    form: str = "table"
    step_log_odds: float | None = None

    @property
    def weight(self) -> float:
        """The strength; `size` where there is none."""
        return self.size if self.strength is None else self.strength


NUMBERS = (
    *("strength", "relative_strength", "sign", "coupling", "log_odds"),
    *("source_state", "target_state", "evidence", "entry_evidence", "tier"),
    *("selected_by", "unbounded", "form", "step_log_odds"),
)


#: Those that are numbers of any size, and those that are text.
FLOATS = (
    *("strength", "relative_strength", "coupling", "log_odds", "evidence", "entry_evidence"),
    "step_log_odds",
)
WORDS = ("source_state", "target_state", "tier", "selected_by", "form")
#: The data types of the columns of a table of edges.
TYPES = {
    **dict.fromkeys(FLOATS, nw.Float64()),
    **dict.fromkeys(("source", "target", *WORDS), nw.String()),
    "sign": nw.Int64(),
    "unbounded": nw.Boolean(),
}


@dataclass(frozen=True, eq=False)
class Unvalued:
    """The columns of links, in column order, and ways to get all their numbers, and their forms."""

    pairs: Sequence[tuple[int, int]]
    links: Callable[[], tuple[Link, ...]]
    forms: Callable[[], dict[tuple[int, int], str]] | None = None


class Graph:
    """An undirected graph over named columns; frozen.

    Two graphs are equal when their names and their edges are, whatever their numbers. The numbers
    of a graph that a search found are computed when they are first asked for.

    Parameters
    ----------
    names : tuple of str
        The columns, in their order.
    links : tuple of Link
        The edges, in column order.
    library : str or None
        The data-frame library `to_frame` answers in.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> graph = ig.GreedyGraph().fit(field.sample(1000, seed=0)).graph_
    >>> graph.edges
    [('x0', 'x1'), ('x1', 'x2')]
    >>> graph.adjacency.toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """

    def __init__(
        self, names: tuple[str, ...], links: Sequence[Link] | Unvalued, library: str | None = None
    ) -> None:
        own: dict[str, Any] = {"names": tuple(names), "library": library}
        if isinstance(links, Sequence):
            own |= {"links": tuple(links), "pairs": tuple((e.source, e.target) for e in links)}
        else:
            own |= {"_unvalued": links, "pairs": tuple(links.pairs)}
        self.__dict__.update(own)

    names: tuple[str, ...]
    library: str | None
    #: The columns of each edge, by number, in column order.
    pairs: tuple[tuple[int, int], ...]

    @cached_property
    def forms(self) -> dict[tuple[int, int], str]:
        """The form of each edge, by the numbers of its columns: "product", "trend" or "table".

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> ig.GreedyGraph().fit(field.sample(1000, seed=0)).graph_.forms
        {(0, 1): 'table', (1, 2): 'table'}
        """
        unvalued: Unvalued | None = self.__dict__.get("_unvalued")
        if unvalued is not None and unvalued.forms is not None:
            return unvalued.forms()
        return {(link.source, link.target): link.form for link in self.links}

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The edges with their numbers, in column order."""
        unvalued: Unvalued = self.__dict__.pop("_unvalued")
        return unvalued.links()

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a Graph is frozen; {name!r} cannot be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self.names, self.links, self.library)

    @property
    def edges(self) -> list[tuple[str, str]]:
        """Pairs of names, in column order."""
        return [(self.names[a], self.names[b]) for a, b in self.pairs]

    @cached_property
    def adjacency(self) -> csr_array:
        """Which columns are linked: a symmetric sparse matrix of bool, p x p."""
        from scipy.sparse import csr_array

        ends = np.array(self.pairs, dtype=np.intp).reshape(-1, 2)
        rows, columns = np.concatenate([ends, ends[:, ::-1]]).T
        p = len(self.names)
        return csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(p, p))

    @cached_property
    def neighbourhoods(self) -> list[list[int]]:
        """The columns linked to each column, by number."""
        rows = np.split(self.adjacency.indices, self.adjacency.indptr[1:-1])
        return [sorted(row.tolist()) for row in rows]

    @checked
    def neighbors(self, name: str) -> list[str]:
        """Names of the columns linked to one, in column order.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.graph_.neighbors("x1")
        ['x0', 'x2']
        """
        return [self.names[j] for j in self.neighbourhoods[position_of(name, self.names)]]

    def with_couplings(self, couplings: Mapping[tuple[int, int], NDArray[np.float64]]) -> Graph:
        """Return the same graph with the numbers of a joint fit, as ``model_.couplings``.

        `coupling`, `log_odds` and `sign` then come from one table per edge, of log-potentials in
        the zero-sum gauge, instead of the ends that chose it. All other numbers stay.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> joint = est.graph_.with_couplings(est.model_.couplings)
        >>> bool(joint.links[0].log_odds == 4 * est.model_.couplings[0, 1][1, 1])
        True
        """
        links = tuple(_with_coupling(link, couplings) for link in self.links)
        return Graph(self.names, links, self.library)

    def to_networkx(self) -> networkx.Graph:
        """Return a networkx graph; the edge attribute ``weight`` is the strength.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> sorted(est.graph_.to_networkx().degree())
        [('x0', 1), ('x1', 2), ('x2', 1)]
        """
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        for link in self.links:
            numbers = {key: getattr(link, key) for key in NUMBERS}
            present = {key: value for key, value in numbers.items() if value is not None}
            ends = self.names[link.source], self.names[link.target]
            graph.add_edge(*ends, weight=link.weight, **present)
        return graph

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with one row per edge, in column order.

        It comes in the library of the fitted table (polars for arrays), or in the one named.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.graph_.to_frame().select("source", "target", "tier").rows()
        [('x0', 'x1', 'firm'), ('x1', 'x2', 'firm')]
        """
        sources, targets = zip(*self.edges, strict=True) if self.pairs else ((), ())
        columns: dict[str, list[Any]] = {"source": list(sources), "target": list(targets)}
        for key in NUMBERS:
            columns[key] = [getattr(link, key) for link in self.links]
        return frame(columns, library or self.library, TYPES)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self.names == other.names and self.pairs == other.pairs

    def __hash__(self) -> int:
        return hash((self.names, self.pairs))

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Link]:
        return iter(self.links)

    def __repr__(self) -> str:
        strongest = sorted(self.links, key=lambda link: -link.weight)[:3]
        shown = ", ".join(f"{self.names[e.source]} -- {self.names[e.target]}" for e in strongest)
        more = ", ..." if len(self.pairs) > 3 else ""
        return f"Graph({self._head()}{': ' if shown else ''}{shown}{more})"

    def _repr_html_(self) -> str:
        """Strongest edges as a small table, for notebooks."""
        return edges_html(self, self._head())

    def _head(self) -> str:
        return f"{counted(len(self.names), 'column')}, {counted(len(self.pairs), 'edge')}"


def edges_html(graph: Graph, caption: str) -> str:
    """A small table of the strongest edges, under a line of text; both are escaped.

    >>> edges_html(Graph(("a", "b"), ()), "no <edge>")
    '<div class="tex2jax_ignore mathjax_ignore"><p>no &lt;edge&gt;</p></div>'
    """
    heads = ("source", "target", "strength", "sign", "evidence", "tier", "unbounded")
    rows = [
        [
            *(graph.names[link.source], graph.names[link.target], f"{link.weight:.3f}"),
            {1: "+", -1: "−"}.get(link.sign, ""),
            "" if link.evidence is None else f"{link.evidence:.1f}",
            *(link.tier, "yes" if link.unbounded else ""),
        ]
        for link in sorted(graph.links, key=lambda link: -link.weight)
    ]
    return small_table(caption, heads, rows, "edges, weaker than these")


def position_of(name: str, names: Sequence[str]) -> int:
    """Where a column stands among others; a SettingError names the nearest if there is none.

    >>> position_of("feber", ("cough", "fever"))
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: there is no column 'feber'; did you mean 'fever'?
    """
    if name not in names:
        close = get_close_matches(str(name), names, n=1)
        if close:
            raise SettingError(f"there is no column {name!r}; did you mean {close[0]!r}?")
        known = listing([repr(each) for each in names], 8)
        raise SettingError(f"there is no column {name!r}; the columns are {known}.")
    return names.index(name)


def _with_coupling(link: Link, couplings: Mapping[tuple[int, int], NDArray[np.float64]]) -> Link:
    pair = link.source, link.target
    if pair not in couplings:
        raise SettingError(f"the couplings have no table for columns {pair}.")
    trend = trend_of(couplings[pair])
    sign = sign_of(trend) if link.sign else 0
    if link.coupling is None:
        return link._replace(sign=sign)
    return link._replace(sign=sign, coupling=trend, log_odds=4.0 * trend)


def trend_of(table: NDArray[np.float64]) -> float:
    """How much high goes with high in a table of log-potentials, by evenly spaced scores.

    The same whichever column has the rows; for two columns of two states it is the coupling.

    >>> trend_of(np.array([[0.2, -0.2], [-0.2, 0.2]])), trend_of(np.zeros((2, 3)))
    (0.2, 0.0)
    """
    if table.shape == (2, 2):
        return float(table[1, 1])
    rows, columns = (np.arange(m) - (m - 1) / 2 for m in table.shape)
    return float(rows @ table @ columns)


def sign_of(trend: float) -> int:
    """Return +1 or -1, and 0 for a trend of nothing but rounding."""
    return 0 if abs(trend) < 1e-12 else 1 if trend > 0 else -1
