"""Throughput of a fine-tuned encoder as posterior, compared with the bare forward pass on the same sorted batches.

The posterior reads sections from a corpus, splits them into word pieces, sorts and pads batches, and turns logits into
probabilities; the bare pass gets ready-made padded tensors. The same sections unsorted show the gain from sorting by
length.

Run:  python benchmarks/speed/posterior.py FOLDER_OF_AN_ENCODER [--device cuda] [--sections 512]
Data: the folder ``sectioned`` under MOMUS_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch

import momus
from momus.critic.tools import token_batches
from momus_adapters.transformers.encoder import autocast, padded, tokenize
from momus_adapters.transformers.posterior import TransformersPosterior


def main() -> None:
    """Measure each three times and report the best."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sections", type=int, default=512)
    parser.add_argument("--batch", type=int, default=32)
    a = parser.parse_args()
    named = os.environ.get("MOMUS_DATA")
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
    corpus = momus.read_corpus(folder / "sectioned" / "eips.jsonl.gz", name="eips")
    part = corpus.slice(0, int(np.searchsorted(np.cumsum(corpus.section_counts), a.sections)))
    labels = np.arange(part.section_counts.sum()) % 8
    posterior = TransformersPosterior(model=a.model, epochs=1, max_tokens=16, batch=a.batch)
    posterior.device = a.device
    posterior.fit(part, labels, 8)  # train the head only, on 16 tokens per section: only speed matters here
    posterior.max_tokens = 128
    encoder = posterior.encoder()
    network, tokenizer = encoder.network.eval(), encoder.tokenizer
    pad = tokenizer.pad_token_id
    texts = part.section_texts.to_pylist()
    rows = tokenize(tokenizer, texts, 128)
    tokens = sum(map(len, rows))
    batches = token_batches([len(r) for r in rows], a.batch * 128)
    ready = [padded([rows[i] for i in b], pad, a.device) for b in batches]
    unsorted = [padded(rows[i : i + a.batch], pad, a.device) for i in range(0, len(rows), a.batch)]

    def bare(batches: list[dict[str, torch.Tensor]]) -> None:
        with torch.inference_mode(), autocast(a.device, "auto"):
            for inputs in batches:
                network(**inputs).logits.double().cpu()

    def best(function: object, *arguments: object) -> float:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            function(*arguments)  # type: ignore[operator]
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    bare(ready[:2])
    plain, whole, shuffled = best(bare, ready), best(posterior.predict, part), best(bare, unsorted)
    where = torch.cuda.get_device_name() if a.device.startswith("cuda") else f"{torch.get_num_threads()} CPU threads"
    print(f"{len(rows):,} sections, {tokens:,} tokens, batches of {a.batch}, {where}")
    for name, seconds in (("bare, sorted", plain), ("posterior", whole), ("bare, unsorted", shuffled)):
        print(
            f"  {name:<16}{seconds:8.2f} s {tokens / seconds:12,.0f} tokens/s {plain / seconds:8.2f} of the bare pass"
        )


if __name__ == "__main__":
    main()
