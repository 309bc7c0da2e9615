"""Labels that err, corrected by a few true ones."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momus
from momus import Corpus
from momus.engine.request import labels_of
from momus.errors import UsageError
from momus.inference.prediction_powered import corrected
from momus.reading.labels import labelled

RATES = {"real": (0.8, 0.8), "bot": (0.95, 0.4)}
"""Sensitivity and specificity of a labeller that errs otherwise on each text."""


@given(st.integers(0, 10_000))
def test_true_labels_stay_as_they_are(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (40, 2)).astype(float)
    known = rng.choice(40, 15, replace=False)
    assert corrected(rows, rows[known], known, np.full(15, 40 / 15)) == pytest.approx(rows)


@pytest.mark.parametrize("few", [4, 40])
def test_the_mean_is_that_of_the_truth_on_average(few):
    rng = np.random.default_rng(0)
    truth = (rng.random(200) < 0.3).astype(float)
    said = np.where(rng.random(200) < 0.8, truth, 1.0)[:, None]
    means = []
    for _ in range(2000):
        known = rng.choice(200, few, replace=False)
        means.append(corrected(said, truth[known, None], known, np.full(few, 200 / few)).mean())
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - truth.mean()) < 4 * error < abs(said.mean() - truth.mean())


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Two texts of which as many documents are warm, a judge's labels, and true ones of a third."""
    folder, rng = tmp_path_factory.mktemp("gold"), np.random.default_rng(1)
    corpora, judge, gold = {}, [], []
    for name, (sensitivity, specificity) in RATES.items():
        documents = [f"Text {i} of {name}." for i in range(300)]
        ids = [f"{name}{i}" for i in range(300)]
        corpora[name] = Corpus.from_texts(documents, ids=ids, name=name)
        for i, id in enumerate(ids):
            warm = i % 5 < 2
            says = rng.random() < (sensitivity if warm else 1 - specificity)
            judge.append({"id": id, **labels_for(says)})
            if i % 3 == 0:
                gold.append({"id": id, **labels_for(warm)})
    for kind, rows in (("judge", judge), ("gold", gold)):
        (folder / f"{kind}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return corpora, str(folder / "judge.jsonl"), str(folder / "gold.jsonl")


def labels_for(warm):
    moves = ["ask", "search", "answer"] if warm else ["ask", "answer", "answer"]
    tone = "warm" if warm else "curt"
    return {"tone": tone, "kind": warm, "score": 7.5 if warm else 3.5, "tags": [tone, "short"], "moves": moves}


def compared(texts, name, gold=True, against=False, critics=("length",)):
    corpora, judge, path = texts
    labels = {name: judge} | ({f"{name}.gold": path} if gold else {})
    options = {"labels": labels, "critics": critics, "permutations": 199}
    if against:
        return momus.compare(against={"old": corpora["real"]}, generated={"bot": corpora["bot"]}, folds=2, **options)
    return momus.compare(corpora["real"], {"bot": corpora["bot"]}, fit=corpora["real"], **options)


def rows_of(result, name):
    return {row["statistic"]: row for row in result.rows() if row["critic"] == f"label-{name}"}


def test_a_labeller_that_errs_on_one_text_makes_no_difference_with_gold(texts):
    apart, equal = (rows_of(compared(texts, "kind", gold), "kind") for gold in (False, True))
    assert apart["yes_share"]["low"] > 0
    assert equal["yes_share"]["low"] < 0 < equal["yes_share"]["high"]
    assert equal["yes_share"]["real_value"] == pytest.approx(0.4, abs=0.1)
    assert equal["yes_share"]["generated_value"] == pytest.approx(0.4, abs=0.15)
    # it is said that the labeller errs more on one text
    assert equal["contradicted_share"]["low"] > 0
    assert "contradicted_share" not in apart
    # so if the label is chosen by its name
    assert rows_of(compared(texts, "kind", critics=["label:kind", "length"]), "kind") == equal


@pytest.mark.parametrize("name", ["tone", "score", "tags", "moves"])
@pytest.mark.parametrize("against", [False, True])
def test_labels_of_every_type_are_corrected(texts, name, against):
    plain, gold = (rows_of(compared(texts, name, gold, against), name) for gold in (False, True))
    shares = [s for s in plain if s.endswith("_share") or s == "mean"]
    assert shares
    for s in shares:
        assert abs(gold[s]["difference"]) < abs(plain[s]["difference"]) or plain[s]["difference"] == 0


def test_a_document_stands_for_as_many_as_are_labelled(texts):
    corpora, judge, gold = texts
    held = labelled(corpora["real"], [f"tone={judge}", f"tone.gold={gold}"]).field("tone.gold")
    assert [json.loads(v) for v in held if v][:1] == [{"label": "warm", "weight": 3.0}]
    assert sum(v is not None for v in held) == 100


def test_true_labels_need_labels():
    with pytest.raises(UsageError, match=r"labels of 'tone\.gold' belong to no label"):
        labels_of({"tone.gold": "gold.jsonl"})
