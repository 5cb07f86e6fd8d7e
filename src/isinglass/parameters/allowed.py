"""What every public parameter may be, in one table.

A name means the same everywhere; where it does not, the table has it with its function or class in
front, as "resample.n".
"""

from __future__ import annotations

from isinglass.parameters.kinds import (
    ANYTHING,
    BYTES,
    FLAG,
    FUNCTION,
    GENERATOR,
    MANY,
    PATH,
    SEPARATOR,
    SIZE,
    TEXT,
    WORDS,
    Either,
    Kind,
    Number,
    Range,
    Several,
    Whole,
    Word,
)

POSITIVE = Number(above=0)
SHARE = Number(above=0, below=1)
#: As large as those that numpy draws for itself.
SEED = Whole(0, 2**128 - 1)
MILLION = 10**6

#: Kinds, and the names of the parameters that are of each.
KINDS: list[tuple[Kind, str]] = [
    (TEXT, "a across b column name"),
    (Either(TEXT, None), "sheet title"),
    (Either(TEXT, Several(TEXT)), "conditional.of"),
    (Either(Several(TEXT), None), "ask.of verdict.columns"),
    (Either(Several(Either(TEXT, Whole(0))), None), "ordered"),
    (Either(Word("graph", "edges"), None), "aim"),
    (Word("auto", "table", "scores"), "edges"),
    (Word("ising", "01", "reference"), "coding"),
    (Word("gic", "bic", "ebic", "aic"), "criterion"),
    (Either(Word("pandas", "polars", "pyarrow"), None), "library"),
    (Word("error", "model", "drop", "state", "available"), "missing"),
    (Word("error", "drop", "state"), "Rival.missing compare.missing plan.missing"),
    (Word("rise", "logrise", "rple"), "objective"),
    (Word("pseudolikelihood", "likelihood"), "refit"),
    (Word("or", "and"), "rule"),
    (Word("or", "and", "joint"), "GreedyGraph.rule plan.rule"),
    (Either(Word("or", "and"), None), "L1Graph.adjacency_at.rule"),
    (Word("mixed", "positive"), "signs"),
    (Word("edge", "strength", "overlap"), "statistic"),
    (Word("display", "inference"), "use"),
    (Word("squared", "huber", "poisson"), "GreedyRegressor.loss"),
    (FLAG, "beyond header intercept joint labels most_likely overwrite paths standardise"),
    (FLAG, "L1Graph.refit fit_intercept indices"),
    (Either(FLAG, WORDS), "network.labels networks.labels"),
    (Either(WORDS, None), "centrality.labels predictability.labels"),
    (Either(FLAG, Word("strength", "log_odds", "evidence")), "edge_labels"),
    # Whole numbers.
    (Whole(0, MILLION), "d L0Graph.max_degree"),
    (Either(Whole(0, MILLION), None), "max_degree n_nonzero"),
    (Whole(0, MILLION, even=True), "k"),
    (Whole(0, 10**9), "burn_in"),
    (Either(Whole(0), None), "max_steps"),
    (Whole(1), "most most_rows n"),
    (Either(Several(Whole(1)), None), "plan.rows"),
    (Whole(1, 2400), "dpi"),
    (Whole(1, 10**5), "n_lambdas impute.draws"),
    (Whole(1, MILLION), "cols graphs p pairs splits starts thin grid.rows"),
    (Whole(1, MILLION), "audit.n bootstrap.n case_dropping.n"),
    (Whole(1, 10**8), "draws"),
    (Whole(2), "max_states"),
    (Whole(2, 256), "states"),
    (Either(Whole(2, 256), Several(Whole(2, 256))), "potts.states ordinal.states"),
    (Whole(2, MILLION), "chains folds samples"),
    (Either(Whole(2, MILLION), None), "nodes.folds plan.columns"),
    (Whole(2, MILLION, even=True), "resample.n column_intervals.n"),
    (Either(Whole(1, 4096), Whole(-4096, -1), None), "n_jobs"),
    (SEED, "seed"),
    (Either(SEED, GENERATOR, None), "erdos_renyi.seed ising.seed potts.seed random_regular.seed"),
    (Either(SEED, GENERATOR, None), "small_world.seed tree.seed sample.seed sample_codes.seed"),
    (Either(SEED, GENERATOR, None), "ask.seed marginals.seed pair_marginals.seed"),
    (Either(SEED, GENERATOR, None), "conditional.seed odds_shift.seed ordinal.seed"),
    # Other numbers.
    (POSITIVE, "c coupling expected penalty threshold HuberLoss.k Theorem.degree"),
    (POSITIVE, "GreedyRegressor.k"),
    (Either(POSITIVE, None), "floor odds_ratio"),
    (Either(POSITIVE, None), "InteractionScreening.c InteractionScreening.penalty"),
    (Several(POSITIVE), "factors penalties"),
    (Either(Several(POSITIVE), None), "lambdas"),
    (Range(POSITIVE), "ising.coupling ordinal.coupling potts.coupling"),
    (Range(Number()), "ising.intercept ordinal.intercept potts.intercept"),
    (Either(Number(), None), "plan.coupling"),
    (SHARE, "level nu target"),
    (Several(SHARE), "shares"),
    (Number(above=0, below=0.5), "instability"),
    (Number(above=0.5, below=1), "power"),
    (Number(above=0.5, most=1), "share"),
    (Number(above=0, most=1), "smallest LookBelow.share"),
    (Number(above=0, most=1000), "height width"),
    (Number(above=1), "matters"),
    (Number(-1, 1), "correlation"),
    (Number(0), "degree gamma ridge L1Graph.threshold"),
    (Number(0), "InteractionScreening.adjacency_at.threshold InteractionScreening.at.threshold"),
    (Either(Number(0), None), "plan.degree"),
    (Number(0, 1), "certainty rewire stable.share"),
    (Number(0, 100), "plan.intercept"),
    (Number(0, 1e4), "node_size"),
    (Number(0, 1e5), "suppress"),
    (Number(0, 1e9), "resolution"),
    (Either(Word("gap"), Number(0)), "InteractionScreening.threshold"),
    (Either(Word("sum", "design", "kish"), Number(above=0, most=MANY)), "n_eff"),
    # Everything else.
    (PATH, "path"),
    (Either(PATH, None), "resample.path case_dropping.path bootstrap.path split_test.path"),
    (Either(PATH, None), "column_intervals.path"),
    (Either(PATH, None), "audit.path plan.path"),
    (BYTES, "memory"),
    (Either(SIZE, None), "max_bytes"),
    (Either(SEPARATOR, None), "sep"),
    (Either(FUNCTION, None), "progress"),
    (ANYTHING, "method ChowLiuTree.threshold GreedyGraph.threshold L1Graph.penalty plan.threshold"),
    (ANYTHING, "GreedyLinear.threshold networks.graphs scores"),
]

#: What a parameter of this name may be.
PARAMETERS: dict[str, Kind] = {name: kind for kind, names in KINDS for name in names.split()}
