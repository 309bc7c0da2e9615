"""Treebanks of dependency parses, which the critic `pcfg` reads."""

import pytest

from momus_critics.pcfg.grammar import read_trees
from momus_preparing.treebank import write_treebank


def test_a_treebank_of_dependency_parses(tmp_path):
    pytest.importorskip("spacy")
    path = tmp_path / "parsed.mrg"
    n = write_treebank(["The old cat sat on the mat. It slept (for hours).", "Rain fell."], path)
    trees = list(read_trees(path))
    assert n == len(trees) == 3

    def leaves(tree):
        return [tree.word] if tree.word is not None else [w for c in tree.children for w in leaves(c)]

    assert leaves(trees[0]) == ["The", "old", "cat", "sat", "on", "the", "mat", "."]
    assert "-LRB-" in leaves(trees[1])


@pytest.mark.slow
def test_a_treebank_keeps_the_words_of_split_text(tmp_path):
    pytest.importorskip("spacy")
    path = tmp_path / "parsed.mrg"
    assert write_treebank(["the <unk> can @-@ not ( yet ) ."], path, split=False) >= 1
    text = path.read_text(encoding="utf-8")
    assert all(f" {word})" in text for word in ("<unk>", "@-@", "not", "-LRB-", "-RRB-"))
