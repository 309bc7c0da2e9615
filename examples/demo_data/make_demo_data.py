"""Make the demo data: real and generated documents with sections, and real and generated prose.

Each step writes gzip JSON Lines files into the output folder. The sampling steps store finished documents in the work
folder; start a stopped step again to resume it.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import licence_source
import numpydoc_source as numpydoc
import prose_source as prose
from records import Record, append_line, read_gzip, read_lines, write_gzip
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

console = Console()
HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "core" / "momus" / "demo" / "data"
END_MARK = "\n@@ "
PROSE_END_MARK = "\n\n\n\n"
METHODS = ("ancestral", "nucleus", "nucleus-cool")


def real_record(doc: numpydoc.Document) -> Record:
    """The record of a real document."""
    return {
        "id": doc.id,
        "prompt_id": doc.id,
        "group_id": numpydoc.module_of(doc.id),
        "title": doc.id,
        "section_names": doc.names,
        "sections": doc.sections,
        "source": doc.source,
    }


def make_real(args: argparse.Namespace) -> None:
    """Write ``fit.jsonl.gz`` and ``real.jsonl.gz`` from the docstrings of the installed packages."""
    words = (args.min_words, args.max_words)
    documents, counts = numpydoc.choose_documents(words, args.per_package, args.overlap, args.seed)
    for package, (acceptable, distinct) in counts.items():
        console.print(f"{package}: {acceptable} acceptable docstrings, {distinct} of them distinct")
    fit, held_out = documents[: args.fit], documents[args.fit : args.fit + args.held_out]
    if len(held_out) < args.held_out:
        raise SystemExit(f"Only {len(documents)} documents for {args.fit} + {args.held_out}: raise --per-package.")
    for name, split in (("fit", fit), ("real", held_out)):
        write_gzip(args.output / f"{name}.jsonl.gz", map(real_record, split))
        console.print(f"{name}: {len(split)} documents, {sum(doc.words for doc in split)} words")


def separate(args: argparse.Namespace) -> None:
    """Keep held-out documents that have generated partners, and documents of other modules to fit on."""
    fit, held_out = read_gzip(args.output / "fit.jsonl.gz"), read_gzip(args.output / "real.jsonl.gz")
    prompts = {r["prompt_id"] for r in read_gzip(args.output / "generated-nucleus.jsonl.gz")}
    partners = [r for r in held_out if r["id"] in prompts]
    modules = {r["group_id"] for r in partners}
    apart = [r for r in fit + held_out if r["group_id"] not in modules]
    for name, split in (("fit", apart), ("real", partners)):
        write_gzip(args.output / f"{name}.jsonl.gz", split)
        console.print(f"{name}: {len(split)} documents, {sum(map(word_count, split))} words")


def render(name: str, sections: Iterable[tuple[str, str]]) -> str:
    """A document as plain text: its name after the end mark, and its sections under their headings."""
    lines = [f"{END_MARK.strip()} {name}"]
    for title, text in sections:
        plain = title in {"Summary", "Extended Summary"}
        lines.append(text if plain else f"{title}\n{'-' * len(title)}\n{text}")
    return "\n\n".join(lines)


def word_count(record: Record) -> int:
    """Number of words in the sections or in the text of a record."""
    return sum(len(text.split()) for text in record.get("sections") or [record["text"]])


def generated_sections(text: str) -> tuple[list[str], list[str], bool]:
    """Titles and texts of a generated document, and whether it has any heading."""
    sections = numpydoc.parse_sections(numpydoc.mask_addresses(text))
    marked = bool(numpydoc.find_headings(text.expandtabs().split("\n")))
    return [name for name, _ in sections], [body for _, body in sections], marked


def progress_bar() -> Progress:
    """The progress bar of the sampling steps."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=console,
    )  # fmt: skip


def sample_groups(
    args: argparse.Namespace,
    method: str,
    batches: list[list[tuple[str, str, int]]],
    store: Path,
    stop: str,
    finish: Callable[[str, Record], Record],
    load: Callable[[], tuple[Any, Any, Any]],
    model_name: str,
) -> list[Record]:
    """Sample the documents that ``store`` lacks; return all records, in the order of the prompts.

    ``load`` gives the tokenizer, the model and the tokens that it may not write; a batch lists (key, prompt, seed).
    """
    import torch
    from sampling import DECODINGS, Batch, Request, cut_line, cut_sentence

    cut = cut_line if stop == END_MARK else cut_sentence
    done = {record["prompt_id"]: record for record in read_lines(store)}
    keys = [key for items in batches for key, _, _ in items]
    console.print(f"{method}: {len(keys)} documents, {len(done)} of them already sampled")
    tokenizer, model, banned = load() if len(done) < len(keys) else (None, None, None)
    with progress_bar() as bar, torch.inference_mode():
        task = bar.add_task(method, total=len(keys), completed=len(done))
        for items in batches:
            requests = [Request(*item) for item in items if item[0] not in done]
            if not requests:
                continue
            prompts = {request.key: request.prompt for request in requests}
            batch = Batch(model, tokenizer, requests, DECODINGS[method], banned)
            for sampled in batch.run(args.max_tokens, stop, cut):
                body = {
                    "tokens": sampled.tokens,
                    "finished": sampled.finished,
                    "decoding": DECODINGS[method].as_dict() | {"max_new_tokens": args.max_tokens},
                    "model": model_name,
                    "seed": sampled.seed,
                    "text": sampled.text,
                }
                head = {"id": f"{method}/{sampled.key}", "prompt_id": sampled.key, "group_id": group_of(sampled.key)}
                record = head | finish(prompts[sampled.key], body)
                done[sampled.key] = record
                append_line(store, record)
                bar.advance(task)
    return [done[key] for key in keys]


