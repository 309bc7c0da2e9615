"""Install the wheel into empty environments, one per Python and set of versions, and use it there as a new user would.

``make matrix`` builds the wheel and runs ``python benchmarks/install/matrix.py dist/*.whl --tests tests/core``. Each
environment lies in a temporary folder outside the checkout. In it: ``pip check``, ``momus demo``, every plug-in and
every package of the chosen extras imported, a comparison under all critics with a report and a gate, the blocks of the
README, and the tests not marked slow. ``lowest`` pins every dependency, those of the extras too, to the least version
that ``pyproject.toml`` allows; ``newest`` takes what the index has; ``pinned`` takes the versions of
``constraints.txt``. ``--brief`` stops after the imports, for a look at every extra (``--cell 3.11:pinned:torch``).
Prints a row per environment, as Markdown; exits 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
CELLS = ("3.11:lowest", "3.12:newest", "3.13:newest")
PYTEST = shlex.split("-m pytest -o addopts= --import-mode=importlib -m 'not slow' -q -n auto -p no:cacheprovider")
TESTERS = ("pytest", "pytest-xdist", "hypothesis", "datasketch", "statsmodels")
HEAD = """\
| Python | versions | extras | install, s | MB | pip check | demo, s | user's path | tests | s |
|---|---|---|---|---|---|---|---|---|---|"""
PLUGINS = """
import sys
from importlib import import_module
from importlib.metadata import entry_points, packages_distributions
from packaging.utils import canonicalize_name
from momus.plugins import _packages, missing_packages, registered
from momus.version import DISTRIBUTION
groups = [group for group in entry_points().groups if group.startswith("momus.")]
plugins = [plugin for group in groups for of_name in registered(group).values() for plugin in of_name]
loaded = [plugin.load() for plugin in plugins if plugin.missing() is None]
extras = [extra for extra in sys.argv[1].split(",") if extra]
assert not [p for extra in extras for p in missing_packages(DISTRIBUTION, extra)]
packages = {canonicalize_name(p) for extra in extras for p in _packages(DISTRIBUTION, extra)}
owners = {m.partition(".")[0]: {*map(canonicalize_name, names)} for m, names in packages_distributions().items()}
modules = [m for m, names in owners.items() if names & packages and m.isidentifier()]
print(len(loaded), "of", len(plugins), "plug-ins;", *map(import_module, modules))
"""
"""Load each plug-in that has its packages, and import what the extras bring."""
PATH = (
    ("momus", "compare", "-f", "fit.jsonl", "-r", "real.jsonl", "-g", "mine=mine.jsonl", "-o", "run", "-q"),
    ("momus", "outliers", "run", "-c", "length"),
    ("momus", "gate", "run", "--max", "length=1000"),
    ("python", str(ROOT / "docs" / "blocks.py"), str(ROOT / "README.md")),
)
"""What a user does: plug-ins, all critics that are ready on the demo's texts, and every block of the README."""
TEXTS = """
import gzip, shutil
from momus.demo import demo_path
for name, file in (("fit", "fit"), ("real", "real"), ("mine", "generated-nucleus")):
    with gzip.open(demo_path(f"{file}.jsonl.gz")) as source, open(f"{name}.jsonl", "wb") as target:
        shutil.copyfileobj(source, target)
"""


def interpreter(version: str) -> str:
    """The interpreter of a version: on the path, else below pyenv's root."""
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    candidates = [c for root in roots for c in sorted(root.glob(f"{version}*/bin/python"))] + [
        Path(p) for p in [shutil.which(f"python{version}")] if p
    ]
    for candidate in candidates:
        if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(candidate)
    raise SystemExit(f"no Python {version}: install it, or choose others with --cell")


