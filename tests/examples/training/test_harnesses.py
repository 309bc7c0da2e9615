"""Saved critics inside Inspect and lm-evaluation-harness, with their own mock models."""

import json
import math
import shutil
import textwrap

import pytest

from momus import Corpus
from momus.errors import StoreError, UsageError
from momus_critics.laws import Taylor
from momus_critics.length import Length
from momus_critics.unigram import Unigram
from momus_training.answers import SavedCritic
from momus_training.lm_eval import critic_metric, mean_of_scored

REAL = [f"{'the cat sat on the mat ' * (1 + i % 4)}." for i in range(24)]
ROWS = [{"question": f"What is {i}?", "answer": REAL[i]} for i in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("critics")
    for critic in (Length(), Unigram()):
        critic.fit(Corpus.from_texts(REAL)).save(folder / critic.name)
    return folder


def alone(critic, text):
    """The score of one text by the critic itself."""
    scores = critic.score(Corpus.from_texts([text]))
    return float((scores.per_step if critic.sequence else scores.nll)[0])


@pytest.mark.parametrize("cls", [Length, Unigram])
def test_an_answer_has_the_score_of_the_critic(folder, cls):
    critic = cls.load(folder / cls.name)
    texts = ["the cat", REAL[3], ""]
    answers = SavedCritic(folder / cls.name).score(texts)
    for text, answer in zip(texts[:2], answers[:2], strict=True):
        assert answer.value == pytest.approx(alone(critic, text))
        assert answer.reason is None
    assert math.isnan(answers[2].value)
    assert answers[2].reason


def test_what_is_no_critic_of_answers_is_refused(folder, tmp_path):
    with pytest.raises(StoreError):
        SavedCritic(tmp_path)
    Taylor().fit(Corpus.from_texts([" ".join(REAL) * 200])).save(tmp_path / "taylor")
    with pytest.raises(UsageError, match=r"law of running text(.|\n)*momus compare -g a=lm-eval:PATH"):
        SavedCritic(tmp_path / "taylor").score(["the cat"])


def test_the_metric_has_the_difference_to_the_reference(folder):
    metric = critic_metric(folder / "length", name="length_nll")
    assert metric.__name__ == "length_nll"
    critic = Length.load(folder / "length")
    values = metric(references=[REAL[0]], predictions=[["the cat"]])
    assert values["length_nll"] == pytest.approx(alone(critic, "the cat"))
    assert values["length_nll_difference"] == pytest.approx(alone(critic, "the cat") - alone(critic, REAL[0]))
    assert metric(references=[""], predictions=["the cat"]).keys() == {"length_nll"}
    assert math.isnan(metric(references=[None], predictions=[[]])["length_nll"])
    assert math.isnan(mean_of_scored([math.nan]))


def test_a_run_folder_is_a_group_of_metrics(folder, tmp_path):
    (tmp_path / "critics").mkdir()
    for name in ("length", "unigram"):
        shutil.copytree(folder / name, tmp_path / "critics" / name)
    Taylor().fit(Corpus.from_texts([" ".join(REAL) * 200])).save(tmp_path / "critics" / "taylor")
    metric = critic_metric(tmp_path)
    values = metric(references=[REAL[0]], predictions=["the cat"])
    names = ("length", "unigram")
    assert values.keys() == {f"latent_nll_{n}{end}" for n in names for end in ("", "_difference")}
    assert values["latent_nll_unigram"] == pytest.approx(alone(Unigram.load(folder / "unigram"), "the cat"))
    assert metric(references=[REAL[0]], predictions=[""]) == {}, "a mean with NaN would be NaN"


@pytest.mark.slow
def test_a_scorer_of_inspect(folder, tmp_path, monkeypatch):
    pytest.importorskip("inspect_ai", reason="pip install -e .[logs]")
    import tiktoken
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model

    from momus_training.inspect import momus_scorer

    # Inspect counts tokens with a vocabulary that it loads from the net: a byte counts as a token here
    encoding = tiktoken.Encoding(
        "bytes", pat_str=r"(?s:.)", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: encoding)
    outputs = ["the cat sat", "", REAL[2], "the mat"]
    samples = [Sample(input=r["question"], target=r["answer"]) for r in ROWS[:3]] + [Sample(input="?")]
    model = get_model(
        "mockllm/model", custom_outputs=[ModelOutput.from_content("mockllm/model", text) for text in outputs]
    )
    task = Task(dataset=MemoryDataset(samples), scorer=momus_scorer(str(folder / "length")), name="explain")
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_connections=1, max_samples=1)
    assert log.status == "success", log.error
    critic = Length.load(folder / "length")
    scored = [next(iter(s.scores.values())) for s in log.samples]
    expected = [alone(critic, text) for text in outputs]
    assert [s.value["latent_nll"] for s in scored] == pytest.approx(expected, nan_ok=True)
    assert scored[0].value["difference"] == pytest.approx(expected[0] - alone(critic, REAL[0]))
    assert scored[2].value["difference"] == 0
    assert math.isnan(scored[3].value["difference"]), "a sample without a target has no reference"
    assert scored[1].explanation.startswith("answer: ")
    metrics = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert metrics["latent_nll"] == pytest.approx(mean_of_scored(expected))
    assert metrics["difference"] == pytest.approx(scored[0].value["difference"] / 2), "NaN does not count"


TASK = """
task: explain
dataset_path: json
dataset_kwargs: {data_files: {test: questions.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"]}
metric_list:
  - metric: !function momus_metrics.length
    aggregation: !function momus_metrics.mean_of_scored
    higher_is_better: false
"""


@pytest.mark.slow
def test_a_metric_of_lm_eval(folder, tmp_path, monkeypatch):
    for name, value in (("HF_HOME", str(tmp_path / "cache")), ("HF_HUB_OFFLINE", "1"), ("HF_DATASETS_OFFLINE", "1")):
        monkeypatch.setenv(name, value)
    lm_eval = pytest.importorskip("lm_eval", reason="pip install lm-eval")
    from lm_eval.tasks import TaskManager

    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in ROWS))
    (tmp_path / "explain.yaml").write_text(TASK)
    (tmp_path / "momus_metrics.py").write_text(
        textwrap.dedent(f"""
        from momus_training.lm_eval import critic_metric, mean_of_scored

        length = critic_metric({str(folder / "length")!r})
        """)
    )
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    results = lm_eval.simple_evaluate(model="dummy", tasks=["explain"], task_manager=manager, log_samples=True)
    critic = Length.load(folder / "length")
    samples = results["samples"]["explain"]
    answers = [s["filtered_resps"][0] for s in samples]
    expected = [alone(critic, a) for a in answers]
    assert [s["latent_nll"] for s in samples] == pytest.approx(expected)
    reported = results["results"]["explain"]
    assert reported["latent_nll,none"] == pytest.approx(mean_of_scored(expected))
    references = [alone(critic, s["doc"]["answer"]) for s in samples]
    differences = [a - b for a, b in zip(expected, references, strict=True)]
    assert reported["latent_nll_difference,none"] == pytest.approx(mean_of_scored(differences))
    json.dumps(results["configs"], default=str)
