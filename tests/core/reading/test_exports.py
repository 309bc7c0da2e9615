"""Exports of further tools, after their public schemas, and what stands in their way: templates, tables, writers."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momus.errors import ReadingError
from momus.reading import ReadingOptions, read_corpus, sides_of
from momus.reading import formats as table

PROMPTS = ["Why does it matter so?", "What of it, in the end?"]
ANSWERS = ["It matters, since it is so.\n\nIt is.", "There is no end: it goes on."]
OTHERS = ["No matter.", "Nothing."]
PAIRS = list(zip(PROMPTS, ANSWERS, strict=True))


def user(p):
    return {"role": "user", "content": p}


def bot(a):
    return {"role": "assistant", "content": a}


# of each kind, the record of a prompt and an answer
KINDS = {
    "bedrock log": lambda p, a: {
        "schemaType": "ModelInvocationLog", "timestamp": "t", "modelId": "m",
        "input": {"inputBodyJson": {"messages": [{"role": "user", "content": [{"text": p}]}]}},
        "output": {"outputBodyJson": {"output": {"message": {"role": "assistant", "content": [{"text": a}]}}}},
    },
    "bedrock titan": lambda p, a: {
        "recordId": "r", "modelInput": {"inputText": p}, "modelOutput": {"results": [{"outputText": a}]}
    },
    "vertex": lambda p, a: {"instance": {"prompt": p}, "predictions": [{"content": a}], "status": ""},
    "cohere": lambda p, a: {
        "response_id": "r", "generation_id": "g", "text": a,
        "chat_history": [{"role": "USER", "message": p}, {"role": "CHATBOT", "message": a}],
    },
    "opentelemetry": lambda p, a: {"attributes": {"gen_ai.prompt.0.content": p, "gen_ai.completion.0.content": a}},
    "opentelemetry, parts": lambda p, a: {"attributes": {
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": p}]}],
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": a}]}],
    }},
    "openai evals": lambda p, a: {
        "event_id": 1, "type": "sampling", "data": {"prompt": [user(p)], "sampled": [a]}
    },
    "ragas, turns": lambda p, a: {"user_input": [{"type": "human", "content": p}, {"type": "ai", "content": a}]},
    "autogen": lambda p, a: {"chat_history": [user(p), bot(a)], "cost": {}},
    "autogen 0.4": lambda p, a: {"messages": [
        {"source": "user", "type": "TextMessage", "content": p},
        {"source": "writer", "type": "TextMessage", "content": a},
    ]},
    "openhands": lambda p, a: {"instance_id": "i", "history": [
        {"source": "agent", "action": "system", "args": {"content": "Be brief."}},
        {"source": "user", "action": "message", "args": {"content": p}},
        {"source": "agent", "action": "run", "args": {"command": "ls"}},
        {"source": "agent", "observation": "run", "content": "files"},
        {"source": "agent", "action": "message", "args": {"content": a}},
    ]},
    "crewai": lambda p, a: {"description": p, "raw": a, "agent": "Writer", "expected_output": "x"},
    "open webui": lambda p, a: {"title": "x", "chat": {"models": ["m"], "messages": [user(p), bot(a)]}},
    "lm studio": lambda p, a: {"messages": [
        {"versions": [{"role": "user", "content": [{"type": "text", "text": p}]}], "currentlySelected": 0},
        {"versions": [{"role": "assistant", "steps": [{"content": [{"type": "text", "text": a}]}]}]},
    ]},
    "glaive": lambda p, a: {"conversations": [
        {"from": "human", "value": p}, {"from": "function_call", "value": "{}"},
        {"from": "observation", "value": "x"}, {"from": "gpt", "value": a},
    ]},
    "harbor": lambda p, a: {"session_id": "s", "steps": [
        {"step_id": 1, "source": "user", "message": p}, {"step_id": 2, "source": "agent", "message": a},
    ]},
    "ultrachat": lambda p, a: {"id": p, "data": [p, a]},
    "mlflow traces": lambda p, a: {"trace_id": "t", "request": json.dumps({"question": p}), "response": json.dumps(a)},
    "axolotl": lambda p, a: {"segments": [{"label": False, "text": p}, {"label": True, "text": a}]},
    "argilla": lambda p, a: {"id": p, "fields": {"instruction": p, "response": a}, "responses": {}},
    "the viewer": lambda p, a: {"row_idx": 0, "row": {"prompt": p, "response": a}, "truncated_cells": []},
    "a reply anywhere": lambda p, a: {"request": {"messages": [user(p)]}, "result": {"choices": [{"message": bot(a)}]}},
    "a pipeline": lambda p, a: [{"generated_text": [user(p), bot(a)]}],
    "lighteval, old": lambda p, a: {"example": p, "full_prompt": f"{p} A:", "predictions": [a], "gold": ["x"]},
    "human eval": lambda p, a: {"task_id": p, "completion": a},
    "swe-bench": lambda p, a: {"instance_id": p, "model_name_or_path": "m", "model_patch": a},
    "turn pairs": lambda p, a: {"source": "x", "conversation": [{"input": p, "output": a}]},
    "a user and an assistant": lambda p, a: {"user": p, "assistant": a},
    "helicone": lambda p, a: {
        "request_body": json.dumps({"messages": [user(p)]}),
        "response_body": json.dumps({"choices": [{"message": bot(a)}]}),
    },
    "garak": lambda p, a: {
        "entry_type": "attempt", "outputs": [{"text": a}],
        "prompt": {"turns": [{"role": "user", "content": {"text": p}}]},
    },
    "trees": lambda p, a: {"message_tree_id": "t", "prompt": {
        "text": p, "role": "prompter", "replies": [{"text": a, "role": "assistant", "replies": []}]
    }},
    # templates and their remains
    "a template later": lambda p, a: {"text": f"So:\n<|im_start|>user\n{p}<|im_end|>\n<|im_start|>assistant\n{a}"},
    "said of a chat": lambda p, a: {"text": f"This is a conversation.\n\nHuman: {p}\n\nAssistant: {a}"},
    "an instruction": lambda p, a: {"text": f"Sample\n\n[INST] {p} [/INST] {a}</s>"},
    "the end of an answer": lambda p, a: {"prompt": p, "response": f"{a}<|im_end|>"},
    "the prompt repeated": lambda p, a: {"prompt": p, "response": f"{p} [/INST] {a}"},
    "the end of thoughts": lambda p, a: {"prompt": p, "response": f"Hm.\n</think>\n\n{a}"},
    "messages in Python's words": lambda p, a: {"id": p, "messages": str([user(p), bot(a)])},
    "messages in a text": lambda p, a: {"text": json.dumps([user(p), bot(a)])},
    "an object in a text": lambda p, a: {"prompt": p, "text": json.dumps({"answer": a})},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_and_the_prompt_of_each_kind(kind):
    corpus = read_corpus([KINDS[kind](p, a) for p, a in PAIRS])
    assert [d.text for d in corpus] == ANSWERS
    assert corpus.prompts == PROMPTS
    assert corpus.origin.read_as


def test_steps_of_a_run_are_left_out():
    runs = [
        {"id": f"{kind}{i}", "run_type": kind, "inputs": {"q": p}, "outputs": {"answer": a}, "parent_run_id": parent}
        for i, (p, a) in enumerate(PAIRS)
        for kind, parent in (("chain", None), ("llm", f"chain{i}"))
    ]
    assert [d.text for d in read_corpus(runs)] == ANSWERS
    assert [d.text for d in read_corpus(runs[1::2])] == ANSWERS, "where only steps were exported, these are read"


def test_turns_of_speakers_are_read_row_by_row():
    said = [(who, t) for p, a in PAIRS for who, t in (("user", p), ("bot", a))]
    corpus = read_corpus([{"speaker": who, "message": t} for who, t in said])
    assert ([d.text for d in corpus], corpus.prompts[0]) == (ANSWERS, PROMPTS[0])


DOCUMENTS = {
    "columns": {"prompt": PROMPTS, "response": ANSWERS},
    "numbered columns": {n: {"0": one, "1": two} for n, (one, two) in (("prompt", PROMPTS), ("output", ANSWERS))},
    "prompts as names": {**dict(PAIRS), "And what else is there?": "More."},
    "the viewer": {"features": [{}], "rows": [{"row_idx": 0, "row": {"prompt": p, "output": a}} for p, a in PAIRS]},
    "deep": {"run": {"tasks": {str(i): {"question": p, "response": a} for i, (p, a) in enumerate(PAIRS)}}},
}  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS)
def test_tables_within_a_json_document(tmp_path, document):
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENTS[document]))
    corpus = read_corpus(tmp_path / "a.json")
    assert ([d.text for d in corpus][:2], corpus.prompts[:2]) == (ANSWERS, PROMPTS)


def test_a_parquet_file_with_replies_in_structures(tmp_path):
    rows = [KINDS["a reply anywhere"](p, a) for p, a in PAIRS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert ([d.text for d in corpus], corpus.prompts) == (ANSWERS, PROMPTS)


# of each kind, a text of people and one of a machine, and the column that says so
WRITERS = {
    "source": lambda t, who: {"text": t, "source": who},
    "label": lambda t, who: {"Generation": t, "label": who},
    "is_human": lambda t, who: {"essay": t, "is_human": who == "human"},
    "model": lambda t, who: {"reply": t, "model": who, "lang": "en"},
    "author": lambda t, who: {"text": t, "author": who, "prompt_name": "x"},
}


@pytest.mark.parametrize("column", WRITERS)
def test_several_writers_are_never_one_text(tmp_path, column):
    rows = [
        WRITERS[column](t, who) for a, o in zip(ANSWERS, OTHERS, strict=True) for t, who in ((a, "gpt"), (o, "human"))
    ]
    options = ReadingOptions(field=next(iter(rows[0])))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for source in (rows, str(tmp_path / "a.parquet")):
        with pytest.raises(ReadingError, match=rf"2 writers(.|\n)*split_by='{column}'"):
            read_corpus(rows, field=options.field) if source is rows else read_corpus(source, field=options.field)
        parts = read_corpus(source, field=options.field, split_by=column)
        assert [[d.text for d in part] for part in parts.values()] == [ANSWERS, OTHERS]


@pytest.mark.parametrize(("field", "answer"), [("completions", "response"), ("answers", "answer")])
def test_answers_of_several_models_in_one_record_are_split(field, answer):
    rows = [
        {"instruction": p, field: [{answer: a, "model": "x"}, {answer: o, "model": "y"}]}
        for p, a, o in zip(PROMPTS, ANSWERS, OTHERS, strict=True)
    ]
    with pytest.raises(ReadingError, match=r"names 2 writers") as refused:
        read_corpus(rows)
    assert "where=" not in str(refused.value), "no condition tells the answers of one record apart"
    parts = read_corpus(rows, split_by=f"{field}[*].model")
    assert {name: [d.text for d in part] for name, part in parts.items()} == {"x": ANSWERS, "y": OTHERS}
    assert parts["x"].prompts == parts["y"].prompts == PROMPTS


SIDES = {
    "kaggle": lambda p, a, o: {"prompt": json.dumps([p]), "response_a": json.dumps([a]), "response_b": json.dumps([o])},
    "beavertails": lambda p, a, o: {"prompt": p, "response_0": a, "response_1": o},
    "helpsteer": lambda p, a, o: {"prompt": p, "response_1": a, "response_2": o},
    "openai": lambda p, a, o: {
        "input": {"messages": [user(p)]}, "non_preferred_output": [bot(a)], "preferred_output": [bot(o)]
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", SIDES)
def test_two_answers_to_one_prompt_are_two_texts(tmp_path, kind):
    rows = [SIDES[kind](*row) for row in zip(PROMPTS, ANSWERS, OTHERS, strict=True)]
    path = tmp_path / "a.txt"  # whose lines say that it is no plain text
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = (read_corpus(path, field=side) for side in sides_of(path))
    assert [[d.text for d in corpus] for corpus in (first, second)] == [ANSWERS, OTHERS]
    assert first.prompts == second.prompts == PROMPTS


def test_a_column_called_generated_may_hold_answers():
    rows = [{"prompt": p, "reference": "x", "generated": a} for p, a in PAIRS]
    assert [d.text for d in read_corpus(rows, field="generated")] == ANSWERS


def test_a_named_field_keeps_the_prompt_of_its_record(tmp_path):
    rows = [{"question": p, "model answer": a} for p, a in PAIRS]
    corpus = read_corpus(rows, field="model answer")
    assert ([d.text for d in corpus], corpus.prompts) == (ANSWERS, PROMPTS)


def test_a_database_is_refused_in_words(tmp_path):
    (tmp_path / "logs.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    with pytest.raises(ReadingError, match="this is an SQLite database"):
        read_corpus(tmp_path / "logs.db")


def test_a_plug_in_brings_its_formats(tmp_path, monkeypatch):
    from types import SimpleNamespace

    from momus import plugins

    package = tmp_path / "tool_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "formats.toml").write_text(
        '[mine]\ntitle = "my tool"\nhas = ["a_reply"]\nanswer = "a_reply"\nprompt = "q"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry = SimpleNamespace(value="tool_of_mine:formats.toml")
    monkeypatch.setattr(plugins, "registered", lambda group: {"mine": [entry]} if group == plugins.FORMATS else {})
    table.formats.cache_clear()
    try:
        corpus = read_corpus([{"q": p, "a_reply": a} for p, a in PAIRS])
        assert ([d.text for d in corpus], corpus.prompts, corpus.origin.read_as) == (ANSWERS, PROMPTS, "my tool")
    finally:
        table.formats.cache_clear()