def minima(extras: str) -> list[str]:
    """``name==least version`` for every dependency of ``pyproject.toml``, and of these extras (with commas between)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [line.replace(">=", "==") for line in project["dependencies"]]
    for extra in filter(None, extras.split(",")):
        for line in project["optional-dependencies"][extra]:
            others = re.fullmatch(r"momus-criticism\[(.+)\]", line)
            lines += minima(others[1]) if others else [line.replace(">=", "==")]
    return list(dict.fromkeys(lines))


def run(command: Sequence[str], folder: Path, log: Path) -> tuple[bool, float]:
    """Run a command, its output into the log; whether it succeeded, and its seconds."""
    start = time.perf_counter()
    with log.open("a", encoding="utf-8") as target:
        target.write(f"\n$ {' '.join(command)}\n")
        target.flush()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{Path(command[0]).parent}:{os.environ['PATH']}"}
        environment.pop("PYTHONPATH", None)
        code = subprocess.run(
            command, cwd=folder, stdout=target, stderr=target, env=environment, check=False
        ).returncode
    return code == 0, time.perf_counter() - start


def cell(wheel: Path, version: str, versions: str, extras: str, options: argparse.Namespace) -> list[str]:
    """One row: an empty environment with the wheel, and what was tried in it."""
    log, brief = options.log.resolve(), options.brief
    with tempfile.TemporaryDirectory(prefix="momus-matrix-") as name:
        folder = Path(name)
        subprocess.run([interpreter(version), "-m", "venv", folder / "env"], check=True)
        python = str(folder / "env" / "bin" / "python")
        pip = [python, "-m", "pip", "-q", "--disable-pip-version-check", "install"]
        wanted = f"{wheel.resolve()}{f'[{extras}]' if extras else ''}"
        choice = {"lowest": minima(extras), "pinned": ["-c", str(ROOT / "constraints.txt")]}.get(versions, [])
        installed, install = run([*pip, wanted, *choice], folder, log)
        packages = folder / "env" / "lib"
        size = sum(f.stat().st_size for f in packages.rglob("*") if f.is_file()) / 1e6
        checked, _ = run([python, "-m", "pip", "check"], folder, log)
        demo, seconds = run([f"{folder}/env/bin/momus", "demo"], folder, log)
        run([python, "-c", TEXTS], folder, log)
        steps = [run([python, "-c", PLUGINS, extras], folder, log)[0]]
        steps += [run([f"{folder}/env/bin/{step[0]}", *step[1:]], folder, log)[0] for step in PATH if not brief]
        row = [version, versions, extras or "none", f"{install:.0f}", f"{size:.0f}", _word(checked and installed)]
        row += [f"{seconds:.0f}" if demo else "failed"]
        row += ["clean" if all(steps) else f"failed: {sum(steps)} of {len(steps)}"]
        if brief or not options.tests:
            return [*row, "not run", ""]
        run([*pip, *TESTERS], folder, log)
        tests = [str(ROOT / place) for place in options.tests]
        passed, seconds = run([python, *PYTEST, *tests], folder, log)
        last = log.read_text(encoding="utf-8").strip().splitlines()[-1]
        counts = ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last))
        return [*row, counts if passed else f"failed: {counts}", f"{seconds:.0f}"]


def _word(good: bool) -> str:
    return "clean" if good else "failed"


def main() -> None:
    """Print the table; exit 1 if a cell failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument(
        "--cell", action="append", metavar="PYTHON:VERSIONS[:EXTRAS]", help=f"default: {', '.join(CELLS)}"
    )
    parser.add_argument("--tests", nargs="+", default=[], metavar="FOLDER", help="also run these tests")
    parser.add_argument("--brief", action="store_true", help="only check the packages, and run the demo")
    parser.add_argument("--log", type=Path, default=Path("matrix.log"), help="the output of every command")
    options = parser.parse_args()
    print(HEAD, flush=True)
    rows = []
    for chosen in options.cell or CELLS:
        version, versions, *extras = chosen.split(":")
        rows.append(cell(options.wheel, version, versions, ",".join(extras), options))
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    sys.exit(any("failed" in " ".join(row) for row in rows))


if __name__ == "__main__":
    main()
