"""``momus study``: from a run to a study on disk, and from answers to what they say."""

import json

import pytest
from simulated_raters import Truth, simulated_answers

from momus import compare
from momus.files import write_json
from momus_people import read_study

from .studies import corpora

pytestmark = pytest.mark.usefixtures("working_directory")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with two critics, and the files of its texts."""
    folder = tmp_path_factory.mktemp("run")
    found = corpora(40)
    paths = {}
    for name, corpus in found.items():
        paths[name] = folder / f"{name}.jsonl"
        lines = [json.dumps({"id": d.id, "text": d.text, "prompt_id": d.prompt}) for d in corpus]
        paths[name].write_text("\n".join(lines), encoding="utf-8")
    generated = {n: str(p) for n, p in paths.items() if n != "real"}
    settings = {"critics": ["length", "symbol-share"], "permutations": 99, "resamples": 49}
    compare(str(paths["real"]), generated, fit=str(paths["real"]), out=folder / "run", **settings)
    return folder / "run", paths


def arguments(run, *more):
    folder, paths = run
    texts = [a for n, p in paths.items() if n != "real" for a in ("-g", f"{n}={p}")]
    return ["study", "new", folder, "-r", paths["real"], *texts, "--items", 24, "--raters", 3, "--words", 40, *more]


def test_from_a_run_to_a_result(momus, run, working_directory):
    code, said = momus(*arguments(run, "--seed", 4))
    assert code == 0, said
    assert "24 passages, 3 raters, 3 judgements of each" in said
    assert "Seed 4" in said
    assert "Keep study/key.json back" in said
    assert {p.name for p in (working_directory / "study" / "raters").iterdir()} == {
        f"rater-{k}.html" for k in (1, 2, 3)
    }
    study = read_study(working_directory / "study")
    assert set(study.values) == {"length", "symbol-share"}
    assert all(v is not None for v in study.values["length"])
    for answers in simulated_answers(study, Truth({"real": 2.0, "model-a": 0.0, "model-b": -2.0})):
        write_json(working_directory / f"{answers['rater']}.json", answers)
    files = sorted(working_directory.glob("rater-*.json"))
    code, said = momus("study", "read", "study", *files, "--out", "result.json")
    assert code == 0, said
    assert "A passage of human text is rated higher than one of model-b" in said
    assert "72 of 72 answers" in said
    result = json.loads((working_directory / "result.json").read_text(encoding="utf-8"))
    code, said = momus("study", "read", "study", *files, "--json")
    assert json.loads(said) == result
    code, said = momus(*arguments(run))
    assert code == 5
    assert "study is not an empty folder" in said


def test_other_texts_than_those_of_the_run_are_refused(momus, run, tmp_path):
    folder, paths = run
    other = tmp_path / "other.jsonl"
    other.write_text(paths["real"].read_text(encoding="utf-8").replace("ferry", "fairy"), encoding="utf-8")
    code, said = momus("study", "new", folder, "-r", other, "-g", f"model-a={paths['model-a']}")
    assert code == 2
    assert "'real': 40 documents of 40 in the run differ" in said
    code, said = momus("study", "new", folder, "-r", paths["real"], "-g", f"model-x={paths['model-a']}")
    assert code == 2
    assert "has no corpus 'model-x'" in said
    code, said = momus("study", "new", folder, "-g", f"model-a={paths['model-a']}")
    assert code == 2
    assert "two corpora or more" in said


def test_protocols_come_from_files(momus, run, working_directory):
    (working_directory / "protocol.toml").write_text(
        'question = "Would you go on reading?"\nkind = "pair"\nties = true\n', "utf-8"
    )
    code, said = momus(*arguments(run, "--config", "protocol.toml"))
    assert code == 0, said
    assert "Would you go on reading?" in said
