"""Random draws that belong to a document."""

import numpy as np
import pytest
from scipy import stats

from momus.numeric.draws import document_keys, hashed, log_gammas, uniforms

torch = pytest.importorskip("torch", reason="pip install -e .[torch]")

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


def test_numpy_and_torch_draw_the_same_numbers():
    """Hashes and uniform numbers bit for bit; logarithms of gamma variates within rounding."""
    places = np.arange(1000)
    shapes = np.linspace(0.02, 900, 1000)
    keys = hashed(places, 2**62 + 5)
    assert isinstance(keys, np.ndarray)
    assert keys.dtype == np.int64
    assert (keys == hashed(torch.from_numpy(places), 2**62 + 5).numpy()).all()
    assert (
        uniforms(keys[:, None], 1, places[:3]) == uniforms(torch.from_numpy(keys)[:, None], 1, places[:3]).numpy()
    ).all()
    mine, theirs = log_gammas(shapes, keys, 7), log_gammas(torch.from_numpy(shapes), torch.from_numpy(keys), 7).numpy()
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_hashes_are_splitmix():
    """Of one part, the third output of SplitMix64 from a state of that part, in plain integers."""
    mask = 2**64 - 1

    def mix(x):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return x ^ (x >> 31)

    for part in (0, 1, -3, 2**62):
        expected = mix((part + 0x9E3779B97F4A7C15) & mask)
        assert int(hashed(part)) & mask == expected
        assert int(hashed(np.array([part]))[0]) & mask == expected


@pytest.mark.parametrize("of", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_hashes_and_draws_go_on_after_a_hash(of):
    first, second = of(np.arange(-3, 3)[:, None]), of(np.arange(4))
    before = hashed(first, 8)
    assert (hashed(second, 1, after=before) == hashed(first, 8, second, 1)).all()
    assert (uniforms(second, after=before) == uniforms(first, 8, second)).all()
    shapes = of(np.full((6, 4), 0.7))
    assert (log_gammas(shapes, second, after=before) == log_gammas(shapes, first, 8, second)).all()
