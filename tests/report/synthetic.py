"""A comparison of any size with known answers, to look at the page without computing one."""

import numpy as np
from tests.verdicts import verdict_of

import momus
from momus.evidence import Axis, Chart, Heatmap, MarkedDocument, Series, Step, Table, Wording
from momus.inference import Method
from momus.joint.ranks import ALL_AXES, Joint, Ranking, RankRow
from momus.runs.examples import Example
from momus.runs.result import CriticResult
from momus.verdicts.table import adjust

LETTERS = list("abcdefghijkl")
WORDING = Wording("mean length", ("shorter", "longer"), "words")


def verdict(critic, generated, gap, headline=True, **changes):
    """A row of known gap: real 100 words, generated 100 + 10 · gap, a band of 0.2, an interval of ± 0.4 bands."""
    effect = 0.2 * gap
    row = {
        "critic": critic, "axis": f"axis of {critic}", "statistic": "mean_length" if headline else "other",
        "unit": "document", "generated": generated, "real_value": 100.0, "generated_value": 100 + 10 * gap,
        "difference": 10 * gap, "low": 10 * gap - 4, "high": 10 * gap + 4, "effect": effect, "effect_kind": "hedges_g",
        "effect_low": effect - 0.08, "effect_high": effect + 0.08, "band": 0.2, "band_source": "default",
        "p": 0.0001 if abs(gap) > 0.4 else 0.6, "p_adjusted": None, "q": None, "mde": 5.0, "n_real": 200,
        "n_generated": 200, "unscored_real": 0, "unscored_generated": 0, "headline": headline, "told": headline,
        "wording": WORDING,
        "method": Method(test="permutation", family="value", design="pairs", permutations=1999, studentised=True),
    }  # fmt: skip
    return verdict_of(**(row | changes))


def chart(corpus, rng):
    """The spread of human text and of one corpus."""
    x = list(range(40))
    series = [
        Series("real", x, np.linspace(0, 1, 40).round(4).tolist(), "real", "steps"),
        Series("generated", x, np.sort(rng.random(40)).round(4).tolist(), "generated", "steps"),
    ]
    return Chart("spread", "Cumulative distribution of length", Axis("words"), Axis("share of documents"), series)


def document(corpus, number):
    """A marked document of twenty pieces of text."""
    steps = [
        Step(f"state {i % 3}", f"some words of {corpus} number {i} ", 1.5, i == 7, "expected less") for i in range(20)
    ]
    return MarkedDocument(corpus, f"{corpus}-{number}", 3.25, "nats per step", steps, "Marked: the seventh piece.")


def square(rng):
    return (rng.random((12, 12)) - 0.5).round(4).tolist()


def counted(k):
    return [(f"word {j}", j, 2 * j + k) for j in range(30)]


def rank_row(corpus, k):
    distance = 8 + 0.25 * k
    place = (distance, distance - 0.5, distance + 0.5, k + 1, k + 1, float(k == 0))
    return RankRow(ALL_AXES, ALL_AXES, corpus, *place, (), 200, 200, 200)


def comparison(critics=17, corpora=("one", "two", "three"), gaps=None):
    """A comparison of ``critics`` axes: axis i has a gap of i human bands, more for later corpora; axis 0 none."""
    rng = np.random.default_rng(0)
    names = [f"critic-{i}" for i in range(critics)]
    gap = gaps or (lambda i, k: i + 0.25 * k if i else 0.1)
    verdicts, results = [], []
    for i, name in enumerate(names):
        rows = [verdict(name, c, gap(i, k)) for k, c in enumerate(corpora)]
        rows += [verdict(name, c, gap(i, k), headline=False) for k, c in enumerate(corpora) for _ in range(3)]
        verdicts += rows
        evidence = [
            (
                c,
                [
                    chart(c, rng),
                    *[Heatmap("pairs", "Pairs", LETTERS, LETTERS, square(rng), "difference")][: i % 4 == 3],
                    Table("words", "Words", ("word", "real", "generated"), counted(k)),
                ],
            )
            for k, c in enumerate(corpora)
        ]  # fmt: skip
        results.append(
            CriticResult(
                name=name,
                axis=f"axis of {name}",
                question="How long are the documents?",
                fitted_on={"corpus": "fit", "documents": 200, "left_out": 0, "fingerprint": "0f"},
                params={},
                verdicts=rows,
                evidence=evidence,
                outliers=[document(c, j) for c in corpora for j in range(5)],
                examples=[Example(document(c, j), document("real", j), True) for c in corpora for j in range(3)],
                distribution=None,
                limits="It cannot see what a document says.",
            )
        )
    ranks = [rank_row(c, k) for k, c in enumerate(corpora)]
    joint = Joint(ranking=Ranking(ranks, {}, 0.95, 999, True)) if len(corpora) > 1 else Joint()
    return momus.Comparison(adjust(verdicts), results, signature(corpora), [], joint=joint)


def signature(corpora):
    """Provenance of a run that never was."""
    roles = [("fit", "fit"), ("real", "real"), *((c, "generated") for c in corpora)]
    return {
        "momus": "0", "command": "momus compare", "started": "2026-01-01T00:00:00", "device": "cpu", "seed": 0,
        "permutations": 9999, "resamples": 2000, "confidence": 0.95, "multiplicity": "holm", "critics": [],
        "corpora": [
            {"name": name, "role": role, "documents": 200, "characters": 5000, "fingerprint": "0f"}
            for name, role in roles
        ],
        "split": False, "checks": [], "languages": [], "seconds": {"total": 1.0},
    }  # fmt: skip
