"""What the base class owes: rows, reasons, aggregates, and errors that name the document."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from momus import Corpus, Critic, Document, LogPrior, MomusError, Values
from momus.conformance import check_critic
from momus.critic import Counted, EvidenceMixin, StatisticsMixin
from momus.critic.hooks import is_fitted, overlap
from momus.critic.rows import aligned, place, stack
from momus.errors import CriticError, FittingError, NotFittedError


class Vowels(Critic[Values], StatisticsMixin):
    """Share of vowels, normal."""

    name = "vowels"
    axis = "vowels"

    def __init__(self, *, floor: float = 0.01) -> None:
        self.floor = floor

    def fit(self, real):
        z = self.project(real).values
        self.mean_, self.sd_ = float(z.mean()), float(z.std() + self.floor)
        return self

    def project(self, batch):
        return Values(np.array([sum(c in "aeiou" for c in d.text) / len(d.text) for d in batch]))

    def log_prior(self, latents):
        return LogPrior.of_vectors(norm.logpdf(latents.values, self.mean_, self.sd_))

    def sufficient_statistics(self, latents):
        return {"share": np.column_stack([latents.values, np.ones(len(latents))])}


REAL = Corpus.from_texts(["alpha beta", "gamma delta", "epsilon zeta", "eta theta"], name="real")


def test_one_row_for_each_id_in_order_with_score_or_reason():
    broken = Document("z", (), problem="text is null")
    corpus = Corpus.from_documents([Document.plain("a", "abc"), Document.plain("b", "  \n"), broken])
    scores = Vowels().fit(REAL).score(corpus)
    assert list(scores.ids) == ["a", "b", "z"]
    assert scores.reasons == [None, "empty", "text is null"]
    assert np.isfinite(scores.nll).tolist() == [True, False, False]
    assert scores.steps.tolist() == [1, 0, 0]
    assert scores.unscored == {"empty": 1, "text is null": 1}
    assert scores.table().column_names[:6] == ["corpus", "id", "critic", "nll", "states", "reason"]
    assert scores.table()["nll"].null_count == 2


@settings(max_examples=30)
@given(st.lists(st.text("abcde ", max_size=6), min_size=1, max_size=12), st.integers(1, 5), st.randoms())
def test_scores_do_not_depend_on_batches_or_order(texts, size, random):
    corpus = Corpus.from_texts(texts)
    critic = Vowels().fit(REAL)
    whole = critic.score(corpus)
    parts = critic.score(corpus, batch_size=size)
    assert np.array_equal(whole.nll, parts.nll, equal_nan=True)
    order = list(range(len(texts)))
    random.shuffle(order)
    mixed = critic.score(corpus.take(order))
    assert np.array_equal(whole.nll[order], mixed.nll, equal_nan=True)
    if whole.n_scored:
        assert parts.rows["share"] == pytest.approx(whole.rows["share"])
        assert whole.latent_nll == pytest.approx(np.nanmean(whole.nll))


def test_perplexity_is_a_ratio_of_totals():
    scores = Vowels().fit(REAL).score(REAL)
    object.__setattr__(scores, "steps", np.array([1, 2, 3, 4]))
    assert scores.latent_ppl == pytest.approx(np.exp(scores.nll.sum() / 10))


def test_scoring_before_fitting_is_an_error():
    with pytest.raises(NotFittedError, match="fit"):
        Vowels().score(REAL)


def test_fitting_needs_text():
    with pytest.raises(FittingError, match="2 documents"):
        Vowels().fit(Corpus.from_texts(["", " ", "x"]))


def test_refitting_forgets_and_a_failed_fit_leaves_nothing():
    critic = Vowels().fit(REAL)
    critic.extra_ = 1
    critic.fit(REAL)
    assert not hasattr(critic, "extra_")
    with pytest.raises(FittingError):
        critic.fit(Corpus.from_texts(["x"]))
    assert not is_fitted(critic)


def test_overlap_with_the_fitted_text_is_counted():
    critic = Vowels().fit(REAL)
    assert overlap(critic, Corpus.from_texts(["alpha beta", "new"])) == 1


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [
        ("project", lambda self, batch: Values(np.zeros(len(batch) + 1)), "4 documents"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.full(len(z), np.nan)), "real:1"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.full(len(z), -np.inf)), "positive probability"),
        ("project", lambda self, batch: None, "project returned None"),
        ("project", lambda self, batch: Values(np.full(len(batch), 1j)), "project returned complex numbers"),
        ("log_prior", lambda self, z: None, "log_prior returned None, expected a momus.LogPrior"),
        ("log_prior", lambda self, z: [0.0] * len(z), "log_prior returned list"),
        ("log_prior", lambda self, z: LogPrior(np.zeros((4, 2)), np.ones(4, int)), r"an array of shape \(4, 2\)"),
        ("log_prior", lambda self, z: LogPrior(np.array(["a"] * 4), np.ones(4, int)), "texts, expected real numbers"),
        ("log_prior", lambda self, z: LogPrior(np.zeros(4) + 1j, np.ones(4, int)), "complex numbers"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.zeros(len(z)) + 1j), "complex numbers"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.full(len(z), "1")), "texts, expected real numbers"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.full(len(z), "2", "M8[s]")), "expected real numbers"),
        ("log_prior", lambda self, z: LogPrior(np.zeros(4), np.full(4, 0.5)), "numbers that are not whole"),
        ("log_prior", lambda self, z: LogPrior(np.zeros(4), np.full(4, -1)), "or are negative"),
        ("log_prior", lambda self, z: LogPrior(np.zeros(4), np.ones(4, int), np.zeros(3)), "3 rows for 4 documents"),
        ("log_prior", lambda self, z: LogPrior.of_vectors(np.full(len(z), -1e308)), "at most 1e"),
        ("sufficient_statistics", lambda self, z: None, "expected a mapping"),
        ("sufficient_statistics", lambda self, z: {"share": np.ones(4)}, "one of shape"),
        ("sufficient_statistics", lambda self, z: {"share": np.ones((3, 2))}, "3 rows for 4 documents"),
        ("sufficient_statistics", lambda self, z: {"share": np.full((4, 2), np.nan)}, "not finite or too large"),
        ("sufficient_statistics", lambda self, z: {"share": Counted(np.ones((4, 2)), ["a"])}, "one for each column"),
        ("unscored", lambda self, batch: None, "unscored returned None"),
        ("unscored", lambda self, batch: [None], "1 reasons for 4 documents"),
        ("unscored", lambda self, batch: [""] * 4, "a text that is not empty"),
    ],
)
def test_wrong_critics_are_named(method, wrong, message):
    """So are they by the conformance checks."""
    right = Vowels().fit(REAL)
    critic = type("Wrong", (Vowels,), {method: wrong, "__doc__": "A wrong critic."})()
    vars(critic).update(vars(right))
    with pytest.raises(CriticError, match=message) as caught:
        critic.score(REAL)
    assert "critic 'vowels'" in str(caught.value)
    checks = ["edge_texts_get_a_score_or_a_reason"]
    assert "edge_texts_get_a_score_or_a_reason" in check_critic(type(critic)(), REAL, checks=checks).failures()


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [
        ("evidence", lambda self, real, generated: None, "evidence returned None, expected a list"),
        ("evidence", lambda self, real, generated: [1], "a list with int"),
        ("statistics", lambda self: {"share"}, "statistics returned set, expected a list of momus.Statistic"),
        ("notes", lambda self: "a note", "notes returned str"),
        ("summarize", lambda self, latents: None, "summarize returned None"),
    ],
)
def test_so_are_those_that_return_something_of_another_kind(method, wrong, message):
    class Wrong(Vowels, EvidenceMixin):
        def evidence(self, real, generated):
            return []

        def notes(self):
            return []

    critic = type("Wronger", (Wrong,), {method: wrong})()
    with pytest.raises(CriticError, match=message):
        getattr(critic, method)(*(None for _ in range(wrong.__code__.co_argcount - 1)))


def test_saved_and_loaded_critics_score_alike(tmp_path):
    critic = Vowels(floor=0.5).fit(REAL)
    critic.save(tmp_path)
    again = Vowels.load(tmp_path)
    assert again.get_params(deep=False) == {"floor": 0.5}
    assert np.array_equal(again.score(REAL).nll, critic.score(REAL).nll)
    assert overlap(again, REAL) == 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arrays.safetensors", "critic.json"]


def test_broken_saved_critics_are_errors(tmp_path):
    with pytest.raises(MomusError, match=r"no critic\.json"):
        Vowels.load(tmp_path)
    critic = Vowels().fit(REAL)
    critic.save(tmp_path)
    (tmp_path / "arrays.safetensors").write_bytes(b"no tensors")
    with pytest.raises(MomusError, match="changed or damaged"):
        Vowels.load(tmp_path)
    (tmp_path / "critic.json").write_text('{"format": 99}')
    with pytest.raises(MomusError, match="format 99"):
        Vowels.load(tmp_path)


def test_rows_of_batches_with_other_labels_stack():
    a = Counted.of_values(np.array([3, 7]))
    b = Counted.of_values(np.array([5]))
    both = stack([a, b])
    assert both.labels.tolist() == [3, 5, 7]
    assert both.matrix.toarray().tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    spread = place(both, np.array([0, 2, 3]), 5)
    assert spread.matrix.toarray().sum(axis=1).tolist() == [1, 0, 1, 1, 0]


def test_words_are_aligned_by_name():
    a = Counted.of_tokens(np.array([0, 1, 1]), np.array([0, 3]), ["x", "y"])
    b = Counted.of_tokens(np.array([0, -1, 1]), np.array([0, 3]), ["y", "z"])
    left, right = aligned([a, b])
    assert list(left.labels) == ["x", "y", "z"]
    assert left.matrix.toarray().tolist() == [[1, 2, 0]]
    assert right.matrix.toarray().tolist() == [[0, 1, 1]]
