"""Fine-tuned classifiers of ``transformers`` as posteriors: of whole texts, and of tokens.

Any local folder or hub name that ``AutoModelForSequenceClassification`` or ``AutoModelForTokenClassification`` takes;
weights are read as safetensors, never unpickled. A saved critic keeps the name of the model, not its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.estimator import Estimator
from momus.numeric.ragged import offsets_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats
from momus.progress import stage
from momus.text.corpus import Corpus
from momus_adapters.chains.classes import ClassChain
from momus_adapters.transformers.encoder import autocast, load, padded, sorted_batches, tokenize


class _Network:
    """A network with its tokenizer, loaded when it is first asked for."""

    def __init__(self, kind: str, model: str, precision: str) -> None:
        self.network, self.tokenizer = load(kind, model)
        self.network = self.network.eval().double() if precision == "float64" else self.network.eval()
        self.cast = "float32" if precision == "float64" else precision
        labels = self.network.config.id2label
        self.classes = [str(labels[i]) for i in range(len(labels))]


class TransformersClassifier(Estimator):
    """P(class | text) of a sequence classifier, for the critics `DocumentClasses` and `SectionClasses`.

    Parameters
    ----------
    model
        A folder, or a name on the model hub.
    longest
        Tokens of a text that are read.
    batch
        Texts at a time.
    temperature
        What logits are divided by; 1 leaves probabilities as the model has them.
    precision
        ``auto``, ``float32``, ``bfloat16``, or ``float64``, in which a batch changes no digit that counts.
    """

    device: str = "cpu"

    def __init__(
        self, *, model: str = "", longest: int = 256, batch: int = 32, temperature: float = 1.0, precision: str = "auto"
    ) -> None:
        self.model = model
        self.longest = longest
        self.batch = batch
        self.temperature = temperature
        self.precision = precision

    def _loaded(self) -> _Network:
        if getattr(self, "_kept_", None) is None:
            self._kept_ = _Network("AutoModelForSequenceClassification", self.model, self.precision)
        return self._kept_

    @property
    def classes_(self) -> list[str]:
        """Names of the classes, by the model's configuration."""
        return self._loaded().classes

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Return probabilities, float array (N, K), whatever else is in the batch."""
        import torch

        kept = self._loaded()
        network = kept.network.to(self.device)
        rows = tokenize(kept.tokenizer, list(texts), self.longest)
        out = np.zeros((len(rows), len(kept.classes)))
        with torch.inference_mode(), autocast(self.device, kept.cast):
            for some in sorted_batches([len(r) for r in rows], self.batch):
                inputs = padded([rows[i] for i in some], kept.tokenizer.pad_token_id, self.device)
                out[some] = network(**inputs).logits.double().cpu().numpy()
        return softmax(out, self.temperature)


class TokenClasses(ClassChain):
    """z is the class of each token of a document (a word piece), P_c a Markov chain of classes learned on real text.

    The posterior is a token classifier's, one token at a time given the text; special tokens are left out. Longer
    documents are read up to ``longest`` tokens.

    Parameters
    ----------
    model, longest, batch, precision
        As in `TransformersClassifier`.
    smoothing
        Additive constant of the counts of classes and transitions.
    """

    name = "token-classes"
    axis = "order of classes of tokens"
    question = "Do classes of tokens follow one another as in real documents, as a token classifier sees them?"
    sequence = True
    uses_device = True

    def __init__(
        self,
        *,
        model: str = "",
        longest: int = 256,
        batch: int = 32,
        smoothing: float = 1.0,
        precision: str = "auto",
    ) -> None:
        self.model = model
        self.longest = longest
        self.batch = batch
        self.smoothing = smoothing
        self.precision = precision

    def fit(self, real: Corpus) -> Self:
        """Learn the chain of classes."""
        self.classes_ = self._loaded().classes
        self.learn_chain(real)
        return self

    def _loaded(self) -> _Network:
        if getattr(self, "_kept_", None) is None:
            self._kept_ = _Network("AutoModelForTokenClassification", self.model, self.precision)
        return self._kept_

    def reset(self) -> None:
        """Drop what fitting has learned, the network too."""
        super().reset()
        vars(self).pop("_kept_", None)

    def _tokens(self, batch: Corpus) -> tuple[list[NDArray[np.int32]], list[NDArray[np.bool_]]]:
        """Ids of each document's tokens, and which of them are not special."""
        tokenizer: Any = self._loaded().tokenizer
        rows = tokenize(tokenizer, [d.text for d in batch], self.longest)
        special = np.array(sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}))
        return rows, [~np.isin(r, special) for r in rows]

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Documents without a token."""
        return [None if k.any() else "no token" for k in self._tokens(batch)[1]]

    def marginals(self, batch: Corpus) -> tuple[Floats, NDArray[np.int64]]:
        """P(z_m | x) of all tokens."""
        import torch

        kept = self._loaded()
        network = kept.network.to(self.device)
        rows, words = self._tokens(batch)
        found: list[Floats] = [np.zeros((0, len(self.classes_)))] * len(rows)
        batches = sorted_batches([len(r) for r in rows], self.batch)
        with stage("classifying tokens", len(rows)) as advance, torch.inference_mode():
            done = 0
            for some in batches:
                inputs = padded([rows[i] for i in some], kept.tokenizer.pad_token_id, self.device)
                with autocast(self.device, kept.cast):
                    logits = network(**inputs).logits.double().cpu().numpy()
                for row, i in zip(logits, some, strict=True):
                    found[i] = softmax(row[: len(rows[i])][words[i]])
                advance(done := done + len(some))
        offsets = offsets_of([len(f) for f in found])
        return np.concatenate(found), offsets
