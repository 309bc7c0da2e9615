"""Discoveries in words: what holds, in which share of both texts, and where."""

from __future__ import annotations

from collections.abc import Iterator

from momus.discover.discovering import Discoveries
from momus.discover.features import Feature
from momus.discover.verifying import Discovery
from momus.report.words.format import p_value, percent
from momus.visible import visible

LISTED = 8
"""Proposals that did not hold, of which so many are named."""
_VERBS = {
    "says": "say “{}”",
    "opens": "open with “{}”",
    "ends": "end with a sentence that begins “{}”",
    "begins": "have a sentence that begins “{}”",
    "starts with": "start with a {}",
    "closes with": "close with a {}",
    "last mark": "end with “{}”",
    "has": "have {}",
    "opens like": "open with a sentence like {}",
    "ends like": "end with a sentence like {}",
    "longer than": "have more than {}",
    "labelled": "are labelled “{}”",
}
_BLOCKS = {"item": "list item", "code": "block of code", "title": "heading", "verse": "line of verse"}


def predicate_words(features: tuple[Feature, ...]) -> str:
    """What the documents do.

    >>> predicate_words((Feature("opens", "sure"), Feature("has", "a list")))
    'open with “sure” and have a list'
    """
    return " and ".join(_feature_words(feature) for feature in features)


def _feature_words(feature: Feature) -> str:
    item = _BLOCKS.get(feature.item, feature.item) if feature.kind in ("starts with", "closes with") else feature.item
    if feature == Feature("last mark", "no mark"):
        return "end without a mark"
    if feature.kind.endswith(" like"):
        item = " or ".join(f"“{visible(sentence)}”" for sentence in item.split("\n"))
        return _VERBS[feature.kind].format(item)
    return _VERBS[feature.kind].format(visible(item))


def discovery_words(discovery: Discovery, of: Discoveries) -> str:
    """The sentence of a discovery: both shares, the difference with its interval, and p over all proposals."""
    new, old = percent(discovery.generated, discovery.reference), percent(discovery.reference, discovery.generated)
    low, high = (round(100 * (x or 0.0)) for x in (discovery.low, discovery.high))
    sentence = (
        f"{new} of {visible(of.generated)} {predicate_words(discovery.features)}, {old} of {visible(of.reference)} "
        f"({round(100 * discovery.difference):+} points, {low} to {high}; p {p_value(discovery.p_adjusted)})"
    )
    if discovery.by_length:
        sentence += f"; of equal length, {round(100 * discovery.equal_length):+}: it goes with length"
    return sentence if discovery.source == "text" else f"{sentence} [{visible(discovery.source)}]"


def discoveries_lines(result: Discoveries) -> Iterator[str]:
    """The lines of a terminal: what was verified, each with examples, then what was not, and how it was tested."""
    proposed = len(result.verified) + len(result.unverified)
    if not result.verified:
        yield f"Nothing of {proposed:,} proposals holds on the other half of the prompts."
    for number, discovery in enumerate(result.verified, 1):
        yield f"{number}. {discovery_words(discovery, result)}"
        yield from (f"     {visible(id)}: “{visible(place)}”" for id, place in discovery.examples)
    if result.verified and result.unverified:
        yield ""
    if result.unverified:
        first = "; ".join(predicate_words(d.features) for d in result.unverified[:LISTED])
        more = f"; and {len(result.unverified) - LISTED:,} more" if len(result.unverified) > LISTED else ""
        yield f"Proposed and not verified ({len(result.unverified):,}): {first}{more}."
    yield ""
    units = " | ".join(f"{n:,}" for n in dict.fromkeys(result.units))
    kind = "units" if result.design == "bins" else result.design
    alike = " and ".join(map(visible, result.control_for))
    yield (
        f"Half of the prompts proposed, the other half verified ({units} {kind}; {result.documents[0]:,} | "
        f"{result.documents[1]:,} documents{f', compared among those alike in {alike}' if alike else ''}). If the "
        f"texts did not differ, anything would be verified in at most {percent(result.level)} of such runs "
        f"(step-down over all proposals, seed {result.seed})."
    )
