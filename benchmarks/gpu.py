"""Speed of the code that runs on a GPU, and its agreement with the CPU; prints the device's name.

Run:  bash benchmarks/gpu.sh [cpu]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from gpu_stages import chains, gibbs, relabelling, timed, topics

from momus import Corpus
from momus.critic.hooks import moved
from momus.sequences import Decoding, Sequences, document_seed, sample
from momus_critics.hsmm import Parameters, posterior, viterbi
from momus_critics.hsmm.passes import SegmentScores
from momus_critics.passages import Passages
from momus_critics.pcfg.grammar import Grammar

sys.path.insert(0, str(Path(__file__).parent / "reproduce"))
from small_models import small_lm


def spans(total: torch.Tensor) -> SegmentScores:
    """Segment scores from cumulative sums (B, T + 1, K)."""
    return lambda t, n: total[:, t, None] - total[:, t - n : t].flip(1)


def hsmm(device: str, states: int = 800, length: int = 400, longest: int = 11, batch: int = 16) -> None:
    """Both passes at the size of the synthetic study, and most probable paths with 40 states."""
    g = torch.Generator().manual_seed(0)
    leaving = torch.randn(states, states + 1, generator=g).log_softmax(dim=1)
    duration = torch.randn(states, longest, generator=g).log_softmax(dim=1)
    initial = torch.randn(states, generator=g).log_softmax(dim=0)
    prior = Parameters(initial, leaving[:, :-1].contiguous(), duration, leaving[:, -1].contiguous())
    each = torch.randn(batch, length, states, generator=g)
    lengths = torch.full((batch,), length)

    def run(where: str) -> tuple[torch.Tensor, torch.Tensor]:
        x = each.to(where)
        total = torch.cat([torch.zeros_like(x[:, :1]), x.cumsum(dim=1)], dim=1)
        found = posterior(prior.to(where), spans(total), lengths.to(where))
        return found.log_likelihood.cpu(), found.transitions.cpu()

    (value, counts), seconds = timed(lambda: run(device), device)
    (expected, expected_counts), cpu = timed(lambda: run("cpu"), "cpu")
    apart = float(((value - expected) / expected).abs().max())
    moved = float((counts - expected_counts).abs().sum() / expected_counts.sum())
    print(f"HSMM, {states} states, length {length}, duration {longest}, batch {batch}: both passes {seconds:.3f} s,")
    print(
        f"  CPU {cpu:.3f} s; log-likelihoods differ by {apart:.1e}, expected transitions by {moved:.1e} of their mass"
    )
    small = Parameters(*(p[:40] if p.dim() == 1 else p[:40, : min(p.shape[1], 40)] for p in vars(prior).values()))
    x = each[:, :, :40]

    def best(where: str) -> list[tuple[list[int], list[int]]]:
        y = x.to(where)
        total = torch.cat([torch.zeros_like(y[:, :1]), y.cumsum(dim=1)], dim=1)
        paths = viterbi(small.to(where), spans(total), lengths.to(where))
        return [(s.states, s.durations) for s in paths]

    same = np.mean([a == b for a, b in zip(best(device), best("cpu"), strict=True)])
    print(f"  most probable paths (40 states): {same:.0%} the same")


def documents(n: int, seed: int) -> Corpus:
    """Running texts of five parts, each with specific words."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        parts = []
        for part in range(5):
            own = [f"part{part}word{i}" for i in rng.integers(0, 40, 60)]
            parts.append(" ".join(rng.permutation([*own, *(f"common{i}" for i in rng.integers(0, 300, 120))])) + ".")
        texts.append("\n\n".join(parts))
    return Corpus.from_texts(texts, name=f"simulated {seed}")


def passages(device: str) -> None:
    """The critic ``passages``, fitted on the device, and scored on the device and on the CPU."""
    real, other = documents(400, 0), documents(400, 1)
    start = time.perf_counter()
    critic = Passages(n_states=6).to(device).fit(real)
    fitted = time.perf_counter() - start
    on_device, seconds = timed(lambda: critic.score(other).nll, device)
    on_cpu, cpu = timed(lambda: moved(critic, "cpu").score(other).nll, "cpu")
    same = float(np.isclose(on_device, on_cpu, rtol=1e-4).mean())
    print(f"passages, 400 documents: fitted in {fitted:.1f} s, scored in {seconds:.2f} s (CPU {cpu:.2f} s);")
    print(f"  {same:.1%} of documents have the same Latent NLL")


