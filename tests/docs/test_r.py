"""The R example of the manual reads a run folder."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import momus

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def has_jsonlite():
    command = ["Rscript", "-e", "library(jsonlite)"]
    return (
        shutil.which("Rscript") is not None
        and subprocess.run(command, capture_output=True, check=False).returncode == 0
    )


@pytest.mark.slow
def test_r_reads_a_run(tmp_path):
    if not has_jsonlite():
        pytest.skip("R with jsonlite is not installed")
    real = [f"word number {i} {'and more ' * (i % 5)}" for i in range(60)]
    generated = [f"word {'again ' * (i % 9)}" for i in range(40)]
    found = momus.compare(
        real, {"gen": generated}, critics=["length", "unigram"], out=tmp_path / "run", permutations=99, resamples=99
    )
    (script,) = re.findall(r'```r title="read.R"\n(.*?)```', PAGE.read_text("utf-8"), flags=re.DOTALL)
    (tmp_path / "read.R").write_text(script)
    done = subprocess.run(["Rscript", "read.R"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    leading = {v.axis: v for v in found.verdicts if v.leads}
    assert len(leading) == 2
    for axis, row in leading.items():
        (line,) = [line for line in done.stdout.splitlines() if axis in line]
        assert f"{abs(row.effect) / row.band:.2g}" in line