def group_of(key: str) -> str:
    """The group of the real document that a prompt comes from: a module of a package, or a chapter of a novel."""
    return prose.chapter_of(key) if "/" in key else numpydoc.module_of(key)


def finish_sections(prompt: str, body: Record) -> Record:
    """The record of a generated document with sections; it begins with the summary of the prompt."""
    name, _, summary = prompt.partition("\n\n")
    titles, sections, marked = generated_sections(summary + body.pop("text"))
    return {
        "title": name.removeprefix(END_MARK.strip()).strip(),
        "section_names": titles,
        "sections": sections,
        "marked": marked,
        "prompt_words": len(summary.split()),
    } | body


def prompt_of(record: Record) -> str:
    """What the model continues: the name of a function and the summary of its real documentation."""
    return render(record["id"], [("Summary", record["sections"][0])])


def tuned(args: argparse.Namespace) -> tuple[Any, Any, Any]:
    """The tokenizer, the fine-tuned model and the tokens that it did not learn to write; trains what is missing."""
    import torch
    from tuning import fine_tune, training_documents

    documents = training_documents(read_gzip(args.output / "real.jsonl.gz")[: args.documents], args.overlap, args.seed)
    texts = [render(d.id, zip(d.names, d.sections, strict=True)) for d in documents]
    tokenizer, model, writable = fine_tune(args.work / "model", texts, args.threads)
    banned = torch.ones(len(tokenizer), dtype=torch.bool)
    banned[writable] = False
    return tokenizer, model, banned


def tune(args: argparse.Namespace) -> None:
    """Train the model that writes the documents with sections, into the work folder."""
    tuned(args)


def make_samples(args: argparse.Namespace) -> None:
    """Write one ``generated-*.jsonl.gz`` per decoding method, a document for each real one."""
    from sampling import MODEL_NAME

    real = read_gzip(args.output / "real.jsonl.gz")[: args.documents]
    for method in args.method:
        first_seed = args.seed + 100_000 * (METHODS.index(method) + 1)
        items = [(r["id"], prompt_of(r), first_seed + i) for i, r in enumerate(real)]
        batches = [items[start : start + args.batch] for start in range(0, len(items), args.batch)]
        store = args.work / f"generated-{method}.jsonl"
        name = f"{MODEL_NAME}, fine-tuned on docstrings"
        records = sample_groups(args, method, batches, store, END_MARK, finish_sections, lambda: tuned(args), name)
        write_gzip(args.output / f"generated-{method}.jsonl.gz", records)
        bare = sum(not record["marked"] for record in records)
        console.print(f"generated-{method}: {len(records)} documents, {bare} without section marks")


def make_prose(args: argparse.Namespace) -> None:
    """Write ``prose.jsonl.gz``: passages of novels from the files of the Debian package."""
    passages = prose.choose_passages(args.package_files, args.passage_words, args.per_novel, args.seed)
    write_gzip(args.output / "prose.jsonl.gz", passages)
    console.print(f"prose: {len(passages)} passages, {sum(map(word_count, passages))} words")


def finish_prose(prompt: str, body: Record) -> Record:
    """The record of a generated passage; it begins with the opening words of the real one."""
    text = prompt + body.pop("text")
    return {"text": numpydoc.mask_addresses(text), "prompt_words": len(prompt.split())} | body


def make_prose_samples(args: argparse.Namespace) -> None:
    """Write ``generated-prose-*.jsonl.gz``: continuations of the opening words of some passages."""
    from sampling import MODEL_NAME, load_model

    passages = read_gzip(args.output / "prose.jsonl.gz")
    chosen = random.Random(args.seed).sample(passages, args.documents)
    for method in args.method:
        first_seed = args.seed + 100_000 * (METHODS.index(method) + 1)
        items = [
            (r["id"], " ".join(r["text"].split()[: args.opening_words]), first_seed + i) for i, r in enumerate(chosen)
        ]
        batches = [items[start : start + args.batch] for start in range(0, len(items), args.batch)]
        store = args.work / f"generated-prose-{method}.jsonl"
        records = sample_groups(
            args,
            method,
            batches,
            store,
            PROSE_END_MARK,
            finish_prose,
            lambda: (*load_model(args.threads), None),
            MODEL_NAME,
        )
        write_gzip(args.output / f"generated-prose-{method}.jsonl.gz", records)
        console.print(f"generated-prose-{method}: {len(records)} passages")


