"""``momus compare`` on logs: fields, prompts and turns of single texts, and what is told."""

import json
import sys
from pathlib import Path

import pytest

from momus import read_corpus
from momus.errors import MissingExtraError

ROWS = 24
LOGS = Path(__file__).parents[1] / "data" / "logs"


def words(i, seed):
    return " ".join(f"word{(i * 7 + k * seed) % 13}" for k in range(30))


@pytest.fixture
def texts(working_directory):
    """References by question, samples of lm-eval, and chats, in the working directory."""
    samples, chats, references = [], [], []
    for i in range(ROWS):
        question = f"Question {i}?"
        references.append({"id": f"r{i}", "question": question, "answer": words(i, 3)})
        samples.append({
            "doc_id": i, "doc": {"question": question}, "target": words(i, 3), "resps": [[words(i, 5)]],
            "filtered_resps": ["short"], "filter": "none",
        })  # fmt: skip
        said = [{"role": "user", "content": question}, {"role": "assistant", "content": words(i, 5)}]
        chats.append({"id": f"c{i}", "prompt": question, "messages": [*said, {"role": "tool", "content": "x"}]})
    for name, rows in (("refs", references), ("samples_qa", samples), ("chats", chats)):
        (working_directory / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return working_directory


def compare(momus, *arguments):
    code, output = momus(
        "compare", "--critics", "length", "--permutations", "199", "--quiet", "--fit", "refs.jsonl",
        "--field", "fit=answer", *arguments,
    )  # fmt: skip
    assert code == 0, output
    return output


def test_fields_and_prompts_of_single_texts(momus, texts):
    output = compare(
        momus, "--real", "refs.jsonl", "--field", "real=answer", "--prompt", "real=question", "--prompt",
        "log=doc.question", "-g", "log=lm-eval:samples_qa.jsonl", "-g", "chat=chats.jsonl", "--out", "run",
    )  # fmt: skip
    assert "tool results of 24 documents were set apart" in " ".join(output.split())
    run = json.loads((texts / "run" / "run.json").read_text())
    prompts = {c["name"]: c["prompts"] for c in run["corpora"]}
    assert (prompts["real"], prompts["log"], prompts["chat"]) == (ROWS, ROWS, ROWS)
    assert {c["name"]: c["origin"]["reader"] for c in run["corpora"] if "origin" in c} == {
        "fit": None,
        "real": None,
        "log": "lm-eval",
        "chat": None,
    }
    verdicts = [json.loads(line) for line in (texts / "run" / "verdicts.jsonl").read_text().splitlines()]
    assert {v["method"]["design"] for v in verdicts if v["statistic"] == "latent_nll"} == {"pairs"}


def test_references_of_a_log_and_all_turns(momus, texts):
    output = compare(
        momus, "--real", "x=lm-eval:samples_qa.jsonl#target", "-g", "chat=chats.jsonl", "--turns", "all", "--out", "run"
    )
    assert "logs: real: lm-evaluation-harness" in " ".join(output.split())
    code, output = momus("compare", "-r", "refs.jsonl", "-g", "a=chats.jsonl", "--turns", "none", "-c", "length")
    assert code == 2
    assert "unknown turns 'none'" in output


def test_a_field_given_twice_is_an_error(momus, texts):
    code, output = momus(
        "compare", "-r", "refs.jsonl", "-g", "a=chats.jsonl", "--field", "a=x", "--field", "a=y", "-c", "length"
    )
    assert code == 2
    assert "two fields are given for 'a'" in output


def test_logs_of_four_harnesses_and_a_folder_of_datasets_in_one_comparison(momus, working_directory):
    pytest.importorskip("inspect_ai", reason="pip install -e .[logs]")
    (samples,) = LOGS.glob("lm_eval/samples_explain_*.jsonl")
    (explain,) = LOGS.glob("inspect/*explain*")
    sources = {
        "lm": (f"lm-eval:{samples}", "arguments.gen_args_0.arg_0"),
        "inspect": (f"inspect:{explain}", "metadata.prompt"),
        "light": (str(next(LOGS.glob("lighteval/details_*.parquet"))), "doc.query"),
        "trl": (f"trl:{LOGS / 'trl'}", "prompt"),
    }
    generated = [word for name, (source, _) in sources.items() for word in ("-g", f"{name}={source}")]
    prompts = [word for name, (_, field) in sources.items() for word in ("--prompt", f"{name}={field}")]
    code, output = momus(
        "compare", "--real", str(LOGS / "datasets"), "--fit", str(LOGS / "questions.jsonl"), "--field", "real=answer",
        "--field", "fit=answer", *generated, *prompts, "-c", "length", "--permutations", "199", "--quiet", "-o", "run",
    )  # fmt: skip
    assert code == 0, output
    run = json.loads((working_directory / "run" / "run.json").read_text())
    corpora = {c["name"]: c for c in run["corpora"]}
    counts = {name: (c["documents"], c["prompts"]) for name, c in corpora.items()}
    assert counts == {
        "fit": (24, 24),
        "real": (24, 24),
        "lm": (48, 24),
        "inspect": (48, 24),
        "light": (24, 24),
        "trl": (48, 24),
    }
    readers = {n: corpora[n]["origin"]["reader"] for n in ("lm", "inspect", "light")}
    assert readers == {"lm": "lm-eval", "inspect": "inspect", "light": None}
    verdicts = [json.loads(line) for line in (working_directory / "run" / "verdicts.jsonl").read_text().splitlines()]
    headlines = [v for v in verdicts if v["statistic"] == "latent_nll"]
    assert {v["generated"]: v["method"]["design"] for v in headlines} == {
        "lm": "prompts", "inspect": "prompts", "light": "pairs", "trl": "prompts",
    }  # fmt: skip


def test_prepare_takes_the_turns_of_chats_as_sections(momus, texts):
    options = ["--least-sections", "1", "--fewest-tokens", "1", "--prompt", "prompt"]
    code, output = momus("prepare", "chats.jsonl", "--field", "messages", "--out", "turns.jsonl", *options)
    assert code == 0, output
    rows = [json.loads(line) for line in (texts / "turns.jsonl").read_text().splitlines()]
    assert [row["section_names"] for row in rows] == [["user", "assistant"]] * ROWS
    assert [row["prompt_id"] for row in rows[:2]] == ["Question 0?", "Question 1?"]
    code, output = momus(
        "prepare", "chats.jsonl", "--field", "messages", "--turns", "last", "--out", "last.jsonl", *options
    )
    assert code == 2, output
    assert "no sections" in output


def test_calibrate_takes_turns_and_prompts(momus, texts):
    common = ["--defects", "none", "--splits", "20", "--permutations", "19", "--critics", "length", "--by", "prompt"]
    code, output = momus(
        "calibrate", "--real", "chats.jsonl", "--field", "messages", "--turns", "all", "--prompt", "prompt", "--fit",
        "refs.jsonl", "--field", "fit=answer", "--out", "calibration", *common,
    )  # fmt: skip
    assert code == 0, output
    code, output = momus("calibrate", "--real", "chats.jsonl", "--turns", "none", "--out", "other", *common)
    assert code == 2, output
    assert "unknown turns 'none'" in output


def test_a_folder_of_logs_is_recognised():
    named, found = read_corpus(f"lm-eval:{LOGS / 'lm_eval'}"), read_corpus(LOGS / "lm_eval")
    assert found.origin.reader == "lm-eval"
    assert (found.ids, found.identity) == (named.ids, named.identity)


def test_a_folder_of_records_with_names_of_logs_is_none(tmp_path):
    (tmp_path / "samples_a.jsonl").write_text('{"text": "a b"}\n')
    assert read_corpus(tmp_path).ids == ["samples_a.jsonl:1"]


def test_a_folder_of_inspect_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(MissingExtraError, match="inspect-ai, which is not installed") as error:
        read_corpus(LOGS / "inspect")
    assert "logs" in error.value.hint


@pytest.mark.parametrize("reader", ["inspect:", ""])
def test_a_folder_of_json_logs_of_inspect_is_one(reader, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)  # it gets as far as the package that reads logs
    (path,) = (LOGS / "inspect").glob("*.json")
    (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "eval-set.json").write_text("{}")  # Inspect's list of its logs
    with pytest.raises(MissingExtraError, match=f"{path.name}: logs of Inspect"):
        read_corpus(f"{reader}{tmp_path}")


def test_a_folder_of_json_files_with_names_of_logs_is_none(tmp_path):
    (tmp_path / "2026-11-22T16-01-07_a.json").write_text('[{"text": "a b"}]')
    assert len(read_corpus(tmp_path)) == 1
