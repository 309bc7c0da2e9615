"""Colours of figures stay apart, also for colour-blind readers, and stand out from the page."""

import re
from itertools import combinations

import numpy as np
import pytest

from momus.report.figures.palette import COLOURS, CORPUS_MARKERS, DARK, HUES, colour_rules, look_of, looks
from momus.report.html import asset

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
SRGB = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
TEXTS = ("real", *(f"corpus-{i}" for i in range(HUES)))


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB (D65)."""
    x = SRGB @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one, other):
    """Contrast ratio of WCAG 2."""
    low, high = sorted(float(linear(c) @ SRGB[1]) for c in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [COLOURS, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_texts_stay_apart(palette, sight):
    seen = {name: lab(np.asarray(SIGHT[sight]) @ linear(palette[name])) for name in TEXTS}
    nearest = min((float(np.linalg.norm(seen[a] - seen[b])), a, b) for a, b in combinations(TEXTS, 2))
    assert nearest[0] > 20, nearest


@pytest.mark.parametrize(("palette", "paper"), [(COLOURS, "#fdfcfa"), (COLOURS, "#ffffff"), (DARK, DARK["paper"])])
def test_colours_of_texts_stand_out(palette, paper):
    assert min(contrast(palette[name], paper) for name in TEXTS) >= 3  # WCAG 2, 1.4.11: graphical objects


def test_colours_of_the_page_are_those_of_the_palette():
    blocks = re.findall(r"\{([^{}]*--ink:[^{}]*)\}", colour_rules())
    light, *dark, printed = (dict(re.findall(r"--([\w-]+):(#\w+)", block)) for block in blocks)
    assert printed == COLOURS, "paper is printed light whatever the theme"
    assert light == {**COLOURS, "paper": light["paper"]}
    assert dark == [DARK, DARK]
    style = asset("style.css")
    assert not re.findall(r"--[\w-]+:#", style)
    places = {"l", "w", "g", "one"}  # of the marks of a table's intervals
    assert set(re.findall(r"var\(--([\w-]+)\)", style)) - places <= set(COLOURS) == set(DARK)


def test_corpora_never_differ_by_colour_alone():
    given = looks(f"corpus {i}" for i in range(len(CORPUS_MARKERS)))
    assert len({look.marker for look in given.values()}) == len(CORPUS_MARKERS)
    neighbours = list(given.values())[:HUES]
    assert len({look.dashes for look in neighbours}) == HUES


def test_names_that_begin_alike_keep_their_looks():
    corpora = looks(["a", "a, b", "real"])
    assert look_of("generated", "a, b", corpora) == corpora["a, b"]
    assert look_of("generated", "a, n = 1", corpora) == corpora["a"]
    assert look_of("real", "human text, n = 2", corpora).colour == "real"
    assert look_of("generated", "somebody else", corpora).colour == "generated"
