"""What rests on broken documents, or on one document: found where it is planted, and not elsewhere."""

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.evidence import Wording
from momus.joint.carried import carried
from momus.progress import Silent
from momus.runs.folder import RunFolder, read_results
from momus.runs.kept import read_means
from momus.verdicts.verdict import Verdict

WORDS = ("rain", "stone", "cat", "runs", "under", "the", "old", "tree", "she", "came")


def texts(n, seed, sentences=12, cut=0.0, name="new"):
    """Texts of about as many sentences, of which a share breaks off in the first third."""
    rng = np.random.default_rng(seed)
    written = []
    for _ in range(n):
        said = [" ".join(rng.choice(WORDS, 6)).capitalize() + "." for _ in range(int(rng.normal(sentences, 2)))]
        whole = " ".join(said)
        written.append(whole if rng.random() >= cut else " ".join(whole.split()[: len(said) * 2])[:-1] + " the")
    return Corpus.from_texts(written, name=name)


def run(new, out=None, **more):
    sides = texts(90, 1, name="real"), {"new": new}
    fewer = {"permutations": 199, "resamples": 99}
    options = {"fit": texts(60, 3), "critics": ["faults", "length"], "reporter": Silent(), "out": out, **fewer, **more}
    return momus.compare(*sides, **options)


def test_what_broken_documents_alone_carry_is_told_and_the_rest_is_not(tmp_path):
    whole = run(texts(90, 2, cut=0.35), tmp_path / "run")
    (gone,) = [c for c in whole.joint.carried if not c.document]
    assert (gone.critic, gone.statistic, gone.rises, gone.differs) == ("length", "mean_length", False, False)
    assert "Without these, new is no longer shorter." in str(whole)
    # the values are kept, for a run that is resumed, and so is what is told
    assert read_results(tmp_path / "run").joint.carried == whole.joint.carried
    kept = read_means(RunFolder(tmp_path / "run").critic_folder("length"))
    assert [len(x) for x in kept["new", "mean_length"]] == [90, 90]
    assert not run(texts(90, 2, sentences=6, cut=0.2)).joint.carried, "shorter with broken documents and without them"


def test_one_document_that_hides_a_difference_is_named():
    new = [d.text for d in texts(90, 2, sentences=9)]
    comparison = run(Corpus.from_texts([*new, " ".join(WORDS * 700) + "."], name="new"))
    (one,) = [c for c in comparison.joint.carried if c.statistic == "mean_length"]
    assert (one.document, one.corpus, one.differs, one.rises) == ("new:91", "new", True, False)
    assert one.value == pytest.approx(7001)
    assert "Without new:91 of new (mean length 7,001, others: 6" in str(comparison)
    alike = [d.text for d in texts(90, 5)]
    assert not run(Corpus.from_texts([*alike, " ".join(WORDS * 700) + "."], name="new")).joint.carried


def test_pairs_go_together():
    """One heavy answer that both versions give hides nothing, and one that only the new one gives does."""
    heavy, plain = " ".join(WORDS * 700) + ".", [d.text for d in texts(90, 2)]
    shorter = [t if i % 2 else " ".join(t.split()[:60]) for i, t in enumerate(plain)]
    prompts = [f"p{i}" for i in range(90)]

    def versions(old, new):
        new, old = (Corpus.from_texts(t, prompts=prompts, name=n) for t, n in ((new, "new"), (old, "old")))
        options = {"critics": ["length"], "permutations": 199, "resamples": 99, "reporter": Silent()}
        told = momus.compare(None, {"new": new}, against={"old": old}, **options).joint.carried
        return [(c.document, c.corpus, c.differs, c.rises) for c in told if c.statistic == "mean_length"]

    assert not versions([heavy, *plain[1:]], [heavy, *shorter[1:]])
    assert versions(plain, [heavy, *shorter[1:]]) == [("new:1", "new", True, False)]


def test_equal_texts_rest_on_nothing():
    rng, told = np.random.default_rng(0), 0
    sides = [Corpus.from_texts(["so"] * 100, name=name) for name in ("real", "new")]
    for _ in range(200):
        a, b = rng.lognormal(size=(2, 100))
        b[0] = 400.0
        d, error = b.mean() - a.mean(), np.sqrt(a.var(ddof=1) / 100 + b.var(ddof=1) / 100)
        v = Verdict(statistic="mean", difference=d, low=d - 2 * error, high=d + 2 * error, **VERDICT)
        told += bool(carried({("c", "new", "mean"): (a, b)}, [v], (), sides[0], sides[1:]))
    assert told <= 20


VERDICT = {"critic": "c", "axis": "", "unit": "", "generated": "new", "wording": Wording("mean")}
VERDICT |= {"unscored_real": 0, "unscored_generated": 0, "headline": True}
