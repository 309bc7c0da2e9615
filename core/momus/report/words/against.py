"""What a comparison with a model says, as tables: the only place where these are made.

The reference is text of a model, so nothing here speaks of people, but for which of both texts is nearer to real text
where that was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from momus.against.versions import Against, Direction, Item, Path
from momus.arguments import arg
from momus.critic.scoring import EMPTY
from momus.joint.ranks import Joint
from momus.report.safe import one_line
from momus.report.words.blocks import Columns, PrintedBlock, table_block
from momus.report.words.format import number, p_value, percent, rounded
from momus.report.words.joint import group_blocks
from momus.report.words.sentences import axes, legend, says_what
from momus.report.words.table import SIZES, overview, taking_part
from momus.runs.answer import Answer, AxisAnswer, Cell
from momus.runs.result import Results
from momus.text.counting import counted, percentage

GAPS, THINGS, QUOTED, PATHS = 4, 4, 150, 8
"""Axes whose gap is told in words; things of a kind in one line; characters of a quoted passage; paths that are
told first."""
BARS = "▁▂▃▄▅▆▇█"
SHARES = (
    "Shares of documents, each prompt counted once; of words and phrases, shares of passages of equal length, since "
    "long documents have more of everything"
)


def basis(comparison: Results, against: Against) -> str:
    """What the comparison rests on: documents, folds, prompts."""
    corpora = {c["name"]: c for c in comparison.signature["corpora"] if c["role"] != "fit"}
    empty = {u.corpus: u.count for r in comparison.results for u in r.unscored if u.reason == EMPTY}
    sizes = ", ".join(
        f"{c['documents']:,} of {name}" + (f" ({empty[name]:,} empty)" if name in empty else "")
        for name, c in corpora.items()
    )
    paired = any(v.method.design in ("pairs", "prompts") for v in comparison.verdicts)
    how = "compared prompt by prompt" if paired else "no prompts in common: compared as independent documents"
    return f"Documents: {sizes}; {how}; critics cross-fitted over {against.folds} folds."


def axes_block(answer: Answer, against: Against, words: bool = False) -> PrintedBlock:
    """The table of axes, with which text is nearer to real text where that was given.

    With ``words``, a word stands beside each arrow, and how many documents take part beside rows that differ in it.
    """
    table = overview(answer, words=words)
    sized = words and table.sizes_differ
    nearer = {(n.critic, n.generated): n for n in against.nearer}
    heads, rows = ["axis", *table.names], []
    if nearer:
        heads += ["nearer to real text" if len(table.names) == 1 else f"{n}: nearer" for n in table.names]
    for axis, row in zip(answer.axes, table.axes, strict=True):
        cells = [row.label, *row.cells]
        for name in table.names if nearer else ():
            pair = nearer.get((axis.critic, name))
            who = {"new": name, "old": against.reference, "": "not sure"}
            cells.append("–" if pair is None else f"{who[pair.nearer]} ({number(pair.old)} → {number(pair.new)})")
        rows.append([*cells, *([row.size] * sized)])
    heads += [SIZES] * sized
    lines = [(a.axis, f"{c.generated}: {says_what(c)}") for a, c in _largest(answer)]
    also = "; distances to real text" * bool(nearer)
    notes = [" · ".join(legend(answer)) + also, *([f"n: {taking_part(answer)}"] if words else [])]
    return PrintedBlock("Axes", lines, heads, rows, notes)


def _largest(answer: Answer) -> list[tuple[AxisAnswer, Cell]]:
    told = None if answer.largest is None else answer.largest.row.critic
    worst = [(axis, axis.worst) for axis in answer.axes if axis.critic != told]
    return [(axis, cell) for axis, cell in worst if cell.differs][:GAPS]


def change_blocks(against: Against, generated: Sequence[str]) -> list[PrintedBlock]:
    """What vanished and what came, of each new text."""
    blocks = []
    for name in generated:
        for came, word in ((False, "Vanished"), (True, "Came")):
            kinds = against.changed(name, came)
            lines = [(kind, _things(items, came, against.reference)) for kind, items in kinds.items()]
            title = f"{word} from {against.reference} to {name}"
            if lines:
                blocks.append(PrintedBlock(title, lines))
    return [*blocks[:-1], replace(blocks[-1], notes=[f"{SHARES}."])] if blocks else []


def _things(items: Sequence[Item], came: bool, reference: str) -> str:
    named = "; ".join(
        f"“{one_line(i.text, 60)}” {percent(i.old, i.new)} → {percent(i.new, i.old)}" for i in items[:THINGS]
    )
    first = items[0]
    sides = [(reference, first.old_example), (first.generated, first.new_example)]
    quoted = [
        f"{one_line(name, 40)}{'' if '«' in text else ' begins'}: “{one_line(text, QUOTED)}”"
        for name, text in (reversed(sides) if came else sides)
    ]
    prompt = f" (prompt {one_line(first.prompt, 40)})" if first.prompt is not None else ""
    return f"{named}. {'; '.join(quoted)}{prompt}"


def changes_block(against: Against) -> PrintedBlock:
    """All that vanished or came, as one table."""
    old = one_line(against.reference, 40)
    columns: Columns[Item] = [
        ("what", lambda i: one_line(i.text, 80)),
        ("kind", lambda i: i.kind),
        ("text", lambda i: i.generated),
        (old, lambda i: percent(i.old, i.new)),
        ("new", lambda i: percent(i.new, i.old)),
        *CHANGE,
        (f"passage of {old}", lambda i: one_line(i.old_example, QUOTED)),
        ("passage of new", lambda i: one_line(i.new_example, QUOTED)),
    ]
    tested = {i.kind: i.tested for i in against.items}
    note = "; ".join(f"{n:,} {kind} tested" for kind, n in tested.items())
    note += f". {SHARES}; listed at a false discovery rate of {percentage(against.alpha, 0)}."
    return table_block("Everything that vanished or came", against.items, columns, "lllr", note)


CHANGE: Columns[Item] = [
    ("change", lambda i: f"{100 * i.change:+.1f}"),
    ("interval", lambda i: f"{100 * i.low:+.1f} to {100 * i.high:+.1f}"),
    ("q", lambda i: p_value(i.q)),
]
"""Columns of the change of a share."""


def topics_block(against: Against, every: bool = True) -> PrintedBlock:
    """Prevalence of topics, the largest change first, with a passage of each text; of few, only those that changed."""
    sure = [i for i in against.topics if i.q <= against.alpha]
    shown = against.topics if every else sure[:GAPS]
    if not shown:
        return PrintedBlock()
    several = len({i.generated for i in against.topics}) > 1
    new = "new" if several else one_line(against.topics[0].generated, 40)
    columns: Columns[Item] = [
        ("topic", lambda i: one_line(i.text, 60)),
        *([("text", lambda i: i.generated)] if several else []),
        (f"{one_line(against.reference, 40)} %", lambda i: f"{100 * i.old:.1f}"),
        (f"{new} %", lambda i: f"{100 * i.new:.1f}"),
        *CHANGE,
    ]
    lines = [
        (f"topic {one_line(i.text, 40)}", f"{against.reference}: “{one_line(i.old_example, QUOTED)}”; "
         f"{i.generated}: “{one_line(i.new_example, QUOTED)}”")
        for i in sure[: THINGS if every else 1]
    ]  # fmt: skip
    note = f"Mean share of words; q: false discovery rate over {counted(against.topics[0].tested, 'topic')}."
    return table_block("Topics", shown, columns, "llr" if several else "lr", note, lines=lines)


def directions_block(against: Against) -> PrintedBlock:
    """How predictable each text is under the other, on every axis that differs."""
    columns: Columns[Direction] = [
        ("axis", lambda d: d.axis),
        ("text", lambda d: d.generated),
        ("new under old", lambda d: number(d.new_under_old)),
        ("old under new", lambda d: number(d.old_under_new)),
        ("difference", lambda d: number(d.difference)),
        ("interval", lambda d: f"{number(d.low)} to {number(d.high)}"),
        ("p (adjusted)", lambda d: p_value(d.p_adjusted)),
        ("in", lambda d: d.unit),
    ]
    note = (
        "Latent NLL of the answers to prompts that the critic has not seen; lower is more predictable. "
        f"Critics are fitted on {against.folds - 1} of {against.folds} folds of the prompts of the other text."
    )
    return table_block("Both directions", against.directions, columns, "llr", note)


def paths_block(against: Against, every: bool = True) -> PrintedBlock:
    """Every axis over the versions of a chain, one line each, with the step of the largest change."""
    if not against.paths or len(against.versions) < 3:
        return PrintedBlock()
    names = against.versions
    shown = against.paths if every else against.paths[:PATHS]
    lines = [(p.axis, path_words(p, against)) for p in shown]
    note = f"Trend: Page's test of ranks within prompts, p adjusted over {axes(len(against.paths))}; ↑ ↓ significant"
    left = len(against.paths) - len(shown)
    more = f"; {left} more with {arg('every', True)}" if left else ""
    return PrintedBlock(f"From {' to '.join(names)}", lines, notes=[f"{note}{more}."])


def path_words(p: Path, against: Against) -> str:
    """The path of one axis in a line."""
    values = " → ".join(version_value(p, v) for v in p.values)
    what = f"{spark(p.values)} {p.label} {values}{f' {p.unit}' if p.unit else ''}"
    return f"{what}; {trend(p, against.alpha)}; largest step {step(p, against.versions)}"


def version_value(p: Path, x: float) -> str:
    """The value of one version of a path."""
    return percent(x, *p.values) if p.share else rounded(x, *p.values)


def spark(values: Sequence[float]) -> str:
    """Values as bars.

    >>> spark([1.0, 1.0, 3.0])
    '▁▁█'
    """
    low, high = min(values), max(values)
    return "".join(BARS[round((len(BARS) - 1) * (v - low) / (high - low))] if high > low else BARS[0] for v in values)


def trend(p: Path, alpha: float) -> str:
    """Arrow and adjusted p of a trend; ``in most prompts`` where the values of all documents go the other way."""
    if p.p_adjusted is None:
        return "–"
    said = f"p {'< 0.0001' if p.p_adjusted < 0.0001 else f'= {p_value(p.p_adjusted)}'}"
    if p.p_adjusted > alpha:
        return f"no trend ({said})"
    mostly = "" if p.rising == (p.values[-1] >= p.values[0]) else " in most prompts"
    return f"{'↑' if p.rising else '↓'}{mostly} {said}"


def step(p: Path, names: Sequence[str]) -> str:
    """The two versions between which a statistic changes most."""
    return f"{names[p.step - 1]} → {names[p.step]}"


def blocks_of(
    answer: Answer, against: Against, joint: Joint, every: bool = True, words: bool = False
) -> list[PrintedBlock]:
    """The parts of the view after the first sentences; without ``every``, the longest tables are left out.

    For ``words``, see `axes_block`.
    """
    generated = [c.generated for c in answer.corpora]
    blocks = [axes_block(answer, against, words), paths_block(against, every), *change_blocks(against, generated)]
    blocks += [topics_block(against, every), *group_blocks(joint, every)]
    if every:
        blocks += [changes_block(against), directions_block(against)]
    return [b for b in blocks if b.lines or b.rows]
