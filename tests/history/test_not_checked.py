"""A rule on an axis that the texts have nothing to be tested by is not checked, unless it names the axis."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.history.conftest import corpus, text
from typer.testing import CliRunner

import momus
from momus import Corpus
from momus.cli.app import app
from momus.errors import FittingError, GateFailed, UsageError
from momus.history.builds import write_junit
from momus.history.checks import decide_distances
from momus.history.gate import gate_run
from momus.history.kept import KeptRun
from momus.history.rules import Limit, Rules
from momus.history.view import gate_blocks, on_terminal, verdict_line

ITSELF = Rules(require=("not-beyond-itself",))
STORY = (
    "The harbour was quiet when Anna came down to the boats.",
    "She asked the old man where the nets were kept in winter.",
    "He said that nobody had used them for a long time.",
    "There was a smell of tar, salt and wet rope in the shed!",
    "In the evening the wind turned, and the lamps were lit.",
    "Why would anyone leave a place like this?",
    "They talked about the price of fish until it was late.",
    "However, the last ferry had gone, so they walked home.",
)


def versions(folder, new, critics=("length", "diversity"), **options):
    """A run of a new version against an old one, one answer per prompt."""
    momus.compare(
        generated={"new": new},
        against={"old": corpus("old", 60, 3)},
        critics=None if critics is None else list(critics),
        out=folder,
        permutations=199,
        **options,
    )
    return folder


@pytest.fixture(scope="module")
def one_answer(tmp_path_factory):
    return versions(tmp_path_factory.mktemp("one") / "run", corpus("new", 60, 4))


def status(result, critic="diversity"):
    return {c.text: c.status for c in result.checks if c.critic == critic}


def test_an_axis_without_anything_to_test_is_listed_with_its_reason_and_does_not_fail(one_answer, tmp_path):
    rules = Rules(require=("not-beyond-itself", "within-itself"), max=(Limit("*", 5.0),))
    result = gate_run(one_answer, Rules(require=("not-beyond-itself",), max=(Limit("*", 5.0),)))
    assert result.passed
    assert status(result) == {"require not-beyond-itself": "not checked", "max 5": "not checked"}
    assert set(status(gate_run(one_answer, rules)).values()) == {"not checked"}
    assert verdict_line(result) == "run: the gate passed (2 checks, 2 not checked)"
    shown = " ".join(text(on_terminal(gate_blocks(result))).split())
    assert shown.count("Not checked: variety between answers (diversity) of 'new'") == 1
    assert "one document per prompt" in shown
    write_junit(result, tmp_path / "gate.xml")
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "0", "0", "2"]
    assert "one document per prompt" in suite.find(".//skipped").get("message")


@pytest.mark.parametrize(
    "rules",
    [
        Rules(require=("diversity=not-beyond-itself",)),
        Rules(require=("not-beyond-itself", "diversity=within-itself")),
        Rules(max=(Limit("diversity", 5.0),)),
        Rules(max=(Limit("*", 5.0), Limit("diversity", 4.0))),
    ],
    ids=str,
)
@pytest.mark.parametrize("sequential", [False, True])
def test_a_rule_that_names_the_axis_cannot_be_decided(one_answer, rules, sequential, tmp_path):
    rules = rules.updated(sequential=str(tmp_path / "looks.json") if sequential else "")
    result = gate_run(one_answer, rules)
    assert [c.critic for c in result.failed] == ["diversity"]
    assert result.failed[0].status == "not decided"
    with pytest.raises(GateFailed, match="one document per prompt"):
        result.check()


def test_a_required_axis_that_is_tested_is_decided(one_answer):
    result = gate_run(one_answer, Rules(require=("length=not-beyond-itself",)))
    assert status(result, "length") == {"require length=not-beyond-itself": "passed"}
    assert not status(result)
    for wrong, message in (("lenght=not-beyond-itself", "no critic 'lenght'"), ("length=within-human", "text of a mo")):
        with pytest.raises(UsageError, match=message):
            gate_run(one_answer, Rules(require=(wrong,)))
    with pytest.raises(UsageError, match="unknown"):
        Rules(require=("length=sound",))


def test_a_text_of_which_nothing_can_be_checked_does_not_pass(tmp_path):
    run = versions(tmp_path / "run", corpus("new", 60, 4), ["diversity"])
    result = gate_run(run, ITSELF)
    assert status(result) == {"require not-beyond-itself": "not decided"}
    assert not result.passed
    keyness = versions(tmp_path / "keyness", corpus("new", 60, 4), ["keyness"])  # it has no band
    assert not gate_run(keyness, ITSELF).passed


def test_values_that_are_the_same_in_every_document_have_nothing_to_compare(tmp_path):
    run = versions(tmp_path / "run", corpus("new", 60, 4), ["length", "symbol-share"])
    result = gate_run(run, ITSELF)
    assert result.passed
    assert status(result, "symbol-share") == {"require not-beyond-itself": "not checked"}


def blank_but(name, seed, filled, n=60):
    """Documents of which all but so many are blank."""
    texts = [d.text if i < filled else "" for i, d in enumerate(corpus(name, n, seed))]
    return Corpus.from_texts(texts, prompts=[f"p{i}" for i in range(n)], name=name)


@pytest.mark.parametrize("filled", [2, 40])
def test_one_side_without_scores_is_listed_and_fails_only_by_a_rule_that_names_the_axis(tmp_path, filled):
    texts = blank_but("old", 3, 0), {"new": blank_but("new", 4, filled)}
    momus.compare(*texts, fit=corpus("fit", 60, 5), critics=["unigram", "length"], out=tmp_path, permutations=199)
    checks, _ = decide_distances(KeptRun.read(tmp_path), ["new"], Rules(max=(Limit("*", 5.0),)), 0.05, False)
    assert [c.status for c in checks] == ["not checked"] * 2
    named, _ = decide_distances(KeptRun.read(tmp_path), ["new"], Rules(max=(Limit("unigram", 5.0),)), 0.05, False)
    assert [c.status for c in named] == ["not decided"]
    result = gate_run(tmp_path, Rules(max=(Limit("*", 5.0),)))
    assert [c.status for c in result.failed] == ["not decided"] * 2, "nothing of the text is checked"


def repeated(name, seed, times, prompts=30):
    """So many answers to each prompt."""
    texts = [d.text for d in corpus(name, times * prompts, seed)]
    return Corpus.from_texts(texts, prompts=[f"p{i % prompts}" for i in range(len(texts))], name=name)


def test_how_many_answers_a_prompt_has_is_no_defect_of_a_text(tmp_path):
    for name, times in (("before", 2), ("after", 1)):
        texts = repeated("real", 1, 2), {"model": repeated("model", 2, times)}
        options = {"critics": ["length", "diversity"], "fit": repeated("fit", 3, 2), "permutations": 199}
        momus.compare(*texts, out=tmp_path / name, **options)
    rules = Rules(
        max=(Limit("*", 9.0),),
        max_worse=(Limit("*", 9.0),),
        require=("not-beyond-human",),
        baseline=str(tmp_path / "before"),
    )
    result = gate_run(tmp_path / "after", rules)
    assert result.passed
    assert set(status(result).values()) == {"not checked"}
    assert len(status(result)) == 3
    named = gate_run(tmp_path / "after", rules.updated(max_worse=(Limit("diversity", 9.0),)))
    assert [c.text for c in named.failed] == ["max-worse diversity=9"]


def test_critics_that_could_not_be_fitted_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr("momus.engine.chosen.critic_names", lambda: ["length", "sections"])
    run = versions(tmp_path / "run", corpus("new", 60, 4), None)
    for rules in (ITSELF, Rules(max=(Limit("*", 5.0),))):
        result = gate_run(run, rules)
        assert result.passed
        (check,) = [c for c in result.checks if c.critic == "sections"]
        assert (check.status, check.corpus) == ("not checked", "new")
        assert "titled sections" in check.reason
        assert "critic 'sections'" not in check.reason
    with pytest.raises(UsageError, match=r"no critic 'sections' \(0 of 120 documents"):
        gate_run(run, Rules(max=(Limit("sections", 1.0),)))
    with pytest.raises(FittingError):
        versions(tmp_path / "asked", corpus("new", 60, 4), ["length", "sections"])


def answers(cut=None, swapped=False):
    """Answers of six sentences; ``cut`` keeps so many words, ``swapped`` moves a sentence of every third."""
    rng, rows = np.random.default_rng(1), []
    for i in range(24):
        told = [STORY[k] for k in rng.integers(0, len(STORY), 6)]
        told = [*told[:3], told[4], told[3], *told[5:]] if swapped and i % 3 == 0 else told
        rows.append({"id": f"{i}", "prompt_id": f"p{i}", "text": " ".join(" ".join(told).split()[:cut])})
    return rows


@pytest.mark.slow
def test_the_documented_recipe_passes_near_copies_and_fails_a_planted_defect(tmp_path, monkeypatch):
    """`compare --against` without a choice of critics, then `gate`: as the workflow in the docs has it."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("old", answers()), ("near", answers(swapped=True)), ("cut", answers(cut=20))):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, code in (("near", 0), ("cut", 7)):
        texts = ["--against", "old=old.jsonl", "-g", f"new={name}.jsonl", "-o", name, "-q"]
        done = CliRunner().invoke(app, ["compare", *texts])
        assert done.exit_code == 0, done.output
        done = CliRunner().invoke(app, ["gate", name])
        said = " ".join(done.output.split())
        if code:
            assert isinstance(done.exception, GateFailed), said
            assert re.search("length of documents .* 1 FAILED", said)
        else:
            assert done.exit_code == 0, said
            assert re.search(r"the gate passed \(\d+ checks, \d+ not checked\)", said)
            assert "Not checked: sections (sections) of 'new'" in said
        assert "Not checked: variety between answers (diversity) of 'new'" in said


