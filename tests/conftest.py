"""Shared fixtures: where real data is, a small corpus, a tiny language model; and how tests are spread over workers."""

import functools
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from momus import Corpus, plugins

FIRST = (
    "test_in_parts",
    "test_devices",
    "test_parameters",
    "test_degenerate_texts",
    "test_code_blocks",
    "test_conformance_shipped",
    "test_changed_code",
    "test_topics",
    "test_failing_critics",
    "test_calibrating",
    "test_located",
    "test_gpu",
    "test_agreement",
    "test_forged",
    "test_new",
    "test_examples",
    "test_pyro",
    "test_generate",
    "test_conformance_wrong",
    "test_validity_yardsticks",
)
"""Files that take longest; they start first, which leaves short ones to even out the workers."""
SINGLE = ("test_conformance_wrong.py",)
"""A long file whose tests share no fixture: each test is a group."""


def group_of(nodeid: str) -> str:
    """The tests that share fixtures and run on one worker: those of a critic, of a page, or of a file."""
    path, _, test = nodeid.partition("::")
    name, _, parameter = test.partition("[")
    if name == "test_conformance" and path.endswith("test_conformance_shipped.py"):
        return f"{path}[{parameter.rpartition('-')[0]}]"
    if path.endswith(SINGLE):
        return nodeid
    return f"{path}[{parameter}" if name == "test_blocks_run" else path


FRESH = "saved_critics_load_in_a_fresh_process"
"""A conformance check that starts a Python process for each critic."""
IN_FRESH_PROCESS = ("sections", "length")
"""Critics for which it is not slow: one without arrays, one with."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and mark slow checks."""
    for item in items:
        critic = item.name.partition("[")[2].removesuffix(f"-{FRESH}]")
        if item.name.endswith(f"-{FRESH}]") and critic not in IN_FRESH_PROCESS:
            item.add_marker("slow")
    rank = {stem: i for i, stem in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(FIRST)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread groups of tests over the workers."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # else groups of many tests come first, and a long test alone comes last

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    return ByGroup(config, log)


@pytest.fixture(scope="session", autouse=True)
def loaded_once():
    """Keep what each command of a process would load again: the list of entry points, and the model of languages."""
    from py3langid.langid import LanguageIdentifier

    listed = plugins.entry_points
    by_path = functools.cache(lambda path, group: listed(group=group))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "entry_points", lambda group: by_path(tuple(sys.path), group))
        patch.setattr(LanguageIdentifier, "from_model_file", functools.cache(LanguageIdentifier.from_model_file))
        yield


@pytest.fixture(autouse=True)
def no_critic_stays_named():
    """Forget the critics that a test named by their places: workers of later tests would look for them."""
    from momus.critic import registry

    before = dict(registry._LOCATED)
    yield
    registry._LOCATED.clear()
    registry._LOCATED.update(before)


@pytest.fixture
def working_directory(tmp_path_factory, monkeypatch):
    """A new folder that is the working directory."""
    folder = tmp_path_factory.mktemp("working")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def momus(monkeypatch, capsys):
    """Run ``momus`` with these arguments in a terminal of 200 columns; returns (exit code, all output)."""

    from momus.cli import main

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["momus", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


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


@pytest.fixture(scope="session")
def causal_lm(tmp_path_factory):
    """A folder with a causal LM of two layers from random weights, and a byte-level tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(["the cat sat on the mat", "a dog ran all day", "rain fell on the town"] * 3, trainer)
    folder = tmp_path_factory.mktemp("causal")
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=backend.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        intermediate_size=64,
        max_position_embeddings=128,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return str(folder)
