"""Logs that the harnesses themselves wrote (tests/data/logs), read, paired and compared; and broken ones."""

import gzip
import json
import re
import shutil
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import momus
from momus import ReadingOptions
from momus.errors import MissingExtraError, MomusError, PluginError, ReadingError, UsageError
from momus.limits import Limits
from momus.plugins import READERS, registered
from momus.reading import read_corpus
from momus.reading.options import Source

LOGS = Path(__file__).parents[1] / "data" / "logs"
QUESTIONS = [json.loads(line) for line in (LOGS / "questions.jsonl").read_text().splitlines()]
REFERENCES = {str(i): row["answer"] for i, row in enumerate(QUESTIONS)}


def log(pattern):
    (path,) = LOGS.glob(pattern)
    return path


EXPLAIN = log("lm_eval/samples_explain_*.jsonl")
CHOOSE = log("lm_eval/samples_choose_*.jsonl")
DETAILS = log("lighteval/details_*.parquet")
SAMPLES = [json.loads(line) for line in EXPLAIN.read_text().splitlines()]


def inspect_log(kind):
    pytest.importorskip("inspect_ai", reason="pip install -e .[logs]")
    return log(f"inspect/*{kind}*")


def texts(corpus):
    return [d.text for d in corpus]


# What the harnesses wrote


def test_readers_are_registered_as_plug_ins():
    assert {"lm-eval", "inspect"} <= registered(READERS).keys()


def test_lm_eval_samples_are_answers_of_their_doc():
    corpus = read_corpus(f"lm-eval:{EXPLAIN}")
    first = [s for s in SAMPLES if s["filter"] == "whole"]
    assert [d.text for d in corpus] == [text for s in first for text in s["resps"][0]]
    assert corpus.ids[:3] == ["0#1", "0#2", "1#1"]
    assert corpus.prompts[:3] == ["0", "0", "1"], "two answers of one doc are documents of one prompt"
    assert corpus.origin.left_out == {"they repeat the samples under other filters": len(SAMPLES) - len(first)}
    (about,) = corpus.origin.logs
    assert (about["model"], about["task"]) == ("tiny-gpt2", "explain")
    assert about["generation"]["temperature"] == 0.8


def test_lm_eval_fields():
    kept = {s["doc_id"]: s["filtered_resps"] for s in SAMPLES if s["filter"] == "first-sentence"}
    corpus = read_corpus(f"lm-eval:{EXPLAIN}#filtered_resps.first-sentence")
    assert [[d.text] for d in corpus] == list(kept.values())
    questions = read_corpus(f"lm-eval:{EXPLAIN}", field="doc.question", keep=["doc.id"])
    assert [d.text for d in questions] == [row["question"] for row in QUESTIONS]
    assert questions.field("doc.id") == [row["id"] for row in QUESTIONS]


@pytest.mark.parametrize("source", [f"lm-eval:{EXPLAIN}#target", f"x=lm-eval:{EXPLAIN}#target"])
def test_references_come_from_the_log(source):
    corpus = read_corpus(source)
    assert dict(zip(corpus.prompts, (d.text for d in corpus), strict=True)) == REFERENCES


def test_lighteval_details_pair_by_the_same_numbers():
    corpus, target = read_corpus(DETAILS), read_corpus(DETAILS, field="doc.choices")
    rows = pq.read_table(DETAILS).to_pylist()
    assert [d.text for d in corpus] == [r["model_response"]["text"][0] for r in rows]
    assert corpus.ids == [r["doc"]["id"] for r in rows]
    assert dict(zip(target.prompts, (d.text for d in target), strict=True)) == REFERENCES
    assert corpus.origin.read_as == "details of lighteval"


def test_scores_beside_details_of_lighteval_are_no_documents(tmp_path):
    for folder, path in (("details/org/m/2026", DETAILS), ("results/org/m", log("lighteval/results_*.json"))):
        (tmp_path / folder).mkdir(parents=True)
        shutil.copy(path, tmp_path / folder)
    assert read_corpus(tmp_path).ids == read_corpus(DETAILS).ids


def test_trl_completions_pair_by_the_text_of_the_prompt():
    corpus = read_corpus(f"trl:{LOGS / 'trl'}", keep=["advantage"])
    asked = {f"Question: {row['question']} Answer:" for row in QUESTIONS}
    assert len(corpus) == 48
    assert set(corpus.prompts) <= asked
    assert all(corpus.prompts.count(p) == 2 for p in corpus.prompts), "two generations per prompt, in either step"
    assert corpus.origin.read_as == "completions of TRL"
    assert None not in corpus.field("advantage")


