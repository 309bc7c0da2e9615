"""Studies written down by hand: passages, items and answers, so that what follows from them is known."""

import numpy as np
import pandas as pd

from momus_people.answers import COLUMNS, RaterAnswers, row_of
from momus_people.design import StudyDesign, Trial
from momus_people.excerpts import YARDSTICKS, Excerpt
from momus_people.protocol import Protocol
from momus_people.study import Study


def hand_study(passages, items, kind="rating", **settings):
    """A study of passages, each (corpus, prompt), and items, tuples of their numbers."""
    made = [
        Excerpt(c, f"d{k}", prompt, (f"Text {k}.",), (), dict.fromkeys(YARDSTICKS, float(k * k % 7)))
        for k, (c, prompt) in enumerate(passages)
    ]
    protocol = Protocol(**{"kind": kind, "items": max(len(items), 2), "raters": 3, **settings})
    names = list(dict.fromkeys(c for c, _ in passages))
    trials = [Trial(f"t{r}-{u}", r, "item", item, u) for r in range(protocol.raters) for u, item in enumerate(items)]
    return Study("00000000", protocol, names, StudyDesign(made, items, trials))


def said(study, rater, unit, value, shown=None, role="item", expected=None, seconds=float("nan")):
    """The row of an answer of a rater to an item, whose passages were shown in an order."""
    passages = study.design.items[unit] if shown is None else shown
    return row_of(study, Trial(f"t{rater}-{unit}", rater, role, passages, unit, expected), value, seconds)


def answers_of(study, listed):
    """Answers by rater, nothing missing."""
    raters = sorted({a["rater"] for a in listed})
    return RaterAnswers(table_of(listed), dict.fromkeys(raters, 0), dict.fromkeys(raters, 0))


def table_of(listed):
    """The table of answers, by rater."""
    return pd.DataFrame(sorted(listed, key=lambda a: a["rater"]), columns=list(COLUMNS))


def scores_frame(table, corpora, strata, is_paired):
    """The rows that `scores_of` gives for a table (raters, passages), NaN where there is no answer."""
    rater, passage = np.nonzero(np.isfinite(table))
    stratum = np.asarray(strata)[passage]
    corpus, unit = np.asarray(corpora)[passage], stratum if is_paired else passage
    given = {"rater": rater, "passage": passage, "unit": unit, "corpus": corpus, "stratum": stratum}
    return pd.DataFrame({**given, "score": np.asarray(table)[rater, passage], "is_paired": is_paired})
