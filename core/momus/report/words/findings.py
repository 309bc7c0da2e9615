"""Verdicts in words: all sentences about a row, and about the parts of log P(x), composed from their fields."""

from __future__ import annotations

from collections.abc import Sequence

from momus.arguments import arg
from momus.evidence import Table, Wording
from momus.inference import Method
from momus.report.words.format import number, p_value
from momus.runs.result import CriticResult
from momus.text.counting import counted
from momus.verdicts.decomposition import GAP, Estimate, PartRow, Parts
from momus.verdicts.table import SKEWED, axes_together
from momus.verdicts.verdict import Verdict

PARTS = {
    "log_prior": "prior: E log P(z), −Latent NLL",
    "log_likelihood": "likelihood: E log P(x | z)",
    "entropy": "entropy of the posterior, H(P(z | x))",
    GAP: "gap: what the posterior that is read misses",
}
WHOLES = {"exact": "log P(x)", "bound": "a lower bound of log P(x)"}
PART_HEADS = ("part", "real", "generated", "generated − real")


def statistic_name(name: str, wording: Wording | None = None) -> str:
    """Name a statistic for readers: by its label, else by its name with spaces for underscores.

    >>> statistic_name("my_share"), statistic_name("ks", Wording("KS distance of lengths"))
    ('my share', 'KS distance of lengths')
    """
    return wording.label if wording is not None and wording.label else name.replace("_", " ")


def gap(v: Verdict) -> str:
    """Size of the effect in human bands, such as ``2.3``; ``*`` marks bands that are defaults."""
    if v.gap is None:
        return "–"
    return f"{v.gap:.1f}" + ("*" if v.band_source == "default" else "")


def band(v: Verdict) -> str:
    """Say where the human band of a row comes from."""
    if v.band is None:
        return "no human band is known"
    span = "" if v.band_low is None or v.band_high is None else f", {v.band_low:.2g} to {v.band_high:.2g}"
    source = f", from {v.band_groups} groups" if v.band_source == "groups" else ""
    return f"band {v.band:.2g}{span}{source}"


def effective(v: Verdict) -> str:
    """Say how many documents of equal length, and how many independent units, a row rests on, unless n says it."""
    m = v.method
    units = f"{m.units_real:,} and {m.units_generated:,} independent units"
    counts = v.n_real, v.n_generated
    if counts == (m.units_real, m.units_generated) and (v.effective_real or v.n_real) == v.n_real:
        return ""
    if v.effective_real is None or v.effective_generated is None:
        return units
    if (round(v.effective_real), round(v.effective_generated)) == (v.n_real, v.n_generated):
        return units
    return f"{units}; as much as {v.effective_real:,.0f} and {v.effective_generated:,.0f} documents of equal length"


def method(verdict: Verdict) -> str:
    """Describe how the row was tested and how its interval was computed."""
    m = verdict.method
    if m.test == "none":
        return "not tested"
    if m.family == "law":
        test = (
            f"permutation test, {m.permutations} random relabellings of groups, interval from their quantiles"
            if m.test == "relabelled groups"
            else "Welch's t-test on jackknife standard errors"
            + (", which include random orders of groups" if m.error == "shuffled" else "")
        )
        pieces = (
            f"{m.units_real} and {m.units_generated} whole groups"
            if m.grouped
            else f"{m.units_real} contiguous groups per text"
        )
        return f"{test} ({pieces}); {m.tokens:,} tokens per text"
    designs = {
        "pairs": "paired",
        "prompts": f"within {counted(m.units_real, 'prompt')}",
        "clusters": f"of {m.units_real:,} and {m.units_generated:,} whole {'groups' if m.grouped else 'clusters'}",
        "bins": "within bins of the covariate",
    }
    if m.grouped and m.design in ("pairs", "prompts"):
        designs[m.design] = f"of {m.units_real:,} groups that change sides whole"
    if m.block > 1:
        designs[m.design] = _blocks(m)
    if m.test in SIGNED:
        units = designs.get(m.design, "unpaired")
        signs = "all" if m.exact else f"{m.permutations:,} random"
        return f"{SIGNED[m.test]}, {units}, {signs} signs; {_interval_method(verdict)}"
    relabellings = f"all {m.permutations:,}" if m.exact else f"{m.permutations:,} random"
    kind = "studentised permutation test" if m.studentised else "permutation test"
    kind += ", transformed for skewness" if m.skewness else ""
    return (
        f"{kind}, {designs.get(m.design, 'unpaired')}, {relabellings} relabellings"
        f"{' of blocks' if m.design == 'blocks' else ''}; {_interval_method(verdict)}"
    )


