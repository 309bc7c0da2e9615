"""Bracketed trees, and the rules that they use, with at most two symbols on the right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from momus.errors import ReadingError

_TOKEN = re.compile(r"[()]|[^\s()]+")
_FUNCTION = re.compile(r"(?<=[A-Z])[-=|].*")
DEEPEST = 400


@dataclass
class Tree:
    """A node: a label, and children, or a word."""

    label: str
    children: list[Tree] = field(default_factory=list)
    word: str | None = None


def read_trees(path: str | Path) -> Iterator[Tree]:
    """Read trees in brackets, as the Penn Treebank and NLTK's sample write them.

    Traces (``-NONE-``) and functions behind a hyphen are left out.

    Raises
    ------
    ReadingError
        The file cannot be read, its brackets do not match, or they are nested more than 400 deep.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadingError(f"{path} cannot be read: {error}", hint="give a file of trees in brackets") from error
    found = False
    for tree in parse_trees(text, str(path)):
        found = True
        yield tree
    if not found:
        raise ReadingError(f"{path} holds no tree", hint="write trees as (S (NP (PRP it)) (VP (VBZ is)))")


def parse_trees(text: str, place: str = "trees") -> Iterator[Tree]:
    """Read trees from text.

    >>> (tree,) = parse_trees("( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat))) )")
    >>> tree.label, [c.label for c in tree.children]
    ('S', ['NP', 'VP'])
    """
    stack: list[Tree] = []
    fresh = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "(":
            if len(stack) >= DEEPEST:
                raise ReadingError(
                    f"{place}: brackets are nested more than {DEEPEST} deep at character {match.start()}"
                )
            stack.append(Tree(""))
            fresh = True
            continue
        if not stack:
            raise ReadingError(f"{place}: {token!r} stands outside of brackets at character {match.start()}")
        if token != ")":
            if fresh:
                stack[-1].label = token if token[0] == "-" else _FUNCTION.sub("", token)
            else:
                stack[-1].word = token
            fresh = False
            continue
        fresh = False
        done = stack.pop()
        kept = done.word is not None and done.label != "-NONE-"
        if not done.label and done.word is None and len(done.children) == 1:
            done, kept = done.children[0], True
        if not (kept or done.children):
            continue
        if stack:
            stack[-1].children.append(done)
        else:
            yield done
    if stack:
        raise ReadingError(f"{place}: {len(stack)} brackets are not closed")


@dataclass
class Rules:
    """Counts of rules: ``A → B C`` and ``A → word``, and of the labels at the top."""

    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    lexical: Counter[tuple[str, str]] = field(default_factory=Counter)
    top: Counter[str] = field(default_factory=Counter)

    def add(self, tree: Tree) -> None:
        """Count the rules of a tree.

        A node with one child takes the child's place under its own label; one with more than two is cut from the left,
        the rest of it under a label that remembers its parent and one neighbour (Klein & Manning 2003).
        """
        self.top[tree.label] += 1
        waiting: list[tuple[str, Sequence[Tree]]] = [(tree.label, [tree])]
        while waiting:
            label, nodes = waiting.pop()
            while len(nodes) == 1 and nodes[0].word is None and len(nodes[0].children) == 1:
                nodes = nodes[0].children
            if len(nodes) == 1:
                (node,) = nodes
                if node.word is not None:
                    self.lexical[label, node.word] += 1
                    continue
                nodes = node.children
            first, rest = nodes[0], nodes[1:]
            parent = label.split("|")[0]
            other = rest[0].label if len(rest) == 1 else f"{parent}|{first.label}"
            self.binary[label, first.label, other] += 1
            waiting += [(first.label, [first]), (other, rest)]
