"""The parts of log P(x) in a comparison: intervals, the run folder, the report and the terminal."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

from momus import Corpus, compare, read_comparison
from momus.critic import Critic, LogPrior, Values
from momus.critic.powers import Decomposition, DecompositionMixin
from momus.critic.scores import Scores
from momus.report.exports import comparison_json
from momus.report.terminal import comparison_text
from momus.report.words.findings import parts_sentence
from momus.schema import build
from momus.verdicts.decomposition import Estimate, PartRow, Parts, parts_of
from momus.verdicts.settings import Settings
from momus_critics.sections import Sections

TYPES = ("aim", "way", "end", "rest")


def corpus(name, n, seed, clear, order=(0, 1, 2, 3)):
    """Documents with one section of each type, whose words name the type with probability ``clear``."""
    rng = np.random.default_rng(seed)

    def body(kind):
        return " ".join(f"{TYPES[kind] if rng.random() < clear else 'any'}{rng.integers(9)}" for _ in range(9))

    made = [[(TYPES[k], body(k)) for k in (order if rng.random() < 0.7 else order[::-1])] for _ in range(n)]
    return Corpus.from_sections(made, name=name, ids=[f"{name}:{i}" for i in range(n)])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts") / "run"
    fit, real = corpus("fit", 40, 0, 0.8), corpus("real", 30, 1, 0.8)
    hostile = "<b>[red]x"
    made = compare(
        real,
        {hostile: corpus("generated", 25, 2, 0.2)},
        fit=fit,
        critics=[Sections(titles="never")],
        out=folder,
        permutations=99,
        resamples=99,
    )
    return made, folder, hostile


def test_values_are_means_per_step_with_intervals_by_the_jackknife(run):
    made, folder, hostile = run
    (result,) = made.results
    rows = result.parts.of_text(hostile)
    assert list(rows) == ["log_prior", "log_likelihood", "entropy", "log_evidence"]
    assert (result.parts.kind, result.parts.unit) == ("exact", "nats per step")
    parts = ("in_real", "in_generated", "difference")
    for part in parts:
        values = {name: getattr(row, part).value for name, row in rows.items()}
        assert sum(v for n, v in values.items() if n != "log_evidence") == pytest.approx(values["log_evidence"])
        assert all(getattr(row, part).low < getattr(row, part).value < getattr(row, part).high for row in rows.values())
    assert (rows["entropy"].n_real, rows["entropy"].n_generated) == (30, 25)
    # every document has five steps, so the ratio is a mean and its jackknife error the usual one
    kept = pq.read_table(folder / "documents.parquet").to_pandas()
    sides = []
    for name, corpus_name in (("in_real", "real"), ("in_generated", hostile)):
        per_step = kept.loc[kept["corpus"] == corpus_name, "log_likelihood"].to_numpy() / 5
        found = getattr(rows["log_likelihood"], name)
        half = stats.t.ppf(0.975, len(per_step) - 1) * stats.sem(per_step)
        assert found.value == pytest.approx(per_step.mean())
        assert (found.low, found.high) == pytest.approx((per_step.mean() - half, per_step.mean() + half))
        sides.append(per_step)
    welch = stats.ttest_ind(sides[1], sides[0], equal_var=False).confidence_interval()
    difference = rows["log_likelihood"].difference
    assert (difference.low, difference.high) == pytest.approx((welch.low, welch.high))


def test_a_run_folder_keeps_the_parts(run):
    made, folder, _ = run
    again = read_comparison(folder)
    assert again.results[0].parts == made.results[0].parts
    assert build(Parts, json.loads(json.dumps(made.results[0].parts.to_json())), "x") == made.results[0].parts
    assert comparison_json(again)["parts"]["sections"]["unit"] == "nats per step"


def test_report_and_terminal_show_the_parts(run):
    made, folder, _ = run
    text = comparison_text(made, every=True)
    assert "Parts of log P(x), nats per step: sections, <b>[red]x" in text
    assert "entropy of the posterior, H(P(z | x))" in text
    assert "Parts of log P(x)" not in comparison_text(made)
    page = (folder / "report.html").read_text()
    assert "Parts of log P(x), nats per step" in page
    assert "<b>[red]" not in page


class Sums(Critic[Values], DecompositionMixin):
    """A critic of numbers whose parts are known."""

    name = "sums"
    axis = "numbers"

    def fit(self, real):
        self.mean_ = 0.0
        return self

    def project(self, batch):
        return Values(np.array([float(d.text) for d in batch]))

    def log_prior(self, latents):
        return LogPrior.of_vectors(latents.values)

    def decompose(self, batch, latents):
        zeros = np.zeros(len(latents))
        return Decomposition(latents.values, zeros, zeros, latents.values + 0.5)


def scored(name, values, prompts=None, groups=None):
    critic = Sums().fit(Corpus.from_texts(["1", "2"]))
    given = Corpus.from_texts([str(v) for v in values], name=name, prompts=prompts)
    scores = critic.score(given)
    return critic, Scores(**{**vars(scores), "groups": groups or ()})


def test_pairs_and_groups_decide_the_interval():
    rng = np.random.default_rng(0)
    real, change = rng.normal(size=12), 0.1 * rng.normal(size=12)
    prompts = [str(i) for i in range(12)]
    critic, one = scored("real", real, prompts)
    _, other = scored("generated", real + change, prompts)
    paired = parts_of(critic, one, [other], Settings(paired=True)).rows[0].difference
    half = stats.t.ppf(0.975, 11) * stats.sem(change)
    assert (paired.low, paired.high) == pytest.approx((change.mean() - half, change.mean() + half))
    unpaired = parts_of(critic, one, [other], Settings(paired=False)).rows[0].difference
    assert unpaired.high - unpaired.low > 4 * (paired.high - paired.low)
    groups = [str(i // 4) for i in range(12)]
    critic, one = scored("real", real, groups=groups)
    grouped = parts_of(critic, one, [scored("generated", real)[1]], Settings()).rows[0].in_real
    means = real.reshape(3, 4).mean(axis=1)
    half = stats.t.ppf(0.975, 2) * stats.sem(means)
    assert (grouped.low, grouped.high) == pytest.approx((real.mean() - half, real.mean() + half))


def test_a_gap_is_a_row_of_its_own_and_one_document_has_no_interval():
    critic, one = scored("real", [1.0, 2.0])
    rows = {r.part: r for r in parts_of(critic, one, [scored("generated", [3.0])[1]], Settings()).rows}
    assert list(rows) == ["log_prior", "log_likelihood", "entropy", "gap", "log_evidence"]
    assert rows["gap"].in_real.value == 0.5
    assert rows["log_prior"].in_generated == Estimate(3.0, None, None)
    assert rows["log_prior"].difference.low is None


def row(part, low, high):
    nothing = Estimate(0.0, 0.0, 0.0)
    return part, PartRow("g", part, nothing, nothing, Estimate((low + high) / 2, low, high), 9, 9)


def test_the_sentence_warns_where_the_prior_alone_misleads():
    same, up, down = (-1.0, 1.0), (1.0, 2.0), (-2.0, -1.0)
    nothing = parts_sentence(dict([row("log_prior", *same), row("log_evidence", *same)]))
    assert nothing == "No interval of a difference excludes 0."
    hidden = parts_sentence(dict([row("log_prior", *up), row("log_likelihood", *down), row("log_evidence", *down)]))
    assert hidden.startswith("Prior higher in generated text; likelihood, sum lower in generated text.")
    assert "Latent NLL alone hides a departure" in hidden
    open_ = parts_sentence(dict([row("log_prior", *down), row("log_evidence", *down)]))
    assert "hides" not in open_
