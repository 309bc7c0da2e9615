"""What a comparison warns of, and its provenance, as ``run.json`` holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from momus.against.versions import unchanged_answers
from momus.checks.languages import KINDS, layout_sentence
from momus.critic import Critic
from momus.critic.source import source_digest
from momus.critic.splitting import icu_of
from momus.files import plain
from momus.runs.manifest import ROWS
from momus.runs.result import CriticResult, Results
from momus.runs.texts import Texts
from momus.text.corpus import Corpus
from momus.text.counting import counted, documents_of, joined, percentage, text_of
from momus.verdicts.settings import Settings
from momus.verdicts.statistics import UNSCORED
from momus.verdicts.verdict import Verdict
from momus.version import __version__


def missing_warnings(verdicts: Sequence[Verdict]) -> list[str]:
    """One warning per generated corpus that has a larger or smaller share of unscored documents than the reference."""
    warnings = []
    differing = [v for v in verdicts if v.statistic == UNSCORED.name and v.differs]
    for name in dict.fromkeys(v.generated for v in differing):
        rows = [v for v in differing if v.generated == name]
        # one critic as the example: all of them may have the same unscored documents
        worst = max(rows, key=lambda v: abs(v.difference or 0.0))
        reference = text_of(worst.reference)
        warnings.append(
            f"{counted(worst.unscored_generated, 'document')} of {name!r} "
            f"{'is' if worst.unscored_generated == 1 else 'are'} unscored under {worst.critic!r} "
            f"({percentage(worst.generated_value or 0.0, 0)}; {reference} {percentage(worst.real_value or 0.0, 0)}), "
            f"and differ from {reference} in that under {len(rows)} of the critics: all other rows describe the scored "
            "documents only."
        )
    return warnings


def critics_warnings(results: Sequence[CriticResult]) -> list[str]:
    """Warnings of critics; one that several of them have is said once."""
    critics: dict[str, list[str]] = {}
    for r in results:
        for note in r.notes:
            if note.warning:
                critics.setdefault(note.text, []).append(repr(r.name))
    return [f"Critic{'s' if len(names) > 1 else ''} {joined(names)}: {text}" for text, names in critics.items()]


def left_out_warnings(verdicts: Sequence[Verdict]) -> list[str]:
    """Say which documents take no part since the other side lacks their prompt; one warning for corpora alike in it."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(v.generated for v in verdicts):
        rows = [v for v in verdicts if v.generated == name and v.headline]
        worst = max(rows, key=_left_out, default=None)
        if worst is not None and _left_out(worst):
            nouns = [documents_of(worst.reference, noun=noun) for noun in ("document", "documents")]
            sides = ((worst.left_out_real, nouns), (worst.left_out_generated, ["generated document"]))
            parts = " and ".join(counted(n, *noun) for n, noun in sides if n)
            has = "has" if _left_out(worst) == 1 else "have"
            under = f" that {worst.critic!r} can score" if len({_left_out(v) for v in rows}) > 1 else ""
            alike.setdefault(f"{parts} {has} no matching partner (same prompt or group){under}", []).append(repr(name))
    return [f"{said} in the comparison with {', '.join(names)}; left out." for said, names in alike.items()]


def _left_out(verdict: Verdict) -> int:
    return verdict.left_out_real + verdict.left_out_generated


def _described(texts: Texts, corpus: Corpus, role: str) -> dict[str, Any]:
    """A text in the record of a run; parts of the real text have the ``origin`` of the whole."""
    # halves of a split text were read from one file, which only the whole knows
    whole = texts.whole if role != "generated" and texts.whole is not None else corpus
    stored = next((s for s in texts.stored if s.name == corpus.name), None)
    place = Path() if stored is None else stored.folder.path
    # relative, so that a run folder may be moved
    rows = f"{ROWS}/{place.name}" if place.parent.name == ROWS else str(place)
    return {
        "name": corpus.name,
        "role": role,
        "documents": len(corpus),
        "characters": int(corpus.characters.sum()),
        "fingerprint": corpus.fingerprint,
        "groups": len({*corpus.groups} - {None}),
        "prompts": len({*corpus.prompts} - {None}),
        **({} if whole.origin is None else {"origin": asdict(whole.origin)}),
        **({} if stored is None else {"rows": rows}),
    }


def _layout(comparison: Results, texts: Texts, critics: Sequence[Critic[Any]]) -> str:
    """What the answer says of a layout in which texts differ, with the axes that differ and read it."""
    names = [texts.real.name, *(c.name for c in texts.generated)]
    layouts = [texts.layouts[name] for name in names if name in texts.layouts]
    differing = {v.critic for v in comparison.verdicts if v.is_finding}
    axes = {kind: [c.axis for c in critics if kind in c.reporting.layout and c.name in differing] for kind in KINDS}
    # a text without a known layout cannot be compared in it
    return layout_sentence(layouts, axes) if len(layouts) == len(names) else ""


def signature_of(
    comparison: Results,
    texts: Texts,
    critics: Sequence[Critic[Any]],
    settings: Settings,
    command: str | None,
    started: datetime,
) -> dict[str, Any]:
    """The provenance of a run, as ``run.json`` holds it."""
    if len(texts.fit):
        fitting = _described(texts, texts.fit, "fit")
    else:  # critics were fitted earlier, and keep the size and the fingerprint of the text
        fitted = comparison.results[0].fitted_on
        fitting = {"name": "fit", "role": "fit", "characters": 0, "groups": 0, "prompts": 0}
        fitting |= {"documents": int(fitted["documents"]), "fingerprint": fitted["fingerprint"]}
    # texts that stay in their files are not looked at
    looked_at = texts.generated if settings.against and not texts.in_parts else []
    unchanged = [unchanged_answers(texts.real, corpus) for corpus in looked_at]
    sources = {c.name: source_digest(c) for c in critics}
    corpora = [(texts.real, "real"), *((c, "generated") for c in texts.generated)]
    return {
        "momus": __version__,
        "command": command,
        "started": started.isoformat(timespec="seconds"),
        **asdict(settings),
        **icu_of([texts.fit, texts.real, *texts.generated]),
        "split": texts.split,
        "critics": [
            {"name": r.name, "params": r.params, "fitted_on": r.fitted_on, "source": sources[r.name]}
            for r in comparison.results
        ],
        "corpora": [fitting, *(_described(texts, c, role) for c, role in corpora)],
        "checks": [c.summary() for c in texts.checks],
        "unchanged": [plain(asdict(u)) for u in unchanged if u is not None],
        "layout": _layout(comparison, texts, critics),
        "languages": [
            {**asdict(text), "differs": text.differs(texts.languages[texts.real.name])}
            for text in texts.languages.values()
        ],
        "left_out": comparison.left_out,
        "warnings": comparison.warnings,
    }
