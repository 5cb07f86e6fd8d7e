"""skscope's FobaSolver on the mean logistic loss.

With use_gradient=False it tries every candidate, as Algorithm 1 does; as it comes it takes the
largest gradient instead. The loss and its gradient are compiled once for all nodes, which is
kinder than the solver's own jit=True: that compiles anew for every node.
"""

import jax
import jax.numpy as jnp
import numpy as np
from peers.nodes import plus_minus, report_nodes
from skscope import FobaSolver

MOST_NEIGHBOURS = 10

jax.config.update("jax_enable_x64", True)


@jax.jit
def compiled_loss(theta: jax.Array, data: tuple[jax.Array, jax.Array]) -> jax.Array:
    A, x = data
    return jnp.mean(jnp.logaddexp(0.0, -x * (A @ theta)))


compiled_gradient = jax.jit(jax.grad(compiled_loss))


def loss(theta, data):  # skscope asks a plain function for its number of arguments
    return compiled_loss(theta, data)


def gradient(theta, data):
    return compiled_gradient(theta, data)


def prepare(table: np.ndarray) -> np.ndarray:
    """Columns as -1.0 and 1.0; compiles for their shape."""
    X = plus_minus(table)
    data = jnp.asarray(X), jnp.asarray(X[:, 0])
    for function in (compiled_loss, compiled_gradient):
        function(np.zeros(X.shape[1]), data).block_until_ready()
    return X


def solve(X: np.ndarray, node: int, by_gradient: bool) -> np.ndarray:
    """The column of the node itself serves as the constant, which is always in the model."""
    n, p = X.shape
    gain = np.log(n * p) / n
    A = X.copy()
    A[:, node] = 1.0
    solver = FobaSolver(
        p,
        MOST_NEIGHBOURS,
        n,
        use_gradient=by_gradient,
        # A squared gradient of half the gain promises that gain where the curvature is 1/4.
        threshold=gain / 2 if by_gradient else gain,
        strict_sparsity=False,
        preselect=[node],
    )
    return solver.solve(loss, (jnp.asarray(A), jnp.asarray(X[:, node])), gradient=gradient)


def every_candidate(X: np.ndarray, node: int) -> np.ndarray:
    return solve(X, node, by_gradient=False)


def largest_gradient(X: np.ndarray, node: int) -> np.ndarray:
    return solve(X, node, by_gradient=True)


if __name__ == "__main__":
    variants = {"every candidate": every_candidate, "largest gradient": largest_gradient}
    report_nodes("skscope", prepare, variants)