def make_licences(args: argparse.Namespace) -> None:
    """Write the licence texts of the source packages."""
    for path in licence_source.write_licences(args.output / "licenses", args.package_files):
        console.print(f"licence: {path.name}")


def show_statistics(args: argparse.Namespace) -> None:
    """Print counts, sizes and word statistics of each file in the output folder."""
    for path in sorted(args.output.glob("*.jsonl.gz")):
        records = read_gzip(path)
        words = [word_count(record) for record in records]
        quartiles = statistics.quantiles(words, n=4)
        console.print(
            f"{path.name}: {len(records)} records, {path.stat().st_size / 1e6:.3f} MB, {sum(words)} words, "
            f"quartiles {quartiles[0]:.0f} / {quartiles[1]:.0f} / {quartiles[2]:.0f}"
        )


def common_options() -> argparse.ArgumentParser:
    """Options of all steps."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--output", type=Path, default=DATA, help="folder for the finished files")
    parser.add_argument("--seed", type=int, default=20_250, help="seed of all random draws (default: %(default)s)")
    return parser


def sampling_options(documents: int, batch: int, max_tokens: int) -> argparse.ArgumentParser:
    """Options of the sampling steps, with the given defaults."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--work", type=Path, default=Path("demo-work"), help="folder for unfinished runs")
    parser.add_argument("--documents", type=int, default=documents, help="number of documents (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=batch, help="documents per batch (default: %(default)s)")
    parser.add_argument(
        "--max-tokens", type=int, default=max_tokens, help="maximum length in tokens (default: %(default)s)"
    )
    parser.add_argument("--threads", type=int, default=1, help="number of threads (default: %(default)s)")
    parser.add_argument(
        "--method", nargs="+", choices=METHODS, default=list(METHODS), help="decoding methods (default: all)",
    )  # fmt: skip
    return parser


def build_parser() -> argparse.ArgumentParser:
    """Build the command-line parser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    common = common_options()

    real = steps.add_parser("real", parents=[common], help="docstrings, as a fit file and a held-out file")
    real.add_argument("--fit", type=int, default=680, help="documents to fit on (default: %(default)s)")
    real.add_argument("--held-out", type=int, default=340, help="held-out documents (default: %(default)s)")
    real.add_argument("--min-words", type=int, default=80, help="minimum words per document (default: %(default)s)")
    real.add_argument("--max-words", type=int, default=320, help="maximum words per document (default: %(default)s)")
    real.add_argument("--per-package", type=int, default=150, help="most documents per package (default: %(default)s)")
    real.add_argument(
        "--overlap", type=float, default=0.3,
        help="drop documents that share this share of word 4-grams with another (default: %(default)s)",
    )  # fmt: skip
    real.set_defaults(run=make_real)

    sampling = sampling_options(180, 36, 400)
    sampling.add_argument(
        "--overlap",
        type=float,
        default=0.3,
        help="train on no document that shares this share of 4-grams with a real one",
    )
    steps.add_parser("tune", parents=[common, sampling], help="fine-tune the language model").set_defaults(run=tune)
    samples = steps.add_parser("sample", parents=[common, sampling], help="documents sampled from the tuned model")
    samples.set_defaults(run=make_samples)

    files = argparse.ArgumentParser(add_help=False)
    files.add_argument("--package-files", type=Path, required=True, help="folder with the unpacked Debian package")
    steps.add_parser(
        "separate", parents=[common], help="real documents with partners; documents of other modules to fit on"
    ).set_defaults(run=separate)

    novels = steps.add_parser("prose", parents=[common, files], help="passages of novels")
    novels.add_argument("--passage-words", type=int, default=1000, help="words per passage (default: %(default)s)")
    novels.add_argument("--per-novel", type=int, default=60, help="passages per novel (default: %(default)s)")
    novels.set_defaults(run=make_prose)

    more = steps.add_parser(
        "sample-prose", parents=[common, sampling_options(64, 32, 260)], help="prose sampled from the language model"
    )
    more.add_argument("--opening-words", type=int, default=30, help="words in the prompt (default: %(default)s)")
    more.set_defaults(run=make_prose_samples)

    steps.add_parser("licences", parents=[common, files], help="licence texts").set_defaults(run=make_licences)
    steps.add_parser("statistics", parents=[common], help="counts and sizes").set_defaults(run=show_statistics)
    return parser


def main() -> None:
    """Run one step."""
    args = build_parser().parse_args()
    console.print(f"step {args.step}, seed {args.seed}")
    args.run(args)


if __name__ == "__main__":
    main()
