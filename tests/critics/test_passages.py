"""Order in text without marks, on simulated documents with known parts."""

import re
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.metrics import homogeneity_score

from momus import Corpus, load_critic
from momus.critic.powers import headline_of
from momus.errors import FittingError, UsageError
from momus_critics.passages import Passages
from momus_critics.passages.pieces import PlaceFeatures, corpus_pieces, place_targets, spans, split_pieces
from momus_critics.passages.tfidf import LsaEmbedder

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
    return Passages(piece_length=15).fit(documents(120, 0)[0])


def test_states_are_parts_or_within_parts_not_topics(critic):
    corpus, truth = documents(60, 1)
    found = np.concatenate(critic.segment(corpus))
    assert homogeneity_score(np.concatenate(truth), found) > 0.9
    assert all("part" in t for t in critic.titles_)


def test_disorder_is_found_and_order_is_not(critic):
    real = critic.score(documents(60, 1)[0])
    other = critic.score(documents(60, 2)[0])
    shuffled = critic.score(documents(60, 3, order=lambda rng: rng.permutation(PARTS))[0])
    assert other.latent_ppl == pytest.approx(real.latent_ppl, rel=0.15)
    assert shuffled.latent_ppl > 2 * real.latent_ppl
    gap = shuffled.rows["disorder"][:, 0].mean() - real.rows["disorder"][:, 0].mean()
    assert gap > 2


def test_the_headline_is_misplacement_against_random_places_of_the_same_document(critic):
    assert headline_of(critic) == "misplacement"
    corpus = documents(8, 6, order=lambda rng: rng.permutation(PARTS))[0]
    pieces, offsets = corpus_pieces(corpus, critic.piece_length)
    features = critic.places_.transform(critic.embedder_.embed(pieces), offsets)
    found = critic.score(corpus).rows["misplacement"]
    for i, (a, b) in enumerate(pairwise(offsets)):
        parts = [int((m + 0.5) / (b - a) * critic.places_.bins) for m in range(b - a)]
        # log P(x | place), (pieces, places)
        fit = norm.logpdf(features[a:b, None], critic.places_.profile_[parts][None]).sum(axis=2)
        loss = np.log(np.exp(fit).mean(axis=1)) - np.diag(fit)
        assert found[i] == pytest.approx([loss.sum() / np.sqrt(b - a), 1])


def test_misplacement_rises_with_disorder(critic):
    def misplacement(order=None):
        return critic.score(documents(40, 1, order=order)[0]).rows["misplacement"][:, 0].mean()

    ordered, swapped = misplacement(), misplacement(lambda rng: [0, 2, 1, 3])
    assert ordered < 0
    assert swapped > ordered + 0.5
    assert misplacement(lambda rng: rng.permutation(PARTS)) > swapped


def test_parts_without_a_piece_lie_between_their_neighbours():
    x = np.array([[0.0], [3.0], [0.0], [3.0]])
    profile = PlaceFeatures(bins=4)._profile(x, np.array([0, 3, 0, 3]))
    assert profile.ravel().tolist() == [0.0, 1.0, 2.0, 3.0]


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


