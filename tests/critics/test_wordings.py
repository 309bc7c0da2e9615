"""What readers are told of critics: names, directions and units, checked on texts with a known difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from momus import Corpus, evidence
from momus.critic import Critic, RunningTextCritic
from momus.critic.registry import critic_class, make_critics
from momus.estimator import clone
from momus.evidence import Chart
from momus.plugins import critic_names
from momus.text.tokens import get_tokenizer
from momus.verdicts.judge import judge
from momus.verdicts.statistics import all_statistics, shown_statistic, wordings
from momus_adapters.pyro import PyroCritic
from momus_critics.evidence import Mark, highest, mark_passage, words_of
from momus_critics.fits import heaps
from momus_critics.length import Length
from momus_critics.mauve import Mauve, effective_number
from momus_critics.perplexity import Perplexity
from momus_critics.rank_frequency import RankFrequency
from momus_critics.shares import StopwordShare, SymbolShare
from momus_critics.type_token import TypeToken
from momus_critics.unigram import COMMON, Unigram

WORDS = get_tokenizer("words")
ADAPTERS = [PyroCritic]
SHIPPED = [critic_class(name) for name in critic_names()]
LONGEST_AXIS, LONGEST_PHRASE = 28, 6


def zipfian(n, seed, length=80, exponent=1.1, types=400, name="real"):
    """Documents of independent words whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(seed)
    p = np.arange(1, types + 1) ** -exponent
    words = np.array([f"word{i}" for i in range(types)])
    lengths = rng.poisson(length, n).clip(5)
    return Corpus.from_texts([" ".join(rng.choice(words, k, p=p / p.sum())) for k in lengths], name=name)


@pytest.mark.parametrize("cls", [*SHIPPED, *ADAPTERS], ids=lambda c: c.name)
def test_axes_have_short_names_and_limits(cls):
    assert 0 < len(cls.axis) <= LONGEST_AXIS
    assert cls.reporting.limits.endswith(".")
    assert "\n" not in cls.reporting.limits
    assert len(cls.reporting.limits) <= 120
    assert set(cls.reporting.directions) <= {"latent_nll", "latent_ppl", "posterior_entropy"}
    for phrase in (p for pair in cls.reporting.directions.values() for p in pair):
        assert len(phrase.split()) <= LONGEST_PHRASE


def test_axes_have_different_names():
    axes = [cls.axis for cls in [*SHIPPED, *ADAPTERS]]
    assert len(set(axes)) == len(axes)


def unfitted(cls):
    """A critic whose statistics can be listed: the one that needs a fit for it gets one."""
    if cls is RankFrequency:
        return RankFrequency().fit(zipfian(5, 0))
    (critic,) = make_critics([cls.name])
    return critic


@pytest.mark.parametrize("cls", SHIPPED, ids=lambda c: c.name)
def test_every_statistic_has_a_name_and_every_value_a_direction(cls):
    critic: Critic = unfitted(cls)
    rows = ["posterior"]
    if isinstance(critic, RunningTextCritic):
        words = wordings(critic, rows)
        assert all(w.label and w.direction for w in words.values())
    else:
        statistics = all_statistics(critic, rows)
        for s in statistics:
            assert s.wording.label, s.name
            # a distance has no direction, and the factor of a power law says nothing alone
            assert bool(s.wording.direction) == (s.kind == "value" and s.name != "alpha"), s.name
            assert all(len(p.split()) <= LONGEST_PHRASE for p in s.wording.direction), s.wording.direction
            assert not s.name.endswith("_share") or s.wording.format == "share", s.name
        labels = [s.wording.label for s in statistics]
        assert len(set(labels)) == len(labels)
    assert wordings(critic, rows)[shown_statistic(critic, rows)].direction


def told(critic, real, generated):
    """Direction and row of the statistic by which documents are shown."""
    a, b = critic.score(real), critic.score(generated)
    name = shown_statistic(critic, list(a.rows))
    (v,) = [v for v in judge(critic, a, b, permutations=199, resamples=99) if v.statistic == name]
    return v.wording.direction[v.generated_value > v.real_value], v


@pytest.mark.parametrize(
    ("critic", "changed", "direction"),
    [
        (Length(), {"length": 60}, "shorter"),
        (Length(), {"length": 110}, "longer"),
        (TypeToken(), {"exponent": 1.5}, "less varied in words"),
        (TypeToken(), {"exponent": 0.6}, "more varied in words"),
        (Unigram(), {"exponent": 1.5}, "richer in common words"),
        (Unigram(), {"exponent": 0.6}, "poorer in common words"),
        (RankFrequency(), {"exponent": 1.5}, "more dominated by common words"),
        (RankFrequency(), {"exponent": 0.6}, "less dominated by common words"),
        (Perplexity(order=1), {"exponent": 1.5}, "more predictable"),
        (Perplexity(order=1), {"exponent": 0.6}, "less predictable"),
    ],
    ids=lambda x: x.name if isinstance(x, Critic) else str(x),
)
def test_a_planted_change_is_told_in_its_direction(critic, changed, direction):
    critic = clone(critic).fit(zipfian(150, 0))
    word, verdict = told(critic, zipfian(120, 1), zipfian(120, 2, name="changed", **changed))
    assert word == direction
    assert verdict.p < 0.05


