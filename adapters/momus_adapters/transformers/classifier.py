"""Fine-tuned ``transformers`` classifiers of texts and of tokens, as posteriors.

A model is any local folder or hub name that ``AutoModelForSequenceClassification`` or
``AutoModelForTokenClassification`` accepts; weights are read as safetensors, never unpickled. A saved critic keeps the
name of the model, not its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic.hooks import DeviceMixin
from momus.critic.tools import resource
from momus.estimator import Estimator, parametrized
from momus.numeric.ragged import offsets_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Bools, Floats, Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus_adapters.chains.classes import ClassChain
from momus_adapters.transformers.encoder import Count, Precision, class_logits, encoder, outputs, tokenize


def class_names(network: Any) -> list[str]:
    """Names of the classes, from the network's configuration."""
    labels = network.config.id2label
    return [str(labels[i]) for i in range(len(labels))]


@parametrized
class TransformersClassifier(Estimator):
    """P(class | text) of a sequence classifier, for the critics `DocumentClasses` and `SectionClasses`.

    Parameters
    ----------
    model
        A folder, or a name on the model hub.
    max_tokens
        Maximum number of tokens read per text.
    batch
        Texts of ``max_tokens`` tokens per batch; of shorter ones more.
    temperature
        Divisor of the logits; 1 leaves the model's probabilities unchanged.
    precision
        ``auto``, ``float32``, ``bfloat16``, or ``float64`` (results are then independent of the batch up to rounding).
    """

    device = "cpu"

    model: str = ""
    max_tokens: Count = 256
    batch: Count = 32
    temperature: Annotated[float, Range(0, 10**6, above=True)] = 1.0
    precision: Precision = "auto"

    def _loaded(self) -> tuple[Any, Any]:
        """The network and its tokenizer."""
        return resource(encoder, "AutoModelForSequenceClassification", self.model, self.device, self.precision)

    @property
    def classes_(self) -> list[str]:
        """Names of the classes, from the model's configuration."""
        return class_names(self._loaded()[0])

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Class probabilities, float array (N, K); they do not depend on what else is in the batch."""
        loaded = self._loaded()
        ids, tokens = tokenize(loaded[1], list(texts), self.max_tokens), self.batch * self.max_tokens
        return softmax(class_logits(loaded, ids, tokens, self.device, self.precision), self.temperature)


@parametrized
class TokenClasses(ClassChain, DeviceMixin):
    """z is the class of each token (word piece) of a document, P_c a Markov chain of classes learned on real text.

    The posterior is that of a token classifier, for each token given the text; special tokens are left out. Documents
    are truncated to ``max_tokens`` tokens.

    Parameters
    ----------
    model, max_tokens, batch, precision
        As in `TransformersClassifier`.
    smoothing
        Additive constant for the counts of classes and transitions.
    """

    name = "token-classes"
    axis = "order of token classes"
    question = "Do token classes, as a token classifier sees them, follow one another as in real documents?"
    sequence = True

    model: str = ""
    max_tokens: Count = 256
    batch: Count = 32
    smoothing: Annotated[float, Range(0, 10**6)] = 1.0
    precision: Precision = "auto"

    def fit(self, real: Corpus) -> Self:
        """Learn the Markov chain of classes."""
        self.classes_ = class_names(self._loaded()[0])
        self.learn_chain(real)
        return self

    def _loaded(self) -> tuple[Any, Any]:
        """The network and its tokenizer."""
        return resource(encoder, "AutoModelForTokenClassification", self.model, self.device, self.precision)

    def _tokens(self, batch: Corpus) -> tuple[list[NDArray[np.int32]], list[Bools]]:
        """Token ids of each document, and a mask of those that are not special tokens."""
        _, tokenizer = self._loaded()
        ids = tokenize(tokenizer, [d.text for d in batch], self.max_tokens)
        special = np.array(sorted(set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}))
        return ids, [~np.isin(r, special) for r in ids]

    def unscored(self, batch: Corpus) -> list[str | None]:
        """Return ``no token`` for documents that have none."""
        return [None if k.any() else "no token" for k in self._tokens(batch)[1]]

    def marginals(self, batch: Corpus) -> tuple[Floats, Ints]:
        """P(z_m | x) of all tokens, float array (N, K), and the offsets of the documents, (n + 1,)."""
        ids, scored = self._tokens(batch)
        probabilities: list[Floats] = [np.zeros((0, len(self.classes_)))] * len(ids)
        with stage("classifying tokens", len(ids)) as advance:
            done, tokens = 0, self.batch * self.max_tokens
            for rows, _, output in outputs(self._loaded(), ids, tokens, self.device, self.precision):
                # logits are (B, T, K), padded at the end: keep each document's own tokens without the special ones
                for row, i in zip(output.logits.double().cpu().numpy(), rows, strict=True):
                    probabilities[i] = softmax(row[: len(ids[i])][scored[i]])
                advance(done := done + len(rows))
        return np.concatenate(probabilities), offsets_of([len(p) for p in probabilities])
