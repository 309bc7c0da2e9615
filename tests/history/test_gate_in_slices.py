"""Limits of differences hold in slices too."""

from dataclasses import replace

import numpy as np
import pytest

import momus
from momus import Corpus, Document
from momus.history.gate import gate_run
from momus.history.rules import Limit, Rules


def answers(name, seed, shorter=1.0):
    """Answers to 120 prompts of three tasks; those of the task *code* may be shorter."""
    rng = np.random.default_rng(seed)
    documents = []
    for i in range(120):
        task = ("chat", "code", "maths")[i % 3]
        words = rng.poisson(50 * (shorter if task == "code" else 1.0)) + 1
        text = " ".join(rng.choice(["red", "blue", "green"], words)) + "."
        documents.append(replace(Document.plain(f"{i}", text, f"{i}"), fields={"task": task}))
    return Corpus.from_documents(documents, name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slices") / "run"
    texts = {"against": {"old": answers("old", 0)}, "generated": {"new": answers("new", 1, 0.6)}}
    momus.compare(**texts, critics=["length"], by=("task",), permutations=499, out=folder)
    return folder


@pytest.mark.parametrize(
    ("limit", "failed"),
    [("20 % fewer", {"length of documents in code"}), ("60 % fewer", set()), ("5 % more", set())],
)
def test_a_slice_beyond_the_limit_fails(run, limit, failed):
    result = gate_run(run, Rules(max=(Limit.parse(f"length={limit}"),)))
    assert {c.axis for c in result.failed} == failed
    assert all(c.statistic == "mean_length" and c.value > c.low > c.limit for c in result.failed)
