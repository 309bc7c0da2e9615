"""Whether a critic leaves more documents unscored in one text than in the other."""

from __future__ import annotations

import numpy as np

from momus.critic import Scores
from momus.critic.statistic import Statistic, mean
from momus.errors import UsageError
from momus.inference.blocks import in_blocks
from momus.inference.matching import design_of
from momus.inference.result import TestResult
from momus.inference.testing import compare_rows
from momus.numeric.types import Floats
from momus.verdicts.settings import Settings


def unscored_share(pooled: Floats) -> Floats:
    """Share of unscored documents, from pooled rows [unscored, 1].

    Not ``mean`` itself, which would be studentised: with one unscored document |T| is about 1 under every relabelling,
    and sizes of clusters alone would decide. A share without an effect has equal variances too, so its permutation test
    needs no studentising.
    """
    return mean(pooled)


UNSCORED = Statistic(
    "unscored_share",
    "unscored",
    "value",
    unscored_share,
    label="share of unscored documents",
    direction=("scored more often", "scored less often"),
    format="share",
)


def missing_result(
    real: Scores, generated: Scores, settings: Settings | None = None, family: int = 1
) -> TestResult | None:
    """Test whether the share of unscored documents differs, over all documents of both texts.

    Blank or broken documents have no score, so no other row shows them.

    Parameters
    ----------
    settings
        ``paired``, ``permutations``, ``confidence`` and ``seed`` are read.
    family
        Number of rows whose p-values are adjusted together.

    Returns
    -------
    Difference of the shares (generated − real) with its test; None if both texts are scored in full, or have no
    document.

    Raises
    ------
    UsageError
        The scores are of different critics, or pairs were asked for and the texts share fewer than two prompts.
    """
    if real.critic != generated.critic:
        raise UsageError(
            f"scores of {real.critic!r} and of {generated.critic!r} cannot be compared",
            hint="score both texts with one critic",
        )
    settings = settings or Settings()
    if not len(real) or not len(generated) or (real.scored.all() and generated.scored.all()):
        return None
    names = real.corpus, generated.corpus
    design = design_of(real.prompts, generated.prompts, settings.paired, names, groups=(real.groups, generated.groups))
    design = in_blocks(design, settings.seed)
    (result,) = compare_rows(
        [UNSCORED],
        {UNSCORED.rows: _rows(real)},
        {UNSCORED.rows: _rows(generated)},
        design=design,
        permutations=settings.permutations,
        resamples=0,
        confidence=settings.confidence,
        family=family,
        seed=settings.seed,
    )
    return result


def _rows(scores: Scores) -> Floats:
    """[unscored, 1] of every document: (n, 2)."""
    return np.column_stack([~scores.scored, np.ones(len(scores))]).astype(np.float64)
