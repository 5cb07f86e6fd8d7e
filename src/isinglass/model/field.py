"""A pairwise Markov random field over named columns.

One class, which holds the numbers; what it computes stands in modules of functions that take it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.graph import Graph, position_of
from isinglass.model import codings, edges
from isinglass.model.fit.parameter_errors import ParameterErrors, WaldTest, errors_of
from isinglass.model.inference import completion, elimination, questions, rows, sampling
from isinglass.model.inference.evidence import Evidence, known_codes, reduced
from isinglass.model.inference.methods import MEMORY, Method, takes_method
from isinglass.model.labelled import LabelledTable, labels_array
from isinglass.model.potentials import check_columns, check_zero_sum, frozen, zero_sum
from isinglass.parameters import Seed, checked
from isinglass.table.column import high_states
from isinglass.wording import counted

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord

Array = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovField:
    """A pairwise model of discrete columns; frozen.

    The probability of a row x is proportional to the exponential of its log-potential, the sum
    of ``intercepts[i][x_i]`` over columns and ``couplings[i, j][x_i, x_j]`` over edges, where
    x_i is the code of a state: its position in ``states[i]``. All are in the zero-sum gauge: an
    intercept sums to zero, and so do the rows and the columns of a coupling. `from_potentials`
    takes numbers in any gauge.

    For an Ising model with states -1 and +1 the coupling theta is the table
    [[theta, -theta], [-theta, theta]], and the field h the intercept [-h, h].

    Parameters
    ----------
    names : tuple of str
        The columns, in their order.
    states : tuple of tuple
        The labels of each column's states.
    intercepts : tuple of arrays, shapes (m_i,)
    couplings : dict of arrays
        From (i, j), i < j, to the table of shape (m_i, m_j).
    library : str, optional
        The data-frame library that `sample` answers in; None for arrays.
    unbounded : frozenset of (i, j), optional
        Edges whose table the rows left open: its size means nothing.
    cuts : dict, optional
        From binned columns to their inner cut points: rows may then hold raw numbers there.
    errors : ParameterErrors, optional
        Standard errors of a fit; `isinglass.with_errors` attaches them.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(5), signs="positive")
    >>> field
    MarkovField(5 columns, 4 edges)
    >>> field.couplings[0, 1].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    >>> field.sample(2000, seed=1).shape
    (2000, 5)
    >>> ig.GreedyGraph().fit(field.sample(2000, seed=1)).graph_ == field.graph
    True
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    intercepts: tuple[Array, ...]
    couplings: Mapping[tuple[int, int], Array]
    library: str | None = None
    unbounded: frozenset[tuple[int, int]] = frozenset()
    cuts: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    errors: ParameterErrors | None = None

    def __post_init__(self) -> None:
        couplings = {pair: frozen(self.couplings[pair]) for pair in sorted(self.couplings)}
        values = {
            "names": tuple(self.names),
            "states": tuple(map(tuple, self.states)),
            "intercepts": tuple(map(frozen, self.intercepts)),
            "couplings": couplings,
            "unbounded": frozenset(self.unbounded) & couplings.keys(),
            "cuts": dict(self.cuts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_columns(self.names, self.states, self.intercepts, self.couplings)
        check_zero_sum(self.names, self.intercepts, self.couplings)

    @classmethod
    def from_potentials(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[Hashable]],
        intercepts: Sequence[ArrayLike],
        couplings: Mapping[tuple[int, int], ArrayLike],
        library: str | None = None,
    ) -> Self:
        """Make a model of log-potentials in any gauge; the distribution stays the same.

        >>> from isinglass import MarkovField
        >>> agree = {(0, 1): [[1.0, 0.0], [0.0, 1.0]]}
        >>> field = MarkovField.from_potentials("ab", [(0, 1), (0, 1)], [[0, 1], [0, 0]], agree)
        >>> field.couplings[0, 1].tolist(), field.intercepts[0].tolist()
        ([[0.5, -0.5], [-0.5, 0.5]], [-0.5, 0.5])
        """
        fields = [np.asarray(intercept, dtype=np.float64) for intercept in intercepts]
        tables = {pair: np.asarray(table, dtype=np.float64) for pair, table in couplings.items()}
        check_columns(names, states, fields, tables)
        return cls(tuple(names), tuple(map(tuple, states)), *zero_sum(fields, tables), library)

    @checked
    def save(self, path: str | os.PathLike[str], *, fit: FitRecord | None = None) -> None:
        """Write the model to a JSON file, and with it the record of the fit it came from.

        The file is plain data; see ``docs/files.md``.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.save(f"{folder}/model.json")
        ...     ig.MarkovField.load(f"{folder}/model.json")
        MarkovField(3 columns, 2 edges)
        """
        from isinglass.model.files import save_model

        save_model(self, path, fit)

    @classmethod
    @checked
    def load(cls, path: str | os.PathLike[str]) -> MarkovField:
        """Read a model that `save` wrote. Any other file raises a FileError; nothing in it is run.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.save(f"{folder}/model.json")
        ...     ig.MarkovField.load(f"{folder}/model.json").names
        ('x0', 'x1', 'x2')
        """
        from isinglass.model.files import load_model

        return load_model(path)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """The number of states of each column."""
        return tuple(map(len, self.states))

    @cached_property
    def high(self) -> tuple[str | None, ...]:
        """The high state of each column as text; None for columns without two states."""
        return high_states(self.states, self.n_states)

    @cached_property
    def graph(self) -> Graph:
        """Which columns are coupled.

        An edge's strength is the one it would have between two columns alone, without
        intercepts; no table was asked, so there is no evidence.
        """
        return edges.graph_of(self)

    def tables_of(self, r: int) -> dict[int, Array]:
        """The couplings of one column: from each neighbour t to its table of shape (m_t, m_r).

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.tables_of(1)[0].tolist()
        [[0.8, -0.8], [-0.8, 0.8]]
        """
        return self._tables[r]

    @cached_property
    def _tables(self) -> list[dict[int, Array]]:
        tables: list[dict[int, Array]] = [{} for _ in self.names]
        for (i, j), table in self.couplings.items():
            tables[i][j], tables[j][i] = table.T, table
        return tables

    @checked
    def edge(self, a: str, b: str, *, against: tuple[Any, Any] | None = None) -> LabelledTable:
        """Return the log odds ratios of an edge, all other columns held.

        Parameters
        ----------
        a, b : str
            Two columns that are linked.
        against : tuple of two labels, optional
            The states of a and b that others are compared with; the first ones by default.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(2), signs="positive")
        >>> field.edge("x0", "x1")[1, 1]
        2.0
        """
        return edges.log_odds(self, a, b, against)

    @checked
    def intervals(self, level: float = 0.95) -> Any:
        """Return a data frame of all edges' log odds ratios with errors and intervals.

        One row for each edge and pair of states other than the first ones. Everything in it
        holds given this graph. The model must have `errors`.

        >>> import isinglass as ig
        >>> rows = ig.simulate.ising(ig.simulate.chain(3), coupling=0.6).sample(1000, seed=0)
        >>> ig.with_errors(ig.GreedyGraph().fit(rows)).intervals()["condition"].to_list()
        ['given this graph', 'given this graph']
        """
        return errors_of(self).to_frame(self, level)

    @checked
    def wald(self, a: str, b: str) -> WaldTest:
        """Test whether an edge's whole table is zero, given this graph.

        Only rows that did not choose the graph give a p-value; see `isinglass.with_errors`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> ig.with_errors(est, field.sample(1000, seed=1)).wald("x0", "x1").df
        1
        """
        return errors_of(self).wald(self, a, b)

    @checked
    def to_coding(self, coding: str, *, reference: Evidence | None = None) -> codings.Coded:
        """Write the same model in other numbers, exactly.

        Parameters
        ----------
        coding : "ising", "01" or "reference"
            For columns of two states, spins of -1 and +1, or indicators of the second state. For
            any, tables that are zero where one of the columns has its reference state.
        reference : dict, optional
            From columns to the labels of their reference states; the first ones by default.

        Returns
        -------
        Coded
            With ``intercepts``, ``couplings`` and the ``constant`` left of the log-potential.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.to_coding("ising").couplings[0, 1]
        0.5
        >>> coded = field.to_coding("01")
        >>> coded.couplings[0, 1], coded.intercepts.tolist(), coded.constant
        (2.0, [-1.0, -2.0, -1.0], 1.0)
        """
        return codings.convert(self, coding, known_codes(self, reference))

    def given(self, evidence: Evidence) -> MarkovField:
        """Return the model of the other columns when some are known.

        >>> from isinglass import MarkovField
        >>> agree = {(0, 1): [[1.0, -1.0], [-1.0, 1.0]]}
        >>> yes_no = ("no", "yes")
        >>> field = MarkovField(("a", "b"), (yes_no, yes_no), ([0, 0], [0, 0]), agree)
        >>> field.given({"a": "yes"}).intercepts[0].tolist()
        [-1.0, 1.0]
        """
        return reduced(self, known_codes(self, evidence))

    def log_potential(self, codes: NDArray[np.integer[Any]]) -> Array:
        """Log-probability of each row of codes, but for the constant `log_partition`.

        >>> from isinglass import MarkovField
        >>> field = MarkovField.from_potentials("a", [("no", "yes")], [[-1, 1]], {})
        >>> field.log_potential(np.array([[0], [1]])).tolist()
        [-1.0, 1.0]
        """
        return rows.log_potential(self, codes)

    @checked
    def log_partition(self, *, memory: float = MEMORY) -> float:
        """Log of the sum of exp(log-potential) over all possible rows, exactly.

        Parameters
        ----------
        memory : float
            Bytes it may take; a model that needs more is refused, with the number of bytes.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.grid(10, 10), coupling=0.4, signs="positive")
        >>> round(field.log_partition(), 3)
        85.624
        """
        return elimination.log_partition(self, elimination.plan_within(self, memory))

    @takes_method
    def marginals(
        self, given: Evidence | None = None, *, method: Method = "exact", seed: Seed = None
    ) -> dict[str, LabelledTable]:
        """Return the probabilities of the states of every column that is not given.

        Parameters as in `conditional`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.marginals({"x0": 1})["x1"]
        probability of x1
          0.2689  -1
          0.7311  1
        """
        tables = questions.marginals(self, given, method, seed)
        return {name: table for (name,), table in tables.items()}

    @takes_method
    def pair_marginals(
        self, given: Evidence | None = None, *, method: Method = "exact", seed: Seed = None
    ) -> dict[tuple[str, str], LabelledTable]:
        """Return the joint probabilities of every two linked columns that are not given.

        Parameters as in `conditional`, which answers for any two columns.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> sorted(field.pair_marginals())
        [('x0', 'x1'), ('x1', 'x2')]
        """
        tables = questions.marginals(self, given, method, seed, pairs=True)
        return {(a, b): table for (a, b), table in tables.items()}

    @takes_method
    def conditional(
        self,
        of: str | Sequence[str],
        given: Evidence | None = None,
        *,
        method: Method = "exact",
        seed: Seed = None,
    ) -> LabelledTable:
        """Return the joint probabilities of one or several columns, given the labels of others.

        Parameters
        ----------
        of : str or sequence of str
        given : dict, optional
            Labels of other columns, by name.
        method : "exact", "gibbs", "auto", Exact, Gibbs, or (Exact, Gibbs)
            By elimination, or by sampling: then ``error`` of the answer holds standard errors,
            and a `PoorMixing` warning says where they cannot be trusted. "auto" is exact if its
            memory allows it, else sampled; so are two objects. See `isinglass.Exact` and
            `isinglass.Gibbs` for their settings.
        seed : int, SeedSequence, Generator, optional
            For sampling.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> round(field.conditional("x2", given={"x0": 1})[1], 4)
        0.6068
        """
        names = [of] if isinstance(of, str) else list(of)
        return questions.conditional(self, names, given, method, seed)

    @takes_method
    def odds_shift(
        self,
        of: tuple[str, Any],
        when: tuple[str, Any],
        given: Evidence | None = None,
        *,
        against: Any = None,
        method: Method = "exact",
        seed: Seed = None,
    ) -> questions.OddsShift:
        """How the odds of one answer shift when another is known; columns need not be linked.

        Unlike `edge`, which holds all other columns, this averages over them: what one would
        see in a table of rows drawn from the model.

        Parameters
        ----------
        of : tuple of str and label
            The answer asked about, as ``("cough", "yes")``.
        when : tuple of str and label
            The answer that becomes known.
        given : dict, optional
            Labels of other columns that are known before and after.
        against : label, optional
            Another answer of the same column to compare with; by default, not knowing it.
        method, seed
            As in `conditional`; a sampled shift has an ``error``.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.odds_shift(("x2", 1), ("x0", 1), against=-1)
        with x0 = 1 the odds of x2 = 1 are 2.38 times those with x0 = -1: a probability of 0.607 ...
        """
        return questions.odds_shift(
            self, of, when, against=against, given=given, method=method, seed=seed
        )

    @checked
    def most_likely(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[str, Hashable]:
        """Return a row of the highest probability among those with the labels given.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.most_likely({"x0": 1})
        {'x0': 1, 'x1': 1, 'x2': 1}
        """
        return questions.most_likely(self, given, memory)

    @checked
    def log_likelihood(self, X: Any, *, memory: float = MEMORY) -> Array:
        """Log-probability of each row of a table of labels, exactly; shape (n,).

        Sampling cannot give it, so a model beyond `memory` is refused; `pseudo_log_likelihood`
        answers for any model.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> common, rare = field.log_likelihood([[1, 1, 1], [1, -1, 1]])
        >>> bool(common > rare)
        True
        """
        return rows.log_likelihood(self, X, memory)

    def pseudo_log_likelihood(self, X: Any) -> Array:
        """Sum over columns of log P(its cell given the rest of the row); shape (n,).

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> common, rare = field.pseudo_log_likelihood([[1, 1, 1], [1, -1, 1]])
        >>> bool(common > rare)
        True
        """
        return rows.pseudo_log_likelihood(self, X)

    def score_samples(self, X: Any) -> Array:
        """How ordinary each row is: its pseudo-log-likelihood, under scikit-learn's name.

        It needs no partition function, so any model has it; the lowest rows are the oddest.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.score_samples([[1, 1, 1], [1, -1, 1]]).argmin()  # the odd row
        np.int64(1)
        """
        return rows.pseudo_log_likelihood(self, X)

    @checked
    def predict_proba(self, X: Any, column: str) -> Array:
        """Probabilities of a column's states given the rest of each row, shape (n, m).

        Only the column's neighbours are looked at: its own cells may hold anything, and a frame
        need not have it.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.predict_proba([[1, 1, 1], [-1, 1, 1]], "x1").round(2).tolist()
        [[0.04, 0.96], [0.5, 0.5]]
        """
        return rows.predict_proba(self, X, position_of(column, self.names))

    @checked
    def predict(self, X: Any, column: str) -> NDArray[Any]:
        """The likeliest label of a column given the rest of each row, shape (n,).

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.predict([[1, 1, 1], [-1, 1, -1]], "x1").tolist()
        [1, -1]
        """
        r = position_of(column, self.names)
        (labels,) = labels_array(self.states[r])
        return np.asarray(labels[rows.predict_proba(self, X, r).argmax(axis=1)])

    @takes_method
    def impute(
        self,
        X: Any,
        *,
        draws: int = 1,
        use: str = "display",
        most_likely: bool = False,
        method: Method = "auto",
        seed: int = 0,
        progress: Progress | None = None,
    ) -> completion.Completed:
        """Complete the rows of a table: missing cells are drawn together, given those seen.

        This assumes that whether a cell is missing says nothing about what it would hold, once
        the seen cells of its row are known.

        Parameters
        ----------
        X : array or data frame
            All columns of the model, found as in `predict`; a frame may have others.
        draws : int
            How many completed tables. The first ones are the same however many there are.
        use : "display" or "inference"
            For inference, the parameters are redrawn for every table; this needs a model with
            `errors`. Otherwise an analysis of the tables understates its uncertainty.
        most_likely : bool
            Fill in the likeliest states of a row's missing cells together, instead of a draw.
        method
            As in `sample`, for each set of missing columns that touch each other.
        seed : int
        progress : function of (tables done, tables in all), optional

        Returns
        -------
        Completed
            The tables, in the kind that came in, and a note on what they may be used for.

        Examples
        --------
        >>> import numpy as np
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=2.0, signs="positive")
        >>> rows = np.array([[1, np.nan, 1], [-1, np.nan, np.nan]])
        >>> completed = field.impute(rows, most_likely=True)
        >>> completed[0].tolist()
        [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
        >>> completed.filled, len(field.impute(rows, draws=5))
        (3, 5)
        """
        return completion.impute(
            self,
            X,
            draws=draws,
            use=use,
            most_likely=most_likely,
            method=method,
            seed=seed,
            progress=progress,
        )

    @takes_method
    def sample(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: Method = "auto",
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Draw a table of n rows that can be given to ``GreedyGraph().fit``.

        Cells are the states' labels, so a state that happens not to be drawn makes no other
        state change its name. Models of arrays give an array (of small integers if the labels
        are whole numbers), others a frame of their library.

        Parameters
        ----------
        n : int
            Rows.
        given : dict, optional
            Labels of some columns, by name; the other columns are drawn given these.
        seed : int, SeedSequence, Generator, optional
            The same seed gives the same table, whatever `n_jobs`; another memory may not.
        method : "auto", "exact", "gibbs", Exact, Gibbs, or (Exact, Gibbs)
            Exact: independent rows, by summing out columns one by one. Gibbs: many chains, with
            a `PoorMixing` warning if they disagree or move slowly. Auto: exact if memory allows
            it, else Gibbs; so are two objects. See `isinglass.Exact` and `isinglass.Gibbs`.
        n_jobs : int, optional
            Threads for Gibbs sampling; None means all cores.
        progress : function of (chains done, chains in all), optional

        Returns
        -------
        array of shape (n, p), or data frame

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.sample(1000, seed=0).shape
        (1000, 3)
        >>> set(field.sample(10, given={"x0": 1}, seed=0)[:, 0].tolist())
        {1}
        """
        codes = sampling.sample_codes(
            self, n, given=given, seed=seed, method=method, n_jobs=n_jobs, progress=progress
        )
        return rows.labelled_rows(self, codes)

    @takes_method
    def sample_codes(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: Method = "auto",
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.uint8]:
        """Draw n rows as codes, positions in ``states``; shape (n, p). Parameters as in `sample`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> sorted(set(field.sample_codes(100, seed=0).ravel().tolist()))
        [0, 1]
        """
        return sampling.sample_codes(
            self, n, given=given, seed=seed, method=method, n_jobs=n_jobs, progress=progress
        )

    def __repr__(self) -> str:
        columns, links = counted(len(self.names), "column"), counted(len(self.couplings), "edge")
        return f"MarkovField({columns}, {links})"

    def _repr_html_(self) -> str:
        """Strongest edges as a small table, for notebooks."""
        return edges.strongest_edges(self)
