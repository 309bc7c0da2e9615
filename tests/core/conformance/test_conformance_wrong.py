"""Deliberately wrong critics: each is caught by the check that is meant for it."""

import re
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from momus import Corpus, Critic, LogPrior, MomusError, StateSequences, Statistic, Values, conformance
from momus.checks.languages import scripts_of
from momus.conformance import corpora
from momus.critic import EvidenceMixin, Reporting, StatisticsMixin
from momus.critic.hooks import ReadingMixin
from momus.critic.powers import Decomposition, DecompositionMixin
from momus.critic.statistic import mean
from momus.evidence import Table
from momus.text.languages import ANY, Scripts
from momus.text.sketches import TextSketch
from momus.text.tokens import Tokenizer

LOCK = threading.Lock()
HERE = [c for c in conformance.check_names(slow=False) if c != "saved_critics_load_in_a_fresh_process"]
"""All quick checks but the one that starts another process."""


class Right(Critic[Values], StatisticsMixin, EvidenceMixin):
    """Mean length of words, normal."""

    name = "right"
    axis = "length of words"
    question = "Are words as long?"

    def __init__(self, *, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, real):
        z = self.project(real).values
        self.mean_, self.sd_ = float(z.mean()), float(z.std() + 0.1)
        return self

    def project(self, batch):
        lengths = [np.mean([len(w) for w in d.text.split()]) if d.text.split() else 0.0 for d in batch]
        return Values(np.array(lengths) + self.shift)

    def log_prior(self, latents):
        return LogPrior.of_vectors(norm.logpdf(latents.values, self.mean_, self.sd_))

    def sufficient_statistics(self, latents):
        return {"letters": np.column_stack([latents.values, np.ones(len(latents))])}

    def statistics(self):
        return (Statistic("letters", "letters", "value", mean),)

    def evidence(self, real, generated):
        return [Table("t", "Letters", ("real",), ((float(real.arrays["letters"][0]),),))]


class DropsADocument(Right):
    """Forgets the last document of a batch."""

    def project(self, batch):
        return Values(super().project(batch).values[:-1])


class GivesNaN(Right):
    """Has no number for long documents, and no reason."""

    def log_prior(self, latents):
        values = norm.logpdf(latents.values, self.mean_, self.sd_)
        values[0] = np.nan
        return LogPrior.of_vectors(values)


class ForgetsToReset(Right):
    """Keeps what earlier fits have seen."""

    seen: list[float] = []  # noqa: RUF012

    def fit(self, real):
        type(self).seen += list(self.project(real).values)
        self.mean_, self.sd_ = float(np.mean(self.seen)), 0.1
        return self


class DependsOnBatches(Right):
    """Centres every batch."""

    def project(self, batch):
        z = super().project(batch).values
        return Values(z - z.mean())


class DependsOnOrder(Right):
    """Adds the position in the batch."""

    def project(self, batch):
        z = super().project(batch).values
        return Values(z + 0.001 * np.arange(len(z)))


class Leaks(Right):
    """Learns from the text that it scores."""

    def project(self, batch):
        z = super().project(batch).values
        if hasattr(self, "mean_"):
            self.mean_ = 0.9 * self.mean_ + 0.1 * float(z.mean())
        return Values(z)


class Unseeded(Right):
    """Fits with the global random generator."""

    def fit(self, real):
        super().fit(real)
        self.mean_ += float(np.random.normal())  # noqa: NPY002
        return self


class Improper(Critic[StateSequences]):
    """Has marginals that sum to 1.2."""

    name = "improper"
    axis = "nothing"
    sequence = True

    def fit(self, real):
        self.p_ = np.array([0.5, 0.5])
        return self

    def project(self, batch):
        n = len(batch)
        return StateSequences(np.zeros(n, int), np.arange(n + 1), np.full((n, 2), 0.6))

    def log_prior(self, latents):
        return LogPrior(np.full(len(latents), np.log(0.5)), np.ones(len(latents), int))


