"""Monitor the training of a language model with critics.

    python examples/watch_training.py --out folder

Trains a character-level transformer (two layers, random initialisation) on passages of the novels that ship with Momus.
Every ``--every`` steps, two critics score 24 samples: do samples use words as the novels do (``unigram``), and do words
have the same lengths (``word-length``)? The numbers go to the trainer's logs and to ``history.csv``; ``training.svg``
plots generated − real over steps with 95 % bootstrap intervals over samples, for the total variation distance between
words (its excess over chance) and for Latent NLL. Needs ``pip install -e 'examples/training[train]'``. Takes some 90 s
on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from scipy.stats import norm
from shared import GENERATED, OTHER, corpus, figure, options, run

import momus
from momus.critic.registry import critic_class
from momus_training.callback import CriticCallback

WINDOW = 96
SAMPLES = 24


class WordLength(momus.Critic[momus.Values]):
    """z is the mean length of a document's words, in letters; P_c(z) is a normal distribution."""

    name = "word-length"
    axis = "length of words"
    question = "Are words as long as in real text?"

    def fit(self, real: momus.Corpus) -> Self:
        """Estimate mean and standard deviation."""
        z = self.project(real).values
        self.mean_, self.sd_ = float(z.mean()), float(z.std(ddof=1))
        return self

    def project(self, batch: momus.Corpus) -> momus.Values:
        """Compute the mean word length of each document."""
        return momus.Values(np.array([np.mean([len(w) for w in d.text.split()] or [0]) for d in batch]))

    def log_prior(self, latents: momus.Values) -> momus.LogPrior:
        """Log density of the normal distribution."""
        return momus.LogPrior.of_vectors(norm.logpdf(latents.values, self.mean_, self.sd_))


def letters(texts: Sequence[str]) -> Any:
    """Build a character tokenizer from the characters of these texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    characters = sorted({c for t in texts for c in t})
    vocabulary = {c: i for i, c in enumerate(["<pad>", "<unk>", *characters])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>")


def cut(texts: Sequence[str], size: int) -> list[str]:
    """The first ``size`` characters of each text; shorter texts are left out."""
    return [t[:size] for t in texts if len(t) >= size]


def sampler(tokenizer: Any, size: int) -> Callable[[Any, int], list[str]]:
    """A function that draws ancestral samples of ``size`` characters, each after a line end."""

    def generate(model: Any, step: int) -> list[str]:
        start = torch.full((SAMPLES, 1), tokenizer.convert_tokens_to_ids("\n"))
        ids = model.generate(start, max_new_tokens=size, do_sample=True, top_k=0, eos_token_id=None)
        return [str(t) for t in tokenizer.batch_decode(ids[:, 1:])]

    return generate


def train(texts: Sequence[str], callback: CriticCallback, tokenizer: Any, chosen: Any) -> None:
    """Train from random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    torch.manual_seed(chosen.seed)
    ids = np.concatenate([tokenizer(t + "\n")["input_ids"] for t in texts])
    windows = ids[: len(ids) // WINDOW * WINDOW].reshape(-1, WINDOW)
    sizes = {"n_layer": 2, "n_head": 4, "n_embd": 96, "n_positions": 256}
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer), **sizes, bos_token_id=0, eos_token_id=0, pad_token_id=0)
    )
    arguments = TrainingArguments(
        str(chosen.out / "trainer"),
        max_steps=chosen.steps,
        per_device_train_batch_size=16,
        learning_rate=3e-3,
        lr_scheduler_type="cosine",
        warmup_steps=10,
        logging_steps=max(1, chosen.steps // 10),
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        seed=chosen.seed,
    )
    data = [{"input_ids": w, "labels": w} for w in torch.from_numpy(windows)]
    callback.attach(Trainer(model, arguments, train_dataset=data)).train()


def main(argv: Sequence[str] | None = None) -> pd.DataFrame:
    """Train, monitor and plot."""
    chosen = options(
        __doc__,
        argv,
        steps={"type": int, "default": 400},
        every={"type": int, "default": 50, "help": "steps between two looks"},
        size={"type": int, "default": 200, "help": "characters per sample"},
    )
    novels = corpus("prose.jsonl.gz", "novels")
    training, rest = novels.split(0.6, chosen.seed)
    fit, real = rest.split(0.5, chosen.seed)
    texts = [[d.text for d in c] for c in (training, fit, real)]
    critics = [critic_class("unigram")(), WordLength()]
    for critic in critics:
        critic.fit(momus.Corpus.from_texts(cut(texts[1], chosen.size), name="fit"))
    tokenizer = letters(texts[0])
    callback = CriticCallback(
        critics,
        cut(texts[2], chosen.size),
        sampler(tokenizer, chosen.size),
        every=chosen.every,
        start=True,
        seed=chosen.seed,
    )
    train(texts[0], callback, tokenizer, chosen)
    callback.frame().to_csv(chosen.out / "history.csv", index=False)
    frame = callback.frame()
    print(frame[["step", "critic", "statistic", "real_value", "generated_value", "low", "high"]].to_string(index=False))
    draw(frame, chosen.out / "training.svg")
    return frame


def draw(frame: pd.DataFrame, path: Any) -> None:
    """Plot the difference from real text over steps, one panel per critic."""
    axes, write = figure(path, columns=2)
    panels = [("unigram", "tvd", GENERATED), ("word-length", "latent_nll", OTHER)]
    for ax, (name, statistic, colour) in zip(axes, panels, strict=True):
        rows = frame[(frame["critic"] == name) & (frame["statistic"] == statistic)]
        ax.fill_between(rows["step"], rows["low"], rows["high"], alpha=0.25, color=colour, lw=0)
        ax.plot(rows["step"], rows["difference"], color=colour, marker="o", ms=3)
        ax.axhline(0, color="0.6", lw=0.8)
        ax.set_xlabel("step")
        ax.set_ylabel(f"{statistic}: generated − real")
        if statistic == "latent_nll":
            ax.set_yscale("symlog", linthresh=1.0)  # an untrained model writes words of very different lengths
        ax.set_title(f"{name} ({rows['n_real'].iloc[0]} real, {SAMPLES} samples)", fontsize=9)
    write()


if __name__ == "__main__":
    run(main)
