"""Every inequality that the paper proves, on simulated instances where its conditions hold.

Two kinds of instances: squared losses, whose constants are the same everywhere, with n from 30
rows; and one column of an Ising model, as a logistic loss over all its states, with up to 1e12
rows drawn as counts. Each test counts the instances at which the conditions hold, says how many
there were (``pytest -s``), and demands that there are enough of them to mean something.

The lemmas are read as docs/paper.md says: the forward one is one-sided, the backward one has
2 nu epsilon.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from isinglass import foba
from isinglass.losses import LogisticLoss, SquaredLoss
from isinglass.theorem.conditions import Asked, Given, asked, least_eta, stopping_size_threshold
from isinglass.theorem.curvature import Instance, loss_instance

NU = 0.5


@dataclass(frozen=True, eq=False)
class Case:
    """A loss, its true coefficients, and the constants of the theorem."""

    loss: object
    truth: np.ndarray
    instance: Instance
    lower: float  # kappa_l at the truth
    upper: float  # kappa_u along single coordinates, anywhere
    whole: float  # kappa_u along anything, anywhere
    noise: float
    needs: Asked

    @property
    def s(self):
        return int(np.count_nonzero(self.truth))

    @property
    def everywhere(self):
        """Whether the constants are the same everywhere."""
        return self.instance.reach == 0

    def value(self, coef):
        """The profiled loss."""
        loss = self.loss
        return loss._infimum((), loss.eta(coef, 0.0))


def case_of(loss, truth):
    instance = loss_instance(loss, truth, [(j,) for j in range(loss.size)])
    slope, curvature = instance.slope_and_curvature()
    most = instance.largest_curvature()
    given = Given(
        s=int(np.count_nonzero(truth)),
        candidates=loss.size,
        curvature=float(np.linalg.eigvalsh(curvature)[0]),
        single=float(np.diag(most).max()),
        ceiling=float(np.linalg.eigvalsh(most)[-1]),
        reach=instance.reach,
        noise=float(np.abs(slope).max()),
        smallest=float(np.abs(truth[truth != 0]).min()),
        n=loss.n,
    )
    needs = asked(given)
    return Case(
        loss, truth, instance, given.curvature, given.single, given.ceiling, given.noise, needs
    )


def squared_case(seed):
    rng = np.random.default_rng([1, seed])
    p = int(rng.integers(4, 13))
    n = int(rng.choice([30, 100, 1000, 10_000]))
    X = rng.normal(size=(n, p))
    if rng.random() < 0.5:  # nearly orthonormal
        X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(n)
        X = X + rng.choice([0.0, 0.01, 0.05]) * rng.normal(size=(n, p))
    truth = np.zeros(p)
    s = int(rng.integers(1, 3))
    truth[rng.permutation(p)[:s]] = rng.choice([-1, 1], s) * rng.choice([0.1, 1.0, 10.0, 100.0])
    y = X @ truth + rng.normal(size=n) + 3
    return case_of(SquaredLoss(X, y), truth)


def ising_case(seed):
    """One column given the others: rows are all states, weighted by drawn counts."""
    rng = np.random.default_rng([2, seed])
    p = int(rng.integers(3, 6))
    theta = np.triu(rng.choice([0, 0, 0.1, -0.2, 0.4], size=(p, p)), 1)
    theta[0, 1] = rng.choice([0.1, -0.2, 0.4])
    theta = theta + theta.T
    states = np.array(list(product([-1, 1], repeat=p)))
    weight = np.exp(np.einsum("si,ij,sj->s", states, theta, states) / 2)
    n = 10 ** int(rng.integers(2, 13))
    counts = rng.multinomial(n, weight / weight.sum()).astype(float)
    y, X = states[:, 0], states[:, 1:].astype(float)
    loss = LogisticLoss(X, y, counts, intercept=bool(seed % 2))
    return case_of(loss, 2 * theta[0, 1:])


@cache
def cases():
    made = [squared_case(seed) for seed in range(80)] + [ising_case(seed) for seed in range(80)]
    return [case for case in made if case.lower > 1e-9]


@cache
def searches():
    """Each case with a search at a lax and at a strict threshold."""
    made = []
    for at, case in enumerate(cases()):
        for times in (0.002, 1.0 + (at % 3)):
            eps = times * case.needs.threshold
            if eps > 1e-10:
                made.append((case, eps, foba(case.loss, eps, nu=NU)))
    return made


def say(what, held, least):
    print(f"{what}: held on all {held} instances where its conditions hold")
    assert held >= least, (what, held)


def parts(case, coef):
    true, found = case.truth != 0, coef != 0
    return int(np.sum(true & ~found)), found & ~true, int(np.sum(true | found))


def test_theorem_1():
    held = {True: 0, False: 0}
    for case, eps, path in searches():
        smallest = np.abs(case.truth[case.truth != 0]).min()
        if not case.needs.holds_at(eps, smallest, case.s, case.noise):
            continue
        held[case.everywhere] += 1
        assert path.support == tuple(np.flatnonzero(case.truth))
        distance = np.linalg.norm(path.coef - case.truth)
        assert distance <= case.needs.error_at(eps, case.s, case.noise) + 1e-9
    say("Theorem 1, squared loss", held[True], 20)
    say("Theorem 1, Ising", held[False], 20)


def test_stopping_forward_step():
    """One-sided, with the smoothness along single coordinates."""
    held = 0
    for case, eps, path in searches():
        missed = parts(case, path.coef)[0]
        distance = np.linalg.norm(path.coef - case.truth)
        rise = case.value(path.coef) - case.value(case.truth)
        assert rise <= np.sqrt(2 * missed * case.upper * eps) * distance + 1e-9
        held += missed > 0
    say("Stopping Forward Step, with something missed", held, 20)


def test_stopping_backward_step():
    held = 0
    for case, eps, path in searches():
        wrong = parts(case, path.coef)[1]
        least = 2 * NU * eps / case.upper * wrong.sum()
        assert np.sum(path.coef[wrong] ** 2) >= least * (1 - 1e-6) - 1e-12
        held += wrong.any()
    say("Stopping Backward Step, with something wrong", held, 20)


def test_stopping_error_bound():
    """Where the bound lies within the distance in which kappa_l holds."""
    held = 0
    for case, eps, path in searches():
        missed, _, union = parts(case, path.coef)
        lower = case.needs.kappa_l
        beyond = np.sqrt(2 * missed * case.upper * eps)
        bound = 2 / lower * (case.noise * np.sqrt(union) + beyond)
        if bound <= case.needs.radius:
            held += 1
            assert np.linalg.norm(path.coef - case.truth) <= bound + 1e-9
    say("Stopping Error Bound", held, 100)


def test_stopping_size():
    """Convexity and smoothness everywhere: squared losses, with more candidates than allowed."""
    held = 0
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        p, n = 24, 400
        X = rng.normal(size=(n, p))
        X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(n)
        X = X + rng.choice([0.0, 1e-3, 3e-3]) * rng.normal(size=(n, p))
        truth = np.zeros(p)
        truth[0] = 0.01 * 10 ** rng.uniform(0, 4)
        case = case_of(SquaredLoss(X, X @ truth + rng.normal(size=n)), truth)
        rho = case.whole / case.lower
        eta = least_eta(rho, 1)
        if not eta - 1 < p:
            continue
        held += 1
        least = stopping_size_threshold(eta, rho, 1, case.whole, case.noise)
        assert len(foba(case.loss, 1.0001 * least, nu=NU).support) <= eta - 1
    say("Stopping Size", held, 20)


def first_times(path):
    """Sizes reached for the first time at the beginning of a forward step, and the fit before."""
    seen, kept = {0}, [path.start, *(step.fit for step in path.steps)]
    kinds = [step.kind for step in path.steps]
    for at, step in enumerate(path.steps):
        stays = at + 1 == len(kinds) or kinds[at + 1] == "add"
        k = len(step.support)
        if step.kind == "add" and stays and k not in seen:
            seen.add(k)
            yield k, step, kept[at]


def greedy_paths():
    """Squared losses, searched until everything is in: convexity holds at every step."""
    for case in cases():
        if case.everywhere:
            yield case, foba(case.loss, 1e-9, nu=NU)


def test_general_forward_step():
    held = 0
    for case, path in greedy_paths():
        for _, step, before in first_times(path):
            missed = parts(case, before.coef)[0]
            rise = case.value(before.coef) - case.value(case.truth)
            distance = np.linalg.norm(before.coef - case.truth)
            bound = np.sqrt(2 * missed * case.upper * step.gain) * distance
            assert rise <= bound + 1e-9
            held += 1
    say("General Forward Step", held, 200)


def test_general_error_bound():
    held = 0
    for case, path in greedy_paths():
        for _, step, before in first_times(path):
            missed, wrong, union = parts(case, before.coef)
            if union == 0:
                continue
            inner = case.noise / np.sqrt(case.upper * step.gain) + np.sqrt(2 * missed / union)
            bound = 4 * case.upper * union * step.gain / case.lower**2 * inner**2
            assert np.sum(before.coef[wrong] ** 2) <= bound * (1 + 1e-6) + 1e-9
            held += 1
    say("General Error Bound", held, 200)


def test_general_backward_step():
    held = 0
    for case, path in greedy_paths():
        rho = case.whole / case.lower
        for k, step, before in first_times(path):
            if not k > case.s + 4 * rho**4 + 1:
                continue
            _, wrong, _ = parts(case, before.coef)
            root = np.sqrt(wrong.sum() / case.whole)
            root -= 2 * case.whole * np.sqrt(max(case.whole - case.lower, 0)) / case.lower**2
            if root > 0:
                held += 1
                least = root**2 * step.gain
                assert np.sum(before.coef[wrong] ** 2) >= least * (1 - 1e-6) - 1e-12
    say("General Backward Step", held, 20)