class Mean:
    """A summary that does not add up: a mean of means."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Mean((self.value + other.value) / 2)


class DoesNotMerge(Right):
    """Summarises by a mean."""

    def summarize(self, latents):
        return Mean(float(latents.values.mean()))

    def evidence(self, real, generated):
        return []


class WorksInInit(Right):
    """Does work where it should only store."""

    def __init__(self, *, shift: float = 0.0) -> None:
        super().__init__(shift=shift)
        self.table = list(range(10))


class ReadsInInit(Right):
    """Opens a file when constructed."""

    def __init__(self, *, shift: float = 0.0) -> None:
        super().__init__(shift=shift)
        with open(__file__) as file:
            file.read(1)


class NotPlain(Right):
    """Takes a function as a parameter."""

    def __init__(self, *, shift: float = 0.0, key=len) -> None:
        super().__init__(shift=shift)
        self.key = key


class Unpicklable(Right):
    """Takes a lock, which no other process can be given."""

    def __init__(self, *, shift: float = 0.0, lock=LOCK) -> None:
        super().__init__(shift=shift)
        self.lock = lock


class ChangesParameters(Right):
    """Stores something else than what it was given."""

    def __init__(self, *, shift: float = 1.0) -> None:
        self.shift = shift + 1


class ChangesItsInput(Right):
    """Writes into the corpus."""

    def project(self, batch):
        batch.table = batch.table.slice(0, len(batch)).set_column(5, "problem", [["seen"] * len(batch)])
        return super().project(batch)


class NegativeStates(Right):
    """Scores minus one state."""

    def log_prior(self, latents):
        values = norm.logpdf(latents.values, self.mean_, self.sd_)
        return LogPrior(values, np.full(len(values), -1))


class NoHeadline(Right):
    """Names a headline that it has not."""

    reporting = Reporting(headline="beauty")


class TellsAStory(Right):
    """Describes its direction at length."""

    reporting = Reporting(
        directions={"latent_nll": ("lower", "higher than what one would call usual in text of this kind")}
    )


class LooseAttributes(Right):
    """Leaves attributes without an underscore."""

    def fit(self, real):
        super().fit(real)
        self.vocabulary = ["a"]
        return self


class BreaksOnEdges(Right):
    """Divides by the number of ASCII letters."""

    def project(self, batch):
        return Values(np.array([1 / sum(c.isascii() and c.isalpha() for c in d.text) for d in batch]))


class NotSaved(Right):
    """Keeps a fitted set, which JSON cannot hold."""

    def fit(self, real):
        super().fit(real)
        self.words_ = {"a", "b"}
        return self


class NoEvidenceInJson(Right):
    """Shows a NaN."""

    def evidence(self, real, generated):
        return [Table("t", "T", ("a",), ((float("nan"),),))]


class Zero(Critic[Values]):
    """Gives every document the same z and the same score."""

    name = "zero"
    axis = "nothing"

    def fit(self, real):
        self.mean_ = 0.0
        return self

    def project(self, batch):
        return Values(np.zeros(len(batch)))

    def log_prior(self, latents):
        return LogPrior.of_vectors(np.zeros(len(latents)))


class Uniform(Right):
    """Has one value per document, and a P_c that gives all of them the same probability."""

    def log_prior(self, latents):
        return LogPrior.of_vectors(np.full(len(latents), -3.0))


class MissesAPart(Right, DecompositionMixin):
    """Gives parts of log P(x) that sum to more than it."""

    def decompose(self, batch, latents):
        prior = self.log_prior(latents).values
        return Decomposition(prior, np.zeros(len(prior)), np.ones(len(prior)), prior)


class TakesClauses(Right, ReadingMixin):
    """Claims every script, and reads a Chinese clause as one word."""

    scripts = ANY

    @property
    def tokenizer(self):
        return Tokenizer("clauses", re.compile(r"\w+|[^\w\s]").findall, dictionaries=True)


class TearsMarks(TakesClauses):
    """Claims Devanagari, and reads its vowel signs as words."""

    scripts = Scripts(("Deva",))


class DependsOnThaiNeighbours(Right, ReadingMixin):
    """Scores Thai by what stands beside it in a batch."""

    scripts = Scripts(("Thai",))

    def project(self, batch):
        thai = sum("ก" in d.text for d in batch)
        return Values(super().project(batch).values + (thai if thai > 1 else 0))


class Typo(Right):
    """Misspells an attribute."""

    def project(self, batch):
        return Values(np.array([len(d.txet) for d in batch], dtype=float))


@pytest.mark.parametrize(
    ("critic", "check"),
    [
        (Zero, "different_documents_get_different_scores"),
        (Uniform, "different_documents_get_different_scores"),
        (Typo, "fit_returns_the_critic"),
        (DropsADocument, "one_row_for_each_id"),
        (GivesNaN, "one_row_for_each_id"),
        (ForgetsToReset, "refitting_forgets"),
        (DependsOnBatches, "batch_size_changes_nothing"),
        (DependsOnBatches, "other_documents_change_nothing"),
        (DependsOnOrder, "order_of_documents_changes_nothing"),
        (Leaks, "scoring_learns_nothing"),
        (Unseeded, "same_seed_same_fit"),
        (Improper, "posterior_is_proper"),
        (MissesAPart, "parts_add_up_to_the_evidence"),
        (DoesNotMerge, "summaries_merge"),
        (WorksInInit, "construction_stores_parameters"),
        (ReadsInInit, "construction_is_cheap"),
        (NotPlain, "parameters_are_plain"),
        (Unpicklable, "parameters_are_plain"),
        (ChangesParameters, "construction_stores_parameters"),
        (ChangesItsInput, "inputs_are_untouched"),
        (NegativeStates, "one_row_for_each_id"),
        (NoHeadline, "statistics_are_sound"),
        (TellsAStory, "directions_are_phrases"),
        (LooseAttributes, "fit_returns_the_critic"),
        (BreaksOnEdges, "edge_texts_get_a_score_or_a_reason"),
        (NotSaved, "saved_critics_score_alike"),
        (NoEvidenceInJson, "evidence_serialises"),
        (TakesClauses, "claimed_scripts_are_read"),
        (TearsMarks, "claimed_scripts_are_read"),
        (DependsOnThaiNeighbours, "claimed_scripts_are_read"),
        (DependsOnThaiNeighbours, "claimed_scripts_can_be_fitted"),
    ],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_wrong_critics_are_caught_by_the_check_meant_for_them(critic, check):
    ForgetsToReset.seen.clear()
    report = conformance.check_critic(critic(), checks=[check])
    assert report.failures() == [check], str(report)
    assert not report.ok


def test_a_constant_critic_is_told_that_nothing_can_be_compared():
    report = conformance.check_critic(Zero(), checks=HERE)
    (failed,) = [r for r in report.records if r.status == "failed"]
    assert "Latent NLL is 0 in every document" in failed.detail
    assert "does not depend on the text" in failed.detail


def test_one_error_is_reported_once_with_the_checks_that_it_stopped():
    report = conformance.check_critic(Typo())
    errors = [r for r in report.shown() if "txet" in r.detail]
    assert len(errors) == 1
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(i for i, text in enumerate(source, 1) if "len(d.txet) for" in text)
    assert f"(test_conformance_wrong.py, line {line}, in " in errors[0].detail
    stopped = [r.name for r in report.records if r.status == "stopped"]
    assert len(stopped) > 15
    assert all(name in errors[0].detail for name in stopped)
    assert not report.ok
    assert report.counts["stopped"] == len(stopped)
    assert str(report).count("AttributeError") == 1
    assert {*stopped, errors[0].name} <= {*report.failures()}


def test_errors_of_a_critic_without_a_source_file_are_reported():
    """As in an interactive session, whose module is no file."""
    cell = "class Cell(Right):\n    def project(self, batch):\n        return batch.txet\n"
    names = {"__name__": "a_cell", "Right": Right}
    exec(compile(cell, "<cell>", "exec"), names)
    report = conformance.check_critic(names["Cell"]())
    (failed,) = [r for r in report.shown() if "txet" in r.detail]
    assert "(<cell>, line 3, in project)" in failed.detail


def test_different_errors_are_reported_apart():
    report = conformance.check_critic(DependsOnBatches(), checks=HERE)
    details = [r.detail for r in report.shown() if r.status == "failed"]
    assert len(details) == len({*details}) > 1
    assert "stopped" not in report.counts, "checks that fail by themselves are no victims of an error"


OF_KINDS = {"needed_fields_are_read", "critics_without_latents_have_statistics"}
"""Checks of paired critics and of critics of statistics alone."""


def test_a_right_critic_passes():
    report = conformance.check_critic(Right())
    assert report.ok, str(report)
    assert {*conformance.check_names(slow=False)} - {r.name for r in report.records} == OF_KINDS


def test_a_check_that_does_not_exist_is_refused():
    with pytest.raises(MomusError, match="no check 'x'"):
        conformance.check_critic(Right(), checks=["x"])


def test_too_few_checks_are_no_pass():
    records = [conformance.Record("a", "passed")] + [conformance.Record(str(i), "skipped", "no") for i in range(3)]
    report = conformance.Report("c", records)
    assert not report.ok
    assert "too few ran" in str(report)


def test_a_test_counts_the_checks_that_were_skipped():
    """Those that were not run, on another worker or because they are slow, do not count as skipped."""
    (*_, case) = conformance.parametrize([Right()]).args[1]
    (enough,) = case.values
    records = enough.args[0].records
    names = conformance.check_names(slow=False)
    records["names_are_set"] = conformance.Record("names_are_set", "skipped", "no")
    enough()
    records.update({name: conformance.Record(name, "skipped", "no") for name in names[: len(names) // 3 + 1]})
    with pytest.raises(pytest.fail.Exception, match="too few checks ran"):
        enough()


def test_a_critic_of_a_script_that_no_sample_has_skips_the_check():
    class ReadsArmenian(Right, ReadingMixin):
        scripts = Scripts(("Armn",))

    critic = ReadsArmenian()
    (record,) = conformance.check_critic(critic, checks=["claimed_scripts_are_read"]).records
    assert (record.status, "Armenian" in record.detail) == ("skipped", True)


def test_samples_are_in_the_scripts_that_they_name():
    for name, sample in corpora.SAMPLES.items():
        shares = scripts_of(TextSketch.of(Corpus.from_texts([" ".join(sample.sentences)])))
        assert set(shares) == set(sample.codes), name
        assert len(corpora.in_script(name)) == corpora.DOCUMENTS


def test_a_user_can_bring_text():
    corpus = Corpus.from_texts([f"some {'words ' * (i % 5)} here {i}" for i in range(40)])
    assert conformance.check_critic(Right(), corpus, checks=HERE).ok


@pytest.mark.slow
def test_the_command(capsys, monkeypatch):
    from momus.cli import main

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["momus", "critics", "check", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    code, output = run("length")
    assert code == 0, output
    assert f"{len(conformance.check_names(slow=False)) - len(OF_KINDS)} checks" in output
    code, output = run("momus.text.corpus:Corpus")
    assert (code, "not a subclass" in output) == (2, True)
    code, output = run("nowhere.at_all:X")
    assert (code, "cannot be imported" in output) == (6, True)


def test_each_outcome_is_told_as_soon_as_it_is_known():
    told = []

    def told_by(record):
        told.append(record)
        if record.name == "fit_returns_the_critic":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conformance.check_critic(Right(), on_record=told_by)
    assert [r.name for r in told] == conformance.check_names()[: len(told)]
    assert len(told) == conformance.check_names().index("fit_returns_the_critic") + 1


def test_a_subclass_may_fix_parameters_of_its_base_class():
    class Fixed(Right):
        """Mean length of words and two more."""

        name = "fixed"

        def __init__(self):
            super().__init__(shift=2.0)

    checks = ["construction_stores_parameters", "fit_returns_the_critic"]
    assert not conformance.check_critic(Fixed(), checks=checks).failures()
