"""What tests of a plug-in need: a tiny encoder, the conformance checks, and the p of one comparison.

In a test file:

    @testing.parametrize([MyCritic()])
    def test_conformance(check): check()

Each check of each critic is one test, with an id such as ``mine-batch_size_changes_nothing``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from momus.conformance import parametrize
from momus.conformance.corpora import documents
from momus.critic.base import Critic
from momus.critic.hooks import with_needs
from momus.estimator import clone
from momus.reading import as_corpus
from momus.verdicts.judge import judge

__all__ = ["headline_p", "parametrize", "tiny_encoder"]


Texts = Sequence[str] | Sequence[Mapping[str, Any]]
"""Documents of a test: texts, or records with the fields that a critic reads beside the text."""


def headline_p(critic: Critic[Any], fit: Texts, real: Texts, generated: Texts) -> float:
    """The p of a critic's headline statistic between real and generated texts, after a fit on other real texts.

    Raises
    ------
    AssertionError
        Nothing could be tested; the message says why.

    >>> from momus.critic.registry import critic_class
    >>> length = critic_class("length")()
    >>> headline_p(length, ["a b c"] * 10, ["a b c d", "a b"] * 10, ["a b c d e f g h", "a"] * 10) < 0.05
    True
    """
    reading = with_needs(None, [critic])
    fitted = clone(critic).fit(as_corpus(fit, "fit", reading))
    first, second = (
        fitted.score(as_corpus(side, name, reading)) for side, name in ((real, "real"), (generated, "generated"))
    )
    (verdict,) = judge(fitted, first, second, only_headline=True)
    assert verdict.p is not None, verdict.method.reason
    return verdict.p


def tiny_encoder(words: Sequence[str] = (), *, width: int = 32, layers: int = 2, longest: int = 64) -> tuple[Any, Any]:
    """A small BERT with random weights, always the same, and its word-piece tokenizer; nothing is downloaded.

    Parameters
    ----------
    words
        Words that are tokens, beside those of the synthetic text of the checks; others are split into pairs of letters.
    width, layers
        Size of its vectors, and number of its layers.
    longest
        Most tokens of a text.

    Returns
    -------
    A ``BertModel`` in evaluation mode and a fast tokenizer; ``save_pretrained(folder)`` of both makes a model folder.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = [*letters, *".,;:!?'-()", *(a + b for a in letters[:26] for b in letters[:26])]
    common = sorted({word for document in documents() for word in re.findall(r"\w+", document.text.lower())})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*special, *words, *pieces, *(f"##{piece}" for piece in pieces), *common]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.Lowercase()
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = {f"{n}_token": f"[{n.upper()}]" for n in ("pad", "unk", "cls", "sep", "mask")}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=longest,
        initializer_range=0.2,  # ten times BERT's: each token then depends on the others
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = BertModel(config).eval()
    return network, PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=longest, **names)
