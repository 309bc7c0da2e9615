"""Fine-tuned encoder as posterior over section types (Deng et al. 2022, section 4: BERT)."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from momus.critic.fitted import Fitted
from momus.critic.tools import CalibratedPosterior, resource
from momus.errors import FittingError
from momus.estimator import check_params, parametrized
from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.temperature import softmax
from momus.numeric.types import Floats, Ints
from momus.parameters import Range
from momus.progress import stage
from momus.text.corpus import Corpus
from momus_adapters.transformers.encoder import (
    SPECIAL,
    Count,
    Precision,
    autocast,
    class_logits,
    load,
    padded,
    quiet,
    tokenize,
    weights_in,
)

Rows = list[NDArray[np.int32]]
Tuned = tuple[Any, Any]
"""A fine-tuned network with its tokenizer."""


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
    layers
        Number of top encoder layers to train; −1 trains all of them and the embeddings. The head is always trained.
    balance
        Exponent of the class weights, weight ∝ count^−balance. Probabilities are corrected for the weights afterwards,
        as in Menon et al. (2021), and remain those of the data.
    validation
        Share of documents held out for early stopping and for fitting the temperature.
    patience
        Training stops after this many epochs without a better validation loss.
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
    layers: Annotated[int, Range(-1)] = -1
    balance: Annotated[float, Range(0, 1)] = 0.0
    validation: Annotated[float, Range(0, 1, above=True)] = 0.1
    patience: Count = 1
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
            tuned = weights_in(network, self.precision).to(self.device), tokenizer
            counts = np.bincount(labels[train], minlength=states).astype(np.float64)
            weights = np.maximum(counts, 1.0) ** -self.balance
            self.log_weights_ = np.log(weights / weights.mean())
            self._freeze(network)
            self._train(tuned, [rows[i] for i in train], labels[train], [rows[i] for i in test], labels[test], rng)
        self._keep(tuned)
        logits = self._logits(tuned, [rows[i] for i in test]) - self.log_weights_
        self.calibrate(logits, labels[test])
        return self

    def check_state(self, state: Fitted) -> None:
        """Check a state read from a folder."""
        super().check_state(state)
        state.array("log_weights_", (None,))
        state.array("weights_", (None,))
        state.require(isinstance(state.value("config_"), dict), "config_", "a configuration")
        state.text("tokenizer_")

    def _freeze(self, network: Any) -> None:
        if self.layers < 0:
            return
        body = network.base_model
        stack: Any = next(
            (m for n, m in body.named_modules() if n.endswith(("encoder.layer", "transformer.layer"))), []
        )
        for p in body.parameters():
            p.requires_grad = False
        for block in list(stack)[len(stack) - self.layers :] if self.layers else []:
            for p in block.parameters():
                p.requires_grad = True

    def _train(self, tuned: Tuned, rows: Rows, labels: Ints, held: Rows, truth: Ints, rng: np.random.Generator) -> None:
        import torch

        network, tokenizer = tuned
        # batches of similar length: little padding, and memory peaks in the first one
        order = np.argsort([-len(r) for r in rows], kind="stable")
        batches = [order[i : i + self.batch] for i in range(0, len(order), self.batch)]
        trainable = [p for p in network.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(trainable, lr=self.rate, weight_decay=0.01)
        total = self.epochs * len(batches)
        warm = max(1, total // 10)  # the rate rises linearly over the first tenth of the steps, then falls to 0
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda i: min((i + 1) / warm, max(0.0, (total - i) / max(1, total - warm)))
        )
        weight = torch.from_numpy(np.exp(self.log_weights_)).float().to(self.device)
        self.losses_: list[float] = []
        best, state, step = np.inf, {}, 0
        with stage("fine-tuning", total) as advance:
            for _ in range(self.epochs):
                network.train()
                for b in rng.permutation(len(batches)):
                    batch = batches[b]
                    inputs = padded([rows[i] for i in batch], tokenizer.pad_token_id, self.device)
                    with autocast(self.device, self.precision):
                        logits = network(**inputs).logits
                    target = torch.from_numpy(labels[batch]).to(self.device)
                    torch.nn.functional.cross_entropy(logits.float(), target, weight=weight).backward()  # type: ignore[no-untyped-call]
                    torch.nn.utils.clip_grad_norm_(trainable, 1.0)
                    optimizer.step()
                    schedule.step()
                    optimizer.zero_grad(set_to_none=True)
                    advance(step := step + 1)
                loss = self._loss(tuned, held, truth)
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
                elif len(self.losses_) - 1 - int(np.argmin(self.losses_)) >= self.patience:
                    break
        network.load_state_dict(state)

    def _loss(self, tuned: Tuned, rows: Rows, truth: Ints) -> float:
        from scipy.special import log_softmax

        logits = self._logits(tuned, rows) - self.log_weights_
        return -float(log_softmax(logits, axis=1)[np.arange(len(truth)), truth].mean())

    def _logits(self, tuned: Tuned, rows: Rows) -> Floats:
        tokens = self.batch * self.max_tokens
        tuned[0].eval()
        return class_logits(tuned, rows, tokens, self.device, self.precision)

    def _keep(self, tuned: Tuned) -> None:
        """Store weights, configuration and tokenizer as arrays and text: a saved critic needs no other files."""
        network, tokenizer = tuned
        state = network.state_dict()
        self.weights_ = np.concatenate([state[k].float().cpu().numpy().ravel() for k in sorted(state)])
        self.config_ = json.loads(network.config.to_json_string(use_diff=False))
        self.tokenizer_ = tokenizer.backend_tokenizer.to_str()
        self.special_ = {k: str(v) for k in SPECIAL if (v := getattr(tokenizer, k, None)) is not None}

    def network(self) -> Tuned:
        """Return the fine-tuned network in evaluation mode on its device, and the tokenizer."""
        return resource(_rebuilt, self, self.weights_, self.device)

    def predict(self, batch: Corpus) -> Floats:
        """Calibrated probabilities, float array (N, K)."""
        tuned = self.network()
        rows = tokenize(tuned[1], batch.section_texts.to_pylist(), self.max_tokens)
        return softmax(self._logits(tuned, rows) - self.log_weights_, self.temperature_)


def _rebuilt(posterior: TransformersPosterior, weights: NDArray[np.floating], device: str) -> Tuned:
    """The network of a fitted posterior, from its weights: one flat array, in the order of their sorted names."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedTokenizerFast

    with quiet():
        config = AutoConfig.for_model(posterior.config_["model_type"])
        config.update({k: v for k, v in posterior.config_.items() if k != "model_type"})
        config.num_labels = len(posterior.log_weights_)
        network = weights_in(AutoModelForSequenceClassification.from_config(config), posterior.precision)
        backend = Tokenizer.from_str(posterior.tokenizer_)
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **posterior.special_)
    state, start = network.state_dict(), 0
    flat = torch.from_numpy(np.asarray(weights))
    for name in sorted(state):
        size = state[name].numel()
        state[name] = flat[start : start + size].view(state[name].shape).to(state[name].dtype)
        start += size
    network.load_state_dict(state)
    return network.eval().to(device), tokenizer
