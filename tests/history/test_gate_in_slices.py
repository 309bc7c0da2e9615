"""Limits of differences, and what is better, hold in slices too."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.history.conftest import text
from typer.testing import CliRunner

import momus
from momus import Corpus, Document
from momus.cli.app import app
from momus.errors import GateFailed, UsageError
from momus.history.builds import gate_sarif, workflow_commands, write_junit
from momus.history.gate import gate_run
from momus.history.rules import Limit, Rules
from momus.history.view import gate_blocks, not_checked, on_terminal
from momus.joint.better import Preference
from momus.joint.slices import codes_of

TASKS = ("chat", "code", "maths")


def answers(name, seed, shorter=1.0, of="code", rare=0):
    """Answers to 120 prompts of three tasks; those of one task may be shorter. The last ``rare`` are of a fourth."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(120):
        task = "rare" if i >= 120 - rare else TASKS[i % 3]
        words = rng.poisson(50 * (shorter if task == of else 1.0)) + 1
        text = " ".join(rng.choice(["red", "blue", "green"], words)) + "."
        documents.append(replace(Document.plain(f"{i}", text, f"{i}"), fields={"task": task}))
    return Corpus.from_documents(documents, name)


def compared(folder, new, real=None, old=None):
    """The folder of a run in slices."""
    texts = {"against": {"old": old or answers("old", 0)}, "generated": {"new": new}}
    momus.compare(real, **texts, critics=["length", "unigram"], by=("task",), permutations=499, out=folder)
    return folder


OLD, NEW = answers("old", 0), answers("new", 1, 0.6)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("slices") / "run", NEW)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("slices") / "same", answers("new", 1))


@pytest.fixture(scope="module")
def near_people(tmp_path_factory):
    """Answers of people are as long as those of the old version; new ones are shorter in one task."""
    folder = tmp_path_factory.mktemp("slices") / "people"
    return compared(folder, answers("new", 1, 0.7), answers("people", 2))


def decided(run, better, limit="", require=()):
    rules = Rules(
        better=(Preference.parse(better),), max=(Limit.parse(limit),) if limit else (), require=tuple(require)
    )
    return gate_run(run, rules)


@pytest.mark.parametrize(
    ("limit", "failed"),
    [("20 % fewer", {"length of documents in code"}), ("60 % fewer", set()), ("5 % more", set())],
)
def test_a_slice_beyond_the_limit_fails(run, limit, failed):
    result = gate_run(run, Rules(max=(Limit.parse(f"length={limit}"),)))
    assert {c.axis for c in result.failed} == failed
    assert all(c.statistic == "mean_length" and c.value > c.low > c.limit for c in result.failed)


@pytest.mark.parametrize("require", ["not-worse", "length=not-worse"])
def test_a_slice_that_is_not_shown_to_be_no_worse_fails_and_is_named(run, unchanged, require):
    """The mean of all answers keeps the limit: only the slice does not."""
    result = decided(run, "length=more", "length=30 % worse", [require])
    (check,) = result.failed
    assert (check.axis, check.rule) == ("length of documents in code", "better")
    assert check.value == pytest.approx(0.4 * 50, rel=0.15)
    assert check.low < check.value < check.high
    assert check.limit == pytest.approx(0.3 * 50, rel=0.05)
    assert "length of documents in code" in result_line(result)
    assert decided(run, "length=more", "length=60 % worse", [require]).passed
    passed = decided(unchanged, "length=more", "length=15 % worse", [require])
    assert passed.passed
    worst = next(c for c in passed.checks if c.axis.endswith(", worst of 3 slices"))
    assert worst.high < worst.limit
    # as long as before is not shown where the limit is narrower than any interval
    assert not decided(unchanged, "length=more", "length=1 % worse", [require]).passed


