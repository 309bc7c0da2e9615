"""The LaTeX table: what it shows, of how many documents, words of arrows, warnings; and a paper that it compiles in.

Markdown and JSON say of how many documents and warn, too.
"""

import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from momus.evidence import Wording
from momus.report.exports import comparison_json, comparison_latex, comparison_markdown

from .synthetic import comparison

PAPER = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{array,booktabs}
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
    assert page.startswith("% needs \\usepackage{array,booktabs}\n\\begin{table}\n")
    assert r"\begin{table*}" in comparison_latex(comparison(critics=3))


WARNING = "498 of 500 documents of 'one' share their opening (\u201c50 % of C:\\\\x_1 & \u97f3\u2026\u201d)"


def of_fewer(critics=3, corpora=("one", "two")):
    """A comparison of 200 documents a side, of which every row used fewer, and one axis fewer still."""
    found = comparison(critics=critics, corpora=corpora)
    found.verdicts = [replace(v, n_real=100, n_generated=90 if v.critic == "critic-1" else 100) for v in found.verdicts]
    found.warnings = [WARNING]
    return found


@pytest.mark.parametrize("form", [comparison_latex, comparison_markdown], ids=["latex", "markdown"])
def test_n_is_that_of_the_tests_in_every_row(form):
    page = form(of_fewer())
    said = page.replace(r"\textbar{}", "|").replace(r"\|", "|").replace("--", "–")
    assert "100 documents of human text, 90–100 of one and 90–100 of two" in said
    assert "200 of one" not in said
    rows = [row for row in said.splitlines() if row.strip(" |").startswith("axis of critic")]
    assert [re.search(r"100 \| (\d+)", row).group(1) for row in rows] == ["100", "90", "100"]
    same = form(comparison(critics=3, corpora=("one", "two")))
    assert "200 documents of human text, 200 of one and 200 of two" in same
    assert " | 200" not in same.replace(r"\textbar{}", "|").replace(r"\|", "|"), "a column where all rows have one n"


def test_a_word_stands_beside_every_arrow():
    found = of_fewer()
    for arrow, page in ((r"$\uparrow$", comparison_latex(found)), ("↑", comparison_markdown(found))):
        rows = [row for row in page.splitlines() if "axis of critic" in row]
        cells = [cell for row in rows for cell in re.split(r"(?<!\\)[&|]", row) if arrow in cell]
        assert len(cells) == 4
        assert all(re.search(re.escape(arrow) + r"[\\*]* longer", cell) for cell in cells), cells
    unnamed = Wording("share of loops")
    found.verdicts = [replace(v, wording=unnamed) for v in found.verdicts]
    assert len(re.findall(r"\$\\uparrow\$\*+ share of loops", comparison_latex(found))) == 4


def test_warnings_are_notes_of_every_form():
    found = of_fewer(corpora=("one",))
    page = comparison_latex(found)
    note = page[page.index(r"\end{tabular}") :]
    assert r"Note: 498 of 500 documents of 'one' share their opening" in note
    assert r"50 \% of C:\textbackslash{}" in note
    assert "音" not in note, "the usual fonts lack it, and a paper would not compile"
    assert "minipage" not in comparison_latex(comparison(critics=3))
    assert "498 of 500" in comparison_markdown(found)
    content = json.loads(json.dumps(comparison_json(found)))
    assert content["warnings"] == [WARNING]
    cells = {a["critic"]: a["cells"][0] for a in content["answer"]["axes"]}
    assert [cells["critic-1"][name] for name in ("n_real", "n_generated", "statistic")] == [100, 90, "mean_length"]


def test_what_is_doubtful_is_a_note():
    found = comparison(critics=2, corpora=("one",))
    check = {"kind": "opening", "corpus": "one", "documents": 498, "total": 500, "warns": True}
    found.signature["checks"] = [check]
    assert "Doubtful: shared openings: 498 of 500 in one" in comparison_latex(found)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("corpora", [("one", "two"), ("one", "a_b & 50 %", r"\x{}[1]")])
def test_it_compiles(tmp_path, corpora):
    (tmp_path / "paper.tex").write_text(PAPER % comparison_latex(of_fewer(5, corpora)))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "undefined references" not in done.stdout
    assert "Overfull" not in done.stdout
