"""skscope's FobaSolver on one regression, trying every candidate; prints its CPU seconds.

python -m peers.foba_regression table.npz logistic 1
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import skscope
from skscope import FobaSolver

jax.config.update("jax_enable_x64", True)


@jax.jit
def squared(theta: jax.Array, data: tuple[jax.Array, jax.Array]) -> jax.Array:
    A, y = data
    return jnp.mean((y - A @ theta) ** 2) / 2


@jax.jit
def logistic(theta: jax.Array, data: tuple[jax.Array, jax.Array]) -> jax.Array:
    A, y = data
    eta = A @ theta
    return jnp.mean(jnp.logaddexp(0.0, eta) - y * eta)


def main() -> None:
    """Search to k columns beside the constant, the first column of A."""
    path, kind, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
    table = np.load(path)
    A = np.column_stack([np.ones(len(table["y"])), table["X"]])
    data = jnp.asarray(A), jnp.asarray(table["y"], dtype=float)
    compiled = {"squared": squared, "logistic": logistic}[kind]
    slopes = jax.jit(jax.grad(compiled))
    for function in (compiled, slopes):  # compiles
        function(np.zeros(A.shape[1]), data).block_until_ready()
    solver = FobaSolver(
        A.shape[1], k + 1, len(A), use_gradient=False, threshold=1e-9, preselect=[0]
    )

    def loss(theta: jax.Array, rows: tuple[jax.Array, jax.Array]) -> jax.Array:
        return compiled(theta, rows)  # skscope asks a plain function for its number of arguments

    def gradient(theta: jax.Array, rows: tuple[jax.Array, jax.Array]) -> jax.Array:
        return slopes(theta, rows)

    start = time.process_time()
    solver.solve(loss, data, gradient=gradient)
    spent = time.process_time() - start
    version = f"skscope {getattr(skscope, '__version__', '')}".strip()
    print(json.dumps({"seconds": spent, "version": version}))


if __name__ == "__main__":
    main()
