"""How many small changes of the code no test notices: a random sample of mutants of files, and the tests that run them.

    python benchmarks/mutants.py critics/momus_critics/length.py --tests tests/critics/test_length.py -n 40

A mutant has one comparison (< and ≤, = and ≠), one sign or operation (+ and −, × and ÷) or one number changed.
Docstrings, annotations, decorators and messages stay. The tree is copied, so the files themselves are never touched.
The tests, and the doctests of the modules, run once with a trace; then each mutant is imported in a fork of this
process, where its libraries are loaded already, by the tests that reach its statement: the shortest first, until one
fails. Each line of the output is a mutant: killed, survived, or stopped after --limit seconds of CPU time, which is
neither.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ("core", "critics", "adapters", "examples/people")
"""Where the packages of the tree lie."""
LIBRARIES = ("hypothesis", "pandas", "pyarrow.parquet", "scipy.stats", "scipy.optimize", "sklearn.feature_extraction")
"""Imported once, before any fork."""
SWAPPED = {
    **{ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")},
}


@dataclass(frozen=True)
class Mutant:
    """A change of the bytes [start, stop) of a file, in the statement that has the lines [first, last]."""

    path: str
    line: int
    start: int
    stop: int
    old: str
    new: str
    first: int
    last: int


PATHS = re.compile(r"path|folder|root|home|out$|\.work$|\.parent", re.IGNORECASE)
"""Names of paths, which ``/`` joins."""


def is_path(left: ast.expr, right: ast.expr) -> bool:
    """Whether ``/`` joins a path: one operand is a text, or has the name of a path."""
    texts = (ast.JoinedStr,)
    return any(
        isinstance(side, texts)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        or bool(PATHS.search(ast.unparse(side)))
        for side in (left, right)
    )


class _Source:
    """A file whose mutants are made: its bytes, and where each of its lines begins."""

    def __init__(self, path: str) -> None:
        self.path, self.source = path, (ROOT / path).read_bytes()
        lengths = (len(line) for line in self.source.splitlines(keepends=True))
        self.starts = list(accumulate(lengths, initial=0))

    def place(self, line: int | None, column: int | None) -> int:
        """Byte of a line (from 1) and a column."""
        return self.starts[(line or 0) - 1] + (column or 0)

    def visit(self, node: ast.AST, lines: tuple[int, int]) -> Iterator[Mutant]:
        """Mutants of a node and of all below it; ``lines`` are the first and last of its statement."""
        if isinstance(node, ast.JoinedStr | ast.Raise):  # messages
            return
        if isinstance(node, ast.stmt):  # of a statement with a body, its head
            body = getattr(node, "body", None)
            lines = node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or 0
        yield from self.here(node, lines)
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self.visit(child, lines)

    def here(self, node: ast.AST, lines: tuple[int, int]) -> Iterator[Mutant]:
        """Mutants of a node itself: other operators, and a number that is one more, or a fifth."""
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, node.comparators, strict=False):
                yield from self.between(left, operator, right, lines)
        elif isinstance(node, ast.BinOp):
            yield from self.between(node.left, node.op, node.right, lines)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start, stop = self.place(node.lineno, node.col_offset), self.place(node.end_lineno, node.end_col_offset)
            new = str(node.value + 1) if isinstance(node.value, int) else repr(node.value * 1.2 or 0.1)
            yield Mutant(self.path, node.lineno, start, stop, self.source[start:stop].decode(), new, *lines)

    def between(self, left: ast.expr, operator: ast.AST, right: ast.expr, lines: tuple[int, int]) -> Iterator[Mutant]:
        """The mutant of an operator between two operands, if it has another to be swapped with."""
        if type(operator) not in SWAPPED or (isinstance(operator, ast.Div) and is_path(left, right)):
            return
        old, new = SWAPPED[type(operator)]
        start = self.place(left.end_lineno, left.end_col_offset)
        at = self.source.find(old.encode(), start, self.place(right.lineno, right.col_offset))
        if at >= 0:
            yield Mutant(self.path, left.end_lineno or 0, at, at + len(old), old, new, *lines)


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file."""
    source = _Source(path)
    return list(source.visit(ast.parse(source.source), (0, 0)))


