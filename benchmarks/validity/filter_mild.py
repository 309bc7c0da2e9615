"""Mild planted defects that a filter drops at a false-discovery rate of .05, if three in ten documents have them.

Stories of people (``human-vs-lm``), news summaries and abstracts (``xsum``, ``arxiv`` of ``registers``; ``MOMUS_DATA``)
are a body, of which two fifths fit critics, and a rest. Again and again, those that fitted none are divided into some
that calibrate, as many as the body held out, and others, of which new documents are drawn. Three rules rank them by the
same values: the largest surprise, `momus filter` (which learns in what direction many documents lean), and
`momus review`. Printed: the share of the odd documents and of the real ones that go, and the false-discovery rate.

    nice python benchmarks/validity/filter_mild.py [--draws 50] [--out benchmarks/results/filter-mild.md]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from filtering import read
from review import documents
from spoilt import kinds, plain, sentences

from momus.controls import DEFECTS
from momus.critic import Critic
from momus.critic.scoring import score
from momus.inference.multiplicity import benjamini_hochberg
from momus.numeric.types import Bools, Floats, Ints
from momus.outliers.conformal import Calibrated, largest_rank
from momus.outliers.rows import ODDITIES, Measure
from momus.review import Body, fit_body
from momus.review.spans import word_counts
from momus.text.corpus import Corpus

FDR, SHARE, NEW, SPOILT = 0.05, 0.3, 200, 120
OF_ALL = ("vocabulary-truncation 0.5", "symbol-inflation 1", "stopword-inflation 0.3", "length-truncation 0.7")
OF_ALL += ("word-shuffle 1", "repetition-loop 0.5")
OF_SOME = ("three misspelt words", "broken off", "sentence repeated", "sentence in German")
Rule = Callable[[Floats, Ints], Bools]


def values_of(critics: Sequence[Critic[Any]], corpus: Corpus) -> Floats:
    """What `momus filter` ranks documents by: (n, measures)."""
    columns = []
    for critic in critics:
        scores, several = score(critic, corpus, summarize=False), critic.reporting.oddities
        columns += [scores.outlying(critic.sequence)[:, None], *([scores.rows[ODDITIES]] if several else [])]
    return np.hstack(columns)


def by_surprise(sides: Sequence[bool], real: Floats, learns: bool) -> Rule:
    """The rule of `momus filter`, or by the largest surprise alone."""
    calibrated = Calibrated.of(real, sides, np.arange(len(real)))

    def goes(new: Floats, words: Ints) -> Bools:
        ranks = (calibrated.leaning(lambda: [new]) if learns else calibrated).judge(new).ranks
        return ranks <= largest_rank(np.bincount(ranks, minlength=len(calibrated) + 2), len(calibrated), FDR)

    return goes


def by_review(body: Body) -> Rule:
    """What `momus review` ranks by, which leaves the critic `faults`, whose columns are the last, to remarks."""
    count = len(body.critics)
    return lambda new, words: benjamini_hochberg(body.whole.judge(new[:, :count], new[:, :0], words).p.tolist()) <= FDR


def defects(texts: Sequence[str], others: Sequence[str]) -> dict[str, list[str]]:
    """Texts with each defect; those that a defect leaves as they are do not count."""
    corpus, rng = Corpus.from_texts(texts), np.random.default_rng(1)
    planted = {}
    for what in OF_ALL:
        name, strength = what.split()
        planted[what] = [d.text for d in DEFECTS[name].plant(corpus, float(strength), seed=0)]
    spoil = kinds(others)
    planted |= {name: [spoil[name](t, rng) for t in texts if len(sentences(t)) > 2] for name in OF_SOME}
    return {name: [t for t in of if t not in set(texts)] for name, of in planted.items()}


def measured(human: list[str], size: int, draws: int) -> list[str]:
    """Lines of the table of one collection."""
    body = fit_body(Corpus.from_texts(human[:size], name="body"))
    critics, count = [*body.critics, *([body.watch] if body.watch else [])], len(body.held)
    sides = [m.two_sided for c in critics for m in Measure.columns(c.name, type(c)).values()]
    reserved, rest = human[size : size + SPOILT], human[size + SPOILT :]
    unseen = Corpus.from_texts([*(d.text for d in body.held), *rest])
    real, real_words = values_of(critics, unseen), word_counts([d.text for d in unseen])
    lines, n_odd = [], round(SHARE * NEW)
    for name, texts in defects(reserved, rest[:50]).items():
        odd, words = values_of(critics, Corpus.from_texts(texts)), word_counts(texts)
        rng, outcomes = np.random.default_rng(0), []
        for _ in range(draws):
            some, order = rng.permutation(len(odd))[:n_odd], rng.permutation(len(real))
            held, good = order[:count], order[count : count + NEW - n_odd]
            of_held = replace(body, held=unseen.take(held), values=real[held, : len(body.critics)], odds=real[held, :0])
            rules = *(by_surprise(sides, real[held], learns) for learns in (False, True)), by_review(of_held)
            values = np.vstack([odd[some], real[good]])
            goes = [rule(values, np.concatenate([words[some], real_words[good]])) for rule in rules]
            wrong = [go[len(some) :].sum() for go in goes]
            shares = [
                (go[: len(some)].mean(), w / len(good), w / max(go.sum(), 1)) for go, w in zip(goes, wrong, strict=True)
            ]
            outcomes.append(shares)
        cells = [" ".join(f"{x:.2f}" for x in cell) for cell in np.mean(outcomes, axis=0)]
        lines.append(f"| {name} | {len(odd)} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/filter-mild.md"))
    options = parser.parse_args()
    stories = [d.text for d in read("stories")[0]]
    order = np.random.default_rng(0).permutation(len(stories))
    texts = {"stories": ([stories[i] for i in order[:1600]], 1000)}
    texts |= {name: ([plain(t) for _, t in documents()[name]["human"]], 600) for name in ("xsum", "arxiv")}
    lines = [
        "# Mild defects that a filter drops",
        "",
        f"`benchmarks/validity/filter_mild.py`: {NEW} new documents, 3 in 10 with a defect, {options.draws} draws,",
        "each with other documents that calibrate. Shares of the odd and of the real ones that go, and the",
        f"false-discovery rate; {FDR} asked for.",
        "",
    ]
    for name, (human, size) in texts.items():
        lines += [f"{name}: body of {size}", ""]
        lines += ["| defect | n | largest surprise | `momus filter` | `momus review` |", "|---|---:|---|---|---|"]
        lines += [*measured(human, size, options.draws), ""]
    options.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
