"""Parts of the mixed model against linear algebra and known densities: curvature, factors, precisions, priors."""

import numpy as np
import pytest
from scipy import linalg, sparse, stats

from momus_people import mixed
from momus_people.likelihood import Ordered
from momus_people.mixed import Mixed, Random, _factor, _inverse_curvature


def test_the_inverse_curvature_of_a_quadratic_is_its_covariance():
    """Differences are exact there; what is flatter than a variance of 1 counts as 1."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for variances in ([0.5, 0.2, 0.05], [4.0, 0.2, 0.05], [0.9, 1.1, 2.0]):
        hessian = turn @ np.diag(1 / np.array(variances)) @ turn.T
        at = np.array([0.3, -1.0, 2.0])
        found = _inverse_curvature(lambda x: 0.5 * (x - at) @ hessian @ (x - at) + 7, at + 0.2)  # noqa: B023
        assert found == pytest.approx(turn @ np.diag(np.minimum(variances, 1.0)) @ turn.T, abs=1e-8)


@pytest.mark.parametrize("dense", [0, 500])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_factors_solve_and_have_the_determinant(dense, form, monkeypatch):
    monkeypatch.setattr(mixed, "DENSE", dense)
    root = np.random.default_rng(1).normal(size=(6, 6))
    matrix, precision = root @ root.T, np.arange(6.0)
    if dense == 0 and form is np.asarray:
        form = sparse.csr_array  # larger matrices are sparse
    found = _factor(form(matrix), precision)
    whole = matrix + np.diag(precision)
    assert found.log_det == pytest.approx(np.linalg.slogdet(whole)[1])
    assert found.inverse(2) == pytest.approx(np.linalg.inv(whole)[:2, :2], rel=1e-6)
    assert found.solve(np.ones(6)) == pytest.approx(np.linalg.solve(whole, np.ones(6)), rel=1e-6)


def test_a_category_that_nobody_chose_leaves_a_matrix_that_can_be_factorised():
    assert np.isfinite(_factor(np.zeros((2, 2)), np.zeros(2)).log_det)


def model(rng, random=True, likelihood=Ordered):
    """Yes or no about 12 passages, three raters each."""
    y = rng.random(36) < 0.4
    live = np.column_stack([~y, y]).astype(float)
    passages = np.repeat(np.arange(12), 3)
    design = sparse.csr_array((-live.ravel(), (np.arange(72), np.repeat(passages, 2))), shape=(72, 12))
    fixed = live.reshape(72, 1)
    named = [Random("passage", design)] if random else []
    return Mixed(likelihood(~y, y), fixed, named, np.zeros(1), np.zeros(1, dtype=bool))


def test_precisions_are_those_of_the_priors():
    one = model(np.random.default_rng(2))
    one.shrunk = np.array([True])
    found = one._precision(np.log([0.5]))
    assert found[0] == 1 / 25, "a normal prior with a standard deviation of 5 logits"
    assert found[1:] == pytest.approx(np.full(12, 4.0))
    one.shrunk = np.array([False])
    assert one._precision(np.log([2.0])).tolist() == [0.0] + [0.25] * 12


def test_the_posterior_of_a_deviation_is_the_laplace_approximation_and_a_half_t_prior():
    one = model(np.random.default_rng(2))
    found = []
    for sigma in (0.3, 1.0, 2.5):
        given = one._given(np.log([sigma]), np.zeros(13))
        design = one._design
        weights = one.likelihood.derivatives((design @ given.mode).reshape(-1, 2))[1]
        information = design.T @ linalg.block_diag(*weights) @ design
        h = information + np.diag([0.0] + [sigma**-2] * 12)
        effects = given.mode[1:]
        joint = one.likelihood.value((design @ given.mode).reshape(-1, 2)) + stats.norm(0, sigma).logpdf(effects).sum()
        laplace = joint - 0.5 * np.linalg.slogdet(h)[1]
        # the density of log σ is that of σ, a half-t with three degrees of freedom, times σ
        found.append(given.log_posterior - laplace - stats.t(3).logpdf(sigma) - np.log(sigma))
    assert np.ptp(found) == pytest.approx(0, abs=1e-6)


def test_the_mode_is_a_maximum_and_dense_and_sparse_designs_agree(monkeypatch):
    one = model(np.random.default_rng(3))
    mode, value, factor = one._mode(np.log([0.8]), np.zeros(13))
    precision = one._precision(np.log([0.8]))

    def penalised(x):
        return one.likelihood.value((one._design @ x).reshape(-1, 2)) - 0.5 * precision @ x**2

    assert value == pytest.approx(penalised(mode))
    slopes = [(penalised(mode + m) - penalised(mode - m)) / 2e-4 for m in 1e-4 * np.eye(13)]
    assert slopes == pytest.approx(np.zeros(13), abs=1e-3)
    moves = 1e-2 * np.eye(13)
    hessian = [
        [
            (penalised(mode + a + b) - penalised(mode + a - b) - penalised(mode - a + b) + penalised(mode - a - b))
            / 4e-4
            for a in moves
        ]
        for b in moves
    ]
    assert factor.inverse(13) == pytest.approx(-np.linalg.inv(hessian), rel=1e-2, abs=1e-3)
    monkeypatch.setattr(mixed, "DENSE_ENTRIES", 0)
    other = model(np.random.default_rng(3))
    assert sparse.issparse(other._design)
    assert not sparse.issparse(one._design)
    assert other._mode(np.log([0.8]), np.zeros(13))[0] == pytest.approx(mode, abs=1e-6)
    assert other.fit().sds == pytest.approx(one.fit().sds, rel=1e-4)
