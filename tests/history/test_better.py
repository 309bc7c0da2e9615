"""Whether a new version is worse is decided by what the user names, with size, interval and stated error rates."""

import json

import numpy as np
import pytest
from tests.history.conftest import corpus, text
from typer.testing import CliRunner

import momus
from momus import Corpus
from momus.cli.app import app
from momus.errors import GateFailed, UsageError
from momus.history.gate import gate_run
from momus.history.rules import Limit, Rules, read_rules
from momus.history.view import gate_blocks, least_found, on_terminal
from momus.joint.better import Preference
from momus.joint.gap import Gap

N = 60


def preferences(*texts):
    return tuple(map(Preference.parse, texts))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """New answers are half as long again as old ones, which are as long as those of people."""
    folder = tmp_path_factory.mktemp("better") / "run"
    momus.compare(
        corpus("people", N, 9),
        generated={"new": corpus("new", N, 4, mean=30)},
        against={"old": corpus("old", N, 3)},
        critics=["length", "unigram"],
        better=("length=fewer", "unigram.latent_ppl=lower", "length=nearer:human"),
        permutations=199,
        out=folder,
    )
    return folder


def test_one_line_says_what_is_worse_and_what_is_not_shown_with_size_and_interval(run):
    said = " ".join(str(momus.read_comparison(run)).split())
    line = said[said.index("By what you named") :]
    assert line.startswith("By what you named, new is worse in length of documents (mean length 3")
    assert "; worse by 1" in line
    assert "distance to human text" in line
    assert "not shown to be worse or better in vocabulary" in line


@pytest.mark.parametrize(
    ("better", "limit", "require", "passes"),
    [
        ("length=fewer", (), (), False),
        ("length=higher", (), (), True),
        ("length=fewer", ("length=1000 % worse",), (), True),
        ("length=fewer", ("length=1 worse",), (), False),
        ("length=fewer", ("length=1000 % worse",), ("not-worse",), True),
        ("unigram.latent_ppl=lower", (), (), True),
        ("unigram.latent_ppl=lower", (), ("unigram=not-worse",), False),
        ("length=nearer:human", (), (), False),
        ("length=nearer:human", ("length=1000 worse",), ("not-worse",), True),
    ],
)
def test_worse_than_the_limit_fails_if_shown_and_a_required_limit_passes_if_shown(run, better, limit, require, passes):
    rules = Rules(better=preferences(better), max=tuple(map(Limit.parse, limit)), require=require)
    result = gate_run(run, rules)
    assert result.passed == passes
    (check,) = result.checks
    assert (check.rule, check.measure) == ("better", "nearness" if "human" in better else "difference")
    assert check.low < check.value < check.high
    assert passes == (check.high <= check.limit if require else check.low <= check.limit)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(better=preferences("lenght=fewer")), "no critic 'lenght'"),
        (Rules(better=preferences("length.means=fewer")), r"(?s)no statistic 'means'.*mean_length"),
        (Rules(max=(Limit.parse("length=1 worse"),)), r"(?s)does not say what is worse.*fewer, lower, more, higher"),
        (Rules(require=("not-worse",)), "does not say what is worse"),
    ],
)
def test_rules_of_what_nobody_named_are_errors(run, rules, message):
    with pytest.raises(UsageError, match=message):
        gate_run(run, rules)


@pytest.mark.parametrize(
    ("better", "message"),
    [
        ("length=best", "DIRECTION is fewer, lower, more, higher, nearer:human"),
        ("lenght=fewer", "(?s)no critic 'lenght' runs.*the axes are length; the directions fewer"),
        ("length=nearer:human", "better=.* needs real="),
    ],
)
def test_errors_of_a_comparison_list_axes_and_directions(better, message):
    texts = {"generated": {"new": corpus("new", N, 4)}, "against": {"old": corpus("old", N, 3)}}
    with pytest.raises(UsageError, match=message):
        momus.compare(**texts, critics=["length"], better=(better,))
    with pytest.raises(UsageError, match="needs against="):
        momus.compare(corpus("real", N, 3), {"new": corpus("new", N, 4)}, critics=["length"], better=("length=fewer",))


