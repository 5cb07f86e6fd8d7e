"""Numbers in 0/1 coding mean the same model; R reads them where it is installed."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import enumeration
from isinglass.errors import SettingError
from isinglass.exports import binary_parameters, isingsampler, qgraph, weights
from small_models import MODELS

ISING = [name for name, field in MODELS.items() if set(field.n_states) == {2}]


@pytest.mark.parametrize("name", ISING)
def test_the_same_distribution(name):
    couplings, thresholds = binary_parameters(MODELS[name])
    rows = enumeration.all_rows(MODELS[name])
    energy = rows @ thresholds + np.einsum("ni,ij,nj->n", rows, couplings, rows) / 2
    np.testing.assert_allclose(np.diff(energy - MODELS[name].log_potential(rows)), 0, atol=1e-12)


def test_two_states_only():
    with pytest.raises(SettingError, match="'x1' has 3"):
        binary_parameters(MODELS["Potts, grid"])


def write(contents, folder) -> list[Path]:
    for path, content in contents.items():
        path.write_bytes(content)
    assert {path.parent for path in contents} == {folder}
    return list(contents)


def test_files(tmp_path):
    field = MODELS[ISING[0]]
    table, script = write(isingsampler(field, tmp_path / "model.csv"), tmp_path)
    read = pd.read_csv(table, index_col=0)
    couplings, thresholds = binary_parameters(field)
    assert list(read.index) == list(field.names)
    assert np.array_equal(read.to_numpy(), np.column_stack([thresholds, couplings]))
    assert script.name == "model.R"
    assert '"model.csv"' in script.read_text()
    table, script = write(qgraph(field.graph, tmp_path / "weights.csv"), tmp_path)
    assert np.array_equal(pd.read_csv(table, index_col=0).to_numpy(), weights(field.graph))
    assert script.read_text().startswith("# Written by isinglass\n")


def run_r(script: str, folder: Path) -> str:
    """What R prints; skips where it is not installed."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    (folder / "run.R").write_text(script)
    done = subprocess.run(
        ["Rscript", "run.R"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(package: str, folder: Path) -> None:
    """Skip where R has no such package."""
    if run_r(f'cat(requireNamespace("{package}", quietly = TRUE))', folder) != "TRUE":
        pytest.skip(f"R is installed, its package {package} is not")


#: IsingSampler's model, with IsingSampler's arguments, by adding up all rows.
BY_ENUMERATION = """
graph <- model[, -1]
thresholds <- model[, 1]
rows <- as.matrix(expand.grid(rep(list(0:1), length(thresholds))))
energy <- rows %*% thresholds + rowSums((rows %*% graph) * rows) / 2
probability <- exp(energy) / sum(exp(energy))
cat(format(colSums(rows * as.vector(probability)), digits = 15))
"""


@pytest.mark.parametrize("name", ["Ising, grid", "Ising, tree"])
def test_in_r_it_is_the_same_model(name, tmp_path):
    field = MODELS[name]
    _, script = write(isingsampler(field, tmp_path / "model.csv"), tmp_path)
    _, first, *_ = script.read_text().splitlines()
    printed = run_r(first + BY_ENUMERATION, tmp_path)
    ours = [table.values[1] for table in field.marginals().values()]
    np.testing.assert_allclose([float(word) for word in printed.split()], ours, atol=1e-12)


def test_isingsampler_runs_its_script(tmp_path):
    needs("IsingSampler", tmp_path)
    field = MODELS["Ising, grid"]
    _, script = write(isingsampler(field, tmp_path / "model.csv"), tmp_path)
    printed = run_r(script.read_text() + "cat(colMeans(rows))", tmp_path)
    ours = [table.values[1] for table in field.marginals().values()]
    np.testing.assert_allclose([float(word) for word in printed.split()], ours, atol=0.12)


def test_qgraph_runs_its_script(tmp_path):
    needs("qgraph", tmp_path)
    field = MODELS["Ising, grid"]
    _, script = write(qgraph(field.graph, tmp_path / "weights.csv"), tmp_path)
    draw = script.read_text().replace("qgraph(weights,", "drawn <- qgraph(weights,")
    printed = run_r(
        f"""pdf("drawn.pdf")
        {draw}
        edges <- drawn$Edgelist
        cat(format(edges$weight[order(edges$from, edges$to)], digits = 15))""",
        tmp_path,
    )
    signed = [link.sign * link.strength for link in field.graph]
    assert [float(word) for word in printed.split()] == pytest.approx(signed)
