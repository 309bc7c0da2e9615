"""Documents written by language models: decoding methods, and texts.

>>> from momus.sequences import Sequences
>>> from momus.sequences.ngram import NGramModel
>>> model = NGramModel(2).fit(Sequences.of([[0, 1], [0, 1], [0]]), symbols=2)
>>> drawn = sample(model, None, Decoding(longest=9), document_seeds(0, 3))
>>> len(drawn.sequences)
3
"""

from momus_generating.decoding import Decoding, Drawn, document_seeds, sample, write

__all__ = ["Decoding", "Drawn", "document_seeds", "sample", "write"]
