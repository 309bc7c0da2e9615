"""The trust line: what a comparison rests on, in a few words each, and which of it is doubtful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from momus.runs.broken import broken_of
from momus.runs.result import Results
from momus.text.counting import clipped, counted, percentage, text_of

WHOLE = 0.995
"""A share that is shown as 100 %."""
DOUBTFUL_SHARE = 0.1
"""Unscored documents are doubtful from this share of a corpus under some critic."""
AGREE = 2 / 3
"""Least α of two labellers from which conclusions can be drawn at all (Krippendorff 2004)."""
NAMES: Mapping[str, str] = {
    "repeated": "repeated texts",
    "fitted": "real texts also fitted on",
    "memorised": "generated texts also fitted on",
    "copied": "generated texts copied from {}",
    "opening": "shared openings",
    "leaked": "groups fitted on",
}
"""What checks of the texts look for, by kind; {} is the reference; ``groups`` and ``order`` count to the groups."""


@dataclass(frozen=True)
class TrustItem:
    """One thing that a comparison rests on.

    Attributes
    ----------
    ok
        False where a reader should not rely on it; the warnings of the comparison say why.
    """

    label: str
    text: str
    ok: bool = True


def trust_items(comparison: Results) -> list[TrustItem]:
    """Documents, fitted text, groups, faults, copies, languages, formats, logs, unscored documents, in this order."""
    signature = comparison.signature
    corpora: list[dict[str, Any]] = signature["corpora"]
    checks: list[dict[str, Any]] = signature["checks"]
    reference = text_of(next(c["name"] for c in corpora if c["role"] == "real"))
    return [
        _documents(corpora),
        _fitted(signature, corpora, checks),
        _groups(comparison, corpora, checks, reference),
        # what is broken is told first of all
        *([TrustItem("faults", "nothing broken")] if broken_of(comparison.results, signature) == () else []),
        *_copies(checks, reference),
        *_languages(signature["languages"], reference),
        *_read_as(corpora),
        *_logs(corpora),
        *_labels(signature.get("labels", ())),
        _unscored(comparison, corpora),
    ]


def _documents(corpora: list[dict[str, Any]]) -> TrustItem:
    real = next(c for c in corpora if c["role"] == "real")
    others = [c for c in corpora if c["role"] == "generated"]
    counts = {c["documents"] for c in others}
    sides = f"{others[0]['documents']:,}" if len(counts) == 1 else f"{min(counts):,} to {max(counts):,}"
    suffix = " each" if len(others) > 1 else ""
    kind = "real" if real["name"] == "real" else f"of {real['name']}"
    return TrustItem("documents", f"{real['documents']:,} {kind}, {sides} generated{suffix}", real["documents"] >= 20)


def _fitted(signature: Mapping[str, Any], corpora: list[dict[str, Any]], checks: list[dict[str, Any]]) -> TrustItem:
    if signature.get("against"):
        return TrustItem("critics", f"cross-fitted over {signature['folds']} folds")
    fit = next(c for c in corpora if c["role"] == "fit")
    how = "half of the real text, set apart" if signature["split"] else "a separate text"
    bad = any(c["warns"] for c in checks if c["kind"] in ("fitted", "leaked"))
    known = " (real text of the test is among it)" if bad else ""
    return TrustItem("fitted on", f"{counted(fit['documents'], 'document')}: {how}{known}", not bad)


def _groups(
    comparison: Results, corpora: list[dict[str, Any]], checks: list[dict[str, Any]], reference: str
) -> TrustItem:
    """The groups that were given, or what the tests counted as independent without them."""
    real = next(c for c in corpora if c["role"] == "real")
    others = [c for c in corpora if c["role"] == "generated"]
    hidden = [c for c in checks if c["kind"] in ("groups", "order") and c["warns"]]
    if real.get("groups"):
        return TrustItem("groups", f"{counted(real['groups'], 'group')} of {reference} kept whole")
    if hidden:
        return TrustItem("groups", "none given, but documents resemble each other: give group_id", False)
    with_groups = [c for c in others if c.get("groups")]
    if with_groups:
        most = max(c["groups"] for c in with_groups)
        return TrustItem("groups", f"{counted(most, 'group')} of generated text kept whole, none of {reference} given")
    if any(v.method.design == "clusters" for v in comparison.verdicts):
        return TrustItem("groups", "none given; documents of one prompt kept together, others counted as independent")
    if real.get("prompts"):
        return TrustItem("groups", f"{counted(real['prompts'], 'prompt')}, no groups given")
    return TrustItem("groups", "none given; documents counted as independent")


def _copies(checks: list[dict[str, Any]], reference: str) -> Iterator[TrustItem]:
    copies = [c for c in checks if c["kind"] in NAMES]
    if not copies:
        return
    warned = [c for c in copies if c["warns"]]
    if not warned:
        yield TrustItem("copies", "none of concern")
    for kind in dict.fromkeys(c["kind"] for c in warned):
        rows = [c for c in warned if c["kind"] == kind]
        worst = max(rows, key=lambda c: c["documents"] / max(c["total"], 1))
        share = f"{worst['documents']:,} of {worst['total']:,} in {worst['corpus']}"
        yield TrustItem(NAMES[kind].format(reference), share, False)


def _read_as(corpora: list[dict[str, Any]]) -> Iterator[TrustItem]:
    """The formats that texts were recognised by, with their answers and prompts."""
    texts = [
        f"{corpus['name']}: {title}, {counted(corpus['documents'], 'answer')}, "
        f"{counted(corpus.get('prompts') or 0, 'prompt')}"
        for corpus in corpora
        if corpus["role"] != "fit" and (title := corpus.get("origin", {}).get("read_as"))
    ]
    if texts:
        yield TrustItem("read as", "; ".join(texts))


def _logs(corpora: list[dict[str, Any]]) -> Iterator[TrustItem]:
    """What the logs say that texts were read from: harness, task, model, temperature, text by text."""
    texts, whole = [], True
    for corpus in corpora:
        logs = corpus.get("origin", {}).get("logs", ())
        if not logs or corpus["role"] == "fit":
            continue
        log = logs[0]
        settings = log.get("generation")
        heat = settings.get("temperature") if isinstance(settings, Mapping) else None
        names = (
            " ".join(str(log[k]) for k in ("harness", "version") if k in log),
            *(f"{k} {log[k]}" for k in ("task", "model", "status") if k in log),
            f"temperature {heat}" if heat is not None else "",
            f"and {counted(len(logs) - 1, 'log')} more" if len(logs) > 1 else "",
        )
        whole = whole and all("status" not in log for log in logs)
        texts.append(f"{corpus['name']}: {', '.join(filter(None, names))}")
    if texts:
        yield TrustItem("logs", "; ".join(texts), whole)


def _labels(labels: Sequence[Mapping[str, Any]]) -> Iterator[TrustItem]:
    """Who labelled, and the agreement with a second labeller."""
    for label in labels:
        alpha, by = label.get("agreement"), label["labeller"] and f"as labelled by {clipped(label['labeller'], 60)}"
        whole, agreed = "corrected by true labels" if label["gold"] else by, ""
        if alpha is not None:
            value = f"{alpha['alpha']:.2f} ({alpha['low']:.2f} to {alpha['high']:.2f})"
            agreed = f"α {value} with {label['second']}, {counted(alpha['units'], 'document')}"
        elif "second" in label:
            agreed = f"no α with {label['second']}"
        if text := "; ".join(filter(None, [whole, agreed])):
            yield TrustItem(f"label {label['name']}", text, alpha is None or alpha["alpha"] >= AGREE)


def _languages(languages: list[dict[str, Any]], reference: str) -> Iterator[TrustItem]:
    known = [f for f in languages if f["shares"]]
    if not known:
        return
    mains = dict.fromkeys(f["shares"][0][0] for f in known)
    bad = [f["corpus"] for f in known if f["differs"]]
    if bad:
        yield TrustItem("languages", f"{', '.join(mains)}; {', '.join(bad)} differ from {reference}", False)
    else:
        code = next(iter(mains))
        least = min(dict(map(tuple, f["shares"])).get(code, 0.0) for f in known)
        share = "" if least >= WHOLE else f" ({percentage(least, 0)} or more of each text)"
        yield TrustItem("language", f"{code}{share}")


def _unscored(comparison: Results, corpora: list[dict[str, Any]]) -> TrustItem:
    """The critic that leaves most documents of a corpus unscored."""
    totals = {c["name"]: c["documents"] for c in corpora}
    worst = (0.0, 0, "", "")
    for result in comparison.results:
        for corpus in dict.fromkeys(u.corpus for u in result.unscored):
            count = sum(u.count for u in result.unscored if u.corpus == corpus)
            share = count / totals[corpus] if totals.get(corpus) else 0.0
            worst = max(worst, (share, count, result.name, corpus))
    share, count, critic, corpus = worst
    if not count:
        return TrustItem("unscored", "no document under any critic")
    return TrustItem(
        "unscored", f"at most {count:,} of {totals.get(corpus, 0):,} ({corpus} under {critic})", share < DOUBTFUL_SHARE
    )
