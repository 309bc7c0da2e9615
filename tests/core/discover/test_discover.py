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
from momus.discover.covariates import design_within
from momus.discover.discovering import halves
from momus.discover.features import Feature, features, place_of
from momus.discover.files import read_proposals
from momus.discover.proposing import Holding, propose, z_of
from momus.discover.verifying import at_equal_length
from momus.discover.wordings import Wordings
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


ENDS = ["Just ask again.", "Help is near.", "Tell me more?", "It helps to say more.", "Say so again.", "You may ask."]
ENDS += ["Near me, one may tell.", "So it is with you?"]


def test_a_remark_in_many_wordings_is_found_as_sentences_that_are_alike():
    def closing(text, rng, share=0.0):
        sentences = [f"{' '.join(rng.choice(WORDS, rng.integers(3, 9)))}{rng.choice(['.', '?'])}" for _ in range(3)]
        return " ".join([text, *sentences[rng.integers(3) :], *rng.choice(ENDS, int(rng.random() < share))])

    old = corpus_of(texts_of(300, 2, closing), "old")
    new = corpus_of(texts_of(300, 3, lambda text, rng: closing(text, rng, 0.25)), "new")
    result = discover(old, new)
    first = next(d for d in result.verified if d.features[0].kind == "ends like")
    (feature,) = first.features
    assert first.difference == pytest.approx(0.25, abs=0.08)
    assert all(any(sentence == end.lower() for end in ENDS) for sentence in feature.item.split("\n"))
    assert all(any(end in place for end in ENDS) for _, place in first.examples)
    phrases = [d.difference for d in result.verified if d.features[0].kind in ("says", "ends", "begins")]
    assert max(phrases, default=0) < 0.7 * first.difference


def test_wordings_of_the_half_that_proposes_are_judged_by_classifiers_of_its_others():
    # each sentence is its own: what was learned of some says nothing about the others
    rng = np.random.default_rng(0)
    texts = [[" ".join(f"w{rng.integers(400)}" for _ in range(6)) + "." for _ in range(200)] for _ in range(2)]
    wordings = Wordings(*texts, Design.documents(200, 200))
    held, by_heart = wordings.proposing, wordings.holding(*texts)
    assert np.abs(held.generated.mean(axis=0) - held.real.mean(axis=0)).sum() < 0.2
    assert (np.abs(by_heart.generated.mean(axis=0) - by_heart.real.mean(axis=0)) > 0.3).all()


@pytest.mark.parametrize("text", ["", "| a | b |", "x"])
def test_texts_without_sentences_that_differ_have_no_wordings(text):
    assert not Wordings([text] * 30, [text] * 30, Design.documents(30, 30)).known


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


def tasks(n, seed, name, coding, offers):
    """Documents of two tasks, of which those that code mostly tell to run it; some of either offer more."""
    rng = np.random.default_rng(seed)
    code, texts = rng.random(n) < coding, []
    for text, codes in zip(texts_of(n, [seed, 1]), code, strict=True):
        begins = "Run the script now. " + text.split(" ", 4)[4] if codes and rng.random() < 0.7 else text
        texts.append(begins + "\n\nWould you like more?" * int(rng.random() < offers))
    return Corpus.from_texts(texts, name=name).with_field("task", ["code" if c else "essay" for c in code])


def said(discoveries):
    return " ".join(item for d in discoveries for _, item in d.features)


def test_another_mix_of_tasks_is_no_discovery_and_what_differs_within_them_is():
    texts = tasks(300, 0, "old", 0.3, 0.05), tasks(300, 1, "new", 0.7, 0.3)
    assert "run the script" in said(discover(*texts).verified)
    labels = {(c.name, d.id): {"runs"} for c in texts for d in c if "Run the" in d.text}
    result = discover(*texts, {"judge.jsonl": labels}, control_for=["task"])
    assert "run the script" not in said(result.verified)
    assert "runs" in said(result.unverified)  # proposed from elsewhere, and what follows from tasks falls
    (offers,) = (d for d in result.verified if "would you like more" in said([d]))
    assert offers.difference == pytest.approx(0.25, abs=0.1)
    assert offers.low < offers.difference < offers.high
    lines = list(discoveries_lines(result))
    assert "(150 units; 150 | 150 documents, compared among those alike in task)" in lines[-1]


def test_a_difference_that_tasks_hide_is_found_within_them():
    """By Simpson's paradox: 20 points in both tasks, and none in the whole, as the task that has it is rarer."""
    rng, texts = np.random.default_rng(0), []
    for name, coding, more in (("old", 0.75, 0.0), ("new", 0.25, 0.2)):
        code = rng.random(600) < coding
        holds = rng.random(600) < np.where(code, 0.5, 0.1) + more
        drawn = [t + "\n\nLet me know!" * int(h) for t, h in zip(texts_of(600, int(100 * more)), holds, strict=True)]
        texts.append(Corpus.from_texts(drawn, name=name).with_field("task", ["ec"[int(c)] for c in code]))
    assert not discover(*texts).verified
    (found,) = (d for d in discover(*texts, control_for=["task"]).verified if "let me know" in said([d]))
    assert found.difference == pytest.approx(0.2, abs=0.1)


