"""Every registered critic is held to the conformance suite, without expected failures."""

import pytest

from momus import conformance
from momus.engine.chosen import chosen_critics

QUICK = {"code-mixing": {"sweeps": 60, "starts": 2, "chains": 2, "draws": 12}}
"""Shorter chains than the default: the checks hold for any length."""
CRITICS = chosen_critics(None, QUICK).critics
"""Those that can be compared without configuration, with the packages that are installed."""


HEAVY = ("topics", "code-mixing", "passages", "coreference", "diversity", "consistency")
"""Critics that fit for seconds, thirty times over."""


@conformance.parametrize([c for c in CRITICS if c.name not in HEAVY])
def test_conformance(check):
    check()


@pytest.mark.slow
@conformance.parametrize([c for c in CRITICS if c.name in HEAVY])
def test_conformance_of_heavy_critics(check):
    check()


@pytest.mark.slow
@conformance.parametrize(CRITICS, checks=conformance.SLOW)
def test_slow_conformance(check):
    check()


def test_there_are_critics():
    assert {"sections", "rank-frequency", "length", "unigram"} <= {c.name for c in CRITICS}