def encoder(device: str, sections: int) -> None:
    """An encoder of BERT's size with random weights: throughput of the posterior and of the bare forward pass."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from momus.critic.resources import token_batches
    from momus_adapters.transformers.encoder import autocast, padded, tokenize
    from momus_adapters.transformers.posterior import TransformersPosterior

    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(5000)]
    lengths = rng.integers(20, 250, sections)
    texts = [" ".join(rng.choice(words, n)) for n in lengths]
    corpus = Corpus.from_sections(
        [[(None, t) for t in texts[i : i + 8]] for i in range(0, sections, 8)], name="sections"
    )
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}
        backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
        torch.manual_seed(0)
        size = {} if device != "cpu" else {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 2}
        BertModel(BertConfig(vocab_size=len(vocabulary), **size)).save_pretrained(folder)
        critic = TransformersPosterior(model=str(Path(folder)), epochs=1, max_tokens=256, batch=64)
        critic.device = device
        start = time.perf_counter()
        critic.fit(corpus, np.arange(sections) % 10, 10)
        tuned = time.perf_counter() - start
    network, tokenizer = critic.network()
    rows = tokenize(tokenizer, texts, 256)
    ready = [
        padded([rows[i] for i in b], tokenizer.pad_token_id, device)
        for b in token_batches([len(r) for r in rows], 64 * 256)
    ]

    def bare() -> None:
        with torch.inference_mode(), autocast(device, "auto"):
            for inputs in ready:
                network(**inputs).logits.double().cpu()

    _, plain = timed(bare, device)
    found, whole = timed(lambda: critic.predict(corpus), device)
    critic.device = "cpu"
    few = corpus.slice(0, 8)
    apart = float(np.abs(critic.predict(few) - found[:64]).max())
    print(f"encoder, {sections:,} sections of {sum(map(len, rows)):,} tokens: one epoch {tuned:.1f} s;")
    share = plain / whole
    print(f"  posterior {whole:.2f} s, bare forward pass {plain:.2f} s ({share:.2f} of it); CPU differs by {apart:.1e}")


def language_model(device: str, sequences: int) -> None:
    """Scores and samples of a transformer with random weights, and the inside algorithm of a grammar."""
    rng = np.random.default_rng(0)
    symbols, width = 8000, 256
    texts = Sequences.of([rng.integers(0, symbols, n) for n in rng.integers(5, 100, sequences)])
    models = {where: small_lm("transformer", symbols, width=width, layers=4, device=where) for where in {device, "cpu"}}
    found, seconds = timed(lambda: models[device].score(texts), device)
    few = texts.take(np.arange(16))
    expected = models["cpu"].score(few).log_probabilities
    apart = float(np.abs(found.log_probabilities[: len(expected)] - expected).max())
    tokens = len(found.log_probabilities)
    print(f"language model: {tokens:,} tokens scored in {seconds:.2f} s; CPU differs by {apart:.1e} nats per token")
    seeds = [document_seed(0, i) for i in range(256)]
    drawn, seconds = timed(
        lambda: sample(models[device], None, Decoding("nucleus", top_p=0.9, longest=64), seeds), device
    )
    other = sample(models["cpu"], None, Decoding("nucleus", top_p=0.9, longest=64), seeds[:32]).sequences
    same = sum(np.array_equal(drawn.sequences[i], other[i]) for i in range(32))
    print(f"  {len(drawn.sequences.ids):,} tokens drawn in {seconds:.2f} s; {same} of 32 documents as on the CPU")
    k, v = 40, 500
    binary, lexical = rng.random((k, k, k)), rng.random((k, v)) * k
    total = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
    parts = np.full(k, 1 / k), binary / total[:, None, None], lexical / total[:, None]
    grammar = Grammar([f"L{i}" for i in range(k)], [f"w{i}" for i in range(v)], *parts)
    some = [rng.integers(0, v, 20).tolist() for _ in range(sequences // 8)]
    values, seconds = timed(lambda: grammar.log_likelihood(some, device), device)
    apart = float(np.abs(values[:8] - grammar.log_likelihood(some[:8])).max())
    print(f"grammar: {len(some):,} sentences of 20 words in {seconds:.2f} s; CPU differs by {apart:.1e} nats")


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    device = parser.parse_args().device
    name = f"CPU, {torch.get_num_threads()} threads" if device == "cpu" else torch.cuda.get_device_name(device)
    print(f"device: {name}; torch {torch.__version__}")
    hsmm(device)
    passages(device)
    encoder(device, 4096 if device != "cpu" else 256)
    language_model(device, 4096 if device != "cpu" else 64)
    topics(device, 5000 if device != "cpu" else 300)
    gibbs(device, 5000 if device != "cpu" else 200)
    chains(20_000 if device != "cpu" else 2000)
    relabelling(device, *((1000, 30_000, 32) if device != "cpu" else (200, 6000, 4)))


if __name__ == "__main__":
    main()