def test_builds_name_the_prompts_of_the_slice_that_moved_most(run, tmp_path):
    result = gate_run(run, Rules(max=(Limit.parse("length=20 % fewer"),)))
    (check,) = result.failed
    words = {side.name: dict(zip(side.ids, (len(d.text.split()) for d in side), strict=True)) for side in (OLD, NEW)}
    in_code = sorted((words["new"][i] - words["old"][i], i) for i in NEW.ids if int(i) % 3 == 1)
    assert [words["new"][p] - words["old"][p] for p in check.prompts] == [change for change, _ in in_code[:3]]
    told = f"; moved most: {', '.join(f'“{p}”' for p in check.prompts)}"
    (line,) = workflow_commands(result)
    (sarif,) = gate_sarif(result)["runs"][0]["results"]
    assert line.endswith(told)
    assert sarif["message"]["text"].endswith(told)
    write_junit(result, tmp_path / "junit.xml")
    assert told in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    cells = momus.read_comparison(run).joint.slices[0].cells
    rose = next(c.moved_most("more") for c in cells if (c.name, c.statistic) == ("chat", "mean_length"))
    changes = sorted(words["new"][i] - words["old"][i] for i in NEW.ids if int(i) % 3 == 0)
    assert [words["new"][p] - words["old"][p] for p in rose] == changes[:-4:-1]


def test_builds_name_prompts_of_an_axis_and_show_what_hides_in_them(tmp_path):
    names = {d.id: f"\u202ewrite\n::error::{d.id} " + "x" * 300 for d in OLD}
    sides = [
        Corpus.from_documents([replace(d, id=names[d.id], prompt=names[d.id]) for d in side], side.name)
        for side in (OLD, NEW)
    ]
    for by, shown in ((), NEW.ids), (("task",), [i for i in NEW.ids if int(i) % 3 == 1]):
        folder = tmp_path / "-".join(("run", *by))
        momus.compare(against={"old": sides[0]}, generated={"new": sides[1]}, critics=["length"], by=by, out=folder)
        result = gate_run(folder, Rules(max=(Limit.parse("length=1 % fewer"),)))
        check = next(c for c in result.failed if c.axis.endswith("in code" if by else "documents"))
        assert len(check.prompts) == 3
        (line,) = (x for x in workflow_commands(replace(result, checks=(check,))) if x.startswith("::error"))
        told = re.findall("“([^”]*)”", line)
        assert len(told) == 3
        assert all(len(x) == 60 and x.endswith("…") for x in told)
        assert all(re.match(r"\\u202ewrite ::error::(\d+) x", x)[1] in shown for x in told)


def test_texts_without_common_prompts_have_none_to_name(tmp_path):
    sides = {s.name: Corpus.from_documents([replace(d, prompt=None) for d in s], s.name) for s in (OLD, NEW)}
    momus.compare(
        against={"old": sides["old"]},
        generated={"new": sides["new"]},
        critics=["length"],
        by=("task",),
        out=tmp_path / "r",
    )
    result = gate_run(tmp_path / "r", Rules(max=(Limit.parse("length=5 % fewer"),)))
    assert result.failed
    assert not any(c.prompts for c in result.failed)
    assert not any("moved most" in line for line in workflow_commands(result))


@pytest.mark.parametrize("empty", ["", " "])
def test_a_task_without_any_answer_fails_and_is_named(tmp_path, empty):
    """No axis scores empty answers: means are of all others, and so are slices."""
    rows = [Document.plain(d.id, empty if d.fields["task"] == "code" else d.text, d.prompt) for d in OLD]
    new = Corpus.from_documents([replace(r, fields=d.fields) for r, d in zip(rows, OLD, strict=True)], "new")
    folder = compared(tmp_path / "run", new)
    result = gate_run(folder, Rules(require=("not-beyond-itself",)))
    (check,) = result.failed
    assert (check.axis, check.statistic) == ("documents without a score", "unscored_share")
    assert 0 < check.low < check.value == pytest.approx(1 / 3)
    assert [c.axis for c in result.checks if c.status == "not checked"] == ["code"]
    assert "share of unscored documents 33 %, old: 0 %" in result_line(result)
    assert gate_run(compared(tmp_path / "same", OLD), Rules(require=("not-beyond-itself",))).passed
    limited = gate_run(folder, Rules(max=(Limit.parse("length=10 % fewer"),)))
    assert limited.passed
    assert any("documents without a score" in x and "33 % of documents" in x for x in not_checked(limited))


@pytest.mark.parametrize("gone", ["old", "new"])
def test_a_task_that_a_text_lacks_does_not_keep_others_from_being_judged(gone):
    kept = [d for d in OLD if d.fields["task"] != "maths"]
    sides = {"old": OLD, "new": NEW, gone: Corpus.from_documents(kept, gone)}
    (codes,) = codes_of(("auto",), [sides["old"], sides["new"]])
    assert codes.names == TASKS
    few = Corpus.from_documents([d for d in kept if d.fields["task"] == "code" or int(d.id) < 30], "few")
    assert codes_of(("auto",), [few, NEW]) == []


