"""How well a trained network predicts the texts of `long_memory.py`: the paper's table 4, last column.

The paper's network is an AWD-LSTM, ours the LSTM of the same folder. It reads each text as one stream from an empty
state, so it evaluates its own text too, as the paper's does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import long_memory_networks as networks
import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats

CHUNK = 5000
"""Words that are read at once; bounds memory."""
BLOCKS = 50
"""Runs of consecutive words over which the interval is estimated."""

PAPER = {
    "WikiText-2": 33.81,
    "3-gram": 3730.74,
    "5-gram": 7532.91,
    "Katz 3-gram": 663.74,
    "Katz 5-gram": 664.25,
    "Kneser–Ney 3-gram": 2562.24,
    "Kneser–Ney 5-gram": 2743.65,
    "HPYLM": 884.76,
    "LSTM": 177.12,
    "LSTM with cache": 109.02,
}
"""Perplexity of each text under the paper's AWD-LSTM."""


def log_probabilities(net: Any, stream: NDArray[np.int64]) -> NDArray[np.float64]:
    """log p of each word but the first, in nats, (N − 1,); the state is carried from chunk to chunk."""
    ids, state, found = torch.from_numpy(stream), None, []
    with torch.inference_mode():
        for a in range(0, len(ids) - 1, CHUNK):
            targets = ids[a + 1 : a + 1 + CHUNK]
            hidden, state = net(ids[None, a : a + len(targets)], state)
            found.append(net.head(hidden[0], targets).output)
    return torch.cat(found).double().numpy()


def perplexity(values: NDArray[np.float64], blocks: int = BLOCKS) -> tuple[float, float, float]:
    """exp(−mean), and its 95 % interval from the means of blocks of consecutive words, by Student's t.

    >>> perplexity(np.log(np.full(100, 0.25)), 10)
    (4.0, 4.0, 4.0)
    """
    means = np.array([-b.mean() for b in np.array_split(values, blocks)])
    reach = float(stats.t.ppf(0.975, blocks - 1) * stats.sem(means))
    mean = -float(values.mean())
    low, middle, high = (round(float(np.exp(x)), 9) for x in (mean - reach, mean, mean + reach))
    return middle, low, high


def in_vocabulary(ids: NDArray[np.int64], words: list[str], number: dict[str, int]) -> tuple[NDArray[np.int64], int]:
    """The same text in the network's numbers, and how many of its words the network does not know: ``<unk>``."""
    codes = np.array([number.get(w, -1) for w in words], dtype=np.int64)[ids]
    unknown = codes < 0
    return np.where(unknown, number["<unk>"], codes), int(unknown.sum())


def evaluate(folder: Path, names: list[str], number: dict[str, int]) -> None:
    """Write NAME.evaluated.json for each text of a folder that lacks it; texts of numbers have none."""
    recipe = networks.RECIPES["LSTM"]
    net = networks.build(recipe, len(number))
    net.load_state_dict(torch.load(folder / "LSTM.pt", weights_only=True)["net"])
    net.eval()
    for name in names:
        kept, path = folder / f"{name}.npz", folder / f"{name}.evaluated.json"
        if path.exists() or not kept.exists():
            continue
        with np.load(kept) as arrays:
            ids, words = arrays["ids"].astype(np.int64), arrays["words"].tolist()
        if not any(w in number for w in words[:100] if not w.isdigit()):
            continue
        stream, unknown = in_vocabulary(ids, words, number)
        value, low, high = perplexity(log_probabilities(net, stream))
        record = {"name": name, "words": len(stream) - 1, "unknown": unknown, "perplexity": [value, low, high]}
        part = path.with_suffix(".part")
        part.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
        part.rename(path)
        print(json.dumps(record, ensure_ascii=False), flush=True)


def cell(folder: Path, name: str) -> str:
    """Perplexity under the network, with its interval, and the paper's value in brackets."""
    path = folder / f"{name}.evaluated.json"
    if not path.exists():
        return "–"
    value, low, high = json.loads(path.read_text(encoding="utf-8"))["perplexity"]
    paper = f" ({PAPER[name]:,.0f})" if name in PAPER else ""
    return f"{value:,.0f} [{low:,.0f}, {high:,.0f}]{paper}"


def figure(folder: Path, records: list[dict[str, Any]], theirs: dict[str, float], path: Path) -> None:
    """The right half of the paper's figure 3: held-out perplexity of generators, and perplexity of their texts.

    ``theirs`` is the held-out perplexity of the paper's generators.
    """
    from momus.evidence import Axis, Chart, Series
    from momus.report.figures.svg import draw, standalone

    ours = []
    for record in records:
        kept = folder / f"{record['name']}.evaluated.json"
        if kept.exists() and "test" in record["perplexity"]:
            value = json.loads(kept.read_text(encoding="utf-8"))["perplexity"][0]
            ours.append((record["perplexity"]["test"], value))
    paper = sorted((theirs[n], PAPER[n]) for n in theirs if n in PAPER)
    chart = Chart(
        "long-memory-evaluated",
        "Perplexity of generators, and of their texts under an LSTM",
        Axis("perplexity per word of held-out text (ours: test part)", "log"),
        Axis("perplexity of the generated text", "log"),
        [
            Series(name, [x for x, _ in pairs], [y for _, y in pairs], role, "points")
            for name, role, pairs in (
                ("the paper's models", "reference", paper),
                ("our models", "generated", sorted(ours)),
            )
        ],
    )
    path.write_text(standalone(draw(chart)), encoding="utf-8")
    print(f"{len(ours)} of our models and {len(paper)} of the paper's in {path}")
