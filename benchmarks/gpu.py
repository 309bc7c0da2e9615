"""Speed of the code that runs on a GPU, and its agreement with the CPU, as a table in Markdown.

Run:  bash benchmarks/gpu.sh [cpu | cuda [STAGE …]]

On a CPU the same code runs at small sizes, to check that it works. Stages that fail are named at the end, exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
import torch
from gpu_stages import HEAD, Row, Stage, chains, gibbs, relabelling, timed, topics

from momus import Corpus
from momus.critic.hooks import moved
from momus.sequences import Sequences
from momus_critics.hsmm import Parameters, posterior, viterbi
from momus_critics.hsmm.passes import SegmentScores
from momus_critics.passages import Passages
from momus_critics.pcfg.grammar import Grammar
from momus_generating import Decoding, document_seeds, sample

sys.path.insert(0, str(Path(__file__).parent / "reproduce"))
from small_models import small_lm


def spans(total: torch.Tensor) -> SegmentScores:
    """Segment scores from cumulative sums (B, T + 1, K)."""
    return lambda t, n: total[:, t, None] - total[:, t - n : t].flip(1)


def hsmm(device: str, small: bool) -> list[Row]:
    """Both passes at the size of the synthetic study, and most probable paths with 40 states."""
    states, length, longest, batch = (60, 60, 6, 8) if small else (800, 400, 11, 16)
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
    size = f"{states} states, length {length}, duration {longest}, batch {batch}"
    off = float(((value - expected) / expected).abs().max())
    rows = [Row.of("HSMM, both passes", size, seconds, cpu, device, "log-likelihoods, relative", off, 1e-5)]
    off = float((counts - expected_counts).abs().sum() / expected_counts.sum())
    rows.append(Row("", "", None, None, None, "transitions, share of mass", off, 1e-4))
    few = Parameters(*(p[:40] if p.dim() == 1 else p[:40, : min(p.shape[1], 40)] for p in vars(prior).values()))
    x = each[:, :, :40]

    def best(where: str) -> list[tuple[list[int], list[int]]]:
        y = x.to(where)
        total = torch.cat([torch.zeros_like(y[:, :1]), y.cumsum(dim=1)], dim=1)
        return [(s.states, s.durations) for s in viterbi(few.to(where), spans(total), lengths.to(where))]

    found, seconds = timed(lambda: best(device), device)
    other, cpu = timed(lambda: best("cpu"), "cpu")
    off = float(np.mean([a != b for a, b in zip(found, other, strict=True)]))
    return [*rows, Row.of("most probable paths", "40 states", seconds, cpu, device, "share of other paths", off, 0.1)]


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


def passages(device: str, small: bool) -> list[Row]:
    """The critic ``passages``, fitted on the device, and scored on the device and on the CPU."""
    n = 40 if small else 400
    real, other = documents(n, 0), documents(n, 1)
    start = time.perf_counter()
    critic = Passages(n_states=6).to(device).fit(real)
    fitted = time.perf_counter() - start
    on_device, seconds = timed(lambda: critic.score(other).nll, device)
    on_cpu, cpu = timed(lambda: moved(critic, "cpu").score(other).nll, "cpu")
    off = float(np.mean(~np.isclose(on_device, on_cpu, rtol=1e-4)))
    return [
        Row.of("passages, fit", f"{n} documents", fitted, None, device),
        Row.of("passages, score", f"{n} documents", seconds, cpu, device, "share of other Latent NLL", off, 0.01),
    ]


def encoder(device: str, small: bool) -> list[Row]:
    """An encoder of BERT's size with random weights: one epoch, the posterior, and the bare forward pass."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from momus.critic.tools import token_batches
    from momus_adapters.transformers.encoder import autocast, padded, tokenize
    from momus_adapters.transformers.posterior import TransformersPosterior

    sections = 64 if small else 4096
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(5000)]
    texts = [" ".join(rng.choice(words, n)) for n in rng.integers(20, 250, sections)]
    corpus = Corpus.from_sections(
        [[(None, t) for t in texts[i : i + 8]] for i in range(0, sections, 8)], name="sections"
    )
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}
        backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.Whitespace()
        PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
        torch.manual_seed(0)
        size = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2} if small else {}
        BertModel(BertConfig(vocab_size=len(vocabulary), **size)).save_pretrained(folder)
        critic = TransformersPosterior(model=str(Path(folder)), epochs=1, max_tokens=256, batch=64)
        critic.device = device
        start = time.perf_counter()
        critic.fit(corpus, np.arange(sections) % 10, 10)
        tuned = time.perf_counter() - start
    fitted = critic.encoder()
    network, tokenizer = fitted.network.eval(), fitted.tokenizer
    rows = tokenize(tokenizer, texts, 256)
    pad = tokenizer.pad_token_id
    ready = [padded([rows[i] for i in b], pad, device) for b in token_batches([len(r) for r in rows], 64 * 256)]

    def bare() -> None:
        with torch.inference_mode(), autocast(device, "auto"):
            for inputs in ready:
                network(**inputs).logits.double().cpu().numpy()

    _, plain = timed(bare, device)
    found, whole = timed(lambda: critic.predict(corpus), device)
    critic.device = "cpu"
    off = float(np.abs(critic.predict(corpus.slice(0, 8)) - found[:64]).max())
    told = f"{sections:,} sections of {sum(map(len, rows)):,} tokens"
    return [
        Row.of("encoder, one epoch", told, tuned, None, device),
        Row.of("encoder, posterior", told, whole, None, device, "probabilities", off, 0.02),
        Row.of("encoder, bare forward pass", told, plain, None, device),
    ]


