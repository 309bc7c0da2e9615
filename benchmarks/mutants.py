"""How many small changes of the code no test notices: a random sample of mutants of files, and the tests that run them.

    python benchmarks/mutants.py critics/momus_critics/length.py --tests tests/critics/test_length.py -n 12

A mutant has one comparison (< and ≤, = and ≠), one sign or operation (+ and −, × and ÷) or one number changed.
Docstrings, annotations, decorators and messages stay. The tree is copied, so the files themselves are never touched. A
test file runs if it names the changed module or something public in it; the module's doctests run too. Each line of the
output is a mutant: killed, survived, or stopped after --limit seconds, which is neither.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
SWAPPED = {
    **{ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">")},
    **{ast.Eq: ("==", "!="), ast.NotEq: ("!=", "==")},
    **{ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")},
}


@dataclass(frozen=True)
class Mutant:
    """A change of the bytes [start, stop) of a file."""

    path: str
    line: int
    start: int
    stop: int
    old: str
    new: str


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(left: ast.expr, operator: ast.AST, right: ast.expr) -> Iterator[Mutant]:
        if type(operator) not in SWAPPED:
            return
        old, new = SWAPPED[type(operator)]
        start = place(left.end_lineno or 0, left.end_col_offset or 0)
        at = source.find(old.encode(), start, place(right.lineno, right.col_offset))
        if at >= 0:
            yield Mutant(path, left.end_lineno or 0, at, at + len(old), old, new)

    def visit(node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.JoinedStr | ast.Raise):  # messages
            return
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, node.comparators, strict=False):
                yield from between(left, operator, right)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.op, node.right)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start, stop = (
                place(node.lineno, node.col_offset),
                place(node.end_lineno or 0, node.end_col_offset or 0),
            )
            new = str(node.value + 1) if isinstance(node.value, int) else repr(node.value * 1.2 or 0.1)
            yield Mutant(path, node.lineno, start, stop, source[start:stop].decode(), new)
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from visit(child)

    return list(visit(ast.parse(source)))


def tests_of(path: str, tests: Sequence[str]) -> list[str]:
    """The test files that name a module or something public in it, and the module for its doctests."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    public = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name[0] != "_"]
    dotted = path.split("/", 1)[1].removesuffix(".py").replace("/", ".")
    named = re.compile(rf"\b({'|'.join(map(re.escape, [dotted, *public]))})\b")
    files = {f for t in tests for f in ([ROOT / t] if t.endswith(".py") else sorted((ROOT / t).rglob("test_*.py")))}
    chosen = [f for f in files if named.search(f.read_text(encoding="utf-8"))]
    stem = Path(path).stem
    chosen.sort(key=lambda f: (stem not in f.stem, f.stat().st_size))  # those that are sure to be about it first
    return [path, *(str(f.relative_to(ROOT)) for f in chosen)]


def run(mutant: Mutant | None, tests: Sequence[str], tree: Path, limit: float) -> str:
    """Run the tests on a copy of the tree that holds the mutant: killed, survived or stopped.

    Without a mutant they must pass, else the program ends with their output.
    """
    roots = os.pathsep.join(str(tree / name) for name in ("core", "critics", "adapters"))
    environment = {**os.environ, "PYTHONPATH": roots, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *tests]
    if mutant is not None:
        source = (ROOT / mutant.path).read_bytes()
        changed = source[: mutant.start] + mutant.new.encode() + source[mutant.stop :]
        (tree / mutant.path).write_bytes(changed)
    try:
        ended = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return "stopped"
    finally:
        if mutant is not None:
            (tree / mutant.path).write_bytes(source)
    if mutant is None and ended.returncode:
        sys.exit("tests fail without a mutant: repair them first\n" + ended.stdout.decode()[-3000:])
    return "killed" if ended.returncode else "survived"


def main() -> None:
    """Draw mutants, run their tests, print a line for each and a count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", help="files or folders of the code, from the root of the repository")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    parser.add_argument("-n", type=int, default=12, help="number of mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300, help="seconds per mutant")
    options = parser.parse_args()
    paths = [str(f.relative_to(ROOT)) for p in options.paths for f in sorted((ROOT / p).rglob("*.py"))]
    paths += [p for p in options.paths if p.endswith(".py")]
    drawn = [m for p in paths for m in mutants_of(p)]
    random.Random(options.seed).shuffle(drawn)
    drawn = drawn[: options.n]
    chosen = {m.path: tests_of(m.path, options.tests) for m in drawn}
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    files = [name for name in names if (ROOT / name).is_file()]
    with tempfile.TemporaryDirectory() as folder:
        trees: Queue[Path] = Queue()
        for k in range(options.workers):
            tree = Path(folder) / str(k)
            for name in files:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
            trees.put(tree)

        def judged(mutant: Mutant) -> str:
            tree = trees.get()
            try:
                outcome = run(mutant, chosen[mutant.path], tree, options.limit)
            finally:
                trees.put(tree)
            print(json.dumps({"outcome": outcome, **vars(mutant)}, ensure_ascii=False), flush=True)
            return outcome

        whole = sorted({t for tests in chosen.values() for t in tests})
        run(None, whole, Path(folder) / "0", 10 * options.limit)
        with ThreadPoolExecutor(options.workers) as pool:
            print(json.dumps(Counter(pool.map(judged, drawn))))


if __name__ == "__main__":
    main()
