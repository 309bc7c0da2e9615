"""Critics of a comparison in several processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from momus import Corpus, compare
from momus.critic.registry import make_critics
from momus.engine.jobs import outcomes, processes_of
from momus.engine.run_critic import Work
from momus.errors import FittingError, UsageError
from momus.progress import Silent, Timed
from momus.runs.result import Outcome
from momus.runs.texts import read_texts
from momus.verdicts.settings import Settings
from momus_adapters.transformers.encoder import all_threads
from momus_critics.length import Length

WORDS = np.array(["a", "rose", "is", "red", "and", "the", "sky", "was", "blue", "but", "no", "cat", "or", "dog", "ran"])


def corpus(name: str, seed: int, documents: int = 40) -> Corpus:
    rng = np.random.default_rng(seed)
    return Corpus.from_texts(
        [" ".join(rng.choice(WORDS, rng.integers(8, 30))) + "." for _ in range(documents)], name=name
    )


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    texts = {"a": corpus("a", 1), "b": corpus("b", 2, 30)}
    found = {}
    for jobs in (1, 2):
        run = compare(
            corpus("real", 0),
            texts,
            critics=["unigram", "length", "type-token"],
            out=tmp_path / str(jobs),
            reporter=Silent(),
            jobs=jobs,
            permutations=199,
        )
        rows = [(v.critic, v.statistic, v.generated, v.p, v.real_value, v.difference) for v in run.verdicts]
        found[jobs] = rows, run.joint.to_json()
        assert [r.name for r in run.results] == ["unigram", "length", "type-token"]
        assert run.signature["seconds"]["testing"] > 0
    assert found[1] == found[2]
    files = {
        jobs: sorted(p.relative_to(tmp_path / str(jobs)) for p in (tmp_path / str(jobs)).rglob("*")) for jobs in found
    }
    assert files[1] == files[2]
    # the second run kept the outcome of every critic, so that one process resumes it without computing anything
    again = compare(
        corpus("real", 0),
        texts,
        critics=["unigram", "length", "type-token"],
        out=tmp_path / "2",
        reporter=Silent(),
        resume=True,
        permutations=199,
    )
    assert "fitting" not in again.signature["seconds"]


@pytest.mark.slow
def test_a_critic_that_cannot_be_fitted_is_told_from_the_others() -> None:
    texts = read_texts(corpus("real", 0), {"a": corpus("a", 1)}, None, 0)
    critics = make_critics(["taylor", "length"], {})
    settings = Settings(permutations=99, device="cpu")
    work = Work(texts, None, settings, None, False, 2, None)
    with processes_of(work, critics, jobs=2) as pool:
        found = {c.name: o for c, o in outcomes(critics, work, Timed(Silent()), pool)}
    assert list(found) == ["taylor", "length"]
    assert isinstance(found["taylor"], FittingError)
    assert "tokens of running text" in found["taylor"].message
    assert found["taylor"].hint
    assert isinstance(found["length"], Outcome)
    assert {v.critic for v in found["length"].result.verdicts} == {"length"}


def test_a_critic_that_has_no_module_is_named() -> None:
    (critic,) = make_critics(["length"], {})

    class Here(type(critic)):  # type: ignore[misc]
        pass

    here: Any = Here()
    with pytest.raises(UsageError, match="'length' cannot be sent to another process"):
        compare(corpus("real", 0), {"a": corpus("a", 1)}, critics=[here, "unigram"], reporter=Silent(), jobs=2)


def test_critics_compute_in_one_thread_and_networks_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads of BLAS and OpenMP cost five times the processor time, and waited for one another."""
    import torch

    seen: list[set[int]] = []

    class Watched(Length):
        def fit(self, real: Corpus) -> Watched:
            seen.append({library["num_threads"] for library in threadpool_info()} | {torch.get_num_threads()})
            with all_threads():
                seen.append({torch.get_num_threads()})
            return super().fit(real)

    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threadpool_limits(2):
        compare(corpus("real", 0), {"a": corpus("a", 1)}, critics=[Watched()], reporter=Silent(), permutations=99)
        assert 2 in {library["num_threads"] for library in threadpool_info()}
    assert seen == [{1}, {2}]
