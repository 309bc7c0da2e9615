"""Run the code blocks of a page and check their output, as the tests do: ``python docs/blocks.py docs/quickstart.md``.

All blocks of a page run in one temporary folder, in order. The page itself says what a block is:

* ``python``: runs in one namespace with the other Python blocks of the page;
* ``python``, ``toml``, ``yaml``, … with ``title="path"``: is written to this file;
* ``console``: each line that begins with ``$`` is a command (with the lines that continue it after a backslash); each
  runs in a new shell in the page's folder and must succeed; the lines after it, if any, are its output;
* ``bash``: a script, which must succeed;
* ``text`` after ``<!-- output -->``: the output of the block that ran last;
* any block after ``<!-- not run: reason -->`` is left alone; so are other ``text`` and untitled ``toml``, ``yaml`` and
  ``json``;
* any block after ``<!-- needs: package -->`` is left alone where this package cannot be imported.

Output is compared line by line; times in seconds and white space at line ends do not count, and a line ``…`` stands for
any number of lines. ``--update`` writes the output found into the pages instead; of what stands between
two ``…`` the most similar lines are taken, so look at the difference.

``pip install`` goes to a throw-away folder, from what is installed already. The folder holds small files under
the names that pages use, made of the demo's texts (`FILES`).
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from momus.demo import demo_path

SILENT = ("text", "toml", "json", "yaml", "r")
SHELLS = ("console", "bash")
SECONDS = 120
FILES = {
    "train.jsonl": ("fit", 0, 50),
    "held-out.jsonl": ("real", 0, 25),
    "new.jsonl": ("real", 25, 50),
    "a.jsonl": ("generated-nucleus", 0, 25),
    "b.jsonl": ("generated-nucleus-cool", 0, 25),
    "novels.jsonl": ("prose", 0, 10),
    "more-novels.jsonl": ("prose", 10, 18),
    "stories.jsonl": ("generated-prose-nucleus", 0, 8),
}
"""Files in the folder of every page: which of the demo's texts, and which of its lines."""
LOGS = Path(__file__).resolve().parents[1] / "tests" / "data" / "logs"
"""Logs that harnesses wrote; pages find them in the folder ``logs``."""
BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
"""Scripts that pages run."""


TIME = re.compile(r"\b\d+(?:\.\d+)? ?s\b")
ANY = "…"


@dataclass(frozen=True)
class Block:
    """One code block of a page."""

    page: str
    line: int
    language: str
    title: str
    content: str
    not_run: str = ""
    output: bool = False
    """Whether it is the output of the block that ran last."""
    needs: str = ""
    """The package that it cannot do without, of those that are not installed everywhere."""

    @property
    def can_run(self) -> bool:
        """Whether the package that it needs is installed."""
        return not self.needs or find_spec(self.needs) is not None

    @property
    def runs(self) -> bool:
        """Whether it does something."""
        return not self.not_run and self.can_run and (bool(self.title) or self.language not in SILENT)

    def __str__(self) -> str:
        return f"{self.page}, line {self.line}"


@dataclass(frozen=True)
class Command:
    """One command of a ``console`` block, with the output that the page shows."""

    script: str
    shown: tuple[str, ...]


def blocks_of(page: Path) -> list[Block]:
    """Find the blocks of a page; blocks by indentation have the language ``indented``."""
    blocks: list[Block] = []
    comments = ""
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            comments += token.content
        elif token.type in ("fence", "code_block"):
            words = token.info.split(maxsplit=1)
            language = "indented" if token.type == "code_block" else (words[0] if words else "")
            title = re.search(r'title="([^"]+)"', token.info)
            line = (token.map or [0])[0] + 1
            name = title.group(1) if title else ""
            said = {
                key: found.group(1) if (found := re.search(rf"<!-- {key}: (.+?) -->", comments, re.DOTALL)) else ""
                for key in ("not run", "needs")
            }
            output = "<!-- output -->" in comments
            blocks.append(Block(page.name, line, language, name, token.content, said["not run"], output, said["needs"]))
            comments = ""
    return blocks


def commands(content: str) -> list[Command]:
    """Split a ``console`` block into its commands, each with the output shown."""
    parsed: list[tuple[str, list[str]]] = []
    lines = iter(content.splitlines())
    for line in lines:
        if line.startswith("$ "):
            script = line[2:]
            while script.endswith("\\"):
                script += "\n" + next(lines)
            parsed.append((script, []))
        elif parsed:
            parsed[-1][1].append(line)
    return [Command(script, tuple(shown)) for script, shown in parsed]


