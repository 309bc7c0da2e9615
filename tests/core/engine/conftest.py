"""Texts on disk, and comparisons of them in memory and in parts."""

import sys
from pathlib import Path

import pytest

import momus
from momus.progress import Silent

sys.path.insert(0, str(Path(__file__).parent))
from texts import records, with_oddities, write_lines

QUICK = {"permutations": 99, "resamples": 19, "top": 3, "reporter": Silent()}


@pytest.fixture
def written(tmp_path):
    """Write a text to fit on, a real and generated texts; return what `momus.compare` takes."""

    def write(sizes=(80, 60, 50), **labels):
        fit, real, *generated = sizes
        texts = {"fit": write_lines(tmp_path / "fit.jsonl", records(fit, 0))}
        texts["real"] = write_lines(tmp_path / "real.jsonl", with_oddities(records(real, 1, **labels)))
        names = "abc"[: len(generated)]
        texts["generated"] = {
            name: write_lines(
                tmp_path / f"{name}.jsonl",
                with_oddities(records(n, 2 + k, longest=6, swapped=0.5, power=1.1 + 0.1 * k, **labels)),
            )
            for k, (name, n) in enumerate(zip(names, generated, strict=True))
        }
        return texts

    return write


@pytest.fixture
def in_parts(monkeypatch):
    """Have all texts scored in parts of so many documents from here on."""

    def set_parts(documents=17):
        monkeypatch.setattr("momus.engine.large.LARGE", 0)
        monkeypatch.setattr("momus.engine.scoring.PART_DOCUMENTS", documents)
        monkeypatch.setattr("momus.engine.fitting.PART_DOCUMENTS", documents)

    return set_parts


@pytest.fixture
def both(tmp_path, in_parts):
    """Compare texts in memory and then in parts; return both comparisons."""

    def compare(critics, *, documents=17, jobs=1, **options):
        arguments = {**QUICK, "critics": critics, **options}
        memory = momus.compare(**arguments, out=tmp_path / "memory")
        in_parts(documents)
        parts = momus.compare(**arguments, out=tmp_path / "parts", jobs=jobs)
        assert (tmp_path / "parts/rows/real/parts").is_dir()
        assert not (tmp_path / "memory/rows").exists()
        return memory, parts

    return compare
