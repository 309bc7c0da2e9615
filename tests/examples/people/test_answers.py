"""Answers are read back as they were given: files of pages; damaged ones are refused."""

import json
from dataclasses import replace

import pytest
from simulated_raters import Truth, simulated_answers

from momus import read_corpus
from momus.errors import MomusError, ReadingError, StoreError, UsageError
from momus_people.agreement import same_answers
from momus_people.answers import read_answers
from momus_people.result import analysed
from momus_people.study import read_study, write_study
from momus_people.view import finding_sentences

from .studies import study

TRUTH = Truth({"real": 1.5, "model-a": 0.0, "model-b": -1.5}, 0.3, 0.1, 0.3)


def written(folder, files):
    paths = []
    for k, content in enumerate(files):
        paths.append(folder / f"a{k}.json")
        paths[-1].write_text(json.dumps(content), encoding="utf-8")
    return paths


@pytest.mark.parametrize("kind", ["rating", "pair"])
def test_a_study_on_disk_and_its_answers_come_back(tmp_path, kind):
    made = study(80, kind=kind, ties=kind == "pair")
    write_study(made, tmp_path / "study")
    with pytest.raises(ReadingError, match=r"folder of Momus \(study\)"):
        read_corpus(tmp_path / "study")
    again = read_study(tmp_path / "study")
    files = simulated_answers(made, TRUTH)
    read = read_answers(again, written(tmp_path, files))
    for rater, content in enumerate(files):
        mine = read.table[read.table.rater == rater]
        assert mine.trial.tolist() == [a["trial"] for a in content["answers"]]
        assert mine.value.tolist() == [a["answer"] for a in content["answers"]]
    assert set(read.missing.values()) == set(read.invalid.values()) == {0}
    result = analysed(again, read)
    assert [c.first for c in result.contrasts] == ["model-a", "model-b"]
    assert all(c.high < 0.5 for c in result.contrasts if c.first == "model-b")
    assert not any(r.flags for r in result.raters)
    assert any("human text is" in s for s in finding_sentences(result))
    json.dumps(result.to_json(), allow_nan=False)


def test_several_files_of_one_rater_are_put_together(tmp_path):
    made = study()
    files = simulated_answers(made, TRUTH)[:1]
    first, second = (json.loads(json.dumps(files[0])) for _ in range(2))
    first["answers"] = first["answers"][:10]
    second["answers"] = second["answers"][8:]
    second["answers"][0]["answer"] = (second["answers"][0]["answer"] + 1) % 5
    second["answers"][0]["at"] = "9"
    second["answers"][1]["answer"] = 17
    read = read_answers(made, written(tmp_path, [first, second]))
    assert read.notes == [
        "rater-1 has 2 files; they were put together, and of 1 answers that differ the later ones count"
    ]
    assert (read.missing[0], read.invalid[0]) == (0, 1)
    values = dict(zip(read.table.trial, read.table.value, strict=True))
    assert values[second["answers"][0]["trial"]] == second["answers"][0]["answer"]


def test_wrong_files_are_refused_with_a_reason(tmp_path):
    made = study()
    (good,) = simulated_answers(made, TRUTH)[:1]
    for content, message in (
        ({**good, "study": "00000000"}, "of study '00000000'"),
        ({**good, "rater": "rater-9"}, "no rater of this study"),
        ({"answers": []}, "format is missing"),
        ([good], "expected a table"),
        ("text", "expected a table"),
        ([], "expected a table"),
    ):
        with pytest.raises(ReadingError, match=message):
            read_answers(made, written(tmp_path, [content]))
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    for name in ("deep.json", "bad.json", "missing.json"):
        with pytest.raises(ReadingError, match=name):
            read_answers(made, [tmp_path / name])
    with pytest.raises(UsageError, match="there are no answers"):
        analysed(made, read_answers(made, written(tmp_path, [{**good, "answers": []}])))


def test_a_changed_key_is_refused(tmp_path):
    made = study()
    write_study(made, tmp_path / "study")
    key = tmp_path / "study" / "key.json"
    key.write_text(key.read_text(encoding="utf-8").replace("model-a", "model-b", 1), encoding="utf-8")
    with pytest.raises(StoreError, match="changed or damaged"):
        read_study(tmp_path / "study")
    key.unlink()
    with pytest.raises(MomusError, match="not found"):
        read_study(tmp_path / "study")
    with pytest.raises(StoreError, match="not an empty folder"):
        write_study(made, tmp_path / "study")


def test_a_lazy_rater_is_found(tmp_path):
    made = study(80, items=48, checks=2)
    files = simulated_answers(made, replace(TRUTH, lazy={2}))
    read = read_answers(made, written(tmp_path, files))
    result = analysed(made, read, max_failed=1.0)
    assert {r.name: r.flags for r in result.raters if r.flags}.keys() == {"rater-3"}
    assert "agrees no better than chance" in result.raters[2].flags
    excluded = analysed(made, read, exclude=["rater-3"])
    assert [r.name for r in excluded.raters if r.left_out] == ["rater-3"]
    assert excluded.answers == (read.items(range(4)).rater != 2).sum()
    assert excluded.agreement.alpha > result.agreement.alpha
    with pytest.raises(UsageError, match="no rater is called 'nobody'"):
        analysed(made, read, exclude=["nobody"])


def test_a_copied_form_is_found(tmp_path):
    """Two raters gave the same scores to all items, as in one column of a published data set."""
    made = study(80, items=48, judgements=4, checks=0, repeats=0)
    files = simulated_answers(made, TRUTH)
    item = {t.code: t.unit for t in made.design.trials}
    copied = {item[a["trial"]]: a["answer"] for a in files[1]["answers"]}
    for a in files[2]["answers"]:
        a["answer"] = copied[item[a["trial"]]]
    result = analysed(made, read_answers(made, written(tmp_path, files)))
    flagged = [r.name for r in result.raters if "same answers as another rater" in r.flags]
    assert flagged == ["rater-2", "rater-3"]


def test_unanimous_answers_are_no_copies():
    everyone = dict.fromkeys(range(60), "left")
    assert same_answers({0: everyone, 1: everyone, 2: {**everyone, 5: "right"}}) == set()
    nine_of_ten = {u: "left" if u % 10 else "right" for u in range(60)}
    assert same_answers({0: nine_of_ten, 1: dict(nine_of_ten)}) == set()


def test_choices_do_not_depend_on_the_side(tmp_path):
    made = study(80, kind="pair")
    read = read_answers(made, written(tmp_path, simulated_answers(made, TRUTH)))
    shown = {t.code: t.passages for t in made.design.trials}
    for a in read.items(range(4)).itertuples():
        preferred = shown[a.trial][0 if a.value == "left" else 1]
        assert made.design.items[a.unit][0 if a.category == 2 else 1] == preferred
