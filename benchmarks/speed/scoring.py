"""Speed of scoring with a causal language model, compared with the bare forward pass and a loop over documents.

Three methods in turn, several rounds in one run: `TransformersLM.score` on documents of very different lengths; the
network's forward pass alone on the same sorted batches; and one document at a time. Ratios are of the best rounds.

    python benchmarks/speed/scoring.py [--model FOLDER_OR_GGUF] [--documents 120] [--device cpu]
"""

from __future__ import annotations

import argparse
import tempfile
import time

import numpy as np
import torch

from momus.critic.tools import token_batches
from momus.sequences import Sequences
from momus_adapters.language_models.transformers import TransformersLM, pieces


def untrained(folder: str, layers: int, width: int, words: int) -> None:
    """Write a Llama with random weights and a tokenizer of the same vocabulary size."""
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    names = {f"w{i}": i + 2 for i in range(words - 2)}
    backend = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1, **names}, unk_token="</s>"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    config = LlamaConfig(
        vocab_size=words,
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        num_key_value_heads=width // 64,
        max_position_embeddings=2048,
    )
    torch.manual_seed(0)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def bare(model: TransformersLM, sequences: Sequences) -> None:
    """Run only the forward pass on the same batches."""
    todo = pieces(sequences.lengths + 1, model.window)
    with torch.inference_mode():
        for some in token_batches(todo, model.budget):
            inputs, _ = model._inputs(sequences, some)
            model.network(input_ids=inputs, use_cache=False)
    if model.device.startswith("cuda"):
        torch.cuda.synchronize()


def loop(model: TransformersLM, sequences: Sequences) -> np.ndarray:
    """Score one document at a time, as many scripts do."""
    totals = []
    with torch.inference_mode():
        for i in range(len(sequences)):
            row = torch.tensor([[model.begin, *sequences[i].tolist(), model.end]], device=model.device)
            totals.append(-float(model.network(input_ids=row, labels=row).loss) * (row.shape[1] - 1))
    return np.array(totals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder or GGUF file; default: random weights")
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--mean", type=float, default=15, help="mean length in tokens")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--words", type=int, default=8000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.model:
        model = TransformersLM(options.model, device=options.device)
    else:
        with tempfile.TemporaryDirectory() as folder:
            untrained(folder, options.layers, options.width, options.words)
            model = TransformersLM(folder, device=options.device)
        model.name = "random Llama"
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.lognormal(np.log(options.mean), 0.8, options.documents), 1, 1500).astype(int)
    sequences = Sequences.of([rng.integers(2, model.size, n) for n in lengths])
    tokens = int((sequences.lengths + 1).sum())
    size = sum(p.numel() for p in model.network.parameters()) / 1e6
    print(
        f"{model.name}, {size:.0f} M parameters, {model.size:,} tokens; {len(sequences)} documents, {tokens:,} tokens, "
        f"lengths {lengths.min()} to {lengths.max()}; {options.device}, {torch.get_num_threads()} threads"
    )
    ways = {"scores": lambda: model.score(sequences), "bare forward": lambda: bare(model, sequences)}
    ways["one at a time"] = lambda: loop(model, sequences)
    wall: dict[str, list[float]] = {k: [] for k in ways}
    work: dict[str, list[float]] = {k: [] for k in ways}
    totals = {}
    for _ in range(options.rounds):
        for name, way in ways.items():
            a, b = time.perf_counter(), time.process_time()
            totals[name] = way()
            wall[name].append(time.perf_counter() - a)
            work[name].append(time.process_time() - b)
    for name in ways:
        print(
            f"   {name:14} {tokens / min(wall[name]):8,.0f} tokens per second of wall time, "
            f"{tokens / min(work[name]):8,.0f} of processor time (best of {options.rounds})"
        )
    for label, t in (("wall", wall), ("processor", work)):
        print(
            f"   {label}: {min(t['bare forward']) / min(t['scores']):.2f} of the bare forward pass, "
            f"{min(t['one at a time']) / min(t['scores']):.2f} times the loop"
        )
    gap = np.abs(totals["scores"].totals - totals["one at a time"]).max()
    print(f"   largest difference in a document's log p between scores and loop: {gap:.1e} nats")


if __name__ == "__main__":
    main()
