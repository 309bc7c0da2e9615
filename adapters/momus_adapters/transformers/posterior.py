"""Fine-tuned encoder as posterior over section types (Deng et al. 2022, section 4: BERT)."""

from __future__ import annotations

import json
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from momus.critic.tools import CalibratedPosterior, resource
from momus.errors import FittingError
from momus.estimator import check_params, parametrized
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus_adapters.saved import Tensors
from momus_adapters.transformers.encoder import SPECIAL, Count, Encoder, Precision, autocast, load, quiet, tokenize

Rows = list[NDArray[np.int32]]


@parametrized
class TransformersPosterior(CalibratedPosterior):
    """Sequence classifier over section types: fine-tuned with early stopping, calibrated by a temperature.

    Parameters
    ----------
    model
        A folder, or a name on the model hub.
    epochs, rate, batch
        Passes over the sections, peak learning rate of AdamW, sections per step (the paper: 3, 2e-5, 32).
    max_tokens
        Maximum number of tokens read per section.
    validation
        Share of documents held out for early stopping and for fitting the temperature.
    precision
        ``auto`` (bfloat16 on a GPU), ``float32``, ``bfloat16`` or ``float64``. Weights are trained in single precision,
        or in double.
    seed
        Seeds the head, the order of batches, dropout, and the choice of held-out documents.
    """

    device = "cpu"

    model: str = ""
    epochs: Count = 3
    rate: Annotated[float, Range(0, 1, above=True)] = 2e-5
    batch: Count = 32
    max_tokens: Count = 256
    validation: Annotated[float, Range(0, 1, above=True)] = 0.1
    precision: Precision = "auto"
    seed: int = 0

    def fit(self, corpus: Corpus, labels: Ints, states: int) -> Self:
        """Fine-tune, keep the weights of the best epoch, and fit the temperature.

        Raises
        ------
        FittingError
            There are too few labelled sections to hold any out, or the loss is not finite.
        UsageError
            The model cannot be loaded, or a parameter is out of range.
        """
        import torch

        check_params(self)

        rng = np.random.default_rng(self.seed)
        document = owners_of(offsets_of(corpus.section_counts))  # the document of each section, (N,)
        held_documents = rng.permutation(len(corpus))[: max(1, round(self.validation * len(corpus)))]
        held = np.isin(document, held_documents)
        train, test = np.flatnonzero(~held & (labels >= 0)), np.flatnonzero(held & (labels >= 0))
        if len(train) < 2 or len(test) < 1:
            raise FittingError(f"{len(train) + len(test)} labelled sections are too few to fine-tune an encoder")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network, tokenizer = load("AutoModelForSequenceClassification", self.model, num_labels=states)
            rows = tokenize(tokenizer, corpus.section_texts.to_pylist(), self.max_tokens)
            tuned = Encoder(network, tokenizer, self.device, self.precision)
            self._train(tuned, [rows[i] for i in train], labels[train], [rows[i] for i in test], labels[test], rng)
        self._keep(tuned)
        self.states_ = states
        self.calibrate(self._logits(tuned, [rows[i] for i in test]), labels[test])
        return self

    _new_weights = Tensors

    def _train(
        self, tuned: Encoder, rows: Rows, labels: Ints, held: Rows, truth: Ints, rng: np.random.Generator
    ) -> None:
        import torch

        network = tuned.network
        # batches of similar length: little padding, and memory peaks in the first one
        order = np.argsort([-len(r) for r in rows], kind="stable")
        batches = [order[i : i + self.batch] for i in range(0, len(order), self.batch)]
        optimizer = torch.optim.AdamW(network.parameters(), lr=self.rate, weight_decay=0.01)
        total = self.epochs * len(batches)
        warm = max(1, total // 10)  # the rate rises linearly over the first tenth of the steps, then falls to 0
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda i: min((i + 1) / warm, max(0.0, (total - i) / max(1, total - warm)))
        )
        self.losses_: list[float] = []
        best, state, step = np.inf, {}, 0
        with stage("fine-tuning", total) as advance:
            for _ in range(self.epochs):
                network.train()
                for b in rng.permutation(len(batches)):
                    batch = batches[b]
                    inputs = tuned.inputs([rows[i] for i in batch])
                    with autocast(self.device, self.precision):
                        logits = network(**inputs).logits
                    target = torch.from_numpy(labels[batch]).to(self.device)
                    torch.nn.functional.cross_entropy(logits.float(), target).backward()  # type: ignore[no-untyped-call]
                    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                    optimizer.step()
                    schedule.step()
                    optimizer.zero_grad(set_to_none=True)
                    advance(step := step + 1)
                p = log_softmax(self._logits(tuned, held), axis=1)
                loss = -float(p[np.arange(len(truth)), truth].mean())
                if not np.isfinite(loss):
                    done = len(self.losses_) + 1
                    raise FittingError(
                        f"fine-tuning {self.model!r} diverged: the held-out loss is {loss} after pass {done}",
                        hint=f'lower the rate, which is {self.rate:g}, or compute with precision = "float32"',
                    )
                self.losses_.append(loss)
                if loss < best:
                    best = loss
                    state = {k: v.detach().cpu().clone() for k, v in network.state_dict().items()}
                else:
                    break
        network.load_state_dict(state)

    def _logits(self, tuned: Encoder, rows: Rows) -> Floats:
        return tuned.class_logits(rows, self.batch * self.max_tokens)

    def _keep(self, tuned: Encoder) -> None:
        """Store weights, configuration and tokenizer as arrays and text: a saved critic needs no other files."""
        network, tokenizer = tuned.network, tuned.tokenizer
        self.weights_ = Tensors.of({k: v.float().cpu().numpy() for k, v in network.state_dict().items()})
        self.config_ = json.loads(network.config.to_json_string(use_diff=False))
        self.tokenizer_ = tokenizer.backend_tokenizer.to_str()
        self.special_ = {k: str(v) for k in SPECIAL if (v := getattr(tokenizer, k, None)) is not None}

    def encoder(self) -> Encoder:
        """Return the fine-tuned network on its device, and the tokenizer."""
        return resource(_rebuilt, self, self.weights_, self.device)

    def predict(self, batch: Corpus) -> Floats:
        """Calibrated probabilities, float array (N, K)."""
        tuned = self.encoder()
        rows = tokenize(tuned.tokenizer, batch.section_texts.to_pylist(), self.max_tokens)
        return softmax(self._logits(tuned, rows), self.temperature_)


def _rebuilt(posterior: TransformersPosterior, weights: Tensors, device: str) -> Encoder:
    """The network of a fitted posterior."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast

    with quiet():
        config = AutoConfig.for_model(posterior.config_["model_type"])
        config.update({k: v for k, v in posterior.config_.items() if k != "model_type"})
        config.num_labels = posterior.states_
        network = AutoModelForSequenceClassification.from_config(config)
        backend = Tokenizer.from_str(posterior.tokenizer_)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **posterior.special_)
    # its configuration may ask for half precision: weights are loaded once they are in the precision of training
    rebuilt = Encoder(network, tokenizer, device, posterior.precision)
    rebuilt.network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.arrays().items()})
    return rebuilt
