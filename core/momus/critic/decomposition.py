"""The parts of log P(x): what Latent NLL says of the probability of a document, and what it leaves out.

For any q(z), with KL the Kullback–Leibler divergence (Deng et al. 2022, appendix A),

    log P(x) = E_q log P(z) + E_q log P(x | z) + H(q) + KL(q ‖ P(z | x))

The first part is −Latent NLL. The second says how well z realises x, the third how uncertain z is given x. The paper's
three parts are those of the exact posterior, where the divergence is 0. A critic that reads a cruder one, such as its
most probable z, has a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from momus.numeric.types import Floats

Kind = Literal["exact", "bound", "estimate"]
"""What a critic knows of log P(x): its value, a lower bound (the sum of the three parts), or a Monte-Carlo estimate."""
PARTS = ("log_prior", "log_likelihood", "entropy", "log_evidence")
"""Names of the three parts and of log P(x), in the order of the columns of `Decomposition.columns`."""


@dataclass(frozen=True)
class Decomposition:
    """The parts of log P(x) of n documents, float arrays (n,) in nats.

    Attributes
    ----------
    log_prior
        E_q log P(z), −Latent NLL.
    log_likelihood
        E_q log P(x | z).
    entropy
        H(q); of a density (shares, log-odds) it may be negative.
    log_evidence
        log P(x), as far as the critic knows it (`DecompositionMixin.evidence_kind`).

    >>> one = np.array([-2.0])
    >>> parts = Decomposition(one, np.array([-5.0]), np.array([0.5]), np.array([-6.0]))
    >>> parts.gap.tolist(), parts.columns.tolist()
    ([0.5], [[-2.0, -5.0, 0.5, -6.0]])
    """

    log_prior: Floats
    log_likelihood: Floats
    entropy: Floats
    log_evidence: Floats

    @property
    def gap(self) -> Floats:
        """KL(q ‖ P(z | x)), (n,): 0 where q is the posterior, or where log P(x) is known as a bound only."""
        gap: Floats = self.log_evidence - (self.log_prior + self.log_likelihood + self.entropy)
        return gap

    @property
    def columns(self) -> Floats:
        """The parts side by side, (n, 4), see `PARTS`."""
        return np.column_stack([self.log_prior, self.log_likelihood, self.entropy, self.log_evidence])
