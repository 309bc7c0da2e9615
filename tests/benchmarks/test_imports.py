"""Benchmarks and examples import names that exist: most of them run for hours, and in no test."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_names_that_benchmarks_and_examples_import_exist():
    imported, missing = 0, []
    for path in [p for folder in ("benchmarks", "examples") for p in sorted((ROOT / folder).rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0].startswith("momus"):
                module = import_module(node.module)
                for name in (alias.name for alias in node.names):
                    imported += 1
                    if not hasattr(module, name) and find_spec(f"{node.module}.{name}") is None:
                        missing.append(f"{path.relative_to(ROOT)}: {node.module}.{name}")
    assert imported > 100
    assert not missing
