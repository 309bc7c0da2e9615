"""Documents with faults are set aside on both sides before anything is compared."""

import pytest

import momus
from momus import Corpus
from momus.errors import UsageError

SENTENCES = "The ferry left at noon. Nobody waited on the pier. A gull cried over the water, and it began to rain."


def corpus(name, broken, n=60):
    texts = [f"It was day {i}. {SENTENCES}" for i in range(n)]
    texts = [text[:-12] if i < broken else text for i, text in enumerate(texts)]
    ids = [str(i) for i in range(n)]
    return Corpus.from_texts(texts, ids=ids, prompts=ids, name=name)


def compared(without=(), broken=20, **options):
    options = {"critics": ["length", "faults"], "permutations": 99, "without": without, **options}
    return momus.compare(corpus("real", 1), {"new": corpus("new", broken)}, fit=corpus("fit", 0), **options)


def row(result, statistic):
    return next(r for r in result.rows() if r["statistic"] == statistic)


def test_broken_documents_take_no_part():
    whole, rest = compared(), compared(("broken-off",))
    assert row(whole, "broken_off_share")["generated_value"] == pytest.approx(1 / 3)
    assert row(rest, "broken_off_share")["generated_value"] == 0
    assert [w for w in rest.signature["warnings"] if "Set aside" in w] == [
        "Set aside: 1 of 60 documents of 'real' (broken-off).",
        "Set aside: 20 of 60 documents of 'new' (broken-off).",
    ]
    # pairs whose other side is left out do not count either
    assert row(rest, "mean_length")["n_generated"] == 40


def test_versions_are_compared_without_them_too():
    texts = {"against": {"old": corpus("old", 0)}, "generated": {"new": corpus("new", 20)}}
    result = momus.compare(**texts, critics=["length"], permutations=99, without=("broken-off", "loop"))
    assert row(result, "mean_length")["n_generated"] == 40


def test_sound_texts_stay_as_they_are():
    assert not [w for w in compared(("loop",), 0).signature["warnings"] if "Set aside" in w]


def test_unknown_faults_and_empty_texts_are_refused():
    with pytest.raises(UsageError, match="there is no fault 'nope'"):
        compared(("nope",))
    with pytest.raises(UsageError, match=r"every document of 'new' is set aside \(broken-off\)"):
        compared(("broken-off",), 60)
