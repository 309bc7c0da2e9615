"""Ways of decoding, and the draw of one token."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from momus.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

Method = Literal["ancestral", "temperature", "nucleus", "beam-sampling"]


@dataclass(frozen=True)
class Decoding:
    """How the next token is chosen.

    Attributes
    ----------
    method
        ``ancestral`` draws from the model's distribution; ``temperature`` from the softmax of logits / T; ``nucleus``
        from the smallest set of tokens with at least ``top_p`` of the mass (Holtzman et al. 2020);
        ``beam-sampling`` draws ``beams`` extensions of each of ``beams`` hypotheses and keeps the ``beams`` most
        probable of them (Meister & Cotterell 2021, section 4.1).
    temperature
        T, above 0; all but ``ancestral`` may use it.
    top_p
        In (0, 1]; read by ``nucleus`` only.
    beams
        k, at least 1; read by ``beam-sampling`` only.
    longest
        Tokens after which a document is cut.

    Raises
    ------
    UsageError
        A value lies outside of its range, or the method does not read it.

    >>> Decoding("nucleus", top_p=0.9).record()
    {'method': 'nucleus', 'temperature': 1.0, 'top_p': 0.9, 'longest': 1024}
    """

    method: Method = "ancestral"
    temperature: float = 1.0
    top_p: float = 1.0
    beams: int = 1
    longest: int = 1024

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise UsageError(f"no decoding {self.method!r}", hint=f"choose one of {', '.join(get_args(Method))}")
        if not 0 < self.temperature < float("inf"):
            raise UsageError(f"the temperature is {self.temperature}", hint="give a number above 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p is {self.top_p}", hint="give a share of the mass, above 0 and up to 1")
        if self.beams < 1 or self.longest < 1:
            raise UsageError("beams and longest are at least 1", hint="give whole numbers from 1 on")
        unused = [
            name
            for name, given, used in (
                ("temperature", self.temperature != 1.0, self.method != "ancestral"),
                ("top_p", self.top_p != 1.0, self.method == "nucleus"),
                ("beams", self.beams != 1, self.method == "beam-sampling"),
            )
            if given and not used
        ]
        if unused:
            raise UsageError(f"{self.method} decoding does not read {unused[0]}", hint="leave it out")

    def record(self) -> dict[str, Any]:
        """What made the text, without values that the method does not read."""
        known = asdict(self)
        unread = {"ancestral": ("temperature", "top_p", "beams"), "temperature": ("top_p", "beams")}
        unread |= {"nucleus": ("beams",), "beam-sampling": ("top_p",)}
        return {k: v for k, v in known.items() if k not in unread[self.method]}


def log_softmax(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """log p of each token, float64 (B, V)."""
    import torch

    return torch.log_softmax(logits.double() / temperature, dim=-1)


def nucleus(log_p: Tensor, top_p: float) -> Tensor:
    """Which tokens belong to the smallest set with at least ``top_p`` of the mass, bool (B, V); ties by number.

    >>> import torch
    >>> nucleus(torch.tensor([[0.5, 0.2, 0.3]]).log(), 0.6).tolist()
    [[True, False, True]]
    """
    import torch

    if top_p >= 1.0:
        return torch.ones_like(log_p, dtype=torch.bool)
    ordered, index = torch.sort(log_p, dim=-1, descending=True, stable=True)
    mass = ordered.exp().cumsum(dim=-1)
    # a mass that equals top_p but for rounding is enough
    before = torch.cat([torch.zeros_like(mass[:, :1]), mass[:, :-1]], dim=-1) < top_p - 1e-12
    return torch.zeros_like(before).scatter(-1, index, before)


def draw(log_p: Tensor, top_p: float, noise: Tensor) -> Tensor:
    """Draw tokens from the nucleus: the largest of log p plus Gumbel noise (Gumbel 1954; Maddison et al. 2014).

    Inverting the cumulative distribution would do as well, but hangs on the last digits of all log p before the token;
    the largest value changes only where the two largest nearly tie.

    Parameters
    ----------
    log_p, noise
        (B, V).

    Returns
    -------
    Tokens, int64 (B,).

    >>> import torch
    >>> noise = gumbels(torch.arange(20_000)[:, None], torch.arange(3))
    >>> drawn = draw(torch.tensor([[0.5, 0.2, 0.3]]).log().expand(20_000, -1), 1.0, noise)
    >>> (torch.bincount(drawn) / 20_000).numpy().astype(float).round(1).tolist()
    [0.5, 0.2, 0.3]
    """
    import torch

    kept = log_p if top_p >= 1.0 else torch.where(nucleus(log_p, top_p), log_p, -torch.inf)
    return (kept + noise).argmax(dim=-1)


def gumbels(*parts: Tensor | int) -> Tensor:
    """Standard Gumbel variates, float64, one for each combination of the parts (see `momus.numeric.draws.uniforms`)."""
    from momus.numeric.draws import uniforms

    return -(-uniforms(*parts).log()).log()
