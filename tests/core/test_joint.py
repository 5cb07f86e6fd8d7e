"""The core's joint loss is the pseudo-likelihood, written again in a few plain lines."""

import numpy as np
import pytest

from isinglass.core.models import add_scaled, joint_loss
from isinglass.losses.forms import zero_sum_basis

STATES = (2, 3, 4, 1, 2)
EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 4)]
RIDGE = 0.01


def draw(seed, missing):
    """Rows of codes, some beyond the states where values are missing, and their weights."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m + missing, 40) for m in STATES])
    codes[:, 3] = 0
    weights = rng.integers(0, 3, 40) / 40
    return codes, weights


def split(numbers):
    """The fields, and the tables by pair, of a vector of numbers."""
    fields = np.split(numbers[: sum(STATES)], np.cumsum(STATES)[:-1])
    tables, at = {}, sum(STATES)
    for i, j in EDGES:
        size = STATES[i] * STATES[j]
        tables[i, j] = numbers[at : at + size].reshape(STATES[i], STATES[j])
        at += size
    return fields, tables


def centred(table):
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    return table - rows - columns + table.mean()


def plain_loss(codes, weights, numbers, intercept):
    fields, tables = split(numbers)
    if not intercept:
        fields = [np.zeros(m) for m in STATES]
        tables = {pair: centred(table) for pair, table in tables.items()}
    tables |= {(j, i): table.T for (i, j), table in tables.items()}
    loss = sum(RIDGE / 2 * np.sum(centred(tables[pair]) ** 2) for pair in EDGES)
    for r, m in enumerate(STATES):
        others = [t for t in range(len(STATES)) if (r, t) in tables]
        kept = np.zeros(m)
        for row, weight in zip(codes, weights, strict=True):
            if m == 1 or any(row[v] >= STATES[v] for v in (r, *others)):
                continue
            scores = fields[r] + sum((tables[r, t][:, row[t]] for t in others), np.zeros(m))
            loss += weight * (np.log(np.exp(scores).sum()) - scores[row[r]])
            kept[row[r]] += weight
        if intercept and m > 1 and not kept.all():
            field = fields[r] + sum(tables[r, t].mean(axis=1) for t in others)
            loss += RIDGE / 2 * np.sum((field - field.mean()) ** 2)
    return loss


def slopes(function, at, step=1e-5):
    moves = step * np.eye(len(at))
    return np.array([(function(at + move) - function(at - move)) / (2 * step) for move in moves])


@pytest.fixture(params=[1, 0], ids=["intercept", "no intercept"])
def intercept(request):
    return bool(request.param)


@pytest.fixture(params=[(0, 0), (1, 1)], ids=["complete", "missing"])
def rows(request):
    return draw(*request.param)


@pytest.mark.parametrize("memory", [1e9, 0.0], ids=["kept", "made again"])
def test_value_slope_and_curvature(rows, intercept, memory):
    loss = joint_loss(
        *rows, STATES, EDGES, ridge=RIDGE, intercept=intercept, memory=memory, threads=2
    )
    at = np.random.default_rng(2).normal(size=loss.size)
    value, slope = loss.move_to(at)
    assert value == pytest.approx(plain_loss(*rows, at, intercept), rel=1e-12)
    np.testing.assert_allclose(
        slope, slopes(lambda x: plain_loss(*rows, x, intercept), at), atol=1e-8
    )
    direction = np.random.default_rng(3).normal(size=loss.size)
    numeric = slopes(lambda t: float(loss.move_to(at + t[0] * direction)[0]), np.zeros(1))
    assert slope @ direction == pytest.approx(numeric[0], abs=1e-7)
    ahead, behind = (loss.move_to(at + h * direction)[1] for h in (1e-5, -1e-5))
    loss.move_to(at)
    np.testing.assert_allclose(loss.multiply(direction), (ahead - behind) / 2e-5, atol=1e-7)


def test_damping_adds_to_the_curvature_of_every_number(rows, intercept):
    loss = joint_loss(*rows, STATES, EDGES, ridge=RIDGE, intercept=intercept, memory=1e9, threads=1)
    loss.move_to(np.random.default_rng(2).normal(size=loss.size))
    loss.renew()
    direction = loss.ease(np.random.default_rng(3).normal(size=loss.size))  # in the gauge
    plain, eased = loss.multiply(direction), loss.ease(direction)
    loss.renew(0.5)
    np.testing.assert_allclose(loss.multiply(direction), plain + 0.5 * direction, atol=1e-12)
    assert direction @ loss.ease(direction) < direction @ eased
    loss.renew()
    np.testing.assert_array_equal(loss.ease(direction), eased)


def test_curvature_in_the_states_of_a_neighbour_is_a_part_of_the_whole(rows):
    loss = joint_loss(*rows, STATES, EDGES, ridge=RIDGE, intercept=True, memory=1e9, threads=1)
    loss.move_to(np.random.default_rng(2).normal(size=loss.size))
    for r, t in EDGES + [(j, i) for i, j in EDGES]:
        m, others = STATES[r], STATES[t]
        neighbours = [b if a == r else a for a, b in EDGES if r in (a, b)]
        first = 1 + sum(STATES[u] - 1 for u in neighbours[: neighbours.index(t)])
        part, whole = loss.curvature_by_state(r, t), loss.curvature_of(r)
        if m == 1:
            assert not part.size
            continue
        whole = whole.reshape(2 * [round(np.sqrt(whole.size))])
        own = slice(first * (m - 1), (first + others - 1) * (m - 1))
        left, right = zero_sum_basis(others), zero_sum_basis(m)
        by_contrast = np.einsum(
            "sk,sl,sab,ac,bd->kcld", left, left, part.reshape(others, m, m), right, right
        )
        size = (others - 1) * (m - 1)
        np.testing.assert_allclose(by_contrast.reshape(size, size), whole[own, own], atol=1e-15)
    assert not loss.curvature_by_state(0, 4).size  # no edge


def test_a_state_in_no_row(intercept):
    codes, weights = draw(0, 0)
    codes[:, 2] = np.minimum(codes[:, 2], 2)
    loss = joint_loss(
        codes, weights, STATES, EDGES, ridge=RIDGE, intercept=intercept, memory=1e9, threads=1
    )
    at = np.random.default_rng(2).normal(size=loss.size)
    value, slope = loss.move_to(at)
    assert value == pytest.approx(plain_loss(codes, weights, at, intercept), rel=1e-12)
    np.testing.assert_allclose(
        slope, slopes(lambda x: plain_loss(codes, weights, x, intercept), at), atol=1e-8
    )


@pytest.mark.parametrize("memory", [1e9, 0.0], ids=["matrices", "diagonals"])
def test_easing_is_symmetric_positive_and_in_the_zero_sum_gauge(rows, intercept, memory):
    loss = joint_loss(
        *rows, STATES, EDGES, ridge=RIDGE, intercept=intercept, memory=memory, threads=2
    )
    loss.move_to(np.random.default_rng(2).normal(size=loss.size))
    loss.renew()
    eased = np.array([loss.ease(unit) for unit in np.eye(loss.size)])
    np.testing.assert_allclose(eased, eased.T, atol=1e-9 * np.abs(eased).max())
    values = np.linalg.eigvalsh((eased + eased.T) / 2)
    free = sum(m - 1 for m in STATES) * intercept
    free += sum((STATES[i] - 1) * (STATES[j] - 1) for i, j in EDGES)
    assert np.sum(values > 1e-9 * values[-1]) <= free
    fields, tables = split(loss.ease(np.random.default_rng(4).normal(size=loss.size)))
    for field in fields:
        assert field.sum() == pytest.approx(0, abs=1e-9)
    for table in tables.values():
        np.testing.assert_allclose(centred(table), table, atol=1e-9)


def test_threads_change_nothing(rows):
    one, two = (
        joint_loss(*rows, STATES, EDGES, ridge=RIDGE, intercept=True, memory=1e9, threads=threads)
        for threads in (1, 2)
    )
    at = np.random.default_rng(2).normal(size=one.size)
    assert one.move_to(at)[0] == two.move_to(at)[0]
    np.testing.assert_array_equal(one.multiply(at), two.multiply(at))


@pytest.mark.parametrize("edges", [[(1, 0)], [(0, 0)], [(0, 9)]])
def test_edges_must_join_two_columns(edges):
    with pytest.raises(ValueError, match="the lower one first"):
        joint_loss(*draw(0, 0), STATES, edges, ridge=RIDGE, intercept=True, memory=1e9, threads=1)


@pytest.mark.parametrize("seed", range(5))
def test_parts_are_added_to_a_matrix_in_any_order_of_its_rows(seed):
    rng = np.random.default_rng(seed)
    size, scale = 9, rng.uniform(0.5, 2.0, 9)
    found, wanted = np.zeros((size, size), np.float32), np.zeros((size, size))
    for count in (1, 4, 9):
        at, part = rng.permutation(size)[:count], rng.normal(size=(count, count))
        part = part + part.T
        add_scaled(found, at, part, scale)
        wanted[np.ix_(at, at)] += part * np.outer(scale[at], scale[at])
    np.testing.assert_allclose(found, np.triu(wanted), rtol=1e-6, atol=1e-6)


def test_a_part_beyond_the_matrix_is_refused():
    matrix, part = np.zeros((3, 3), np.float32), np.eye(2)
    with pytest.raises(ValueError, match="beyond the matrix"):
        add_scaled(matrix, np.array([0, 3]), part, np.ones(3))
    with pytest.raises(ValueError, match="square matrix"):
        add_scaled(matrix, np.array([0, 1, 2]), part, np.ones(3))
    assert not matrix.any()