class Reach:
    """A plug-in of pytest that notes, per test, its seconds and the lines of some files that it runs.

    What runs while fixtures are made counts for all tests of the file: they may share them.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self.files = set(files)
        self.lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = defaultdict(float)

    def traced(self, key: str) -> Iterator[None]:
        add = self.lines[key].add

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def called(frame: FrameType, event: str, argument: Any) -> Any:
            code = frame.f_code  # not of modules and bodies of classes, which whatever imports first runs
            return local(frame, event, argument) if code.co_filename in self.files and code.co_flags & 1 else None

        sys.settrace(called)
        try:
            return (yield)
        finally:
            sys.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        yield from self.traced(item.nodeid.partition("::")[0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        yield from self.traced(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration

    def tests_of(self, mutant: Mutant, tree: Path) -> list[str]:
        """The tests that reach a statement, the shortest first; of one that runs at import, those of its file."""

        def reached(lines: range) -> list[str]:
            wanted = {(str(tree / mutant.path), n) for n in lines}
            found = [t for t in self.seconds if wanted & (self.lines[t] | self.lines[t.partition("::")[0]])]
            return sorted(found, key=lambda t: self.seconds[t])

        return reached(range(mutant.first, mutant.last + 1)) or reached(range(1, 10_000))


class Shortest:
    """A plug-in of pytest that runs tests in a given order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.rank = {test: i for i, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.rank.get(item.nodeid, len(self.rank)))


def forked(tree: Path, tests: Sequence[str], plugin: Reach | Shortest, limit: int) -> tuple[int | None, str]:
    """Run pytest in a fork whose packages are those of the tree: exit code, None when stopped, and its output.

    The limit is one of CPU time; one that waits is stopped after 20 times as long.
    """
    log = tree.parent / "log"

    def work() -> None:
        os.setpgrp()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        with open(log, "wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(tree)
        sys.path[:0] = roots = [str(tree / name) for name in ROOTS]
        os.environ.update(PYTHONPATH=os.pathsep.join(roots), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        # files of the code are named for their doctests: what they import is no test because it begins with "test"
        options = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "python_functions=test_*"]
        code = pytest.main([*options, *tests], plugins=[plugin])
        if isinstance(plugin, Reach):
            reached = {test: sorted(lines) for test, lines in plugin.lines.items()}
            (tree.parent / "reach").write_text(json.dumps([reached, dict(plugin.seconds)]), encoding="utf-8")
        sys.stdout.flush()
        os._exit(int(code))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(20 * limit)
    if process.is_alive():
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
    return None if (process.exitcode or 0) < 0 else process.exitcode, log.read_text(errors="replace")


def copied(folder: Path) -> Path:
    """A copy of all files of the working tree but ignored ones."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def main() -> None:
    """Draw mutants, run their tests, print a line for each and a count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", help="files or folders of the code, from the root of the repository")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    parser.add_argument("-k", default="", help="names of tests, as pytest takes it: leave out what takes long")
    parser.add_argument("-n", type=int, default=12, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, default=60, help="seconds of CPU time per mutant")
    options = parser.parse_args()
    paths = [str(f.relative_to(ROOT)) for p in options.paths for f in sorted((ROOT / p).rglob("*.py"))]
    paths += [p for p in options.paths if p.endswith(".py")]
    drawn = [m for p in paths for m in mutants_of(p)]
    random.Random(options.seed).shuffle(drawn)
    drawn = drawn[: options.n]
    for name in LIBRARIES:
        importlib.import_module(name)
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder).resolve() / "tree")
        changed = sorted({m.path for m in drawn})
        reach = Reach([str(tree / path) for path in changed])
        code, output = forked(tree, ["-k", options.k, *changed, *options.tests], reach, 3_600)
        if code:
            sys.exit("tests fail without a mutant: repair them first\n" + output[-3_000:])
        lines, seconds = json.loads((Path(folder) / "reach").read_text(encoding="utf-8"))
        reach.lines.update({test: {(path, line) for path, line in places} for test, places in lines.items()})
        reach.seconds.update(seconds)
        outcomes: Counter[str] = Counter()
        for mutant in drawn:
            source = (tree / mutant.path).read_bytes()
            began, tests = time.perf_counter(), reach.tests_of(mutant, tree)
            text = source[: mutant.start] + mutant.new.encode() + source[mutant.stop :]
            (tree / mutant.path).write_bytes(text)
            code, output = forked(tree, tests, Shortest(tests), options.limit) if tests else (0, "")
            (tree / mutant.path).write_bytes(source)
            outcome = "stopped" if code is None else "killed" if code else "survived"
            by = next(iter(output.partition("FAILED ")[2].split()), "").split("::")[-1]
            spent = {"tests": len(tests), "seconds": round(time.perf_counter() - began, 1), "by": by}
            print(json.dumps({"outcome": outcome, **vars(mutant), **spent}, ensure_ascii=False), flush=True)
            outcomes[outcome] += 1
        print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