def test_shares_tell_their_direction():
    def texts(stopword, symbol, seed, name):
        rng = np.random.default_rng(seed)
        kinds = rng.choice(3, (120, 60), p=[stopword, symbol, 1 - stopword - symbol])
        return Corpus.from_texts([" ".join(np.array(["the", ",", "stone"])[k]) for k in kinds], name=name)

    real, other = texts(0.4, 0.1, 1, "real"), texts(0.3, 0.2, 2, "other")
    for critic, direction in ((StopwordShare(), "poorer in stopwords"), (SymbolShare(), "richer in symbols")):
        word, verdict = told(critic.fit(texts(0.4, 0.1, 0, "fit")), real, other)
        assert word == direction
        assert verdict.wording.format == "share"
        assert verdict.p < 0.05


def test_relative_types_are_types_over_their_expectation():
    critic = TypeToken().fit(zipfian(200, 0))
    corpus = zipfian(40, 1)
    scores = critic.score(corpus)
    (statistic,) = [s for s in critic.statistics() if s.name == "relative_types"]
    types = sum(len(set(d.text.split())) for d in corpus)
    expected = sum(critic.alpha_ * len(d.text.split()) ** critic.beta_ for d in corpus)
    assert statistic.function(scores.rows["types"].sum(axis=0)[None])[0] == pytest.approx(types / expected)
    # the law is fitted by maximum likelihood, whose equation for α is Σ v = Σ α t^β: exactly 1 on its own text
    own = critic.score(zipfian(200, 0)).rows["types"].sum(axis=0)
    assert own[0] / own[1] == pytest.approx(1)


def test_relative_types_do_not_depend_on_length():
    critic = TypeToken().fit(zipfian(400, 0, length=90))
    real = zipfian(200, 1, length=120)
    short = zipfian(200, 2, length=60)
    values = [critic.score(c).rows["types"].sum(axis=0) for c in (real, short)]
    ratios = [v[0] / v[1] for v in values]
    assert ratios == pytest.approx([1, 1], abs=0.03)
    plain = [np.mean([len(set(d.text.split())) / len(d.text.split()) for d in c]) for c in (real, short)]
    assert plain[1] > 1.1 * plain[0]  # whereas the plain type–token ratio falls with length


def test_common_words_are_counted_by_their_rank_in_real_text():
    fit = Corpus.from_texts([" ".join(f"w{i}" for i in range(k)) for k in range(1, 2 * COMMON)])
    critic = Unigram().fit(fit)  # w0 is the commonest word, w1 the next, …
    corpus = Corpus.from_texts([f"w0 w{COMMON - 1} w{COMMON} new", "new"], name="some")
    rows = critic.score(corpus).rows["common"]
    assert rows.tolist() == [[2, 4], [0, 1]]
    few = Unigram().fit(Corpus.from_texts(["a a b", "a b"]))  # fewer words than count as common
    assert few.score(corpus).rows["common"].tolist() == [[0, 4], [0, 1]]


def test_the_effective_number_of_regions_is_that_of_a_uniform_distribution():
    assert effective_number(np.array([[5.0, 5, 5, 5], [20, 0, 0, 0]])) == pytest.approx([4, 1])
    assert 1 < effective_number(np.array([[10.0, 5, 5]]))[0] < 3


def test_mauve_names_regions_by_their_most_central_document():
    topics = {"sea": "ship sail wave harbour tide", "law": "court judge trial verdict appeal"}
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(topics[t].split(), 30)) for t in ("sea", "law") * 30]
    real = Corpus.from_texts(texts, name="real")
    critic = Mauve(n_states=2, options={"dimensions": 2}).fit(real)
    of = {t: critic.project(Corpus.from_texts([words])).states[0] for t, words in topics.items()}
    assert of["sea"] != of["law"]
    z = (critic.embedder_.embed([d.text for d in real]) - critic.mean_) @ critic.directions_
    for topic, region in of.items():
        name, excerpt = critic.exemplars_[region]
        assert set(excerpt.rstrip(" …").split()) <= set(topics[topic].split())
        distance = ((z - critic.centres_[0, region]) ** 2).sum(axis=1)
        assert distance[real.ids.index(name)] == pytest.approx(distance.min())
    (table,) = critic.evidence(critic.score(real).summary, critic.score(real.slice(0, 20)).summary)
    for row in table.rows:
        name, excerpt = critic.exemplars_[int(row[0].split(":")[0].removeprefix("region ")) - 1]
        assert f"{excerpt} ({name})" in row[0]
    assert critic.explain(real.slice(0, 1)).steps[0].label == f"region {of['sea'] + 1}"