def _blocks(m: Method) -> str:
    """The random blocks that the units of a test were put into.

    >>> _blocks(Method(units_real=400, units_generated=312, block=64))
    'of 400 and 312 random blocks of about 64 documents'
    """
    kind = "groups" if m.grouped else m.design
    if m.design in ("pairs", "prompts"):
        return f"of {m.units_real:,} random blocks of about {m.block:,} {kind} that change sides whole"
    return f"of {m.units_real:,} and {m.units_generated:,} random blocks of about {m.block:,} {kind}"


def _interval_method(verdict: Verdict) -> str:
    m = verdict.method
    if m.zero_variance == "none":
        return "no interval, since the documents of neither text differ from each other"
    if m.zero_variance == "share":
        return "interval from the probability that every document of a text has the same share, 0 or 1"
    if verdict.low is None:
        return "no interval"
    if m.studentised:
        return "interval of the critical values of the test, which excludes 0 exactly where p is at most the level"
    errors = f"a bootstrap standard error, {m.resamples:,} resamples" if m.resamples else "a jackknife standard error"
    if m.family == "distance":
        errors = f"a bootstrap standard error, {m.resamples:,} resamples" if m.resamples else "its standard error"
        return f"interval from the critical value of the test and {errors}"
    return f"larger p of this and a t-test; interval from {errors}"


SIGNED = {
    "multipliers": "multiplier bootstrap of groups of unequal size",
    "squares": "multiplier bootstrap of groups of unequal size, for the squared differences of shares",
}
"""Tests with random signs in place of relabellings."""
NULLS = {
    "documents": "real and generated documents are exchangeable: drawn independently from one source",
    "pairs": "within each prompt, the real and the generated document are exchangeable",
    "prompts": "within each prompt, real and generated documents are exchangeable",
    "clusters": "clusters of real and of generated documents are exchangeable",
    "bins": "within each bin of the covariate, real and generated documents are exchangeable",
    "blocks": "blocks of both texts are exchangeable (blocks of one long text are more dependent than that)",
    "groups": "both texts have the same exponent; groups of text are independent of each other",
}
"""Null hypotheses by design."""
STUDENTISED = {
    "documents": "both texts have the same mean; documents are independent",
    "pairs": "the mean difference of pairs is 0; prompts are independent",
    "prompts": "the mean difference within prompts is 0; prompts are independent",
    "clusters": "both texts have the same mean; clusters of documents are independent",
    "bins": "the mean difference within bins of the covariate is 0; documents are independent",
    "blocks": "both texts have the same mean; blocks are independent (blocks of one long text are less so)",
}
"""Null hypotheses of studentised tests, which need not assume that the texts are alike in all else."""


def null(verdict: Verdict) -> str:
    """State the null hypothesis of the row's test, or why the row was not tested."""
    m = verdict.method
    if m.test == "none":
        return f"not tested: {m.reason}"
    if m.test in SIGNED:
        return "both texts have the same distribution; groups of documents are independent, of any size"
    if not m.studentised:
        return NULLS[m.design]
    skewed = f"; approximate, since documents are skewed ({m.skewness:.2f})" if abs(m.skewness) > SKEWED else ""
    return STUDENTISED[m.design] + skewed


