"""A gate passes and fails by intervals; what cannot be decided does not pass."""

import json
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pytest
from tests.history.conftest import corpus, text
from typer.testing import CliRunner

import momus
from momus.cli.app import app
from momus.errors import GateFailed, StoreError, UsageError
from momus.history.builds import workflow_commands
from momus.history.gate import gate_run
from momus.history.kept import KeptRun
from momus.history.rules import Limit, Rules, read_rules
from momus.history.view import check_line, gate_blocks, in_markdown, on_terminal
from momus.joint.gap import Gap


def limits(**named):
    return tuple(Limit(k, v) for k, v in named.items())


def speaking(run, critic):
    return KeptRun.read(run).speaking("model")[critic]


def test_the_longer_text_fails_on_length_and_the_same_model_passes(runs):
    rules = Rules(max_worse=(Limit("*", 0.5),), baseline=str(runs.folder / "near"))
    assert gate_run(runs.folder / "same", rules).passed
    result = gate_run(runs.folder / "long", rules)
    assert [c.critic for c in result.failed] == ["length"]
    (check,) = result.failed
    assert check.low > 0.5
    assert check.text == "max-worse 0.5"
    with pytest.raises(GateFailed, match=r"length of documents \(length\) of 'model'.*is broken") as error:
        result.check()
    assert error.value.exit_code == 7


def test_a_limit_within_the_interval_is_kept(runs):
    v = speaking(runs.folder / "long", "length")
    gap = Gap.of(v)
    family = [r for r in KeptRun.read(runs.folder / "long").rows("model")["length"].values() if r.p_in_axis is not None]
    assert len(family) > 1, "the one that speaks was chosen of several"
    low, high = gap.interval(v.alpha / len(family))
    for limit, passes in ((low * 0.9, False), ((low + high) / 2, True), (high * 1.1, True)):
        assert gate_run(runs.folder / "long", Rules(max=limits(length=limit))).passed == passes, limit


@pytest.mark.parametrize(
    ("limit", "fails"),
    [("1 more", True), ("1000 more", False), ("0 fewer", False), ("1 %", True), ("1 % fewer", False), ("500 %", False)],
)
def test_the_difference_of_a_statistic_is_limited_in_its_own_unit(runs, limit, fails):
    v = KeptRun.read(runs.folder / "long").rows("model")["length"]["mean_length"]
    assert v.difference > 5
    result = gate_run(runs.folder / "long", Rules(max=(Limit.parse(f"length={limit}"),)))
    (check,) = result.checks
    assert (check.status == "failed") == fails
    assert check.statistic == "mean_length"
    if not limit.endswith("fewer"):
        assert v.low - 1e-9 <= check.low < check.value == v.difference < check.high <= v.high + 1e-9
    if fails:
        assert "longer (mean length" in check_line(check)
        assert "; moved by" in check_line(check)
        assert f"max length={limit} is broken" in check_line(check)


def test_limits_of_several_statistics_of_an_axis_stand_side_by_side(runs):
    texts = ("length=2", "length.mean_length=1000 more", "length.latent_nll=500 %")
    rules = Rules(max=tuple(map(Limit.parse, texts)))
    assert [str(limit) for limit in rules.max] == list(texts)
    assert {c.text for c in gate_run(runs.folder / "long", rules).checks} == {f"max {text}" for text in texts}
    with pytest.raises(UsageError, match=r"(?s)no statistic 'means'.*mean_length"):
        gate_run(runs.folder / "long", Rules(max=(Limit.parse("length.means=1 more"),)))
    with pytest.raises(UsageError, match="a change in distance has bands"):
        Rules(max_worse=(Limit.parse("length=1 more"),))


def test_an_axis_is_named_by_its_critic_or_as_tables_name_it(runs):
    by_critic, by_axis = (
        Rules(max=(Limit.parse(f"{name}=1 more"),), require=(f"{name}=not-beyond-human",))
        for name in ("length", "length of documents")
    )
    found = gate_run(runs.folder / "long", by_axis)
    assert found == gate_run(runs.folder / "long", by_critic)
    assert {c.critic for c in found.checks} == {"length"}


