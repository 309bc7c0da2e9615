"""Diversity: similarities and effective numbers literally, prompts as rows, collapsed answers that are found."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import momus
from momus import Corpus, MomusError
from momus.critic.hooks import scored_units, settled
from momus_critics.diversity import Diversity
from momus_critics.diversity.answers import between_similarity, by_prompt, effective_number, relative_variance

WORDS = np.array([f"w{a}{b}" for a in "abcdefghij" for b in "klmnopqrst"])


def answers(prompts, each, seed, name="text", alike=0.0, group=None):
    """Answers about the words of their prompt; a share of them repeats the prompt's first answer."""
    rng = np.random.default_rng(seed)
    texts, ids = [], []
    for p in range(prompts):
        topic = rng.choice(WORDS, 20, replace=False)
        first = ""
        for i in range(each):
            words = np.where(rng.random(40) < 0.4, rng.choice(topic, 40), rng.choice(WORDS, 40))
            text = " ".join(words)
            first = first or text
            texts.append(first if i and rng.random() < alike else text)
            ids.append(f"p{p:03d}")
    kept = None if group is None else [f"{group}{i}" for i in ids]
    return Corpus.from_texts(texts, prompts=None if group else ids, groups=kept, name=name)


def test_similarities_are_those_of_scikit_learn():
    fit, corpus = answers(10, 3, 0), answers(4, 4, 1)
    critic = Diversity().fit(fit)
    tfidf = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+").fit([d.text for d in fit])
    z = critic.project(scored_units(critic, corpus))
    for i, prompt in enumerate(z.prompts):
        x = tfidf.transform([d.text for d in corpus if d.prompt == prompt])
        k = (x @ x.T).toarray()
        assert z.similarity[i] == pytest.approx((k.sum() - 4) / 12)
    assert z.prompts == ["p000", "p001", "p002", "p003"]


def test_effective_numbers_of_known_groups():
    k = np.kron(np.eye(2), np.ones((3, 3)))  # two groups of three equal answers
    assert effective_number(k) == pytest.approx(2)
    assert 1 < effective_number(np.full((4, 4), 0.5) + 0.5 * np.eye(4)) < 4


def test_rows_are_prompts_whatever_the_order():
    corpus = answers(6, 3, 1)
    shuffled = corpus.take(np.random.default_rng(0).permutation(len(corpus)))
    critic = Diversity().fit(answers(10, 3, 0))
    a, b = critic.score(corpus), critic.score(shuffled)
    assert a.ids == b.ids == [f"p{i:03d}" for i in range(6)]
    assert np.allclose(a.nll, b.nll)
    assert a.prompts == a.ids
    assert by_prompt(corpus).identity == by_prompt(shuffled).identity


def test_collapsed_answers_are_found_and_shown_in_groups(tmp_path):
    found = momus.compare(
        answers(40, 3, 1, "real"),
        {"varied": answers(40, 3, 2, "varied"), "collapsed": answers(40, 3, 3, "collapsed", alike=0.5)},
        fit=answers(40, 3, 0, "fit"),
        critics=["diversity", "length"],
        seed=0,
        permutations=199,
        resamples=99,
        out=tmp_path / "run",
    )
    rows = {(v.generated, v.statistic): v for v in found.verdicts if v.critic == "diversity"}
    assert rows["collapsed", "similarity"].p < 0.02 < rows["varied", "similarity"].p
    assert rows["collapsed", "distinct"].generated_value < rows["collapsed", "distinct"].real_value
    assert rows["collapsed", "same_share"].generated_value == pytest.approx(0.75, abs=0.15)
    assert rows["collapsed", "similarity"].n_real == 40
    assert {v.statistic for v in found.verdicts if v.is_finding} == {"similarity", "distinct", "same_share"}
    assert "richer in equal answers" in " ".join(str(found).split())
    (result,) = [r for r in found.results if r.name == "diversity"]
    tables = [e for name, items in result.evidence for e in items if name == "collapsed" and e.name == "alike"]
    assert "3 answers in 1 group: 3 × " in tables[0].rows[0][2]
    assert momus.read_comparison(tmp_path / "run").results


def test_one_document_per_prompt_is_not_tested():
    single = answers(20, 1, 0)
    with pytest.raises(MomusError, match="not tested: one document per prompt"):
        Diversity().fit(single)
    critic = Diversity().fit(answers(10, 3, 0))
    assert set(critic.score(single).reasons) == {"one document per prompt"}


def test_documents_of_a_group_are_the_baseline_without_repeated_prompts():
    critic = Diversity().fit(answers(12, 3, 0, group="author"))
    assert critic.baseline_ == "documents of one group"
    assert "documents of one group" in critic.notes()[0].text


def test_documents_of_a_group_are_compared_where_no_prompt_is_answered_twice():
    found = momus.compare(
        answers(20, 3, 1, "real", group="author"),
        {"collapsed": answers(20, 3, 2, "collapsed", alike=0.8)},
        fit=answers(20, 3, 0, "fit", group="author"),
        critics=["diversity"],
        permutations=199,
        resamples=99,
    )
    (row,) = [v for v in found.verdicts if v.headline]
    assert (row.n_real, row.n_generated) == (20, 20)
    assert row.differs
    assert row.generated_value > row.real_value
    (result,) = found.results
    assert any("No prompt of 'real' is answered twice" in note.text for note in result.notes)


def test_variance_within_and_between_prompts_is_that_of_all_pairs():
    critic, corpus = Diversity().fit(answers(10, 3, 0)), answers(7, 4, 5)
    units = scored_units(critic, corpus)
    x, _ = critic._vectors(units)
    k = (x @ x.T).toarray()
    prompt = np.repeat(np.arange(7), 4)
    other, same = prompt[:, None] != prompt[None], (prompt[:, None] == prompt[None]) & ~np.eye(28, dtype=bool)
    rows = critic.score(corpus).rows["prompts"].matrix.toarray().sum(axis=0)[None]
    assert between_similarity(rows)[0] == pytest.approx(k[other].mean())
    assert relative_variance(rows)[0] == pytest.approx((1 - k[same].mean()) / (1 - k[other].mean()))
    within = [np.var(x.toarray()[prompt == p], axis=0, ddof=1).sum() for p in range(7)]
    assert 1 - k[same].mean() == pytest.approx(np.mean(within))


def test_attend_counts_among_as_many_answers_as_every_text_has():
    critic = Diversity().fit(answers(10, 6, 0))
    assert settled(critic, [answers(8, 5, 1), answers(8, 3, 2)])
    assert critic.size_ == 3
    assert not settled(critic, [answers(8, 5, 1), answers(8, 3, 2)])
    rows = critic.score(answers(8, 5, 1)).rows["distinct"]
    assert rows[:, 0].max() <= 3 + 1e-6


def test_answers_of_a_prompt_are_shown_by_group():
    critic = Diversity().fit(answers(10, 3, 0))
    corpus = Corpus.from_texts(["wak wbl wcm", "wdn weo wfp", "wak wbl wcm"], prompts=["p"] * 3)
    marked = critic.explain(scored_units(critic, corpus))
    assert [s.label for s in marked.steps] == ["group 1", "group 1", ""]
    assert "effective number" in marked.note