@pytest.mark.parametrize(
    "critic",
    [Length(), StopwordShare(), SymbolShare(), TypeToken(), RankFrequency(), Perplexity(order=2)],
    ids=lambda c: c.name,
)
def test_figures_of_several_corpora_can_be_overlaid(critic):
    critic = critic.fit(zipfian(80, 0))
    real = critic.score(zipfian(60, 1)).summary
    others = [zipfian(50, 2, length=30, exponent=0.8), zipfian(40, 3, length=120, exponent=1.6)]
    charts = [critic.evidence(real, critic.score(c).summary)[0] for c in others]
    assert all(isinstance(c, Chart) for c in charts)
    first, second = (
        replace(c, series=[s for s in c.series if s.role != "generated"]) for c in charts
    )  # axes, title, note and all series that are not of the generated text
    assert evidence.to_json(first) == evidence.to_json(second)
    for chart in charts:
        assert [s.role for s in chart.series].count("generated") == 1
        assert all(len(s.x) <= 201 for s in chart.series)


def test_a_passage_is_the_text_itself():
    text = 'He said:  "Wait!"\n\nThen he WAITED, and waited.'
    corpus = Corpus.from_texts([text])
    words = words_of(corpus, WORDS)
    critic = Length().fit(["a", "b c"])
    marked = mark_passage(critic, corpus, critic.project(corpus), words, {words.index("waited"): Mark("x")})
    assert "".join(s.text for s in marked.steps) == text
    assert [s.text for s in marked.steps if s.marked] == ["WAITED"]


def test_the_passage_with_the_most_marks_is_chosen():
    corpus = Corpus.from_texts([" ".join(["plain"] * 300 + ["odd", "plain"] * 20 + ["plain"] * 300)])
    words = words_of(corpus, WORDS)
    marks = {i: Mark("odd") for i, w in enumerate(words) if w == "odd"}
    critic = Length().fit(["a", "b c"])
    marked = mark_passage(critic, corpus, critic.project(corpus), words, marks, shown=50, values=np.ones(len(words)))
    assert sum(s.marked for s in marked.steps) == 20
    assert sum(s.value for s in marked.steps) == 50
    assert "of 640" in marked.note


def test_ties_of_the_highest_values_are_all_marked():
    assert highest(np.array([1.0, 3, 3, 2])) == [1, 2]
    assert highest(np.zeros(0)) == []


def test_overused_rare_and_surprising_words_are_marked():
    real = Corpus.from_texts(["the cat sat on the mat and the dog ran off", "a dog and a cat ran to the mat"] * 20)
    loop = Corpus.from_texts(["the dog sat on the mat and zebra zebra sat on the mat"])
    shown = {c.name: c.fit(real).explain(loop) for c in (Unigram(), RankFrequency(), Perplexity(order=2))}
    marked = {name: "".join(s.text for s in m.steps if s.marked) for name, m in shown.items()}
    assert all("zebra" in marked[name] for name in ("unigram", "rank-frequency", "perplexity"))
    assert {s.label for s in shown["rank-frequency"].steps if s.marked} == {"new word"}
    for m in shown.values():
        assert "".join(s.text for s in m.steps) == loop[0].text


def test_shares_mark_their_tokens():
    real = Corpus.from_texts(["the end, at last", "of the sea; and so on"] * 5)
    shown = StopwordShare().fit(real).explain(Corpus.from_texts(["The sea and the sky."]))
    assert [s.text.strip() for s in shown.steps if s.marked] == ["The", "and the"]
    shown = SymbolShare().fit(real).explain(Corpus.from_texts(["The sea, and the sky!?"]))
    assert [s.text.strip() for s in shown.steps if s.marked] == [",", "!?"]
    assert "3 of 8 tokens are symbols" in shown.note


def test_bins_of_lengths_hold_enough_documents_of_small_corpora():
    rng = np.random.default_rng(0)
    tokens = rng.integers(50, 300, 400)
    types = rng.poisson(3 * tokens**0.7)
    halves = (tokens[:200], types[:200]), (tokens[200:], types[200:])
    law = heaps.fit(tokens, types)
    lengths, distances = heaps.distances_by_length(*halves, law, law)
    assert 2 <= len(lengths) <= 200 // (2 * heaps.MIN_DOCUMENTS)
    assert all(len(d) == len(lengths) for d in distances)
