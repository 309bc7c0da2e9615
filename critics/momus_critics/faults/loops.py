"""Loops: the longest stretch of a document that repeats itself, sign by sign, where numbers may change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from momus.numeric.ragged import offsets_of, owners_of
from momus.numeric.types import Ints

GRAM = 16
"""Signs that must recur at one distance; a stretch of fewer is no loop."""
LEAST = 48
"""Fewest signs of a loop of words."""
ROUNDS = 8
"""Fewest rounds of a loop of one word or less."""
SAID, COUNTED = 3, 4
"""Fewest rounds of a sentence, and of one in which numbers change."""
LAID_OUT = 6
"""Fewest rounds of lines of a list, of a table or of code: these are alike."""
WORDS, SENTENCE = 4, 8
"""Fewest words of a round that is prose, and of one that is prose even in a list."""
_DIGIT, _SPACE = ord("0"), ord(" ")
_ASCII = np.arange(128, dtype=np.uint8)
_ASCII[ord("0") : ord("9") + 1] = _DIGIT
_ASCII[ord("\t") : ord("\r") + 1] = _SPACE
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
PLACES = 24
"""Bits for the place of a sign."""
MOST = 64
"""Periods of one text that are looked at, those that most of it may have."""
CHUNK = 1 << 16
"""Signs whose recurrences are sorted at once; of one text, all."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LAYOUT = re.compile(r'(?m)[|{}\[\]<>=;\\\t]|^\s*(?:[-*+•#>]|\(?\w{1,3}[.)])\s|(?:^|,)\s*"[^"\n]*"\s*:')
LETTERS = 0.7
"""Share of letters among the signs of a round that is prose with numbers."""
_DATA = re.compile(r'(?m)[|{}<>=;\\]|(?:^|,)\s*"[^"\n]*"\s*:')
_DIGIT_SIGN = re.compile(r"\d")
_RULE = re.compile(r"[\W_]+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Loop:
    """A stretch of a text that repeats itself.

    Attributes
    ----------
    start, stop
        Where it stands, in characters.
    times
        How often it says the same.
    said
        One round.
    """

    start: int
    stop: int
    times: int
    said: str


def find_loops(texts: Sequence[str]) -> tuple[list[Loop | None], Ints]:
    """The longest loop of each text, None where it has none; and how many signs recur at one distance, at most: (n,).

    Runs of digits and of white space count as one sign. In a loop of p signs each run of `GRAM` signs recurs p signs
    later, so runs of places whose next recurrence has one distance are loops; sorting all runs of signs once finds
    them.

    >>> [loop and (loop.said, loop.times) for loop in find_loops(["So" + "!" * 20, "Yes. " * 12, "Yes, or no?"])[0]]
    [('!', 20), ('Yes. ', 12), None]
    >>> find_loops(["Wait, I check case 9 again. Wait, I check case 10 again. " * 3])[0][0].times
    6
    >>> find_loops(["She left early. It rained all day. He slept. It rained all day. Then he left."])[1].tolist()
    [21]
    """
    chunks = []
    first, size = 0, 0
    for i, text in enumerate(texts):
        if size and size + len(text) > CHUNK:
            chunks.append(_of_chunk(texts[first:i]))
            first, size = i, 0
        size += len(text)
    loops, repeated = zip(*chunks, _of_chunk(texts[first:]), strict=True)
    return list(chain.from_iterable(loops)), np.concatenate(repeated)


def _of_chunk(texts: Sequence[str]) -> tuple[list[Loop | None], Ints]:
    signs, places, offsets = _signs(texts)
    loops: list[Loop | None] = [None] * len(texts)
    stretches, repeated = _periodic(signs, offsets)
    for document, start, length, period in stretches:
        at = int(places[start])
        last = start + length
        stop = int(places[last]) if last < offsets[document + 1] else len(texts[document])
        after = int(places[start + period])
        before = loops[document]
        if before is None or stop - at > before.stop - before.start:
            loops[document] = _judged(texts[document], at, stop, after - at, length // period) or before
    return loops, repeated


def _signs(texts: Sequence[str]) -> tuple[NDArray[np.integer], Ints, Ints]:
    """Signs of texts with each number and each space as one sign, their places in the text, and offsets of texts."""
    whole = "".join(texts)
    codes: NDArray[np.uint8] | NDArray[np.uint32]
    if whole.isascii():
        codes = _ASCII[np.frombuffer(whole.encode(), np.uint8)]
    else:
        codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), "<u4")
        codes = np.where(codes < len(_ASCII), _ASCII[np.minimum(codes, len(_ASCII) - 1)], codes)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    digit, space = codes == _DIGIT, codes == _SPACE
    keep = np.ones(len(codes), dtype=bool)
    keep[1:] = ~((digit[1:] & digit[:-1]) | (space[1:] & space[:-1]))
    firsts = offsets_of(sizes)
    keep[firsts[:-1][sizes > 0]] = True
    owners = owners_of(firsts)[keep]
    places = np.flatnonzero(keep) - firsts[owners]
    return codes[keep], places, offsets_of(np.bincount(owners, minlength=len(texts)))


def _periodic(signs: NDArray[np.integer], offsets: Ints) -> tuple[list[tuple[int, int, int, int]], Ints]:
    """Document, first sign, number of signs and period of the longest stretch of each period, of `SAID` rounds or more.

    Also how many signs of each document recur at one distance, at most, (n,).

    What recurs within a round has a smaller distance there, so a loop may be several runs of one distance: where these
    add up to a round, the signs themselves are compared.
    """
    distance, repeated = _recurrences(signs, offsets), np.zeros(len(offsets) - 1, dtype=np.int64)
    if not len(distance):
        return [], repeated
    # runs of equal distance: where each begins, and how many places it has
    starts = np.flatnonzero(np.concatenate([[True], distance[1:] != distance[:-1]]))
    sizes, periods = np.diff(np.append(starts, len(distance))), distance[starts]
    starts, sizes, periods = (x[periods > 0] for x in (starts, sizes, periods))
    documents = np.searchsorted(offsets, starts, side="right") - 1
    np.maximum.at(repeated, documents, np.minimum(sizes + GRAM - 1, periods))
    _, first, group = np.unique(documents * (len(signs) + 1) + periods, return_index=True, return_inverse=True)
    totals = np.bincount(group, sizes)
    enough = first[np.argsort(-totals, kind="stable")]
    enough = enough[-np.sort(-totals) + GRAM - 1 > periods[enough]]
    stretches = []
    tried: Counter[int] = Counter()
    for k in enough.tolist():
        start, document, period = int(starts[k]), int(documents[k]), int(periods[k])
        tried[document] += 1
        if tried[document] > MOST:  # a text may be made to have very many
            continue
        end = int(offsets[document + 1]) - period
        # the places before the first sign and behind the last, and those whose sign is another one a round later
        other = np.flatnonzero(signs[start:end] != signs[start + period : end + period])
        other = np.concatenate([[-1], other, [end - start]])
        longest = int(np.diff(other).argmax())
        length = int(other[longest + 1] - other[longest]) - 1 + period
        if length >= SAID * period:
            stretches.append((document, start + int(other[longest]) + 1, length, period))
    return sorted(stretches, key=lambda stretch: (stretch[0], stretch[3])), repeated


def _recurrences(signs: NDArray[np.integer], offsets: Ints) -> Ints:
    """How many signs after each place the same `GRAM` signs begin again in its document; 0: never. int64 (N,)."""
    distance = np.zeros(len(signs), dtype=np.int64)
    if len(signs) < GRAM:
        return distance
    # a number for each run of signs, by doubling: of 2, 4, 8 and 16 signs; overflow is meant
    key = signs.astype(np.uint64) * _MULTIPLIER
    width = 1
    while width < GRAM:
        key = (key[:-width] ^ (key[:-width] >> np.uint64(31))) * _MULTIPLIER + key[width:]
        width *= 2
    owners = owners_of(offsets)
    key += owners[: len(key)].astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    key ^= key >> np.uint64(29)
    key *= _MULTIPLIER
    within = owners[: len(key)] == owners[GRAM - 1 :]
    if len(key) < 1 << PLACES:
        # the upper 40 bits say which run it is, the lower 24 where it stands: one sort orders both
        bits = np.uint64(PLACES)
        packed = np.sort(((key >> bits << bits) | np.arange(len(key), dtype=np.uint64))[within])
        runs, at = packed >> bits, (packed & np.uint64((1 << PLACES) - 1)).astype(np.int64)
    else:  # of one very long text
        at = np.flatnonzero(within)
        at = at[np.argsort(key[at], kind="stable")]
        runs = key[at]
    same = runs[1:] == runs[:-1]
    first, later = at[:-1][same], at[1:][same]
    distance[first] = later - first
    return distance


def _judged(text: str, start: int, stop: int, period: int, times: int) -> Loop | None:
    """The loop, if it is one for what it consists of: signs, words, prose, or lines of a list, a table or code."""
    said, stretch = text[start : start + period], text[start:stop]
    words = _WORD.findall(said)
    again = text[start + period : start + 2 * period]
    counting = bool(_DIGIT_SIGN.search(said)) and said.split() != again.split()
    # from the line in which the second round begins: signs count at the beginning of lines
    line = text.rfind("\n", start, start + period) + 1 or start
    laid_out = bool(_LAYOUT.search(text, line, start + period) or _LAYOUT.search(text, start, start + period))
    loop = Loop(start, stop, times, said)
    if not words:
        # rules, rows of dots and columns of numbers are no loops
        bare = _RULE.sub("", said)
        ruled = not bare and not set(said) <= set("-=_*.#~|+ \n\t─━│·•:\\/")
        return loop if ruled and times >= LAID_OUT else None
    if len(words) >= SENTENCE and not counting and not _DATA.search(said):
        return loop if times >= COUNTED or (len(stretch) >= LEAST and not laid_out) else None
    if laid_out:
        return loop if times >= LAID_OUT and not counting and len(stretch) >= LEAST else None
    if counting:
        letters = len(_LETTER.findall(said)) / len("".join(said.split()))
        return loop if times >= COUNTED and len(words) >= WORDS and letters >= LETTERS else None
    if len(words) < WORDS and len(_LETTER.findall(said)) < 12:
        return loop if times >= ROUNDS else None
    return loop if len(stretch) >= LEAST else None
