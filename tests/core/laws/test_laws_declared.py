"""A law declares how it is estimated, and a wrong declaration is an error instead of a silent default."""

import pytest

from momus.errors import UsageError
from momus.laws.law import Law


def types(text):
    return float((text.counts > 0).sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": "jacknife"}, "error is 'jacknife'"),
        ({"minimum": 0}, "minimum is 0"),
        ({"groups": 1}, "groups is 1"),
        ({"align": 0}, "align is 0"),
        ({"orders": 1}, "orders is 1"),
    ],
)
def test_options_out_of_range_are_errors(options, message):
    with pytest.raises(UsageError, match=f"law 'types': {message}"):
        Law("types", types, **options)


def test_a_misspelt_option_is_an_error():
    with pytest.raises(TypeError, match="alignment"):
        Law("types", types, alignment=5)


def test_laws_are_frozen():
    law = Law("types", types)
    with pytest.raises(AttributeError):
        law.error = "shuffled"
