"""Critics of a whole corpus, and critics that see a document beside its prompt or reference."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import momus
from momus import ReadingOptions
from momus.conformance import check_critic
from momus.critic import Counted, Critic, LogPrior, PairedCritic, Reporting, Statistic, StatisticCritic, Values
from momus.critic.hooks import with_needs
from momus.critic.powers import headline_of
from momus.critic.registry import named
from momus.critic.statistic import entropy
from momus.engine.fitting import fit_in_parts
from momus.engine.scoring import score_parts
from momus.errors import FittingError, UsageError
from momus.outliers.filtering import filter_text
from momus.outliers.rows import outlier_rows
from momus.rows.store import StoredText

SOURCE = '''
import numpy as np
import momus
from momus.critic import PairedCritic, Statistic, StatisticCritic


class Repeats(PairedCritic[momus.Corpus], StatisticCritic):
    """Words of the question that the answer repeats."""

    name, axis, needs = "repeats", "repetition of the question", ("prompt_text",)

    def sufficient_statistics(self, latents):
        pairs = zip(latents.field("prompt_text"), latents, strict=True)
        words = [(set(q.lower().split()), set(a.text.lower().split())) for q, a in pairs]
        return {"words": np.array([[len(q & a), len(q)] for q, a in words], dtype=float).reshape(-1, 2)}

    def statistics(self):
        return [Statistic.share("repeated", "words", "repeated words", ("less repetitive", "more repetitive"))]
'''


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    path = tmp_path_factory.mktemp("critic") / "repeats.py"
    path.write_text(SOURCE)
    return f"{path}:Repeats"


@pytest.fixture
def repeats(location):
    from momus.critic.registry import critic_class

    return critic_class(named(location))


class Openings(StatisticCritic):
    """First words of documents."""

    name, axis = "openings", "openings of documents"

    def sufficient_statistics(self, latents):
        words, columns = np.unique([d.text.split()[0] for d in latents], return_inverse=True)
        return {"openings": Counted.of_tokens(columns, np.arange(len(latents) + 1), words.tolist())}

    def statistics(self):
        return [Statistic.value("variety", "openings", entropy, "variety", ("less varied", "more varied"))]


VARIED = [f"{word} ship sails {i}" for i, word in enumerate(["the", "a", "one", "our", "some"] * 8)]
ALIKE = [f"{'the' if i % 5 else 'a'} ship sails {i}" for i in range(40)]
FAST = {"permutations": 99, "resamples": 99}


def answer(i, *, repeats):
    asked = [f"word{(7 * i + k) % 31}" for k in range(4)]
    said = [*asked[: 3 if repeats else i % 2], f"other{i % 5}", "and", f"more{i % 3}"]
    return {"id": f"a{i}", "prompt": " ".join(asked), "text": " ".join(said)}


HUMAN, ECHO = ([answer(i, repeats=echo) for i in range(40)] for echo in (False, True))


def write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return str(path)


def test_a_critic_of_a_corpus_has_statistics_alone(tmp_path):
    run = momus.compare(VARIED, {"g": ALIKE}, critics=[Openings(), "length"], out=tmp_path / "run", **FAST)
    (verdict,) = [v for v in run.verdicts if v.critic == "openings"]
    assert verdict.statistic == "variety"
    assert verdict.headline
    assert verdict.p_adjusted < 0.05
    assert verdict.generated_value < verdict.real_value
    (result,) = [r for r in run.results if r.name == "openings"]
    assert [*result.outliers, *result.odd_real, *result.references] == []
    assert result.distribution is None
    assert {r.name for r in outlier_rows(tmp_path / "run").results} == {"length"}
    with pytest.raises(UsageError, match="'openings' compares texts as wholes, and ranks no documents"):
        outlier_rows(tmp_path / "run", ["openings"])


def test_its_headline_is_its_first_statistic_unless_it_names_another():
    class Named(Openings):
        reporting = Reporting(headline="other")

    assert headline_of(Openings()) == "variety"
    assert headline_of(Named()) == "other"


def test_documents_are_not_filtered_by_a_critic_of_a_corpus(tmp_path, location):
    critic = named(location)
    human = write(tmp_path / "human.jsonl", HUMAN)
    fitted = momus.critic.registry.critic_class(critic)().fit(HUMAN)
    fitted.save(tmp_path / "fitted")
    places = (tmp_path / name for name in ("keep.jsonl", "drop.jsonl", "scores"))
    with pytest.raises(UsageError, match="compares texts as wholes"):
        filter_text([human], [tmp_path / "fitted"], [human], *places)


def test_the_conformance_checks_see_the_rows_of_a_critic_without_latents():
    class Batched(Openings):
        """Rows that depend on the batch."""

        name = "batched"

        def sufficient_statistics(self, latents):
            return {"openings": np.full((len(latents), 1), float(len(latents)))}

    checks = ["batch_size_changes_nothing", "other_documents_change_nothing", "order_of_documents_changes_nothing"]
    records = check_critic(Batched(), checks=checks).records
    assert [r.status for r in records] == ["passed", "failed", "failed"]
    assert "sufficient statistics 'openings'" in records[1].detail


def test_a_paired_critic_must_name_fields_and_read_them(repeats):
    class Deaf(repeats):
        """Reads the text alone."""

        name = "deaf"

        def sufficient_statistics(self, latents):
            return {"words": np.array([[len(d.text), 1.0] for d in latents])}

    class Nameless(repeats):
        """Names no field."""

        needs = ()

    checks = ["needed_fields_are_read"]
    details = [check_critic(c(), checks=checks).records[0].detail for c in (Deaf, Nameless)]
    assert "do not depend on `needs`" in details[0]
    assert "`needs` is empty" in details[1]
    assert check_critic(repeats(), checks=checks).ok
    assert not check_critic(Openings(), checks=checks).records


def sources(tmp_path):
    yield "list", HUMAN
    yield "frame", pd.DataFrame(HUMAN)
    yield "arrow", pa.Table.from_pylist(HUMAN)
    yield "jsonl", write(tmp_path / "human.jsonl", HUMAN)
    (tmp_path / "human.json").write_text(json.dumps(HUMAN))
    yield "json", tmp_path / "human.json"
    text = io.StringIO()
    table = csv.DictWriter(text, ["id", "prompt", "text"])
    table.writeheader()
    table.writerows(HUMAN)
    (tmp_path / "human.csv").write_text(text.getvalue())
    yield "csv", tmp_path / "human.csv"
    pq.write_table(pa.Table.from_pylist(HUMAN), tmp_path / "human.parquet")
    yield "parquet", tmp_path / "human.parquet"
    yield "question", [{"question": r["prompt"], "text": r["text"]} for r in HUMAN]
    turns = [[("user", r["prompt"]), ("assistant", r["text"])] for r in HUMAN]
    yield "chat", [{"messages": [{"role": a, "content": b} for a, b in turn]} for turn in turns]
    yield "prompt of a chat", [{"prompt": [{"role": "user", "content": r["prompt"]}], "text": r["text"]} for r in HUMAN]


def test_the_prompt_is_read_from_every_source_without_an_option(tmp_path, repeats):
    for name, source in sources(tmp_path):
        scores = repeats().fit(source).score(source)
        assert scores.n_scored == 40, name
        assert scores.rows["words"].sum(axis=0).tolist() == [20.0, 160.0], name


def test_documents_without_a_prompt_are_counted(repeats):
    records = [*HUMAN, {"text": "no prompt"}, {"prompt": "p17", "text": "an id"}, {"prompt": " ", "text": "blank"}]
    fitted = repeats().fit(records)
    assert fitted.fitted_on_["left_out"] == 3
    assert fitted.score(records).unscored == {"no prompt": 3}


def test_a_text_without_prompts_is_an_error_that_names_the_option(tmp_path, location):
    path = write(tmp_path / "plain.jsonl", [{"text": t} for t in VARIED])
    with pytest.raises(FittingError, match="and a field 'prompt_text' to be fitted; 'fit' has 0 of 20") as caught:
        momus.compare(path, {"g": path}, critics=[location], **FAST)
    assert "keep=['prompt_text=FIELD']" in caught.value.hint


def test_a_run_of_all_critics_leaves_it_out_with_a_word(repeats, monkeypatch):
    from momus.critic.registry import critic_class
    from momus.engine import chosen

    names = ["length", "repeats"]
    monkeypatch.setattr(chosen, "critic_names", lambda: names)
    classes = {"length": critic_class("length"), "repeats": repeats}
    monkeypatch.setattr(chosen, "make_critics", lambda some, _: [classes[name]() for name in some])
    run = momus.compare(VARIED, {"g": ALIKE}, **FAST)
    assert [r.name for r in run.results] == ["length"]
    assert any("'repeats'" in w and "prompt_text" in w for w in run.warnings), run.warnings


def test_another_field_is_named(repeats):
    moved = [{"doc": {"q": r["prompt"]}, "text": r["text"]} for r in HUMAN]
    reading = ReadingOptions(keep=("prompt_text=doc.q",))
    run = momus.compare(moved, {"g": moved}, critics=[repeats()], reading=reading, **FAST)
    assert run.verdicts[0].n_real == 20
    misspelt = ReadingOptions(keep=("prompt_text=doc.p",))
    with pytest.raises(UsageError, match="'prompt_text' that is to be kept"):
        momus.compare(moved, {"g": moved}, critics=[repeats()], reading=misspelt, **FAST)


def test_needs_are_no_options_that_a_text_must_have():
    class Beside(PairedCritic[Values]):
        needs = ("reference", "prompt_text")

    reading = with_needs(ReadingOptions(keep=("topic",)), [Beside, Openings()])
    assert reading.kept == ("topic", "reference", "prompt_text")
    corpus = momus.read_corpus([{"text": "a", "topic": "t", "gold": "g"}], keep=reading.kept)
    reading.check_kept([corpus])
    assert corpus.field("reference") == ["g"]
    assert corpus.field("prompt_text") == [None]


@pytest.mark.parametrize("large", [False, True])
def test_files_are_compared_alike_whole_and_in_parts(large, tmp_path, location, monkeypatch):
    from momus.engine import large as rooms

    human, echo = write(tmp_path / "human.jsonl", HUMAN), write(tmp_path / "echo.jsonl", ECHO)
    if large:
        monkeypatch.setattr(rooms, "LARGE", 0)
    run = momus.compare(human, {"echo": echo}, critics=[location], fit=human, **FAST)
    (verdict,) = run.verdicts
    assert (verdict.real_value, verdict.generated_value) == (0.125, 0.75)
    assert verdict.unscored_real == verdict.unscored_generated == 0


def test_parts_are_scored_with_the_fields_that_critics_read(tmp_path, repeats):
    human = write(tmp_path / "human.jsonl", HUMAN)
    repeats().fit(HUMAN).save(tmp_path / "fitted")
    score_parts([tmp_path / "fitted"], [human], tmp_path / "rows")
    assert StoredText(tmp_path / "rows", "human").scores("repeats").n_scored == 40


def test_a_critic_that_counts_is_fitted_in_parts_with_its_fields(tmp_path):
    from momus.critic import Counts, MergeableMixin

    class Asked(MergeableMixin, PairedCritic[Values]):
        """Words of questions."""

        name, axis, needs = "asked", "questions", ("prompt_text",)

        def fit_counts(self, real):
            return Counts.of_values(words=self.project(real).values.astype(int))

        def fit_from(self, counts):
            self.mean_ = float(counts.values("words").mean())
            return self

        def project(self, batch):
            return Values(np.array([len(q.split()) for q in batch.field("prompt_text")], dtype=float))

        def log_prior(self, latents):
            return LogPrior.of_vectors(-np.abs(latents.values - self.mean_))

    critic = Asked()
    fit_in_parts(critic, write(tmp_path / "human.jsonl", HUMAN), documents=7)
    assert critic.mean_ == 4.0
    assert critic.fitted_on_["documents"] == 40


def test_models_are_compared_by_a_paired_critic(tmp_path, repeats):
    run = momus.compare(generated={"new": ECHO}, against={"old": HUMAN}, critics=[repeats()], **FAST)
    assert [v.statistic for v in run.verdicts] == ["repeated"]
    assert run.verdicts[0].p_adjusted < 0.05


class Words(Critic[Values]):
    """Number of words."""

    name = axis = "words"

    def fit(self, real):
        self.mean_ = 1.0
        return self

    def project(self, batch):
        return Values(np.array([float(self.explain(d.text)) for d in batch]))

    def log_prior(self, latents):
        return LogPrior.of_vectors(-np.abs(latents.values - self.mean_))

    def explain(self, text):
        return len(text.split())


def test_a_helper_gets_its_own_arguments_whatever_its_name():
    assert Words().fit(VARIED).score(["a b c"]).nll.tolist() == [2.0]


def test_a_parameter_may_have_the_name_of_what_others_report():
    from momus.estimator import parametrized

    @parametrized
    class Laid(Words):
        layout: str = "wide"
        general: bool = True

    assert Laid(layout="narrow").get_params() == {"layout": "narrow", "general": True}


def test_the_checks_of_the_command_keep_the_fields_of_the_critic(tmp_path, location, monkeypatch):
    from momus import conformance
    from momus.cli.critics import check

    texts = []

    def checked(critic, corpus, **_):
        texts.append(corpus.field("prompt_text"))
        return conformance.Report(critic.name, [conformance.Record("one", "passed")])

    monkeypatch.setattr(conformance, "check_critic", checked)
    moved = [{"q": r["prompt"], "text": r["text"]} for r in HUMAN]
    for records, keep in ((HUMAN, None), (moved, "prompt_text=q")):
        check(location, write(tmp_path / "texts.jsonl", records), keep=keep, config=None, slow=False)
    assert texts == [[r["prompt"] for r in HUMAN]] * 2
