"""Run the code blocks of a page, as the tests do: ``python docs/blocks.py docs/quickstart.md`` prints what they print.

All blocks of a page run in one temporary folder, in order. What a block is, is said by the page itself:

* ``python``: runs in one namespace with the other Python blocks of the page;
* ``python``, ``toml``, … with ``title="path"``: is written to this file;
* ``console``: each line that begins with ``$`` is a command (and lines that go on after a backslash); each runs in a
  shell of its own, in the page's folder, and must end well; other lines are what it printed;
* ``bash``: a script, which must end well;
* any block after ``<!-- not run: reason -->`` is left alone; so are ``text`` and untitled ``toml`` and ``json``.

``pip install`` goes to a throw-away folder, from what is at hand. Small files under the names that pages use lie in the
folder, made of the demo's texts (`FILES`).
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from momus.demo import demo_path

SILENT = ("text", "toml", "json")
SHELLS = ("console", "bash")
SECONDS = 120
FILES = {
    "train.jsonl": ("fit", 0, 50),
    "held-out.jsonl": ("real", 0, 25),
    "new.jsonl": ("real", 25, 50),
    "a.jsonl": ("generated-nucleus", 0, 25),
    "b.jsonl": ("generated-ancestral", 0, 25),
    "novels.jsonl": ("prose", 0, 10),
    "more-novels.jsonl": ("prose", 10, 18),
    "stories.jsonl": ("generated-prose-nucleus", 0, 8),
}
"""Files that every page finds in its folder: which of the demo's texts, and which of its lines."""


@dataclass(frozen=True)
class Block:
    """One code block of a page."""

    page: str
    line: int
    language: str
    title: str
    content: str
    not_run: str = ""

    @property
    def runs(self) -> bool:
        """Whether it does something."""
        return not self.not_run and (bool(self.title) or self.language not in SILENT)

    def __str__(self) -> str:
        return f"{self.page}, line {self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Find the blocks of a page; blocks by indentation have the language ``indented``."""
    found: list[Block] = []
    reason = ""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            said = re.search(r"<!-- not run: (.+?) -->", token.content, flags=re.DOTALL)
            reason = said.group(1) if said else ""
        elif token.type in ("fence", "code_block"):
            words = token.info.split(maxsplit=1)
            language = "indented" if token.type == "code_block" else (words[0] if words else "")
            title = re.search(r'title="([^"]+)"', token.info)
            line = (token.map or [0])[0] + 1
            found.append(Block(page.name, line, language, title.group(1) if title else "", token.content, reason))
            reason = ""
    return found


def commands(content: str) -> Iterator[str]:
    """Split a ``console`` block into its commands."""
    lines = iter(content.splitlines())
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command += "\n" + next(lines)
            yield command


class Page:
    """A page that is run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "page"
        self.site, hook = folder / "site", folder / "hook"
        for made in (self.folder, self.site, hook):
            made.mkdir()
        for name, (source, first, last) in FILES.items():
            with gzip.open(demo_path(f"{source}.jsonl.gz"), "rt", encoding="utf-8") as lines:
                (self.folder / name).write_text("".join(islice(lines, first, last)), encoding="utf-8")
        # Packages that a page installs are found by programs that start later, with their .pth files.
        (hook / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(self.site)!r})\n", encoding="utf-8")
        programs = os.path.dirname(sys.executable)
        self.environment = {
            **os.environ,
            "PATH": programs + os.pathsep + os.environ.get("PATH", ""),
            "PYTHONPATH": str(hook),
            "COLUMNS": "110",
            "OMP_NUM_THREADS": "1",
            "PIP_TARGET": str(self.site),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as the value of --build-isolation
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "2",
        }
        self.space: dict[str, Any] = {"__name__": "page"}

    def run(self, block: Block) -> str:
        """Run a block; returns what its commands printed.

        Raises
        ------
        AssertionError
            A command failed, or the block is of no known kind.
        """
        if not block.runs:
            return ""
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.content, encoding="utf-8")
            return ""
        if block.language == "python":
            with chdir(self.folder):
                exec(compile("\n" * block.line + block.content, block.page, "exec"), self.space)
            return ""
        assert block.language in SHELLS, f"{block}: no block is called {block.language!r}"
        scripts = list(commands(block.content)) if block.language == "console" else [block.content]
        assert scripts, f"{block}: no command"
        return "".join(self._shell(block, script) for script in scripts)

    def _shell(self, block: Block, script: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, f"{block}: `{script}` ended with {done.returncode}:\n{done.stdout}"
        return f"$ {script}\n{done.stdout}"


def main() -> None:
    """Run pages, and print what they print."""
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(Path(folder))
            for block in blocks_of(Path(name)):
                print(f"— {block} ({block.language}{', not run: ' + block.not_run if block.not_run else ''})")
                print(page.run(block))


if __name__ == "__main__":
    main()
