"""``import momus`` and ``momus --help`` load few modules; the core install compares texts without torch."""

import json
import subprocess
import sys
import textwrap
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "spacy", "pyro", "gensim", "sklearn", "matplotlib", "pandas", "scipy")
OPTIONAL = {"torch": "torch", "transformers": "transformers", "spacy": "spacy", "pyro": "pyro-ppl", "gensim": "gensim"}
OPTIONAL |= {"kenlm": "ufal.kenlm", "httpx": "httpx"}
"""Modules that the core install has not, and their distributions."""
HELP = "import sys; sys.argv = ['momus', '--help']\nfrom momus.cli import main\ntry: main()\nexcept SystemExit: pass"
MOST = {"import momus": 40, HELP: 260}
"""Modules loaded beyond those of an empty interpreter, at most (31 and 223 when this was set)."""
CORE = {"length", "unigram", "type-token", "rank-frequency", "stopword-share", "symbol-share"}
CORE |= {"sections", "coreference", "heaps", "productivity", "repetition", "rhythm", "keyness", "discourse"}
BLOCK = f"""
import importlib.metadata, sys
OPTIONAL = {OPTIONAL!r}
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
find = importlib.metadata.Distribution.from_name.__func__
def from_name(cls, name):
    if name.replace("_", "-").lower() in {{d.replace(".", "-") for d in OPTIONAL.values()}} | {{*OPTIONAL.values()}}:
        raise importlib.metadata.PackageNotFoundError(name)
    return find(cls, name)
importlib.metadata.Distribution.from_name = classmethod(from_name)
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in OPTIONAL else find_spec(name, package)
sys.meta_path.insert(0, Missing)
"""
"""Makes an interpreter one in which the optional packages are not installed."""
COMPARE = """
import json, sys
from pathlib import Path
import momus
from momus.numeric.devices import resolve_device
folder = Path(sys.argv[1])
config = {"coreference": {"resolver": "given", "model": str(folder / "chains.jsonl")}}
found = momus.compare(folder / "real.jsonl", {"g": folder / "g.jsonl"}, config=config, out=folder / "run", seed=0,
                      permutations=99, resamples=99)
loaded = momus.load_critic(folder / "run" / "critics" / "sections")
scores = loaded.score(momus.read_corpus(folder / "g.jsonl"))
try:
    resolve_device("cuda")
except momus.MomusError as error:
    refusal = str(error)
print(json.dumps({
    "critics": sorted({v.critic for v in found.verdicts}),
    "warnings": found.warnings,
    "modules": sorted({name.partition(".")[0] for name, module in sys.modules.items() if module is not None}),
    "scored": int((scores.steps > 0).sum()),
    "refusal": refusal,
    "device": resolve_device("auto"),
}))
"""


def loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", code + "\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


def count(code):
    done = subprocess.run(
        [sys.executable, "-c", code + "\nimport sys; print(len(sys.modules))"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


@pytest.mark.skipif(
    Version(version("typer")) < Version("0.20"), reason="the numbers are those of newer packages, which load less"
)
@pytest.mark.parametrize("code", MOST)
def test_few_modules_are_loaded(code):
    assert 0 < count(code) - count("pass") <= MOST[code]


@pytest.mark.parametrize(
    "code",
    ["import momus", "import momus.cli.app", "import momus.plugins\nassert momus.plugins.critic_names()"],
    ids=["package", "commands", "plug-ins"],
)
def test_nothing_heavy_is_loaded(code):
    assert not loaded(code) & set(HEAVY)


def test_reading_and_contract_need_no_framework():
    found = loaded("import momus\nmomus.Critic, momus.Corpus, momus.read_corpus, momus.Values, momus.compare")
    assert not found & {"torch", "transformers", "spacy", "pyro", "gensim"}


def write_texts(folder):
    """Titled texts of two kinds that all critics of the core install can be fitted on, and chains of their persons."""
    chains = []
    for name, n in (("real", 60), ("g", 30)):
        lines = []
        for i in range(n):
            words = " ".join(f"word{(i * 37 + j * j * 11) % (300 + j)}" for j in range(60))
            texts = [f"Anna saw it, she ran. {words}", f"{words} at the end of case {i % 7}, and that was all."]
            lines.append({"id": f"{name}{i}", "sections": texts, "section_names": ["Start", "End"]})
            chains.append({"id": f"{name}{i}", "mentions": [[0, 4, 0], [13, 16, 0]], "sentences": [0, 22]})
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "chains.jsonl").write_text("\n".join(map(json.dumps, chains)), encoding="utf-8")


def check_comparison(printed):
    result = json.loads(printed.splitlines()[-1])
    assert set(result["critics"]) >= CORE, result
    assert not {*result["critics"]} & {"topics", "passages", "code-mixing"}
    assert not {*result["modules"]} & {*OPTIONAL}
    (warning,) = [w for w in result["warnings"] if "packages are not installed" in w]
    for name in ("topics", "passages", "code-mixing", "[torch]"):
        assert name in warning
    assert not [w for w in result["warnings"] if "cannot be imported" in w]
    assert result["scored"] == 30
    assert result["device"] == "cpu"
    assert "momus-criticism[torch]" in result["refusal"]


@pytest.mark.slow
def test_core_critics_compare_without_optional_packages(tmp_path):
    write_texts(tmp_path)
    code = [sys.executable, "-c", BLOCK + COMPARE, str(tmp_path)]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_comparison(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "-c", "topics", "-r", "a.jsonl", "-g", "b=b.jsonl"], "[torch]'"),
        (["critics", "check", "code-mixing"], "[torch]'"),
    ],
)
def test_commands_name_the_extra(tmp_path, arguments, message):
    write_texts(tmp_path)
    run = f"sys.argv = ['momus', *{arguments!r}]\nfrom momus.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", BLOCK + run], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_core_wheel_is_light(tmp_path):
    """Builds the wheel, installs it with its dependencies alone, compares texts, and states size and times."""
    write_texts(tmp_path)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("momus_criticism-*.whl")
    # of the machine's own index; the environment has no pip and no setuptools, which are no part of Momus
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    constraints = ROOT / "constraints.txt"
    subprocess.run([*pip, "--python", python, "install", "-c", constraints, wheel], check=True)
    size = sum(f.lstat().st_size for f in (tmp_path / "env" / "lib").rglob("*") if f.is_file()) / 1e6
    started = time.perf_counter()
    done = subprocess.run([python, "-c", COMPARE, tmp_path], cwd=tmp_path, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    assert done.returncode == 0, done.stderr
    check_comparison(done.stdout)
    package = fastest([python, "-c", "import momus"])
    page = fastest([python.parent / "momus", "--help"])
    print(f"{size:.0f} MB; comparison {seconds:.1f} s, import momus {package:.3f} s, momus --help {page:.3f} s of CPU")
    assert size < 700
    assert package < 0.25
    assert page < 0.3


def fastest(command):
    """Least processor time of ten runs, in seconds: what other programs do on the machine does not count."""
    code = textwrap.dedent("""
        import json, resource, subprocess, sys
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        times = [spent()]
        for _ in range(10):
            subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
            times.append(spent())
        print(min(b - a for a, b in zip(times, times[1:])))
    """)
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    return float(done.stdout)
