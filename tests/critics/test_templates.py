"""Sentence templates: tags of a real tagger, openings and templates against literal counts, planted ones found."""

import numpy as np
import pytest
from more_defects import MORE

from momus import Corpus, MomusError
from momus.conformance import check_critic
from momus.critic.hooks import missing_params
from momus.verdicts.judge import judge
from momus_critics.templates import LENGTH, TAGS, Templates

pytest.importorskip("spacy")
from momus_adapters.tagging import SpacyTagger

NOUNS = ["dog", "house", "river", "town", "letter", "garden", "friend", "window", "road", "king"]
VERBS = ["saw", "found", "left", "loved", "watched", "followed", "painted", "crossed"]
ADJECTIVES = ["old", "small", "green", "quiet", "long", "strange", "warm"]


def made(n, seed, name="text", fixed=0.0):
    """Sentences of four patterns; a share ``fixed`` of them has one pattern."""
    rng = np.random.default_rng(seed)

    def sentence():
        noun, other = rng.choice(NOUNS, 2)
        verb, adjective = rng.choice(VERBS), rng.choice(ADJECTIVES)
        patterns = (
            f"The {adjective} {noun} {verb} the {other}.",
            f"She {verb} the {noun} and the {other}.",
            f"In the {noun} he {verb} a {adjective} {other}.",
            f"Every {noun} in the {other} was {adjective}.",
        )
        return patterns[0] if rng.random() < fixed else patterns[rng.integers(4)]

    return Corpus.from_texts([" ".join(sentence() for _ in range(8)) for _ in range(n)], name=name)


@pytest.fixture(scope="module")
def critic():
    return Templates(tagger="spacy").fit(made(40, 0))


def test_tags_do_not_depend_on_other_documents():
    texts = [t.split() for t in ("The old dog slept .", "She saw the river , and it was long .")]
    tagger = SpacyTagger()
    alone = [tagger.tag([t])[0] for t in texts]
    assert tagger.tag(texts) == alone
    assert alone[0] == ["DET", "ADJ", "NOUN", "VERB", "PUNCT"]
    assert tagger.tag([[]]) == [[]]


def test_steps_and_states(critic):
    scores = critic.score(Corpus.from_texts(["The old dog slept. It was late."]))
    assert scores.z.to_pylist()[0].startswith("DET → ADJ → NOUN → VERB → PUNCT → PRON → AUX")
    assert scores.steps.tolist() == [9 + 2]  # the end of each sentence is a step


def test_only_the_first_words_are_tagged():
    critic = Templates(tagger="spacy", max_tokens=6).fit(made(20, 0))
    z = critic.project(Corpus.from_texts(["The old dog slept. It was late and dark.", "No."]))
    assert z.lengths.tolist() == [6, 2]
    assert np.diff(z.sentences).tolist() == [5, 1, 2]
    assert z.owners.tolist() == [0, 0, 1]


def test_a_fixed_pattern_is_found_and_listed(critic):
    real, fixed = critic.score(made(30, 1)), critic.score(made(30, 2, name="made", fixed=0.8))
    found = {v.statistic: v for v in judge(critic, real, fixed, permutations=199, resamples=99)}
    assert found["openings"].p < 0.02
    assert found["posterior_entropy"].generated_value < found["posterior_entropy"].real_value
    tables = {e.name: e for e in critic.evidence(real.summary, fixed.summary)}
    opening = tables["openings-over-used"].rows[0]
    assert opening[0] == "DET ADJ NOUN"
    assert opening[2] > 2 * opening[1]
    template = tables["templates-over-used"].rows[0]
    assert template[0] in "DET ADJ NOUN VERB DET NOUN PUNCT"
    assert len(template[0].split()) == LENGTH
    assert all("«" in row[-1] for row in tables["templates-over-used"].rows)


def test_openings_are_counted_by_document(critic):
    z = critic.project(Corpus.from_texts(["The old dog slept. No.", "The old dog slept. The small king left."]))
    code = [TAGS.index(t) for t in ("DET", "ADJ", "NOUN")]
    number = (code[0] * len(TAGS) + code[1]) * len(TAGS) + code[2]
    assert z.openings.tolist() == [number, -1, number, number]
    rows = critic.sufficient_statistics(z)
    assert rows["openings"].matrix[:, [number]].toarray().ravel().tolist() == [1, 2]


def test_stock_phrases_raise_the_perplexity(critic):
    planted = MORE["stock-phrases"].plant(made(20, 3), 0.5)
    assert critic.score(planted).latent_ppl > 1.3 * critic.score(made(20, 3)).latent_ppl


def test_unlikely_words_are_marked(critic):
    text = "The old dog saw the river. Oh gosh well 42 % to."
    marked = critic.explain(Corpus.from_texts([text]))
    assert "".join(s.text for s in marked.steps) == text
    assert any(s.marked for s in marked.steps)


def test_without_a_tagger_it_is_left_out():
    assert missing_params(Templates())
    with pytest.raises(MomusError, match="tagger is 'none'"):
        Templates(tagger="none").fit(made(5, 0))


@pytest.mark.slow
def test_conformance():
    report = check_critic(Templates(tagger="spacy"), made(60, 5))
    assert report.ok, report
