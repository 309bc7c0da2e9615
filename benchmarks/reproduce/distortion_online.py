"""Distortion with unlimited data (LeBrun et al. 2022, section 4.3, figure 4): each training sequence is a fresh sample.

The language is that of `distortion.py` at T = 0.85. Small networks read up to a million samples of it, none of them
twice. After 1,000, 2,000, … sequences, each scores the same test samples.

    python benchmarks/reproduce/distortion_online.py --folder RUN                  # resumes; an hour on one core
    python benchmarks/reproduce/distortion_online.py --folder RUN --only "LSTM 48" --minutes 10 --up-to 64000
    python benchmarks/reproduce/distortion_online.py --folder RUN --write benchmarks/results/distortion.md \\
        --figures FOLDER                                                     # the tables and figures of RUN
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from distortion import language
from distortion_estimation import Estimates, mean_interval
from distortion_stream import Floats, Stream
from distortion_study import Study, study
from small_models import similar_lengths, small_lm, train_step

from momus.outputs import replacing
from momus.progress import default_reporter, reporting, stage
from momus.sequences import Sequences
from momus.sequences.ngram import NGramModel
from momus_adapters.language_models.transformers import CausalNetwork

TEMPERATURE = 0.85
SAVE_EVERY = 60.0
"""Seconds between two checkpoints."""


@dataclass(frozen=True)
class Recipe:
    """A network and its learning rate."""

    kind: Any
    width: int
    layers: int
    rate: float


RECIPES = {
    "LSTM 48": Recipe("lstm", 48, 1, 1e-2),
    "transformer 32": Recipe("transformer", 32, 2, 4e-3),
    "LSTM 96": Recipe("lstm", 96, 1, 1e-2),
    "transformer 64": Recipe("transformer", 64, 2, 4e-3),
}


@dataclass(frozen=True)
class Plan:
    """What is read, and when it is tested.

    Attributes
    ----------
    points
        Numbers of training sequences after which the model is tested, multiples of ``chunk``.
    chunk
        Sequences that are drawn at once.
    batch
        Sequences per step of the optimizer.
    warm, knee
        The learning rate rises over the first ``warm`` steps, and from step ``knee`` it falls as 1/√step. It depends on
        no last step, so a point of the curve is what a run of that length would have given.
    """

    points: Sequence[int] = (*(1000 * 2**k for k in range(10)), 1_000_000)
    chunk: int = 1000
    batch: int = 125
    warm: int = 100
    knee: int = 200
    seed: int = 0

    def rate(self, base: float, step: int) -> float:
        """Learning rate of a step, counted from 1."""
        return base * min(1.0, step / self.warm, math.sqrt(self.knee / step))


@dataclass
class Run:
    """A network in training: what it has read, and log p of the test sequences at the points that it has passed.

    Attributes
    ----------
    scores
        log p of each test sequence, in nats, (n,), by number of training sequences.
    """

    model: CausalNetwork
    optimizer: torch.optim.Optimizer
    settings: str
    chunks: int = 0
    seconds: float = 0.0
    scores: dict[int, Floats] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path, recipe: Recipe, plan: Plan, symbols: int) -> Run:
        """Begin, or resume from the checkpoint at ``path``."""
        model = small_lm(recipe.kind, symbols, width=recipe.width, layers=recipe.layers, seed=plan.seed)
        # the points may change between two runs: the training does not depend on them
        read = {**asdict(recipe), **asdict(plan), "points": None, "symbols": symbols}
        run = cls(model, torch.optim.AdamW(model.network.parameters(), lr=recipe.rate), repr(read))
        if path.exists():
            kept = torch.load(path, weights_only=True)
            if kept["settings"] != run.settings:
                sys.exit(f"{path} has other settings; choose another folder\n  {kept['settings']}\n  {run.settings}")
            model.network.load_state_dict(kept["net"])
            run.optimizer.load_state_dict(kept["optimizer"])
            run.chunks, run.seconds = kept["chunks"], kept["seconds"]
            run.scores = {n: v.numpy() for n, v in kept["scores"].items()}
        return run

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        with replacing(path) as temporary:
            torch.save(
                {
                    "net": self.model.network.state_dict(),
                    "optimizer": self.optimizer.state_dict(),
                    "settings": self.settings,
                    "chunks": self.chunks,
                    "seconds": self.seconds,
                    "scores": {n: torch.from_numpy(v) for n, v in self.scores.items()},
                },
                temporary,
            )

    def read(self, sequences: Sequences, recipe: Recipe, plan: Plan) -> None:
        """Train on the next chunk, in batches of similar lengths."""
        self.model.network.train()
        rng = np.random.default_rng([plan.seed, 1, self.chunks])
        for number, rows in enumerate(similar_lengths(sequences.lengths, plan.batch, rng)):
            step = self.chunks * -(-plan.chunk // plan.batch) + number + 1
            for group in self.optimizer.param_groups:
                group["lr"] = plan.rate(recipe.rate, step)
            train_step(self.model, sequences.take(rows), self.optimizer)
        self.model.network.eval()
        self.chunks += 1


def train(
    name: str, recipe: Recipe, plan: Plan, stream: Stream, test: Sequences, path: Path, minutes: float = 600.0
) -> Run:
    """Train to the last point, or for so many minutes of CPU; test at each point, and keep a checkpoint at ``path``."""
    run = Run.at(path, recipe, plan, stream.model.end)
    begun = saved = time.process_time()
    before = run.seconds
    last = max(plan.points) // plan.chunk
    with stage(f"training {name}", last * plan.chunk) as advance:
        while run.chunks < last and time.process_time() - begun < 60 * minutes:
            run.read(stream.chunk(run.chunks, plan.chunk), recipe, plan)
            seen = run.chunks * plan.chunk
            if seen in plan.points:
                run.scores[seen] = run.model.score(test).totals
            run.seconds = before + time.process_time() - begun
            if time.process_time() - saved > SAVE_EVERY or run.chunks == last:
                run.save(path)
                saved = time.process_time()
            advance(seen)
    run.save(path)
    return run


@dataclass(frozen=True)
class Data:
    """The language, its stream of training samples, and test samples with their log p, (n,)."""

    root: NGramModel
    stream: Stream
    test: Sequences
    truth: Floats

    @classmethod
    def of(cls, text: Path, words: int, order: int, tests: int, seed: int) -> Data:
        """Fit the language to a text, and draw the test samples from a stream with another seed."""
        root, _ = language(text, words, order)
        stream = Stream(root, temperature=TEMPERATURE, seed=seed)
        test = stream.seeded(seed + 1_000_003).chunk(0, tests)
        return cls(root, stream, test, root.score(test, temperature=TEMPERATURE).totals)

    def checkpoints(self, scores: dict[int, Floats]) -> list[tuple[int, Estimates]]:
        """Estimates of the test samples by number of training sequences."""
        return [(n, Estimates(self.truth, v, self.test.lengths + 1)) for n, v in sorted(scores.items())]

    def study(self, name: str, run: Run, seen: int, seed: int = 0) -> Study:
        """The study of a network as it is after ``seen`` sequences, with its curve; 500 test samples are perturbed."""
        scores = run.scores if seen in run.scores else {**run.scores, seen: run.model.score(self.test).totals}
        curve = self.checkpoints(scores)
        return study(
            self.root,
            run.model,
            self.test,
            self.root.end,
            temperature=TEMPERATURE,
            some=500,
            seed=seed,
            name=name,
            checkpoints=curve,
        )


def studies(folder: Path, source: Data, plan: Plan) -> list[Study]:
    """Studies of the networks of a folder that have passed a point."""
    done = []
    for name, recipe in RECIPES.items():
        path = folder / f"{name.replace(' ', '-')}.pt"
        if path.exists():
            run = Run.at(path, recipe, plan, source.root.end)
            if run.scores:
                done.append(source.study(name, run, run.chunks * plan.chunk, plan.seed))
    return done


def main() -> None:
    """Train what is missing in the folder, and print the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = Path(os.environ.get("MOMUS_DATA") or Path(__file__).parents[3] / "shared" / "data")
    data = folder / "wikitext-2" / "train.txt.gz"
    parser.add_argument("--folder", type=Path, required=True, help="where checkpoints are kept")
    parser.add_argument("--text", type=Path, default=data, help="tokenised text, one paragraph per line")
    parser.add_argument("--words", type=int, default=500, help="symbols of the language")
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--test", type=int, default=10_000, help="test sequences")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", choices=list(RECIPES), help="models, else all")
    parser.add_argument("--minutes", type=float, default=600.0, help="most CPU minutes of training, per model")
    parser.add_argument("--up-to", type=int, help="stop at this number of training sequences")
    parser.add_argument("--write", type=Path, help="only put the tables of the folder into a page, between its marks")
    parser.add_argument("--figures", type=Path, help="only draw the figures of the folder into this one")
    a = parser.parse_args()
    if not a.text.is_file():
        sys.exit(f"no text at {a.text}; pass a file with --text")
    a.folder.mkdir(parents=True, exist_ok=True)
    source, plan = Data.of(a.text, a.words, a.order, a.test, a.seed), Plan(seed=a.seed)
    if a.up_to:
        plan = replace(plan, points=tuple(n for n in plan.points if n <= a.up_to))
    with reporting(default_reporter()):
        if a.write or a.figures:
            import distortion_online_page as page

            done = studies(a.folder, source, plan)
            if a.write:
                page.write(a.write, done)
            if a.figures:
                page.draw_figures(a.figures, done)
            return
        print(f"entropy {-source.truth.mean():.2f} nats per sequence, mean length {source.test.lengths.mean():.1f}")
        for name in a.only or RECIPES:
            path = a.folder / f"{name.replace(' ', '-')}.pt"
            run = train(name, RECIPES[name], plan, source.stream, source.test, path, a.minutes)
            for n, e in source.checkpoints(run.scores):
                mean, low, high = mean_interval(e.errors, a.seed)
                print(f"{name}, {n:,} sequences: {mean:+.3f} [{low:+.3f}, {high:+.3f}] nats", flush=True)
            print(f"{name}: {run.seconds:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
