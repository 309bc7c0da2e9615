"""Labels from files: joined to documents by id, in every format, and refused where they belong to none."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import momus
from momus import Corpus, ReadingOptions
from momus.checks.labellers import labelling
from momus.engine.request import labels_of, reading_labels
from momus.errors import ReadingError, UsageError
from momus.reading import as_corpus
from momus.reading.labels import check_labelled, label_file, labelled
from momus.report.words.trust import trust_items

ROWS = [{"id": "a", "tone": "warm", "moves": ["ask", "ask"]}, {"id": "b", "tone": "curt", "moves": ["ask"]}]
TEXT = Corpus.from_texts(["one word", "two words", "three"], ids=["a", "b", "c"], name="real")


def written(folder, rows, name="labels.jsonl"):
    path = folder / name
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return str(path)


def test_labels_are_joined_by_id(tmp_path):
    path = written(tmp_path, reversed(ROWS))
    corpus = labelled(TEXT, [f"tone={path}", f"moves={path}"])
    assert corpus.field("tone") == ["warm", "curt", None]
    assert corpus.field("moves") == ['["ask","ask"]', '["ask"]', None]
    assert labelled(TEXT, []) is TEXT


@pytest.mark.parametrize("kind", ["json", "csv", "tsv", "parquet"])
def test_every_format_of_records_holds_labels(tmp_path, kind):
    path = tmp_path / f"labels.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table({"id": ["a", "b"], "tone": ["warm", "curt"]}), path)
    elif kind == "json":
        path.write_text(json.dumps(ROWS))
    else:
        path.write_text("id,tone\na,warm\nb,curt\n".replace(",", "\t" if kind == "tsv" else ","))
    assert labelled(TEXT, [f"tone={path}"]).field("tone") == ["warm", "curt", None]


def test_the_only_field_of_a_file_needs_no_name(tmp_path):
    path = written(tmp_path, [{"id": 1, "judge": True}])
    numbered = Corpus.from_texts(["x"], ids=["1"])
    assert labelled(numbered, [f"polite={path}"]).field("polite") == ["true"]
    several = written(tmp_path, ROWS, "several.jsonl")
    with pytest.raises(UsageError, match="has no field 'polite'; its fields are tone, moves"):
        labelled(TEXT, [f"polite={several}"])


def test_a_file_is_read_again_once_it_changes(tmp_path):
    path = written(tmp_path, ROWS)
    assert label_file(path) is label_file(path)
    written(tmp_path, [*ROWS, {"id": "c", "tone": "flat"}])
    assert labelled(TEXT, [f"tone={path}"]).field("tone") == ["warm", "curt", "flat"]


def test_a_plan_tells_changed_labels_from_those_before(tmp_path):
    options = [
        reading_labels(ReadingOptions(), labels_of({"tone": written(tmp_path, rows)}))
        for rows in (ROWS, ROWS, ROWS[:1])
    ]
    assert options[0] == options[1] != options[2]


def test_files_and_texts_in_memory_get_their_labels(tmp_path):
    reading = ReadingOptions(labels=(f"tone={written(tmp_path, ROWS)}",))
    records = written(tmp_path, [{"id": "b", "text": "Two words."}], "real.jsonl")
    for source in (records, [{"id": "b", "text": "Two words."}], Corpus.from_texts(["x"], ids=["b"])):
        assert as_corpus(source, "real", reading).field("tone") == ["curt"]


def test_labels_of_one_id_are_told_apart_by_their_text(tmp_path):
    other = Corpus.from_texts(["another", "text"], ids=["a", "z"], name="mine")
    named = [{"id": "a", "corpus": "real", "tone": "warm"}, {"id": "a", "corpus": "mine", "tone": "curt"}]
    files = [f"tone={written(tmp_path, named)}"]
    assert check_labelled([TEXT, other], files) == []
    assert labelled(TEXT, files).field("tone")[0] == "warm"
    assert labelled(other, files).field("tone")[0] == "curt"
    bare = [f"tone={written(tmp_path, ROWS, 'bare.jsonl')}"]
    with pytest.raises(UsageError, match="the label of 'a' may be of a document of 'real' or of 'mine'"):
        check_labelled([TEXT, other], bare)
    # the same document twice is no doubt
    assert check_labelled([TEXT, TEXT.take([0, 1], "fit")], bare) == []


def test_ids_that_match_no_document_are_an_error_with_both_sides(tmp_path):
    other = Corpus.from_texts(["another"], ids=["z"], name="mine")
    with pytest.raises(UsageError) as refused:
        check_labelled([TEXT, other], [f"tone={written(tmp_path, ROWS)}"])
    for words in ("none of 1 document of 'mine'", "2 of 2 labels", "A document is 'z'", "a label is for 'a'"):
        assert words in str(refused.value)


def test_labels_without_a_document_are_counted(tmp_path):
    path = written(tmp_path, [*ROWS, {"id": "nobody", "tone": "warm"}])
    (note,) = check_labelled([TEXT], [f"tone={path}"])
    assert note.startswith("1 of 3 labels in ")


BROKEN = {
    "no id": ([{"tone": "warm"}], "line 1: the record has no id of a document"),
    "an id that is none": ([{"id": ["a"], "tone": "warm"}], "id is not a string or a number"),
    "no object": (["[1, 2]", '"warm"'], "the record is no object"),
    "twice": ([ROWS[0], ROWS[0]], "line 2: a second record has the id 'a'"),
    "no JSON": (["{"], "not valid JSON"),
    "nothing": (["\n"], "the file holds no record"),
    "too deep": (["[" * 100_000 + "]" * 100_000], "nested too deeply"),
}


@pytest.mark.parametrize(("rows", "words"), BROKEN.values(), ids=BROKEN)
def test_broken_files_are_refused_in_words(tmp_path, rows, words):
    with pytest.raises(ReadingError, match=words):
        label_file(written(tmp_path, rows))


def test_a_file_that_is_missing_or_no_table_is_refused(tmp_path):
    with pytest.raises(ReadingError, match="no such file"):
        label_file(tmp_path / "labels.jsonl")
    with pytest.raises(ReadingError, match="cannot be"):
        label_file(written(tmp_path, ["warm"], "labels.txt"))


def test_labels_are_named_in_several_ways(tmp_path):
    path = written(tmp_path, ROWS)
    assert [label.name for label in labels_of(path)] == ["tone", "moves"]
    assert labels_of({"tone:category": path, "topic": None})[0].kind == "category"
    for wrong in (["tone", "tone:set"], [""], {"tone": 3}, [3]):
        with pytest.raises(UsageError):
            labels_of(wrong)


def records(name, n, tone, **more):
    rows = [{"id": f"{name}{i}", "text": f"Text {i} of {name}, in a few words.", "tone": tone(i)} for i in range(n)]
    return [{**row, **{key: value(i) for key, value in more.items()}} for i, row in enumerate(rows)]


REAL = records("h", 80, lambda i: ["warm", "curt"][i % 2], score=lambda i: i % 7)
FAST = {"permutations": 199, "resamples": 99, "critics": ["length"]}


def test_a_comparison_finds_labels_that_differ():
    mine = records("m", 40, lambda i: "warm", score=lambda i: i % 7)
    found = momus.compare(REAL, {"mine": mine}, labels=["tone", "score:number"], **FAST)
    assert [r.name for r in found.results] == ["label-tone", "label-score", "length"]
    verdict = next(v for v in found.verdicts if v.critic == "label-tone" and v.leads)
    assert verdict.p_adjusted < 0.05
    assert "tone" in str(found)


@pytest.mark.parametrize(
    ("labels", "kind"), [(None, "a number"), (["score"], "a number"), (["score:category"], "one label")]
)
def test_labels_are_chosen_as_critics_are(labels, kind):
    mine = records("m", 40, lambda i: "warm", score=lambda i: i % 7)
    found = momus.compare(REAL, {"mine": mine}, labels=labels, **{**FAST, "critics": ["label:score", "length"]})
    assert [r.name for r in found.results] == ["label-score", "length"]
    assert any(f"is read as {kind}" in str(note) for note in found.results[0].notes)


def test_a_label_that_no_record_has_is_named_as_it_was_chosen():
    with pytest.raises(momus.MomusError, match="'mood'"):
        momus.compare(REAL, {"mine": REAL[:40]}, **{**FAST, "critics": ["label:mood"]})


def test_a_comparison_reads_a_file_of_labels(tmp_path):
    bare = [{"id": r["id"], "text": r["text"]} for r in (*REAL, *records("m", 40, lambda i: ""))]
    path = written(tmp_path, [{"id": r["id"], "tone": "warm" if r["id"][0] == "m" else "curt"} for r in bare])
    texts = bare[:80], {"mine": bare[80:]}
    for labels, critics in ((path, ["length"]), ({"tone": path}, ["label:tone", "length"])):
        found = momus.compare(*texts, labels=labels, **{**FAST, "critics": critics})
        assert {r.name for r in found.results} == {"length", "label-tone"}


def test_labels_that_cannot_be_fitted_end_a_run_of_all_critics_at_once(monkeypatch):
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["length"])
    mixed = [{**row, "tone": 3.5 if i % 5 == 0 else "warm"} for i, row in enumerate(REAL)]
    with pytest.raises(momus.MomusError, match="its label 'tone' is"):
        momus.compare(mixed, {"mine": mixed[:30]}, labels=["tone"], **{**FAST, "critics": None})


def test_labels_compare_two_models():
    new = records("n", 40, lambda i: "warm")
    found = momus.compare(against={"old": REAL}, generated={"new": new}, labels=["tone"], **FAST)
    assert any(v.critic == "label-tone" and v.p_adjusted is not None and v.p_adjusted < 0.05 for v in found.verdicts)


def test_texts_that_are_scored_in_parts_get_their_labels(tmp_path, monkeypatch):
    monkeypatch.setattr("momus.engine.large.LARGE", 0)
    bare = [{"id": str(i), "text": row["text"]} for i, row in enumerate(REAL)]
    paths = {name: written(tmp_path, bare, f"{name}.jsonl") for name in ("real", "fit", "mine")}
    labels = [
        {"id": str(i), "corpus": name, "tone": ["warm", "curt"][i % 2] if name != "mine" else "warm"}
        for name in paths
        for i in range(len(bare))
    ]
    found = momus.compare(
        paths["real"], {"mine": paths["mine"]}, fit=paths["fit"], labels={"tone": written(tmp_path, labels)}, **FAST
    )
    shares = {(v.real_value, v.generated_value) for v in found.verdicts if v.statistic == "warm_share"}
    assert shares == {(0.5, 1.0)}


def called(*names):
    return [{"type": "tool_use", "id": "1", "name": name, "input": {}} for name in names]


CHATS = {
    "OpenAI": (
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [{"function": {"name": "search"}}] * 2},
            {"role": "tool", "content": "Ann."},
            {"role": "assistant", "content": "Ann."},
        ],
        ["system", "user", "assistant", "tool:search", "tool:search", "assistant"],
    ),
    "Anthropic": (
        [
            {"role": "user", "content": [{"type": "text", "text": "Who?"}]},
            {"role": "assistant", "content": called("search", "read")},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "Ann."}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Ann."}]},
        ],
        ["user", "tool:search", "tool:read", "assistant"],
    ),
    "ShareGPT": ([{"from": "human", "value": "Who?"}, {"from": "gpt", "value": "Ann."}], ["user", "assistant"]),
}


@pytest.mark.parametrize(("messages", "steps"), CHATS.values(), ids=CHATS)
def test_chats_have_steps(messages, steps):
    corpus = as_corpus([{"id": "a", "messages": messages}], reading=ReadingOptions(keep=("steps",)))
    assert json.loads(corpus.field("steps")[0]) == steps
    mine = as_corpus([{"id": "a", "messages": messages, "steps": ["ask"]}], reading=ReadingOptions(keep=("steps",)))
    assert mine.field("steps") == ['["ask"]']


def agent(name, calls):
    """Chats in which an agent answers with or without a call of its tool."""
    question, call, result, answer = CHATS["OpenAI"][0][1:]
    return [
        {
            "id": f"{name}{i}",
            "messages": [
                {**question, "content": f"Who is {name} {i}?"},
                *([call, result] if calls(i) else []),
                {**answer, "content": f"{name} {i}."},
            ],
        }
        for i in range(60)
    ]


def test_agents_that_call_no_tool_differ_in_steps():
    human, other, bot = agent("h", lambda i: i % 9), agent("f", lambda i: i % 9), agent("b", lambda i: i % 2)
    found = momus.compare(human, {"bot": bot}, fit=other, labels=["steps"], **FAST)
    leading = next(v for v in found.verdicts if v.critic == "label-steps" and v.leads)
    assert leading.p_adjusted < 0.05
    assert {v.real_value > v.generated_value for v in found.verdicts if v.statistic == "tool_search_documents"} == {
        True
    }


def test_a_saved_critic_and_a_calibration_read_files_of_labels(tmp_path, momus, working_directory):
    for name, part in (("fit", REAL[:40]), ("new", REAL[40:])):
        written(tmp_path, [{"id": r["id"], "text": r["text"]} for r in part], f"{name}.jsonl")
    rows = [{"id": r["id"], "corpus": "fit" if i < 40 else "new", "tone": r["tone"]} for i, r in enumerate(REAL)]
    labels = f"tone={written(tmp_path, rows)}"
    fit, new = tmp_path / "fit.jsonl", tmp_path / "new.jsonl"
    code, told = momus("fit", "label-tone", "-f", fit, "--labels", labels, "-o", "critic")
    assert code == 0, told
    for more in ((), ("-o", "rows")):
        code, told = momus("score", "critic", new, "--labels", labels, *more)
        assert code == 0, told
        assert "label-tone: Latent NLL 0.7" in told
    bare = f"tone={written(tmp_path, [{'id': r['id'], 'tone': r['tone']} for r in REAL], 'bare.jsonl')}"
    call = ("calibrate", "-f", fit, "-r", new, "-c", "label-tone", "--defects", "none", "--splits", "20", "-o", "rates")
    code, told = momus(*call, "--labels", bare)
    assert code == 0, told
    assert "label-tone" in told


def two_texts(n):
    texts = {
        name: Corpus.from_texts([f"Text {i} of {name}." for i in range(n)], ids=[str(i) for i in range(n)], name=name)
        for name in ("real", "bot")
    }
    return texts["real"], {"bot": texts["bot"]}, [(name, str(i)) for i in range(n) for name in texts]


def test_two_labellers_agree_as_far_as_their_files_say(tmp_path):
    rng = np.random.default_rng(0)
    real, bot, keys = two_texts(100)
    warm = {key: bool(rng.random() < 0.5) for key in keys}
    other = {key: value == (rng.random() < 0.9) for key, value in warm.items()}
    judge = [{"id": i, "corpus": c, "tone": "yes" if w else "no", "labeller": "judge"} for (c, i), w in warm.items()]
    people = [{"id": i, "corpus": c, "tone": w, "labeller": "ann"} for (c, i), w in other.items()]
    first, second = written(tmp_path, judge, "judge.jsonl"), written(tmp_path, people[:150], "people.jsonl")
    run = momus.compare(real, bot, labels={"tone": first, "tone.second": second}, **FAST)
    assert [r.name for r in run.results] == ["label-tone", "length"]
    (about,) = run.signature["labels"]
    same = np.mean([warm[key] == other[key] for key in keys[:150]])
    assert (about["labeller"], about["second"], about["agreement"]["units"]) == ("judge", "ann", 150)
    assert about["agreement"]["alpha"] == pytest.approx(2 * same - 1, abs=0.02)  # both say yes of half of the texts
    (item,) = [item for item in trust_items(run) if item.label == "label tone"]
    assert item.text.startswith("as labelled by judge; α 0.")
    assert item.text.endswith(" with ann, 150 documents")
    # a column, and labels of documents of any text
    both = [{"id": str(i), "tone": 3.5 + i, "tone.second": 3.5 + i + i % 2} for i in range(100)]
    path = written(tmp_path, both, "both.jsonl")
    about = labelling("tone", path, second=path)
    assert (about["second"], about["agreement"]["level"]) == ("tone.second", "interval")
    assert labelling("tone", path, second=path, kind="category")["agreement"]["alpha"] < 0.6


def test_labellers_that_agree_little_are_doubted(tmp_path):
    rng = np.random.default_rng(1)
    real, bot, keys = two_texts(60)
    seconds = [{"a": rng.random(), "b": 0.5} for _ in keys]
    rows = [
        {"id": id, "corpus": name, "tone": "a" if rng.random() < 0.5 else "b", "tone.second": second}
        for (name, id), second in zip(keys, seconds, strict=True)
    ]
    run = momus.compare(real, bot, labels=written(tmp_path, rows, "x.jsonl"), **FAST)
    (item,) = [item for item in trust_items(run) if item.label == "label tone"]
    assert not item.ok


def test_true_labels_may_be_a_column_beside_the_labels(tmp_path):
    rows = [{"id": "a", "tone": "warm", "tone.gold": "curt"}, {"id": "b", "tone": "warm"}]
    path = written(tmp_path, rows)
    held = labelled(TEXT, [f"tone={path}", f"tone.gold={path}"]).field("tone.gold")
    assert [json.loads(value)["label"] if value else None for value in held] == ["curt", None, None]


def scores(label, score):
    return [{"label": label, "score": score}, {"label": "other", "score": 1 - score}]


def studio(i, tone):
    result = [{"from_name": "tone", "value": {"choices": [tone]}}]
    return {"id": i + 1000, "data": {"id": f"d{i}"}, "annotations": [{"completed_by": 1, "result": result}]}


FORMS = {
    "Label Studio": (studio, "tone", '["warm"]'),
    "doccano": (lambda i, t: {"id": i + 1000, "meta": {"id": f"d{i}"}, "label": [t]}, "label", '["warm"]'),
    "Prodigy": (
        lambda i, t: {
            "_task_hash": i,
            "meta": {"id": f"d{i}"},
            "label": "WARM",
            "answer": "accept" if t[0] == "w" else "reject",
        },
        "WARM",
        "true",
    ),
    "Argilla": (lambda i, t: {"id": f"d{i}", "responses": {"tone": [{"value": t}]}}, "tone", '{"warm":1.0}'),
    "a classifier": (lambda i, t: {"id": f"d{i}", "out": [{"label": t, "score": 0.9}]}, "out", "warm"),
    "all scores": (lambda i, t: {"id": f"d{i}", "out": scores(t, 0.75)}, "out", '{"other":0.25,"warm":0.75}'),
    "LangSmith": (
        lambda i, t: {"id": f"f{i}", "run_id": f"d{i}", "key": "tone", "score": None, "value": t},
        "tone",
        "warm",
    ),
    "moderation": (
        lambda i, t: {
            "custom_id": f"d{i}",
            "response": {"body": {"results": [{"categories": {"warm": t[0] == "w", "curt": False}}]}},
        },
        "categories",
        '{"curt":false,"warm":true}',
    ),
    "a judge's JSON": (
        lambda i, t: {"id": f"d{i}", "output": f'```json\n{{"why": "{i}?", "tone": "{t}"}}\n```'},
        "tone",
        "warm",
    ),
    "nested": (lambda i, t: {"id": f"d{i}", "metadata": {"tone": t, "created_at": i}}, "tone", "warm"),
    "spans": (
        lambda i, t: {"id": f"d{i}", "spans": [{"start": 4, "label": t}, {"start": 0, "label": "a"}]},
        "spans",
        '["a","warm"]',
    ),
    "decimal commas": (lambda i, t: {"id": f"d{i}", "note": "3,5" if t[0] == "w" else "4"}, "note", "3.5"),
    "percent": (lambda i, t: {"id": f"d{i}", "sure": "35 %" if t[0] == "w" else "7%"}, "sure", "0.35"),
    "several in a cell": (
        lambda i, t: {"id": f"d{i}", "tags": f"{t}|long" if i % 3 else "long"},
        "tags",
        '["warm","long"]',
    ),
    "spelt otherwise": (lambda i, t: {"id": f"d{i}", "tone": t.upper() if i == 2 else f"{t} "}, "tone", "warm"),
}


@pytest.mark.parametrize(("form", "name", "said"), FORMS.values(), ids=FORMS)
def test_labels_are_read_as_tools_write_them(tmp_path, form, name, said):
    file = label_file(written(tmp_path, [form(i, "curt" if i % 2 else "warm") for i in range(30)]))
    assert file.fields == (name,)
    assert sorted(file.rows, key=lambda key: int(key[1][1:])) == [("", f"d{i}") for i in range(30)]
    assert file.rows["", "d4"][name] == said


def test_a_record_for_each_sentence_is_a_sequence_and_two_people_are_two_files(tmp_path):
    rows = [{"id": f"d{i}", "sentence": k, "act": ["claim", "hedge"][k % 2]} for i in range(3) for k in range(3)]
    assert label_file(written(tmp_path, rows)).rows["", "d1"] == {"act": '["claim","hedge","claim"]'}
    two = [{"id": "a", "annotator": name, "tone": "warm"} for name in ("Ann", "Ben")]
    with pytest.raises(ReadingError, match="Ann and Ben labelled it: write a file for each"):
        label_file(written(tmp_path, two, "two.jsonl"))


def test_cells_that_hold_nothing_are_no_labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("id;note\na;3,5\nb;\nc;NA\nd;4\n")
    assert labelled(Corpus.from_texts(list("wxyz"), ids=list("abcd")), [f"note={path}"]).field("note") == [
        "3.5",
        None,
        None,
        "4.0",
    ]


def test_a_conversation_without_an_answer_has_steps_and_a_score():
    human, bot = agent("h", lambda i: i % 9), agent("b", lambda i: i % 9)
    silent = [{**chat, "messages": chat["messages"][:-1]} if i % 3 == 1 else chat for i, chat in enumerate(bot)]
    found = momus.compare(human, {"bot": silent}, fit=agent("f", lambda i: i % 9), labels=["steps"], **FAST)
    (end,) = [v for v in found.verdicts if v.statistic == "other_end"]
    assert (end.real_value, round(end.generated_value, 2)) == (0, 0.33)
