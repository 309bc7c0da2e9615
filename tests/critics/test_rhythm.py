"""Rhythm: the process against SciPy, simulation and enumeration; the memory of sentences; flattened text is found."""

from copy import copy

import numpy as np
import pytest
from more_defects import MORE
from scipy import stats

from momus import Corpus
from momus.verdicts.judge import judge
from momus_critics.prose.reading import paragraph_tokenizer, read_prose
from momus_critics.rhythm import LengthProcess, Rhythm, SentenceLengths, moments, penalised_loss, sentence_lengths

from .measured import measured


def lengths_of(documents, begins=None):
    words = np.concatenate([np.asarray(d, dtype=np.int64) for d in documents])
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    first = np.zeros(len(words), dtype=bool)
    first[offsets[:-1]] = True
    return SentenceLengths(words, first if begins is None else begins, offsets)


def simulated(rng, documents, sentences, b=(2.7, 0.2, 0.3, 0.1), r=3.0, centre=2.5):
    """Documents of the process itself."""
    out = []
    for _ in range(documents):
        x = []
        for t in range(sentences):
            logs = np.log(x) - centre if x else np.zeros(1)
            m = np.exp(b[0] + (b[1] * logs[-1] + b[2] * logs.mean() if x else 0) + b[3] * (t == 0))
            x.append(1 + int(rng.negative_binomial(r, r / (r + m))))
        out.append(x)
    return lengths_of(out)


def test_fit_recovers_the_process():
    z = simulated(np.random.default_rng(0), 1500, 25)
    process = LengthProcess().fit(z)
    # the intercept moves with the centre of the memory, but not where there is no memory yet
    shift = (process.centre_ - 2.5) * (0.2 + 0.3)
    assert process.coefficients_ == pytest.approx([2.7 + shift, 0.2, 0.3, 0.1 - shift], abs=0.05)
    assert process.shape_ == pytest.approx(3.0, rel=0.05)


def test_the_fit_is_a_maximum_of_the_likelihood():
    z = simulated(np.random.default_rng(3), 60, 12)
    process = LengthProcess().fit(z)

    def likelihood(move, part):
        moved = copy(process)
        moved.coefficients_ = process.coefficients_ + np.where(np.arange(4) == part, move, 0)
        moved.shape_ = process.shape_ * np.exp(move if part == 4 else 0)
        return moved.log_probabilities(z).mean()

    for part in range(5):
        slope = (likelihood(1e-4, part) - likelihood(-1e-4, part)) / 2e-4
        assert slope == pytest.approx(0, abs=2e-3)  # the penalty on coefficients moves it by less


def test_the_loss_is_the_penalised_likelihood_and_has_its_gradient():
    rng = np.random.default_rng(4)
    x = np.column_stack([np.ones(50), rng.normal(0, 0.01, (50, 3))])
    y = rng.poisson(6, 50).astype(float)
    at = np.array([1.5, 40.0, -30.0, 20.0, 0.7])
    m, r = np.exp(x @ at[:-1]), np.exp(0.7)
    value, gradient = penalised_loss(at, x, y)
    assert value == pytest.approx(1e-5 * (40**2 + 30**2 + 20**2) - stats.nbinom.logpmf(y, r, r / (r + m)).mean())
    for k in range(5):
        step = 1e-5 * (np.arange(5) == k)
        slope = (penalised_loss(at + step, x, y)[0] - penalised_loss(at - step, x, y)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-7)


def test_means_given_one_sentence_or_none_and_their_bounds():
    process = LengthProcess()
    process.centre_, process.coefficients_, process.shape_ = 1.0, np.array([2.0, 0.3, 0.4, 0.1]), 3.0
    past = np.log(5) - 1
    means = process.means(lengths_of([[5, 9]]))
    assert means == pytest.approx([1 + np.exp(2.1), 1 + np.exp(2 + 0.7 * past)])
    assert process.means(lengths_of([[30], [5, 9]]))[1:] == pytest.approx(means), "a document begins without a memory"
    process.coefficients_ = np.array([40.0, 0, 0, 0])
    assert process.means(lengths_of([[5]])) == pytest.approx([1 + np.exp(20)])


def test_documents_of_two_sentences_suffice_for_a_fit():
    texts = ["One. Two words.", "Three more words. Four.", "Yes, no. It is so."]
    assert Rhythm().fit(Corpus.from_texts(texts)).process_.shape_ > 0


