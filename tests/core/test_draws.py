"""Random draws that belong to a document."""

import numpy as np
import pytest
import torch
from scipy import stats

from momus.numeric.draws import document_keys, hashed, log_gammas, uniforms

N = 50_000


def test_uniforms_are_uniform_and_streams_are_independent():
    """Each test at 10⁻⁴; the seeds are fixed, so that it fails always or never."""
    x, y = (uniforms(torch.arange(N), stream).numpy() for stream in (0, 1))
    assert stats.kstest(x, "uniform").pvalue > 1e-4
    table = np.histogram2d(x, y, 20)[0]
    assert stats.chisquare(table.ravel()).pvalue > 1e-4
    neighbours = np.histogram2d(x[:-1], x[1:], 20)[0]
    assert stats.chisquare(neighbours.ravel()).pvalue > 1e-4


@pytest.mark.parametrize("shape", [0.02, 0.3, 1.0, 4.5, 1000.0])
def test_gammas_are_gammas(shape):
    x = log_gammas(torch.full((N,), shape), torch.arange(N), 3).numpy()
    assert np.isfinite(x).all()  # also where the draw itself is below the smallest number
    assert stats.kstest(stats.gamma(shape).cdf(np.exp(x)), "uniform").pvalue > 1e-4


def test_draws_do_not_depend_on_company():
    keys = torch.tensor([5, 9, 12])
    shapes = torch.tensor([0.5, 2.0, 3.0])
    together = log_gammas(shapes, keys, 1)
    alone = torch.cat([log_gammas(shapes[i : i + 1], keys[i : i + 1], 1) for i in range(3)])
    assert torch.equal(together, alone)


def test_keys_are_of_the_words_in_their_order():
    codes = np.array([3, 1, 4, 1, 3, 3, 1, 4])
    keys = document_keys(codes, np.array([0, 3, 5, 8]), 0)
    assert keys[0] == keys[2] != keys[1]
    assert (document_keys(codes, np.array([0, 3, 5, 8]), 1) != keys).all()
    assert document_keys(codes[3:], np.array([3, 5, 8]), 0).tolist() == keys[1:].tolist()
    assert len(np.unique(hashed(torch.arange(N), 7).numpy())) == N
