"""Statistics of which a text has no value, or that of too few documents."""

import numpy as np
import pytest

from momus.critic import Statistic
from momus.critic.statistic import spread
from momus.verdicts.statistics import FEW, having, scarce

LAST = Statistic.relative("last_words", "last", "last paragraph", unit="words", needs="several paragraphs")


def rows(having_it, n=50):
    table = np.zeros((n, 2))
    table[:having_it] = [20.0, 1.0]
    return {"last": table}


@pytest.mark.parametrize(("real", "generated", "few"), [(1, 39, True), (39, FEW - 1, True), (FEW, 39, False)])
def test_a_mean_of_few_documents_is_not_told(real, generated, few):
    result = scarce(LAST, (rows(real), rows(generated)), ("real", "neox"))
    assert (result is not None) == few
    if result is not None and real == 1:
        assert result.method.reason == "only 1 document of 'real' has several paragraphs; 78 % of 'neox' have"


def test_a_spread_of_few_documents_is_not_told():
    spreads = Statistic.value("spread", "last", spread, "spread", needs="several paragraphs")
    few, many = ({"last": np.repeat(rows(n)["last"], [2, 1], axis=1)} for n in (1, 39))
    result = scarce(spreads, (few, many), ("real", "neox"))
    assert result is not None
    assert result.method.reason.startswith("only 1 document of 'real' has several paragraphs")
    assert scarce(spreads, (many, many), ("real", "neox")) is None


def test_a_text_without_any_is_told_elsewhere():
    assert scarce(LAST, (rows(0), rows(39)), ("real", "neox")) is None
    assert having(LAST, (rows(0), rows(39)))[0] == (0, 39)
    plain = Statistic.relative("words", "last", "words")
    assert having(plain, (rows(1), rows(39))) is None