def test_what_follows_from_length_is_no_discovery_among_documents_of_one_length():
    def long(n, seed, share):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(5, 40, n) + np.where(rng.random(n) < share, 25, 0)
        texts = [" ".join(rng.choice(WORDS, size)) for size in sizes]
        return [text + (" finally." if rng.random() < len(text) / 500 else ".") for text in texts]

    sides = [
        Corpus.from_texts(long(400, i, share), name=name) for i, (name, share) in enumerate((("a", 0.2), ("b", 0.8)))
    ]
    assert discover(*sides).verified
    assert not discover(*sides, control_for=["length"]).verified


def test_z_within_bins_is_that_of_weighted_shares():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    held = [(rng.random((n, 3)) < 0.4).astype(float) for n in (90, 70)]
    bins, groups = ([rng.integers(0, k, n) for n in (90, 70)] for k in (4, 25))
    for design in (Design.bins(*bins), Design.bins(*bins).grouped(*groups)):
        difference, variance = np.zeros(3), np.zeros(3)
        for side, sign in ((0, -1), (1, 1)):
            w = design.weights[side] / design.weights[side].sum()
            share = np.array([held[side][bins[side] == b].mean(axis=0) for b in range(4)])
            units = np.eye(design.units[side])[design.unit_numbers[side]].T  # (units, n)
            difference += sign * w @ held[side]
            variance += ((units @ (w[:, None] * (held[side] - share[bins[side]]))) ** 2).sum(axis=0)
            variance += ((units @ w) ** 2).mean()
        names = [(Feature("says", str(i)),) for i in range(3)]
        z = z_of(Holding(names, *map(csr_matrix, held)), design)
        assert z == pytest.approx(difference / np.sqrt(variance))


def test_covariates_of_prompts_leave_pairs_and_others_do_not():
    sides = [c.with_field("task", ["a", "b"] * 60) for c in (OLD, NEW)]
    rows = np.arange(120)
    assert design_within(["task"], (sides[0], sides[1]), (rows, rows)).kind == "pairs"
    other = sides[1].with_field("task", ["b", "a", "b"] * 40)
    assert design_within(["task"], (sides[0], other), (rows, rows)).kind == "bins"
    # a covariate of one value leaves what is compared
    (one, two), (first, rest) = (c.with_field("task", ["a"] * 60) for c in alone(60)), (rows[:60], rows[:40])
    assert design_within(["task"], (one, two), (first, rest)).kind == "documents"


def alone(n, **columns):
    """Two texts without prompts in common, whose documents have unequal lengths."""
    return [Corpus.from_texts([" ".join(WORDS[: 3 + i % 9]) for i in range(n)], name=name, **columns) for name in "xy"]


def test_groups_are_the_units_within_bins_too():
    one, other = alone(120, groups=[str(i // 4) for i in range(120)])
    design = design_within(["length"], (one, other), (np.arange(120), np.arange(60)))
    assert (design.kind, design.units) == ("bins", (30, 15))


def test_covariates_that_texts_lack_or_that_keep_them_apart_are_refused():
    sides = [c.with_field("task", [c.name] * 120) for c in (OLD, NEW)]
    with pytest.raises(UsageError, match=r"control_for=\['topic'\]: no field of both texts") as error:
        discover(*sides, control_for=["topic"])
    assert "length, task" in str(error.value.hint)
    with pytest.raises(UsageError, match=r"alike in these \(no overlap\)"):
        discover(*sides, control_for=["task"])


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
        rows = ({"id": d.id, "prompt_id": d.id, "text": d.text, "meta": {"task": "a"}} for d in corpus)
        (tmp_path / f"{corpus.name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = ["--against", f"old={tmp_path}/old.jsonl", "--generated", f"new={tmp_path}/new.jsonl"]
    shown = CliRunner().invoke(app, ["discover", *texts, "--quiet"])
    assert shown.exit_code == 0
    assert "of new" in shown.output.splitlines()[0]
    machine = json.loads(CliRunner().invoke(app, ["discover", *texts, "--json"]).output)
    assert machine["verified"]
    assert len(machine["proposing"][0]) == 60
    within = CliRunner().invoke(app, ["discover", *texts, "--json", "--control-for", "length,meta.task"])
    assert json.loads(within.output)["control_for"] == ["length", "meta.task"]
    assert json.loads(within.output)["design"] == "bins"
    refused = CliRunner().invoke(app, ["discover", *texts[2:]])
    assert isinstance(refused.exception, UsageError)