def test_one_file_with_both_versions_is_compared_and_decided(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"prompt": f"{i}?", "model": model, "output": "so " * (10 + i % 7 + 20 * (model == "b"))}
        for i in range(60)
        for model in ("a", "b")
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["gate", "--against", "a", "-g", "answers.jsonl", "--split-by", "model", "--critics", "length"]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, GateFailed)
    assert "b differs from a in length of documents: longer" in " ".join(done.output.split())
    assert (tmp_path / "momus-runs" / "answers-against-a" / "report.html").exists()


@pytest.mark.parametrize(("broken", "fails"), [(0, False), (1, False), (20, True)])
def test_what_the_old_version_never_does_is_beyond_its_variation(tmp_path, broken, fails):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation(STORY)[:4]) for _ in range(60)]
    cut = [f"{t} And then the" if i < broken else t for i, t in enumerate(texts)]
    old, new = (Corpus.from_texts(t, prompts=[str(i) for i in range(60)]) for t in (texts, cut))
    momus.compare(generated={"new": new}, against={"old": old}, critics=["faults"], permutations=499, out=tmp_path)
    (check,) = gate_run(tmp_path, ITSELF).checks
    assert (check.status == "failed") == fails
    if fails:
        assert check.statistic.endswith("_share")
        assert (check.value, check.low > 0) == (pytest.approx(broken / 60), True)


def test_options_for_reading_need_texts(tmp_path):
    done = CliRunner().invoke(app, ["gate", str(tmp_path), "--field", "answer"])
    assert isinstance(done.exception, UsageError)
    assert "how texts are read is said of none" in str(done.exception)
