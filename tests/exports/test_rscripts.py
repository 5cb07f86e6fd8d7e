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
    assert len(script.read_text().splitlines()) == 3


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_them(tmp_path):
    field = MODELS[ISING[0]]
    _, script = write(isingsampler(field, tmp_path / "model.csv"), tmp_path)
    first = script.read_text().splitlines()[0]
    done = subprocess.run(
        ["Rscript", "-e", f"{first}; cat(model[2, 1])"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(done.stdout) == pytest.approx(binary_parameters(field)[1][1])
