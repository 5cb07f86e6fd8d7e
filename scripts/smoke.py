"""A few seconds that show whether an installed isinglass works; needs nothing but its wheel."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import isinglass as ig


def main() -> None:
    """Learn a known graph in Python and from the shell; save the model, and read it back."""
    truth = ig.simulate.ising(ig.simulate.chain(6), coupling=0.6, signs="positive")
    table = pl.DataFrame(truth.sample(2000, seed=0), schema=truth.graph.names)
    est = ig.GreedyGraph().fit(table)
    assert est.graph_.edges == truth.graph.edges, est.graph_.edges
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder, "model.json")
        est.model_.save(saved, fit=est.record())
        again = ig.MarkovField.load(saved)
        assert np.allclose(again.sample(10, seed=1), est.model_.sample(10, seed=1))
        table.write_csv(Path(folder, "table.csv"))
        fit = "from isinglass.cli import main; main()"
        command = [sys.executable, "-c", fit, "fit", "table.csv", "--out", "result"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        written = {path.name for path in Path(folder, "result").iterdir()}
        assert {"report.html", "edges.csv", "model.json"} <= written, written
    print("isinglass works:", Path(ig.__file__).parent)


if __name__ == "__main__":
    main()