def normal(text: str) -> list[str]:
    """Lines of output as they are compared: without times, trailing white space, and empty lines at both ends."""
    return [TIME.sub("_ s", line.rstrip()) for line in text.strip("\n").splitlines()]


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether printed lines are those shown, where ``…`` stands for any number of them."""
    if not shown or not printed:
        return not printed and all(line.strip() == ANY for line in shown)
    if shown[0].strip() == ANY:
        return any(agrees(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return shown[0] == printed[0] and agrees(shown[1:], printed[1:])


def excerpt(shown: list[str], printed: list[str]) -> list[str]:
    """The printed lines that take the place of those shown; of each part between ``…`` the most similar ones.

    >>> excerpt(["a 1", "…", "y 2", "…"], ["a 3", "b 3", "y 4", "z 5"])
    ['a 3', '…', 'y 4', '…']
    """
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == ANY:
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return printed
    found: list[list[str]] = []
    start = 0
    for i, part in enumerate(parts):
        n = len(part)
        places = (
            range(start, len(printed) - n + 1) if i < len(parts) - 1 else range(len(printed) - n, len(printed) - n + 1)
        )
        if i == 0:
            places = range(1)
        best = max(places, key=lambda k: SequenceMatcher(None, "\n".join(part), "\n".join(printed[k : k + n])).ratio())
        found.append(printed[best : best + n])
        start = best + n
    lines = found[0]
    for part in found[1:]:
        lines = [*lines, ANY, *part]
    return lines


class Page:
    """A page that is run in a folder."""

    def __init__(self, folder: Path, update: bool = False) -> None:
        self.update, self.printed = update, ""
        self.updates: list[tuple[str, str]] = []
        self.folder = folder / "page"
        self.site, hook = folder / "site", folder / "hook"
        for subfolder in (self.folder, self.site, hook):
            subfolder.mkdir()
        for name, (source, first, last) in FILES.items():
            with gzip.open(demo_path(f"{source}.jsonl.gz"), "rt", encoding="utf-8") as lines:
                (self.folder / name).write_text("".join(islice(lines, first, last)), encoding="utf-8")
        shutil.copytree(LOGS, self.folder / "logs")
        (self.folder / "benchmarks").symlink_to(BENCHMARKS)
        # Packages that a page installs are found by programs that start later, with their .pth files.
        (hook / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(self.site)!r})\n", encoding="utf-8")
        programs = os.path.dirname(sys.executable)
        self.environment = {
            **os.environ,
            "PATH": programs + os.pathsep + os.environ.get("PATH", ""),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(hook), os.environ.get("PYTHONPATH")))),
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
        """Run a block, compare its output with what the page shows, and return what it printed.

        Raises
        ------
        AssertionError
            A command failed, the output differs, or the block is of no known kind.
        """
        if block.output and block.can_run:
            self._compare(block, block.content, self.printed)
            return ""
        if not block.runs:
            return ""
        if block.title:
            path = self.folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.content, encoding="utf-8")
            return ""
        if block.language == "python":
            written = io.StringIO()
            with chdir(self.folder), redirect_stdout(written):
                exec(compile("\n" * block.line + block.content, block.page, "exec"), self.space)
            self.printed = written.getvalue()
            return self.printed
        assert block.language in SHELLS, f"{block}: no block is called {block.language!r}"
        steps = commands(block.content) if block.language == "console" else [Command(block.content, ())]
        assert steps, f"{block}: no command"
        return "".join(self._step(block, step) for step in steps)

    def _step(self, block: Block, step: Command) -> str:
        self.printed = self._shell(block, step.script)
        if step.shown:
            self._compare(block, "\n".join(step.shown), self.printed)
        return f"$ {step.script}\n{self.printed}"

    def _compare(self, block: Block, shown: str, printed: str) -> None:
        if agrees(normal(shown), normal(printed)):
            return
        if self.update:
            lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
            self.updates.append((shown.strip("\n"), "\n".join(excerpt(shown.strip("\n").splitlines(), lines))))
            return
        difference = "\n".join(unified_diff(normal(shown), normal(printed), "page", "printed", lineterm="", n=1))
        raise AssertionError(f"{block}: the output differs; `python docs/blocks.py --update` writes it\n{difference}")

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
        return done.stdout


def main() -> None:
    """Run pages, and print what they print."""
    names = [name for name in sys.argv[1:] if name != "--update"]
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(Path(folder), update="--update" in sys.argv)
            for block in blocks_of(Path(name)):
                left = f"not run: {block.not_run}" if block.not_run else f"needs {block.needs}"
                print(f"— {block} ({block.language}{'' if block.can_run and not block.not_run else f', {left}'})")
                print(page.run(block))
        text = Path(name).read_text(encoding="utf-8")
        for shown, printed in page.updates:
            text = text.replace(shown, printed, 1)
        if page.updates:
            Path(name).write_text(text, encoding="utf-8")
            print(f"{name}: {len(page.updates)} outputs updated")


if __name__ == "__main__":
    main()
