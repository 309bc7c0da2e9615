"""The parts of log P(x) in words: a table, and what it says of a difference."""

from __future__ import annotations

from momus.evidence import Table
from momus.report.format import number
from momus.runs.result import CriticResult
from momus.text.counting import counted
from momus.verdicts.decomposition import GAP, Estimate, PartRow, Parts

NAMES = {
    "log_prior": "prior: E log P(z), −Latent NLL",
    "log_likelihood": "likelihood: E log P(x | z)",
    "entropy": "entropy of the posterior, H(P(z | x))",
    GAP: "gap: what the posterior that is read misses",
}
WHOLE = {"exact": "log P(x)", "bound": "a lower bound of log P(x)", "estimate": "log P(x), by Monte Carlo"}
COLUMNS = ("part", "real", "generated", "generated − real")


def part_name(parts: Parts, part: str) -> str:
    """The name of a part, or of the whole."""
    return NAMES.get(part, f"sum: {WHOLE[parts.kind]}")


def estimate(e: Estimate) -> str:
    """A number with its interval.

    >>> estimate(Estimate(-1.25, -2.0, -0.5)), estimate(Estimate(-1.25, None, None))
    ('-1.25 [-2, -0.5]', '-1.25')
    """
    return number(e.value) if e.low is None else f"{number(e.value)} [{number(e.low)}, {number(e.high)}]"


def part_cells(parts: Parts, row: PartRow) -> tuple[str, str, str, str]:
    """One row under `COLUMNS`."""
    return part_name(parts, row.part), estimate(row.in_real), estimate(row.in_generated), estimate(row.difference)


def parts_table(parts: Parts, generated: str) -> Table:
    """The parts of one generated text beside those of the real one."""
    rows = parts.of_text(generated)
    cells = [part_cells(parts, row) for row in rows.values()]
    return Table(
        "evidence-parts", f"Parts of log P(x), {parts.unit}", COLUMNS, cells, note=parts_note(parts, generated)
    )


def parts_note(parts: Parts, generated: str) -> str:
    """What the parts are of, n, and what they say."""
    rows = parts.of_text(generated)
    first = next(iter(rows.values()))
    x = f"x: {parts.of}. " if parts.of else ""
    n = f"n = {counted(first.n_real, 'real document')}, {counted(first.n_generated, 'generated one')}; not tested. "
    return f"{x}{n}{parts_sentence(rows)}"


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
    return (
        {}
        if parts is None
        else {name: parts_table(parts, name) for name in dict.fromkeys(r.generated for r in parts.rows)}
    )
