"""What would be read of a file, texts of one file by a column, and the two texts of a file of pairs."""

import json
from dataclasses import replace

import pytest

import momus
from momus.cli.options import Reading
from momus.cli.read import read
from momus.cli.sources import NamedTexts
from momus.errors import UsageError

ROWS = [
    {"model": model, "prompt": f"Question {i}?", "output": f"Answer {i} of {model}."}
    for model in ("a", "b", "human")
    for i in range(3)
]


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def texts(generated, **options):
    reading = options.pop("reading", Reading())
    return NamedTexts(generated, **options).resolved(reading)


def test_what_would_be_read_is_shown(answers, capsys):
    read(path=answers, where=["model=b"])
    shown = capsys.readouterr().out
    assert "read as: prompts and answers\n3 documents, 3 prompts" in shown
    assert "6 records took no part: they do not meet" in shown
    assert "answers:4: Question 0?\n  Answer 0 of b." in shown
    read(path=answers, where=["model=b"], as_json=True)
    assert json.loads(capsys.readouterr().out)["documents"] == 3


def test_people_in_a_column_of_models_are_the_real_text(answers):
    split = texts([answers], split_by="model")
    assert list(split.generated) == ["a", "b"]
    assert [d.text for d in split.real] == [f"Answer {i} of human." for i in range(3)]


@pytest.mark.parametrize("human", [0, 1])
def test_a_value_that_is_no_word_is_named_as_the_real_text(tmp_path, human):
    """Of MAGE, 1 is text of people, and of DAIGT, 0."""
    path = tmp_path / "labelled.jsonl"
    path.write_text(
        "".join(json.dumps({"text": f"Text {k} {i}.", "label": k}) + "\n" for i in range(3) for k in (0, 1))
    )
    with pytest.raises(UsageError, match=r"values of label are 0, 1: none is called human(.|\n)*real='0'"):
        texts([str(path)], split_by="label")
    split = texts([str(path)], split_by="label", real=str(human))
    assert [d.text for d in split.real] == [f"Text {human} {i}." for i in range(3)]
    assert list(split.generated) == [str(1 - human)]


@pytest.mark.parametrize("name", ["a", "model=a"])
def test_one_value_of_a_column_is_the_reference(answers, name):
    split = texts([answers], split_by="model", against=name)
    assert list(split.against) == ["a"]
    assert list(split.generated) == ["b", "human"]
    with pytest.raises(UsageError, match=r"no text is called 'c'(.|\n)*values of model are a, b, human"):
        texts([answers], split_by="model", against="c")


def test_a_file_of_pairs_is_a_reference_and_a_text(tmp_path, answers):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"prompt": "Who?", "chosen": "I.", "rejected": "Nobody."}\n' * 2)
    pairs = texts([], pairs=str(path))
    assert (pairs.against, pairs.generated) == ({"rejected": str(path)}, {"chosen": str(path)})
    assert pairs.reading.for_text("chosen")["field"] == "chosen"
    path.write_text('{"question": "Who?", "human_answers": ["I."], "chatgpt_answers": ["Nobody."]}\n')
    people = texts([], pairs=str(path))
    assert (people.real, people.reading.for_text("real")["field"]) == (str(path), "human")
    with pytest.raises(UsageError, match="one text"):
        texts([], pairs=answers, reading=Reading(where=["model=a"]))
    with pytest.raises(UsageError, match=r"pairs"):
        texts([answers], pairs=str(path))


def test_a_path_alone_is_named_by_its_file(answers):
    assert texts([answers]).generated == {"answers": answers}
    assert texts([f"new={answers}"], against=answers).against == {"answers": answers}


def test_the_column_names_the_texts(answers):
    with pytest.raises(UsageError, match=r"'new' names no text(.|\n)*give .*answers.jsonl alone"):
        texts([f"new={answers}"], split_by="model")


def test_of_models_alone_one_is_to_be_named(tmp_path):
    path = tmp_path / "models.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:6]))
    with pytest.raises(
        UsageError, match=r"values of model are a, b: none is called human(.|\n)*real='a'.*\n?.*against='a'"
    ):
        texts([str(path)], split_by="model")


def test_each_text_of_two_versions_has_its_field(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [{"prompt": f"{i}?", "chosen": "yes " * (9 + i % 3), "rejected": "no " * (2 + i % 3)} for i in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = texts([], pairs=str(path))
    drawn = {"critics": ["length"], "permutations": 99, "resamples": 99}
    found = momus.compare(generated=given.generated, against=given.against, reading=given.reading, **drawn)
    told = next(v for v in found.verdicts if v.statistic == "mean_length")
    assert (told.real_value, told.generated_value, told.n_real) == (pytest.approx(2.975), pytest.approx(9.975), 40)
    wrong = replace(given.reading, field={"old": "chosen"})
    with pytest.raises(UsageError, match=r"'old', which is not a text(.|\n)*the texts are rejected, chosen"):
        momus.compare(generated=given.generated, against=given.against, reading=wrong, **drawn)
