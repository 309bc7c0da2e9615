"""Discoveries: halves, proposals, tests of what was planted, files of other tools, and the command."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from momus import Corpus
from momus.cli.app import app
from momus.discover import discover
from momus.discover.discovering import halves
from momus.discover.features import Feature, features, place_of
from momus.discover.files import read_proposals
from momus.discover.proposing import Holding, propose, z_of
from momus.discover.verifying import at_equal_length
from momus.errors import MomusError, UsageError
from momus.inference.design import Design
from momus.report.words.discoveries import discoveries_lines, discovery_words

WORDS = [
    "river",
    "stone",
    "cloud",
    "meadow",
    "lantern",
    "harbour",
    "window",
    "garden",
    "letter",
    "winter",
    "bread",
    "paper",
]


def texts_of(n, seed, change=lambda text, rng: text):
    """n documents of random words, changed."""
    rng = np.random.default_rng(seed)
    drawn = (" ".join(rng.choice(WORDS, 12)) + "." for _ in range(n))
    return [change(text, rng) for text in drawn]


def corpus_of(texts, name, **columns):
    ids = [str(i) for i in range(len(texts))]
    return Corpus.from_texts(texts, ids=ids, prompts=columns.pop("prompts", ids), name=name, **columns)


def offering(text, rng):
    return f"{text}\n\nWould you like more?" if rng.random() < 0.3 else text


OLD = corpus_of(texts_of(120, 0), "old")
NEW = corpus_of(texts_of(120, 1, offering), "new")


def test_what_was_planted_is_verified_and_told_first():
    result = discover(OLD, NEW)
    first = result.verified[0]
    assert abs(first.difference) == pytest.approx(0.3, abs=0.15)
    assert first.low < first.difference < first.high
    assert result.design == "pairs"
    assert result.units == (60, 60)
    lines = list(discoveries_lines(result))
    assert lines[0].startswith("1. ")
    assert "of new" in lines[0]
    assert any("Would you like more?" in line for line in lines)


def test_equal_texts_verify_nothing():
    assert not discover(OLD, corpus_of([d.text for d in OLD], "new")).verified


def test_prompts_and_groups_stay_in_one_half():
    groups = [str(i // 6) for i in range(120)]
    sides = [corpus_of([d.text for d in c], c.name, groups=groups) for c in (OLD, NEW)]
    first, second = halves(*sides, seed=3)
    of_half = [{groups[i] for side in half for i in side.tolist()} for half in (first, second)]
    assert not of_half[0] & of_half[1]
    assert len(of_half[0]) == len(of_half[1]) == 10
    assert discover(*sides).units == (10, 10)


def test_the_seed_alone_decides_the_halves():
    one, other = halves(OLD, NEW, 0), halves(OLD, NEW, 0)
    assert all((a == b).all() for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))
    assert not np.array_equal(halves(OLD, NEW, 1)[0][0], one[0][0])


def test_few_documents_are_refused():
    with pytest.raises(UsageError, match="half of 'old' has 10 documents, 20 are needed"):
        discover(corpus_of(texts_of(20, 0), "old"), corpus_of(texts_of(20, 1), "new"))


def test_a_difference_at_equal_length_is_that_of_the_text():
    rng = np.random.default_rng(0)
    lengths = rng.normal(5, 0.5, 400), rng.normal(5.5, 0.5, 400)
    # whether it holds follows from length alone: longer documents have it more often
    held = tuple((x + rng.normal(0, 0.3, 400) > 5.3).astype(float) for x in lengths)
    value, low, high = at_equal_length(held, lengths, Design.documents(400, 400))
    assert held[1].mean() - held[0].mean() > 0.2
    assert low < value < high
    assert abs(value) < 0.1


def test_pairs_are_compared_within_prompts():
    pairs = Design.pairs(np.column_stack([np.arange(4), np.arange(4)]))
    value, low, high = at_equal_length(
        (np.zeros(4), np.array([1.0, 1.0, 1.0, 0.0])), (np.full(4, 5.0), np.full(4, 5.0)), pairs
    )
    assert value == pytest.approx(0.75)
    assert low < value < high


def test_z_agrees_with_the_test_of_means():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    one, other = (csr_matrix((rng.random((500, 1)) < p).astype(float)) for p in (0.3, 0.5))
    holding = Holding([(Feature("says", "x"),)], one, other)
    means, n = (one.mean(), other.mean()), 500
    error = np.sqrt(sum(m * (1 - m) / n for m in means))
    assert z_of(holding, Design.documents(n, n))[0] == pytest.approx((means[1] - means[0]) / error, rel=0.01)


def test_of_features_of_the_same_documents_one_is_proposed():
    from scipy.sparse import csr_matrix

    held = np.zeros((50, 2))
    held[:20] = 1
    names = [(Feature("says", "course"),), (Feature("says", "of course"),)]
    holding = Holding(names, csr_matrix(np.zeros((50, 2))), csr_matrix(held))
    assert propose(holding, Design.documents(50, 50)) == [names[1]]


@given(st.text(max_size=200))
def test_any_text_has_features_and_places(text):
    for feature in features(text):
        assert isinstance(place_of(feature, text), str)


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("1. one\n2. two\n3. three", Feature("has", "a numbered list")),
        ("1. one\n2. two\n3. three", Feature("has", "3 list items or more")),
        ("It rained", Feature("last mark", "no mark")),
        ("It rained. Let me know!", Feature("ends", "let me")),
        ("# Rain\n\nIt rained.", Feature("has", "a heading at the top")),
        ("So it’s done.", Feature("says", "it's done")),
    ],
)
def test_features_of_known_texts(text, feature):
    assert feature in features(text)


RECORDS = [
    {"question_id": "1", "model": "new", "property_description": "offers help", "category": "style"},
    {"question_id": "1", "model": "new", "property_description": "asks back"},
    {"id": "2", "corpus": "new", "property": ["warm", "short"]},
    {"id": "3", "hypothesis": "warm", "annotation": 0},
    {"id": "4", "hypothesis": "warm", "annotation": 1},
]


def test_proposals_of_other_tools_are_read(tmp_path):
    (tmp_path / "found.jsonl").write_text("\n".join(map(json.dumps, RECORDS)))
    assert read_proposals(str(tmp_path / "found.jsonl")) == {
        ("new", "1"): {"offers help", "asks back"},
        ("new", "2"): {"warm", "short"},
        ("", "3"): set(),
        ("", "4"): {"warm"},
    }


@pytest.mark.parametrize(
    ("content", "fault"), [('{"id": "1"}', "no property"), ('{"property": "warm"}', "no id"), ("", "no record|empty")]
)
def test_faulty_proposals_are_refused(tmp_path, content, fault):
    (tmp_path / "found.jsonl").write_text(content)
    with pytest.raises(MomusError, match=fault):
        read_proposals(str(tmp_path / "found.jsonl"))


def test_proposals_of_other_tools_are_verified():
    offers = {("new", str(i)): {"offers help"} for i, d in enumerate(NEW) if "Would" in d.text}
    result = discover(OLD, NEW, {"judge.jsonl": offers})
    (found,) = [d for d in result.verified if d.source == "judge.jsonl"]
    assert "are labelled “offers help”" in discovery_words(found, result)
    with pytest.raises(UsageError, match="no proposal belongs to a document"):
        discover(OLD, NEW, {"judge.jsonl": {("other", "1"): {"warm"}}})


def test_no_difference_is_told_as_minus_zero():
    result = discover(OLD, NEW)
    small = replace(result.verified[0], difference=0.2, low=-0.001, high=0.3, equal_length=-0.004)
    assert "(+20 points, 0 to 30; p" in discovery_words(small, result)
    assert "; of equal length, +0: it goes with length" in discovery_words(small, result)


def test_the_command_tells_and_lists_the_half_that_proposed(tmp_path):
    for corpus in (OLD, NEW):
        rows = ({"id": d.id, "prompt_id": d.id, "text": d.text} for d in corpus)
        (tmp_path / f"{corpus.name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = ["--against", f"old={tmp_path}/old.jsonl", "--generated", f"new={tmp_path}/new.jsonl"]
    shown = CliRunner().invoke(app, ["discover", *texts, "--quiet"])
    assert shown.exit_code == 0
    assert "of new" in shown.output.splitlines()[0]
    machine = json.loads(CliRunner().invoke(app, ["discover", *texts, "--json"]).output)
    assert machine["verified"]
    assert len(machine["proposing"][0]) == 60
    refused = CliRunner().invoke(app, ["discover", *texts[2:]])
    assert isinstance(refused.exception, UsageError)
