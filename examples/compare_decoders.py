"""Compare three decoding methods of one language model with real documentation.

    python examples/compare_decoders.py --out folder

The texts ship with Momus: docstrings of Python packages, and their continuations by SmolLM2-135M with ancestral
sampling, nucleus sampling, and nucleus sampling at a lower temperature. Prints the verdict table; writes a run folder
(open ``run/report.html``), ``verdicts.csv`` and ``effects.svg``: for each critic and decoder, the difference from real
text in bootstrap standard errors, with the adjusted p of the verdict. Takes less than a minute.
"""

from __future__ import annotations

from collections.abc import Sequence

from shared import DECODERS, GENERATED, OTHER, REAL, corpus, figure, options, run

import momus

CRITICS = ("sections", "length", "unigram", "rank-frequency", "stopword-share")


def main(argv: Sequence[str] | None = None) -> momus.Comparison:
    """Compare, print and plot."""
    chosen = options(
        __doc__,
        argv,
        most={"type": int, "default": 0, "help": "documents to read per file; 0 for all"},
        permutations={"type": int, "default": 1999},
    )
    comparison = momus.compare(
        corpus("real.jsonl.gz", "real", chosen.most),
        {name: corpus(f"generated-{name}.jsonl.gz", name, chosen.most) for name in DECODERS},
        fit=corpus("fit.jsonl.gz", "fit", chosen.most),
        critics=CRITICS,
        out=chosen.out / "run",
        overwrite=True,
        seed=chosen.seed,
        permutations=chosen.permutations,
    )
    print(comparison)
    comparison.frame().to_csv(chosen.out / "verdicts.csv", index=False)
    axes, write = figure(chosen.out / "effects.svg", height=3.8)
    rows = [v for v in comparison.verdicts if v.headline and v.difference is not None and v.low is not None]
    names = list(dict.fromkeys(v.critic for v in rows))
    for i, (decoder, colour) in enumerate(zip(DECODERS, (REAL, GENERATED, OTHER), strict=True)):
        for v in (v for v in rows if v.generated == decoder):
            spread = max((v.high - v.low) / (2 * 1.96), 1e-12)
            height = names.index(v.critic) + (i - 1) * 0.22
            label = decoder if v.critic == names[0] else None
            axes.errorbar(v.difference / spread, height, xerr=1.96, fmt="o", color=colour, label=label, capsize=2)
            axes.annotate(f"p = {v.p_adjusted:.2g}", (v.difference / spread + 2.4, height), fontsize=6, va="center")
    axes.axvline(0, color="0.6", lw=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("generated − real, in bootstrap standard errors (bars: 95 %)")
    axes.set_title(f"{rows[0].n_real} real and {rows[0].n_generated} generated documents", fontsize=9)
    axes.legend(frameon=False, fontsize=7)
    write()
    print(f"report: {chosen.out / 'run' / 'report.html'}")
    return comparison


if __name__ == "__main__":
    run(main)
