"""Phrases that plain English says otherwise do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "critics", "adapters", "docs", "benchmarks", "examples")
FILES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(p for f in FOLDERS for s in ("*.py", "*.md", "*.j2") for p in (ROOT / f).rglob(s)),
]
PHRASES = {
    r"what became of": "the outcome of",
    r"hangs? on (?:neither|the|its|how|what|which|batch)": "depends on",
    r"\b(?:goes|gone|go) on with\b": "resumes, is resumed",
    r"held against": "compared with, tested against, agreement with",
    r"hold(?:s|ing)? an? \w+ to what": "run the conformance checks on",
    r"what every critic owes": "the conformance checks",
    r"(?-i:\b(?:one row|words|tokens|letters|nats|documents|units|pieces|mentions) an? "
    r"(?:document|sentence|side|token|state|step|word|critic|piece|block|row|page|prompt|text|year|model)\b)": "per",
    r"the same from python": "Python API",
    r"what made the numbers": "provenance",
    r"company of topics": "topic co-occurrence",
    r"choice of words": "vocabulary",
    r"which critics a run is to have": "choose the critics of a run",
    r"dealt out|dealt again|deal\w* (?:them |it )?out anew": "reassigned at random",
    r"lies on its side of zero": "excludes zero on the predicted side",
    r"there is no such law|finds no such law": "too few tokens to estimate the exponent",
    r"into one spelling": "normalise",
    r"of a distance, its excess": "for distances, the excess over chance",
    r"\ban? \w+ of (?:its|their|one's) own\b|of one's own": "say what is meant",
    r"at hand\b": "available, installed, in question",
}
"""A phrase, as a pattern, and what to write instead."""


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_phrase_is_back(phrase):
    pattern = re.compile(phrase, flags=re.IGNORECASE)
    hits = [
        f"{path.relative_to(ROOT)}: …{text[max(m.start() - 30, 0) : m.end() + 20]!r}…"
        for path in FILES
        for text in [" ".join(path.read_text(encoding="utf-8").split())]
        for m in pattern.finditer(text)
    ]
    assert not hits, f"write {PHRASES[phrase]!r}: {hits}"


def test_the_joke_is_made_once_at_most():
    texts = [p.read_text(encoding="utf-8").lower() for p in FILES]
    assert sum(text.count("cries wolf") + text.count("cry wolf") for text in texts) <= 1