def test_limits_share_the_level(runs):
    """Two limits get half the level each: their intervals are wider than that of one."""
    (one,) = gate_run(runs.folder / "long", Rules(max=limits(length=9))).checks
    two = {c.critic: c for c in gate_run(runs.folder / "long", Rules(max=limits(length=9, unigram=9))).checks}
    assert two["length"].low < one.low < one.high < two["length"].high
    assert one.value == two["length"].value == speaking(runs.folder / "long", "length").gap


def test_an_interval_at_the_level_of_the_verdict_is_that_of_the_verdict(runs):
    for critic in ("length", "stopword-share"):
        v = speaking(runs.folder / "long", critic)
        gap = Gap.of(v)
        level = v.alpha / 2 if gap.kind == "distance" else v.alpha  # of a distance, each end has all of it
        # toward a limit, the error of Hedges' g is its own, not that of the end
        rel = 0.02 if v.effect_kind == "hedges_g" else 1e-6
        assert gap.interval(level) == pytest.approx(v.gap_interval, rel=rel)
        raw = Gap.of(v, effect=True)
        assert raw.interval(level)[1] == pytest.approx(max(abs(v.effect_low), abs(v.effect_high)))
        for limit in (0.0, raw.value / 9, raw.value / 3):
            p = raw.p_above(limit)
            assert p == 1 or raw.interval(p, limit)[0] == pytest.approx(limit, abs=1e-5)


def test_required_findings_are_those_of_the_run(runs):
    result = gate_run(runs.folder / "long", Rules(require=("not-beyond-human",)))
    findings = {v.critic: v.finding for v in KeptRun.read(runs.folder / "long").speaking("model").values()}
    assert {c.critic for c in result.failed} == {k for k, f in findings.items() if f == "beyond human variation"}
    longest = runs.make("longest", corpus("m", 60, 5, mean=48))
    assert [c.critic for c in gate_run(longest, Rules(require=("not-beyond-human",))).failed] == ["length"]
    within = gate_run(runs.folder / "near", Rules(require=("within-human",)))
    assert all((c.high <= 1) == (c.status == "passed") for c in within.checks)


def test_a_text_without_scores_does_not_pass(runs):
    from momus import Corpus

    empty = Corpus.from_texts([""] * 60, prompts=[f"p{i}" for i in range(60)], name="g")
    run = runs.make("empty", empty, reuse=runs.folder / "near")
    for rules in (
        Rules(max=(Limit("*", 9.0),)),
        Rules(require=("not-beyond-human",)),
        Rules(max_worse=(Limit("*", 9.0),), baseline=str(runs.folder / "near")),
    ):
        result = gate_run(run, rules)
        assert {c.status for c in result.checks} == {"not decided"}
        assert len(result.failed) == 3
        assert "no scored doc" in result.checks[0].reason


def test_a_critic_that_measures_something_else_is_noted_or_fails_by_name(runs):
    from momus_critics.length import Length

    run = runs.make("gate-bins", corpus("g", 60, 3), critics=[Length(bins=9), "unigram"])
    every = Rules(max_worse=(Limit("*", 2.0),), baseline=str(runs.folder / "near"))
    result = gate_run(run, every)
    assert result.passed
    skipped = {c.critic: c.reason for c in result.checks if c.status == "not checked"}
    assert skipped == {"length": "its parameters differ (bins)", "stopword-share": "only one of the runs has it"}
    named = gate_run(run, every.updated(max_worse=(Limit("length", 2.0),)))
    assert [(c.critic, c.status) for c in named.failed] == [("length", "not decided")]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(), "the gate has no rule"),
        (Rules(max_worse=limits(length=1)), "needs a baseline"),
        (Rules(max=limits(lenght=1)), "has no critic 'lenght'"),
        (Rules(max=limits(length=1), corpus=("z",)), "no generated corpus 'z'"),
    ],
)
def test_rules_that_cannot_be_used_are_errors(runs, rules, message):
    with pytest.raises(UsageError, match=message):
        gate_run(runs.folder / "near", rules)


@pytest.mark.parametrize("value", ["length=x", "length=-1", "=1", "length=nan", "", "1 more", "length=1 mores"])
def test_limits_that_are_no_numbers_are_errors(value):
    with pytest.raises(UsageError, match="a limit is a number"):
        Limit.parse(value)