def test_inspect_epochs_are_documents_of_one_sample():
    corpus = read_corpus(f"inspect:{inspect_log('explain')}")
    assert len(corpus) == 48
    assert {corpus.prompts.count(p) for p in corpus.prompts} == {2}
    assert {"0 epoch 1", "0 epoch 2"} <= set(corpus.ids)
    target = read_corpus(f"inspect:{inspect_log('explain')}#target")
    assert dict(zip(target.prompts, (d.text for d in target), strict=True)) == REFERENCES
    assert target.origin.left_out == {"they repeat the references of other epochs": 24}
    assert corpus.origin.logs[0]["generation"]["temperature"] == 0.8


def test_inspect_reasoning_and_calls_are_apart():
    path = inspect_log("consult")
    answers = [row["answer"].lower() for row in QUESTIONS[:3]]
    corpus = read_corpus(f"inspect:{path}", keep=["reasoning"])
    assert [d.text for d in corpus] == answers
    assert corpus.field("reasoning") == ["The manual says so."] * 3
    assert corpus.origin.set_apart["reasoning"] == 3
    chat = read_corpus(f"inspect:{path}#messages", turns="all", keep=["tool_calls"])
    assert [d.sections[0].title for d in chat] == ["user"] * 3
    assert all("manual" in call for call in chat.field("tool_calls"))
    assert chat.origin.set_apart["tool results"] == 3
    assert "is in the manual" not in "".join(d.text for d in chat)


def test_every_eval_ever_instances_of_one_metric():
    path = log("every_eval_ever/*_samples.jsonl")
    corpus, target = read_corpus(path), read_corpus(path, field="input.reference")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert list(corpus.prompts) == list(target.prompts)
    assert {d.text for d in target} == set(REFERENCES.values())
    first = [row for row in rows if row["evaluation_result_id"] == rows[0]["evaluation_result_id"]]
    assert [d.text for d in corpus] == [text for row in first for text in row["output"]["raw"]]
    assert corpus.origin.left_out == {"they repeat the samples under other metrics": len(rows) - len(first)}


def test_all_logs_go_into_one_comparison(tmp_path):
    generated = {
        "lm": f"lm-eval:{EXPLAIN}",
        "light": str(DETAILS),
        "trl": f"trl:{LOGS / 'trl'}",
    }
    prompt = {"real": "arguments.gen_args_0.arg_0", "lm": "arguments.gen_args_0.arg_0", "light": "doc.query"}
    comparison = momus.compare(
        f"lm-eval:{EXPLAIN}#target", generated, fit=str(LOGS / "questions.jsonl"), critics=["length"],
        reading=ReadingOptions(field={"fit": "answer"}, prompt=prompt), permutations=199, out=tmp_path / "run",
    )  # fmt: skip
    corpora = {c["name"]: c for c in json.loads((tmp_path / "run" / "run.json").read_text())["corpora"]}
    assert corpora["lm"]["prompts"] == corpora["real"]["prompts"] == 24
    assert corpora["light"]["origin"]["read_as"] == "details of lighteval"
    assert "fit" in corpora
    assert corpora["fit"]["origin"]["read_as"] == "prompts and answers"
    assert not corpora["fit"]["origin"]["logs"]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "lm-evaluation-harness 0.4.13, task explain, model tiny-gpt2" in page
    designs = {v.generated: v.method.design for v in comparison.verdicts if v.headline}
    assert designs == {"lm": "prompts", "light": "pairs", "trl": "prompts"}


# A field of one text only


def test_fields_by_text_are_checked():
    options = ReadingOptions(field={"x": "resps"})
    with pytest.raises(UsageError, match="'x', which is not a text"):
        momus.compare(str(LOGS / "questions.jsonl"), {"a": f"lm-eval:{EXPLAIN}"}, critics=["length"], reading=options)
    with pytest.raises(UsageError, match=r"two fields for .*'target' after # and 'resps'"):
        read_corpus(f"lm-eval:{EXPLAIN}#target", field="resps")


# Broken logs: an error in words, or counted rows


def changed(tmp_path, change, name=EXPLAIN.name):
    """A copy of the samples, each changed (None: left out)."""
    rows = [change(dict(s)) for s in SAMPLES]
    path = tmp_path / name
    path.write_text("".join(json.dumps(r) + "\n" for r in rows if r is not None))
    return path


