"""The notebook of the examples runs from top to bottom, and is kept without outputs."""

import ast
import io
import json
import time
from contextlib import redirect_stdout
from pathlib import Path

import pandas as pd
import pytest

matplotlib = pytest.importorskip("matplotlib")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
SECONDS = 90
"""Most that it may take on a busy machine; it takes about 15 s on one that is not."""


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def codes(notebook):
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def run_cell(source, space):
    """Run a cell as a notebook does: the value of a last expression without a semicolon is what the cell shows."""
    body = ast.parse(source).body
    shows = isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";")
    written = io.StringIO()
    with redirect_stdout(written):
        exec(compile(ast.Module(body[:-1] if shows else body, []), str(NOTEBOOK), "exec"), space)
        shown = eval(compile(ast.Expression(body[-1].value), str(NOTEBOOK), "eval"), space) if shows else None
    return shown, written.getvalue()


@pytest.fixture(scope="module")
def cells(notebook):
    """What each cell shows and prints, and the names that all of them leave."""
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    plt.close("all")  # of other tests
    space = {"__name__": "__main__"}
    started = time.monotonic()
    done = [(source, *run_cell(source, space)) for source in codes(notebook)]
    assert time.monotonic() - started < SECONDS
    yield done, space
    plt.close("all")


def of(cells, fragment):
    (found,) = [(shown, printed) for source, shown, printed in cells[0] if fragment in source]
    return found


def test_it_is_kept_without_outputs_in_the_current_format(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [c["id"] for c in notebook["cells"]]
    assert len(set(ids)) == len(ids) >= 10
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
        else:
            assert set(cell) == {"cell_type", "id", "metadata", "source"}


@pytest.mark.slow
def test_the_comparison_shows_itself(cells):
    shown, _ = of(cells, "momus.compare(")
    html = shown._repr_html_()
    assert {v.generated for v in shown.verdicts} == {"nucleus", "ancestral"}
    assert all(f">{name}</th>" in html for name in ("nucleus", "ancestral"))
    assert shown.frame()["statistic"].nunique() > 5


@pytest.mark.slow
def test_the_answer_is_printed(cells):
    _, printed = of(cells, "comparison.answer.axes")
    assert len(printed.splitlines()) == 3
    assert "section order: ancestral, undecided, more often out of order" in printed


@pytest.mark.slow
def test_figures_are_drawn(cells):
    import matplotlib.pyplot as plt

    figures = [plt.figure(n) for n in plt.get_fignums()]
    assert [len(f.axes) for f in figures] == [1, 2, 1]
    for figure in figures:
        figure.canvas.draw()
        assert all(a.lines and a.get_xlabel() for a in figure.axes)


@pytest.mark.slow
def test_outliers_and_documents_are_frames(cells):
    outliers, _ = of(cells, "comparison.outliers(")
    assert isinstance(outliers, pd.DataFrame)
    assert len(outliers) == 5
    assert outliers["value"].is_monotonic_decreasing
    assert outliers["unlikely"].notna().all()
    summary, _ = of(cells, "comparison.documents")
    assert (summary.loc["mean"] > 0).all()
    assert (summary.loc["count"] > 20).all()


@pytest.mark.slow
def test_the_table_is_latex(cells):
    _, printed = of(cells, "to_latex")
    assert printed.count(r"\toprule") == printed.count(r"\bottomrule") == 1


def test_it_is_in_the_documentation():
    assert "`notebook.ipynb`" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert "examples/notebook.ipynb" in (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
