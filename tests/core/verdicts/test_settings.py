"""Settings of a comparison: values at the ends of their ranges are taken, those beyond are refused by name."""

import pytest

from momus.errors import UsageError
from momus.verdicts.settings import Settings, with_options


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("seed", 0, -1),
        ("permutations", 19, 18),
        ("permutations", 10**6, 10**6 + 1),
        ("resamples", 0, -1),
        ("confidence", 0.9999, 1.0),
        ("confidence", 0.01, 0.0),
        ("top", 0, -1),
    ],
)
def test_ranges_end_where_values_have_no_sense(name, good, bad):
    assert getattr(with_options(None, {name: good}), name) == good
    with pytest.raises(UsageError, match=f"{name} is "):
        with_options(None, {name: bad})


def test_options_replace_those_of_settings_and_unknown_ones_are_named():
    settings = with_options(Settings(seed=3), {"top": 2})
    assert (settings.seed, settings.top) == (3, 2)
    with pytest.raises(UsageError, match="sed") as error:
        with_options(None, {"sed": 3})
    assert "seed" in error.value.hint