def language_model(device: str, small: bool) -> list[Row]:
    """Scores and samples of a transformer with random weights, and the inside algorithm of a grammar."""
    rng = np.random.default_rng(0)
    symbols, width, n, drawn_n = (500, 64, 32, 16) if small else (8000, 256, 4096, 256)
    texts = Sequences.of([rng.integers(0, symbols, k) for k in rng.integers(5, 100, n)])
    models = {where: small_lm("transformer", symbols, width=width, layers=4, device=where) for where in {device, "cpu"}}
    found, seconds = timed(lambda: models[device].score(texts), device)
    expected = models["cpu"].score(texts.take(np.arange(16))).log_probabilities
    off = float(np.abs(found.log_probabilities[: len(expected)] - expected).max())
    told = f"{len(found.log_probabilities):,} tokens"
    rows = [Row.of("language model, score", told, seconds, None, device, "nats per token", off, 1e-3)]
    seeds = document_seeds(0, drawn_n)
    decoding = Decoding("nucleus", top_p=0.9, longest=64)
    drawn, seconds = timed(lambda: sample(models[device], None, decoding, seeds), device)
    other = sample(models["cpu"], None, decoding, seeds[:16]).sequences
    off = float(np.mean([not np.array_equal(drawn.sequences[i], other[i]) for i in range(16)]))
    told = f"{len(drawn.sequences.ids):,} tokens"
    rows.append(Row.of("language model, sample", told, seconds, None, device, "share of other texts", off, 0.1))
    k, v = 40, 500
    binary, lexical = rng.random((k, k, k)), rng.random((k, v)) * k
    total = binary.sum(axis=(1, 2)) + lexical.sum(axis=1)
    parts = np.full(k, 1 / k), binary / total[:, None, None], lexical / total[:, None]
    grammar = Grammar([f"L{i}" for i in range(k)], [f"w{i}" for i in range(v)], *parts)
    some = [rng.integers(0, v, 20).tolist() for _ in range(n // 8)]
    values, seconds = timed(lambda: grammar.log_likelihood(some, device), device)
    off = float(np.abs(values[:4] - grammar.log_likelihood(some[:4])).max())
    told = f"{len(some):,} sentences of 20 words"
    return [*rows, Row.of("grammar, inside algorithm", told, seconds, None, device, "nats", off, 1e-6)]


STAGES: tuple[Stage, ...] = (hsmm, passages, encoder, language_model, topics, gibbs, chains, relabelling)


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("stages", nargs="*", metavar="STAGE", choices=[s.__name__ for s in STAGES], default=[])
    options = parser.parse_args()
    device = options.device
    small = device == "cpu"
    name = f"CPU, {torch.get_num_threads()} threads" if small else torch.cuda.get_device_name(device)
    print(f"{name}; torch {torch.__version__}; numpy {np.__version__}\n\n{HEAD}", flush=True)
    failed, start = [], time.perf_counter()
    for stage in [s for s in STAGES if not options.stages or s.__name__ in options.stages]:
        try:
            rows = stage(device, small)
        except Exception:  # the other stages are measured all the same
            failed.append(stage.__name__)
            traceback.print_exc()
            continue
        failed += [row.what for row in rows if not row.good]
        print("\n".join(map(str, rows)), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s in all" + (f"; FAILED: {', '.join(failed)}" if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
