"""KenLM: log-probabilities under an ARPA file or a binary model (Heafield 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from momus.errors import MissingExtraError, ReadingError, UsageError
from momus.numeric.ragged import offsets_of
from momus.numeric.types import Floats
from momus.sequences import SequenceScores
from momus.text.tokens import get_tokenizer
from momus.version import extra


class KenlmScorer:
    """Log-probabilities under an n-gram model.

    Parameters
    ----------
    path
        An ARPA file, or a binary file that KenLM wrote.
    tokens, lower
        Tokenization of texts, see `momus.text.tokens.get_tokenizer`.

    Raises
    ------
    MissingExtraError
        KenLM is not installed.
    ReadingError
        The file is no n-gram model.
    """

    def __init__(self, path: str | Path, *, tokens: str = "whitespace", lower: bool = False) -> None:
        try:
            import kenlm
        except ImportError as error:
            raise MissingExtraError("n-gram models need KenLM", extra("kenlm")) from error
        self.name, self._tokenizer = Path(path).name, get_tokenizer(tokens, lower)
        try:
            self._model = kenlm.Model(str(path))
        except (OSError, RuntimeError) as error:
            raise ReadingError(f"{path} is no ARPA file or KenLM model ({str(error).splitlines()[0]})") from error

    def log_probabilities(self, tokens: Sequence[str]) -> Floats:
        """log p of each token given those before it, and of the end of the sequence, in nats.

        Raises
        ------
        UsageError
            A token is empty or contains a blank: KenLM would read no token, or two.
        """
        if any(not t or any(c.isspace() for c in t) for t in tokens):
            raise UsageError("a token is empty or contains a blank", hint="split the text into words first")
        scores = self._model.full_scores(" ".join(tokens))
        return np.asarray([s[0] for s in scores], dtype=np.float64) * float(np.log(10))

    def score_texts(self, texts: Sequence[str]) -> SequenceScores:
        """log p of each word and of the end of each text, in nats; the parameter ``tokens`` defines words."""
        rows = [self.log_probabilities(self._words(text)) for text in texts]
        values = np.concatenate(rows) if rows else np.zeros(0)
        return SequenceScores(values, offsets_of([len(r) for r in rows]))

    def _words(self, text: str) -> list[str]:
        return self._tokenizer.split(text.lower() if self._tokenizer.lower else text)