TOML = """
baseline = "main"
require = ["not-beyond-human"]
alpha = 0.01
[max]
sections = 0.2
length = 0.1
"""


def test_rules_are_read_from_either_file_and_options_replace_them(tmp_path):
    assert read_rules(start=tmp_path) == Rules()
    (tmp_path / "pyproject.toml").write_text("[tool.momus.gate]\nmax-worse = 0.1\nbaseline = 'x'\n")
    assert read_rules(start=tmp_path) == Rules(max_worse=(Limit("*", 0.1),), baseline="x")
    words = "[max]\nfaults = '0.02 more'\nlength.mean_length = '10 %'\n"
    (tmp_path / "words.toml").write_text(words)
    assert [str(x) for x in read_rules(tmp_path / "words.toml").max] == ["faults=0.02 more", "length.mean_length=10 %"]
    (tmp_path / "momus-gate.toml").write_text(TOML)
    found = read_rules(start=tmp_path)
    assert found.max == (Limit("sections", 0.2), Limit("length", 0.1))
    assert (found.baseline, found.alpha, found.require) == ("main", 0.01, ("not-beyond-human",))
    changed = found.updated(max=(Limit("sections", 0.5),), alpha=0.02, baseline=None)
    assert set(changed.max) == {Limit("sections", 0.5), Limit("length", 0.1)}
    assert (changed.alpha, changed.baseline) == (0.02, "main")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("maxx = 1", "no key 'maxx'"),
        ("max = 'a'", "a limit is a number"),
        ("alpha = true", "expected a finite number"),
        ("strict = true", "no key 'strict'"),
        ("require = ['all']", r"require=\['all'\]: unknown"),
        ("alpha = 2.0", "alpha is 2"),
        ("max = {", "momus-gate.toml"),
    ],
)
def test_wrong_rules_name_the_file(tmp_path, toml, message):
    (tmp_path / "momus-gate.toml").write_text(toml)
    with pytest.raises(UsageError, match=message) as error:
        read_rules(start=tmp_path)
    assert "momus-gate.toml" in error.value.message


def test_a_baseline_with_another_real_text_is_named(runs):
    run = runs.make("gate-real", corpus("g", 60, 3), real=corpus("real", 60, 23))
    result = gate_run(run, Rules(max_worse=(Limit("*", 9.0),), baseline=str(runs.folder / "near")))
    assert result.real_changed
    assert "The real text differs from that of the baseline" in text(on_terminal(gate_blocks(result)), 200)


def test_a_baseline_with_another_text_of_the_model_is_named(runs):
    folders = []
    for seed in (23, 24, 24):
        folders.append(runs.folder / f"model-{len(folders)}")
        against = {"old": corpus("old", 60, seed)}
        momus.compare(generated={"new": corpus("new", 60, 3)}, against=against, critics=["length"], out=folders[-1])
    rules = [Rules(require=("not-beyond-itself",), baseline=str(folder)) for folder in folders]
    assert not gate_run(folders[2], rules[1]).real_changed
    result = gate_run(folders[1], rules[0])
    assert result.real_changed
    said = text(on_terminal(gate_blocks(result)), 200)
    assert "The text of old differs from that of the baseline: each run is compared with its own." in said
    assert "real" not in said


def test_nightly_looks_spend_the_level_and_the_same_run_spends_nothing(runs, tmp_path):
    state = tmp_path / "state.json"
    rules = Rules(max=(Limit("length", 0.3),), require=("not-beyond-human",), sequential=str(state))
    first = gate_run(runs.folder / "long", rules)
    assert first.look.number == 1
    assert first.level == pytest.approx(0.01464, abs=1e-5)
    assert first.look.alarm == (not first.passed) is True
    before = state.read_text()
    again = gate_run(runs.folder / "long", rules)
    assert again.look.number == 1
    assert [c.status for c in again.checks] == [c.status for c in first.checks]
    assert state.read_text() == before
    second = gate_run(runs.folder / "near", rules)
    assert second.look.number == 2
    assert second.level < first.level
    assert second.look.alarm == (not second.passed)
    single = gate_run(runs.folder / "near", Rules(max=(Limit("length", 0.3),)))
    wide = next(c for c in second.checks if c.text == "max length=0.3")
    assert wide.high - wide.low > single.checks[0].high - single.checks[0].low
    with pytest.raises(UsageError, match=r"begun with alpha = 0\.05"):
        gate_run(runs.folder / "near", rules.updated(alpha=0.1))
    state.write_text("{}")
    with pytest.raises(StoreError, match="changed or damaged"):
        gate_run(runs.folder / "near", rules)


