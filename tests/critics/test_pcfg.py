"""The grammar against enumeration of all derivations, and the critic on a treebank of its own."""

from __future__ import annotations

import numpy as np
import pytest

import momus
from momus import Corpus
from momus.conformance import check_critic
from momus.errors import MomusError
from momus_critics.passages.pieces import sentences
from momus_critics.pcfg import Pcfg
from momus_critics.pcfg.grammar import Grammar, RuleCounts, parse_trees, read_trees

SUBJECTS, VERBS, OBJECTS = ["cat", "dog", "bird"], ["sees", "likes", "hears"], ["mouse", "tree", "house"]


def bank(n, seed=0):
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n):
        phrase = [f"(NP (DT the) (NN {rng.choice(x)}))" for x in (SUBJECTS, OBJECTS)]
        more = "(PP (IN near) (NP (DT the) (NN tree)))" if rng.random() < 0.4 else ""
        trees.append(f"(S {phrase[0]} (VP (VBZ {rng.choice(VERBS)}) {phrase[1]} {more}))")
    return "\n".join(trees)


def random_grammar(k, v, seed):
    rng = np.random.default_rng(seed)
    binary, lexical = rng.random((k, k, k)), rng.random((k, v)) * 4
    total = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
    top = rng.dirichlet(np.ones(k))
    return Grammar(
        [f"L{i}" for i in range(k)],
        [f"w{i}" for i in range(v)],
        top,
        binary / total[:, None, None],
        lexical / total[:, None],
    )


def derivations(grammar, label, words):
    """P(words | label), as the sum over all derivations, one by one."""
    if len(words) == 1:
        return grammar.lexical[label, words[0]]
    k = len(grammar.labels)
    return sum(
        grammar.binary[label, b, c] * derivations(grammar, b, words[:s]) * derivations(grammar, c, words[s:])
        for s in range(1, len(words))
        for b in range(k)
        for c in range(k)
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_inside_algorithm_sums_over_all_derivations(seed):
    grammar = random_grammar(2, 3, seed)
    rng = np.random.default_rng(seed)
    some = [rng.integers(0, 3, n).tolist() for n in (1, 2, 5, 3, 5, 1, 4)]
    expected = [sum(grammar.top[a] * derivations(grammar, a, s) for a in range(2)) for s in some]
    np.testing.assert_allclose(grammar.log_likelihood(some), np.log(expected), rtol=1e-10)


def test_long_sentences_do_not_underflow():
    grammar = random_grammar(3, 50, 0)
    some = [np.random.default_rng(0).integers(0, 50, n).tolist() for n in (60, 1)]
    values = grammar.log_likelihood(some)
    assert np.isfinite(values).all()
    assert values[0] < -100


def test_probabilities_of_each_label_sum_to_one():
    rules = RuleCounts()
    for tree in parse_trees(bank(40)):
        rules.add(tree)
    grammar = Grammar.of_rules(rules)
    np.testing.assert_allclose(grammar.binary.sum(axis=(1, 2)) + grammar.lexical.sum(axis=1), 1)
    assert grammar.top.sum() == pytest.approx(1)


def test_rules_of_a_tree_are_those_written_down():
    (tree,) = parse_trees("( (S (NP-SBJ (DT the) (JJ old) (NN cat)) (VP (VBD sat) (NP (-NONE- *T*))) (. .)) )")
    rules = RuleCounts()
    rules.add(tree)
    assert rules.binary == {
        ("S", "NP", "S|NP"): 1,
        ("S|NP", "VP", "."): 1,
        ("NP", "DT", "NP|DT"): 1,
        ("NP|DT", "JJ", "NN"): 1,
    }
    assert rules.lexical["VP", "sat"] == 1
    assert rules.top == {"S": 1}


@pytest.mark.parametrize("wrong", ["", "(S (NP it)", "word (S (N a))", "(" * 500 + ")" * 500])
def test_broken_trees_are_an_error_with_a_place(tmp_path, wrong):
    path = tmp_path / "bank.mrg"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(MomusError, match=r"bank\.mrg"):
        list(read_trees(path))
    with pytest.raises(MomusError, match="none"):
        list(read_trees(tmp_path / "none"))


@pytest.fixture
def critic(tmp_path):
    path = tmp_path / "bank.mrg"
    path.write_text(bank(300), encoding="utf-8")
    return Pcfg(treebank=str(path))


def texts(n, seed, shuffle=False):
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        words = [[w for w in t.replace(")", " ").split() if w.islower()] for t in bank(3, seed * 1000 + i).splitlines()]
        if shuffle:
            words = [rng.permutation(w).tolist() for w in words]
        found.append(" ".join(" ".join(w).capitalize() + "." for w in words))
    return found


def test_it_finds_sentences_in_disorder_and_not_others(critic):
    result = momus.compare(
        texts(60, 1), {"same": texts(60, 2), "shuffled": texts(60, 3, True)}, critics=[critic], seed=0
    )
    p = {v.generated: v.p for v in result.verdicts if v.statistic == "latent_ppl"}
    assert p["shuffled"] < 0.01 < p["same"]


@pytest.mark.slow
def test_it_keeps_the_contract(critic):
    report = check_critic(critic, Corpus.from_texts(texts(60, 4)))
    assert report.ok, [r for r in report.records if r.status == "failed"]


def test_long_sentences_are_counted(critic):
    fitted = critic.fit(Corpus.from_texts(["a b", "c d"]))
    scores = fitted.score(Corpus.from_texts(["The cat sees the tree.", " ".join(["word"] * 60)]))
    assert scores.unscored == {"no sentence of at most 40 words": 1}


def test_sentences_end_where_they_end():
    assert sentences("He said: “No.” She left.\nA line") == ["He said: “No.", "She left.", "A line"]
