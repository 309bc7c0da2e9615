"""The critic of distortion: it keeps its contract, finds a flat model, and needs a configuration."""

from __future__ import annotations

import numpy as np
import pytest
from arpa import KneserNey

import momus
from momus import Corpus
from momus.conformance import check_critic
from momus.critic.hooks import missing_params
from momus.errors import MomusError
from momus.estimator import clone
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_critics.distortion import Distortion
from momus_generating import Decoding, document_seeds, sample

RNG = np.random.default_rng(0)
STEPS = RNG.choice([1, 1, 1, 1, 1, 3, 0], (60, 9))
SEED = Sequences.of([(RNG.integers(0, 3) + np.cumsum(s[: RNG.integers(1, 9)])) % 8 for s in STEPS])
NOISE = Sequences.of([RNG.integers(0, 8, RNG.integers(1, 9)) for _ in range(60)])


@pytest.fixture(scope="module")
def arpa(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arpa")
    paths = {}
    for name, sequences in (("language", SEED), ("flat", NOISE)):
        paths[name] = str(folder / f"{name}.arpa")
        model = KneserNey(order=3 if name == "language" else 2)
        model.fit(sequences.ids, sequences.offsets, [f"w{t}" for t in range(8)]).write_arpa(paths[name])
    return paths


@pytest.mark.slow
def test_the_critic_keeps_its_contract_and_finds_a_flat_model(arpa):
    critic = Distortion(
        language_scorer={"scorer": "kenlm", "path": arpa["language"]},
        model_scorer={"scorer": "kenlm", "path": arpa["flat"]},
    )
    model = NGramModel(3).fit(SEED, 8)
    flat = NGramModel(2).fit(NOISE, 8)

    def texts(of, seed):
        drawn = sample(of, None, Decoding("ancestral", longest=128), document_seeds(seed, 300)).sequences
        return [" ".join(f"w{t}" for t in drawn[i]) for i in range(300) if len(drawn[i])]

    report = check_critic(clone(critic), Corpus.from_texts(texts(model, 5)))
    assert report.ok, [r for r in report.records if r.status == "failed"]
    result = momus.compare(texts(model, 0), {"flat": texts(flat, 1), "same": texts(model, 2)}, critics=[critic], seed=0)
    rows = {v.generated: v for v in result.verdicts if v.statistic == "error"}
    assert rows["flat"].p < 0.01 < rows["same"].p
    assert rows["flat"].real_value < 0 < rows["flat"].generated_value


def test_it_needs_a_configuration():
    assert missing_params(Distortion())
    with pytest.raises(MomusError, match=r"\[distortion\]"):
        Distortion().fit(Corpus.from_texts(["a b", "c d"]))