def result_line(result):
    with pytest.raises(momus.errors.GateFailed) as failed:
        result.check()
    return str(failed.value)


def test_a_slice_that_goes_away_from_people_fails_and_is_named(near_people):
    result = decided(near_people, "length=nearer:human")
    assert {c.axis for c in result.failed} >= {"length of documents in code"}
    assert not [c for c in result.failed if "chat" in c.axis or "maths" in c.axis]
    (slice_,) = [c for c in result.failed if c.axis.endswith("in code")]
    assert 0 < slice_.low < slice_.value < slice_.high
    line = next(x for x in result_line(result).splitlines() if "in code" in x)
    assert "% shorter (mean length" in line
    assert "; distance to text of people worse by +" in line
    assert decided(near_people, "length=nearer:human", "length=100 worse").passed
    required = decided(near_people, "length=nearer:human", "length=1 worse", ["not-worse"])
    assert "length of documents in code" in {c.axis for c in required.failed}


def test_nearness_in_a_slice_is_in_bands_of_the_whole_text(near_people):
    joint = momus.read_comparison(near_people).joint
    here = {n.slice: n for n in joint.nearer_in_slices if n.critic == "length"}
    (whole,) = [n for n in joint.nearer if n.critic == "length"]
    assert set(here) == set(TASKS)
    assert {n.by for n in here.values()} == {"task"}
    # a third of the answers are 30 % shorter; chat and maths are as before
    assert here["code"].new - here["code"].old > 2 * (whole.new - whole.old) > 0
    assert abs(here["chat"].new - here["chat"].old) < 3 * here["chat"].error


def test_nearness_has_no_percent(near_people):
    with pytest.raises(UsageError, match="nearness to people is told in human bands"):
        decided(near_people, "length=nearer:human", "length=10 % worse")


def test_what_cannot_be_tested_in_a_slice_is_listed_and_fails_only_where_an_axis_is_required(tmp_path):
    run = compared(tmp_path / "run", answers("new", 1, rare=6), old=answers("old", 0, rare=6))
    for better, limit in (
        ("length=more", "length=30 % worse"),
        ("unigram.latent_ppl=lower", "unigram.latent_ppl=90 % worse"),
    ):
        result = decided(run, better, limit, ["not-worse"])
        assert result.passed
        assert "Not checked: rare (task) of 'new': fewer than 10 scored prompts or documents on a side." in not_checked(
            result
        )
    listed = "vocabulary: latent ppl by task (unigram) of 'new': slices are compared by means"
    assert any(listed in line for line in not_checked(result))
    named = decided(run, "length=more", "length=30 % worse", ["length=not-worse"])
    assert [(c.axis, c.status) for c in named.failed] == [("length of documents in rare", "not decided")]
    assert "cannot be decided" in text(on_terminal(gate_blocks(named)), 200)


def test_one_file_of_two_providers_is_gated_by_the_tasks_of_its_tests(tmp_path):
    """Both providers are one script, told apart by their labels; one task is cut."""
    rows = [
        {
            "provider": {"id": "file://provider.js", "label": label},
            "metadata": {"task": document.fields["task"]},
            "prompt": {"raw": f"question {document.prompt}"},
            "promptIdx": 0,
            "response": {"output": document.text},
        }
        for label, texts in (("v1", answers("v1", 0)), ("v2", answers("v2", 0, 0.5)))
        for document in texts
    ]
    file, junit = tmp_path / "out.json", tmp_path / "gate.xml"
    file.write_text(json.dumps({"results": {"results": rows}}))
    line = ["gate", str(tmp_path / "run"), "--against", "v1", "-g", str(file), "-c", "length"]
    done = CliRunner().invoke(app, [*line, "--split-by", "provider.id"])
    assert "another column may tell versions apart" in done.exception.hint
    done = CliRunner().invoke(app, [*line, "--split-by", "provider.label", "--junit", str(junit)])
    assert isinstance(done.exception, GateFailed)
    assert re.search(r"length of documents in code \(length\) of 'v2': 4\d % shorter", done.exception.message)
    names = [case.get("name") for case in ElementTree.parse(junit).iter("testcase")]
    assert len(names) == len(set(names)) == 2
