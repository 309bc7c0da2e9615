"""Critical values against p-values by counting: they exclude exactly what the test rejects."""

import numpy as np
import pytest

from momus.inference.intervals import critical_value


@pytest.mark.parametrize("exact", [False, True], ids=["drawn", "all"])
@pytest.mark.parametrize("size", [3, 6, 19, 20, 99])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 1 / 3, 0.5])
def test_what_lies_beyond_the_critical_value_has_a_p_of_at_most_the_level(exact, size, level):
    null = np.random.default_rng(size).integers(0, 3 * size, size).astype(float)  # with ties
    critical = critical_value(null, level, exact)
    # all relabellings hold the observed one, so only their values can be observed
    for observed in null if exact else np.append(null, [*(null + 0.5), -1.0]):
        reached = int((null >= observed).sum())
        p = reached / size if exact else (reached + 1) / (size + 1)
        assert (observed > critical) == (p <= level + 1e-12), observed
    if 1 / (size if exact else size + 1) > level:  # no p is that small
        assert critical == np.inf
