"""Fine-tuned ``transformers`` classifiers of texts and of tokens, as posteriors.

A model is any local folder or hub name that ``AutoModelForSequenceClassification`` or
``AutoModelForTokenClassification`` accepts; weights are read as safetensors, never unpickled. A saved critic keeps the
name of the model, not its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from momus.critic.tools import resource
from momus.estimator import Estimator, check_params, parametrized
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats
from momus.parameters import Range
from momus_adapters.transformers.encoder import Count, Encoder, Precision, tokenize


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

    def _loaded(self) -> Encoder:
        check_params(self)
        kind = "AutoModelForSequenceClassification"
        return resource(Encoder.load, kind, self.model, self.device, self.precision)

    @property
    def classes_(self) -> list[str]:
        """Names of the classes, from the model's configuration."""
        labels = self._loaded().network.config.id2label
        return [str(labels[i]) for i in range(len(labels))]

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Class probabilities, float array (N, K); they do not depend on what else is in the batch."""
        encoder = self._loaded()
        rows = tokenize(encoder.tokenizer, list(texts), self.max_tokens)
        return softmax(encoder.class_logits(rows, self.batch * self.max_tokens), self.temperature)