def test_log_probabilities_are_those_of_the_formula_and_sum_to_one():
    process = LengthProcess().fit(simulated(np.random.default_rng(1), 50, 10))
    past = [4, 17, 9]
    total = 0.0
    for x in range(1, 600):
        log_p = process.log_probabilities(lengths_of([[*past, x]]))[-1]
        total += np.exp(log_p)
    assert total == pytest.approx(1, abs=1e-6)
    b, c, r = process.coefficients_, process.centre_, process.shape_
    logs = np.log(past) - c
    m = np.exp(b[0] + b[1] * logs[-1] + b[2] * logs.mean())
    assert log_p == pytest.approx(stats.nbinom.logpmf(598, r, r / (r + m)))


def test_moments_literally_and_without_bias():
    z = lengths_of([[3, 9, 4, 8], [5, 5], [2, 20, 7]])
    squares, neighbours = moments(z)
    for i, d in enumerate([[3, 9, 4, 8], [5, 5], [2, 20, 7]]):
        x = np.log(d) - np.log(d).mean()
        n, ss = len(d), (x**2).sum()
        assert squares[i] == pytest.approx([ss, n - 1])
        expected = (x[1:] * x[:-1]).sum() + ss / (n - 1) * (n - 1) / n
        assert neighbours[i] == pytest.approx([expected, ss])
    rng = np.random.default_rng(0)
    for n in (4, 25):  # independent lengths have no correlation, in short documents too
        _, neighbours = moments(lengths_of(rng.integers(1, 40, (6000, n))))
        assert neighbours[:, 0].sum() / neighbours[:, 1].sum() == pytest.approx(0, abs=0.02)


def prose(n, seed, even=False, name="text"):
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        sizes = rng.negative_binomial(2, 2 / 14, 24) + 1
        sizes = np.full(24, 13) if even else sizes
        sentences = [" ".join(["Word", *(["word"] * (k - 1))]) + "." for k in sizes]
        texts.append("\n\n".join(" ".join(sentences[i : i + 6]) for i in range(0, 24, 6)))
    return Corpus.from_texts(texts, name=name)


def test_flattened_text_is_more_uniform():
    critic = Rhythm().fit(prose(80, 0))
    flattened = MORE["rhythm-flattening"].plant(prose(60, 2), 0.7)
    a, b = critic.score(prose(60, 1)), critic.score(flattened)
    found = {v.statistic: v for v in judge(critic, a, b, permutations=199, resamples=99)}
    spread = found["spread"]
    assert spread.p < 0.02
    assert spread.wording.direction[spread.generated_value > spread.real_value] == "more uniform in rhythm"
    assert found["sentence_length"].generated_value == pytest.approx(found["sentence_length"].real_value, rel=0.1)


def test_sentences_of_one_length_have_no_spread_and_no_correlation():
    critic = Rhythm().fit(prose(20, 0, even=True))
    assert np.isfinite(critic.score(prose(10, 1)).nll).all()
    rows = Rhythm().fit(prose(20, 0)).score(prose(10, 1, even=True)).rows
    values = {s.name: float(s.function(rows[s.rows].sum(axis=0)[None])[0]) for s in critic.statistics()}
    assert values.pop("spread") == 0
    assert np.isnan(values.pop("neighbour_correlation"))
    assert np.isfinite(list(values.values())).all()


def test_statistics_of_known_texts():
    """Ten sentences of 3 words and ten of 13 or 14 by turns, four to a paragraph, with three dashes and two `--`."""
    short, long = "It was so.", "It rained — all day and all night upon the roof of the house."
    assert len(long.replace("—", "").split()) == 13
    sentences = [short, long] * 10
    sentences[1::2] = [long if k < 3 else long.replace("—", "--" if k < 5 else "and") for k in range(10)]
    text = "\n\n".join(" ".join(sentences[i : i + 4]) for i in range(0, 20, 4))
    sizes = [3, 13] * 10
    sizes[11::2] = [14] * 5  # with "and" in place of a dash
    values = measured(Rhythm().fit(prose(20, 0)), Corpus.from_texts([text, text]))
    assert values["sentence_length"] == pytest.approx(np.mean(sizes))
    assert values["paragraph_length"] == pytest.approx(4)
    x = np.log(sizes) - np.log(sizes).mean()
    variance = x @ x / 19
    assert values["spread"] == pytest.approx(np.sqrt(variance), abs=0.0011)
    unbiased = (x[1:] @ x[:-1] + variance * 19 / 20) / (19 * variance)
    assert values["neighbour_correlation"] == pytest.approx(unbiased)


