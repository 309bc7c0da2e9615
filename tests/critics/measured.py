"""Values of a critic's statistics on texts, and texts of known shares of words, stopwords and symbols."""

import numpy as np

import momus
from momus import Corpus
from momus.critic import Counted
from momus.critic.rows import aligned, pool


def measured(critic, real, generated=None):
    """A critic's statistics by name: of one text those that are values, of two texts those that are distances."""
    scores = [critic.score(text) for text in ([real] if generated is None else [real, generated])]
    values = {}
    for statistic in critic.statistics():
        if (statistic.kind == "distance") == (generated is None):
            continue
        rows = [s.rows[statistic.rows] for s in scores]
        pooled = [pool(r)[None] for r in (aligned(rows) if isinstance(rows[0], Counted) else rows)]
        pooled = [statistic.prepare(p) for p in pooled] if statistic.prepare else pooled
        (values[statistic.name],) = statistic.function(*pooled)
    return values


def texts(n, seed, stop=0.4, symbols=0.1, vocabulary=400, longest=90):
    """Documents of Zipfian words, stopwords and symbols in known shares."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{chr(97 + i % 26)}{'x' * (i // 26)}" for i in range(vocabulary)])
    p = 1 / np.arange(1, vocabulary + 1)
    out = []
    for _ in range(n):
        length = rng.integers(30, longest)
        kind = rng.random(length)
        drawn = rng.choice(words, length, p=p / p.sum())
        drawn = np.where(kind < stop, rng.choice(["the", "of", "and", "to"], length), drawn)
        out.append(" ".join(np.where(kind > 1 - symbols, rng.choice([",", ".", "7"], length), drawn)))
    return Corpus.from_texts(out, name=f"t{seed}")


def assert_finds(critic, **change):
    """The critic's headline tells changed texts from real ones, and others of the same source not."""
    found = momus.compare(
        texts(150, 1),
        {"same": texts(150, 2), "changed": texts(150, 3, **change)},
        fit=texts(200, 0),
        critics=[critic],
        permutations=499,
        resamples=99,
    )
    headline = {v.generated: v for v in found.verdicts if v.headline}
    assert headline["changed"].p <= 0.01
    assert headline["same"].p > 0.01
    assert headline["changed"].low > 0
