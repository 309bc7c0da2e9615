"""Places in the source papers that docstrings name: each was compared with the paper's text, and new ones must be."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
AUTHORS = "Deng et al|Meister & Cotterell|LeBrun et al|Takahashi & Tanaka-Ishii"
PLACE = r"(?:sections?|appendix|table|figure|equation|algorithm)[^);:.\"]*(?:\.\d[^);:.\"]*)*"
CITATION = re.compile(rf"({AUTHORS})\.?,? \(?20\d\d, ({PLACE})")
CHECKED = {
    ("Deng et al", "section 2"): ("Model Criticism in Latent Space: T_c", {"critic/scores.py"}),
    ("Deng et al", "section 4"): (
        "Critiquing Discourse Coherence; BERT, MAP",
        {"sections/__init__.py", "transformers/posterior.py"},
    ),
    ("Deng et al", "table 10"): ("transition errors", {"chains/posterior.py"}),
    ("Deng et al", "appendix E"): ("data of sections", {"preparing/__init__.py", "preparing/filters.py"}),
    ("Deng et al", "section 5"): (
        "Critiquing Coreference Chains",
        {"coreference/__init__.py", "coreference/symbols.py"},
    ),
    ("Deng et al", "appendix G"): ("classes, discount", {"coreference/symbols.py", "coreference/process.py"}),
    ("Deng et al", "table 13"): ("log P_c < −7", {"coreference/process.py"}),
    ("Deng et al", "section 6"): ("Critiquing Topic Correlations", {"topics/__init__.py"}),
    ("Deng et al", "appendix A"): (
        "Interpretation of Latent NLL: log P(x) = (log P(x, z) / P(z | x)) for all z, and its three terms",
        {"critic/powers.py"},
    ),
    ("Deng et al", "appendix C"): ("Detection of Code-Mixing", {"code_mixing/__init__.py"}),
    ("Meister & Cotterell", "section 5"): ("beam sampling", {"momus_generating/decoding.py"}),
    ("Meister & Cotterell", "section 5.1"): ("Rank–Frequency", {"rank_frequency.py"}),
    ("Meister & Cotterell", "section 5.2"): ("Type–Token", {"type_token.py"}),
    ("Meister & Cotterell", "equation 11"): ("TVD as a supremum", {"unigram.py"}),
}
"""(paper, place): what stands there, and the modules that cite it."""


def cited():
    """All (authors, place, path) in docstrings and comments."""
    for room in ("core", "critics", "adapters", "examples/generating", "examples/preparing"):
        for path in sorted((ROOT / room).rglob("*.py")):
            text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
            for authors, place in CITATION.findall(text):
                yield authors, place.strip(), path.as_posix()


def test_every_citation_of_a_place_was_checked():
    found = list(cited())
    assert len(found) >= 18
    for authors, place, path in found:
        assert (authors, place) in CHECKED, f"{path}: compare “{authors}, {place}” with the paper, then list it here"
        modules = CHECKED[authors, place][1]
        assert any(path.endswith(m) for m in modules), f"{path} cites {authors}, {place}: is it about this?"
    assert {found_at[:2] for found_at in found} == set(CHECKED)