EDITS = {
    "one line": lambda text: " ".join(text.split()),
    "a line per sentence": lambda text: re.sub(r"(?<=\.)\s+", "\n", text),
    "a paragraph per sentence": lambda text: re.sub(r"(?<=\.)\s+", "\n\n", text),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "wide": lambda text: text.replace(" ", "  \t"),
    "headings": lambda text: re.sub(r"(?m)^(?=\S)", "## ", text),
    "lists": lambda text: re.sub(r"(?m)^(?=\S)", "* ", text),
    "quotations": lambda text: re.sub(r"(?m)^(?=\S)", "> ", text),
    "bold": lambda text: re.sub(r"(\w+)", r"**\1**", text),
    "underlined": lambda text: re.sub(r"(\w+)", r"_\1_", text),
    "code": lambda text: re.sub(r"(\w+)", r"`\1`", text),
    "links": lambda text: re.sub(r"(\w+)", r"[\1](https://example.org/a.b?c=d)", text),
    "HTML": lambda text: "<p>" + re.sub(r"\.\s+", '.</p> <p class="x y">', text) + "</p>",
    "entities": lambda text: re.sub(" ", " &nbsp; ", text),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_white_space_and_markup_move_nothing(critic, edit):
    corpus, _ = documents(12, 6)
    edited = Corpus.from_texts([edit(d.text) for d in corpus], name="edited")
    before, after = critic.score(corpus), critic.score(edited)
    assert after.nll == pytest.approx(before.nll, rel=1e-9)
    for name, rows in before.rows.items():
        assert after.rows[name] == pytest.approx(rows, rel=1e-9), name


@given(st.data())
def test_line_ends_move_no_border(data):
    words = data.draw(
        st.lists(st.sampled_from(["a", "B", "c.", "D!", "_e_", "(f).", "g…", "7"]), min_size=1, max_size=60)
    )
    gaps = st.sampled_from([" ", "\n", "\n\n", "  ", "\r\n", " \n \n", "\t"])
    other = "".join(w + data.draw(gaps) for w in words)
    assert split_pieces(other, 4) == split_pieces(" ".join(words) + " ", 4)


def test_the_subject_of_a_document_drops_out():
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 601, 6)
    x = rng.normal(size=(600, 30)) + place_targets(offsets) @ rng.normal(size=(10, 30))
    subject = np.repeat(10 * rng.normal(size=(100, 30)), 6, axis=0)
    places = PlaceFeatures(bins=4)
    places.fit_transform(x, offsets)
    assert places.transform(x + subject, offsets) == pytest.approx(places.transform(x, offsets), abs=1e-8)
    crossed = places.fit_transform(x, offsets)
    assert crossed.shape == places.transform(x, offsets).shape
    assert np.corrcoef(crossed[:, 0], places.transform(x, offsets)[:, 0])[0, 1] > 0.9


def test_the_posterior_is_that_of_all_chains_of_states(critic):
    """Enumerate the chains of one short document, given its stretches."""
    corpus, _ = documents(1, 7, order=lambda rng: [0, 2, 1])
    latents = critic.project(corpus)
    pieces, offsets = corpus_pieces(corpus, critic.piece_length)
    x = critic.places_.transform(critic.embedder_.embed(pieces), offsets)
    ((_, borders),) = critic.segmenter_.decode(x, offsets)
    model, k = critic.segmenter_, critic.states
    mean, spread = (
        np.asarray(a[np.argsort(critic.kept_)[-k:]], dtype=float) for a in (model.mean_, model.variance_**0.5)
    )
    density = norm(mean, spread).logpdf(x[:, None]).sum(axis=2)
    stretches = np.stack([density[a:b].sum(axis=0) for a, b in pairwise(borders)])
    log_p = np.log(np.maximum(critic.transitions_, 1e-300))
    chains = list(product(range(k), repeat=len(stretches)))
    prior = np.array([sum(log_p[a, b] for a, b in pairwise((k, *z, k))) for z in chains])
    joint = prior + [sum(stretches[m, s] for m, s in enumerate(z)) for z in chains]
    total = logsumexp(joint)
    expected = np.exp(joint - total) @ prior
    assert critic.score(corpus).nll[0] == pytest.approx(-expected, rel=1e-6)
    independent = logsumexp(stretches + np.log(critic.shares_), axis=1).sum()
    assert latents.disorder[0] == pytest.approx(independent - total, rel=1e-6, abs=1e-6)


def test_text_of_few_stretches_has_no_order_to_learn():
    two_parts = documents(60, 8, order=lambda rng: (0, 0, 0, 1, 1, 1))[0]
    with pytest.raises(FittingError, match="2 stretches each in the median, and order needs 4"):
        Passages(n_states=2, piece_length=15).fit(two_parts)


def test_short_documents_have_no_score(critic):
    corpus, _ = documents(3, 9)
    short = Corpus.from_texts([*(d.text for d in corpus), "Only a few words.", "…"], name="short")
    assert critic.score(short).unscored == {"fewer than 4 pieces of 15 words": 1, "no words": 1}


def test_what_was_fitted_is_saved(critic, tmp_path):
    corpus, _ = documents(10, 10)
    critic.save(tmp_path / "critic")
    again = load_critic(tmp_path / "critic")
    assert again.score(corpus).nll == pytest.approx(critic.score(corpus).nll)
