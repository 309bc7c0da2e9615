"""Fine-tune SmolLM2-135M-Instruct on docstrings, so that it writes documents that end and have sections.

The trainer is that of the study of titles (`benchmarks/reproduce/titles_model.py`): the six upper layers of 30 learn,
for three epochs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpydoc_source as numpydoc
import torch

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "reproduce"))

import titles_model as trainer
from titles_texts import END, Ids

LONGEST = 400
"""Tokens: longer documents are left out of training."""


def training_documents(real: list[dict[str, Any]], overlap: float, seed: int) -> list[numpydoc.Document]:
    """Docstrings of modules that no prompt comes from, none of them a near-duplicate of a held-out document."""
    modules = {record["group_id"] for record in real}
    held_out = [numpydoc.shingle_set(" ".join(record["sections"])) for record in real]
    found, _ = numpydoc.choose_documents((60, 320), sys.maxsize, overlap, seed)
    documents = []
    for document in found:
        words = numpydoc.shingle_set(" ".join(document.sections))
        near = any(len(words & other) >= overlap * min(len(words), len(other)) for other in held_out)
        if numpydoc.module_of(document.id) not in modules and not near:
            documents.append(document)
    return documents


def fine_tune(folder: Path, texts: Iterable[str], threads: int) -> tuple[Any, Any, torch.Tensor]:
    """The tokenizer, the trained model in bfloat16 and the ids that it learnt to write; resumes from ``folder``."""
    from transformers import AutoTokenizer

    torch.set_num_threads(threads)
    base = folder / "base"
    if not (base / "tokenizer.json").exists():
        trainer.unpack(base)
    tokenizer: Any = AutoTokenizer.from_pretrained(base)
    rows = []
    for text in texts:
        ids = [END, *tokenizer(text, add_special_tokens=False)["input_ids"], END]
        if len(ids) <= LONGEST:
            rows.append(Ids(trainer.np.asarray(ids), trainer.np.zeros(len(ids), dtype=bool)))
    recipe = trainer.Recipe()
    model = trainer.Model(base, recipe.layers)
    done = trainer.train(
        model, rows, trainer.stored_states(model, rows, folder / "states.npy"), recipe, folder / "tuned.pt", 600.0
    )
    print(f"{len(rows)} documents, {done['tokens']} tokens in {done['of']} steps, {done['seconds']:.0f} CPU s")
    return tokenizer, model.whole.to(torch.bfloat16).eval(), trainer.writable_ids(rows)