def test_junit_markdown_and_annotations(runs, tmp_path, monkeypatch):
    summary, junit = tmp_path / "summary.md", tmp_path / "deep" / "junit.xml"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.chdir(tmp_path)
    command = ["gate", str(runs.folder / "long"), "--max-worse", "0.5", "--baseline", str(runs.folder / "near")]
    sarif = tmp_path / "gate.sarif"
    done = CliRunner().invoke(app, [*command, "--junit", str(junit), "--sarif", str(sarif), "--github"])
    assert isinstance(done.exception, GateFailed)
    assert "FAILED" in done.output
    (line,) = [x for x in done.output.splitlines() if x.startswith("::error")]
    assert line.startswith("::error title=momus gate::length of documents (length)")
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("length", "error")
    assert line.endswith(result["message"]["text"].replace("%", "%25"))
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert suite.find(".//failure").get("type") == "max-worse"
    assert "❌" in summary.read_text()
    assert "| max-worse | length of documents |" in summary.read_text()
    passed = CliRunner().invoke(app, ["gate", str(runs.folder / "same"), *command[2:], "--json"])
    assert passed.exit_code == 0
    assert json.loads(passed.output)["passed"] is True


def test_exit_code_is_7(runs, tmp_path):
    import subprocess
    import sys

    command = [sys.executable, "-m", "momus", "gate", str(runs.folder / "long"), "--max", "length=0.1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 7
    assert "Traceback" not in done.stderr
    assert "momus: long: the gate failed in 1 of 1 check" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_hostile_names_are_escaped(runs):
    name = "<script>alert(1)</script>\n::error::[red]x[/red]|"
    long = corpus("g", 60, 5, mean=32)
    run = runs.make("hostile", {name: long, "plain": corpus("h", 60, 3)}, critics=["length"])
    result = gate_run(run, Rules(max=limits(length=0.5)))
    assert [c.corpus for c in result.failed] == [name]
    assert "<script>" not in in_markdown(gate_blocks(result))
    (line,) = workflow_commands(result)
    assert "\n" not in line
    assert "[red]x[/red]" in text(on_terminal(gate_blocks(result)), 300)


def test_a_corpus_that_the_baseline_lacks_does_not_pass_unseen(runs):
    near, long = corpus("g", 60, 3), corpus("g", 60, 5, mean=32)
    before = runs.make("gate-one", {"a": near, "b": near}, critics=["length"])
    after = runs.make("gate-two", {"a": near, "c": long}, critics=["length"])
    rules = Rules(max_worse=(Limit("*", 0.5),), baseline=str(before))
    with pytest.raises(UsageError, match="no generated corpus 'c'"):
        gate_run(after, rules)
    assert gate_run(after, rules.updated(corpus=("a",))).passed


def test_the_limit_of_a_required_finding_and_one_of_the_same_size_are_two_rules(runs, tmp_path):
    rules = Rules(max=(Limit("*", 1.0),), require=("not-beyond-human",), sequential=str(tmp_path / "state.json"))
    checks = gate_run(runs.folder / "near", rules).checks
    assert [c.text for c in checks].count("max 1") == 3
    assert [c.text for c in checks].count("require not-beyond-human") == 3
    for c in checks:
        assert (c.status == "failed") == (c.low > 1), c


def test_gates_at_once_lose_no_look(runs, tmp_path):
    state = tmp_path / "state.json"
    rules = Rules(max=(Limit("length", 0.5),), sequential=str(state))
    copies = [runs.folder / name for name in ("same", "long", "near")]
    with ThreadPoolExecutor(3) as pool:  # a lock belongs to an open file, so threads contend as processes do
        looks = [result.look.number for result in pool.map(lambda run: gate_run(run, rules), copies)]
    assert sorted(looks) == [1, 2, 3]
    assert not list(tmp_path.glob(".*.lock"))