def floors(verdicts: Sequence[Verdict], multiplicity: str) -> str:
    """State the smallest p-values that relabellings allow among the axes, and whether they could decide.

    Holm's adjustment multiplies the smallest of m p-values by m.
    """
    leading = [v for v in verdicts if v.leads]
    at_floor = [v for v in leading if v.method.permutations and (v.p_axis or 0.0) <= v.method.floor * (1 + 1e-9)]
    if not at_floor:
        return "No p of an axis is limited by its number of relabellings." if leading else ""
    largest = max(v.method.floor for v in at_floor)
    times = axes_together(leading, multiplicity)
    text = (
        f"The p-values of {len(at_floor)} of {len(leading)} axes are at the permutation minimum: adjusted, "
        f"{p_value(min(times * largest, 1.0))} ({1 / largest:,.0f} relabellings) or less."
    )
    deciding = [v for v in at_floor if times * v.method.floor > v.alpha]
    if deciding:
        names = ", ".join(f"{v.axis} on {v.generated}" for v in deciding[:3])
        text += (
            f" For {len(deciding)} of them that is above {deciding[0].alpha:g}, so that the number of relabellings "
            f"decides, not the text ({names}): raise {arg('permutations')}, or give more documents, prompts or groups."
        )
    return text


def families(verdicts: Sequence[Verdict], multiplicity: str) -> str:
    """State what the adjustment of p-values holds: for the axes of each text, or of the whole table."""
    leading = [v for v in verdicts if v.leads]
    if not leading or not multiplicity.startswith("holm"):
        return ""
    alpha, m = leading[0].alpha, axes_together(leading, multiplicity)
    n = counted(m, "axis", "axes")
    held = f"the chance of naming any that does not differ is at most {alpha:g}"
    what = f"Over {n}, {held}" if m == len(leading) else f"For each generated text, over its {n}, {held}"
    table = (
        ""
        if m == len(leading)
        else f"; {arg('multiplicity', 'holm-table')} holds that over all {len(leading)} of the table"
    )
    return (
        f"{what}{table} – if each test has its level: for distances, where both texts come from one source; for means, "
        "where they are equal, approximately if documents are skewed and the texts differ in shape and size."
    )


def estimate(e: Estimate) -> str:
    """A number with its interval.

    >>> estimate(Estimate(-1.25, -2.0, -0.5)), estimate(Estimate(-1.25, None, None))
    ('-1.25 [-2, -0.5]', '-1.25')
    """
    return number(e.value) if e.low is None else f"{number(e.value)} [{number(e.low)}, {number(e.high)}]"


def parts_table(parts: Parts, generated: str) -> Table:
    """The parts of one generated text beside those of the real one; the note tells of what, n, and what they say."""
    rows = parts.of_text(generated)
    cells = [
        (
            PARTS.get(row.part, f"sum: {WHOLES[parts.kind]}"),
            *(estimate(e) for e in (row.in_real, row.in_generated, row.difference)),
        )
        for row in rows.values()
    ]
    first = next(iter(rows.values()))
    of = f"x: {parts.of}. " if parts.of else ""
    n = f"n = {counted(first.n_real, 'real document')}, {counted(first.n_generated, 'generated one')}; not tested. "
    note = f"{of}{n}{parts_sentence(rows)}"
    return Table("evidence-parts", f"Parts of log P(x), {parts.unit}", PART_HEADS, cells, note=note)


def parts_sentence(rows: dict[str, PartRow]) -> str:
    """Which parts differ, and a warning where the prior alone would be read wrongly.

    The prior is the Latent NLL; it is higher for text that keeps to the most probable latents.
    """
    higher = [name for name, row in rows.items() if row.difference.low is not None and row.difference.low > 0]
    lower = [name for name, row in rows.items() if row.difference.high is not None and row.difference.high < 0]
    short = {"log_prior": "prior", "log_likelihood": "likelihood", "log_evidence": "sum"}
    said = [
        f"{', '.join(short.get(n, n) for n in names)} {word} in generated text"
        for names, word in ((higher, "higher"), (lower, "lower"))
        if names
    ]
    text = f"{'; '.join(said).capitalize()}." if said else "No interval of a difference excludes 0."
    if "log_prior" in higher and ("log_evidence" in lower or "entropy" in lower):
        text += " The latents are more probable, yet what they leave out is not: Latent NLL alone hides a departure."
    return text


def parts_tables(result: CriticResult) -> dict[str, Table]:
    """The table of each generated text of a critic."""
    parts = result.parts
    if parts is None:
        return {}
    return {name: parts_table(parts, name) for name in dict.fromkeys(row.generated for row in parts.rows)}
