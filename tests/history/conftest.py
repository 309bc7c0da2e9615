"""Runs of small texts whose prompts are shared, made once for all tests of this folder."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import momus
from momus import Corpus

WORDS = ["the", "a", "cat", "dog", "ran", "sat", "house", "of", "tree", "green", "small", "old"]
OPTIONS = {"permutations": 199, "critics": ["length", "unigram", "stopword-share"]}


def corpus(name: str, n: int, seed: int, mean: float = 20, prompts: bool = True) -> Corpus:
    """Documents of about ``mean`` random words, each with another prompt."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.poisson(mean) + 1)) for _ in range(n)]
    return Corpus.from_texts(texts, prompts=[f"p{i}" for i in range(n)] if prompts else None, name=name)


def text(view, width: int = 80) -> str:
    """What a terminal of this width shows of a rich renderable."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


@dataclass(frozen=True)
class Runs:
    """Folders of runs against one real text."""

    folder: Path
    fit: Corpus
    real: Corpus

    def make(self, name: str, generated: Corpus | dict[str, Corpus], **options) -> Path:
        """Compare one corpus, or several by name, with the real text."""
        by_name = generated if isinstance(generated, dict) else {"model": generated}
        real, fit = options.pop("real", self.real), options.pop("fit", self.fit)
        momus.compare(real, by_name, fit=fit, out=self.folder / name, **{**OPTIONS, **options})
        return self.folder / name


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Runs ``near`` (words as in the real text), ``same`` (again, another sample) and ``long`` (documents too long)."""
    made = Runs(tmp_path_factory.mktemp("runs"), corpus("fit", 80, 1), corpus("real", 60, 2))
    made.make("near", corpus("g", 60, 3))
    made.make("same", corpus("g", 60, 4), reuse=made.folder / "near")
    made.make("long", corpus("g", 60, 5, mean=32), reuse=made.folder / "near")
    return made
