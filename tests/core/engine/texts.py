"""Texts that tests of the engine compare, and whether two comparisons say the same."""

import json
from dataclasses import asdict

import numpy as np

WORDS = [f"w{i}" for i in range(150)]
TITLES = ("Summary", "Motivation", "Notes")


def sentences(rng, number, p, shift=0):
    """Sentences of three to seven words."""
    words = np.roll(WORDS, shift)
    return " ".join(
        " ".join(rng.choice(words, rng.integers(3, 8), p=p)).capitalize() + "." for _ in range(rng.integers(1, number))
    )


def records(n, seed, *, longest=5, swapped=0.1, power=1.0, prompts=0, groups=0, ids=True):
    """Records of one to three sections, each with words of its own; the last two may have changed places.

    Parameters
    ----------
    longest
        A section has fewer sentences than this.
    power
        Words have probabilities of Zipf's law with this exponent.
    prompts, groups
        How many there are; 0: documents have none.
    """
    rng = np.random.default_rng(seed)
    p = 1 / np.arange(2, len(WORDS) + 2) ** power
    rows = []
    for i in range(n):
        parts = [sentences(rng, longest, p / p.sum(), 4 * k) for k in range(len(TITLES))]
        order = [0, 1, 2] if rng.random() > swapped else [0, 2, 1]
        order = order[: 2 + (rng.random() > 0.25)] if rng.random() > 0.15 else order[1:]
        row = {"sections": [parts[k] for k in order], "section_names": [TITLES[k] for k in order]}
        row |= {"prompt_id": f"p{i % prompts}"} if prompts else {}
        row |= {"group_id": f"g{rng.integers(groups)}"} if groups else {}
        row |= {"id": f"d{i}-{seed}"} if ids else {}
        rows.append(row)
    return rows


def with_oddities(rows):
    """Put an unreadable, an empty, a blank, a titleless and a repeated document between others."""
    again = {k: v for k, v in rows[1].items() if not k.endswith("id")}
    odd = [{"text": None}, {"text": ""}, {"text": " \n"}, {"text": "no sections here"}, again]
    rows = list(rows)
    for place, row in zip((3, 11, 12, 20, 30), odd, strict=True):
        rows.insert(place, row)
    return rows


def write_lines(path, rows):
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def same(one, other, path="", tolerance=1e-9):
    """Assert that plain data are equal, numbers up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), path
        for key in one:
            same(one[key], other[key], f"{path}/{key}", tolerance)
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        assert len(one) == len(other), (path, one, other)
        for i, pair in enumerate(zip(one, other, strict=True)):
            same(*pair, f"{path}[{i}]", tolerance)
    elif isinstance(one, float) and isinstance(other, float):
        assert np.isclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True), (path, one, other)
    else:
        assert one == other, path


def assert_same(one, other, *, evidence=True):
    """Assert that two comparisons say the same, row by row; only where they were written may differ."""
    assert [v.critic for v in one.verdicts] == [v.critic for v in other.verdicts]
    for which in ("verdicts", "pairs"):
        for a, b in zip(getattr(one, which), getattr(other, which), strict=True):
            same(a.row(), b.row(), f"{which}/{a.critic}/{a.statistic}/{a.generated}")
    same(plain(asdict(one.joint)), plain(asdict(other.joint)), "joint")
    for a, b in zip(one.results, other.results, strict=True):
        others = b.to_json()
        for key, value in a.to_json().items():
            if key not in ("signature", "verdicts", "pairs") and (evidence or key != "evidence"):
                same(value, others[key], f"{a.name}/{key}")
    documents = one.documents, other.documents
    assert list(documents[0].columns) == list(documents[1].columns)
    assert documents[0].drop(columns=NUMBERS).equals(documents[1].drop(columns=NUMBERS))
    for name in NUMBERS:
        np.testing.assert_allclose(*(d[name].to_numpy(float) for d in documents), rtol=1e-9, atol=1e-12)
    assert_frames_alike(one.outliers(), other.outliers())


NUMBERS = ["nll", "steps", "nll_per_step", "oddity"]


def assert_frames_alike(one, other):
    """Assert that two tables of outliers are equal, values up to rounding."""
    assert one.drop(columns="value").equals(other.drop(columns="value"))
    np.testing.assert_allclose(one["value"], other["value"], rtol=1e-9)


def plain(data):
    """Data classes as plain lists, strings and numbers."""
    return json.loads(json.dumps(data, default=lambda array: array.tolist()))


def contents(folder):
    """All files of a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
