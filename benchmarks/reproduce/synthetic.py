"""The synthetic study of Deng et al. (2022, section 3, appendix D): does a language model find hidden states?

Sequences of 50 sub-sequences over 53 symbols are drawn from a chain of 256 hidden states. Three language models are
evaluated by word PPL (how well they predict symbols) and Latent PPL (whether the states of their output follow each
other as in the process): the process itself; an HSMM learned from symbols alone, which infers segments, states, their
number and the segmentation; and a transformer.

    python benchmarks/reproduce/synthetic.py --folder RUN                           # under an hour on one core
    python benchmarks/reproduce/synthetic.py --folder RUN --transformer gpt         # 2 layers of 128, few steps
    python benchmarks/reproduce/synthetic.py --folder RUN --transformer gpt --full --device cuda
    python benchmarks/reproduce/synthetic.py --read FILE.json … --write benchmarks/results/hidden-states.md

The process and its 51,200 sequences are the paper's. The default transformer (`symbols_transformer`) reads n-grams and
each sequence once; it resumes from RUN, and its kept networks show word PPL and Latent PPL along the training.
``--full`` has the paper's 6 layers of width 512 and 120,000 steps.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import symbols_transformer as grams
import torch
from hsmm_symbols.symbols import learn_symbols
from pages import write_between
from rich.console import Console
from rich.progress import track
from rich.table import Table
from segment_process import DELIMITER, SegmentProcess, latent_perplexity
from synthetic_results import PAPER, figure, merged, table

ALPHABET, BEGIN, PAD = DELIMITER + 1, DELIMITER + 1, DELIMITER + 2
Symbols = list[list[int]]


@dataclass
class Row:
    """Results of one language model."""

    model: str
    word_ppl: float
    word_error: float
    sequences: int
    latent_ppl: float
    latent_error: float
    generated: int
    invalid: float
    seconds: float
    note: str


def word_perplexity(log_likelihood: np.ndarray, sequences: Symbols) -> tuple[float, float]:
    """Return exp of the mean NLL per symbol, and its standard error over sequences (delta method)."""
    n = np.array([len(s) for s in sequences], dtype=float)
    mean = -log_likelihood.sum() / n.sum()
    error = math.sqrt(((log_likelihood + mean * n) ** 2).sum()) / n.sum()
    return math.exp(mean), math.exp(mean) * error


def make_gpt(full: bool, longest: int) -> torch.nn.Module:
    """Return a transformer language model with random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    size = {"n_layer": 6, "n_head": 4, "n_embd": 512} if full else {"n_layer": 2, "n_head": 4, "n_embd": 128}
    config = GPT2Config(
        vocab_size=PAD + 1, n_positions=longest + 1, bos_token_id=BEGIN, eos_token_id=BEGIN, pad_token_id=PAD, **size,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    return GPT2LMHeadModel(config)


def padded(sequences: Symbols) -> torch.Tensor:
    """Sequences after a begin symbol, padded on the right, shape (sequences, 1 + longest)."""
    rows = [torch.tensor([BEGIN, *s]) for s in sequences]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def train(model: torch.nn.Module, data: Symbols, steps: int, batch: int, rate: float, device: str, seed: int) -> None:
    """Train with AdamW, linear warm-up and cosine decay; sequences of similar length share a batch."""
    rng = np.random.default_rng(seed)
    model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min((i + 1) / warm, 0.5 * (1 + math.cos(math.pi * min(1.0, i / steps)))) + 1e-3
    )
    order = np.argsort([len(s) for s in data], kind="stable")
    groups = [order[i : i + batch] for i in range(0, len(order) - batch + 1, batch)]
    for _ in track(range(steps), "training the transformer"):
        x = padded([data[i] for i in groups[rng.integers(len(groups))]]).to(device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device != "cpu"):
            loss = model(x, labels=torch.where(x == PAD, -100, x)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    model.eval()


@torch.inference_mode()
def gpt_log_likelihood(model: torch.nn.Module, data: Symbols, device: str, batch: int = 32) -> np.ndarray:
    """log P(symbols) of each sequence, shape (sequences,)."""
    out = np.empty(len(data))
    order = np.argsort([len(s) for s in data], kind="stable")
    for i in range(0, len(order), batch):
        some = order[i : i + batch]
        x = padded([data[j] for j in some]).to(device)
        logits = model(x).logits[:, :-1].float()
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten(), reduction="none")
        out[some] = -(loss.view(len(some), -1) * (x[:, 1:] != PAD)).sum(dim=1).cpu().numpy()
    return out


