"""Slices as a heat map, a data frame and LaTeX; and the prompts whose answers moved most."""

import re
from dataclasses import replace

import numpy as np
import pytest

import momus
from momus import Corpus, Document
from momus.errors import UsageError
from momus.joint.slices import in_units
from momus.report.figures.rows import slices_heatmaps
from momus.report.page import moved_prompts, render

WORDS = ["red", "blue", "green", "and", "the", "sun", "went", "down"]
TASKS = ("chat", "code", "law")


def answers(name, seed, shorter=1.0):
    """Answers to 90 prompts of three tasks; those of *code* may be shorter, that to prompt 7 is one word."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(90):
        task = TASKS[i % 3]
        words = 1 if i == 7 and name == "new" else rng.poisson(50 * (shorter if task == "code" else 1.0)) + 1
        text = " ".join(rng.choice(WORDS, words)).capitalize() + "."
        documents.append(replace(Document.plain(f"{i}", text, f"{i}"), fields={"task": task}))
    return Corpus.from_documents(documents, name)


@pytest.fixture(scope="module")
def comparison():
    texts = {"against": {"old": answers("old", 0)}, "generated": {"new": answers("new", 1, 0.5)}}
    return momus.compare(**texts, critics=["length", "stopword-share", "keyness"], by=("task",), permutations=499)


def test_the_heat_map_has_shrunk_differences_in_bands_of_the_whole_text(comparison):
    (item,) = slices_heatmaps(comparison.joint.slices, comparison.verdicts)
    assert list(item.columns) == list(TASKS)
    row = dict(zip(item.columns, item.values[list(item.rows).index("length of documents")], strict=True))
    (s,) = comparison.joint.slices
    for c in (c for c in s.cells if c.statistic == "mean_length"):
        v = next(v for v in comparison.verdicts if v.statistic == "mean_length")
        band = in_units(v, v.band, c.real_value, c.difference > 0, c.scale)
        assert row[c.name] == pytest.approx(c.shrunk / band)
    assert row["code"] < 3 * row["chat"] < 0
    assert "bands of the whole text" in item.label


def test_axes_without_bands_are_drawn_in_standard_deviations(comparison):
    (s,) = comparison.joint.slices
    (item,) = slices_heatmaps([s], [])
    assert len(item.rows) == len({c.critic for c in s.cells})
    assert "standard deviations" in item.label
    assert min(min(row) for row in item.values) < -1


def test_a_frame_has_one_row_per_axis_and_slice(comparison):
    frame = comparison.frame(by="task")
    (s,) = comparison.joint.slices
    assert len(frame) == 3 * len({c.critic for c in s.cells})
    assert not frame.duplicated(["critic", "name"]).any()
    worst = frame.loc[frame["bands"].abs().idxmax()]
    assert (worst["name"], worst["statistic"], worst["generated"]) == ("code", "mean_length", "new")
    with pytest.raises(UsageError, match=r"(?s)no such slices.*task"):
        comparison.frame(by="language")


def test_latex_has_a_table_of_slices(comparison):
    written = comparison.to_latex()
    assert re.findall(r"\\label{(.*?)}", written) == ["tab:momus", "tab:momus-slices-1"]
    table = written[written.index("By task") :]
    heads, *rows = [line for line in table.splitlines() if line.endswith(r"\\")]
    assert rows[0].startswith("code & ")
    assert {row.count(" & ") for row in rows} == {heads.count(" & ")}


def test_the_page_has_the_map_and_the_prompts_that_moved_most_with_both_answers(comparison):
    page = render(comparison)
    assert page.count('data-name="slices-task-new"') == 1
    assert "Prompts whose answers moved most" in page
    old, new = answers("old", 0), answers("new", 1, 0.5)
    drop = [len(a.text.split()) - len(b.text.split()) for a, b in zip(old, new, strict=True)]
    moved = moved_prompts(comparison, comparison.answer)
    assert 1 < len(moved) <= 10
    first = next(s for axis, s in moved if axis == "length of documents")
    assert (first.generated.id, first.human.id) == (str(int(np.argmax(drop))),) * 2
    assert (first.generated.corpus, first.human.corpus) == ("new", "old")


def test_the_page_of_human_text_has_the_map_too():
    texts = answers("people", 2), {"new": answers("new", 1, 0.5)}
    page = render(momus.compare(*texts, critics=["length"], by=("task",), permutations=199))
    assert page.count('data-name="slices-task-new"') == 1
