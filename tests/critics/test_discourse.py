"""Discourse: classes of sentences, the n-gram process against literal counts, over-used openings that are found."""

import itertools

import numpy as np
import pytest
from more_defects import MORE

from momus import Corpus, MomusError
from momus.verdicts.judge import judge
from momus_critics.discourse import CONNECTIVES, STATES, Discourse, sentence_classes
from momus_critics.prose.ngrams import DenseNGrams
from momus_critics.prose.reading import paragraph_tokenizer, read_prose

PLAIN = ("The lamp burned low.", "Nobody came.", "Rain fell on the town.", "A dog ran by.", "The road was long.")
OTHERS = ("But it was late.", "Who was there?", "“No,” said Tom.", "Then the door fell shut.", "If only it were so!")


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("In the end, he left.", "conclusion"),
        ("The end came.", "plain"),
        ("As soon as it rained he left.", "time"),
        ("Is it so?", "question"),
        ("“Is it so?” he asked.", "speech"),
        ("— Is it so?", "speech"),
        ("SO BE IT.", "cause"),
        ("On the other hand.", "contrast"),
        ("On the other.", "plain"),
    ],
)
def test_classes_of_sentences(sentence, name):
    prose = read_prose(Corpus.from_texts([sentence]).tokens(paragraph_tokenizer("words")))
    assert [STATES[i] for i in sentence_classes(prose)[0]] == [name]


def test_no_connective_has_two_senses():
    phrases = [p for group in CONNECTIVES.values() for p in group]
    assert len(set(phrases)) == len(phrases)


def test_the_process_is_proper_and_prefers_what_it_saw():
    rng = np.random.default_rng(0)
    states, offsets = rng.integers(0, 2, 300), np.arange(0, 301, 10)
    states[1::2] = states[::2]  # pairs of equal symbols
    process = DenseNGrams(symbols=3, order=3)
    process.learn(process.count(states, offsets))
    assert np.allclose(process.probabilities_.sum(axis=-1), 1)
    # all sequences of one length have the probability of reaching that length
    every = np.array(list(itertools.product(range(3), repeat=4)))
    total = np.exp(process.totals(every.ravel(), np.arange(0, every.size + 1, 4))).sum()
    assert 0 < total < 1
    once = np.exp(process.totals(np.repeat([0, 1, 2], 1), np.arange(4))).sum()
    empty = np.exp(process.totals(np.zeros(0, dtype=np.int64), np.array([0, 0])))[0]
    assert once + empty < 1 + 1e-12
    same, other = process.totals(np.array([0] * 10 + [0, 1] * 5), np.array([0, 10, 20]))
    assert same > other


def test_a_long_text_has_the_frequencies_of_its_ngrams():
    rng = np.random.default_rng(1)
    transition = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.4, 0.5, 0.1]])
    states = [0]
    for u in rng.random(60_000):
        states.append(int(np.searchsorted(np.cumsum(transition[states[-1]]), u)))
    process = DenseNGrams(symbols=3, order=2)
    process.learn(process.count(np.array(states), np.array([0, len(states)])))
    assert process.probabilities_[:3, :3] == pytest.approx(transition, abs=0.01)


def test_too_large_tables_are_refused():
    with pytest.raises(MomusError, match="order is 9"):
        DenseNGrams(symbols=50, order=9)


def made(n, seed, share=0.3, name="text"):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        sentences = [str(rng.choice(OTHERS if rng.random() < share else PLAIN)) for _ in range(18)]
        texts.append("\n\n".join(" ".join(sentences[i : i + 6]) for i in range(0, 18, 6)))
    return Corpus.from_texts(texts, name=name)


def test_states_of_a_document_and_their_steps():
    critic = Discourse().fit(made(30, 0))
    scores = critic.score(Corpus.from_texts(["But it was late. Nobody came.\n\nWho was there?"]))
    assert scores.z.to_pylist() == ["paragraph → contrast → plain → paragraph → question"]
    assert scores.steps.tolist() == [6]


def test_more_connectives_are_told():
    critic = Discourse().fit(made(60, 0))
    a, b = critic.score(made(60, 1)), critic.score(made(60, 2, share=0.6, name="made"))
    found = {v.statistic: v for v in judge(critic, a, b, permutations=199, resamples=99)}
    assert found["connective_share"].p < 0.02
    assert found["connective_share"].wording.direction[1] == "richer in connectives"
    assert found["connective_share"].generated_value > found["connective_share"].real_value


def test_over_used_openings_are_listed():
    critic = Discourse().fit(made(60, 0))
    planted = MORE["stock-phrases"].plant(made(60, 2, name="made"), 0.2)
    a, b = critic.score(made(60, 1)), critic.score(planted)
    found = {v.statistic: v for v in judge(critic, a, b, permutations=199, resamples=99)}
    assert found["transitions"].p < 0.02
    over, under, classes = critic.evidence(a.summary, b.summary)
    assert {row[0] for row in over.rows[:4]} == {"at the", "it is", "little did", "in a"}
    assert all(row[1] < row[2] for row in over.rows)
    assert all(row[1] > row[2] for row in under.rows)
    assert all(row[-1].lower().startswith(row[0]) for row in over.rows[:4])
    assert sum(row[1] for row in classes.rows) == pytest.approx(100, abs=0.1)


def test_order_alone_raises_the_perplexity():
    texts = ["But it was late. Nobody came. Who was there? The road was long. " * 4 for _ in range(40)]
    shuffled = ["But it was late. Who was there? Nobody came. The road was long. " * 4 for _ in range(10)]
    critic = Discourse().fit(Corpus.from_texts(texts))
    assert (
        critic.score(Corpus.from_texts(shuffled)).latent_ppl > 1.2 * critic.score(Corpus.from_texts(texts)).latent_ppl
    )


def test_unlikely_classes_are_marked():
    critic = Discourse().fit(made(60, 0, share=0.0))
    marked = critic.explain(Corpus.from_texts([" ".join([*PLAIN, "But it was late.", *PLAIN])]))
    assert max(marked.steps, key=lambda s: s.value).label == "contrast"
    assert "contrast" in {s.label for s in marked.steps if s.marked}
    assert marked.value == pytest.approx(
        critic.score(Corpus.from_texts([" ".join([*PLAIN, OTHERS[0], *PLAIN])])).nll[0]
    )
