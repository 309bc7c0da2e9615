"""Texts that models write, by ancestral sampling, temperature, the nucleus, or beam sampling.

Random numbers depend only on a sequence's seed and the position in it. The result therefore depends on neither the
batch nor the order, except for ties within the rounding of a model's logits: a few tokens per million in single
precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from momus.errors import UsageError
from momus.numeric.draws import hashed, uniforms
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Bools, Floats, Ints
from momus.parameters import Range, check_values
from momus.sequences.types import Sequences, log_softmax

if TYPE_CHECKING:
    from torch import Tensor

    from momus.sequences import StepModel


Method = Literal["ancestral", "temperature", "nucleus", "beam-sampling"]
USED: Mapping[Method, tuple[str, ...]] = {
    "ancestral": (),
    "temperature": ("temperature",),
    "nucleus": ("temperature", "top_p"),
    "beam-sampling": ("temperature", "beams"),
}
"""The parameters that each method uses, but for ``longest``."""


@dataclass(frozen=True)
class Decoding:
    """A decoding method and its parameters.

    Attributes
    ----------
    method
        ``ancestral`` samples from the model's distribution; ``temperature`` from the softmax of logits / T;
        ``nucleus`` from the smallest set of tokens with at least ``top_p`` of the mass (Holtzman et al. 2020);
        ``beam-sampling`` draws ``beams`` extensions of each of ``beams`` hypotheses and keeps the ``beams`` most
        probable of them (Meister & Cotterell 2021, section 5).
    temperature
        T, above 0; used by all methods but ``ancestral``.
    top_p
        In (0, 1]; used by ``nucleus`` only.
    beams
        k, at least 1; used by ``beam-sampling`` only.
    longest
        Largest number of tokens per document.

    Raises
    ------
    UsageError
        A value is out of range, or the method does not use it.

    >>> Decoding("nucleus", top_p=0.9).longest
    1024
    """

    method: Method = "ancestral"
    temperature: Annotated[float, Range(0, above=True)] = 1.0
    top_p: Annotated[float, Range(0, 1, above=True)] = 1.0
    beams: Annotated[int, Range(1)] = 1
    longest: Annotated[int, Range(1)] = 1024

    def __post_init__(self) -> None:
        check_values(type(self), vars(self))
        unused = [name for name in ("temperature", "top_p", "beams") if name not in USED[self.method]]
        changed = [name for name in unused if getattr(self, name) != 1]
        if changed:
            raise UsageError(f"{self.method} decoding does not use {changed[0]}", hint="leave it out")


def nucleus(log_p: Tensor, top_p: float) -> Tensor:
    """Whether tokens are in the smallest set with at least ``top_p`` of the mass, bool (B, V); lower ids win ties.

    >>> import torch
    >>> nucleus(torch.tensor([[0.5, 0.2, 0.3]]).log(), 0.6).tolist()
    [[True, False, True]]
    """
    import torch

    if top_p >= 1.0:
        return torch.ones_like(log_p, dtype=torch.bool)
    ordered = _sorted(log_p)
    mass = ordered.exp().cumsum(dim=-1)
    # a token is in the nucleus if the mass before it is below top_p; the tolerance absorbs rounding. (B, 1): the number
    # of such tokens, and the least log p among them
    count = 1 + (mass[:, :-1] < top_p - 1e-12).sum(dim=-1, keepdim=True)
    least = ordered.gather(1, count - 1)
    above, tied = log_p > least, log_p == least
    places = count - above.sum(dim=-1, keepdim=True)  # what is left for ties, which take them in the order of their ids
    return above | (tied & (tied.cumsum(dim=-1) <= places))


def _sorted(log_p: Tensor) -> Tensor:
    """Each row in falling order; NumPy sorts several times faster than torch on a CPU, which also finds the indices."""
    import torch

    if log_p.is_cpu:
        return torch.from_numpy(np.sort(log_p.numpy(), axis=-1)).flip(-1)
    return torch.sort(log_p, dim=-1, descending=True).values


CELLS = 1 << 17
"""Random numbers that are in memory at once."""


def draw(log_p: Tensor, top_p: float, keys: Tensor) -> Tensor:
    """Sample tokens from the nucleus by the Gumbel-max trick (Gumbel 1954; Maddison et al. 2014).

    The sample is the argmax of log p + noise. Inverse-transform sampling depends on the rounding of log p of every
    earlier token; the argmax only changes if its two largest values nearly tie.

    Parameters
    ----------
    log_p
        (B, V).
    keys
        int64 (B, D): the hash of each draw, to which the token is appended (see `momus.numeric.draws.hashed`).

    Returns
    -------
    Tokens, int64 (B, D): D independent draws of each row.

    >>> import torch
    >>> drawn = draw(torch.tensor([[0.5, 0.2, 0.3]]).log().double(), 1.0, torch.arange(20_000)[None])
    >>> (torch.bincount(drawn[0]) / 20_000).numpy().astype(float).round(1).tolist()
    [0.5, 0.2, 0.3]
    """
    import torch

    allowed = log_p if top_p >= 1.0 else torch.where(nucleus(log_p, top_p), log_p, -torch.inf)
    rows = max(1, CELLS // (log_p.shape[1] * max(1, keys.shape[1])))
    starts = range(0, max(1, len(keys)), rows)
    return torch.cat([_largest(allowed[a : a + rows], keys[a : a + rows]) for a in starts])


def _largest(log_p: Tensor, keys: Tensor) -> Tensor:
    """The argmax of log p + standard Gumbel noise, int64 (B, D)."""
    import torch

    words = torch.arange(log_p.shape[1], device=keys.device)
    uniform: Tensor = uniforms(words, after=keys[:, :, None])  # (B, D, V)
    return (log_p[:, None] - (-uniform.log()).log()).argmax(dim=-1)


@dataclass(frozen=True)
class Drawn:
    """Sampled sequences.

    Attributes
    ----------
    sequences
        The tokens, without begin and end symbols.
    finished
        bool (n,): whether the end symbol was sampled.
    log_probabilities
        float64 (n,): log p under the model at temperature 1, in nats, including a sampled end symbol.
    """

    sequences: Sequences
    finished: Bools
    log_probabilities: Floats


def document_seeds(seed: int, stop: int, start: int = 0) -> list[int]:
    """The seeds of the documents ``start`` … ``stop`` − 1, up to 63 bits each, whatever the number of documents.

    >>> document_seeds(0, 3)[1:] == document_seeds(0, 3, start=1)
    True
    """
    seeds = hashed(seed, np.arange(start, stop)) & 0x7FFFFFFFFFFFFFFF
    return [int(s) for s in seeds.tolist()]


def sample(model: StepModel, prompts: Sequences | None, decoding: Decoding, seeds: Sequence[int]) -> Drawn:
    """Sample one sequence per seed.

    Parameters
    ----------
    prompts
        The beginning of each sequence, which the result does not repeat; None for empty prompts.
    seeds
        n integers of up to 63 bits.

    Returns
    -------
    Drawn
        n sequences, in the order of the seeds.
    """
    import torch

    beginnings = Sequences.of([[]] * len(seeds)) if prompts is None else prompts
    keys = torch.tensor(list(seeds), dtype=torch.int64, device=model.device)
    with torch.inference_mode():
        if decoding.method == "beam-sampling":
            return _beams(model, beginnings, decoding, keys)
        return _plain(model, beginnings, decoding, keys)


def _plain(model: StepModel, prompts: Sequences, decoding: Decoding, keys: Tensor) -> Drawn:
    """Sample token by token: ancestral, temperature and nucleus."""
    import torch

    n = len(prompts)
    state, logits = model.start(prompts)
    alive = torch.arange(n, device=keys.device)
    total = torch.zeros(n, dtype=torch.float64, device=keys.device)
    finished = torch.zeros(n, dtype=torch.bool, device=keys.device)
    # at step t, row i of state and logits belongs to sequence alive[i]; ended sequences are dropped
    owners, tokens = [], []
    for t in range(decoding.longest):
        scaled = log_softmax(logits, decoding.temperature)
        chosen = draw(scaled, decoding.top_p, hashed(keys[alive, None], t))[:, 0]
        log_p = scaled if decoding.temperature == 1.0 else log_softmax(logits)
        total[alive] += log_p.gather(1, chosen[:, None])[:, 0]
        ended = chosen == model.end
        finished[alive[ended]] = True
        keep = torch.nonzero(~ended)[:, 0]
        if not len(keep):
            break
        alive, chosen = alive[keep], chosen[keep]
        owners.append(alive.cpu().numpy())
        tokens.append(chosen.cpu().numpy())
        if t + 1 == decoding.longest:
            break
        if len(keep) < len(ended):
            state = model.select(state, keep)
        state, logits = model.step(state, chosen)
    return Drawn(_gathered(n, owners, tokens), finished.cpu().numpy(), total.cpu().numpy())


def _gathered(n: int, owners: list[Ints], tokens: list[Ints]) -> Sequences:
    """Collect the tokens of all steps by sequence; ``owners`` has the sequence of each token."""
    if not owners:
        return Sequences.of([[]] * n)
    owner, token = np.concatenate(owners), np.concatenate(tokens)
    order = np.argsort(owner, kind="stable")  # stable: the tokens of a sequence stay in order
    offsets = offsets_of(np.bincount(owner, minlength=n))
    return Sequences(token[order], offsets)


def _beams(model: StepModel, prompts: Sequences, decoding: Decoding, keys: Tensor) -> Drawn:
    """Beam sampling: draw k extensions of each of k hypotheses and keep the k most probable.

    Draws are independent, so an extension that is drawn twice takes two places. An ended hypothesis competes with its
    probability as a single candidate. At the first step there is one hypothesis, and all of its draws remain. Ties go
    to the earlier candidate. Returns the most probable hypothesis of each sequence. Once that one has ended no other
    can overtake it, because an extension is never more probable than its beginning, and the sequence is complete.
    """
    import torch

    n, k, device = len(prompts), decoding.beams, keys.device
    state, logits = model.start(prompts)
    # hypothesis j of sequence alive[i] is row i · k + j of state and logits
    alive = torch.arange(n, device=device)
    state, logits = model.select(state, alive.repeat_interleave(k)), logits.repeat_interleave(k, dim=0)
    total = torch.full((n, k), -torch.inf, dtype=torch.float64, device=device)
    total[:, 0] = 0.0
    ended = torch.zeros((n, k), dtype=torch.bool, device=device)
    history = torch.zeros((n, k, 0), dtype=torch.int64, device=device)
    draws = torch.arange(k * k, device=device)
    rows: dict[int, Ints] = {}
    finished, totals = np.zeros(n, dtype=bool), np.zeros(n)
    for t in range(decoding.longest):
        a = len(alive)
        scaled = log_softmax(logits, decoding.temperature)
        # candidates, (a, k, k): log p of draw i of hypothesis j; an ended hypothesis is a candidate once, at i = 0
        chosen = draw(scaled, 1.0, hashed(keys[alive, None], t, draws).view(a * k, k)).view(a, k, k)
        log_p = scaled if decoding.temperature == 1.0 else log_softmax(logits)
        gain = log_p.gather(1, chosen.view(a * k, k)).view(a, k, k)
        candidates = total[:, :, None] + gain
        unchanged = torch.where(torch.arange(k, device=device) == 0, total[:, :, None], -torch.inf)
        candidates = torch.where(ended[:, :, None], unchanged, candidates)
        chosen = torch.where(ended[:, :, None], model.end, chosen)
        value, best = torch.sort(candidates.view(a, k * k), dim=1, descending=True, stable=True)
        total, best = value[:, :k], best[:, :k]
        # continue the histories of the parents, (a, k, t), by the chosen tokens, (a, k)
        parent = best // k
        token = chosen.view(a, k * k).gather(1, best)
        history = torch.cat([history.gather(1, parent[:, :, None].expand(-1, -1, t)), token[:, :, None]], dim=2)
        ended = token == model.end
        complete = ended[:, 0] | (total == -torch.inf).all(dim=1) | (t + 1 == decoding.longest)
        for i in torch.nonzero(complete)[:, 0].tolist():
            whole = history[i, 0]  # one that ended before it was the most probable repeats its end symbol
            rows[int(alive[i])] = whole[whole != model.end].cpu().numpy()
        done = alive[complete].cpu().numpy()
        finished[done], totals[done] = ended[complete, 0].cpu().numpy(), total[complete, 0].cpu().numpy()
        keep = torch.nonzero(~complete)[:, 0]
        if not len(keep):
            break
        parent = keep[:, None] * k + parent[keep]
        alive, total, ended, history, token = (x[keep] for x in (alive, total, ended, history, token))
        state = model.select(state, parent.view(-1))
        state, logits = model.step(state, token.view(-1))
    return Drawn(Sequences.of([rows[i] for i in range(n)]), finished, totals)


def write(model: StepModel, prompts: Sequence[str], decoding: Decoding, seeds: Sequence[int]) -> list[str]:
    """Write one document per prompt, in batches of the model's size, and return the texts without the prompts.

    Each depends on its prompt and its seed, not on the other documents.

    Parameters
    ----------
    prompts
        Beginnings of the documents, which may be empty.
    seeds
        A seed for each document, see `momus_generating.document_seeds`.

    >>> from momus import Corpus
    >>> from momus.sequences.ngram_text import NGramText
    >>> from momus.text.tokens import get_tokenizer
    >>> model = NGramText(2, get_tokenizer("whitespace"), unknown=False).fit_corpus(Corpus.from_texts(["a b", "a b"]))
    >>> len(write(model, ["", "a"], Decoding(longest=5), [1, 2]))
    2
    """
    encoded = list(set(prompts) - {""})
    longest = decoding.longest + (int(model.encode(encoded).lengths.max()) if encoded else 0)
    size = model.at_once(longest, decoding.beams)
    texts: list[str] = []
    for start in range(0, len(prompts), size):
        batch = list(prompts[start : start + size])
        begun = model.encode(batch) if any(batch) else None
        drawn = sample(model, begun, decoding, seeds[start : start + size])
        texts += model.continuations(begun, drawn.sequences)
    return texts