def test_preferences_are_read_from_toml_and_options_replace_those_of_the_same_axis(tmp_path):
    (tmp_path / "momus-gate.toml").write_text('[better]\nfaults.loop_share = "fewer"\nlength = "higher"\n')
    rules = read_rules(start=tmp_path).updated(better=preferences("length=fewer"))
    assert list(map(str, rules.better)) == ["faults.loop_share=fewer", "length=fewer"]
    (tmp_path / "momus-gate.toml").write_text('better = {length = "best"}')
    with pytest.raises(UsageError, match=r"momus-gate.toml: .*no direction 'best'"):
        read_rules(start=tmp_path)


def looping(name, share, seed=0):
    rng = np.random.default_rng(seed)
    texts = [d.text + " so it goes" * (30 if rng.random() < share else 0) for d in corpus(name, N, seed)]
    return [{"id": f"{i}", "prompt_id": f"p{i}", "text": text} for i, text in enumerate(texts)]


def test_a_gate_of_texts_lists_what_was_not_checked_and_names_the_fault(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, share in (("old", 0.0), ("new", 0.5)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, looping(name, share))))
    texts = ["--against", "old=old.jsonl", "-g", "new=new.jsonl"]
    done = CliRunner().invoke(app, ["gate", *texts, "--critics", "faults,diversity,length", "--github"])
    assert isinstance(done.exception, GateFailed)
    said = " ".join(done.output.split())
    assert "Not checked: variety between answers (diversity) of 'new': 'old' has no scored document" in said
    assert "In 80 % of cases it would have found length of documents changed by" in said
    assert "momus outliers momus-runs/new-against-old --fault loop" in done.exception.hint
    command = ["gate", "momus-runs/new-against-old", "--better", "faults.loop_share=fewer", "--json"]
    done = CliRunner().invoke(app, command)
    (check,) = json.loads(done.output)["checks"]
    assert (check["rule"], check["status"]) == ("better", "failed")
    assert check["change"].endswith("points")


def test_what_would_have_been_found_is_found_in_four_of_five_cases():
    rng, limit, level, error = np.random.default_rng(0), 1.0, 0.01, 0.2
    for kind, unit_error in (("size", 0.0), ("side", 0.0), ("size", 0.1)):
        gap = Gap(1.0, error, error, 1e6, 1.0, kind, unit_error, unit_error)
        least = gap.detectable(limit, level)
        effects = least + error * rng.normal(size=2000)
        units = 1 + unit_error * rng.normal(size=2000)
        gaps = [Gap(e, error, error, 1e6, u, kind, unit_error, unit_error) for e, u in zip(effects, units, strict=True)]
        shown = np.mean([g.interval(level, limit)[0] > limit for g in gaps])
        assert shown == pytest.approx(0.8, abs=0.04), (kind, unit_error)


def test_the_table_has_what_would_have_been_found(run):
    result = gate_run(run, Rules(require=("not-beyond-itself",)))
    (length,) = [c for c in result.checks if c.critic == "length"]
    assert least_found(length) == f"{length.detectable:.2g} ({length.change})"
    assert length.change.endswith(" %")
    assert "found in 80 %" in text(on_terminal(gate_blocks(result)), 120)


def test_texts_whose_answers_are_the_same_are_not_worse(tmp_path):
    same = [d.text for d in corpus("old", N, 3)]
    texts = [Corpus.from_texts(same, prompts=[f"{i}" for i in range(N)], name=name) for name in ("old", "new")]
    momus.compare(
        against={"old": texts[0]},
        generated={"new": texts[1]},
        critics=["length"],
        permutations=199,
        out=tmp_path / "run",
    )
    result = gate_run(tmp_path / "run", Rules(better=preferences("length=fewer"), require=("not-worse",)))
    assert result.passed