def drop(key):
    return lambda sample: {k: v for k, v in sample.items() if k != key}


def halved(tmp_path):
    path = tmp_path / EXPLAIN.name
    path.write_bytes(EXPLAIN.read_bytes()[:5000])
    return path


def of_two_models(tmp_path):
    shutil.copy(EXPLAIN, tmp_path)
    name = EXPLAIN.name.replace("T14", "T15")
    shutil.copy(EXPLAIN, tmp_path / name)
    for date, model in ((EXPLAIN.name[-32:-6], "one"), (name[-32:-6], "two")):
        (tmp_path / f"results_{date}.json").write_text(json.dumps({"model_name": model}))
    changed(tmp_path, lambda s: s | {"doc_id": s["doc_id"] + 1000}, name)
    return tmp_path


def cut_details(tmp_path):
    (tmp_path / "details_x.parquet").write_bytes(DETAILS.read_bytes()[:-100])
    return tmp_path / "details_x.parquet"


def cut_completions(tmp_path):
    path = tmp_path / "completions_00001.parquet"
    path.write_bytes(next(LOGS.glob("trl/completions_*.parquet")).read_bytes()[:2000])
    return path


def cut_gzip(tmp_path):
    path = tmp_path / f"{EXPLAIN.name}.gz"
    path.write_bytes(gzip.compress(EXPLAIN.read_bytes())[:1500])
    return path


def huge(tmp_path):
    """Two gigabytes without a line end, as of a log that was allocated and never written."""
    path = tmp_path / EXPLAIN.name
    with path.open("wb") as file:
        file.write(b'{"doc_id": 0, "resps": [["')
        file.truncate(2_000_000_000)
    return path


def as_one_list(tmp_path):
    path = tmp_path / EXPLAIN.name
    path.write_text(json.dumps(SAMPLES))
    return path


def empty(tmp_path):
    (tmp_path / EXPLAIN.name).touch()
    return tmp_path / EXPLAIN.name


