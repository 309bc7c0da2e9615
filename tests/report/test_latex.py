"""The LaTeX table: a caption that says what it shows, intervals, a label; and a paper that it compiles in."""

import re
import shutil
import subprocess

import pytest

from momus.report.exports import comparison_latex

from .synthetic import comparison

PAPER = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
Table~\ref{tab:momus} shows it.
%s
\end{document}
"""


def test_the_table_says_what_it_shows():
    page = comparison_latex(comparison(critics=3, corpora=("one", "two")))
    caption = re.search(r"\\caption\{(.*)\}\n", page).group(1)
    assert caption.startswith("Distance of generated texts from human text on 3 axes, with 95 \\% intervals in")
    assert "(200 documents of human text, 200 of one and 200 of two;" in caption
    assert "significantly higher, lower" in caption
    assert page.index(r"\caption") < page.index(r"\label{tab:momus}") < page.index(r"\toprule")
    assert len(re.findall(r"\\scriptsize \[\d+\.\d, \d+\.\d\]", page)) == 6
    assert page.startswith("% needs \\usepackage{booktabs}\n\\begin{table}\n")
    assert r"\begin{table*}" in comparison_latex(comparison(critics=3))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("corpora", [("one", "two"), ("one", "a_b & 50 %", r"\x{}[1]")])
def test_it_compiles(tmp_path, corpora):
    (tmp_path / "paper.tex").write_text(PAPER % comparison_latex(comparison(critics=5, corpora=corpora)))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined references" not in done.stdout
    assert "Overfull" not in done.stdout
