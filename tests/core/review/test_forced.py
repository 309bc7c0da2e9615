"""Which of two documents is odder: versions of one text, others, error rates, pairs and places."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from momus.cli.app import app
from momus.errors import UsageError
from momus.report.words.review import choice_lines
from momus.review import choose, fit_body
from momus.review.body import faults_of
from momus.review.forced import _changed, _new
from momus.text.corpus import Corpus
from momus.text.documents import Document

CRITICS = ["perplexity", "rhythm", "marks", "repetition", "faults"]
WORDS = np.array([f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("", "r", "st")])
FREQUENCIES = 1 / np.arange(2, len(WORDS) + 2)


def texts_of(n, seed, least=12, most=30):
    rng = np.random.default_rng(seed)

    def sentence():
        words = rng.choice(WORDS, 3 + rng.poisson(6), p=FREQUENCIES / FREQUENCIES.sum())
        return " ".join(words).capitalize() + "."

    return [" ".join(sentence() for _ in range(int(rng.integers(least, most)))) for _ in range(n)]


def corpus(texts, name="new"):
    return Corpus.from_texts(texts, name=name)


@pytest.fixture(scope="module")
def body():
    return fit_body(corpus(texts_of(220, 0), "essays"), critics=CRITICS)


def looped(text):
    first, second, *rest = text.split(". ")
    return ". ".join([first, second, second, *rest])


def garbled(text):
    words = text.split(" ")
    return " ".join([*words[:40], "qzx", *words[41:]])


@pytest.mark.parametrize("spoil", [looped, garbled])
def test_a_spoilt_copy_is_odder_than_its_original_and_the_place_is_told(body, spoil):
    texts = texts_of(30, 1)
    pairs = choose(corpus([spoil(t) for t in texts]), corpus(texts), body).pairs
    assert all(pair.versions for pair in pairs)
    assert sum(pair.odder == 0 for pair in pairs) >= 27
    changed = [_new(spoil(text), text) for text in texts]
    assert all(pair.spans == places for pair, places in zip(pairs, changed, strict=True) if pair.odder == 0)


def test_sides_exchanged_give_the_same_choice(body):
    first, second = texts_of(12, 2), texts_of(10, 3)
    second += [garbled(text) for text in first[10:]]
    forward, backward = (choose(*map(corpus, sides), body).pairs for sides in ((first, second), (second, first)))
    for one, other in zip(forward, backward, strict=True):
        assert one.odder == 1 - other.odder
        assert one.rate == pytest.approx(other.rate)
        assert one.reasons == other.reasons


def test_beside_text_of_models_what_decides_is_the_reason():
    models = corpus([text.replace("ba", "delve") for text in texts_of(60, 31)])
    body = fit_body(corpus(texts_of(120, 30), "essays"), models, critics=["rhythm", "unigram"])
    like, unlike = texts_of(2, 35)
    (pair,) = choose(corpus([like.replace("ba", "delve")]), corpus([unlike]), body).pairs
    assert (pair.odder, pair.versions) == (0, False)
    assert [reason.axis for reason in pair.reasons] == ["like the text of models"]


def test_one_text_twice_is_equally_odd(body):
    (pair,) = choose(corpus(texts_of(1, 4)), corpus(texts_of(1, 4)), body).pairs
    assert (pair.odder, pair.reasons) == (None, ())
    assert pair.rate == pytest.approx(1)


def test_pairs_of_human_documents_are_told_apart_at_the_level(body):
    choice = choose(corpus(texts_of(200, 5)), corpus(texts_of(200, 6)), body)
    assert choice.odder(0, 0.05) + choice.odder(1, 0.05) <= 0.12 * 200
    assert 70 <= choice.odder(0) <= 130


def test_the_error_rate_counts_pairs_of_held_out_documents(body):
    documents = [texts_of(1, seed)[0] for seed in (7, 8)]
    choice = choose(corpus(documents[:1]), corpus(documents[1:]), body)
    surprise = [review.documents[0].surprise for review in choice.reviews]
    broken = np.array([sum(-np.log(body.faults[f]) for f in faults) for faults in faults_of(body.watch, body.held)])
    assert broken.any()
    assert not any(faults_of(body.watch, corpus(documents)))
    folds, shares = body.folds[0], []
    for k, scale in enumerate(body.whole.scales):
        rows = np.flatnonzero(folds == k)
        held, _ = scale.judge(body.values[rows], body.odds[rows], body.words[rows])
        number = held[:, -1] + broken[rows]
        differences = [abs(x - y) for i, x in enumerate(number) for y in number[:i]]
        shares.append(np.mean(np.array(differences) >= abs(surprise[0] - surprise[1])))
    units = body.whole.units
    assert choice.pairs[0].rate == pytest.approx((1 + units * np.mean(shares)) / (units + 1))


def test_pairs_are_by_prompt_then_by_id_then_by_order(body):
    texts = texts_of(3, 9)

    def side(ids, prompts, name):
        rows = zip(ids, texts, prompts, strict=False)
        return Corpus.from_documents([Document.plain(i, t, p) for i, t, p in rows], name)

    def ids(a, b):
        return [pair.ids for pair in choose(a, b, body).pairs]

    a = side("abc", "pqq", "new")
    assert ids(a, side("xyz", "qpq", "old")) == [("a", "y"), ("b", "x"), ("c", "z")]
    assert ids(a, side("cad", [None] * 3, "old")) == [("a", "a"), ("c", "c")]
    assert ids(a, side("xyz", [None] * 3, "old")) == [("a", "x"), ("b", "y"), ("c", "z")]
    with pytest.raises(UsageError, match="new has 3 documents, old 2"):
        choose(a, side("xy", [None] * 2, "old"), body)


def test_what_is_too_short_is_not_compared(body):
    choice = choose(corpus(["One two.", texts_of(1, 10)[0]]), corpus(texts_of(2, 11)), body)
    assert (choice.pairs[0].odder, choice.pairs[0].rate) == (None, None)
    assert any("not compared: it has fewer than 25 words" in line for line in choice_lines(choice))
    assert any("of 1 pair" in line for line in choice_lines(choice))


def test_changed_pairs_of_words_are_counted_and_placed():
    assert _changed("a b c d", "a b c d") == (0, 3)
    assert _changed("a b c d", "a x c d") == (2, 3)
    text, other = "One two.\nThree four.", "One two. Three for."
    (span,) = _new(text, other)
    assert (text[span.start : span.stop], span.line) == ("four", 2)
    (lacking,) = _new("One three.", "One two three.")
    assert lacking.text == "One three"


def test_the_command_says_which_is_odder_and_ends_as_a_review_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = texts_of(3, 13)
    for name, side in (
        ("human", texts_of(200, 12)),
        ("old", texts),
        ("new", [looped(looped(texts[0])), *map(garbled, texts[1:])]),
    ):
        (tmp_path / f"{name}.jsonl").write_text(
            "\n".join(json.dumps({"id": str(i), "text": t}) for i, t in enumerate(side))
        )
    arguments = ["--body", "human.jsonl", "-c", ",".join(CRITICS), "-q"]
    done = CliRunner().invoke(app, ["review", "new.jsonl", "--against", "old.jsonl", *arguments])
    assert done.exit_code in (0, 7), done.output
    assert "new.jsonl is odder in 3 of 3 pairs" in done.stdout
    done = CliRunner().invoke(app, ["review", "new.jsonl", "--against", "old.jsonl", *arguments, "--json"])
    content = json.loads(done.stdout)
    assert [pair["odder"] for pair in content["pairs"]] == [0, 0, 0]
    odd = [d for d in content["reviews"][0]["documents"] if d["p"] <= 0.05 or d["remarks"]]
    assert done.exit_code == (7 if odd else 0)


def test_beside_text_of_models_its_words_are_a_reason():
    models = corpus([text.replace("ba", "delve") for text in texts_of(120, 15)], "models")
    human = fit_body(corpus(texts_of(120, 14), "essays"), models, critics=["rhythm"])
    (pair,) = choose(corpus([texts_of(1, 16)[0].replace("ba", "delve")]), corpus(texts_of(1, 17)), human).pairs
    assert (pair.odder, pair.versions) == (0, False)
    assert "like the text of models" in [reason.axis for reason in pair.reasons]


def test_a_record_that_cannot_be_read_is_not_compared(body):
    unread = Corpus.from_documents([Document("a", (), problem="no text")], "new")
    choice = choose(unread, corpus(texts_of(1, 18)), body)
    assert choice.pairs[0].odder is None
    assert any("not compared: no text" in line for line in choice_lines(choice))


def test_where_all_held_out_documents_of_a_fold_are_of_one_group_nothing_is_told():
    rows = zip(texts_of(100, 19), [f"{i % 4}" for i in range(100)], strict=True)
    human = Corpus.from_documents([Document.plain(str(i), t, group=g) for i, (t, g) in enumerate(rows)], "essays")
    few = fit_body(human, critics=["rhythm"])
    (pair,) = choose(corpus(["No. " * 60]), corpus(texts_of(1, 20)), few, 0.5).pairs
    assert pair.odder == 0
    assert pair.rate == 1.0


def test_documents_without_a_partner_are_counted(body):
    texts = texts_of(3, 9)
    new = Corpus.from_texts(texts, ["a", "b", "c"], name="new")
    choice = choose(new, Corpus.from_texts(texts[:1], ["a"], name="old"), body)
    assert (len(choice.pairs), choice.left_out) == (1, (2, 0))
    assert "2 documents of new without a partner: left out." in list(choice_lines(choice))


def test_a_field_without_a_name_is_refused():
    done = CliRunner().invoke(app, ["review", "new.jsonl", "--body", "human.jsonl", "--by", "=ann"])
    assert isinstance(done.exception, UsageError)
    assert done.exception.message == "--by =ann names no field"
