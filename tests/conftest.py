"""What tests share: where real data lies, and a small corpus."""

import os
from pathlib import Path

import numpy as np
import pytest

from momus import Corpus


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data, or a skip that says where it is looked for."""
    named = os.environ.get("MOMUS_DATA")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip(f"no real data: set MOMUS_DATA, or put it at {path}")
    return path


def sectioned_corpus(n: int, seed: int = 0, shuffle: bool = False, name: str = "made") -> Corpus:
    """Documents of four to six section types in an order, each type with words of its own."""
    rng = np.random.default_rng(seed)
    types = ["abstract", "motivation", "design", "tests", "security", "copyright"]
    documents = []
    for _ in range(n):
        chosen = [t for t in types if t in ("abstract", "design", "copyright") or rng.random() < 0.7]
        if shuffle:
            rng.shuffle(chosen)
        words = {t: [f"{t}{i}" for i in range(30)] + [f"common{i}" for i in range(30)] for t in types}
        documents.append([(t.title(), " ".join(rng.choice(words[t], rng.integers(10, 40)))) for t in chosen])
    return Corpus.from_sections(documents, name=name)


@pytest.fixture(scope="session")
def make_sectioned():
    """Make sectioned corpora."""
    return sectioned_corpus
