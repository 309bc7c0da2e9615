"""Headline tests of all pairs of generated texts: each text is read once per critic, and many pairs are tested cheaply.

With a hundred texts there are 4,950 pairs. Their tests differ from those of real text in cost alone: texts are put into
blocks from fewer documents on, tests that find no difference stop earlier, and standard errors of wide rows take fewer
resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from momus.engine.judging import Economy, Side, judge_sides
from momus.inference.relabelling import FIRST, STAGES
from momus.progress import Timed
from momus.runs.row_store import ShardedText
from momus.runs.sums import KeptSums
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import all_statistics
from momus.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from momus.critic import Critic

MANY = 100
"""Pairs above which tests are made at less cost."""
CHEAP = Economy(above=512, most=128, wide=(1999, 64), early=(*FIRST, *STAGES), noise=1 << 19)


def pair_verdicts(
    critic: Critic[Any],
    texts: Sequence[ShardedText],
    settings: Settings,
    timed: Timed,
    family: int,
) -> list[Verdict]:
    """Headline verdicts between the generated texts, in the order of `itertools.combinations`.

    Memory grows by the scores and the headline rows of each document of each text (some 50 bytes); summed counts are
    kept in `momus.runs.sums.KEPT_BYTES`, and read again for texts beyond that.

    Parameters
    ----------
    family
        Number of headline rows of the table that compares these texts with real text.
    """
    kept = KeptSums(shared=True)
    with timed.stage("reading", "pairs"):
        sides = [_lean(Side.of(text, critic.name, kept), critic) for text in texts]
    pairs = list(combinations(sides, 2))
    economy = CHEAP if len(pairs) > MANY else Economy()
    verdicts: list[Verdict] = []
    for one, other in pairs:
        with timed.stage("testing", f"{one.text.name} and {other.text.name}"):
            of_pairs = family * (len(sides) - 1) // 2
            verdicts += judge_sides(critic, one, other, settings, of_pairs, economy=economy).verdicts
    return verdicts


def _lean(side: Side, critic: Critic[Any]) -> Side:
    """The side without the dense rows that the headline statistic does not pool."""
    needed = {s.rows for s in all_statistics(critic, side.keys) if s.name == critic.headline_statistic}
    rows = {key: rows for key, rows in side.scores.rows.items() if key in needed}
    return replace(side, scores=replace(side.scores, rows=rows))