@torch.inference_mode()
def gpt_sample(model: torch.nn.Module, n: int, segments: int, longest: int, device: str, batch: int) -> Symbols:
    """Draw ancestral samples, cut after ``segments`` delimiters."""
    found: Symbols = []
    for i in track(range(0, n, batch), "sampling from the transformer"):
        start = torch.full((min(batch, n - i), 1), BEGIN, device=device)
        x = model.generate(
            start, do_sample=True, top_k=0, max_new_tokens=longest, attention_mask=torch.ones_like(start),
            eos_token_id=None, suppress_tokens=[BEGIN, PAD],
        )  # fmt: skip
        for row in x[:, 1:].tolist():
            ends = [j for j, c in enumerate(row) if c == DELIMITER]
            found.append(row[: ends[segments - 1] + 1] if len(ends) >= segments else row)
    return found


def show(rows: list[Row], seed: int) -> None:
    """Print the results beside the paper's."""
    table = Table(title=f"Synthetic study, seed {seed} (± one standard error)")
    for c in ("model", "word PPL", "paper", "Latent PPL", "paper", "invalid", "learned in", "note"):
        table.add_column(c)
    for r in rows:
        paper = PAPER[r.model]
        table.add_row(
            r.model, f"{r.word_ppl:.4f} ± {r.word_error:.4f} (n = {r.sequences})", f"{paper[0]}",
            f"{r.latent_ppl:.2f} ± {r.latent_error:.2f} (n = {r.generated})", f"{paper[1]}",
            f"{r.invalid:.2%}", f"{r.seconds:.0f} s", r.note,
        )  # fmt: skip
    Console(width=170).print(table)


def gpt_row(a: argparse.Namespace, process: SegmentProcess, train_s: Symbols, test_s: Symbols) -> Row:
    """Train a GPT-2 with random weights, and evaluate it."""
    torch.manual_seed(a.seed)
    longest = 50 * 11
    gpt = make_gpt(a.full, longest)
    begun = time.perf_counter()
    train(gpt, train_s, a.steps, a.batch, a.rate, a.device, a.seed)
    seconds = time.perf_counter() - begun
    ppl = word_perplexity(gpt_log_likelihood(gpt, test_s, a.device), test_s)
    drawn = [process.read(s) for s in gpt_sample(gpt, a.samples, 50, longest - 50, a.device, 256)]
    latent = latent_perplexity(process, drawn)
    size = sum(p.numel() for p in gpt.parameters())
    note = f"GPT-2, {size / 1e6:.1f} M parameters, {a.steps} steps of {a.batch} sequences"
    return Row("transformer", *ppl, len(test_s), *latent[:2], a.samples, latent[2], seconds, note)


def grams_rows(a: argparse.Namespace, process: SegmentProcess, train_s: Symbols, test_s: Symbols) -> list[Row]:
    """Train the transformer that reads n-grams, or resume its training; a row for each kept network."""
    recipe = grams.Recipe(ALPHABET, epochs=a.epochs)
    a.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for step, seconds, file in grams.train(train_s, recipe, a.folder, a.seed, a.minutes):
        net = grams.loaded(file, recipe)
        ppl = word_perplexity(grams.log_likelihood(net, test_s), test_s)
        whole = grams.sample(net, a.samples, lambda s: s[-1] == DELIMITER and s.count(DELIMITER) == 50, 550, a.seed)
        latent = latent_perplexity(process, [process.read(s) for s in whole])
        note = f"n-grams, after {step:,} batches of {recipe.batch} sequences"
        rows.append(Row("transformer", *ppl, len(test_s), *latent[:2], a.samples, latent[2], seconds, note))
        show(rows[-1:], a.seed)
    return rows


