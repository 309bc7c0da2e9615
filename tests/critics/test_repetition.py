"""Repetition: copies against a literal search, the process against enumeration and simulation, loops that are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momus import Corpus
from momus.controls import DEFECTS
from momus.verdicts.judge import judge
from momus_critics.prose.reading import paragraph_tokenizer, paragraphs, read_prose
from momus_critics.repetition import Repetition
from momus_critics.repetition.copies import Copies, CopyProcess, copies_of, copy_distances


def literally(text, n):
    """The definition, token by token: nearest source of each copied n-gram, the old source while the text agrees."""
    count = len(text) - n + 1
    distance = [0] * max(count, 0)
    for i in range(count):
        earlier = [j for j in range(i) if text[j : j + n] == text[i : i + n]]
        before = distance[i - 1] if i else 0
        distance[i] = (before if earlier and before and i - before in earlier else i - earlier[-1]) if earlier else 0
    covered = [0] * len(text)
    for t in range(len(text)):
        covering = [s for s in range(max(t - n + 1, 0), min(t, count - 1) + 1) if distance[s]]
        covered[t] = distance[covering[0]] if covering else 0
    return covered


@settings(max_examples=150)
@given(st.lists(st.lists(st.integers(0, 3), max_size=40), min_size=1, max_size=4), st.integers(2, 4))
def test_copies_are_those_of_a_literal_search(documents, n):
    ids = np.array([i for d in documents for i in d], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(d) for d in documents])])
    if len(ids):
        expected = [x for d in documents for x in literally(d, n)]
        assert copy_distances(ids, offsets, n).tolist() == expected


def sequence(distances, states=None):
    """A document with the given distances."""
    d = np.array(distances, dtype=np.int64)
    begins = np.concatenate([[True], d[1:] != d[:-1]])
    first = np.maximum.accumulate(np.where(begins, np.arange(len(d)), 0))
    ages = np.where(d > 0, np.arange(len(d)) - first, 0)
    z = np.array(states) if states is not None else np.where(d > 0, 3, 0)
    return Copies(z, np.array([0, len(d)]), None, d, ages, np.zeros(len(d), dtype=np.int64), ("a",))


def fitted():
    process = CopyProcess()
    return process.learn(process.count(sequence([0] * 30 + [7] * 6 + [0] * 9 + [11] * 5 + [3] * 4 + [0] * 5)))


def test_probabilities_of_all_continuations_sum_to_one():
    process = fitted()
    for past in ([0, 0, 0], [0, 0, 5, 5, 5], [0, 0, 5]):
        states = [3 if d else 0 for d in past]
        total = 0.0
        # what can come next: new; a copy from each source; the same copy goes on
        continuations = [(0, 0), (2, 1), (3, 2), (4, 3)] + ([(past[-1], 3)] if past[-1] else [])
        for distance, state in continuations:
            log_p = process.log_probabilities(sequence([*past, distance, 0], [*states, state, 0]))
            total += np.exp(log_p[len(past)])
        assert total == pytest.approx(1)


def test_the_process_recovers_its_hazards():
    rng = np.random.default_rng(0)
    distances, at = [], 0
    while len(distances) < 60_000:  # copies begin at rate 0.05, and go on with probability 0.8
        if rng.random() < 0.05:
            at += 1
            distances += [2 + at % 2] * rng.geometric(0.2)
        else:
            distances.append(0)
    process = CopyProcess()
    process.learn(process.count(sequence(distances)))
    assert process.begin_[14:16] == pytest.approx(0.05, abs=0.005)
    # adjacent copies of equal distance merge, which the two alternating distances mostly avoid
    assert process.continue_[2, :3] == pytest.approx(0.8, abs=0.02)
    assert process.expected_[15] == pytest.approx(np.mean(np.array(distances) > 0), abs=0.02)


def words(n, seed, length=120):
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{i}" for i in range(400)])
    p = 1 / np.arange(1, 401)
    return Corpus.from_texts(
        [". ".join(" ".join(rng.choice(vocabulary, 12, p=p / p.sum())) for _ in range(length // 12)) for _ in range(n)],
        name=f"text-{seed}",
    )


def test_planted_loops_are_found():
    critic = Repetition().fit(words(80, 0))
    looped = DEFECTS["repetition-loop"].plant(words(40, 2), 0.3, 0)
    real, generated = critic.score(words(40, 1)), critic.score(looped)
    found = {v.statistic: v for v in judge(critic, real, generated, permutations=199, resamples=99)}
    assert found["relative_copying"].p < 0.02
    assert generated.outlying(True).min() > real.outlying(True).max()


def test_a_copy_is_marked_where_it_stands():
    critic = Repetition().fit(words(20, 0))
    text = "It was late.\n\nShe said that she was tired and she said that she was tired and she said that she was tired"
    marked = critic.explain(Corpus.from_texts([text]))
    assert "".join(s.text for s in marked.steps) == text
    (copy,) = [s for s in marked.steps if s.marked]
    assert copy.label == "copy"
    assert copy.note == "as 7 words and symbols before"
    assert copy.text == "she said that she was tired and she said that she was tired"


def test_evidence_shows_the_longest_copy():
    critic = Repetition().fit(words(20, 0))
    generated = Corpus.from_texts(["again and again and again and again and again", "nothing is said twice here"])
    tables = {e.name: e for e in critic.evidence(critic.score(words(9, 1)).summary, critic.score(generated).summary)}
    assert tables["longest-copies"].rows[0] == ("generated", 7, "again and again and again and again")


def test_sources_are_told_apart_by_sentence_and_paragraph():
    sentences = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    states, *_ = copies_of(
        np.array([1, 2, 1, 2, 1, 2, 9, 1, 2, 3]), np.array([0, 10]), sentences, np.repeat([0, 1], [7, 3]), 2
    )
    assert states.tolist() == [0, 0, 1, 1, 1, 1, 0, 3, 3, 0]
    states, *_ = copies_of(np.array([1, 2, 9, 1, 2]), np.array([0, 5]), np.array([0, 0, 0, 1, 1]), np.zeros(5), 2)
    assert states.tolist() == [0, 0, 0, 2, 2]


def test_paragraphs_of_hard_wrapped_and_of_single_spaced_text():
    assert paragraphs("a b\nc d\n\n\ne") == ["a b\nc d", "e"]
    assert paragraphs('He came.\nShe went.\r\n"No?"\nand\nso on') == ["He came.", "She went.", '"No?"', "and\nso on"]


def test_sections_are_paragraphs_and_sentences():
    corpus = Corpus.from_sections([[("A", "one two"), ("B", "three. Four")], [("C", "five")]])
    prose = read_prose(corpus.tokens(paragraph_tokenizer("words")))
    assert prose.paragraphs.tolist() == [0, 0, 1, 1, 1, 2]
    assert prose.sentences.tolist() == [0, 0, 1, 1, 2, 3]
    assert prose.offsets.tolist() == [0, 5, 6]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. No met J. R. Smith at 3.50 pence. He left.", 2),
        ("“Why?” he asked. “Because.” They went on...", 3),
        ("Wait! No? Yes...\nand so on", 4),
        ("该书出版了。他们走了。", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, count):
    prose = read_prose(Corpus.from_texts([text]).tokens(paragraph_tokenizer("words")))
    assert prose.sentences[-1] + 1 == count
