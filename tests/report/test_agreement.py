"""The sentence of an axis agrees with one row of the table: its sign, values, size and interval, in random runs."""

import re

import numpy as np
import pytest

import momus
from momus.report.answer import answer_of
from momus.report.format import rounded
from momus.report.sentences import label, says_what, value
from momus.report.table import cell_text

WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ala", "elo", "iru", "ome", "unat")]


def texts(rng, n, words, sentence, loops, common):
    """Documents of about so many words, in sentences of about so many, some with a loop, with more common words."""
    p = 1 / np.arange(1, len(WORDS) + 1) ** common
    found = []
    for _ in range(n):
        size = max(int(rng.normal(words, 12)), 8)
        drawn = rng.choice(WORDS, size, p=p / p.sum()).tolist()
        cuts = np.cumsum(1 + rng.poisson(sentence, size))
        parts = [" ".join(part) for part in np.split(np.array(drawn), cuts[cuts < size]) if len(part)]
        parts += [parts[-1]] * (5 * int(rng.random() < loops))
        found.append(". ".join(part.capitalize() for part in parts) + ".")
    return found


def run(seed):
    rng = np.random.default_rng([8, seed])
    n = int(rng.integers(25, 60))
    off = {"words": 60 + rng.choice([0, 0, 10]), "sentence": 8 + rng.choice([0, 3]), "loops": rng.choice([0.0, 0.3])}
    return momus.compare(
        texts(rng, n, 60, 8, 0.0, 1.0),
        {"a": texts(rng, n, common=rng.choice([1.0, 1.3]), **off), "b": texts(rng, n, 60, 8, 0.0, 1.0)},
        fit=texts(rng, 40, 60, 8, 0.0, 1.0),
        critics=["length", "unigram", "repetition", "rhythm"],
        permutations=499,
        resamples=49,
        seed=seed,
    )


def agree(found):
    """Check each cell, and return how many differ."""
    rows = {(v.critic, v.generated, v.statistic): v for v in found.verdicts}
    differing = 0
    for axis in answer_of(found).axes:
        for cell in axis.cells:
            v = rows[axis.critic, cell.generated, cell.row.statistic]
            said, shown = says_what(cell), cell_text(cell)
            family = [r for r in found.verdicts if (r.critic, r.generated) == (axis.critic, cell.generated)]
            family = [r for r in family if r.p_in_axis is not None]
            assert cell.differs == any(r.p_adjusted <= r.alpha for r in family) == v.differs
            if not cell.differs:
                assert v.headline or not any(r.headline for r in family)
                assert not cell.also
                assert not re.search(r"[*↑↓]", shown)
                continue
            differing += 1
            assert v.p <= v.p_in_axis <= v.p_adjusted <= v.alpha
            assert v.p_axis == min(r.p_in_axis for r in family)
            assert all(r.p_in_axis >= r.p - 1e-12 for r in family)
            assert "0.0" not in re.match(r"[<\d.]+", shown).group().split()
            if v.low is not None:
                assert v.low <= v.difference <= v.high
                assert v.low > 0 or v.high < 0
            if v.gap is not None and v.gap_interval is not None:
                assert v.gap == pytest.approx(abs(v.effect) / v.band)
                assert v.gap_interval[0] <= v.gap <= v.gap_interval[1]
            assert label(v) in said or v.wording.clause.partition("{}")[2] in said
            if v.method.family == "distance":
                assert cell.sign == 0
                assert f"{value(v, v.difference)} ({rounded(v.low, v.high)} to {rounded(v.high, v.low)})" in said
                directed = [r for r in family if r in cell.also and r.wording.direction]
                assert (cell.beside is None) == (not directed)
                if directed:
                    told = said.rpartition("; ")[2]
                    assert told.startswith(directed[0].wording.direction[directed[0].difference > 0])
                    assert value(directed[0], directed[0].generated_value, directed[0].real_value) in told
            else:
                assert v.difference == pytest.approx(v.generated_value - v.real_value)
                assert cell.sign == np.sign(v.difference) == np.sign(v.effect)
                assert said.startswith(v.wording.direction[v.difference > 0])
                assert value(v, v.generated_value, v.real_value) in said
                assert value(v, v.real_value, v.generated_value) in said
    return differing


def test_sentences_agree_with_the_rows_of_random_runs():
    assert sum(agree(run(seed)) for seed in range(6)) > 2


@pytest.mark.slow
def test_sentences_agree_with_the_rows_of_500_random_runs():
    assert sum(agree(run(seed)) for seed in range(500)) > 250
