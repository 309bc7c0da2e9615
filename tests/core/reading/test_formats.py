"""Exports of tools: recognised by their fields, with the answer, the prompt and the model of each record."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momus.errors import MomusError, PluginError, ReadingError, UsageError
from momus.reading import ReadingOptions, read_corpus, sides_of
from momus.reading.chat import answer_in, prompt_in
from momus.reading.formats import Format, formats
from momus.reading.messages import from_markup
from momus.reading.parts import cut, list_inputs, read_part
from momus.reading.paths import MISSING, Where, check_path, look_up

PROMPTS = ["Is it so?", "Was it so?"]
ANSWERS = ["Yes: it is.\n\nIt is so.", "No, it was not."]
PAIRS = list(zip(PROMPTS, ANSWERS, strict=True))
EXPORTS = Path(os.environ.get("MOMUS_DATA", "../shared/data")) / "exports"


def user(p):
    return {"role": "user", "content": p}


def bot(a):
    return {"role": "assistant", "content": a}


def lc(kind, text):
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", kind],
        "kwargs": {"content": text},
    }


# of each tool, the record of a prompt and an answer; those that know no prompt but by a name come after these
RECORDS = {
    "chat": lambda p, a: {"messages": [{"role": "system", "content": "Be brief."}, user(p), bot(a)]},
    "chat blocks": lambda p, a: {"messages": [user([{"type": "text", "text": p}]), bot([{"type": "text", "text": a}])]},
    "sharegpt": lambda p, a: {"conversations": [{"from": "human", "value": p}, {"from": "gpt", "value": a}]},
    "a list of messages": lambda p, a: [user(p), bot(a)],
    "messages as JSON": lambda p, a: {"id": p, "messages": json.dumps([user(p), bot(a)])},
    "reasoning": lambda p, a: {"messages": [user(p), {**bot(a), "reasoning_content": "Hm."}]},
    "thinking in the text": lambda p, a: {"prompt": p, "response": f"<think>\nHm.\n</think>\n\n{a}"},
    "prompt and completion messages": lambda p, a: {"prompt": [user(p)], "completion": [bot(a)]},
    "alpaca": lambda p, a: {"instruction": p, "input": "", "output": a},
    "dolly": lambda p, a: {"instruction": p, "context": "", "response": a, "category": "qa"},
    "chatml": lambda p, a: {"text": f"<|im_start|>user\n{p}<|im_end|>\n<|im_start|>assistant\n{a}<|im_end|>"},
    "llama 2": lambda p, a: {"text": f"<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n{p} [/INST] {a} </s>"},
    "llama 3": lambda p, a: {
        "text": f"<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n{p}<|eot_id|>"
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{a}<|eot_id|>"
    },
    "gemma": lambda p, a: {
        "text": f"<bos><start_of_turn>user\n{p}<end_of_turn>\n<start_of_turn>model\n{a}<end_of_turn>"
    },
    "zephyr": lambda p, a: {"text": f"<|user|>\n{p}</s>\n<|assistant|>\n{a}</s>"},
    "harmony": lambda p, a: {
        "text": f"<|start|>user<|message|>{p}<|end|><|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{a}<|return|>"
    },
    "hh": lambda p, a: {"text": f"\n\nHuman: {p}\n\nAssistant: {a}"},
    "alpaca template": lambda p, a: {"text": f"Below is a task.\n\n### Instruction:\n{p}\n\n### Response:\n{a}"},
    "langsmith": lambda p, a: {
        "run_type": "llm",
        "inputs": {"messages": [[lc("HumanMessage", p)]]},
        "outputs": {"generations": [[{"text": a, "message": lc("AIMessage", a)}]]},
    },
    "langsmith chain": lambda p, a: {"run_type": "chain", "inputs": {"question": p}, "outputs": {"output": a}},
    "langfuse": lambda p, a: {"timestamp": "2026", "input": [user(p)], "output": bot(a)},
    "phoenix": lambda p, a: {
        "span_kind": "LLM",
        "attributes.llm.input_messages": [{"message": user(p)}],
        "attributes.llm.output_messages": [{"message": bot(a)}],
    },
    "openinference": lambda p, a: {
        "span_kind": "LLM",
        "attributes.llm.input_messages": json.dumps([{"message.role": "user", "message.content": p}]),
        "attributes.llm.output_messages": json.dumps([{"message.role": "assistant", "message.content": a}]),
    },
    "braintrust": lambda p, a: {"input": p, "output": a, "expected": "x", "span_attributes": {}, "is_root": True},
    "weave": lambda p, a: {"op_name": "predict", "inputs": {"question": p}, "output": {"answer": a}},
    "logged responses": lambda p, a: {
        "request": {"model": "m", "input": p},
        "response": {"model": "m", "output": [
            {"type": "reasoning", "summary": [], "id": "r"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": a}]},
        ]},
    },
    "logged chat": lambda p, a: {
        "request": {"messages": [user(p)]}, "response": {"choices": [{"message": bot(a)}], "model": "m"}
    },
    "logged messages": lambda p, a: {
        "request": {"messages": [user(p)]},
        "response": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": a}], "model": "m"},
    },
    "bedrock": lambda p, a: {
        "recordId": "r",
        "modelInput": {"messages": [{"role": "user", "content": [{"text": p}]}]},
        "modelOutput": {"output": {"message": {"role": "assistant", "content": [{"text": a}]}}},
    },
    "bedrock anthropic": lambda p, a: {
        "recordId": "r",
        "modelInput": {"messages": [user([{"type": "text", "text": p}])]},
        "modelOutput": {"role": "assistant", "content": [{"type": "text", "text": a}]},
    },
    "gemini": lambda p, a: {
        "request": {"contents": [{"role": "user", "parts": [{"text": p}]}]},
        "response": {"candidates": [
            {"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": a}]}}
        ]},
    },
    "ollama": lambda p, a: {"model": "m", "prompt": p, "response": a, "done": True},
    "ollama chat": lambda p, a: {"model": "m", "messages": [user(p)], "message": bot(a), "done": True},
    "vllm": lambda p, a: {"request_id": "1", "prompt": p, "outputs": [{"index": 0, "text": a}]},
    "sglang": lambda p, a: {"prompt": p, "text": a, "meta_info": {"id": "1"}},
    "tgi": lambda p, a: {"inputs": p, "generated_text": a},
    "arena-hard v2": lambda p, a: {
        "uid": p, "model": "m", "messages": [user(p), {"role": "assistant", "content": {"answer": a}}]
    },
    "claude export": lambda p, a: {
        "uuid": p, "name": "x", "chat_messages": [
            {"sender": "human", "text": p, "content": [{"type": "text", "text": p}]},
            {"sender": "assistant", "text": a, "content": [{"type": "text", "text": a}]},
        ],
    },
    "chatgpt export": lambda p, a: {
        "title": "x", "current_node": "b", "mapping": {
            "b": {"parent": "a", "message": {"author": {"role": "assistant"}, "content": {"parts": [a]}}},
            "a": {"parent": "r", "message": {"author": {"role": "user"}, "content": {"parts": [p]}}},
            "r": {"parent": None, "message": None},
        },
    },
    "agent": lambda p, a: {"instance_id": "i", "trajectory": [
        user(p), {**bot(""), "tool_calls": [{"id": 1}]}, {"role": "tool", "content": "x"}, bot(a)
    ]},
    "ultrafeedback": lambda p, a: {"instruction": p, "completions": [{"response": a, "model": "m"}]},
    "kto": lambda p, a: {"prompt": p, "completion": a, "label": True},
    "ragas": lambda p, a: {"user_input": p, "response": a, "retrieved_contexts": [], "reference": "x"},
    "deepeval": lambda p, a: {"input": p, "actual_output": a, "expected_output": "x"},
    "mlflow": lambda p, a: {
        "request": json.dumps({"messages": [user(p)]}), "response": json.dumps({"choices": [{"message": bot(a)}]})
    },
    "trl": lambda p, a: {"step": 1, "prompt": p, "completion": a, "advantage": 0.1},
    "verl": lambda p, a: {
        "input": f"<|im_start|>user\n{p}<|im_end|>\n<|im_start|>assistant\n", "output": a, "score": 1, "step": 3
    },
    "stringsight": lambda p, a: {"prompt": p, "model": "m", "model_response": [user(p), bot(a)], "score": {}},
    "question and answer": lambda p, a: {"question": p, "answer": a},
    "gsm": lambda p, a: {"question": p, "answer": "gold", "generated_answer": a},
    "several": lambda p, a: {"prompt": p, "responses": [a]},
}  # fmt: skip


def written(folder, records, name="a.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def texts(corpus):
    return [d.text for d in corpus]


@pytest.mark.parametrize("tool", RECORDS)
def test_the_answer_and_the_prompt_of_each_tool(tmp_path, tool):
    records = [RECORDS[tool](p, a) for p, a in PAIRS]
    corpus = read_corpus(written(tmp_path, records))
    assert texts(corpus) == ANSWERS
    assert corpus.prompts == PROMPTS
    assert corpus.origin.read_as
    assert texts(read_corpus(records)) == ANSWERS
    (tmp_path / "a.json").write_text(json.dumps(records))
    assert read_corpus(tmp_path / "a.json").prompts == PROMPTS


DOCUMENTS = {
    "helm": {"request_states": [
        {"instance": {"input": {"text": p}}, "request": {"model": "m"}, "result": {"completions": [{"text": a}]}}
        for p, a in PAIRS
    ]},
    "promptfoo": {"results": {"results": [
        {"provider": {"id": "m"}, "promptIdx": 0, "prompt": {"raw": p}, "response": {"output": a}}
        for p, a in PAIRS
    ]}},
    "a table": {"columns": ["prompt", "output"], "data": [list(pair) for pair in PAIRS]},
    "under ids": {str(i): {"question": p, "response": a} for i, (p, a) in enumerate(PAIRS)},
    "within": {"meta": {}, "data": {"items": [{"prompt": p, "completion": a} for p, a in PAIRS]}},
    "chats": {"convos": [[user(p), bot(a)] for p, a in PAIRS]},
}  # fmt: skip


@pytest.mark.parametrize("document", DOCUMENTS)
def test_records_within_a_json_document(tmp_path, document):
    (tmp_path / "a.json").write_text(json.dumps(DOCUMENTS[document]))
    corpus = read_corpus(tmp_path / "a.json")
    assert (texts(corpus), corpus.prompts) == (ANSWERS, PROMPTS)


def test_turns_by_row_belong_to_the_row_that_they_answer(tmp_path):
    rows = [
        {"message_id": "q", "parent_id": None, "role": "prompter", "text": PROMPTS[0]},
        {"message_id": "a1", "parent_id": "q", "role": "assistant", "text": ANSWERS[0]},
        {"message_id": "a2", "parent_id": "q", "role": "assistant", "text": ANSWERS[1]},
    ]
    corpus = read_corpus(written(tmp_path, rows))
    assert (texts(corpus), corpus.prompts) == (ANSWERS, [PROMPTS[0]] * 2)
    assert corpus.origin.left_out == {"they are the users' turns": 1}


def test_parquet_reads_the_columns_that_a_format_needs(tmp_path):
    rows = [{"messages": [user(p), bot(a)], "big": "x"} for p, a in PAIRS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert (texts(corpus), corpus.prompts) == (ANSWERS, PROMPTS)
    other = read_corpus(tmp_path / "a.parquet", field="messages[0].content")
    assert texts(other) == PROMPTS


# What is never read silently

MODELS = [{"model": m, "prompt": p, "output": a} for m in "ab" for p, a in PAIRS]


def test_several_models_are_refused_and_split(tmp_path):
    path = written(tmp_path, MODELS)
    with pytest.raises(ReadingError, match=r"'model' names 2 writers(.|\n)*split_by='model'"):
        read_corpus(path)
    parts = read_corpus(path, split_by="model")
    assert {name: texts(c) for name, c in parts.items()} == {"a": ANSWERS, "b": ANSWERS}
    assert {name: texts(c) for name, c in read_corpus(path, split_by="model", name="x").items()} == {
        name: texts(c) for name, c in parts.items()
    }
    assert texts(read_corpus(path, where="model=b")) == ANSWERS
    assert len(read_corpus(path, keep=["model"])) == 4
    assert read_corpus(path, where="model=b").origin.left_out == {"they do not meet where='model=b'": 2}


@pytest.mark.parametrize(
    "row",
    [
        {"text": "x", "label": "human"},
        {"text": "x", "generated": 0},
        {"text": "x", "label": "1", "src": "eli5_human"},
        {"text": "x", "model": "human"},
    ],
)
def test_people_and_machines_in_one_file_are_refused(tmp_path, row):
    other = {k: {"human": "machine", 0: 1, "1": "0"}.get(v, v) for k, v in row.items()}
    with pytest.raises(ReadingError, match="names 2 writers"):
        read_corpus(written(tmp_path, [row, other]))


def test_two_texts_of_one_file_are_named_and_paired(tmp_path):
    pairs = [{"chosen": [user(p), bot(a)], "rejected": [user(p), bot(f"Not {a}")]} for p, a in PAIRS]
    path = written(tmp_path, pairs)
    with pytest.raises(ReadingError, match=r"two texts, 'rejected' and 'chosen'(.|\n)*pairs="):
        read_corpus(path)
    assert sides_of(path) == ("rejected", "chosen")
    chosen, rejected = (read_corpus(path, field=side) for side in ("chosen", "rejected"))
    assert chosen.prompts == rejected.prompts == PROMPTS
    assert texts(chosen) == ANSWERS
    with pytest.raises(UsageError, match="one text"):
        sides_of(written(tmp_path, MODELS[:2], "b.jsonl"))


def test_empty_answers_in_every_record_are_refused(tmp_path):
    path = written(tmp_path, [{"messages": [user(p), bot("")]} for p in PROMPTS])
    with pytest.raises(ReadingError, match="all 2 documents are empty"):
        read_corpus(path)


def test_another_text_of_a_known_format_keeps_its_prompts(tmp_path):
    path = written(tmp_path, [{"input": p, "actual_output": "x", "expected_output": a} for p, a in PAIRS])
    corpus = read_corpus(path, field="expected_output")
    assert (texts(corpus), corpus.prompts) == (ANSWERS, PROMPTS)


def test_conversations_of_several_turns_are_paired_by_all_of_them():
    first = [user("Who?"), bot("I."), user("Why?")]
    rows = [
        {"messages": [*first, bot("So.")]},
        {"messages": [*first, bot("Not so.")]},
        {"messages": [user("Who?"), bot("I.")]},
    ]
    same, also, other = read_corpus(rows, turns="last").prompts
    assert same == also != other == "Who?"
    assert same.startswith("conversation ")


def test_parts_of_a_file_are_read_as_the_whole(tmp_path):
    chats = [{"messages": [user(f"{p} {i}"), bot(a)]} for i in range(3) for p, a in PAIRS]
    path = written(tmp_path, chats)
    whole, options = read_corpus(path), ReadingOptions()
    (file,), _ = list_inputs([str(path)], options)
    file, places = cut(file, 2, 1 << 20, "utf-8")
    parts = [read_part(file, place, options) for place in places]
    assert [p for part in parts for p in part.prompts] == whole.prompts
    assert [i for part in parts for i in part.ids] == whole.ids
    (threaded,), _ = list_inputs([str(written(tmp_path, [user("Who?"), bot("I.")], "b.jsonl"))], options)
    assert cut(threaded, 1, 1 << 20, "utf-8")[1] == [None], "an answer may be in another part than what it answers"
    (mixed,), _ = list_inputs([str(written(tmp_path, MODELS, "c.jsonl"))], options)
    mixed, (place,) = cut(mixed, 9, 1 << 20, "utf-8")
    with pytest.raises(ReadingError, match="names 2 writers"):
        read_part(mixed, place, options)


# The hint

DAY = "It was a long day, and so on."


def test_the_hint_names_the_field_that_looks_like_answers(tmp_path):
    rows = [
        {"id_hash": f"{i}" * 9, "kind": "x", "meta": {"title": "A title"}, "result": [{"body": f"{i} {DAY}"}]}
        for i in range(3)
    ]  # fmt: skip
    with pytest.raises(ReadingError) as caught:
        read_corpus(written(tmp_path, rows))
    assert "field='result[0].body' (“0 It was a long day, and so on.”)" in caught.value.hint
    assert texts(read_corpus(tmp_path / "a.jsonl", field="result[0].body"))[2].startswith("2 It was")


# Paths and conditions


@pytest.mark.parametrize("path", ["a[", "a[?", "[" * 3000, "length(", "a | | b"])
def test_what_is_no_path_is_an_error_in_words(tmp_path, path):
    with pytest.raises(UsageError, match="is no path"):
        check_path(path, "field")
    with pytest.raises(MomusError):
        read_corpus(written(tmp_path, [{"a": "x"}]), field=path)
    with pytest.raises(UsageError, match="is no condition"):
        Where(path)


def test_a_field_that_is_called_like_a_path_is_that_field(tmp_path):
    assert texts(read_corpus(written(tmp_path, [{"score (raw)": "x", "a[0]": "y"}]), field="score (raw)")) == ["x"]


KEYS = st.sampled_from([*"abc", "role", "type", "source", "action", "content", "text", "choices", "message", "parts"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)
EXPRESSION = st.text("abc.[]()|&*@!?'`\"<>={}0123:,-\\ ", max_size=30) | st.sampled_from(
    [
        "a[?b>`1`].c",
        "sort_by(@, &a)",
        "max(a)",
        "to_number(a)",
        "a[::0]",
        "a[0:2:-1]",
        "keys(a)",
        "join('x', a)",
        "merge(a, b)",
    ]
)


@given(EXPRESSION, st.dictionaries(st.sampled_from("abc"), JSON, max_size=3))
def test_paths_and_conditions_never_fail_but_in_words(expression, record):
    look_up(record, expression)
    with suppress(UsageError):
        assert Where(expression)(record) in (True, False)


@given(JSON)
def test_any_value_has_an_answer_or_none(value):
    answer = answer_in(value)
    assert answer is None or isinstance(answer, str | list)
    assert isinstance(prompt_in(value), str | None)
    for record in ({"messages": value}, {"prompt": value, "output": value}, {"text": value, "label": value}):
        with suppress(MomusError):
            read_corpus([record, record])


@given(st.text("Human: Assistant\n<|im_start|>user[INST]/#", max_size=60))
def test_any_text_is_a_chat_or_none(text):
    chat = from_markup(text)
    assert chat is None or all(m["role"] and isinstance(m["content"], str) for m in chat)


# The table


def test_every_format_of_the_table_is_well_formed():
    names = [known.name for known in formats()]
    assert len(set(names)) == len(names) >= 55
    for known in formats():
        assert known.answer or known.sides, known.name
        for path in known.names:
            check_path(path, known.name)
        assert not known.thread or len(known.thread) == 2
        assert not known.rows or known.other


def test_the_page_lists_the_formats_of_the_table():
    page = (Path(__file__).parents[3] / "docs" / "texts.md").read_text()
    listed = page.partition("<!-- formats -->")[2].partition("<!-- end of formats -->")[0]
    titles = dict.fromkeys(known.title for known in formats())
    assert " ".join(listed.split()) == "; ".join(titles) + "."


@pytest.mark.parametrize("entry", [{"title": "x"}, {"has": ["a"]}, {"title": "x", "has": ["a"], "anwser": "b"}])
def test_an_entry_that_is_not_well_formed_is_an_error_in_words(entry):
    with pytest.raises(PluginError, match="format 'x'"):
        Format.of("x", entry)


@pytest.mark.skipif(not EXPORTS.is_dir(), reason="the exports are in MOMUS_DATA")
def test_the_exports_are_read_right():
    truth = json.loads((EXPORTS / "truth.json").read_text())
    for path in sorted(EXPORTS.iterdir()):
        if ".A." in path.name or path.suffix == ".A":
            corpus = read_corpus(path)
            assert sorted(t.strip() for t in texts(corpus)) == sorted(t.strip() for t in truth["answers"]), path.name


def test_a_condition_of_one_text_only():
    options = ReadingOptions(where={"a": "model=a"})
    assert (options.for_text("a")["where"], options.for_text("b")["where"]) == ("model=a", None)
    assert look_up({"a": 1}, "b") is MISSING


def test_documents_without_the_column_that_splits_are_no_silent_loss():
    rows = [{"text": "Yes.", "model": "a"}, {"text": "No.", "model": "b"}, {"text": "So."}]
    with pytest.raises(UsageError, match=r"1 of 3 documents of 'text' lack the field 'model'"):
        read_corpus(rows, split_by="model")
    assert [*read_corpus(rows, split_by="model", where="model")] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "ids", "texts", "prompts"),
    [
        ({f"q{i}": f"A {i}." for i in range(3)}, ["q0", "q1", "q2"], ["A 0.", "A 1.", "A 2."], ["q0", "q1", "q2"]),
        (
            {f"1f{i}-ab0{i}": [f"A {i}.", f"B {i}."] for i in range(3)},
            [f"1f{i}-ab0{i}#{k}" for i in range(3) for k in (1, 2)],
            [f"{x} {i}." for i in range(3) for x in "AB"],
            [f"1f{i}-ab0{i}" for i in range(3) for _ in "AB"],
        ),
        ({"prompts": PROMPTS, "responses": ANSWERS}, ["a:1", "a:2"], ANSWERS, PROMPTS),
    ],
    ids=["texts by id", "answers by id", "plural columns"],
)
def test_objects_of_a_whole_text(tmp_path, content, ids, texts, prompts):
    (tmp_path / "a.json").write_text(json.dumps(content))
    corpus = read_corpus(tmp_path / "a.json")
    assert [list(corpus.ids), [d.text for d in corpus], list(corpus.prompts)] == [ids, texts, prompts]


def test_an_object_of_one_document_is_no_table_of_ids(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"h1": "A title", "text": "It is so.", "h2": "Another"}))
    assert [d.text for d in read_corpus(tmp_path / "a.json")] == ["It is so."]
