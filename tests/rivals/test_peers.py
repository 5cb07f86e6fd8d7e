"""The l1 path against adelie's, which lives in an environment of its own."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import isinglass as ig
from instances import sample

ENVIRONMENTS = Path(
    os.environ.get("ISINGLASS_PEERS", Path(__file__).parent.parent.parent / ".venv-peers")
)
PYTHON = ENVIRONMENTS / "adelie" / "bin" / "python"
REGRESS = """
import json, sys
import adelie, numpy as np
told = json.loads(sys.stdin.read())
spins = np.array(told["spins"], dtype=float)
answer = []
for r in range(spins.shape[1]):
    glm = adelie.glm.binomial((spins[:, r] + 1) / 2)
    rest = np.asfortranarray(np.delete(spins, r, axis=1))
    fit = adelie.grpnet(rest, glm, lmda_path=np.array(told["lambdas"]), progress_bar=False,
                        early_exit=False, tol=1e-14, irls_tol=1e-14)
    answer.append(fit.betas.toarray().tolist())
print(json.dumps(answer))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason="adelie is not there: `make benchmark` installs it")
def test_path_against_adelie():
    codes = sample(np.random.default_rng(0), [2] * 8, 400, 0.6)
    lambdas = [0.2, 0.1, 0.05, 0.02]
    told = {"spins": (2 * codes - 1).tolist(), "lambdas": [value / 2 for value in lambdas]}
    done = subprocess.run(
        [PYTHON, "-c", REGRESS], input=json.dumps(told), capture_output=True, text=True, check=True
    )
    theirs = np.array(json.loads(done.stdout.strip().split("\n")[-1])) / 2  # log odds to theta
    est = ig.L1Graph(lambdas[-1], lambdas=lambdas).fit(codes)
    for k, penalty in enumerate(lambdas):
        ours = est.couplings_at(penalty)
        for r in range(8):
            np.testing.assert_allclose(np.delete(ours[r], r), theirs[r, k], atol=1e-5)
