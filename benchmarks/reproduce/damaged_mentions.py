"""Defects of resolved mentions: pronouns of the wrong gender, mentions of the wrong entity, missing introductions."""

from __future__ import annotations

import numpy as np

from momus.numeric.ragged import offsets_of
from momus.text.mentions import Resolved

OTHER_GENDER = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
OTHER_GENDER |= {"she": "he", "her": "him", "hers": "his", "herself": "himself"}


def swap_pronouns(text: str, found: Resolved, share: float, seed: int) -> tuple[str, Resolved, int]:
    """Change the gender of a share of the gendered pronouns.

    Returns
    -------
    The new text, its mentions at their new offsets, and the number of changed pronouns.

    >>> swap_pronouns("His wife", Resolved.of([(0, 3, 0), (4, 8, 1)], [0]), 1.0, 0)[0]
    'Her wife'
    """
    rng = np.random.default_rng(seed)
    edits = []
    for a, b in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        new = OTHER_GENDER.get(text[a:b].lower())
        if new is not None and rng.random() < share:
            edits.append((a, b, new.capitalize() if text[a].isupper() else new))
    parts, last = [], 0
    for a, b, new in edits:
        parts += [text[last:a], new]
        last = b
    parts.append(text[last:])
    # growth[i] is the change in length, in characters, after the first i edits, shape (edits + 1,)
    ends = np.array([b for _, b, _ in edits], dtype=np.int64)
    growth = offsets_of([len(new) - (b - a) for a, b, new in edits])

    def shifted(positions: np.ndarray) -> np.ndarray:
        return np.asarray(positions + growth[np.searchsorted(ends, positions, side="right")])

    changed = Resolved(
        shifted(found.starts), shifted(found.ends), found.entities, shifted(found.sentences), found.persons
    )
    return "".join(parts), changed, len(edits)


def reassign_mentions(found: Resolved, share: float, seed: int) -> tuple[Resolved, int]:
    """Assign a share of the mentions to another entity of the document, drawn by number of mentions.

    Returns
    -------
    The mentions, and the number of reassigned ones.
    """
    rng = np.random.default_rng(seed)
    entities = found.entities.copy()
    for i in np.flatnonzero(rng.random(len(entities)) < share):
        others = found.entities[found.entities != found.entities[i]]
        if len(others):
            entities[i] = rng.choice(others)
    changed = int((entities != found.entities).sum())
    return Resolved(found.starts, found.ends, entities, found.sentences, found.persons), changed


def drop_introductions(found: Resolved, share: float, seed: int) -> tuple[Resolved, int]:
    """Drop the first mention of a share of the entities that are mentioned more than once.

    Returns
    -------
    The remaining mentions, and the number of dropped ones.

    >>> drop_introductions(Resolved.of([(0, 4, 0), (5, 7, 0), (8, 9, 1)], [0]), 1.0, 0)[0].starts.tolist()
    [5, 8]
    """
    rng = np.random.default_rng(seed)
    # first[i] is the row of the first mention of entity i
    distinct, first, counts = np.unique(found.entities, return_index=True, return_counts=True)
    dropped = first[(counts > 1) & (rng.random(len(distinct)) < share)]
    keep = np.setdiff1d(np.arange(len(found.entities)), dropped)
    rest = Resolved(found.starts[keep], found.ends[keep], found.entities[keep], found.sentences, found.persons)
    return rest, len(dropped)
