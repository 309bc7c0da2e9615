"""Scores, batches, saved state and frozen values of the protocol."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm

import momus.critic
from momus import Corpus, Critic, LogPrior, Values
from momus.critic import Counted, EvidenceMixin, Pooled, Reporting, StateSequences, StatisticsMixin
from momus.critic.hooks import overlap
from momus.critic.powers import headline_of
from momus.critic.rows import stack
from momus.critic.scores import Scores
from momus.critic.scoring import BATCH_CHARACTERS, BATCH_DOCUMENTS, batches
from momus.critic.source import source_digest
from momus.errors import MomusError, UsageError
from momus.estimator import Estimator, clone, construct, fitted_state, json_params, reset


def scores(nll, steps, prompts=None, errors=None):
    nll = np.array(nll, dtype=float)
    ids = [f"d{i}" for i in range(len(nll))]
    reasons = [None if np.isfinite(v) else "empty" for v in nll]
    rows = {"x": np.arange(2.0 * len(nll)).reshape(-1, 2)}
    return Scores("c", "x", ids, prompts or [None] * len(nll), nll, np.array(steps), reasons, rows, None, errors)


def test_aggregates_are_those_of_scored_documents():
    table = scores([1.0, np.nan, 4.0], [2, 0, 4], ["p", "q", None])
    assert table.per_step[[0, 2]].tolist() == [0.5, 1.0]
    assert (table.n_scored, table.latent_nll, table.unscored) == (2, 2.5, {"empty": 1})
    assert table.latent_ppl == pytest.approx(np.exp(5 / 6))
    assert table.scored_prompts == ["p", None]
    nothing = scores([np.nan], [0])
    assert np.isnan([nothing.latent_nll, nothing.latent_ppl]).all()


def test_ranking_is_by_step_or_by_document_with_ties_by_id():
    table = scores([3.0, 8.0, np.nan, 3.0], [1, 4, 0, 1])
    assert table.ranked(per_step=True).tolist() == [0, 3, 1]
    assert table.ranked(per_step=False).tolist() == [1, 0, 3]


def test_part_of_a_table_keeps_its_rows():
    table = scores([1.0, 2.0, 3.0], [1, 2, 3], ["a", "b", "c"], np.array([0.1, 0.2, 0.3]))
    part = table.take(np.array([2, 0]), "part")
    assert (part.corpus, list(part.ids), list(part.prompts)) == ("part", ["d2", "d0"], ["c", "a"])
    assert (part.nll.tolist(), part.steps.tolist(), part.errors.tolist()) == ([3.0, 1.0], [3, 1], [0.3, 0.1])
    assert part.rows["x"].tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert table.take(np.array([0])).corpus == "x"


def test_compared_rows_hold_scored_documents_only():
    rows = scores([1.0, np.nan, 3.0], [2, 0, 5]).test_rows()
    assert rows["latent_nll"].tolist() == [[1.0, 1.0], [3.0, 1.0]]
    assert rows["latent_ppl"].tolist() == [[1.0, 2.0], [3.0, 5.0]]
    assert rows["x"].tolist() == [[0.0, 1.0], [4.0, 5.0]]


def test_batches_end_at_a_number_of_documents_or_of_characters():
    assert batches(Corpus.from_texts(["x"] * (BATCH_DOCUMENTS + 1))) == [
        (0, BATCH_DOCUMENTS),
        (BATCH_DOCUMENTS, BATCH_DOCUMENTS + 1),
    ]
    half = "x" * (BATCH_CHARACTERS // 2)
    assert batches(Corpus.from_texts([half, half, "x", half, half])) == [(0, 2), (2, 4), (4, 5)]
    assert batches(Corpus.from_texts([half + half + "x", "y"])) == [(0, 1), (1, 2)]
    assert batches(Corpus.from_texts([half, half, "x"]), batch_size=3) == [(0, 3)], "a size that is given is kept"
    assert batches(Corpus.from_texts([])) == []


class Half(Critic[Values], StatisticsMixin, EvidenceMixin):
    """Scores documents of more than one word; a one-word document has no step."""

    name = axis = "half"
    reporting = Reporting(
        stepless="one word",
    )
    sequence = True

    def fit(self, real):
        self.mean_ = 1.0
        return self

    def unscored(self, batch):
        return ["digits" if d.text.isdigit() else None for d in batch]

    def project(self, batch):
        return Values(np.array([float(len(d.text.split())) for d in batch]))

    def log_prior(self, latents):
        values = norm.logpdf(latents.values, self.mean_)
        return LogPrior(values, (latents.values - 1).astype(int), errors=latents.values / 10)

    def sufficient_statistics(self, latents):
        return {"words": np.column_stack([latents.values, np.ones(len(latents))])}

    def evidence(self, real, generated):
        return []


@pytest.mark.parametrize("batch_size", [1, 2, None])
def test_reasons_come_from_the_reader_the_critic_or_a_latent_without_steps(batch_size):
    critic = Half().fit(Corpus.from_texts(["a b", "c d"]))
    table = critic.score(Corpus.from_texts(["a b c", "", "17", "word", "d e"]), batch_size=batch_size)
    assert table.reasons == [None, "empty", "digits", "one word", None]
    assert table.steps.tolist() == [2, 0, 0, 0, 1]
    assert np.isfinite(table.nll).tolist() == [True, False, False, False, True]
    assert table.nll[0] == pytest.approx(-norm.logpdf(3, 1))
    assert table.errors[[0, 4]].tolist() == pytest.approx([0.3, 0.2])
    assert table.rows["words"][[0, 1, 4]].tolist() == [[3, 1], [0, 0], [2, 1]]
    assert table.summary.documents == 3, "all that were projected"
    seen = []
    critic.score(Corpus.from_texts(["a b", "c d", "e f"]), batch_size=2, progress=seen.append)
    assert seen == [2, 3]


def test_rows_of_wrong_length_or_without_a_number_name_the_critic():
    class Short(Half):
        def project(self, batch):
            return Values(np.zeros(1))

    class Infinite(Half):
        def log_prior(self, latents):
            return LogPrior.of_vectors(np.full(len(latents), -np.inf))

    text = Corpus.from_texts(["a b", "c d"])
    with pytest.raises(MomusError, match="project returned 1 rows for 2 documents"):
        Short().fit(text).score(text)
    with pytest.raises(MomusError, match=r"log_prior is -inf for document 'corpus:1' \(2 such"):
        Infinite().fit(text).score(text)


def test_fitting_keeps_what_it_was_fitted_on():
    critic = Half().fit(Corpus.from_texts(["a b", "", "c d"], name="real"))
    assert critic.fitted_on_ == {
        "corpus": "real", "documents": 2, "left_out": 1,
        "fingerprint": Corpus.from_texts(["c d", "a b"]).fingerprint,
        "identity": Corpus.from_texts(["a b", "", "c d"], name="real").take([0, 2]).identity,
        "source": source_digest(critic),
    }  # fmt: skip
    assert overlap(critic, Corpus.from_texts(["a b", "x", "c d", "a b"])) == 3
    assert headline_of(critic) == "latent_ppl"


def test_parameters_are_checked_by_name_and_copied():
    class Ruler(Estimator):
        def __init__(self, *, inches: float = 12.0, unit: object = None) -> None:
            self.inches, self.unit = inches, unit

    ruler = construct(Ruler, {"inches": 3.0})
    ruler.length_ = np.arange(3)
    assert (ruler.get_params(), list(fitted_state(ruler))) == ({"inches": 3.0, "unit": None}, ["length_"])
    assert not fitted_state(clone(ruler))
    reset(ruler)
    assert not fitted_state(ruler)
    with pytest.raises(UsageError, match=r"\[ruler\]: no parameter 'inch'"):
        construct(Ruler, {"inches": 3.0, "inch": 1}, place="[ruler]")
    first, second = Ruler(unit=Ruler()), Ruler(unit=Ruler())
    assert json_params(first)["unit"] != json_params(second)["unit"], "two objects are two"
    assert json_params(first)["inches"] == 12.0


def test_values_of_the_protocol_are_frozen():
    for name in momus.critic.__all__:
        cls = getattr(momus.critic, name)
        if isinstance(cls, type) and dataclasses.is_dataclass(cls) and not issubclass(cls, Estimator):
            assert cls.__dataclass_params__.frozen, name


def test_states_count_per_document_where_there_are_no_marginals():
    z = StateSequences(np.array([2, 0, 2]), np.array([0, 1, 3]))
    rows = momus.critic.latents.aggregated(z)
    assert isinstance(rows, Counted)
    assert rows.matrix.toarray().tolist() == [[0, 0, 1], [1, 0, 1]]
    assert z.documents.tolist() == [0, 1, 1]
    both = stack([rows, rows])
    assert (len(both), np.asarray(both.labels).tolist()) == (4, [0, 1, 2])
    assert Pooled.of_rows({"z": rows}, 2).counts == {"z": {0: 1.0, 2: 2.0}}
