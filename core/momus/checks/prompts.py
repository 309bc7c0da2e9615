"""Which documents count where the two sides share some prompts, but too few to be compared prompt by prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from momus.inference.matching import MATCHED

if TYPE_CHECKING:
    from momus.text.corpus import Corpus
    from momus.verdicts.verdict import Verdict

WITHIN = ("pairs", "prompts")
"""Designs that compare within prompts."""


def mixed_prompts_warnings(real: Corpus, generated: Sequence[Corpus], verdicts: Sequence[Verdict]) -> list[str]:
    """Say of each generated text that shares some prompts with the real one why these are not used, and what counts.

    A text whose critics all compare within prompts, or that shares none, has no warning; documents that then take no
    part are counted elsewhere.
    """
    warnings = []
    for corpus in generated:
        designs = {v.method.design for v in verdicts if v.generated == corpus.name and v.headline and v.method}
        sides = [[p for p in c.prompts if p is not None] for c in (real, corpus)]
        common = set(sides[0]) & set(sides[1])
        if not common or not designs or not designs.isdisjoint(WITHIN):
            continue
        smaller = min((real, corpus), key=len)
        found = sum(p in common for p in smaller.prompts)
        together = "those of one prompt as one unit" if "clusters" in designs else "each by itself"
        warnings.append(
            f"{found:,} of the {len(smaller):,} documents of {smaller.name!r} answer a prompt that "
            f"{(corpus if smaller is real else real).name!r} has too, fewer than {MATCHED:.0%}: the comparison is not "
            f"made within prompts. Value, difference, interval and p are of all {len(real):,} and {len(corpus):,} "
            f"documents that are scored, {together} (--paired compares those of shared prompts only)."
        )
    return warnings