def test_least_likely_sentences_are_marked():
    critic = Rhythm().fit(prose(40, 0))
    text = "A cat sat on a mat by the door. " * 12 + "And " * 90 + "end. " + "It ran off to its bed of straw. " * 3
    marked = critic.explain(Corpus.from_texts([text.strip()]))
    longest = max((s for s in marked.steps if s.marked), key=lambda s: len(s.text))
    assert longest.label == "91 words"


def told(sizes):
    """A document whose sentences have these lengths, in one paragraph."""
    return " ".join(" ".join(["Word", *(["word"] * (k - 1))]) + "." for k in sizes)


def test_the_figure_is_that_of_the_lengths_by_hand():
    critic = Rhythm().fit(prose(20, 0))
    scores = critic.score(Corpus.from_texts([told(d) for d in ([3, 9, 4, 8], [5, 6, 5], [2, 20])]))
    (lengths,) = critic.evidence(scores.summary, critic.score(prose(5, 1)).summary)
    steps, _ = lengths.series
    assert (steps.x, steps.y) == (
        [2, 3, 4, 5, 6, 8, 9, 20],
        pytest.approx(np.array([1, 2, 3, 5, 6, 7, 8, 9]) / 9, 1e-4),
    )


def test_marked_sentences_carry_their_nats_and_what_was_expected():
    critic = Rhythm().fit(prose(40, 0))
    sizes = [12, 9, 14, 3, 50, 11, 8]
    document = Corpus.from_texts([told(sizes)])
    z = critic.project(document)
    nats, means = -critic.process_.log_probabilities(z), critic.process_.means(z)
    found = critic.explain(document)
    assert found.value == pytest.approx(nats.sum())
    assert found.note.startswith("7 sentences of 15.3 words on average.")
    before, marked, after = found.steps  # one of seven sentences is the least likely tenth
    assert (marked.label, marked.note) == ("50 words", f"{means[4]:.0f} expected here")
    assert [s.text.count("ord") for s in found.steps] == [38, 50, 19]
    values = [before.value, marked.value, after.value]
    assert values == pytest.approx([nats[:4].sum(), nats[4], nats[5:].sum()])
    stars = Corpus.from_texts([f"{told(sizes[:3])}\n\n***\n\n{told(sizes[3:])}"])  # a sentence without a word is none
    nats = -critic.process_.log_probabilities(critic.project(stars))
    steps = critic.explain(stars).steps
    assert [s.label for s in steps] == ["", "50 words", ""]
    assert [s.value for s in steps] == pytest.approx([nats[:4].sum(), nats[4], nats[5:].sum()])
    # the nats of a sentence stand with its first word, with which this passage of 120 tokens ends
    long = Corpus.from_texts([told([118, 9, 12])])
    nats = -critic.process_.log_probabilities(critic.project(long))
    steps = critic.explain(long).steps
    assert [(s.text, s.value) for s in steps] == [
        (told([118]) + " ", pytest.approx(nats[0])),
        ("Word", pytest.approx(nats[1])),
    ]


def test_documents_of_one_sentence_are_unscored():
    scores = Rhythm().fit(prose(20, 0)).score(Corpus.from_texts(["One sentence only.", "Two. Three."]))
    assert scores.reasons == ["fewer than two sentences", None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Here are two:\n\n- Red wine\n- Blue cheese and bread\n\nEnjoy them now.", [3]),
        ("- Buy the red wine.\n- Cut the bread (all of it!)\n- salt\n", [4, 6]),
        ("It was. He said “Go.”\n\nAnd it (rained.)", [2, 3, 3]),
        ("Red\n\nroses are red\n\nviolets are blue", [3, 3]),
        ("It was late. She was about to", [3]),
    ],
    ids=["list", "items with marks", "closing marks", "no marks", "cut off"],
)
def test_what_ends_without_a_mark_is_no_sentence_beside_others(text, words):
    prose = read_prose(Corpus.from_texts([text, "One. Two."]).tokens(paragraph_tokenizer("words")))
    z = sentence_lengths(prose)
    assert z.words[z.offsets[0] : z.offsets[1]].tolist() == words
    assert z.offsets[2] - z.offsets[1] == 2