def study(a: argparse.Namespace) -> list[Row]:
    """Run the whole study."""
    console = Console(width=170)
    process = SegmentProcess.make(seed=a.seed)
    train_x, held_x, test_x = (process.sample(n, 50, a.seed + 10 + i) for i, n in enumerate((a.train, 6400, 6400)))
    train_s, held_s, test_s = ([process.spell(s) for s in x] for x in (train_x, held_x, test_x))
    test_s = test_s[: a.test]
    prior, emission = process.log_likelihood(test_x[: a.test])
    true = word_perplexity(prior + emission, test_s)
    latent = latent_perplexity(process, test_x.tolist())
    rows = [Row("data", *true, len(test_s), *latent[:2], len(test_x), latent[2], 0.0, "the process itself")]

    began = time.perf_counter()
    hsmm = learn_symbols(train_s, held_s, ALPHABET, seed=a.seed, report=lambda m: console.log(m))
    seconds = time.perf_counter() - began
    owners = np.array([process.owners[process.numbers[s]] for s in hsmm.lexicon.segments])
    weight = np.bincount(np.concatenate(hsmm.lexicon.sequences))
    joint = np.zeros((hsmm.states.count, process.states))
    np.add.at(joint, (hsmm.states.owners, owners), weight)
    ends = hsmm.segmentations(test_s[:200])
    exact = np.mean(
        [e == (np.flatnonzero(np.array(s) == DELIMITER) + 1).tolist() for e, s in zip(ends, test_s, strict=False)]
    )
    ppl = word_perplexity(hsmm.log_likelihood(test_s), test_s)
    drawn = [process.read(s) for s in hsmm.sample(a.generate, 50, a.seed + 20)]
    latent = latent_perplexity(process, drawn)
    purity = joint.max(axis=1).sum() / joint.sum()
    note = f"{hsmm.states.count} states found, purity {purity:.4f}; {exact:.1%} of 200 test segmentations exact"
    rows.append(Row("HSMM", *ppl, len(test_s), *latent[:2], a.generate, latent[2], seconds, note))
    show(rows, a.seed)

    if a.transformer == "gpt":
        rows.append(gpt_row(a, process, train_s, test_s))
    elif a.transformer == "grams":
        rows += grams_rows(a, process, train_s, test_s)
    show(rows, a.seed)
    return rows


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--train", type=int, default=51_200, help="training sequences")
    parser.add_argument("--test", type=int, default=1280, help="sequences for word PPL (of 6,400)")
    parser.add_argument("--generate", type=int, default=6400, help="sequences drawn from the HSMM")
    parser.add_argument("--full", action="store_true", help="the paper's transformer")
    parser.add_argument("--transformer", choices=["grams", "gpt", "none"], default="grams")
    parser.add_argument("--folder", type=Path, default=Path("runs/synthetic"), help="checkpoints of the transformer")
    parser.add_argument("--epochs", type=int, default=1, help="grams: how often each sequence is read")
    parser.add_argument("--minutes", type=float, default=math.inf, help="grams: CPU minutes before it stops")
    parser.add_argument("--steps", type=int, help="gpt: training steps")
    parser.add_argument("--batch", type=int, default=11, help="sequences per step (11 are about 4,096 symbols)")
    parser.add_argument("--rate", type=float, help="learning rate")
    parser.add_argument("--samples", type=int, help="sequences drawn from the transformer")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="write the results as JSON")
    parser.add_argument("--read", type=Path, nargs="+", help="run nothing: show the results of such files")
    parser.add_argument("--write", type=Path, help="with --read: the page that gets the table")
    parser.add_argument("--figure", type=Path, help="with --read: draw the figure")
    a = parser.parse_args()
    if a.read:
        rows = merged(a.read)
        print(table(rows))
        if a.write:
            write_between(a.write, "hidden states", table(rows))
        if a.figure:
            figure(rows, a.figure)
        return
    a.steps = a.steps if a.steps is not None else (120_000 if a.full else 4000)
    a.rate = a.rate or (5e-4 if a.full else 2e-3)
    a.samples = a.samples or (6400 if a.full else 512)
    rows = study(a)
    if a.out:
        a.out.write_text(json.dumps([vars(r) for r in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