BROKEN = {
    "two gigabytes in one line": ("lm-eval", huge, [r"longer than \d+ MB", "limits="]),
    "cut gzip": ("lm-eval", cut_gzip, ["cut off|ends early|truncated|incomplete"]),
    "a list, not lines": ("lm-eval", as_one_list, ["none of the|not .* lines|list"]),
    "an empty file": ("lm-eval", empty, ["empty|no record|no document"]),
    "cut completions": ("trl", cut_completions, ["Arrow cannot read", "again"]),
    "half-written line": ("lm-eval", halved, [r"line \d+: not valid JSON", "cut off", "skip_bad_lines=True"]),
    "no answers": ("lm-eval", lambda p: changed(p, drop("resps")), ["none of the 24 records", "answer|null|no field"]),
    "no doc_id": (
        "lm-eval",
        lambda p: changed(p, drop("doc_id")),
        ["no field 'doc_id', which samples of lm-eval have"],
    ),
    "answers were scored": ("lm-eval", lambda p: CHOOSE, ["none of the 24", "the model wrote no text"]),
    "logs of two models": ("lm-eval", of_two_models, [r"several models \('one', 'two'\)", "a separate text"]),
    "cut Parquet": ("lighteval", cut_details, ["Arrow cannot read", "again"]),
    "missing": ("lm-eval", lambda p: p / "samples_none.jsonl", ["no such file"]),
    "a folder without logs": (
        "lm-eval",
        lambda p: LOGS / "trl",
        ["no file in this folder is called samples_"],
    ),
    "standard input": ("lm-eval", lambda p: "-", ["not read from standard input"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_logs_get_worded_errors(case, tmp_path):
    reader, make, words = BROKEN[case]
    with pytest.raises(ReadingError) as caught:
        read_corpus(f"{reader}:{make(tmp_path)}")
    assert caught.value.hint
    for word in words:
        assert re.search(word, str(caught.value)), str(caught.value)


def test_samples_without_answers_are_counted_rows(tmp_path):
    path = changed(tmp_path, lambda s: s | {"resps": []} if s["doc_id"] < 3 else s)
    corpus = read_corpus(f"lm-eval:{path}")
    assert corpus.problems[:3] == ["the sample has no answer"] * 3
    assert corpus.prompts[:3] == ["0", "1", "2"], "a row without an answer keeps its prompt"
    halved(tmp_path)
    kept = read_corpus(f"lm-eval:{tmp_path / EXPLAIN.name}", skip_bad_lines=True)
    assert kept.problems[-1] == "not valid JSON"


def test_two_filters_need_a_choice():
    with pytest.raises(ReadingError, match=r"'whole' and by 'first-sentence'(.|\n)*#filtered_resps\.whole"):
        read_corpus(f"lm-eval:{EXPLAIN}#filtered_resps")
    with pytest.raises(ReadingError, match=r"no sample was filtered by 'x'(.|\n)*whole, first-sentence"):
        read_corpus(f"lm-eval:{EXPLAIN}#filtered_resps.x")


def test_a_log_without_its_reader_is_recognised():
    assert texts(read_corpus(EXPLAIN)) == texts(read_corpus(f"lm-eval:{EXPLAIN}"))
    assert Source.parse(str(log("inspect/*explain*"))).reader == "inspect"
    assert len(read_corpus(inspect_log("explain"))) == 48
    with pytest.raises(PluginError, match=r"no reader 'lmeval'(.|\n)*did you mean 'lm-eval'"):
        read_corpus("lmeval:x.jsonl")


def test_limits_hold_for_logs(tmp_path):
    with pytest.raises(ReadingError, match="longer than 200 bytes"):
        read_corpus(f"lm-eval:{EXPLAIN}", limits=Limits(document=200))
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(4):
            archive.writestr(f"samples/{i}_epoch_1.json", b" " * 30_000_000)
        archive.writestr("header.json", b"{}")
    pytest.importorskip("inspect_ai", reason="pip install -e .[logs]")
    with pytest.raises(ReadingError, match=r"grows from .* to 120 MB"):
        read_corpus(f"inspect:{path}")


def test_broken_inspect_logs(tmp_path):
    whole = inspect_log("explain").read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadingError, match=r"not a whole log of Inspect(.|\n)*inspect log recover"):
        read_corpus(f"inspect:{tmp_path / 'cut.eval'}")
    data = json.loads(inspect_log("consult").read_text())
    data["samples"][0]["error"] = {"message": "timed out", "traceback": "", "traceback_ansi": ""}
    data["status"] = "error"
    (tmp_path / "failed.json").write_text(json.dumps(data))
    corpus = read_corpus(f"inspect:{tmp_path / 'failed.json'}")
    assert corpus.problems == ["the sample failed while the model was evaluated", None, None]
    assert corpus.origin.logs[0]["status"] == "error"
    (tmp_path / "other.json").write_text('{"version": 99, "eval": {"nothing": 1}}')
    with pytest.raises(ReadingError, match=r"the reader 'inspect' cannot read this(.|\n)*another version"):
        read_corpus(f"inspect:{tmp_path / 'other.json'}")


def test_inspect_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    with pytest.raises(MissingExtraError, match=r"inspect-ai, which is not installed(.|\n)*\[logs\]"):
        read_corpus(f"inspect:{EXPLAIN}")


@pytest.mark.parametrize(
    "arguments",
    [
        "pretrained=m,api_key=sk-hidden",
        {"pretrained": "m", "client": {"env": ["OPENAI_API_KEY=hidden"]}, "extra": "--header 'x-api-key: hidden'"},
    ],
)
def test_secrets_of_a_log_are_hidden(arguments, tmp_path):
    shutil.copy(EXPLAIN, tmp_path)
    date = EXPLAIN.name[-32:-6]
    config = {"model_args": arguments, "gen_kwargs": {"url": "https://u:pw-hidden@host/v1"}}
    (tmp_path / f"results_{date}.json").write_text(json.dumps({"model_name": "m", "config": config}))
    corpus = read_corpus(f"lm-eval:{tmp_path / EXPLAIN.name}")
    assert "hidden" not in json.dumps(corpus.origin.logs)
    assert corpus.origin.logs[0]["model_args"]["pretrained"] == "m"


class Crashing(momus.reading.LogReader):
    name, title, pattern = "crashing", "anything", "*"

    def read(self, log, field):
        raise RuntimeError("a bug of somebody else")


def test_a_reader_that_crashes_is_an_error_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr("momus.reading.reader.log_reader", lambda name: Crashing())
    with pytest.raises(MomusError, match=r"'lm-eval'|'crashing' cannot read this as anything .*somebody else"):
        read_corpus(f"lm-eval:{EXPLAIN}")
