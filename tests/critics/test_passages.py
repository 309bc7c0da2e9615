"""Order in text without marks, on simulated documents with known parts."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from momus import Corpus
from momus.errors import FittingError, UsageError
from momus_critics.passages import Passages
from momus_critics.passages.lsa import LsaEmbedder
from momus_critics.passages.pieces import corpus_pieces, spans, split_pieces

PARTS = 4


def documents(n, seed, order=None):
    """Documents of four parts; each part has words of its own, beside words of the document's topic."""
    rng = np.random.default_rng(seed)
    texts, truth = [], []
    for _ in range(n):
        topic = rng.integers(8)
        paragraphs, states = [], []
        for part in order(rng) if order else range(PARTS):
            for _ in range(int(rng.integers(1, 4))):
                own = [f"part{part}word{i}" for i in rng.integers(0, 12, 8)]
                about = [f"topic{topic}word{i}" for i in rng.integers(0, 12, 8)]
                common = [f"common{i}" for i in rng.integers(0, 30, 8)]
                words = rng.permutation([*own, *about, *common])
                paragraphs.append(" ".join(words) + ".")
                states.append(part)
        texts.append("\n\n".join(paragraphs))
        truth.append(states)
    return Corpus.from_texts(texts, name=f"s{seed}"), truth


@pytest.fixture(scope="module")
def critic():
    return Passages(words=15).fit(documents(120, 0)[0])


def test_states_are_the_parts_not_the_topics(critic):
    corpus, truth = documents(60, 1)
    found = np.concatenate(critic.segment(corpus))
    assert normalized_mutual_info_score(np.concatenate(truth), found) > 0.8
    assert all("part" in t for t in critic.titles_)


def test_disorder_is_found_and_order_is_not(critic):
    real = critic.score(documents(60, 1)[0])
    other = critic.score(documents(60, 2)[0])
    shuffled = critic.score(documents(60, 3, order=lambda rng: rng.permutation(PARTS))[0])
    assert other.latent_ppl == pytest.approx(real.latent_ppl, rel=0.15)
    assert shuffled.latent_ppl > 2 * real.latent_ppl
    gap = shuffled.rows["disorder"][:, 0].mean() - real.rows["disorder"][:, 0].mean()
    assert gap > 2


def test_passages_that_return_are_counted(critic):
    corpus, truth = documents(60, 4)
    doubled = [d.text + "\n\n" + d.text.split("\n\n")[1] if i % 3 == 0 else d.text for i, d in enumerate(corpus)]
    before, after = (
        critic.score(corpus).rows["returns"],
        critic.score(Corpus.from_texts(doubled, name="d")).rows["returns"],
    )
    assert (before[:, 1] == [len(t) for t in truth]).all()
    assert (after - before).tolist() == [[1, 1] if i % 3 == 0 else [0, 0] for i in range(60)]


def test_marks_are_not_looked_at(critic):
    plain, _ = documents(5, 4)
    marked = Corpus.from_sections([[("A title", t) for t in d.text.split("\n\n")] for d in plain], name="marked")
    assert critic.score(marked).nll == pytest.approx(critic.score(plain).nll)


def test_explain_shows_stretches(critic):
    corpus, _ = documents(1, 5, order=lambda rng: [2, 0, 3, 1])
    shown = critic.explain(corpus)
    assert any(s.marked for s in shown.steps)
    assert shown.steps[-1].label == "(end)"


def test_short_documents_and_wrong_names_are_refused():
    with pytest.raises(FittingError, match="fewer than 4 pieces"):
        Passages().fit(Corpus.from_texts(["Too short."] * 20))
    with pytest.raises(UsageError, match="embedder is 'magic'"):
        Passages(embedder="magic").fit(documents(12, 0)[0])


def test_an_encoder_can_embed(critic):
    from momus.critic.tools import adapter_names

    assert "transformers" in adapter_names("embedder")


@given(st.text(alphabet="ab .\n!A", max_size=300), st.integers(1, 8))
def test_pieces_lose_no_word(text, words):
    pieces = spans(text, words)
    assert "".join(text[a:b] for a, b in pieces).split() == (text.split() if pieces else [])
    lengths = [len(re.findall(r"\w+", text[a:b])) for a, b in pieces]
    assert max(lengths, default=0) <= 2 * words + words / 2
    assert all(2 * n >= words for n in lengths[1:])
    assert lengths or not re.search(r"\w", text)


def test_text_without_stops_is_cut():
    pieces = split_pieces("word " * 1000, words=10)
    assert max(len(p.split()) for p in pieces) <= 25
    _, offsets = corpus_pieces(Corpus.from_texts(["word " * 1000, "x"]), 10, 3)
    assert offsets.tolist() == [0, 3, 4]


def test_lsa_puts_texts_of_the_same_words_together():
    texts = ["red blue green"] * 20 + ["one two three"] * 20
    x = LsaEmbedder(dimensions=2).fit(texts).embed(["green red", "two one", "unknown"])
    assert np.abs(x[2]).max() == 0
    cosine = x[0] @ x[1] / np.linalg.norm(x[0]) / np.linalg.norm(x[1])
    assert abs(cosine) < 1e-6
