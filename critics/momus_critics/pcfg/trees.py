"""Read bracketed trees, and count their rules, binarised."""

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
"""Maximum nesting depth of brackets."""


@dataclass
class Tree:
    """A node: a label, and either children or a word."""

    label: str
    children: list[Tree] = field(default_factory=list)
    word: str | None = None


def read_trees(path: str | Path) -> Iterator[Tree]:
    """Read bracketed trees, in the format of the Penn Treebank and of NLTK's sample.

    Traces (``-NONE-``) and the function tags after a hyphen are dropped.

    Raises
    ------
    ReadingError
        The file cannot be read, holds no tree, or has unbalanced brackets or more than 400 nested ones.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadingError(f"{path} cannot be read: {error}", hint="give a file of bracketed trees") from error
    empty = True
    for tree in parse_trees(text, str(path)):
        empty = False
        yield tree
    if empty:
        raise ReadingError(f"{path} holds no tree", hint="write trees as (S (NP (PRP it)) (VP (VBZ is)))")


def parse_trees(text: str, place: str = "trees") -> Iterator[Tree]:
    """Parse bracketed trees from text; ``place`` names the source in error messages.

    >>> (tree,) = parse_trees("( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat))) )")
    >>> tree.label, [c.label for c in tree.children]
    ('S', ['NP', 'VP'])
    """
    stack: list[Tree] = []
    expects_label = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "(":
            if len(stack) >= DEEPEST:
                raise ReadingError(f"{place}: more than {DEEPEST} nested brackets at character {match.start()}")
            stack.append(Tree(""))
            expects_label = True
            continue
        if not stack:
            raise ReadingError(f"{place}: {token!r} outside of brackets at character {match.start()}")
        if token != ")":
            if expects_label:
                stack[-1].label = token if token[0] == "-" else _FUNCTION.sub("", token)
            else:
                stack[-1].word = token
            expects_label = False
            continue
        expects_label = False
        node = stack.pop()
        usable = node.word is not None and node.label != "-NONE-"
        if not node.label and node.word is None and len(node.children) == 1:  # brackets without a label around a tree
            node, usable = node.children[0], True
        if not (usable or node.children):
            continue
        if stack:
            stack[-1].children.append(node)
        else:
            yield node
    if stack:
        raise ReadingError(f"{place}: {len(stack)} unclosed brackets")


@dataclass
class Rules:
    """Counts of the rules ``A → B C`` and ``A → word``, and of the labels at the top of trees."""

    binary: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    lexical: Counter[tuple[str, str]] = field(default_factory=Counter)
    top: Counter[str] = field(default_factory=Counter)

    def add(self, tree: Tree) -> None:
        """Count the rules of a tree.

        Unary chains are collapsed to the top label. Nodes with more than two children are binarised from the left; the
        label of the remaining children combines their parent and left neighbour (Klein & Manning 2003).
        """
        self.top[tree.label] += 1
        stack: list[tuple[str, Sequence[Tree]]] = [(tree.label, [tree])]  # a label and the sequence it rewrites to
        while stack:
            label, nodes = stack.pop()
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
            stack += [(first.label, [first]), (other, rest)]
